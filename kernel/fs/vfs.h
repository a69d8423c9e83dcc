/*
 * Files by path: vnodes, open files, mounts. All buffers are kernel memory (system calls copy).
 * Task context; vnodes are counted; a directory's own lock protects its names. Errors are negative
 * errno.
 */
#pragma once

#include "kernel/lib/list.h"

#define PATH_MAX 4096
#define NAME_MAX 255

/* clang-format off */
enum {
	S_IFMT = 0170000, S_IFDIR = 0040000, S_IFREG = 0100000, S_IFLNK = 0120000, S_IFCHR = 0020000, S_IFIFO = 0010000,
	S_IFSOCK = 0140000,
};
/* open() flags, Linux's numbers. */
enum {
	O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_ACCMODE = 3, O_CREAT = 0100, O_EXCL = 0200, O_NOCTTY = 0400,
	O_TRUNC = 01000, O_APPEND = 02000, O_NONBLOCK = 04000, O_LARGEFILE = 0100000, O_DIRECTORY = 0200000,
	O_NOFOLLOW = 0400000, O_CLOEXEC = 02000000,
};
/* clang-format on */
/* Device numbers of our file systems, as stat shows them. */
enum { DEV_RAMFS = 1, DEV_PROC = 2, DEV_TRACEFS = 3, DEV_PIPE = 4, DEV_SOCKET = 5 };

#define FIONREAD 0x541b /* ioctl(): how many bytes can be read */

struct vnode;
struct file;
struct vm_area;
struct wait_queue;
struct user_data; /* kernel/syscall/user.h */

struct vstat {
	u64 ino, size, mtime_ns, rdev;
	u32 mode, nlink, uid, gid, dev;
};

/* A change of a node: the fields that `set` names. */
enum { VATTR_MODE = 1, VATTR_UID = 2, VATTR_GID = 4, VATTR_MTIME = 8 };
struct vattr {
	u32 set, mode, uid, gid; /* mode: without the type */
	u64 mtime_ns;
};

/* In pages; a file system that keeps nothing has none. */
struct vstatfs {
	u64 type, blocks, free;
};

struct dirent {
	char name[NAME_MAX + 1];
	u64 ino;
	u32 mode; /* S_IFMT part */
};

struct vnode_ops {
	/* With a reference; -ENOENT. */
	int (*lookup)(struct vnode *dir, const char *name, struct vnode **out);
	/*
	 * Returns the entry at *cookie (0: the first), without . and .., and advances *cookie. 1:
	 * filled, 0: end. Each file system defines its cookies, but names added or removed
	 * meanwhile must not hide or repeat others.
	 */
	int (*readdir)(struct vnode *dir, u64 *cookie, struct dirent *out);
	int (*create)(struct vnode *dir, const char *name, u32 mode, struct vnode **out);
	int (*mkdir)(struct vnode *dir, const char *name, u32 mode);
	int (*unlink)(struct vnode *dir, const char *name);
	int (*rmdir)(struct vnode *dir, const char *name);
	int (*rename)(
	    struct vnode *from, const char *old_name, struct vnode *to, const char *new_name);
	int (*symlink)(struct vnode *dir, const char *name, const char *target);
	/* Adds another name for a node of the same file system that is not a directory. */
	int (*link)(struct vnode *dir, const char *name, struct vnode *v);
	/* Adds a node for the same device as `like`. */
	int (*mknod)(struct vnode *dir, const char *name, u32 mode, const struct vnode *like);
	long (*readlink)(struct vnode *v, char *buf, size_t size);
	/*
	 * For a symlink that refers to an open file, regardless of its text: returns the file with
	 * a reference.
	 */
	int (*follow)(struct vnode *v, struct file **out);
	int (*setattr)(struct vnode *v, const struct vattr *a); /* NULL: -EPERM */
	int (*truncate)(struct vnode *v, u64 size);
	/*
	 * Returns the frame of the file's page `index` with a reference (page_put()); later writes
	 * to the file appear in it. 0: past the end, or no memory. NULL: the file has no pages.
	 */
	u64 (*page)(struct vnode *v, u64 index);
	int (*stat)(struct vnode *v, struct vstat *st); /* NULL: from the vnode's fields */
	/* May set f->priv and f->ops, and must handle O_TRUNC itself (tracefs clears). */
	int (*open)(struct vnode *v, struct file *f);
	void (*destroy)(struct vnode *v); /* last reference gone */
	/*
	 * What lookup() finds for a name stays until walk_cache_clear() is called, or until
	 * is_alive() of the node is false (NULL: it always is).
	 */
	bool lasting;
	bool (*is_alive)(struct vnode *v);
};

