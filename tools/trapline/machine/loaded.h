/*
 * The libraries that QEMU loads for us: turns.so (tools/turns.c) and stop_plugin.so
 * (tools/stop_plugin.c). They are parts of this program, so that it always has its own.
 */
#pragma once

#include <stddef.h>

enum loaded { LOADED_TURNS, LOADED_STOP_PLUGIN };

/* A file in memory that holds the library; to be closed. -1, said. */
int loaded_open(enum loaded which);
/* The path by which a process opens a file that it has inherited by this number. */
#define LOADED_PATH "/proc/self/fd/%d"
