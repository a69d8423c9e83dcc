/* Commands that grow. See cmd.h for contexts. */
#include "trace/dynevent/cmd.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

void dynevent_cmd_init(struct dynevent_cmd *cmd, char *buf, unsigned maxlen, int type,
    dynevent_create_fn_t run_command)
{
	memset(cmd, 0, sizeof(*cmd));
	seq_init(&cmd->seq, buf, maxlen ? maxlen - 1 : 0);
	cmd->maxlen = maxlen;
	cmd->type = type;
	cmd->run_command = run_command;
}

void dynevent_arg_init(struct dynevent_arg *arg, dynevent_check_arg_fn_t check, char separator)
{
	*arg = (struct dynevent_arg){.check = check, .separator = separator ? separator : ' '};
}

void dynevent_arg_pair_init(
    struct dynevent_arg_pair *pair, dynevent_check_arg_fn_t check, char operator, char separator)
{
	*pair = (struct dynevent_arg_pair){.check = check,
	    .operator_ = operator? operator: ' ',
	    .separator = separator ? separator : ' ' };
}

static int added(const struct dynevent_cmd *cmd)
{
	return cmd->seq.overflow ? -E2BIG : 0;
}

int dynevent_arg_add(struct dynevent_cmd *cmd, struct dynevent_arg *arg)
{
	int err = arg->check ? arg->check(arg) : 0;

	if (err)
		return err;
	seq_printf(&cmd->seq, " %s%c", arg->str, arg->separator);
	return added(cmd);
}

int dynevent_arg_pair_add(struct dynevent_cmd *cmd, struct dynevent_arg_pair *pair)
{
	int err = pair->check ? pair->check(pair) : 0;

	if (err)
		return err;
	seq_printf(&cmd->seq, " %s%c%s%c", pair->lhs, pair->operator_, pair->rhs, pair->separator);
	return added(cmd);
}

int dynevent_str_add(struct dynevent_cmd *cmd, const char *str)
{
	seq_puts(&cmd->seq, str);
	return added(cmd);
}

const char *dynevent_cmd_text(struct dynevent_cmd *cmd)
{
	if (!cmd->maxlen)
		return "";
	cmd->seq.buf[cmd->seq.len] = '\0';
	return cmd->seq.buf;
}

int dynevent_create(struct dynevent_cmd *cmd)
{
	if (cmd->seq.overflow)
		return -E2BIG;
	return cmd->run_command ? cmd->run_command(cmd) : -EINVAL;
}
