/* Synthetic events defined by kernel code. Task context. */
#include "trace/dynevent/synth_cmd.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

static int synth_run_command(struct dynevent_cmd *cmd)
{
	size_t size = cmd->seq.len + 1;
	char *line = host_alloc(size);

	if (!line)
		return -ENOMEM;
	memcpy(line, dynevent_cmd_text(cmd), size);
	host_lock();
	int err = synth_event_command(line);
	host_unlock();
	host_free(line);
	return err;
}

void synth_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen)
{
	dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_SYNTH, synth_run_command);
}

static int synth_check_arg_pair(void *arg)
{
	const struct dynevent_arg_pair *pair = arg;

	return pair->lhs && pair->rhs ? 0 : -EINVAL;
}

static int synth_check_arg(void *arg)
{
	return ((const struct dynevent_arg *)arg)->str ? 0 : -EINVAL;
}

/* One more field, if it may have one. */
static int count_field(struct dynevent_cmd *cmd)
{
	if (cmd->type != DYNEVENT_TYPE_SYNTH)
		return -EINVAL;
	return ++cmd->n_fields > SYNTH_FIELDS_MAX ? -EINVAL : 0;
}

int synth_event_add_field(struct dynevent_cmd *cmd, const char *type, const char *name)
{
	struct dynevent_arg_pair pair;
	int err = count_field(cmd);

	dynevent_arg_pair_init(&pair, synth_check_arg_pair, 0, ';');
	pair.lhs = type;
	pair.rhs = name;
	return err ? err : dynevent_arg_pair_add(cmd, &pair);
}

int synth_event_add_field_str(struct dynevent_cmd *cmd, const char *type_name)
{
	struct dynevent_arg arg;
	int err = count_field(cmd);

	dynevent_arg_init(&arg, synth_check_arg, ';');
	arg.str = type_name;
	return err ? err : dynevent_arg_add(cmd, &arg);
}

int synth_event_add_fields(
    struct dynevent_cmd *cmd, struct synth_field_desc *fields, unsigned n_fields)
{
	int err = 0;

	for (unsigned i = 0; i < n_fields && !err; i++)
		err = synth_event_add_field(cmd, fields[i].type, fields[i].name);
	return err;
}

/* The name is what is defined, be it no name at all: the parser says so at the end. */
static int synth_start_command(struct dynevent_cmd *cmd, const char *name)
{
	struct dynevent_arg arg;

	if (cmd->type != DYNEVENT_TYPE_SYNTH)
		return -EINVAL;
	dynevent_arg_init(&arg, synth_check_arg, 0);
	arg.str = name;
	return dynevent_arg_add(cmd, &arg);
}

int synth_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, const char *name, struct module *mod __maybe_unused, ...)
{
	int err = synth_start_command(cmd, name);
	const char *type;
	va_list ap;

	va_start(ap, mod);
	while (!err && (type = va_arg(ap, const char *)))
		err = synth_event_add_field(cmd, type, va_arg(ap, const char *));
	va_end(ap);
	return err;
}

int synth_event_gen_cmd_array_start(struct dynevent_cmd *cmd, const char *name,
    struct module *mod __maybe_unused, struct synth_field_desc *fields, unsigned n_fields)
{
	int err = synth_start_command(cmd, name);

	return err ? err : synth_event_add_fields(cmd, fields, n_fields);
}

int synth_event_create(
    const char *name, struct synth_field_desc *fields, unsigned n_fields, struct module *mod)
{
	struct dynevent_cmd cmd;

	if (n_fields > SYNTH_FIELDS_MAX)
		return -EINVAL;
	char *buf = host_alloc(MAX_DYNEVENT_CMD_LEN);
	if (!buf)
		return -ENOMEM;
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	int err = synth_event_gen_cmd_array_start(&cmd, name, mod, fields, n_fields);
	if (!err)
		err = synth_event_gen_cmd_end(&cmd);
	host_free(buf);
	return err;
}

int synth_event_delete(const char *name)
{
	host_lock();
	int err = synth_event_remove(name);
	host_unlock();
	return err;
}
