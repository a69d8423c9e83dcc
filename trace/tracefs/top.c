/*
 * The table of tracefs' top directory, and the small files in it. Handlers run in task context
 * under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/event/clock.h"
#include "trace/event/comm.h"
#include "trace/event/enable.h"
#include "trace/event/error_log.h"
#include "trace/event/event.h"
#include "trace/event/ledger.h"
#include "trace/event/pid_filter.h"
#include "trace/host_cpus.h"
#include "trace/output/dump.h"
#include "trace/output/printk.h"
#include "trace/probe/probe.h"
#include "trace/trace.h"
#include "trace/tracefs/tables.h"
#include "trace/tracer/tracer.h"
#include "trace/user/user.h"

/* ---- events by name ---- */

static int tracefs_show_available(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	struct trace_event_call *call;

	list_for_each_entry (call, &trace_events, node) {
		if (call->flags & TRACE_CALL_NO_ENABLE)
			continue;
		seq_puts(s, call->class->system);
		seq_putc(s, ':');
		seq_puts(s, call->name);
		seq_putc(s, '\n');
	}
	return 0;
}

/* The events ftrace:* are never live: what they have instead is a trigger. */
static bool trace_file_is_listed(const struct trace_event_file *file)
{
	return file->flags & TRACE_FILE_LIVE ||
	       (file->call->flags & TRACE_CALL_NO_ENABLE && file->triggers);
}

static int tracefs_show_set_event(struct seq *s, const struct tracefs_node *node)
{
	struct trace_event_file *file;

	list_for_each_entry (file, &tracefs_array(node)->files, node)
		if (trace_file_is_listed(file))
			seq_printf(s, "%s:%s\n", file->call->class->system, file->call->name);
	return 0;
}

static int tracefs_clear_set_event(const struct tracefs_node *node)
{
	return trace_set_events(tracefs_array(node), NULL, NULL, NULL, false);
}

/* ---- lists of pids: of events, of functions ---- */

#define PID_FILE(name, of, notrace)                                                                \
	static int tracefs_show_##name(struct seq *s, const struct tracefs_node *node)             \
	{                                                                                          \
		trace_pid_show(s, tracefs_array(node), of, notrace);                               \
		return 0;                                                                          \
	}                                                                                          \
	static ssize tracefs_write_##name(struct tracefs_file *f, const void *buf, size_t n)       \
	{                                                                                          \
		return n ? trace_pid_write(tracefs_array(&f->node), of, notrace, buf, n) : 0;      \
	}                                                                                          \
	static int tracefs_clear_##name(const struct tracefs_node *node)                           \
	{                                                                                          \
		trace_pid_clear(tracefs_array(node), of, notrace);                                 \
		return 0;                                                                          \
	}                                                                                          \
	static const struct tracefs_ops name##_ops = {.write = tracefs_write_##name};

#define PID_ROW(file, name)                                                                        \
	{                                                                                          \
		file, 0640, .show = tracefs_show_##name, .clear = tracefs_clear_##name,            \
			    .ops = &name##_ops                                                     \
	}

PID_FILE(pids, TRACE_PIDS_EVENTS, false)
PID_FILE(notrace_pids, TRACE_PIDS_EVENTS, true)
PID_FILE(function_pids, TRACE_PIDS_FUNCTIONS, false)
PID_FILE(function_notrace_pids, TRACE_PIDS_FUNCTIONS, true)

/* ---- recording, clocks ---- */

static int tracefs_show_on(struct seq *s, const struct tracefs_node *node)
{
	seq_puts(s, trace_array_is_on(tracefs_array(node)) ? "1\n" : "0\n");
	return 0;
}

static int tracefs_store_on(const struct tracefs_node *node, char *line)
{
	u64 v;
	int err = parse_u64(line, 10, &v);

	if (!err && v && tracefs_array(node)->past)
		err = -EPERM; /* there is nothing that could be recorded into it */
	if (!err && trace_array_set_on(tracefs_array(node), v != 0))
		trace_tracer_switch(tracefs_array(node), v != 0);
	return err;
}

static int tracefs_show_clock(struct seq *s, const struct tracefs_node *node)
{
	trace_clock_show(s, tracefs_array(node));
	return 0;
}

