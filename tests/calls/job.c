/* Sessions, process groups, stops, and what becomes of those whose parents are gone. */
#include "tests/calls/calls.h"

#include <sys/prctl.h>

static volatile sig_atomic_t hung_up, continued;

static void on_hang_up(int sig)
{
	(void)sig;
	hung_up++;
}

static void on_continue(int sig)
{
	(void)sig;
	continued++;
}

static void wait_for(int end)
{
	char c;

	read(end, &c, 1);
}

/* A child that runs f() and then reads until the caller closes its end of the pipe. */
static pid_t begin(void (*f)(void), int *end)
{
	int done[2], ready[2];
	pid_t pid;

	pipe(done);
	pipe(ready);
	pid = fork();
	if (!pid) {
		close(done[1]);
		f();
		close(ready[1]);
		close(ready[0]);
		wait_for(done[0]);
		_exit(0);
	}
	close(done[0]);
	close(ready[1]);
	wait_for(ready[0]);
	close(ready[0]);
	*end = done[1];
	return pid;
}

static void own_session(void)
{
	setsid();
}

static void own_group(void)
{
	setpgid(0, 0);
}

static void nothing(void)
{
}

/* setpgid() moves some processes to some groups, and refuses others. */
static void test_groups(void)
{
	int end[3];
	pid_t leader = begin(own_session, &end[0]), member = begin(own_group, &end[1]);
	pid_t plain = begin(nothing, &end[2]);

	R(setpgid(leader, leader));
	R(setpgid(leader, getpgrp()));
	R(setpgid(plain, leader));
	R(setpgid(0, leader));
	R(setpgid(plain, plain + 100000));
	R(setpgid(plain, member));
	T(getpgid(plain) == member);
	R(setpgid(member, getpgrp()));
	T(getpgid(member) == getpgrp() && getpgid(plain) == member);
	R(setpgid(plain, 0));
	T(getpgid(plain) == plain);
	R(setpgid(getppid(), getppid()));
	R(setpgid(1, 1));
	R(kill(-plain, 0));
	R(kill(-member, 0));
	for (int i = 0; i < 3; i++)
		close(end[i]);
	for (int i = 0; i < 3; i++)
		T(wait(NULL) > 0);
	R(kill(-plain, 0));
}

static void lead_and_move(void)
{
	int end;
	pid_t other = begin(nothing, &end);

	setsid();
	R(setpgid(0, 0));
	R(setpgid(0, other));
	R(setpgid(other, 0)); /* it is in the session before */
	R(setsid());
	T(getsid(0) == getpid() && getsid(other) != getpid());
	close(end);
	wait(NULL);
}

static void test_session_leader(void)
{
	in_child(lead_and_move);
}

static bool pends(int sig)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, sig);
}

/* A stop takes back a SIGCONT that waits, and the reverse. */
static void test_opposites(void)
{
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCONT, on_continue);
	for (int i = 0; i < 3; i++) {
		raise(stops[i]);
		say("%d %d", pends(stops[i]), pends(SIGCONT));
		raise(SIGCONT);
		say("%d %d", pends(stops[i]), pends(SIGCONT));
		kill(getpid(), stops[i]);
		say("%d %d", pends(stops[i]), pends(SIGCONT));
		kill(getpid(), SIGCONT);
		say("%d %d", pends(stops[i]), pends(SIGCONT));
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	say("%d", continued);
}

/* A stopped process takes no signal but SIGCONT and SIGKILL. */
static void test_stopped(void)
{
	int p[2], status;
	char c = 0;
	pid_t pid;

	pipe(p);
	pid = fork();
	if (!pid) {
		signal(SIGUSR1, on_hang_up);
		raise(SIGSTOP);
		c = '0' + hung_up;
		write(p[1], &c, 1);
		pause();
		_exit(1);
	}
	T(waitpid(pid, &status, WUNTRACED) == pid);
	say("%#x", status);
	R(kill(pid, SIGUSR1));
	R(kill(pid, SIGUSR1));
	R(waitpid(pid, &status, WNOHANG | WCONTINUED));
	R(kill(pid, SIGCONT));
	R(read(p[0], &c, 1));
	say("%c", c);
	T(waitpid(pid, &status, WCONTINUED) == pid);
	say("%#x", status);
	R(waitpid(pid, &status, WNOHANG | WCONTINUED | WUNTRACED));
	kill(pid, SIGSTOP);
	T(waitpid(pid, &status, WUNTRACED) == pid);
	R(waitpid(pid, &status, WNOHANG | WUNTRACED));
	R(kill(pid, SIGKILL));
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
}

