/*
 * splice and sendfile: between pipes and files, of sub-buffers from trace_pipe_raw; what they
 * refuse; that nothing gets lost.
 */
#include "tests/programs/raw.h"

#define TRACING "/sys/kernel/tracing/"
#define RAW	TRACING "per_cpu/cpu0/trace_pipe_raw"
#define SPIPE	(-29)
#define ISDIR	(-21)
enum { L_RDWR = 2, L_CREAT = 0100, L_TRUNC = 01000, L_APPEND = 02000, L_NONBLOCK = 04000 };
enum { NOWAIT = 2 };

static char big[65536 + 10000], back[sizeof(big)];

static long open_file(const char *path, int flags)
{
	return syscall3(SYS_open, (long)path, flags, 0600);
}

static long splice(long in, long *off_in, long out, long *off_out, size_t len, unsigned flags)
{
	return syscall6(SYS_splice, in, (long)off_in, out, (long)off_out, len, flags);
}

static long sendfile(long out, long in, long *off, size_t n)
{
	return syscall4(SYS_sendfile64, out, in, (long)off, n);
}

static long wr(long fd, const void *buf, size_t n)
{
	return syscall3(SYS_write, fd, (long)buf, n);
}

static long rd(long fd, void *buf, size_t n)
{
	return syscall3(SYS_read, fd, (long)buf, n);
}

static void new_pipe(int *ends, int flags)
{
	CHECK_EQ(syscall2(SYS_pipe2, (long)ends, flags), 0);
}

static void close_two(const int *ends)
{
	syscall1(SYS_close, ends[0]);
	syscall1(SYS_close, ends[1]);
}

static long new_file(const char *path)
{
	long fd = open_file(path, L_RDWR | L_CREAT | L_TRUNC);

	CHECK_EQ(wr(fd, big, sizeof(big)), sizeof(big));
	syscall3(SYS_lseek, fd, 0, 0);
	return fd;
}

static void fill_big(void)
{
	for (unsigned i = 0; i < sizeof(big); i++)
		big[i] = i * 7 + i / 251;
}

static void refusals(void)
{
	int p[2], q[2];
	long f = new_file("/tmp/a"), app = open_file("/tmp/b", 1 | L_CREAT | L_APPEND), at = 0;

	new_pipe(p, L_NONBLOCK);
	new_pipe(q, L_NONBLOCK);
	CHECK_EQ(splice(f, NULL, f, NULL, 1, 0), INVAL);
	CHECK_EQ(splice(p[0], NULL, p[1], NULL, 1, 0), INVAL);
	CHECK_EQ(splice(p[0], &at, q[1], NULL, 1, 0), SPIPE);
	CHECK_EQ(splice(p[0], NULL, q[1], &at, 1, 0), SPIPE);
	CHECK_EQ(splice(f, NULL, p[1], NULL, 1, 16), INVAL);
	CHECK_EQ(splice(f, NULL, p[1], NULL, 0, 16), 0);
	CHECK_EQ(splice(f, NULL, p[0], NULL, 1, 0), BADF);
	CHECK_EQ(splice(p[1], NULL, f, NULL, 1, 0), BADF);
	CHECK_EQ(splice(99, NULL, p[1], NULL, 1, 0), BADF);
	CHECK_EQ(splice(f, NULL, 99, NULL, 1, 0), BADF);
	CHECK_EQ(splice(p[0], NULL, app, NULL, 1, 0), INVAL);
	CHECK_EQ(splice(p[0], NULL, f, NULL, 1, 0), AGAIN);
	CHECK_EQ(splice(f, (long *)8, p[1], NULL, 1, 0), FAULT);
	at = -1;
	CHECK_EQ(splice(f, &at, p[1], NULL, 1, 0), INVAL);
	CHECK_EQ(sendfile(app, f, NULL, 1), INVAL);
	CHECK_EQ(sendfile(f, app, NULL, 1), BADF);
	CHECK_EQ(sendfile(p[0], f, NULL, 1), BADF);
	CHECK_EQ(sendfile(p[1], 99, NULL, 1), BADF);
	close_two(p);
	close_two(q);
	syscall1(SYS_close, f);
	syscall1(SYS_close, app);
}

