/* Runs a script in a shell of its own and catches what it prints. Host and guest; task context. */
#pragma once

#include "kernel/lib/types.h"

#define SHELL_TRY_MAX 8192

struct shell_row {
	const char *script,
	    *want; /* want: its output and errors, and "=N" at the end if the status is not 0 */
};

/* In an empty directory of its own, with PATH=/bin. Output (at most what a pipe holds) and status. */
int shell_try(const char *script, char out[SHELL_TRY_MAX]);
void shell_expect(const struct shell_row *rows, size_t n);
