/* What the file of a kernel tells before it runs: which programs it brings along. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * Is there such a program in its /bin; with a '/' first: such a file in its archive? True if the
 * kernel has no archive.
 */
bool kernel_has_program(const uint8_t *kernel, size_t size, const char *name);
/* Is there such a path in an archive of ours? */
bool archive_has(const uint8_t *archive, size_t size, const char *path);
