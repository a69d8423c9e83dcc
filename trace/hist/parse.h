/*
 * Parsing a histogram's command: parse.c has the command, expr.c its fields and expressions,
 * action.c its actions. Task context under host_lock.
 */
#pragma once

#include "trace/hist/hist.h"

/* "name=expression" as written, until the fields are made of it. */
struct hist_defs {
	char *assignments[HIST_VARS_MAX];
	char *actions[HIST_ACTIONS_MAX];
	u32 n_assignments, n_actions, n;
	const char *names[HIST_VARS_MAX], *exprs[HIST_VARS_MAX];
};

/*
 * Parses an expression, which it cuts up. flags: HIST_KEY, HIST_VAR or 0; var_name: the variable's
 * that gets its value, or NULL. 0, -ENOMEM, or another error, which it logs.
 */
int hist_parse_expr(
    struct hist *h, char *text, u32 flags, const char *var_name, struct hist_field **out);
/* The same for a field, a constant or a reference to a variable. */
int hist_parse_atom(
    struct hist *h, char *text, u32 flags, const char *var_name, struct hist_field **out);
/* A key "stacktrace", the older name of common_stacktrace: it is shown as it was typed. NULL: no
 * memory. */
struct hist_field *hist_stack_key(struct hist *h);
/* NULL: no memory. */
struct hist_field *hist_field_copy(struct hist *h, const struct hist_field *f);
