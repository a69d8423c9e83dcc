/*
 * Instances: made and removed while files of them are open, while their events fire, while memory
 * is short; places that are gone.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/record.h"
#include "trace/host_lock.h"
#include "trace/output/log.h"

/* Entries of a directory, each with a blank after it. */
static const char *list(const char *path)
{
	static char text[1024];
	char name[TRACEFS_NAME_MAX + 1];
	struct tracefs_node dir, entry;
	size_t len = 0;

	EXPECT_EQ(trace_walk(path, &dir), 0);
	u64 cookie = 0;
	while (tracefs_readdir(&dir, &cookie, &entry, name) == 1)
		len += fmt_snprintf(text + len, sizeof(text) - len, "%s ", name);
	text[len] = '\0';
	return text;
}

static void names(void)
{
	char name[257];

	trace_fresh();
	EXPECT_STR(list("instances"), "");
	EXPECT_EQ(trace_make_instance("m"), 0);
	EXPECT_EQ(trace_make_instance("z"), 0);
	EXPECT_EQ(trace_make_instance("a"), 0);
	EXPECT_STR(list("instances"), "m z a "); /* as they came */
	EXPECT_EQ(trace_make_instance("m"), -EEXIST);
	EXPECT_EQ(trace_drop_instance("nosuch"), -ENOENT);
	EXPECT_EQ(trace_drop_instance(""), -ENOENT); /* the global one has no name here */
	EXPECT_EQ(trace_drop_instance("m"), 0);
	EXPECT_STR(list("instances"), "z a ");
	EXPECT_EQ(trace_drop_instance("z"), 0);
	EXPECT_EQ(trace_drop_instance("a"), 0);
	for (unsigned n = 254; n <= 255; n++) {
		memset(name, 'x', n);
		name[n] = '\0';
		EXPECT_EQ(trace_make_instance(name), 0);
		EXPECT_EQ(strlen(list("instances")), n + 1);
		EXPECT_EQ(trace_drop_instance(name), 0);
	}
}

/* Who reads the directory meanwhile sees all that stay, once, and no other twice. */
static void coming_and_going(void)
{
	struct tracefs_node dir, entry;
	char seen[16] = "", name[TRACEFS_NAME_MAX + 1];
	u64 cookie = 0;

	trace_fresh();
	for (char made[2] = "d"; *made >= 'a'; --*made)
		EXPECT_EQ(trace_make_instance(made), 0);
	EXPECT_EQ(trace_walk("instances", &dir), 0);
	for (unsigned n = 0; tracefs_readdir(&dir, &cookie, &entry, name) == 1; n++) {
		EXPECT(strlen(seen) < 8);
		strscpy(seen + strlen(seen), name, 2);
		if (n == 1) { /* the first is removed, and the next; one comes */
			EXPECT_EQ(trace_drop_instance("d"), 0);
			EXPECT_EQ(trace_drop_instance("b"), 0);
			EXPECT_EQ(trace_make_instance("b"), 0);
			EXPECT_EQ(trace_make_instance("0"), 0);
		}
	}
	EXPECT_STR(seen, "dcab0");
	for (const char *p = "abc0"; *p; p++)
		EXPECT_EQ(trace_drop_instance((char[2]){*p}), 0);
}

