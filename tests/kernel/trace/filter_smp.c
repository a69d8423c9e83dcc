/*
 * A filter replaced while its event fires on all CPUs. Every filter of the first case is false for
 * every record that is made, but the halves of any two are not: if one record came through, half a
 * filter or none would have decided about it.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/filter/compile.h"
#include "trace/filter/file.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

#define ROUNDS 40
#define BURST  64 /* events between two looks at who else wants the CPU */

static u64 fired; /* [A] */
static bool stop; /* [A] */

static struct trace_event_file *file_of(void)
{
	return trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
}

static struct trace_event_count sum(void)
{
	struct trace_event_count all = {.hit = 0};

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		all.hit += file_of()->counts[cpu].hit;
		all.lost += file_of()->counts[cpu].lost;
		all.filtered += file_of()->counts[cpu].filtered;
	}
	return all;
}

static void fire(void *arg __maybe_unused)
{
	u64 n = 0;

	while (!atomic_load(&stop)) {
		trace_unit_numbers(0, 1, 2, n);
		trace_unit_numbers(0, 2, 1, n);
		n += 2;
		if (n % BURST == 0)
			sched_yield_current();
	}
	atomic_add(&fired, n);
}

static int store(const char *text)
{
	char line[128];

	strscpy(line, text, sizeof(line));
	host_lock();
	int err = trace_filter_store(file_of(), line);
	host_unlock();
	return err;
}

static int store_system(const char *text)
{
	char line[128];

	strscpy(line, text, sizeof(line));
	host_lock();
	int err = trace_filter_store_system(trace_global, trace_system_find("unit"), line);
	host_unlock();
	return err;
}

static void start(struct threads *t, const char *filter)
{
	trace_fresh();
	EXPECT_EQ(store(filter), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	atomic_store(&stop, false);
	atomic_store(&fired, 0);
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		thread_start(t, fire, NULL, cpu);
}

static void finish(struct threads *t)
{
	atomic_store(&stop, true);
	threads_join(t);
}

static void never_half(void)
{
	static const char *const never[] = {
	    "b == 1 && c == 1",
	    "b == 2 && c == 2",
	    "(b == 1 && c != 2) || (b == 2 && c != 1)",
	    "!(b == 1 || b == 2)",
	    "c == 2 && b == 2 || c == 1 && b == 1 || comm == \"nobody\"",
	};
	struct threads t = {.n = 0};
	struct trace_event_count before, after;

	trace_fresh();
	before = file_of()->counts ? sum() : (struct trace_event_count){.hit = 0};
	start(&t, never[0]);
	for (unsigned i = 1; i < ROUNDS; i++) {
		const char *text = never[i % ARRAY_SIZE(never)];
		EXPECT_EQ(i % 8 ? store(text) : store_system("common_pid == -5"), 0);
	}
	finish(&t);
	after = sum();
	EXPECT(fired > 0);
	EXPECT_EQ(after.hit - before.hit, fired);
	EXPECT_EQ(after.filtered - before.filtered, fired);
	EXPECT_STR(trace_nth(0), "");
	EXPECT_EQ(store_system("0"), 0);
	trace_fresh();
}

/*
 * Set, cleared, refused, by the event's file and by the system's: every hit is still accounted for,
 * and all memory is given back.
 */
static void come_and_go(void)
{
	static const char *const texts[] = {
	    "b == 1", "0", "nosuch == 1", "d & 1", "c == 2 || d > 100"};
	struct threads t = {.n = 0};
	struct trace_event_count before, after;

	trace_fresh();
	before = sum();
	start(&t, "b == 1");
	for (unsigned i = 0; i < ROUNDS; i++) {
		const char *text = texts[i % ARRAY_SIZE(texts)];
		int err = i % 7 ? store(text) : store_system(text);
		EXPECT_EQ(err, text[0] == 'n' ? -EINVAL : 0);
	}
	finish(&t);
	after = sum();
	EXPECT_EQ(after.hit - before.hit, fired);
	EXPECT(after.filtered > before.filtered && after.filtered - before.filtered < fired);
	EXPECT_EQ(store_system("0"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"filter_smp.never_half", never_half},
    {"filter_smp.come_and_go", come_and_go},
    {NULL, NULL},
};
const struct ktap_suite suite_filter_smp = {cases};
