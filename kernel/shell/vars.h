/* Variables and positional parameters of one shell. Task context; each shell task has its own copy. */
#pragma once

#include "kernel/shell/arena.h"

struct sh_var {
	struct sh_var *next; /* sorted by name */
	char *value;	     /* NULL: unset but exported or read-only */
	bool exported, readonly;
	char name[];
};

struct sh_vars {
	struct sh_var *list;
	char **argv; /* $1 .. $argc; kmalloc'ed with its strings */
	int argc;
	char *arg0;
};

const char *sh_var_get(const struct sh_vars *v, const char *name); /* NULL: not set */
const char *sh_var_getn(const struct sh_vars *v, const char *name, size_t n);
/* -EPERM: read-only; -ENOMEM. */
int sh_var_set(struct sh_vars *v, const char *name, const char *value);
int sh_var_setn(struct sh_vars *v, const char *name, size_t n, const char *value);
int sh_var_export(struct sh_vars *v, const char *name, bool on);
bool sh_var_exported(const struct sh_vars *v, const char *name);
int sh_var_readonly(struct sh_vars *v, const char *name);
int sh_var_unset(struct sh_vars *v, const char *name);
/* Copies of argv[0..argc) become $1..; 0 or -ENOMEM (then nothing changed). */
int sh_args_set(struct sh_vars *v, int argc, char *const *argv);
int sh_vars_copy(struct sh_vars *to, const struct sh_vars *from);
void sh_vars_free(struct sh_vars *v);
/* NAME=value of every exported variable, NULL at the end, one block to be kfree'd. */
char **sh_vars_environ(const struct sh_vars *v);
