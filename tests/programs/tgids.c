/*
 * Threads in a trace: each event has its thread's number; options/record-tgid, saved_tgids say
 * which process that is, saved_cmdlines its name; set_event_pid takes threads one by one, and
 * options/event-fork those that they start. Events of tasks and signals tell which thread it was.
 */
#include "tests/programs/thread.h"
#include "tests/programs/tracing.h"

#define EVENT "events/syscalls/sys_enter_getppid/enable"

/* How many lines of the file have both parts in them; one of less than 64 KiB. */
static int lines_with_both(const char *file, const char *part, const char *other)
{
	static char text[65536];
	long fd = open_tracing(file, L_RDONLY), n, used = 0;
	int found = 0;

	while ((n = syscall3(SYS_read, fd, (long)text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	syscall1(SYS_close, fd);
	text[used] = '\0';
	for (const char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		found += strstr(line, part) && strstr(line, other);
	return found;
}

static int lines_with(const char *file, const char *part)
{
	return lines_with_both(file, part, "");
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

/* ---- events of tasks and signals ---- */

static void trace_tasks(const char *on)
{
	static const char *const events[] = {"task/task_newtask", "sched/sched_process_fork",
	    "sched/sched_wakeup_new", "sched/sched_process_exit", "sched/sched_process_exec",
	    "signal/signal_generate", "signal/signal_deliver"};
	char file[64];

	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		snprintf(file, sizeof(file), "events/%s/enable", events[i]);
		CHECK_EQ(put_text(file, 0, on), 0);
	}
}

/* The trace has one line of that task which says so. */
static void expect_traced(const char *comm, long tid, long tgid, const char *fmt, long a, long b)
{
	char who[64], what[128];

	snprintf(who, sizeof(who), " %s-%-7ld (%7ld) [", comm, tid, tgid);
	snprintf(what, sizeof(what), fmt, a, b);
	if (lines_with_both("trace", who, what) != 1)
		printf("# no line \"%s ... %s\"\n", who, what);
	CHECK_EQ(lines_with_both("trace", who, what), 1);
}

static void take_signal(int sig)
{
	(void)sig;
}

static void send_two_signals(void *unused)
{
	(void)unused;
	syscall2(SYS_prctl, ABI_PR_SET_NAME, (long)"second");
	syscall3(SYS_tgkill, syscall0(SYS_getpid), syscall0(SYS_gettid), L_USR1);
	syscall2(SYS_kill, syscall0(SYS_getpid), L_USR2);
}

static struct thread second;

static void events_of_a_thread(void)
{
	long me = syscall0(SYS_getpid), tid;

	set_handler(L_USR1, take_signal, 0);
	set_handler(L_USR2, take_signal, 0);
	tid = thread_begin(&second, send_two_signals, NULL);
	thread_end(&second);
	expect_traced(
	    "tgids", me, me, "task_newtask: pid=%ld comm=tgids clone_flags=350f00", tid, 0);
	expect_traced("tgids", me, me,
	    "sched_process_fork: comm=tgids pid=%ld child_comm=tgids child_pid=%ld", me, tid);
	expect_traced("tgids", me, me, "sched_wakeup_new: comm=tgids pid=%ld ", tid, 0);
	expect_traced("second", tid, me,
	    "signal_generate: sig=10 errno=0 code=-6 comm=second pid=%ld grp=0", tid, 0);
	expect_traced("second", tid, me, "signal_deliver: sig=10 ", 0, 0);
	expect_traced("second", tid, me,
	    "signal_generate: sig=12 errno=0 code=0 comm=tgids pid=%ld grp=1", me, 0);
	expect_traced("second", tid, me, "sched_process_exit: comm=second pid=%ld ", tid, 0);
}

static volatile long *exec_tid; /* in a page shared with the child */

static void exec_end(void *unused)
{
	static const char *const args[] = {"tgids", "end", NULL};

	(void)unused;
	*exec_tid = syscall0(SYS_gettid);
	syscall3(SYS_execve, (long)"/test/tgids", (long)args, 0);
}

static void exec_from_thread(void)
{
	thread_begin(&second, exec_end, NULL);
	for (;;)
		syscall0(SYS_pause);
}

/* The program that a thread becomes has the number of its process. */
static void events_of_exec(void)
{
	long pid;

	exec_tid = (long *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	pid = syscall0(SYS_fork);
	if (!pid)
		exec_from_thread();
	CHECK_EQ(wait_for(pid), 0);
	expect_traced("tgids", pid, pid,
	    "sched_process_exec: filename=/test/tgids pid=%ld old_pid=%ld", pid, *exec_tid);
	syscall2(SYS_munmap, (long)exec_tid, PAGE);
}

static void task_events(void)
{
	CHECK_EQ(put_text("trace", L_TRUNC, ""), 0);
	trace_tasks("1");
	events_of_a_thread();
	events_of_exec();
	trace_tasks("0");
}

int main(int argc, char **argv)
{
	long me = syscall0(SYS_getpid), tid;
	char text[64];

	(void)argv;
	if (argc > 1) /* after execve() */
		return 0;
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
	task_events();

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
