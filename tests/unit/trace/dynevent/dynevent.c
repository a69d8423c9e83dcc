/*
 * Events that come and go: registration and removal, what open files and directories see of it, the
 * list of definitions.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/dynevent.h"
#include "trace/event/api.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

static const struct trace_event_field no_fields[] = {{.name = NULL}};

static const struct trace_event_field *fields(const struct trace_event_call *call __maybe_unused)
{
	return no_fields;
}

static const struct trace_event_class class = {.system = "gone", .fields = fields};

static int add(struct trace_event_call *call)
{
	host_lock();
	int err = trace_event_register(call);
	host_unlock();
	return err;
}

static int take(struct trace_event_call *call)
{
	host_lock();
	int err = trace_event_unregister(call);
	host_unlock();
	return err;
}

static int find(const char *path)
{
	struct tracefs_node node;

	return trace_walk(path, &node);
}

/* An event and its system appear, are busy while on, and go with their records. */
static void comes_and_goes(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};
	struct trace_event_call two = {.class = &class, .name = "two"};
	struct trace_event_call same = {.class = &class, .name = "one"};

	trace_fresh();
	EXPECT_EQ(add(&one), 0);
	EXPECT_EQ(add(&two), 0);
	EXPECT(two.id == one.id + 1);
	EXPECT_EQ(add(&same), -EEXIST);
	EXPECT_EQ(trace_put("events/gone/one/enable", "1"), 0);
	EXPECT_EQ(take(&one), -EBUSY);
	EXPECT_EQ(trace_put("events/gone/one/inject", "\n"), 0);
	EXPECT_STR(trace_nth_event(0), "one:");
	EXPECT_EQ(trace_put("events/gone/one/enable", "0"), 0);
	EXPECT_EQ(take(&one), 0);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(find("events/gone/one"), -ENOENT);
	EXPECT_EQ(find("events/gone/two"), 0);
	EXPECT_EQ(take(&two), 0);
	EXPECT_EQ(find("events/gone"), -ENOENT);
	EXPECT(!strstr(trace_get("available_events", NULL), "gone:"));
}

/* Records of an event that was never recorded are in no buffer: that of others stays. */
static void keeps_other_records(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/inject", "a=5"), 0);
	EXPECT_EQ(add(&one), 0);
	EXPECT_EQ(take(&one), 0);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=5 b=0 c=0 d=0");
	trace_fresh();
}

/*
 * A place that is kept says that the event is gone, also when another has its name and its memory.
 */
static void stale_places(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};
	struct tracefs_node dir, file, found;
	struct tracefs_file *f;
	char buf[64];
	u64 pos = 0;

	trace_fresh();
	EXPECT_EQ(add(&one), 0);
	EXPECT_EQ(trace_walk("events/gone/one", &dir), 0);
	EXPECT_EQ(trace_walk("events/gone/one/format", &file), 0);
	EXPECT_EQ(tracefs_open(&file, TRACEFS_READ, &f), 0);
	EXPECT_EQ(take(&one), 0);
	EXPECT_EQ(add(&one), 0);
	EXPECT_EQ(tracefs_read(f, buf, sizeof(buf), &pos), -ENODEV);
	tracefs_release(f);
	EXPECT_EQ(tracefs_open(&file, TRACEFS_READ, &f), -ENODEV);
	EXPECT_EQ(tracefs_lookup(&dir, "format", &found), -ENOENT);
	EXPECT_EQ(find("events/gone/one/format"), 0);
	EXPECT_EQ(take(&one), 0);
}

