/*
 * Test cases and their KTAP lines (KTAP version 1: Documentation/dev-tools/ktap.rst of Linux), the
 * same on the host and in the guest. A case is a function; a file of cases exports a table; one
 * printer runs them.
 *
 *     KTAP version 1 / 1..N / ok 3 ring.wraps / # file:line: a == b (3 != 4) / # Totals: pass:N
 *     fail:N skip:N
 */
#pragma once

#include "kernel/lib/types.h"

struct ktap_case {
	const char *name; /* "ring.wraps" */
	void (*fn)(void);
};

struct ktap_suite {
	const struct ktap_case *cases; /* ends with a NULL name */
};

/*
 * Runs the cases that `only` chooses, printing by `out`; returns the failures, 1 if it chooses
 * none. `only` is a list with commas of what names begin with, or "all"; "-sweep." takes cases out
 * again, and the last word that fits a name decides. NULL and "": all cases. begin(), which may be
 * NULL, is called before each case.
 */
int ktap_run(const struct ktap_suite *const *suites, const char *only,
    void (*out)(const char *text, size_t n), void (*begin)(void));

/* For use inside a case. A failure is printed and counted; the case goes on. */
void ktap_fail(const char *file, int line, const char *fmt, ...) __printf(3, 4);
void ktap_skip(const char *why);
/* A "# ..." line. */
void ktap_note(const char *fmt, ...) __printf(1, 2);

#define EXPECT(cond)                                                                               \
	do {                                                                                       \
		if (!(cond))                                                                       \
			ktap_fail(__FILE__, __LINE__, "%s", #cond);                                \
	} while (0)
#define EXPECT_EQ(a, b)                                                                            \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (a_ != b_)                                                                      \
			ktap_fail(__FILE__, __LINE__, "%s == %s (%lld != %lld)", #a, #b, a_, b_);  \
	} while (0)
#define EXPECT_STR(a, b)                                                                           \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (!ktap_streq(a_, b_))                                                           \
			ktap_fail(                                                                 \
			    __FILE__, __LINE__, "%s == %s (\"%s\" != \"%s\")", #a, #b, a_, b_);    \
	} while (0)
bool ktap_streq(const char *a, const char *b);
