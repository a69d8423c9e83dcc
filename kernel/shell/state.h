/*
 * One shell: what the evaluator, expansion and the commands of kernel/shell share. A shell belongs to one task; a subshell gets
 * a copy (sh_clone). Not for use outside kernel/shell.
 */
#pragma once

#include "kernel/lib/errno.h"
#include "kernel/shell/glob.h"
#include "kernel/shell/parse.h"
#include "kernel/shell/sys.h"
#include "kernel/shell/vars.h"

#define SH_FDS	     10	   /* descriptors a redirection can name */
#define SH_LINE_MAX  65535 /* characters of one input line */
#define SH_STACK_MIN 8192  /* bytes of stack a command needs: nesting ends before that */

struct sh_function {
	struct sh_function *next;
	struct sh_script *script; /* counted */
	const struct sh_node *node;
};

struct sh_job { /* a background task, or one waited for */
	struct sh_job *next;
	int pid, number;
	int status; /* -1: still running */
	int signal;
	bool background;
	char text[40];
};

struct shell {
	struct sh_vars vars;
	struct sh_function *functions;
	struct sh_job *jobs;
	struct sh_history *history; /* of the console's editor; NULL elsewhere; borrowed */
	struct sh_arena tmp;	  /* words of the commands that run now; marks and releases nest */
	struct file *fd[SH_FDS];  /* counted; NULL: closed */
	struct sh_script *script; /* what runs now; borrowed */
	int pid;		  /* $$: of the first shell, in its subshells too */
	int status, last_bg;	  /* $? $! */
	int subst_status;	  /* of the last $(...) of the present command */
	struct launch *launch;	  /* launch.c: of a task made for one command; else NULL */
	struct sh_local *locals;  /* what `local` and `A=x command` put back */
	int loops, break_n, continue_n;
	int functions_depth;
	bool returning, exiting, interrupted, aborted;
	bool interactive; /* prompt, editing, colours */
	bool fancy;	  /* columns and colours, and output as it comes; also in its subshells */
	bool subshell;
	bool tail;	  /* this task does nothing after the command: it may become it */
	bool keep_redirs; /* exec without a command: its redirections stay */
	bool errexit, nounset, noglob, xtrace, noclobber;
	int in_condition; /* errexit does not count here */
};

/* Must the evaluator unwind? */
static inline bool sh_unwinding(const struct shell *sh)
{
	return sh->break_n || sh->continue_n || sh->returning || sh->exiting || sh->interrupted ||
	       sh->aborted;
}

struct shell *sh_new(void);		    /* closed descriptors, no variables; NULL: no memory */
struct shell *sh_clone(struct shell *from); /* for a subshell in another task; NULL: no memory */
void sh_free(struct shell *sh);

/* "sh: TEXT\n" to descriptor 2. */
void sh_error(struct shell *sh, const char *fmt, ...) __printf(2, 3);
/* All of it, as a C library's full write; 0 or negative errno. A closed file is -EBADF. */
int sh_write_all(struct file *f, const char *s, size_t n);

/* ---- expand.c ---- */

/* All take raw words and allocate from sh->tmp. -1: failed and reported; sh->aborted is set. */
int sh_expand_words(struct shell *sh, const struct sh_word *words, struct sh_words *out);
char *sh_expand_string(
    struct shell *sh, const char *text); /* no splitting, no globs; NULL: failed */
char *sh_expand_pattern(
    struct shell *sh, const char *text); /* quoted characters come with a backslash */
char *sh_expand_heredoc(struct shell *sh, const char *text); /* as between double quotes */

/* ---- exec.c ---- */
int sh_run(struct shell *sh, const struct sh_node *n); /* returns and sets $? */
/* Parses and runs a whole text. */
int sh_run_text(struct shell *sh, const char *text);
/* Output of `text` run in a subshell, appended to out. */
int sh_substitute(struct shell *sh, const char *text, size_t n, struct sh_buf *out);
