/*
 * Makes the kernel's symbol table: `nm -n FILE | symtab OUT.S` reads the functions of a linked kernel, `symtab --empty OUT.S`
 * makes a table of none for the first link. The output is assembly for section .symbols, in the layout kernel/sym.h gives.
 * Only code between __text_start and __text_end counts, so the table depends on nothing that lies behind it: linking it in
 * moves data, and never a function.
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
	bool global;
	unsigned name_at; /* offset of the name in the blob */
	unsigned index;	  /* in address order */
};

static struct symbol *symbols;
static size_t count;
static uint64_t text_start, text_end;

static void die(const char *what)
{
	fprintf(stderr, "symtab: %s\n", what);
	exit(1);
}

static void add(uint64_t addr, char type, const char *name)
{
	if ((count & (count - 1)) == 0) {
		symbols = realloc(symbols, (count ? 2 * count : 1) * sizeof *symbols);
		if (!symbols)
			die("out of memory");
	}
	symbols[count] = (struct symbol){.addr = addr, .name = strdup(name), .global = type != 't'};
	if (!symbols[count++].name)
		die("out of memory");
}

/* Boundaries of linker.ld are not functions. */
static bool is_boundary(const char *name)
{
	static const char *const prefixes[] = {
	    "__noprobe_", "__text_", "__trace_text_", "__boot_text_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void read_symbols(void)
{
	char line[1024], type, name[960];
	uint64_t addr;

	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%" SCNx64 " %c %959s", &addr, &type, name) != 3)
			continue;
		if (strcmp(name, "__text_start") == 0)
			text_start = addr;
		else if (strcmp(name, "__text_end") == 0)
			text_end = addr;
		if (strchr("tTwW", type) && !is_boundary(name))
			add(addr, type, name);
	}
	if (!text_start || !text_end)
		die("no __text_start and __text_end in the input");
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

/* Sorts, and drops what is not kernel code. */
static void select_text(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (symbols[i].addr >= text_start && symbols[i].addr < text_end)
			symbols[kept++] = symbols[i];
	count = kept;
	if (count)
		qsort(symbols, count, sizeof *symbols, by_address);
	for (size_t i = 0; i < count; i++)
		symbols[i].index = (unsigned)i;
}

static void write_table(FILE *out)
{
	unsigned at = 0;

	fprintf(out, "\t.section .symbols, \"a\"\n\t.balign 8\n\t.globl sym_table\nsym_table:\n");
	fprintf(out, "\t.quad __text_start, __text_end\n\t.long %zu, 0\n", count);
	fprintf(out, "\t.quad 1f, 2f, 3f, 4f\n1:\n");
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "\t.long %" PRIu64 "\n", symbols[i].addr - text_start);
		symbols[i].name_at = at;
		at += strlen(symbols[i].name) + 1;
	}
	fprintf(out, "2:\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\t.long %u\n", symbols[i].name_at);
	fprintf(out, "4:\n");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\t.asciz \"%s\"\n", symbols[i].name);
	fprintf(out, "\t.balign 4\n3:\n");
	if (count)
		qsort(symbols, count, sizeof *symbols, by_name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\t.long %u\n", symbols[i].index);
	fprintf(out, "\t.section .note.GNU-stack, \"\", @progbits\n");
}

int main(int argc, char **argv)
{
	bool empty = argc == 3 && strcmp(argv[1], "--empty") == 0;
	FILE *out;

	if (argc != 2 && !empty) {
		fprintf(stderr, "usage: nm -n FILE | symtab OUT.S\n       symtab --empty OUT.S\n");
		return 2;
	}
	if (!empty)
		read_symbols();
	select_text();
	out = fopen(argv[argc - 1], "w");
	if (!out)
		die("cannot write the output");
	write_table(out);
	if (fclose(out))
		die("cannot write the output");
	return 0;
}
