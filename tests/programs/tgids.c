/*
 * Threads in a trace: each event has its thread's number; options/record-tgid, saved_tgids say
 * which process that is, saved_cmdlines its name; set_event_pid takes threads one by one, and
 * options/event-fork those that they start.
 */
#include "tests/programs/thread.h"
#include "tests/programs/tracing.h"

#define EVENT "events/syscalls/sys_enter_getppid/enable"

/* How many lines of the file have `part` in them; one of less than 64 KiB. */
static int lines_with(const char *file, const char *part)
{
	static char text[65536];
	long fd = open_tracing(file, L_RDONLY), n, used = 0;
	int found = 0;

	while ((n = syscall3(SYS_read, fd, (long)text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	syscall1(SYS_close, fd);
	text[used] = '\0';
	for (const char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		found += strstr(line, part) != NULL;
	return found;
}

static void say_so(void *unused)
{
	(void)unused;
	syscall0(SYS_getppid);
}

/* Under a name of its own, of which 15 letters count. */
static void say_so_named(void *unused)
{
	syscall2(SYS_prctl, ABI_PR_SET_NAME, (long)"second-one-of-tgids");
	say_so(unused);
}

/* Threads have names one by one; one without has that of the thread that made it. */
static void names(void)
{
	static struct thread t[2];
	char text[64];
	long me = syscall0(SYS_getpid), tid[2];

	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	tid[0] = thread_begin(&t[0], say_so_named, NULL);
	tid[1] = thread_begin(&t[1], say_so, NULL);
	thread_end(&t[0]);
	thread_end(&t[1]);
	syscall0(SYS_getppid);
	snprintf(text, sizeof(text), " second-one-of-t-%-7ld (%7ld) [", tid[0], me);
	CHECK_EQ(lines_with("trace", text), 1);
	snprintf(text, sizeof(text), "%ld second-one-of-t", tid[0]);
	CHECK(has_line("saved_cmdlines", text));
	snprintf(text, sizeof(text), "%ld tgids", tid[1]);
	CHECK(has_line("saved_cmdlines", text));
	snprintf(text, sizeof(text), "%ld tgids", me);
	CHECK(has_line("saved_cmdlines", text));
}

/* A thread that comes and goes while its process waits; its number. */
static long thread_that_says_so(void)
{
	static struct thread t;
	long tid = thread_begin(&t, say_so, NULL);

	thread_end(&t);
	syscall0(SYS_getppid);
	return tid;
}

static int traced(long pid)
{
	char who[64];

	snprintf(who, sizeof(who), "tgids-%-7ld ", pid);
	return lines_with("trace", who);
}

int main(void)
{
	long me = syscall0(SYS_getpid), tid;
	char text[64];

	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	CHECK_EQ(put_text("options/record-tgid", 0, "1"), 0);
	CHECK_EQ(put_text(EVENT, 0, "1"), 0);
	tid = thread_that_says_so();
	CHECK(tid != me);
	CHECK_EQ(traced(tid), 1);
	CHECK_EQ(traced(me), 1);
	snprintf(text, sizeof(text), "tgids-%-7ld (%7ld) [", tid, me);
	CHECK_EQ(lines_with("trace", text), 1);
	snprintf(text, sizeof(text), "%ld %ld", tid, me);
	CHECK(has_line("saved_tgids", text));
	names();

	/* one by one */
	snprintf(text, sizeof(text), "%ld", me);
	CHECK_EQ(put_text("set_event_pid", L_TRUNC, text), 0);
	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	tid = thread_that_says_so();
	CHECK_EQ(traced(tid), 0);
	CHECK_EQ(traced(me), 1);

	/* and those they start */
	CHECK_EQ(put_text("options/event-fork", 0, "1"), 0);
	tid = thread_that_says_so();
	CHECK_EQ(traced(tid), 1);
	CHECK_EQ(traced(me), 2);

	CHECK_EQ(put_text(EVENT, 0, "0"), 0);
	CHECK_EQ(put_text("options/event-fork", 0, "0"), 0);
	CHECK_EQ(put_text("options/record-tgid", 0, "0"), 0);
	CHECK_EQ(put_text("set_event_pid", L_TRUNC, ""), 0);
	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	return check_failures != 0;
}
