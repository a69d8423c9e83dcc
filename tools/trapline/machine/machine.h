/*
 * A machine of QEMU with our kernel: its parts, its run, and how it ended. Its memory, with the
 * rings, is a file of ours that outlives it.
 */
#pragma once

#include "tools/trapline/machine/feed.h"
#include "tools/trapline/machine/script.h"

/* Exit statuses of commands that also pass on a program's: as in timeout(1) and env(1). */
enum {
	EXIT_DIED = 123, /* the machine ended before the program: a panic, a reset, switched off */
	EXIT_TIMEOUT = 124, /* --timeout */
	EXIT_OWN = 125,	    /* ours: usage, no QEMU, no room, a trace that is damaged */
	EXIT_SIGNAL = 128   /* plus the number of the signal that ended us or the program */
};

/* QEMU's ends of what `goto` asks it by (seek.h): a plugin's plan and channel, and a debugger's. */
struct machine_spy {
	int plugin; /* stop_plugin.so (loaded.h) */
	int plan, channel, gdb;
	int err; /* QEMU's own messages */
};

struct machine_options {
	const struct machine_spy *spy; /* NULL: none */
	const char *kernel, *initrd, *append, *cpu, *accel, *keep, *input, *qemu;
	uint64_t memory; /* bytes */
	uint64_t cpus;
	uint64_t timeout; /* ns; 0: none */
	/*
	 * icount: deterministic, each instruction 1 ns; sealed: icount without any input while it
	 * runs; real_time: neither.
	 */
	bool icount, sealed, real_time;
	bool verbose, quiet;
	bool console; /* the terminal is the guest's console, and it has no other ports */
	bool feed;    /* our standard input is passed on to the program while the machine runs */
	const char **copies, **extra, **dirs, **gets; /* --copy, --qemu, --dir, --get */
	size_t copy_count, extra_count, dir_count, get_count;
	char *kernel_found; /* `kernel`, when it is ours to free */
};

enum {
	OPTION_KERNEL = OPTION_FIRST_FREE,
	OPTION_INITRD,
	OPTION_APPEND,
	OPTION_SMP,
	OPTION_MEM,
	OPTION_CPU,
	OPTION_ACCEL,
	OPTION_ICOUNT,
	OPTION_REAL_TIME,
	OPTION_TIMEOUT,
	OPTION_KEEP,
	OPTION_COPY,
	OPTION_DIR,
	OPTION_GET,
	OPTION_INPUT,
	OPTION_VERBOSE,
	OPTION_QEMU,
	OPTION_FREE_BEHIND_MACHINE
};
#define MACHINE_OPTIONS                                                                            \
	{"kernel", required_argument, NULL, OPTION_KERNEL},                                        \
	    {"initrd", required_argument, NULL, OPTION_INITRD},                                    \
	    {"append", required_argument, NULL, OPTION_APPEND},                                    \
	    {"smp", required_argument, NULL, OPTION_SMP},                                          \
	    {"mem", required_argument, NULL, OPTION_MEM},                                          \
	    {"cpu", required_argument, NULL, OPTION_CPU},                                          \
	    {"accel", required_argument, NULL, OPTION_ACCEL},                                      \
	    {"icount", no_argument, NULL, OPTION_ICOUNT},                                          \
	    {"real-time", no_argument, NULL, OPTION_REAL_TIME},                                    \
	    {"timeout", required_argument, NULL, OPTION_TIMEOUT},                                  \
	    {"keep", required_argument, NULL, OPTION_KEEP},                                        \
	    {"copy", required_argument, NULL, OPTION_COPY},                                        \
	    {"dir", required_argument, NULL, OPTION_DIR},                                          \
	    {"get", required_argument, NULL, OPTION_GET},                                          \
	    {"input", required_argument, NULL, OPTION_INPUT},                                      \
	    {"verbose", no_argument, NULL, OPTION_VERBOSE},                                        \
	    {"qemu", required_argument, NULL, OPTION_QEMU}, COMMON_OPTIONS

extern const char machine_usage[];

#define MACHINE_SEED 1 /* of QEMU's random numbers */

