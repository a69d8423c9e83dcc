/*
 * Hostile use of user events: hostile [THOUSANDS [SEED]] - two tasks make so many thousands of
 * system calls each (10) with arguments that are right, nearly right or mad: no address, the
 * kernel's, none at all by the CPU's rules, across the end of a page after which nothing is,
 * read-only, with a hole in the middle. Only the errors listed for a call may come back, and at the
 * end no event may be left.
 *
 * All arguments lie in an arena of which there is a mirror. Before anything is put there, and all
 * of it every CHECK_EVERY calls, the two are compared: what differs the kernel has written. It may
 * write an index and the number of a bit where a program asked for them, and the bits that it keeps
 * for one.
 */
#include "tests/programs/random.h"
#include "tests/programs/user_events.h"

#define FILES	    6
#define PAGES	    8 /* of the arena */
#define SIZE	    (PAGES * PAGE)
#define RO_PAGE	    2 /* can be read only */
#define HOLE	    4 /* is not there */
#define FILL	    0xa5
#define CHECK_EVERY 256
#define USER_START  0x10000UL /* where a program may have something */
#define USER_END    0x7ffffffff000UL
#define INDEX_MOST  4096 /* events that one file has registered: there are fewer names */

static unsigned char *arena; /* and after it nothing */
static unsigned char mirror[SIZE];
static unsigned char holders[SIZE * 8]; /* of each bit of it: the registered words it is in */
static long files[FILES];

/* ---- the arena ---- */

static bool whole(const unsigned char *p, unsigned long n)
{
	const unsigned char *hole = arena + HOLE * PAGE;

	return p >= arena && p <= arena + SIZE - n && (p + n <= hole || p >= hole + PAGE);
}

static bool writable(const unsigned char *p, unsigned long n)
{
	const unsigned char *ro = arena + RO_PAGE * PAGE;

	return whole(p, n) && (p + n <= ro || p >= ro + PAGE);
}

/* Bits of a byte that the kernel keeps. */
static unsigned kept(unsigned long at)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < 8; i++)
		bits |= !!holders[at * 8 + i] << i;
	return bits;
}

static void check_bytes(unsigned long at, unsigned long n)
{
	for (; n; at++, n--) {
		if (!((arena[at] ^ mirror[at]) & ~kept(at)))
			continue;
		printf("# byte %lu of the arena is %02x, was %02x\n", at, arena[at], mirror[at]);
		check_failures++;
		return;
	}
}

static void put_bytes(unsigned char *to, const void *from, unsigned long n)
{
	check_bytes(to - arena, n);
	memcpy(to, from, n);
	memcpy(mirror + (to - arena), from, n);
}

static void check_arena(void)
{
	for (unsigned long at = 0; at < SIZE; at += 8) {
		if (at == HOLE * PAGE)
			at += PAGE;
		if (*(uint64_t *)(arena + at) != *(uint64_t *)(mirror + at))
			check_bytes(at, 8);
	}
}

/* The kernel's answer, a number below `limit`: from now on what is there. */
static void take_answer(unsigned char *at, uint32_t limit)
{
	unsigned long n = at - arena;
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	if (!kept(n) && !kept(n + 1) && !kept(n + 2) && !kept(n + 3) && v >= limit) {
		printf("# the kernel answers %u\n", (unsigned)v);
		check_failures++;
	}
	memcpy(mirror + n, &v, sizeof(v));
}

/* The kernel keeps a bit of a word from now on, or has given it back: cleared. */
static void hold_bit(uint64_t word, unsigned bit, int change)
{
	unsigned long at = word - (uint64_t)arena + bit / 8;

	if (word < (uint64_t)arena || at >= SIZE || bit >= 64)
		return;
	unsigned char *count = &holders[at * 8 + bit % 8];
	*count += *count || change > 0 ? change : 0;
	if (!*count)
		mirror[at] &= ~(1 << bit % 8);
}

/* ---- arguments ---- */

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
	char changed[64];

	if (any(8) == 0)
		return address(n);
	if (!writable(p, n))
		p = arena + any(PAGE - 100);
	memcpy(changed, word, n);
	if (any(6) == 0)
		changed[any(n)] = any(256);
	put_bytes(p, changed, n);
	return (unsigned long)p;
}

/* ---- calls ---- */

/* What each call may say; BADF is for files that are not open. */
#define ERRORS(...) ((const long[]){__VA_ARGS__, 0})

static void check_result(const char *what, long r, const long *listed)
{
	while (r < 0 && *listed && *listed != r)
		listed++;
	if (r < 0 && !*listed) {
		printf("# %s: error %ld is not a listed one\n", what, -r);
		check_failures++;
	}
}

