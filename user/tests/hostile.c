/*
 * Hostile use of user events: hostile [THOUSANDS [SEED]] - two tasks make so many thousands of system calls each (10) with arguments
 * that are right, nearly right or mad: no address, the kernel's, none at all by the CPU's rules, across the end of a page behind which
 * nothing is, read-only, with a hole in the middle. Only known errors may come back, memory
 * that no call named stays as it was, and at the end no event may be left.
 */
#include "kernel/abi/user_events.h"
#include "user/tests/raw.h"

#include <stdbool.h>

#define TRACING "/sys/kernel/tracing/"
#define FILES	6
#define PAGES	8 /* of the arena */
#define SIZE	(PAGES * PAGE)
#define RO_PAGE 2 /* can be read only */
#define HOLE	4 /* is not there */
#define FILL	0xa5

static unsigned char *arena; /* and behind it nothing */
static long files[FILES];
static unsigned long rng;

static unsigned long any(unsigned long n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (rng >> 11) % n;
}

/* ---- arguments ---------------------------------------------------------------------------------------------------------- */

static const unsigned long mad[] = {0, 1, 16, 4095, 0xffff, 0x7ffffffff000, 0x7fffffffefff,
    0x7fffffffeffc, 0x7fffffffffff, 0x800000000000, 0xdeadbeefdeadbeef, 0xffff800000000000,
    0xffff888000000000, 0xffff888000100000, 0xffffffff80100000, 0xffffffff80400000,
    0xfffffffffffff000, ~0UL, ~0UL - 3};

/* Somewhere in the arena, with a liking for the ends of its pages. */
static unsigned char *place(unsigned long size)
{
	unsigned long page = any(PAGES + 1);

	if (any(2))
		return arena + any(SIZE);
	return arena + page * PAGE - any(size + 8);
}

static bool whole(const unsigned char *p, unsigned long n)
{
	const unsigned char *hole = arena + HOLE * PAGE;

	return p >= arena && p + n <= arena + SIZE && (p + n <= hole || p >= hole + PAGE);
}

static bool writable(const unsigned char *p, unsigned long n)
{
	const unsigned char *ro = arena + RO_PAGE * PAGE;

	return whole(p, n) && (p + n <= ro || p >= ro + PAGE);
}

static unsigned long address(unsigned long size)
{
	return any(4) ? (unsigned long)place(size) : mad[any(sizeof(mad) / sizeof(*mad))];
}

static const char *const words[] = {"h1 u32 a", "h2 __data_loc char[] s; u32 n",
    "h3 __rel_loc char[] s", "h4 struct x y 12", "h5", "h6 u32 a; u64 b", "h1 u64 a",
    "h7 char[1024] c", "h8 long x", "h9 u32  a", "", ":", ";", "h10 char[", "h11 u32 a;;;;u32 b",
    "h12:F u8 a", "../x u32 a", "h13 struct y z 4294967295", "h14 __data_loc __rel_loc x", "h1"};

