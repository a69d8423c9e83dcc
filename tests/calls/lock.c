/* fcntl's locks of processes and of open files; flock. */
#include "tests/calls/calls.h"

#include <pthread.h>
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

static void on_alarm(int sig)
{
	(void)sig;
}

static int lock_of_open_file(int of, off_t at)
{
	struct flock l = range(F_WRLCK, at, 1);

	return fcntl(of, F_OFD_SETLKW, &l);
}

/*
 * Two open files whose users wait for each other's locks: as on Linux no call finds that out, and
 * a signal ends the wait.
 */
static void test_wait_for_each_other(void)
{
	struct itimerval soon = {{0, 10000}, {0, 10000}}, never = {0};
	struct sigaction act = {.sa_handler = on_alarm};
	int one = open("f", O_RDWR | O_CREAT, 0600), two = open("f", O_RDWR);
	pid_t pid;

	R(lock_of_open_file(one, 0));
	R(lock_of_open_file(two, 1));
	pid = fork();
	if (!pid)
		_exit(lock_of_open_file(two, 0));
	wait_until_asleep(pid);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	R(lock_of_open_file(one, 1));
	setitimer(ITIMER_REAL, &never, NULL);
	T(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	R(close(two));
	R(lock_of_open_file(one, 1));
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

static void want_it_alone(void)
{
	_exit(flock(fd, LOCK_EX));
}

/* A lock that becomes one of another kind is given up first, though that one cannot be had. */
static void test_flock_changed(void)
{
	int first = open("f", O_RDWR | O_CREAT, 0600), second = open("f", O_RDWR), status;
	pid_t pid;

	R(flock(first, LOCK_SH));
	R(flock(second, LOCK_SH));
	R(flock(first, LOCK_EX | LOCK_NB));
	R(flock(second, LOCK_EX | LOCK_NB));
	R(flock(first, LOCK_SH | LOCK_NB));
	R(flock(second, LOCK_SH | LOCK_NB));
	R(flock(first, LOCK_SH | LOCK_NB));
	fd = first;
	pid = fork();
	if (!pid)
		want_it_alone();
	wait_until_asleep(pid);
	R(flock(second, LOCK_EX | LOCK_NB));
	R(flock(second, LOCK_UN));
	waitpid(pid, &status, 0);
	say("%#x", status);
	R(flock(second, LOCK_SH | LOCK_NB));
}

static void look_at_each(void)
{
	static const off_t at[] = {0, 9, 10, 39, 40, 49, 50, 59, 60, 99, 100};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		test("write", F_WRLCK, at[i], 1);
		test("read", F_RDLCK, at[i], 1);
	}
	test("from 50 on", F_WRLCK, 50, 0);
}

static void *take_first_byte(void *unused)
{
	struct flock l = range(F_WRLCK, 0, 1);

	R(fcntl(fd, F_SETLK, &l));
	return unused;
}

static void look_at_first_byte(void)
{
	test("first byte", F_RDLCK, 0, 1);
}

/* The lock that a thread takes is its process's: F_GETLK names that. */
static void test_of_a_thread(void)
{
	pthread_t t;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	pthread_create(&t, NULL, take_first_byte, NULL);
	pthread_join(t, NULL);
	in_child(look_at_first_byte);
	look_at_first_byte();
}

static void lock_from(int whence, off_t start, off_t len)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = whence, .l_start = start, .l_len = len};

	say("whence %d, %ld, %ld", whence, (long)start, (long)len);
	if (R(fcntl(fd, F_SETLK, &l)) == 0)
		in_child(look);
	l = range(F_UNLCK, 0, 0);
	fcntl(fd, F_SETLK, &l);
}

