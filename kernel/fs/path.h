/* Path text, without looking at any file. Pure: any context. */
#pragma once

#include "kernel/lib/types.h"

/*
 * Appends a component to a normalised absolute path, in place: "." does nothing, ".." removes the
 * last one. -ENAMETOOLONG.
 */
int path_push(char *path, size_t size, const char *name, size_t len);
