/* statx, fallocate, truncate, chown, times, close_range, descriptors, devices. */
#include "tests/calls/calls.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void show(const char *what, const struct statx *s)
{
	say("%s: mode %o nlink %u size %lu", what, s->stx_mode, s->stx_nlink, (long)s->stx_size);
}

static void test_statx(void)
{
	struct statx s;
	int fd = open("f", O_RDWR | O_CREAT, 0640);

	write(fd, "12345", 5);
	symlink("f", "l");
	R(statx(AT_FDCWD, "f", 0, STATX_BASIC_STATS, &s));
	show("f", &s);
	T((s.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
	R(statx(AT_FDCWD, "l", AT_SYMLINK_NOFOLLOW, STATX_ALL, &s));
	say("link: %o %lu", s.stx_mode & S_IFMT, (long)s.stx_size);
	R(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &s));
	show("fd", &s);
	R(statx(AT_FDCWD, "none", 0, STATX_ALL, &s));
	R(statx(AT_FDCWD, "", 0, STATX_ALL, &s));
	R(statx(99, "f", 0, STATX_ALL, &s));
	R(statx(AT_FDCWD, "f", 0x10000, STATX_ALL, &s));
	R(statx(AT_FDCWD, "f", 0x6000, STATX_ALL, &s));
	R(statx(AT_FDCWD, "f", 0, 0x80000000, &s));
	R(statx(AT_FDCWD, "f", 0, STATX_ALL, BAD));
	R(statx(AT_FDCWD, BAD, 0, STATX_ALL, &s));
	R(statx(AT_FDCWD, "/dev/null", 0, STATX_ALL, &s));
	say("%o %u:%u", s.stx_mode & S_IFMT, s.stx_rdev_major, s.stx_rdev_minor);
}

static void size_is(int fd)
{
	struct stat st;

	fstat(fd, &st);
	say("size %ld", (long)st.st_size);
}

static void test_fallocate(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), ro = open("f", O_RDONLY), p[2];
	char buf[16] = "";

	write(fd, "0123456789", 10);
	R(fallocate(fd, 0, 5, 100));
	size_is(fd);
	R(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1000));
	size_is(fd);
	R(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 3));
	pread(fd, buf, 8, 0);
	say("%s %d %d %c", buf, buf[2], buf[4], buf[5]);
	size_is(fd);
	R(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 2, 3));
	R(fallocate(fd, 0, -1, 3));
	R(fallocate(fd, 0, 0, 0));
	R(fallocate(fd, 0, 0, -1));
	R(fallocate(fd, 0, INT64_MAX, 1));
	R(fallocate(ro, 0, 0, 10));
	R(fallocate(99, 0, 0, 10));
	pipe(p);
	R(fallocate(p[1], 0, 0, 10));
	R(posix_fallocate(fd, 0, 200));
	size_is(fd);
	R(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
	R(posix_fadvise(p[0], 0, 0, POSIX_FADV_SEQUENTIAL));
	R(posix_fadvise(fd, 0, 0, 99));
}

/* A hole makes no file longer, wherever it ends. */
static void test_hole_at_the_end(void)
{
	int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[16] = "";

	write(fd, "0123456789", 10);
	R(fallocate(fd, hole, 10, 1));
	size_is(fd);
	R(fallocate(fd, hole, 100, 50));
	size_is(fd);
	R(fallocate(fd, hole, 8, 5000));
	size_is(fd);
	R(pread(fd, buf, sizeof(buf), 0));
	say("%s %d", buf, buf[9]);
}

static void test_truncate(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), ro = open("f", O_RDONLY);
	char buf[8] = "";

	write(fd, "0123456789", 10);
	R(ftruncate(fd, 4));
	R(ftruncate(fd, 8));
	R(pread(fd, buf, 8, 0));
	say("%.4s %d", buf, buf[4]);
	R(truncate("f", 3));
	size_is(fd);
	R(ftruncate(fd, -1));
	R(truncate("f", -1));
	R(ftruncate(ro, 1));
	R(truncate("none", 1));
	R(truncate(".", 1));
	R(truncate(BAD, 1));
	R(ftruncate(99, 1));
}

