/*
 * set_event_pid, set_event_notrace_pid: the files, whose events are kept, switches and wake-ups,
 * following forks.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/event/pid_filter.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/host_worker.h"

extern struct trace_event_call event_unit_numbers;

#define WANTED	 "set_event_pid"
#define UNWANTED "set_event_notrace_pid"

static void clear_lists(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(WANTED, ""), 0);
	EXPECT_EQ(trace_put(UNWANTED, ""), 0);
}

static s32 own_pid(void)
{
	struct host_context ctx;

	host_enter(&ctx);
	host_preempt_enable();
	return ctx.pid;
}

static const struct {
	const char *text;
	int err;
	const char *list; /* after it */
} writes[] = {
    {"5", 0, "5\n"},
    {"244 1\n", 0, "1\n5\n244\n"},
    {"  5\t6 \n 7 ", 0, "1\n5\n6\n7\n244\n"},
    {"8 abc", -EINVAL, "1\n5\n6\n7\n244\n"}, /* all or none */
    {"-1", -EINVAL, "1\n5\n6\n7\n244\n"},
    {"!5", -EINVAL, "1\n5\n6\n7\n244\n"},
    {"9 1073741824", -EPERM, "1\n5\n6\n7\n244\n"},
    {"18446744073709551616", -EINVAL, "1\n5\n6\n7\n244\n"},
    {"\n", 0, "1\n5\n6\n7\n244\n"},
    {"0x10 010 0", 0, "0\n1\n5\n6\n7\n8\n16\n244\n"},
    {"1073741823 32768 32767 4194304", 0,
	"0\n1\n5\n6\n7\n8\n16\n244\n32767\n32768\n4194304\n1073741823\n"},
    {"32769 4194304 32768 1073741822", 0,
	"0\n1\n5\n6\n7\n8\n16\n244\n32767\n32768\n32769\n4194304\n1073741822\n1073741823\n"},
};

static void lists(void)
{
	static const char *const paths[] = {WANTED, UNWANTED};

	clear_lists();
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < ARRAY_SIZE(writes); i++) {
			EXPECT_EQ(trace_append(paths[k], writes[i].text), writes[i].err);
			EXPECT_STR(trace_get(paths[k], NULL), writes[i].list);
			EXPECT_STR(trace_get(paths[!k], NULL), "");
		}
		EXPECT_EQ(trace_put(paths[k], "77"), 0);
		EXPECT_STR(trace_get(paths[k], NULL), "77\n");
		EXPECT_EQ(trace_put(paths[k], "x"), -EINVAL); /* opening it has cleared it */
		EXPECT_STR(trace_get(paths[k], NULL), "");
	}
	clear_lists();
}

static char *many_pids(u32 from, u32 count)
{
	size_t size = count * 8 + 1, at = 0;
	char *text = host_alloc(size);

	for (u32 i = 0; i < count; i++)
		at += fmt_snprintf(text + at, size - at, "%u ", from + i);
	return text;
}

static ssize write_wanted(const char *text, size_t n)
{
	host_lock();
	ssize taken = trace_pid_write(trace_global, TRACE_PIDS_EVENTS, false, text, n);
	host_unlock();
	return taken;
}

/*
 * A write may be of any length, its words of 127 characters; a NUL ends a word, two end the write.
 */
static void long_writes(void)
{
	char *text = many_pids(1, 9000), word[130];
	size_t n = strlen(text);

	clear_lists();
	EXPECT_EQ(write_wanted(text, n), n);
	EXPECT(strstr(trace_get(WANTED, NULL), "8999\n9000\n"));
	memcpy(text + n - 2, "x", 1);
	EXPECT_EQ(trace_put(WANTED, text), -EINVAL);
	EXPECT_STR(trace_get(WANTED, NULL), "");
	host_free(text);
	memset(word, '0', sizeof(word));
	for (size_t len = 126; len <= 128; len++)
		EXPECT_EQ(write_wanted(word, len), len < 128 ? (ssize)len : -EINVAL);
	EXPECT_EQ(write_wanted("3 4\0 5", 7), 7);
	EXPECT_EQ(write_wanted("6 7\0\08", 6), 5);
	EXPECT_EQ(write_wanted("4294967304", 10), 10); /* the low 32 bits */
	EXPECT_STR(trace_get(WANTED, NULL), "0\n3\n4\n5\n6\n7\n8\n");
	clear_lists();
}

/* Of numbers that no task has a list takes 8192. */
static void many_large(void)
{
	clear_lists();
	for (u32 more = 0; more <= 2; more++) {
		char *text = many_pids(100000, 8191 + more);
		EXPECT_EQ(trace_put(WANTED, text), more < 2 ? 0 : -EPERM);
		EXPECT_EQ(trace_append(WANTED, "100000 5"), 0);
		host_free(text);
	}
	EXPECT_STR(trace_get(WANTED, NULL), "5\n100000\n");
	char *text = many_pids(100000, 8192);
	EXPECT_EQ(trace_put(WANTED, text), 0);
	EXPECT_EQ(trace_append(WANTED, "100000 108191"), 0);
	EXPECT_EQ(trace_append(WANTED, "6 108192"), -EPERM);
	EXPECT(!memcmp(trace_get(WANTED, NULL), "100000\n", 7)); /* all or none */
	host_free(text);
	clear_lists();
}

