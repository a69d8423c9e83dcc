/*
 * The C library on this kernel: formats, streams, memory, jumps, signals, exec with arguments and
 * environment.
 */
#include "tests/programs/check.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void formats(void)
{
	char s[128];
	double d;
	int i;

	snprintf(s, sizeof(s), "%zu %jd %hhx %lld %.3f %g %e %a", (size_t)7, (intmax_t)-8,
	    (unsigned char)0xff, 1LL << 40, 2.0 / 3, 1e100, 0.001, 1.0);
	CHECK(strcmp(s, "7 -8 ff 1099511627776 0.667 1e+100 1.000000e-03 0x1p+0") == 0);
	CHECK_EQ(sscanf("  42 3.25 word", "%d %lf %s", &i, &d, s), 3);
	CHECK(i == 42 && d == 3.25 && strcmp(s, "word") == 0);
	CHECK(fabs(sin(1) - 0.8414709848078965) < 1e-15);
	CHECK(strtod("1.5e3", NULL) == 1500);
}

static void streams(void)
{
	char line[64];
	FILE *f = fopen("/tmp/clib", "w");
	int n = 0;

	CHECK(f != NULL);
	for (int i = 0; i < 1000; i++)
		fprintf(f, "line %d\n", i);
	CHECK_EQ(fclose(f), 0);
	f = fopen("/tmp/clib", "a+");
	fputs("last\n", f);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		n++;
	CHECK_EQ(n, 1001);
	CHECK(strcmp(line, "last\n") == 0);
	CHECK_EQ(fseek(f, 5, SEEK_SET), 0);
	CHECK_EQ(getc(f), '0');
	CHECK_EQ(ftell(f), 6);
	fclose(f);
	CHECK_EQ(remove("/tmp/clib"), 0);
	CHECK(fopen("/tmp/clib", "r") == NULL && errno == ENOENT);
}

static void memory(void)
{
	enum { N = 200 };
	char *p[N];

	for (int i = 0; i < N; i++) {
		p[i] = malloc(1 + i * 997 % 30000);
		CHECK(p[i] != NULL);
		memset(p[i], i, 1 + i * 997 % 30000);
	}
	for (int i = 0; i < N; i += 2)
		free(p[i]);
	for (int i = 1; i < N; i += 2) {
		CHECK_EQ(p[i][0], (char)i);
		CHECK_EQ(p[i][i * 997 % 30000], (char)i);
		free(p[i]);
	}
	errno = 0;
	CHECK(malloc((size_t)1 << 46) == NULL && errno == ENOMEM);
}

static jmp_buf where;
static void *volatile nowhere = (void *)8;
static volatile sig_atomic_t caught;

static void catch (int sig)
{
	caught = sig;
}

static void catch_and_jump(int sig)
{
	longjmp(where, sig);
}

static void signals(void)
{
	sigset_t set, old;
	int status = 0;

	signal(SIGUSR1, catch);
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(caught, SIGUSR1);
	caught = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK_EQ(sigprocmask(SIG_BLOCK, &set, &old), 0);
	raise(SIGUSR1);
	CHECK_EQ(caught, 0);
	CHECK_EQ(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	CHECK_EQ(caught, SIGUSR1);
	signal(SIGSEGV, catch_and_jump);
	if (setjmp(where) == 0)
		*(volatile int *)nowhere = 1;
	else
		caught = SIGSEGV;
	CHECK_EQ(caught, SIGSEGV);
	signal(SIGSEGV, SIG_DFL);
	if (fork() == 0)
		abort();
	wait(&status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void exec_self(void)
{
	char *argv[] = {"/test/clib", "child", "two words", "", NULL};
	char *envp[] = {"A=1", "B=", NULL};
	int status = -1;

	if (fork() == 0) {
		execve("/test/clib", argv, envp);
		_exit(99);
	}
	wait(&status);
	CHECK_EQ(WEXITSTATUS(status), 33);
	CHECK_ERR(execve("/test/none", argv, envp), ENOENT);
	CHECK_ERR(execve("/test", argv, envp), EACCES);
	CHECK_ERR(execve("/proc/version", argv, envp), EACCES);
}

static int child(int argc, char **argv)
{
	char exe[32], line[64] = "";
	FILE *f = fopen("/proc/self/cmdline", "r");
	size_t n = fread(line, 1, sizeof(line), f);

	fclose(f);
	CHECK_EQ(argc, 4);
	CHECK(strcmp(argv[2], "two words") == 0 && argv[3][0] == '\0' && argv[4] == NULL);
	CHECK(strcmp(getenv("A"), "1") == 0 && getenv("B")[0] == '\0' && getenv("C") == NULL);
	CHECK_EQ(n, sizeof("/test/clib\0child\0two words\0"));
	CHECK(memcmp(line, "/test/clib\0child\0two words\0", n) == 0);
	CHECK_EQ(readlink("/proc/self/exe", exe, sizeof(exe)), 10);
	CHECK(memcmp(exe, "/test/clib", 10) == 0);
	return check_failures ? 1 : 33;
}

/*
 * Every area of /proc/self/maps is well formed, in order, and never writable and executable at
 * once.
 */
static void maps(void)
{
	char line[256], perm[8];
	unsigned long start, end, before = 0;
	bool stack = false, heap = false;
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f)) {
		CHECK_EQ(sscanf(line, "%lx-%lx %4s", &start, &end, perm), 3);
		CHECK(start >= before && end > start);
		CHECK(!(perm[1] == 'w' && perm[2] == 'x'));
		before = end;
		stack |= strstr(line, "[stack]") != NULL;
		heap |= strstr(line, "[heap]") != NULL;
	}
	fclose(f);
	CHECK(stack && heap);
}

static void times_pass(void)
{
	struct timespec a, b, nap = {0, 20000000};

	CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &a), 0);
	CHECK_EQ(nanosleep(&nap, NULL), 0);
	CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &b), 0);
	CHECK((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec >= 20000000);
	CHECK(time(NULL) > 1500000000);
	nap.tv_nsec = 1000000000;
	CHECK_ERR(nanosleep(&nap, NULL), EINVAL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child(argc, argv);
	formats();
	streams();
	memory();
	signals();
	exec_self();
	maps();
	times_pass();
	return check_failures != 0;
}
