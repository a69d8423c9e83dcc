/* mremap, msync, mincore, madvise, memfd_create; private and shared mappings of files. */
#include "tests/calls/calls.h"

#define PAGE 4096L

static char *map(long pages)
{
	char *p =
	    mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < pages; i++)
		p[i * PAGE] = 'a' + i;
	return p;
}

static void test_mremap(void)
{
	char *p = map(4), *q, *r = map(8);

	q = mremap(p, 4 * PAGE, 2 * PAGE, 0);
	T(q == p);
	T(mincore(p + 2 * PAGE, PAGE, (unsigned char *)&q) == -1 && errno == ENOMEM);
	p[2 * PAGE - 1] = 'x';
	munmap(r + 2 * PAGE, PAGE);
	q = mremap(p, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	say("%c %c %d", q[0], q[2 * PAGE - 1], q[2 * PAGE]);
	q[2 * PAGE] = 'z';
	p = mremap(q, 3 * PAGE, 100 * PAGE, MREMAP_MAYMOVE);
	say("%c %c %c %d", p[0], p[PAGE], p[2 * PAGE], p[99 * PAGE]);
	r = map(2);
	q = mremap(p, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, r);
	T(q == r);
	say("%c %c", q[0], q[PAGE]);
	R(mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_FIXED, p));
	R(mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q + PAGE));
	R(mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 1));
	R(mremap(q + 1, PAGE, PAGE, 0));
	R(mremap(q, PAGE, 0, 0));
	R(mremap(q, PAGE, PAGE, 8));
	R(mremap(BAD, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
	R(mremap((void *)PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
	R(mremap(q, 1L << 50, 2 * PAGE, MREMAP_MAYMOVE));
	say("%c %c", q[0], q[PAGE]);
}

/* Where it was moved from there is nothing. */
static void touch_the_old(void)
{
	char *p = map(4), *to = map(8);

	munmap(to, 8 * PAGE);
	p[PAGE] = 'x';
	mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	say("%c", to[PAGE]);
	*(volatile char *)&p[PAGE];
	say("%c is there still", p[PAGE]);
}

/* Nothing grows beyond the last page that a program may have. */
static void test_mremap_last(void)
{
	const long end = (1L << 47) - PAGE;
	int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	char *last = (char *)end - PAGE, *moved;

	/* Fails, but with page tables of five levels, where this page is then in the way. */
	mmap((void *)end, PAGE, PROT_READ, how, -1, 0);
	T(mmap(last, PAGE, PROT_READ | PROT_WRITE, how, -1, 0) == last);
	last[PAGE - 1] = 'x';
	R(mremap(last, PAGE, 2 * PAGE, 0));
	R(mremap(last, PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, last));
	say("%c", last[PAGE - 1]);
	moved = mremap(last, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	T(moved != MAP_FAILED && moved < last);
	say("%c %d", moved[PAGE - 1], moved[PAGE]);
}

static void test_mremap_old(void)
{
	in_child(touch_the_old);
}

static void test_mremap_shared(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	     *q;
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	strcpy(p + PAGE, "shared");
	q = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	q = mremap(p, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q - 10 * PAGE);
	say("%s", q + PAGE);
	ftruncate(fd, 3 * PAGE);
	pwrite(fd, "three", 5, 2 * PAGE);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mremap(p, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	say("%s", p + 2 * PAGE);
	p[2 * PAGE] = 'T';
	pread(fd, q, 5, 2 * PAGE);
	say("%s", q);
}

static void test_msync(void)
{
	char *p = map(3);

	R(msync(p, 3 * PAGE, MS_SYNC));
	R(msync(p, 3 * PAGE, MS_ASYNC | MS_INVALIDATE));
	R(msync(p, PAGE, MS_ASYNC | MS_SYNC));
	R(msync(p, PAGE, 8));
	R(msync(p + 1, PAGE, MS_SYNC));
	munmap(p + PAGE, PAGE);
	R(msync(p, 3 * PAGE, MS_SYNC));
	R(msync(p, 0, MS_SYNC));
}

static void test_mincore(void)
{
	unsigned char in[4] = {9, 9, 9, 9};
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p[PAGE] = 1;
	R(mincore(p, 3 * PAGE, in));
	say("%d %d %d %d", in[0] & 1, in[1] & 1, in[2] & 1, in[3]);
	R(mincore(p, 1, in));
	R(mincore(p + 1, PAGE, in));
	R(mincore(p, PAGE, BAD));
	munmap(p + PAGE, PAGE);
	R(mincore(p, 3 * PAGE, in));
	R(mincore(p, 0, in));
}

static void test_madvise(void)
{
	char *p = map(3), *q;
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	R(madvise(p, 2 * PAGE, MADV_DONTNEED));
	say("%d %d %c", p[0], p[PAGE], p[2 * PAGE]);
	R(madvise(p, 3 * PAGE, MADV_NORMAL));
	R(madvise(p, 3 * PAGE, MADV_SEQUENTIAL));
	R(madvise(p, 3 * PAGE, MADV_WILLNEED));
	R(madvise(p + 1, PAGE, MADV_NORMAL));
	R(madvise(p, PAGE, 1000));
	R(madvise(p, 0, MADV_DONTNEED));
	munmap(p + PAGE, PAGE);
	R(madvise(p, 3 * PAGE, MADV_DONTNEED));
	write(fd, "file", 4);
	q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	q[0] = 'X';
	R(madvise(q, PAGE, MADV_DONTNEED));
	say("%s", q);
}

/* Of a mapping only the part that is named, and nothing of what others see too. */
static void test_discard(void)
{
	char *p = map(3), *q;

	R(madvise(p + PAGE, PAGE, MADV_DONTNEED));
	say("%c %d %c", p[0], p[PAGE], p[2 * PAGE]);
	q = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	q[0] = 's';
	R(madvise(q, 2 * PAGE, MADV_DONTNEED));
	say("%c", q[0]);
}

static void write_what_is_read_only(void)
{
	char *p = map(1);

	R(mprotect(p, PAGE, PROT_READ));
	say("%c", p[0]);
	*(volatile char *)p = 'x';
	say("written: %c", p[0]);
}

static void test_protect(void)
{
	in_child(write_what_is_read_only);
}

/* The end of the data does not go past another mapping, and stays where it was. */
static void test_brk(void)
{
	char *end = (char *)syscall(SYS_brk, 0), *next = (char *)(((long)end | (PAGE - 1)) + 1);
	char *p = mmap(next + 4 * PAGE, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	T(p == next + 4 * PAGE);
	p[0] = 'p';
	T((char *)syscall(SYS_brk, next + 10 * PAGE) == end);
	T((char *)syscall(SYS_brk, 0) == end);
	say("%c", p[0]);
	T((char *)syscall(SYS_brk, next + 2 * PAGE) == next + 2 * PAGE);
	next[PAGE] = 'd';
	say("%c", next[PAGE]);
}

static void test_private_file(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[8] = "", *p, *q;

	for (int i = 0; i < 3; i++)
		pwrite(fd, "abcdefg", 7, i * PAGE);
	p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	q = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	say("%.7s %.7s", p, p + PAGE);
	pwrite(fd, "1", 1, 0);
	q[1] = '2';
	say("%.7s", p);
	p[2] = '3';
	pwrite(fd, "4", 1, 3);
	say("%.7s %.7s", p, q);
	pread(fd, buf, 7, 0);
	say("%s", buf);
	say("behind the end: %d", p[2 * PAGE + 100]);
	close(fd);
	unlink("f");
	say("%.7s %.7s", p + PAGE, q + PAGE);
	R(mprotect(p + PAGE, PAGE, PROT_READ));
	R(read(0, p + PAGE, 0));
}

static void bus(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char *p;

	write(fd, "x", 1);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	say("%d", p[PAGE - 1]);
	say("%d", p[PAGE]);
}

static void test_bus(void)
{
	in_child(bus);
}

static void test_memfd(void)
{
	int fd = memfd_create("name", MFD_CLOEXEC);
	char name[250], *p;
	struct stat st;

	R(fcntl(fd, F_GETFD));
	R(ftruncate(fd, 2 * PAGE));
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	strcpy(p + PAGE, "in memory");
	memset(name, 0, sizeof(name));
	R(pread(fd, name, 9, PAGE));
	say("%s", name);
	R(fstat(fd, &st));
	say("%o %ld %ld", st.st_mode, (long)st.st_size, (long)st.st_nlink);
	R(lseek(fd, 0, SEEK_END));
	memset(name, 'n', 249);
	name[249] = 0;
	T(memfd_create(name, 0) >= 0);
	R(syscall(SYS_memfd_create, BAD, 0));
	R(memfd_create("x", 0x100));
	char longer[251];
	memset(longer, 'n', 250);
	longer[250] = 0;
	R(memfd_create(longer, 0));
}

static void test_locked(void)
{
	char *p = map(2);

	R(mlock(p, 2 * PAGE));
	R(munlock(p, 2 * PAGE));
	R(mlock(p + 1, 1));
	R(mlockall(0));
	R(mlockall(8));
	R(munlockall());
	munmap(p, 2 * PAGE);
	R(mlock(p, 2 * PAGE));
}

/* A program may map more than there is memory, if it cannot fill it or reserves nothing. */
static void test_reserve(void)
{
	static const struct {
		int prot, flags;
	} rows[] = {
	    {PROT_NONE, 0}, {PROT_READ | PROT_WRITE, MAP_NORESERVE}, {PROT_NONE, MAP_NORESERVE}};
	const size_t size = 1UL << 42;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *p = mmap(
		    NULL, size, rows[i].prot, MAP_PRIVATE | MAP_ANONYMOUS | rows[i].flags, -1, 0);

		T(p != MAP_FAILED);
		if (rows[i].prot)
			p[size - 1] = 1;
		R(munmap(p, size));
	}
}

/* A range is whole pages from the one in which it begins to the one in which it ends. */
static void test_parts(void)
{
	char *p = map(3);

	munmap(p + PAGE, PAGE);
	R(mlock(p + PAGE - 1, 1));
	R(mlock(p + PAGE - 1, 2));
	R(mlock(p + 4000, 200));
	R(mlock(p + 2 * PAGE + 4000, 96));
	R(mlock(p + 2 * PAGE - 1, 1));
	R(mlock(p + PAGE, 0));
	R(munlock(p + 4000, 200));
	R(munlock(p + 1, PAGE - 1));
}

/* mincore() takes ranges of whole pages that are mapped, below the end of ring 3. */
static void test_mincore_ends(void)
{
	static unsigned char vec[10];
	char *p = map(2);

	munmap(p + PAGE, PAGE);
	R(mincore(p, PAGE, vec));
	R(mincore(p, 1, vec));
	R(mincore(p, PAGE + 1, vec));
	R(mincore(p + 1, 1, vec));
	R(mincore(p, 0, vec));
	R(mincore((void *)0x7fffffffe000, 2 * PAGE, vec));
	R(mincore((void *)(1UL << 47), PAGE, vec));
	R(mincore((void *)-8192UL, PAGE, vec));
	R(mincore(p, PAGE, BAD));
}

static char *kept, *left_out;

static void look_at_copy(void)
{
	long end = syscall(SYS_brk, 0);
	unsigned char there;

	R(mincore(kept, PAGE, &there));
	R(mincore(left_out, PAGE, &there));
	say("%c", kept[0]);
	kept[0] = 'c';
	T(syscall(SYS_brk, 8) == end);
	T(syscall(SYS_brk, end + PAGE) == end + PAGE);
	left_out[0] = 'x';
}

/* A child has what its parent had, but for what it is not to have, and the same limits. */
static void test_fork(void)
{
	kept = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	left_out = kept + PAGE;
	kept[0] = left_out[0] = 'p';
	R(madvise(left_out, PAGE, MADV_DONTFORK));
	in_child(look_at_copy);
	say("%c%c", kept[0], left_out[0]);
	R(madvise(left_out, PAGE, MADV_DOFORK));
	in_child(look_at_copy);
	say("%c%c", kept[0], left_out[0]);
}

static void look_at_wiped(void)
{
	say("%d %d", kept[0], left_out[0]);
	left_out[0] = 'x';
}

/* A part that a child is to have empty; who may not ask for that, and where nothing is. */
static void test_wipe(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char *file;

	write(fd, "file", 4);
	kept = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	left_out = kept + PAGE;
	kept[0] = left_out[0] = 'p';
	R(madvise(left_out, PAGE, MADV_WIPEONFORK));
	in_child(look_at_wiped);
	say("%c%c", kept[0], left_out[0]);
	R(madvise(left_out, PAGE, MADV_KEEPONFORK));
	in_child(look_at_wiped);
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	R(madvise(file, PAGE, MADV_WIPEONFORK));
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	R(madvise(file, PAGE, MADV_WIPEONFORK));
	R(madvise(file, 0, MADV_DONTFORK));
	R(madvise(file + 1, PAGE, MADV_DONTFORK));
	munmap(left_out, PAGE);
	R(madvise(kept, 3 * PAGE, MADV_WIPEONFORK));
	in_child(look_at_wiped);
}

const struct call_case memory_cases[] = {
    {"mremap", test_mremap},
    {"mremap_last", test_mremap_last},
    {"mremap_old", test_mremap_old},
    {"mremap_shared", test_mremap_shared},
    {"msync", test_msync},
    {"mincore", test_mincore},
    {"madvise", test_madvise},
    {"madvise_part", test_discard},
    {"mprotect", test_protect},
    {"brk", test_brk},
    {"fork_memory", test_fork},
    {"fork_wiped_memory", test_wipe},
    {"map_private_file", test_private_file},
    {"map_behind_the_end", test_bus},
    {"memfd", test_memfd},
    {"mlock", test_locked},
    {"map_reserve", test_reserve},
    {"mlock_parts", test_parts},
    {"mincore_ends", test_mincore_ends},
    {NULL, NULL},
};
