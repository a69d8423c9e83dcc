/*
 * Calls that fail half-way, and objects that come and go, thousands of times. The case that runs
 * this (tests/kernel/process/programs.c) sees whether all pages are given back.
 */
#include "tests/programs/thread.h"
#include "tests/programs/user_events.h"

#define CHILDREN 40
#define ROUNDS	 10
#define NXIO	 -6
#define BADLIB	 -80

enum { RDONLY = 0, WRONLY = 1, RDWR = 2, CREATE = 0100, NONBLOCK = 04000, FIFO = 010600 };
enum { NOREPLACE = 0x100000, THREAD_ID = 4, THREAD_CPUTIME = 3 };

static long open_file(const char *name, int flags, int mode)
{
	return syscall3(SYS_open, (long)name, flags, mode);
}

static void make_file(const char *name, const void *text, size_t len)
{
	long fd = open_file(name, WRONLY | CREATE, 0755);

	CHECK_EQ(syscall3(SYS_write, fd, (long)text, len), len);
	syscall1(SYS_close, fd);
}

/* A program whose interpreter is there but is none. */
static void make_dynamic(void)
{
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, phoff, shoff;
		uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
		struct {
			uint32_t type, flags;
			uint64_t offset, vaddr, paddr, filesz, memsz, align;
		} part[2];
		char interp[10];
	} f = {{0x7f, 'E', 'L', 'F', 2, 1, 1}, 2, 62, 1, 0x400000, 64, 0, 0, 64, 56, 2, 64, 0, 0,
	    {{3, 4, 176, 0x4000b0, 0x4000b0, 10, 10, 1},
		{1, 5, 0, 0x400000, 0x400000, 186, 186, PAGE}},
	    "leak_text"};

	make_file("leak_dynamic", &f, sizeof(f));
}

static void make_files(void)
{
	make_file("leak_text", "no program", 10);
	make_file("leak_script", "#!/none/such", 12);
	make_dynamic();
	syscall1(SYS_close, open_file("leak_empty", WRONLY | CREATE, 0644));
	syscall3(SYS_mknod, (long)"leak_fifo", FIFO, 0);
}

static void refused_files(void)
{
	static char *argv[] = {"a name", "an argument", NULL};
	struct abi_iovec vec[20];
	char byte[20], to[64];
	long fd;

	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_empty", 0, 0), ACCES);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_text", 0, 0), NOEXEC);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_script", (long)argv, 0), NOENT);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_dynamic", 0, 0), BADLIB);
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

static void become_true(void *arg)
{
	static char *argv[] = {"true", NULL};

	(void)arg;
	syscall3(SYS_execve, (long)"/bin/true", (long)argv, 0);
}

/* A thread that becomes another program takes the place of its process's first. */
static void new_leader(void)
{
	static struct thread t;

	thread_begin(&t, become_true, NULL);
	for (;;)
		sleep_ms(1000);
}

int main(void)
{
	make_files();
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(parent), 0);
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(new_leader), 0);
	syscall1(SYS_unlink, (long)"leak_text");
	syscall1(SYS_unlink, (long)"leak_empty");
	syscall1(SYS_unlink, (long)"leak_fifo");
	syscall1(SYS_unlink, (long)"leak_script");
	syscall1(SYS_unlink, (long)"leak_dynamic");
	return check_failures != 0;
}