static void test_chown(void)
{
	struct stat st;
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	uid_t me = getuid();
	gid_t mine = getgid();

	symlink("none", "l");
	R(chown("f", me, mine));
	R(fchown(fd, -1, mine));
	R(lchown("l", me, -1));
	R(fchownat(AT_FDCWD, "l", me, mine, AT_SYMLINK_NOFOLLOW));
	R(fchownat(fd, "", me, mine, AT_EMPTY_PATH));
	R(fchownat(AT_FDCWD, "f", me, mine, 0x10));
	R(chown("none", me, mine));
	R(chown("l", me, mine));
	R(fchown(99, me, mine));
	stat("f", &st);
	T(st.st_uid == me && st.st_gid == mine);
	R(chmod("f", 07777));
	stat("f", &st);
	say("%o", st.st_mode & 0777);
	R(fchmod(fd, 0604));
	fstat(fd, &st);
	say("%o", st.st_mode);
}

static void test_times(void)
{
	struct timespec t[2] = {{1, 2}, {1000000000, 5}}, bad[2] = {{0, 0}, {0, 1000000000}};
	struct stat st;
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	R(utimensat(AT_FDCWD, "f", t, 0));
	stat("f", &st);
	say("%ld %ld", (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
	t[1].tv_nsec = UTIME_OMIT;
	R(futimens(fd, t));
	stat("f", &st);
	say("%ld", (long)st.st_mtim.tv_sec);
	R(futimens(fd, NULL));
	stat("f", &st);
	T(st.st_mtim.tv_sec > 1000000000);
	R(utimensat(AT_FDCWD, "f", bad, 0));
	R(utimensat(AT_FDCWD, "none", NULL, 0));
	R(utimensat(AT_FDCWD, "f", BAD, 0));
}

static void make_old(const char *name)
{
	const struct timespec t[2] = {{1, 0}, {1, 0}};

	utimensat(AT_FDCWD, name, t, 0);
}

static void has_changed(const char *what, const char *name)
{
	struct stat st;

	stat(name, &st);
	say("%s: %s is %s", what, name, st.st_mtim.tv_sec > 1 ? "new" : "old");
	make_old(name);
}

/* Calls that change the contents of a file set its time; pread(), fchmod() and rename() do not. */
static void test_time_of_change(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char c;

	make_old("f");
	R(write(fd, "text", 4));
	has_changed("write", "f");
	R(pwrite(fd, "T", 1, 0));
	has_changed("pwrite", "f");
	R(pread(fd, &c, 1, 0));
	has_changed("pread", "f");
	R(fchmod(fd, 0640));
	has_changed("fchmod", "f");
	R(ftruncate(fd, 2));
	has_changed("ftruncate", "f");
	R(truncate("f", 5));
	has_changed("truncate", "f");
	R(rename("f", "g"));
	has_changed("rename", "g");
	close(open("g", O_WRONLY | O_TRUNC));
	has_changed("O_TRUNC", "g");
}

/* The time of a directory is that of its names. */
static void test_time_of_names(void)
{
	int fd;

	mkdir("d", 0755);
	mkdir("e", 0755);
	make_old("d");
	make_old("e");
	fd = open("d/f", O_RDWR | O_CREAT, 0600);
	has_changed("open", "d");
	R(write(fd, "text", 4));
	has_changed("write", "d");
	R(symlink("f", "d/l"));
	has_changed("symlink", "d");
	R(link("d/f", "d/g"));
	has_changed("link", "d");
	R(rename("d/g", "e/g"));
	has_changed("rename", "d");
	has_changed("rename", "e");
	R(unlink("d/l"));
	has_changed("unlink", "d");
	R(mkdir("d/sub", 0755));
	has_changed("mkdir", "d");
	R(rmdir("d/sub"));
	has_changed("rmdir", "d");
	R(mkdir("d", 0755));
	has_changed("mkdir", "d");
}

static void test_close_range(void)
{
	int n = 0;

	for (int fd = 20; fd < 30; fd++)
		dup2(1, fd);
	R(close_range(22, 25, 0));
	R(close_range(26, 27, CLOSE_RANGE_CLOEXEC));
	for (int fd = 20; fd < 30; fd++)
		n = n * 10 + (fcntl(fd, F_GETFD) < 0 ? 9 : fcntl(fd, F_GETFD));
	say("%d", n);
	R(close_range(5, 4, 0));
	R(close_range(20, ~0u, 0));
	R(close_range(20, 30, 64));
	R(fcntl(29, F_GETFD));
}

/* A range that begins where no process has a descriptor is empty, and no error. */
static void test_close_range_beyond(void)
{
	R(close_range(1 << 20, ~0u, 0));
	R(close_range(1 << 20, 1 << 20, CLOSE_RANGE_CLOEXEC));
	R(close_range(~0u, ~0u, 0));
	R(close_range(1 << 20, (1 << 20) - 1, 0));
	R(fcntl(1, F_GETFD));
}

static void test_dup(void)
{
	int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	R(dup2(fd, 50));
	R(fcntl(50, F_GETFD));
	R(dup3(fd, 51, O_CLOEXEC));
	R(fcntl(51, F_GETFD));
	R(dup3(fd, fd, 0));
	R(dup2(fd, -1));
	R(dup2(99, 50));
	R(dup(99));
	R(fcntl(fd, F_DUPFD, 60));
	R(fcntl(fd, F_DUPFD_CLOEXEC, 60));
	R(fcntl(fd, F_DUPFD, -1));
	R(write(50, "abc", 3));
	R(lseek(fd, 0, SEEK_CUR));
	R(fcntl(fd, F_SETFL, O_APPEND));
	R(fcntl(50, F_GETFL) & O_APPEND);
	R(fcntl(fd, 9999));
}

/* Counts the descriptors that an exec closes, high numbers included. */
static int closed_by_exec(void)
{
	int n = 0;

	for (int fd = 3; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) == FD_CLOEXEC;
	return n;
}

static void count_inherited(void)
{
	say("%d in the child", closed_by_exec());
}

/* A call that cannot give its descriptors to the caller has none of them left. */
static void test_descriptors_given_back(void)
{
	int other = open("f", O_RDWR | O_CREAT, 0600);

	close(other);
	R(syscall(SYS_pipe, BAD));
	R(syscall(SYS_pipe2, BAD, O_CLOEXEC));
	R(syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, BAD));
	T(open("f", O_RDWR) == other);
	T(dup(other) == other + 1);
	T(open("f", O_RDWR) == other + 2);
}

static void test_descriptors(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	for (int at = 60; at < 1000; at += 47)
		dup3(fd, at, O_CLOEXEC);
	dup2(fd, 63);
	dup2(fd, 64);
	say("%d", closed_by_exec());
	in_child(count_inherited);
	close(201);
	R(dup2(fd, 201));
	R(fcntl(201, F_GETFD));
	R(dup2(fd, 107));
	R(fcntl(107, F_GETFD));
	say("%d", closed_by_exec());
}

#define MOST 1024

/* Of the descriptors a process may have the last one, and the one after it. */
static void test_most_descriptors(void)
{
	struct rlimit limit = {MOST, MOST};
	int fd = open("f", O_RDWR | O_CREAT, 0600), ends[2] = {-1, -1}, n;

	R(setrlimit(RLIMIT_NOFILE, &limit));
	R(dup2(fd, MOST));
	R(dup3(fd, MOST, O_CLOEXEC));
	R(fcntl(fd, F_DUPFD, MOST));
	R(dup2(fd, MOST - 1) == MOST - 1);
	R(fcntl(MOST - 1, F_GETFD));
	R(fcntl(MOST, F_GETFD));
	R(fcntl(fd, F_DUPFD, MOST - 1));
	R(fcntl(fd, F_DUPFD_CLOEXEC, MOST - 2));
	R(fcntl(MOST - 2, F_GETFD));
	R(fcntl(fd, F_DUPFD, MOST - 3));
	R(fcntl(fd, F_DUPFD, MOST - 3));
	for (n = fd; n >= 0;)
		n = dup(fd);
	say("%s", strerrorname_np(errno));
	R(open("f", O_RDONLY));
	R(open("not made", O_WRONLY | O_CREAT, 0600));
	R(access("not made", F_OK));
	write(fd, "contents", 8);
	R(open("f", O_WRONLY | O_TRUNC));
	size_is(fd);
	R(pipe(ends));
	close(500);
	R(pipe(ends)); /* room for one end only */
	say("%d %d", ends[0], ends[1]);
	R(dup(fd));
	close(501);
	close(700);
	R(pipe(ends));
	say("%d %d", ends[0], ends[1]);
	R(dup(fd));
	in_child(count_inherited);
	R(close_range(3, ~0u, 0));
	R(dup(1));
}

/* A copy of a descriptor shares the position, and not the close-on-exec flag. */
static void test_dup_flags(void)
{
	int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0600), n = 0;

	R(fcntl(dup(fd), F_GETFD));
	R(fcntl(fcntl(fd, F_DUPFD, 70), F_GETFD));
	R(fcntl(fcntl(fd, F_DUPFD_CLOEXEC, 200), F_GETFD));
	R(fcntl(200, F_SETFD, 0));
	R(fcntl(200, F_GETFD));
	R(fcntl(70, F_SETFD, 3));
	R(fcntl(70, F_GETFD));
	R(fcntl(71, F_SETFD, 1));
	for (int i = 300; i < 330; i++)
		n += fcntl(i, F_GETFD) != -1;
	close(200);
	R(dup2(fd, 200));
	R(fcntl(200, F_GETFD));
	dup3(fd, 330, O_CLOEXEC);
	close(330);
	R(fcntl(1, F_DUPFD, 330));
	R(fcntl(330, F_GETFD)); /* nothing is left of the one before it */
	R(dup3(fd, 331, O_CLOEXEC));
	R(dup2(331, 331));
	R(fcntl(331, F_GETFD));
	R(dup3(331, 331, O_CLOEXEC));
	R(dup3(fd, 332, O_APPEND));
	say("%d", n);
}

