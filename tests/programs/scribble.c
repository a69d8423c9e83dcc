/*
 * scribble THOUSANDS@SEED: eight tasks write THOUSANDS thousand random texts to all writable files
 * below /proc, /dev and tracefs, make and remove instances, and sometimes read. Then the program
 * restores all settings and checks the ledger. It leaves out the files by which root may end the
 * kernel (docs/reliability.md), those that decide whether it panics, and those of the console,
 * which carries this program's output.
 */
#include "tests/programs/random.h"
#include "tests/programs/tracing.h"

enum { TASKS = 8, FILES_MAX = 12000, PATHS_SIZE = 1 << 20, TEXT_MAX = 6000 };
enum { L_NONBLOCK = 04000, L_APPEND = 02000, L_DIRECTORY = 0200000 };
enum { KIND = 0170000, IS_DIR = 0040000, IS_LINK = 0120000 };

static const char *files[FILES_MAX];
static char paths[PATHS_SIZE];
static unsigned file_count, paths_used;

/* ---- which files ---- */

static const char *const left_out[] = {"/proc/sysrq-trigger", "/proc/trapline/crash",
    "/proc/trapline/readonly", "/dev/mem", "/dev/cpu/", "/dev/console", "/dev/tty", "/dev/hvc",
    "/proc/tty/", "/proc/sys/kernel/printk", "/proc/sys/kernel/tracepoint_printk",
    "/proc/trapline/alloc_fail"};

