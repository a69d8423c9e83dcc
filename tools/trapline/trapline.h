/*
 * trapline, the program on the host: what its commands share. One command runs in a process; errors
 * are said as they are found.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses. */
enum {
	EXIT_FINE = 0,
	EXIT_DAMAGED =
	    1, /* the input broke off or did not fit together; what came before is there */
	EXIT_USAGE = 2,
	EXIT_TROUBLE = 3, /* no such file, no memory ... */
};

/* What each command's table for getopt_long() has. */
enum { OPTION_HELP = 'h', OPTION_PROGRESS = 256, OPTION_FIRST_FREE };
#define COMMON_OPTIONS                                                                             \
	{"help", no_argument, NULL, OPTION_HELP},                                                  \
	{                                                                                          \
		"progress", no_argument, NULL, OPTION_PROGRESS                                     \
	}
/*
 * What getopt_long() gave and the command does not know as its own. -1: done, go on; else the exit
 * status to end with.
 */
int common_option(const char *command, int option, const char *usage);
/* Says what is wrong with the command line, and where to read more; EXIT_USAGE. */
int bad_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What messages begin with. */
extern const char *program;
/* Whether messages are left out: for fuzzers. */
extern bool say_nothing;
/* "trapline: TEXT" to stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end. */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* As say(), with what errno says of `name`. */
void say_errno(const char *name);
/*
 * A number, or seconds (a fraction too), that is all of the text. False: it is none, or more than
 * may be.
 */
bool parse_number(const char *text, uint64_t most, uint64_t *out);
bool parse_seconds(const char *text, uint64_t *ns);

void *xmalloc(size_t size);		 /* zeroed; never NULL */
void *xrealloc(void *p, size_t size);	 /* never NULL */
char *xstrndup(const char *s, size_t n); /* never NULL */

/*
 * How many of `count` elements have a uint64_t `field` of at most `key`; the array is in the order
 * of that field, and may be NULL if it is empty.
 */
#define COUNT_UP_TO(array, count, field, key)                                                      \
	count_up_to(array, count, sizeof(*(array)), offsetof(__typeof__(*(array)), field), key)
size_t count_up_to(const void *array, size_t count, size_t size, size_t offset, uint64_t key);

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

/* A file in memory, as long as it is needed. */
struct in {
	const uint8_t *data;
	size_t size;
	bool mapped;
};
bool in_open(struct in *in, const char *name); /* "-": the standard input */
void in_close(struct in *in);

/* Bytes that are put one behind the other. */
struct bytes {
	uint8_t *data;
	size_t size, room;
};
void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_zeros(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);

/* The commands: arguments from behind their name on; exit status. */
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_explore(int argc, char **argv);
int cmd_extract(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_goto(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
