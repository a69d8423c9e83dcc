/* Reading and writing, directories, memory, time, programs: what nearly every program calls. */
#include "tests/calls/calls.h"

#include <dirent.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#define PAGE 4096L

static void test_open(void)
{
	int fd = open("f", O_WRONLY | O_CREAT | O_EXCL, 0644);

	T(fd >= 0);
	R(open("f", O_WRONLY | O_CREAT | O_EXCL, 0644));
	R(open("none", O_RDONLY));
	R(open(".", O_WRONLY));
	R(open(".", O_RDONLY | O_CREAT, 0600));
	R(open("f", O_RDONLY | O_DIRECTORY));
	R(open("f/x", O_RDONLY));
	R(open("f/", O_RDONLY));
	R(open("new/", O_CREAT | O_WRONLY, 0600));
	R(open(BAD, O_RDONLY));
	symlink("loop", "loop");
	R(open("loop", O_RDONLY));
	symlink("f", "link");
	R(open("link", O_RDONLY | O_NOFOLLOW));
	symlink("target", "dangling");
	R(open("dangling", O_RDONLY));
	R(open("dangling", O_WRONLY | O_CREAT, 0600) >= 0);
	R(access("target", F_OK));
	char name[300];
	memset(name, 'n', 256);
	name[256] = 0;
	R(open(name, O_WRONLY | O_CREAT, 0600));
	name[255] = 0;
	R(open(name, O_WRONLY | O_CREAT, 0600) >= 0);
	char *path = malloc(5000);
	memset(path, 'a', 4999);
	path[4999] = 0;
	R(open(path, O_RDONLY));
	free(path);
	R(write(fd, "12345", 5));
	int again = open("f", O_WRONLY | O_TRUNC);
	R(lseek(again, 0, SEEK_END));
	R(openat(AT_FDCWD, "f", O_RDONLY | O_CLOEXEC) >= 0);
	R(creat("created", 0600) >= 0);
	R(close(99));
	R(close(-1));
	R(fcntl(open("f", O_RDWR | O_APPEND), F_GETFL) & (O_ACCMODE | O_APPEND));
}

static void test_read_write(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), ro = open("f", O_RDONLY),
	    wo = open("f", O_WRONLY);
	int dir = open(".", O_RDONLY), app = open("f", O_RDWR | O_APPEND);
	char buf[100] = "";

	R(write(fd, "0123456789", 10));
	R(write(ro, "x", 1));
	R(read(wo, buf, 1));
	R(read(dir, buf, 1));
	R(write(dir, buf, 1));
	R(read(99, buf, 1));
	R(write(99, buf, 1));
	R(read(fd, buf, 10));
	R(read(ro, buf, 0));
	R(read(ro, buf, 100));
	say("%s", buf);
	R(read(ro, BAD, 10));
	lseek(ro, 0, SEEK_SET);
	R(read(ro, BAD, 10));
	R(write(fd, BAD, 10));
	R(pread(fd, buf, 3, 5));
	R(pread(fd, buf, 3, 100));
	R(pread(fd, buf, 3, -1));
	R(pwrite(fd, "abc", 3, 20));
	R(lseek(fd, 0, SEEK_CUR));
	R(pread(fd, buf, 100, 0));
	say("%d %c", buf[15], buf[20]);
	R(pwrite(app, "end", 3, 0));
	R(lseek(fd, 0, SEEK_END));
	R(lseek(fd, -5, SEEK_END));
	R(lseek(fd, -100, SEEK_CUR));
	R(lseek(fd, 0, 77));
	R(lseek(fd, 1000, SEEK_DATA));
	R(lseek(fd, 5, SEEK_HOLE));
	R(lseek(99, 0, SEEK_SET));
	R(lseek(fd, 1000, SEEK_SET));
	R(write(fd, "far", 3));
	R(lseek(ro, 0, SEEK_END));
	R(fsync(fd));
	R(fdatasync(fd));
	R(fsync(99));
	int p[2];
	pipe(p);
	R(fsync(p[0]));
	R(lseek(p[0], 0, SEEK_SET));
	R(pread(p[0], buf, 1, 0));
	R(write(p[0], "x", 1));
	R(read(p[1], buf, 1));
	R(write(fd, buf, -1));
	R(read(ro, buf, -1));
}

