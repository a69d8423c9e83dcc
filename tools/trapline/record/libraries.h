/* What a program with shared libraries needs of the host, for an archive. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * The path of its interpreter, which is in the file; NULL: it runs by itself, or is no ELF program.
 */
const char *libraries_interpreter(const uint8_t *data, size_t size);
/*
 * Puts the interpreter of the program at `path` of the host, and the libraries that it and they
 * name, into the archive, by the paths at which the interpreter looks for them. False, said: one is
 * not found or cannot be read.
 */
bool libraries_bring(struct bytes *archive, const uint8_t *data, size_t size, const char *path);