/* Ranges from the place of the file and from its end, forwards and backwards. */
static void test_whence(void)
{
	fd = open("f", O_RDWR | O_CREAT, 0600);
	ftruncate(fd, 100);
	lseek(fd, 30, SEEK_SET);
	lock_from(SEEK_SET, 20, -5);
	lock_from(SEEK_SET, 20, -20);
	lock_from(SEEK_SET, 20, -21);
	lock_from(SEEK_CUR, 0, 5);
	lock_from(SEEK_CUR, -10, -20);
	lock_from(SEEK_CUR, -31, 5);
	lock_from(SEEK_END, 0, -1);
	lock_from(SEEK_END, 0, 0);
	lock_from(SEEK_END, -100, 1);
	lock_from(SEEK_END, -101, 1);
	lock_from(SEEK_END, 0, INT64_MAX - 99);
	lock_from(SEEK_END, 0, INT64_MAX);
	lock_from(SEEK_SET, 0, INT64_MIN);
}

/* Neighbours of one type are one lock, others are not; a lock that loses its middle is two. */
static void test_ranges(void)
{
	struct flock l = range(F_RDLCK, 0, 10);

	fd = open("f", O_RDWR | O_CREAT, 0600);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_WRLCK, 10, 30);
	R(fcntl(fd, F_SETLK, &l));
	l = range(F_WRLCK, 60, 40);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
	l = range(F_WRLCK, 40, 20);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
	l = range(F_UNLCK, 50, 10);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
	l = range(F_RDLCK, 39, 2);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
	l = range(F_UNLCK, 99, 0); /* the last byte, and all after it */
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
	l = range(F_UNLCK, 0, 0);
	R(fcntl(fd, F_SETLK, &l));
	in_child(look_at_each);
}

/* The parent has a lock, which goes when let_go() does its work; a child waits for it. */
static void wait_until_let_go(int (*take)(void), void (*let_go)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(take() < 0);
	wait_until_asleep(pid);
	let_go();
	waitpid(pid, &status, 0);
	say("the other has it: %#x", status);
}

static int take_own(void)
{
	struct flock l = range(F_WRLCK, 0, 1);

	return fcntl(open("f", O_RDWR), F_SETLKW, &l);
}

static int take_flock(void)
{
	return flock(open("f", O_RDWR), LOCK_EX);
}

static int take_open_file(void)
{
	struct flock l = range(F_WRLCK, 0, 1);

	return fcntl(open("f", O_RDWR), F_OFD_SETLKW, &l);
}

static int second;

static void close_first(void)
{
	R(close(fd));
}

static void close_second(void)
{
	R(close(second));
}

static void replace_second(void)
{
	R(dup2(1, second) == second);
}

static void close_second_of_range(void)
{
	R(close_range(second, second, 0));
}

/* The first descriptor of the file that is closed in any way takes the process's locks with it. */
static void test_dropped(void)
{
	static void (*const ways[])(void) = {
	    close_first, close_second, replace_second, close_second_of_range};
	struct flock l = range(F_WRLCK, 0, 1);

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		fd = open("f", O_RDWR | O_CREAT, 0600);
		second = i % 2 ? open("f", O_RDONLY) : dup(fd);
		R(fcntl(fd, F_SETLK, &l));
		wait_until_let_go(take_own, ways[i]);
		close(fd);
		close(second);
	}
}

/* Locks of an open file stay until its last descriptor is closed, in whichever process. */
static void lock_open_file(bool whole)
{
	struct flock l = range(F_WRLCK, 0, 1);

	fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	second = dup(fd);
	if (whole)
		R(flock(fd, LOCK_EX));
	else
		R(fcntl(fd, F_OFD_SETLK, &l));
	R(close(fd));
	fd = open("f", O_RDWR);
	R(whole ? flock(fd, LOCK_SH | LOCK_NB) : fcntl(fd, F_OFD_SETLK, &l));
}

static void test_last_close(void)
{
	lock_open_file(true);
	close(second);
	R(flock(fd, LOCK_SH | LOCK_NB));
	close(fd);
	lock_open_file(false);
	close(second);
	R(fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK, .l_len = 1}));
	close(fd);
}