static void elsewhere(void)
{
	struct tracefs_node node;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	static const char *const dirs[] = {"", "options", "events", "events/unit",
	    "events/unit/unit_text", "per_cpu", "per_cpu/cpu0", "instances/i",
	    "instances/i/events"};
	for (unsigned i = 0; i < ARRAY_SIZE(dirs); i++) {
		EXPECT_EQ(trace_walk(dirs[i], &node), 0);
		EXPECT_EQ(tracefs_mkdir(&node, "new"), -EPERM);
		EXPECT_EQ(tracefs_rmdir(&node, "new"), -ENOENT);
	}
	EXPECT_EQ(trace_walk("instances/i", &node), 0);
	EXPECT_EQ(tracefs_mkdir(&node, "trace"), -EEXIST);
	EXPECT_EQ(tracefs_rmdir(&node, "trace"), -ENOTDIR);
	EXPECT_EQ(tracefs_rmdir(&node, "events"), -EPERM);
	EXPECT_EQ(trace_walk("instances/i/trace", &node), 0);
	EXPECT_EQ(tracefs_mkdir(&node, "x"), -ENOTDIR);
	EXPECT_EQ(tracefs_rmdir(&node, "x"), -ENOTDIR);
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

/* An open file of any kind keeps its instance. */
static void busy(void)
{
	static const char *const files[] = {"trace", "trace_pipe", "tracing_on", "options/raw",
	    "per_cpu/cpu0/stats", "events/enable", "events/unit/enable",
	    "events/unit/unit_text/enable", "events/unit/unit_text/format",
	    "events/ftrace/print/id", "set_event"};
	char path[64];
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		fmt_snprintf(path, sizeof(path), "instances/i/%s", files[i]);
		EXPECT_EQ(trace_walk(path, &node), 0);
		EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
		if (trace_drop_instance("i") != -EBUSY)
			EXPECT_STR(path, "busy");
		tracefs_release(f);
	}
	host_lock();
	struct trace_array *tr = trace_array_find("i");
	trace_array_get(tr);
	host_unlock();
	EXPECT_EQ(trace_drop_instance("i"), -EBUSY);
	host_lock();
	trace_array_put(tr);
	host_unlock();
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

/*
 * A place that was looked up is worth nothing when its instance is gone, also when another has its
 * name (or its address).
 */
static void gone(void)
{
	static const char *const paths[] = {"instances/i", "instances/i/trace",
	    "instances/i/options", "instances/i/events/unit", "instances/i/events/unit/unit_text",
	    "instances/i/events/unit/unit_text/enable", "instances/i/per_cpu/cpu0"};
	struct tracefs_node node[ARRAY_SIZE(paths)], out;
	char name[TRACEFS_NAME_MAX + 1];
	struct tracefs_file *f;
	u64 cookie = 0;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(paths); i++)
		EXPECT_EQ(trace_walk(paths[i], &node[i]), 0);
	EXPECT_EQ(trace_drop_instance("i"), 0);
	for (unsigned again = 0; again < 2; again++) {
		for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
			if ((node[i].mode & 0170000) != 0040000) {
				EXPECT_EQ(tracefs_open(&node[i], TRACEFS_READ, &f), -ENODEV);
				continue;
			}
			EXPECT_EQ(tracefs_lookup(&node[i], "enable", &out), -ENOENT);
			EXPECT_EQ(tracefs_lookup(&node[i], "trace", &out), -ENOENT);
			EXPECT_EQ(tracefs_readdir(&node[i], &cookie, &out, name), -ENOENT);
			EXPECT_EQ(tracefs_mkdir(&node[i], "x"), -ENOENT);
			EXPECT_EQ(tracefs_rmdir(&node[i], "options"), -ENOENT);
		}
		if (!again)
			EXPECT_EQ(trace_make_instance("i"), 0);
	}
	EXPECT_EQ(trace_walk(paths[0], &out), 0);
	EXPECT(out.ino != node[0].ino);
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

static void own_events(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("instances/i/events/unit/unit_numbers/enable", "1"), 0);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT(strstr(trace_get("instances/i/trace", NULL), ": unit_numbers: a=1 b=2 c=3 d=4\n"));
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "0\n");
	EXPECT_STR(trace_get("events/unit/enable", NULL), "0\n");
	EXPECT_STR(trace_get("instances/i/events/unit/enable", NULL), "X\n");
	EXPECT_EQ(trace_drop_instance("i"), 0); /* with the event still on */
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	trace_unit_numbers(1, 2, 3, 4);
}

/* What the top has at this moment, but for what is not handed down. */
static void inherited(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("options/stacktrace", "1"), 0);
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	EXPECT_EQ(trace_put("options/event-fork", "1"), 0);
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_STR(trace_get("instances/i/options/stacktrace", NULL), "1\n");
	EXPECT_STR(trace_get("instances/i/options/overwrite", NULL), "0\n");
	EXPECT_STR(trace_get("instances/i/options/event-fork", NULL), "0\n");
	host_lock();
	struct trace_array *tr = trace_array_find("i");
	EXPECT(trace_ftrace_file(tr, TRACE_PRINT)->way & TRACE_WAY_STACK);
	host_unlock();
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

