/* Puts the shared libraries that a program needs into an archive. */
#pragma once

#include "tools/trapline/lib/util.h"

/*
 * The path of the program's interpreter, a string in the file; NULL: it is static, or no ELF
 * program.
 */
const char *libraries_interpreter(const uint8_t *data, size_t size);
/*
 * Puts the interpreter of the program at `path` of the host, and the libraries that it and they
 * name, into the archive, at the paths where the interpreter searches. False, after a message: one
 * is missing or cannot be read.
 */
bool libraries_bring(struct bytes *archive, const uint8_t *data, size_t size, const char *path);