/* Here the waiter has no copy of the descriptor: it would keep the lock itself. */
static void wait_for_last_close(int (*take)(void), bool whole)
{
	int ready[2], status;
	pid_t pid;
	char c;

	pipe(ready);
	pid = fork();
	if (!pid) {
		close(ready[1]);
		read(ready[0], &c, 1);
		_exit(take() < 0);
	}
	lock_open_file(whole);
	close(fd);
	write(ready[1], "x", 1);
	wait_until_asleep(pid);
	usleep(2000);
	wait_until_asleep(pid);
	close_second();
	waitpid(pid, &status, 0);
	say("the other has it: %#x", status);
}

static void test_last_close_wakes(void)
{
	wait_for_last_close(take_flock, true);
	wait_for_last_close(take_open_file, false);
}

/* A process that ends lets its locks go, and so does one that becomes another program. */
static void hold_and_end(bool by_exec)
{
	struct flock l = range(F_WRLCK, 0, 1);
	int ready[2], end[2], status;
	pid_t pid;
	char c;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	pipe(ready);
	pipe(end);
	pid = fork();
	if (!pid) {
		dup2(end[0], 0);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(ready[1], F_SETFD, FD_CLOEXEC);
		close(end[1]);
		R(fcntl(fd, F_SETLK, &l));
		write(ready[1], "x", 1);
		read(0, &c, 1);
		if (by_exec)
			execl("/bin/sh", "sh", "-c", "read line", NULL);
		_exit(0);
	}
	close(ready[1]);
	read(ready[0], &c, 1);
	R(fcntl(fd, F_SETLK, &l));
	write(end[1], "x", 1);
	R(fcntl(fd, F_SETLKW, &l));
	R(read(ready[0], &c, 1));
	close(end[1]);
	waitpid(pid, &status, 0);
	close(fd);
}

static void test_ends(void)
{
	hold_and_end(false);
	hold_and_end(true);
}

static void set_many(void)
{
	struct flock l;

	for (int i = 0; i < 100; i++) {
		l = range(F_WRLCK, i * 2, 1);
		fcntl(fd, F_SETLK, &l);
	}
}

/* No lock outlives its owner. */
static void test_gone(void)
{
	struct flock l = range(F_WRLCK, 0, 0);
	int other;

	fd = open("f", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 3; i++)
		in_child(set_many);
	R(fcntl(fd, F_SETLK, &l));
	other = open("f", O_RDWR);
	close(dup(fd)); /* which drops those of the process */
	R(fcntl(other, F_OFD_SETLK, &l));
	close(dup(other)); /* and not those of the open file */
	in_child(look_at_each);
	close(other);
	in_child(look_at_each);
}

/* A file that is open only for reading, or only for writing, can be locked for that alone. */
static void test_modes(void)
{
	static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR};
	static const int types[] = {F_RDLCK, F_WRLCK, F_UNLCK};

	close(open("f", O_RDWR | O_CREAT, 0600));
	for (int i = 0; i < 3; i++) {
		fd = open("f", modes[i]);
		for (int k = 0; k < 3; k++) {
			struct flock l = range(types[k], 0, 1);

			R(fcntl(fd, F_SETLK, &l));
			R(fcntl(fd, F_OFD_SETLK, &l));
			R(fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK}));
			R(fcntl(fd, F_GETLK, &l));
		}
		close(fd);
	}
}

const struct call_case lock_cases[] = {
    {"locks_posix", test_posix},
    {"locks_waits", test_waits},
    {"locks_deadlock", test_deadlock},
    {"locks_wait_for_each_other", test_wait_for_each_other},
    {"locks_open_file", test_open_file},
    {"locks_gone", test_gone},
    {"locks_flock", test_flock},
    {"locks_flock_changed", test_flock_changed},
    {"locks_of_a_thread", test_of_a_thread},
    {"locks_whence", test_whence},
    {"locks_ranges", test_ranges},
    {"locks_dropped", test_dropped},
    {"locks_last_close", test_last_close},
    {"locks_last_close_wakes", test_last_close_wakes},
    {"locks_end", test_ends},
    {"locks_modes", test_modes},
    {NULL, NULL},
};
