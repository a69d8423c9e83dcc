/*
 * Address spaces: copy on write, mmap and its errors, mprotect, brk, shared memory, the stack's
 * limit, files in memory.
 */
#include "tests/programs/raw.h"

#define PAGES 64

static char data[PAGES * PAGE] = {1}; /* in the file */
static char zeros[PAGES * PAGE];      /* after its end */
static char *heap;

static void fill(char *p, char with)
{
	for (unsigned i = 0; i < PAGES; i++)
		p[i * PAGE + i] = with + i;
}

static void check_filled(const char *p, char with)
{
	for (unsigned i = 0; i < PAGES; i++)
		CHECK_EQ(p[i * PAGE + i], (char)(with + i));
}

/* The grandchild's, the child's and the parent's copies are three. */
static void grandchild(void)
{
	check_filled(data, 20);
	fill(data, 30);
	fill(zeros, 30);
	fill(heap, 30);
	check_filled(heap, 30);
}

static void child(void)
{
	check_filled(data, 10);
	check_filled(zeros, 10);
	check_filled(heap, 10);
	fill(data, 20);
	fill(zeros, 20);
	fill(heap, 20);
	CHECK_EQ(in_child(grandchild), 0);
	check_filled(data, 20);
	check_filled(zeros, 20);
	check_filled(heap, 20);
}

static void copy_on_write(void)
{
	heap = (char *)map_pages(0, PAGES, P_READ | P_WRITE, M_PRIVATE);
	fill(data, 10);
	fill(zeros, 10);
	fill(heap, 10);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(in_child(child), 0);
		check_filled(data, 10);
		check_filled(zeros, 10);
		check_filled(heap, 10);
	}
}

/* What the kernel writes breaks sharing as what the program writes does. */
static void kernel_writes(void)
{
	int ends[2];

	syscall1(SYS_pipe, (long)ends);
	CHECK_EQ(syscall3(SYS_write, ends[1], (long)"kernel", 6), 6);
	CHECK_EQ(
	    syscall3(SYS_read, ends[0], (long)(heap + PAGE - 3), 6), 6); /* over a page's end */
	CHECK(memcmp(heap + PAGE - 3, "kernel", 6) == 0);
}

static void copy_on_kernel_write(void)
{
	memset(heap, 'p', 2 * PAGE);
	CHECK_EQ(in_child(kernel_writes), 0);
	for (unsigned i = 0; i < 2 * PAGE; i++)
		if (heap[i] != 'p') {
			CHECK_EQ(heap[i], 'p');
			break;
		}
	CHECK_EQ(syscall2(SYS_munmap, (long)heap, PAGES * PAGE), 0);
}

static char *area;

static void touch(void)
{
	*(volatile char *)area;
}

static void put(void)
{
	*(volatile char *)area = 1;
}

static void run(void)
{
	((void (*)(void))area)();
}

static void protection(void)
{
	area = (char *)map_pages(0, 3, P_READ | P_WRITE, M_PRIVATE);
	memset(area, 0xc3, 3 * PAGE); /* ret */
	CHECK_EQ(in_child(run), L_SEGV);
	CHECK_EQ(syscall3(SYS_mprotect, (long)area, 3 * PAGE, P_READ | P_EXEC), 0);
	CHECK_EQ(in_child(run), 0);
	CHECK_EQ(in_child(put), L_SEGV);
	CHECK_EQ(syscall3(SYS_mprotect, (long)area + PAGE, PAGE, 0), 0);
	area += PAGE;
	CHECK_EQ(in_child(touch), L_SEGV);
	CHECK_EQ(in_child(run), L_SEGV);
	CHECK_EQ(syscall3(SYS_write, 1, (long)area, 1), FAULT);
	CHECK_EQ(syscall3(SYS_write, 1, (long)area - 1, 2), FAULT);
	CHECK_EQ(syscall3(SYS_mprotect, (long)area, PAGE, P_READ), 0);
	CHECK_EQ((unsigned char)*area, 0xc3); /* it was there all the time */
	CHECK_EQ(syscall2(SYS_munmap, (long)area, PAGE), 0);
	CHECK_EQ(in_child(touch), L_SEGV);
	CHECK_EQ(syscall3(SYS_mprotect, (long)area - PAGE, 3 * PAGE, P_READ), NOMEM);
	area -= PAGE;
	CHECK_EQ(in_child(run), 0); /* ... and that changed nothing */
	CHECK_EQ(syscall2(SYS_munmap, (long)area, 3 * PAGE), 0);
	CHECK_EQ(in_child(touch), L_SEGV);
}

/* A page that two processes share stays read-only for both when only its protection changes. */
static void protect_shared_child(void)
{
	syscall3(SYS_mprotect, (long)area, PAGE, P_READ);
	syscall3(SYS_mprotect, (long)area, PAGE, P_READ | P_WRITE);
	area[0] = 'c';
}

