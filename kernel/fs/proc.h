/* /proc, and the functions by which kernel/process contributes to it. Task context. */
#pragma once

#include "kernel/fs/vfs.h"
#include "kernel/lib/seq.h"

void proc_init(void); /* at boot: mounts /proc and adds the files that no other module registers */
/*
 * Adds a file below /proc ("trapline/clock", "sys/kernel/x") and its missing parent directories.
 * `store` gets the n bytes of one write(), and a NUL after them; NULL: the file is read-only.
 * Returns 0 or a negative errno.
 */
int proc_register(const char *path, int (*show)(struct seq *s, void *ctx),
    int (*store)(char *line, size_t n, void *ctx), void *ctx);
/* The same for a file with its own operations, which find `priv` in struct file. */
int proc_register_ops(const char *path, u32 mode, const struct file_ops *ops, void *priv);

/*
 * An open file whose text is generated at each read from its start. show(s, ctx) prints it; the
 * file calls it again with a larger buffer if the text did not fit.
 */
struct proc_text {
	int (*show)(struct seq *s, void *ctx);
	int (*store)(char *line, size_t n, void *ctx); /* NULL: writing is -EIO */
	void *ctx;
	void (*release)(void *ctx); /* may be NULL */
};
int proc_text_open(struct file *f, const struct proc_text *text);
extern const struct file_ops proc_text_ops;

/* Adds a node with its own operations to the root of /proc. */
int proc_add_node(const char *name, u32 mode, const struct vnode_ops *ops);

int pid_init(void);
/*
 * /proc/PID: kernel/process/proc_pid.c. pid_readdir() returns the directory of the lowest pid above
 * *cookie, and stores that pid there.
 */
int pid_lookup(struct vnode *proc_root, const char *name, struct vnode **out);
int pid_readdir(u64 *cookie, struct dirent *out);

struct task;
int pid_show_cmdline(struct seq *s, struct task *t);
int pid_show_environ(struct seq *s, struct task *t);
int pid_show_maps(struct seq *s, struct task *t);
/* kernel/process/proc_mm.c. In pages of its address space; all 0 for a task without one. */
struct mm_use {
	u64 size, resident, shared, code;
};
struct mm_use pid_memory(struct task *t);
int pid_mem_file(int pid, struct vnode **out); /* /proc/PID/mem */
int pid_fd_dir(int pid, struct vnode **out);   /* kernel/process/proc_fd.c */
long pid_read_exe(struct task *t, char *buf, size_t size);

void proc_files_init(void);
