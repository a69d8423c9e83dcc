/* The files of tracefs, driven by path: options, clocks, sizes, masks, the tree itself. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/error_log.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/trace.h"

struct step {
	const char *text;
	int err;
	const char *then;
};

/* Each text is written to the file; its error, and what the file shows then. */
static void play(const char *path, const struct step *steps, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int err = trace_put(path, steps[i].text);
		if (err != steps[i].err)
			ktap_note("%s: step %u", path, i);
		EXPECT_EQ(err, steps[i].err);
		EXPECT_STR(trace_get(path, NULL), steps[i].then);
	}
}
#define PLAY(path, ...)                                                                            \
	do {                                                                                       \
		static const struct step steps_[] = {__VA_ARGS__};                                 \
		play(path, steps_, ARRAY_SIZE(steps_));                                            \
	} while (0)

static void options(void)
{
	trace_fresh();
	PLAY("options/annotate", {"0", 0, "0\n"}, {"1\n", 0, "1\n"}, {"2", -EINVAL, "1\n"},
	    {"x", -EINVAL, "1\n"}, {"", 0, "1\n"}, {"\n", -EINVAL, "1\n"});
	EXPECT(str_has_prefix(
	    trace_get("trace_options", NULL), "print-parent\nnosym-offset\nnosym-addr\n"));
	EXPECT_EQ(trace_put("trace_options", "noannotate"), 0);
	EXPECT(strstr(trace_get("trace_options", NULL), "\nnoannotate\n"));
	EXPECT_EQ(trace_put("trace_options", " annotate \n"), 0);
	EXPECT(strstr(trace_get("trace_options", NULL), "\nannotate\n"));
	EXPECT_EQ(trace_put("trace_options", "nosuch"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "nonosuch"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "annotate raw"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "\n"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "no"), -EINVAL);
	char text[80];
	memset(text, ' ', sizeof(text));
	strscpy(text + 56, "verbose", 20);
	EXPECT_EQ(trace_put("trace_options", text), 0); /* 63 bytes */
	strscpy(text + 57, "verbose", 20);
	EXPECT_EQ(trace_put("trace_options", text), -EINVAL);
	PLAY("options/test_nop_accept", {"1", 0, "1\n"}, {"0", 0, "0\n"});
	PLAY("options/test_nop_refuse", {"1", -EINVAL, "0\n"}, {"0", 0, "0\n"});
	EXPECT_EQ(trace_put("trace_options", "test_nop_refuse"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "notest_nop_refuse"), -EINVAL);
	EXPECT_EQ(trace_put("trace_options", "notest_nop_accept"), 0);
	trace_fresh();
}

static void clocks(void)
{
	trace_fresh();
#define REST " uptime perf mono mono_raw boot tai x86-tsc\n"
	PLAY("trace_clock", {"global", 0, "local [global] counter" REST},
	    {"nosuch", -EINVAL, "local [global] counter" REST},
	    {"\n", -EINVAL, "local [global] counter" REST},
	    {" counter\n", 0, "local global [counter]" REST},
	    {"local", 0, "[local] global counter" REST});
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	EXPECT(*trace_nth(0));
	EXPECT_EQ(trace_put("trace_clock", "mono"), 0); /* clears */
	EXPECT_STR(trace_nth(0), "");
	EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
	EXPECT_EQ(trace_put("trace_marker", "one"), 0);
	const char *line = trace_nth(0); /* no point in the time */
	EXPECT(strstr(line, " ..... ") && !memchr(line, '.', strstr(line, " ..... ") - line));
	EXPECT(!strchr(strstr(line, " ..... ") + 7, '.'));
	trace_fresh();
}

static void tracing_on_file(void)
{
	trace_fresh();
	PLAY("tracing_on", {"0", 0, "0\n"}, {"2", 0, "1\n"}, {"x", -EINVAL, "1\n"},
	    {"-1", -EINVAL, "1\n"}, {"", 0, "1\n"}, {"\n", -EINVAL, "1\n"}, {"0\n", 0, "0\n"});
	EXPECT_EQ(trace_put("trace_marker", "x"), -EBADF);
	EXPECT(!tracing_is_on());
	tracing_on(); /* as code does it */
	EXPECT(tracing_is_on());
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	tracing_off();
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	trace_fresh();
}

