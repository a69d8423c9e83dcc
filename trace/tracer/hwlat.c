/*
 * Stolen time. A sampler holds its CPU for `width` of each `window`, interrupts off, and does
 * nothing but read the clock, twice in each round of a loop. What lies between two readings is a
 * few instructions; if the clock moved by more, somebody else had the CPU. Inner: between the two
 * readings of a round; outer: from one round to the next. A sample in which either was above
 * tracing_thresh makes one record, with the largest of both. NMIs come in nevertheless: their time
 * and number are told beside it, and the number of SMIs where the CPU counts them.
 *
 * One array at a time has the tracer. Legend: [L] host_lock, [A] read by the samplers, [C] only its
 * CPU and NMIs there.
 */
#include "trace/tracer/hwlat.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/event/record.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_log.h"
#include "trace/host_worker.h"
#include "trace/tracer/tracer.h"

#define BANNER		  "hwlat_detector: "
#define DEFAULT_THRESH_NS 10000UL
#define NS_PER_US	  1000UL
#define MIN_SLEEP_NS	  1000000UL /* the system is not to starve */

const char *const hwlat_mode_names[HWLAT_MODES] = {"none", "round-robin", "per-cpu"};

static u64 width_us = HWLAT_WIDTH_US, window_us = HWLAT_WINDOW_US; /* [A] */
static u32 mode = HWLAT_ROUND_ROBIN;				   /* [A] */
static struct trace_array *owner; /* [L] whose tracer it is; NULL: nobody's */
static u64 saved_thresh_ns;	  /* [L] tracing_thresh before that */
static u64 last_thresh_ns = DEFAULT_THRESH_NS;
static u64 samples; /* [A] with a record, since it was chosen */

/* A CPU. What NMIs count is theirs and the sampler's there. */
static struct hwlat_cpu {
	struct host_worker *sampler; /* [L] in mode per-cpu; else the only one is CPU 0's */
	bool sampling;		     /* [C] */
	u64 nmi_began, nmi_ns;	     /* [C] */
	u32 nmis;		     /* [C] */
	u64 smis;		     /* [A] */
} cpus[MAX_CPUS];

/* ---- a sample ---- */

struct sample {
	u64 inner_us, outer_us; /* the largest of each */
	u64 found_ns;		/* when the first was above the threshold */
	u32 count;		/* how many were */
};

static u64 hwlat_now_ns(void)
{
	return host_clock_ns(host_clock());
}

void trace_hwlat_nmi(bool enter)
{
	struct hwlat_cpu *c = &cpus[host_cpu()];

	if (!READ_ONCE(c->sampling))
		return;
	if (enter) {
		c->nmis++;
		c->nmi_began = hwlat_now_ns();
	} else {
		c->nmi_ns += hwlat_now_ns() - c->nmi_began;
	}
}

/* False: the clock went back, and the sample says nothing. */
static bool watch_clock(struct sample *s, u64 thresh_us, u64 sample_us)
{
	u64 start = hwlat_now_ns(), last = 0;

	for (;;) {
		u64 t1 = hwlat_now_ns(), t2 = hwlat_now_ns();
		u64 outer = last ? (t1 - last) / NS_PER_US : 0, inner = (t2 - t1) / NS_PER_US;

		if (t2 < t1 || t1 < last)
			return false;
		last = t2;
		if ((inner > thresh_us || outer > thresh_us) && !s->count++)
			s->found_ns = t2;
		s->inner_us = MAX(s->inner_us, inner);
		s->outer_us = MAX(s->outer_us, outer);
		if ((t2 - start) / NS_PER_US > sample_us)
			return true;
	}
}

static void record(struct trace_array *tr, const struct sample *s, u32 smis)
{
	struct trace_event_file *file = trace_ftrace_file(tr, TRACE_HWLAT);
	u64 unix_ns = host_unix_ns() + s->found_ns;
	struct host_context ctx;

	host_enter(&ctx);
	const struct hwlat_cpu *c = &cpus[ctx.cpu];
	struct rec_hwlat rec = {
	    .duration = s->inner_us,
	    .outer_duration = s->outer_us,
	    .nmi_total_ts = c->nmi_ns / NS_PER_US,
	    .tv_sec = unix_ns / 1000000000,
	    .tv_nsec = unix_ns % 1000000000,
	    .nmi_count = c->nmis,
	    .seqnum = atomic_add(&samples, 1),
	    .count = s->count,
	    .smi_count = smis,
	};
	trace_gate_one(file, &ctx, &rec, sizeof(rec));
	host_preempt_enable();
}

static void note_max(struct trace_array *tr, const struct sample *s)
{
	u64 ns = MAX(s->inner_us, s->outer_us) * NS_PER_US, max = atomic_load(&tr->max_latency_ns);

	while (ns > max && !atomic_cas(&tr->max_latency_ns, max, ns))
		max = atomic_load(&tr->max_latency_ns);
}

/* Interrupts off. */
static void take_sample(struct trace_array *tr)
{
	struct hwlat_cpu *c = &cpus[host_cpu()];
	u64 thresh_us = READ_ONCE(trace_thresh_ns) / NS_PER_US, before = 0, after = 0;
	struct sample s = {0};

	c->nmi_ns = c->nmis = 0;
	host_smi_count(&before);
	WRITE_ONCE(c->sampling, true);
	bool sound = watch_clock(&s, thresh_us, READ_ONCE(width_us));
	WRITE_ONCE(c->sampling, false);
	host_smi_count(&after);
	c->smis += after - before;
	if (!sound) {
		host_log(BANNER "time running backwards");
	} else if (s.count) {
		record(tr, &s, after - before);
		note_max(tr, &s);
	}
}

