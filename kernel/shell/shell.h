/* The shell, started by kernel/main.c in a task of its own once per console. */
#pragma once

#include "kernel/lib/types.h"

/* Runs until `exit`; the caller starts it again. plain: no prompt, echo, editing, colours (shell=plain). */
int shell_main(bool plain);
