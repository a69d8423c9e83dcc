/* Markers, and reading what is recorded: trace and trace_pipe. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/error_log.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

/* ---- markers ---- */

static void markers(void)
{
	char *big = host_alloc(2049);
	int err;

	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "no newline"), 0);
	EXPECT(strstr(trace_nth_event(0), ": no newline"));
	EXPECT_EQ(trace_put("trace_marker", "two\n\n"), 0);
	EXPECT(strstr(trace_get("trace", NULL), ": two\n\n"));
	trace_get("trace_marker", &err);
	EXPECT_EQ(err, -EINVAL);
	EXPECT_EQ(trace_put("trace", ""), 0);
	memset(big, 'm', 2048);
	EXPECT_EQ(trace_put("trace_marker", big), 0); /* two records, each whole */
	const char *text = trace_get("trace", NULL);
	unsigned count = 0;
	for (const char *p = strstr(text, "mmmm"); p; p = strstr(p, "mmmm"), count++) {
		EXPECT_EQ(strspn(p, "m"), 1024);
		p += 1024;
	}
	EXPECT_EQ(count, 2);
	EXPECT_EQ(trace_put("options/markers", "0"), 0);
	EXPECT_EQ(trace_put("trace_marker", "x"), -EINVAL);
	EXPECT_EQ(trace_put("trace_marker_raw", "xxxx"), -EINVAL);
	host_free(big);
	trace_fresh();
}

static void raw_markers(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker_raw", "abc"), -EINVAL); /* no room for an id */
	EXPECT_EQ(trace_put("trace_marker_raw", "\x12\x01\x01\x01xyz."), 0);
	EXPECT_STR(trace_nth_event(0), "# 1010112 buf: 78 79 7a 2e");
	trace_fresh();
}

/* ---- trace and trace_pipe ---- */

