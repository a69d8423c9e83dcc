/*
 * The parsers of dynamic events that are probes: of code, of other events, of places in memory.
 * Input: lines for dynamic_events; one that begins with '>' is a trigger of an event instead, if
 * it sets or clears a watchpoint. What is accepted is hit and shown; the whole list can be typed
 * in again and shows the same. In the end everything can be removed.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "kernel/lib/errno.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/dynevent/dynevent.h"
#include "trace/event/enable.h"
#include "trace/event/trigger.h"
#include "trace/host_lock.h"
#include "trace/probe/probe.h"

FUZZ_KEEPS_RINGS

#define EVENTS	"dynamic_events"
#define TRIGGER "events/synthetic/src/trigger"
#define LINES	12

static void start(void)
{
	static bool started;

	if (!started) {
		trace_fresh();
		types_sample_use();
	}
	started = true;
	FUZZ_CHECK(!trace_put(EVENTS, "s:src int aa; u64 bb; s8 cc; char str[8]; char dyn[]"));
}

/* Registers and a stack that point into a text, which points at itself. */
static void hit(void)
{
	static union {
		u64 word[512];
		char text[4096];
	} memory;
	struct machine_regs regs;

	for (unsigned i = 0; i < ARRAY_SIZE(memory.word); i++)
		memory.word[i] = (u64)&memory.word[i / 2];
	u64 *reg = (u64 *)&regs;
	for (unsigned i = 0; i < sizeof(regs) / sizeof(*reg); i++)
		reg[i] = (u64)&memory.word[i * 8];
	memcpy(memory.text + 64, "a text in memory", 17);
	machine_probe_hit("do_mkdirat", 0, false, &regs);
	machine_probe_hit("do_mkdirat", 16, false, &regs);
	machine_probe_hit("do_rmdir", 0, true, &regs);
	machine_watch_hit(&regs, ~0UL);
	trace_put("events/synthetic/src/inject", "aa=-1 bb=9 cc=-1 str=\"x\" dyn=\"a text\"");
}

static void switch_all(bool on)
{
	host_lock();
	trace_set_events(trace_global, NULL, NULL, NULL, on);
	host_unlock();
}

/* Everything that was defined is on, hit, shown. */
static void use(void)
{
	switch_all(true);
	hit();
	trace_get("trace", NULL);
	trace_get("kprobe_profile", NULL);
	switch_all(false);
	trace_put("trace", "");
}

static void clear(void)
{
	host_lock();
	trace_triggers_clear(trace_global); /* those of watchpoints hold them */
	FUZZ_CHECK(!dynevent_clear(&event_probe_dynevent_kind)); /* they hold what they probe */
	FUZZ_CHECK(!dynevent_clear(NULL));
	host_unlock();
	FUZZ_CHECK(list_empty(&dynevents));
}

/* What no line can say: a probe where nothing is, fields of a user event without a name. */
static void type_again(void)
{
	static char before[65536], line[DYNEVENT_LINE_MAX];

	snprintf(before, sizeof(before), "%s", trace_get(EVENTS, NULL));
	if (strstr(before, "ptrval") || strstr(before, "\nu: "))
		return;
	clear();
	for (char *at = before; *at; at += strcspn(at, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		int err = trace_append(EVENTS, line);
		if (err)
			fprintf(stderr, "%d: %s\n", err, line);
		FUZZ_CHECK(!err);
	}
	FUZZ_CHECK(!strcmp(before, trace_get(EVENTS, NULL)));
}

static int write_line(const char *line)
{
	if (*line != '>')
		return trace_append(EVENTS, line);
	return strstr(line, "_wprobe:") ? trace_append(TRIGGER, line + 1) : -EINVAL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	unsigned lines = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	start();
	for (char *line; lines++ < LINES && (line = strsep(&rest, "\n"));)
		if (!write_line(line))
			use();
	type_again();
	use();
	clear();
	FUZZ_CHECK(!trace_put("error_log", ""));
	free(text);
	return 0;
}
