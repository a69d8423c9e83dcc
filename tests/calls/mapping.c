/* Mappings at their edges: the last page of a file, ranges that go on in another area, forks. */
#include "tests/calls/calls.h"

#include <pthread.h>
#include <setjmp.h>

#define PAGE 4096L
#define MANY 200

static char *map(long pages, int prot)
{
	return mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int file_of(size_t size)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (size_t i = 0; i < size; i++)
		write(fd, "t", 1);
	return fd;
}

/* No mapping goes beyond the largest offset that a file can have. */
static void test_offsets(void)
{
	int fd = file_of(10);

	R(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, -PAGE));
	R(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, -2 * PAGE));
	R(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 1));
	R(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, -1));
}

/* After the end of a mapped file its page holds zeros, and nothing of its user before. */
static void test_rest_of_page(void)
{
	char *used = map(MANY, PROT_READ | PROT_WRITE), *p;
	int fd = file_of(100), others = 0;

	memset(used, 0x5a, MANY * PAGE);
	for (int i = 0; i < MANY; i += 2) /* single pages: these are given out first */
		madvise(used + i * PAGE, PAGE, MADV_DONTNEED);
	for (int i = 0; i < MANY / 2; i++) {
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		p[0] = 'w'; /* at once: the page is a copy from the beginning */
		others += p[99] != 't';
		for (int k = 100; k < PAGE; k++)
			others += p[k] != 0;
	}
	say("%d", others);
}

/* The page that a parent and its child have in common is not written by either. */
static void protect_and_write(char *p, char c)
{
	R(mprotect(p, PAGE, PROT_READ));
	R(mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	p[0] = c;
}

static void test_protect_shared(void)
{
	char *p = map(2, PROT_READ | PROT_WRITE);
	int done[2];

	p[0] = p[PAGE] = 'o';
	pipe(done);
	if (!fork()) {
		protect_and_write(p, 'c');
		write(done[1], "x", 1);
		pause();
	}
	read(done[0], done, 1);
	say("%c", p[0]);
	protect_and_write(p + PAGE, 'p');
	if (!fork()) {
		say("%c", p[PAGE]);
		_exit(0);
	}
	wait(NULL);
	kill(0, SIGKILL);
}

static void test_protect_after_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		test_protect_shared();
	}
	waitpid(pid, NULL, 0);
}

/* A range that begins in one area and ends in another, or nowhere, does not grow. */
static void test_across(void)
{
	char *p = map(6, PROT_READ | PROT_WRITE);

	p[0] = 'a';
	mprotect(p + 2 * PAGE, PAGE, PROT_READ);
	munmap(p + 5 * PAGE, PAGE);
	R(mremap(p, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE));
	R(mremap(p + PAGE, 3 * PAGE, 8 * PAGE, MREMAP_MAYMOVE));
	R(mremap(p + 3 * PAGE, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE));
	say("%c %d", p[0], p[3 * PAGE]);
}

/* Of many pages each has its own byte. */
static void test_mincore_many(void)
{
	unsigned char in[MANY + 1];
	char *p = map(MANY, PROT_READ | PROT_WRITE);
	int wrong = 0;

	memset(in, 7, sizeof(in));
	for (int i = 0; i < MANY; i += 3)
		p[i * PAGE] = 'x';
	madvise(p, MANY * PAGE, MADV_NOHUGEPAGE);
	R(mincore(p, MANY * PAGE, in));
	for (int i = 0; i < MANY; i += 3)
		wrong += (in[i] & 1) != 1;
	say("%d %d %d", wrong, in[65] & 1, in[MANY]);
}

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

/* Between the call and the access nothing else happens that would empty a TLB. */
#define REFUSED(call, access)                                                                      \
	do {                                                                                       \
		int sig = sigsetjmp(back, 1);                                                      \
                                                                                                   \
		if (!sig) {                                                                        \
			call;                                                                      \
			access;                                                                    \
		}                                                                                  \
		say("%s: %d", #call, sig);                                                         \
	} while (0)

/* The very next access to a page is refused, once the page allows it no more or is gone. */
static void test_at_once(void)
{
	char *p = map(4, PROT_READ | PROT_WRITE), *to = map(4, PROT_NONE);
	volatile char *at = p;

	signal(SIGSEGV, on_fault);
	at[0] = at[PAGE] = at[2 * PAGE] = 'a';
	REFUSED(mprotect(p, PAGE, PROT_READ), at[0] = 'b');
	REFUSED(mprotect(p, PAGE, PROT_NONE), say("%c", at[0]));
	at[PAGE] = 'c';
	REFUSED(mremap(p + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to), at[PAGE] = 'd');
	at[2 * PAGE] = 'e';
	REFUSED(munmap(p + 2 * PAGE, PAGE), at[2 * PAGE] = 'f');
	say("%c", to[0]);
}

/* The parent writes right after the fork: not to what its child has. */
static void test_parent_writes(void)
{
	volatile char *p = map(1, PROT_READ | PROT_WRITE);
	int go[2], others = 0, status;
	char c;

	pipe(go);
	for (int i = 0; i < 20; i++) {
		pid_t pid;

		p[0] = 'o';
		pid = fork();
		if (!pid) {
			read(go[0], &c, 1);
			_exit(p[0] != 'o');
		}
		p[0] = 'p';
		write(go[1], "x", 1);
		waitpid(pid, &status, 0);
		others += status != 0;
	}
	say("%d", others);
}

static volatile char *seen;
static volatile int looks;

static void *look(void *arg)
{
	char c = seen[0];

	looks = 1;
	while (seen[0] == c)
		;
	return arg;
}

/* When a thread's write makes a copy of a page, the other threads read the copy. */
static void test_threads_see_copy(void)
{
	pthread_t t;
	pid_t pid;

	seen = map(1, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 10; i++) {
		looks = 0;
		seen[0] = 'a' + i;
		pid = fork(); /* has the page as well */
		if (!pid)
			for (;;)
				pause();
		pthread_create(&t, NULL, look, NULL);
		while (!looks)
			;
		seen[0] = 'A' + i;
		pthread_join(t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	say("%c", seen[0]);
}

const struct call_case mapping_cases[] = {
    {"mapping_offsets", test_offsets},
    {"mapping_rest_of_page", test_rest_of_page},
    {"mapping_protect_after_fork", test_protect_after_fork},
    {"mapping_across", test_across},
    {"mapping_mincore_many", test_mincore_many},
    {"mapping_at_once", test_at_once},
    {"mapping_parent_writes", test_parent_writes},
    {"mapping_threads_see_copy", test_threads_see_copy},
    {NULL, NULL},
};
