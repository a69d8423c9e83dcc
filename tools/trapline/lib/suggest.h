/* Finds a name similar to one that does not exist. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * `events`: SYSTEM:EVENT lines, as available_events has them. `word`: SYSTEM, SYSTEM:EVENT or
 * EVENT, with * and ?, with ! before it.
 */
bool suggest_has(const char *events, const char *word);
/* The most similar name in the same form, which the caller frees; NULL: none is similar. */
char *suggest(const char *events, const char *word);
/*
 * The edit distance: letters to change, insert, delete or swap with the next one to turn `a` into
 * `b`.
 */
unsigned suggest_distance(const char *a, const char *b);
