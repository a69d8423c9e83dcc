/* Probe events defined by kernel code. Task context. */
#include "trace/probe/kprobe_cmd.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/probe/probe.h"

static int kprobe_event_run_line(const char *text, size_t n)
{
	char *line = host_alloc(n + 1);

	if (!line)
		return -ENOMEM;
	memcpy(line, text, n + 1);
	host_lock();
	int err = probe_command(line);
	host_unlock();
	host_free(line);
	return err;
}

static int kprobe_event_run_command(struct dynevent_cmd *cmd)
{
	return kprobe_event_run_line(dynevent_cmd_text(cmd), cmd->seq.len);
}

void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen)
{
	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_KPROBE, kprobe_event_run_command);
}

static int kprobe_event_check_arg(void *arg)
{
	const struct dynevent_arg *word = arg;

	return word->str && *word->str ? 0 : -EINVAL;
}

static int add_word(struct dynevent_cmd *cmd, const char *text)
{
	struct dynevent_arg arg;

	dynevent_arg_init(&arg, kprobe_event_check_arg, 0);
	arg.str = text;
	return dynevent_arg_add(cmd, &arg);
}

int kprobe_event_add_field(struct dynevent_cmd *cmd, const char *field)
{
	if (cmd->type != DYNEVENT_TYPE_KPROBE || ++cmd->n_fields > PROBE_ARGS_MAX)
		return -EINVAL;
	return add_word(cmd, field);
}

static int add_fields(struct dynevent_cmd *cmd, va_list ap)
{
	const char *field;
	int err = 0;

	while (!err && (field = va_arg(ap, const char *)))
		err = kprobe_event_add_field(cmd, field);
	return err;
}

int kprobe_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, bool is_return, const char *name, const char *loc, ...)
{
	va_list ap;
	int err;

	if (cmd->type != DYNEVENT_TYPE_KPROBE || !name || !*name || !loc)
		return -EINVAL;
	cmd->is_return = is_return;
	err = dynevent_str_add(cmd, is_return ? "r:" PROBE_GROUP "/" : "p:" PROBE_GROUP "/");
	if (!err)
		err = dynevent_str_add(cmd, name);
	if (!err)
		err = add_word(cmd, loc);
	va_start(ap, loc);
	if (!err)
		err = add_fields(cmd, ap);
	va_end(ap);
	return err;
}

int kprobe_event_add_fields_list(struct dynevent_cmd *cmd, ...)
{
	va_list ap;

	if (cmd->type != DYNEVENT_TYPE_KPROBE)
		return -EINVAL;
	va_start(ap, cmd);
	int err = add_fields(cmd, ap);
	va_end(ap);
	return err;
}

int kprobe_event_delete(const char *name)
{
	char line[DYNEVENT_NAME_MAX + 8] = "-:";
	size_t n = strlen(name);

	if (n > DYNEVENT_NAME_MAX)
		return -ENOENT;
	memcpy(line + 2, name, n + 1);
	return kprobe_event_run_line(line, n + 2);
}
