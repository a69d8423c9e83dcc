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

/* Is there a line `line` in the file, of less than 64 KiB? */
static inline bool has_line(const char *file, const char *line)
{
	static char text[65536];
	long fd = open_tracing(file, L_RDONLY), n, used = 0;
	char wanted[256];

	text[used++] = '\n';
	while ((n = syscall3(SYS_read, fd, (long)text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	syscall1(SYS_close, fd);
	text[used] = '\0';
	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	return strstr(text, wanted);
}
