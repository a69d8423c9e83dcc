/*
 * Starting the tracer: the global trace array, and what the kernel command line asks for. Runs on
 * the boot CPU before the first switch of tasks, so that trace_event= sees it; what comes with
 * other CPUs and with the files comes later.
 */
#include "trace/trace.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/boot_instance.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/enable.h"
#include "trace/event/event.h"
#include "trace/event/ftrace.h"
#include "trace/event/gate.h"
#include "trace/event/record.h"
#include "trace/event/snapshot.h"
#include "trace/function/graph.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"
#include "trace/host_system.h"
#include "trace/output/dump.h"
#include "trace/output/ftrace.h"
#include "trace/output/printk.h"
#include "trace/persist/kept.h"
#include "trace/persist/lastboot.h"
#include "trace/probe/probe.h"
#include "trace/rv/rv.h"
#include "trace/tracer/tracer.h"
#include "trace/trigger/trigger.h"
#include "trace/user/user.h"

#define DEFAULT_SIZE (1408UL << 10) /* bytes per CPU */
#define SIZE_MIN     4096UL	    /* as Linux has it, whatever trace_buf_size= says */

/* "256k": a number and k, m or g; 0: not one, or none that fits. */
static size_t parse_size(const char *text)
{
	static const char units[] = "kmg";
	const char *end, *unit;
	u64 n = parse_digits(text, &end, 0);

	unit = *end ? strchr(units, *end | 32) : NULL;
	unsigned shift = unit ? (unit - units + 1) * 10 : 0;
	return n > SIZE_MAX >> shift ? 0 : n << shift;
}

/* Each of a comma's list, copied, through fn. */
static void trace_each_word(const char *list, void (*fn)(char *word))
{
	char word[512];

	while (*list) {
		size_t n = strcspn(list, ",");
		if (n && n < sizeof(word)) {
			memcpy(word, list, n);
			word[n] = '\0';
			fn(word);
		}
		list += n + (list[n] == ',');
	}
}

static void trace_enable_word(char *word)
{
	char name[512];

	strscpy(name, word, sizeof(name));
	if (trace_set_event_word(trace_global, word))
		host_log("Failed to enable trace event: %s", name);
}

static void trace_trigger_word(char *word)
{
	trace_triggers_boot(trace_global, word);
}

static void trace_option_word(char *word)
{
	trace_options_set(trace_global, word);
}

static void trace_each_param(const char *name, void (*fn)(char *word))
{
	const char *list;

	for (unsigned i = 0; (list = host_param(name, i)); i++)
		trace_each_word(list, fn);
}

/* kprobe_event=LINE;LINE ...: words are parted by commas here. */
static void trace_define_probe(const char *text, size_t n)
{
	char line[512];

	if (n >= sizeof(line))
		n = sizeof(line) - 1;
	memcpy(line, text, n);
	line[n] = '\0';
	for (char *c = line; *c; c++)
		if (*c == ',')
			*c = ' ';
	int err = probe_command(line);
	if (err)
		host_log("trace_kprobe: Failed to add event(%d): %s", err, line);
}

/* Those of the command line are all there are at this time. */
static void enable_probes(void)
{
	struct dynevent *dyn;

	list_for_each_entry (dyn, &dynevents, node) {
		struct trace_event_call *call;
		if (dyn->kind != &probe_dynevent_kind)
			continue;
		call = &container_of(dyn, struct trace_probe, dyn)->event->call;
		if (trace_set_events(trace_global, NULL, call->system->name, call->name, true))
			host_log("Failed to enable %s:%s", call->system->name, call->name);
	}
}

static void define_probes(void)
{
	const char *list;

	for (unsigned i = 0; (list = host_param("kprobe_event", i)); i++)
		while (*list) {
			size_t n = strcspn(list, ";");
			trace_define_probe(list, n);
			list += n + (list[n] == ';');
		}
	enable_probes();
}

static struct trace_function_edit *boot_functions; /* the list under way */

static void trace_function_word(char *word)
{
	char name[512];

	strscpy(name, word, sizeof(name));
	if (trace_function_edit_word(boot_functions, word))
		host_log("No function is meant by %s", name);
}

/* ftrace_filter= and its kin, for the present tracer and for later ones. */
static void trace_boot_functions(const char *param, enum trace_function_list which)
{
	if (host_param(param, 0))
		boot_functions = trace_function_edit_begin(trace_global, which, false);
	if (!boot_functions)
		return;
	trace_each_param(param, trace_function_word);
	trace_function_edit_end(boot_functions);
	boot_functions = NULL;
}

/* 0 for a value that is no number. */
static u64 trace_boot_number(const char *param)
{
	const char *text = host_param(param, HOST_PARAM_LAST);
	u64 n;

	return text && !parse_u64(text, 0, &n) ? n : 0;
}

/* ftrace=TRACER: from the time on when it can have a task of its own. */
static void start_tracer(void)
{
	const char *name = host_param("ftrace", HOST_PARAM_LAST);
	int err = name ? trace_array_expand(trace_global) : 0;

	if (name && !err)
		err = trace_tracer_set(trace_global, name, true);
	if (err)
		host_log("ftrace bootup tracer '%s' not registered.", name);
}