static void put_pids(const char *path, s32 a, s32 b)
{
	char text[32];

	fmt_snprintf(text, sizeof(text), "%d %d", a, b);
	EXPECT_EQ(trace_put(path, text), 0);
}

/* Which of ten events are recorded while the lists are so. */
static unsigned recorded(void)
{
	unsigned n = 0;

	EXPECT_EQ(trace_put("trace", ""), 0);
	for (u64 i = 0; i < 10; i++)
		trace_unit_numbers(1, 2, 3, i);
	while (*trace_nth(n))
		n++;
	return n;
}

static u64 counted(u64 *hit)
{
	struct trace_event_file *file = trace_event_file_of(trace_global, &event_unit_numbers);
	u64 dropped = 0;

	*hit = 0;
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		*hit += file->counts[cpu].hit;
		dropped += file->counts[cpu].pid_filtered;
	}
	return dropped;
}

static void whose_events(void)
{
	s32 me = own_pid();
	u64 hit, dropped, hit_before, dropped_before;

	clear_lists();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	dropped_before = counted(&hit_before);
	EXPECT_EQ(recorded(), 10);
	put_pids(WANTED, me, 31999);
	EXPECT_EQ(recorded(), 10);
	put_pids(WANTED, 31999, 31998);
	EXPECT_EQ(recorded(), 0);
	put_pids(UNWANTED, 31997, 31998);
	EXPECT_EQ(recorded(), 0);
	EXPECT_EQ(trace_put(WANTED, ""), 0);
	EXPECT_EQ(recorded(), 10);
	put_pids(UNWANTED, me, 31998);
	EXPECT_EQ(recorded(), 0);
	put_pids(WANTED, me, 31998); /* on both lists: unwanted */
	EXPECT_EQ(recorded(), 0);
	EXPECT_EQ(trace_put(UNWANTED, ""), 0);
	EXPECT_EQ(recorded(), 10);
	dropped = counted(&hit);
	EXPECT_EQ(hit - hit_before, 80);
	EXPECT_EQ(dropped - dropped_before, 40);
	clear_lists();
	EXPECT_EQ(trace_global->way & TRACE_WAY_PID, 0);
}

/* trace_marker is nobody's event. */
static void marker_is_kept(void)
{
	clear_lists();
	put_pids(WANTED, 31999, 31998);
	EXPECT_EQ(trace_put("trace_marker", "kept"), 0);
	EXPECT(strstr(trace_nth(0), ": kept"));
	clear_lists();
}

/*
 * With interrupts off as well: one that wakes a task would change what the case has set. Returns
 * what leave_alone() wants.
 */
static u64 enter_alone(struct host_context *ctx)
{
	u64 flags = host_irqs_off();

	host_enter(ctx);
	return flags;
}

static void leave_alone(u64 flags)
{
	host_preempt_enable();
	host_irqs_restore(flags);
}

/*
 * What is ignored during a switch from 10 to `next` and after it, by lists of 10, 11 (wanted) or
 * 10, 12 (unwanted).
 */
static void switches(void)
{
	struct host_context ctx;
	u64 flags;

	clear_lists();
	put_pids(WANTED, 10, 11);
	static const struct {
		s32 prev, next;
		bool during, after;
	} wanted[] = {{10, 11, false, false}, {10, 5, false, true}, {5, 10, false, false},
	    {5, 6, true, true}, {0, 0, true, true}},
	  unwanted[] = {{10, 12, true, true}, {10, 5, false, false}, {5, 10, false, true},
	      {5, 6, false, false}};

	for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
		flags = enter_alone(&ctx);
		trace_pid_switch_begin(wanted[i].prev, wanted[i].next);
		EXPECT_EQ(trace_pid_ignored(trace_global, &ctx), wanted[i].during);
		trace_pid_switch_end(wanted[i].next);
		EXPECT_EQ(trace_pid_ignored(trace_global, &ctx), wanted[i].after);
		leave_alone(flags);
	}
	EXPECT_EQ(trace_put(WANTED, ""), 0);
	put_pids(UNWANTED, 10, 12);
	for (unsigned i = 0; i < ARRAY_SIZE(unwanted); i++) {
		flags = enter_alone(&ctx);
		trace_pid_switch_begin(unwanted[i].prev, unwanted[i].next);
		EXPECT_EQ(trace_pid_ignored(trace_global, &ctx), unwanted[i].during);
		trace_pid_switch_end(unwanted[i].next);
		EXPECT_EQ(trace_pid_ignored(trace_global, &ctx), unwanted[i].after);
		leave_alone(flags);
	}
	clear_lists();
}

