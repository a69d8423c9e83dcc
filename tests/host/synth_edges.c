/*
 * Synthetic events that several arrays record, the bytes between their fields, and other kinds of
 * dynamic events beside them.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/synth.h"
#include "trace/dynevent/synth_record.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/output/printk.h"

static struct trace_event_file *file_in(const char *array, const char *event)
{
	return trace_event_file_of(trace_array_find(array), trace_event_find(SYNTH_SYSTEM, event));
}

/* Kernel code records into the array that it names, also where a filter makes the way longer. */
static void in_one_array(void)
{
	static const u64 vals[] = {5, 6};
	static const char *const definitions[] = {
	    "unit_in_one u64 a u64 b", "unit_in_one u64 a u8 b"};

	trace_fresh();
	EXPECT_EQ(trace_make_instance("a"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		EXPECT_EQ(trace_append("synthetic_events", definitions[i]), 0);
		EXPECT_EQ(trace_put("instances/a/trace", ""), 0);
		EXPECT_EQ(trace_put("events/synthetic/unit_in_one/enable", "1"), 0);
		EXPECT_EQ(trace_put("instances/a/events/synthetic/unit_in_one/enable", "1"), 0);
		EXPECT_EQ(trace_put("instances/a/events/synthetic/unit_in_one/filter", "a > 4"), 0);
		host_lock();
		struct trace_event_file *file = file_in("a", "unit_in_one");
		host_unlock();
		EXPECT_EQ(synth_event_trace_array(file, vals, 2), 0);
		EXPECT(strstr(trace_get("instances/a/trace", NULL), "unit_in_one: a=5 b=6\n"));
		EXPECT_STR(trace_nth(0), "");
		EXPECT_EQ(trace_put("events/synthetic/unit_in_one/enable", "0"), 0);
		EXPECT_EQ(trace_put("instances/a/events/synthetic/unit_in_one/enable", "0"), 0);
		EXPECT_EQ(trace_put("instances/a/events/synthetic/unit_in_one/filter", "0"), 0);
		EXPECT_EQ(trace_append("synthetic_events", "!unit_in_one"), 0);
	}
	EXPECT_EQ(trace_drop_instance("a"), 0);
	trace_fresh();
}

/* An event that kernel code is recording in pieces is not taken away before the last of them. */
static void open_in_pieces(void)
{
	struct synth_event_trace_state state;

	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "unit_open u64 a"), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_open/enable", "1"), 0);
	host_lock();
	struct trace_event_file *file = file_in("", "unit_open");
	host_unlock();
	EXPECT_EQ(synth_event_trace_start(file, &state), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_open/enable", "0"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!unit_open"), -EBUSY);
	EXPECT_EQ(trace_put("dynamic_events", ""), -EBUSY);
	EXPECT_EQ(synth_event_add_next_val(7, &state), 0);
	EXPECT_EQ(synth_event_trace_end(&state), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!unit_open"), 0);
	trace_fresh();
}

