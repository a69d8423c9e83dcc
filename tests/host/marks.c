/*
 * trace_marker and trace_marker_raw at the edges of what they take: lengths, room of a record,
 * copies to instances, triggers, counts.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/ring/ring.h"

static char text[16384];

/* One write of the first n bytes of `text`: what it returns. */
static ssize mark(const char *path, size_t n)
{
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_WRITE, &f), 0);
	ssize done = tracefs_write(f, text, n, &pos);
	tracefs_release(f);
	return done;
}

static void begin(void)
{
	trace_fresh();
	memset(text, 'm', sizeof(text) - 1);
}

/* A write takes 1024 bytes of text; 3072 raw bytes are the most, and 1024 of them are recorded. */
static void longest(void)
{
	begin();
	EXPECT_EQ(mark("trace_marker", 1024), 1024);
	EXPECT_EQ(mark("trace_marker", 1025), 1024);
	EXPECT_EQ(mark("trace_marker_raw", 3072), 1024);
	EXPECT_EQ(mark("trace_marker_raw", 3073), -EINVAL);
	EXPECT_EQ(mark("trace_marker_raw", 1025), 1024);
	EXPECT_EQ(mark("trace_marker_raw", 4), 4);
	EXPECT_EQ(mark("trace_marker_raw", 3), -EINVAL);
	trace_fresh();
}

/* Larger sub-buffers take more, up to what one of them holds. */
static void longest_in_large_subbuffers(void)
{
	size_t most;

	begin();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "8"), 0);
	most = ring_buffer_max_data(trace_global->buffer) - sizeof(struct trace_entry);
	EXPECT_EQ(mark("trace_marker", 4096), 4096);
	EXPECT_EQ(mark("trace_marker", 4097), 4096);
	EXPECT_EQ(mark("trace_marker_raw", most), (ssize)most);
	EXPECT_EQ(mark("trace_marker_raw", most + 1), -EINVAL);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

static u64 bytes_recorded(void)
{
	u64 bytes = 0;

	for (unsigned cpu = 0; cpu < 4; cpu++) {
		struct ring_buffer_stats st;
		ring_buffer_stats(trace_global->buffer, cpu, &st);
		bytes += st.bytes;
	}
	return bytes;
}

/*
 * A record has room for the newline and the NUL that follow the text, and for nine bytes of it. One
 * of more than 28 bytes has its length in a word of its own.
 */
static void room_of_a_record(void)
{
	for (u64 n = 1; n < 24; n++) {
		u64 size = (16 + MAX(n, 9UL) + 2 + 3) / 4 * 4;

		begin();
		EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
		EXPECT_EQ(mark("trace_marker", n), (ssize)n);
		EXPECT_EQ(bytes_recorded(), size + (size > 28 ? 8 : 4));
	}
	trace_fresh();
}

/* An empty text is no record. */
static void empty(void)
{
	begin();
	EXPECT_EQ(mark("trace_marker", 0), 0);
	EXPECT_EQ(mark("trace_marker_raw", 0), -EINVAL);
	EXPECT_STR(trace_nth(0), "");
	trace_fresh();
}

/* The bytes that fill up a raw record's last word are 0, not those of an older record. */
static void end_of_raw(void)
{
	begin();
	EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
	memset(text, 0xff, 1024);
	for (unsigned i = 0; i < 20; i++)
		EXPECT_EQ(mark("trace_marker_raw", 1024), 1024);
	EXPECT_EQ(trace_put("trace", ""), 0);
	memcpy(text, "\x12\x01\x01\x01x", 5);
	EXPECT_EQ(mark("trace_marker_raw", 5), 5);
	EXPECT_STR(trace_nth_event(0), "# 1010112 buf: 78 00 00 00");
	trace_fresh();
}

/* Triggers look at the text as it was written, without the newline that is added for the line. */
static void as_triggers_see_it(void)
{
	begin();
	EXPECT_EQ(trace_put("events/ftrace/print/trigger", "traceoff if buf == \"stop\""), 0);
	EXPECT_EQ(trace_put("trace_marker", "stopped"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_EQ(trace_put("trace_marker", "stop"), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	EXPECT(strstr(trace_nth_event(1), ": stop"));
	EXPECT_EQ(trace_append("events/ftrace/print/trigger", "!traceoff if buf == \"stop\""), 0);
	trace_fresh();
}

/* Each mark is a hit of its event, recorded or not; the ledger balances. */
static void counted(void)
{
	u64 before, before_raw;

	begin();
	before = trace_counts("ftrace", "print").hit;
	before_raw = trace_counts("ftrace", "raw_data").hit;
	EXPECT_EQ(mark("trace_marker", 5), 5);
	EXPECT_EQ(mark("trace_marker_raw", 5), 5);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(mark("trace_marker", 5), -EBADF);
	EXPECT_EQ(mark("trace_marker_raw", 5), -EBADF);
	EXPECT_EQ(trace_counts("ftrace", "print").hit, before + 2);
	EXPECT_EQ(trace_counts("ftrace", "raw_data").hit, before_raw + 2);
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	trace_fresh();
}

/* The first array that refuses a copy ends the write; the order is that of their names. */
static void copies(void)
{
	begin();
	EXPECT_EQ(trace_put("options/copy_trace_marker", "0"), 0);
	EXPECT_EQ(trace_put("trace_marker", "for nobody"), -ENODEV);
	EXPECT_EQ(trace_make_instance("a"), 0);
	EXPECT_EQ(trace_make_instance("b"), 0);
	EXPECT_EQ(trace_put("instances/a/options/copy_trace_marker", "1"), 0);
	EXPECT_EQ(trace_put("instances/b/options/copy_trace_marker", "1"), 0);
	EXPECT_EQ(trace_put("trace_marker", "for both"), 0);
	EXPECT_EQ(trace_put("instances/a/options/markers", "0"), 0);
	EXPECT_EQ(trace_put("trace_marker", "refused"), -EINVAL);
	EXPECT_STR(trace_nth(0), "");
	EXPECT(strstr(trace_get("instances/a/trace", NULL), ": for both\n"));
	EXPECT(strstr(trace_get("instances/b/trace", NULL), ": for both\n"));
	EXPECT(!strstr(trace_get("instances/b/trace", NULL), "refused"));
	EXPECT_EQ(trace_drop_instance("a"), 0);
	EXPECT_EQ(trace_put("trace_marker", "for b"), 0);
	EXPECT(strstr(trace_get("instances/b/trace", NULL), ": for b\n"));
	EXPECT_EQ(trace_drop_instance("b"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"marks.longest", longest},
    {"marks.longest_in_large_subbuffers", longest_in_large_subbuffers},
    {"marks.room_of_a_record", room_of_a_record},
    {"marks.empty", empty},
    {"marks.end_of_raw", end_of_raw},
    {"marks.as_triggers_see_it", as_triggers_see_it},
    {"marks.counted", counted},
    {"marks.copies", copies},
    {NULL, NULL},
};
const struct ktap_suite suite_marks = {cases};
