/* --get: copies files of the guest to the host when the program has ended. */
#pragma once

#include "tools/trapline/machine/machine.h"

/*
 * Splits FILE[:NAME] into paths in the guest and on the host, relative to a directory of the same
 * path in both. The caller frees both.
 */
void get_names(const char *what, const char *directory, char **theirs, char **ours);
/* False, after a message: the directory for one of the files does not exist. */
bool get_check(const struct machine_options *o, const char *directory);
/*
 * Writes the files that arrived. False, after a message: one is missing, or could not be written.
 */
bool get_write(const struct machine *m, const char *directory);
