/*
 * Measures interruptions of a workload. Interrupts and switches of tasks are seen by consumers of
 * their tracepoints, NMIs by a call of the host. What comes in is not counted as part of what it
 * came into: at its end, the start of that is moved by its duration. So durations are net.
 *
 * An interrupt or an NMI may come between the look at the clock and the note of it: who does both
 * does them again if another interference has begun meanwhile. Legend: [C] only its CPU, with all
 * that interrupts it there.
 */
#include "trace/tracer/noise.h"
#include "kernel/lib/string.h"
#include "trace/event/consumer.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_noise.h"
#include "trace/host_task.h"

struct noise_cpu noise_cpus[MAX_CPUS];
static bool watching; /* [A] */

u64 noise_now(const struct noise_cpu *c, u64 *interferences)
{
	u64 now;

	do {
		*interferences = READ_ONCE(c->interferences);
		barrier();
		now = host_clock_ns(host_clock());
		barrier();
	} while (READ_ONCE(c->interferences) != *interferences);
	return now;
}

static void noise_begin(struct noise_cpu *c, enum noise_kind kind)
{
	u64 seen;

	c->arrivals[kind] = host_clock_ns(host_clock());
	do {
		WRITE_ONCE(c->starts[kind], noise_now(c, &seen));
		barrier();
	} while (READ_ONCE(c->interferences) != seen);
	c->counts[kind]++;
	WRITE_ONCE(c->interferences, c->interferences + 1);
}

/* How long it had the CPU for itself; what it came into lasts as much less. */
static u64 noise_end(struct noise_cpu *c, enum noise_kind kind)
{
	u64 seen, ns;

	do {
		ns = noise_now(c, &seen) - READ_ONCE(c->starts[kind]);
		barrier();
	} while (READ_ONCE(c->interferences) != seen);
	WRITE_ONCE(c->starts[kind], 0);
	for (unsigned outer = kind + 1; outer < NOISE_KINDS; outer++)
		if (c->starts[outer])
			WRITE_ONCE(c->starts[outer], c->starts[outer] + ns);
	return ns;
}

void trace_noise_nmi(bool enter)
{
	struct noise_cpu *c = &noise_cpus[host_cpu()];

	if (!READ_ONCE(watching) || !READ_ONCE(c->sampling))
		return;
	if (enter) {
		noise_begin(c, NOISE_NMI);
	} else if (c->starts[NOISE_NMI]) {
		u64 ns = noise_end(c, NOISE_NMI);
		host_nmi_noise(c->arrivals[NOISE_NMI], ns);
	}
}

/* ---- interrupts ---- */

static void noise_irq_begins(
    struct trace_consumer *consumer __maybe_unused, const u64 *args __maybe_unused)
{
	struct noise_cpu *c = &noise_cpus[host_cpu()];

	if (READ_ONCE(c->sampling))
		noise_begin(c, NOISE_IRQ);
}

static void noise_irq_ends(const char *name, int vector)
{
	struct noise_cpu *c = &noise_cpus[host_cpu()];

	if (!READ_ONCE(c->sampling) || !c->starts[NOISE_IRQ])
		return;
	u64 ns = noise_end(c, NOISE_IRQ);
	host_irq_noise(vector, name, c->arrivals[NOISE_IRQ], ns);
}

/* A vector of the CPU's own: its two tracepoints, and its name in the event. */
static struct noise_vector {
	struct trace_consumer begins, ends;
	const char *entry, *exit, *name;
} vectors[] = {
    {.entry = "local_timer_entry", .exit = "local_timer_exit", .name = "local_timer"},
    {.entry = "reschedule_entry", .exit = "reschedule_exit", .name = "reschedule"},
    {.entry = "call_function_entry", .exit = "call_function_exit", .name = "call_function"},
    {.entry = "error_apic_entry", .exit = "error_apic_exit", .name = "error_apic"},
    {.entry = "spurious_apic_entry", .exit = "spurious_apic_exit", .name = "spurious_apic"},
};

static void noise_vector_ends(struct trace_consumer *consumer, const u64 *args)
{
	noise_irq_ends(container_of(consumer, struct noise_vector, ends)->name, args[0]);
}

/* A device's interrupt says its name when it begins. */
static const char *device_names[MAX_CPUS]; /* [C] */

static void noise_device_begins(struct trace_consumer *consumer, const u64 *args)
{
	device_names[host_cpu()] = (const char *)args[1];
	noise_irq_begins(consumer, args);
}

static void noise_device_ends(struct trace_consumer *consumer __maybe_unused, const u64 *args)
{
	const char *name = device_names[host_cpu()];

	noise_irq_ends(name ? name : "", args[0]);
}

/* ---- tasks ---- */

static void noise_switched(struct trace_consumer *consumer __maybe_unused, const u64 *args)
{
	struct noise_cpu *c = &noise_cpus[host_cpu()];
	const void *prev = (const void *)args[1], *next = (const void *)args[2];
	struct host_task from, to;

	if (!READ_ONCE(c->sampling))
		return;
	host_task_of(prev, &from);
	host_task_of(next, &to);
	if (from.pid != c->pid || !c->pid) {
		if (c->starts[NOISE_THREAD]) {
			u64 ns = noise_end(c, NOISE_THREAD);
			host_thread_noise(prev, c->arrivals[NOISE_THREAD], ns);
		}
	}
	if (to.pid != c->pid || !c->pid)
		noise_begin(c, NOISE_THREAD);
}

/* ---- hooks ---- */

static struct trace_consumer switched = {.fn = noise_switched};
static struct trace_consumer device_begins = {.fn = noise_device_begins};
static struct trace_consumer device_ends = {.fn = noise_device_ends};

static void noise_hook(const char *tracepoint, struct trace_consumer *consumer, bool on)
{
	struct trace_event_call *call = trace_tracepoint_find(tracepoint);

	if (!call)
		return;
	if (on)
		trace_consumer_add(call, consumer);
	else
		trace_consumer_remove(call, consumer);
}

void noise_watch(bool on)
{
	if (on)
		memset(noise_cpus, 0, MAX_CPUS * sizeof(noise_cpus[0]));
	WRITE_ONCE(watching, on);
	for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
		vectors[i].begins.fn = noise_irq_begins;
		vectors[i].ends.fn = noise_vector_ends;
		noise_hook(vectors[i].entry, &vectors[i].begins, on);
		noise_hook(vectors[i].exit, &vectors[i].ends, on);
	}
	noise_hook("irq_handler_entry", &device_begins, on);
	noise_hook("irq_handler_exit", &device_ends, on);
	noise_hook("sched_switch", &switched, on);
	if (!on)
		host_synchronize();
}
