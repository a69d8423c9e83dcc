/* Pipes. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

int pipe_create(struct file **rd, struct file **wr, u32 flags);
/* The operations of a FIFO's node. */
extern const struct file_ops pipe_fifo_ops;
bool pipe_is_read_end(const struct file *f);
bool pipe_is_write_end(const struct file *f);
/*
 * For splice(). reserve: waits for room for up to n bytes, at least a page if n is larger: -EINTR,
 * -EPIPE, or -EAGAIN with `nonblock`. put_reserved: fills `used` bytes of the room and releases the
 * rest: `used`, -EPIPE, -ENOMEM. drain: writes up to n bytes to `out` (at *pos, which advances, or
 * at the file's position) and removes the bytes written.
 */
ssize pipe_reserve(struct file *wr, size_t n, bool nonblock);
ssize pipe_put_reserved(struct file *wr, const void *buf, size_t used, size_t reserved);
ssize pipe_drain(struct file *rd, struct file *out, size_t n, u64 *pos, bool nonblock);