/* Places at the end of a file, one before it and one after it; none where there is no place. */
static void test_seek(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), fifo, ends[2];
	char c = 0;

	write(fd, "0123456789", 10);
	R(lseek(fd, 9, SEEK_DATA));
	R(lseek(fd, 10, SEEK_DATA));
	R(lseek(fd, 9, SEEK_HOLE));
	R(lseek(fd, 10, SEEK_HOLE));
	R(lseek(fd, 11, SEEK_HOLE));
	R(lseek(fd, -1, SEEK_HOLE));
	R(lseek(fd, -1, SEEK_DATA));
	R(lseek(fd, -10, SEEK_END));
	R(lseek(fd, -11, SEEK_END));
	R(lseek(fd, 0, SEEK_CUR));
	R(lseek(fd, -1, SEEK_CUR));
	R(lseek(fd, -1, SEEK_SET));
	R(lseek(fd, 3, SEEK_CUR));
	R(lseek(fd, 5, 5));
	R(lseek(fd, 10, SEEK_SET));
	R(read(fd, &c, 1));
	R(pread(fd, &c, 1, 9));
	R(pread(fd, &c, 1, 10));
	R(pwrite(fd, "x", 1, -1));
	R(pread(fd, &c, 0, -1));
	mkfifo("fifo", 0600);
	fifo = open("fifo", O_RDWR | O_NONBLOCK);
	R(pread(fifo, &c, 1, 0));
	R(pwrite(fifo, "x", 1, 0));
	R(lseek(fifo, 0, SEEK_CUR));
	R(read(fifo, &c, 1));
	pipe(ends);
	R(pread(ends[0], &c, 1, 0));
	R(pwrite(ends[1], "x", 1, 0));
	R(ftruncate(ends[1], 0));
	R(ftruncate(fifo, 0));
	R(truncate("fifo", 0));
	R(ftruncate(open(".", O_RDONLY), 0));
}

