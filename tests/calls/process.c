/* A process: its identity, its scheduling and its end. */
#include "tests/calls/calls.h"

#include <sys/random.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>

static void test_ids(void)
{
	uid_t r = 9, e = 9, s = 9;

	R(getresuid(&r, &e, &s));
	T(r == getuid() && e == geteuid());
	R(syscall(SYS_getresgid, BAD, &e, &s));
	R(setuid(getuid()));
	R(setgid(getgid()));
	R(setreuid(-1, -1));
	R(setresuid(-1, getuid(), -1));
	R(setuid(-1));
	R(syscall(SYS_getgroups, -1, NULL));
	T(syscall(SYS_getgroups, 0, NULL) >= 0);
	R(syscall(SYS_setgroups, 70000, NULL));
}

static void test_sched(void)
{
	struct sched_param p = {0};
	struct timespec ts;
	cpu_set_t set;

	R(sched_getscheduler(0));
	R(sched_getparam(0, &p));
	R(sched_setscheduler(0, SCHED_OTHER, &p));
	R(sched_get_priority_max(SCHED_FIFO));
	R(sched_get_priority_min(SCHED_RR));
	R(sched_get_priority_max(SCHED_OTHER));
	R(sched_get_priority_max(77));
	R(sched_getscheduler(-1));
	R(sched_getscheduler(4000000));
	R(sched_rr_get_interval(0, &ts));
	R(sched_setparam(0, NULL));
	p.sched_priority = 5;
	R(sched_setparam(0, &p));
	R(sched_setscheduler(0, 77, &p));
	R(syscall(SYS_sched_getaffinity, 0, 1, &set));
	T(syscall(SYS_sched_getaffinity, 0, sizeof(set), &set) > 0);
	R(sched_getaffinity(4000000, sizeof(set), &set));
	R(getpriority(PRIO_PROCESS, 0));
	R(setpriority(PRIO_PROCESS, 0, 0));
	R(getpriority(7, 0));
	R(getpriority(PRIO_PROCESS, 4000000));
	R(sched_yield());
}

/* A set of CPUs has whole words, and one for each CPU at least. */
static void test_affinity_sizes(void)
{
	static const unsigned sizes[] = {0, 7, 9, 12, 127, 129};
	uint64_t set[32] = {0}, none[32] = {0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		say("%u bytes", sizes[i]);
		R(syscall(SYS_sched_getaffinity, 0, sizes[i], set));
	}
	T(!memcmp(set, none, sizeof(set)));
	R(syscall(SYS_sched_getaffinity, 0, sizeof(set), BAD));
	R(syscall(SYS_sched_setaffinity, 0, sizeof(none), none));
	R(syscall(SYS_sched_setaffinity, 0, 0, none));
	R(syscall(SYS_sched_setaffinity, 0, 8, BAD));
}

static void show_name(void)
{
	char name[20] = "untouched", line[20] = "";
	int fd = open("/proc/self/comm", O_RDONLY);

	prctl(PR_GET_NAME, name);
	read(fd, line, sizeof(line) - 1);
	close(fd);
	say("%s, %.*s", name, (int)strcspn(line, "\n"), line);
}

