/* Names that are like one that is not there. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * `events`: SYSTEM:EVENT lines, as available_events has them. `word`: SYSTEM, SYSTEM:EVENT or
 * EVENT, with * and ?, with ! before it.
 */
bool suggest_has(const char *events, const char *word);
/* The likest in the same form; NULL: none is like it. To be freed. */
char *suggest(const char *events, const char *word);
/*
 * How many letters are to be changed, put in, left out or exchanged with the next to make one of
 * the other.
 */
unsigned suggest_distance(const char *a, const char *b);
