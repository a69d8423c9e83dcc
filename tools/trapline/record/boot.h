/*
 * What `run` and `record` share: an archive with what is to be run, a machine, and the trace out of
 * its memory.
 */
#pragma once

#include "tools/trapline/trace/dat_write.h"
#include "tools/trapline/machine/machine.h"
#include "tools/trapline/lib/output.h"

struct boot {
	struct machine_options options;
	struct program program;
	struct bytes archive;
	size_t archive_own; /* of it, before the user's */
	struct out out;
	const char *out_name, *instance;
	struct machine machine;
	struct live live;
	struct dat_writer writer;
	void (*warned)(struct machine *m, int step); /* m->context is the boot */
	void (*taken)(const struct boot *b);	     /* the trace is whole, and still open; NULL */
	bool takes_input;			     /* what is run has our standard input */
	bool may_make_program;			     /* commands run before it */
	int refusal;	       /* exit status, when there is no such program; 0: EXIT_OWN */
	struct bytes readonly; /* paths of --dir, each with a NUL */
	bool is_open;	       /* live and writer */
	bool got_trace;	       /* it is whole, and there */
	bool follow;	       /* the rings are read while the machine runs */
	char *directory, *script_path;
	const char *earlier_kernel; /* path in the run that `replay` repeats; NULL: none */
};

void boot_begin(struct boot *b);
void boot_end(struct boot *b);
/*
 * The program of the command line and its arguments (none: NULL, or an empty list). A name with a
 * slash that is a file here is put into the archive. False, said: it cannot be run there.
 */
bool boot_program(struct boot *b, char **argv);
/*
 * Files and directories of --copy, --dir and --input; last, whether there is such a program. False,
 * said.
 */
bool boot_copies(struct boot *b);
bool boot_has_program(struct boot *b);
/* Where the program's output goes; whether both of its outputs go to one place is in b->program. */
int boot_outputs(struct boot *b);
/* What each script begins and ends with. False, said: a file of --get could not be written here. */
bool boot_begin_script(struct boot *b, struct bytes *script);
void boot_end_script(struct boot *b, struct bytes *script);
/* Boots and runs `script`, whose output goes to `out`; takes no trace. The exit status. */
int boot_text(struct boot *b, const struct bytes *script, int out);
#define BOOT_LOOK_NS 10000000 /* between two looks at the rings */

/*
 * Boots with the archive and the options of an earlier run, leaves the trace in b->out_name, and
 * drops what the program prints. `qemu`: the version to require. False, after a message: there is
 * no trace.
 */
bool boot_again(struct boot *b, const char *qemu, bool follow);
/*
 * The same, and takes no trace: b->options.spy watches the machine, and `prepare` says who hears of
 * it. True if it ended as it should.
 */
bool boot_watched(
    struct boot *b, const char *qemu, void (*prepare)(struct machine *m), void *context);
/*
 * Opens the trace, boots, runs `script` (none: what the terminal types), takes the trace out and
 * writes it. `follow`: takes it meanwhile, too, every `look_ns`, from when the script says
 * TOLD_READY on. The exit status; b->machine says more.
 */
int boot_run(struct boot *b, const struct bytes *script, bool follow, uint64_t look_ns);
