/*
 * The files of tracers: current_tracer, tracing_thresh and hwlat_detector/. Task context under
 * host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_worker.h"
#include "trace/tracefs/tables.h"
#include "trace/tracer/hwlat.h"
#include "trace/tracer/tracer.h"

#define NS_PER_US 1000UL

int tracefs_show_tracers(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	for (const struct trace_tracer *const *t = trace_tracers; *t; t++)
		seq_printf(s, "%s%s", (*t)->name, t[1] ? " " : "\n");
	return 0;
}

int tracefs_show_tracer(struct seq *s, const struct tracefs_node *node)
{
	seq_printf(s, "%s\n", tracefs_array(node)->tracer->name);
	return 0;
}

int tracefs_store_tracer(const struct tracefs_node *node, char *line)
{
	return trace_tracer_set(tracefs_array(node), strstrip(line), false);
}

/* ---- microseconds outside, nanoseconds inside ---- */

static void show_us(struct seq *s, u64 ns)
{
	seq_printf(s, "%lu\n", (ns + NS_PER_US / 2) / NS_PER_US);
}

static int store_us(u64 *ns, const char *line)
{
	u64 us;
	int err = parse_u64(line, 10, &us);

	if (!err)
		WRITE_ONCE(*ns, us * NS_PER_US);
	return err;
}

int tracefs_show_thresh(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	show_us(s, trace_thresh_ns);
	return 0;
}

int tracefs_store_thresh(const struct tracefs_node *node __maybe_unused, char *line)
{
	int err = store_us(&trace_thresh_ns, line);

	if (!err)
		trace_tracer_thresh_changed();
	return err;
}

int tracefs_show_max_latency(struct seq *s, const struct tracefs_node *node)
{
	show_us(s, READ_ONCE(tracefs_array(node)->max_latency_ns));
	return 0;
}

int tracefs_store_max_latency(const struct tracefs_node *node, char *line)
{
	return store_us(&tracefs_array(node)->max_latency_ns, line);
}

/* ---- hwlat_detector/ ---- */

static int tracefs_hwlat_show_mode(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	for (unsigned i = 0; i < HWLAT_MODES; i++)
		seq_printf(
		    s, i == hwlat_mode() ? "%s[%s]" : "%s%s", i ? " " : "", hwlat_mode_names[i]);
	seq_putc(s, '\n');
	return 0;
}

static int tracefs_hwlat_store_mode(const struct tracefs_node *node __maybe_unused, char *line)
{
	const char *name = strstrip(line);
	for (unsigned i = 0; i < HWLAT_MODES; i++)
		if (!strcmp(name, hwlat_mode_names[i])) {
			hwlat_set_mode(i);
			return 0;
		}
	return -EINVAL;
}

static int tracefs_hwlat_show_width(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s, "%lu\n", hwlat_width());
	return 0;
}

static int tracefs_hwlat_show_window(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s, "%lu\n", hwlat_window());
	return 0;
}

static int tracefs_hwlat_store_width(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 us;
	int err = parse_u64(line, 10, &us);

	return err ? err : hwlat_set_width(us);
}

static int tracefs_hwlat_store_window(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 us;
	int err = parse_u64(line, 10, &us);

	return err ? err : hwlat_set_window(us);
}

static bool tracefs_hwlat_counts_smis(const struct tracefs_node *dir __maybe_unused)
{
	u64 n;

	return host_smi_count(&n);
}

static void tracefs_hwlat_read_smis(void *arg)
{
	host_smi_count((u64 *)arg + host_cpu());
}

/* A line per CPU: all since it was reset, and those in samples. */
static int tracefs_hwlat_show_smis(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	u64 *counts = host_alloc(MAX_CPUS * sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	host_on_each_cpu(tracefs_hwlat_read_smis, counts);
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		seq_printf(s, "cpu%u: %lu in samples: %lu\n", cpu, counts[cpu], hwlat_smis(cpu));
	host_free(counts);
	return 0;
}

static const struct tracefs_row hwlat_rows[] = {
    {"mode", 0640, .show = tracefs_hwlat_show_mode, .store = tracefs_hwlat_store_mode, .max = 63},
    {"smi_count", 0440, .show = tracefs_hwlat_show_smis, .exists = tracefs_hwlat_counts_smis},
    {"width", 0640, .show = tracefs_hwlat_show_width, .store = tracefs_hwlat_store_width,
	.cut = TRACEFS_NUMBER},
    {"window", 0640, .show = tracefs_hwlat_show_window, .store = tracefs_hwlat_store_window,
	.cut = TRACEFS_NUMBER},
    {.name = NULL},
};
const struct tracefs_dir tracefs_hwlat_dir = {.rows = hwlat_rows};
