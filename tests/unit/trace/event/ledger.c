/*
 * The ledger: balanced after everything that can become of a record, and not balanced when a count
 * is wrong.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/load.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/event/record.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"

/* The number after `what` in the first line that begins with `who` and has it; -1: none. */
static s64 number(const char *file, const char *who, const char *what)
{
	const char *text = trace_get(file, NULL), *end;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const char *at = strstr(line, what), *eol = line + strcspn(line, "\n");
		if (str_has_prefix(line, who) && at && at < eol)
			return parse_digits(at + strlen(what), &end, 10);
		if (!*eol)
			break;
	}
	return -1;
}

static s64 all(const char *what)
{
	return number("trace_ledger", "all: ", what);
}

static bool balanced(void)
{
	const char *text = trace_get("trace_ledger", NULL);

	if (strstr(text, "\nbalanced\n"))
		return true;
	const char *wrong = strstr(text, "not balanced");
	ktap_note("%s", wrong ? wrong : "no ledger");
	return false;
}

static void hit(unsigned n)
{
	while (n--)
		trace_unit_numbers(1, 2, 3, 4);
}

/* What `what` gained since *before, which is brought up to date. */
static s64 gained(const char *what, s64 *before)
{
	s64 now = all(what), gain = now - *before;

	*before = now;
	return gain;
}

static void reasons(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT(balanced());
	s64 hits = all("hits "), disabled = all("disabled "), full = all("full "),
	    cleared = all("cleared "), overwritten = all("overwritten "), large = all("too_large "),
	    soft = all("soft_off ");
	hit(10);
	EXPECT_EQ(gained("hits ", &hits), 10);
	EXPECT(balanced());

	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	hit(3);
	EXPECT_EQ(gained("disabled ", &disabled), 3);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("tracing_cpumask", "0"), 0);
	hit(2);
	EXPECT_EQ(gained("disabled ", &disabled), 2);
	char mask[20];
	fmt_snprintf(mask, sizeof(mask), "%lx", (1UL << host_cpu_count()) - 1);
	EXPECT_EQ(trace_put("tracing_cpumask", mask), 0);
	EXPECT(balanced());

	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(gained("cleared ", &cleared), 10);
	EXPECT(balanced());

	EXPECT_EQ(trace_put("buffer_size_kb", "4"), 0);
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	hit(2000);
	EXPECT(gained("full ", &full) > 1000);
	EXPECT_EQ(gained("overwritten ", &overwritten), 0);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("options/overwrite", "1"), 0);
	hit(1000);
	EXPECT(gained("overwritten ", &overwritten) > 500);
	EXPECT(balanced());

	struct trace_event_file *file = trace_ftrace_file(trace_global, TRACE_PRINT);
	struct host_context ctx;
	host_enter(&ctx);
	EXPECT(!trace_image(RB_MAX_DATA + 1));
	EXPECT(!trace_gate_one(file, &ctx, NULL, RB_MAX_DATA + 1));
	host_preempt_enable();
	EXPECT_EQ(gained("too_large ", &large), 1);
	EXPECT(balanced());

	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	host_lock();
	file = trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
	trace_file_soft(file, 1);
	host_unlock();
	hit(4);
	host_lock();
	trace_file_soft(file, -1);
	host_unlock();
	EXPECT_EQ(gained("soft_off ", &soft), 4);
	EXPECT(balanced());
	trace_fresh();
}

/* An event that was hit while recording is off asks nothing more, until recording is on again. */
static void switched_off(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
	s64 disabled = all("disabled "), recorded = all("recorded ");

	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	hit(5);
	EXPECT_EQ(file->way, TRACE_WAY_OFF);
	EXPECT_EQ(gained("disabled ", &disabled), 5);
	EXPECT_EQ(gained("recorded ", &recorded), 0);
	EXPECT(balanced());

	EXPECT(trace_array_set_on(trace_global, true));
	hit(3);
	EXPECT_EQ(gained("recorded ", &recorded), 3);
	EXPECT_EQ(gained("disabled ", &disabled), 0);
	EXPECT(!(file->way & TRACE_WAY_OFF));
	EXPECT(balanced());

	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "a == 7"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	s64 filtered = all("filtered ");
	hit(2);
	EXPECT_EQ(gained("filtered ", &filtered), 2);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "0"), 0);
	hit(2);
	EXPECT_EQ(gained("recorded ", &recorded), 2);
	EXPECT(balanced());
	trace_fresh();
}

