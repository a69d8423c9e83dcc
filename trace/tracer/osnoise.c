/*
 * osnoise and timerlat. Both have a worker on each CPU.
 *
 * osnoise's reads the clock in a loop, `runtime` of each `period`, and takes part as any other task
 * does. If the clock moved by more than tracing_thresh from one reading to the next, that is noise;
 * if nothing came in meanwhile that noise.c knows of, the hardware made it. Each period makes a
 * record.
 *
 * timerlat's is a real-time task that sleeps until its next period. The timer's interrupt makes a
 * record, and the task makes one when it runs: how late each was.
 *
 * Several arrays may have the one or the other, and get all records. Legend: [L] host_lock, [A]
 * others read it at any time, [C] only its CPU's worker and what interrupts it.
 */
#include "trace/tracer/osnoise.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/event/record.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_log.h"
#include "trace/host_noise.h"
#include "trace/host_stack.h"
#include "trace/host_task.h"
#include "trace/host_worker.h"
#include "trace/output/header.h"
#include "trace/tracer/noise.h"
#include "trace/tracer/tracer.h"

#define NS_PER_US	  1000UL
#define THRESH_NS	  1000UL /* if tracing_thresh is 0 */
#define TIMERLAT_PRIORITY 95
#define STACK_FRAMES	  64

const char *const osnoise_option_names[OSNOISE_OPTIONS] = {"DEFAULTS", "OSNOISE_WORKLOAD",
    "PANIC_ON_STOP", "OSNOISE_PREEMPT_DISABLE", "OSNOISE_IRQ_DISABLE"};

static u64 settings[OSNOISE_SETTINGS] = {
    [OSNOISE_PERIOD] = 1000000,
    [OSNOISE_RUNTIME] = 1000000,
    [OSNOISE_TIMERLAT_PERIOD] = 1000,
};				       /* [A] */
static u32 options = OSNOISE_WORKLOAD; /* [A] */
static u64 cpus_wanted = ~0UL;	       /* [L] */

static struct trace_array *owners;	   /* [A] by osnoise_next: they have the tracer `running` */
static const struct trace_tracer *running; /* [L] NULL: neither */
static bool stopping;			   /* [A] the workers are to end */

static struct osnoise_cpu {
	struct host_worker *worker; /* [L] */
	bool begun;		    /* [C] the worker has run */
	bool fired;		    /* [C] timerlat's timer, and the worker has not run since */
	u32 seqnum;		    /* [C] */
	u64 due;		    /* [C] when the timer is to interrupt */
	u32 frames;		    /* [C] of the stack that it found */
	u64 stack[STACK_FRAMES];    /* [C] */
} cpus[MAX_CPUS];

/* ---- records ---- */

static void osnoise_record(enum trace_ftrace_id id, void *rec, u32 size)
{
	struct host_context ctx;

	host_enter(&ctx);
	for (struct trace_array *tr = READ_ONCE(owners); tr; tr = READ_ONCE(tr->osnoise_next))
		trace_gate_one(trace_ftrace_file(tr, id), &ctx, rec, size);
	host_preempt_enable();
}

static bool osnoise_recorded(void)
{
	for (struct trace_array *tr = READ_ONCE(owners); tr; tr = READ_ONCE(tr->osnoise_next))
		if (trace_array_is_on(tr))
			return true;
	return false;
}

static void osnoise_note_max(u64 ns)
{
	for (struct trace_array *tr = READ_ONCE(owners); tr; tr = READ_ONCE(tr->osnoise_next)) {
		u64 max = atomic_load(&tr->max_latency_ns);

		while (
		    trace_array_is_on(tr) && ns > max && !atomic_cas(&tr->max_latency_ns, max, ns))
			max = atomic_load(&tr->max_latency_ns);
	}
}

/* What the user has set to be too long was met. Its name is in the record, as on Linux. */
static __noinline void osnoise_stop_tracing(void)
{
	u64 image[16] = {0};
	struct rec_print *rec = (struct rec_print *)image;

	rec->ip = (u64)osnoise_stop_tracing;
	u32 n = fmt_snprintf(
	    rec->buf, sizeof(image) - sizeof(*rec), "stop tracing hit on cpu %lu\n", host_cpu());
	osnoise_record(TRACE_PRINT, rec, sizeof(*rec) + n + 1);
	if (READ_ONCE(options) & OSNOISE_PANIC_ON_STOP) {
		fmt_snprintf((char *)image, sizeof(image), "tracer hit stop condition on CPU %lu",
		    host_cpu());
		host_panic((char *)image);
	}
	for (struct trace_array *tr = READ_ONCE(owners); tr; tr = READ_ONCE(tr->osnoise_next))
		trace_array_set_on(tr, false);
}

