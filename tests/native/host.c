/*
 * The host of the ring buffer and of the core around it (trace/host_*.h), for measuring. Rings are
 * made, changed and read while nobody writes, so nothing has to be waited for. Memory is that of
 * tests/host/port/memory.c.
 */
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

void host_synchronize(void)
{
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	(void)cpu;
	fn(arg);
}

void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	host_on_cpu(cpu, fn, arg);
}

int host_memory_check(const char *what, u64 bytes)
{
	(void)what;
	(void)bytes;
	return 0;
}