void machine_defaults(struct machine_options *o);
void machine_forget(struct machine_options *o);
/* Handles an option of the command line other than --help. -1: handled; else an exit status. */
int machine_option(struct machine_options *o, const char *command, int option, const char *arg);
/*
 * Makes the machine deterministic unless an option prevents it. `from_outside`: a person at its
 * console controls or ends it, so real time is better.
 */
void machine_settle(struct machine_options *o, bool from_outside);
/* Finds the kernel if no option names it. False, after a message. */
bool machine_find_kernel(struct machine_options *o);
/* "256", "256M", "1G", "65536K" as bytes. */
bool parse_memory(const char *text, uint64_t *bytes);

/* File descriptors for QEMU; -1: none. */
struct machine_files {
	int memory, archive, out, err, control, monitor;
};
/* QEMU's command line. Each of it to be freed. */
char **machine_command(const struct machine_options *o, const struct machine_files *files);

/* QEMU's process, and our file descriptors; -1: none. */
struct qemu {
	int pid, console, input, out, err, control, monitor;
};
/*
 * False, after a message: the caller still closes the open descriptors and waits for `pid`, if
 * there is one.
 */
bool qemu_start(struct qemu *q, const struct machine_options *o, int memory, int archive);

enum machine_end {
	END_NOT_YET,
	END_OFF,     /* it switched itself off */
	END_RESET,   /* a panic (panic=-1), a triple fault, reboot */
	END_TIMEOUT, /* ours */
	END_SIGNAL,  /* we got one */
	END_QEMU,    /* QEMU itself ended */
	END_OTHER,   /* it is another QEMU than `wanted_qemu` */
	END_NO_QEMU  /* it could not be started (a message was printed) */
};

/* A file of the guest while it arrives. */
struct fetched {
	bool reported, lacking;
	uint64_t size;
	struct bytes data;
};

struct machine {
	const struct machine_options *options;
	int memory, archive;  /* their files; -1 */
	char memory_path[64]; /* where its memory can be read */
	enum machine_end end;
	int signal;		 /* END_SIGNAL */
	bool panicked;		 /* it reported a panic */
	bool ready;		 /* REPORT_READY came */
	char qemu_version[128];	 /* "7.2.22 (a package)"; "": unknown */
	const char *wanted_qemu; /* another version: the machine ends at once; NULL: any */
	int monitor;		 /* takes orders while the machine runs (machine_order()) */
	int ear;		 /* with options->spy: when there is something to read, ... */
	void (*heard)(struct machine *m); /* ... this is called; and when it has stopped, this */
	void (*stopped)(struct machine *m);
	bool enough;		  /* set by such a call to end the machine */
	int status;		  /* of the program; -1: unknown */
	unsigned seed;		  /* of the schedule in which it ran last; 0: unknown */
	int failed_step;	  /* -1: none */
	struct bytes why;	  /* the text that followed */
	bool has_log;		  /* a line of the guest's error_log was printed */
	struct fetched *fetched;  /* --get: by number */
	struct fetched *fetching; /* its bytes come now; NULL: none */
	struct feed feed;
	int out, err;	 /* where the program's outputs 1 and 2 go */
	bool one_output; /* what it writes to 2 comes with that */
	bool output_failed;
	/* switching off is no failure: commands that end with poweroff, a console */
	bool may_switch_off;
	/* Called every `look_ns` once it is ready, and once after its end. NULL: never. */
	void (*look)(struct machine *m);
	uint64_t look_ns;
	void (*warned)(struct machine *m, int step); /* REPORT_WARN */
	void *context;				     /* for these two */
};

/* Makes memory and archive; takes over the contents of `archive`. False, after a message. */
bool machine_make(struct machine *m, const struct machine_options *o, struct bytes *archive);
/* Runs it to its end, with its program's output passed on. */
void machine_play(struct machine *m);
void machine_free(struct machine *m);
/* Sends a command to QEMU's monitor. */
void machine_order(const struct machine *m, const char *order);
/* Handles a line that its script reports. */
void machine_report(struct machine *m, const char *line);
/* The exit status of all this; prints the messages that belong to it. */
int machine_status(const struct machine *m);
