/* System calls on signals. Task context; sig.lock orders what is changed here with senders. */
#include "arch/arch.h"
#include "kernel/syscall/user.h"
#include "kernel/task/sigset.h"

#define SIGSET_SIZE 8

long sys_kill(const u64 *a)
{
	return signal_kill(a[0], a[1]);
}

static long sys_kill_task(int tgid, int pid, int sig)
{
	struct signal_info info = {.code = SI_TKILL, .pid = current()->pid};
	struct task *t;
	long ret = 0;

	if (pid <= 0 || sig < 0 || sig > SIG_COUNT)
		return -EINVAL;
	t = task_find(pid);
	if (!t)
		return -ESRCH;
	if (tgid && t->tgid != tgid)
		ret = -ESRCH;
	else if (sig)
		ret = signal_send_info(t, sig, &info, false);
	task_put(t);
	return ret;
}

long sys_tgkill(const u64 *a)
{
	return (s32)a[0] > 0 ? sys_kill_task(a[0], a[1], a[2]) : -EINVAL;
}

long sys_tkill(const u64 *a)
{
	return sys_kill_task(0, a[0], a[1]);
}

/* A signal that is to be ignored from now on does not wait any longer either. */
static void set_action(int sig, const struct abi_sigaction *new)
{
	struct signals *s = &current()->sig;
	u64 flags = spin_lock_irqsave(&s->lock);
	bool ignore = new->handler == SIG_IGN ||
		      (new->handler == SIG_DFL &&signal_default(sig) == SIG_DEFAULT_IGNORE);

	s->action[sig - 1] = (struct ksigaction){
	    new->handler, new->flags, new->restorer, new->mask & ~SIGS_UNBLOCKABLE};
	if (ignore)
		atomic_and(&s->pending, ~sig_bit(sig));
	spin_unlock_irqrestore(&s->lock, flags);
}

long sys_rt_sigaction(const u64 *a)
{
	struct abi_sigaction new, old;
	struct ksigaction *k;
	s32 sig = a[0];

	if (a[3] != SIGSET_SIZE || sig < 1 || sig > SIG_COUNT)
		return -EINVAL;
	if (a[1] && copy_from_user(&new, a[1], sizeof(new)))
		return -EFAULT;
	if (a[1] && (sig_bit(sig) & SIGS_UNBLOCKABLE))
		return -EINVAL;
	k = &current()->sig.action[sig - 1];
	old = (struct abi_sigaction){k->handler, k->flags, k->restorer, k->mask};
	if (a[1])
		set_action(sig, &new);
	return a[2] ? copy_to_user(a[2], &old, sizeof(old)) : 0;
}

static int new_mask(u32 how, u64 old, u64 set, u64 *mask)
{
	switch (how) {
	case ABI_SIG_BLOCK:
		*mask = old | set;
		return 0;
	case ABI_SIG_UNBLOCK:
		*mask = old & ~set;
		return 0;
	case ABI_SIG_SETMASK:
		*mask = set;
		return 0;
	default:
		return -EINVAL;
	}
}

long sys_rt_sigprocmask(const u64 *a)
{
	u64 old = current()->sig.blocked, set, mask;
	int err;

	if (a[3] != SIGSET_SIZE)
		return -EINVAL;
	if (a[1]) {
		if (copy_from_user(&set, a[1], sizeof(set)))
			return -EFAULT;
		err = new_mask(a[0], old, set, &mask);
		if (err)
			return err;
		signal_set_blocked(mask);
	}
	return a[2] ? copy_to_user(a[2], &old, sizeof(old)) : 0;
}

long sys_rt_sigpending(const u64 *a)
{
	const struct signals *s = &current()->sig;
	u64 set = atomic_load(&s->pending) & s->blocked;

	return a[1] > SIGSET_SIZE ? -EINVAL : copy_to_user(a[0], &set, a[1]);
}

static long sys_wait_for_signal(void)
{
	struct task *t = current();

	for (;;) {
		atomic_store(&t->state, TASK_INTERRUPTIBLE);
		if (signal_pending_current())
			break;
		schedule();
	}
	atomic_store(&t->state, TASK_RUNNING);
	return interrupted(ERESTARTNOHAND);
}

long sys_pause(const u64 *a)
{
	(void)a;
	return sys_wait_for_signal();
}

long sys_rt_sigsuspend(const u64 *a)
{
	struct signals *s = &current()->sig;
	u64 mask;

	if (a[1] != SIGSET_SIZE)
		return -EINVAL;
	if (copy_from_user(&mask, a[0], sizeof(mask)))
		return -EFAULT;
	s->saved_blocked = s->blocked;
	s->restore_blocked = true;
	signal_set_blocked(mask);
	return sys_wait_for_signal();
}

long sys_rt_sigreturn(const u64 *a)
{
	(void)a;
	return signal_return(task_regs(&current()->arch));
}

long sys_sigaltstack(const u64 *a)
{
	struct abi_stack new, old;
	int err = 0;

	if (a[0] && copy_from_user(&new, a[0], sizeof(new)))
		return -EFAULT;
	signal_get_altstack(&old);
	if (a[0])
		err = signal_set_altstack(&new);
	if (err)
		return err;
	return a[1] ? copy_to_user(a[1], &old, sizeof(old)) : 0;
}
