/*
 * Definitions of dynamic events put together piece by piece, by kernel code. The layer under the
 * synth_event_* and kprobe_event_* functions: a command string grows in the caller's buffer and is
 * run at the end. Task context; a command belongs to one task.
 *
 * All return 0 or a negative errno: -EINVAL for what the check function or the parser refuses,
 * -E2BIG when the buffer is full (the command is spoilt then). Names and order of arguments are
 * Linux's.
 */
#pragma once

#include "kernel/lib/seq.h"

#define MAX_DYNEVENT_CMD_LEN 2048

enum dynevent_type {
	DYNEVENT_TYPE_NONE,
	DYNEVENT_TYPE_SYNTH,
	DYNEVENT_TYPE_KPROBE,
};

struct dynevent_cmd;
struct module; /* there are none here: the kernel is one piece */
#define THIS_MODULE ((struct module *)NULL)

typedef int (*dynevent_create_fn_t)(struct dynevent_cmd *cmd);

struct dynevent_cmd {
	struct seq seq;	   /* the command so far: in the caller's buffer, with room for a NUL */
	unsigned maxlen;   /* of the buffer */
	unsigned n_fields; /* for whoever stands above */
	int type;	   /* which calls go with it */
	bool is_return;	   /* kretprobe */
	dynevent_create_fn_t run_command;
};

/* What it gets is the dynevent_arg or dynevent_arg_pair. */
typedef int (*dynevent_check_arg_fn_t)(void *arg);

struct dynevent_arg {
	const char *str;
	char separator; /* after it */
	dynevent_check_arg_fn_t check;
};

struct dynevent_arg_pair {
	const char *lhs, *rhs;
	char operator_; /* between them */
	char separator; /* after */
	dynevent_check_arg_fn_t check;
};

/* maxlen: of buf, MAX_DYNEVENT_CMD_LEN is enough for most. type: what the functions above check. */
void dynevent_cmd_init(struct dynevent_cmd *cmd, char *buf, unsigned maxlen, int type,
    dynevent_create_fn_t run_command);
/* check NULL: none; separator 0: a blank. */
void dynevent_arg_init(struct dynevent_arg *arg, dynevent_check_arg_fn_t check, char separator);
/* operator 0: a blank. */
void dynevent_arg_pair_init(
    struct dynevent_arg_pair *pair, dynevent_check_arg_fn_t check, char operator, char separator);
int dynevent_arg_add(struct dynevent_cmd *cmd, struct dynevent_arg *arg);
int dynevent_arg_pair_add(struct dynevent_cmd *cmd, struct dynevent_arg_pair *pair);
/* As it is: no blank, no separator, no check. */
int dynevent_str_add(struct dynevent_cmd *cmd, const char *str);
/* Runs it: what run_command says. -EINVAL without one, -E2BIG if it did not fit. */
int dynevent_create(struct dynevent_cmd *cmd);
/* The text so far, NUL-terminated. */
const char *dynevent_cmd_text(struct dynevent_cmd *cmd);
