/*
 * Sessions and process groups; see session.h. Task context. task_lock protects groups, sessions and
 * the list of terminals, and signals are sent with it held. Follows POSIX's General Terminal
 * Interface (11.1) and, where that leaves room, Linux.
 */
#include "kernel/task/session.h"

#include "kernel/lib/errno.h"
#include "kernel/task/group.h"

static struct list_head terminals = LIST_HEAD_INIT(terminals); /* [T] */

void session_add_terminal(struct ctty *c)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	list_add_tail(&c->node, &terminals);
	spin_unlock_irqrestore(&task_lock, flags);
}

/* ---- what is asked with task_lock held ---- */

static struct ctty *session_terminal_of(const struct thread_group *g)
{
	struct ctty *c;

	if (!g->sid || g->no_ctty)
		return NULL;
	list_for_each_entry (c, &terminals, node)
		if (c->sid == g->sid)
			return c;
	return NULL;
}

static bool session_is_leader(const struct thread_group *g)
{
	return g->sid && g->sid == g->tgid;
}

static bool is_present(const struct task *t)
{
	return !t->reaped && READ_ONCE(t->state) != TASK_ZOMBIE && !(t->flags & TASK_EXITING);
}

/* The session of a process group; -1: there is no such group. */
static int session_of_group(int pgid)
{
	struct task *t;

	for_each_leader(t)
	{
		if (!t->reaped && t->group->pgid == pgid)
			return t->group->sid;
	}
	return -1;
}

/* The session of a process that may lead no group; -1: there is no such process. */
static int session_of_process(int tgid)
{
	struct task *t;

	for_each_leader(t)
	{
		if (!t->reaped && t->group->tgid == tgid)
			return t->group->sid;
	}
	return -1;
}

static void session_signal_group(int pgid, int sig)
{
	struct signal_info info = {.code = SI_KERNEL};
	struct task *t;

	if (pgid <= 0)
		return;
	for_each_leader(t) if (!t->reaped && t->group->pgid == pgid)
	    signal_send_info(t, sig, &info, true);
}

/*
 * A group is orphaned when no member has a parent in another group of the same session. `leaving`
 * counts as gone.
 */
static bool session_group_is_orphaned(int pgid, const struct thread_group *leaving)
{
	struct task *t;

	for_each_leader(t)
	{
		const struct thread_group *g = t->group, *parent = g->parent;

		if (g->pgid != pgid || g == leaving || !is_present(t) || !parent ||
		    parent->leader == init_task)
			continue;
		if (parent->pgid != pgid && parent->sid == g->sid)
			return false;
	}
	return true;
}

static bool group_has_stopped(int pgid)
{
	struct task *t;

	for_each_leader(
	    t) if (t->group->pgid == pgid && READ_ONCE(t->state) == TASK_STOPPED) return true;
	return false;
}

/* ---- sessions ---- */

int session_create(void)
{
	struct thread_group *g = current()->group;
	struct task *other;
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = g->tgid;

	for_each_leader(other) if (!other->reaped && other->group->pgid == g->tgid) ret = -EPERM;
	if (ret > 0) {
		g->sid = g->pgid = g->tgid;
		g->no_ctty = false;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_set_group(struct task *t, int pgid)
{
	struct thread_group *me = current()->group, *g = t->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = 0;

	if (g != me && g->parent != me)
		ret = -ESRCH;
	else if (session_is_leader(g) || g->sid != me->sid)
		ret = -EPERM;
	else if (pgid != g->tgid && session_of_group(pgid) != g->sid)
		ret = -EPERM;
	else
		g->pgid = pgid;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

bool session_orphaned(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	bool orphaned = session_group_is_orphaned(current()->group->pgid, NULL);

	spin_unlock_irqrestore(&task_lock, flags);
	return orphaned;
}

/* ---- the controlling terminal ---- */

struct ctty *session_terminal(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct ctty *c = session_terminal_of(current()->group);

	spin_unlock_irqrestore(&task_lock, flags);
	return c;
}

/* Parts a terminal from its session. task_lock held. */
static void session_detach(struct ctty *c, bool hang_up)
{
	int pgid = c->pgid;

	c->sid = 0;
	WRITE_ONCE(c->pgid, 0);
	if (hang_up)
		c->hang_up(c);
	session_signal_group(pgid, SIGHUP);
	session_signal_group(pgid, SIGCONT);
	if (hang_up)
		c->wake(c);
}

static int acquire(struct ctty *c, struct thread_group *g, bool steal)
{
	if (c->sid && c->sid == g->sid && session_is_leader(g))
		return 0;
	if (!session_is_leader(g) || session_terminal_of(g))
		return -EPERM;
	if (c->sid && !steal)
		return -EPERM;
	c->sid = g->sid;
	WRITE_ONCE(c->pgid, g->pgid);
	return 0;
}

int session_acquire(struct ctty *c, bool steal)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = acquire(c, current()->group, steal);

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

void session_hang_up(struct ctty *c)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	session_detach(c, true);
	spin_unlock_irqrestore(&task_lock, flags);
}

int session_release(struct ctty *c)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = session_terminal_of(g) == c ? 0 : -ENOTTY;

	if (!ret && session_is_leader(g))
		session_detach(c, false);
	else if (!ret)
		g->no_ctty = true;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_set_foreground(struct ctty *c, int pgid)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	int sid = -1, ret = 0;

	if (pgid) /* 0 is the group of the kernel's threads */
		sid = session_of_group(pgid);
	if (pgid && sid < 0) /* as on Linux, a process may stand for its group */
		sid = session_of_process(pgid);
	if (session_terminal_of(g) != c)
		ret = -ENOTTY;
	else if (sid < 0)
		ret = -ESRCH;
	else if (sid != g->sid)
		ret = -EPERM;
	else
		WRITE_ONCE(c->pgid, pgid);
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_check(struct ctty *c, int sig)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = 0;

	if (session_terminal_of(g) != c || !c->pgid || c->pgid == g->pgid ||
	    (current()->flags & TASK_KTHREAD)) {
		ret = 0;
	} else if (signal_ineffective_current(sig)) {
		ret = sig == SIGTTIN ? -EIO : 0;
	} else if (session_group_is_orphaned(g->pgid, NULL)) {
		ret = -EIO;
	} else {
		session_signal_group(g->pgid, sig);
		ret = -EINTR;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/* ---- the end of tasks ---- */

void session_leader_exit(struct thread_group *g)
{
	struct ctty *c;
	u64 flags;

	if (!session_is_leader(g))
		return;
	flags = spin_lock_irqsave(&task_lock);
	c = session_terminal_of(g);
	if (c)
		session_detach(c, true);
	spin_unlock_irqrestore(&task_lock, flags);
}

void session_hang_up_orphans(
    struct thread_group *g, const struct thread_group *parent, const struct thread_group *leaving)
{
	if (!g->pgid || !parent || parent->pgid == g->pgid || parent->sid != g->sid)
		return;
	if (!session_group_is_orphaned(g->pgid, leaving) || !group_has_stopped(g->pgid))
		return;
	session_signal_group(g->pgid, SIGHUP);
	session_signal_group(g->pgid, SIGCONT);
}