/* Seldom one that is not open, never the console. */
static long some_file(void)
{
	return any(20) ? files[any(FILES)] : any(2) ? -1 - (long)any(3) : 3 + (long)any(40);
}

/* A struct of either form; what a program may not read of it is 0. */
union reg {
	struct user_reg_bit bit;
	struct user_reg_word word;
	unsigned char bytes[64];
};

static union reg look(const unsigned char *p)
{
	size_t n = whole(p, sizeof(struct user_reg_word))  ? sizeof(struct user_reg_word)
		   : whole(p, sizeof(struct user_reg_bit)) ? sizeof(struct user_reg_bit)
							   : 0;
	union reg u;

	memset(&u, 0, sizeof(u));
	memcpy(&u, p, n);
	return u;
}

static bool can_be_text(uint64_t address)
{
	return address >= USER_START && address < USER_END;
}

/* The kernel tells the forms apart by the size, and by where the name's address is. */
static bool is_newer(const union reg *u)
{
	return u->word.size >= sizeof(u->word) &&
	       (can_be_text(u->word.name_args) || !can_be_text(u->bit.name_args));
}

/*
 * A struct was taken. A bit that the kernel keeps may lie in it, and have changed meanwhile: then
 * nobody knows what it was, and what it may have been is all allowed.
 */
static void registered(unsigned char *p, const union reg *before)
{
	union reg after = look(p);
	bool newer = is_newer(before);
	size_t asked = newer ? offsetof(struct user_reg_word, write_index)
			     : offsetof(struct user_reg_bit, status_bit);

	if (newer)
		hold_bit(before->word.enable_addr, before->word.enable_bit, 1);
	if (memcmp(before, &after, asked)) {
		hold_bit(after.word.enable_addr, after.word.enable_bit, 1);
		memcpy(
		    mirror + (p - arena), &after, newer ? sizeof(after.word) : sizeof(after.bit));
	} else if (newer) {
		take_answer(p + offsetof(struct user_reg_word, write_index), INDEX_MOST);
	} else {
		take_answer(p + offsetof(struct user_reg_bit, status_bit), PAGE * 8);
		take_answer(p + offsetof(struct user_reg_bit, write_index), INDEX_MOST);
	}
}

static void call_register(void)
{
	unsigned char *p = place(sizeof(union reg));
	bool older = any(2);
	unsigned size = older ? sizeof(struct user_reg_bit) : sizeof(struct user_reg_word);
	union reg u;

	memset(&u, any(8) ? 0 : any(256), sizeof(u));
	if (older)
		u.bit = (struct user_reg_bit){size, text(), 0, 0};
	else
		u.word = (struct user_reg_word){size, any(70), any(4) ? 4 + 4 * any(2) : any(256),
		    any(5), any(4) ? address(8) & ~7UL : address(8), text(), 0};
	if (any(6) == 0)
		u.bit.size = any(3) ? any(64) : random_state;
	if (any(8) == 0 || !writable(p, sizeof(u)))
		p = (unsigned char *)address(size);
	else
		put_bytes(p, &u, sizeof(u));
	u = look(p);
	long r = syscall3(SYS_ioctl, some_file(), DIAG_IOCSREG, (long)p);
	check_result("register", r,
	    ERRORS(BADF, FAULT, INVAL, TOOBIG, NOMEM, TOOMANYFILES, ADDRINUSE, NOTTY));
	if (r == 0)
		registered(p, &u);
}

/* Likewise: when in doubt the bit may go on changing. */
static void call_unregister(void)
{
	struct user_unreg u = {any(8) ? sizeof(u) : any(64), any(70), any(8) == 0, 0, address(8)};
	unsigned char *p = place(sizeof(u));
	bool seen = whole(p, sizeof(u));

	if (writable(p, sizeof(u)))
		put_bytes(p, &u, sizeof(u));
	if (seen)
		memcpy(&u, p, sizeof(u));
	long r = syscall3(SYS_ioctl, some_file(), DIAG_IOCSUNREG, (long)p);
	check_result("unregister", r, ERRORS(BADF, FAULT, INVAL, TOOBIG, NOMEM, NOENT, NOTTY));
	if (r == 0 && seen && !memcmp(&u, p, sizeof(u)))
		hold_bit(u.disable_addr, u.disable_bit, -1);
}

static void call_delete(void)
{
	check_result("delete", syscall3(SYS_ioctl, some_file(), DIAG_IOCSDEL, text()),
	    ERRORS(BADF, FAULT, INVAL, NOENT, BUSY, NOTTY));
}

static void call_ioctl(void)
{
	unsigned long cmd = any(2) ? random_state : DIAG_IOCSREG ^ 1UL << any(32);

	check_result(
	    "ioctl", syscall3(SYS_ioctl, some_file(), cmd, address(32)), ERRORS(BADF, NOTTY));
}

