/*
 * Copies between the kernel and ring 3, and from or to kernel memory that may not be there. See
 * arch/arch.h for who may call what. No state.
 */
#include "arch/x86_64/mm/usercopy.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/irq/extable.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

struct smap_site {
	u8 *addr;
	u8 insn[8]; /* the first three */
};

extern const struct smap_site __start___smap_sites[], __stop___smap_sites[];
extern const struct extable_entry __start___ex_table[], __stop___ex_table[];

/* usercopy.S */
struct copied {
	long err;
	size_t left;
} user_copy(void *dst, const void *src, size_t n);
long user_copy_nofault(void *dst, const void *src, size_t n);
long kernel_copy_nofault(void *dst, const void *src, size_t n);
long user_strncpy(char *dst, u64 src, size_t size, u64 limit);

void usercopy_init(void)
{
	if (!cpu_features.smap)
		return;
	for (const struct smap_site *s = __start___smap_sites; s < __stop___smap_sites; s++)
		memcpy(s->addr, s->insn, 3);
}

const struct extable_entry *extable_find(u64 rip)
{
	for (const struct extable_entry *e = __start___ex_table; e < __stop___ex_table; e++)
		if (e->insn == rip)
			return e;
	return NULL;
}

bool extable_touches(u64 start, u64 end)
{
	for (const struct extable_entry *e = __start___ex_table; e < __stop___ex_table; e++)
		if ((e->insn >= start && e->insn < end) || (e->fixup >= start && e->fixup < end))
			return true;
	return false;
}

static bool user_range(u64 addr, size_t n)
{
	return addr <= USER_END && n <= USER_END - addr;
}

static bool kernel_range(const void *p, size_t n)
{
	u64 addr = (u64)p;

	return addr >= DIRECT_MAP_BASE && n <= -addr;
}

int copy_from_user(void *dst, u64 src, size_t n)
{
	return user_range(src, n) ? user_copy(dst, (const void *)src, n).err : -EFAULT;
}

size_t copy_from_user_left(void *dst, u64 src, size_t n)
{
	if (!user_range(src, n))
		return n;
	struct copied c = user_copy(dst, (const void *)src, n);
	return c.err ? c.left : 0;
}

_Static_assert(USER_END == 0x7ffffffff000, "usercopy.S knows it as well");

int copy_to_user(u64 dst, const void *src, size_t n)
{
	return user_range(dst, n) ? user_copy((void *)dst, src, n).err : -EFAULT;
}

long strncpy_from_user(char *dst, u64 src, size_t size)
{
	if (!size)
		return -ENAMETOOLONG;
	return src < USER_END ? user_strncpy(dst, src, size, USER_END - src) : -EFAULT;
}

int copy_from_user_nofault(void *dst, u64 src, size_t n)
{
	return user_range(src, n) ? user_copy_nofault(dst, (const void *)src, n) : -EFAULT;
}

int copy_from_kernel_nofault(void *dst, const void *src, size_t n)
{
	return kernel_range(src, n) ? kernel_copy_nofault(dst, src, n) : -EFAULT;
}

int copy_to_kernel_nofault(void *dst, const void *src, size_t n)
{
	return kernel_range(dst, n) ? kernel_copy_nofault(dst, src, n) : -EFAULT;
}
