/* The files of functions. Handlers run in task context under host_lock. */
#include "kernel/lib/errno.h"
#include "trace/event/word.h"
#include "trace/function/function.h"
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

/* ---- set_ftrace_filter, set_ftrace_notrace: node.arg is the list ---- */

int tracefs_show_traced(struct seq *s, const struct tracefs_node *node)
{
	trace_function_list_show(s, tracefs_array(node), TRACE_FUNCTIONS_WANTED);
	return 0;
}

int tracefs_show_untraced(struct seq *s, const struct tracefs_node *node)
{
	trace_function_list_show(s, tracefs_array(node), TRACE_FUNCTIONS_UNWANTED);
	return 0;
}

static int tracefs_open_list(struct tracefs_file *f, enum trace_function_list which)
{
	if (!(f->how & TRACEFS_WRITE))
		return 0;
	f->priv = trace_function_edit_begin(tracefs_array(&f->node), which, f->how & TRACEFS_TRUNC);
	return f->priv ? 0 : -ENOMEM;
}

static int tracefs_open_filter(struct tracefs_file *f)
{
	return tracefs_open_list(f, TRACE_FUNCTIONS_WANTED);
}

static int tracefs_open_notrace(struct tracefs_file *f)
{
	return tracefs_open_list(f, TRACE_FUNCTIONS_UNWANTED);
}

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

const struct tracefs_ops tracefs_filter_ops = {
    .open = tracefs_open_filter, .write = tracefs_write_list, .release = tracefs_close_list};
const struct tracefs_ops tracefs_notrace_ops = {
    .open = tracefs_open_notrace, .write = tracefs_write_list, .release = tracefs_close_list};
