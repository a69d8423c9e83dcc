/*
 * Processes: fork, execve and its limits, waiting, orphans, vfork, what is inherited; and the
 * limits on how many of a thing there may be, each at N - 1, N and N + 1.
 */
#include "tests/programs/raw.h"

static long me(void)
{
	return syscall0(SYS_getpid);
}

static void exit_codes(void)
{
	static const int codes[] = {0, 1, 127, 128, 255, 256, -1};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		long pid = syscall0(SYS_fork);

		if (!pid)
			exit_now(codes[i]);
		CHECK_EQ(wait_for(pid), (codes[i] & 255) << 8);
	}
}

static void waiting(void)
{
	int status, ends[2];
	long a, b;

	CHECK_EQ(syscall4(SYS_wait4, -1, 0, 0, 0), NOCHILD);
	CHECK_EQ(syscall4(SYS_wait4, -1, 0, 0x100, 0), INVAL);
	CHECK_EQ(syscall4(SYS_wait4, 1, 0, 0, 0), NOCHILD);
	CHECK_EQ(syscall4(SYS_wait4, -0x80000000L, 0, 0, 0), NOSRCH);
	syscall1(SYS_pipe, (long)ends);
	a = syscall0(SYS_fork);
	if (!a) {
		syscall3(SYS_read, ends[0], (long)&status, 1); /* until the parent has looked */
		exit_now(1);
	}
	b = syscall0(SYS_fork);
	if (!b)
		exit_now(2);
	CHECK_EQ(syscall4(SYS_wait4, a, (long)&status, ABI_WNOHANG, 0), 0);
	CHECK_EQ(syscall3(SYS_write, ends[1], (long)"x", 1), 1);
	CHECK_EQ(syscall4(SYS_wait4, a, (long)&status, 0, 0), a);
	CHECK_EQ(status, 1 << 8);
	CHECK_EQ(syscall4(SYS_wait4, 0, (long)&status, 0, 0), b); /* of the own group */
	CHECK_EQ(status, 2 << 8);
	CHECK_EQ(syscall4(SYS_wait4, b, (long)&status, 0, 0), NOCHILD);
	syscall1(SYS_close, ends[0]);
	syscall1(SYS_close, ends[1]);
}

/* The grandchild loses its parent and gets pid 1. */
static void orphans(void)
{
	int ends[2], ppid = 0;

	syscall1(SYS_pipe, (long)ends);
	if (syscall0(SYS_fork) == 0) {
		int parent = syscall0(SYS_getpid);
		if (syscall0(SYS_fork) == 0) {
			while ((ppid = syscall0(SYS_getppid)) == parent)
				sleep_ms(1);
			syscall3(SYS_write, ends[1], (long)&ppid, sizeof(ppid));
			exit_now(0);
		}
		exit_now(0);
	}
	CHECK_EQ(wait_for(-1), 0);
	CHECK_EQ(syscall3(SYS_read, ends[0], (long)&ppid, sizeof(ppid)), sizeof(ppid));
	CHECK_EQ(ppid, 1);
	syscall1(SYS_close, ends[0]);
	syscall1(SYS_close, ends[1]);
}

/* vfork: the parent waits until the child is gone, and they share memory meanwhile. */
static volatile int seen;

static void vforks(void)
{
	long pid = syscall6(SYS_clone, 0x4100 | 17 /* VM, VFORK, SIGCHLD */, 0, 0, 0, 0, 0);

	if (!pid) {
		sleep_ms(3);
		seen = 5;
		exit_now(0);
	}
	CHECK_EQ(seen, 5);
	CHECK_EQ(wait_for(pid), 0);
}

/* A child that ends with another signal than SIGCHLD is only found by who asks for such. */
static void other_end(void)
{
	long pid;
	int status;

	set_handler(L_USR2, (void *)1 /* ignored */, 0);
	pid = syscall6(SYS_clone, L_USR2, 0, 0, 0, 0, 0);
	if (!pid)
		exit_now(3);
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, 0, 0), NOCHILD);
	CHECK_EQ(syscall4(SYS_wait4, pid, (long)&status, (long)0x80000000UL, 0), pid);
	CHECK_EQ(status, 3 << 8);
}

