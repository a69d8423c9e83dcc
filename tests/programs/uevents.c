/*
 * User events from ring 3: both layouts of struct user_reg, the page and the words that say whether
 * anyone listens, who keeps an event alive, what is refused. Raw system calls: what a C library
 * makes of them is not what is tested.
 */
#include "tests/programs/user_events.h"

static long data = -1;

static void close_file(long fd)
{
	syscall1(SYS_close, fd);
}

static void enable(const char *event, const char *how)
{
	char path[128];

	snprintf(path, sizeof(path), "events/%s/enable", event);
	CHECK_EQ(put_text(path, 0, how), 0);
}

static long write_u32(long fd, uint32_t index, uint32_t value)
{
	uint32_t both[2] = {index, value};

	return syscall3(SYS_write, fd, (long)both, sizeof(both));
}

/* ---- words ---- */

static volatile uint32_t word4;
static volatile uint64_t word8;

static void words_follow(void)
{
	CHECK_EQ(reg_word(data, "w4 u32 a", &word4, 4, 31, 0), 0);
	CHECK_EQ(reg_word(data, "w8 u32 a", &word8, 8, 63, 0), 1);
	CHECK_EQ(reg_word(data, "w8 u32 a", &word8, 8, 0, 0), 1); /* two bits for one event */
	word4 = 5;
	enable("user_events/w4", "1");
	CHECK_EQ(word4, 0x80000005);
	CHECK_EQ(word8, 0);
	enable("user_events/w8", "1");
	CHECK_EQ(word8, 0x8000000000000001);
	CHECK_EQ(write_u32(data, 0, 1), 8);
	enable("user_events/w4", "0");
	CHECK_EQ(word4, 5);
	CHECK_EQ(write_u32(data, 0, 1), BADF);
	CHECK_EQ(unreg(data, &word8, 0), 0);
	CHECK_EQ(word8, 0x8000000000000000);
	enable("user_events/w8", "0");
	enable("user_events/w8", "1");
	CHECK_EQ(word8, 0x8000000000000000);
	CHECK_EQ(unreg(data, &word8, 0), NOENT);
	CHECK_EQ(unreg(data, &word8, 63), 0);
	CHECK_EQ(word8, 0);
	/* Registered while somebody listens: set at once. */
	CHECK_EQ(reg_word(data, "w8 u32 a", &word8, 8, 7, 0), 1);
	CHECK_EQ(word8, 1 << 7);
	enable("user_events/w8", "0");
	CHECK_EQ(word8, 0);
}

static void words_refused(void)
{
	static char page[8192] __attribute__((aligned(4096)));
	long fd = open_data();
	struct user_unreg u = {sizeof(u), 0, 1, 0, (uintptr_t)&word4};

	CHECK_EQ(reg_word(fd, "no u32 a", &word4, 4, 31, 0), ADDRINUSE); /* that bit has an event */
	CHECK_EQ(reg_word(fd, "no u32 a", &word4, 4, 32, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", &word8, 8, 64, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", &word4, 2, 0, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", &word4, 0, 0, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", (char *)&word4 + 2, 4, 0, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", (char *)&word8 + 4, 8, 0, 0), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", &word4, 4, 0, USER_EVENT_REG_MAX), INVAL);
	CHECK_EQ(reg_word(fd, "no u32 a", (void *)0x8000000000000000, 4, 0, 0), FAULT);
	CHECK_EQ(reg_word(fd, "no u32 a", (void *)0x7fffffffeffc, 4, 0, 0),
	    FAULT); /* nothing is there */
	CHECK_EQ(reg_word(fd, "no u32 a", NULL, 4, 0, 0), FAULT);
	CHECK_EQ(syscall3(SYS_mprotect, (long)page, 4096, P_READ), 0);
	CHECK_EQ(reg_word(fd, "no u32 a", page, 4, 0, 0), FAULT);
	CHECK_EQ(reg_word(fd, "no long a", &word8, 8, 1, 0), INVAL);
	CHECK_EQ(reg_word(fd, (char *)16, &word8, 8, 1, 0), FAULT);
	CHECK_EQ(reg_word(fd, "w4 u64 a", &word8, 8, 1, 0), ADDRINUSE); /* other fields */
	CHECK_EQ(reg_word(fd, "w4 nonsense", &word8, 8, 1, 0), ADDRINUSE);
	CHECK_EQ(syscall3(SYS_ioctl, fd, DIAG_IOCSUNREG, (long)&u), INVAL);
	u = (struct user_unreg){sizeof(u) - 1, 0, 0, 0, (uintptr_t)&word4};
	CHECK_EQ(syscall3(SYS_ioctl, fd, DIAG_IOCSUNREG, (long)&u), INVAL);
	u.size = 4097;
	CHECK_EQ(syscall3(SYS_ioctl, fd, DIAG_IOCSUNREG, (long)&u), TOOBIG);
	CHECK_EQ(syscall3(SYS_ioctl, fd, DIAG_IOCSUNREG, 16), FAULT);
	CHECK(!has_line("dynamic_events", "u:no u32 a"));
	CHECK_EQ(write_u32(fd, 0, 1), NOENT); /* nothing of all that got an index */
	syscall3(SYS_mprotect, (long)page, 4096, P_READ | P_WRITE);
	close_file(fd);
}

