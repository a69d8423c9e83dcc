/*
 * Address <-> name of the kernel's functions, from the table linked into it. Read-only: any context, NMI included.
 */
#include "kernel/sym.h"
#include "arch/arch.h"
#include "kernel/symtab.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

extern const struct sym_table sym_table, sym_data_table;

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
	long i = symtab_by_name(&sym_table, name, count);

	return i < 0 ? 0 : symtab_start(&sym_table, i);
}

u64 sym_data_address(const char *name, unsigned *count)
{
	long i = symtab_by_name(&sym_data_table, name, count);

	return i < 0 ? 0 : symtab_start(&sym_data_table, i);
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

bool sym_nth(unsigned i, const char **name, u64 *start, u64 *size)
{
	if (i >= sym_table.count)
		return false;
	*name = symtab_name(&sym_table, i);
	*start = symtab_start(&sym_table, i);
	*size = symtab_size(&sym_table, i);
	return true;
}

void sym_place(u64 place[5])
{
	place[0] = sym_table.count;
	place[1] = sym_table.text_start;
	place[2] = (u64)sym_table.offset;
	place[3] = (u64)sym_table.name_at;
	place[4] = (u64)sym_table.names;
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
