/*
 * The files of /proc/PID about an address space: its arguments, its areas, its program. Task
 * context; the address space is held by a count while it is looked at, and locked while its areas
 * are.
 */
#include "kernel/fs/dev.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/process.h"

/* mm->lock held: prints what is there of [start, end); stops at the first page that is not. */
static void pid_print_memory(struct seq *s, struct mm *mm, u64 start, u64 end)
{
	while (start < end) {
		size_t n = MIN(end - start, PAGE_SIZE - start % PAGE_SIZE);
		unsigned prot;
		u64 pa = aspace_lookup(mm->as, ALIGN_DOWN(start, PAGE_SIZE), &prot);

		if (!pa)
			break;
		seq_write(s, (char *)phys_to_virt(pa) + start % PAGE_SIZE, n);
		start += n;
	}
}

/* The arguments or the environment of a task, as they are in its memory now. */
static int pid_show_strings(struct seq *s, struct task *t, bool environ)
{
	struct mm *mm = task_mm_get(t);

	if (!mm)
		return 0; /* a kernel thread */
	mutex_lock(&mm->lock);
	if (environ)
		pid_print_memory(s, mm, mm->arg_end, mm->env_end);
	else
		pid_print_memory(s, mm, mm->arg_start, mm->arg_end);
	mutex_unlock(&mm->lock);
	mm_put(mm);
	return 0;
}

int pid_show_cmdline(struct seq *s, struct task *t)
{
	return pid_show_strings(s, t, false);
}

int pid_show_environ(struct seq *s, struct task *t)
{
	return pid_show_strings(s, t, true);
}

struct mm_use pid_memory(struct task *t)
{
	struct mm *mm = task_mm_get(t);
	struct mm_use use = {0};
	struct vm_area *a;

	if (!mm)
		return use;
	mutex_lock(&mm->lock);
	list_for_each_entry (a, &mm->areas, node) {
		u64 pages = (a->end - a->start) / PAGE_SIZE;

		use.size += pages;
		use.code += a->prot & PROT_X ? pages : 0;
		for (u64 va = aspace_next(mm->as, a->start, a->end); va < a->end;
		     va = aspace_next(mm->as, va + PAGE_SIZE, a->end)) {
			use.resident++;
			use.shared += a->file != NULL;
		}
	}
	mutex_unlock(&mm->lock);
	mm_put(mm);
	return use;
}

/* ---- /proc/PID/mem ---- */

/* The kernel's address of va; NULL: its page is not there. mm->lock held. */
static void *pid_mem_page(struct mm *mm, u64 va)
{
	unsigned prot;
	u64 pa = aspace_lookup(mm->as, ALIGN_DOWN(va, PAGE_SIZE), &prot);

	return pa ? (char *)phys_to_virt(pa) + va % PAGE_SIZE : NULL;
}

static ssize pid_mem_copy(struct mm *mm, char *buf, size_t n, u64 *pos, bool write)
{
	size_t done = 0, part;

	for (; done < n; done += part) {
		u64 va = *pos + done;
		void *at = NULL;

		part = MIN(n - done, PAGE_SIZE - va % PAGE_SIZE);
		if (va >= USER_END || mm_fault(mm, va, write ? 6 : 4, NULL))
			break;
		mutex_lock(&mm->lock);
		at = pid_mem_page(mm, va);
		if (at)
			memcpy(write ? at : buf + done, write ? buf + done : at, part);
		mutex_unlock(&mm->lock);
		if (!at)
			break;
	}
	*pos += done;
	return done || !n ? (ssize)done : -EIO;
}

static ssize pid_mem_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	return pid_mem_copy(f->priv, buf, n, pos, false);
}

static ssize pid_mem_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	return pid_mem_copy(f->priv, (char *)buf, n, pos, true);
}

static void pid_mem_release(struct file *f)
{
	mm_put(f->priv);
}

static const struct file_ops mem_file_ops = {
    .read = pid_mem_read,
    .write = pid_mem_write,
    .seek = dev_seek,
    .release = pid_mem_release,
};

struct mem_node {
	struct vnode v;
	int pid;
};

/* The address space is that of now: a later execve() gives the task another one. */
static int pid_mem_open(struct vnode *v, struct file *f)
{
	struct task *t = task_find(container_of(v, struct mem_node, v)->pid);

	if (!t)
		return -ESRCH;
	f->priv = task_mm_get(t);
	f->ops = &mem_file_ops;
	task_put(t);
	return f->priv ? 0 : -EACCES;
}

static void pid_mem_destroy(struct vnode *v)
{
	kfree(container_of(v, struct mem_node, v));
}

int pid_mem_file(int pid, struct vnode **out)
{
	static const struct vnode_ops ops = {.open = pid_mem_open, .destroy = pid_mem_destroy};
	struct mem_node *n = kzalloc(sizeof(*n));

	if (!n)
		return -ENOMEM;
	vnode_init(&n->v, &ops, S_IFREG | 0600);
	n->v.dev = DEV_PROC;
	n->v.ino = 1UL << 42 | pid;
	n->pid = pid;
	*out = &n->v;
	return 0;
}

/* ---- areas ---- */

static const char *area_name(const struct mm *mm, const struct vm_area *a)
{
	if (a->file)
		return a->file->path ? a->file->path : "";
	if (a->start <= mm->brk && a->end > mm->brk_start && mm->brk > mm->brk_start)
		return "[heap]";
	return a->end == mm->stack_top ? "[stack]" : "";
}

int pid_show_maps(struct seq *s, struct task *t)
{
	struct mm *mm = task_mm_get(t);
	struct vm_area *a;

	if (!mm)
		return 0;
	mutex_lock(&mm->lock);
	list_for_each_entry (a, &mm->areas, node) {
		const struct vnode *v = a->file ? a->file->vnode : NULL;
		seq_printf(s, "%08lx-%08lx %c%c%c%c %08lx 00:%02x %-10lu %s\n", a->start, a->end,
		    a->prot & PROT_R ? 'r' : '-', a->prot & PROT_W ? 'w' : '-',
		    a->prot & PROT_X ? 'x' : '-', a->shared ? 's' : 'p', a->offset, v ? v->dev : 0,
		    v ? v->ino : 0, area_name(mm, a));
	}
	mutex_unlock(&mm->lock);
	mm_put(mm);
	return 0;
}

/* The program is the file that the first code comes from. */
long pid_read_exe(struct task *t, char *buf, size_t size)
{
	struct mm *mm = task_mm_get(t);
	const char *path = NULL;
	struct vm_area *a;
	size_t n = 0;

	if (!mm)
		return -ENOENT;
	mutex_lock(&mm->lock);
	list_for_each_entry (a, &mm->areas, node) {
		if (!path && a->file && (a->prot & PROT_X))
			path = a->file->path;
	}
	if (path) {
		n = MIN(strlen(path), size);
		memcpy(buf, path, n);
	}
	mutex_unlock(&mm->lock);
	mm_put(mm);
	return path ? (long)n : -ENOENT;
}
