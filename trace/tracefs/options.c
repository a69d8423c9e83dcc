/* trace_options and the directory options/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/tracefs/tables.h"
#include "trace/tracer/tracer.h"

/* Those of its tracer, after Linux's own. */
int tracefs_show_options(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_array *tr = tracefs_array(node);
	const struct trace_tracer_option *o = tr->tracer->options;

	trace_options_show(s, tr);
	for (; o && o->name; o++)
		seq_printf(s, "%s%s\n", tr->tracer_options & o->bit ? "" : "no", o->name);
	return 0;
}

static const struct trace_tracer_option *tracefs_find_tracer_option(
    const struct trace_tracer *t, const char *name)
{
	const struct trace_tracer_option *o = t->options;

	while (o && o->name && strcmp(o->name, name))
		o++;
	return o && o->name ? o : NULL;
}

int tracefs_store_options(const struct tracefs_node *node, char *line)
{
	struct trace_array *tr = tracefs_array(node);
	char *name = strstrip(line);
	bool on = !str_has_prefix(name, "no");
	const struct trace_tracer_option *o =
	    tracefs_find_tracer_option(tr->tracer, on ? name : name + 2);

	if (!o)
		return trace_options_set(tr, name);
	trace_tracer_set_option(tr, tr->tracer, o->bit, on);
	return 0;
}

/* ---- options/ ---- */

static int tracefs_show_option(struct seq *s, const struct tracefs_node *node)
{
	seq_puts(s, tracefs_array(node)->options & 1UL << node->arg ? "1\n" : "0\n");
	return 0;
}

static int tracefs_store_option(const struct tracefs_node *node, char *line)
{
	u64 on;
	int err = parse_u64(line, 10, &on);

	if (!err && on > 1)
		err = -EINVAL;
	return err ? err : trace_array_set_option(tracefs_array(node), 1UL << node->arg, on);
}

static const struct tracefs_row option_row = {.mode = 0640,
    .show = tracefs_show_option,
    .store = tracefs_store_option,
    .cut = TRACEFS_NUMBER};

/*
 * Of a tracer, whichever the array has; numbers of these follow those of trace_options, in the
 * order of tracers. NULL: there are not so many.
 */
static const struct trace_tracer_option *tracefs_nth_tracer_option(
    long n, const struct trace_tracer **owner)
{
	for (const struct trace_tracer *const *t = trace_tracers; *t; t++)
		for (const struct trace_tracer_option *o = (*t)->options; o && o->name; o++)
			if (!n--) {
				*owner = *t;
				return o;
			}
	return NULL;
}

static int tracefs_show_tracer_option(struct seq *s, const struct tracefs_node *node)
{
	const struct trace_tracer *owner;
	u32 bit = tracefs_nth_tracer_option(node->arg - TRACE_OPTION_COUNT, &owner)->bit;

	seq_puts(s, tracefs_array(node)->tracer_options & bit ? "1\n" : "0\n");
	return 0;
}

static int tracefs_store_tracer_option(const struct tracefs_node *node, char *line)
{
	const struct trace_tracer *owner;
	u32 bit = tracefs_nth_tracer_option(node->arg - TRACE_OPTION_COUNT, &owner)->bit;
	u64 on;
	int err = parse_u64(line, 10, &on);

	if (!err && on > 1)
		err = -EINVAL;
	if (!err)
		trace_tracer_set_option(tracefs_array(node), owner, bit, on);
	return err;
}

static const struct tracefs_row tracer_option_row = {.mode = 0640,
    .show = tracefs_show_tracer_option,
    .store = tracefs_store_tracer_option,
    .cut = TRACEFS_NUMBER};

/* These concern what is recorded into the global array alone. */
#define TOP_OPTIONS (TRACE_OPT_PRINTK | TRACE_OPT_PRINTK_MSGONLY | TRACE_OPT_RECORD_CMD)

static bool has_option(const struct tracefs_node *dir, u32 i)
{
	return tracefs_is_top(dir) || !(TOP_OPTIONS & 1UL << i);
}

static u64 tracefs_option_next(
    const struct tracefs_node *dir, u64 after, struct tracefs_node *out, char *name)
{
	while (after < TRACE_OPTION_COUNT && !has_option(dir, after))
		after++;
	if (after < TRACE_OPTION_COUNT) {
		tracefs_fill(out, dir, &option_row, after);
		tracefs_put_name(name, trace_options[after].name);
		return after + 1;
	}
	const struct trace_tracer *owner;
	const struct trace_tracer_option *o =
	    tracefs_nth_tracer_option(after - TRACE_OPTION_COUNT, &owner);
	if (!o)
		return 0;
	tracefs_fill(out, dir, &tracer_option_row, after);
	tracefs_put_name(name, o->name);
	return after + 1;
}

static bool tracefs_option_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	for (u32 i = 0; i < TRACE_OPTION_COUNT; i++)
		if (!strcmp(trace_options[i].name, name) && has_option(dir, i)) {
			tracefs_fill(out, dir, &option_row, i);
			return true;
		}
	const struct trace_tracer_option *o;
	const struct trace_tracer *owner;
	for (long n = 0; (o = tracefs_nth_tracer_option(n, &owner)); n++)
		if (!strcmp(o->name, name)) {
			tracefs_fill(out, dir, &tracer_option_row, TRACE_OPTION_COUNT + n);
			return true;
		}
	return false;
}

const struct tracefs_dir tracefs_options_dir = {
    .rows = tracefs_no_rows, .next = tracefs_option_next, .find = tracefs_option_find};
