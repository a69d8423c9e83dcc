/*
 * The task itself: made, counted, named, freed. Task context for making; task_get() and task_put()
 * anywhere but NMI, not under task_lock.
 */
#include "kernel/task/task.h"
#include "kernel/base/events.h"
#include "kernel/base/refs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/group.h"
#include "kernel/task/pid.h"
#include "kernel/task/sched.h"
#include "kernel/task/sigset.h"

struct spinlock task_lock = SPINLOCK_INIT;
struct list_head task_list = LIST_HEAD_INIT(task_list);

static struct task *task_new(const char *comm)
{
	struct task *t = kmalloc(sizeof(*t));

	if (!t)
		return NULL;
	memset(t, 0, offsetof(struct task, sig.pending.info));
	strscpy(t->comm, comm, TASK_COMM_LEN);
	t->prio = DEFAULT_PRIO;
	t->shares = true;
	t->cpu = cpu_id();
	t->start_time = clock_ns();
	list_init(&t->rq_node);
	list_init(&t->all_node);
	list_init(&t->thread_node);
	return t;
}

struct task *task_alloc_idle(unsigned cpu)
{
	struct task *t = task_new("");

	if (!t)
		return NULL;
	fmt_snprintf(t->comm, TASK_COMM_LEN, "swapper/%u", cpu);
	t->flags = TASK_KTHREAD | TASK_IDLE_TASK;
	t->cpus_allowed = 1UL << cpu;
	t->on_rq = t->on_cpu = true;
	t->shares = false;
	t->refs = 1;
	t->arch.stack_top = this_cpu_read(kernel_rsp);
	return t;
}

/* Into the list of all, which is in pid order; most often that is the end. task_lock held. */
static void task_list_add(struct task *t)
{
	struct list_head *at = task_list.prev;

	while (at != &task_list && list_entry(at, struct task, all_node)->pid > t->pid)
		at = at->prev;
	list_add(&t->all_node, at);
}

void task_exchange_pids(struct task *a, struct task *b)
{
	pid_exchange(a, b);
	list_del(&a->all_node);
	list_del(&b->all_node);
	task_list_add(a);
	task_list_add(b);
}

static void task_list_remove(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	list_del(&t->all_node);
	spin_unlock_irqrestore(&task_lock, flags);
}

static const struct task_hooks *hooks; /* [A] NULL: nobody */

void task_hooks_set(const struct task_hooks *h)
{
	atomic_store(&hooks, h);
}

struct task *task_alloc_pid(const char *comm, int pid, struct thread_group *group)
{
	const struct task_hooks *h;
	struct task *t = task_new(comm);

	if (!t)
		return NULL;
	if (group)
		atomic_add(&group->refs, 1);
	t->group = group ? group : group_create(t);
	if (!t->group)
		goto no_group;
	u64 stack = stack_alloc();
	if (!stack)
		goto no_stack;
	arch_task_init(&t->arch, stack, task_first_run, NULL);
	t->state = TASK_NEW;
	t->cpus_allowed = UINT64_MAX;
	t->timer_slack_ns = t->default_slack_ns = TIMER_SLACK_NS;
	t->refs = 2;
	if (!pid_attach(t, pid))
		goto no_pid;
	if (!group)
		t->group->tgid = t->pid;
	t->tgid = t->group->tgid;
	u64 flags = spin_lock_irqsave(&task_lock);
	task_list_add(t);
	spin_unlock_irqrestore(&task_lock, flags);
	h = atomic_load(&hooks);
	if (h)
		h->begin(t);
	return t;

no_pid:
	stack_free(stack);
no_stack:
	group_put(t->group);
no_group:
	kfree(t);
	return NULL;
}

struct task *task_alloc(const char *comm, struct thread_group *group)
{
	return task_alloc_pid(comm, 0, group);
}

void task_get(struct task *t)
{
	atomic_add(&t->refs, 1);
}

void task_put(struct task *t)
{
	const struct task_hooks *h = atomic_load(&hooks);

	if (!ref_drop(&t->refs))
		return;
	trace_sched_process_free(t);
	task_list_remove(t);
	if (h)
		h->end(t);
	stack_free(t->arch.stack_top);
	kfree(t->arch.fpu);
	signal_abandon(t);
	group_put(t->group);
	pid_detach(t); /* last: where its number is free, its memory is */
	kfree(t);
}

void task_set_comm(struct task *t, const char *comm)
{
	char name[TASK_COMM_LEN] = {0};

	strscpy(name, comm, sizeof(name));
	trace_task_rename(t, name);
	memcpy(t->comm, name, sizeof(name));
}
