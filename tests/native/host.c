/*
 * What the ring buffer needs from its host (trace/host_*.h), for measuring. Rings are made, changed
 * and read while nobody writes, so nothing has to be waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

_Thread_local unsigned native_cpu;

unsigned host_cpu_count(void)
{
	return 2;
}

u64 host_clock_ns(u64 clock)
{
	return clock;
}

void *host_alloc(size_t size)
{
	return calloc(1, size);
}

void host_free(void *p)
{
	free(p);
}

void *host_page_alloc(void)
{
	void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);

	return page ? memset(page, 0, PAGE_SIZE) : NULL;
}

void host_page_free(void *p)
{
	free(p);
}

void host_synchronize(void)
{
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	(void)cpu;
	fn(arg);
}
