/*
 * Makes the kernel's symbol tables: `nm -n FILE | symtab HOOKS OUT.S [FUNCTIONS]` reads the
 * functions and the variables of a linked kernel, `symtab --empty OUT.S` makes tables of none for
 * the first link. FUNCTIONS gets the functions' names in the order of their table, a line each.
 * HOOKS has the addresses of hooked functions, 8 bytes each; one that is no function's is an error.
 * The output is assembly for section .symbols, in the layout kernel/base/symtab.h gives. The
 * symbols of a section count from its start, so the tables depend on nothing that lies between:
 * linking them in moves the data as a whole, and never a function or a constant. A weak function is
 * an alias: it has a table of its own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t addr;
	char *name;
	bool global, hooked;
	unsigned name_at; /* offset of the name in the blob */
	unsigned index;	  /* in address order */
};

/* What goes into one table. */
struct part {
	const char *label, *start_name, *end_name,
	    *types; /* types: as nm has them, the first for local ones */
	uint64_t start, end;
	struct symbol *symbols;
	size_t count;
};

static struct part parts[] = {
    {.label = "sym_table", .start_name = "__text_start", .end_name = "__text_end", .types = "tT"},
    {.label = "sym_alias_table",
	.start_name = "__text_start",
	.end_name = "__text_end",
	.types = "wW"},
    {.label = "sym_rodata_table",
	.start_name = "__rodata_start",
	.end_name = "sym_table", /* the first of these tables, which come last */
	.types = "rR"},
    {.label = "sym_data_table",
	.start_name = "__data_start",
	.end_name = "__data_end",
	.types = "dD"},
    {.label = "sym_bss_table",
	.start_name = "__bss_start",
	.end_name = "__kernel_end",
	.types = "bB"},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void die(const char *what)
{
	fprintf(stderr, "symtab: %s\n", what);
	exit(1);
}

static void add(struct part *p, uint64_t addr, bool global, const char *name)
{
	if ((p->count & (p->count - 1)) == 0) {
		p->symbols =
		    realloc(p->symbols, (p->count ? 2 * p->count : 1) * sizeof *p->symbols);
		if (!p->symbols)
			die("out of memory");
	}
	p->symbols[p->count] =
	    (struct symbol){.addr = addr, .name = strdup(name), .global = global};
	if (!p->symbols[p->count++].name)
		die("out of memory");
}

/* Boundaries of linker.ld are not functions. */
static bool is_boundary(const char *name)
{
	static const char *const prefixes[] = {"__noprobe_", "__text_", "__trace_text_",
	    "__boot_text_", "__lib_text_", "__unhooked_", "__asm_text_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void read_symbol(struct part *p, uint64_t addr, char type, const char *name)
{
	if (strcmp(name, p->start_name) == 0)
		p->start = addr;
	else if (strcmp(name, p->end_name) == 0)
		p->end = addr;
	else if (strchr(p->types, type) && !is_boundary(name))
		add(p, addr, type >= 'A' && type <= 'Z', name);
}

static void read_symbols(void)
{
	char line[1024], type, name[960];
	uint64_t addr;

	while (fgets(line, sizeof line, stdin))
		if (sscanf(line, "%" SCNx64 " %c %959s", &addr, &type, name) == 3)
			for (size_t i = 0; i < PARTS; i++)
				read_symbol(&parts[i], addr, type, name);
	for (size_t i = 0; i < PARTS; i++)
		if (!parts[i].start || !parts[i].end)
			die("a boundary is missing in the input");
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->global != y->global)
		return x->global ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->index < y->index ? -1 : 1;
}

/* Sorts, and drops what is not of the kernel. */
static void select_symbols(struct part *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->symbols[i].addr >= p->start && p->symbols[i].addr < p->end)
			p->symbols[kept++] = p->symbols[i];
	p->count = kept;
	if (kept > UINT16_MAX)
		die("too many symbols for 16 bits");
	if (p->count)
		qsort(p->symbols, p->count, sizeof *p->symbols, by_address);
	for (size_t i = 0; i < p->count; i++)
		p->symbols[i].index = (unsigned)i;
}

/* The first of several names of a function is the one that is hooked. */
static void mark_hook(struct part *p, uint64_t addr)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->symbols[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == p->count || p->symbols[low].addr != addr)
		die("a hook is not at the beginning of a function");
	p->symbols[low].hooked = true;
}

