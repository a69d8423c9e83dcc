/*
 * tracefs as tables of files, for a host to show in its own file system (kernel/trace/tracefs.c
 * does; a host test calls it directly). Task context; locks by itself. Paths, names, modes and
 * contents are Linux's.
 */
#pragma once

#include "kernel/lib/types.h"

#define TRACEFS_NAME_MAX 255

struct tracefs_row; /* trace/tracefs/tracefs.c: one row of a table */

/*
 * A place in the tree: a value, not an object, that may be kept as long as one likes. What it
 * points at may be gone when it is used (trace/event/handle.h): opening it is -ENODEV then, a
 * directory holds nothing any more (-ENOENT). An open file holds its instance, by a count, but not
 * its event: -ENODEV from whatever is done with it when the event has been removed.
 */
struct tracefs_node {
	const struct tracefs_row *row;
	void *ctx;  /* event file, trace array ... */
	long arg;   /* CPU number, option bit ... */
	u64 array;  /* handles of the trace array ... */
	u64 object; /* ... and of the event or system this belongs to; 0: to none */
	u32 mode;   /* S_IFDIR or S_IFREG, and permission bits */
	u64 ino;    /* the same place has the same number */
};

/* True if the object of the place still exists. The caller holds host_lock. */
bool tracefs_is_alive(const struct tracefs_node *node);

void tracefs_root(struct tracefs_node *out);
int tracefs_lookup(
    const struct tracefs_node *dir, const char *name, struct tracefs_node *out); /* 0, -ENOENT */
/*
 * The entry at *cookie (0: the first), which moves on: 1, or 0 at the end. Entries that come or go
 * meanwhile hide no others. `name` has TRACEFS_NAME_MAX + 1 bytes.
 */
int tracefs_readdir(
    const struct tracefs_node *dir, u64 *cookie, struct tracefs_node *out, char *name);
/*
 * -EPERM except in instances/. mkdir: -EEXIST, -ENOMEM. rmdir: -ENOENT, -ENOTDIR, -EBUSY while a
 * file in it is open.
 */
int tracefs_mkdir(const struct tracefs_node *dir, const char *name);
int tracefs_rmdir(const struct tracefs_node *dir, const char *name);

enum {
	TRACEFS_READ = 1,
	TRACEFS_WRITE = 2,
	TRACEFS_TRUNC = 4,
	TRACEFS_APPEND = 8,
	TRACEFS_NONBLOCK = 16
};

struct tracefs_file;
int tracefs_open(const struct tracefs_node *node, unsigned how,
    struct tracefs_file **out); /* O_TRUNC clears here, may fail */
ssize tracefs_read(struct tracefs_file *f, void *buf, size_t n, u64 *pos);
ssize tracefs_write(struct tracefs_file *f, const void *buf, size_t n, u64 *pos);
/*
 * As tracefs_read(), for splice(): whole sub-buffers where there are such. `nonblock`: the call's
 * own.
 */
ssize tracefs_splice(struct tracefs_file *f, void *buf, size_t n, u64 *pos, bool nonblock);
bool tracefs_is_stream(const struct tracefs_file *f); /* has no places to seek to */
/* As tracefs_write(), for such a file that was opened for writing. */
ssize tracefs_write_stream(struct tracefs_file *f, const void *buf, size_t n);
bool tracefs_waits(const struct tracefs_file *f);	    /* a second read may wait for more */
void tracefs_set_nonblock(struct tracefs_file *f, bool on); /* as O_NONBLOCK of the file now is */
unsigned tracefs_poll(struct tracefs_file *f);		    /* bits as vfs.h poll */
long tracefs_ioctl(struct tracefs_file *f, u32 cmd);	    /* -ENOTTY: no such thing. May wait. */
/*
 * Mapping a file's pages into programs. map: pages [first, first + pages) of it; each success, and
 * each tracefs_map_again(), is ended by one tracefs_unmap(). -EINVAL: it has not so many; -EBUSY:
 * not now; -ENOMEM. The page stays where it is while it is mapped; tracefs_map_page() takes no
 * lock, NULL: past the end.
 */
bool tracefs_can_map(const struct tracefs_file *f);
/*
 * Is a mapping that asks for more than to read no error? It gets no more either way. Such are
 * inherited by fork.
 */
bool tracefs_map_any(const struct tracefs_file *f);
int tracefs_map(struct tracefs_file *f, u64 first, u64 pages);
void tracefs_map_again(struct tracefs_file *f);
void tracefs_unmap(struct tracefs_file *f);
void *tracefs_map_page(struct tracefs_file *f, u64 index);
/* What an open user_events_data has to itself (trace/user/user.h); NULL: another file. */
struct user_events_file *tracefs_user_events(const struct tracefs_file *f);
void tracefs_release(struct tracefs_file *f);