/* The last of a session but one ends; `stopped` says what the other did before. */
static int orphan_end, report_end;

static void live_on(bool stops)
{
	char found[2];

	signal(SIGHUP, on_hang_up);
	signal(SIGCONT, on_continue);
	if (stops)
		raise(SIGSTOP);
	else
		wait_for(orphan_end);
	while (stops && (!hung_up || !continued))
		usleep(1000);
	found[0] = '0' + hung_up;
	found[1] = '0' + continued;
	write(report_end, found, 2);
	_exit(0);
}

static void leave_in_group(bool stops)
{
	pid_t pid;
	int status;

	setpgid(0, 0);
	pid = fork();
	if (!pid)
		live_on(stops);
	if (stops)
		waitpid(pid, &status, WUNTRACED);
	_exit(0);
}

static void orphan(bool stops)
{
	int ends[2], report[2], status;
	char found[3] = "";
	pid_t pid;

	pipe(ends);
	pipe(report);
	orphan_end = ends[0];
	report_end = report[1];
	pid = fork();
	if (!pid) {
		close(ends[1]);
		setsid();
		pid = fork();
		if (!pid)
			leave_in_group(stops);
		waitpid(pid, &status, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	close(ends[1]);
	R(read(report[0], found, 2));
	say("hung up, continued: %s", found);
	T(wait(&status) > 0);
	say("%#x", status);
}

/* The kernel hangs up and continues a stopped group that becomes an orphan, and no other. */
static void test_orphans(void)
{
	R(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	orphan(true);
	orphan(false);
}

/* Whose parents are all in other sessions is not stopped by a terminal's signals. */
static void stop_alone(void)
{
	setsid();
	for (int sig = SIGTSTP; sig <= SIGTTOU; sig++)
		R(raise(sig));
}

static void stop_by_terminal(void)
{
	raise(SIGTSTP);
	_exit(7);
}

static void test_terminal_stops(void)
{
	int status;
	pid_t pid;

	in_child(stop_alone);
	setpgid(0, 0);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		stop_by_terminal();
	}
	T(waitpid(pid, &status, WUNTRACED) == pid);
	say("%#x", status);
	kill(pid, SIGCONT);
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
}

/* Of stops and their ends a parent hears the last only. */
static void test_stop_over(void)
{
	siginfo_t info;
	int status, p[2];
	pid_t pid;

	pipe(p);
	pid = stopped_child(p[0], 0);
	R(kill(pid, SIGCONT));
	wait_until_asleep(pid);
	R(waitpid(pid, &status, WUNTRACED | WNOHANG));
	R(waitid(P_PID, pid, &info, WCONTINUED | WNOWAIT));
	R(kill(pid, SIGSTOP));
	R(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT));
	R(waitpid(pid, &status, WCONTINUED | WNOHANG));
	T(waitpid(pid, &status, WUNTRACED | WNOHANG) == pid && WIFSTOPPED(status));
	R(waitpid(pid, &status, WUNTRACED | WNOHANG));
	R(kill(pid, SIGKILL));
	T(waitpid(pid, &status, WUNTRACED | WCONTINUED) == pid && WIFSIGNALED(status));
}

/* A parent that only looks at a report finds it again, until it takes it. */
static void look_at_report(pid_t pid, int what)
{
	siginfo_t info;
	int status = 0;

	for (int i = 0; i < 2; i++) {
		R(waitid(P_PID, pid, &info, what | WNOWAIT));
		say("%d %d", info.si_code, info.si_status);
	}
	T(waitpid(pid, &status, (what & ~WEXITED) | WNOHANG) == pid);
	say("%#x", status);
	R(waitpid(pid, &status, (what & ~WEXITED) | WNOHANG));
}

static void test_reports_looked_at(void)
{
	int p[2];
	pid_t pid;

	pipe(p);
	pid = stopped_child(p[0], 0);
	look_at_report(pid, WSTOPPED);
	R(kill(pid, SIGCONT));
	look_at_report(pid, WCONTINUED);
	R(kill(pid, SIGKILL));
	look_at_report(pid, WEXITED);
}

const struct call_case job_cases[] = {
    {"job_groups", test_groups},
    {"job_session_leader", test_session_leader},
    {"job_opposites", test_opposites},
    {"job_stopped", test_stopped},
    {"job_stop_over", test_stop_over},
    {"job_reports_looked_at", test_reports_looked_at},
    {"job_orphans", test_orphans},
    {"job_terminal_stops", test_terminal_stops},
    {NULL, NULL},
};
