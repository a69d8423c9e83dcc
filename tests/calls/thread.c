/*
 * The system calls from which libraries build threads: clone, futexes, robust lists, CPUs; raw,
 * without a library.
 */
#include "tests/calls/calls.h"

#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>

static int parent_tid, child_tid;

/* In a child that the call has made: what it found there, as its status. */
static void end_if_child(long pid)
{
	if (!pid)
		_exit(child_tid == syscall(SYS_gettid) ? 5 : child_tid ? 6 : 7);
}

/* The child's status; or -1, the call having failed. */
static long clone_ended(unsigned long flags, void *stack)
{
	int status;
	long pid = syscall(SYS_clone, flags, stack, &parent_tid, &child_tid, 0);

	end_if_child(pid);
	return pid < 0 || waitpid(pid, &status, __WALL) != pid ? -1 : status;
}

static long clone3_ended(struct clone_args *args, size_t size)
{
	int status;
	long pid = syscall(SYS_clone3, args, size);

	end_if_child(pid);
	return pid < 0 || waitpid(pid, &status, __WALL) != pid ? -1 : status;
}

static void test_clone(void)
{
	R(clone_ended(SIGCHLD, NULL));
	R(clone_ended(SIGCHLD | CLONE_CHILD_SETTID, NULL));
	say("%d %d", parent_tid, child_tid);
	R(clone_ended(SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, NULL));
	T(parent_tid > 0 && !child_tid);
	R(clone_ended(
	    SIGCHLD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, NULL));
	R(clone_ended(0, NULL));
	R(clone_ended(SIGCHLD | CLONE_SYSVSEM, NULL));
	R(clone_ended(SIGCHLD | CLONE_VFORK, NULL));
	R(clone_ended(CLONE_THREAD, NULL));
	R(clone_ended(CLONE_THREAD | CLONE_VM, NULL));
	R(clone_ended(CLONE_SIGHAND, NULL));
	R(clone_ended(CLONE_NEWNS | CLONE_FS, NULL));
}

static void test_clone3(void)
{
	struct {
		struct clone_args args;
		uint64_t more[4];
	} a = {.args.exit_signal = SIGCHLD};

	R(clone3_ended(&a.args, sizeof(a.args)));
	R(clone3_ended(&a.args, CLONE_ARGS_SIZE_VER0));
	R(clone3_ended(&a.args, sizeof(a)));
	a.args.flags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
	a.args.parent_tid = (uintptr_t)&parent_tid;
	a.args.child_tid = (uintptr_t)&child_tid;
	R(clone3_ended(&a.args, sizeof(a.args)));
	T(parent_tid > 0 && !child_tid);
	a.args.flags = 0;
	R(clone3_ended(BAD, sizeof(a.args)));
	R(clone3_ended(NULL, sizeof(a.args)));
	R(clone3_ended(&a.args, CLONE_ARGS_SIZE_VER0 - 1));
	R(clone3_ended(&a.args, 0));
	a.args.exit_signal = 65;
	R(clone3_ended(&a.args, sizeof(a.args)));
	a.args.exit_signal = SIGCHLD;
	a.args.stack_size = 4096;
	R(clone3_ended(&a.args, sizeof(a.args)));
	a.args.stack = (uintptr_t)&a;
	a.args.stack_size = 0;
	R(clone3_ended(&a.args, sizeof(a.args)));
	a.args.stack = 0;
	a.args.flags = SIGCHLD; /* the signal has a place of its own */
	R(clone3_ended(&a.args, sizeof(a.args)));
	a.args.flags = 1UL << 50;
	R(clone3_ended(&a.args, sizeof(a.args)));
	a.args.flags = CLONE_SIGHAND;
	R(clone3_ended(&a.args, sizeof(a.args)));
}

/* Where nothing is, and more than is known. */
static void test_beyond_clone3(void)
{
	struct {
		struct clone_args args;
		uint64_t more[4];
	} a = {.args.exit_signal = SIGCHLD, .more = {1}};

	R(clone3_ended(&a.args, sizeof(a.args)));
	R(clone3_ended(&a.args, sizeof(a)));
	R(clone3_ended(&a.args, 100000));
	R(clone_ended(SIGURG | CLONE_UNTRACED, NULL));
	a.args.flags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
	a.args.parent_tid = (uintptr_t)BAD;
	a.args.child_tid = (uintptr_t)BAD;
	R(clone3_ended(&a.args, sizeof(a.args)));
}

