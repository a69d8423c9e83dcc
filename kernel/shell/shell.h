/* The shell, started by kernel/main.c in a task of its own once per console. */
#pragma once

#include "kernel/lib/types.h"

/* Runs until `exit`; the caller starts it again. plain: no prompt, echo, editing, colours (shell=plain). */
int shell_main(bool plain);
/* Runs a script to its end, as the plain shell would; its exit status. In a task made by os_fork(). */
int shell_script(char *path);