/* What flows has no places. */
static void streams(void)
{
	static const char *const names[] = {"trace_pipe", "per_cpu/cpu0/trace_pipe_raw",
	    "per_cpu/cpu0/snapshot_raw", "trace_marker", "trace_marker_raw"};
	char path[80];

	for (unsigned i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), TRACING "%s", names[i]);
		long fd = open_file(path, (i > 2) | L_NONBLOCK);
		CHECK(fd >= 0);
		CHECK_EQ(syscall3(SYS_lseek, fd, 0, 0), SPIPE);
		CHECK_EQ(syscall3(SYS_lseek, fd, 0, 1), SPIPE);
		CHECK_EQ(
		    syscall4(i > 2 ? SYS_pwrite64 : SYS_pread64, fd, (long)back, 10, 0), SPIPE);
		syscall1(SYS_close, fd);
	}
	long fd = open_file(TRACING "trace", 0);
	CHECK_EQ(syscall3(SYS_lseek, fd, 5, 0), 5);
	CHECK_EQ(syscall4(SYS_pread64, fd, (long)back, 2, 2), 2);
	CHECK(!memcmp(back, "tr", 2));
	syscall1(SYS_close, fd);
}

/* Directories, those of tracefs too, are no files to do any of this with. */
static void directories(void)
{
	static const char *const dirs[] = {"/sys/kernel/tracing", "/tmp", "/proc"};
	int p[2];

	new_pipe(p, L_NONBLOCK);
	for (unsigned i = 0; i < 3; i++) {
		long d = open_file(dirs[i], 0), at = 0;
		struct abi_pollfd poll = {d, ABI_POLLIN | ABI_POLLOUT, 0};
		CHECK(d >= 0);
		CHECK_EQ(splice(d, NULL, p[1], NULL, PAGE, 0), ISDIR);
		CHECK_EQ(splice(d, &at, p[1], NULL, PAGE, 0), ISDIR);
		CHECK_EQ(sendfile(p[1], d, NULL, PAGE), ISDIR);
		CHECK_EQ(syscall3(SYS_ioctl, d, 0x5220, 0), NOTTY);
		CHECK_EQ(syscall3(SYS_ioctl, d, 0, 0), NOTTY);
		CHECK_EQ(syscall3(SYS_poll, (long)&poll, 1, 0), 1);
		CHECK_EQ(poll.revents, ABI_POLLIN | ABI_POLLOUT);
		CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ, M_SHARED, d, 0), NODEV);
		CHECK(syscall6(SYS_mmap, 0, PAGE, P_READ, M_PRIVATE, d, 0) < 0);
		syscall1(SYS_close, d);
	}
	close_two(p);
}

