/*
 * A kernel that does nothing but trace itself: records events of tests/host/port/events.def through
 * a filter, prints `trace` on the serial port, and ends QEMU. tests/host/bare/check compares.
 */
#include "kernel/lib/string.h"
#include "trace/event/event.h"
#include "trace/host_key.h"
#include "trace/trace.h"
#include "trace/tracefs/tracefs.h"

#define TRACE_KEY	  struct host_key
#define TRACE_BRANCH(key) ((key).enabled)
#define TRACE_DEF	  "tests/host/port/events.def"
#include "trace/event/tracepoint.h"

#include "trace/tracepoint_define.h"

#define COM1	    0x3f8
#define DEBUG_EXIT  0xf4 /* -device isa-debug-exit,iobase=0xf4: QEMU's status is 2 * value + 1 */
#define EXIT_DONE   0x10
#define EXIT_FAILED 0x11

void bare_main(void);

static void out(u16 port, u8 value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void print(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out(COM1, text[i]);
}

static int open_path(const char *path, unsigned how, struct tracefs_file **f)
{
	struct tracefs_node dir, node;
	char name[TRACEFS_NAME_MAX + 1];
	int err = 0;

	tracefs_root(&node);
	while (*path && !err) {
		size_t n = strcspn(path, "/");
		memcpy(name, path, n);
		name[n] = '\0';
		dir = node;
		err = tracefs_lookup(&dir, name, &node);
		path += n + (path[n] == '/');
	}
	return err ? err : tracefs_open(&node, how, f);
}

/* echo TEXT > PATH */
static bool echo(const char *text, const char *path)
{
	struct tracefs_file *f;
	u64 pos = 0;

	if (open_path(path, TRACEFS_WRITE | TRACEFS_TRUNC, &f))
		return false;
	ssize n = tracefs_write(f, text, strlen(text), &pos);
	tracefs_release(f);
	return n > 0;
}

/* cat PATH */
static bool cat(const char *path)
{
	static char text[4096];
	struct tracefs_file *f;
	u64 pos = 0;
	ssize n;

	if (open_path(path, TRACEFS_READ, &f))
		return false;
	while ((n = tracefs_read(f, text, sizeof(text), &pos)) > 0)
		print(text, n);
	tracefs_release(f);
	return n == 0;
}

static void work(void)
{
	static const char *const what[] = {"read", "write", "sync"};

	for (unsigned i = 0; i < 9; i++)
		trace_demo_step(i, i * 512, what[i % 3]);
}

static bool demo(void)
{
	trace_events_register(trace_event_list, ARRAY_SIZE(trace_event_list));
	if (trace_init(NULL))
		return false;
	trace_apply_params();
	work(); /* off: nothing is recorded */
	if (!echo("step > 2 && what == \"write\"", "events/demo/demo_step/filter") ||
	    !echo("1", "events/demo/demo_step/enable"))
		return false;
	work();
	return cat("trace");
}

void bare_main(void)
{
	out(DEBUG_EXIT, demo() ? EXIT_DONE : EXIT_FAILED);
}