/* ---- osnoise ---- */

struct osnoise_sample {
	u64 runtime, noise, max; /* nanoseconds */
	u32 hardware;
};

/* A stretch of the clock in which the worker did not read it. */
static void osnoise_gap(struct osnoise_sample *s, u64 start, u64 ns, u64 interferences)
{
	u64 stop_us = READ_ONCE(settings[OSNOISE_STOP]);

	s->max = MAX(s->max, ns);
	s->noise += ns;
	s->hardware += !interferences;
	host_preempt_disable();
	host_sample_threshold(start, ns, interferences);
	host_preempt_enable();
	if (stop_us && ns > stop_us * NS_PER_US)
		osnoise_stop_tracing();
}

static void osnoise_watch_clock(struct osnoise_sample *s, struct noise_cpu *c)
{
	u64 runtime = READ_ONCE(settings[OSNOISE_RUNTIME]) * NS_PER_US;
	u64 thresh = READ_ONCE(trace_thresh_ns), seen, last_seen;
	u64 last = noise_now(c, &last_seen), start = last;

	if (!thresh)
		thresh = THRESH_NS;
	do {
		u64 now = noise_now(c, &seen);

		if (now - last >= thresh) {
			osnoise_gap(s, last, now - last, seen - last_seen);
			now = noise_now(c, &seen); /* what the record took is no noise */
		}
		s->runtime = now - start;
		last = now;
		last_seen = seen;
	} while (s->runtime < runtime && !atomic_load(&stopping));
}

static void osnoise_take_sample(struct noise_cpu *c)
{
	u32 how = READ_ONCE(options), before[NOISE_KINDS];
	struct osnoise_sample s = {0};
	struct host_task self;
	u64 flags = 0;

	host_task_of(NULL, &self);
	c->pid = self.pid;
	memcpy(before, c->counts, sizeof(before));
	if (how & OSNOISE_IRQ_DISABLE)
		flags = host_irqs_off();
	else if (how & OSNOISE_PREEMPT_DISABLE)
		host_preempt_disable();
	WRITE_ONCE(c->sampling, true);
	osnoise_watch_clock(&s, c);
	WRITE_ONCE(c->sampling, false);
	if (how & OSNOISE_IRQ_DISABLE)
		host_irqs_restore(flags);
	else if (how & OSNOISE_PREEMPT_DISABLE)
		host_preempt_enable();
	struct rec_osnoise rec = {
	    .noise = s.noise / NS_PER_US,
	    .runtime = s.runtime / NS_PER_US,
	    .max_sample = s.max / NS_PER_US,
	    .hw_count = s.hardware,
	    .nmi_count = c->counts[NOISE_NMI] - before[NOISE_NMI],
	    .irq_count = c->counts[NOISE_IRQ] - before[NOISE_IRQ],
	    .thread_count = c->counts[NOISE_THREAD] - before[NOISE_THREAD],
	};
	osnoise_record(TRACE_OSNOISE, &rec, sizeof(rec));
	osnoise_note_max(s.max);
	u64 stop_us = READ_ONCE(settings[OSNOISE_STOP_TOTAL]);
	if (stop_us && rec.noise > stop_us)
		osnoise_stop_tracing();
}

/* Of a worker: how long until the next sample. */
static u64 osnoise_step(void *arg)
{
	u64 period = READ_ONCE(settings[OSNOISE_PERIOD]) * NS_PER_US;

	if (!osnoise_recorded())
		return period;
	osnoise_take_sample(&noise_cpus[(struct osnoise_cpu *)arg - cpus]);
	u64 runtime = READ_ONCE(settings[OSNOISE_RUNTIME]) * NS_PER_US;
	return runtime < period ? period - runtime : 0;
}

/* ---- timerlat ---- */

enum { TIMERLAT_IRQ, TIMERLAT_THREAD };

static void timerlat_record(struct osnoise_cpu *c, int context, u64 ns)
{
	struct rec_timerlat rec = {.seqnum = c->seqnum, .context = context, .timer_latency = ns};

	osnoise_record(TRACE_TIMERLAT, &rec, sizeof(rec));
}

