/*
 * /proc/PID and /proc/self. Task context.
 *
 * Vnodes are made when looked up and hold a pid, not a task: when the task is gone, reading is
 * ESRCH, as on Linux.
 */
#include "kernel/fs/cwd.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/group.h"

struct pid_row {
	const char *name;
	u32 mode;
	int (*show)(struct seq *s, struct task *t);
	long (*readlink)(struct task *t, char *buf, size_t size); /* symlinks */
	int (*make)(int pid, struct vnode **out);		  /* a node of another file's */
};

struct pid_node {
	struct vnode v;
	int pid;
	const struct pid_row *row; /* NULL: the directory itself */
	bool thread;		   /* a directory in PID/task */
};

static const struct vnode_ops pid_ops, pid_threads_ops;

static char pid_state_letter(const struct task *t)
{
	switch (READ_ONCE(t->state)) {
	case TASK_RUNNING:
		return 'R';
	case TASK_INTERRUPTIBLE:
		return 'S';
	case TASK_UNINTERRUPTIBLE:
		return 'D';
	case TASK_STOPPED:
		return 'T';
	case TASK_ZOMBIE:
		return 'Z';
	case TASK_IDLE:
		return 'I';
	default:
		return 'X';
	}
}

static const char *state_name(char letter)
{
	switch (letter) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "disk sleep";
	case 'T':
		return "stopped";
	case 'Z':
		return "zombie";
	case 'I':
		return "idle";
	default:
		return "dead";
	}
}

static int pid_parent(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int pid = t->group->parent ? t->group->parent->tgid : 0;

	spin_unlock_irqrestore(&task_lock, flags);
	return pid;
}

static u32 pid_umask(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 umask = t->fs ? t->fs->umask : 022;

	spin_unlock_irqrestore(&task_lock, flags);
	return umask;
}

static int pid_show_comm(struct seq *s, struct task *t)
{
	seq_printf(s, "%.*s\n", TASK_COMM_LEN, t->comm);
	return 0;
}

static int pid_show_status(struct seq *s, struct task *t)
{
	struct mm_use use = pid_memory(t);
	char state = pid_state_letter(t);

	seq_printf(s, "Name:\t%.*s\n", TASK_COMM_LEN, t->comm);
	seq_printf(s, "Umask:\t%04o\n", pid_umask(t));
	seq_printf(s, "State:\t%c (%s)\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\n", state, state_name(state),
	    t->tgid, t->pid, pid_parent(t));
	seq_puts(s, "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n");
	if (use.size)
		seq_printf(s, "VmSize:\t%8lu kB\nVmRSS:\t%8lu kB\n", use.size * PAGE_SIZE / 1024,
		    use.resident * PAGE_SIZE / 1024);
	seq_printf(s, "Threads:\t%u\nSigPnd:\t%016lx\nShdPnd:\t%016lx\nSigBlk:\t%016lx\n",
	    t->group->live, t->sig.pending.set, t->group->pending.set, t->sig.blocked);
	seq_printf(s,
	    "Cpus_allowed:\t%lx\nvoluntary_ctxt_switches:\t%lu\nnonvoluntary_ctxt_switches:\t%lu\n",
	    t->cpus_allowed, t->nvcsw, t->nivcsw);
	return 0;
}

/* proc(5)'s 52 fields; those that mean nothing here are 0. Times are in hundredths of a second. */
static int pid_show_stat(struct seq *s, struct task *t)
{
	struct mm_use use = pid_memory(t);

	seq_printf(s, "%d (%.*s) %c %d %d %d 0 -1 0 0 0 0 0 %lu 0 0 0 %d %d %u 0", t->pid,
	    TASK_COMM_LEN, t->comm, pid_state_letter(t), pid_parent(t), t->group->pgid,
	    t->group->sid, t->run_total_ns / 10000000, t->prio - REALTIME_PRIO, t->how.nice,
	    t->group->live);
	seq_printf(s, " %lu %lu %lu", t->start_time / 10000000, use.size * PAGE_SIZE, use.resident);
	for (unsigned field = 25; field < 39; field++)
		seq_puts(s, " 0");
	seq_printf(s, " %u %u %u", t->cpu, t->how.rt_priority, t->how.policy);
	for (unsigned field = 42; field <= 52; field++)
		seq_puts(s, " 0");
	seq_putc(s, '\n');
	return 0;
}