static void test_vectors(void)
{
	char a[5] = "", b[5] = "", c[5] = "";
	struct iovec v[4] = {{(char *)"one", 3}, {NULL, 0}, {(char *)"two", 3}, {(char *)"3", 1}};
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	R(writev(fd, v, 4));
	R(writev(fd, v, 0));
	R(writev(fd, v, -1));
	R(syscall(SYS_writev, fd, v, 1025));
	R(writev(fd, BAD, 1));
	v[0] = (struct iovec){a, 2};
	v[1] = (struct iovec){b, 2};
	v[2] = (struct iovec){c, 4};
	lseek(fd, 0, SEEK_SET);
	R(readv(fd, v, 3));
	say("%s %s %s", a, b, c);
	v[1].iov_len = -1;
	R(readv(fd, v, 3));
	v[0] = (struct iovec){BAD, 2};
	R(readv(fd, v, 1));
	R(readv(99, v, 3));
}

static void test_pipe(void)
{
	int p[2], n;
	char buf[10] = "";

	R(pipe2(p, O_CLOEXEC | O_NONBLOCK));
	R(fcntl(p[0], F_GETFD));
	R(fcntl(p[0], F_GETFL));
	R(fcntl(p[1], F_GETFL));
	R(read(p[0], buf, 10));
	R(write(p[1], "hello", 5));
	R(ioctl(p[0], FIONREAD, &n));
	say("%d", n);
	R(read(p[0], buf, 3));
	R(read(p[0], buf, 10));
	close(p[1]);
	R(read(p[0], buf, 10));
	R(pipe2(p, 1));
	R(pipe(BAD));
	pipe(p);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	R(write(p[1], "x", 1));
	R(write(p[1], "", 0));
	struct stat st;
	fstat(p[1], &st);
	say("%o", st.st_mode);
}

static void show_mode(const char *path)
{
	struct stat st;

	R(lstat(path, &st));
	say("%s: %o %ld links %ld bytes", path, st.st_mode, (long)st.st_nlink,
	    S_ISDIR(st.st_mode) ? 0 : (long)st.st_size);
}

