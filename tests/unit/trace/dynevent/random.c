/*
 * Events and histograms made, used and removed in random order, what is refused included. In the
 * end everything is removed, and all is as it was: what files list, and every count of references.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/dynevent.h"
#include "trace/dynevent/synth.h"
#include "trace/hist/hist.h"
#include "trace/host_clock.h"

#define STEPS  1500
#define EVENTS 4

static const char *const definitions[] = {
    "e%u int aa; u64 bb; char str[8]",
    "s:e%u int aa; u64 bb; char dyn[]",
    "e%u u64 aa; int bb",
    "e%u int",
    "!e%u",
    "-:e%u",
    "-:synthetic/e%u",
    "p:probes/e%u do_mkdirat aa=%%di bb=%%si str=+0(%%si):string",
    "r:probes/r%u do_rmdir aa=$retval",
    "p:probes/e%u do_rmdir aa=%%di bb=%%si str=+0(%%si):string",
    "p:probes/e%u do_mkdirat a0 s1",
    "-:probes/e%u do_mkdirat a0 s1",
    "e:eprobes/e%u synthetic.e1 aa=$aa bb=$bb str=$str:string",
    "e:eprobes/e%u synthetic.e2 aa=$aa:s32 bb=$bb if aa > 0",
    "e:eprobes/e%u unit.unit_numbers aa=$a bb=$nosuch",
    "u:e%u int aa; u64 bb; char[8] str",
    "u:e%u u64 aa; __data_loc char[] str",
    "e:eprobes/e%u user_events.e3 aa=$aa bb=$bb",
    "-:user_events/e%u",
    "-:probes/e%u",
    "-:eprobes/e%u",
    "-:probes/",
};

/* Systems whose events are used, %u in both: an event's number. */
static const char *const systems[] = {"synthetic", "synthetic", "probes", "eprobes", "user_events"};

/* On an event; %u is another's number. */
static const char *const triggers[] = {
    "hist:keys=aa:v%u=bb",
    "hist:keys=aa:vals=bb:size=128",
    "hist:keys=aa:xx=bb-$v%u:onmatch(synthetic.e%u).trace(e3,aa,bb,str)",
    "hist:keys=aa:onmatch(synthetic.e%u).trace(e3,synthetic.e%u.aa,bb,str)",
    "hist:keys=aa:mm=bb:onmax($mm).save(aa,bb)",
    "hist:keys=aa:cc=bb:onchange($cc).e2(aa,$cc)",
    "hist:keys=aa:cc=bb:onmax($cc).snapshot()",
    "hist:name=n%u:keys=aa:vals=bb",
    "!hist:keys=aa:v%u=bb",
    "!hist:keys=aa:vals=bb",
    "!hist:name=n%u:keys=aa:vals=bb",
    "hist:keys=aa:vals=bb:pause",
    "hist:keys=aa:vals=bb:clear",
    "hist:keys=str if aa > %u",
    "hist:keys=aa:t=common_timestamp if bb > %u",
    "hist:keys=a0:vals=s%u",
    "hist:keys=nosuch",
    "enable_event:synthetic:e%u",
    "!enable_event:synthetic:e%u",
    "disable_hist:synthetic:e%u",
    "!disable_hist:synthetic:e%u",
};

/* A mix of all text that files show and of all counts of references. */
struct digest {
	u64 sum;
};

static void add_bytes(struct digest *d, const void *data, size_t n)
{
	for (const u8 *p = data; n--; p++)
		d->sum = (d->sum ^ *p) * 0x100000001b3UL;
}

static void add_text(struct digest *d, const char *path)
{
	const char *text = trace_get(path, NULL);

	add_bytes(d, text, strlen(text));
}