static void timerlat_print_stack(const struct osnoise_cpu *c, u64 ns)
{
	u64 image[sizeof(struct rec_stack) / sizeof(u64) + STACK_FRAMES] = {0};
	struct rec_stack *rec = (struct rec_stack *)image;
	u64 least_us = READ_ONCE(settings[OSNOISE_PRINT_STACK]);

	if (!least_us || ns / NS_PER_US < least_us)
		return;
	rec->size = c->frames;
	memcpy(rec->caller, c->stack, c->frames * sizeof(u64));
	osnoise_record(TRACE_STACK, rec, sizeof(*rec) + c->frames * sizeof(u64));
}

/*
 * The interrupt of the timer, before it wakes the worker. From here on other tasks are noise, and
 * so is the rest of the task that it came into.
 */
static void timerlat_irq(void *arg)
{
	struct osnoise_cpu *c = arg;
	struct noise_cpu *noise = &noise_cpus[c - cpus];
	u64 now = host_clock_ns(host_clock()), stop_us = READ_ONCE(settings[OSNOISE_STOP]);
	u64 print_us = READ_ONCE(settings[OSNOISE_PRINT_STACK]), late = now - c->due;

	noise->arrivals[NOISE_THREAD] = now;
	WRITE_ONCE(noise->starts[NOISE_THREAD], noise->starts[NOISE_IRQ]);
	c->fired = true;
	c->seqnum++;
	timerlat_record(c, TIMERLAT_IRQ, late);
	if (print_us)
		c->frames = host_stack(c->stack, STACK_FRAMES);
	if (!stop_us || late / NS_PER_US < stop_us)
		return;
	if (stop_us <= print_us)
		timerlat_print_stack(c, late);
	osnoise_stop_tracing();
	osnoise_note_max(late);
}

static void timerlat_thread(struct osnoise_cpu *c)
{
	u64 late = host_clock_ns(host_clock()) - c->due;
	u64 stop_us = READ_ONCE(settings[OSNOISE_STOP_TOTAL]);

	c->fired = false;
	timerlat_record(c, TIMERLAT_THREAD, late);
	osnoise_note_max(late);
	timerlat_print_stack(c, late);
	if (stop_us && late / NS_PER_US >= stop_us)
		osnoise_stop_tracing();
}

/* Of a worker, at the beginning and at the end of each sleep: when the next ends. */
static u64 timerlat_step(void *arg)
{
	struct osnoise_cpu *c = arg;
	struct noise_cpu *noise = &noise_cpus[c - cpus];
	u64 period = READ_ONCE(settings[OSNOISE_TIMERLAT_PERIOD]) * NS_PER_US;
	struct host_task self;

	if (!c->begun) {
		host_worker_realtime(TIMERLAT_PRIORITY);
		host_task_of(NULL, &self);
		noise->pid = self.pid;
		WRITE_ONCE(noise->sampling, true);
		c->begun = true;
		c->due = host_clock_ns(host_clock());
	}
	if (c->fired)
		timerlat_thread(c);
	u64 now = host_clock_ns(host_clock());
	c->due += period;
	if (c->due < now)
		c->due += (now - c->due + period - 1) / period * period;
	return c->due;
}

/* ---- workers ---- */

static u64 osnoise_cpus_there(void)
{
	u64 all = host_cpu_count() >= 64 ? ~0UL : (1UL << host_cpu_count()) - 1;

	return cpus_wanted & all;
}

u64 osnoise_cpus(void)
{
	return osnoise_cpus_there();
}

static void osnoise_stop_workers(void)
{
	atomic_store(&stopping, true);
	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (cpus[cpu].worker)
			host_worker_stop(cpus[cpu].worker);
		cpus[cpu].worker = NULL;
		WRITE_ONCE(noise_cpus[cpu].sampling, false);
		noise_cpus[cpu].pid = 0;
	}
	atomic_store(&stopping, false);
}

static bool osnoise_start_worker(unsigned cpu)
{
	bool timed = running == &trace_tracer_timerlat;
	char name[16];

	fmt_snprintf(name, sizeof(name), "%s/%u", running->name, cpu);
	cpus[cpu].begun = cpus[cpu].fired = false;
	cpus[cpu].seqnum = 0;
	cpus[cpu].worker =
	    timed ? host_worker_start_timed(name, cpu, timerlat_step, timerlat_irq, &cpus[cpu])
		  : host_worker_start(name, cpu, osnoise_step, &cpus[cpu]);
	return cpus[cpu].worker;
}

