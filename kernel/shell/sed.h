/* sed's program: made by sed_parse.c, run by cmd_sed.c. Memory comes from the shell's arena, but for the expressions. */
#pragma once

#include "kernel/shell/command.h"
#include "kernel/shell/regex.h"

enum sed_address_kind { SED_NONE, SED_LINE, SED_LAST, SED_REGEX, SED_STEP, SED_PLUS };

struct sed_address {
	enum sed_address_kind kind;
	u64 line, step;
	struct sh_regex *re;
};

struct sed_command {
	struct sed_command *next;
	struct sed_address a, b;
	bool negate, in_range;
	u64 range_end; /* of a range that ends at a line: which */
	char name;
	struct sh_regex *re; /* s */
	char *text;	     /* s: replacement; a i c: text; y: from; b t : label */
	char *to;	     /* y */
	bool global, print;  /* s flags */
	u64 nth;
	struct sed_command *target; /* b t: NULL is the end; {: the command behind its } */
};

struct sed {
	struct sh_io *io;
	bool quiet, extended;
	struct sed_command *first, **end;
	/* While running: */
	u64 line;
	bool quit, last_known;
	struct sh_buf space, hold, out, append, next_line;
	bool has_next;
	bool without_newline; /* the line that was read last */
	bool unended;	      /* what was printed last */
};

/* Adds the commands of one script to the program. 0, or 1 after a message. */
int sed_parse(struct sed *s, const char *script);
/* Finds labels and braces; 0, or 1 after a message. */
int sed_link(struct sed *s);
void sed_free(struct sed *s);