/* Names of 15 bytes, of more, and those whose memory ends where they do. */
static void test_own_name(void)
{
	char *end = 4096 + (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(end, 4096);
	R(prctl(PR_SET_NAME, "fifteen letters"));
	show_name();
	R(prctl(PR_SET_NAME, "sixteen letters!"));
	show_name();
	R(prctl(PR_SET_NAME, ""));
	show_name();
	memcpy(end - 4, "abc", 4);
	R(prctl(PR_SET_NAME, end - 4));
	show_name();
	memcpy(end - 4, "abcd", 4);
	R(prctl(PR_SET_NAME, end - 4));
	memcpy(end - 15, "fifteen letters", 15);
	R(prctl(PR_SET_NAME, end - 15));
	show_name();
	R(prctl(PR_SET_NAME, BAD));
	R(prctl(PR_GET_NAME, BAD));
	R(prctl(PR_GET_NAME, end - 15));
	show_name();
}

static void test_uname(void)
{
	struct sysinfo si;
	struct utsname u;
	struct rusage ru;
	struct tms tms;

	R(uname(&u));
	say("%s", u.machine);
	R(syscall(SYS_uname, BAD));
	R(sysinfo(&si));
	T(si.totalram > si.freeram && si.mem_unit == 1 && si.procs > 0);
	R(syscall(SYS_sysinfo, BAD));
	R(getrusage(RUSAGE_SELF, &ru));
	R(getrusage(RUSAGE_CHILDREN, &ru));
	R(getrusage(77, &ru));
	T(times(&tms) > 0);
	T(getpid() == gettid());
}

static void test_limits(void)
{
	struct rlimit r;

	R(getrlimit(RLIMIT_NOFILE, &r));
	T(r.rlim_cur >= 1024);
	R(getrlimit(99, &r));
	R(syscall(SYS_prlimit64, 0, RLIMIT_STACK, BAD, NULL));
	r = (struct rlimit){2, 1};
	R(setrlimit(RLIMIT_NOFILE, &r));
	R(syscall(SYS_prlimit64, 4000000, RLIMIT_STACK, NULL, &r));
}

static void test_random(void)
{
	unsigned char a[600] = {0}, b[600] = {0};

	R(getrandom(a, sizeof(a), 0));
	R(getrandom(b, sizeof(b), GRND_NONBLOCK));
	T(memcmp(a, b, sizeof(a)) != 0);
	R(getrandom(a, 0, 0));
	R(getrandom(a, 1, 0x100));
	R(getrandom(BAD, 10, 0));
}

static void end_3(void)
{
	_exit(3);
}

static void end_by_signal(void)
{
	raise(SIGKILL);
}

static void test_wait(void)
{
	int status = 0;
	pid_t pid;

	in_child(end_3);
	in_child(end_by_signal);
	R(wait(&status));
	R(waitpid(-1, &status, WNOHANG));
	R(waitpid(4000000, &status, 0));
	R(waitpid(0, &status, 0x10000));
	pid = fork();
	if (!pid)
		pause();
	R(waitpid(pid, &status, WNOHANG));
	R(kill(pid, 0));
	R(kill(pid, SIGTERM));
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
	R(kill(pid, 0));
	R(kill(0, 99));
}

/* Prints on whom its orphan falls, and who gets its status. */
static void leave_an_orphan(void)
{
	int pipes[2], old = getpid(), status = 0, seen = -1;
	pid_t middle;

	R(pipe(pipes));
	middle = fork();
	if (!middle) {
		int me = getpid();

		if (!fork()) {
			while (getppid() == me)
				usleep(1000);
			seen = getppid() == old;
			if (write(pipes[1], &seen, sizeof(seen)) != sizeof(seen))
				_exit(1);
			_exit(9);
		}
		_exit(4);
	}
	T(waitpid(middle, &status, 0) == middle);
	say("%#x", status);
	T(read(pipes[0], &seen, sizeof(seen)) == sizeof(seen));
	say("it is its ancestor's: %d", seen);
	if (!seen)
		_exit(0);
	T(wait(&status) > 0);
	say("%#x", status);
	R(wait(&status));
	_exit(0);
}

static volatile sig_atomic_t children_heard;

static void hear_child(int sig)
{
	(void)sig;
	children_heard++;
}

/* A child that is dead before its parent is comes to the ancestor, with a signal. */
static void leave_a_zombie(void)
{
	int status = 0;
	siginfo_t info;
	pid_t middle;

	signal(SIGCHLD, hear_child);
	middle = fork();
	if (!middle) {
		pid_t child = fork();

		if (!child)
			_exit(5);
		_exit(waitid(P_PID, child, &info, WEXITED | WNOWAIT));
	}
	T(waitpid(middle, &status, 0) == middle);
	T(wait(&status) > 0);
	say("%#x", status);
	T(children_heard > 0);
	_exit(0);
}

static void be_subreaper(void)
{
	int on = -1;

	R(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	R(prctl(PR_GET_CHILD_SUBREAPER, &on, 0, 0, 0));
	say("%d", on);
	if (!fork()) { /* not inherited */
		R(prctl(PR_GET_CHILD_SUBREAPER, &on, 0, 0, 0));
		say("%d", on);
		_exit(0);
	}
	wait(NULL);
	R(prctl(PR_GET_CHILD_SUBREAPER, BAD, 0, 0, 0));
	in_child(leave_an_orphan);
	T(wait(&on) > 0); /* the grandchild's orphan came here, too */
	say("%#x", on);
	leave_an_orphan();
}

static void be_subreaper_of_zombies(void)
{
	R(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	leave_a_zombie();
}

static void test_subreaper(void)
{
	in_child(leave_an_orphan);
	in_child(be_subreaper);
	in_child(be_subreaper_of_zombies);
}

/* A parent that wants no zombies gets none, and hears of the ends all the same. */
static void test_no_zombies(void)
{
	struct sigaction sa = {.sa_handler = hear_child, .sa_flags = SA_NOCLDWAIT};
	int status;

	R(sigaction(SIGCHLD, &sa, NULL));
	if (!fork())
		_exit(3);
	R(wait(&status));
	say("%d", children_heard);
	signal(SIGCHLD, SIG_IGN);
	if (!fork())
		_exit(3);
	R(wait(&status));
}

/* A stop that the parent wants to hear of, and one that it does not. */
static void stop(int flags)
{
	struct sigaction sa = {.sa_handler = hear_child, .sa_flags = flags};
	int status;
	pid_t pid;

	children_heard = 0;
	R(sigaction(SIGCHLD, &sa, NULL));
	pid = fork();
	if (!pid) {
		raise(SIGSTOP);
		_exit(1);
	}
	while (waitpid(pid, &status, WUNTRACED) != pid)
		;
	while (!flags && !children_heard)
		usleep(1000);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) != pid)
		;
	say("%#x: heard %d", status, children_heard);
}

/* The parent hears that a stopped child goes on, unless it asked not to. */
static void go_on(int flags)
{
	struct sigaction sa = {.sa_handler = hear_child, .sa_flags = flags};
	int status, heard;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	children_heard = 0;
	sigaction(SIGCHLD, &sa, NULL);
	kill(pid, SIGCONT);
	while (waitpid(pid, &status, WCONTINUED) != pid)
		;
	wait_until_asleep(pid); /* it has told its parent */
	while (!flags && !children_heard)
		usleep(1000);
	heard = children_heard;
	sa.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &sa, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	say("%#x: heard %d", status, heard);
}

static void test_stops_end(void)
{
	go_on(0);
	go_on(SA_NOCLDSTOP);
}

static void test_stops(void)
{
	stop(0);
	stop(SA_NOCLDSTOP);
}

/* Uses a processor for 20 ms. */
static void be_busy(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_nsec < 20000000);
}

