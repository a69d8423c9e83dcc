/* trace/host_noise.h: the events osnoise:*. */
#include "trace/host_noise.h"
#include "kernel/base/events.h"
#include "kernel/task/task.h"

void host_sample_threshold(u64 start, u64 ns, u64 interference)
{
	trace_sample_threshold(start, ns, interference);
}

void host_nmi_noise(u64 start, u64 ns)
{
	trace_nmi_noise(start, ns);
}

void host_irq_noise(int vector, const char *name, u64 start, u64 ns)
{
	trace_irq_noise(vector, name, start, ns);
}

void host_thread_noise(const void *task, u64 start, u64 ns)
{
	trace_thread_noise(task, start, ns);
}