/* True: the oldest line stays when the instance gets more than it has room for. */
static bool keeps_oldest(const char *name)
{
	static char text[512], path[64];

	memset(text, 'x', sizeof(text) - 1);
	fmt_snprintf(path, sizeof(path), "instances/%s/buffer_size_kb", name);
	EXPECT_EQ(trace_put(path, "16"), 0);
	fmt_snprintf(path, sizeof(path), "instances/%s/trace_marker", name);
	EXPECT_EQ(trace_put(path, "oldest"), 0);
	for (unsigned i = 0; i < 3 * 16 * 1024 / sizeof(text); i++)
		trace_put(path, text);
	fmt_snprintf(path, sizeof(path), "instances/%s/trace", name);
	return strstr(trace_get(path, NULL), ": oldest\n");
}

/* Its buffer is full as the top's option had it, not as options are by default. */
static void overwrites_as_the_top(void)
{
	for (unsigned keep = 0; keep < 2; keep++) {
		trace_fresh();
		EXPECT_EQ(trace_put("options/overwrite", keep ? "0" : "1"), 0);
		EXPECT_EQ(trace_make_instance("i"), 0);
		EXPECT_EQ(keeps_oldest("i"), keep);
		EXPECT_EQ(trace_drop_instance("i"), 0);
	}
	trace_fresh();
}

/* So is its snapshot's buffer, which records after an exchange: as the instance has the option. */
static void overwrites_after_a_snapshot(void)
{
	for (unsigned keep = 0; keep < 2; keep++) {
		trace_fresh();
		EXPECT_EQ(trace_make_instance("i"), 0);
		EXPECT_EQ(trace_put("options/overwrite", keep ? "1" : "0"), 0);
		EXPECT_EQ(trace_put("instances/i/options/overwrite", keep ? "0" : "1"), 0);
		EXPECT_EQ(trace_put("instances/i/snapshot", "1"), 0);
		EXPECT_EQ(trace_put("instances/i/trace", ""), 0);
		EXPECT_EQ(keeps_oldest("i"), keep);
		EXPECT_EQ(trace_drop_instance("i"), 0);
	}
	trace_fresh();
}

/* A snapshot's buffer has sub-buffers like those of the instance, which are not the top's. */
static void snapshot_of_its_size(void)
{
	static const char *const sizes[] = {"8", "4"};

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(trace_put("buffer_subbuf_size_kb", sizes[!i]), 0);
		EXPECT_EQ(trace_put("instances/i/buffer_subbuf_size_kb", sizes[i]), 0);
		EXPECT_EQ(trace_put("instances/i/trace_marker", "kept"), 0);
		EXPECT_EQ(trace_put("instances/i/snapshot", "1"), 0);
		EXPECT(strstr(trace_get("instances/i/snapshot", NULL), ": kept\n"));
		EXPECT_EQ(trace_put("instances/i/snapshot", "0"), 0);
	}
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

/* Who closes its free_buffer ends its recording if its own option says so, not the top's. */
static void freed_as_its_option(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	for (unsigned stop = 0; stop < 2; stop++) {
		EXPECT_EQ(trace_make_instance("i"), 0);
		EXPECT_EQ(trace_put("options/disable_on_free", stop ? "0" : "1"), 0);
		EXPECT_EQ(trace_put("instances/i/options/disable_on_free", stop ? "1" : "0"), 0);
		EXPECT_EQ(trace_walk("instances/i/free_buffer", &node), 0);
		EXPECT_EQ(tracefs_open(&node, TRACEFS_WRITE, &f), 0);
		tracefs_release(f);
		EXPECT_STR(trace_get("instances/i/tracing_on", NULL), stop ? "0\n" : "1\n");
		EXPECT_EQ(trace_drop_instance("i"), 0);
	}
	trace_fresh();
}

