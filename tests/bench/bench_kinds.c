/*
 * All kinds of event under the same conditions: KIND.CONDITION, less what it costs to reach the
 * event.
 */
#include "arch/arch.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/fmt.h"
#include "tests/bench/bench.h"
#include "trace/dynevent/synth_record.h"
#include "trace/event/api.h"
#include "trace/event/array.h"
#include "trace/host_lock.h"
#include "trace/user/write.h"

#undef TRACE_DEF
#define TRACE_DEF "tests/bench/bench_events.def"
#include "trace/event/tracepoint.h"

/* An event: its directory below events/, and a field that is a number above 0 in each pass. */
struct kind {
	const char *name, *dir, *field;
	bench_round round;
	bool instance; /* its file in the instance "bench" */
};

/*
 * What is asked about it. F in a text stands for the field. `file` is another file of the tracer,
 * set to `value` for the time being, and then to `usual`.
 */
struct condition {
	const char *name;
	bool recorded; /* the event is on itself */
	const char *filter, *trigger;
	const char *file, *value, *usual;
};

static const struct condition conditions[] = {
    {"record", .recorded = true},
    {"filter_false", .recorded = true, .filter = "F == 0"},
    {"filter_true", .recorded = true, .filter = "F != 0"},
    {"pid_unwanted", .recorded = true, .file = "set_event_pid", .value = "1", .usual = ""},
    {"tracing_off", .recorded = true, .file = "tracing_on", .value = "0", .usual = "1"},
    {"hist", .trigger = "hist:keys=F"},
    {"hist+record", .recorded = true, .trigger = "hist:keys=F"},
    {"trigger+record", .recorded = true, .trigger = "traceon"},
    {"trigger_if_true", .trigger = "traceon if F != 0"},
    {"trigger_if_false", .trigger = "traceon if F == 0"},
};

/* A line of the event's file, with the field's name for each F. */
static void write_line(const struct kind *k, const char *file, const char *prefix, const char *text)
{
	char path[96], line[96];
	size_t n = strscpy(line, prefix, sizeof(line));

	for (; *text && n + 16 < sizeof(line); text++)
		if (*text == 'F')
			n += strscpy(line + n, k->field, sizeof(line) - n);
		else
			line[n++] = *text;
	line[n] = '\0';
	fmt_snprintf(path, sizeof(path), "%sevents/%s/%s", k->instance ? "instances/bench/" : "",
	    k->dir, file);
	bench_write(path, line);
}

/* The trigger's name, or all of a histogram's line, without a condition. */
static void remove_trigger(const struct kind *k, const char *trigger)
{
	char text[64];

	strscpy(text, trigger, sizeof(text));
	char *condition = strstr(text, " if");
	if (condition)
		*condition = '\0';
	write_line(k, "trigger", "!", text);
}

static void begin(const struct kind *k, const struct condition *c)
{
	if (c->filter)
		write_line(k, "filter", "", c->filter);
	if (c->trigger)
		write_line(k, "trigger", "", c->trigger);
	if (c->file)
		bench_write(c->file, c->value);
	if (c->recorded)
		write_line(k, "enable", "", "1");
}

static void end(const struct kind *k, const struct condition *c)
{
	if (c->recorded)
		write_line(k, "enable", "", "0");
	if (c->file)
		bench_write(c->file, c->usual);
	if (c->trigger)
		remove_trigger(k, c->trigger);
	if (c->filter)
		write_line(k, "filter", "", "0");
}

/* ---- reaching the event ---- */

BENCH_ROUND(static_round, trace_bench_2u64(a + 1, i))

/* A system call's enter event, as entry code has it: getpid(), number 39. */
#define GETPID 39
static struct regs regs;
BENCH_ROUND(syscall_round, trace_sys_call_enter(&regs, GETPID))

u64 bench_probe_target(u64 a); /* tests/bench/bench_probe.c */
BENCH_ROUND(probe_round, bench_probe_target(a + 1))

static struct user_event *user_event;
BENCH_ROUND(user_round, {
	struct {
		struct trace_entry ent;
		u64 a;
	} rec = {.a = a + 1};
	user_event_write(user_event, &rec, sizeof(rec));
})

static struct trace_event_file *synth_file;
BENCH_ROUND(synth_round, {
	u64 vals[] = {a + 1, i};
	synth_event_trace_array(synth_file, vals, 2);
})