/* A definition, whole or cut or with a byte changed, somewhere. */
static unsigned long text(void)
{
	const char *word = words[any(sizeof(words) / sizeof(*words))];
	unsigned long n = strlen(word) + 1;
	unsigned char *p = place(n);

	if (any(8) == 0)
		return address(n);
	if (!writable(p, n))
		p = arena + any(PAGE - 100);
	memcpy(p, word, n);
	if (any(6) == 0)
		p[any(n)] = any(256);
	return (unsigned long)p;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------------- */

static const long listed[] = {NOENT, BADF, FAULT, INVAL, TOOBIG, -16 /* EBUSY */, NOMEM, NOTTY,
    TOOMANYFILES, -98 /* EADDRINUSE */, ACCES, PERM, -29 /* ESPIPE */, NODEV, EXIST};

static void check_result(const char *what, long r)
{
	if (r >= 0)
		return;
	for (unsigned i = 0; i < sizeof(listed) / sizeof(*listed); i++)
		if (listed[i] == r)
			return;
	printf("# %s: error %ld is not a listed one\n", what, -r);
	check_failures++;
}

/* Seldom one that is not open, never the console. */
static long some_file(void)
{
	return any(20) ? files[any(FILES)] : any(2) ? -1 - (long)any(3) : 3 + (long)any(40);
}

static void call_register(void)
{
	union {
		struct user_reg_bit bit;
		struct user_reg_word word;
		unsigned char bytes[64];
	} u, *p = (void *)place(sizeof(u));
	bool older = any(2);
	unsigned size = older ? sizeof(u.bit) : sizeof(u.word);
	long r;

	memset(&u, any(8) ? 0 : any(256), sizeof(u));
	if (older)
		u.bit = (struct user_reg_bit){size, text(), 0, 0};
	else
		u.word = (struct user_reg_word){size, any(70), any(4) ? 4 + 4 * any(2) : any(256),
		    any(5), any(4) ? address(8) & ~7UL : address(8), text(), 0};
	if (any(6) == 0)
		u.bit.size = any(3) ? any(64) : rng;
	if (any(8) == 0 || !writable((unsigned char *)p, sizeof(u))) {
		r = syscall3(SYS_ioctl, some_file(), DIAG_IOCSREG, address(size));
	} else {
		memcpy(p, &u, sizeof(u));
		r = syscall3(SYS_ioctl, some_file(), DIAG_IOCSREG, (long)p);
	}
	check_result("register", r);
}

static void call_unregister(void)
{
	struct user_unreg u = {any(8) ? sizeof(u) : any(64), any(70), any(8) == 0, 0, address(8)},
			  *p = (void *)place(sizeof(u));

	if (writable((unsigned char *)p, sizeof(u)))
		memcpy(p, &u, sizeof(u));
	check_result("unregister", syscall3(SYS_ioctl, some_file(), DIAG_IOCSUNREG, (long)p));
}

static void call_delete(void)
{
	check_result("delete", syscall3(SYS_ioctl, some_file(), DIAG_IOCSDEL, text()));
}

static void call_ioctl(void)
{
	check_result("ioctl", syscall3(SYS_ioctl, some_file(),
				  any(2) ? rng : DIAG_IOCSREG ^ 1UL << any(32), address(32)));
}

static unsigned long length(void)
{
	switch (any(8)) {
	case 0:
		return rng;
	case 1:
		return any(3 * PAGE);
	default:
		return any(64);
	}
}

static void call_write(void)
{
	unsigned char *p = place(32);
	unsigned long at = any(16) ? (unsigned long)p : address(32);

	if (writable(p, 16)) {
		p[0] = any(8);
		p[1] = p[2] = p[3] = 0;
		*(uint32_t *)(p + 4) = DYN_LOC(any(40), any(40));
	}
	if (any(4))
		check_result("write", syscall3(SYS_write, some_file(), at, length()));
	else
		check_result("pwrite",
		    syscall4(SYS_pwrite64, some_file(), at, length(), any(3) ? 0 : any(100) - 50));
}

static void call_writev(void)
{
	struct abi_iovec *v = (void *)(arena + 5 * PAGE), v_copy[12];
	unsigned n = any(any(20) ? 5 : 12);
	unsigned char *p = arena + any(PAGE);

	p[0] = any(8);
	p[1] = p[2] = p[3] = 0;
	for (unsigned i = 0; i < n; i++)
		v_copy[i] = (struct abi_iovec){
		    i || any(8) == 0 ? address(32) : (unsigned long)p, i	? length()
								       : any(8) ? 4
										: length()};
	memcpy(v, v_copy, n * sizeof(*v));
	check_result(
	    "writev", syscall3(SYS_writev, some_file(), any(16) ? (unsigned long)v : address(64),
			  any(16) ? n : (unsigned)rng));
}

static void call_map(void)
{
	long fd = syscall3(SYS_open, (long)TRACING "user_events_status", 2, 0);
	long p = syscall6(SYS_mmap, 0, any(8) ? 4096 : length(), any(8), 1 + any(2), fd,
	    any(4) ? 0 : any(4) * 4096);

	check_result("mmap", p);
	if (p > 0) {
		check_result("mprotect", syscall3(SYS_mprotect, p, 4096, any(8)));
		check_result(
		    "write to a page", syscall3(SYS_read, fd, p, 10)); /* read-only: EFAULT */
		syscall2(SYS_munmap, p, 4096);
	}
	syscall1(SYS_close, fd);
}

static void call_reopen(void)
{
	long *f = &files[any(FILES)];

	syscall1(SYS_close, *f);
	*f = syscall3(SYS_open, (long)TRACING "user_events_data", any(8) ? 2 : any(2), 0);
	check_result("open", *f);
}

static void call_read(void)
{
	check_result("read", syscall3(SYS_read, some_file(), address(16), length()));
}

static void call_enable(void)
{
	long fd = syscall3(SYS_open, (long)TRACING "events/user_events/enable", 1, 0);

	if (fd >= 0) {
		check_result("enable", syscall3(SYS_write, fd, (long)(any(4) ? "1" : "0"), 1));
		syscall1(SYS_close, fd);
	}
}

static void one_call(void)
{
	static const struct {
		unsigned share;
		void (*fn)(void);
	} calls[] = {{480, call_write}, {345, call_writev}, {40, call_register},
	    {30, call_unregister}, {12, call_delete}, {50, call_ioctl}, {32, call_read},
	    {9, call_map}, {1, call_reopen}, {1, call_enable}};
	unsigned at = any(1000);

	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (at < calls[i].share) {
			calls[i].fn();
			return;
		}
		at -= calls[i].share;
	}
}

