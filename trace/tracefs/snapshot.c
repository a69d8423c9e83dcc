/*
 * The file snapshot, of an instance and of its CPUs: its commands, and its text when it is empty.
 * Task context under host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/snapshot.h"
#include "trace/event/tracer.h"
#include "trace/tracefs/tables.h"

/*
 * 0 frees, 1 takes, all else clears. One CPU's can only be cleared, as Linux was configured where
 * it was recorded.
 */
int tracefs_store_snapshot(const struct tracefs_node *node, char *line)
{
	struct trace_array *tr = tracefs_array(node);
	u64 v;

	int err = trace_array_expand(tr);
	if (!err)
		err = parse_u64(line, 10, &v);
	if (!err && (tr->tracer->shows_longest || tr->snapshot_conds))
		err = -EBUSY;
	if (err)
		return err;
	if (v > 1) {
		trace_snapshot_clear(tr, node->arg);
		return 0;
	}
	if (node->arg != TRACEFS_ALL_CPUS)
		return -EINVAL;
	return v ? trace_snapshot_now(tr) : trace_snapshot_free(tr);
}

void tracefs_snapshot_help(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_array *tr = tracefs_array(node);

	seq_printf(s, "# tracer: %s\n#\n#\n# * Snapshot is %s *\n#\n# Snapshot commands:\n",
	    tr->tracer->name, tr->snapshot ? "allocated" : "freed");
	if (node->arg == TRACEFS_ALL_CPUS)
		seq_puts(s,
		    "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
		    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
		    "#                      Takes a snapshot of the main buffer.\n"
		    "# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or "
		    "free)\n");
	else
		seq_puts(s, "# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"
			    "# echo 1 > snapshot : Not supported with this kernel.\n"
			    "#                     Must use main snapshot file to allocate.\n"
			    "# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does not "
			    "allocate)\n");
	seq_puts(s, "#                      (Doesn't have to be '2' works with any number that\n"
		    "#                       is not a '0' or '1')\n");
}
