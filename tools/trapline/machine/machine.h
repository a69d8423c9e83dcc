/*
 * A machine of QEMU's with a kernel of ours: what it is made of, its life, how it ended. Its memory
 * is a file of ours, in which the rings are, also when it is gone.
 */
#pragma once

#include "tools/trapline/machine/feed.h"
#include "tools/trapline/machine/script.h"

/*
 * Exit statuses where a program's own is passed on: beside those, as timeout(1) and env(1) have
 * them.
 */
enum {
	EXIT_DIED = 123, /* the machine ended before the program: a panic, a reset, switched off */
	EXIT_TIMEOUT = 124, /* --timeout */
	EXIT_OWN = 125,	    /* ours: usage, no QEMU, no room, a trace that is damaged */
	EXIT_SIGNAL =
	    128 /* and the number of the signal that ended us, or that ended the program */
};

/* QEMU's ends of what `goto` asks it by (seek.h): a plugin's plan and channel, and a debugger's. */
struct machine_spy {
	char *plugin;
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
	 * Deterministic, each instruction 1 ns; `sealed`: and nothing can go in while it runs.
	 * real_time: it must not be, one way or the other.
	 */
	bool icount, sealed, real_time;
	bool verbose, quiet;
	bool console; /* the terminal is the guest's console, and nothing else is there */
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
/* An option of the command line, but for --help: -1: taken; else an exit status. */
int machine_option(struct machine_options *o, const char *command, int option, const char *arg);
/*
 * Deterministic, unless an option says otherwise. `from_outside`: a person at its console, or one
 * who ends it, decides what it does; then real time is better.
 */
void machine_settle(struct machine_options *o, bool from_outside);
/* Where the kernel is, if no option said so. False, said. */
bool machine_find_kernel(struct machine_options *o);
/* "256", "256M", "1G", "65536K" as bytes. */
bool parse_memory(const char *text, uint64_t *bytes);

/* File descriptors that QEMU gets; -1: not there. */
struct machine_files {
	int memory, archive, out, err, control, monitor;
};
/* QEMU's command line. Each of it to be freed. */
char **machine_command(const struct machine_options *o, const struct machine_files *files);

/* QEMU's process, and our ends; -1: not there. */
struct qemu {
	int pid, console, input, out, err, control, monitor;
};
/*
 * False, said; what is open then is still to be closed, and `pid`, if there is one, to be waited
 * for.
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
	END_NO_QEMU  /* it could not be started: said */
};

/* A file of the guest's, as it comes. */
struct fetched {
	bool told, lacking;
	uint64_t size;
	struct bytes data;
};

struct machine {
	const struct machine_options *options;
	int memory, archive;  /* their files; -1 */
	char memory_path[64]; /* where its memory can be read */
	enum machine_end end;
	int signal;		 /* END_SIGNAL */
	bool panicked;		 /* it said so */
	bool ready;		 /* what TOLD_... says */
	char qemu_version[128];	 /* "7.2.22 (a package)"; "": not told */
	const char *wanted_qemu; /* another version: the machine ends at once; NULL: any */
	int monitor;		 /* takes orders while the machine runs (machine_order()) */
	int ear;		 /* with options->spy: when there is something to read, ... */
	void (*heard)(struct machine *m); /* ... this is called; and when it has stopped, this */
	void (*stopped)(struct machine *m);
	bool enough;		  /* it is ended when such a call has set it */
	int status;		  /* of the program; -1: not told */
	unsigned seed;		  /* of the schedule in which it ran last; 0: not told */
	int failed_step;	  /* -1: none */
	struct bytes why;	  /* what it told behind that */
	bool has_log;		  /* a line of the guest's error_log was told, and printed */
	struct fetched *fetched;  /* --get: by number */
	struct fetched *fetching; /* its bytes come now; NULL: none */
	struct feed feed;
	int out, err;	 /* where what the program writes to 1 and 2 goes */
	bool one_output; /* what it writes to 2 comes with that */
	bool output_failed;
	bool may_switch_off; /* that is no failure: commands that end with poweroff, a console */
	/*
	 * While it runs, every `look_ns`, when it is ready, and once when it has ended. NULL:
	 * never.
	 */
	void (*look)(struct machine *m);
	uint64_t look_ns;
	void (*warned)(struct machine *m, int step); /* TOLD_WARN */
	void *context;				     /* for these two */
};

/* Makes memory and archive; takes what is in `archive`. False, said. */
bool machine_make(struct machine *m, const struct machine_options *o, struct bytes *archive);
/* Runs it to its end, with its program's output passed on. */
void machine_play(struct machine *m);
void machine_free(struct machine *m);
/* Orders something from QEMU's monitor, in its words. */
void machine_order(const struct machine *m, const char *order);
/* A line of what its script tells. */
void machine_told(struct machine *m, const char *line);
/* What all this is as an exit status; says what has to be said. */
int machine_status(const struct machine *m);
