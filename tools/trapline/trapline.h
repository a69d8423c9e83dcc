/* trapline, the program on the host: what its commands share. One command runs in a process; errors are said as they are found. */
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

/* Whether messages are left out: for fuzzers. */
extern bool say_nothing;
/* "trapline: TEXT" to stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end. */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* As say(), with what errno says of `name`. */
void say_errno(const char *name);
void *xmalloc(size_t size);		 /* zeroed; never NULL */
void *xrealloc(void *p, size_t size);	 /* never NULL */
char *xstrndup(const char *s, size_t n); /* never NULL */

/* Progress of long work, on stderr if that is a terminal: "WHAT: 42 %". Over when done reaches total. */
void progress(const char *what, uint64_t done, uint64_t total);

/*
 * A file that is there whole or not at all: written under another name in the same directory, and given its own when finished.
 * "-" is the standard output.
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
int cmd_extract(int argc, char **argv);
int cmd_live(int argc, char **argv);
