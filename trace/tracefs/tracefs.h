/*
 * tracefs as tables of files, for a host to show in its own file system (kernel/trace/tracefs.c does; a host test calls it
 * directly). Task context; locks by itself. Paths, names, modes and contents are Linux's (contract C1).
 */
#pragma once

#include "kernel/lib/types.h"

#define TFS_NAME_MAX 255

struct tfs_row; /* trace/tracefs/tracefs.c: one row of a table */

/*
 * A place in the tree: a value, not an object, that may be kept as long as one likes. What it points at may be gone when it is used
 * (trace/event/life.h): opening it is -ENODEV then, a directory holds nothing any more (-ENOENT). An open file holds its instance, by a
 * count, but not its event: -ENODEV from whatever is done with it when the event has been removed.
 */
struct tfs_node {
	const struct tfs_row *row;
	void *ctx;  /* event file, trace array ... */
	long arg;   /* CPU number, option bit ... */
	u64 array;  /* the lives of the trace array ... */
	u64 object; /* ... and of the event or system this belongs to; 0: to none */
	u32 mode;   /* S_IFDIR or S_IFREG, and permission bits */
	u64 ino;    /* the same place has the same number */
	char name[TFS_NAME_MAX + 1];
};

void tfs_root(struct tfs_node *out);
int tfs_lookup(const struct tfs_node *dir, const char *name, struct tfs_node *out); /* 0, -ENOENT */
/* The entry at *cookie (0: the first), which moves on: 1, or 0 at the end. Entries that come or go meanwhile hide no others. */
int tfs_readdir(const struct tfs_node *dir, u64 *cookie, struct tfs_node *out);
/* -EPERM except in instances/. mkdir: -EEXIST, -ENOMEM. rmdir: -ENOENT, -ENOTDIR, -EBUSY while a file in it is open. */
int tfs_mkdir(const struct tfs_node *dir, const char *name);
int tfs_rmdir(const struct tfs_node *dir, const char *name);

enum { TFS_READ = 1, TFS_WRITE = 2, TFS_TRUNC = 4, TFS_APPEND = 8, TFS_NONBLOCK = 16 };

struct tfs_file;
int tfs_open(const struct tfs_node *node, unsigned how,
    struct tfs_file **out); /* O_TRUNC clears here, may fail */
ssize tfs_read(struct tfs_file *f, void *buf, size_t n, u64 *pos);
ssize tfs_write(struct tfs_file *f, const void *buf, size_t n, u64 *pos);
/* As tfs_read(), for splice(): whole sub-buffers where there are such. `nonblock`: the call's own. */
ssize tfs_splice(struct tfs_file *f, void *buf, size_t n, u64 *pos, bool nonblock);
bool tfs_is_stream(const struct tfs_file *f);	    /* has no places to seek to */
void tfs_set_nonblock(struct tfs_file *f, bool on); /* as O_NONBLOCK of the file now is */
unsigned tfs_poll(struct tfs_file *f);		    /* bits as vfs.h poll */
long tfs_ioctl(struct tfs_file *f, u32 cmd);	    /* -ENOTTY: no such thing. May wait. */
/*
 * Mapping a file's pages into programs. map: pages [first, first + pages) of it; each success, and each tfs_map_again(), is ended
 * by one tfs_unmap(). -EINVAL: it has not so many; -EBUSY: not now; -ENOMEM. The page stays where it is while it is mapped;
 * tfs_map_page() takes no lock, NULL: behind the end.
 */
bool tfs_can_map(const struct tfs_file *f);
/* Is a mapping that asks for more than to read no error? It gets no more either way. Such are inherited by fork. */
bool tfs_map_any(const struct tfs_file *f);
int tfs_map(struct tfs_file *f, u64 first, u64 pages);
void tfs_map_again(struct tfs_file *f);
void tfs_unmap(struct tfs_file *f);
void *tfs_map_page(struct tfs_file *f, u64 index);
/* What an open user_events_data has to itself (trace/user/user.h); NULL: another file. */
struct user_events_file *tfs_user_events(const struct tfs_file *f);
void tfs_release(struct tfs_file *f);
