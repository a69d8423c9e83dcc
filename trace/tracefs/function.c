/* The files of functions. Handlers run in task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "trace/event/word.h"
#include "trace/function/graph.h"
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

int tracefs_show_enabled_functions(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	trace_functions_show_enabled(s, false);
	return 0;
}

int tracefs_show_touched_functions(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	trace_functions_show_enabled(s, true);
	return 0;
}

/* ---- lists of functions ---- */

#define LIST(name, which)                                                                          \
	int tracefs_show_##name(struct seq *s, const struct tracefs_node *node)                    \
	{                                                                                          \
		trace_function_list_show(s, tracefs_array(node), which);                           \
		return 0;                                                                          \
	}                                                                                          \
	static int tracefs_open_##name(struct tracefs_file *f)                                     \
	{                                                                                          \
		return tracefs_open_list(f, which);                                                \
	}

static int tracefs_open_list(struct tracefs_file *f, enum trace_function_list which)
{
	if (!(f->how & TRACEFS_WRITE))
		return 0;
	f->priv = trace_function_edit_begin(tracefs_array(&f->node), which, f->how & TRACEFS_TRUNC);
	return f->priv ? 0 : -ENOMEM;
}

LIST(traced, TRACE_FUNCTIONS_WANTED)
LIST(untraced, TRACE_FUNCTIONS_UNWANTED)
LIST(graph_wanted, TRACE_GRAPH_WANTED)
LIST(graph_silent, TRACE_GRAPH_SILENT)
LIST(stack_filter, TRACE_FUNCTIONS_STACK)

/* One word, as set_event takes it. */
static ssize tracefs_write_list(struct tracefs_file *f, const void *buf, size_t n)
{
	char word[TRACE_WORD_MAX + 1];

	if (n == 0)
		return 0;
	ssize taken = trace_word_take(buf, n, word);
	int err = taken > 0 && *word ? trace_function_edit_word(f->priv, word) : 0;
	return err ? err : taken;
}

/* The file holds its instance. */
static void tracefs_close_list(struct tracefs_file *f)
{
	if (f->priv)
		trace_function_edit_end(f->priv);
}

#define LIST_OPS(name_)                                                                            \
	{                                                                                          \
		.open = tracefs_open_##name_, .write = tracefs_write_list,                         \
		.release = tracefs_close_list                                                      \
	}
const struct tracefs_ops tracefs_filter_ops = LIST_OPS(traced);
const struct tracefs_ops tracefs_notrace_ops = LIST_OPS(untraced);
const struct tracefs_ops tracefs_graph_wanted_ops = LIST_OPS(graph_wanted);
const struct tracefs_ops tracefs_graph_silent_ops = LIST_OPS(graph_silent);
const struct tracefs_ops tracefs_stack_filter_ops = LIST_OPS(stack_filter);

/* ---- max_graph_depth ---- */

int tracefs_show_graph_depth(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s, "%d\n", (s32)trace_graph_depth()); /* as Linux shows it */
	return 0;
}

int tracefs_store_graph_depth(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 depth;
	int err = parse_u64(line, 10, &depth);

	if (!err)
		trace_graph_set_depth(depth);
	return err;
}

/* ---- the profiler ---- */

int tracefs_show_profile_on(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_puts(s, trace_profile_is_on() ? "1\n" : "0\n");
	return 0;
}

int tracefs_store_profile_on(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 v;
	int err = parse_u64(line, 10, &v);

	return err ? err : trace_profile_switch(v != 0);
}

static int tracefs_show_stat(struct seq *s, const struct tracefs_node *node)
{
	return trace_profile_show(s, node->arg);
}

static const struct tracefs_row stat_row = {.mode = 0640, .show = tracefs_show_stat};

static u64 tracefs_stat_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	return tracefs_next_of_cpus(dir, &stat_row, "function", after, out, name);
}

static bool tracefs_stat_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	return tracefs_find_of_cpus(dir, &stat_row, "function", name, out);
}

const struct tracefs_dir tracefs_stat_dir = {
    .rows = tracefs_no_rows, .next = tracefs_stat_next, .find = tracefs_stat_find};

/* ---- the stack tracer ---- */

int tracefs_show_stack(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	return trace_stack_show(s);
}

int tracefs_show_stack_max(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	seq_printf(s, "%lu\n", trace_stack_max());
	return 0;
}

int tracefs_store_stack_max(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 size;
	int err = parse_u64(line, 10, &size);

	if (!err)
		trace_stack_set_max(size);
	return err;
}