/* ---- samplers ---- */

static u64 hwlat_cpus_of(const struct trace_array *tr)
{
	u64 all = host_cpu_count() >= 64 ? ~0UL : (1UL << host_cpu_count()) - 1;

	return READ_ONCE(tr->cpumask) & all;
}

/* The one after `cpu` in the mask, or its first; -1: it is empty. */
static int next_cpu(u64 mask, unsigned cpu)
{
	u64 behind = cpu >= 63 ? 0 : mask & ~0UL << (cpu + 1);

	return behind ? __builtin_ctzll(behind) : mask ? __builtin_ctzll(mask) : -1;
}

static void move_on(const struct trace_array *tr)
{
	int cpu = next_cpu(hwlat_cpus_of(tr), host_cpu());

	if (cpu >= 0) {
		host_worker_move(cpu);
		return;
	}
	WRITE_ONCE(mode, HWLAT_NONE);
	host_log(BANNER "no CPU is left while in round-robin mode, switching to mode none");
}

/* Of a worker: how long until the next sample. */
static u64 hwlat_step(void *arg)
{
	struct trace_array *tr = arg;
	u64 flags, window, width;

	if (READ_ONCE(mode) == HWLAT_ROUND_ROBIN)
		move_on(tr);
	flags = host_irqs_off();
	take_sample(tr);
	host_irqs_restore(flags);
	window = READ_ONCE(window_us);
	width = READ_ONCE(width_us); /* of another moment: it may be more */
	return width < window ? MAX((window - width) * NS_PER_US, MIN_SLEEP_NS) : MIN_SLEEP_NS;
}

static void hwlat_stop(struct trace_array *tr __maybe_unused)
{
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (cpus[cpu].sampler)
			host_worker_stop(cpus[cpu].sampler);
		cpus[cpu].sampler = NULL;
	}
}

static int start_single(struct trace_array *tr)
{
	u64 mask = hwlat_cpus_of(tr);
	int cpu = mode == HWLAT_ROUND_ROBIN && mask ? __builtin_ctzll(mask) : -1;

	cpus[0].sampler = host_worker_start("hwlatd", cpu, hwlat_step, tr);
	return cpus[0].sampler ? 0 : -ENOMEM;
}

static int start_each(struct trace_array *tr)
{
	char name[16];

	for (u64 mask = hwlat_cpus_of(tr); mask; mask &= mask - 1) {
		int cpu = __builtin_ctzll(mask);

		fmt_snprintf(name, sizeof(name), "hwlatd/%d", cpu);
		cpus[cpu].sampler = host_worker_start(name, cpu, hwlat_step, tr);
		if (!cpus[cpu].sampler)
			return -ENOMEM;
	}
	return 0;
}

static int hwlat_start_samplers(struct trace_array *tr)
{
	int err = mode == HWLAT_PER_CPU ? start_each(tr) : start_single(tr);

	if (err) {
		hwlat_stop(tr);
		host_log(BANNER "Cannot start hwlat kthread");
	}
	return err;
}

static void hwlat_start(struct trace_array *tr)
{
	hwlat_stop(tr); /* switched on twice */
	hwlat_start_samplers(tr);
}

/* ---- the tracer ---- */

static int hwlat_init(struct trace_array *tr)
{
	if (owner)
		return -EBUSY;
	samples = 0;
	tr->max_latency_ns = 0;
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
		cpus[cpu].smis = 0;
	int err = trace_array_is_on(tr) ? hwlat_start_samplers(tr) : 0;
	if (err)
		return err;
	saved_thresh_ns = trace_thresh_ns;
	if (!trace_thresh_ns)
		WRITE_ONCE(trace_thresh_ns, last_thresh_ns);
	owner = tr;
	return 0;
}

static void hwlat_reset(struct trace_array *tr)
{
	hwlat_stop(tr);
	last_thresh_ns = trace_thresh_ns;
	WRITE_ONCE(trace_thresh_ns, saved_thresh_ns);
	owner = NULL;
}

const struct trace_tracer trace_tracer_hwlat = {.name = "hwlat",
    .init = hwlat_init,
    .reset = hwlat_reset,
    .start = hwlat_start,
    .stop = hwlat_stop};

/* ---- settings ---- */

u64 hwlat_width(void)
{
	return width_us;
}

u64 hwlat_window(void)
{
	return window_us;
}

enum hwlat_mode hwlat_mode(void)
{
	return READ_ONCE(mode);
}

u64 hwlat_smis(unsigned cpu)
{
	return READ_ONCE(cpus[cpu].smis);
}

int hwlat_set_width(u64 us)
{
	if (us > window_us)
		return -EINVAL;
	WRITE_ONCE(width_us, us);
	return 0;
}

int hwlat_set_window(u64 us)
{
	if (us < width_us)
		return -EINVAL;
	WRITE_ONCE(window_us, us);
	return 0;
}

void hwlat_set_mode(enum hwlat_mode to)
{
	bool runs = owner && trace_array_is_on(owner);

	if (runs)
		hwlat_stop(owner);
	WRITE_ONCE(mode, to);
	if (runs)
		hwlat_start_samplers(owner);
}
