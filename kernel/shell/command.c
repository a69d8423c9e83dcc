/* Finding a command and running it in the present task. Task context. */
#include "kernel/shell/command.h"
#include "kernel/lib/string.h"

const struct sh_command *sh_command_find(const char *name)
{
	size_t low = 0, high = sh_command_count;

	while (low < high) { /* the table is sorted by name */
		size_t mid = (low + high) / 2;
		int d = strcmp(sh_commands[mid].name, name);

		if (!d)
			return &sh_commands[mid];
		if (d < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* As ash and busybox do: small builtins speak as the shell, its own special ones add their name. */
static const char *message_name(const struct sh_command *c, char buf[24])
{
	if (!(c->flags & SH_BUILTIN))
		return c->name;
	if (!(c->flags & SH_NAMED))
		return "sh";
	snprintf(buf, 24, "sh: %s", c->name);
	return buf;
}

static int wrong_count(struct sh_io *io, const struct sh_command *c)
{
	sh_fail(io, "usage: %s%s%s", c->name, *c->usage ? " " : "", c->usage);
	return c->flags & SH_BUILTIN ? 2 : 1;
}

int sh_command_run(struct shell *sh, const struct sh_command *c, int argc, char **argv)
{
	char name[24];
	struct sh_io io = {
	    .sh = sh,
	    .in = sh->fd[0],
	    .out = sh->fd[1],
	    .err = sh->fd[2],
	    .name = message_name(c, name),
	};
	int status;

	if (argc - 1 < c->min_args || (c->max_args >= 0 && argc - 1 > c->max_args))
		return wrong_count(&io, c);
	status = c->fn(&io, argc, argv);
	if (sh_flush(&io)) {
		if (!(c->flags & SH_QUIET) && io.error != -EPIPE && io.error != -EINTR)
			sh_fail(&io, "write error: %s", sh_strerror(io.error));
		status = status ? status : 1;
	}
	sh_buf_free(&io.buf);
	return status;
}