/* In pages: all areas, resident, resident of files, code, 0, the rest, 0. */
static int pid_show_statm(struct seq *s, struct task *t)
{
	struct mm_use use = pid_memory(t);

	seq_printf(s, "%lu %lu %lu %lu 0 %lu 0\n", use.size, use.resident, use.shared, use.code,
	    use.size - use.code);
	return 0;
}

static long pid_read_cwd(struct task *t, char *buf, size_t size)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	const char *path = "/";
	long n;

	if (t->fs && t->fs->path)
		path = t->fs->path;
	n = MIN(strlen(path), size);
	memcpy(buf, path, n);
	spin_unlock_irqrestore(&task_lock, flags);
	return n;
}

static long pid_read_root(struct task *t __maybe_unused, char *buf, size_t size)
{
	memcpy(buf, "/", MIN(size, 1UL));
	return MIN(size, 1UL);
}

static const struct pid_row rows[] = {
    {"cmdline", S_IFREG | 0444, pid_show_cmdline, NULL, NULL},
    {"comm", S_IFREG | 0444, pid_show_comm, NULL, NULL},
    {"cwd", S_IFLNK | 0777, NULL, pid_read_cwd, NULL},
    {"environ", S_IFREG | 0400, pid_show_environ, NULL, NULL},
    {"exe", S_IFLNK | 0777, NULL, pid_read_exe, NULL},
    {"fd", S_IFDIR | 0500, NULL, NULL, pid_fd_dir},
    {"maps", S_IFREG | 0444, pid_show_maps, NULL, NULL},
    {"mem", S_IFREG | 0600, NULL, NULL, pid_mem_file},
    {"root", S_IFLNK | 0777, NULL, pid_read_root, NULL},
    {"stat", S_IFREG | 0444, pid_show_stat, NULL, NULL},
    {"statm", S_IFREG | 0444, pid_show_statm, NULL, NULL},
    {"status", S_IFREG | 0444, pid_show_status, NULL, NULL},
    {"task", S_IFDIR | 0555, NULL, NULL, NULL}, /* last: the directory of a thread has none */
};

static struct vnode *pid_node_new(int pid, const struct pid_row *row)
{
	struct pid_node *n = kzalloc(sizeof(*n));

	if (!n)
		return NULL;
	vnode_init(&n->v, row && !row->show && !row->readlink ? &pid_threads_ops : &pid_ops,
	    row ? row->mode : S_IFDIR | 0555);
	n->v.dev = DEV_PROC;
	n->v.ino = (u64)pid << 8 | (row ? row - rows + 1 : 0) | 1UL << 40;
	n->pid = pid;
	n->row = row;
	return &n->v;
}

static inline struct pid_node *pid_node_of(struct vnode *v)
{
	return container_of(v, struct pid_node, v);
}

static void pid_destroy(struct vnode *v)
{
	kfree(pid_node_of(v));
}

static unsigned pid_row_count(struct vnode *dir)
{
	return ARRAY_SIZE(rows) - pid_node_of(dir)->thread;
}

static int pid_file_lookup(struct vnode *dir, const char *name, struct vnode **out)
{
	for (unsigned i = 0; i < pid_row_count(dir); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			if (rows[i].make)
				return rows[i].make(pid_node_of(dir)->pid, out);
			*out = pid_node_new(pid_node_of(dir)->pid, &rows[i]);
			if (*out && (*out)->ops == &pid_threads_ops)
				vnode_set_parent(*out, dir);
			return *out ? 0 : -ENOMEM;
		}
	}
	return -ENOENT;
}

static int pid_file_readdir(struct vnode *dir, u64 *cookie, struct dirent *out)
{
	if (*cookie >= pid_row_count(dir))
		return 0;
	strscpy(out->name, rows[*cookie].name, sizeof(out->name));
	out->ino = dir->ino + *cookie + 1;
	out->mode = rows[*cookie].mode & S_IFMT;
	++*cookie;
	return 1;
}

/* ctx of an open file: a copy of what its vnode says. */
struct pid_text {
	int pid;
	const struct pid_row *row;
};