/* It is paused while its `trace` is read if its own option says so. */
static void paused_as_its_option(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned pause = 0; pause < 2; pause++) {
		EXPECT_EQ(trace_put("options/pause-on-trace", pause ? "0" : "1"), 0);
		EXPECT_EQ(trace_put("instances/i/options/pause-on-trace", pause ? "1" : "0"), 0);
		EXPECT_EQ(trace_walk("instances/i/trace", &node), 0);
		EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
		EXPECT_EQ(trace_put("instances/i/trace_marker", "x"), pause ? -EBADF : 0);
		tracefs_release(f);
		EXPECT_EQ(trace_put("instances/i/trace_marker", "x"), 0);
	}
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT_EQ(trace_put("options/pause-on-trace", "0"), 0);
	trace_fresh();
}

/* It takes marks of both kinds if its own option says so. */
static void marks_as_its_option(void)
{
	static const char *const files[] = {
	    "instances/i/trace_marker", "instances/i/trace_marker_raw"};

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned takes = 0; takes < 2; takes++) {
		EXPECT_EQ(trace_put("options/markers", takes ? "0" : "1"), 0);
		EXPECT_EQ(trace_put("instances/i/options/markers", takes ? "1" : "0"), 0);
		for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
			EXPECT_EQ(trace_put(files[i], "abcd"), takes ? 0 : -EINVAL);
	}
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT_EQ(trace_put("options/markers", "1"), 0);
	trace_fresh();
}

