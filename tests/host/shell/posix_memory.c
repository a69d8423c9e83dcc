/* kmalloc over malloc, counted, and failing when a case asks for it. Any thread. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/host/shell/posix.h"
#include "tests/host/shell/posix_priv.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long allocated, peak;
static atomic_ulong fail_in;

long posix_allocated(void)
{
	return atomic_load(&allocated);
}

long posix_peak(void)
{
	return atomic_exchange(&peak, 0);
}

void posix_count_one(void)
{
	long now = atomic_fetch_add(&allocated, 1) + 1;

	if (now > atomic_load(&peak))
		atomic_store(&peak, now);
}

void mem_fail_nth(u64 n)
{
	atomic_store(&fail_in, n);
}

static bool fails(void)
{
	return atomic_load(&fail_in) && atomic_fetch_sub(&fail_in, 1) == 1;
}

void *kmalloc(size_t size)
{
	void *p = size > 4UL << 20 || fails() ? NULL : malloc(size ? size : 1);

	if (p)
		posix_count_one();
	return p;
}

void *kzalloc(size_t size)
{
	void *p = kmalloc(size);

	return p ? memset(p, 0, size) : NULL;
}

void *krealloc(void *p, size_t size)
{
	if (!p)
		return kmalloc(size);
	return size > 4UL << 20 || fails() ? NULL : realloc(p, size);
}

void kfree(const void *p)
{
	if (p)
		atomic_fetch_sub(&allocated, 1);
	free((void *)p);
}

char *kstrndup(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *p = kmalloc(n + 1);

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *kstrdup(const char *s)
{
	return kstrndup(s, strlen(s));
}

u64 page_total(void)
{
	return 16384;
}

u64 page_free_count(void)
{
	return 8192;
}
