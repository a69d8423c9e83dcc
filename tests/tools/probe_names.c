/*
 * The values that definitions of probes fetch: `probe_names KERNEL` reads lines "p:x FUNCTION ARG"
 * or "r:x FUNCTION ARG" and prints of each the type, where the value comes from and by which steps,
 * or the error. Types and functions are those of the sections .types and .symbols of the kernel,
 * whose file is read, not run. tests/drive/types-test compares with the debug information.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/symtab.h"
#include "kernel/lib/errno.h"
#include "trace/dynevent/dynevent.h"
#include "trace/host_probe.h"
#include "trace/host_symbol.h"
#include "trace/host_types.h"
#include "trace/probe/probe.h"
#include "trace/trace.h"
#include "trace/types/section.h"

static struct {
	char *file;
	const void *types;
	size_t types_size;
	struct sym_table symbols;
} kernel;

static void die(const char *what)
{
	fprintf(stderr, "probe_names: %s\n", what);
	exit(2);
}

static const Elf64_Shdr *section(const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)kernel.file;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(kernel.file + e->e_shoff);

	for (unsigned i = 0; i < e->e_shnum; i++)
		if (!strcmp(kernel.file + s[e->e_shstrndx].sh_offset + s[i].sh_name, name))
			return &s[i];
	die("the kernel lacks a section");
	return NULL;
}

/* linker.ld: a table begins at a multiple of 8. */
static const void *contents(const Elf64_Shdr *s)
{
	return kernel.file + s->sh_offset + (ALIGN_UP(s->sh_addr, 8) - s->sh_addr);
}

static void read_kernel(const char *path)
{
	FILE *in = fopen(path, "rb");

	if (!in || fseek(in, 0, SEEK_END))
		die("cannot read the kernel");
	long size = ftell(in);
	kernel.file = malloc(size);
	rewind(in);
	if (!kernel.file || fread(kernel.file, 1, size, in) != (size_t)size)
		die("cannot read the kernel");
	fclose(in);
	const struct types_head *head = contents(section(".types"));
	kernel.types_size = head->size;
	kernel.types = head;
	/* Its pointers are addresses of the kernel. */
	const Elf64_Shdr *symbols = section(".symbols");
	struct sym_table *t = &kernel.symbols;
	memcpy(t, contents(symbols), sizeof(*t));
	s64 moved = (s64)contents(symbols) - (s64)ALIGN_UP(symbols->sh_addr, 8);
	t->offset = (const u32 *)((u64)t->offset + moved);
	t->name_at = (const u32 *)((u64)t->name_at + moved);
	t->by_name = (const u16 *)((u64)t->by_name + moved);
	t->names = (const char *)((u64)t->names + moved);
	t->global = (const u32 *)((u64)t->global + moved);
	t->hooked = NULL;
}

/* ---- the host ---- */

const void *host_types(size_t *size)
{
	*size = kernel.types_size;
	return kernel.types;
}

long host_sym_number(const char *name)
{
	return symtab_by_name(&kernel.symbols, name, NULL, NULL);
}

int host_symbol_check(const char *symbol)
{
	return host_sym_number(symbol) < 0 ? -ENOENT : 0;
}

int host_symbol_entry(const char *symbol, u64 offset)
{
	int err = host_symbol_check(symbol);

	return err ? err : offset ? -EINVAL : 0;
}

int host_probe_create(const struct host_probe_place *place, struct host_probe **out)
{
	(void)place;
	*out = malloc(1);
	return *out ? 0 : -ENOMEM;
}

void host_probe_destroy(struct host_probe *p)
{
	free(p);
}

static const char *const registers[] = {"di", "si", "dx", "cx", "r8", "r9", "ax", "sp"};

int host_reg_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(registers); i++)
		if (!strcmp(registers[i], name))
			return i * 8;
	return -EINVAL;
}

int host_arg_place(unsigned n)
{
	return n < 6 ? (int)n * 8 : -1 - (int)(n - 5);
}

const char *host_stack_register(void)
{
	return "sp";
}

const char *host_return_register(void)
{
	return "ax";
}

/* ---- lines ---- */

static void print_place(const struct trace_probe *tp, const struct probe_fetch *f)
{
	int place = f->param;

	if (f->source == PROBE_FROM_ENTRY)
		place = tp->entry[f->param];
	else if (f->source == PROBE_FROM_STACK)
		place = -1 - place;
	if (place == host_reg_find("ax"))
		printf("result");
	else
		printf("%d", place < 0 ? 5 - 1 - place : place / 8);
}

static void print_probe(const struct trace_probe *tp)
{
	const struct probe_arg *arg = &tp->args[0];
	const struct probe_fetch *f = &arg->fetch;

	printf("%s ", arg->type->name);
	print_place(tp, f);
	for (unsigned i = 0; i < f->derefs; i++)
		printf(" %ld", (long)f->deref[i]);
	if (f->lshift | f->rshift)
		printf(" bits %u %u", f->lshift, f->rshift);
	printf("\n");
}

int main(int argc, char **argv)
{
	char line[4096];

	if (argc != 2)
		die("usage: probe_names KERNEL");
	read_kernel(argv[1]);
	if (trace_init(NULL))
		die("no memory");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		int err = probe_command(line);
		if (err) {
			printf("error %d\n", err);
			continue;
		}
		print_probe(trace_probe_of(list_entry(dynevents.prev, struct dynevent, node)));
		if (dynevent_clear(&probe_dynevent_kind))
			die("a probe stays");
	}
	trace_exit();
	free(kernel.file);
	return 0;
}
