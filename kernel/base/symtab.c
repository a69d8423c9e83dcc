/*
 * Lookups in the symbol table: binary searches over what tools/symtab sorted. Pure: no state, any
 * context, the same on the host.
 */
#include "kernel/base/symtab.h"
#include "kernel/lib/string.h"

const char *symtab_name(const struct sym_table *t, u32 i)
{
	return t->names + t->name_at[i];
}

u64 symtab_start(const struct sym_table *t, u32 i)
{
	return t->text_start + t->offset[i];
}

char symtab_type(const struct sym_table *t, u32 i)
{
	return t->global[i / 32] >> i % 32 & 1 ? t->type - 'a' + 'A' : t->type;
}

bool symtab_hooked(const struct sym_table *t, u32 i)
{
	return t->hooked && (t->hooked[i / 32] >> i % 32 & 1);
}

u64 symtab_size(const struct sym_table *t, u32 i)
{
	for (u32 next = i + 1; next < t->count; next++)
		if (t->offset[next] != t->offset[i])
			return t->offset[next] - t->offset[i];
	return t->text_end - symtab_start(t, i);
}

long symtab_find(const struct sym_table *t, u64 addr)
{
	u32 low = 0, high = t->count;

	if (addr < t->text_start || addr >= t->text_end)
		return -1;
	while (low < high) { /* first function that starts beyond addr */
		u32 mid = low + (high - low) / 2;
		if (symtab_start(t, mid) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return -1;
	for (low--; low > 0 && t->offset[low - 1] == t->offset[low];)
		low--;
	return low;
}

/* Is this the first place in by_name that is not before the name? */
static bool symtab_is_place(const struct sym_table *t, u32 at, const char *name)
{
	return at < t->count && strcmp(symtab_name(t, t->by_name[at]), name) == 0 &&
	       (!at || strcmp(symtab_name(t, t->by_name[at - 1]), name) != 0);
}

long symtab_by_name(const struct sym_table *t, const char *name, unsigned *count, u32 *recent)
{
	u32 low = 0, high = t->count, end;

	if (recent && symtab_is_place(t, *recent, name))
		low = high = *recent;
	while (low < high) {
		u32 mid = low + (high - low) / 2;
		if (strcmp(symtab_name(t, t->by_name[mid]), name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < t->count && strcmp(symtab_name(t, t->by_name[end]), name) == 0;)
		end++;
	if (count)
		*count = end - low;
	if (recent)
		*recent = low;
	return end == low ? -1 : (long)t->by_name[low];
}
