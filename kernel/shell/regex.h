/*
 * Regular expressions of POSIX, basic and extended, with GNU's \w \W \s \S \b \B \< \> \+ \? \| and \n \t; no back references.
 * The match is the leftmost, and of those the longest; time is bounded by pattern times text, whatever they are. Pure but for
 * memory. A compiled expression serves one task at a time.
 */
#pragma once

#include "kernel/lib/types.h"

struct sh_regex;

enum { SH_REGEX_EXTENDED = 1, SH_REGEX_ICASE = 2 };

#define SH_REGEX_GROUPS 10

struct sh_match {
	ssize from[SH_REGEX_GROUPS],
	    to[SH_REGEX_GROUPS]; /* of the whole and of \1..\9; -1: not part of the match */
};

/* NULL: the reason is in *error. */
struct sh_regex *sh_regex_new(const char *pattern, unsigned flags, const char **error);
void sh_regex_free(struct sh_regex *re);
/* The first match at or after `start`. ^ is only the beginning of the text, not `start`. m may be NULL. */
bool sh_regex_match(
    struct sh_regex *re, const char *text, size_t len, size_t start, struct sh_match *m);