/* A struct of ours at the end of `page`, with zeros up to `size` bytes. */
static void *longer(char *page, const void *from, unsigned known, uint32_t size)
{
	char *at = page + 4096 - size;

	memset(at, 0, size);
	memcpy(at, from, known);
	memcpy(at, &size, sizeof(size));
	return at;
}

/* Each byte after the known struct must be 0; a page is the longest struct. */
static void tail_of(char *page, unsigned long cmd, const void *from, unsigned known)
{
	for (unsigned size = known + 1; size <= known + 7; size++)
		for (unsigned i = known; i < size; i++) {
			char *at = longer(page, from, known, size);

			at[i] = 1;
			CHECK_EQ(syscall3(SYS_ioctl, data, cmd, (long)at), TOOBIG);
		}
	char *whole = longer(page, from, known, 4096);
	whole[4095] = 1;
	CHECK_EQ(syscall3(SYS_ioctl, data, cmd, (long)whole), TOOBIG);
	whole[4095] = 0;
	CHECK_EQ(syscall3(SYS_ioctl, data, cmd, (long)whole), 0);
	*(uint32_t *)whole = 4097;
	CHECK_EQ(syscall3(SYS_ioctl, data, cmd, (long)whole), TOOBIG);
}

static void tails(void)
{
	char *page = (char *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	struct user_reg_word newer = {
	    sizeof(newer), 9, 4, 0, (uintptr_t)&word4, (uintptr_t) "tail u32 a", 0};
	struct user_reg_bit older = {sizeof(older), (uintptr_t) "tail u32 a", 0, 0};
	struct user_unreg gone = {sizeof(gone), 9, 0, 0, (uintptr_t)&word4};

	tail_of(page, DIAG_IOCSREG, &newer, sizeof(newer));
	tail_of(page, DIAG_IOCSREG, &older, sizeof(older));
	for (unsigned i = 5; i < 8; i++) { /* what is reserved, byte by byte */
		struct user_unreg odd = gone;

		((char *)&odd)[i] = 1;
		CHECK_EQ(syscall3(SYS_ioctl, data, DIAG_IOCSUNREG, (long)&odd), INVAL);
	}
	tail_of(page, DIAG_IOCSUNREG, &gone, sizeof(gone));
	syscall2(SYS_munmap, (long)page, 4096);
}

/* The struct itself where it cannot be written, or across the end of what is there. */
static void struct_unwritable(void)
{
	char *page = (char *)map_pages(0, 2, P_READ | P_WRITE, M_PRIVATE);
	struct user_reg_bit *r = (void *)(page + 4096 - sizeof(*r));

	*r = (struct user_reg_bit){sizeof(*r), (uintptr_t) "ro u32 a", 5, 6};
	CHECK_EQ(syscall3(SYS_mprotect, (long)page, 4096, P_READ), 0);
	CHECK_EQ(syscall3(SYS_ioctl, data, DIAG_IOCSREG, (long)r), FAULT);
	CHECK(!has_line("dynamic_events", "u:ro u32 a"));
	syscall3(SYS_mprotect, (long)page, 8192, P_READ | P_WRITE);
	/* Its answers in two pages, of which the second cannot be written. */
	for (unsigned beyond = 1; beyond < sizeof(*r); beyond++) {
		struct user_reg_bit across = *r;

		syscall3(SYS_mprotect, (long)page, 8192, P_READ | P_WRITE);
		memcpy((char *)r + beyond, &across, sizeof(across));
		syscall3(SYS_mprotect, (long)page + 4096, 4096, P_READ);
		CHECK_EQ(syscall3(SYS_ioctl, data, DIAG_IOCSREG, (long)r + beyond), FAULT);
		CHECK(!has_line("dynamic_events", "u:ro u32 a"));
		*r = across;
	}
	syscall2(SYS_munmap, (long)page + 4096, 4096);
	memmove((char *)r + 4, r, sizeof(*r) - 4);
	CHECK_EQ(syscall3(SYS_ioctl, data, DIAG_IOCSREG, (long)r + 4), FAULT);
	syscall2(SYS_munmap, (long)page, 4096);
}

/* ---- who keeps an event ---- */

static void lifetimes(void)
{
	long fd = open_data(), other = open_data();
	static volatile uint32_t word;

	CHECK_EQ(reg_word(fd, "brief u32 a", &word, 4, 0, 0), 0);
	CHECK_EQ(reg_word(fd, "stays u32 a", &word, 4, 1, USER_EVENT_REG_PERSIST), 1);
	CHECK_EQ(reg_bit(fd, "older u32 a", NULL), 0);
	CHECK_EQ(del(other, "brief"), BUSY);
	CHECK_EQ(unreg(fd, &word, 0), 0);
	CHECK_EQ(del(other, "brief"), BUSY); /* the file has an index of it */
	close_file(fd);
	CHECK(!has_line("dynamic_events", "u:brief u32 a"));
	CHECK(has_line("dynamic_events", "u:stays u32 a"));
	CHECK(has_line("dynamic_events", "u:older u32 a"));
	CHECK_EQ(del(other, "stays"), BUSY); /* the word */
	CHECK_EQ(unreg(other, &word, 1), 0);
	CHECK_EQ(del(other, "stays"), 0);
	CHECK_EQ(del(other, "older"), 0);
	/* One that somebody listens to goes when nobody does any more. */
	fd = open_data();
	CHECK_EQ(reg_word(fd, "brief u32 a", &word, 4, 0, 0), 0);
	enable("user_events/brief", "1");
	CHECK_EQ(unreg(fd, &word, 0), 0);
	close_file(fd);
	CHECK(has_line("dynamic_events", "u:brief u32 a"));
	enable("user_events/brief", "0");
	CHECK(!has_line("dynamic_events", "u:brief u32 a"));
	close_file(other);
}

/* Events of a name that may have many formats are counted, all of them since the boot. */
static long number_of(const char *name, const char *fields)
{
	char line[128];

	for (long n = 0; n < 1000; n++) {
		snprintf(line, sizeof(line), "u:%s.%lx %s", name, n, fields);
		if (has_line("dynamic_events", line))
			return n;
	}
	return -1;
}

static void formats(void)
{
	static volatile uint32_t word;
	char event[128];
	long fd = open_data();

	CHECK_EQ(reg_word(fd, "many u32 a", &word, 4, 0, USER_EVENT_REG_MULTI_FORMAT), 0);
	CHECK_EQ(reg_word(fd, "many u64 b", &word, 4, 1, USER_EVENT_REG_MULTI_FORMAT), 1);
	CHECK_EQ(reg_word(fd, "many u32 a", &word, 4, 2, USER_EVENT_REG_MULTI_FORMAT), 0);
	CHECK_EQ(reg_word(fd, "many u16 c", &word, 4, 3, 0), 2); /* a name of its own */
	long number = number_of("many", "u32 a");
	CHECK(number >= 0);
	CHECK_EQ(number_of("many", "u64 b"), number + 1);
	CHECK(has_line("dynamic_events", "u:many u16 c"));
	snprintf(event, sizeof(event), "user_events_multi/many.%lx", number);
	enable(event, "1");
	CHECK_EQ(word, 5);
	enable(event, "0");
	close_file(fd);
	for (int bit = 0; bit < 4; bit++)
		CHECK_EQ(unreg(data, &word, bit), 0);
	CHECK_EQ(number_of("many", "u32 a"), -1);
}

/* ---- fork, exec, exit ---- */

static volatile uint32_t inherited, many_bits;

static void child_has_words(void)
{
	CHECK_EQ(inherited, 1);
	enable("user_events/family", "0");
	CHECK_EQ(inherited, 0);
	CHECK_EQ(unreg(data, &inherited, 0), 0); /* its own, not the parent's */
	enable("user_events/family", "1");
	CHECK_EQ(inherited, 0);
	exit_now(check_failures != 0);
}

static void child_execs(void)
{
	static char *argv[] = {"/bin/true", NULL};

	close_file(data);
	syscall3(SYS_execve, (long)argv[0], (long)argv, (long)(argv + 1));
	exit_now(1);
}

static void families(void)
{
	long fd = open_data();

	CHECK_EQ(reg_word(fd, "family u32 a", &inherited, 4, 0, 0), 0);
	enable("user_events/family", "1");
	CHECK_EQ(inherited, 1);
	CHECK_EQ(in_child(child_has_words), 0);
	CHECK_EQ(inherited,
	    1); /* the child's unregistering was none of ours; it switched the event off and on */
	enable("user_events/family", "0");
	CHECK_EQ(inherited, 0);
	CHECK_EQ(in_child(child_execs), 0);
	CHECK_EQ(unreg(fd, &inherited, 0), 0);
	close_file(fd);
	CHECK(!has_line("dynamic_events", "u:family u32 a")); /* neither child left a reference */
}

static void child_has_all_bits(void)
{
	exit_now(many_bits != 0xffffffff);
}

/* A fork copies all words of its parent. */
static void forks_with_many_words(void)
{
	long fd = open_data();

	for (int bit = 0; bit < 32; bit++)
		CHECK_EQ(reg_word(fd, "forked u32 a", &many_bits, 4, bit, 0), 0);
	enable("user_events/forked", "1");
	for (int i = 0; i < 10; i++)
		CHECK_EQ(in_child(child_has_all_bits), 0);
	enable("user_events/forked", "0");
	CHECK_EQ(many_bits, 0);
	for (int bit = 0; bit < 32; bit++)
		CHECK_EQ(unreg(fd, &many_bits, bit), 0);
	close_file(fd);
}

static void child_registers_and_dies(void)
{
	static volatile uint32_t word;
	long fd = open_data();

	CHECK_EQ(reg_word(fd, "orphan u32 a", &word, 4, 0, 0), 0);
	CHECK(has_line("dynamic_events", "u:orphan u32 a"));
	if (check_failures)
		exit_now(1);
	syscall2(SYS_kill, syscall0(SYS_getpid), L_KILL);
}

static void deaths(void)
{
	CHECK_EQ(in_child(child_registers_and_dies), L_KILL);
	CHECK(!has_line("dynamic_events", "u:orphan u32 a"));
}

/* A word that goes away, and one whose page is shared with a child. */
static void words_unmapped(void)
{
	volatile uint32_t *gone = (uint32_t *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);

	CHECK_EQ(reg_word(data, "w4 u32 a", gone, 4, 3, 0), 0);
	syscall2(SYS_munmap, (long)gone, 4096);
	enable("user_events/w4", "1"); /* nothing happens to anybody */
	CHECK_EQ(word4 >> 31, 1);
	enable("user_events/w4", "0");
	CHECK_EQ(map_pages((long)gone, 1, P_READ | P_WRITE, M_PRIVATE | M_FIXED), (long)gone);
	enable("user_events/w4", "1");
	CHECK_EQ(*gone, 8);
	enable("user_events/w4", "0");
	CHECK_EQ(unreg(data, gone, 3), 0);
	syscall2(SYS_munmap, (long)gone, 4096);
}

/* ---- the page ---- */

static volatile unsigned char *status;

static void write_status(void)
{
	status[0] = 1;
	exit_now(0);
}

static void run_status(void)
{
	((void (*)(void))status)();
	exit_now(0);
}

static void page_is_safe(void)
{
	long fd = open_tracing("user_events_status", L_RDWR);
	static const int prots[] = {
	    P_READ, P_READ | P_WRITE, P_READ | P_EXEC, P_READ | P_WRITE | P_EXEC};
	struct user_reg_bit r;

	CHECK_EQ(reg_bit(data, "paged u32 a", &r), 0);
	CHECK(r.status_bit > 0);
	CHECK_EQ(syscall6(SYS_mmap, 0, 8192, P_READ, M_SHARED, fd, 0), INVAL);
	for (int shared = M_SHARED; shared <= M_PRIVATE; shared++)
		for (unsigned i = 0; i < sizeof(prots) / sizeof(*prots); i++) {
			status =
			    (unsigned char *)syscall6(SYS_mmap, 0, 4096, prots[i], shared, fd, 0);
			CHECK((long)status > 0);
			CHECK_EQ(in_child(write_status), L_SEGV);
			CHECK_EQ(in_child(run_status), L_SEGV);
			CHECK_EQ(
			    syscall3(SYS_mprotect, (long)status, 4096, P_READ | P_WRITE), ACCES);
			CHECK_EQ(
			    syscall3(SYS_mprotect, (long)status, 4096, P_READ | P_EXEC), ACCES);
			enable("user_events/paged", "1");
			CHECK_EQ(status[r.status_bit / 8] >> r.status_bit % 8 & 1, 1);
			CHECK_EQ(reg_word(data, "paged u32 a", status, 4, 0, 0), FAULT);
			enable("user_events/paged", "0");
			CHECK_EQ(status[r.status_bit / 8], 0);
			syscall2(SYS_munmap, (long)status, 4096);
		}
	close_file(fd);
}

/* ---- payloads ---- */

/* What is not contiguous in the program's memory is in the record, and only what was asked for. */
static void scattered(long index)
{
	uint32_t first = 0x11, second = 0x22, whole[3] = {index, 0x33, 0x44};
	struct abi_iovec v[3] = {
	    {(uintptr_t)whole, 4}, {(uintptr_t)&first, 4}, {(uintptr_t)&second, 4}};

	CHECK_EQ(syscall3(SYS_writev, data, (long)v, 3), 12);
	CHECK(has_text("trace", "piece: a=17 b=34"));
	CHECK_EQ(syscall6(SYS_pwrite64, data, (long)whole, 12, 0, 0, 0), 12);
	CHECK_EQ(syscall6(SYS_pwrite64, data, (long)whole, 12, 4, 0, 0), FAULT);
	CHECK(has_text("trace", "piece: a=51 b=68"));
}

/* Index and payload in all kinds of pieces, and where one of them cannot be read. */
static void pieces(void)
{
	char *page = (char *)map_pages(0, 2, P_READ | P_WRITE, M_PRIVATE);
	long index = reg_word(data, "piece u32 a; u32 b", &word4, 4, 5, 0);
	struct abi_iovec v[4];

	syscall2(SYS_munmap, (long)page + 4096, 4096);
	enable("user_events/piece", "1");
	scattered(index);
	for (int at = 4096 - 12; at <= 4096; at++) { /* up to here it can be read */
		uint32_t all[3] = {index, 1, 2};

		memcpy(page + at, all, 4096 - at < 12 ? 4096 - at : 12);
		CHECK_EQ(syscall3(SYS_write, data, (long)page + at, 12), at == 4084 ? 12 : FAULT);
	}
	for (int cut = 1; cut < 12; cut++) { /* in two, in three with an empty one between */
		uint32_t all[3] = {index, 3, 4};

		v[0] = (struct abi_iovec){(uintptr_t)all, cut};
		v[1] = (struct abi_iovec){(uintptr_t)all + cut, 0};
		v[2] = (struct abi_iovec){(uintptr_t)all + cut, 12 - cut};
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 3), 12);
		v[1] = v[2];
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), 12);
		v[1].iov_base = (uintptr_t)page + 4096 - 1;
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), cut == 11  ? 12
								 : cut == 3 ? NOENT
									    : FAULT);
	}
	v[0].iov_len = -1L;
	CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), INVAL);
	CHECK_EQ(syscall3(SYS_writev, data, 16, 2), FAULT);
	CHECK_EQ(syscall3(SYS_writev, data, (long)v, 0), 0);
	CHECK_EQ(syscall3(SYS_writev, data, (long)v, 1025), INVAL);
	enable("user_events/piece", "0");
	CHECK_EQ(unreg(data, &word4, 5), 0);
	syscall2(SYS_munmap, (long)page, 4096);
}

