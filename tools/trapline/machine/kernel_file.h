/* Finds the programs in a kernel's file, without running it. Pure. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * True if the kernel's /bin has this program, or, for a name with a leading '/', its archive this
 * file. Also true if the kernel has no archive.
 */
bool kernel_has_program(const uint8_t *kernel, size_t size, const char *name);
/* True if an archive of our own has this path. */
bool archive_has(const uint8_t *archive, size_t size, const char *path);
