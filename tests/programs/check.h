/*
 * Checks of a ring-3 test: a failure is printed with its place; main() returns check_failures != 0.
 */
#pragma once

#include "user/libc/syscall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("# %s:%d: %s (errno %s)\n", __FILE__, __LINE__, #cond,              \
			    errno_name(errno));                                                    \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		long a_ = (long)(a), b_ = (long)(b);                                               \
		if (a_ != b_) {                                                                    \
			printf("# %s:%d: %s == %s (%ld != %ld)\n", __FILE__, __LINE__, #a, #b, a_, \
			    b_);                                                                   \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

/* The call must give -1 and this errno. */
#define CHECK_ERR(call, err)                                                                       \
	do {                                                                                       \
		errno = 0;                                                                         \
		long r_ = (long)(call);                                                            \
		if (r_ != -1 || errno != (err)) {                                                  \
			printf("# %s:%d: %s: %ld, errno %s, not %s\n", __FILE__, __LINE__, #call,  \
			    r_, errno_name(errno), #err);                                          \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)