static void test_umask(void)
{
	struct stat st;

	umask(027);
	close(open("g", O_WRONLY | O_CREAT, 0666));
	mkdir("d", 0777);
	mkfifo("p", 0666);
	stat("g", &st);
	say("%o", st.st_mode);
	stat("d", &st);
	say("%o", st.st_mode);
	stat("p", &st);
	say("%o", st.st_mode);
	umask(0);
	close(open("h", O_WRONLY | O_CREAT, 0666));
	stat("h", &st);
	say("%o", st.st_mode);
}

static void test_devices(void)
{
	static char big[300000];
	int zero = open("/dev/zero", O_RDWR), full = open("/dev/full", O_RDWR);
	int null = open("/dev/null", O_RDWR);
	struct iovec v[2] = {{big, 100000}, {big + 100000, 200000}};
	long sum = 0;

	memset(big, 1, sizeof(big));
	R(read(zero, big, sizeof(big)));
	for (size_t i = 0; i < sizeof(big); i++)
		sum += big[i];
	say("%ld", sum);
	R(readv(zero, v, 2));
	R(write(zero, big, sizeof(big)));
	R(read(full, big, sizeof(big)));
	R(write(full, big, sizeof(big)));
	R(write(full, big, 0));
	R(read(null, big, 10));
	R(write(null, big, sizeof(big)));
	R(lseek(zero, 1000, SEEK_SET));
	R(pread(zero, big, sizeof(big), 5));
	R(read(zero, BAD, 10));
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
	T(p != MAP_FAILED);
	if (p != MAP_FAILED) {
		say("%d", p[5000]);
		p[5000] = 3;
	}
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
	T(p != MAP_FAILED);
	R(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, null, 0));
}

