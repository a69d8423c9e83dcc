/* Thread groups made and unmade: see group.h. Task context; group_put() anywhere but NMI. */
#include "kernel/task/group.h"

#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

/* What kernel threads have, and every task before it gets its own: all defaults, for ever. */
static struct sighand sighand_default = {.refs = 1, .lock = SPINLOCK_INIT};

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
	if (atomic_sub(&h->refs, 1) == 0)
		kfree(h);
}

struct thread_group *group_create(struct task *leader)
{
	struct thread_group *g = kmalloc(sizeof(*g));

	if (!g)
		return NULL;
	memset(g, 0, offsetof(struct thread_group, pending.info));
	g->refs = 1;
	g->leader = leader;
	list_init(&g->threads);
	list_init(&g->children);
	list_init(&g->sibling);
	wait_queue_init(&g->child_wq);
	list_add_tail(&leader->thread_node, &g->threads);
	atomic_add(&sighand_default.refs, 1);
	g->sighand = &sighand_default;
	return g;
}

void group_adopt(struct thread_group *parent, struct thread_group *child)
{
	child->parent = parent;
	child->pgid = parent->pgid;
	child->sid = parent->sid;
	child->no_ctty = parent->no_ctty;
	list_add_tail(&child->sibling, &parent->children);
}

void group_put(struct thread_group *g)
{
	if (atomic_sub(&g->refs, 1))
		return;
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
