/*
 * Splits trigger lines into parts. The rules are those of Linux's parser, so that it accepts the
 * same lines and refuses others with the same errors:
 *
 *   line    = [!] name [separator rest]      separator: ':', blank or tab
 *   rest    = param [blank filter] | filter     an optional param begins with a digit
 *   param   = [system:event:] count [:...]
 *   filter  = "if" blank expression
 *
 * Pure but for trace_trigger_parse_filter(), which allocates: task context.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/trigger/trigger.h"

static char *skip_blanks(char *p)
{
	while (is_space(*p))
		p++;
	return p;
}

/* NULL for an empty string. */
static char *something(char *p)
{
	return p && *p ? p : NULL;
}

const struct trace_trigger_command *trace_trigger_parse(char *line, bool *remove, char **rest)
{
	const struct trace_trigger_command *command;
	char *at = strstrip(line);
	char *name = strsep(&at, ": \t");

	*remove = *name == '!';
	*rest = something(at ? skip_blanks(at) : NULL);
	for (command = trace_trigger_commands; command->name; command++)
		if (!strcmp(command->name, name + *remove))
			return command;
	return NULL;
}

void trace_trigger_split(char *rest, bool required, char **param, char **filter)
{
	*param = *filter = NULL;
	if (!rest)
		return;
	if (!required && !is_digit(*rest)) {
		*filter = rest;
		return;
	}
	*param = strsep(&rest, " \t");
	*filter = something(rest ? skip_blanks(rest) : NULL);
}

int trace_trigger_parse_count(char *param, u64 *left)
{
	return parse_u64(strsep(&param, ":"), 0, left);
}

int trace_trigger_parse_filter(
    const struct trace_event_call *call, char *text, struct trace_filter **out)
{
	struct trace_filter_error why;

	if (strcmp(strsep(&text, " \t"), "if") || !text)
		return -EINVAL;
	int err = trace_filter_create(call, text, out, &why);
	return err == -EINVAL ? why.code : err;
}
