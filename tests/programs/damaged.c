/*
 * damaged [NUMBER [SEED]]: runs NUMBER copies (100) of /bin/toolbox, as `true`, each with a few
 * wrong bytes in its headers, truncated or too long. execve() must refuse a copy with an error, or
 * the copy exits, dies by a signal, or is killed by this program after 50 ms.
 */
#include "tests/programs/random.h"
#include "tests/programs/raw.h"

#include <stdbool.h>

enum { O_CREATE = 0100, O_TRUNCATE = 01000, FILE_MAX = 1 << 20, HEADERS = 64 + 12 * 56 };
#define COPY "/tmp/damaged"
#define LATE 111 /* exit status: execve() returned, with an error */

static unsigned char whole[FILE_MAX], copy[FILE_MAX + 5000];
static long size;

static void load(void)
{
	long fd = syscall3(SYS_open, (long)"/bin/toolbox", 0, 0), n;

	CHECK(fd >= 0);
	while ((n = syscall3(SYS_read, fd, (long)whole + size, sizeof(whole) - size)) > 0)
		size += n;
	syscall1(SYS_close, fd);
	CHECK(size > HEADERS && size < FILE_MAX);
}

static long damage(void)
{
	static const unsigned long words[] = {
	    0, 1, ~0UL, 1UL << 63, 0x7fffffffffff, 0x1000, 0xffff};
	unsigned times = 1 + any(3);
	long n = size;

	memcpy(copy, whole, size);
	while (times--) {
		unsigned at = any(any(2) ? 64 : HEADERS);
		switch (any(4)) {
		case 0:
			copy[at] ^= 1 << any(8);
			break;
		case 1:
			copy[at] = any(256);
			break;
		case 2:
			memcpy(copy + at, &words[any(7)], 8);
			break;
		default: /* one field becomes another */
			memcpy(copy + at / 8 * 8, whole + any(HEADERS) / 8 * 8, 8);
		}
	}
	if (any(10) == 0)
		n = any(n);
	else if (any(20) == 0)
		n += any(5000);
	return n;
}

static bool write_copy(long n)
{
	long fd = syscall3(SYS_open, (long)COPY, 2 | O_CREATE | O_TRUNCATE, 0700);
	long done = syscall3(SYS_write, fd, (long)copy, n);

	syscall1(SYS_close, fd);
	return done == n;
}

/* A damaged copy may run anything, also forever: after 50 ms SIGKILL ends it. */
static int run_copy(void)
{
	const char *args[] = {"true", NULL};
	long pid = syscall0(SYS_fork);
	int status;

	if (!pid) {
		for (int fd = 0; fd < 10; fd++)
			syscall1(SYS_close, fd);
		syscall3(SYS_execve, (long)COPY, (long)args, 0);
		exit_now(LATE);
	}
	for (unsigned i = 0; i < 50; i++) {
		if (syscall4(SYS_wait4, pid, (long)&status, 1 /* WNOHANG */, 0) == pid)
			return status;
		sleep_ms(1);
	}
	syscall2(SYS_kill, pid, L_KILL);
	return wait_for(pid);
}

int main(int argc, char **argv)
{
	unsigned number = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, refused = 0, ran = 0,
		 died = 0;

	random_begin(argc > 2 ? strtoul(argv[2], NULL, 10) : 1, 0);
	load();
	for (unsigned i = 0; i < number; i++) {
		CHECK(write_copy(damage()));
		int status = run_copy();
		refused += status == LATE << 8;
		ran += status == 0;
		died += status > 0 && status < 128;
	}
	printf("# damaged: %u refused, %u ran, %u died\n", refused, ran, died);
	CHECK(refused > number / 10 && ran && died);
	syscall1(SYS_unlink, (long)COPY);
	return check_failures != 0;
}
