/* fcntl's locks of processes and of open files; flock. */
#include "tests/calls/calls.h"

#include <sys/file.h>

static int fd;

static struct flock range(int type, off_t start, off_t len)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
}

static void test(const char *what, int type, off_t start, off_t len)
{
	struct flock l = range(type, start, len);

	R(fcntl(fd, F_GETLK, &l));
	say("%s: type %d from %ld length %ld%s", what, l.l_type, (long)l.l_start, (long)l.l_len,
	    l.l_type != F_UNLCK && l.l_pid == getppid() ? " of the parent" : "");
}

static void look(void)
{
	struct flock l = range(F_WRLCK, 0, 1);

	test("all", F_WRLCK, 0, 0);
	test("before", F_WRLCK, 0, 10);
	test("behind", F_WRLCK, 200, 10);
	test("reading", F_RDLCK, 0, 0);
	l = range(F_WRLCK, 15, 1);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_RDLCK, 15, 1);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_WRLCK, 500, 0);
	R(fcntl(fd, F_SETLK, &l));
}

static void test_posix(void)
{
	struct flock l = range(F_RDLCK, 10, 90);
	int ro;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look);
	l = range(F_UNLCK, 40, 10);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look);
	l = range(F_WRLCK, 50, 0);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_WRLCK, 0, 50);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look);
	close(open("f", O_RDONLY));
	in_child(look);
	l = range(F_WRLCK, 0, 0);
	ro = open("f", O_RDONLY);
	R(fcntl(ro, F_SETLK, &l));
	l.l_type = 7;
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_RDLCK, -1, 0);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_RDLCK, 5, -10);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_RDLCK, 0, 0);
	l.l_whence = 9;
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_RDLCK, 100, INT64_MAX);
	R(fcntl(fd, F_SETLK, &l));
	R(fcntl(fd, F_SETLK, BAD));
	R(fcntl(99, F_SETLK, &l));
	ftruncate(fd, 100);
	l = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -10, .l_len = -10};
	R(fcntl(fd, F_SETLK, &l));
	in_child(look);
}

static void wait_for_it(void)
{
	struct flock l = range(F_WRLCK, 0, 1);

	R(fcntl(fd, F_SETLKW, &l));
}

static void test_waits(void)
{
	struct flock l = range(F_WRLCK, 0, 1);
	int status;
	pid_t pid;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	R(fcntl(fd, F_SETLK, &l));
	pid = fork();
	if (!pid) {
		wait_for_it();
		_exit(0);
	}
	wait_until_asleep(pid);
	l.l_type = F_UNLCK;
	long freed = fcntl(fd, F_SETLK, &l);
	waitpid(pid, &status, 0);
	say("freed %ld, status %#x", freed, status);
}

static void test_deadlock(void)
{
	struct flock a = range(F_WRLCK, 0, 1), b = range(F_WRLCK, 1, 1);
	int status, p[2];
	pid_t pid;
	char c;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	pipe(p);
	R(fcntl(fd, F_SETLKW, &a));
	pid = fork();
	if (!pid) {
		fcntl(fd, F_SETLKW, &b);
		write(p[1], "x", 1);
		fcntl(fd, F_SETLKW, &a); /* waits for us; then it ends */
		_exit(3);
	}
	read(p[0], &c, 1);
	wait_until_asleep(pid);
	R(fcntl(fd, F_SETLKW, &b));
	a.l_type = F_UNLCK;
	R(fcntl(fd, F_SETLKW, &a));
	waitpid(pid, &status, 0);
	say("status %#x", status);
}

static void test_open_file(void)
{
	struct flock l = range(F_WRLCK, 0, 10);
	int other;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	other = open("f", O_RDWR);
	R(fcntl(fd, F_OFD_SETLK, &l));
	R(fcntl(other, F_OFD_SETLK, &l));
	R(fcntl(fd, F_SETLK, &l));
	R(fcntl(other, F_OFD_GETLK, &l));
	say("type %d pid %d", l.l_type, l.l_pid);
	l = range(F_WRLCK, 0, 10);
	l.l_pid = 1;
	R(fcntl(fd, F_OFD_SETLK, &l));
	l.l_pid = 0;
	close(fd);
	R(fcntl(other, F_OFD_SETLK, &l));
}

static void try_flock(void)
{
	int mine = open("f", O_RDONLY);

	R(flock(fd, LOCK_EX | LOCK_NB));
	R(flock(mine, LOCK_SH | LOCK_NB));
	R(flock(mine, LOCK_EX | LOCK_NB));
}

static void test_flock(void)
{
	fd = open("f", O_RDWR | O_CREAT, 0600);
	R(flock(fd, LOCK_SH));
	in_child(try_flock);
	R(flock(fd, LOCK_EX));
	in_child(try_flock);
	R(flock(fd, LOCK_UN));
	R(flock(fd, LOCK_UN));
	in_child(try_flock);
	R(flock(fd, 0));
	R(flock(fd, LOCK_SH | LOCK_EX));
	R(flock(99, LOCK_SH));
}

const struct call_case lock_cases[] = {
    {"locks_posix", test_posix},
    {"locks_waits", test_waits},
    {"locks_deadlock", test_deadlock},
    {"locks_open_file", test_open_file},
    {"locks_flock", test_flock},
    {NULL, NULL},
};