/* Sizes about the largest record, and far beyond: told as written, counted as lost. */
static void sizes(void)
{
	static char big[200000];
	uint32_t index = reg_word(data, "sized", &word4, 4, 6, 0);

	enable("user_events/sized", "1");
	memcpy(big, &index, 4);
	for (long n = 4; n < 4200; n += 1 + n / 7)
		CHECK_EQ(syscall3(SYS_write, data, (long)big, n), n);
	for (long n = 4030; n < 4100; n++)
		CHECK_EQ(syscall3(SYS_write, data, (long)big, n), n);
	CHECK_EQ(syscall3(SYS_write, data, (long)big, sizeof(big)), sizeof(big));
	CHECK_EQ(syscall3(SYS_write, data, (long)big, 1L << 40), FAULT);
	CHECK(has_line("trace_ledger", "balanced"));
	enable("user_events/sized", "0");
	CHECK_EQ(unreg(data, &word4, 6), 0);
}

/* What fills a record to whole words is not what the kernel's stack had there before. */
static void padding(void)
{
	unsigned char record[4 + 24];
	uint32_t word, index;
	long got = reg_word(data, "odd u8 a", &word, 4, 0, 0);

	CHECK(got >= 0);
	index = got;
	enable("user_events/odd", "1");
	memcpy(record, &index, 4);
	for (int n = 1; n <= 8; n++) {
		memset(record + 4, 0xee, 24);
		CHECK_EQ(syscall3(SYS_write, data, (long)record, 28), 28);
		CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
		memset(record + 4, 0x60 + n, n);
		CHECK_EQ(syscall3(SYS_write, data, (long)record, 4 + n), 4 + n);
		CHECK(has_padded(0x60 + n, n));
	}
	enable("user_events/odd", "0");
	CHECK_EQ(unreg(data, (void *)&word, 0), 0);
}

int main(void)
{
	data = open_data();
	CHECK(data >= 0);
	words_follow();
	words_refused();
	tails();
	struct_unwritable();
	lifetimes();
	formats();
	families();
	forks_with_many_words();
	deaths();
	words_unmapped();
	page_is_safe();
	pieces();
	sizes();
	padding();
	CHECK_EQ(unreg(data, &word4, 31), 0);
	CHECK_EQ(unreg(data, &word8, 7), 0);
	close_file(data);
	data = open_data();
	CHECK_EQ(del(data, "paged"), 0);
	CHECK_EQ(del(data, "tail"), 0);
	CHECK(has_line("user_events_status", "Active: 0"));
	return check_failures != 0;
}