/* Where a C library keeps the thread's number. */
static void thread_ids(void)
{
	static int parent_tid, child_tid;
	long pid =
	    syscall6(SYS_clone, 0x1300000 | 17 /* PARENT_SETTID, CHILD_CLEARTID, CHILD_SETTID */, 0,
		(long)&parent_tid, (long)&child_tid, 0, 0);

	if (!pid)
		exit_now(child_tid == me() ? 0 : 1);
	CHECK_EQ(wait_for(pid), 0);
	CHECK_EQ(parent_tid, pid);
	CHECK_EQ(child_tid, 0);
}

static char big[140 * 1024];

/*
 * argv of `n` strings of `len` bytes; the result of execve in a child: exit status, or the error.
 */
static int exec_sized(int n, int len)
{
	static char *argv[40000];
	long pid;

	memset(big, 'a', len);
	big[len] = 0;
	argv[0] = "true";
	for (int i = 1; i <= n; i++)
		argv[i] = big;
	argv[n + 1] = 0;
	pid = syscall0(SYS_fork);
	if (!pid)
		exit_now(-syscall3(SYS_execve, (long)"/bin/true", (long)argv, 0));
	return wait_for(pid) >> 8;
}

/* 128 KiB for the strings with their ends, the pointers and two NULLs. "true" takes 5 + 8. */
static void exec_limits(void)
{
	const int limit = 128 * 1024;

	CHECK_EQ(exec_sized(1, limit - 16 - 13 - 8 - 1 - 1), 0);
	CHECK_EQ(exec_sized(1, limit - 16 - 13 - 8 - 1), 0);
	CHECK_EQ(exec_sized(1, limit - 16 - 13 - 8 - 1 + 1), -TOOBIG);
	CHECK_EQ(exec_sized(1, limit + 5000), -TOOBIG);
	CHECK_EQ(exec_sized((limit - 29) / 10, 1), 0);
	CHECK_EQ(exec_sized((limit - 29) / 10 + 1, 1), -TOOBIG);
	CHECK_EQ(exec_sized(30000, 1), -TOOBIG);
}

static void write_file(const char *path, const void *data, long n, int mode)
{
	long fd = syscall3(SYS_open, (long)path, 01102, mode);

	syscall3(SYS_write, fd, (long)data, n);
	syscall1(SYS_close, fd);
}

static long try_exec(const char *path)
{
	static const char *argv[] = {"x", 0};

	return syscall3(SYS_execve, (long)path, (long)argv, 0);
}

static void exec_errors(void)
{
	static char head[64] = "\177ELF\2\1\1";
	static char path[4200];

	write_file("/tmp/text", "no program", 10, 0755);
	write_file("/tmp/head", head, 64, 0755);
	write_file("/tmp/empty", "", 0, 0755);
	write_file("/tmp/plain", "x", 1, 0644);
	CHECK_EQ(try_exec("/tmp/text"), NOEXEC);
	CHECK_EQ(try_exec("/tmp/head"), NOEXEC);
	CHECK_EQ(try_exec("/tmp/empty"), NOEXEC);
	CHECK_EQ(try_exec("/tmp/plain"), ACCES);
	CHECK_EQ(try_exec("/tmp"), ACCES);
	CHECK_EQ(try_exec("/tmp/nothing"), NOENT);
	CHECK_EQ(try_exec("/tmp/text/x"), NOTDIR);
	CHECK_EQ(try_exec(""), NOENT);
	memset(path, '/', 4095);
	CHECK_EQ(try_exec(path), ACCES); /* 4095 slashes are the root */
	path[4095] = '/';
	CHECK_EQ(try_exec(path), NAMELONG);
	syscall1(SYS_unlink, (long)"/tmp/text");
	syscall1(SYS_unlink, (long)"/tmp/head");
	syscall1(SYS_unlink, (long)"/tmp/empty");
	syscall1(SYS_unlink, (long)"/tmp/plain");
}