/* A device that has no places takes any, but none before the first. */
static void test_device_places(void)
{
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	char c = 1;

	R(pwrite(null, &c, 1, 1L << 40));
	R(pwrite(null, &c, 1, -1));
	R(pwrite(zero, &c, 0, -1));
	R(pread(zero, &c, 1, -1));
	R(pread(null, &c, 1, -1));
	R(pwrite(99, &c, 1, -1));
	R(pread(99, &c, 1, -1));
}

static void test_names(void)
{
	char buf[64] = "";
	struct stat st;
	int dir;

	R(mkdir("d", 0755));
	R(mkdir("d", 0755));
	R(rename("d", "e"));
	R(rmdir("d"));
	R(symlink("e", "l"));
	R(readlink("l", buf, sizeof(buf)));
	say("%s", buf);
	R(readlink("e", buf, sizeof(buf)));
	R(readlink("l", buf, 0));
	R(link("none", "x"));
	close(open("e/f", O_WRONLY | O_CREAT, 0600));
	R(link("e/f", "e/g"));
	stat("e/g", &st);
	say("%ld", (long)st.st_nlink);
	R(rmdir("e"));
	R(unlink("e"));
	R(unlink("e/f"));
	R(rename("e/g", "none/g"));
	R(access("e/g", X_OK));
	R(access("e/g", R_OK));
	R(access("e/g", 9));
	R(faccessat(AT_FDCWD, "e", X_OK, 0));
	dir = open("e", O_RDONLY | O_DIRECTORY);
	R(openat(dir, "none", O_RDONLY));
	R(unlinkat(dir, "g", 0));
	R(unlinkat(AT_FDCWD, "e", AT_REMOVEDIR));
	R(fchdir(dir));
	R(open("x", O_RDONLY | O_CREAT, 0600));
	R(openat(99, "x", O_RDONLY));
	R(open("/etc/none/x", O_RDONLY));
	R(open("", O_RDONLY));
	R(mkdir("", 0700));
	R(chdir("/none"));
}

static int next_number(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Calls that give descriptors and cannot report them leave none open. */
static void test_unreported(void)
{
	int next = next_number();

	R(dup2(77, 77));
	R(dup3(77, 77, 0));
	R(syscall(SYS_pipe2, BAD, 0));
	R(syscall(SYS_pipe2, NULL, O_NONBLOCK));
	R(syscall(SYS_pipe2, BAD, O_APPEND));
	R(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, BAD));
	R(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 1, BAD));
	T(fcntl(next, F_GETFD) == -1 && fcntl(next + 1, F_GETFD) == -1);
}

