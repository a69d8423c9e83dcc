/* Texts for the guest's shell: what it is to do, as a script that comes along in the archive. Pure. */
#pragma once

#include "tools/trapline/trapline.h"

/* Where they lie in the guest. */
#define SCRIPT_DIRECTORY "/trapline"
#define SCRIPT_MAIN	 SCRIPT_DIRECTORY "/main"
#define SCRIPT_COMMANDS	 SCRIPT_DIRECTORY "/commands"
#define SCRIPT_INPUT	 SCRIPT_DIRECTORY "/input"

/* The guest's second to fourth serial port: what a program writes to 1 and 2, and what the script tells us. */
#define SCRIPT_OUT     "/dev/ttyS1"
#define SCRIPT_ERR     "/dev/ttyS2"
#define SCRIPT_CONTROL "/dev/ttyS3"

/*
 * What it tells, a line each: that tracing begins; that the program ended, and how; that step N of the preparation did nothing; that it
 * failed, with what the kernel says of it in the lines behind.
 */
#define TOLD_READY "ready"
#define TOLD_EXIT  "exit "
#define TOLD_WARN  "warn "
#define TOLD_FAIL  "fail "

void script_text(struct bytes *b, const char *text);
/* fmt has %s for texts as they are, %q for words that the shell takes as they are, and %d for numbers. */
void script_put(struct bytes *b, const char *fmt, ...);

/* What there is to run. */
struct program {
	char *const *argv; /* NULL: `commands` */
	const char
	    *path; /* of argv[0] in the guest, when that is a script of the host's; else NULL */
	const char *directory; /* where */
	bool commands;	       /* SCRIPT_COMMANDS is there */
	bool input;	       /* SCRIPT_INPUT is there */
};

/* "sh -c" of a text; its output goes to the ports. */
void script_sh(struct bytes *b, const char *text, const char *input);
/* Its output goes to the ports, its status into $?. `before`: commands for its own shell, which it then takes the place of; or NULL. */
void script_program(struct bytes *b, const struct program *p, const char *before);
void script_begin(struct bytes *b);
void script_tell_ready(struct bytes *b);
/* Tells the status and switches off. */
void script_end(struct bytes *b);
