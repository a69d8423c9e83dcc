/* Between proc.c and kernel/process/proc_pid.c. Task context. */
#pragma once

#include "kernel/fs/fs.h"
#include "kernel/lib/seq.h"

/*
 * An open file whose text is made when it is first read and again whenever it is read from its
 * start. show(s, ctx) prints; it is called again with more room when that did not fit.
 */
struct proc_text {
	int (*show)(struct seq *s, void *ctx);
	int (*store)(char *line, size_t n, void *ctx); /* NULL: writing is -EIO */
	void *ctx;
	void (*release)(void *ctx); /* may be NULL */
};
int proc_text_open(struct file *f, const struct proc_text *text);
extern const struct file_ops proc_text_ops;

/* A node in the root of /proc with functions of its own. */
int proc_add_node(const char *name, u32 mode, const struct vnode_ops *ops);

int pid_init(void);
/* /proc/PID. Cookies of pid_readdir() are pids; it gives the first directory with a higher one. */
int pid_lookup(struct vnode *proc_root, const char *name, struct vnode **out);
int pid_readdir(u64 *cookie, struct dirent *out);

struct task;
int pid_show_cmdline(struct seq *s, struct task *t);
int pid_show_maps(struct seq *s, struct task *t);
long pid_read_exe(struct task *t, char *buf, size_t size);

void proc_files_init(void);
