/*
 * Bad pointers in every system call that takes one: each row is a call that would do well with good
 * memory; with each kind of bad address in place of the one marked PTR it must say EFAULT and
 * nothing else may happen.
 */
#include "tests/programs/raw.h"

#define TRACING "/sys/kernel/tracing/"
#define PTR	0x5054525054525054L /* replaced by the bad address */
#define GOOD	0x474f4f44474f4f44L /* replaced by a page of zeros */
#define TEXT	0x5445585454455854L /* replaced by the text "/tmp/badptr" */
#define FILE_FD 0x4644464446444644L /* replaced by an open file */
#define DIR_FD	0x4449524449524449L /* replaced by an open directory */
#define PIPE_FD 0x5049504550495045L /* replaced by the reading end of a pipe that has bytes */
#define SOCK_FD 0x534f434b534f434bL /* replaced by a socket that has bytes to be read */

#define MARKER_FD 0x4d41524b4d41524bL /* replaced by the tracer's files of these names */
#define RAW_FD	  0x5241575252415752L
#define FILTER_FD 0x46494c5446494c54L

struct row {
	const char *name;
	int nr;
	long a[6];
};

#define CALL(name, ...)                                                                            \
	{                                                                                          \
#name, SYS_##name,                                                                 \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct row rows[] = {
    CALL(read, FILE_FD, PTR, 8), CALL(write, FILE_FD, PTR, 8), CALL(open, PTR, 0, 0),
    CALL(newstat, PTR, GOOD), CALL(newstat, TEXT, PTR), CALL(newfstat, FILE_FD, PTR),
    CALL(newlstat, PTR, GOOD), CALL(newlstat, TEXT, PTR), CALL(poll, PTR, 1, 0),
    CALL(rt_sigaction, 10, PTR, 0, 8), CALL(rt_sigaction, 10, 0, PTR, 8),
    CALL(rt_sigprocmask, 0, PTR, 0, 8), CALL(rt_sigprocmask, 0, 0, PTR, 8),
    CALL(rt_sigpending, PTR, 8), CALL(rt_sigsuspend, PTR, 8), CALL(pread64, FILE_FD, PTR, 8, 0),
    CALL(pwrite64, FILE_FD, PTR, 8, 0), CALL(readv, FILE_FD, PTR, 1), CALL(writev, FILE_FD, PTR, 1),
    CALL(access, PTR, 0), CALL(pipe, PTR), CALL(pipe2, PTR, 0), CALL(nanosleep, PTR, 0),
    CALL(execve, PTR, 0, 0), CALL(execve, TEXT, PTR, 0), CALL(execve, TEXT, 0, PTR),
    CALL(newuname, PTR), CALL(truncate, PTR, 0), CALL(getcwd, PTR, 100), CALL(chdir, PTR),
    CALL(rename, PTR, TEXT), CALL(rename, TEXT, PTR), CALL(mkdir, PTR, 0), CALL(rmdir, PTR),
    CALL(creat, PTR, 0), CALL(unlink, PTR), CALL(symlink, PTR, TEXT), CALL(symlink, TEXT, PTR),
    CALL(readlink, PTR, GOOD, 8), CALL(gettimeofday, PTR, 0), CALL(gettimeofday, 0, PTR),
    CALL(sigaltstack, PTR, 0), CALL(sigaltstack, 0, PTR), CALL(prctl, 15, PTR),
    CALL(prctl, 16, PTR), CALL(arch_prctl, 0x1003, PTR), CALL(time, PTR), CALL(futex, PTR, 0, 0, 0),
    CALL(futex, PTR, 1, 1), CALL(futex, GOOD, 0, 0, PTR), CALL(sched_setaffinity, 0, 8, PTR),
    CALL(sched_getaffinity, 0, 8, PTR), CALL(getdents64, DIR_FD, PTR, 1000),
    CALL(clock_gettime, 1, PTR), CALL(clock_getres, 1, PTR), CALL(clock_nanosleep, 1, 0, PTR, 0),
    CALL(openat, -100, PTR, 0, 0), CALL(mkdirat, -100, PTR, 0),
    CALL(newfstatat, -100, PTR, GOOD, 0), CALL(newfstatat, -100, TEXT, PTR, 0),
    CALL(newfstatat, -100, PTR, GOOD, 0x1000), CALL(unlinkat, -100, PTR, 0),
    CALL(unlinkat, -100, PTR, 0x200), CALL(readlinkat, -100, PTR, GOOD, 8),
    CALL(faccessat, -100, PTR, 0), CALL(faccessat2, -100, PTR, 0, 0), CALL(prlimit64, 0, 7, PTR, 0),
    CALL(prlimit64, 0, 7, 0, PTR), CALL(getrlimit, 7, PTR), CALL(getrusage, 0, PTR),
    CALL(times, PTR), CALL(getcpu, PTR, 0), CALL(getcpu, 0, PTR), CALL(getrandom, PTR, 8, 0),
    CALL(getitimer, 0, PTR), CALL(setitimer, 0, PTR, 0), CALL(setitimer, 0, GOOD, PTR),
    CALL(rt_sigtimedwait, PTR, 0, GOOD, 8), CALL(rt_sigtimedwait, GOOD, 0, PTR, 8),
    CALL(rt_sigqueueinfo, 1, 10, PTR), CALL(rt_tgsigqueueinfo, 1, 1, 10, PTR),
    CALL(timer_create, 1, PTR, GOOD), CALL(timer_create, 1, 0, PTR),
    CALL(timer_settime, 0, 0, PTR, 0), CALL(signalfd, -1, PTR, 8), CALL(signalfd4, -1, PTR, 8, 0),
    CALL(socketpair, 1, 1, 0, PTR), CALL(bind, SOCK_FD, PTR, 110), CALL(connect, SOCK_FD, PTR, 110),
    CALL(getsockname, SOCK_FD, GOOD, PTR), CALL(getpeername, SOCK_FD, GOOD, PTR),
    CALL(sendto, SOCK_FD, PTR, 8, 0x40, 0, 0), CALL(sendto, SOCK_FD, TEXT, 8, 0x40, PTR, 110),
    CALL(recvfrom, SOCK_FD, PTR, 5, 0x42, 0, 0), CALL(recvfrom, SOCK_FD, GOOD, 5, 0x42, GOOD, PTR),
    CALL(sendmsg, SOCK_FD, PTR, 0x40), CALL(recvmsg, SOCK_FD, PTR, 0x42),
    CALL(setsockopt, SOCK_FD, 1, 7, PTR, 4), CALL(getsockopt, SOCK_FD, 1, 3, GOOD, PTR),
    CALL(ioctl, SOCK_FD, 0x541b, PTR), CALL(ioctl, SOCK_FD, 0x5421, PTR), CALL(prctl, 2, PTR),
    CALL(chmod, PTR, 0), CALL(chown, PTR, 0, 0), CALL(lchown, PTR, 0, 0),
    CALL(fchmodat, -100, PTR, 0), CALL(fchownat, -100, PTR, 0, 0, 0), CALL(link, PTR, TEXT),
    CALL(link, TEXT, PTR), CALL(linkat, -100, PTR, -100, TEXT, 0),
    CALL(linkat, -100, TEXT, -100, PTR, 0), CALL(symlinkat, PTR, -100, TEXT),
    CALL(symlinkat, TEXT, -100, PTR), CALL(mknod, PTR, 0100000, 0),
    CALL(mknodat, -100, PTR, 0100000, 0), CALL(renameat, -100, PTR, -100, TEXT),
    CALL(renameat, -100, TEXT, -100, PTR), CALL(renameat2, -100, PTR, -100, TEXT, 0),
    CALL(statfs, PTR, GOOD), CALL(statfs, TEXT, PTR), CALL(fstatfs, FILE_FD, PTR),
    CALL(statx, -100, PTR, 0, 0x7ff, GOOD), CALL(statx, -100, TEXT, 0, 0x7ff, PTR),
    CALL(sysinfo, PTR), CALL(utimensat, -100, PTR, 0, 0), CALL(utimensat, -100, TEXT, PTR, 0),
    CALL(memfd_create, PTR, 0), CALL(ppoll, PTR, 1, 0, 0, 8), CALL(ppoll, GOOD, 1, PTR, 0, 8),
    CALL(ppoll, GOOD, 1, GOOD, PTR, 8), CALL(select, 1, PTR, 0, 0, 0),
    CALL(select, 0, 0, 0, 0, PTR), CALL(pselect6, 1, 0, PTR, 0, 0, 0),
    CALL(pselect6, 0, 0, 0, 0, PTR, 0), CALL(sched_getparam, 0, PTR), CALL(sched_setparam, 0, PTR),
    CALL(sched_setscheduler, 0, 0, PTR), CALL(sched_rr_get_interval, 0, PTR),
    CALL(sched_getattr, 0, PTR, 48, 0), CALL(sched_setattr, 0, PTR, 0),
    CALL(getresuid, PTR, GOOD, GOOD), CALL(getresuid, GOOD, PTR, GOOD),
    CALL(getresuid, GOOD, GOOD, PTR), CALL(getresgid, PTR, GOOD, GOOD),
    CALL(getresgid, GOOD, GOOD, PTR), CALL(setgroups, 1, PTR), CALL(get_robust_list, 0, PTR, GOOD),
    CALL(get_robust_list, 0, GOOD, PTR), CALL(sendfile64, SOCK_FD, FILE_FD, PTR, 8),
    CALL(clone3, PTR, 64), CALL(syslog, 3, PTR, 8), CALL(fcntl, FILE_FD, 5, PTR),
    CALL(fcntl, FILE_FD, 6, PTR), CALL(write, MARKER_FD, PTR, 8), CALL(write, FILTER_FD, PTR, 8),
    CALL(write, RAW_FD, PTR, 8), CALL(writev, MARKER_FD, PTR, 1),
    CALL(read, PIPE_FD, PTR, 5), /* the data is lost: as on Linux, it was read */
};