/* On one CPU. Returns what the event's way is then. */
static u32 hit_here(const struct trace_event_file *file, unsigned n)
{
	struct host_context ctx;

	host_enter(&ctx);
	hit(n);
	u32 way = file->way;
	host_preempt_enable();
	return way;
}

/* An event for which a ring was full asks the ring first, as long as it is. */
static void filled(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "4"), 0);
	EXPECT_EQ(trace_put("options/overwrite", "0"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
	s64 full = all("full "), recorded = all("recorded "), filtered = all("filtered ");

	EXPECT_EQ(hit_here(file, 1000), TRACE_WAY_FULL);
	s64 refused = gained("full ", &full), took = gained("recorded ", &recorded);
	EXPECT(refused > 500 && took > 10);
	EXPECT_EQ(refused + took, 1000);
	EXPECT(balanced());

	EXPECT_EQ(trace_put("trace", ""), 0);
	hit(3);
	EXPECT_EQ(gained("recorded ", &recorded), 3);
	EXPECT_EQ(hit_here(file, 64), 0);
	EXPECT_EQ(gained("recorded ", &recorded), 64);
	EXPECT_EQ(gained("full ", &full), 0);

	EXPECT_EQ(hit_here(file, 1000), TRACE_WAY_FULL);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "a == 7"), 0);
	EXPECT_EQ(hit_here(file, 2), TRACE_WAY_FILTER);
	EXPECT_EQ(gained("filtered ", &filtered), 2);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "0"), 0);
	EXPECT_EQ(hit_here(file, 1000), TRACE_WAY_FULL);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	s64 disabled = all("disabled ");
	hit(2);
	EXPECT_EQ(gained("disabled ", &disabled), 2);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("options/overwrite", "1"), 0);
	recorded = all("recorded ");
	hit(70);
	EXPECT_EQ(gained("recorded ", &recorded), 70);
	EXPECT(balanced());
	trace_fresh();
}

/* Writers within writers, until there is no room for more of them. */
static void nested(void)
{
	struct trace_event_file *file = trace_ftrace_file(trace_global, TRACE_PRINT);
	u64 image[] = {0, 0, 0x0a78}; /* "x\n" after the address */
	struct trace_slot slot[20];
	struct host_context ctx;
	unsigned depth = 0;
	void *rec;

	trace_fresh();
	s64 before = all("nested ");
	host_enter(&ctx);
	EXPECT(
	    trace_gate_one(file, &ctx, image, sizeof(image))); /* an empty ring has no fast path */
	while (
	    depth < ARRAY_SIZE(slot) && (rec = trace_record(&slot[depth], file, sizeof(image)))) {
		memcpy((u64 *)rec + 1, image + 1, sizeof(image) - sizeof(u64));
		depth++;
	}
	EXPECT(depth > 1 && depth < ARRAY_SIZE(slot));
	EXPECT(!trace_gate_one(file, &ctx, image, sizeof(image)));
	while (depth--)
		trace_record_end(&slot[depth]);
	host_preempt_enable();
	EXPECT_EQ(gained("nested ", &before), 1);
	EXPECT(balanced());
	trace_fresh();
}

