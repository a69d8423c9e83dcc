/*
 * Hostile threads: sharing [THOUSANDS[@MIRROR] [SEED]] - six threads of one process make so many
 * thousands of system calls each (1) with pointers into memory that they share, write to, unmap,
 * protect and map again meanwhile. Two more only change that memory. MIRROR is the address of a
 * page of the kernel's, in hex: calls get pointers there, too, and the kernel's test looks at the
 * page afterwards.
 *
 * The kernel must write nowhere but where a call says, and read each byte once:
 *   - pages that can only be read have a pattern, which is still there at the end;
 *   - the lengths of a vector's and of a message's two parts change while the kernel reads them
 *     between two values: as many bytes come out of the pipe or the socket as the call says went
 *     in, and each part has one of these lengths;
 *   - a name changes between two of one letter: if a directory was made, it is one of the two.
 */
#include <stdbool.h>

#include "tests/programs/thread.h"

enum {
	THREADS = 8,
	CHANGERS = 2,
	PAGES = 12,
	FIXED_PAGES = 4,
	CHANGES = 20000, /* of bytes, before a page changes: each stops all CPUs for a moment */
	FEW = 8,
	MOST = 3000,
	PATTERN = 0xa5,
	LETTER = 13
};

/* What the threads share. The last pages of the arena can only be read, and stay. */
static unsigned char *arena;
static volatile struct {
	struct abi_iovec vector[2]; /* of `sources`; the lengths change: FEW, MOST */
	char name[THREADS][16];	    /* of each worker; its letter changes */
} * changing;
static unsigned char sources[2][MOST];
static unsigned long calls, mirror;
static volatile int working; /* threads that are not only changing things */

struct worker {
	unsigned long random;
	unsigned number;
	int pipe[2], sockets[2];
	unsigned char sink[4 * MOST];
	struct thread thread;
};
static struct worker workers[THREADS];

static unsigned long pick(struct worker *w, unsigned long n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % n;
}

/* ---- memory that changes ---- */

static void change(struct worker *w)
{
	changing->vector[pick(w, 2)].iov_len = pick(w, 2) ? FEW : MOST;
	changing->name[pick(w, THREADS)][LETTER] = 'a' + pick(w, 2);
}

static void remap(struct worker *w)
{
	unsigned long page = (unsigned long)arena + pick(w, PAGES) * PAGE,
		      n = 1 + pick(w, PAGES - (page - (unsigned long)arena) / PAGE);

	switch (pick(w, 4)) {
	case 0:
		syscall2(SYS_munmap, page, n * PAGE);
		break;
	case 1:
		syscall3(SYS_mprotect, page, n * PAGE, pick(w, 4));
		break;
	default:
		map_pages(page, n, P_READ | P_WRITE, M_PRIVATE | M_FIXED);
	}
}

/* Anywhere in the arena, its ends and those of its pages more often; sometimes far beyond. */
static long place(struct worker *w)
{
	unsigned long at = pick(w, 2) ? pick(w, PAGES + FIXED_PAGES) * PAGE + pick(w, 64) - 32
				      : pick(w, (PAGES + FIXED_PAGES) * PAGE);

	switch (pick(w, 16)) {
	case 0:
		return (long)(0x800000000000 << pick(w, 17));
	case 1:
		return (long)(mirror + pick(w, PAGE));
	default:
		return (long)(arena + at);
	}
}

/* ---- calls whose result tells what the kernel read ---- */

/* All that is in there, which is as much as the call says, of so many parts. */
static void drain(struct worker *w, int fd, long said, unsigned parts)
{
	long n = 0, end = 0, part;

	if (said <= 0)
		return;
	n = syscall3(SYS_read, fd, (long)w->sink, sizeof(w->sink));
	CHECK_EQ(n, said);
	for (unsigned i = 0; i < parts; i++) {
		for (part = end; end < n && w->sink[end] == 'a' + i; end++)
			;
		CHECK(end - part == FEW || end - part == MOST);
	}
	CHECK_EQ(end, n);
}

static void call_vector(struct worker *w)
{
	drain(w, w->pipe[0], syscall3(SYS_writev, w->pipe[1], (long)changing->vector, 2), 2);
}

static void call_message(struct worker *w)
{
	struct abi_msghdr m = {.msg_iov = (uint64_t)changing->vector, .msg_iovlen = 1 + pick(w, 2)};

	drain(w, w->sockets[0], syscall3(SYS_sendmsg, w->sockets[1], (long)&m, 0), m.msg_iovlen);
}

static void call_name(struct worker *w)
{
	char name[] = "/tmp/sharing0a";
	bool found = false;

	if (syscall2(SYS_mkdir, (long)changing->name[w->number], 0755))
		return;
	name[LETTER - 1] = '0' + w->number;
	for (char c = 'a'; c <= 'b'; c++) {
		name[LETTER] = c;
		found |= syscall1(SYS_rmdir, (long)name) == 0;
	}
	CHECK(found);
}

/* ---- calls with mad pointers ---- */

