/* tools/trapline/lib/output.c: a file is there whole or not at all, whatever ends the process. */
#include "tests/trapline/trapline_unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/trapline/lib/util.h"
#include "tools/trapline/lib/output.h"

#define BIG 100000

static char where[] = "/tmp/trapline-unit.XXXXXX";

static int begin(void **state)
{
	(void)state;
	say_nothing = true;
	return !mkdtemp(where) || chdir(where);
}

static int end(void **state)
{
	(void)state;
	return chdir("/") || rmdir(where); /* each case takes along what it made */
}

/* What is in the directory that we work in. */
static unsigned left(void)
{
	DIR *d = opendir(".");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void put(struct out *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputc('x', out->file);
}

/* How a child ends that runs `what`, with such files as it left behind still there. */
static int status_of(void (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		/* Whoever started the tests may have left signals ignored. */
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL);
		unfinished_watch();
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void write_whole(void)
{
	struct out out;

	if (!out_open(&out, "whole"))
		_exit(1);
	put(&out, BIG);
	if (!access("whole", F_OK) || !out_finish(&out))
		_exit(1);
}

static void whole(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(status_of(write_whole), 0);
	assert_int_equal(stat("whole", &st), 0);
	assert_int_equal(st.st_size, BIG);
	assert_int_equal(left(), 1);
	unlink("whole");
}

static void write_dropped(void)
{
	struct out out;

	if (!out_open(&out, "dropped"))
		_exit(1);
	put(&out, BIG);
	out_drop(&out);
}

static int signal_to_come;

static void write_and_be_ended(void)
{
	struct out out;

	if (!out_open(&out, "half"))
		_exit(1);
	put(&out, BIG);
	raise(signal_to_come);
	_exit(2);
}

static void write_and_die(void)
{
	struct out out;

	if (!out_open(&out, "half"))
		_exit(1);
	put(&out, BIG);
	die(EXIT_TROUBLE, "as it happens");
}

/* A directory with files in it, as CTF is written. */
static void make_directory(void)
{
	if (mkdir("tree", 0700))
		_exit(1);
	unfinished_add("tree");
	for (int i = 0; i < 100; i++) {
		char name[32];
		snprintf(name, sizeof(name), "tree/%d", i);
		close(open(name, O_WRONLY | O_CREAT, 0600));
		unfinished_add(name);
	}
	raise(SIGTERM);
}

static void ended(void **state)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		signal_to_come = signals[i];
		int status = status_of(write_and_be_ended);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
		assert_int_equal(left(), 0);
	}
	assert_int_equal(WEXITSTATUS(status_of(write_and_die)), EXIT_TROUBLE);
	assert_int_equal(left(), 0);
	assert_int_equal(status_of(write_dropped), 0);
	assert_int_equal(left(), 0);
	assert_int_equal(WTERMSIG(status_of(make_directory)), SIGTERM);
	assert_int_equal(left(), 0);
}

/* nohup: a signal that was ignored stays so. */
static void write_under_nohup(void)
{
	struct out out;

	signal(SIGHUP, SIG_IGN);
	unfinished_watch();
	if (!out_open(&out, "kept"))
		_exit(1);
	raise(SIGHUP);
	_exit(!out_finish(&out));
}

static void ignored(void **state)
{
	(void)state;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(status_of(write_under_nohup), 0);
	signal(SIGHUP, SIG_DFL);
	assert_int_equal(left(), 1);
	unlink("kept");
}

static void write_too_much(void)
{
	struct rlimit limit = {BIG / 2, BIG / 2};
	struct out out;

	setrlimit(RLIMIT_FSIZE, &limit);
	if (!out_open(&out, "large"))
		_exit(1);
	put(&out, BIG);
	_exit(out_finish(&out) ? 1 : 0);
}

/* What was there stays as it was. */
static void too_large(void **state)
{
	struct stat st;

	(void)state;
	close(open("large", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(status_of(write_too_much), 0);
	assert_int_equal(left(), 1);
	assert_int_equal(stat("large", &st), 0);
	assert_int_equal(st.st_size, 0);
	unlink("large");
}

static void write_to(const char *name, bool fine)
{
	struct out out;

	assert_true(out_open(&out, name));
	put(&out, BIG);
	assert_int_equal(out_finish(&out), fine);
}

/* What is no file is written to, and stays what it is. */
static void devices(void **state)
{
	struct stat st;

	(void)state;
	write_to("/dev/full", false);
	write_to("/dev/null", true);
	assert_true(!stat("/dev/full", &st) && S_ISCHR(st.st_mode));
	assert_true(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
}

/* A link stays one, and what it points to is replaced. */
static void links(void **state)
{
	struct stat st;

	(void)state;
	close(open("target", O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink("target", "link"), 0);
	write_to("link", true);
	assert_true(!lstat("link", &st) && S_ISLNK(st.st_mode));
	assert_true(!stat("target", &st) && st.st_size == BIG);
	assert_int_equal(left(), 2);
	unlink("link");
	unlink("target");
}

static void nowhere(void **state)
{
	struct out out;

	(void)state;
	assert_false(out_open(&out, "no/such"));
	assert_false(out_open(&out, "."));
	assert_int_equal(left(), 0);
}

int output_tests(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(ended),
	    cmocka_unit_test(ignored), cmocka_unit_test(too_large), cmocka_unit_test(devices),
	    cmocka_unit_test(links), cmocka_unit_test(nowhere)};

	return unit_group("output", tests, COUNT_OF(tests), begin, end);
}
