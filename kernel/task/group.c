/* Thread groups made and unmade: see group.h. Task context; group_put() anywhere but NMI. */
#include "kernel/task/group.h"

#include "kernel/base/refs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sigset.h"

/* What kernel threads have, and every task before it gets its own: all defaults, for ever. */
static struct sighand sighand_default;

struct sighand *sighand_copy(struct sighand *from)
{
	struct sighand *h = kmalloc(sizeof(*h));

	if (!h)
		return NULL;
	h->refs = 1;
	h->lock = (struct spinlock)SPINLOCK_INIT;
	u64 flags = spin_lock_irqsave(&from->lock);
	memcpy(h->action, from->action, sizeof(h->action));
	spin_unlock_irqrestore(&from->lock, flags);
	return h;
}

void sighand_put(struct sighand *h)
{
	if (ref_drop(&h->refs) && h != &sighand_default)
		kfree(h);
}

struct thread_group *group_create(struct task *leader)
{
	struct thread_group *g = kmalloc(sizeof(*g));

	if (!g)
		return NULL;
	memset(g, 0, offsetof(struct thread_group, pending.info));
	g->refs = g->live = 1;
	g->exit_signal = SIGCHLD;
	g->leader = leader;
	list_init(&g->threads);
	list_init(&g->children);
	list_init(&g->sibling);
	list_init(&g->alarms);
	wait_queue_init(&g->child_wq);
	list_add_tail(&leader->thread_node, &g->threads);
	atomic_add(&sighand_default.refs, 1);
	g->sighand = &sighand_default;
	return g;
}

void group_adopt(struct thread_group *from, struct thread_group *child, struct thread_group *parent)
{
	child->parent = parent;
	child->pgid = from->pgid;
	child->sid = from->sid;
	child->no_ctty = from->no_ctty;
	list_add_tail(&child->sibling, &parent->children);
}

void sighand_reset(struct sighand *h)
{
	u64 flags = spin_lock_irqsave(&h->lock);

	for (unsigned i = 0; i < SIG_COUNT; i++) {
		u64 handler = h->action[i].handler;

		h->action[i] =
		    (struct ksigaction){.handler = handler == SIG_IGN ? SIG_IGN : SIG_DFL};
	}
	spin_unlock_irqrestore(&h->lock, flags);
}

void group_put(struct thread_group *g)
{
	if (!ref_drop(&g->refs))
		return;
	signal_discard(g, &g->pending, ~0UL);
	sighand_put(g->sighand);
	kfree(g);
}

void group_set_sighand(struct thread_group *g, struct sighand *h)
{
	u64 flags = spin_lock_irqsave(&g->lock);
	struct sighand *old = g->sighand;

	g->sighand = h;
	spin_unlock_irqrestore(&g->lock, flags);
	sighand_put(old);
}

int group_join(struct thread_group *g, struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int err = -EINTR;

	spin_lock(&g->lock);
	if (g->call != GROUP_ENDS) {
		list_add_tail(&t->thread_node, &g->threads);
		g->live++;
		if (g->call)
			atomic_or(&t->arch.work, TASK_WORK_SIGNAL);
		err = 0;
	}
	spin_unlock(&g->lock);
	spin_unlock_irqrestore(&task_lock, flags);
	return err;
}

bool group_end(struct thread_group *g, int exit_code, struct task *exec)
{
	u64 flags = spin_lock_irqsave(&g->lock);
	bool first = g->call != GROUP_ENDS;

	if (first) {
		g->call = GROUP_ENDS;
		g->exec = exec;
		g->exit_code = exit_code;
		g->ended = !exec;
		signal_wake_others(g, current());
	}
	spin_unlock_irqrestore(&g->lock, flags);
	return first;
}

u64 group_runtime_ns(struct thread_group *g)
{
	u64 flags = spin_lock_irqsave(&task_lock), ns = g->ended_ns;
	struct task *t;

	list_for_each_entry (t, &g->threads, thread_node)
		ns += task_runtime_ns(t);
	spin_unlock_irqrestore(&task_lock, flags);
	return ns;
}
