/*
 * Synthetic events and histograms when memory runs out: each allocation failed once; what is
 * refused has changed nothing.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/dynevent.h"
#include "trace/dynevent/synth.h"
#include "trace/dynevent/synth_cmd.h"
#include "trace/event/api.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/hist/hist.h"
#include "trace/host_lock.h"
#include "trace/trigger/trigger.h"

#define NO_END 400

/*
 * Tries with the first, the second ... allocation failing, until none does; returns how many
 * failed.
 */
static unsigned fail_each(int (*try)(void), void (*unchanged)(void))
{
	for (unsigned n = 1; n < NO_END; n++) {
		machine_fail_alloc(n);
		int err = try();
		machine_fail_alloc(0);
		if (!err)
			return n - 1;
		EXPECT_EQ(err, -ENOMEM);
		if (err != -ENOMEM)
			return n;
		unchanged();
	}
	EXPECT(!"it always fails");
	return 0;
}

/* ---- synthetic events ---- */

static int define(void)
{
	char line[] = "mem int aa; char bb[16]; char cc[]; u64 dd";

	host_lock();
	int err = synth_event_command(line);
	host_unlock();
	return err;
}

static void no_events(void)
{
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
	EXPECT(!trace_system_find(SYNTH_SYSTEM));
}

static void defining(void)
{
	trace_fresh();
	EXPECT(fail_each(define, no_events) >= 4);
	EXPECT_EQ(synth_event_delete("mem"), 0);
}

/* Of each kind a line in dynamic_events, and what it leaves when it was refused. */
static const char *dynamic_line, *dynamic_before;

static int define_dynamic(void)
{
	host_lock();
	int err = dynevent_command(dynamic_line);
	host_unlock();
	return err;
}

static void as_before(void)
{
	EXPECT_EQ(machine_probes(), 0);
	EXPECT_STR(trace_get("dynamic_events", NULL), dynamic_before);
	EXPECT(!trace_system_find("mem"));
	EXPECT_EQ(synth_event_find("src") ? synth_event_find("src")->call.refs : 0, 0);
}

static void defining_all_kinds(void)
{
	static const struct {
		const char *line;
		unsigned allocations;
	} rows[] = {
	    {"p:mem/k do_mkdirat a=%di s=+0(%si):string", 8},
	    {"r:mem/r do_mkdirat $retval", 8},
	    {"p:mem/old do_mkdirat a0 s1", 8},
	    {"e:mem/e synthetic.src x=$a s=$s:string if a > 5", 10},
	    {"w:mem/w w@-1:8 v=$value s=+0($addr):string", 8},
	    {"t:mem/t unit_numbers", 5},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_append("dynamic_events", "s:src int a; char s[8]"), 0);
		dynamic_line = rows[i].line;
		dynamic_before = "s:synthetic/src\tint a; char[8] s\n";
		EXPECT(fail_each(define_dynamic, as_before) >= rows[i].allocations);
		EXPECT_EQ(trace_append("dynamic_events", "-:mem/"), 0);
		as_before();
		EXPECT_EQ(trace_append("dynamic_events", "-:src"), 0);
	}
	no_events();
}

/* Its trigger on the other event, with a filter, is made when it is switched on. */
static int switch_probe(void)
{
	host_lock();
	int err = trace_set_events(trace_global, NULL, "mem", NULL, true);
	host_unlock();
	return err;
}

static void off(void)
{
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("synthetic", "src"));

	EXPECT(!file->triggers && !file->soft_users);
	EXPECT_STR(trace_get("events/mem/e/enable", NULL), "0\n");
}

static void switching_event_probes(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", "s:src int a; char s[8]"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "e:mem/e synthetic.src $a if s == \"x\""), 0);
	EXPECT(fail_each(switch_probe, off) >= 6);
	EXPECT_STR(trace_get("events/mem/e/enable", NULL), "1\n");
	EXPECT_EQ(trace_put("set_event", ""), 0);
	off();
	EXPECT_EQ(trace_append("dynamic_events", "-:e"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "-:src"), 0);
	no_events();
}

static int create(void)
{
	static struct synth_field_desc fields[] = {{"int", "a"}, {"char[]", "b"}};

	return synth_event_create("mem", fields, ARRAY_SIZE(fields), THIS_MODULE);
}

static void creating(void)
{
	trace_fresh();
	EXPECT(fail_each(create, no_events) >= 6);
	EXPECT_EQ(synth_event_delete("mem"), 0);
}

static int hold_file(void)
{
	struct trace_event_file *file = trace_get_event_file(NULL, SYNTH_SYSTEM, "mem");

	if (IS_ERR(file))
		return PTR_ERR(file);
	trace_put_event_file(file);
	return 0;
}

