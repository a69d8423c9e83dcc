/* The command table: one row per command; arity is checked once, before the function runs. */
#pragma once

#include "kernel/lib/fmt.h"
#include "kernel/shell/io.h"

enum {
	SH_BUILTIN =
	    1, /* runs in the shell's own task: changes the shell, or is too small for a task */
	SH_SPECIAL = 2, /* a builtin found before functions and programs; its assignments stay */
	SH_QUIET = 4,	/* says nothing when its output fails */
	SH_NAMED = 8,	/* a builtin whose messages carry its name behind the shell's */
};

struct sh_command {
	const char *name;
	int min_args, max_args; /* without the name; max -1: any number */
	unsigned flags;
	const char *usage; /* what follows the name */
	const char *help;  /* one line, then what else there is to say */
	int (*fn)(struct sh_io *io, int argc, char **argv);
};

extern const struct sh_command sh_commands[];
extern const size_t sh_command_count;

const struct sh_command *sh_command_find(const char *name); /* NULL: none */
/* Checks the number of arguments, runs it, flushes and says a write error. */
int sh_command_run(struct shell *sh, const struct sh_command *c, int argc, char **argv);

/* Every row of commands.def is one of these. */
#define COMMAND(name, fn, min, max, flags, usage, help)                                            \
	int sh_cmd_##fn(struct sh_io *io, int argc, char **argv);
#include "kernel/shell/commands.def"
