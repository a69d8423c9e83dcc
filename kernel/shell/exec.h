/* The inside of running commands: exec.c (the tree), launch.c (tasks and programs), redir.c (files), jobs.c (waiting). */
#pragma once

#include "kernel/shell/command.h"

/* ---- redir.c: what to put back afterwards. ---- */
struct sh_saved {
	struct sh_saved *next;
	int fd;
	struct file *file;
};

/* Opens and installs; on failure what was installed stays until sh_redir_undo(). 0, or -1 after a message. */
int sh_redir_apply(struct shell *sh, const struct sh_redir *r, struct sh_saved **saved);
void sh_redir_undo(struct shell *sh, struct sh_saved *saved);
void sh_redir_keep(struct sh_saved *saved);		  /* for `exec`: the old files are let go */
void sh_fd_set(struct shell *sh, int fd, struct file *f); /* takes the reference */

/* ---- launch.c ---- */
/* Runs argv (not a builtin or function) in this task, which ends with it when `ends`: only then may it become a program. */
int sh_run_external(struct shell *sh, int argc, char **argv);
/* A new task that runs n in a copy of sh and ends with its status; descriptors as sh has them. Pid or negative errno. */
int sh_spawn_node(struct shell *sh, const struct sh_node *n, bool background);
/* A new task that runs argv the same way; name is its first name. */
int sh_spawn_argv(struct shell *sh, int argc, char **argv);
/* The same for text ($(...)). */
int sh_spawn_text(struct shell *sh, const char *text, size_t n);
bool sh_find_program(struct shell *sh, const char *name, char path[PATH_MAX]);
/* In a task with nothing else to do: runs the command as this task, by whatever it is. Used by xargs, taskset, ... */
int sh_become(struct shell *sh, int argc, char **argv);

/* ---- jobs.c ---- */
struct sh_job *sh_job_add(struct shell *sh, int pid, const char *text, bool background);
/* Waits for it and forgets it; its status. Other children that end meanwhile are noted. */
int sh_job_wait(struct shell *sh, int pid);
void sh_jobs_poll(struct shell *sh); /* notes who has ended */
/* Says which background jobs have ended, and forgets them: for the prompt. */
void sh_jobs_tell(struct shell *sh);
void sh_jobs_free(struct shell *sh);

/* ---- function.c, exec.c ---- */
/* Values to put back: made by `local` and by assignments before a command. */
struct sh_local {
	struct sh_local *next;
	char *value; /* NULL: it was unset */
	bool exported;
	char name[];
};

/* Remembers what the variable is now. 0 or -ENOMEM. */
int sh_local_save(struct shell *sh, const char *name);
void sh_local_restore(struct shell *sh, struct sh_local *until);
struct sh_function *sh_function_find(struct shell *sh, const char *name);
void sh_functions_free(struct shell *sh);
/* Builtin, function or program, in the order of POSIX, `argv` expanded; waits. */
int sh_run_argv(struct shell *sh, int argc, char **argv, bool functions);
/* exec.c's part of functions: runs the body with these parameters. */
int sh_function_call(struct shell *sh, struct sh_function *f, int argc, char **argv);
int sh_function_define(struct shell *sh, const struct sh_node *n);
int sh_function_unset(struct shell *sh, const char *name);
