/*
 * Calls that fail half-way, and objects that come and go, thousands of times. The case that runs
 * this (tests/kernel/process/programs.c) sees whether all pages are given back.
 */
#include "tests/programs/user_events.h"

#define CHILDREN 40
#define ROUNDS	 10
#define NXIO	 -6

enum { RDONLY = 0, WRONLY = 1, RDWR = 2, CREATE = 0100, NONBLOCK = 04000, FIFO = 010600 };
enum { NOREPLACE = 0x100000, THREAD_ID = 4, THREAD_CPUTIME = 3 };

static long open_file(const char *name, int flags, int mode)
{
	return syscall3(SYS_open, (long)name, flags, mode);
}

static void make_files(void)
{
	long fd = open_file("leak_text", WRONLY | CREATE, 0755);

	syscall3(SYS_write, fd, (long)"no program", 10);
	syscall1(SYS_close, fd);
	syscall1(SYS_close, open_file("leak_empty", WRONLY | CREATE, 0644));
	syscall3(SYS_mknod, (long)"leak_fifo", FIFO, 0);
}

static void refused_files(void)
{
	struct abi_iovec vec[20];
	char byte[20], to[64];
	long fd;

	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_empty", 0, 0), ACCES);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_text", 0, 0), NOEXEC);
	CHECK(syscall3(SYS_readlink, (long)"/proc/self/fd/0", (long)to, sizeof(to)) > 0);
	fd = open_file("leak_text", RDONLY, 0);
	for (int i = 0; i < 20; i++)
		vec[i] = (struct abi_iovec){(uint64_t)&byte[i], 1};
	CHECK_EQ(syscall3(SYS_readv, fd, (long)vec, 20), 10);
	syscall1(SYS_close, fd);
}

static void refused_memory(void)
{
	long text = open_file("leak_text", RDONLY, 0), empty = open_file("leak_empty", RDWR, 0);
	long page = map_pages(0, 1, P_READ, M_PRIVATE), at;

	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_SHARED, text, 0), ACCES);
	CHECK_EQ(syscall6(SYS_mmap, page, PAGE, P_READ, M_PRIVATE | NOREPLACE, text, 0), EXIST);
	at = syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_PRIVATE, empty, 0);
	CHECK_EQ(syscall3(SYS_read, text, at, 10), FAULT); /* there is no such page of the file */
	syscall2(SYS_munmap, at, PAGE);
	syscall2(SYS_munmap, page, PAGE);
	syscall1(SYS_close, text);
	syscall1(SYS_close, empty);
}

static void timers(void)
{
	int event[16] = {[2] = L_USR1, [3] = THREAD_ID, [4] = syscall0(SYS_gettid)}, id = -1;
	struct abi_timespec t;

	CHECK_EQ(syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, (long)event, (long)&id), 0);
	CHECK_EQ(syscall1(SYS_timer_delete, id), 0);
	CHECK_EQ(syscall3(SYS_timer_create, THREAD_CPUTIME, 0, (long)&id), 0);
	CHECK_EQ(syscall1(SYS_timer_delete, id), 0);
	/* The clock of a thread of another process is not to be had. */
	CHECK_EQ(syscall2(SYS_clock_gettime, ~syscall0(SYS_getppid) * 8 | 4 | 2, (long)&t), INVAL);
}

/* Payloads that the kernel copies to its memory: unreadable ones, and one that no record holds. */
static void refused_payloads(void)
{
	static uint32_t word, big[4096];
	long data = open_data(), bad = map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	struct abi_iovec v[2] = {{(uint64_t)big, 4}, {bad, 1000}};
	long index = reg_word(data, "leaky u32 a", &word, 4, 0, 0);

	CHECK(index >= 0);
	CHECK_EQ(reg_word(data, "leaky u32 a", &word, 4, 0, 0), ADDRINUSE);
	CHECK_EQ(put_text("events/user_events/leaky/enable", 0, "1"), 0);
	syscall2(SYS_munmap, bad, PAGE);
	big[0] = index;
	for (int i = 0; i < 2 * ROUNDS; i++) {
		v[1].iov_len = 1000;
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), FAULT);
		v[1].iov_len = 3 * PAGE;
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), FAULT);
		CHECK_EQ(syscall3(SYS_write, data, (long)big, 2 * PAGE), 2 * PAGE);
	}
	CHECK_EQ(put_text("events/user_events/leaky/enable", 0, "0"), 0);
	CHECK_EQ(unreg(data, &word, 0), 0);
	syscall1(SYS_close, data);
}

static void child(void)
{
	refused_payloads();

	for (int i = 0; i < ROUNDS; i++) {
		refused_files();
		refused_memory();
		timers();
	}
}

/* The clocks are those of a process that ends, too. */
static void parent(void)
{
	CHECK_EQ(in_child(child), 0);
}

int main(void)
{
	make_files();
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(parent), 0);
	syscall1(SYS_unlink, (long)"leak_text");
	syscall1(SYS_unlink, (long)"leak_empty");
	syscall1(SYS_unlink, (long)"leak_fifo");
	return check_failures != 0;
}
