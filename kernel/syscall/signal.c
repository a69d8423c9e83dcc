/*
 * System calls on signals. Task context; the lock of the thread group orders what is changed here
 * with senders.
 */
#include "arch/arch.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/alarm.h"
#include "kernel/task/sigset.h"

#define SIGSET_SIZE 8

long __x64_sys_kill(const struct regs *r)
{
	return signal_kill(r->rdi, r->rsi);
}

static long sys_kill_task(int tgid, int pid, int sig)
{
	struct signal_info info = {.code = SI_TKILL, .pid = current()->tgid};
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

long __x64_sys_tgkill(const struct regs *r)
{
	return (s32)r->rdi > 0 ? sys_kill_task(r->rdi, r->rsi, r->rdx) : -EINVAL;
}

long __x64_sys_tkill(const struct regs *r)
{
	return sys_kill_task(0, r->rdi, r->rsi);
}

/* A signal that is to be ignored from now on does not wait any longer either. */
static void set_action(int sig, const struct abi_sigaction *new)
{
	struct thread_group *g = current()->group;
	u64 flags = spin_lock_irqsave(&g->lock);
	bool ignore = new->handler == SIG_IGN ||
		      (new->handler == SIG_DFL &&signal_default(sig) == SIG_DEFAULT_IGNORE);

	spin_lock(&g->sighand->lock);
	*group_action(g, sig) = (struct ksigaction){
	    new->handler, new->flags &ABI_SA_FLAGS, new->restorer, new->mask & ~SIGS_UNBLOCKABLE};
	spin_unlock(&g->sighand->lock);
	if (ignore) {
		signal_forget(g, sig_bit(sig));
		alarm_signal_taken(g, sig, ALARM_REAL);
	}
	spin_unlock_irqrestore(&g->lock, flags);
}

static struct ksigaction get_action(int sig)
{
	struct sighand *h = current()->group->sighand;
	u64 flags = spin_lock_irqsave(&h->lock);
	struct ksigaction k = h->action[sig - 1];

	spin_unlock_irqrestore(&h->lock, flags);
	return k;
}

long __x64_sys_rt_sigaction(const struct regs *r)
{
	struct abi_sigaction new, old;
	struct ksigaction k;
	s32 sig = r->rdi;

	if (r->r10 != SIGSET_SIZE || sig < 1 || sig > SIG_COUNT)
		return -EINVAL;
	if (r->rsi && copy_from_user(&new, r->rsi, sizeof(new)))
		return -EFAULT;
	if (r->rsi && (sig_bit(sig) & SIGS_UNBLOCKABLE))
		return -EINVAL;
	k = get_action(sig);
	old = (struct abi_sigaction){k.handler, k.flags, k.restorer, k.mask};
	if (r->rsi)
		set_action(sig, &new);
	return r->rdx ? copy_to_user(r->rdx, &old, sizeof(old)) : 0;
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

long __x64_sys_rt_sigprocmask(const struct regs *r)
{
	u64 old = current()->sig.blocked, set, mask;
	int err;

	if (r->r10 != SIGSET_SIZE)
		return -EINVAL;
	if (r->rsi) {
		if (copy_from_user(&set, r->rsi, sizeof(set)))
			return -EFAULT;
		err = new_mask(r->rdi, old, set, &mask);
		if (err)
			return err;
		signal_set_blocked(mask);
	}
	return r->rdx ? copy_to_user(r->rdx, &old, sizeof(old)) : 0;
}

long __x64_sys_rt_sigpending(const struct regs *r)
{
	const struct task *t = current();
	u64 set = (atomic_load(&t->sig.pending.set) | atomic_load(&t->group->pending.set)) &
		  t->sig.blocked;

	return r->rsi > SIGSET_SIZE ? -EINVAL : copy_to_user(r->rdi, &set, r->rsi);
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
	return sys_interrupted(ERESTARTNOHAND);
}

long __x64_sys_pause(const struct regs *r)
{
	(void)r;
	return sys_wait_for_signal();
}

long __x64_sys_rt_sigsuspend(const struct regs *r)
{
	struct signals *s = &current()->sig;
	u64 mask;

	if (r->rsi != SIGSET_SIZE)
		return -EINVAL;
	if (copy_from_user(&mask, r->rdi, sizeof(mask)))
		return -EFAULT;
	s->saved_blocked = s->blocked;
	s->restore_blocked = true;
	signal_set_blocked(mask);
	return sys_wait_for_signal();
}

long __x64_sys_rt_sigtimedwait(const struct regs *r)
{
	struct taken_signal s;
	struct abi_siginfo info;
	u64 set, ns = 0;
	long err;

	if (r->r10 != SIGSET_SIZE)
		return -EINVAL;
	if (copy_from_user(&set, r->rdi, sizeof(set)))
		return -EFAULT;
	err = r->rdx ? sys_get_timespec(r->rdx, &ns) : 0;
	if (!err)
		err = signal_wait(set, r->rdx ? clock_ns() + ns : ~0UL, &s);
	if (err)
		return err;
	signal_fill_info(&info, &s);
	return r->rsi && copy_to_user(r->rsi, &info, sizeof(info)) ? -EFAULT : s.sig;
}

/* The siginfo of a signal that a program sends. Codes of the kernel only to its own process. */
static long sys_get_siginfo(u64 from, int pid, struct signal_info *info)
{
	struct abi_siginfo i;

	if (copy_from_user(&i, from, sizeof(i)))
		return -EFAULT;
	if ((i.si_code >= 0 || i.si_code == SI_TKILL) && pid != current()->tgid)
		return -EPERM;
	*info = (struct signal_info){.code = i.si_code, .pid = i.si_pid, .value = i.si_value};
	return 0;
}

static long sys_queue_signal(int tgid, int pid, int sig, u64 from)
{
	struct signal_info info;
	long ret = sys_get_siginfo(from, tgid ? tgid : pid, &info);
	struct task *t;

	if (ret)
		return ret;
	t = pid > 0 ? task_find(pid) : NULL;
	if (!t)
		return -ESRCH;
	if (tgid && t->tgid != tgid)
		ret = -ESRCH;
	else if (sig)
		ret = signal_send_info(t, sig, &info, !tgid);
	task_put(t);
	return ret;
}

long __x64_sys_rt_sigqueueinfo(const struct regs *r)
{
	return sys_queue_signal(0, r->rdi, r->rsi, r->rdx);
}

long __x64_sys_rt_tgsigqueueinfo(const struct regs *r)
{
	if ((s32)r->rdi <= 0 || (s32)r->rsi <= 0)
		return -EINVAL;
	return sys_queue_signal(r->rdi, r->rsi, r->rdx, r->r10);
}

long __x64_sys_rt_sigreturn(const struct regs *r)
{
	(void)r;
	return signal_return(task_regs(&current()->arch));
}

long __x64_sys_sigaltstack(const struct regs *r)
{
	struct abi_stack new, old;
	int err = 0;

	if (r->rdi && copy_from_user(&new, r->rdi, sizeof(new)))
		return -EFAULT;
	signal_get_altstack(&old);
	if (r->rdi)
		err = signal_set_altstack(&new);
	if (err)
		return err;
	return r->rsi ? copy_to_user(r->rsi, &old, sizeof(old)) : 0;
}