/* The same with images: what is given back can be taken again. */
static void images(void)
{
	struct trace_event_file *file = trace_ftrace_file(trace_global, TRACE_PRINT);
	struct host_context ctx;
	unsigned n = 0;
	void *first, *last;

	trace_fresh();
	s64 before = all("too_deep ");
	host_enter(&ctx);
	first = last = trace_image(RB_MAX_DATA);
	for (; last && n < 100; n++)
		last = trace_image(RB_MAX_DATA);
	EXPECT(n > 2 && n < 100); /* task, interrupt, NMI */
	EXPECT(!trace_gate_one(file, &ctx, NULL, RB_MAX_DATA));
	while (n--)
		trace_image_end(RB_MAX_DATA);
	EXPECT(trace_image(RB_MAX_DATA) == first);
	trace_image_end(RB_MAX_DATA);
	host_preempt_enable();
	EXPECT_EQ(gained("too_deep ", &before), 1);
	EXPECT(balanced());
	trace_fresh();
}

/* The bytes after an odd one get into the ring: they are none of an older one's. */
static void odd_images(void)
{
	struct host_context ctx;
	u8 *image;

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "a == 1"), 0); /* it needs images */
	host_enter(&ctx);
	for (u32 size = 57; size <= 64; size++) {
		image = trace_image(64);
		memset(image, 0xff, 64);
		trace_image_end(64);
		image = trace_image(size);
		for (u32 i = size; i < ALIGN_UP(size, 4U); i++)
			EXPECT_EQ(image[i], 0);
		trace_image_end(size);
	}
	host_preempt_enable();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/filter", "0"), 0);
	trace_fresh();
}

static void reading(void)
{
	struct tracefs_node node;
	struct tracefs_file *f;
	char text[200];
	u64 pos = 0;

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	s64 read = all("read ");
	hit(5);
	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	EXPECT(tracefs_read(f, text, sizeof(text), &pos) > 0);
	tracefs_release(f);
	EXPECT(gained("read ", &read) > 0);
	EXPECT(balanced());
	trace_get("trace", NULL);
	EXPECT(balanced());
	trace_fresh();
}

/* Sizes change, snapshots are taken, cleared and freed, what is in them is counted where it is. */
static void snapshots(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	s64 hits = all("hits "), cleared = all("cleared ");
	hit(100);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(all("snapshot "), 100);
	EXPECT_EQ(all("unread "), 0);
	EXPECT(balanced());
	hit(7);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(all("snapshot "), 7);
	EXPECT_EQ(all("unread "), 100);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("snapshot", "2"), 0);
	EXPECT_EQ(gained("cleared ", &cleared), 7);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("buffer_size_kb", "7"), 0);
	EXPECT(balanced());
	hit(1000);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	hit(1000);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("buffer_size_kb", "50"), 0);
	EXPECT(balanced());
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(all("snapshot "), 0);
	EXPECT(balanced());
	EXPECT_EQ(gained("hits ", &hits), 2107);
	trace_fresh();
}

static void instances(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("i"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("instances/i/events/unit/unit_numbers/enable", "1"), 0);
	s64 hits = all("hits ");
	hit(6);
	EXPECT_EQ(gained("hits ", &hits), 6);
	EXPECT_EQ(number("instances/i/trace_ledger", "all: ", "hits "), 6);
	EXPECT_EQ(number("instances/i/trace_ledger", "unit:unit_numbers: ", "recorded "), 6);
	EXPECT(strstr(trace_get("instances/i/trace_ledger", NULL), "\nbalanced\n"));
	EXPECT(balanced());
	EXPECT_EQ(trace_drop_instance("i"), 0);
	EXPECT(balanced());
	trace_fresh();
}

/* An event that is removed takes its counts along, not what they counted. */
static void removed_events(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "ledger_ev int a"), 0);
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/enable", "1"), 0);
	s64 hits = all("hits ");
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/inject", "a=1"), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/inject", "a=2"), 0);
	EXPECT_EQ(number("trace_ledger", "synthetic:ledger_ev: ", "hits "), 2);
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/enable", "0"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "!ledger_ev"), 0);
	EXPECT_EQ(number("trace_ledger", "synthetic:ledger_ev: ", "hits "), -1);
	EXPECT_EQ(gained("hits ", &hits), 2);
	EXPECT_EQ(all("snapshot "), 0); /* its records went with it, from both buffers */
	EXPECT(balanced());
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT(balanced());
	trace_fresh();
}