struct file_ops {
	const char *name; /* of a file without a path, for /proc: "eventfd" */
	/*
	 * Called after the path was opened, with open()'s flags; may replace f->priv, which is the
	 * vnode's. An error fails the open without a call of release.
	 */
	int (*open)(struct file *f, u32 flags);
	ssize (*read)(struct file *f, void *buf, size_t n, u64 *pos);
	ssize (*write)(struct file *f, const void *buf, size_t n, u64 *pos);
	/*
	 * Replaces `write` for write() and similar calls of ring 3: each system call makes one
	 * call, of any length, which reads the data itself. pos: pwrite()'s, else f->pos, which
	 * does not advance. The caller has checked that the file is writable. NULL: `write` gets
	 * the data piece by piece.
	 */
	ssize (*write_user)(struct file *f, struct user_data *d, u64 pos);
	/*
	 * Replaces `read` for splice() and sendfile() if they read differently. `nonblock`: do not
	 * wait, regardless of the file's flags.
	 */
	ssize (*splice)(struct file *f, void *buf, size_t n, bool nonblock);
	long (*ioctl)(struct file *f, u64 cmd, u64 arg); /* arg may be a ring-3 pointer */
	/*
	 * Checks a shared mapping and sets area->page. The area has no address yet: it begins at 0.
	 * NULL: -ENODEV.
	 */
	int (*mmap)(struct file *f, struct vm_area *area);
	/* The events that are ready: POLLIN 1, POLLOUT 4, POLLERR 8, POLLHUP 16. */
	unsigned (*poll)(struct file *f);
	/*
	 * Returns the one or two queues that are woken when these events change. NULL: none, the
	 * caller polls.
	 */
	void (*poll_queues)(struct file *f, struct wait_queue *queue[2]);
	/* NULL: -ESPIPE unless the vnode is a regular file or a directory. */
	s64 (*seek)(struct file *f, s64 off, int whence);
	void (*release)(struct file *f);
	/*
	 * read() does not return the contents, so `mmap` and not reading fills a private mapping.
	 */
	bool no_private_map;
	/*
	 * A write() of ring 3 reaches `write` as a whole up to IO_WHOLE bytes
	 * (kernel/syscall/user.h), not in smaller pieces.
	 */
	bool whole_writes;
	bool endless;	 /* a read never waits, and returns as many bytes as the caller wants */
	bool waits;	 /* a read may wait for more, so a read of ring 3 makes exactly one call */
	bool discards;	 /* a write accepts all bytes without reading them, even at bad addresses */
	bool maps_zeros; /* a mapping of it is anonymous memory */
	bool no_position; /* lseek(), pread() and pwrite() are -ESPIPE whatever the vnode is */
};

struct vnode {
	const struct vnode_ops *ops;
	const struct file_ops *fops; /* given to files opened */
	u32 refs;		     /* atomic */
	u32 mode;		     /* type and permission bits */
	u32 uid, gid, nlink, dev;
	u64 ino, size, mtime_ns, rdev;
	void *priv;
	struct vnode *mounted; /* root of what is mounted here */
	/* Directories: for "..", counted. A root's is itself or where it is mounted. */
	struct vnode *parent;
	u32 locks;     /* kernel/fs/lock.c: number of locks */
	bool readonly; /* of a directory: nothing at or below it can be changed. Set once */
};

struct file {
	struct vnode *vnode; /* NULL for none (pipes have one of their own) */
	const struct file_ops *ops;
	u32 refs;
	u32 flags; /* O_* */
	u64 pos;
	void *priv;
	char *path;		   /* as opened, absolute */
	struct list_head watchers; /* kernel/fs/epoll.c: the sets it is in */
};

void vfs_init(void); /* root ramfs with /dev /proc /sys /tmp ... mounted */

struct vnode *vnode_get(struct vnode *v);
void vnode_put(struct vnode *v);
void vnode_init(struct vnode *v, const struct vnode_ops *ops, u32 mode);
struct vnode *vnode_parent(struct vnode *dir); /* with a reference; crosses mounts as ".." does */
void vnode_set_parent(struct vnode *dir, struct vnode *parent);
struct vnode *vfs_root(void); /* borrowed */
u64 vfs_now_ns(void);	      /* nanoseconds since 1970, as in mtime_ns */

/* Relative paths start at the current task's cwd. `follow`: the last component's symlink too. */
int vfs_lookup(const char *path, bool follow, struct vnode **out);
int vfs_stat(const char *path, bool follow, struct vstat *st);
int vfs_fstat(struct file *f, struct vstat *st);
int vfs_mkdir(const char *path, u32 mode);
int vfs_rmdir(const char *path);
int vfs_unlink(const char *path);
int vfs_rename(const char *from, const char *to);
int vfs_symlink(const char *target, const char *path);
int vfs_link(const char *from, bool follow, const char *to);
/* S_IFREG, S_IFSOCK, S_IFIFO, or S_IFCHR (another node of a device in /dev); others: -EPERM. */
int vfs_mknod(const char *path, u32 mode, u64 rdev);
int vfs_setattr(const char *path, bool follow, const struct vattr *a);
int vfs_fsetattr(struct file *f, const struct vattr *a);
int vfs_statfs(const char *path, struct vstatfs *st);
int vfs_fstatfs(struct file *f, struct vstatfs *st);
long vfs_readlink(const char *path, char *buf, size_t size);
/* 0 if the caller may use a file of this status, else -EACCES; mask as access() has it. */
int vfs_access(const struct vstat *st, u32 mask);
int vfs_truncate(const char *path, u64 size);
int vfs_vnode_truncate(struct vnode *v, u64 size);
/*
 * Makes the directory and everything below it read-only: changes return -EROFS. 0, -ENOENT,
 * -ENOTDIR.
 */
int vfs_set_readonly(const char *path);
int vfs_mount(const char *path, struct vnode *root);