/* Without the option, osnoise has no workload of its own, and each task is noise. */
static int osnoise_start_workers(void)
{
	bool own = options & OSNOISE_WORKLOAD;

	if (!own && running == &trace_tracer_timerlat)
		return 0;
	for (u64 mask = osnoise_cpus_there(); mask; mask &= mask - 1) {
		unsigned cpu = __builtin_ctzll(mask);

		if (!own) {
			WRITE_ONCE(noise_cpus[cpu].sampling, true);
		} else if (!osnoise_start_worker(cpu)) {
			osnoise_stop_workers();
			return -ENOMEM;
		}
	}
	return 0;
}

static void osnoise_restart_workers(void)
{
	if (!running)
		return;
	osnoise_stop_workers();
	osnoise_start_workers();
}

/* ---- the tracers ---- */

static bool osnoise_has(const struct trace_array *wanted)
{
	for (const struct trace_array *tr = owners; tr; tr = tr->osnoise_next)
		if (tr == wanted)
			return true;
	return false;
}

/* Takes the array away; with the last, the workload ends. */
static void osnoise_stop(struct trace_array *tr)
{
	struct trace_array **at = &owners;

	if (!osnoise_has(tr))
		return;
	while (*at != tr)
		at = &(*at)->osnoise_next;
	WRITE_ONCE(*at, tr->osnoise_next);
	host_synchronize();
	if (owners)
		return;
	osnoise_stop_workers();
	noise_watch(false);
	running = NULL;
}

static int osnoise_start_as(struct trace_array *tr, const struct trace_tracer *tracer)
{
	int err = 0;

	if (osnoise_has(tr))
		return 0;
	if (running && running != tracer)
		return -EBUSY;
	if (!running) {
		running = tracer;
		noise_watch(true);
		err = osnoise_start_workers();
		if (err) {
			noise_watch(false);
			running = NULL;
			return err;
		}
	}
	tr->osnoise_next = owners;
	WRITE_ONCE(owners, tr);
	return 0;
}

static int osnoise_init(struct trace_array *tr)
{
	tr->max_latency_ns = 0;
	return osnoise_start_as(tr, &trace_tracer_osnoise);
}

static void osnoise_start(struct trace_array *tr)
{
	osnoise_start_as(tr, &trace_tracer_osnoise);
}

static int timerlat_init(struct trace_array *tr)
{
	tr->max_latency_ns = 0;
	return osnoise_start_as(tr, &trace_tracer_timerlat);
}

static void timerlat_start(struct trace_array *tr)
{
	osnoise_start_as(tr, &trace_tracer_timerlat);
}

const struct trace_tracer trace_tracer_osnoise = {
    .name = "osnoise",
    .init = osnoise_init,
    .reset = osnoise_stop,
    .start = osnoise_start,
    .stop = osnoise_stop,
    .header = trace_print_osnoise_header,
};

const struct trace_tracer trace_tracer_timerlat = {
    .name = "timerlat",
    .init = timerlat_init,
    .reset = osnoise_stop,
    .start = timerlat_start,
    .stop = osnoise_stop,
    .header = trace_print_timerlat_header,
};

/* ---- settings ---- */

u64 osnoise_get(enum osnoise_setting which)
{
	return settings[which];
}

int osnoise_set(enum osnoise_setting which, u64 us)
{
	u64 least = 0, most = ~0UL;

	if (which == OSNOISE_PERIOD)
		least = settings[OSNOISE_RUNTIME];
	if (which == OSNOISE_RUNTIME)
		most = settings[OSNOISE_PERIOD];
	if (which == OSNOISE_TIMERLAT_PERIOD) {
		least = 100;
		most = 1000000;
	}
	if (us < least || us > most)
		return -EINVAL;
	WRITE_ONCE(settings[which], us);
	return 0;
}

void osnoise_set_cpus(u64 wanted)
{
	if (running)
		osnoise_stop_workers();
	cpus_wanted = wanted;
	if (running)
		osnoise_start_workers();
}

u32 osnoise_options(void)
{
	return options | (options == OSNOISE_WORKLOAD ? OSNOISE_DEFAULTS : 0);
}

int osnoise_set_option(u32 bit, bool on)
{
	if (bit == OSNOISE_DEFAULTS && !on)
		return -EINVAL;
	if (bit == OSNOISE_DEFAULTS)
		WRITE_ONCE(options, OSNOISE_WORKLOAD);
	else
		WRITE_ONCE(options, on ? options | bit : options & ~bit);
	osnoise_restart_workers();
	return 0;
}
