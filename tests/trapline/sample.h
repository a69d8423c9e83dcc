/*
 * Small trace.dat files for cases of whole commands, each made of a script, and the text that a
 * command prints of them.
 */
#pragma once

#include "tools/trapline/trapline.h"

/*
 * Writes a file into the directory of the cases. Lines of the script lie apart by semicolons: TIME
 * CPU PID EVENT NUMBER..., in the order of times on each CPU; "lost" is no event: so many events
 * (-1: an unknown number) are missing before the CPU's first one. The file has the formats of the
 * events that the script names. Returns the path, valid until the fourth call from then.
 */
const char *sample_file(const char *name, const char *clock, unsigned cpus, const char *script);
/* Cuts bytes off the file's end. */
void sample_cut(const char *path, unsigned bytes);
/*
 * Runs a command with words apart by blanks, and checks its exit status. Its output stays until the
 * next one.
 */
extern char *sample_printed;
void sample_run(int (*command)(int argc, char **argv), int status, const char *words, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the contents of a file as the output. */
void sample_read(const char *path);
/* The output contains this, from the beginning of a line on; and does not. */
void sample_expect(const char *part);
void sample_expect_not(const char *part);
/* The first line ends so. */
void sample_expect_first(const char *end);
/* For groups of cases: makes the directory, which stays empty after them. */
int sample_begin(void **state);
int sample_over(void **state);
