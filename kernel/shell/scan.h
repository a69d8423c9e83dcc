/*
 * Where the quoted and bracketed pieces of shell text end. Pure. Each takes a pointer to the opening character and returns
 * the place behind the closing one, or NULL when the text ends before (more input is wanted). Text ends with a NUL.
 */
#pragma once

#include "kernel/lib/types.h"

#define SH_NEST_MAX 12 /* brackets inside brackets; beyond that the text is refused */

const char *sh_skip_squote(const char *p);
const char *sh_skip_backquote(const char *p);
/* At a `$`: behind $name, ${...}, $(...), $((...)); p + 1 when it is a bare dollar. */
const char *sh_skip_dollar(const char *p, int depth);
/* One character or quoted piece outside quotes. */
const char *sh_skip_piece(const char *p, int depth);

static inline bool sh_name_start(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static inline bool sh_name_char(char c)
{
	return sh_name_start(c) || (c >= '0' && c <= '9');
}

size_t sh_name_len(const char *p); /* of the variable name at p; 0: none */
