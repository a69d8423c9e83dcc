/* The files of functions. Handlers run in task context under host_lock. */
#include "trace/host_function.h"
#include "trace/tracefs/tables.h"

static int tracefs_list_functions(struct seq *s, bool addresses)
{
	const char *name;
	u64 addr;

	for (unsigned i = 0; i < host_function_count() && !s->overflow; i++) {
		if (!(name = host_function(i, &addr)))
			continue;
		if (addresses)
			seq_printf(s, "%lx ", addr);
		seq_printf(s, "%s\n", name);
	}
	return 0;
}

int tracefs_show_functions(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	return tracefs_list_functions(s, false);
}

int tracefs_show_function_addresses(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	return tracefs_list_functions(s, true);
}