/* A file through a pipe, a pipe through a pipe, at places of their own and at the files'. */
static void through_pipes(void)
{
	int p[2], q[2];
	long f = new_file("/tmp/a"), g = open_file("/tmp/b", L_RDWR | L_CREAT | L_TRUNC), at = 5;

	new_pipe(p, L_NONBLOCK);
	new_pipe(q, L_NONBLOCK);
	CHECK_EQ(splice(f, &at, p[1], NULL, 100, 0), 100);
	CHECK_EQ(at, 105);
	CHECK_EQ(splice(f, NULL, p[1], NULL, 50, 0), 50); /* the file's place was not moved */
	CHECK_EQ(splice(p[0], NULL, q[1], NULL, 1000, 0), 150);
	at = 3;
	CHECK_EQ(splice(q[0], NULL, g, &at, 100, 0), 100);
	CHECK_EQ(at, 103);
	CHECK_EQ(rd(q[0], back, 1000), 50);
	CHECK(!memcmp(back, big, 50));
	CHECK_EQ(rd(g, back, 1000), 103);
	CHECK(!memcmp(back + 3, big + 5, 100));
	/* More than a pipe holds: what fits, then nothing; a page of room is needed. */
	at = 0;
	CHECK_EQ(splice(f, &at, p[1], NULL, sizeof(big), 0), 65536);
	CHECK_EQ(splice(f, &at, p[1], NULL, 1, NOWAIT), AGAIN);
	CHECK_EQ(rd(p[0], back, 4095), 4095);
	CHECK_EQ(splice(f, &at, p[1], NULL, 5000, NOWAIT), AGAIN);
	CHECK_EQ(rd(p[0], back + 4095, 1), 1);
	CHECK_EQ(splice(f, &at, p[1], NULL, 5000, NOWAIT), 4096);
	CHECK_EQ(rd(p[0], back + 4096, sizeof(back) - 4096), 65536);
	CHECK(!memcmp(back, big, 65536 + 4096));
	close_two(q);
	/* Its end, and a pipe whose writer is gone. */
	at = sizeof(big);
	CHECK_EQ(splice(f, &at, p[1], NULL, 10, 0), 0);
	CHECK_EQ(wr(p[1], "xyz", 3), 3);
	syscall1(SYS_close, p[1]);
	CHECK_EQ(splice(p[0], NULL, g, NULL, 10, 0), 3);
	CHECK_EQ(splice(p[0], NULL, g, NULL, 10, 0), 0);
	syscall1(SYS_close, p[0]);
	syscall1(SYS_close, f);
	syscall1(SYS_close, g);
}

static void nobody_reads(void)
{
	int p[2];
	long f = new_file("/tmp/a");

	new_pipe(p, 0);
	syscall1(SYS_close, p[0]);
	splice(f, NULL, p[1], NULL, 10, 0);
}

/* Waits for room and for data: two ends in two processes, more than the pipe holds. */
static void blocking(void)
{
	int p[2];
	long f = new_file("/tmp/a"), got, done = 0;

	new_pipe(p, 0);
	fflush(stdout);
	if (syscall0(SYS_fork) == 0) {
		long left = sizeof(big);
		syscall1(SYS_close, p[0]);
		while (left > 0 && (got = splice(f, NULL, p[1], NULL, left, 0)) > 0)
			left -= got;
		exit_now(left != 0);
	}
	syscall1(SYS_close, p[1]);
	long g = open_file("/tmp/b", L_RDWR | L_CREAT | L_TRUNC);
	while ((got = splice(p[0], NULL, g, NULL, 3000, 0)) > 0)
		done += got;
	CHECK_EQ(done, sizeof(big));
	CHECK_EQ(wait_for(-1), 0);
	syscall3(SYS_lseek, g, 0, 0);
	CHECK_EQ(rd(g, back, sizeof(back)), sizeof(big));
	CHECK(!memcmp(back, big, sizeof(big)));
	syscall1(SYS_close, p[0]);
	syscall1(SYS_close, f);
	syscall1(SYS_close, g);
	CHECK_EQ(in_child(nobody_reads) & 0x7f, L_PIPE);
}

static void sending(void)
{
	long f = new_file("/tmp/a"), g = open_file("/tmp/b", L_RDWR | L_CREAT | L_TRUNC), at = 100;
	int p[2];

	CHECK_EQ(sendfile(g, f, &at, 1000), 1000);
	CHECK_EQ(at, 1100);
	CHECK_EQ(sendfile(g, f, NULL, 0), 0);
	CHECK_EQ(sendfile(g, f, NULL, 2 * sizeof(big)), sizeof(big));
	CHECK_EQ(sendfile(g, f, NULL, 1), 0);
	syscall3(SYS_lseek, g, 0, 0);
	CHECK_EQ(rd(g, back, 1000), 1000);
	CHECK(!memcmp(back, big + 100, 1000));
	CHECK_EQ(rd(g, back, sizeof(back)), sizeof(big));
	CHECK(!memcmp(back, big, sizeof(big)));
	new_pipe(p, L_NONBLOCK);
	at = 0;
	CHECK_EQ(sendfile(p[1], f, &at, sizeof(big)), 65536);
	CHECK_EQ(at, 65536);
	CHECK_EQ(sendfile(p[1], f, &at, 1), AGAIN);
	CHECK_EQ(at, 65536);
	close_two(p);
	syscall1(SYS_close, f);
	syscall1(SYS_close, g);
}