static bool is_left_out(const char *path)
{
	for (unsigned i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (!strncmp(path, left_out[i], strlen(left_out[i])))
			return true;
	return strstr(path, "panic") || strstr(path, "reactor");
}

static void note_file(const char *path)
{
	size_t n = strlen(path) + 1;

	if (is_left_out(path))
		return;
	CHECK(file_count < FILES_MAX && n <= sizeof(paths) - paths_used);
	if (file_count == FILES_MAX || n > sizeof(paths) - paths_used)
		return;
	files[file_count++] = memcpy(paths + paths_used, path, n);
	paths_used += n;
}

/* Names that are numbers are processes, which come and go, or descriptors. */
static bool is_passed_over(const char *name)
{
	return name[0] == '.' || (name[0] >= '0' && name[0] <= '9' && !strchr(name, '.')) ||
	       !strcmp(name, "self") || !strcmp(name, "thread-self");
}

static void find_files(const char *dir);

static void find_file(const char *dir, const char *name)
{
	struct abi_stat st;
	char path[256];

	if (is_passed_over(name) ||
	    snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    syscall2(SYS_newlstat, (long)path, (long)&st))
		return;
	if ((st.st_mode & KIND) == IS_DIR)
		find_files(path);
	else if ((st.st_mode & KIND) != IS_LINK && st.st_mode & 0222)
		note_file(path);
}

static void find_files(const char *dir)
{
	char entries[2048];
	long n, fd = syscall3(SYS_open, (long)dir, L_RDONLY | L_DIRECTORY, 0);

	if (fd < 0)
		return;
	while ((n = syscall3(SYS_getdents64, fd, (long)entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			struct abi_dirent64 *e = (struct abi_dirent64 *)(entries + at);
			find_file(dir, (char *)e + ABI_DIRENT64_NAME);
			at += e->d_reclen;
		}
	syscall1(SYS_close, fd);
}

/* ---- writing ---- */

/* %u: a small number, so that tasks collide on the same names. */
static const char *const texts[] = {"0", "1", "-1", "2", "10", "100000", "18446744073709551616",
    "nop", "function", "function_graph", "irqsoff", "wakeup", "blk", "local", "global", "counter",
    "ffff", "f", "*", "vfs_*", "!vfs_*", "*:*", "sched:*", "!sched:*", "syscalls",
    "vfs_read:traceoff:3", "!vfs_read:traceoff", "vfs_write:stacktrace:5", "vfs_read:snapshot:1",
    "stacktrace", "nostacktrace", "sym-offset", "funcgraph-proc",
    "p:scribble%u vfs_read a=$arg1 b=+8($arg1):u32", "r:scribble%u vfs_write r=$retval",
    "f:scribble%u ksys_read", "t:scribble%u sched_switch",
    "e:scribble%u sched/sched_switch a=$prev_pid", "s:scribble%u int a; char[16] b",
    "scribble%u u64 a", "u:scribble%u u32 a", "-:scribble%u", "!scribble%u",
    "!s:scribble%u int a; char[16] b", "hist:keys=common_pid",
    "hist:keys=common_pid:vals=hitcount:sort=hitcount", "hist:keys=common_stacktrace:size=128",
    "!hist:keys=common_pid", "hist:keys=common_pid:name=scribble",
    "hist:keys=common_pid:t%u=common_timestamp.usecs", "traceoff:1", "traceon", "!traceoff",
    "snapshot:2", "stacktrace:3 if common_pid > 5", "enable_event:sched:sched_switch:2",
    "!enable_event:sched:sched_switch", "common_pid > %u", "common_cpu == 1 && common_pid != 0",
    "prev_comm ~ \"*a*\" || next_pid == %u", "((", "a == \"", "0\n1\n2", "1 2 3 4 5",
    "scribble a mark"};

static size_t make_text(char *text)
{
	size_t n;

	switch (any(8)) {
	case 0: /* bytes */
		n = any(any(4) ? 40 : TEXT_MAX);
		for (size_t i = 0; i < n; i++)
			text[i] = any(256);
		return n;
	case 1: /* one character, many times */
		n = any(any(4) ? 100 : TEXT_MAX);
		memset(text, "0123456789 \nx*,:;=()"[any(20)], n);
		return n;
	case 2: /* a truncated text */
		n = snprintf(
		    text, TEXT_MAX, texts[any(sizeof(texts) / sizeof(texts[0]))], (unsigned)any(4));
		return any(n + 1);
	default:
		n = snprintf(
		    text, TEXT_MAX, texts[any(sizeof(texts) / sizeof(texts[0]))], (unsigned)any(4));
		if (any(2))
			text[n++] = '\n';
		return n;
	}
}

/* Most files belong to the 600 events: draws again, so that the tracer's own get their share. */
static const char *any_file(void)
{
	const char *file = files[any(file_count)];

	for (unsigned i = 0; i < 3 && strstr(file, "/events/"); i++)
		file = files[any(file_count)];
	return file;
}

static void scribble(void)
{
	static const int ways[] = {L_WRONLY | L_TRUNC, L_WRONLY | L_APPEND, L_WRONLY, L_RDWR};
	static char text[TEXT_MAX];
	const char *file = any_file();
	long fd = syscall3(SYS_open, (long)file, ways[any(4)] | L_NONBLOCK, 0);
	size_t n = make_text(text);

	if (fd < 0)
		return;
	if (any(16))
		syscall3(SYS_write, fd, (long)text, n);
	else
		syscall4(SYS_pwrite64, fd, (long)text, n, any(5000));
	if (any(8) == 0)
		syscall3(SYS_read, fd, (long)text, sizeof(text));
	syscall1(SYS_close, fd);
}

static void instance(void)
{
	char path[64];

	snprintf(path, sizeof(path), TRACING "instances/scribble%u", (unsigned)any(3));
	if (any(2))
		syscall2(SYS_mkdir, (long)path, 0700);
	else
		syscall1(SYS_rmdir, (long)path);
}

static void task(unsigned long seed, unsigned long number, unsigned long writes)
{
	unsigned long tenth = writes / 10;

	random_begin(seed, number);
	while (writes--) {
		if (number == 0 && tenth >= 1000 && writes % tenth == 0) {
			printf("# scribble: %lu of this task's writes are left\n", writes);
			fflush(stdout);
		}
		if (any(200))
			scribble();
		else
			instance();
	}
	exit_now(0);
}

/* ---- restoring all settings ---- */

static void put_back(const char *file, const char *text)
{
	long fd = open_tracing(file, L_WRONLY | L_TRUNC);

	if (fd < 0) {
		printf("# %s: %ld\n", file, fd);
		check_failures++;
		return;
	}
	syscall3(SYS_write, fd, (long)text, strlen(text));
	syscall1(SYS_close, fd);
}

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end);
}

/* Truncating the file removes only hists; each other trigger needs its own line. */
static void put_back_triggers(const char *file)
{
	static const char *const lines[] = {"!traceoff\n", "!traceon\n", "!snapshot\n",
	    "!stacktrace\n", "!enable_event:sched:sched_switch\n"};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_back(file, lines[i]);
}

static void put_back_events(void)
{
	size_t head = strlen(TRACING);

	for (unsigned i = 0; i < file_count; i++)
		if (ends_in(files[i], "/trigger"))
			put_back_triggers(files[i] + head);
		else if (ends_in(files[i], "/filter"))
			put_back(files[i] + head, "0");
}

static void put_everything_back(void)
{
	static const char *const first[][2] = {{"current_tracer", "nop"}, {"tracing_on", "1"},
	    {"set_ftrace_filter", "\n"}, {"set_ftrace_filter", "!vfs_read:traceoff:0\n"},
	    {"set_ftrace_filter", "!vfs_read:snapshot:0\n"},
	    {"set_ftrace_filter", "!vfs_write:stacktrace:0\n"},
	    {"set_ftrace_filter", "!vfs_read:traceoff\n"}, /* of a truncated text */
	    {"set_ftrace_filter", "!vfs_read:snapshot\n"},
	    {"set_ftrace_filter", "!vfs_write:stacktrace\n"}, {"set_ftrace_notrace", "\n"},
	    {"set_graph_function", "\n"}, {"set_graph_notrace", "\n"}, {"set_ftrace_pid", "\n"},
	    {"set_ftrace_notrace_pid", "\n"}, {"set_event_pid", "\n"},
	    {"set_event_notrace_pid", "\n"}, {"function_profile_enabled", "0"},
	    {"stack_trace_filter", "\n"}, {"events/enable", "0"}, {"saved_cmdlines_size", "128"},
	    {"tracing_thresh", "0"}, {"buffer_size_kb", "100"}, {"snapshot", "0"},
	    {"error_log", "\n"}, {"rv/enabled_monitors", "\n"}, {"tracing_cpumask", "ff"},
	    {"trace", "\n"}};
	char path[64];

	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), TRACING "instances/scribble%u", i);
		syscall1(SYS_rmdir, (long)path);
	}
	for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		put_back(first[i][0], first[i][1]);
	for (unsigned i = 0; i < 4; i++) { /* each round removes what nothing else refers to */
		file_count = paths_used = 0;
		find_files(TRACING "events");
		put_back_events();
		put_back("dynamic_events", "\n");
	}
	put_back("trace", "\n");
}

