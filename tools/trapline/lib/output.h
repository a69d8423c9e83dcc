/* Output files of a command, and its progress. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Progress of long work, on stderr if that is a terminal, or as lines after --progress: "WHAT: 42
 * %", or the amount done if `total` is 0. Ends when `done` reaches `total`.
 */
void progress(const char *what, uint64_t done, uint64_t total);
void progress_as_lines(void);

/*
 * Unfinished files and directories: they are removed, last added first, if a signal or die() ends
 * this process.
 */
void unfinished_add(const char *path);
void unfinished_keep(void);   /* all of them are finished */
void unfinished_remove(void); /* none of them will be */
/*
 * From now on signals that end the process remove unfinished files, and a file that grows too large
 * is an ordinary error.
 */
void unfinished_watch(void);

/*
 * A file that appears as a whole or not at all: written under a temporary name in the same
 * directory, and renamed when finished. "-" is the standard output. An existing file that is not
 * regular (a device, a pipe) is written directly. One at a time.
 */
struct out {
	FILE *file;
	char *name, *temporary;
};
bool out_open(struct out *out, const char *name);
/* false, after a message: it could not be written and is removed */
bool out_finish(struct out *out);
void out_drop(struct out *out);