/* alloc_snapshot; ftrace_boot_snapshot takes one at once. */
static void boot_snapshot(void)
{
	bool take = host_param("ftrace_boot_snapshot", 0);
	int err;

	if (!take && !host_param("alloc_snapshot", 0))
		return;
	err = trace_array_expand(trace_global);
	if (!err)
		err = take ? trace_snapshot_now(trace_global) : trace_snapshot_alloc(trace_global);
	if (err)
		host_log("No snapshot at boot: error %d", err);
	else if (take)
		trace_puts("** Boot snapshot taken **\n");
}

static const struct trace_early *early_events;
static u64 early_time;

static u64 trace_early_clock(void)
{
	return early_time;
}

void trace_early_time(u64 clock)
{
	early_time = MAX(early_time, clock);
}

static void trace_enable_early_word(char *word)
{
	trace_set_event_word_of(trace_global, early_events->system, word);
}

/* A clock that is not the TSC has no times of before: then the records have those of now. */
static void replay_early(void)
{
	bool own_times = !trace_global->clock->read;

	trace_each_param("trace_event", trace_enable_early_word);
	if (own_times)
		ring_buffer_borrow_clock(trace_global->buffer, trace_early_clock);
	early_events->replay();
	if (own_times)
		ring_buffer_borrow_clock(trace_global->buffer, NULL);
}

static void apply_params(void)
{
	const char *clock = host_param("trace_clock", HOST_PARAM_LAST);

	if (clock && trace_array_set_clock(trace_global, clock))
		host_log("Trace clock %s not defined, going back to default", clock);
	trace_each_param("trace_options", trace_option_word);
	if (early_events)
		replay_early();
	trace_each_param("trace_event", trace_enable_word);
	trace_each_param("trace_trigger", trace_trigger_word);
	trace_boot_instances();
}

static int trace_start(const struct trace_early *early)
{
	const char *size = host_param("trace_buf_size", HOST_PARAM_LAST);
	size_t bytes = size ? MAX(parse_size(size), SIZE_MIN) : DEFAULT_SIZE;

	early_events = early;
	kept_start(trace_lastboot_find());
	if (user_events_init())
		return -ENOMEM;
	trace_ftrace_register();
	if (trace_gate_prepare())
		return -ENOMEM;
	trace_global = trace_array_create("", bytes);
	if (!trace_global || trace_dump_prepare())
		return -ENOMEM;
	trace_printk_array = trace_global;
	rv_init();
	apply_params();
	return 0;
}

int trace_init(const struct trace_early *early)
{
	host_lock();
	int err = trace_start(early);
	host_unlock();
	return err;
}

void trace_exit(void)
{
	struct trace_array *tr, *next;

	host_lock();
	if (trace_printk_array)
		trace_array_set_option(trace_global, TRACE_OPT_PRINTK_DEST, true);
	trace_printk_array = NULL;
	rv_disable_all();
	list_for_each_entry_safe (tr, next, &trace_arrays, node)
		trace_array_destroy(tr);
	trace_global = NULL;
	rv_exit();
	trace_gate_exit();
	user_events_exit();
	trace_comm_exit();
	trace_dump_exit();
	kept_stop();
	host_unlock();
}

int trace_cpus_up(void)
{
	struct trace_array *tr;
	int err = 0;

	host_lock();
	list_for_each_entry (tr, &trace_arrays, node)
		if (ring_buffer_add_cpus(tr->buffer) ||
		    (tr->snapshot && ring_buffer_add_cpus(tr->snapshot)))
			err = -ENOMEM;
	if (trace_gate_prepare() || trace_dump_prepare())
		err = -ENOMEM;
	kept_update();
	trace_lastboot_offer();
	host_unlock();
	return err;
}

/* As on Linux, a name of trace_event= that is still unknown is reported a second time. */
void trace_apply_params(void)
{
	host_lock();
	define_probes();
	trace_each_param("trace_event", trace_enable_word);
	trace_boot_functions("ftrace_filter", TRACE_FUNCTIONS_WANTED);
	trace_boot_functions("ftrace_notrace", TRACE_FUNCTIONS_UNWANTED);
	trace_boot_functions("ftrace_graph_filter", TRACE_GRAPH_WANTED);
	trace_boot_functions("ftrace_graph_notrace", TRACE_GRAPH_SILENT);
	trace_boot_functions("stacktrace_filter", TRACE_FUNCTIONS_STACK);
	trace_graph_set_depth(trace_boot_number("ftrace_graph_max_depth"));
	trace_thresh_ns = trace_boot_number("tracing_thresh") * 1000;
	start_tracer();
	boot_snapshot();
	host_unlock();
}

bool tracing_is_on(void)
{
	return trace_global && trace_array_is_on(trace_global);
}

void tracing_on(void)
{
	if (trace_global && ring_buffer_record_on(trace_global->buffer))
		trace_comm_recording(true);
}

void tracing_off(void)
{
	if (trace_global && ring_buffer_record_off(trace_global->buffer))
		trace_comm_recording(false);
}
