/* Shared by the system calls on sockets. Task context. */
#pragma once

#include "kernel/lib/types.h"

struct file;
struct regs;
struct socket_name;

/* Calls call() with the socket of the descriptor in r->rdi; or -EBADF, -ENOTSOCK. */
long sys_on_socket(const struct regs *r, long (*call)(struct file *f, const struct regs *r));
/*
 * Copies a name from ring 3: 0, -EFAULT, -EINVAL. *unspec: the family is AF_UNSPEC, and *name is
 * not set; with NULL that is -EINVAL, too.
 */
long sys_get_name(u64 from, s32 len, struct socket_name *name, bool *unspec);
/* Copies as much of a name to ring 3 as fits, and its full length: 0, -EFAULT, -EINVAL. */
long sys_put_name(u64 to, u64 len_ptr, const struct socket_name *name);