/* ---- two tasks ------------------------------------------------------------------------------------------------------------ */

/* What the kernel wrote into memory that no call named: before the arena, but for what reaches into it. */
static void check_around(void)
{
	for (unsigned long i = 0; i < PAGE - 256; i++)
		CHECK_EQ(arena[-(long)PAGE + i], FILL);
}

static void make_arena(void)
{
	arena = (unsigned char *)map_pages(0, PAGES + 2, P_READ | P_WRITE, M_PRIVATE);
	memset(arena, FILL, PAGE);
	arena += PAGE;
	syscall2(SYS_munmap, (long)arena + HOLE * PAGE, PAGE);
	syscall2(SYS_munmap, (long)arena + SIZE, PAGE);
	syscall3(SYS_mprotect, (long)arena + RO_PAGE * PAGE, PAGE, P_READ);
}

static void run(unsigned long calls)
{
	make_arena();
	for (int i = 0; i < FILES; i++)
		files[i] = syscall3(SYS_open, (long)TRACING "user_events_data", 2, 0);
	for (unsigned long i = 0; i < calls && !check_failures; i++)
		one_call();
	check_around();
	exit_now(check_failures != 0);
}

static void put(const char *file, const char *what)
{
	long fd = syscall3(SYS_open, (long)file, 1 | 01000, 0);

	CHECK(fd >= 0);
	CHECK_EQ(syscall3(SYS_write, fd, (long)what, strlen(what)), strlen(what));
	syscall1(SYS_close, fd);
}

int main(int argc, char **argv)
{
	unsigned long calls = 1000 * (argc > 1 ? strtoul(argv[1], NULL, 10) : 10);
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)now_ns() | 1;

	printf("# seed %lu\n", seed);
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if (syscall0(SYS_fork) == 0) {
			rng = seed * 0x9e3779b97f4a7c15 + i;
			rng += !rng;
			run(calls);
		}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(wait_for(-1), 0);
	put(TRACING "events/enable", "0");
	put(TRACING "dynamic_events", "\n"); /* all can go: nobody has left a reference */
	return check_failures != 0;
}
