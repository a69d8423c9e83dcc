/* sh: a shell within the shell, for a text, a file or the input. Runs in a task of its own. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

/* Exported variables, and nothing else, come along. */
static struct shell *new_shell(struct sh_io *io)
{
	struct shell *sh = sh_new();

	for (const struct sh_var *v = io->sh->vars.list; sh && v; v = v->next)
		if (v->exported && v->value && !sh_var_set(&sh->vars, v->name, v->value))
			sh_var_export(&sh->vars, v->name, true);
	for (int i = 0; sh && i < SH_FDS; i++)
		sh->fd[i] = io->sh->fd[i] ? file_get(io->sh->fd[i]) : NULL;
	if (sh)
		sh->subshell = true;
	return sh;
}

/* Reads and runs a complete command at a time, so that commands may read the rest of the same input. */
static int run_input(struct sh_io *io, struct shell *sh, struct file *f)
{
	struct sh_buf text = {0};
	struct sh_script *script;
	char message[128], c;
	size_t used;
	ssize n;

	while (!sh_unwinding(sh) && (n = sh_read(io, f, &c, 1)) == 1) {
		if (c)
			sh_buf_putc(&text, c);
		if (c != '\n' || text.failed)
			continue;
		switch (sh_parse(sh_buf_str(&text), &script, &used, message)) {
		case SH_PARSE_MORE:
			continue;
		case SH_PARSE_OK:
			sh_script_put(script);
			sh_run_text(sh, text.s);
			break;
		case SH_PARSE_ERROR:
			sh_error(sh, "%s", message);
			sh->status = 2;
		}
		text.len = 0;
	}
	if (text.len && !sh_unwinding(sh))
		sh_run_text(sh, sh_buf_str(&text));
	sh_buf_free(&text);
	return sh->status;
}

static int run_script_file(struct sh_io *io, struct shell *sh, const char *name)
{
	struct file *f;
	int e = file_open(name, O_RDONLY, 0, &f), status;

	if (e) {
		sh_fail_open(io, name, e);
		return 127;
	}
	status = run_input(io, sh, f);
	file_put(f);
	return status;
}

/* Options before -c or the file: -e -u -x -f -s, alone or together with c. *command: -c was there. */
static int shell_options(struct sh_io *io, struct shell *sh, int argc, char **argv, bool *command)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		for (const char *p = argv[i] + 1; *p; p++) {
			if (*p == 'c')
				*command = true;
			else if (*p == 'e')
				sh->errexit = true;
			else if (*p == 'u')
				sh->nounset = true;
			else if (*p == 'x')
				sh->xtrace = true;
			else if (*p == 'f')
				sh->noglob = true;
			else if (*p != 's' && *p != 'i')
				return -sh_fail(io, "illegal option -%c", *p);
		}
	}
	return i;
}

int sh_cmd_sh(struct sh_io *io, int argc, char **argv)
{
	struct shell *sh = new_shell(io);
	bool command = false;
	int at, status = 2;

	if (!sh)
		return sh_fail(io, "out of memory");
	at = shell_options(io, sh, argc, argv, &command);
	if (at > 0 && command && at == argc) {
		sh_fail(io, "-c requires an argument");
	} else if (at > 0) {
		int name = command ? at + 1 : at; /* sh -c TEXT NAME ARG... */

		sh->vars.arg0 = kstrdup(name < argc ? argv[name] : "sh");
		if (name + 1 < argc)
			sh_args_set(&sh->vars, argc - name - 1, argv + name + 1);
		if (command) {
			sh->tail = true;
			sh->launch = io->sh->launch;
			status = sh_run_text(sh, argv[at]);
		} else {
			status = at < argc ? run_script_file(io, sh, argv[at])
					   : run_input(io, sh, io->in);
		}
	}
	sh_free(sh);
	return status;
}
