/*
 * Address <-> name of the kernel's functions and data, from the tables linked into it. Read-only:
 * any context, NMI included.
 */
#include "kernel/base/sym.h"
#include "arch/arch.h"
#include "kernel/base/symtab.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"

extern const struct sym_table sym_table, sym_alias_table, sym_rodata_table, sym_data_table,
    sym_bss_table;

static const struct sym_table *const data_tables[] = {
    &sym_rodata_table, &sym_data_table, &sym_bss_table};

const char *sym_find(u64 addr, u64 *start, u64 *size)
{
	long i = symtab_find(&sym_table, addr);

	if (i < 0)
		return NULL;
	if (start)
		*start = symtab_start(&sym_table, i);
	if (size)
		*size = symtab_size(&sym_table, i);
	return symtab_name(&sym_table, i);
}

u64 sym_address(const char *name, unsigned *count)
{
	static u32 last; /* [A] defining one probe looks its symbol up several times */
	const struct sym_table *t = &sym_table;
	u32 recent = READ_ONCE(last);
	long i = symtab_by_name(t, name, count, &recent);

	WRITE_ONCE(last, recent);
	if (i < 0) {
		t = &sym_alias_table;
		i = symtab_by_name(t, name, count, NULL);
	}
	return i < 0 ? 0 : symtab_start(t, i);
}

u64 sym_data_address(const char *name)
{
	for (unsigned n = 0; n < ARRAY_SIZE(data_tables); n++) {
		long i = symtab_by_name(data_tables[n], name, NULL, NULL);

		if (i >= 0)
			return symtab_start(data_tables[n], i);
	}
	return 0;
}

int sym_print(char *buf, size_t size, u64 addr, bool offset)
{
	u64 start, length;
	const char *name = sym_find(addr, &start, &length);

	if (!name)
		return scnprintf(buf, size, "0x%llx", (unsigned long long)addr);
	if (!offset)
		return scnprintf(buf, size, "%s", name);
	return scnprintf(buf, size, "%s+0x%llx/0x%llx", name, (unsigned long long)(addr - start),
	    (unsigned long long)length);
}

static void sym_show_line(struct seq *s, const struct sym_table *t, u32 i, char type)
{
	seq_hex(s, symtab_start(t, i), 16);
	seq_printf(s, " %c %s\n", type, symtab_name(t, i));
}

/* Under the function's own name. */
static void show_aliases(struct seq *s, u64 addr)
{
	for (u32 i = 0; i < sym_alias_table.count; i++)
		if (symtab_start(&sym_alias_table, i) == addr)
			sym_show_line(s, &sym_alias_table, i, 'T');
}

void sym_show(struct seq *s)
{
	for (u32 i = 0; i < sym_table.count && !s->overflow; i++) {
		sym_show_line(s, &sym_table, i, symtab_type(&sym_table, i));
		show_aliases(s, symtab_start(&sym_table, i));
	}
	for (unsigned n = 0; n < ARRAY_SIZE(data_tables); n++)
		for (u32 i = 0; i < data_tables[n]->count && !s->overflow; i++)
			sym_show_line(s, data_tables[n], i, symtab_type(data_tables[n], i));
}

bool sym_nth(unsigned i, const char **name, u64 *start, u64 *size)
{
	if (i >= sym_table.count)
		return false;
	*name = symtab_name(&sym_table, i);
	*start = symtab_start(&sym_table, i);
	*size = symtab_size(&sym_table, i);
	return true;
}

bool sym_hooked(unsigned i)
{
	return i < sym_table.count && symtab_hooked(&sym_table, i);
}

long sym_index(u64 addr)
{
	return symtab_find(&sym_table, addr);
}

unsigned sym_count(void)
{
	return sym_table.count;
}

char sym_type(unsigned i)
{
	return i < sym_table.count ? symtab_type(&sym_table, i) : 0;
}

const struct sym_table *sym_functions(void)
{
	return &sym_table;
}

void sym_place(u64 place[6])
{
	place[0] = sym_table.count;
	place[1] = sym_table.text_start;
	place[2] = (u64)sym_table.offset;
	place[3] = (u64)sym_table.name_at;
	place[4] = (u64)sym_table.names;
	place[5] = (u64)sym_table.global;
}

bool sym_is_text(u64 addr)
{
	return addr >= sym_table.text_start && addr < sym_table.text_end;
}

u64 kernel_function_start(u64 addr)
{
	u64 start;

	return sym_find(addr, &start, NULL) ? start : 0;
}

u64 kernel_function_end(u64 addr)
{
	u64 start, size;

	return sym_find(addr, &start, &size) ? start + size : 0;
}
