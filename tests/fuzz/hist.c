/*
 * The parsers of histograms and of synthetic events. Input: commands, one a line: those that begin
 * with "hist" or "!hist" go to the trigger file of an event with a field of every kind, all others
 * to dynamic_events and synthetic_events. What is accepted is used once and shown; what is shown
 * can be typed in again and shows the same. In the end everything can be removed.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/dynevent.h"
#include "trace/hist/hist.h"
#include "trace/host_lock.h"
#include "trace/probe/probe.h"

FUZZ_KEEPS_RINGS

#define TRIGGER "events/synthetic/fuzzed/trigger"
#define LINES	16

static void start(void)
{
	static bool started;

	if (!started)
		trace_fresh();
	started = true;
	FUZZ_CHECK(!trace_put(
	    "synthetic_events", "fuzzed int aa; u64 bb; s8 cc; char str[8]; char dyn[]; long ll"));
	FUZZ_CHECK(!trace_append("synthetic_events", "other int aa; u64 bb"));
	FUZZ_CHECK(!trace_append("synthetic_events", "out int r; u64 s"));
	FUZZ_CHECK(!trace_put("events/synthetic/other/trigger", "hist:keys=aa:tt=bb"));
}

/* A reference in full is not shown as it is typed, as on Linux. */
static void type_again(void)
{
	char before[4096], line[4096];

	snprintf(before, sizeof(before), "%s", trace_get(TRIGGER, NULL));
	char *end = strstr(before, " [");
	if (*before == '#' || !end || strchr(end, '\n')[1] || strstr(before, "$synthetic."))
		return;
	memcpy(line, before, end - before);
	line[end - before] = '\0';
	FUZZ_CHECK(!trace_put(TRIGGER, ""));
	int err = trace_append(TRIGGER, line);
	if (err)
		fprintf(stderr, "%d: %s\n%s", err, line, trace_get("error_log", NULL));
	FUZZ_CHECK(!err);
	const char *after = trace_get(TRIGGER, NULL);
	if (strncmp(after, before, end - before))
		fprintf(stderr, "%s%s", before, after);
	FUZZ_CHECK(!strncmp(after, before, end - before));
}

static void hist_line(const char *line)
{
	if (trace_append(TRIGGER, line))
		return;
	trace_put("events/synthetic/other/inject", "aa=1 bb=7");
	trace_put(
	    "events/synthetic/fuzzed/inject", "aa=1 bb=9 cc=-1 str=\"x\" dyn=\"a text\" ll=5");
	trace_get("events/synthetic/fuzzed/hist", NULL);
	type_again();
}

/* The whole list, typed in again. A line for both files: "s:" belongs to one of them. */
static void definition(const char *line)
{
	char before[4096];

	trace_append("dynamic_events", line);
	trace_append("synthetic_events", line);
	if (strlen(trace_get("synthetic_events", NULL)) >= sizeof(before))
		return;
	snprintf(before, sizeof(before), "%s", trace_get("synthetic_events", NULL));
	if (!trace_put("synthetic_events", before))
		FUZZ_CHECK(!strcmp(trace_get("synthetic_events", NULL), before));
}

static void end(void)
{
	FUZZ_CHECK(!trace_put(TRIGGER, ""));
	FUZZ_CHECK(!trace_put("events/synthetic/other/trigger", ""));
	FUZZ_CHECK(!trace_put(TRIGGER, ""));
	FUZZ_CHECK(!trace_put("events/synthetic/other/trigger", ""));
	FUZZ_CHECK(list_empty(&hists));
	host_lock();
	FUZZ_CHECK(!dynevent_clear(&event_probe_dynevent_kind)); /* a line may have defined one */
	host_unlock();
	FUZZ_CHECK(!trace_put("synthetic_events", ""));
	FUZZ_CHECK(!trace_put("dynamic_events", ""));
	FUZZ_CHECK(!trace_put("error_log", ""));
	FUZZ_CHECK(list_empty(&dynevents));
	trace_put("snapshot", "0");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	unsigned lines = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	start();
	for (char *line; lines++ < LINES && (line = strsep(&rest, "\n"));)
		if (!strncmp(line, "hist", 4) || !strncmp(line, "!hist", 5))
			hist_line(line);
		else if (!strstr(line, "fuzzed") && !strstr(line, "other"))
			definition(line);
	end();
	free(text);
	return 0;
}
