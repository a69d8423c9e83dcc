/* instances/: a directory made here is an instance with files of its own. Task context under host_lock. */
#include "kernel/lib/string.h"
#include "trace/tracefs/tfs.h"

/* An instance is in its directory what the global array is at the top; what belongs to all of them is only there. */
static const struct tfs_row instance_row = {.mode = 0750, .dir = &tfs_top_dir};

static u64 instance_next(const struct tfs_node *dir __maybe_unused, u64 after, struct tfs_node *out)
{
	struct trace_array *tr, *best = NULL;

	list_for_each_entry (tr, &trace_arrays, node)
		if (tr != trace_global && tr->life.number > after &&
		    (!best || tr->life.number < best->life.number))
			best = tr;
	if (!best)
		return 0;
	tfs_fill_array(out, &instance_row, best->name, best);
	return best->life.number;
}

static bool instance_find(
    const struct tfs_node *dir __maybe_unused, const char *name, struct tfs_node *out)
{
	struct trace_array *tr = *name ? trace_array_find(name) : NULL;

	if (tr)
		tfs_fill_array(out, &instance_row, tr->name, tr);
	return tr;
}

static int instance_mkdir(const char *name)
{
	struct trace_array *tr;

	return trace_instance_create(name, &tr);
}

static int instance_rmdir(const struct tfs_node *entry)
{
	return trace_array_destroy(tfs_array(entry));
}

const struct tfs_dir tfs_instances_dir = {.rows = tfs_no_rows,
    .next = instance_next,
    .find = instance_find,
    .mkdir = instance_mkdir,
    .rmdir = instance_rmdir};
