/*
 * The address space of a task, for others to look at (/proc). task_lock makes reading the pointer
 * and counting it one step against the task changing it. Task context.
 */
#include "kernel/process/process.h"

void task_mm_set(struct task *t, struct mm *mm)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	t->mm = mm;
	spin_unlock_irqrestore(&task_lock, flags);
}

struct mm *task_mm_get(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct mm *mm = t->mm;

	if (mm)
		atomic_add(&mm->refs, 1);
	spin_unlock_irqrestore(&task_lock, flags);
	return mm;
}
