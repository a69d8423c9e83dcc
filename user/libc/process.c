/* Processes, memory and time. */
#include "kernel/abi/linux.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char **environ;

pid_t getpid(void)
{
	return syscall0(SYS_getpid);
}

pid_t getppid(void)
{
	return syscall0(SYS_getppid);
}

pid_t fork(void)
{
	return syscall_result(syscall0(SYS_fork));
}

pid_t setsid(void)
{
	return syscall_result(syscall0(SYS_setsid));
}

unsigned alarm(unsigned seconds)
{
	return syscall1(SYS_alarm, seconds);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	return syscall_result(syscall3(SYS_execve, (long)path, (long)argv, (long)envp));
}

/* The status of a child that a signal ended carries Linux's number of it. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	int st = 0, sig;
	long r = syscall_result(syscall4(SYS_wait4, pid, (long)&st, options, 0));

	if (r > 0 && WIFSIGNALED(st)) {
		sig = signal_from_linux(WTERMSIG(st));
		st = sig ? (st & ~0x7f) | sig : st;
	}
	if (status && r > 0)
		*status = st;
	return r;
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

void *sbrk(ptrdiff_t increment)
{
	static unsigned long end;
	unsigned long old, want;

	if (!end)
		end = syscall1(SYS_brk, 0);
	old = end;
	want = end + increment;
	if (increment && (unsigned long)syscall1(SYS_brk, want) != want) {
		errno = ENOMEM;
		return (void *)-1;
	}
	end = want;
	return (void *)old;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)syscall_result(syscall6(SYS_mmap, (long)addr, len, prot, flags, fd, off));
}

int munmap(void *addr, size_t len)
{
	return syscall_result(syscall2(SYS_munmap, (long)addr, len));
}

int mprotect(void *addr, size_t len, int prot)
{
	return syscall_result(syscall3(SYS_mprotect, (long)addr, len, prot));
}

int nanosleep(const struct timespec *req, struct timespec *left)
{
	struct abi_timespec r = {req->tv_sec, req->tv_nsec}, l = {0, 0};
	long ret = syscall2(SYS_nanosleep, (long)&r, (long)&l);

	if (left)
		*left = (struct timespec){l.tv_sec, l.tv_nsec};
	return syscall_result(ret);
}

unsigned sleep(unsigned seconds)
{
	struct timespec t = {seconds, 0};
	return nanosleep(&t, &t) ? t.tv_sec : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	struct abi_timespec t;
	long r = syscall2(SYS_clock_gettime, clock == CLOCK_REALTIME ? 0 : 1, (long)&t);

	*ts = (struct timespec){t.tv_sec, t.tv_nsec};
	return syscall_result(r);
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct abi_timeval t;
	long r = syscall2(SYS_gettimeofday, (long)&t, 0);

	(void)zone;
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_usec;
	return syscall_result(r);
}

/* Linux's times() is not offered: processor time is what has passed. */
clock_t times(struct tms *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	t->tms_utime = now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
	t->tms_stime = t->tms_cutime = t->tms_cstime = 0;
	return t->tms_utime;
}
