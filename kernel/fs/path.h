/* Path text, without looking at any file. Pure: any context. */
#pragma once

#include "kernel/lib/types.h"

/*
 * Joins `cwd` (absolute) and `path` and cleans the result of ".", ".." and repeated or trailing
 * slashes; ".." at the root stays there. out has `size` bytes. Returns the length, or
 * -ENAMETOOLONG.
 */
long path_join(const char *cwd, const char *path, char *out, size_t size);

/* Adds one component to a clean absolute path, in place: "." does nothing, ".." takes the last one
 * away. -ENAMETOOLONG. */
int path_push(char *path, size_t size, const char *name, size_t len);
