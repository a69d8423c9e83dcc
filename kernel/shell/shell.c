/*
 * The console's shell: reads lines, finds where a command is complete, runs it, for ever. In plain mode (shell=plain) it prints
 * nothing of its own. Task context, in the task that the console belongs to.
 */
#include "kernel/shell/shell.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"
#include "kernel/shell/input.h"

#define COMMAND_MAX (256UL << 10) /* bytes of one command over all its lines */

static void setup(struct shell *sh, bool plain)
{
	static const char *const env[][2] = {{"PATH", "/bin"}, {"HOME", "/"}, {"TERM", "vt100"},
	    {"PWD", "/"}, {"IFS", " \t\n"}, {"PS1", "$PWD # "}, {"PS2", "> "}};

	for (size_t i = 0; i < ARRAY_SIZE(env); i++)
		sh_var_set(&sh->vars, env[i][0], env[i][1]);
	for (size_t i = 0; i < 4; i++)
		sh_var_export(&sh->vars, env[i][0], true);
	for (int i = 0; i < 3; i++)
		sh->fd[i] = os_stdio(i) ? file_get(os_stdio(i)) : NULL;
	sh->interactive = sh->fancy = !plain;
	if (!vfs_chdir("/sys/kernel/tracing"))
		sh_var_set(&sh->vars, "PWD", "/sys/kernel/tracing");
}

/* After a command: nothing of it may stop the next one. */
static void settle(struct shell *sh)
{
	if (sh->interrupted || os_interrupted()) {
		os_clear_interrupt();
		sh->status = 130;
		if (sh->interactive)
			sh_write_all(sh->fd[2], "\n", 1); /* behind the terminal's ^C */
	}
	sh->interrupted = sh->aborted = sh->returning = false;
	sh->break_n = sh->continue_n = sh->loops = sh->in_condition = 0;
	sh_local_restore(sh, NULL);
	sh_arena_free(&sh->tmp);
}

static void run(struct shell *sh, const char *text)
{
	os_tty_raw(false);
	sh_run_text(sh, text);
	settle(sh);
	os_tty_raw(true);
}

/* The text so far: runs it if it is complete; true if it is to be kept because more must follow. */
static bool feed(struct shell *sh, struct sh_buf *text)
{
	struct sh_script *script;
	char message[128];
	size_t used;

	if (text->failed || text->len > COMMAND_MAX) {
		sh_error(sh, "command too long");
		sh->status = 2;
		return false;
	}
	switch (sh_parse(sh_buf_str(text), &script, &used, message)) {
	case SH_PARSE_MORE:
		return true;
	case SH_PARSE_ERROR:
		sh_error(sh, "%s", message);
		sh->status = 2;
		return false;
	case SH_PARSE_OK:
		break;
	}
	sh_script_put(script);
	run(sh, text->s);
	return false;
}

static void loop(struct shell *sh, struct sh_input *in)
{
	struct sh_buf text = {0};

	while (!sh->exiting) {
		sh_jobs_poll(sh);
		if (sh->interactive)
			sh_jobs_tell(sh);
		switch (sh_input_line(in, &text, text.len > 0)) {
		case SH_LINE:
			if (!feed(sh, &text))
				sh_buf_free(&text);
			break;
		case SH_LINE_REFUSED:
			sh->status = 2;
			sh_buf_free(&text);
			break;
		case SH_LINE_DROPPED:
			os_clear_interrupt();
			sh->status = 130;
			sh_buf_free(&text);
			break;
		case SH_LINE_END:
			sh_buf_free(&text);
			return;
		}
	}
	sh_buf_free(&text);
}

int shell_main(bool plain)
{
	struct shell *sh = sh_new();
	struct sh_input *in = sh ? sh_input_new(sh, plain) : NULL;
	int status = 1;

	if (in) {
		setup(sh, plain);
		os_set_comm("sh");
		os_tty_foreground();
		os_tty_echo(!plain);
		os_tty_raw(true);
		loop(sh, in);
		status = sh->status;
	}
	if (sh) {
		sh_input_free(in);
		sh_free(sh);
	}
	return status;
}