static void sizes(void)
{
	char expected[64];

	trace_fresh();
	PLAY("buffer_size_kb", {"100", 0, "103\n"}, {"4", 0, "7\n"}, {"1", 0, "7\n"},
	    {"0", -EINVAL, "7\n"}, {"-1", -EINVAL, "7\n"}, {"x", -EINVAL, "7\n"},
	    {"1x", -EINVAL, "7\n"}, {"0x10", -EINVAL, "7\n"}, {"7", 0, "7\n"}, {"8", 0, "11\n"},
	    {"18014398509481983", -ENOMEM, "11\n"}, {"18014398509481984", -ENOMEM, "11\n"},
	    {"99999999999999999999", -ERANGE, "11\n"});
	fmt_snprintf(expected, sizeof(expected), "%u\n", 11 * host_cpu_count());
	EXPECT_STR(trace_get("buffer_total_size_kb", NULL), expected);
	EXPECT_EQ(trace_put("buffer_total_size_kb", "5"), -EINVAL);
	EXPECT_EQ(trace_put("per_cpu/cpu0/buffer_size_kb", "40"), 0);
	EXPECT_STR(trace_get("per_cpu/cpu0/buffer_size_kb", NULL), "43\n");
	EXPECT_STR(trace_get("buffer_size_kb", NULL), host_cpu_count() > 1 ? "X\n" : "43\n");
	EXPECT_EQ(trace_put("free_buffer", "x"), 0);
	EXPECT_STR(trace_get("buffer_size_kb", NULL), "7\n");
	EXPECT_STR(trace_get("tracing_on", NULL), "1\n");
	EXPECT_EQ(trace_put("options/disable_on_free", "1"), 0);
	EXPECT_EQ(trace_put("free_buffer", ""), 0);
	EXPECT_STR(trace_get("tracing_on", NULL), "0\n");
	trace_fresh();
}

static void cpumask(void)
{
	char all[24];

	trace_fresh();
	strscpy(all, trace_get("tracing_cpumask", NULL), sizeof(all));
	EXPECT_EQ(trace_put("tracing_cpumask", "0"), 0);
	EXPECT_EQ(trace_put("trace_marker", "x"), -EBADF);
	EXPECT_EQ(trace_put("tracing_cpumask", all), 0);
	EXPECT_EQ(trace_put("trace_marker", "x"), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", " , 00000001 ,\t"), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", "000000001"), -EOVERFLOW);
	EXPECT_EQ(trace_put("tracing_cpumask", "00000000,00000001"),
	    host_cpu_count() > 32 ? 0 : -EOVERFLOW);
	EXPECT_EQ(
	    trace_put("tracing_cpumask", "g,1"), host_cpu_count() > 32 ? -EINVAL : -EOVERFLOW);
	EXPECT_EQ(trace_put("tracing_cpumask", "1,g"), -EINVAL);
	EXPECT_EQ(trace_put("tracing_cpumask", "g"), -EINVAL);
	EXPECT_EQ(trace_put("tracing_cpumask", "0x1"), -EINVAL);
	EXPECT_EQ(trace_put("tracing_cpumask", "@"), -EINVAL);
	EXPECT_EQ(trace_put("tracing_cpumask", "100000000"), -EOVERFLOW);
	EXPECT_EQ(trace_put("tracing_cpumask", "1,00000000,00000001"), -EOVERFLOW);
	if (host_cpu_count() < 64)
		EXPECT_EQ(trace_put("tracing_cpumask", "ffffffff,ffffffff"), -EOVERFLOW);
	EXPECT_EQ(trace_put("tracing_cpumask", "\n"), 0);
	EXPECT_EQ(trace_put("trace_marker", "x"), -EBADF);
	EXPECT_EQ(trace_put("tracing_cpumask", all), 0);
	EXPECT_STR(trace_get("tracing_cpumask", NULL), all);
}

static void tracers(void)
{
	trace_fresh();
	EXPECT_STR(trace_get("available_tracers", NULL),
	    "timerlat osnoise hwlat wakeup_rt wakeup preemptirqsoff preemptoff irqsoff "
	    "function_graph function "
	    "nop\n");
	PLAY("current_tracer", {"nop\n", 0, "nop\n"}, {"nosuch", -EINVAL, "nop\n"},
	    {"\n", -EINVAL, "nop\n"});
}

