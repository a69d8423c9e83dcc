/* System-call numbers for ring 3, from the one table. */
#pragma once

#define ARG(type, name)
#define SYSCALL(nr, name, args) SYS_##name = nr,
enum {
#include "kernel/abi/syscalls.def"
};
