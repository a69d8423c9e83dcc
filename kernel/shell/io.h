/*
 * What a command of the shell reads and prints with: its three files, buffered output, lines of input. Output that fails is
 * remembered, and said once at the end. Task context; a struct sh_io belongs to one task.
 */
#pragma once

#include "kernel/shell/state.h"

struct sh_io {
	struct shell *sh;	     /* for commands that run commands; never NULL */
	struct file *in, *out, *err; /* borrowed; NULL: closed */
	const char *name;	     /* of the command, for messages */
	struct sh_buf buf;	     /* output not written yet */
	int error;		     /* negative errno of the first output that failed */
	bool quiet_open;	     /* nothing is said of a file that does not open */
	bool cant_open; /* "can't open 'x'" where others say "x" of a file that is not there */
};

void sh_put(struct sh_io *io, const char *s, size_t n);
void sh_puts(struct sh_io *io, const char *s);
void sh_putc(struct sh_io *io, char c);
void sh_printf(struct sh_io *io, const char *fmt, ...) __printf(2, 3);
int sh_flush(struct sh_io *io); /* 0 or io->error */
/* "NAME: TEXT\n" to the error file, after what has been printed; returns 1, the usual status. */
int sh_fail(struct sh_io *io, const char *fmt, ...) __printf(2, 3);
/* The same with ": " and the errno's text behind. */
int sh_fail_errno(struct sh_io *io, int error, const char *fmt, ...) __printf(3, 4);
const char *sh_strerror(int error); /* of a negative errno */
/* "NAME: can't open 'FILE': TEXT". */
int sh_fail_open(struct sh_io *io, const char *file, int error);

struct sh_reader {
	struct file *file; /* borrowed */
	struct sh_io *io;  /* output is flushed before each read */
	char *buf;
	size_t at, len;
	int error; /* negative errno that ended it; 0: end of file */
	bool end;
};

#define SH_READ_SIZE 4096
int sh_reader_init(struct sh_reader *r, struct sh_io *io, struct file *f); /* -ENOMEM */
void sh_reader_free(struct sh_reader *r);
int sh_getc(struct sh_reader *r); /* a byte, -1 at the end or on an error */
/* The next line into `line` (emptied first), with its newline if it has one; false at the end. */
bool sh_getline(struct sh_reader *r, struct sh_buf *line);
/* A command's status after the last line: 1 if an error ended the input, which is said unless it was a signal. */
int sh_read_status(const struct sh_reader *r);
/* One read; bytes, 0 at the end, negative errno. -EINTR when a signal waits. */
ssize sh_read(struct sh_io *io, struct file *f, void *buf, size_t n);

/* Runs fn for each named file ("-" and none at all: the input); names that do not open are said; returns 1 if any failed. */
int sh_each_file(struct sh_io *io, int count, char **names,
    int (*fn)(struct sh_io *io, struct file *f, const char *name, void *ctx), void *ctx);

/* Options of a command: those given, and the values of those that take one. */
struct sh_opts {
	u64 set; /* a bit per letter */
	struct {
		char letter;
		const char *text;
	} value[8];
	int values;
	int at; /* first operand */
};

/* -1 is an option of ls: it has the place of a character between the letters. */
static inline unsigned sh_opt_index(char c)
{
	return c == '1' ? '[' - 'A' : c - 'A';
}

static inline bool sh_opt(const struct sh_opts *o, char c)
{
	return o->set >> sh_opt_index(c) & 1;
}

const char *sh_optval(const struct sh_opts *o, char c); /* the last one given; NULL: none */

/*
 * spec: letters, each followed by ':' if it takes a value ("cvn:"). 0, or 1 after a message. Options may stand behind operands, unless
 * spec begins with '+', or a "--" ends them: argv is put in order.
 */
int sh_options(struct sh_io *io, int argc, char **argv, const char *spec, struct sh_opts *o);
/* A decimal number >= 0; false after a message. */
bool sh_number(struct sh_io *io, const char *s, u64 *out);
