/* trace_options and the directory options/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/tracefs/tfs.h"

int tfs_show_options(struct seq *s, const struct tfs_node *node)
{
	trace_options_show(s, tfs_array(node));
	return 0;
}

int tfs_store_options(const struct tfs_node *node, char *line)
{
	return trace_options_set(tfs_array(node), line);
}

/* ---- options/ ---- */

static int show_option(struct seq *s, const struct tfs_node *node)
{
	seq_puts(s, tfs_array(node)->options & 1u << node->arg ? "1\n" : "0\n");
	return 0;
}

static int store_option(const struct tfs_node *node, char *line)
{
	u64 on;
	int err = parse_u64(line, 10, &on);

	if (!err && on > 1)
		err = -EINVAL;
	return err ? err : trace_array_set_option(tfs_array(node), 1u << node->arg, on);
}

static const struct tfs_row option_row = {
    .mode = 0640, .show = show_option, .store = store_option, .cut = TFS_NUMBER};

/* These concern what is recorded into the global array alone. */
#define TOP_OPTIONS (TRACE_OPT_PRINTK | TRACE_OPT_PRINTK_MSGONLY | TRACE_OPT_RECORD_CMD)

static bool has_option(const struct tfs_node *dir, u32 i)
{
	return tfs_is_top(dir) || !(TOP_OPTIONS & 1u << i);
}

static u64 option_next(const struct tfs_node *dir, u64 after, struct tfs_node *out)
{
	while (after < TRACE_OPTION_COUNT && !has_option(dir, after))
		after++;
	if (after >= TRACE_OPTION_COUNT)
		return 0;
	tfs_fill(out, dir, &option_row, trace_options[after].name, after);
	return after + 1;
}

static bool option_find(const struct tfs_node *dir, const char *name, struct tfs_node *out)
{
	for (u32 i = 0; i < TRACE_OPTION_COUNT; i++)
		if (!strcmp(trace_options[i].name, name) && has_option(dir, i)) {
			tfs_fill(out, dir, &option_row, name, i);
			return true;
		}
	return false;
}

const struct tfs_dir tfs_options_dir = {
    .rows = tfs_no_rows, .next = option_next, .find = option_find};
