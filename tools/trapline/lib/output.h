/* What a command leaves behind, and how far it is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Progress of long work, on stderr if that is a terminal, or as lines after --progress: "WHAT: 42
 * %", or without a total (0) how much was done. Over when done reaches total.
 */
void progress(const char *what, uint64_t done, uint64_t total);
void progress_as_lines(void);

/*
 * Files and directories that are not finished: should this process be ended by a signal or by
 * die(), they go. One set; what was added last goes first.
 */
void unfinished_add(const char *path);
void unfinished_keep(void);   /* all of them are finished */
void unfinished_remove(void); /* none of them will be */
/*
 * From here on signals that end the process remove what is unfinished, and a file that grows too
 * large is an error like others.
 */
void unfinished_watch(void);

/*
 * A file that is there whole or not at all: written under another name in the same directory, and
 * given its own when finished. "-" is the standard output. What is there and no regular file (a
 * device, a pipe) is written to as it is. One at a time.
 */
struct out {
	FILE *file;
	char *name, *temporary;
};
bool out_open(struct out *out, const char *name);
bool out_finish(struct out *out); /* false, said: it could not be written; then it is gone */
void out_drop(struct out *out);