static char *good, *edge, *unwritable;
static long file_fd, dir_fd, pipe_fd, sock_fd, marker_fd, raw_fd, filter_fd;

static long argument(long a, unsigned long bad)
{
	switch (a) {
	case PTR:
		return bad;
	case GOOD:
		return (long)good;
	case TEXT:
		return (long)"/tmp/badptr";
	case FILE_FD:
		return file_fd;
	case DIR_FD:
		return dir_fd;
	case PIPE_FD:
		return pipe_fd;
	case SOCK_FD:
		return sock_fd;
	case MARKER_FD:
		return marker_fd;
	case RAW_FD:
		return raw_fd;
	case FILTER_FD:
		return filter_fd;
	default:
		return a;
	}
}

static long call(const struct row *r, unsigned long bad)
{
	long a[6];

	for (int i = 0; i < 6; i++)
		a[i] = argument(r->a[i], bad);
	edge[-1] = 'x'; /* a call may have written it before it came to the end */
	syscall3(SYS_lseek, file_fd, 0, 0);
	syscall3(SYS_lseek, dir_fd, 0, 0);
	return syscall6(r->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Given by who runs this: where the kernel has text, data, stacks and a guard page. */
static unsigned long kernel_places[8];
static unsigned kernel_count;

static void read_kernel_places(const char *text)
{
	char *end;

	while (kernel_count < 8) {
		unsigned long at = strtoul(text, &end, 16);

		if (end == text)
			break;
		kernel_places[kernel_count++] = at;
		text = end;
	}
}

static void every_call(void)
{
	unsigned long bad[] = {
	    8,			     /* never mapped */
	    0x10000000,		     /* free */
	    0x7ffffffff000 - 4,	     /* runs over the end of ring 3 */
	    0x7ffffffff000,	     /* after it */
	    0x800000000000,	     /* not canonical */
	    0xffff7fffffffffff,	     /* the same from above */
	    0x7ffffffff000 - 1,	     /* the last byte below it */
	    0xffff888000000000,	     /* all memory, in the kernel's map */
	    0xffffffff80100000,	     /* the kernel's text */
	    ~0UL - 3,		     /* wraps */
	    (unsigned long)edge - 1, /* one byte of a page, then nothing */
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned k = 0; k < sizeof(bad) / sizeof(bad[0]) + kernel_count; k++) {
			unsigned known = sizeof(bad) / sizeof(bad[0]);
			unsigned long at = k < known ? bad[k] : kernel_places[k - known];
			long got = call(&rows[i], at);

			if (got != FAULT && !(got == INVAL && rows[i].nr == SYS_futex)) {
				printf(
				    "# %s(row %u), address %#lx: %ld\n", rows[i].name, i, at, got);
				check_failures++;
			}
		}
}

/* What the kernel writes to memory that may only be read is EFAULT too, and the memory stays. */
static void read_only(void)
{
	static const struct row writers[] = {
	    CALL(read, FILE_FD, PTR, 8),
	    CALL(newfstat, FILE_FD, PTR),
	    CALL(newuname, PTR),
	    CALL(pipe, PTR),
	    CALL(clock_gettime, 1, PTR),
	    CALL(getcwd, PTR, 100),
	    CALL(rt_sigprocmask, 0, 0, PTR, 8),
	    CALL(getrandom, PTR, 8, 0),
	    CALL(poll, PTR, 1, 0),
	    CALL(getdents64, DIR_FD, PTR, 1000),
	    CALL(sched_getaffinity, 0, 8, PTR),
	};

	for (unsigned i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		CHECK_EQ(call(&writers[i], (unsigned long)unwritable), FAULT);
	for (unsigned i = 0; i < PAGE; i++)
		CHECK_EQ(unwritable[i], 0);
}

/* Nothing was opened, made or left behind by all that. */
static void nothing_happened(void)
{
	long fd = syscall1(SYS_dup, 0);

	CHECK_EQ(fd, pipe_fd + 2);
	syscall1(SYS_close, fd);
	CHECK_EQ(syscall2(SYS_access, (long)"/tmp/badptr", 0), 0);
	for (unsigned i = 0; i < PAGE; i++)
		if (good[i] && i >= 200) {
			CHECK_EQ(good[i], 0);
			break;
		}
}

/* Numbers that are no calls, and the upper half of rax. */
static void bad_numbers(void)
{
	static const long none[] = {
	    -1, 174, 333, 335, 440, 511, 512, 513, 4096, 0x7fffffff, -0x80000000L};

	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK_EQ(syscall6(none[i], 1, 2, 3, 4, 5, 6), NOSYS);
	CHECK_EQ(syscall0(SYS_getpid + (1L << 32)), syscall0(SYS_getpid));
}

int main(int argc, char **argv)
{
	int ends[2];

	if (argc == 2)
		read_kernel_places(argv[1]);

	good = (char *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	unwritable = (char *)map_pages(0, 1, P_READ, M_PRIVATE);
	edge = (char *)map_pages(0, 2, P_READ | P_WRITE, M_PRIVATE) + PAGE;
	syscall2(SYS_munmap, (long)edge, PAGE);
	edge[-1] = 'x';
	file_fd = syscall3(SYS_open, (long)"/tmp/badptr", 0102, 0600);
	CHECK_EQ(syscall3(SYS_write, file_fd, (long)"0123456789", 10), 10);
	marker_fd = syscall3(SYS_open, (long)TRACING "trace_marker", 1, 0);
	raw_fd = syscall3(SYS_open, (long)TRACING "trace_marker_raw", 1, 0);
	filter_fd = syscall3(SYS_open, (long)TRACING "events/sched/sched_switch/filter", 1, 0);
	CHECK_EQ(marker_fd > 0 && raw_fd > 0 && filter_fd > 0, 1);
	dir_fd = syscall3(SYS_open, (long)"/", 0200000, 0);
	CHECK_EQ(syscall4(SYS_socketpair, 1, 1, 0, (long)ends), 0);
	sock_fd = ends[0];
	CHECK_EQ(syscall3(SYS_write, ends[1], (long)"0123456789", 10), 10);
	CHECK_EQ(syscall1(SYS_pipe, (long)ends), 0);
	CHECK_EQ(syscall3(SYS_write, ends[1],
		     (long)"the data of a pipe, for reads that fail: they all take 5 bytes", 60),
	    60);
	pipe_fd = ends[0];
	every_call();
	read_only();
	nothing_happened();
	bad_numbers();
	syscall1(SYS_unlink, (long)"/tmp/badptr");
	return check_failures != 0;
}