static const char *read_tracing(const char *file)
{
	static char text[65536];
	long fd = open_tracing(file, L_RDONLY), n, used = 0;

	while ((n = syscall3(SYS_read, fd, (long)text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	syscall1(SYS_close, fd);
	CHECK(used > 0);
	text[used] = '\0';
	return text;
}

/* The ledger has a line "not balanced" if an event was lost without being counted. */
static void check_ledger(void)
{
	CHECK(!strstr(read_tracing("trace_ledger"), "not balanced"));
}

/* No function command is left, nor a trigger that uses the spare buffer. */
static void check_commands(void)
{
	long fd = open_tracing("snapshot", L_WRONLY);

	CHECK_EQ(syscall3(SYS_write, fd, (long)"0", 1), 1);
	syscall1(SYS_close, fd);
	const char *text = read_tracing("set_ftrace_filter");
	if (strcmp(text, "#### all functions enabled ####\n")) {
		printf("# set_ftrace_filter: %s\n", text);
		check_failures++;
	}
}

int main(int argc, char **argv)
{
	unsigned long writes = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000 / TASKS : 1000;
	unsigned long seed =
	    argc > 1 && strchr(argv[1], '@') ? strtoul(strchr(argv[1], '@') + 1, NULL, 10) : 1;
	long pids[TASKS];

	find_files("/proc");
	find_files("/dev");
	find_files("/sys");
	CHECK(file_count > 1000);
	printf("# scribble: %u files, seed %lu\n", file_count, seed);
	fflush(stdout);
	for (unsigned i = 0; i < TASKS; i++) {
		pids[i] = syscall0(SYS_fork);
		if (!pids[i])
			task(seed, i, writes);
	}
	for (unsigned i = 0; i < TASKS; i++)
		CHECK_EQ(wait_for(pids[i]), 0);
	put_everything_back();
	check_ledger();
	check_commands();
	return check_failures != 0;
}