/* As its own program again: what execve leaves and what it takes. */
static int after_exec(void)
{
	struct abi_sigaction a;
	long mask = 0, list = 1, size;

	syscall4(SYS_rt_sigaction, L_USR1, 0, (long)&a, 8);
	CHECK_EQ(a.handler, 1); /* ignored stays ignored */
	syscall4(SYS_rt_sigaction, L_USR2, 0, (long)&a, 8);
	CHECK_EQ(a.handler, 0); /* handlers go */
	syscall4(SYS_rt_sigprocmask, 0, 0, (long)&mask, 8);
	CHECK_EQ(mask, 1L << (L_HUP - 1)); /* the mask stays */
	CHECK_EQ(syscall3(SYS_fcntl, 50, ABI_F_GETFD, 0), 0);
	CHECK_EQ(syscall3(SYS_fcntl, 51, ABI_F_GETFD, 0), BADF);
	CHECK_EQ(syscall1(SYS_umask, 0), 027);
	CHECK_EQ(syscall3(SYS_get_robust_list, 0, (long)&list, (long)&size), 0);
	CHECK_EQ(list, 0); /* it was in the memory that is gone */
	return check_failures != 0;
}

static void inherited(void)
{
	static const char *argv[] = {"process", "after-exec", 0};
	static struct abi_robust_list_head locks = {.next = (uint64_t)&locks};
	long mask = 1L << (L_HUP - 1);

	set_handler(L_USR1, (void *)1, 0);
	set_handler(L_USR2, inherited, 0);
	syscall4(SYS_rt_sigprocmask, 0, (long)&mask, 0, 8);
	syscall3(SYS_dup3, 1, 50, 0);
	syscall3(SYS_dup3, 1, 51, 02000000);
	syscall1(SYS_umask, 027);
	CHECK_EQ(syscall2(SYS_set_robust_list, (long)&locks, sizeof(locks)), 0);
	syscall3(SYS_execve, (long)"/test/process", (long)argv, 0);
}

/* Descriptors: 1024 of them. */
static void descriptors(void)
{
	int ends[2];
	long fd, n = 0, first = syscall1(SYS_dup, 1);

	syscall1(SYS_close, first);
	while ((fd = syscall1(SYS_dup, 1)) >= 0) {
		CHECK_EQ(fd, first + n);
		n++;
	}
	CHECK_EQ(fd, TOOMANYFILES);
	CHECK_EQ(first + n, 1024);
	CHECK_EQ(syscall1(SYS_pipe, (long)ends), TOOMANYFILES);
	syscall1(SYS_close, 1023);
	CHECK_EQ(syscall1(SYS_pipe, (long)ends),
	    TOOMANYFILES); /* one is not enough, and is given back */
	CHECK_EQ(syscall1(SYS_dup, 1), 1023);
	syscall1(SYS_close, 1022);
	syscall1(SYS_close, 1023);
	CHECK_EQ(syscall1(SYS_pipe, (long)ends), 0);
	CHECK_EQ(ends[1], 1023);
	CHECK_EQ(syscall2(SYS_dup2, 1, 1023), 1023);
	CHECK_EQ(syscall2(SYS_dup2, 1, 1024), BADF);
	CHECK_EQ(syscall2(SYS_dup2, 1, -1), BADF);
	CHECK_EQ(syscall2(SYS_dup2, 1024, 1), BADF);
	CHECK_EQ(syscall2(SYS_dup2, 1, 1), 1);
	CHECK_EQ(syscall3(SYS_dup3, 1, 1, 0), INVAL);
	CHECK_EQ(syscall3(SYS_dup3, 1, 2, 1), INVAL);
	CHECK_EQ(syscall3(SYS_fcntl, 1, ABI_F_DUPFD, 1024), INVAL);
	CHECK_EQ(syscall3(SYS_fcntl, 1, ABI_F_DUPFD, 1023), TOOMANYFILES);
	CHECK_EQ(syscall1(SYS_close, 1024), BADF);
	CHECK_EQ(syscall1(SYS_close, -1), BADF);
}

static void vectors(void)
{
	static struct abi_iovec v[1025];
	long fd = syscall3(SYS_open, (long)"/tmp/vec", 0102, 0600);

	for (int i = 0; i < 1025; i++)
		v[i] = (struct abi_iovec){(uint64_t) "x", 1};
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 1023), 1023);
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 1024), 1024);
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 1025), INVAL);
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, -1), INVAL);
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 0), 0);
	v[3].iov_len = -1;
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 8), INVAL);
	v[3] = (struct abi_iovec){8, 1};
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 8), FAULT);
	v[3] = (struct abi_iovec){8, 0}; /* nothing at a bad place is fine */
	CHECK_EQ(syscall3(SYS_writev, fd, (long)v, 8), 7);
	syscall1(SYS_close, fd);
	syscall1(SYS_unlink, (long)"/tmp/vec");
}

