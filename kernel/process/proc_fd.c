/*
 * /proc/PID/fd: a symlink for each open file of a task, which leads to the file itself. Task
 * context. The pointer to a task's table is read and the table counted under task_lock, because a
 * task that ends drops the table.
 */
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"

struct fd_node {
	struct vnode v;
	int pid, fd; /* fd -1: the directory */
};

static const struct vnode_ops fd_dir_ops, fd_link_ops;

/* A task's table with a reference; NULL: it has none (any more). */
static struct files *pid_files(int pid)
{
	struct task *t = task_find(pid);
	struct files *fs = NULL;
	u64 flags;

	if (!t)
		return NULL;
	flags = spin_lock_irqsave(&task_lock);
	fs = t->files;
	if (fs)
		atomic_add(&fs->refs, 1);
	spin_unlock_irqrestore(&task_lock, flags);
	task_put(t);
	return fs;
}

/* An open file of a task, with a reference; NULL: the descriptor is not open. */
static struct file *pid_fd_file(int pid, int fd)
{
	struct files *fs = pid_files(pid);
	struct file *f = fs ? files_get(fs, fd) : NULL;

	files_put(fs);
	return f;
}

static struct vnode *pid_fd_node(int pid, int fd)
{
	struct fd_node *n = kzalloc(sizeof(*n));

	if (!n)
		return NULL;
	vnode_init(
	    &n->v, fd < 0 ? &fd_dir_ops : &fd_link_ops, fd < 0 ? S_IFDIR | 0500 : S_IFLNK | 0700);
	n->v.dev = DEV_PROC;
	n->v.ino = 1UL << 41 | (u64)pid << 12 | (fd + 1);
	n->pid = pid;
	n->fd = fd;
	return &n->v;
}

int pid_fd_dir(int pid, struct vnode **out)
{
	*out = pid_fd_node(pid, -1);
	return *out ? 0 : -ENOMEM;
}

static struct fd_node *pid_fd_of(struct vnode *v)
{
	return container_of(v, struct fd_node, v);
}

static int pid_fd_lookup(struct vnode *dir, const char *name, struct vnode **out)
{
	int pid = pid_fd_of(dir)->pid;
	struct file *f;
	u32 fd;

	if ((name[0] == '0' && name[1]) || !is_digit(name[0]) || parse_u32(name, 10, &fd) ||
	    fd >= FILES_MAX)
		return -ENOENT;
	f = pid_fd_file(pid, fd);
	if (!f)
		return -ENOENT;
	file_put(f);
	*out = pid_fd_node(pid, fd);
	return *out ? 0 : -ENOMEM;
}

static int pid_fd_readdir(struct vnode *dir, u64 *cookie, struct dirent *out)
{
	int pid = pid_fd_of(dir)->pid;

	for (; *cookie < FILES_MAX; ++*cookie) {
		struct file *f = pid_fd_file(pid, *cookie);

		if (!f)
			continue;
		file_put(f);
		fmt_snprintf(out->name, sizeof(out->name), "%u", (u32)*cookie);
		out->ino = dir->ino + *cookie + 1;
		out->mode = S_IFLNK;
		++*cookie;
		return 1;
	}
	return 0;
}

static int pid_fd_follow(struct vnode *v, struct file **out)
{
	*out = pid_fd_file(pid_fd_of(v)->pid, pid_fd_of(v)->fd);
	return *out ? 0 : -ENOENT;
}

static long pid_fd_readlink(struct vnode *v, char *buf, size_t size)
{
	struct file *f = pid_fd_file(pid_fd_of(v)->pid, pid_fd_of(v)->fd);
	char text[40];
	const char *path;
	size_t n;

	if (!f)
		return -ENOENT;
	path = f->path ? f->path : text;
	if (f->vnode)
		fmt_snprintf(text, sizeof(text), "%s:[%lu]",
		    f->vnode->dev == DEV_SOCKET ? "socket" : "pipe", (unsigned long)f->vnode->ino);
	else
		fmt_snprintf(text, sizeof(text), "anon_inode:%s",
		    f->ops && f->ops->name ? f->ops->name : "[file]");
	n = MIN(strlen(path), size);
	memcpy(buf, path, n);
	file_put(f);
	return n;
}

static void pid_fd_destroy(struct vnode *v)
{
	kfree(pid_fd_of(v));
}

static const struct vnode_ops fd_dir_ops = {
    .lookup = pid_fd_lookup,
    .readdir = pid_fd_readdir,
    .destroy = pid_fd_destroy,
};
static const struct vnode_ops fd_link_ops = {
    .readlink = pid_fd_readlink,
    .follow = pid_fd_follow,
    .destroy = pid_fd_destroy,
};
