/*
 * A library that is preloaded into QEMU to change its pace: the main thread looks around all the
 * time, and the CPUs take a nap where QEMU leaves a block by a long jump, as it does when a CPU
 * goes to sleep. A machine whose guest can tell is not deterministic. See tests/drive/same-test.
 */
#include <dlfcn.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 20000
#define NAP_NS	1 /* and what the host's timers add */

int ppoll(
    struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *signals)
{
	static int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	const struct timespec look = {.tv_nsec = LOOK_NS};

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ppoll");
	return real(files, count, gettid() == getpid() ? &look : timeout, signals);
}

/* Fortified, siglongjmp() has this name. */
void __attribute__((noreturn)) __longjmp_chk(sigjmp_buf to, int value);

void __longjmp_chk(sigjmp_buf to, int value)
{
	static void __attribute__((noreturn)) (*real)(sigjmp_buf, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "__longjmp_chk");
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	real(to, value);
}
