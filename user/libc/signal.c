/* Signals: newlib numbers some as BSD did, so numbers and sets are translated both ways. */
#include "kernel/abi/linux.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void __restore_rt(void); /* crt0.S */

/* Indexed by newlib's number. */
static const unsigned char to_linux[NSIG] = {
    [SIGHUP] = 1,
    [SIGINT] = 2,
    [SIGQUIT] = 3,
    [SIGILL] = 4,
    [SIGTRAP] = 5,
    [SIGABRT] = 6,
    [SIGFPE] = 8,
    [SIGKILL] = 9,
    [SIGBUS] = 7,
    [SIGSEGV] = 11,
    [SIGSYS] = 31,
    [SIGPIPE] = 13,
    [SIGALRM] = 14,
    [SIGTERM] = 15,
    [SIGURG] = 23,
    [SIGSTOP] = 19,
    [SIGTSTP] = 20,
    [SIGCONT] = 18,
    [SIGCHLD] = 17,
    [SIGTTIN] = 21,
    [SIGTTOU] = 22,
    [SIGIO] = 29,
    [SIGXCPU] = 24,
    [SIGXFSZ] = 25,
    [SIGVTALRM] = 26,
    [SIGPROF] = 27,
    [SIGWINCH] = 28,
    [SIGUSR1] = 10,
    [SIGUSR2] = 12,
};

static void (*handlers[NSIG])(int); /* by newlib's number */

int signal_to_linux(int sig)
{
	return sig > 0 && sig < NSIG ? to_linux[sig] : 0;
}

int signal_from_linux(int sig)
{
	for (int i = 1; i < NSIG; i++) {
		if (to_linux[i] == sig)
			return i;
	}
	return 0;
}

static unsigned long set_to_linux(sigset_t set)
{
	unsigned long out = 0;

	for (int i = 1; i < NSIG; i++) {
		if ((set >> i & 1) && to_linux[i])
			out |= 1UL << (to_linux[i] - 1);
	}
	return out;
}

static sigset_t set_from_linux(unsigned long set)
{
	sigset_t out = 0;

	for (int i = 1; i < NSIG; i++) {
		if (to_linux[i] && (set >> (to_linux[i] - 1) & 1))
			out |= (sigset_t)1 << i;
	}
	return out;
}

/* The kernel calls this with its number; the program's handler gets newlib's. */
static void handle(int linux_sig)
{
	int sig = signal_from_linux(linux_sig);

	if (handlers[sig])
		handlers[sig](sig);
}

static int action(
    int sig, void (*handler)(int), sigset_t mask, unsigned long flags, struct abi_sigaction *old)
{
	struct abi_sigaction a = {
	    .handler =
		handler == SIG_DFL || handler == SIG_IGN ? (uintptr_t)handler : (uintptr_t)handle,
	    .flags = flags | ABI_SA_RESTORER,
	    .restorer = (uintptr_t)__restore_rt,
	    .mask = set_to_linux(mask),
	};

	handlers[sig] = handler;
	return syscall_result(syscall4(SYS_rt_sigaction, to_linux[sig], (long)&a, (long)old, 8));
}

/* sa_flags is taken as Linux's bits: newlib defines none but SA_NOCLDSTOP, which is the same. */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	void (*before)(int);
	struct abi_sigaction was;
	int r;

	if (!signal_to_linux(sig)) {
		errno = EINVAL;
		return -1;
	}
	before = handlers[sig];
	if (act)
		r = action(sig, act->sa_handler, act->sa_mask, (unsigned)act->sa_flags, &was);
	else
		r = syscall_result(syscall4(SYS_rt_sigaction, to_linux[sig], 0, (long)&was, 8));
	if (!r && old) {
		old->sa_handler = was.handler <= 1 ? (void (*)(int))was.handler : before;
		old->sa_mask = set_from_linux(was.mask);
		old->sa_flags = was.flags & ~ABI_SA_RESTORER;
	}
	return r;
}

_sig_func_ptr signal(int sig, _sig_func_ptr handler)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = ABI_SA_RESTART}, old;

	return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	static const unsigned char hows[] = {[SIG_SETMASK] = ABI_SIG_SETMASK,
	    [SIG_BLOCK] = ABI_SIG_BLOCK,
	    [SIG_UNBLOCK] = ABI_SIG_UNBLOCK};
	unsigned long s = set ? set_to_linux(*set) : 0, was = 0;
	int r;

	if (how < 0 || how > 2) {
		errno = EINVAL;
		return -1;
	}
	r = syscall_result(
	    syscall4(SYS_rt_sigprocmask, hows[how], set ? (long)&s : 0, (long)&was, 8));
	if (!r && old)
		*old = set_from_linux(was);
	return r;
}

int sigsuspend(const sigset_t *mask)
{
	unsigned long s = set_to_linux(*mask);

	return syscall_result(syscall2(SYS_rt_sigsuspend, (long)&s, 8));
}

int kill(pid_t pid, int sig)
{
	int s = signal_to_linux(sig);

	if (sig && !s) {
		errno = EINVAL;
		return -1;
	}
	return syscall_result(syscall2(SYS_kill, pid, s));
}

int raise(int sig)
{
	return kill(getpid(), sig);
}

int pause(void)
{
	return syscall_result(syscall0(SYS_pause));
}