static void inject(void *value)
{
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/inject", value), 0);
}

/* So it is with hits on another CPU, and with what its triggers could not do. */
static void removed_elsewhere(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "ledger_ev int a"), 0);
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/enable", "1"), 0);
	s64 hits = all("hits ");
	inject("a=1");
	if (host_cpu_count() > 1) {
		machine_run(1, inject, "a=2");
		machine_join(1);
	}
	EXPECT_EQ(trace_put("events/synthetic/ledger_ev/enable", "0"), 0);
	s64 missed = number("trace_ledger", "# all: ", "trigger_missed ");
	struct trace_event_call *call = trace_event_find("synthetic", "ledger_ev");
	trace_event_file_of(trace_global, call)->counts[0].trigger_missed += 7;
	EXPECT_EQ(trace_append("synthetic_events", "!ledger_ev"), 0);
	EXPECT_EQ(gained("hits ", &hits), host_cpu_count() > 1 ? 2 : 1);
	EXPECT_EQ(number("trace_ledger", "# all: ", "trigger_missed "), MAX(missed, 0l) + 7);
	EXPECT(balanced());
	trace_fresh();
}

/* An event that is on has a line from its first hit on. */
static void quiet_events(void)
{
	static const char on[] = "instances/q/events/unit/unit_numbers/enable";

	trace_fresh();
	EXPECT_EQ(trace_make_instance("q"), 0);
	EXPECT_EQ(trace_put(on, "1"), 0);
	EXPECT_EQ(number("instances/q/trace_ledger", "unit:unit_numbers: ", "hits "), -1);
	hit(1);
	EXPECT_EQ(number("instances/q/trace_ledger", "unit:unit_numbers: ", "hits "), 1);
	EXPECT_EQ(trace_drop_instance("q"), 0);
}

/* Wrong by one, in each of the equations. */
static void unbalanced(void)
{
	struct trace_event_count *c =
	    &trace_ftrace_file(trace_global, TRACE_PRINT)->counts[host_cpu_count() - 1];
	char line[64];

	trace_fresh();
	EXPECT(balanced());
	c->hit++;
	fmt_snprintf(line, sizeof(line),
	    "\nnot balanced: cpu%u: recorded\nnot balanced: all: recorded\n", host_cpu_count() - 1);
	EXPECT(strstr(trace_get("trace_ledger", NULL), line));
	EXPECT(!strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	c->lost++;
	fmt_snprintf(line, sizeof(line),
	    "\nnot balanced: cpu%u: refused\nnot balanced: all: refused\n", host_cpu_count() - 1);
	EXPECT(strstr(trace_get("trace_ledger", NULL), line));
	c->hit--;
	c->lost--;
	u64 hits = c->hit;
	c->hit = 0;
	c->filtered++;
	EXPECT(strstr(trace_get("trace_ledger", NULL), "not balanced: cpu"));
	c->filtered--;
	c->hit = hits;
	EXPECT(balanced());
	/* An event with more ends than hits is named itself. */
	struct trace_event_count *bputs = trace_ftrace_file(trace_global, TRACE_BPUTS)->counts;
	u64 more = 1UL << 40; /* than it was ever hit, on whatever CPU */
	bputs->soft_off += more;
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nnot balanced: ftrace:bputs: hits\n"));
	bputs->soft_off -= more;
	EXPECT(balanced());
}

static const struct ktap_case cases[] = {
    {"ledger.reasons", reasons},
    {"ledger.nested", nested},
    {"ledger.switched_off", switched_off},
    {"ledger.filled", filled},
    {"ledger.images", images},
    {"ledger.odd_images", odd_images},
    {"ledger.reading", reading},
    {"ledger.snapshots", snapshots},
    {"ledger.instances", instances},
    {"ledger.removed_events", removed_events},
    {"ledger.removed_elsewhere", removed_elsewhere},
    {"ledger.quiet_events", quiet_events},
    {"ledger.unbalanced", unbalanced},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_ledger = {cases};
