/* The event core's files as tests use them. Task context; one case at a time. */
#include "tests/unit/trace/tools.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/file.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/output/print.h"
#include "trace/trace.h"

#define TRACE_DEF "tests/unit/trace/sample.def"
#include "trace/tracepoint_define.h"
#undef TRACE_DEF
#define trace_event_list second_list
#define TRACE_DEF	 "tests/unit/trace/sample2.def"
#include "trace/tracepoint_define.h"
#undef trace_event_list

#define TEXT_MAX 65536

static void register_all(const struct trace_event_row *rows, unsigned n)
{
	while (n-- > 0)
		EXPECT_EQ(trace_event_register(trace_event_make(&rows[n])), 0);
}

static void bring_up(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	if (!trace_global)
		EXPECT_EQ(trace_init(NULL), 0);
	host_lock();
	register_all(trace_event_list, ARRAY_SIZE(trace_event_list));
	register_all(second_list, ARRAY_SIZE(second_list));
	host_unlock();
}

void trace_fresh(void)
{
	bring_up();
	EXPECT_EQ(trace_put("set_event", ""), 0);
	for (unsigned i = 0; i < TRACE_OPTION_COUNT; i++) {
		host_lock();
		trace_array_set_option(trace_global, 1UL << i, trace_options[i].on);
		host_unlock();
	}
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	EXPECT_EQ(trace_put("buffer_size_kb", "100"), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
}

const char *trace_printed(const struct trace_event_call *call,
    void (*print)(struct trace_out *out, const void *rec, u32 len), const void *bytes, u32 n)
{
	static char text[512];
	static struct trace_out out;
	struct trace_entry *rec = host_alloc(sizeof(*rec) + n);
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, 0);
	rec->type = call->id;
	memcpy(rec + 1, bytes, n);
	print(&out, rec, sizeof(*rec) + n);
	text[s.len] = '\0';
	host_free(rec);
	return text;
}

void trace_hwlat_fresh(void)
{
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/mode", "round-robin"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/width", "0"), 0); /* whatever the window is */
	EXPECT_EQ(trace_put("hwlat_detector/window", "1000000"), 0);
	EXPECT_EQ(trace_put("hwlat_detector/width", "500000"), 0);
}

int trace_make_instance(const char *name)
{
	struct tracefs_node dir;
	int err = trace_walk("instances", &dir);

	return err ? err : tracefs_mkdir(&dir, name);
}

int trace_drop_instance(const char *name)
{
	struct tracefs_node dir;
	int err = trace_walk("instances", &dir);

	return err ? err : tracefs_rmdir(&dir, name);
}

int trace_walk(const char *path, struct tracefs_node *out)
{
	struct tracefs_node dir;
	char name[TRACEFS_NAME_MAX + 2];
	int err = 0;

	tracefs_root(out);
	while (*path && !err) {
		size_t n = strcspn(path, "/");
		memcpy(name, path, n);
		name[n] = '\0';
		dir = *out;
		err = tracefs_lookup(&dir, name, out);
		path += n + (path[n] == '/');
	}
	return err;
}

struct trace_event_count trace_counts(const char *system, const char *event)
{
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find(system, event));
	struct trace_event_count sum = {0};

	for (unsigned cpu = 0; file->counts && cpu < host_cpu_limit(); cpu++) {
		sum.hit += file->counts[cpu].hit;
		sum.lost += file->counts[cpu].lost;
		sum.filtered += file->counts[cpu].filtered;
		sum.pid_filtered += file->counts[cpu].pid_filtered;
		sum.soft_off += file->counts[cpu].soft_off;
		sum.too_deep += file->counts[cpu].too_deep;
		sum.trigger_missed += file->counts[cpu].trigger_missed;
	}
	return sum;
}

static int put(const char *path, const char *text, unsigned how)
{
	size_t len = strlen(text), done = 0;
	struct tracefs_node node;
	struct tracefs_file *f;
	ssize n = 0;
	u64 pos = 0;
	int err = trace_walk(path, &node);

	if (!err)
		err = tracefs_open(&node, TRACEFS_WRITE | how, &f);
	if (err)
		return err;
	while (done < len && (n = tracefs_write(f, text + done, len - done, &pos)) > 0)
		done += n;
	tracefs_release(f);
	return n < 0 ? n : 0;
}

int trace_put(const char *path, const char *text)
{
	return put(path, text, TRACEFS_TRUNC);
}

int trace_append(const char *path, const char *text)
{
	return put(path, text, TRACEFS_APPEND);
}

const char *trace_get(const char *path, int *err)
{
	static char text[TEXT_MAX];
	size_t len = 0;
	struct tracefs_node node;
	struct tracefs_file *f;
	ssize n = trace_walk(path, &node);
	u64 pos = 0;

	if (!n)
		n = tracefs_open(&node, TRACEFS_READ, &f);
	if (!n) {
		while ((n = tracefs_read(f, text + len, sizeof(text) - 1 - len, &pos)) > 0)
			len += n;
		tracefs_release(f);
	}
	if (err)
		*err = n;
	text[len] = '\0';
	return text;
}

static const char *nth_line(unsigned n, const char *from)
{
	static char line[2048];
	const char *text = trace_get("trace", NULL);

	while (*text) {
		size_t len = strcspn(text, "\n");
		if (*text != '#' && n-- == 0) {
			len = MIN(len, sizeof(line) - 1);
			memcpy(line, text, len);
			line[len] = '\0';
			const char *found = strstr(line, from);
			return found ? found : line;
		}
		text += len + (text[len] == '\n');
	}
	return "";
}

const char *trace_nth(unsigned n)
{
	return nth_line(n, "[0");
}

const char *trace_nth_event(unsigned n)
{
	const char *line = nth_line(n, ": ");

	return *line ? line + 2 : line;
}
