/*
 * Functions that all of trapline uses. A process runs one command, and prints errors as it finds
 * them.
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
	    1, /* the input is truncated or inconsistent; the output has the part before */
	EXIT_USAGE = 2,
	EXIT_TROUBLE = 3, /* no such file, no memory ... */
};

/* Options in each command's table for getopt_long(). */
enum { OPTION_HELP = 'h', OPTION_PROGRESS = 256, OPTION_FIRST_FREE };
#define COMMON_OPTIONS                                                                             \
	{"help", no_argument, NULL, OPTION_HELP},                                                  \
	{                                                                                          \
		"progress", no_argument, NULL, OPTION_PROGRESS                                     \
	}
/*
 * Handles an option of getopt_long() that is not the command's own. -1: done, continue; else the
 * exit status.
 */
int common_option(const char *command, int option, const char *usage);
/* Prints an error of the command line and where to read more; returns EXIT_USAGE. */
int bad_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The prefix of messages. */
extern const char *program;
/* True suppresses messages, for fuzzers. */
extern bool say_nothing;
/* "trapline: TEXT" to stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, then exits. */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* As say(), with `name` and the text of errno. */
void say_errno(const char *name);
/*
 * Parse a whole text as a number, or as seconds with an optional fraction. False: it is invalid or
 * too large.
 */
bool parse_number(const char *text, uint64_t most, uint64_t *out);
bool parse_seconds(const char *text, uint64_t *ns);

void *xmalloc(size_t size);		 /* zeroed; never NULL */
void *xrealloc(void *p, size_t size);	 /* never NULL */
char *xstrndup(const char *s, size_t n); /* never NULL */

/*
 * The number of elements whose uint64_t `field` is at most `key`. The array is sorted by that
 * field; NULL if it is empty.
 */
#define COUNT_UP_TO(array, count, field, key)                                                      \
	count_up_to(array, count, sizeof(*(array)), offsetof(__typeof__(*(array)), field), key)
size_t count_up_to(const void *array, size_t count, size_t size, size_t offset, uint64_t key);

/* A file in memory, as long as it is needed. */
struct in {
	const uint8_t *data;
	size_t size;
	bool mapped;
};
bool in_open(struct in *in, const char *name); /* "-": the standard input */
void in_close(struct in *in);

/* A growing array of bytes. */
struct bytes {
	uint8_t *data;
	size_t size, room;
};
void bytes_put(struct bytes *b, const void *data, size_t n);
void bytes_zeros(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);

/*
 * The path of a file that belongs to trapline: beside this program, as in the build directory, or
 * where `make install` puts it. The caller frees it; NULL: there is none.
 */
char *find_own(const char *file);