/* Reading in pieces of any size, or again from the start, gives the same bytes. */
static void read_sizes(void)
{
	static char whole[16384], part[16384];
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	for (unsigned i = 0; i < 30; i++)
		EXPECT_EQ(trace_put("trace_marker", "a line of some length"), 0);
	strscpy(whole, trace_get("trace", NULL), sizeof(whole));
	EXPECT_EQ(trace_walk("trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	for (size_t size = 1; size < 6000; size = size * 3 + 1) {
		u64 pos = 0;
		ssize n;
		while (
		    (n = tracefs_read(f, part + pos, MIN(size, sizeof(part) - 1 - pos), &pos)) > 0)
			;
		part[pos] = '\0';
		EXPECT_STR(part, whole);
	}
	/* From the middle on: what was before is skipped. */
	u64 pos = 1000;
	EXPECT_EQ(tracefs_read(f, part, 500, &pos), 500);
	EXPECT(!memcmp(part, whole + 1000, 500));
	tracefs_release(f);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	pos = 1000; /* the first read of all */
	EXPECT_EQ(tracefs_read(f, part, 500, &pos), 500);
	EXPECT(!memcmp(part, whole + 1000, 500));
	tracefs_release(f);
	trace_fresh();
}

static void fire_numbered(void *number)
{
	trace_unit_numbers(1, 2, *(int *)number, 4);
}

/* Whichever CPU comes next, and when each has no more: the lines have the order of the events. */
static void merging(void)
{
	enum { EVENTS = 400 };
	u64 random = host_cycles();
	int next = 0;

	trace_fresh();
	ktap_note("seed %lu", random);
	EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	for (int i = 0; i < EVENTS; i++) {
		random = random * 6364136223846793005UL + 1442695040888963407UL;
		/* The last ones are those of fewer and fewer CPUs. */
		unsigned cpus = 1 + (host_cpu_count() - 1) * (EVENTS - i) / EVENTS;

		host_on_cpu((random >> 33) % cpus, fire_numbered, &i);
	}
	for (const char *at = trace_get("trace", NULL); (at = strstr(at, " c=")); at++) {
		const char *end;

		EXPECT_EQ(parse_digits(at + 3, &end, 10), next);
		next++;
	}
	EXPECT_EQ(next, EVENTS);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	trace_fresh();
}

static void clearing(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_EQ(trace_append("trace", "anything"), 0);
	EXPECT(*trace_nth(0));
	EXPECT_EQ(trace_put("trace", "anything"), 0);
	EXPECT_STR(trace_nth(0), "");
	EXPECT_EQ(trace_put("set_event", "unit_numbers"), 0);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_EQ(trace_put("per_cpu/cpu0/trace", ""), 0); /* one CPU's: this one's, on the host */
	trace_fresh();
}

static void pause_on_trace(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_put("options/pause-on-trace", "1"), 0);
	EXPECT_EQ(trace_walk("trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(trace_put("trace_marker", "two"), -EBADF);
	tracefs_release(f);
	EXPECT_EQ(trace_put("trace_marker", "three"), 0);
	EXPECT_EQ(trace_put("options/pause-on-trace", "0"), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(trace_put("trace_marker", "four"), 0);
	tracefs_release(f);
	trace_fresh();
}

static void pipes(void)
{
	struct tracefs_node node, cpu;
	struct tracefs_file *f, *other;
	char buf[4096];
	u64 pos = 0;

	trace_fresh();
	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(trace_walk("per_cpu/cpu0/trace_pipe", &cpu), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	EXPECT_EQ(tracefs_read(f, buf, sizeof(buf), &pos), -EAGAIN);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &other), -EBUSY);
	EXPECT_EQ(tracefs_open(&cpu, TRACEFS_READ, &other), -EBUSY);
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT_EQ(trace_put("trace_marker", "two"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	/*
	 * A short read takes one record and gives a part of its line; the rest of the line follows.
	 */
	EXPECT_EQ(tracefs_read(f, buf, 20, &pos), 20);
	EXPECT(strstr(trace_nth_event(0), "two"));
	EXPECT_STR(trace_nth(1), "");
	ssize n = tracefs_read(f, buf, sizeof(buf) - 1, &pos);
	EXPECT(n > 0);
	buf[MAX(n, 0L)] = '\0';
	EXPECT(strstr(buf, ": one\n") && !strstr(buf, "two"));
	n = tracefs_read(f, buf, sizeof(buf) - 1, &pos);
	buf[MAX(n, 0L)] = '\0';
	EXPECT(strstr(buf, ": two\n"));
	EXPECT_EQ(tracefs_read(f, buf, sizeof(buf), &pos), -EAGAIN);
	tracefs_release(f);
	/* It ends, without waiting, when something was read and recording is off. */
	EXPECT_EQ(trace_put("trace_marker", "three"), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT(tracefs_read(f, buf, sizeof(buf), &pos) > 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(tracefs_read(f, buf, sizeof(buf), &pos), 0);
	tracefs_release(f);
	EXPECT_EQ(tracefs_open(&cpu, TRACEFS_READ, &f), 0);
	tracefs_release(f);
	trace_fresh();
}

/* What was overwritten is told where it is missing. */
static void lost_events(void)
{
	static char buf[65536];
	struct tracefs_node node;
	struct tracefs_file *f;
	size_t len = 0;
	u64 pos = 0;
	ssize n;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "4"), 0);
	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	for (unsigned i = 0; i < 100; i++)
		trace_put("trace_marker", "first");
	EXPECT_EQ(
	    tracefs_read(f, buf, 60, &pos), 60); /* from here on the reader has a page of its own */
	for (unsigned i = 0; i < 800; i++)
		trace_put("trace_marker", "then");
	while ((n = tracefs_read(f, buf + len, sizeof(buf) - 1 - len, &pos)) > 0)
		len += n;
	buf[len] = '\0';
	EXPECT(strstr(buf, " [LOST "));
	EXPECT(strstr(buf, " EVENTS]\n"));
	tracefs_release(f);
	trace_fresh();
}

static void stats(void)
{
	trace_fresh();
	char path[64];
	struct host_context ctx;
	host_enter(&ctx);
	fmt_snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", ctx.cpu);
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	host_preempt_enable();
	const char *text = trace_get(path, NULL);
	EXPECT(str_has_prefix(
	    text, "entries: 1\noverrun: 0\ncommit overrun: 0\nbytes: 32\noldest event ts: "));
	EXPECT(strstr(text, "\nnow ts: "));
	EXPECT(strstr(text, "\ndropped events: 0\nread events: 0\n"));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"files.markers", markers},
    {"files.raw_markers", raw_markers},
    {"files.read_sizes", read_sizes},
    {"files.merging", merging},
    {"files.clearing", clearing},
    {"files.pause_on_trace", pause_on_trace},
    {"files.pipes", pipes},
    {"files.lost_events", lost_events},
    {"files.stats", stats},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_pipe = {cases};
