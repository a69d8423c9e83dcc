/* --get: files of the guest's that are brought here when the program has ended. */
#pragma once

#include "tools/trapline/machine/machine.h"

/*
 * What FILE[:NAME] means, from a directory on that is the same here and in the guest; both to be
 * freed.
 */
void get_names(const char *what, const char *directory, char **theirs, char **ours);
/* False, said: a directory in which one of them is to be is not there. */
bool get_check(const struct machine_options *o, const char *directory);
/* Those that came are written. False, said: one did not come, or could not be written. */
bool get_write(const struct machine *m, const char *directory);
