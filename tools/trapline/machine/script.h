/* Scripts for the guest's shell, which the archive contains. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/* Their paths in the guest. */
#define SCRIPT_DIRECTORY "/trapline"
#define SCRIPT_MAIN	 SCRIPT_DIRECTORY "/main"
#define SCRIPT_COMMANDS	 SCRIPT_DIRECTORY "/commands"
#define SCRIPT_INPUT	 SCRIPT_DIRECTORY "/input"
#define SCRIPT_FED                                                                                 \
	SCRIPT_DIRECTORY "/fed" /* SCRIPT_MAIN runs it with our standard input as its own */
#define SCRIPT_PID SCRIPT_DIRECTORY "/pid" /* of the program, which leads its process group */

/*
 * The guest's serial ports: its console, out of which orders come; what a program writes to 1 and
 * 2; reports of the script.
 */
#define SCRIPT_CONSOLE "/dev/ttyS0"
#define SCRIPT_OUT     "/dev/ttyS1"
#define SCRIPT_ERR     "/dev/ttyS2"
#define SCRIPT_CONTROL "/dev/ttyS3"

/*
 * Its reports, a line each: tracing begins; the guest wants more of our standard input
 * (user/bin/feed.c); the program ended, with its status; the seed of its schedule, before it runs;
 * a line of the error_log; file N of --get follows, so many bytes after this line, or does not
 * exist; the name of a missing system call that a program which failed made; step N of the
 * preparation did nothing; step N failed, and the lines after this one are the kernel's error.
 */
#define REPORT_READY   "ready"
#define REPORT_MORE    "more"
#define REPORT_EXIT    "exit "
#define REPORT_SEED    "seed "
#define REPORT_LOG     "log "
#define REPORT_GET     "get "
#define REPORT_LACKS   "lacks "
#define REPORT_NO_CALL "no call "
#define REPORT_WARN    "warn "
#define REPORT_FAIL    "fail "

void script_text(struct bytes *b, const char *text);
/* fmt has %s for plain text, %q for a word quoted for the shell, and %d for numbers. */
void script_put(struct bytes *b, const char *fmt, ...);

/* What there is to run. */
struct program {
	char *const *argv; /* NULL: `commands` */
	const char
	    *path; /* of argv[0] in the guest, when that is a script of the host's; else NULL */
	const char *directory; /* where */
	bool commands;	       /* SCRIPT_COMMANDS is there */
	bool input;	       /* SCRIPT_INPUT is there */
	bool feed;	       /* its input is the script's (SCRIPT_FED) */
	bool deaf;	       /* no orders come */
	bool explored;	       /* its schedule is chosen */
	bool rehearsed;	       /* it runs once before, unchanged and unseen */
	/* It runs with each of these seeds until it fails; 0: once. */
	unsigned seed_first, seed_last;
	bool one_output; /* what it writes to 2 goes where 1 goes */
};

/* Runs "sh -c" of a text, without input; its output goes to the ports as the program's does. */
void script_sh(struct bytes *b, const struct program *p, const char *text);
/*
 * Runs the program: its output goes to the ports, its status to $status. It has its own process
 * group, which gets the signals ordered through the control port. `before`: commands for its shell,
 * which then execs the program; or NULL.
 */
void script_program(struct bytes *b, const struct program *p, const char *before);
void script_begin(struct bytes *b);
void script_tell_ready(struct bytes *b);
/* The script that runs SCRIPT_FED with our standard input. */
void script_feed(struct bytes *b);
/* Waits for an ordered signal, or for ever. */
void script_wait(struct bytes *b);
/* If $status is a failure: reports unknown system calls made since script_program(). */
void script_missing_calls(struct bytes *b);
/* Reports the contents of error_log. */
void script_log(struct bytes *b);
/* Makes the path and everything below it read-only. */
void script_readonly(struct bytes *b, const char *path);
/* Sends file number i of --get. */
void script_get(struct bytes *b, int i, const char *path);
/* Reports the status and switches the machine off. */
void script_end(struct bytes *b);
