/*
 * Sessions and process groups; see session.h. Task context. task_lock protects groups, sessions and
 * the list of terminals, and signals are sent with it held. Follows POSIX's General Terminal
 * Interface (11.1) and, where that leaves room, Linux.
 */
#include "kernel/task/session.h"

#include "kernel/lib/errno.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

static struct list_head terminals = LIST_HEAD_INIT(terminals); /* [T] */

void session_add_terminal(struct ctty *c)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	list_add_tail(&c->node, &terminals);
	spin_unlock_irqrestore(&task_lock, flags);
}

/* ---- what is asked with task_lock held ---- */

static struct ctty *session_terminal_of(const struct task *t)
{
	struct ctty *c;

	if (!t->sid || t->no_ctty)
		return NULL;
	list_for_each_entry (c, &terminals, node)
		if (c->sid == t->sid)
			return c;
	return NULL;
}

static bool session_is_leader(const struct task *t)
{
	return t->sid && t->sid == t->pid;
}

static bool is_present(const struct task *t)
{
	return !t->reaped && !(t->flags & TASK_EXITING);
}

static bool session_has_group(int pgid, int sid)
{
	struct task *t;

	list_for_each_entry (t, &task_list, all_node)
		if (!t->reaped && t->pgid == pgid && t->sid == sid)
			return true;
	return false;
}

static void session_signal_group(int pgid, int sig)
{
	struct signal_info info = {.code = SI_KERNEL};
	struct task *t;

	if (pgid <= 0)
		return;
	list_for_each_entry (t, &task_list, all_node)
		if (!t->reaped && t->pgid == pgid)
			signal_send_info(t, sig, &info, true);
}

/*
 * A group is orphaned when no member has a parent in another group of the same session. `leaving`
 * counts as gone.
 */
static bool session_group_is_orphaned(int pgid, const struct task *leaving)
{
	struct task *t;

	list_for_each_entry (t, &task_list, all_node) {
		const struct task *parent = t->parent;

		if (t->pgid != pgid || t == leaving || !is_present(t) || !parent ||
		    parent == init_task)
			continue;
		if (parent->pgid != pgid && parent->sid == t->sid)
			return false;
	}
	return true;
}

static bool group_has_stopped(int pgid)
{
	struct task *t;

	list_for_each_entry (t, &task_list, all_node)
		if (t->pgid == pgid && READ_ONCE(t->state) == TASK_STOPPED)
			return true;
	return false;
}

/* ---- sessions ---- */

int session_create(void)
{
	struct task *t = current(), *other;
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = t->pid;

	list_for_each_entry (other, &task_list, all_node)
		if (!other->reaped && other->pgid == t->pid)
			ret = -EPERM;
	if (ret > 0) {
		t->sid = t->pgid = t->pid;
		t->no_ctty = false;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_set_group(struct task *t, int pgid)
{
	struct task *me = current();
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = 0;

	if (t != me && t->parent != me)
		ret = -ESRCH;
	else if (session_is_leader(t) || t->sid != me->sid)
		ret = -EPERM;
	else if (pgid != t->pid && !session_has_group(pgid, t->sid))
		ret = -EPERM;
	else
		t->pgid = pgid;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

bool session_orphaned(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	bool orphaned = session_group_is_orphaned(current()->pgid, NULL);

	spin_unlock_irqrestore(&task_lock, flags);
	return orphaned;
}

/* ---- the controlling terminal ---- */

struct ctty *session_terminal(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct ctty *c = session_terminal_of(current());

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
}

static int acquire(struct ctty *c, struct task *t, bool steal)
{
	if (c->sid && c->sid == t->sid && session_is_leader(t))
		return 0;
	if (!session_is_leader(t) || session_terminal_of(t))
		return -EPERM;
	if (c->sid && !steal)
		return -EPERM;
	if (c->sid)
		session_detach(c, false);
	c->sid = t->sid;
	t->no_ctty = false;
	WRITE_ONCE(c->pgid, t->pgid);
	return 0;
}

int session_acquire(struct ctty *c, bool steal)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = acquire(c, current(), steal);

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_release(struct ctty *c)
{
	struct task *t = current();
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = session_terminal_of(t) == c ? 0 : -ENOTTY;

	if (!ret && session_is_leader(t))
		session_detach(c, false);
	else if (!ret)
		t->no_ctty = true;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_set_foreground(struct ctty *c, int pgid)
{
	struct task *t = current();
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = 0;

	if (session_terminal_of(t) != c)
		ret = -ENOTTY;
	else if (!session_has_group(pgid, t->sid))
		ret = -EPERM;
	else
		WRITE_ONCE(c->pgid, pgid);
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int session_check(struct ctty *c, int sig)
{
	struct task *t = current();
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = 0;

	if (session_terminal_of(t) != c || !c->pgid || c->pgid == t->pgid ||
	    (t->flags & TASK_KTHREAD)) {
		ret = 0;
	} else if (signal_ineffective_current(sig)) {
		ret = sig == SIGTTIN ? -EIO : 0;
	} else if (session_group_is_orphaned(t->pgid, NULL)) {
		ret = -EIO;
	} else {
		session_signal_group(t->pgid, sig);
		ret = -EINTR;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/* ---- the end of tasks ---- */

void session_leader_exit(struct task *t)
{
	struct ctty *c;
	u64 flags;

	if (!session_is_leader(t))
		return;
	flags = spin_lock_irqsave(&task_lock);
	c = session_terminal_of(t);
	if (c)
		session_detach(c, true);
	spin_unlock_irqrestore(&task_lock, flags);
}

void session_hang_up_orphans(struct task *t, const struct task *parent, const struct task *leaving)
{
	if (!t->pgid || !parent || parent->pgid == t->pgid || parent->sid != t->sid)
		return;
	if (!session_group_is_orphaned(t->pgid, leaving) || !group_has_stopped(t->pgid))
		return;
	session_signal_group(t->pgid, SIGHUP);
	session_signal_group(t->pgid, SIGCONT);
}