/* Its buffer stays in its place and of its size while its own `trace` is open, not the top's. */
static void held_by_its_readers(void)
{
	static const char *const paths[] = {"trace", "instances/i/trace"};
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	for (unsigned own = 0; own < 2; own++) {
		int err = own ? -EBUSY : 0;

		EXPECT_EQ(trace_walk(paths[own], &node), 0);
		EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
		EXPECT_EQ(trace_put("instances/i/snapshot", "1"), err);
		EXPECT_EQ(trace_put("instances/i/buffer_size_kb", own ? "20" : "40"), err);
		tracefs_release(f);
	}
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

/* What is wrong with its filters is in its own error_log. */
static void errors_of_filters(void)
{
	static const char *const files[] = {
	    "instances/i/events/unit/unit_numbers/filter", "instances/i/events/unit/filter"};

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(trace_put(files[i], "nosuch == 1"), -EINVAL);
		EXPECT(strstr(trace_get("instances/i/error_log", NULL), "nosuch == 1"));
		EXPECT_STR(trace_get("error_log", NULL), "");
		EXPECT_EQ(trace_put("instances/i/error_log", ""), 0);
	}
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

/* Records from before its clearing, which a snapshot brings back, are hidden: the top had none. */
static void cleared_by_itself(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("instances/i/trace_marker", "from before"), 0);
	EXPECT_EQ(trace_put("instances/i/snapshot", "1"), 0);
	EXPECT_EQ(trace_put("instances/i/trace", ""), 0);
	EXPECT_EQ(trace_put("instances/i/trace_marker", "later"), 0);
	EXPECT(strstr(trace_get("instances/i/trace", NULL), ": later\n"));
	EXPECT_EQ(trace_put("instances/i/snapshot", "1"), 0);
	EXPECT(!strstr(trace_get("instances/i/trace", NULL), "from before"));
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

/*
 * An instance takes the top's size of a program's data; whoever has the largest, be it set first or
 * last, decides how much of it is copied, and what is too large is as much as there may be.
 */
static void user_data(void)
{
	static const char file[] = "syscall_user_buf_size",
			  other[] = "instances/i/syscall_user_buf_size";

	trace_fresh();
	EXPECT_EQ(trace_put(file, "40"), 0);
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_STR(trace_get(other, NULL), "40\n");
	EXPECT_EQ(trace_put(file, "100"), 0);
	EXPECT_EQ(trace_put(other, "20"), 0);
	EXPECT_EQ(trace_user_data_most, 100);
	EXPECT_EQ(trace_put(other, "120"), 0);
	EXPECT_EQ(trace_user_data_most, 120);
	EXPECT_EQ(trace_put(file, "10"), 0);
	EXPECT_EQ(trace_user_data_most, 120);
	EXPECT_EQ(trace_put(other, "100000"), 0);
	EXPECT_EQ(trace_user_data_most, TRACE_USER_DATA_MAX);
	EXPECT_EQ(trace_put(other, "4294967297"), 0);
	EXPECT_EQ(trace_user_data_most, TRACE_USER_DATA_MAX);
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT_EQ(trace_user_data_most, 10);
	EXPECT_EQ(trace_put(file, "0"), 0);
	trace_fresh();
}

/* It is made with the size that it wants: an event of it may be switched on while it is read. */
static void on_while_read(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_walk("instances/i/trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(trace_put("instances/i/events/unit/unit_numbers/enable", "1"), 0);
	tracefs_release(f);
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

/* The top is where trace_printk() records if no instance is: that cannot be switched off there. */
static void printk_goes_somewhere(void)
{
	static const char top[] = "options/trace_printk_dest",
			  own[] = "instances/i/options/trace_printk_dest";

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_STR(trace_get(top, NULL), "1\n");
	EXPECT_EQ(trace_put(top, "0"), -EINVAL);
	EXPECT_STR(trace_get(top, NULL), "1\n");
	EXPECT_EQ(trace_put(own, "1"), 0);
	EXPECT_STR(trace_get(top, NULL), "0\n");
	EXPECT(trace_printk_array == trace_array_find("i"));
	EXPECT_EQ(trace_put(own, "0"), 0);
	EXPECT_STR(trace_get(top, NULL), "1\n");
	EXPECT(trace_printk_array == trace_global);
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

static unsigned logged;

static void count_logged(
    const struct trace_event_file *file, const struct host_context *ctx, const void *rec, u32 len)
{
	(void)file, (void)ctx, (void)rec, (void)len;
	logged++;
}

static void print_to_log(bool on)
{
	host_lock();
	trace_set_printk(on);
	host_unlock();
}

/* With tp_printk the events of an instance are logged as well, be it made before or after. */
static void logs_as_the_top(void)
{
	typeof(trace_record_log) before = trace_record_log;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("old"), 0);
	print_to_log(true);
	trace_record_log = count_logged;
	EXPECT_EQ(trace_make_instance("new"), 0);
	logged = 0;
	EXPECT_EQ(trace_put("instances/new/events/unit/unit_numbers/enable", "1"), 0);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_EQ(logged, 1);
	EXPECT_EQ(trace_put("instances/old/events/unit/unit_numbers/enable", "1"), 0);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_EQ(logged, 3);
	print_to_log(false);
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_EQ(logged, 3);
	trace_record_log = before;
	EXPECT_EQ(trace_drop_instance("old"), 0);
	EXPECT_EQ(trace_drop_instance("new"), 0);
}

static void options_of_the_top(void)
{
	struct tracefs_node node;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_walk("instances/i/options/trace_printk", &node), -ENOENT);
	EXPECT_EQ(trace_walk("instances/i/options/record-cmd", &node), -ENOENT);
	EXPECT(!strstr(list("instances/i/options"), "record-cmd"));
	EXPECT(strstr(list("instances/i/options"), "record-tgid"));
	EXPECT(strstr(list("options"), "record-cmd"));
	EXPECT(!strstr(list("instances/i"), "instances"));
	EXPECT(!strstr(list("instances/i"), "README"));
	EXPECT_EQ(trace_drop_instance("i"), 0);
}

static const struct ktap_case cases[] = {
    {"instances.names", names},
    {"instances.coming_and_going", coming_and_going},
    {"instances.elsewhere", elsewhere},
    {"instances.busy", busy},
    {"instances.gone", gone},
    {"instances.own_events", own_events},
    {"instances.inherited", inherited},
    {"instances.overwrites_as_the_top", overwrites_as_the_top},
    {"instances.overwrites_after_a_snapshot", overwrites_after_a_snapshot},
    {"instances.snapshot_of_its_size", snapshot_of_its_size},
    {"instances.freed_as_its_option", freed_as_its_option},
    {"instances.paused_as_its_option", paused_as_its_option},
    {"instances.marks_as_its_option", marks_as_its_option},
    {"instances.held_by_its_readers", held_by_its_readers},
    {"instances.errors_of_filters", errors_of_filters},
    {"instances.cleared_by_itself", cleared_by_itself},
    {"instances.user_data", user_data},
    {"instances.on_while_read", on_while_read},
    {"instances.printk_goes_somewhere", printk_goes_somewhere},
    {"instances.logs_as_the_top", logs_as_the_top},
    {"instances.options_of_the_top", options_of_the_top},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_instances = {cases};
