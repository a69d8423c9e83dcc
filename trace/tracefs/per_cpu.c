/* The sizes of buffers and the directory per_cpu/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_cpus.h"
#include "trace/output/stats.h"
#include "trace/tracefs/tables.h"

/* ---- buffer sizes ---- */

static size_t size_kb(const struct trace_array *tr, int cpu)
{
	return ring_buffer_size(tr->buffer, cpu) >> 10;
}

/* One CPU's; all CPUs' if they agree, else X, and what it will be once it is used. */
int tracefs_show_size(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_array *tr = tracefs_array(node);
	bool one = node->arg >= 0;
	size_t size = size_kb(tr, one ? node->arg : 0);

	for (unsigned cpu = 0; !one && cpu < host_cpu_count(); cpu++)
		if (size_kb(tr, cpu) != size) {
			seq_puts(s, "X\n");
			return 0;
		}
	if (one || trace_array_is_expanded(tr))
		seq_printf(s, "%lu\n", size);
	else
		seq_printf(s, "%lu (expanded: %lu)\n", size, tr->wanted_size >> 10);
	return 0;
}

int tracefs_store_size(const struct tracefs_node *node, char *line)
{
	u64 kb;
	int err = parse_u64(line, 10, &kb);

	if (err)
		return err;
	if (!kb)
		return -EINVAL;
	if (kb > SIZE_MAX >> 10)
		return -ENOMEM;
	return trace_array_resize(tracefs_array(node), kb << 10, node->arg);
}

int tracefs_show_total_size(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_array *tr = tracefs_array(node);
	size_t total = 0;

	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		total += size_kb(tr, cpu);
	if (trace_array_is_expanded(tr))
		seq_printf(s, "%lu\n", total);
	else
		seq_printf(
		    s, "%lu (expanded: %lu)\n", total, (tr->wanted_size >> 10) * host_cpu_count());
	return 0;
}

/* ---- per_cpu/ ---- */

static int tracefs_cpu_show_stats(struct seq *s, const struct tracefs_node *node)
{
	trace_show_stats(s, tracefs_array(node), tracefs_array(node)->buffer, node->arg);
	return 0;
}

static const struct tracefs_row cpu_rows[] = {
    {"buffer_size_kb", 0640, .show = tracefs_show_size, .store = tracefs_store_size,
	.cut = TRACEFS_NUMBER},
    {"snapshot", 0640, .store = tracefs_store_snapshot, .cut = TRACEFS_NUMBER,
	.ops = &tracefs_snapshot_ops},
    {"snapshot_raw", 0440, .ops = &tracefs_snapshot_raw_ops},
    {"stats", 0440, .show = tracefs_cpu_show_stats},
    {"trace", 0640, .ops = &tracefs_trace_ops, .clear = tracefs_clear_trace},
    {"trace_pipe", 0440, .ops = &tracefs_pipe_ops},
    {"trace_pipe_raw", 0440, .ops = &tracefs_raw_ops},
    {.name = NULL},
};
static const struct tracefs_dir cpu_dir = {.rows = cpu_rows};
static const struct tracefs_row cpu_row = {.mode = 0750, .dir = &cpu_dir};

u64 tracefs_next_of_cpus(const struct tracefs_node *dir, const struct tracefs_row *row,
    const char *prefix, u64 after, struct tracefs_node *out, char *name)
{
	if (after >= host_cpu_count())
		return 0;
	fmt_snprintf(name, TRACEFS_NAME_MAX + 1, "%s%lu", prefix, after);
	tracefs_fill(out, dir, row, after);
	return after + 1;
}

bool tracefs_find_of_cpus(const struct tracefs_node *dir, const struct tracefs_row *row,
    const char *prefix, const char *name, struct tracefs_node *out)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		char text[16];
		fmt_snprintf(text, sizeof(text), "%s%u", prefix, cpu);
		if (!strcmp(text, name)) {
			tracefs_fill(out, dir, row, cpu);
			return true;
		}
	}
	return false;
}

static u64 tracefs_cpu_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	return tracefs_next_of_cpus(dir, &cpu_row, "cpu", after, out, name);
}

static bool tracefs_cpu_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	return tracefs_find_of_cpus(dir, &cpu_row, "cpu", name, out);
}

const struct tracefs_dir tracefs_per_cpu_dir = {
    .rows = tracefs_no_rows, .next = tracefs_cpu_next, .find = tracefs_cpu_find};
