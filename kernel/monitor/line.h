/*
 * The line that is being typed at the monitor: bytes of a VT100 terminal edit it. Pure; belongs to
 * one monitor.
 *
 *     printable        inserted              Backspace, Ctrl-W   erase a character, a word
 *     Left, Right      Ctrl-B, Ctrl-F        Ctrl-U, Ctrl-K      kill up to the cursor, from it on
 *     Home, End        Ctrl-A, Ctrl-E Up, Down the lines typed before; Ctrl-P, Ctrl-N
 *     Tab              completion Ctrl-C, Ctrl-D drop the line; end of input on an empty one
 */
#pragma once

#include "kernel/lib/types.h"

#define LINE_SIZE    2048U /* with the NUL */
#define LINE_HISTORY 16U
#define LINE_COLUMNS 79U /* of the terminal; a longer line scrolls sideways */

/* LINE_APPENDED: the byte was put in at the end. */
enum line_event {
	LINE_EDITED,
	LINE_APPENDED,
	LINE_NOTHING,
	LINE_ENTERED,
	LINE_TAB,
	LINE_DROPPED,
	LINE_ENDED
};

struct line {
	char text[LINE_SIZE];
	unsigned length, cursor;
	unsigned escape;		    /* how much of an escape sequence has come */
	char past[LINE_HISTORY][LINE_SIZE]; /* a ring: line n is in past[n % LINE_HISTORY] */
	unsigned lines, shown; /* how many were entered; which is shown, `lines`: a new one */
};

/* Empties the line; history stays. */
void line_begin(struct line *l);
enum line_event line_key(struct line *l, u8 c);
/* Puts a text in at the cursor; false: no room. */
bool line_insert(struct line *l, const char *s, size_t n);
/* Remembers the line, unless it is empty or the same as the last one. */
void line_remember(struct line *l);
/*
 * What shows prompt, line and cursor on a terminal's row; out has 2 * LINE_COLUMNS bytes or more.
 * Returns its length.
 */
size_t line_draw(const struct line *l, const char *prompt, char *out, size_t size);