/* ---- sub-buffers ---- */

static void put(const char *path, const char *text)
{
	long fd = open_file(path, 1 | L_TRUNC);

	CHECK_EQ(wr(fd, text, strlen(text)), strlen(text));
	syscall1(SYS_close, fd);
}

/* Events of 20 bytes: 204 in a sub-buffer. */
static void events(unsigned n)
{
	long fd = open_file(TRACING "trace_marker_raw", 1);

	while (n--)
		CHECK_EQ(wr(fd, "abcd1234", 8), 8);
	syscall1(SYS_close, fd);
}

static unsigned long size_of_page(const char *page)
{
	unsigned long commit;

	memcpy(&commit, page + 8, 8);
	return commit & 0xfffff;
}

static void sub_buffers(void)
{
	long raw = open_file(RAW, L_NONBLOCK), f = open_file("/tmp/b", L_RDWR | L_CREAT | L_TRUNC);
	int p[2];

	new_pipe(p, L_NONBLOCK);
	put(TRACING "trace", "");
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE - 1, 0), INVAL);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE, 0), AGAIN);
	events(203);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE, 0), AGAIN); /* not a whole one yet */
	events(2 + 204 + 10);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE + 10, 0), PAGE);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, 65536, 0), PAGE);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, 65536, 0), AGAIN);
	CHECK_EQ(rd(p[0], back, sizeof(back)), 2 * PAGE);
	CHECK_EQ(size_of_page(back), 204 * 20);
	CHECK_EQ(size_of_page(back + PAGE), 204 * 20);
	CHECK_EQ(rd(raw, back, PAGE), PAGE); /* the rest */
	CHECK_EQ(size_of_page(back), 11 * 20);
	events(500);
	CHECK_EQ(sendfile(f, raw, NULL, 1 << 20), 2 * PAGE);
	CHECK_EQ(sendfile(f, raw, NULL, 1 << 20), AGAIN);
	syscall1(SYS_close, raw);
	/* Waiting: for buffer_percent and a whole sub-buffer; until recording is switched off. */
	raw = open_file(RAW, 0);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE, NOWAIT), AGAIN);
	put(TRACING "buffer_percent", "0");
	fflush(stdout);
	if (syscall0(SYS_fork) == 0) {
		sleep_ms(20);
		events(300);
		sleep_ms(20);
		put(TRACING "tracing_on", "0");
		exit_now(check_failures != 0);
	}
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE, 0), PAGE);
	CHECK_EQ(splice(raw, NULL, p[1], NULL, PAGE, 0), 0);
	CHECK_EQ(wait_for(-1), 0);
	put(TRACING "tracing_on", "1");
	put(TRACING "buffer_percent", "50");
	syscall1(SYS_close, raw);
	syscall1(SYS_close, f);
	close_two(p);
}

/* Other files of tracefs are read. */
static void lines(void)
{
	long pipe_file = open_file(TRACING "trace_pipe", L_NONBLOCK);
	int p[2];

	put(TRACING "trace", "");
	new_pipe(p, L_NONBLOCK);
	CHECK_EQ(splice(pipe_file, NULL, p[1], NULL, 1000, 0), AGAIN);
	put(TRACING "trace_marker", "spliced");
	CHECK(splice(pipe_file, NULL, p[1], NULL, 1000, 0) > 0);
	memset(back, 0, sizeof(back));
	CHECK(rd(p[0], back, 1000) > 0);
	CHECK(strstr(back, ": spliced\n"));
	syscall1(SYS_close, pipe_file);
	close_two(p);
}

int main(void)
{
	unsigned long mask = 1;

	syscall3(SYS_sched_setaffinity, 0, sizeof(mask), (long)&mask);
	fill_big();
	put(TRACING "set_event", "");
	put(TRACING "buffer_size_kb", "64");
	refusals();
	directories();
	streams();
	through_pipes();
	blocking();
	sending();
	sub_buffers();
	lines();
	return check_failures != 0;
}
