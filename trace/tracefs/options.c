/* trace_options and the directory options/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/tracefs/tables.h"

int tracefs_show_options(struct seq *s, const struct tracefs_node *node)
{
	trace_options_show(s, tracefs_array(node));
	return 0;
}

int tracefs_store_options(const struct tracefs_node *node, char *line)
{
	return trace_options_set(tracefs_array(node), line);
}

/* ---- options/ ---- */

static int tracefs_show_option(struct seq *s, const struct tracefs_node *node)
{
	seq_puts(s, tracefs_array(node)->options & 1u << node->arg ? "1\n" : "0\n");
	return 0;
}

static int tracefs_store_option(const struct tracefs_node *node, char *line)
{
	u64 on;
	int err = parse_u64(line, 10, &on);

	if (!err && on > 1)
		err = -EINVAL;
	return err ? err : trace_array_set_option(tracefs_array(node), 1u << node->arg, on);
}

static const struct tracefs_row option_row = {.mode = 0640,
    .show = tracefs_show_option,
    .store = tracefs_store_option,
    .cut = TRACEFS_NUMBER};

/* These concern what is recorded into the global array alone. */
#define TOP_OPTIONS (TRACE_OPT_PRINTK | TRACE_OPT_PRINTK_MSGONLY | TRACE_OPT_RECORD_CMD)

static bool has_option(const struct tracefs_node *dir, u32 i)
{
	return tracefs_is_top(dir) || !(TOP_OPTIONS & 1u << i);
}

static u64 tracefs_option_next(const struct tracefs_node *dir, u64 after, struct tracefs_node *out)
{
	while (after < TRACE_OPTION_COUNT && !has_option(dir, after))
		after++;
	if (after >= TRACE_OPTION_COUNT)
		return 0;
	tracefs_fill(out, dir, &option_row, trace_options[after].name, after);
	return after + 1;
}

static bool tracefs_option_find(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out)
{
	for (u32 i = 0; i < TRACE_OPTION_COUNT; i++)
		if (!strcmp(trace_options[i].name, name) && has_option(dir, i)) {
			tracefs_fill(out, dir, &option_row, name, i);
			return true;
		}
	return false;
}

const struct tracefs_dir tracefs_options_dir = {
    .rows = tracefs_no_rows, .next = tracefs_option_next, .find = tracefs_option_find};