static int tracefs_store_clock(const struct tracefs_node *node, char *line)
{
	return trace_array_set_clock(tracefs_array(node), strstrip(line));
}

static int tracefs_show_timestamp_mode(
    struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_puts(s, "[delta] absolute\n");
	return 0;
}

static int tracefs_show_percent(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%u\n", tracefs_array(node)->buffer_percent);
	return 0;
}

static int tracefs_store_percent(const struct tracefs_node *node, char *line)
{
	u64 percent;
	int err = parse_u64(line, 10, &percent);

	if (!err && percent > 100)
		err = -EINVAL;
	if (!err)
		WRITE_ONCE(tracefs_array(node)->buffer_percent, percent);
	return err;
}

static int tracefs_show_user_data(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%u\n", tracefs_array(node)->user_data);
	return 0;
}

static int tracefs_store_user_data(const struct tracefs_node *node, char *line)
{
	u64 bytes;
	int err = parse_u64(line, 10, &bytes);

	if (!err)
		trace_array_set_user_data(tracefs_array(node), bytes);
	return err;
}

/* ---- which CPUs record ---- */

static u64 tracefs_all_cpus(void)
{
	return host_cpu_count() >= 64 ? ~0UL : (1UL << host_cpu_count()) - 1;
}

/* Hex with as many digits as there are CPUs, a comma each 32 bits. */
static int tracefs_show_cpumask(struct seq *s, const struct tracefs_node *node)
{
	u64 mask = tracefs_array(node)->cpumask & tracefs_all_cpus();
	unsigned digits = (host_cpu_count() + 3) / 4;

	if (digits > 8) {
		seq_hex(s, mask >> 32, digits - 8);
		seq_putc(s, ',');
		seq_hex(s, mask & 0xffffffff, 8);
	} else {
		seq_hex(s, mask, digits);
	}
	seq_putc(s, '\n');
	return 0;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (!is_alnum(c))
		return -1;
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parts_words(char c)
{
	return c == ',' || is_space(c);
}

/* The last word before *end, hex digits of 32 bits; *end is then where it begins. */
static int take_hex_word(const char *line, const char **end, u64 *v)
{
	*v = 0;
	for (unsigned shift = 0; *end > line && !parts_words((*end)[-1]); shift += 4) {
		int digit = hex_digit(*--*end);
		if (digit < 0)
			return -EINVAL;
		if (shift == 32)
			return -EOVERFLOW;
		*v |= (u64)digit << shift;
	}
	return 0;
}

/*
 * Words with commas or blanks between them, the lowest last, as Linux reads them: no more of them
 * than there are CPUs for, and none at all is no CPU. CPUs that are not there are not there to be
 * masked.
 */
static int tracefs_store_cpumask(const struct tracefs_node *node, char *line)
{
	const char *end = line + strcspn(line, "\n");
	u32 words = 0, room = (host_cpu_count() + 31) / 32;
	u64 mask = 0, v;

	for (;;) {
		while (end > line && parts_words(end[-1]))
			end--;
		if (end == line)
			break;
		if (words == room)
			return -EOVERFLOW;
		int err = take_hex_word(line, &end, &v);
		if (err)
			return err;
		mask |= v << (32 * words++);
	}
	if (mask & ~tracefs_all_cpus())
		return -EOVERFLOW;
	trace_array_set_cpumask(tracefs_array(node), mask);
	return 0;
}

/* ---- names, formats, errors ---- */

static int tracefs_show_comms(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	trace_comm_show(s);
	return 0;
}

static int tracefs_show_comm_size(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s, "%u\n", trace_comm_size());
	return 0;
}

static int tracefs_store_comm_size(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 n;
	int err = parse_u64(line, 10, &n);

	return err ? err : trace_comm_resize(n);
}

static int tracefs_show_tgids(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	trace_tgid_show(s);
	return 0;
}

static int tracefs_show_formats(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	trace_printk_show_formats(s);
	return 0;
}

static int tracefs_show_errors(struct seq *s, const struct tracefs_node *node)
{
	trace_error_show(s, tracefs_array(node));
	return 0;
}