static unsigned long length(void)
{
	switch (any(8)) {
	case 0:
		return random_state;
	case 1:
		return any(3 * PAGE);
	default:
		return any(64);
	}
}

static void call_write(void)
{
	struct {
		uint32_t index, loc;
	} head = {any(8), DYN_LOC(any(40), any(40))};
	unsigned char *p = place(32);
	unsigned long at = any(16) ? (unsigned long)p : address(32);

	if (writable(p, 16))
		put_bytes(p, &head, sizeof(head));
	if (any(4))
		check_result("write", syscall3(SYS_write, some_file(), at, length()),
		    ERRORS(BADF, FAULT, INVAL, NOENT, NOMEM));
	else
		check_result("pwrite",
		    syscall4(SYS_pwrite64, some_file(), at, length(), any(3) ? 0 : any(100) - 50),
		    ERRORS(BADF, FAULT, INVAL, NOENT, NOMEM, -29 /* ESPIPE */));
}

static void call_writev(void)
{
	unsigned char *v = arena + 5 * PAGE, *p = arena + any(PAGE);
	struct abi_iovec pieces[12];
	unsigned n = any(any(20) ? 5 : 12);
	uint32_t index = any(8);

	put_bytes(p, &index, sizeof(index));
	for (unsigned i = 0; i < n; i++) {
		bool first = !i && any(8);

		pieces[i].iov_base = first ? (unsigned long)p : address(32);
		pieces[i].iov_len = first && any(8) ? sizeof(index) : length();
	}
	put_bytes(v, pieces, n * sizeof(*pieces));
	check_result("writev",
	    syscall3(SYS_writev, some_file(), any(16) ? (unsigned long)v : address(64),
		any(16) ? n : (unsigned)random_state),
	    ERRORS(BADF, FAULT, INVAL, NOENT, NOMEM));
}

static void call_map(void)
{
	long fd = open_tracing("user_events_status", L_RDWR);
	long p = syscall6(SYS_mmap, 0, any(8) ? 4096 : length(), any(8), 1 + any(2), fd,
	    any(4) ? 0 : any(4) * 4096);

	check_result("mmap", p, ERRORS(INVAL, NOMEM, OVERFLOW));
	if (p > 0) {
		check_result(
		    "mprotect", syscall3(SYS_mprotect, p, 4096, any(8)), ERRORS(ACCES, NOMEM));
		CHECK_EQ(syscall3(SYS_read, fd, p, 10), FAULT); /* it cannot be written */
		syscall2(SYS_munmap, p, 4096);
	}
	syscall1(SYS_close, fd);
}

static void call_reopen(void)
{
	long *f = &files[any(FILES)];

	syscall1(SYS_close, *f);
	*f = open_tracing("user_events_data", any(8) ? L_RDWR : any(2));
	check_result("open", *f, ERRORS(NOMEM));
}

static void call_read(void)
{
	long r = syscall3(SYS_read, some_file(), address(16), length());

	CHECK(r == INVAL || r == BADF || r == FAULT);
}

static void call_enable(void)
{
	check_result("enable", put_text("events/user_events/enable", 0, any(4) ? "1" : "0"),
	    ERRORS(NOENT, NODEV, NOMEM));
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

/* ---- two tasks ---- */

static void make_arena(void)
{
	arena = (unsigned char *)map_pages(0, PAGES + 1, P_READ | P_WRITE, M_PRIVATE);
	memset(arena, FILL, SIZE);
	memset(mirror, FILL, SIZE);
	syscall2(SYS_munmap, (long)arena + HOLE * PAGE, PAGE);
	syscall2(SYS_munmap, (long)arena + SIZE, PAGE);
	syscall3(SYS_mprotect, (long)arena + RO_PAGE * PAGE, PAGE, P_READ);
}

static void run(unsigned long calls)
{
	make_arena();
	for (int i = 0; i < FILES; i++)
		files[i] = open_data();
	for (unsigned long i = 0; i < calls && !check_failures; i++) {
		one_call();
		if (i % CHECK_EVERY == 0)
			check_arena();
	}
	check_arena();
	fflush(stdout);
	exit_now(check_failures != 0);
}

int main(int argc, char **argv)
{
	unsigned long calls = 1000 * (argc > 1 ? strtoul(argv[1], NULL, 10) : 10);
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)now_ns() | 1;

	printf("# seed %lu\n", seed);
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		if (syscall0(SYS_fork) == 0) {
			random_begin(seed, i);
			run(calls);
		}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(wait_for(-1), 0);
	CHECK_EQ(put_text("events/enable", L_TRUNC, "0"), 0);
	CHECK_EQ(put_text("dynamic_events", L_TRUNC, "\n"), 0); /* nobody has left a reference */
	return check_failures != 0;
}