static void protect_shared(void)
{
	area = (char *)map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	area[0] = 'p';
	CHECK_EQ(in_child(protect_shared_child), 0);
	CHECK_EQ(area[0], 'p');
	syscall2(SYS_munmap, (long)area, PAGE);
}

static void refusals(void)
{
	static const struct {
		long addr, len, prot, flags, fd, offset, want;
	} rows[] = {
	    {0, 0, 3, M_PRIVATE | M_ANON, -1, 0, INVAL},
	    {0, 1, 3, M_ANON, -1, 0, INVAL},
	    {0, 1, 3, M_PRIVATE, -1, 0, BADF},
	    {0, 1, 3, M_PRIVATE, 1000, 0, BADF},
	    {0, 1, 3, M_PRIVATE | M_ANON, -1, 1, INVAL},
	    {1, 1, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, INVAL},
	    {0, PAGE, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, PERM},
	    {0xf000, PAGE, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, PERM},
	    {0x7ffffffff000, PAGE, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, NOMEM},
	    {0x7fffffffe000, 2 * PAGE, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, NOMEM},
	    {-PAGE, PAGE, 3, M_PRIVATE | M_ANON | M_FIXED, -1, 0, NOMEM},
	    {0, -1, 3, M_PRIVATE | M_ANON, -1, 0, NOMEM},
	    {0, -PAGE, 3, M_PRIVATE | M_ANON, -1, 0, NOMEM},
	    {0, 1L << 46, 3, M_PRIVATE | M_ANON, -1, 0, NOMEM},
	    {0, 1L << 47, 3, M_PRIVATE | M_ANON | M_NORESERVE, -1, 0, NOMEM},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_EQ(syscall6(SYS_mmap, rows[i].addr, rows[i].len, rows[i].prot, rows[i].flags,
			     rows[i].fd, rows[i].offset),
		    rows[i].want);
	CHECK_EQ(syscall2(SYS_munmap, 1, PAGE), INVAL);
	CHECK_EQ(syscall2(SYS_munmap, 0x10000000, 0), INVAL);
	CHECK_EQ(syscall2(SYS_munmap, 0x10000000, -1), INVAL);
	CHECK_EQ(syscall2(SYS_munmap, 0x7ffffffff000, PAGE), INVAL);
	CHECK_EQ(syscall2(SYS_munmap, 0x10000000, PAGE), 0);
	CHECK_EQ(syscall3(SYS_mprotect, 0x10000001, PAGE, 1), INVAL);
	CHECK_EQ(syscall3(SYS_mprotect, 0x10000000, PAGE, 1), NOMEM);
	CHECK_EQ(syscall3(SYS_mprotect, 0x10000000, 0, 1), 0);
	CHECK_EQ(syscall3(SYS_mprotect, 0x10000000, PAGE, 99), INVAL);
}

/* MAP_FIXED in the middle of what is there, and NOREPLACE not. */
static void fixed(void)
{
	char *p = (char *)map_pages(0, 5, P_READ | P_WRITE, M_PRIVATE);

	memset(p, 'o', 5 * PAGE);
	CHECK_EQ(map_pages((long)p + PAGE, 2, P_READ, M_PRIVATE | 0x100000), EXIST);
	CHECK_EQ(p[PAGE], 'o');
	CHECK_EQ(
	    map_pages((long)p + PAGE, 2, P_READ | P_WRITE, M_PRIVATE | M_FIXED), (long)p + PAGE);
	CHECK_EQ(p[PAGE - 1], 'o');
	CHECK_EQ(p[PAGE], 0);
	CHECK_EQ(p[3 * PAGE - 1], 0);
	CHECK_EQ(p[3 * PAGE], 'o');
	CHECK_EQ(syscall3(SYS_madvise, (long)p, 5 * PAGE, 4 /* MADV_DONTNEED */), 0);
	CHECK_EQ(p[4 * PAGE], 0);
	syscall2(SYS_munmap, (long)p, 5 * PAGE);
	CHECK_EQ(
	    map_pages((long)p, 1, P_READ, M_PRIVATE), (long)p); /* a hint that is free is taken */
	syscall2(SYS_munmap, (long)p, PAGE);
}

static void heap_end(void)
{
	long start = syscall1(SYS_brk, 0), got = syscall1(SYS_brk, start + 10 * PAGE + 5);
	char *p = (char *)start;

	CHECK_EQ(got, start + 10 * PAGE + 5);
	p[10 * PAGE + 4] = 'x';
	CHECK_EQ(syscall1(SYS_brk, start + 1), start + 1);
	CHECK_EQ(syscall1(SYS_brk, start + 10 * PAGE), start + 10 * PAGE);
	CHECK_EQ(p[9 * PAGE], 0);
	CHECK_EQ(syscall1(SYS_brk, 0x7ffffffff000), start + 10 * PAGE);
	CHECK_EQ(syscall1(SYS_brk, -1), start + 10 * PAGE);
	CHECK_EQ(syscall1(SYS_brk, 0x1000), start + 10 * PAGE);
	CHECK_EQ(syscall1(SYS_brk, start), start);
	area = p + 2 * PAGE;
	CHECK_EQ(in_child(touch), L_SEGV);
}

static volatile char *shared;

static void write_shared(void)
{
	shared[0] = 'c';
	shared[9 * PAGE] = 'd';
}

static void share(void)
{
	shared = (char *)map_pages(0, 10, P_READ | P_WRITE, M_SHARED);
	CHECK_EQ(in_child(write_shared), 0);
	CHECK_EQ(shared[0], 'c');
	CHECK_EQ(shared[9 * PAGE], 'd');
	CHECK_EQ(syscall2(SYS_munmap, (long)shared + PAGE, 3 * PAGE), 0);
	CHECK_EQ(shared[9 * PAGE], 'd');
	CHECK_EQ(in_child(write_shared), 0);
	syscall2(SYS_munmap, (long)shared, 10 * PAGE);
}

/* Pages that somebody has used are what is given out next: more than lie about in small runs. */
static void leave_pages_full(void)
{
	size_t size = 1024 * PAGE;
	char *p = (char *)syscall6(SYS_mmap, 0, size, P_READ | P_WRITE, M_PRIVATE | M_ANON, -1, 0);

	memset(p, 0xee, size);
	syscall2(SYS_munmap, (long)p, size);
}

/* Of a file of 6000 bytes: its last page, copied by a first write, many times. */
static void copies_end_with_zeros(long fd)
{
	char *copies[32];

	leave_pages_full();
	for (unsigned i = 0; i < 32; i++) {
		copies[i] =
		    (char *)syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_PRIVATE, fd, PAGE);
		copies[i][0] = 'W';
		for (unsigned at = 6000 - PAGE; at < PAGE; at++)
			CHECK_EQ(copies[i][at], 0);
	}
	for (unsigned i = 0; i < 32; i++)
		syscall2(SYS_munmap, (long)copies[i], PAGE);
}