static ssize tracefs_write_nothing(
    struct tracefs_file *f __maybe_unused, const void *buf __maybe_unused, size_t n)
{
	return n;
}

static const struct tracefs_ops errors_ops = {.write = tracefs_write_nothing};

static int tracefs_clear_errors(const struct tracefs_node *node)
{
	trace_error_clear(tracefs_array(node));
	return 0;
}

static int tracefs_show_ledger(struct seq *s, const struct tracefs_node *node)
{
	return trace_ledger_show(s, tracefs_array(node));
}

static int tracefs_show_readme(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_puts(s, tracefs_readme);
	return 0;
}

/* ---- dynamic events ---- */

static int tracefs_show_dynamic(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	dynevent_show(s, NULL);
	return 0;
}

static int tracefs_clear_dynamic(const struct tracefs_node *node __maybe_unused)
{
	return dynevent_clear(NULL);
}

static int tracefs_dynamic_line(char *line)
{
	return dynevent_command(line);
}

static ssize tracefs_write_dynamic(struct tracefs_file *f __maybe_unused, const void *buf, size_t n)
{
	return dynevent_write(buf, n, tracefs_dynamic_line);
}

static int tracefs_show_synthetic(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	synth_events_show(s);
	return 0;
}

static int tracefs_clear_synthetic(const struct tracefs_node *node __maybe_unused)
{
	return dynevent_clear(&synth_dynevent_kind);
}

static ssize tracefs_write_synthetic(
    struct tracefs_file *f __maybe_unused, const void *buf, size_t n)
{
	return dynevent_write(buf, n, synth_event_command);
}

static int tracefs_show_probes(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	dynevent_show(s, &probe_dynevent_kind);
	return 0;
}

static int tracefs_clear_probes(const struct tracefs_node *node __maybe_unused)
{
	return dynevent_clear(&probe_dynevent_kind);
}

static ssize tracefs_write_probes(struct tracefs_file *f __maybe_unused, const void *buf, size_t n)
{
	return dynevent_write(buf, n, probe_command);
}

static int tracefs_show_profile(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	probe_profile_show(s);
	return 0;
}

static const struct tracefs_ops probe_ops = {.write = tracefs_write_probes};
static const struct tracefs_ops dynamic_ops = {.write = tracefs_write_dynamic};
static const struct tracefs_ops synthetic_ops = {.write = tracefs_write_synthetic};

/* ---- user_events_enable ---- */

static int tracefs_show_user_enable(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	user_events_enable_show(s);
	return 0;
}

static int tracefs_store_user_enable(const struct tracefs_node *node __maybe_unused, char *line)
{
	return user_events_enable_store(line);
}

static int tracefs_clear_user_enable(const struct tracefs_node *node __maybe_unused)
{
	user_events_enable_clear();
	return 0;
}

/* ---- buffer_subbuf_size_kb ---- */

static int tracefs_show_subbuf_size(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%lu\n", ring_buffer_page_size(tracefs_array(node)->buffer) / 1024);
	return 0;
}

/* A size is rounded up to a power of two of pages, as on Linux. */
static int tracefs_store_subbuf_size(const struct tracefs_node *node, char *line)
{
	unsigned order;
	u64 kb;
	int err = parse_u64(line, 10, &kb);

	if (!err && (!kb || kb > (PAGE_SIZE << RB_ORDER_MAX) / 1024))
		err = -EINVAL;
	for (order = 0; !err && (PAGE_SIZE << order) / 1024 < kb;)
		order++;
	if (!err && tracefs_is_top(node))
		err = trace_dump_make_room(PAGE_SIZE << order);
	if (!err)
		err = trace_array_set_subbuf(tracefs_array(node), order);
	return err;
}

/* ---- the top ---- */

bool tracefs_is_top(const struct tracefs_node *dir)
{
	return dir->ctx == trace_global;
}

static bool tracefs_is_past(const struct tracefs_node *dir)
{
	return tracefs_array(dir)->past;
}

static bool tracefs_is_present(const struct tracefs_node *dir)
{
	return !tracefs_is_past(dir);
}

