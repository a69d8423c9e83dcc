/*
 * What a port can do at once: a tracepoint of its own, and the files of tracefs. Prints `trace` and
 * `hist`, and the error of a bad command; tests/host/port/check compares.
 */
#include <stdio.h>
#include <string.h>

#include "trace/event/event.h"
#include "trace/host_key.h"
#include "trace/trace.h"
#include "trace/tracefs/tracefs.h"

/* ---- tracepoints: call sites, then their definitions (a file of its own in a kernel) ---- */

#define TRACE_KEY	  struct host_key
#define TRACE_BRANCH(key) ((key).enabled)
#define TRACE_DEF	  "tests/host/port/events.def"
#include "trace/event/tracepoint.h"

#include "trace/tracepoint_define.h"

/* ---- files by path: a kernel has a file system for that (kernel/trace/tracefs.c) ---- */

static int find(const char *path, struct tracefs_node *out)
{
	struct tracefs_node dir;
	char name[TRACEFS_NAME_MAX + 1];
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

/* echo TEXT > PATH */
static void echo(const char *text, const char *path)
{
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;
	ssize n = find(path, &node);

	if (!n)
		n = tracefs_open(&node, TRACEFS_WRITE | TRACEFS_TRUNC, &f);
	if (!n) {
		n = tracefs_write(f, text, strlen(text), &pos);
		tracefs_release(f);
	}
	if (n < 0)
		printf("echo %s > %s: error %ld\n", text, path, (long)-n);
}

/* cat PATH */
static void cat(const char *path)
{
	char text[4096];
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;
	ssize n;

	if (find(path, &node) || tracefs_open(&node, TRACEFS_READ, &f))
		return;
	while ((n = tracefs_read(f, text, sizeof(text), &pos)) > 0)
		fwrite(text, 1, n, stdout);
	tracefs_release(f);
}

static void work(void)
{
	static const char *const what[] = {"read", "write", "sync"};

	for (unsigned i = 0; i < 9; i++)
		trace_demo_step(i, i * 512, what[i % 3]);
}

int main(void)
{
	trace_events_register(trace_event_list, ARRAY_SIZE(trace_event_list));
	if (trace_init(NULL))
		return 1;
	trace_apply_params();
	work(); /* off: nothing is recorded */
	echo("step > 2 && what == \"write\"", "events/demo/demo_step/filter");
	echo("hist:keys=what:vals=bytes", "events/demo/demo_step/trigger");
	echo("1", "events/demo/demo_step/enable");
	work();
	cat("trace");
	cat("events/demo/demo_step/hist");
	echo("stop == 1", "events/demo/demo_step/filter");
	cat("error_log");
	/* A host that ends gives everything back. */
	echo("", "error_log");
	echo("", "events/demo/demo_step/trigger");
	echo("0", "events/demo/demo_step/filter");
	echo("", "set_event");
	trace_exit();
	return 0;
}
