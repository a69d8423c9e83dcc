/* Splits text written to set_event and the pid lists into words. Pure, any context. */
#pragma once

#include "kernel/lib/types.h"

#define TRACE_WORD_MAX 127 /* characters, as on Linux */

/*
 * Takes the next word of a text of n bytes, at least one: the blanks before it, the word and the
 * blank or NUL after it. Returns the bytes consumed, or -EINVAL for a word of more than
 * TRACE_WORD_MAX characters. An empty word means that there were only blanks, or a NUL.
 */
ssize trace_word_take(const char *text, size_t n, char word[TRACE_WORD_MAX + 1]);