/* Files that kernel code holds. */
static void held_file(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};

	trace_fresh();
	EXPECT_EQ(add(&one), 0);
	struct trace_event_file *file = trace_get_event_file(NULL, "gone", "one");
	EXPECT(!IS_ERR(file) && file->call == &one && file->tr == trace_global);
	EXPECT_EQ(take(&one), -EBUSY);
	trace_put_event_file(file);
	EXPECT_EQ(take(&one), 0);
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, "gone", "one")), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, NULL, "one")), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file(NULL, "unit", NULL)), -EINVAL);
	EXPECT_EQ(PTR_ERR(trace_get_event_file("nosuch", "unit", "unit_text")), -ENOENT);
	EXPECT_EQ(trace_array_set_clr_event(NULL, "unit", "unit_text", true), -ENOENT);
	EXPECT_EQ(trace_array_set_clr_event(trace_global, "unit", "nosuch", true), -EINVAL);
}

/* In every instance, those made later too; one that is on in any is busy. */
static void in_instances(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};
	struct trace_array *before, *after;

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_instance_create("before", &before), 0);
	host_unlock();
	EXPECT_EQ(add(&one), 0);
	host_lock();
	EXPECT_EQ(trace_instance_create("later", &after), 0);
	host_unlock();
	EXPECT_EQ(trace_put("instances/before/events/gone/one/enable", "1"), 0);
	EXPECT_EQ(take(&one), -EBUSY);
	EXPECT_EQ(trace_put("instances/before/events/gone/one/enable", "0"), 0);
	EXPECT_EQ(trace_put("instances/later/events/gone/one/inject", "\n"), 0);
	struct trace_event_file *file = trace_get_event_file("later", "gone", "one");
	EXPECT(!IS_ERR(file) && file->tr == after);
	host_lock();
	EXPECT_EQ(trace_array_destroy(after), -EBUSY);
	host_unlock();
	trace_put_event_file(file);
	EXPECT_EQ(take(&one), 0);
	EXPECT_EQ(find("instances/before/events/gone"), -ENOENT);
	EXPECT(!strstr(trace_get("instances/later/trace", NULL), "one:"));
	host_lock();
	EXPECT_EQ(trace_array_destroy(before), 0);
	EXPECT_EQ(trace_array_destroy(after), 0);
	host_unlock();
}

/*
 * Numbers count up, are given back, and are enough for more events than there are numbers, one
 * after the other.
 */
static void numbers(void)
{
	struct trace_event_call one = {.class = &class, .name = "one"};
	struct trace_event_call two = {.class = &class, .name = "two"};

	trace_fresh();
	EXPECT_EQ(add(&two), 0);
	for (unsigned i = 0; i < 66000; i++) {
		int err = add(&one);
		EXPECT_EQ(err, 0);
		EXPECT(one.id != two.id && trace_event_by_id(one.id) == &one);
		u16 id = one.id;
		EXPECT_EQ(take(&one), 0);
		EXPECT(!trace_event_by_id(id));
		if (err)
			break;
	}
	EXPECT_EQ(take(&two), 0);
}

/* ---- the list: commands written to dynamic_events, one after the other ---- */

static const struct {
	const char *text;
	bool append;
	int err;
	const char *listed;
} steps[] = {
    {"s:a int x\ns:b int x\n", true, 0, "s:synthetic/a\tint x\ns:synthetic/b\tint x\n"},
    {"-:a\n", true, 0, "s:synthetic/b\tint x\n"},
    {"!s:synthetic/b int x", true, 0, ""},
    {"s:synthetic/c u64 y # a comment\n# another\n\n", true, 0, "s:synthetic/c\tu64 y\n"},
    {"-:c with words behind\n", true, 0, ""},
    {"s:a int x\nfoo\ns:b int x\n", true, -EINVAL, "s:synthetic/a\tint x\n"},
    {"s:b int x", false, 0, "s:synthetic/b\tint x\n"},
    {"-:synthetic/\n", true, -ENOENT, "s:synthetic/b\tint x\n"},
    {"-:other/b\n", true, -ENOENT, "s:synthetic/b\tint x\n"},
    {"-:\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"-b\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"-\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"!\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"!b\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"s:other/d int x\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"z:d int x\n", true, -EINVAL, "s:synthetic/b\tint x\n"},
    {"\n", false, 0, ""},
};