/* ---- the tree ---- */

/* Each name is found again by lookup, with the same number, and comes once. */
static void check_dir(const struct tracefs_node *dir, unsigned depth)
{
	struct tracefs_node *e = host_alloc(2 * sizeof(*e)), *found = e + 1;
	char name[TRACEFS_NAME_MAX + 1];
	u64 cookie = 0, sum = 0, count = 0;

	while (tracefs_readdir(dir, &cookie, e, name) == 1) {
		sum ^= e->ino;
		count++;
		EXPECT_EQ(tracefs_lookup(dir, name, found), 0);
		EXPECT_EQ(found->ino, e->ino);
		EXPECT_EQ(found->mode, e->mode);
		if ((e->mode & 0170000) == 0040000 && depth)
			check_dir(found, depth - 1);
	}
	for (cookie = 0; tracefs_readdir(dir, &cookie, e, name) == 1; count--)
		sum ^= e->ino;
	EXPECT(!sum && !count); /* the same, once more */
	host_free(e);
}

static void tree(void)
{
	struct tracefs_node root, node;

	trace_fresh();
	tracefs_root(&root);
	check_dir(&root, 2);
	EXPECT_EQ(trace_walk("events/unit", &node), 0);
	check_dir(&node, 1);
	EXPECT_EQ(trace_walk("nosuch", &node), -ENOENT);
	EXPECT_EQ(trace_walk("trace/x", &node), -ENOTDIR);
	EXPECT_EQ(trace_walk("events/ftrace/enable", &node), -ENOENT);
	EXPECT_EQ(trace_walk("events/ftrace/print/enable", &node), -ENOENT);
	EXPECT_EQ(trace_walk("per_cpu/cpu9999", &node), -ENOENT);
	EXPECT_EQ(tracefs_mkdir(&root, "x"), -EPERM);
	EXPECT_EQ(tracefs_rmdir(&root, "events"), -EPERM);
	EXPECT_EQ(trace_walk("events/unit/unit_text/inject", &node), 0);
	EXPECT_EQ(node.mode, 0100200);
	EXPECT_EQ(trace_walk("events/unit/unit_text/id", &node), 0);
	EXPECT_EQ(node.mode, 0100440);
	EXPECT_EQ(trace_put("events/unit/unit_text/id", "5"), -EINVAL);
	EXPECT_EQ(trace_put("events", "1"), -EISDIR);
}

/* n zeros and then `tail`. */
static int put_zeros(const char *path, size_t n, const char *tail)
{
	size_t size = n + strlen(tail) + 1;
	char *text = host_alloc(size);

	memset(text, '0', n);
	strscpy(text + n, tail, size - n);
	int err = trace_put(path, text);
	host_free(text);
	return err;
}

/*
 * Of a number the first 66 bytes count, of a tracer's name 100; a longer write is taken all the
 * same.
 */
static void cut_writes(void)
{
	static const char *const numbers[] = {
	    "tracing_on", "options/sym-addr", "events/unit/unit_text/enable", "events/unit/enable"};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
		EXPECT_EQ(put_zeros(numbers[i], 65, "1"), 0);
		EXPECT_EQ(*trace_get(numbers[i], NULL), '1');
		EXPECT_EQ(put_zeros(numbers[i], 66, "1"), 0);
		EXPECT_EQ(*trace_get(numbers[i], NULL), '0');
		EXPECT_EQ(put_zeros(numbers[i], 64, "1x"), -EINVAL);
		EXPECT_EQ(put_zeros(numbers[i], 65, "1x"), 0);
		EXPECT_EQ(put_zeros(numbers[i], 100000, "x"), 0);
		EXPECT_EQ(*trace_get(numbers[i], NULL), '0');
	}
	char name[104];
	memset(name, ' ', sizeof(name));
	memcpy(name, "nop", 3);
	for (unsigned at = 99; at <= 100; at++) {
		strscpy(name + at, "x", 2);
		EXPECT_EQ(trace_put("current_tracer", name), at < 100 ? -EINVAL : 0);
		name[at] = ' ';
	}
	trace_fresh();
}

