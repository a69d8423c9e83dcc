/* Path text, without looking at any file. Pure: any context. */
#pragma once

#include "kernel/lib/types.h"

/* Adds one component to a clean absolute path, in place: "." does nothing, ".." takes the last one
 * away. -ENAMETOOLONG. */
int path_push(char *path, size_t size, const char *name, size_t len);