static void commands(void)
{
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		int err = steps[i].append ? trace_append("dynamic_events", steps[i].text)
					  : trace_put("dynamic_events", steps[i].text);
		if (err != steps[i].err)
			ktap_note("step %u: %s", i, steps[i].text);
		EXPECT_EQ(err, steps[i].err);
		EXPECT_STR(trace_get("dynamic_events", NULL), steps[i].listed);
	}
}

static long write_lines(const char *text, size_t n)
{
	host_lock();
	long done = dynevent_write(text, n, (int (*)(char *))dynevent_command);
	host_unlock();
	return done;
}

/*
 * A line may have 4094 characters and a newline, or 4095 and none; what stands after a longer one
 * is not read.
 */
static void long_lines(void)
{
	char *line = host_alloc(2 * DYNEVENT_LINE_MAX);

	trace_fresh();
	for (int n = DYNEVENT_LINE_MAX - 3; n <= DYNEVENT_LINE_MAX; n++) {
		bool fits = n < DYNEVENT_LINE_MAX - 1;
		memset(line, ' ', n);
		memcpy(line, "s:long int x", 12);
		strscpy(line + n, "\ns:next int x\n", 20);
		EXPECT_EQ(write_lines(line, strlen(line)), fits ? (long)strlen(line) : -EINVAL);
		EXPECT_STR(trace_get("dynamic_events", NULL),
		    fits ? "s:synthetic/long\tint x\ns:synthetic/next\tint x\n" : "");
		EXPECT_EQ(trace_put("dynamic_events", ""), 0);
		EXPECT_EQ(write_lines(line, n), n < DYNEVENT_LINE_MAX ? n : -EINVAL);
		EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	}
	host_free(line);
}

/* A NUL ends what is understood; the lines before have had their effect. */
static void nul_in_line(void)
{
	static const char text[] = "s:first int x\ns:second int x\0\ns:third int x\n";

	trace_fresh();
	EXPECT_EQ(write_lines(text, sizeof(text) - 1), -EINVAL);
	EXPECT_STR(trace_get("dynamic_events", NULL), "s:synthetic/first\tint x\n");
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
}

/* A probe that is in use keeps all: nothing goes before it is known that everything can. */
static void all_or_none(void)
{
	char before[200];

	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", "p:first do_mkdirat"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "p:second do_mkdirat"), 0);
	strscpy(before, trace_get("dynamic_events", NULL), sizeof(before));
	EXPECT(strstr(before, "first") && strstr(before, "second"));
	EXPECT_EQ(trace_put("events/kprobes/second/enable", "1"), 0);
	EXPECT_EQ(trace_put("dynamic_events", ""), -EBUSY);
	EXPECT_STR(trace_get("dynamic_events", NULL), before);
	EXPECT_EQ(trace_put("kprobe_events", ""), -EBUSY);
	EXPECT_STR(trace_get("dynamic_events", NULL), before);
	EXPECT_EQ(trace_append("dynamic_events", "-:kprobes/"), -EBUSY);
	EXPECT_STR(trace_get("dynamic_events", NULL), before);
	EXPECT_EQ(trace_put("events/kprobes/second/enable", "0"), 0);
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
}

static const struct ktap_case cases[] = {
    {"dynevent.comes_and_goes", comes_and_goes},
    {"dynevent.keeps_other_records", keeps_other_records},
    {"dynevent.stale_places", stale_places},
    {"dynevent.held_file", held_file},
    {"dynevent.in_instances", in_instances},
    {"dynevent.numbers", numbers},
    {"dynevent.commands", commands},
    {"dynevent.long_lines", long_lines},
    {"dynevent.nul_in_line", nul_in_line},
    {"dynevent.all_or_none", all_or_none},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_dynevent = {cases};
