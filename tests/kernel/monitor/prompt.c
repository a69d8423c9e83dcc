/*
 * The monitor's prompt with keys from a script: what is typed ahead while a command runs, Ctrl-C,
 * and lines that go on. The commands are the kernel's own.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/monitor/monitor.h"

#define CTRL_C	"\x03"
#define ROOM	(2 * MONITOR_AHEAD)
#define PRINTED 2048

static struct monitor *monitor;
static char *typed;	  /* what comes while a command runs */
static const char *first; /* what was typed before it */
static size_t typed_at, printed;
static char *shown; /* what the monitor wrote */
static bool running;

/* A key of the first line; then those typed ahead, which come all at once while a command runs. */
static int key(bool wait)
{
	if (*first)
		return wait ? *first++ : -1;
	return running && !wait && typed[typed_at] ? (u8)typed[typed_at++] : -1;
}

static void write(const char *s, size_t n)
{
	n = MIN(n, PRINTED - 1 - printed);
	memcpy(shown + printed, s, n);
	printed += n;
	shown[printed] = '\0';
}

static const char *attempt(void (*fn)(void *), void *arg)
{
	running = true;
	fn(arg);
	running = false;
	return NULL;
}

static const struct monitor_system on_script = {
    .key = key, .write = write, .attempt = attempt, .pid = 77, .plain = true};

static void begin(void)
{
	monitor = kzalloc(sizeof(*monitor));
	typed = kzalloc(ROOM);
	shown = kzalloc(PRINTED);
	typed_at = printed = 0;
}

static void end(void)
{
	kfree(monitor);
	kfree(typed);
	kfree(shown);
}

/* Runs the first lines with what is typed ahead; what is printed stays until end(). */
static const char *run(const char *lines)
{
	first = lines;
	typed_at = printed = 0;
	monitor_run(monitor, &on_script);
	return shown;
}

/* As many keys are kept as there is room for, from the first on; what comes after them is lost. */
static void typed_ahead(void)
{
	static const char head[] = "echo one\r", tail[] = "echo two\r";
	const size_t lengths[] = {
	    MONITOR_AHEAD - 1, MONITOR_AHEAD, MONITOR_AHEAD + 1, MONITOR_AHEAD + 20};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n = lengths[i];

		memset(typed, ' ', ROOM);
		for (size_t at = 60; at < n; at += 60) /* lines are short */
			typed[at] = '\r';
		memcpy(typed, head, sizeof(head) - 1);
		memcpy(typed + n - sizeof(tail) + 1, tail, sizeof(tail) - 1);
		typed[n] = '\0';
		run("echo first\r");
		EXPECT_STR(shown, n <= MONITOR_AHEAD ? "first\none\ntwo\n" : "first\none\n");
	}
	end();
}

/* Ctrl-C ends the command and drops nothing that was typed before or after it. */
static void interrupted(void)
{
	begin();
	strscpy(typed, "echo $?\r" CTRL_C "echo after\r", ROOM);
	EXPECT_STR(run("echo a; echo b\r"), "a\n^C\n130\nafter\n");
	end();
}

/* A line that ends in a backslash goes on with the next, as far as there is room for both. */
static void lines_go_on(void)
{
	char *line;

	begin();
	EXPECT_STR(run("echo a\\\rb\\\\\rech\\\ro c\r"), "ab\\\nc\n");
	line = kzalloc(2 * LINE_SIZE);
	for (unsigned n = LINE_SIZE - 1; n <= LINE_SIZE + 1; n++) {
		memset(line, 'x', n);
		memcpy(line, "echo #", 6);
		fmt_snprintf(line + n - 20, 2 * LINE_SIZE - n, "\\\r%s\recho done\r",
		    "yyyyyyyyyyyyyyyyyyyy");
		run(line);
		EXPECT_STR(
		    shown, n >= LINE_SIZE ? "monitor: the line is too long\ndone\n" : "\ndone\n");
	}
	kfree(line);
	end();
}

static void expect_completed(const char *typed_before, const char *line)
{
	struct line *l = &monitor->line;

	line_begin(l);
	EXPECT(line_insert(l, typed_before, strlen(typed_before)));
	monitor_complete(monitor);
	EXPECT_STR(l->text, line);
	EXPECT_EQ(l->cursor, strlen(line));
}

/* Tab adds a slash to a directory and to a link to one, and a blank to any other name. */
static void completes_links(void)
{
	begin();
	monitor->system = &on_script;
	EXPECT_EQ(vfs_mkdir("/tmp/place", 0755), 0);
	EXPECT_EQ(vfs_symlink("place", "/tmp/way"), 0);
	EXPECT_EQ(vfs_symlink("/proc/version", "/tmp/version"), 0);
	EXPECT_EQ(vfs_symlink("/tmp/none", "/tmp/lost"), 0);
	expect_completed("ls /tmp/pl", "ls /tmp/place/");
	expect_completed("ls /tmp/wa", "ls /tmp/way/");
	expect_completed("ls -l /tmp/ver", "ls -l /tmp/version ");
	expect_completed("ls -l /tmp/lo", "ls -l /tmp/lost ");
	expect_completed("ls /tmp/way/", "ls /tmp/way/"); /* there is nothing in it */
	EXPECT_EQ(vfs_unlink("/tmp/lost"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/version"), 0);
	EXPECT_EQ(vfs_unlink("/tmp/way"), 0);
	EXPECT_EQ(vfs_rmdir("/tmp/place"), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"monitor_prompt.typed_ahead", typed_ahead},
    {"monitor_prompt.interrupted", interrupted},
    {"monitor_prompt.lines_go_on", lines_go_on},
    {"monitor_prompt.completes_links", completes_links},
    {NULL, NULL},
};
extern const struct ktap_suite suite_monitor_prompt;
const struct ktap_suite suite_monitor_prompt = {cases};