/* F_SETFL changes some flags of an open file, and never whether it can be read or written. */
static void test_set_flags(void)
{
	int fd = open("file", O_RDONLY | O_CREAT, 0600), on = 1;

	R(fcntl(fd, F_SETFL, -1 & ~(O_DIRECT | O_ASYNC | O_NOATIME)));
	say("%#x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	R(write(fd, "x", 1));
	R(fcntl(fd, F_SETFL, O_RDWR));
	say("%#x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	R(write(fd, "x", 1));
	R(ioctl(fd, FIONBIO, &on));
	say("%#x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	R(ioctl(fd, FIOCLEX));
	R(fcntl(fd, F_GETFD));
	R(ioctl(fd, FIONCLEX));
	R(fcntl(fd, F_GETFD));
	R(fsync(open(".", O_RDONLY)));
	R(fdatasync(open(".", O_RDONLY)));
	R(fdatasync(fd));
}

static void parts(int fd, struct iovec *v, ssize_t (*call)(int, const struct iovec *, int))
{
	lseek(fd, 0, SEEK_SET);
	R(call(fd, v, 3));
	R(lseek(fd, 0, SEEK_CUR));
}

/* Memory that ends where a call begins or goes on, and vectors that are none. */
static void test_vectors_end(void)
{
	char text[] = "0123456789", *page;
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	struct iovec v[3] = {{text, 5}, {BAD, 2}, {text + 5, 5}};

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	R(write(fd, page + 4096, 1));
	R(read(fd, page + 4096, 1));
	R(write(fd, page + 4095, 1));
	R(lseek(fd, 0, SEEK_END));
	v[0].iov_len = 0;
	v[1].iov_len = 0;
	parts(fd, v, writev);
	v[1] = (struct iovec){text, -1};
	parts(fd, v, writev);
	parts(fd, v, readv);
	R(writev(fd, NULL, 1));
	R(writev(fd, NULL, 0));
	R(readv(fd, v, -1));
	R(writev(99, v, 1));
}

/* FIONBIO makes an open file wait again, for all its descriptors. */
static void test_waits_again(void)
{
	int on = 1, off = 0, p[2], copy;
	char c;

	pipe(p);
	copy = dup(p[0]);
	R(ioctl(p[0], FIONBIO, &on));
	R(read(copy, &c, 1));
	R(ioctl(copy, FIONBIO, &off));
	R(fcntl(p[0], F_GETFL) & O_NONBLOCK);
	R(ioctl(p[0], FIONBIO, BAD));
	R(fcntl(copy, F_GETFL) & O_NONBLOCK);
}

/* As many parts as a call may have; empty ones lead nowhere. */
static void test_vectors_most(void)
{
	static struct iovec v[1025];
	static char text[2000], read_back[2000];
	int fd = open("file", O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 2000; i++)
		text[i] = 'a' + i % 26;
	for (int i = 0; i < 1025; i++)
		v[i] = (struct iovec){text + i, 1};
	R(writev(fd, v, 1024));
	R(writev(fd, v, 1025));
	R(readv(fd, v, -1));
	lseek(fd, 0, SEEK_SET);
	for (int i = 0; i < 1024; i++)
		v[i] = i % 3 ? (struct iovec){BAD, 0} : (struct iovec){read_back + i / 3, 1};
	R(readv(fd, v, 1024));
	T(!memcmp(text, read_back, 342));
	v[5] = (struct iovec){BAD, 1};
	lseek(fd, 0, SEEK_SET);
	R(readv(fd, v + 4, 3));
	v[5] = (struct iovec){text, -1};
	R(readv(fd, v, 10));
}

const struct call_case file_cases[] = {
    {"statx", test_statx},
    {"fallocate", test_fallocate},
    {"fallocate_hole_at_the_end", test_hole_at_the_end},
    {"truncate", test_truncate},
    {"chown", test_chown},
    {"times", test_times},
    {"times_of_changes", test_time_of_change},
    {"times_of_names", test_time_of_names},
    {"close_range", test_close_range},
    {"close_range_beyond", test_close_range_beyond},
    {"dup", test_dup},
    {"descriptors", test_descriptors},
    {"descriptors_most", test_most_descriptors},
    {"descriptors_flags", test_dup_flags},
    {"seek", test_seek},
    {"umask", test_umask},
    {"devices", test_devices},
    {"device_places", test_device_places},
    {"names", test_names},
    {"descriptors_unreported", test_unreported},
    {"descriptors_given_back", test_descriptors_given_back},
    {"descriptors_set_flags", test_set_flags},
    {"descriptors_wait_again", test_waits_again},
    {"vectors_end", test_vectors_end},
    {"vectors_most", test_vectors_most},
    {NULL, NULL},
};