static int used_pipe[2];

/* Microseconds on a processor. */
static long used(int who)
{
	struct rusage ru;

	getrusage(who, &ru);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 + ru.ru_utime.tv_usec +
	       ru.ru_stime.tv_usec;
}

static void have_a_busy_child(void)
{
	long all;

	in_child(be_busy);
	all = used(RUSAGE_SELF) + used(RUSAGE_CHILDREN);
	write(used_pipe[1], &all, sizeof(all));
}

/* What a child's children have used counts, once they have been waited for. */
static void test_children_time(void)
{
	long all = 0;

	pipe(used_pipe);
	in_child(have_a_busy_child);
	read(used_pipe[0], &all, sizeof(all));
	T(all >= 15000);
	T(used(RUSAGE_CHILDREN) >= all - 2000);
}

/* A dead child that comes to an ancestor is heard of there. */
static volatile sig_atomic_t zombies_heard;

static void hear_zombie(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	zombies_heard += info->si_status == 5;
}

static void leave_one_dead(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(5);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	_exit(6);
}

static void test_inherited_zombie(void)
{
	struct sigaction sa = {.sa_sigaction = hear_zombie, .sa_flags = SA_SIGINFO};
	int status;

	R(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	R(sigaction(SIGCHLD, &sa, NULL));
	if (!fork())
		leave_one_dead();
	while (!zombies_heard)
		usleep(1000);
	say("%d", zombies_heard);
	for (int i = 0; i < 2; i++)
		T(wait(&status) > 0);
	R(wait(&status));
}

static void inherited_slack(void)
{
	R(prctl(PR_GET_TIMERSLACK));
	R(prctl(PR_SET_TIMERSLACK, 1));
	R(prctl(PR_GET_TIMERSLACK));
	R(prctl(PR_SET_TIMERSLACK, 0));
	R(prctl(PR_GET_TIMERSLACK));
}

static void test_slack(void)
{
	R(prctl(PR_GET_TIMERSLACK));
	R(prctl(PR_SET_TIMERSLACK, 70000));
	R(prctl(PR_GET_TIMERSLACK));
	in_child(inherited_slack);
	R(prctl(PR_SET_TIMERSLACK, 0));
	R(prctl(PR_GET_TIMERSLACK));
}

const struct call_case process_cases[] = {
    {"ids", test_ids},
    {"sched", test_sched},
    {"cpu_set_sizes", test_affinity_sizes},
    {"own_name", test_own_name},
    {"uname", test_uname},
    {"limits", test_limits},
    {"random", test_random},
    {"wait", test_wait},
    {"subreaper", test_subreaper},
    {"no_zombies", test_no_zombies},
    {"stops", test_stops},
    {"stops_end", test_stops_end},
    {"children_time", test_children_time},
    {"inherited_zombie", test_inherited_zombie},
    {"slack", test_slack},
    {NULL, NULL},
};
