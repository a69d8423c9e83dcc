/*
 * instances/: a directory made here is an instance with files of its own. Task context under
 * host_lock.
 */
#include "kernel/lib/string.h"
#include "trace/tracefs/tables.h"

/*
 * An instance is in its directory what the global array is at the top; what belongs to all of them
 * is only there.
 */
static const struct tracefs_row instance_row = {.mode = 0750, .dir = &tracefs_top_dir};

static u64 tracefs_instance_next(
    const struct tracefs_node *dir __maybe_unused, u64 after, struct tracefs_node *out, char *name)
{
	struct trace_array *tr, *best = NULL;

	list_for_each_entry (tr, &trace_arrays, node)
		if (tr != trace_global && tr->handle.number > after &&
		    (!best || tr->handle.number < best->handle.number))
			best = tr;
	if (!best)
		return 0;
	tracefs_fill_array(out, &instance_row, best);
	tracefs_put_name(name, best->name);
	return best->handle.number;
}

static bool tracefs_instance_find(
    const struct tracefs_node *dir __maybe_unused, const char *name, struct tracefs_node *out)
{
	struct trace_array *tr = *name ? trace_array_find(name) : NULL;

	if (tr)
		tracefs_fill_array(out, &instance_row, tr);
	return tr;
}

static int tracefs_instance_mkdir(const char *name)
{
	struct trace_array *tr;

	return trace_instance_create(name, &tr);
}

static int tracefs_instance_rmdir(const struct tracefs_node *entry)
{
	return trace_array_destroy(tracefs_array(entry));
}

const struct tracefs_dir tracefs_instances_dir = {.rows = tracefs_no_rows,
    .next = tracefs_instance_next,
    .find = tracefs_instance_find,
    .mkdir = tracefs_instance_mkdir,
    .rmdir = tracefs_instance_rmdir};