static u64 digest(void)
{
	static const char *const files[] = {
	    "dynamic_events", "synthetic_events", "available_events", "set_event", "tracing_on"};
	struct digest d = {0xcbf29ce484222325UL};
	struct trace_event_call *call;
	struct trace_event_file *file;
	struct trace_system *sys;
	struct trace_array *tr;

	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		add_text(&d, files[i]);
	list_for_each_entry (call, &trace_events, node)
		add_bytes(&d, &call->refs, sizeof(call->refs));
	list_for_each_entry (file, &trace_global->files, node) {
		add_bytes(&d, &file->soft_users, sizeof(file->soft_users));
		add_bytes(&d, &file->way, sizeof(file->way));
		EXPECT(!file->triggers && !(file->flags & TRACE_FILE_LIVE));
	}
	list_for_each_entry (sys, &trace_systems, node)
		add_bytes(&d, &sys->count, sizeof(sys->count));
	list_for_each_entry (tr, &trace_arrays, node)
		add_bytes(&d, &tr->refs, sizeof(tr->refs));
	EXPECT(list_empty(&dynevents) && list_empty(&hists));
	return d.sum;
}

static void expect_known(int err, const char *line)
{
	static const int known[] = {0, -EINVAL, -EBUSY, -EEXIST, -ENOENT, -ENODEV};

	for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
		if (err == known[i])
			return;
	ktap_fail(__FILE__, __LINE__, "%s: %d", line, err);
}

static void step(u64 *random)
{
	u64 r = prng_next(random) >> 20;
	unsigned e = r % EVENTS, other = r >> 8 & 3, kind = r >> 16 & 15;
	char path[64], line[160];

	if (kind < 5) {
		fmt_snprintf(
		    line, sizeof(line), definitions[(r >> 24) % ARRAY_SIZE(definitions)], e);
		bool dynamic = line[0] == '-' || line[1] == ':';
		expect_known(
		    trace_append(dynamic ? "dynamic_events" : "synthetic_events", line), line);
		return;
	}
	fmt_snprintf(path, sizeof(path), "events/%s/e%u/%s",
	    systems[(r >> 36 & 63) % ARRAY_SIZE(systems)], e,
	    kind < 10	? "trigger"
	    : kind < 13 ? "inject"
	    : kind < 14 ? "enable"
			: "hist");
	if (kind < 10)
		fmt_snprintf(
		    line, sizeof(line), triggers[(r >> 24) % ARRAY_SIZE(triggers)], other, other);
	else
		fmt_snprintf(line, sizeof(line), kind < 13 ? "aa=%u bb=%u" : "%u",
		    (u32)(r >> 24 & 1), (u32)(r >> 30 & 7));
	if (kind < 14)
		expect_known(trace_append(path, line), line);
	else
		trace_get(path, NULL);
}

/* Each trigger of the event by what the file shows of it, with a '!' in front. */
static void remove_triggers(const char *path)
{
	static char text[8192];
	char line[512];

	strscpy(text, trace_get(path, NULL), sizeof(text));
	for (char *rest = text, *shown; (shown = strsep(&rest, "\n"));) {
		char *state = strstr(shown, " [");
		if (state)
			*state = '\0';
		fmt_snprintf(line, sizeof(line), "!%s", shown);
		if (*shown && *shown != '#')
			trace_append(path, line);
	}
}

/* Histograms that need one another go in several rounds, the events when none is left. */
static void remove_all(void)
{
	char path[64];

	for (unsigned round = 0; round < 4 * EVENTS; round++)
		for (unsigned e = 0; e < EVENTS * ARRAY_SIZE(systems); e++) {
			fmt_snprintf(path, sizeof(path), "events/%s/e%u/trigger",
			    systems[e / EVENTS], e % EVENTS);
			remove_triggers(path);
		}
	trace_put("set_event", "");
	trace_append("dynamic_events", "-:eprobes/"); /* they hold those they probe */
	int err = trace_put("dynamic_events", "");
	if (err)
		for (unsigned e = 0; e < EVENTS; e++) {
			fmt_snprintf(path, sizeof(path), "events/synthetic/e%u/trigger", e);
			ktap_note("e%u: %s", e, trace_get(path, NULL));
		}
	EXPECT_EQ(err, 0);
	trace_put("snapshot", "0");
	trace_fresh();
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void sequences(void)
{
	u64 random = host_clock(), before;

	trace_fresh();
	ktap_note("seed %lu", random);
	before = digest();
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < STEPS / 4; i++)
			step(&random);
		remove_all();
		EXPECT_EQ(digest(), before);
	}
}

static const struct ktap_case cases[] = {
    {"dyn_random.sequences", sequences},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_dyn_random = {cases};
