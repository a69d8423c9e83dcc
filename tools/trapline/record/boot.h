/*
 * Shared by `run` and `record`: an archive with the program, a machine, and the trace from its
 * memory.
 */
#pragma once

#include "tools/trapline/trace/dat_write.h"
#include "tools/trapline/machine/machine.h"
#include "tools/trapline/lib/output.h"

struct boot {
	struct machine_options options;
	struct program program;
	struct bytes archive;
	size_t archive_own; /* size of our own part, before the user's files */
	struct out out;
	const char *out_name, *instance;
	struct machine machine;
	struct live live;
	struct dat_writer writer;
	void (*warned)(struct machine *m, int step); /* m->context is the boot */
	/* called when the trace is complete and still open; or NULL */
	void (*taken)(const struct boot *b);
	bool takes_input;      /* the program reads our standard input */
	bool may_make_program; /* commands that run before may create the program */
	int refusal;	       /* exit status, when there is no such program; 0: EXIT_OWN */
	struct bytes readonly; /* paths of --dir, each with a NUL */
	bool is_open;	       /* live and writer */
	bool got_trace;	       /* the trace is complete and written */
	bool follow;	       /* the rings are read while the machine runs */
	char *directory, *script_path;
	const char *earlier_kernel; /* path in the run that `replay` repeats; NULL: none */
};

void boot_begin(struct boot *b);
void boot_end(struct boot *b);
/*
 * The program of the command line and its arguments (none: NULL, or an empty list). A name with a
 * slash that is a file on the host goes into the archive. False, after a message: the guest cannot
 * run it.
 */
bool boot_program(struct boot *b, char **argv);
/*
 * Add the files and directories of --copy, --dir and --input; then check that the program exists.
 * False, after a message.
 */
bool boot_copies(struct boot *b);
bool boot_has_program(struct boot *b);
/* Where the program's output goes; b->program says whether both of its outputs go to one place. */
int boot_outputs(struct boot *b);
/*
 * Write the begin and the end of each script. False, after a message: a file of --get could not be
 * written here.
 */
bool boot_begin_script(struct boot *b, struct bytes *script);
void boot_end_script(struct boot *b, struct bytes *script);
/* Boots and runs `script`, whose output goes to `out`; takes no trace. The exit status. */
int boot_text(struct boot *b, const struct bytes *script, int out);
#define BOOT_LOOK_NS 10000000 /* between two reads of the rings */

/*
 * Boots with the archive and the options of an earlier run, leaves the trace in b->out_name, and
 * drops what the program prints. `qemu`: the version to require. False, after a message: there is
 * no trace.
 */
bool boot_again(struct boot *b, const char *qemu, bool follow);
/*
 * The same, but takes no trace: b->options.spy watches the machine, and `prepare` sets the
 * callbacks. True if it ended as expected.
 */
bool boot_watched(
    struct boot *b, const char *qemu, void (*prepare)(struct machine *m), void *context);
/*
 * Opens the trace, boots, runs `script` (NULL: the terminal's input), and writes the trace.
 * `follow`: also reads the rings every `look_ns` from REPORT_READY on. Returns the exit status;
 * b->machine has details.
 */
int boot_run(struct boot *b, const struct bytes *script, bool follow, uint64_t look_ns);
