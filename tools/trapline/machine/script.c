/* Scripts for the guest's shell. See script.h. */
#include "tools/trapline/machine/script.h"

#include <stdarg.h>
#include <string.h>

#define CALLS	"/proc/trapline/syscalls"
#define EXPLORE "/proc/trapline/explore"

void script_text(struct bytes *b, const char *text)
{
	bytes_put(b, text, strlen(text));
}

static void put_word(struct bytes *b, const char *word)
{
	script_text(b, "'");
	for (; *word; word++) {
		if (*word == '\'')
			script_text(b, "'\\''");
		else
			bytes_put(b, word, 1);
	}
	script_text(b, "'");
}

void script_put(struct bytes *b, const char *fmt, ...)
{
	char number[16];
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			bytes_put(b, fmt, 1);
			continue;
		}
		if (*++fmt == 'q')
			put_word(b, va_arg(ap, const char *));
		else if (*fmt == 'd')
			bytes_put(
			    b, number, snprintf(number, sizeof(number), "%d", va_arg(ap, int)));
		else
			script_text(b, va_arg(ap, const char *));
	}
	va_end(ap);
}

void script_begin(struct bytes *b)
{
	script_text(b, "exec 3> " SCRIPT_CONTROL "\n");
}

void script_feed(struct bytes *b)
{
	script_text(b, "exec 3> " SCRIPT_CONTROL "\nfeed " SCRIPT_CONSOLE " " SCRIPT_PID
		       " | /bin/sh " SCRIPT_FED "\n");
}

static void put_words(struct bytes *b, const struct program *p)
{
	/* A name alone is a program of the guest: the shell would do some of them itself. */
	if (p->path)
		script_put(b, " /bin/sh %q", p->path);
	else
		script_put(b, strchr(p->argv[0], '/') ? " %q" : " /bin/%q", p->argv[0]);
	for (char *const *word = p->argv + 1; *word; word++)
		script_put(b, " %q", *word);
}

static void put_sh(struct bytes *b, const struct program *p, const char *text, const char *input)
{
	/* As a login shell it knows the commands as programs (/etc/profile). */
	script_put(b, "/bin/sh -lc %q <%s 3>&- > " SCRIPT_OUT " 2>%s", text, input,
	    p->one_output ? "&1" : " " SCRIPT_ERR);
}

void script_sh(struct bytes *b, const struct program *p, const char *text)
{
	put_sh(b, p, text, " /dev/null");
}

/* Orders are numbers of signals. One may come before the program has written its pid. */
static const char obey[] = "while read -r signal; do until read -r pid < " SCRIPT_PID
			   "; do :; done; kill -$signal -$pid; done"
			   " < " SCRIPT_CONSOLE " > /dev/null 2>&1 3>&- &\n";

/* From here on the schedule is chosen: of $SEED, once nothing is left of the run before. */
static void put_explore(struct bytes *b, const struct program *p)
{
	if (p->seed_last || p->rehearsed || p->explored)
		script_text(b, "echo $SEED > " EXPLORE " || exit 125; ");
}

/*
 * The program once before, in the schedule that it has anyway: the kernel then has stacks and pages
 * at hand as it has for each later seed of a machine.
 */
static void put_rehearsal(struct bytes *b, const struct program *p, const char *text)
{
	script_text(b, "export SEED=0; set -m; ");
	put_sh(b, p, text, " /dev/null");
	script_text(b, " & set +m; wait $!; SEED=\n");
}

/*
 * The program, as a job; its status. In one line: between two, the shell would report a job that
 * has ended, and forget it.
 */
static void put_job(struct bytes *b, const struct program *p, const char *text)
{
	const char *input = p->feed ? "&0" : p->input ? " " SCRIPT_INPUT : " /dev/null";

	if (p->rehearsed)
		put_rehearsal(b, p, text);
	if (p->seed_last)
		script_put(b,
		    "export SEED=%d; while :; do echo \"" REPORT_SEED "$SEED\" >&3; set -m; ",
		    p->seed_first);
	else
		script_text(b, "set -m\n"); /* a process group of its own */
	put_sh(b, p, text, input);
	script_text(b, " & set +m; wait $!; status=$?");
	if (p->seed_last)
		script_put(b,
		    "; [ $status = 0 ] && [ $SEED -lt %d ] || break; SEED=$((SEED + 1)); done",
		    p->seed_last);
	script_text(b, "\n");
}

void script_program(struct bytes *b, const struct program *p, const char *before)
{
	struct bytes text = {.data = NULL};

	script_text(&text, "echo $$ > " SCRIPT_PID "; ");
	if (p->argv) {
		script_put(&text, "cd %q 2> /dev/null || cd /; ", p->directory);
		if (p->rehearsed)
			script_put(&text,
			    "if [ \"$SEED\" = 0 ]; then exec > /dev/null 2>&1; else "
			    "echo > /sys/kernel/tracing/trace; %s:; fi; ",
			    before ? before : "");
		else
			script_text(&text, before ? before : "");
		put_explore(&text, p);
		script_text(&text, "exec");
		put_words(&text, p);
	} else {
		script_text(&text, "cd /sys/kernel/tracing; ");
		put_explore(&text, p);
		script_text(&text, ". " SCRIPT_COMMANDS);
	}
	bytes_put(&text, "", 1);
	if (!p->feed && !p->deaf) /* feed does it itself */
		script_text(b, obey);
	/* From here on calls are counted: script_missing_calls() tells of them. */
	script_text(b, "echo > " CALLS "\n");
	put_job(b, p, (const char *)text.data);
	bytes_free(&text);
}

void script_wait(struct bytes *b)
{
	script_text(b, "read -r signal < " SCRIPT_CONSOLE "\nstatus=0\n");
}

void script_tell_ready(struct bytes *b)
{
	script_text(b, "echo " REPORT_READY " >&3\n");
}

void script_missing_calls(struct bytes *b)
{
	/* C libraries try rseq in every program, and go on without it. */
	script_text(b, "[ $status = 0 ] || sed -n '/ rseq /d; s/^[0-9]* \\([^ ]*\\) .* not "
		       "here$/" REPORT_NO_CALL "\\1/p' " CALLS " >&3\n");
}

void script_log(struct bytes *b)
{
	script_text(b, "sed 's/^/" REPORT_LOG "/' /sys/kernel/tracing/error_log >&3\n");
}

void script_readonly(struct bytes *b, const char *path)
{
	script_put(b, "printf '%s' %q > /proc/trapline/readonly\n", "%s\\n", path);
}

void script_get(struct bytes *b, int i, const char *path)
{
	script_put(b,
	    "if [ -f %q ] && [ -r %q ]; then echo \"" REPORT_GET
	    "%d \"$(wc -c < %q) >&3; cat %q >&3; "
	    "else echo " REPORT_LACKS "%d >&3; fi\n",
	    path, path, i, path, path, i);
}

void script_end(struct bytes *b)
{
	script_text(b, "echo \"" REPORT_EXIT "$status\" >&3\npoweroff -f\n");
}
