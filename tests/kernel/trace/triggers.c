/*
 * Triggers on all CPUs at once: a task on each CPU adds triggers to one event, fires it and removes
 * them, while all others do the same and NMIs fire it too. Nothing may be freed under a writer, and
 * every hit must be accounted for in the end.
 */
#include "kernel/base/cmdline.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/event/ftrace.h"
#include "trace/event/snapshot.h"
#include "trace/host_clock.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/ring/ring.h"
#include "trace/trigger/trigger.h"

#define ROUNDS 2000 /* of all CPUs together, unless `rounds=` says more (make trigger-storm) */

static const char *const lines[] = {
    "traceoff",
    "traceon:3",
    "traceoff:1 if a == 1",
    "traceon if b != 1",
    "stacktrace:2 if b < 3",
    "stacktrace",
    "enable_event:unit:unit_flags",
    "disable_event:unit:unit_flags:2 if a >= 0",
    "disable_event:unit:unit_numbers:1",
    "enable_event:unit:unit_numbers if d > 1",
    "snapshot:1 if a == 2",
    "snapshot",
};
static u64 fired, fired_flags, rounds, added; /* [A] */
static u64 seed, rounds_wanted;

static struct trace_event_file *file_of(const char *name)
{
	return trace_event_file_of(trace_global, trace_event_find("unit", name));
}

static bool in_nmi(struct regs *r __maybe_unused)
{
	trace_unit_numbers(2, 1, 0, 0);
	atomic_add(&fired, 1);
	return true;
}

static void fire(u64 *random)
{
	for (unsigned i = 0; i < 4; i++) {
		u64 r = prng_next(random);
		trace_unit_numbers(r & 3, r >> 8 & 3, 0, r >> 16 & 3);
		trace_unit_flags(1, 0, NULL);
	}
	atomic_add(&fired, 4);
	atomic_add(&fired_flags, 4);
}

/* As a write to the file. The cases' helpers that walk paths are for one task. */
static int store(const char *mark, const char *line)
{
	char text[80];

	fmt_snprintf(text, sizeof(text), "%s%s", mark, line);
	host_lock();
	int err = trace_trigger_store(file_of("unit_numbers"), text);
	host_unlock();
	return err;
}

/*
 * What is refused is there already: somebody else's, who removes it, unless this one does by its
 * kind.
 */
static void one_round(u64 *random)
{
	const char *line = lines[prng_next(random) % ARRAY_SIZE(lines)];
	int err = store("", line);

	EXPECT(err == 0 || err == -EEXIST);
	fire(random);
	if (err)
		return;
	atomic_add(&added, 1);
	if (prng_next(random) % 16 == 0)
		nmi_send(prng_next(random) % cpu_count());
	EXPECT_EQ(store("!", line), 0);
}

static void storm_thread(void *arg)
{
	u64 random = seed + (u64)arg * 77;

	while (atomic_add(&rounds, 1) <= rounds_wanted)
		one_round(&random);
}

/* ---- the ledger ---- */

struct sums {
	u64 hit, flags_hit, recorded, in_rings, missed;
};

static u64 add_file(struct sums *s, const struct trace_event_file *file)
{
	u64 hit = 0;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		const struct trace_event_count *c = &file->counts[cpu];
		hit += c->hit;
		s->recorded += c->hit - c->lost - c->soft_off - c->too_deep;
		s->missed += c->trigger_missed;
	}
	return hit;
}

static void add_ring(struct sums *s, struct ring_buffer *rb)
{
	struct ring_buffer_stats st;

	for (unsigned cpu = 0; rb && cpu < cpu_count(); cpu++) {
		ring_buffer_stats(rb, cpu, &st);
		s->in_rings += st.entries + st.overrun + st.read;
	}
}

static struct sums sums_now(void)
{
	struct sums s = {0};

	s.hit = add_file(&s, file_of("unit_numbers"));
	s.flags_hit = add_file(&s, file_of("unit_flags"));
	add_file(&s, trace_ftrace_file(trace_global, TRACE_STACK));
	add_ring(&s, trace_global->buffer);
	add_ring(&s, trace_global->snapshot);
	return s;
}

static void hold_live(int users)
{
	host_lock();
	EXPECT_EQ(trace_file_prepare(file_of("unit_numbers")), 0);
	EXPECT_EQ(trace_file_prepare(file_of("unit_flags")), 0);
	trace_file_soft(file_of("unit_numbers"), users);
	trace_file_soft(file_of("unit_flags"), users);
	host_unlock();
}

static void check_sums(const struct sums *before)
{
	struct sums now = sums_now();

	EXPECT_EQ(now.hit - before->hit, fired);
	EXPECT_EQ(now.flags_hit - before->flags_hit, fired_flags);
	EXPECT_EQ(now.recorded - before->recorded, now.in_rings - before->in_rings);
	ktap_note("seed %llu: %llu triggers, %llu hits, %llu recorded, %llu could not act",
	    (unsigned long long)seed, (unsigned long long)added, (unsigned long long)fired,
	    (unsigned long long)(now.recorded - before->recorded),
	    (unsigned long long)(now.missed - before->missed));
}

/* All is as if there never had been a trigger; every CPU records as the switch says. */
static void check_rest(void)
{
	struct trace_event_file *file = file_of("unit_numbers");

	EXPECT(!file->triggers);
	EXPECT_EQ(file->way & (TRACE_WAY_TRIGGER | TRACE_WAY_LOOKS), 0);
	EXPECT_EQ(file->soft_users, 0);
	EXPECT_EQ(file_of("unit_flags")->soft_users, 0);
	EXPECT_EQ(trace_global->snapshot_users, 0);
}

static void record_on(void *unused __maybe_unused)
{
	trace_unit_numbers(9, 9, 9, 9);
}

/* The switch in each lane is as the last trigger left the one of the whole. */
static void check_switches(void)
{
	bool on = trace_array_is_on(trace_global);

	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	host_on_each_cpu(record_on, NULL);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), on ? cpu_count() : 0);
}

static void storm(void)
{
	struct threads t = {0};

	trace_fresh();
	EXPECT_EQ(trace_put("snapshot", "1"), 0); /* so that it stays */
	hold_live(1);
	struct sums before = sums_now();
	fired = fired_flags = rounds = added = 0;
	seed = host_clock() | 1;
	rounds_wanted = cmdline_u64("rounds", ROUNDS);
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, storm_thread, (void *)(u64)cpu, cpu);
	threads_join(&t);
	nmi_handler_remove(in_nmi);
	EXPECT(added > 0);
	check_sums(&before);
	check_switches();
	hold_live(-1);
	trace_fresh();
	check_rest();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
}

static const struct ktap_case cases[] = {
    {"trigger_storm.all_cpus", storm},
    {NULL, NULL},
};
const struct ktap_suite suite_triggers = {cases};