/* Text and then blanks, n bytes in all. */
static int put_padded(const char *path, const char *text, size_t n)
{
	char *line = host_alloc(n + 1);

	memset(line, ' ', n);
	memcpy(line, text, strlen(text));
	int err = trace_append(path, line);
	host_free(line);
	return err;
}

static void refused_writes(void)
{
	static const struct {
		const char *path, *text;
		size_t most;
	} files[] = {
	    {"trace_options", "nosym-addr", 63},
	    {"trace_clock", "local", 63},
	    {"hwlat_detector/mode", "round-robin", 63},
	    {"events/unit/unit_numbers/filter", "common_pid == 1", 4095},
	    {"events/unit/filter", "common_pid == 1", 4095},
	    {"events/unit/unit_numbers/trigger", "!traceon", 4095},
	};

	char all[64];

	trace_fresh();
	strscpy(all, trace_get("tracing_cpumask", NULL), sizeof(all));
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(put_padded(files[i].path, files[i].text, files[i].most - 1), 0);
		EXPECT_EQ(put_padded(files[i].path, files[i].text, files[i].most), 0);
		EXPECT_EQ(put_padded(files[i].path, files[i].text, files[i].most + 1), -EINVAL);
	}
	for (size_t n = 60; n < 75; n++) /* a line about as long as a number may be */
		EXPECT_EQ(put_padded("events/unit/filter", "common_pid == 1", n), 0);
	EXPECT_EQ(trace_put("events/unit/filter", "0"), 0);
	EXPECT_EQ(put_padded("error_log", "x", 100000), 0);
	EXPECT_EQ(put_padded("tracing_cpumask", "1\nx", 100000), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", all), 0);
	trace_fresh();
}

static void errors(void)
{
	char cmd[2] = "a";

	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_STR(trace_get("error_log", NULL), "");
	host_lock();
	for (; *cmd <= 'j'; ++*cmd)
		trace_error_log(trace_global, "unit", cmd, "Bad thing", 3);
	host_unlock();
	const char *text = trace_get("error_log", NULL);
	EXPECT(!strstr(text, "Command: b\n")); /* the last eight */
	EXPECT(strstr(text, "] unit: error: Bad thing\n  Command: c\n              ^\n"));
	EXPECT(strstr(text, "Command: j\n"));
	EXPECT_EQ(trace_append("error_log", "x"), 0);
	EXPECT(*trace_get("error_log", NULL));
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT_STR(trace_get("error_log", NULL), "");
}

/*
 * Reading `trace` does not keep anybody from recording; what is overwritten before it was read is a
 * gap, and said so.
 */
