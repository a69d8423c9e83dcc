/*
 * The monitor's grammar, all of it: words, quotes, $? and $$, > and >>, ; and &&, #. Pure.
 *
 *     'as it is'   "with $? and $$" \c WORD... > FILE WORD... >> FILE A ; B A && B # comment
 *
 * A line that ends in \ goes on with the next. No word stands for files: * is a star.
 */
#pragma once

#include "kernel/lib/types.h"

#define WORDS_MAX  64U
#define WORDS_TEXT 4096U

struct words {
	char *word[WORDS_MAX + 1]; /* NULL after the last */
	int count;
	const char *to; /* the file after > or >>; NULL: none */
	bool append;
	bool only_after_success; /* A && stood before it */
	char text[WORDS_TEXT];
};

/*
 * Cuts the next command off the line at *at, which moves on. False: there is no more, or (*wrong is
 * set) the line is not understood from *at on.
 */
bool words_next(struct words *w, const char **at, int status, int pid, const char **wrong);
/* Does the line go on with the next one? Then its \ is taken away. */
bool words_continue(char *line);