static int pid_show(struct seq *s, void *ctx)
{
	struct pid_text *p = ctx;
	struct task *t = task_find(p->pid);
	int r;

	if (!t)
		return -ESRCH;
	r = p->row->show(s, t);
	task_put(t);
	return r;
}

static void pid_text_free(void *ctx)
{
	kfree(ctx);
}

static int pid_open(struct vnode *v, struct file *f)
{
	struct pid_node *n = pid_node_of(v);
	struct pid_text *p;
	int r;

	if (!n->row)
		return 0;
	p = kmalloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct pid_text){n->pid, n->row};
	r = proc_text_open(f, &(struct proc_text){pid_show, NULL, p, pid_text_free});
	if (r)
		kfree(p);
	return r;
}

static long pid_readlink(struct vnode *v, char *buf, size_t size)
{
	struct pid_node *n = pid_node_of(v);
	struct task *t;
	long r;

	if (!n->row || !n->row->readlink)
		return -EINVAL;
	t = task_find(n->pid);
	if (!t)
		return -ESRCH;
	r = n->row->readlink(t, buf, size);
	task_put(t);
	return r;
}

static const struct vnode_ops pid_ops = {
    .lookup = pid_file_lookup,
    .readdir = pid_file_readdir,
    .open = pid_open,
    .readlink = pid_readlink,
    .destroy = pid_destroy,
};

/* ---- Directories of processes and threads ---- */

/* The directory of a task; of a thread of the process tgid, if that is not 0. */
static int pid_directory(struct vnode *in, const char *name, int tgid, struct vnode **out)
{
	struct task *t;
	bool fits;
	u32 pid;

	/* Only the plain form: "01" and "+1" are no names. */
	if (!is_digit(name[0]) || name[0] == '0' || strchr(name, '\n') ||
	    parse_u32(name, 10, &pid) || pid > PID_MAX)
		return -ENOENT;
	t = task_find(pid);
	if (!t)
		return -ENOENT;
	fits = !tgid || t->tgid == tgid;
	task_put(t);
	if (!fits)
		return -ENOENT;
	*out = pid_node_new(pid, NULL);
	if (!*out)
		return -ENOMEM;
	pid_node_of(*out)->thread = tgid;
	vnode_set_parent(*out, in);
	return 0;
}

/* Fills in readdir()'s entry for a task and drops the reference: 1; 0 at the end (t NULL). */
static int pid_next_entry(struct task *t, u64 *cookie, struct dirent *out)
{
	if (!t)
		return 0;
	scnprintf(out->name, sizeof(out->name), "%d", t->pid);
	out->ino = (u64)t->pid << 8 | 1UL << 40;
	out->mode = S_IFDIR;
	*cookie = t->pid;
	task_put(t);
	return 1;
}

static int pid_threads_lookup(struct vnode *dir, const char *name, struct vnode **out)
{
	return pid_directory(dir, name, pid_node_of(dir)->pid, out);
}

static int pid_threads_readdir(struct vnode *dir, u64 *cookie, struct dirent *out)
{
	int tgid = pid_node_of(dir)->pid;
	struct task *t = NULL;

	do {
		t = task_next(t);
	} while (t && ((u64)t->pid <= *cookie || t->tgid != tgid));
	return pid_next_entry(t, cookie, out);
}

static const struct vnode_ops pid_threads_ops = {
    .lookup = pid_threads_lookup,
    .readdir = pid_threads_readdir,
    .destroy = pid_destroy,
};

/* ---- In the root of /proc ---- */

static long pid_self_readlink(struct vnode *v, char *buf, size_t size)
{
	char text[16];
	size_t n = scnprintf(text, sizeof(text), "%d", current()->tgid);

	(void)v;
	n = MIN(n, size);
	memcpy(buf, text, n);
	return n;
}

static const struct vnode_ops self_ops = {.readlink = pid_self_readlink};

int pid_init(void)
{
	return proc_add_node("self", S_IFLNK | 0777, &self_ops);
}

int pid_lookup(struct vnode *proc_root, const char *name, struct vnode **out)
{
	return pid_directory(proc_root, name, 0, out);
}

int pid_readdir(u64 *cookie, struct dirent *out)
{
	struct task *t = NULL;

	do {
		t = task_next(t);
	} while (t && ((u64)t->pid <= *cookie || t->pid != t->tgid));
	return pid_next_entry(t, cookie, out);
}