/* A wake-up is kept for either task's sake, and leaves all as it was. */
static void wakeups(void)
{
	struct host_context ctx;
	u64 flags;

	clear_lists();
	put_pids(WANTED, 10, 11);
	flags = enter_alone(&ctx);
	trace_pid_switch_end(5);
	trace_pid_wakeup_begin(10);
	EXPECT(!trace_pid_ignored(trace_global, &ctx));
	trace_pid_wakeup_end(5);
	EXPECT(trace_pid_ignored(trace_global, &ctx));
	trace_pid_wakeup_begin(6);
	EXPECT(trace_pid_ignored(trace_global, &ctx));
	trace_pid_wakeup_end(5);
	trace_pid_switch_end(10);
	trace_pid_wakeup_begin(6);
	EXPECT(!trace_pid_ignored(trace_global, &ctx));
	trace_pid_wakeup_end(10);
	EXPECT(!trace_pid_ignored(trace_global, &ctx));
	trace_pid_switch_end(ctx.pid);
	leave_alone(flags);
	clear_lists();
}

static void fork_and_free(s32 parent, s32 child, s32 gone)
{
	struct host_context ctx;

	host_enter(&ctx);
	if (parent)
		trace_pid_fork(parent, child);
	if (gone)
		trace_pid_free(gone);
	host_preempt_enable();
}

/* The numbers are those of no task: pids do not come so far in a test. */
static void forks(void)
{
	clear_lists();
	EXPECT_EQ(trace_put(WANTED, "31000 31001"), 0);
	EXPECT_EQ(trace_put(UNWANTED, "31001"), 0);
	fork_and_free(31000, 31010, 0); /* without the option */
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n");
	EXPECT_EQ(trace_put("options/event-fork", "1"), 0);
	fork_and_free(31000, 31010, 0);
	fork_and_free(31010, 31011, 0);
	fork_and_free(31005, 31012, 0);
	fork_and_free(31001, 31013, 0);
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n31010\n31011\n31013\n");
	EXPECT_STR(trace_get(UNWANTED, NULL), "31001\n31013\n");
	fork_and_free(0, 0, 31013); /* stays for a while */
	for (s32 other = 30001; other < 30001 + TRACE_PIDS_GONE; other++) {
		EXPECT(strstr(trace_get(WANTED, NULL), "31013\n"));
		EXPECT(strstr(trace_get(UNWANTED, NULL), "31013\n"));
		fork_and_free(0, 0, other);
	}
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n31010\n31011\n");
	EXPECT_STR(trace_get(UNWANTED, NULL), "31001\n");
	fork_and_free(0, 0, 31010);
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n31010\n31011\n");
	fork_and_free(31005, 31010, 0); /* the number again, of a child of somebody else */
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n31011\n");
	fork_and_free(31000, 31014, 31014);
	fork_and_free(31000, 31014, 0); /* and of a child of the same */
	EXPECT(strstr(trace_get(WANTED, NULL), "31014\n"));
	for (s32 other = 30001; other < 30001 + TRACE_PIDS_GONE; other++)
		fork_and_free(0, 0, other); /* its parent's number is another matter by now */
	EXPECT(strstr(trace_get(WANTED, NULL), "31014\n"));
	fork_and_free(31005, 31014, 31014);
	fork_and_free(31005, 31014, 0);
	EXPECT_EQ(trace_put("options/event-fork", "0"), 0);
	for (unsigned i = 0; i < TRACE_PIDS_GONE + 2; i++)
		fork_and_free(0, 0, 31011);
	EXPECT_STR(trace_get(WANTED, NULL), "31000\n31001\n31011\n");
	clear_lists();
}

/* An array's lists are its own. */
static void instance(void)
{
	struct trace_array *tr;

	clear_lists();
	host_lock();
	EXPECT_EQ(trace_instance_create("pids", &tr), 0);
	host_unlock();
	EXPECT_EQ(trace_put("instances/pids/set_event_pid", "31999"), 0);
	EXPECT_STR(trace_get(WANTED, NULL), "");
	EXPECT_STR(trace_get("instances/pids/set_event_pid", NULL), "31999\n");
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("instances/pids/events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(recorded(), 10);
	EXPECT(!strstr(trace_get("instances/pids/trace", NULL), "unit_numbers:"));
	EXPECT_EQ(trace_put("instances/pids/set_event_pid", ""), 0);
	EXPECT_EQ(recorded(), 10);
	EXPECT(strstr(trace_get("instances/pids/trace", NULL), "unit_numbers:"));
	EXPECT_EQ(trace_put("instances/pids/set_event_notrace_pid", "31999 1073741823"), 0);
	host_lock();
	EXPECT_EQ(trace_array_destroy(tr), 0); /* with a list */
	host_unlock();
	EXPECT_EQ(recorded(), 10);
	clear_lists();
}

static const struct ktap_case cases[] = {
    {"pids.lists", lists},
    {"pids.long_writes", long_writes},
    {"pids.many_large", many_large},
    {"pids.whose_events", whose_events},
    {"pids.marker_is_kept", marker_is_kept},
    {"pids.switches", switches},
    {"pids.wakeups", wakeups},
    {"pids.forks", forks},
    {"pids.instance", instance},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_pids = {cases};