/* A private mapping of a file: its bytes, zeros to the page's end, SIGBUS after it. */
static void mapped_file(void)
{
	long fd = syscall3(SYS_open, (long)"/tmp/memory", 0102, 0600), rd;
	char *p;

	for (int i = 0; i < 600; i++)
		syscall3(SYS_write, fd, (long)"0123456789", 10);
	rd = syscall3(SYS_open, (long)"/tmp/memory", 0, 0);
	p = (char *)syscall6(SYS_mmap, 0, 3 * PAGE, P_READ | P_WRITE, M_PRIVATE, rd, 0);
	CHECK_EQ(p[0], '0');
	CHECK_EQ(p[4999], '9');
	CHECK_EQ(p[6000], 0);
	copies_end_with_zeros(rd);
	p[0] = 'X';
	CHECK_EQ(syscall4(SYS_pread64, fd, (long)p + 1, 1, 0), 1);
	CHECK_EQ(p[1], '0');
	area = p + 2 * PAGE;
	CHECK_EQ(in_child(touch), L_BUS);
	CHECK_EQ(syscall3(SYS_read, rd, (long)area, 1), FAULT);
	syscall2(SYS_munmap, (long)p, 3 * PAGE);
	p = (char *)syscall6(SYS_mmap, 0, PAGE, P_READ, M_PRIVATE, rd, PAGE);
	CHECK_EQ(p[0], '6');
	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_SHARED, rd, 0), ACCES);
	CHECK_EQ(syscall6(SYS_mmap, 0, 2 * PAGE, P_READ, M_PRIVATE, rd, -PAGE), OVERFLOW);
	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ, M_PRIVATE, rd, -PAGE), OVERFLOW);
	p = (char *)syscall6(SYS_mmap, 0, PAGE, P_READ, M_SHARED, rd, 0);
	CHECK_EQ(p[0], '0');
	CHECK_EQ(syscall3(SYS_mprotect, (long)p, PAGE, P_READ | P_WRITE), ACCES);
	CHECK_EQ(syscall3(SYS_mprotect, (long)p, PAGE, P_READ), 0);
	syscall2(SYS_munmap, (long)p, PAGE);
	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ, M_PRIVATE,
		     syscall3(SYS_open, (long)"/tmp/memory", 1, 0), 0),
	    ACCES);
	CHECK_EQ(
	    syscall6(SYS_mmap, 0, PAGE, P_READ, M_PRIVATE, syscall3(SYS_open, (long)"/", 0, 0), 0),
	    NODEV);
	syscall1(SYS_unlink, (long)"/tmp/memory");
}