static const struct tracefs_row top_rows[] = {
    {"README", 0440, .show = tracefs_show_readme, .exists = tracefs_is_top},
    {"available_events", 0440, .show = tracefs_show_available, .exists = tracefs_is_top},
    {"available_filter_functions", 0440, .show = tracefs_show_functions, .exists = tracefs_is_top},
    {"available_filter_functions_addrs", 0440, .show = tracefs_show_function_addresses,
	.exists = tracefs_is_top},
    {"available_tracers", 0440, .show = tracefs_show_tracers},
    {"buffer_percent", 0640, .show = tracefs_show_percent, .store = tracefs_store_percent,
	.cut = TRACEFS_NUMBER},
    {"buffer_size_kb", 0640, .show = tracefs_show_size, .store = tracefs_store_size,
	.cut = TRACEFS_NUMBER},
    {"buffer_subbuf_size_kb", 0640, .show = tracefs_show_subbuf_size,
	.store = tracefs_store_subbuf_size, .cut = TRACEFS_NUMBER},
    {"buffer_total_size_kb", 0440, .show = tracefs_show_total_size},
    {"current_tracer", 0640, .show = tracefs_show_tracer, .store = tracefs_store_tracer,
	.cut = 100},
    {"dynamic_events", 0640, .show = tracefs_show_dynamic, .clear = tracefs_clear_dynamic,
	.ops = &dynamic_ops, .exists = tracefs_is_top},
    {"enabled_functions", 0440, .show = tracefs_show_enabled_functions, .exists = tracefs_is_top},
    {"error_log", 0640, .show = tracefs_show_errors, .clear = tracefs_clear_errors,
	.ops = &errors_ops},
    {"events", 0750, .dir = &tracefs_events_dir, .exists = tracefs_is_present},
    {"events", 0750, .dir = &tracefs_prevboot_events_dir, .exists = tracefs_is_past},
    {"free_buffer", 0200, .ops = &tracefs_free_buffer_ops},
    {"function_profile_enabled", 0640, .show = tracefs_show_profile_on,
	.store = tracefs_store_profile_on, .cut = TRACEFS_NUMBER, .exists = tracefs_is_top},
    {"hwlat_detector", 0750, .dir = &tracefs_hwlat_dir, .exists = tracefs_is_top},
    {"instances", 0750, .dir = &tracefs_instances_dir, .exists = tracefs_is_top},
    {"kprobe_events", 0640, .show = tracefs_show_probes, .clear = tracefs_clear_probes,
	.ops = &probe_ops, .exists = tracefs_is_top},
    {"kprobe_profile", 0440, .show = tracefs_show_profile, .exists = tracefs_is_top},
    {"max_graph_depth", 0640, .show = tracefs_show_graph_depth, .store = tracefs_store_graph_depth,
	.cut = TRACEFS_NUMBER, .exists = tracefs_is_top},
    {"options", 0750, .dir = &tracefs_options_dir},
    {"osnoise", 0750, .dir = &tracefs_osnoise_dir, .exists = tracefs_is_top},
    {"per_cpu", 0750, .dir = &tracefs_per_cpu_dir},
    {"printk_formats", 0440, .show = tracefs_show_formats, .exists = tracefs_is_top},
    {"rv", 0750, .dir = &tracefs_rv_dir, .exists = tracefs_is_top},
    {"saved_cmdlines", 0440, .show = tracefs_show_comms, .exists = tracefs_is_top},
    {"saved_cmdlines_size", 0640, .show = tracefs_show_comm_size, .store = tracefs_store_comm_size,
	.cut = TRACEFS_NUMBER, .exists = tracefs_is_top},
    {"saved_tgids", 0440, .show = tracefs_show_tgids, .exists = tracefs_is_top},
    {"set_event", 0640, .show = tracefs_show_set_event, .clear = tracefs_clear_set_event,
	.ops = &tracefs_set_event_ops},
    PID_ROW("set_event_notrace_pid", notrace_pids),
    PID_ROW("set_event_pid", pids),
    {"set_ftrace_filter", 0640, .show = tracefs_show_traced, .ops = &tracefs_filter_ops},
    {"set_ftrace_notrace", 0640, .show = tracefs_show_untraced, .ops = &tracefs_notrace_ops},
    PID_ROW("set_ftrace_notrace_pid", function_notrace_pids),
    PID_ROW("set_ftrace_pid", function_pids),
    {"set_graph_function", 0640, .show = tracefs_show_graph_wanted,
	.ops = &tracefs_graph_wanted_ops, .exists = tracefs_is_top},
    {"set_graph_notrace", 0640, .show = tracefs_show_graph_silent, .ops = &tracefs_graph_silent_ops,
	.exists = tracefs_is_top},
    {"show_event_filters", 0440, .show = tracefs_show_filters, .exists = tracefs_is_present},
    {"show_event_triggers", 0440, .show = tracefs_show_triggers, .exists = tracefs_is_present},
    {"snapshot", 0640, .store = tracefs_store_snapshot, .cut = TRACEFS_NUMBER,
	.ops = &tracefs_snapshot_ops},
    {"snapshot.dat", 0440, .ops = &tracefs_snapshot_dat_ops, .exists = tracefs_is_present},
    {"stack_max_size", 0640, .show = tracefs_show_stack_max, .store = tracefs_store_stack_max,
	.cut = TRACEFS_NUMBER, .exists = tracefs_is_top},
    {"stack_trace", 0440, .show = tracefs_show_stack, .exists = tracefs_is_top},
    {"stack_trace_filter", 0640, .show = tracefs_show_stack_filter,
	.ops = &tracefs_stack_filter_ops, .exists = tracefs_is_top},
    {"synthetic_events", 0640, .show = tracefs_show_synthetic, .clear = tracefs_clear_synthetic,
	.ops = &synthetic_ops, .exists = tracefs_is_top},
    {"syscall_user_buf_size", 0640, .show = tracefs_show_user_data,
	.store = tracefs_store_user_data, .cut = TRACEFS_NUMBER, .exists = tracefs_is_present},
    {"timestamp_mode", 0440, .show = tracefs_show_timestamp_mode},
    {"touched_functions", 0440, .show = tracefs_show_touched_functions, .exists = tracefs_is_top},
    {"trace", 0640, .ops = &tracefs_trace_ops, .clear = tracefs_clear_trace},
    {"trace.dat", 0440, .ops = &tracefs_dat_ops},
    {"trace_clock", 0640, .show = tracefs_show_clock, .store = tracefs_store_clock, .max = 63},
    {"trace_ledger", 0440, .show = tracefs_show_ledger},
    {"trace_marker", 0220, .ops = &tracefs_marker_ops},
    {"trace_marker_raw", 0220, .ops = &tracefs_marker_raw_ops},
    {"trace_options", 0640, .show = tracefs_show_options, .store = tracefs_store_options,
	.max = 63},
    {"trace_pipe", 0440, .ops = &tracefs_pipe_ops},
    {"trace_stat", 0750, .dir = &tracefs_stat_dir, .exists = tracefs_is_top},
    {"tracing_cpumask", 0640, .show = tracefs_show_cpumask, .store = tracefs_store_cpumask},
    {"tracing_max_latency", 0640, .show = tracefs_show_max_latency,
	.store = tracefs_store_max_latency, .cut = TRACEFS_NUMBER},
    {"tracing_on", 0640, .show = tracefs_show_on, .store = tracefs_store_on, .cut = TRACEFS_NUMBER},
    {"tracing_thresh", 0640, .show = tracefs_show_thresh, .store = tracefs_store_thresh,
	.cut = TRACEFS_NUMBER, .exists = tracefs_is_top},
    {"user_events_data", 0640, .ops = &tracefs_user_data_ops, .exists = tracefs_is_top},
    {"user_events_enable", 0640, .show = tracefs_show_user_enable,
	.store = tracefs_store_user_enable, .clear = tracefs_clear_user_enable,
	.exists = tracefs_is_top},
    {"user_events_status", 0640, .show = tracefs_show_user_status, .ops = &tracefs_user_status_ops,
	.exists = tracefs_is_top},
    {.name = NULL},
};
const struct tracefs_dir tracefs_top_dir = {.rows = top_rows};