static const struct kind kinds[] = {
    {"static", "bench/bench_2u64", "a", static_round, false},
    {"syscall", "syscalls/sys_enter_getpid", "__syscall_nr", syscall_round, false},
    {"probe", "kprobes/bench_kind", "arg1", probe_round, false},
    {"user", "user_events/bench_kind", "a", user_round, false},
    {"synth", "synthetic/bench_kind", "a", synth_round, false},
};

/* ---- making the events ---- */

static struct user_events_file *user_file;

static void make_events(void)
{
	bench_write("kprobe_events", "p:bench_kind bench_probe_target+1 %di %si");
	kprobes_optimization(true);
	bench_write("synthetic_events", "bench_kind u64 a; u64 b");
	synth_file = trace_get_event_file(NULL, "synthetic", "bench_kind");
	user_file = user_events_open(NULL);
	if (IS_ERR(synth_file) || !user_file ||
	    user_events_register(user_file, "bench_kind u64 a", 0, &user_event) < 0)
		panic("bench: no events");
}

static void remove_events(void)
{
	trace_put_event_file(synth_file);
	bench_write("synthetic_events", "\n");
	bench_write("kprobe_events", "\n");
	host_lock();
	user_events_release(user_file);
	host_unlock();
}

/* ---- measuring ---- */

static int nothing(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	return 0;
}

/* Ticks of n passes that only reach the event: with an empty probe handler, or while it is off. */
static u64 ticks_to_reach(const struct kind *k)
{
	struct kprobe p = {
	    .symbol_name = "bench_probe_target", .offset = 1, .pre_handler = nothing};
	bool is_probe = k->round == probe_round;

	if (!is_probe && k->round != synth_round)
		return bench_median(bench_empty, BENCH_N);
	if (is_probe && register_kprobe(&p))
		panic("bench: no probe");
	kprobes_optimize();
	u64 t = bench_median(k->round, BENCH_N);
	if (is_probe)
		unregister_kprobe(&p);
	return t;
}

static void report(const struct kind *k, const char *condition, u64 t, u64 base)
{
	char name[64];

	fmt_snprintf(name, sizeof(name), "kind.%s.%s", k->name, condition);
	bench_value(name, (t > base ? t - base : 0) * 10 / BENCH_N, "insn");
}

static u64 measure(const struct kind *k, const struct condition *c)
{
	begin(k, c);
	kprobes_optimize();
	u64 t = bench_median(k->round, BENCH_N);
	end(k, c);
	return t;
}

/* A ring that is full and does not overwrite. */
static u64 measure_full(const struct kind *k)
{
	bench_write("options/overwrite", "0");
	bench_write("buffer_size_kb", "8");
	u64 t = measure(k, &conditions[0]);
	bench_write("buffer_size_kb", "1408");
	bench_write("options/overwrite", "1");
	return t;
}

/* In an instance as well. */
static u64 measure_twice(const struct kind *k)
{
	const struct kind in_instance = {
	    .name = k->name, .dir = k->dir, .field = k->field, .instance = true, .round = k->round};
	struct trace_array *tr;

	host_lock();
	int err = trace_instance_create("bench", &tr);
	host_unlock();
	if (err)
		panic("bench: no instance");
	write_line(&in_instance, "enable", "", "1");
	u64 t = measure(k, &conditions[0]);
	write_line(&in_instance, "enable", "", "0");
	host_lock();
	if (trace_array_destroy(tr))
		panic("bench: the instance stays");
	host_unlock();
	return t;
}

static void run_kind(const struct kind *k)
{
	u64 base = ticks_to_reach(k), once = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(conditions); i++) {
		u64 t = measure(k, &conditions[i]);
		if (!i)
			once = t;
		report(k, conditions[i].name, t, base);
	}
	report(k, "full", measure_full(k), base);
	if (k->round != synth_round) /* that one is traced in the instance of its file alone */
		report(k, "further_instance", measure_twice(k), once);
}

static void run_kinds(const char *name __maybe_unused)
{
	make_events();
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		run_kind(&kinds[i]);
	kprobes_optimization(false);
	remove_events();
}

const struct bench bench_kinds[] = {
    {"kind.", run_kinds},
    {NULL, NULL},
};