static long do_futex(void *at, int op, unsigned value, const void *time, void *other, unsigned last)
{
	return syscall(SYS_futex, at, op, value, time, other, last);
}

static void test_futex(void)
{
	static const struct timespec soon = {0, 2000000}, bad = {0, 1000000000}, past = {0, 1},
				     negative = {-1, 0};
	unsigned *word =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	R(do_futex(word, FUTEX_WAIT, 1, NULL, NULL, 0));
	R(do_futex(word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0));
	R(do_futex((char *)word + 1, FUTEX_WAIT, 0, NULL, NULL, 0));
	R(do_futex(BAD, FUTEX_WAIT, 0, NULL, NULL, 0));
	R(do_futex(BAD, FUTEX_WAKE, 1, NULL, NULL, 0));
	R(do_futex(BAD, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	R(do_futex(word, FUTEX_WAKE, 1, NULL, NULL, 0));
	R(do_futex(word, FUTEX_WAIT, 0, &bad, NULL, 0));
	R(do_futex(word, FUTEX_WAIT, 0, &negative, NULL, 0));
	R(do_futex(word, FUTEX_WAIT, 0, BAD, NULL, 0));
	R(do_futex(word, FUTEX_WAIT, 0, &soon, NULL, 0));
	R(do_futex(word, FUTEX_WAIT_BITSET, 0, &past, NULL, -1));
	R(do_futex(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past, NULL, -1));
	R(do_futex(word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
	R(do_futex(word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
	R(do_futex(word, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 0));
	R(do_futex(word, FUTEX_CMP_REQUEUE, 1, (void *)1, word + 1, 5));
	R(do_futex(word, FUTEX_CMP_REQUEUE, 1, (void *)1, word + 1, 0));
	R(do_futex(word, FUTEX_REQUEUE, -1, (void *)1, word + 1, 0));
	R(do_futex(word, FUTEX_WAKE_OP, 1, (void *)1, word + 1,
	    FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0)));
	say("%u", word[1]);
	R(do_futex(word, FUTEX_WAKE_OP, 1, (void *)1, word + 1,
	    FUTEX_OP(FUTEX_OP_ANDN, 1, FUTEX_OP_CMP_GT, 9)));
	say("%u", word[1]);
	R(do_futex(
	    word, FUTEX_WAKE_OP, 1, (void *)1, word + 1, FUTEX_OP(9, 1, FUTEX_OP_CMP_EQ, 0)));
	R(do_futex(word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0));
	R(do_futex(word, 99, 0, NULL, NULL, 0));
	R(do_futex(word, 0x1000 | FUTEX_WAKE, 1, NULL, NULL, 0));
}

/* How often each looks depends on who runs when. */
static void test_woken_futex(void)
{
	int status;
	unsigned *word =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!fork()) {
		while (do_futex(word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
			sched_yield();
		_exit(0);
	}
	R(do_futex(word, FUTEX_WAIT, 0, NULL, NULL, 0));
	wait(NULL);
	if (!fork())
		_exit(do_futex(word, FUTEX_WAIT, 0, NULL, NULL, 0));
	while (do_futex(word, FUTEX_REQUEUE, 0, (void *)1, word + 2, 0) == 0)
		sched_yield();
	R(do_futex(word, FUTEX_WAKE, 1, NULL, NULL, 0));
	R(do_futex(word + 2, FUTEX_WAKE, 1, NULL, NULL, 0));
	R(wait(&status) > 0);
	say("%#x", status);
}

static void test_futex_pi(void)
{
	static const struct timespec past = {1, 0};
	unsigned word = 0;

	R(do_futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
	R(do_futex(&word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	T(word == (unsigned)getpid());
	R(do_futex(&word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	R(do_futex(&word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
	R(do_futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
	say("%u", word);
	R(do_futex(&word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
	word = 4000000; /* nobody */
	R(do_futex(&word, FUTEX_LOCK_PI, 0, &past, NULL, 0));
	R(do_futex(&word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
	word = getppid();
	R(do_futex(&word, FUTEX_LOCK_PI, 0, &past, NULL, 0));
	T(word == (getppid() | FUTEX_WAITERS));
	R(do_futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
	R(do_futex(BAD, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
}

/* Ends with a lock that a list names. */
static void die_with_lock(struct robust_list_head *head, unsigned *lock)
{
	R(syscall(SYS_set_robust_list, head, sizeof(*head)));
	*lock = getpid();
	_exit(0);
}

static void test_robust_list(void)
{
	static struct robust_list_head head, *had;
	struct {
		struct robust_list entry;
		unsigned lock;
	} *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t size = 0;

	R(syscall(SYS_set_robust_list, &head, sizeof(head) - 1));
	R(syscall(SYS_set_robust_list, &head, sizeof(head)));
	R(syscall(SYS_get_robust_list, 0, &had, &size));
	T(had == &head && size == sizeof(head));
	R(syscall(SYS_get_robust_list, 0, BAD, &size));
	R(syscall(SYS_get_robust_list, 4000000, &had, &size));
	R(syscall(SYS_set_robust_list, NULL, sizeof(head)));
	head.list.next = &shared->entry;
	head.futex_offset = (char *)&shared->lock - (char *)&shared->entry;
	shared->entry.next = &head.list;
	if (!fork())
		die_with_lock(&head, &shared->lock);
	wait(NULL);
	T(shared->lock == FUTEX_OWNER_DIED);
}

#define LONG_LIST 2049

/* One lock of a list, which the process that ends may hold. */
struct listed {
	struct robust_list entry;
	unsigned lock, beside;
};

static struct robust_list_head list;

static void list_all(struct listed *at, int n)
{
	list.futex_offset = offsetof(struct listed, lock) - offsetof(struct listed, entry);
	list.list.next = n ? &at[0].entry : &list.list;
	for (int i = 0; i < n; i++)
		at[i].entry.next = i + 1 < n ? &at[i + 1].entry : &list.list;
}

/* Which bits of a word stay when its holder ends, and whose words are left alone. */
static void test_robust_words(void)
{
	struct listed *at =
	    mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned me = getpid();

	list_all(at, 5);
	if (!fork()) {
		unsigned own = getpid();

		at[0].lock = own;
		at[1].lock = own | FUTEX_WAITERS;
		at[2].lock = me;
		at[3].lock = 0;
		at[4].lock = own | FUTEX_OWNER_DIED;
		at[5].lock = own; /* in no list, but about to be */
		at[6].lock = own; /* in none at all */
		list.list_op_pending = &at[5].entry;
		syscall(SYS_set_robust_list, &list, sizeof(list));
		_exit(0);
	}
	wait(NULL);
	for (int i = 0; i < 7; i++)
		say("%d: %#x%s%s", i, at[i].lock & ~FUTEX_TID_MASK,
		    at[i].lock & FUTEX_TID_MASK ? " of somebody" : "",
		    (at[i].lock & FUTEX_TID_MASK) == me ? " else" : "");
	list.futex_offset++; /* no word lies so */
	if (!fork()) {
		at[0].lock = (unsigned)getpid() << 8;
		at[0].beside = 0;
		syscall(SYS_set_robust_list, &list, sizeof(list));
		_exit(0);
	}
	wait(NULL);
	say("%#x", at[0].lock & FUTEX_OWNER_DIED);
	T(at[0].lock && !at[0].beside);
}

/* A list is followed so far, and no farther. */
static void test_robust_long(void)
{
	struct listed *at = mmap(NULL, LONG_LIST * sizeof(*at), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n = 0;

	list_all(at, LONG_LIST);
	if (!fork()) {
		for (int i = 0; i < LONG_LIST; i++)
			at[i].lock = getpid();
		syscall(SYS_set_robust_list, &list, sizeof(list));
		_exit(0);
	}
	wait(NULL);
	for (int i = 0; i < LONG_LIST; i++)
		n += at[i].lock == FUTEX_OWNER_DIED;
	say("%d", n);
	T(at[0].lock == FUTEX_OWNER_DIED);
}

/* A process that becomes another program ends with its locks, and has no list then. */
static void test_robust_exec(void)
{
	struct listed *at =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	list_all(at, 1);
	if (!fork()) {
		at[0].lock = getpid();
		syscall(SYS_set_robust_list, &list, sizeof(list));
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait(&status);
	say("%#x", status);
	T(at[0].lock == FUTEX_OWNER_DIED);
}

/* One that waits for the word that a dying one holds is woken and finds out. */
static void test_robust_wakes(void)
{
	struct listed *at =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, p[2];
	unsigned held;
	char c;
	pid_t pid;

	list_all(at, 1);
	pipe(p);
	if (!fork()) {
		at[0].lock = getpid() | FUTEX_WAITERS;
		syscall(SYS_set_robust_list, &list, sizeof(list));
		read(p[0], &c, 1);
		_exit(0);
	}
	while (!(held = *(volatile unsigned *)&at[0].lock))
		usleep(500);
	pid = fork();
	if (!pid)
		_exit(do_futex(&at[0].lock, FUTEX_WAIT, held, NULL, NULL, 0) ? 3 : 4);
	wait_until_asleep(pid);
	write(p[1], "x", 1);
	T(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
	wait(NULL);
	T(at[0].lock == (FUTEX_OWNER_DIED | FUTEX_WAITERS));
}

/* Of a wait that is over its time limit is over, too. */
static void test_woken_in_time(void)
{
	static const struct timespec limit = {0, 20000000};
	unsigned *word =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int woken = 0, status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 20; i++) {
			while (!do_futex(word, FUTEX_WAIT, i, &limit, NULL, 0) &&
			       *(volatile unsigned *)word == (unsigned)i)
				;
		}
		usleep(30000);
		_exit(0);
	}
	for (int i = 1; i <= 20; i++) {
		usleep(200);
		*(volatile unsigned *)word = i;
		do_futex(word, FUTEX_WAKE, 1, NULL, NULL, 0);
		woken++;
	}
	waitpid(pid, &status, 0);
	say("%d %#x", woken, status);
}

static void test_cpus(void)
{
	unsigned cpu = 1000, node = 1000;
	cpu_set_t all, none, first;

	CPU_ZERO(&all);
	CPU_ZERO(&none);
	CPU_ZERO(&first);
	R(syscall(SYS_getcpu, &cpu, &node, NULL));
	T(cpu < 1000 && node < 1000);
	R(syscall(SYS_getcpu, NULL, NULL, NULL));
	R(syscall(SYS_getcpu, BAD, NULL, NULL));
	T(sched_getaffinity(0, sizeof(all), &all) == 0 && CPU_ISSET(cpu, &all));
	CPU_SET(cpu, &first);
	R(sched_setaffinity(0, sizeof(first), &first));
	T(sched_getcpu() == (int)cpu);
	T(sched_getaffinity(0, sizeof(all), &all) == 0 && CPU_EQUAL(&all, &first));
	R(sched_setaffinity(0, sizeof(none), &none));
	R(sched_setaffinity(4000000, sizeof(first), &first));
	R(sched_setaffinity(0, sizeof(first), BAD));
}

static void test_membarrier(void)
{
	T(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_GLOBAL);
	R(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
	R(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
	R(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
	R(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 77, 0));
	R(syscall(SYS_membarrier, 1 << 30, 0, 0));
}

/* Linux's structure of 56 bytes, and more. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t times[3];
	uint32_t limits[2];
	uint64_t more[4];
};

static void test_sched_attr(void)
{
	struct attr a = {0};

	R(syscall(SYS_sched_getattr, 0, &a, 56, 0));
	say("%u %u %d", a.size, a.policy, a.nice);
	R(syscall(SYS_sched_getattr, 0, &a, 47, 0));
	R(syscall(SYS_sched_getattr, 0, &a, 56, 1));
	R(syscall(SYS_sched_getattr, 0, BAD, 56, 0));
	R(syscall(SYS_sched_getattr, 4000000, &a, 56, 0));
	R(syscall(SYS_sched_getattr, -1, &a, 56, 0));
	a = (struct attr){.size = 48, .nice = 3};
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	R(getpriority(PRIO_PROCESS, 0));
	a.size = sizeof(a);
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	a.more[1] = 1;
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	say("%u", a.size);
	a.size = 20;
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	say("%u", a.size);
	R(syscall(SYS_sched_setattr, 0, &a, 1));
	R(syscall(SYS_sched_setattr, 0, BAD, 0));
	a.policy = 77;
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	a.policy = SCHED_FIFO; /* without a priority */
	R(syscall(SYS_sched_setattr, 0, &a, 0));
}

static void show_policy(void)
{
	struct attr a = {0};

	R(syscall(SYS_sched_getattr, 0, &a, 56, 0));
	say("%u %d %lx", a.policy, a.nice, (long)a.flags);
}

/* A child of one that asked for it is an ordinary task, and no more important than usual. */
static void test_reset_on_fork(void)
{
	struct attr a = {.size = 48, .flags = 1, .nice = -5};

	R(syscall(SYS_sched_setattr, 0, &a, 0));
	show_policy();
	in_child(show_policy);
	a.nice = 6;
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	in_child(show_policy);
	a.flags = 0;
	R(syscall(SYS_sched_setattr, 0, &a, 0));
	in_child(show_policy);
}

/* Calls that a C library makes no more, as newer ones do what they did. */
static void test_old_calls(void)
{
	struct stat st;
	struct timeval soon = {0, 1000};
	struct timespec moment = {0, 1000};
	uint64_t count = 0, mask = 1 << (SIGUSR1 - 1);
	int ends[2], status;
	long fd, pid;

	R(fd = syscall(SYS_open, "a", O_CREAT | O_RDWR, 0640));
	R(syscall(SYS_fstat, fd, &st));
	say("%#o %ld", st.st_mode, (long)st.st_size);
	R(syscall(SYS_creat, BAD, 0600));
	R(syscall(SYS_stat, "a", &st));
	R(syscall(SYS_stat, "a", BAD));
	R(syscall(SYS_symlinkat, "a", AT_FDCWD, "l"));
	R(syscall(SYS_lstat, "l", &st));
	T(S_ISLNK(st.st_mode));
	R(syscall(SYS_stat, "none", &st));
	R(syscall(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "b", 0));
	R(syscall(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "b", 0));
	R(syscall(SYS_mkdirat, AT_FDCWD, "d", 0700));
	R(syscall(SYS_renameat, AT_FDCWD, "b", AT_FDCWD, "d/b"));
	R(syscall(SYS_faccessat, AT_FDCWD, "d/b", R_OK));
	R(syscall(SYS_faccessat, AT_FDCWD, "b", F_OK));
	R(syscall(SYS_readlinkat, AT_FDCWD, "l", &st, 1));
	R(syscall(SYS_mknod, "fifo", S_IFIFO | 0600, 0));
	R(syscall(SYS_mknod, "fifo", S_IFIFO | 0600, 0));
	R(syscall(SYS_pipe, ends));
	R(syscall(SYS_pipe, BAD));
	R(syscall(SYS_select, 0, NULL, NULL, NULL, &soon));
	R(syscall(SYS_nanosleep, &moment, NULL));
	R(fd = syscall(SYS_eventfd, 7));
	R(read(fd, &count, 8));
	say("%lu", count);
	R(syscall(SYS_signalfd, -1, &mask, 8) >= 0);
	R(syscall(SYS_sendfile, ends[1], -1, NULL, 1));
	R(syscall(SYS_setregid, -1, -1));
	R(syscall(SYS_setresgid, -1, -1, -1));
	R(syscall(SYS_getrlimit, RLIMIT_NOFILE, BAD));
	R(syscall(SYS_sync));
	if (!(pid = syscall(SYS_fork))) {
		signal(SIGALRM, SIG_DFL);
		ualarm(10000, 0);
		syscall(SYS_pause);
	}
	R(waitpid(pid, &status, 0) == pid);
	say("%#x", status);
}

/* ss_flags while a handler runs on the stack, and an attempt to take it away. */
static volatile int on_stack, taken;

static void on_the_other_stack(int sig)
{
	stack_t now, none = {.ss_flags = SS_DISABLE};

	(void)sig;
	sigaltstack(NULL, &now);
	on_stack = now.ss_flags;
	taken = sigaltstack(&none, NULL) == -1 ? errno : 0;
}

static void test_sigaltstack(void)
{
	static char room[65536];
	stack_t its = {.ss_sp = room, .ss_size = sizeof(room)}, was;
	struct sigaction act = {.sa_handler = on_the_other_stack, .sa_flags = SA_ONSTACK};

	R(sigaltstack(NULL, &was));
	T(was.ss_flags == SS_DISABLE);
	R(sigaltstack(&its, NULL));
	R(sigaction(SIGUSR1, &act, NULL));
	R(raise(SIGUSR1));
	say("%d %d", on_stack, taken == EPERM);
	its.ss_size = 2047;
	R(sigaltstack(&its, NULL));
	its.ss_size = 2048; /* MINSIGSTKSZ, as the kernel has it */
	R(sigaltstack(&its, NULL));
	its.ss_size = sizeof(room);
	R(sigaltstack(&its, NULL));
	its.ss_flags = 77;
	R(sigaltstack(&its, NULL));
	R(sigaltstack(BAD, NULL));
	R(sigaltstack(NULL, BAD));
	its.ss_flags = SS_DISABLE;
	R(sigaltstack(&its, &was));
	T(was.ss_sp == room && was.ss_size == sizeof(room) && !was.ss_flags);
}

/* A word that is nobody's to clear, and the signal stack of who shares the memory. */
static int look_at_own_stack(void *flags)
{
	stack_t now;

	sigaltstack(NULL, &now);
	*(int *)flags = now.ss_flags;
	return 0;
}

static void test_shared_memory(void)
{
	static char stack[65536] __attribute__((aligned(16))), room[65536];
	stack_t its = {.ss_sp = room, .ss_size = sizeof(room)};
	int flags = -1, word = 77, status;
	pid_t pid;

	sigaltstack(&its, NULL);
	pid = clone(look_at_own_stack, stack + sizeof(stack), CLONE_VM | SIGCHLD, &flags, NULL,
	    NULL, &word);
	T(waitpid(pid, &status, 0) == pid);
	say("%d", word);
	T(flags == SS_DISABLE);
	pid = clone(look_at_own_stack, stack + sizeof(stack),
	    CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD, &flags, NULL, NULL, &word);
	T(waitpid(pid, &status, 0) == pid);
	say("%d", word);
}

static void show_scheduler(void)
{
	struct sched_param p;

	sched_getparam(0, &p);
	say("%d %d", sched_getscheduler(0), p.sched_priority);
}

/* Each policy takes some priorities; a refused pair changes nothing. */
static void test_priorities(void)
{
	static const int policies[] = {SCHED_FIFO, SCHED_RR, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE},
			 priorities[] = {0, 1, 99, 100, -1};

	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++) {
			struct sched_param p = {priorities[k]}, none = {0};

			sched_setscheduler(0, SCHED_OTHER, &none);
			say("%d %d", policies[i], priorities[k]);
			R(sched_setscheduler(0, policies[i], &p));
			show_scheduler();
		}
}

/* How large a structure of scheduling may be. */
static void test_sched_sizes(void)
{
	static const unsigned sizes[] = {0, 1, 47, 48, 56, 4096, 4097, -1U};
	static char room[8192];
	struct attr *a = (struct attr *)room;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(room, 0, sizeof(room));
		a->size = sizes[i];
		say("%u", sizes[i]);
		R(syscall(SYS_sched_setattr, 0, a, 0));
		say("%u", a->size);
		R(syscall(SYS_sched_getattr, 0, a, sizes[i], 0));
	}
}

static __thread int own_word = 1;

static unsigned long fs_base(void)
{
	unsigned long base = 0;

	syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
	return base;
}

struct own {
	unsigned long base;
	int found, *at;
};

/* It says nothing: its creator may be saying something. */
static void *change_own_word(void *arg)
{
	struct own *own = arg;

	*own = (struct own){fs_base(), own_word, &own_word};
	own_word = 2;
	errno = ENOTTY;
	return NULL;
}

/* A thread has its own words, also those that another thread of before had there. */
static void test_own_words(void)
{
	struct own own;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		R(pthread_create(&thread, NULL, change_own_word, &own));
		R(pthread_join(thread, NULL));
		T(own.found == 1 && own.at != &own_word && own_word == 1 && errno != ENOTTY);
		T(own.base && own.base != fs_base());
	}
}

static timer_t own_timer;
static int own_tid;

static void *make_own_timer(void *unused)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};

	own_tid = syscall(SYS_gettid);
	e._sigev_un._tid = own_tid;
	R(syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &own_timer));
	return unused;
}

/* A thread that has ended is no more to be found, though its timer is still there. */
static void test_thread_of_timer_gone(void)
{
	struct itimerspec soon = {{0, 0}, {0, 1}};
	struct sched_param param;
	pthread_t thread;
	cpu_set_t set;

	pthread_create(&thread, NULL, make_own_timer, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2000 && !syscall(SYS_tgkill, getpid(), own_tid, 0); i++)
		usleep(1000); /* it was joined, but may be there for a moment */
	R(syscall(SYS_tgkill, getpid(), own_tid, 0));
	R(syscall(SYS_tkill, own_tid, SIGUSR1));
	R(sched_getparam(own_tid, &param));
	R(sched_getaffinity(own_tid, sizeof(set), &set));
	R(getpriority(PRIO_PROCESS, own_tid));
	R(syscall(SYS_timer_settime, own_timer, 0, &soon, NULL));
	usleep(1000);
	R(syscall(SYS_timer_delete, own_timer));
}

/* The word, read from the base that %fs is given for it. */
static unsigned long read_from_base(unsigned long base, const unsigned long *word)
{
	unsigned long own = fs_base(), read = 0, result = SYS_arch_prctl;

	/* no function is called between: its words of the thread would lie elsewhere */
	__asm__ volatile("syscall\n\t"
			 "mov %%fs:(%[at]), %[read]\n\t"
			 "mov %[own], %%rsi\n\t"
			 "mov %[number], %%eax\n\t"
			 "syscall"
			 : "+a"(result), [read] "=&r"(read), "+S"(base)
			 : "D"((long)ARCH_SET_FS), [at] "r"((unsigned long)word - base),
			 [own] "r"(own), [number] "i"(SYS_arch_prctl)
			 : "rcx", "r11", "memory");
	return result ? 0 : read;
}

static void change_base(void)
{
	static const unsigned long word = 0x1234567;

	for (unsigned i = 0; i < 3; i++) {
		say("%lx", read_from_base(0, &word));
		say("%lx", read_from_base((unsigned long)&word, &word));
		say("%lx", read_from_base(4096, &word));
	}
}

/* Words are read from the base that %fs was given last, 0 as well, and one that it had before. */
static void test_base_changes(void)
{
	in_child(change_base);
}

const struct call_case thread_cases[] = {
    {"clone", test_clone},
    {"clone3", test_clone3},
    {"beyond_clone3", test_beyond_clone3},
    {"futex", test_futex},
    {"futex_pi", test_futex_pi},
    {"woken_futex", test_woken_futex},
    {"robust_list", test_robust_list},
    {"robust_words", test_robust_words},
    {"robust_long", test_robust_long},
    {"robust_exec", test_robust_exec},
    {"robust_wakes", test_robust_wakes},
    {"woken_in_time", test_woken_in_time},
    {"cpus", test_cpus},
    {"membarrier", test_membarrier},
    {"sched_attr", test_sched_attr},
    {"reset_on_fork", test_reset_on_fork},
    {"old_calls", test_old_calls},
    {"sigaltstack", test_sigaltstack},
    {"clone_memory", test_shared_memory},
    {"sched_priorities", test_priorities},
    {"sched_sizes", test_sched_sizes},
    {"own_words", test_own_words},
    {"thread_of_timer_gone", test_thread_of_timer_gone},
    {"base_changes", test_base_changes},
    {NULL, NULL},
};