static void trace_while_recording(void)
{
	static char text[65536];
	struct tracefs_node node;
	struct tracefs_file *f;
	size_t len = 0;
	u64 pos = 0;
	ssize n;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "7"), 0);
	for (unsigned i = 0; i < 50; i++)
		EXPECT_EQ(trace_put("trace_marker", "first"), 0);
	EXPECT_EQ(trace_walk("trace", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	EXPECT_EQ(tracefs_read(f, text, 100, &pos), 100);
	EXPECT_EQ(trace_put("trace_marker", "between"), 0);
	n = tracefs_read(f, text, sizeof(text), &pos);
	EXPECT(n > 0);
	text[n] = '\0';
	EXPECT(strstr(text, ": between\n"));
	EXPECT(!strstr(text, "LOST"));
	tracefs_release(f);

	EXPECT_EQ(trace_put("tracing_cpumask", "1"),
	    0); /* one CPU's records, where they are from is known */
	EXPECT_EQ(trace_put("trace", ""), 0);
	struct host_context ctx;
	host_enter(&ctx);
	host_preempt_enable();
	if (ctx.cpu == 0) {
		EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
		for (unsigned i = 0; i < 100; i++)
			trace_unit_numbers(1, i, 3, 4);
		EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
		pos = 0;
		EXPECT_EQ(tracefs_read(f, text, 2000, &pos), 2000);
		for (unsigned i = 100; i < 2000; i++)
			trace_unit_numbers(1, i, 3, 4);
		while ((n = tracefs_read(f, text + len, sizeof(text) - 1 - len, &pos)) > 0)
			len += n;
		text[len] = '\0';
		tracefs_release(f);
		const char *gap = strstr(text, "\nCPU:0 [LOST EVENTS]\n");
		EXPECT(gap);
		if (gap) {
			EXPECT(!strstr(gap + 20, "LOST"));
			EXPECT(strstr(text, " a=1 b=99 ") < gap);
			EXPECT(strstr(gap, " a=1 b=1999 "));
		}
	}
	char mask[20];
	fmt_snprintf(mask, sizeof(mask), "%lx", (1UL << host_cpu_count()) - 1);
	EXPECT_EQ(trace_put("tracing_cpumask", mask), 0);
	trace_fresh();
}

static void record_here(void *unused __maybe_unused)
{
	trace_unit_numbers(1, 2, 3, 4);
}

/* Clearing one CPU's `trace` leaves the other CPUs' events, and clears that one's. */
static void clearing_one_cpu(void)
{
	const unsigned cpus[2] = {0, host_cpu_count() - 1};
	char path[2][32];

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	for (unsigned i = 0; i < 2; i++)
		fmt_snprintf(path[i], sizeof(path[i]), "per_cpu/cpu%u/trace", cpus[i]);
	for (unsigned i = 0; cpus[1] && i < 2; i++) {
		host_on_cpu(cpus[0], record_here, NULL);
		host_on_cpu(cpus[1], record_here, NULL);
		EXPECT_EQ(trace_put(path[i], ""), 0);
		EXPECT(!strstr(trace_get(path[i], NULL), "unit_numbers: "));
		EXPECT(strstr(trace_get(path[!i], NULL), "unit_numbers: "));
	}
	trace_fresh();
}

/* An event whose name no directory may have has no directory, and the files there stay. */
static void names_of_events(void)
{
	static const char *const names[] = {".", "..", "a/b", "enable", "filter"};
	struct tracefs_node dir, found;
	char line[32];

	trace_fresh();
	EXPECT_EQ(trace_put("dynamic_events", "u:unit_plain u32 a"), 0);
	EXPECT_EQ(trace_walk("events/user_events", &dir), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		fmt_snprintf(line, sizeof(line), "u:%s u32 a", names[i]);
		EXPECT_EQ(trace_append("dynamic_events", line), 0);
		int err = tracefs_lookup(&dir, names[i], &found);
		EXPECT_EQ(err, i < 3 ? -ENOENT : 0);
		EXPECT(err || !(found.mode & 0040000)); /* no directory */
	}
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	trace_fresh();
}

/* How often a directory lists a name. */
static unsigned times_listed(const char *path, const char *name)
{
	struct tracefs_node dir, entry;
	char found[TRACEFS_NAME_MAX + 1];
	unsigned n = 0;
	u64 cookie = 0;

	EXPECT_EQ(trace_walk(path, &dir), 0);
	while (tracefs_readdir(&dir, &cookie, &entry, found) > 0)
		n += !strcmp(found, name);
	return n;
}

/* A system named like a file of events/ hides it neither, nor is it listed beside it. */
static void names_of_systems(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("dynamic_events", "e:enable/unit_x unit.unit_numbers"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "e:unit_y/unit_x unit.unit_numbers"), 0);
	EXPECT_EQ(times_listed("events", "enable"), 1);
	EXPECT_EQ(times_listed("events", "unit_y"), 1);
	EXPECT_EQ(times_listed("events/unit_y", "unit_x"), 1);
	EXPECT_STR(trace_get("events/enable", NULL), "0\n");
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	EXPECT_EQ(times_listed("events", "unit_y"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"files.options", options},
    {"files.clocks", clocks},
    {"files.tracing_on", tracing_on_file},
    {"files.sizes", sizes},
    {"files.cpumask", cpumask},
    {"files.tracers", tracers},
    {"files.trace_while_recording", trace_while_recording},
    {"files.tree", tree},
    {"files.clearing_one_cpu", clearing_one_cpu},
    {"files.names_of_events", names_of_events},
    {"files.names_of_systems", names_of_systems},
    {"files.cut_writes", cut_writes},
    {"files.refused_writes", refused_writes},
    {"files.errors", errors},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_files = {cases};