/* A record takes no more of a caller's value than the field has room for. */
static void upper_halves(void)
{
	const u64 vals[] = {0xffffffff00000001, 0x8000000000000002, 0x7fffffff00000003};
	u64 ts, lost, words[4] = {0};

	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "unit_halves u32 a; int b; u32 c"), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_halves/enable", "1"), 0);
	host_lock();
	struct trace_event_file *file = file_in("", "unit_halves");
	host_unlock();
	EXPECT_EQ(synth_event_trace_array(file, vals, 3), 0);
	host_lock();
	struct ring_buffer_event *ev = ring_buffer_consume(trace_global->buffer, 0, &ts, &lost);
	EXPECT(ev && ring_buffer_data_length(ev) == sizeof(words));
	if (ev)
		memcpy(words, ring_buffer_event_data(ev), sizeof(words));
	host_unlock();
	for (u64 i = 1; i < ARRAY_SIZE(words); i++)
		EXPECT_EQ(words[i], i);
	EXPECT_EQ(trace_put("events/synthetic/unit_halves/enable", "0"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!unit_halves"), 0);
	trace_fresh();
}

/* Nothing of an older record is left between fields, be that the ring's or an image's. */
static void between_fields(void)
{
	static const char *const definitions[] = {
	    "unit_gaps u8 a; u16 b", "unit_gaps u8 a; u16 b; char[16] text"};
	static char old[1024 + 1];
	const u64 vals[] = {1, 2, (u64) "ab"};
	u64 ts, lost;

	memset(old, 0xff, sizeof(old) - 1);
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		trace_fresh();
		EXPECT_EQ(trace_append("synthetic_events", definitions[i]), 0);
		EXPECT_EQ(trace_put("buffer_size_kb", "8"), 0);
		for (unsigned n = 0; n < 20; n++)
			EXPECT_EQ(trace_put("trace_marker_raw", old), 0);
		EXPECT_EQ(trace_printk("%s", old + 512), 516); /* by an image */
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(trace_put("events/synthetic/unit_gaps/enable", "1"), 0);
		host_lock();
		struct trace_event_file *file = file_in("", "unit_gaps");
		host_unlock();
		EXPECT_EQ(synth_event_trace_array(file, vals, 2 + i), 0);
		host_lock();
		struct ring_buffer_event *ev =
		    ring_buffer_consume(trace_global->buffer, 0, &ts, &lost);
		const u8 *rec = ev ? ring_buffer_event_data(ev) : NULL;
		u32 len = ev ? ring_buffer_data_length(ev) : 0;
		EXPECT(len >= 24);
		for (u32 at = sizeof(struct trace_entry); at < len; at++)
			EXPECT(rec[at] != 0xff);
		host_unlock();
		EXPECT_EQ(trace_put("events/synthetic/unit_gaps/enable", "0"), 0);
		EXPECT_EQ(trace_append("synthetic_events", "!unit_gaps"), 0);
	}
	trace_fresh();
}

/* However many records go by an image, there is room for the next. */
static void many_images(void)
{
	const u64 vals[] = {(u64) "a text that is longer than the small image on the stack is", 7};

	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "unit_images char[] text; u64 n"), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_images/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_images/filter", "n == 7"), 0);
	host_lock();
	struct trace_event_file *file = file_in("", "unit_images");
	host_unlock();
	for (unsigned i = 0; i < 300; i++)
		EXPECT_EQ(synth_event_trace_array(file, vals, 2), 0);
	EXPECT_EQ(ring_buffer_entries(trace_global->buffer), 300);
	EXPECT_EQ(trace_put("events/synthetic/unit_images/filter", "0"), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_images/enable", "0"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!unit_images"), 0);
	trace_fresh();
}

/* A file of one kind neither removes an event of another nor minds that it is in use. */
static void kinds(void)
{
	struct synth_event_trace_state state;

	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "unit_kind gfp_t flags; s32 n"), 0);
	const char *format = trace_get("events/synthetic/unit_kind/format", NULL);
	EXPECT(strstr(format, "field:gfp_t flags;\toffset:8;\tsize:4;\tsigned:0;\n"));
	EXPECT(strstr(format, "field:s32 n;\toffset:16;\tsize:4;\tsigned:1;\n"));
	EXPECT_EQ(trace_append("kprobe_events", "-:synthetic/unit_kind"), -ENOENT);
	EXPECT_EQ(trace_append("kprobe_events", "-:unit_kind"), -ENOENT);
	EXPECT(strstr(trace_get("synthetic_events", NULL), "unit_kind\t"));
	EXPECT_EQ(trace_put("events/synthetic/unit_kind/enable", "1"), 0);
	host_lock();
	struct trace_event_file *file = file_in("", "unit_kind");
	host_unlock();
	EXPECT_EQ(synth_event_trace_start(file, &state), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!unit_kind"), -EBUSY);
	EXPECT_EQ(trace_put("synthetic_events", ""), -EBUSY);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
	EXPECT_EQ(synth_event_trace_end(&state), 0);
	EXPECT_EQ(trace_put("events/synthetic/unit_kind/enable", "0"), 0);
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	EXPECT(!strstr(trace_get("synthetic_events", NULL), "unit_kind"));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"synth_edges.in_one_array", in_one_array},
    {"synth_edges.between_fields", between_fields},
    {"synth_edges.many_images", many_images},
    {"synth_edges.kinds", kinds},
    {"synth_edges.open_in_pieces", open_in_pieces},
    {"synth_edges.upper_halves", upper_halves},
    {NULL, NULL},
};
const struct ktap_suite suite_synth_edges = {cases};
