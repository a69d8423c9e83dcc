/*
 * What /proc/PID shows of an address space: its arguments, its areas, its program. Task context;
 * the address space is held by a count while it is looked at, and locked while its areas are.
 */
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/process/process.h"

/* mm->lock held: prints what is there of [start, end); stops at the first page that is not. */
static void print_memory(struct seq *s, struct mm *mm, u64 start, u64 end)
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

int pid_show_cmdline(struct seq *s, struct task *t)
{
	struct mm *mm = task_mm_get(t);

	if (!mm)
		return 0; /* a kernel thread */
	mutex_lock(&mm->lock);
	print_memory(s, mm, mm->arg_start, mm->arg_end);
	mutex_unlock(&mm->lock);
	mm_put(mm);
	return 0;
}

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