/*
 * Processes until there may be no more; all of them go away, and then there may be as many again.
 */
static int fork_bomb(void)
{
	static int pids[5000];
	struct abi_rlimit64 limit;
	long pid;
	int n = 0;

	syscall4(SYS_prlimit64, 0, ABI_RLIMIT_NPROC, 0, (long)&limit);
	while (n < 5000 && (pid = syscall0(SYS_fork)) > 0)
		pids[n++] = pid;
	if (n < 5000 && pid == 0) {
		syscall0(SYS_pause);
		exit_now(1);
	}
	CHECK(pid == AGAIN || pid == NOMEM);
	CHECK(n > 20 && (unsigned)n < limit.rlim_cur);
	for (int i = 0; i < n; i++)
		CHECK_EQ(syscall2(SYS_kill, pids[i], L_KILL), 0);
	for (int i = 0; i < n; i++)
		CHECK_EQ(wait_for(pids[i]), L_KILL);
	return n;
}

/* Pids run up to 32767, begin again after the low ones, and none is given twice. */
static void many(void)
{
	for (int i = 0; i < 1000; i++) {
		long pid = syscall0(SYS_fork);

		if (!pid)
			exit_now(3);
		CHECK(pid > 1 && pid < 32768);
		CHECK_EQ(wait_for(pid), 3 << 8);
	}
}

/* Floating-point registers belong to each process, whoever runs between. */
static void compute(long seed)
{
	double x = seed, sum = 0;

	for (int i = 0; i < 200000; i++) {
		x = x * 0.999 + seed;
		sum += x;
		if (i % 50000 == 0)
			syscall0(SYS_sched_yield);
	}
	/* the same again must be the same */
	double y = seed, again = 0;
	for (int i = 0; i < 200000; i++) {
		y = y * 0.999 + seed;
		again += y;
	}
	exit_now(sum == again ? 0 : 1);
}

static void floats(void)
{
	for (long i = 1; i <= 6; i++)
		if (syscall0(SYS_fork) == 0)
			compute(i);
	for (long i = 1; i <= 6; i++)
		CHECK_EQ(wait_for(-1), 0);
}

/* What is not here says so by the errors from which programs go on with something else. */
static void unsupported(void)
{
	enum { INET = 2, INET6 = 10, NETLINK = 16, STREAM = 1, AFNOSUPPORT = -97 };
	static const short missing[] = {294 /* inotify_init1 */, 334 /* rseq */,
	    425 /* io_uring_setup */, 434 /* pidfd_open */, 437 /* openat2 */, 5000};

	for (unsigned i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		CHECK_EQ(syscall3(missing[i], 0, 0, 0), NOSYS);
	CHECK_EQ(syscall3(SYS_socket, INET, STREAM, 0), AFNOSUPPORT);
	CHECK_EQ(syscall3(SYS_socket, INET6, STREAM, 0), AFNOSUPPORT);
	CHECK_EQ(syscall3(SYS_socket, NETLINK, 3, 0), AFNOSUPPORT);
}

/* kill(-1) reaches all processes but pid 1 and the one that calls. */
static void kill_all(void)
{
	long pids[3];

	for (int i = 0; i < 3; i++) {
		pids[i] = syscall0(SYS_fork);
		if (!pids[i])
			for (;;)
				sleep_ms(1000);
	}
	CHECK_EQ(syscall2(SYS_kill, -1, 9), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(wait_for(pids[i]), 9);
	CHECK_EQ(syscall2(SYS_kill, -1, 0), NOSRCH); /* nobody else is there */
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "after-exec") == 0)
		return after_exec();
	if (argc == 2 && strcmp(argv[1], "many") == 0) {
		many();
		return check_failures != 0;
	}
	if (argc == 2 && strcmp(argv[1], "kill-all") == 0) {
		kill_all();
		return check_failures != 0;
	}
	unsupported();
	exit_codes();
	waiting();
	orphans();
	vforks();
	other_end();
	thread_ids();
	exec_limits();
	exec_errors();
	CHECK_EQ(in_child(inherited), 0);
	CHECK_EQ(in_child(descriptors), 0);
	vectors();
	floats();
	fork_bomb();
	fork_bomb();
	return check_failures != 0;
}
