/*
 * The error log: a list of the last refused commands, oldest first. Task context under host_lock.
 */
#include "trace/event/error_log.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/host_clock.h"
#include "trace/host_memory.h"

#define COMMAND_PREFIX "  Command: "

struct logged_error {
	struct list_head node;
	u64 time_ns;
	const char *where, *text;
	u32 pos;
	char cmd[]; /* and `where` after its NUL */
};

static void drop(struct trace_array *tr, struct logged_error *e)
{
	list_del(&e->node);
	tr->error_count--;
	host_free(e);
}

void trace_error_log(
    struct trace_array *tr, const char *where, const char *cmd, const char *text, u32 pos)
{
	size_t len = strlen(cmd), where_len = strlen(where);
	struct logged_error *e = host_alloc(sizeof(*e) + len + where_len + 2);

	if (!e)
		return;
	e->time_ns = host_clock_ns(host_clock());
	e->where = memcpy(e->cmd + len + 1, where, where_len + 1);
	e->text = text;
	e->pos = pos;
	memcpy(e->cmd, cmd, len + 1);
	if (tr->error_count == TRACE_ERRORS_KEPT)
		drop(tr, list_first_entry(&tr->errors, struct logged_error, node));
	list_add_tail(&e->node, &tr->errors);
	tr->error_count++;
}

void trace_error_show(struct seq *s, struct trace_array *tr)
{
	struct logged_error *e;

	list_for_each_entry (e, &tr->errors, node) {
		u64 us = e->time_ns / 1000;
		seq_printf(s, "[%5lu.%06lu] %s: error: %s\n" COMMAND_PREFIX "%s\n", us / 1000000,
		    us % 1000000, e->where, e->text, e->cmd);
		seq_printf(s, "%*s^\n", (int)(strlen(COMMAND_PREFIX) + e->pos), "");
	}
}

void trace_error_clear(struct trace_array *tr)
{
	struct logged_error *e, *next;

	list_for_each_entry_safe (e, next, &tr->errors, node)
		drop(tr, e);
}
