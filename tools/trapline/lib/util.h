/*
 * What all of trapline uses. One command runs in a process; errors are said as they are found.
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

/*
 * The path of a file that belongs to trapline: beside this program, as the build leaves it, or
 * where `make install` puts it. To be freed; NULL: there is none.
 */
char *find_own(const char *file);