static void test_stat(void)
{
	struct stat st, other;
	int fd;

	umask(027);
	close(open("f", O_CREAT | O_WRONLY, 0777));
	mkdir("d", 0777);
	mkdir("d/sub", 0777);
	symlink("f", "l");
	show_mode("f");
	show_mode("d");
	show_mode("l");
	R(umask(0));
	R(chmod("f", 0));
	R(chmod("l", 04751));
	show_mode("f");
	R(chmod("none", 0));
	R(chmod(BAD, 0));
	fd = open("f", O_RDONLY);
	R(fchmod(fd, 0600));
	R(fchmod(99, 0600));
	R(fchmodat(AT_FDCWD, "f", 0640, 0));
	show_mode("f");
	R(stat("none", &st));
	R(stat("", &st));
	R(stat("f/x", &st));
	R(stat("f", BAD));
	R(fstat(99, &st));
	R(fstat(fd, &st));
	R(fstatat(fd, "", &other, AT_EMPTY_PATH));
	T(st.st_ino == other.st_ino && st.st_dev == other.st_dev);
	R(fstatat(fd, "x", &other, 0));
	R(fstatat(AT_FDCWD, "l", &other, AT_SYMLINK_NOFOLLOW));
	R(fstatat(AT_FDCWD, "l", &other, 0x10000));
	R(access("f", R_OK | W_OK));
	R(access("f", X_OK));
	R(access("d", X_OK));
	R(access("none", F_OK));
	struct statfs fs;
	R(statfs("/proc", &fs));
	say("%lx", (long)fs.f_type);
	R(statfs("none", &fs));
	R(fstatfs(99, &fs));
	R(statfs(".", BAD));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_directories(void)
{
	char buf[2000], *names[100];
	int fd, n = 0;
	DIR *d;

	R(mkdir("a", 0755));
	R(mkdir("a/", 0755));
	R(mkdir("none/a", 0755));
	R(mkdir("b/", 0755));
	R(rmdir("b"));
	R(rmdir("none"));
	R(rmdir("."));
	R(rmdir(".."));
	chdir("a");
	R(rmdir("../a/."));
	T(strlen(getcwd(buf, sizeof(buf))) > 3);
	R(syscall(SYS_getcwd, buf, 3));
	R(syscall(SYS_getcwd, BAD, 100));
	R(mkdir("sub", 0700));
	for (int i = 0; i < 50; i++) {
		snprintf(buf, sizeof(buf), "file%02d", i);
		close(open(buf, O_CREAT | O_WRONLY, 0600));
	}
	R(rmdir("../a"));
	d = opendir(".");
	for (struct dirent *e; (e = readdir(d));)
		names[n++] = strdup(e->d_name);
	qsort(names, n, sizeof(names[0]), by_name);
	say("%d: %s %s %s %s", n, names[0], names[1], names[2], names[n - 1]);
	rewinddir(d);
	for (n = 0; readdir(d); n++)
		;
	say("%d", n);
	fd = open(".", O_RDONLY | O_DIRECTORY);
	R(syscall(SYS_getdents64, fd, buf, 10));
	R(syscall(SYS_getdents64, fd, BAD, 1000));
	R(syscall(SYS_getdents64, 1, buf, 1000));
	R(syscall(SYS_getdents64, 99, buf, 1000));
	R(chdir("file00"));
	R(chdir("none"));
	R(chdir(BAD));
	R(fchdir(99));
	R(fchdir(1));
	R(chdir(".."));
	R(rename("a/file00", "a/sub"));
	R(rename("a/sub", "a/file00"));
	R(rename("a/sub", "a/sub/below"));
	R(rename("a/file00", "a/file01"));
	R(rename("a/file00", "x"));
	R(link("a", "x"));
	R(link("a/file01", "a/file02"));
	R(link("a/file01", "hard"));
	R(unlink("a"));
	R(unlink("none"));
	R(unlink(""));
	R(unlink("hard/"));
	R(symlink("", "x"));
	R(symlink("t", "hard"));
	R(symlink(BAD, "x"));
	R(readlink("hard", buf, 10));
	R(syscall(SYS_readlink, "hard", buf, -1));
	symlink("0123456789", "long");
	R(readlink("long", buf, 5));
	R(readlink("long", BAD, 5));
	R(renameat2(AT_FDCWD, "long", AT_FDCWD, "hard", RENAME_NOREPLACE));
	R(unlinkat(AT_FDCWD, "a", 0));
	R(unlinkat(AT_FDCWD, "long", AT_REMOVEDIR));
	R(unlinkat(AT_FDCWD, "long", 77));
}

static volatile char *touched;

static void touch(void)
{
	*touched = 1;
}

static void test_map(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), ro = open("f", O_RDONLY),
	    wo = open("f", O_WRONLY);
	char *p, *q;

	ftruncate(fd, 2 * PAGE);
	R(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	R(mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0));
	R(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 99, 0));
	R(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 5));
	R(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0));
	R(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, wo, 0));
	R(mmap(NULL, 1L << 50, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	R(mmap((void *)1, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	R(mmap((void *)-PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("%d", p[2 * PAGE]);
	q = mmap(
	    p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	T(q == MAP_FAILED && errno == EEXIST);
	q = mmap(p + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	T(q == p + PAGE);
	touched = q;
	in_child(touch);
	R(mprotect(q, PAGE, PROT_READ | PROT_WRITE));
	in_child(touch);
	R(mprotect(p, 3 * PAGE, PROT_NONE));
	in_child(touch);
	R(mprotect(p + 1, PAGE, PROT_READ));
	R(mprotect(p, 0, PROT_READ));
	R(mprotect(p, PAGE, 0x100));
	R(munmap(p + PAGE, PAGE));
	R(mprotect(p, 3 * PAGE, PROT_READ));
	in_child(touch);
	R(munmap(p + 1, PAGE));
	R(munmap(p, 0));
	R(munmap(p, 3 * PAGE));
	R(munmap(p, 3 * PAGE));
	R(munmap((void *)-PAGE, PAGE));
	R(syscall(SYS_munmap, 0, 1UL << 63));
	q = sbrk(0);
	T(sbrk(3 * PAGE) == q);
	q[2 * PAGE] = 1;
	T(sbrk(-3 * PAGE) == q + 3 * PAGE);
	T(syscall(SYS_brk, 0) == (long)q);
	T(syscall(SYS_brk, 8) == (long)q);
}

static void test_clocks(void)
{
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC,
	    CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,
	    CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME};
	struct timespec a, b, ms = {0, 1000000}, bad = {0, 1000000000}, past = {0, 0};
	struct timeval tv;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		R(clock_gettime(clocks[i], &a));
		R(clock_gettime(clocks[i], &b));
		T(b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
		R(clock_getres(clocks[i], NULL));
	}
	R(syscall(SYS_clock_gettime, 99, &a));
	R(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, BAD));
	R(syscall(SYS_clock_getres, 99, &a));
	R(clock_gettime(CLOCK_MONOTONIC, &a));
	R(nanosleep(&ms, NULL));
	clock_gettime(CLOCK_MONOTONIC, &b);
	T((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 1000000);
	R(nanosleep(&bad, NULL));
	R(nanosleep(BAD, NULL));
	R(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL));
	R(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL));
	R(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ms, NULL));
	R(clock_nanosleep(99, 0, &ms, NULL));
	R(gettimeofday(&tv, NULL));
	T(time(NULL) - tv.tv_sec <= 1);
	R(syscall(SYS_gettimeofday, BAD, NULL));
	R(syscall(SYS_time, BAD));
	clock_getcpuclockid(0, (clockid_t *)&past);
	R(clock_gettime(*(clockid_t *)&past, &a));
	T(a.tv_sec < 60);
}

static void test_exec(void)
{
	char *argv[] = {"sh", "-c", "echo \"$0 $1 $X\"; exit 9", "zero", "one", NULL};
	char *envp[] = {"X=from the environment", NULL}, *big[3] = {"sh", NULL, NULL};
	int status, fd = open("script", O_CREAT | O_WRONLY, 0755);
	pid_t pid;

	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execve("/bin/sh", argv, envp);
		_exit(1);
	}
	R(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
	R(execve("none", argv, envp));
	R(execve(".", argv, envp));
	R(execve(BAD, argv, envp));
	R(execve("/bin/sh", BAD, envp));
	write(fd, "#!/bin/sh\necho \"script $# $1\"\n", 30);
	R(access("script", X_OK));
	close(fd);
	pid = fork();
	if (!pid) {
		execl("./script", "script", "argument", "and another", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	say("%#x", status);
	close(open("empty", O_CREAT | O_WRONLY, 0755));
	close(open("plain", O_CREAT | O_WRONLY, 0644));
	R(execl("./empty", "empty", NULL));
	R(execl("./plain", "plain", NULL));
	fd = open("bad", O_CREAT | O_WRONLY, 0755);
	write(fd, "#!/none/such\n", 13);
	close(fd);
	R(execl("./bad", "bad", NULL));
	big[1] = malloc(3 << 20);
	memset(big[1], 'x', (3 << 20) - 1);
	big[1][(3 << 20) - 1] = 0;
	R(execve("/bin/sh", big, envp));
}

static void test_fork(void)
{
	int status, shared = 1;
	int *mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();

	if (!pid) {
		shared = 2;
		*mem = 7;
		_exit(0x1234);
	}
	R(waitpid(pid, &status, 0) == pid);
	say("%#x %d %d", status, shared, *mem);
	R(syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0));
	R(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0));
	signal(SIGUSR1, SIG_IGN);
	pid = syscall(SYS_clone, SIGUSR1, 0, 0, 0, 0);
	if (!pid)
		_exit(3);
	R(waitpid(pid, &status, 0));
	R(waitpid(pid, &status, __WALL) == pid || errno == ECHILD);
	T(getppid() > 0 && getpid() == gettid());
	R(getpgid(0) == getpgrp());
	R(getsid(0) == getsid(getpid()));
	R(getpgid(4000000));
	R(getsid(-1));
	R(setpgid(4000000, 0));
	R(setpgid(0, -1));
	R(setpgid(0, 0));
	R(getpgrp() == getpid());
	R(setsid());
}

static void test_prctl(void)
{
	char name[17] = "";
	int sig = 0;

	R(prctl(PR_SET_NAME, "a name that is too long"));
	R(prctl(PR_GET_NAME, name));
	say("%s", name);
	R(prctl(PR_SET_NAME, BAD));
	R(prctl(PR_GET_NAME, BAD));
	R(prctl(PR_SET_PDEATHSIG, SIGUSR1));
	R(prctl(PR_GET_PDEATHSIG, &sig));
	say("%d", sig);
	R(prctl(PR_SET_PDEATHSIG, 99));
	R(prctl(PR_GET_PDEATHSIG, BAD));
	R(prctl(PR_GET_DUMPABLE));
	R(prctl(PR_SET_DUMPABLE, 0));
	R(prctl(PR_GET_DUMPABLE));
	R(prctl(PR_SET_DUMPABLE, 2));
	R(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	R(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	R(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	R(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	R(prctl(PR_GET_KEEPCAPS));
	R(prctl(12345));
}

/* The child gets its signal when its parent ends. */
static void test_parent_death(void)
{
	int p[2];
	char c;

	pipe(p);
	if (!fork()) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			write(p[1], "r", 1);
			pause();
		}
		read(p[0], &c, 1);
		_exit(0);
	}
	wait(NULL);
	close(p[1]);
	R(read(p[0], &c, 1));
}

static void test_nice(void)
{
	R(getpriority(PRIO_PROCESS, 0));
	R(setpriority(PRIO_PROCESS, 0, 5));
	R(getpriority(PRIO_PROCESS, 0));
	R(setpriority(PRIO_PROCESS, getpid(), 100));
	R(getpriority(PRIO_PROCESS, getpid()));
	pid_t pid = fork();
	if (!pid) {
		R(getpriority(PRIO_PROCESS, 0));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	setpgid(0, 0);
	R(setpriority(PRIO_PGRP, 0, 19));
	R(getpriority(PRIO_PGRP, 0));
	R(setpriority(PRIO_PROCESS, 4000000, 0));
	R(setpriority(PRIO_PGRP, 4000000, 0));
	R(setpriority(9, 0, 0));
}

/* Of a group's nice values the lowest counts, wherever its process stands among the others. */
static void test_nice_group(void)
{
	static const int nice_of[] = {7, 3, 9};
	pid_t pid[3];

	setpgid(0, 0);
	setpriority(PRIO_PROCESS, 0, 5);
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i])
			for (;;)
				pause();
		setpriority(PRIO_PROCESS, pid[i], nice_of[i]);
		R(getpriority(PRIO_PGRP, 0));
	}
	for (int i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		R(getpriority(PRIO_PGRP, 0));
	}
}

static void test_copies(void)
{
	int in = open("in", O_RDWR | O_CREAT, 0600), out = open("out", O_RDWR | O_CREAT, 0600),
	    p[2];
	char buf[100] = "";
	off_t at = 3;

	write(in, "0123456789", 10);
	R(sendfile(out, in, &at, 4));
	say("%ld", (long)at);
	R(sendfile(out, in, NULL, 100));
	lseek(in, 0, SEEK_SET);
	R(sendfile(out, in, NULL, 2));
	R(pread(out, buf, 100, 0));
	say("%s", buf);
	R(sendfile(out, 99, NULL, 1));
	R(sendfile(out, in, BAD, 1));
	at = -1;
	R(sendfile(out, in, &at, 1));
	pipe(p);
	R(sendfile(p[1], in, NULL, 3));
	R(read(p[0], buf, 100));
	R(splice(p[0], NULL, p[0], NULL, 1, 0));
	R(splice(in, NULL, out, NULL, 1, 0));
	R(splice(99, NULL, out, NULL, 1, 0));
}

static void test_file_range(void)
{
	int in = open("in", O_RDWR | O_CREAT, 0600), out = open("out", O_RDWR | O_CREAT, 0600),
	    end = open("out", O_WRONLY | O_APPEND), only = open("out", O_RDONLY), p[2];
	char buf[100] = "";
	off_t from = 3, to = 5;

	write(in, "0123456789", 10);
	R(copy_file_range(in, &from, out, &to, 4, 0));
	say("%ld %ld", (long)from, (long)to);
	R(lseek(in, 0, SEEK_CUR));
	R(lseek(out, 0, SEEK_CUR));
	R(copy_file_range(in, NULL, out, NULL, 4, 0)); /* at the end */
	lseek(in, 8, SEEK_SET);
	R(copy_file_range(in, NULL, out, NULL, 100, 0));
	R(lseek(in, 0, SEEK_CUR));
	R(lseek(out, 0, SEEK_CUR));
	R(pread(out, buf, 100, 0));
	for (int i = 0; i < 9; i++)
		say("%d", buf[i]);
	R(copy_file_range(in, &from, out, &to, 0, 0));
	R(copy_file_range(in, NULL, out, NULL, 1, 1));
	R(copy_file_range(99, NULL, out, NULL, 1, 0));
	R(copy_file_range(in, NULL, 99, NULL, 1, 0));
	R(copy_file_range(in, NULL, end, NULL, 1, 0));
	R(copy_file_range(in, NULL, only, NULL, 1, 0));
	R(copy_file_range(in, BAD, out, NULL, 1, 0));
	R(copy_file_range(in, NULL, out, BAD, 1, 0));
	from = 0;
	to = 3;
	R(copy_file_range(in, &from, in, &to, 4, 0));
	R(copy_file_range(in, &from, in, &to, 3, 0));
	R(pread(in, buf, 100, 0));
	say("%.10s", buf);
	from = INT64_MAX;
	R(copy_file_range(in, &from, out, NULL, 100, 0));
	R(copy_file_range(open(".", O_RDONLY), NULL, out, NULL, 1, 0));
	pipe(p);
	R(copy_file_range(p[0], NULL, out, NULL, 1, 0));
}

static void test_fifo(void)
{
	char buf[10] = "";
	struct stat st;
	int r, w, both, status;
	struct pollfd p = {.events = POLLIN | POLLOUT};

	R(mkfifo("fifo", 0640));
	R(mkfifo("fifo", 0640));
	R(mkfifo("none/fifo", 0640));
	R(stat("fifo", &st));
	say("%o %ld", st.st_mode, (long)st.st_size);
	R(open("fifo", O_WRONLY | O_NONBLOCK));
	r = R(open("fifo", O_RDONLY | O_NONBLOCK));
	R(read(r, buf, 10));
	p.fd = r;
	R(poll(&p, 1, 0));
	w = R(open("fifo", O_WRONLY | O_NONBLOCK));
	R(read(r, buf, 10));
	R(write(w, "abc", 3));
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	R(lseek(r, 0, SEEK_CUR));
	R(write(r, "x", 1));
	close(w);
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	R(read(r, buf, 10));
	say("%s", buf);
	R(read(r, buf, 10));
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	close(r);
	/* the other end comes, and goes again: data that is there stays until all have gone */
	if (!fork()) {
		w = open("fifo", O_WRONLY);
		write(w, "from a child", 12);
		_exit(0);
	}
	r = R(open("fifo", O_RDONLY));
	wait(&status);
	R(read(r, buf, 4));
	close(r);
	both = R(open("fifo", O_RDWR));
	R(fcntl(both, F_SETFL, O_NONBLOCK));
	R(read(both, buf, 1));
	R(write(both, "12345", 5));
	p.fd = both;
	R(poll(&p, 1, 0));
	say("%#x", p.revents);
	R(read(both, buf, 2));
	r = R(open("fifo", O_RDONLY));
	R(read(r, buf, 10));
	close(both);
	R(read(r, buf, 10));
	signal(SIGPIPE, SIG_IGN);
	w = R(open("fifo", O_WRONLY));
	close(r);
	R(write(w, "x", 1));
	R(unlink("fifo"));
	alarm(1);
	signal(SIGALRM, SIG_DFL);
	R(mkfifo("alone", 0600));
	R(open("alone", O_RDONLY));
}

static void test_fifo_alone(void)
{
	in_child(test_fifo);
}

const struct call_case basic_cases[] = {
    {"open", test_open},
    {"read_write", test_read_write},
    {"vectors", test_vectors},
    {"pipe", test_pipe},
    {"stat", test_stat},
    {"directories", test_directories},
    {"map", test_map},
    {"clocks", test_clocks},
    {"exec", test_exec},
    {"fork", test_fork},
    {"prctl", test_prctl},
    {"parent_death", test_parent_death},
    {"nice", test_nice},
    {"nice_group", test_nice_group},
    {"copies", test_copies},
    {"file_range", test_file_range},
    {"fifo", test_fifo_alone},
    {NULL, NULL},
};
