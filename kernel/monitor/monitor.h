/*
 * The monitor: a prompt of the kernel's own, for when ring 3 has none. It speaks paths and text and
 * knows no tracer; what it needs besides files is in struct monitor_system, which whoever starts it
 * fills in (kernel/monitor_system.c). It runs as a task, or, after a panic, on the one CPU that is
 * left: then it waits for no lock, takes no memory of the heap and only reads.
 */
#pragma once

#include "kernel/monitor/line.h"
#include "kernel/monitor/words.h"

#define MONITOR_OUT   4096U
#define MONITOR_AHEAD 4096U

struct monitor_system {
	/* The next byte typed, -1: none came. Without `wait` it looks only. */
	int (*key)(bool wait);
	void (*write)(const char *s, size_t n);
	void (*pause)(
	    void); /* a moment for others, between two looks at a file that has nothing now */
	/* Runs fn(arg). NULL, or why it was left half way. */
	const char *(*attempt)(void (*fn)(void *), void *arg);
	int (*run)(char *const argv[]); /* a program of ring 3: its status, or -errno */
	int (*kill)(int pid, int sig);
	size_t (*log)(u64 *at, char *buf, size_t n); /* the kernel's log from *at on; 0: the end */
	int pid;				     /* $$ */
	bool dead;  /* after a panic: files are read only, and no task runs */
	bool plain; /* no prompt, no echo */
};

struct monitor {
	const struct monitor_system *system;
	struct line line;
	struct words words;
	char pending[LINE_SIZE]; /* lines that ended in \, joined */
	int status;		 /* $? */
	bool leave;		 /* `exit` */
	bool interrupted;	 /* Ctrl-C came while a command ran */
	struct file *to;	 /* where the output goes; NULL: the console */
	int write_error;	 /* -errno of the first write that failed */
	const char *reading;	 /* the file that a command is at; NULL: none */
	size_t out_used;
	char out[MONITOR_OUT];
	char data[MONITOR_OUT];	 /* what a command reads into */
	u8 ahead[MONITOR_AHEAD]; /* typed while a command ran: a ring */
	unsigned ahead_head, ahead_tail;
};

/* Prompts and runs what is typed until `exit` or the end of input. */
void monitor_run(struct monitor *m, const struct monitor_system *system);
/* One line, without its newline; m->status is what $? says next. */
void monitor_execute(struct monitor *m, const char *line);

/* ---- For commands ---- */

struct monitor_command {
	const char *name;
	int least, most; /* arguments; most -1: any */
	const char *usage, *help;
	int (*fn)(struct monitor *m, char **argv); /* argv ends with NULL; the exit status */
};
extern const struct monitor_command monitor_commands[];
extern const unsigned monitor_command_count;

/*
 * Output of a command: gathered, so that a file gets it in one write. False: it is no use to go on.
 */
bool monitor_put(struct monitor *m, const char *s, size_t n);
bool monitor_printf(struct monitor *m, const char *fmt, ...) __printf(2, 3);
/* A line about what went wrong, to the console, "NAME: " first; returns 1. */
int monitor_fail(struct monitor *m, const char *fmt, ...) __printf(2, 3);
int monitor_fail_errno(struct monitor *m, const char *path, int error);
/* Opens a file; NULL after a message. */
struct file *monitor_open(struct monitor *m, const char *path, u32 flags);
/* Closes it, unless it is NULL: the command's status, after a message if `n` is negative. */
int monitor_close(struct monitor *m, struct file *f, ssize n);
/*
 * Reads: bytes, 0 at the end or after Ctrl-C, or -errno. A file that has nothing now is looked at
 * again.
 */
ssize monitor_read(struct monitor *m, struct file *f, void *buf, size_t n);
/* Has Ctrl-C been typed? Keeps what else was typed. */
bool monitor_interrupted(struct monitor *m);
/*
 * Completes the word before the cursor as a command or a path; what there is to choose from is
 * printed.
 */
void monitor_complete(struct monitor *m);