static void not_held(void)
{
	EXPECT_EQ(synth_event_find("mem")->call.refs, 0);
}

static void holding(void)
{
	trace_fresh();
	EXPECT_EQ(define(), 0);
	/* counts, asked for and allocated, and the format for readers outside */
	EXPECT_EQ(fail_each(hold_file, not_held), 3);
	not_held();
	EXPECT_EQ(synth_event_delete("mem"), 0);
}

static int inject(void)
{
	return trace_put("events/synthetic/mem/inject", "aa=1");
}

static void not_injected(void)
{
	EXPECT_STR(trace_nth(0), "");
}

static void injecting(void)
{
	trace_fresh();
	EXPECT_EQ(define(), 0);
	EXPECT(fail_each(inject, not_injected) >= 2); /* the open file, the line */
	EXPECT(*trace_nth(0));
	trace_fresh();
	EXPECT_EQ(synth_event_delete("mem"), 0);
}

/* An event goes without any memory. */
static void removing(void)
{
	trace_fresh();
	EXPECT_EQ(define(), 0);
	machine_fail_alloc(1);
	EXPECT_EQ(synth_event_delete("mem"), 0);
	machine_fail_alloc(0);
	no_events();
}

/* ---- histograms ---- */

static const char *event, *command;

static struct trace_event_file *file_of(const char *name)
{
	return trace_event_file_of(trace_global, trace_event_find(SYNTH_SYSTEM, name));
}

static int trigger(void)
{
	char line[160];

	strscpy(line, command, sizeof(line));
	host_lock();
	int err = trace_trigger_store(file_of(event), line);
	host_unlock();
	return err;
}

static unsigned triggers_before, hists_before;

static unsigned count_hists(void)
{
	struct list_head *at;
	unsigned n = 0;

	for (at = hists.next; at != &hists; at = at->next)
		n++;
	return n;
}

static unsigned count_triggers(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 3; i++)
		for (struct trace_trigger *t = file_of(i == 0	? "mem"
						       : i == 1 ? "other"
								: "out")
						   ->triggers;
		     t; t = t->next)
			n++;
	return n;
}

static void no_more_hists(void)
{
	EXPECT_EQ(count_triggers(), triggers_before);
	EXPECT_EQ(count_hists(), hists_before);
	EXPECT_EQ(synth_event_find("out")->call.refs, 0);
	EXPECT_EQ(synth_event_find("mem")->call.refs, 0);
}

static const char *const commands[] = {
    "hist:keys=aa",
    "hist:keys=aa,cc,common_pid.execname:vals=dd:sort=aa.descending,dd if dd > 5",
    "hist:keys=aa:xx=dd-5*dd,yy=bb:onmax($xx).save(bb,dd)",
    "hist:keys=aa:xx=dd-$tt:onmatch(synthetic.other).trace(out,$xx,aa)",
    "hist:keys=aa:onmatch(synthetic.other).trace(out,dd,synthetic.other.ee)",
    "hist:keys=aa:xx=dd:onchange($xx).snapshot()",
    "hist:name=foo:keys=aa:xx=common_timestamp.usecs:clock=mono",
};

static void begin_hists(void)
{
	trace_fresh();
	EXPECT_EQ(define(), 0);
	EXPECT_EQ(trace_append("synthetic_events", "other int aa; u64 dd; int ee"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "out u64 dd; int id"), 0);
	command = "hist:keys=aa:tt=dd";
	event = "other";
	EXPECT_EQ(trigger(), 0);
	triggers_before = count_triggers();
	hists_before = count_hists();
}

static void hists_fail(void)
{
	begin_hists();
	event = "mem";
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++) {
		command = commands[i];
		unsigned failed = fail_each(trigger, no_more_hists);
		if (failed < 8)
			ktap_fail(__FILE__, __LINE__, "%s: %u", command, failed);
		EXPECT_EQ(trace_put("events/synthetic/mem/trigger", ""), 0);
		no_more_hists();
	}
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(trace_put("events/synthetic/other/trigger", ""), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	no_events();
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"dyn_alloc.defining", defining},
    {"dyn_alloc.all_kinds", defining_all_kinds},
    {"dyn_alloc.switching_event_probes", switching_event_probes},
    {"dyn_alloc.creating", creating},
    {"dyn_alloc.holding", holding},
    {"dyn_alloc.injecting", injecting},
    {"dyn_alloc.removing", removing},
    {"dyn_alloc.hists", hists_fail},
    {NULL, NULL},
};
const struct ktap_suite suite_dyn_alloc = {cases};