/*
 * Private mappings show the file's own pages, and so what is written to it, up to their first
 * write; so they do when the file has lost its name.
 */
static void mapped_pages_are_the_files(void)
{
	long fd = syscall3(SYS_open, (long)"/tmp/memory", 0102, 0600);
	char *p, *q;

	for (int i = 0; i < 5 * 409; i++)
		syscall3(SYS_write, fd, (long)"0123456789", 10);
	p = (char *)syscall6(SYS_mmap, 0, 4 * PAGE, P_READ | P_WRITE, M_PRIVATE, fd, 0);
	q = (char *)syscall6(SYS_mmap, 0, 4 * PAGE, P_READ | P_WRITE, M_SHARED, fd, 0);
	CHECK_EQ(p[0], '0');
	CHECK_EQ(p[PAGE], '6');
	p[1] = 'P';
	CHECK_EQ(syscall4(SYS_pwrite64, fd, (long)"ab", 2, 0), 2);
	CHECK_EQ(syscall4(SYS_pwrite64, fd, (long)"cd", 2, PAGE), 2);
	CHECK_EQ(p[0], '0'); /* a copy since p[1] was written */
	CHECK_EQ(p[PAGE], 'c');
	q[PAGE + 1] = 'S';
	q[2 * PAGE] = 'T';
	CHECK_EQ(p[PAGE + 1], 'S');
	CHECK_EQ(p[2 * PAGE], 'T');
	p[2 * PAGE] = 'V';
	CHECK_EQ(q[2 * PAGE], 'T');
	syscall2(SYS_munmap, (long)q, 4 * PAGE);
	syscall2(SYS_munmap, (long)p, 4 * PAGE);
	p = (char *)syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_PRIVATE, fd, 0);
	CHECK_EQ(p[0], 'a');
	CHECK_EQ(syscall1(SYS_unlink, (long)"/tmp/memory"), 0);
	CHECK_EQ(syscall1(SYS_close, fd), 0);
	CHECK_EQ(p[1], 'b');
	p[1] = 'B';
	CHECK_EQ(p[0], 'a');
	syscall2(SYS_munmap, (long)p, PAGE);
}

static void cut_off_a_mapped_file(void)
{
	long fd = syscall3(SYS_open, (long)"/tmp/memory", 0102, 0600);
	char *p;

	for (int i = 0; i < 3 * 410; i++)
		syscall3(SYS_write, fd, (long)"0123456789", 10);
	p = (char *)syscall6(SYS_mmap, 0, 3 * PAGE, P_READ | P_WRITE, M_PRIVATE, fd, 0);
	CHECK_EQ(p[PAGE], '6');
	CHECK_EQ(syscall2(SYS_ftruncate, fd, PAGE), 0);
	CHECK_EQ(p[PAGE], '6');
	p[PAGE] = 'x';
	CHECK_EQ(p[PAGE], 'x');
	area = p + 2 * PAGE;
	CHECK_EQ(in_child(touch), L_BUS);
	syscall2(SYS_munmap, (long)p, 3 * PAGE);
	syscall1(SYS_close, fd);
	syscall1(SYS_unlink, (long)"/tmp/memory");
}

static int deeper(int n)
{
	volatile char frame[1000];

	frame[0] = n;
	return n ? deeper(n - 1) + frame[0] : 0;
}

static void seven_megabytes(void)
{
	deeper(7000);
}

static void nine_megabytes(void)
{
	deeper(9000);
}

static void stack(void)
{
	CHECK_EQ(in_child(seven_megabytes), 0);
	CHECK_EQ(in_child(nine_megabytes), L_SEGV);
}

/* The stack is not executable, whatever is on it. */
static void run_stack(void)
{
	volatile unsigned char code[16] = {0xc3};

	((void (*)(void))code)();
}

/* Takes all memory there is; only the greedy one may die. */
static void greedy(void)
{
	for (;;) {
		char *p = (char *)map_pages(0, 1024, P_READ | P_WRITE, M_PRIVATE | M_NORESERVE);

		if ((long)p < 0)
			exit_now(3);
		for (int i = 0; i < 1024; i++)
			p[i * PAGE] = 1;
	}
}

int main(void)
{
	copy_on_write();
	copy_on_kernel_write();
	protection();
	protect_shared();
	refusals();
	fixed();
	heap_end();
	share();
	mapped_file();
	mapped_pages_are_the_files();
	cut_off_a_mapped_file();
	stack();
	CHECK_EQ(in_child(run_stack), L_SEGV);
	CHECK_EQ(in_child(greedy), L_KILL);
	return check_failures != 0;
}
