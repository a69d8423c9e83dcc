/*
 * For ring-3 tests of the tracer's files. Paths are below tracefs; raw system calls, and errors
 * negative.
 */
#pragma once

#include "tests/programs/raw.h"

#include <stdbool.h>

#define TRACING "/sys/kernel/tracing/"

/* Linux's flags of open(). */
enum { L_RDONLY, L_WRONLY, L_RDWR, L_TRUNC = 01000 };

static inline long open_tracing(const char *file, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), TRACING "%s", file);
	return syscall3(SYS_open, (long)path, flags, 0);
}

/* 0 or an error. flags: L_TRUNC for what `>` does, 0 for `>>`. */
static inline long put_text(const char *file, int flags, const char *text)
{
	long fd = open_tracing(file, L_WRONLY | flags), r;

	if (fd < 0)
		return fd;
	r = syscall3(SYS_write, fd, (long)text, strlen(text));
	syscall1(SYS_close, fd);
	return r < 0 ? r : 0;
}

/* The file's text, of less than 64 KiB, after a newline, until the next call. */
static inline const char *text_of(const char *file)
{
	static char text[65536];
	long fd = open_tracing(file, L_RDONLY), n, used = 0;

	text[used++] = '\n';
	while ((n = syscall3(SYS_read, fd, (long)text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	syscall1(SYS_close, fd);
	text[used] = '\0';
	return text;
}

static inline bool has_text(const char *file, const char *text)
{
	return strstr(text_of(file), text);
}

/* Is there a line `line` in the file? */
static inline bool has_line(const char *file, const char *line)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	return has_text(file, wanted);
}

/* Whether a sub-buffer of this CPU has n such bytes, and after them zeros to the end of a word. */
static inline bool has_padded_on(int cpu, unsigned char byte, int n)
{
	static unsigned char page[4096];
	char path[64];
	bool found = false;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	long fd = open_tracing(path, L_RDONLY | 04000 /* O_NONBLOCK */);
	long got = fd < 0 ? fd : syscall3(SYS_read, fd, (long)page, sizeof(page));
	for (long at = 16; at + n < got && !found; at += 4) {
		int same = 0;
		while (same < n && page[at + same] == byte)
			same++;
		found = same == n;
		for (int i = n; i % 4; i++) /* a time may begin with that byte, too */
			found = found && !page[at + i];
	}
	syscall1(SYS_close, fd);
	return found;
}

/* Whether a sub-buffer of any CPU has them. */
static inline bool has_padded(unsigned char byte, int n)
{
	for (int cpu = 0; cpu < 64; cpu++)
		if (has_padded_on(cpu, byte, n))
			return true;
	return false;
}