static void read_hooks(const char *path)
{
	FILE *in = fopen(path, "r");
	uint64_t addr;

	if (!in)
		die("cannot read the hooks");
	while (fread(&addr, sizeof addr, 1, in) == 1)
		mark_hook(&parts[0], addr);
	fclose(in);
}

static bool is_global(const struct symbol *s)
{
	return s->global;
}

static bool is_hooked(const struct symbol *s)
{
	return s->hooked;
}

/* A bit for each symbol, in words of 32. */
static void write_bits(FILE *out, const struct part *p, bool (*bit_of)(const struct symbol *))
{
	for (size_t i = 0; i < p->count; i += 32) {
		uint32_t word = 0;

		for (size_t bit = 0; bit < 32 && i + bit < p->count; bit++)
			word |= (uint32_t)bit_of(&p->symbols[i + bit]) << bit;
		fprintf(out, "\t.long %#" PRIx32 "\n", word);
	}
}

static void write_table(FILE *out, struct part *p)
{
	unsigned at = 0;

	fprintf(out, "\t.balign 8\n\t.globl %s\n%s:\n", p->label, p->label);
	fprintf(out, "\t.quad %s, %s\n\t.long %zu, '%c'\n", p->start_name, p->end_name, p->count,
	    p->types[0]);
	/* Only functions are hooked. */
	fprintf(out, "\t.quad 1f, 2f, 3f, 4f, 5f, %s\n1:\n", p == parts ? "6f" : "0");
	for (size_t i = 0; i < p->count; i++) {
		fprintf(out, "\t.long %" PRIu64 "\n", p->symbols[i].addr - p->start);
		p->symbols[i].name_at = at;
		at += strlen(p->symbols[i].name) + 1;
	}
	fprintf(out, "2:\n");
	for (size_t i = 0; i < p->count; i++)
		fprintf(out, "\t.long %u\n", p->symbols[i].name_at);
	fprintf(out, "5:\n");
	write_bits(out, p, is_global);
	if (p == parts) {
		fprintf(out, "6:\n");
		write_bits(out, p, is_hooked);
	}
	fprintf(out, "4:\n");
	for (size_t i = 0; i < p->count; i++)
		fprintf(out, "\t.asciz \"%s\"\n", p->symbols[i].name);
	fprintf(out, "\t.balign 2\n3:\n");
	if (p->count)
		qsort(p->symbols, p->count, sizeof *p->symbols, by_name);
	for (size_t i = 0; i < p->count; i++)
		fprintf(out, "\t.short %u\n", p->symbols[i].index);
}

static FILE *open_output(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		die("cannot write the output");
	return out;
}

static void close_output(FILE *out)
{
	if (fclose(out))
		die("cannot write the output");
}

static void write_functions(const char *path)
{
	FILE *out = open_output(path);

	for (size_t i = 0; i < parts[0].count; i++)
		fprintf(out, "%s\n", parts[0].symbols[i].name);
	close_output(out);
}

int main(int argc, char **argv)
{
	bool empty = argc == 3 && strcmp(argv[1], "--empty") == 0;
	FILE *out;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: nm -n FILE | symtab HOOKS OUT.S [FUNCTIONS]\n"
				"       symtab --empty OUT.S\n");
		return 2;
	}
	if (!empty)
		read_symbols();
	out = open_output(argv[2]);
	fprintf(out, "\t.section .symbols, \"a\"\n");
	for (size_t i = 0; i < PARTS; i++)
		select_symbols(&parts[i]);
	if (!empty)
		read_hooks(argv[1]);
	if (argc == 4)
		write_functions(argv[3]);
	for (size_t i = 0; i < PARTS; i++)
		write_table(out, &parts[i]);
	fprintf(out, "\t.section .note.GNU-stack, \"\", @progbits\n");
	close_output(out);
	return 0;
}