static void call_any(struct worker *w)
{
	long p = place(w), q = place(w);

	switch (pick(w, 14)) {
	case 0:
		syscall3(SYS_write, w->pipe[1], p, pick(w, 64));
		syscall3(SYS_read, w->pipe[0], q, pick(w, 64) + 1);
		break;
	case 1:
		syscall3(SYS_writev, w->pipe[1], p, pick(w, 4));
		break;
	case 2:
		syscall3(SYS_readv, w->pipe[0], p, pick(w, 4));
		break;
	case 3:
		syscall2(SYS_newstat, p, q);
		break;
	case 4:
		syscall1(SYS_newuname, p);
		break;
	case 5:
		syscall2(SYS_getcwd, p, pick(w, 4096));
		break;
	case 6:
		syscall3(SYS_getrandom, p, pick(w, 2 * PAGE), 0);
		break;
	case 7:
		syscall4(SYS_rt_sigprocmask, 0, 0, p, 8);
		break;
	case 8:
		syscall4(SYS_prlimit64, 0, 3, 0, p);
		break;
	case 9:
		syscall3(SYS_poll, p, pick(w, 8), 0);
		break;
	case 10:
		syscall3(SYS_sendmsg, w->sockets[1], p, 0x40);
		break;
	case 11:
		syscall3(SYS_recvmsg, w->sockets[0], p, 0x40);
		break;
	case 12:
		syscall3(SYS_readlink, p, q, pick(w, 200));
		break;
	default:
		futex((void *)p, F_WAKE, 1, NULL, NULL, 0);
	}
}

/* Mad calls may leave something in the pipe and the sockets. */
static void empty(struct worker *w)
{
	while (syscall3(SYS_read, w->pipe[0], (long)w->sink, sizeof(w->sink)) > 0)
		;
	while (syscall3(SYS_read, w->sockets[0], (long)w->sink, sizeof(w->sink)) > 0)
		;
}

static void work(void *arg)
{
	struct worker *w = arg;

	for (unsigned long i = 0; i < calls; i++) {
		unsigned long kind = pick(w, 256);

		if (kind < 32) {
			empty(w);
			call_vector(w);
		} else if (kind < 64) {
			empty(w);
			call_message(w);
		} else if (kind < 96) {
			call_name(w);
		} else if (kind == 96) {
			remap(w);
		} else {
			call_any(w);
		}
	}
	__atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST);
}

static void only_change(void *arg)
{
	struct worker *w = arg;

	while (working) {
		for (unsigned i = 0; i < CHANGES; i++)
			change(w);
		remap(w);
	}
}

/* ---- all of it ---- */

static void prepare(unsigned long seed)
{
	enum { UNIX = 1, STREAM = 1, NONBLOCK = 04000 };

	/* before it a page that cannot be touched */
	arena = (unsigned char *)map_pages(0, 1 + PAGES + FIXED_PAGES, P_READ | P_WRITE, M_PRIVATE);
	syscall3(SYS_mprotect, (long)arena, PAGE, 0);
	arena += PAGE;
	memset(arena, PATTERN, (PAGES + FIXED_PAGES) * PAGE);
	syscall3(SYS_mprotect, (long)arena + PAGES * PAGE, FIXED_PAGES * PAGE, P_READ);
	changing = (void *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	for (unsigned i = 0; i < 2; i++) {
		memset(sources[i], 'a' + i, MOST);
		changing->vector[i] = (struct abi_iovec){(uint64_t)sources[i], FEW};
	}
	for (unsigned i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];
		w->number = i;
		/* now: while threads run, it could come to lie where one has unmapped a page */
		w->thread.stack =
		    (char *)map_pages(0, THREAD_STACK / PAGE, P_READ | P_WRITE, M_PRIVATE);
		memcpy((char *)changing->name[i], "/tmp/sharing0a", LETTER + 1);
		changing->name[i][LETTER - 1] = '0' + i;
		w->random = seed * 0x9e3779b97f4a7c15 + i;
		CHECK_EQ(syscall2(SYS_pipe2, (long)w->pipe, NONBLOCK), 0);
		CHECK_EQ(syscall4(SYS_socketpair, UNIX, STREAM | NONBLOCK, 0, (long)w->sockets), 0);
	}
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)now_ns() | 1;

	char *rest = "";

	calls = 1000 * (argc > 1 ? strtoul(argv[1], &rest, 10) : 1);
	mirror = *rest == '@' ? strtoul(rest + 1, NULL, 16) : 0;
	printf("# seed %lu\n", seed);
	fflush(stdout);
	prepare(seed);
	working = THREADS - CHANGERS;
	for (unsigned i = 0; i < THREADS; i++)
		thread_begin(&workers[i].thread, i < CHANGERS ? only_change : work, &workers[i]);
	for (unsigned i = 0; i < THREADS; i++)
		thread_end(&workers[i].thread);
	for (unsigned long i = PAGES * PAGE; i < (PAGES + FIXED_PAGES) * PAGE; i++) {
		if (arena[i] == PATTERN)
			continue;
		printf("# byte %lu of the pages that can only be read is %02x\n", i, arena[i]);
		check_failures++;
		break;
	}
	return check_failures != 0;
}
