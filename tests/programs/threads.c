/*
 * The system calls below threads, without a C library: which flags of clone() go together, futexes
 * and what they refuse, the CPU a thread runs on, signals to a thread and to its process, the end
 * of one and of all, execve() from a thread, what /proc shows.
 */
#include "tests/programs/thread.h"

#define WAITERS	   0x80000000u
#define OWNER_DIED 0x40000000u
#define DEADLK	   (-35)

static void flags_together(void)
{
	static const unsigned long wrong[] = {C_THREAD, C_THREAD | C_VM, C_SIGHAND,
	    C_SIGHAND | C_THREAD, C_NEWNS, C_NEWNS | C_FS, 0x1000 /* a pidfd */,
	    0x10000000 /* a user namespace */};
	static const struct abi_clone_args none,
	    with_signal = {.flags = C_SHARE | C_THREAD, .exit_signal = L_CHLD},
	    half_a_stack = {.stack = 4096}, big_signal = {.exit_signal = 65},
	    old_signal = {.flags = L_CHLD};
	char beyond[128] = {0};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_EQ(clone_raw(wrong[i], NULL, NULL, NULL, 0), INVAL);
	CHECK_EQ(clone_raw(C_SETTLS, NULL, NULL, NULL, 1L << 62), PERM);
	CHECK_EQ(syscall2(SYS_clone3, (long)&none, 63), INVAL);
	CHECK_EQ(syscall2(SYS_clone3, (long)&none, 4097), TOOBIG);
	CHECK_EQ(syscall2(SYS_clone3, 8, 64), FAULT);
	CHECK_EQ(syscall2(SYS_clone3, (long)&with_signal, 64), INVAL);
	CHECK_EQ(syscall2(SYS_clone3, (long)&half_a_stack, 64), INVAL);
	CHECK_EQ(syscall2(SYS_clone3, (long)&big_signal, 64), INVAL);
	CHECK_EQ(syscall2(SYS_clone3, (long)&old_signal, 64), INVAL);
	beyond[100] = 1;
	CHECK_EQ(syscall2(SYS_clone3, (long)beyond, 128), TOOBIG);
}

/* ---- one thread and another ---- */

static volatile int seen_pid, seen_tid, word;

static void look(void *arg)
{
	(void)arg;
	seen_pid = syscall0(SYS_getpid);
	seen_tid = syscall0(SYS_gettid);
	syscall1(SYS_chdir, (long)"/tmp");
	syscall1(SYS_umask, 077);
	CHECK_EQ(syscall1(SYS_dup, 1), 3);
}

static void sharing(void)
{
	struct thread t = {0};
	char cwd[64];
	long tid = thread_begin(&t, look, NULL);

	thread_vanish(&t);
	CHECK_EQ(t.tid, tid);
	CHECK_EQ(seen_tid, tid);
	CHECK_EQ(seen_pid, syscall0(SYS_getpid));
	CHECK_EQ(syscall2(SYS_getcwd, (long)cwd, sizeof(cwd)), 5);
	CHECK_EQ(syscall1(SYS_umask, 022), 077);
	CHECK_EQ(syscall1(SYS_close, 3), 0);
	CHECK_EQ(syscall1(SYS_chdir, (long)"/"), 0);
	CHECK_EQ(syscall4(SYS_wait4, tid, 0, 0, 0), NOCHILD);
}

/* ---- futexes ---- */

static void wait_for_word(void *arg)
{
	CHECK_EQ(futex(&word, F_WAIT_BITSET, 0, NULL, NULL, (long)arg), 0);
}

static void until_they_wait(int n, long mask)
{
	/* Wakes nobody that another bit is for: only asks who is there. */
	for (int woken = 0; woken < n;)
		woken += futex(&word, F_WAKE_BITSET, 1, NULL, NULL, mask);
}

static void futexes(void)
{
	struct abi_timespec soon = {0, 2000000}, bad = {0, 1000000000}, past = {0, 1};
	struct thread a = {0}, b = {0};
	volatile int other = 0;

	word = 0;
	CHECK_EQ(futex(&word, F_WAIT, 1, NULL, NULL, 0), AGAIN);
	CHECK_EQ(futex((char *)&word + 1, F_WAIT, 0, NULL, NULL, 0), INVAL);
	CHECK_EQ(futex((void *)64, F_WAIT, 0, NULL, NULL, 0), FAULT);
	CHECK_EQ(futex((void *)64, F_WAKE, 1, NULL, NULL, 0), FAULT);
	CHECK_EQ(futex((void *)64, F_WAKE | F_PRIVATE, 1, NULL, NULL, 0), 0);
	CHECK_EQ(futex(&word, F_WAIT, 0, &bad, NULL, 0), INVAL);
	CHECK_EQ(futex(&word, F_WAIT, 0, &soon, NULL, 0), TIMEDOUT);
	CHECK_EQ(futex(&word, F_WAIT | F_REALTIME, 0, &soon, NULL, 0), NOSYS);
	CHECK_EQ(futex(&word, F_WAIT_BITSET, 0, &past, NULL, -1), TIMEDOUT);
	CHECK_EQ(futex(&word, F_WAIT_BITSET | F_REALTIME, 0, &past, NULL, -1), TIMEDOUT);
	CHECK_EQ(futex(&word, F_WAIT_BITSET, 0, NULL, NULL, 0), INVAL);
	CHECK_EQ(futex(&word, F_WAKE_BITSET, 1, NULL, NULL, 0), INVAL);
	CHECK_EQ(futex(&word, F_CMP_REQUEUE, 1, (void *)1, &other, 5), AGAIN);
	CHECK_EQ(futex(&word, F_REQUEUE, -1, (void *)1, &other, 0), INVAL);
	CHECK_EQ(futex(&word, 99, 0, NULL, NULL, 0), NOSYS);
	CHECK_EQ(futex(&word, F_WAIT_REQUEUE_PI, 0, NULL, &other, 0), NOSYS);
	CHECK_EQ(futex(&word, F_CMP_REQUEUE_PI, 1, (void *)1, &other, 0), NOSYS);
	/* a bit each */
	thread_begin(&a, wait_for_word, (void *)1);
	thread_begin(&b, wait_for_word, (void *)2);
	until_they_wait(1, 2);
	thread_end(&b);
	until_they_wait(1, 1);
	thread_end(&a);
	/* one is woken, the other moved, and woken there */
	thread_begin(&a, wait_for_word, (void *)-1L);
	thread_begin(&b, wait_for_word, (void *)-1L);
	for (long moved = 0; moved < 2;)
		moved += futex(&word, F_CMP_REQUEUE, 0, (void *)2, &other, 0);
	CHECK_EQ(futex(&word, F_WAKE, 9, NULL, NULL, 0), 0);
	/* other: 0 + 5, and its waiters are woken if it was 0 */
	CHECK_EQ(futex(&word, F_WAKE_OP, 1, (void *)2, &other, 1 << 28 | 5 << 12), 2);
	CHECK_EQ(other, 5);
	thread_end(&a);
	thread_end(&b);
}

static void lock_and_keep(void *lock)
{
	CHECK_EQ(futex(lock, F_LOCK_PI, 0, NULL, NULL, 0), 0);
	word = 1;
	futex(&word, F_WAKE, 1, NULL, NULL, 0);
	while (word == 1)
		syscall0(SYS_sched_yield);
	CHECK_EQ(futex(lock, F_UNLOCK_PI, 0, NULL, NULL, 0), 0);
}

static void pi_locks(void)
{
	struct abi_timespec past = {0, 1};
	volatile unsigned lock = 0;
	struct thread t = {0};
	long me = syscall0(SYS_gettid);

	word = 0;
	CHECK_EQ(futex(&lock, F_UNLOCK_PI, 0, NULL, NULL, 0), PERM);
	CHECK_EQ(futex(&lock, F_LOCK_PI, 0, NULL, NULL, 0), 0);
	CHECK_EQ(lock, me);
	CHECK_EQ(futex(&lock, F_LOCK_PI, 0, NULL, NULL, 0), DEADLK);
	CHECK_EQ(futex(&lock, F_UNLOCK_PI, 0, NULL, NULL, 0), 0);
	CHECK_EQ(lock, 0);
	lock = 32767; /* no thread's */
	CHECK_EQ(futex(&lock, F_LOCK_PI, 0, NULL, NULL, 0), NOSRCH);
	lock = 0;
	thread_begin(&t, lock_and_keep, (void *)&lock);
	while (!word)
		futex(&word, F_WAIT, 0, NULL, NULL, 0);
	CHECK_EQ(futex(&lock, F_TRYLOCK_PI, 0, NULL, NULL, 0), AGAIN);
	CHECK_EQ(lock, t.tid);
	CHECK_EQ(futex(&lock, F_LOCK_PI, 0, &past, NULL, 0), TIMEDOUT);
	word = 2;
	CHECK_EQ(futex(&lock, F_LOCK_PI, 0, NULL, NULL, 0), 0);
	CHECK_EQ(lock & 0x3fffffff, me);
	CHECK_EQ(futex(&lock, F_UNLOCK_PI, 0, NULL, NULL, 0), 0);
	thread_end(&t);
}

/* ---- robust lists ---- */

static struct {
	struct abi_robust_list_head head;
	struct {
		unsigned long next;
		volatile unsigned lock;
	} entry[2];
} robust;

static void die_with_locks(void *arg)
{
	long tid = syscall0(SYS_gettid);

	(void)arg;
	robust.head.next = (long)&robust.entry[0];
	robust.head.futex_offset = (long)&robust.entry[0].lock - (long)&robust.entry[0];
	robust.entry[0].next = (long)&robust.entry[1];
	robust.entry[1].next = (long)&robust.head;
	robust.entry[0].lock = tid;
	robust.entry[1].lock = tid | WAITERS;
	CHECK_EQ(syscall2(SYS_set_robust_list, (long)&robust.head, 24), 0);
}

static void robust_lists(void)
{
	struct thread t = {0};
	long head = -1, size = -1;

	CHECK_EQ(syscall2(SYS_set_robust_list, 0, 23), INVAL);
	thread_begin(&t, die_with_locks, NULL);
	thread_vanish(&t);
	CHECK_EQ(robust.entry[0].lock, OWNER_DIED);
	CHECK_EQ(robust.entry[1].lock, OWNER_DIED | WAITERS);
	CHECK_EQ(syscall3(SYS_get_robust_list, 0, (long)&head, (long)&size), 0);
	CHECK_EQ(head, 0);
	CHECK_EQ(size, 24);
	CHECK_EQ(syscall3(SYS_get_robust_list, 32767, (long)&head, (long)&size), NOSRCH);
}

/* ---- the end, and what comes after ---- */

static void wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		syscall0(SYS_pause);
}

static void exec_self(void *arg)
{
	const char *const args[] = {"threads", arg, NULL};

	syscall3(SYS_execve, (long)"/test/threads", (long)args, 0);
	exit_now(98);
}

static struct thread spare[3];

static void exec_from_thread(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%ld", syscall0(SYS_getpid));
	thread_begin(&spare[0], wait_for_ever, NULL);
	thread_begin(&spare[1], exec_self, pid);
	wait_for_ever(NULL);
}

static void exit_all(void *arg)
{
	(void)arg;
	exit_now(21);
}

static void look_away(void *arg)
{
	(void)arg;
}

static void exit_of_the_first(void)
{
	thread_begin(&spare[0], wait_for_ever, NULL);
	thread_begin(&spare[1], exit_all, NULL);
	syscall1(SYS_exit, 1);
}

static void kill_by_signal(void)
{
	thread_begin(&spare[0], wait_for_ever, NULL);
	thread_begin(&spare[1], wait_for_ever, NULL);
	syscall2(SYS_tkill, spare[1].tid, L_TERM);
	wait_for_ever(NULL);
}

/* How many a directory below /proc/self shows; of that number, if it is not 0. */
static int in_proc(const char *name, int tid)
{
	char buf[1024], path[64], number[16];
	int n = 0, fd;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	snprintf(number, sizeof(number), "%d", tid);
	fd = syscall2(SYS_open, (long)path, 0);
	for (long got; (got = syscall3(SYS_getdents64, fd, (long)buf, sizeof(buf))) > 0;)
		for (long at = 0; at < got; at += *(unsigned short *)(buf + at + 16))
			n += tid ? !strcmp(buf + at + 19, number) : buf[at + 19] != '.';
	syscall1(SYS_close, fd);
	return n;
}

/* How many threads are left when those that have ended had their time (thread_end()). */
static int threads_left(void)
{
	int n = in_proc("task", 0);

	for (int i = 0; i < 10000 && n > 1; i++) {
		syscall0(SYS_sched_yield);
		n = in_proc("task", 0);
	}
	return n;
}

static void ends(void)
{
	struct thread t = {0};
	int before = threads_left();

	CHECK_EQ(in_child(exec_from_thread), 23 << 8);
	CHECK_EQ(in_child(exit_of_the_first), 21 << 8);
	CHECK_EQ(in_child(kill_by_signal), L_TERM);
	CHECK_EQ(before, 1);
	thread_begin(&t, look_away, NULL);
	thread_vanish(&t);
	thread_begin(&spare[2], wait_for_ever, NULL);
	CHECK_EQ(in_proc("task", 0), 2);
	CHECK_EQ(in_proc("task", spare[2].tid), 1);
	CHECK_EQ(in_proc("..", spare[2].tid), 0);
	CHECK_EQ(in_proc("..", syscall0(SYS_getpid)), 1);
}

static void barriers(void)
{
	CHECK_EQ(syscall3(SYS_membarrier, 0, 0, 0), 127);
	CHECK_EQ(syscall3(SYS_membarrier, 8, 0, 0), PERM);
	CHECK_EQ(syscall3(SYS_membarrier, 16, 0, 0), 0);
	CHECK_EQ(syscall3(SYS_membarrier, 8, 0, 0), 0);
	CHECK_EQ(syscall3(SYS_membarrier, 1, 0, 0), 0);
	CHECK_EQ(syscall3(SYS_membarrier, 3, 0, 0), INVAL);
	CHECK_EQ(syscall3(SYS_membarrier, 0, 1, 0), INVAL);
}

/* ---- on which CPU ---- */

static void stay(void *unused)
{
	(void)unused;
	while (!word)
		futex(&word, F_WAIT, 0, NULL, NULL, 0);
	seen_tid = -1;
	CHECK_EQ(syscall3(SYS_getcpu, (long)&seen_tid, 0, 0), 0);
}

/* A thread runs where its mask says, whoever sets it; the others' masks stay. */
static void affinity(void)
{
	unsigned long all = 0, mask, got;
	struct thread t = {0};
	unsigned cpu = 99, node = 99;

	CHECK_EQ(syscall3(SYS_sched_getaffinity, 0, sizeof(all), (long)&all), 8);
	CHECK(all != 0);
	CHECK_EQ(syscall3(SYS_sched_setaffinity, 0, sizeof(all), (long)&(unsigned long){0}), INVAL);
	for (unsigned i = 0; i < 64; i++) {
		mask = 1UL << i;
		if (!(all & mask))
			continue;
		CHECK_EQ(syscall3(SYS_sched_setaffinity, 0, sizeof(mask), (long)&mask), 0);
		CHECK_EQ(syscall3(SYS_getcpu, (long)&cpu, (long)&node, 0), 0);
		CHECK_EQ(cpu, i);
		CHECK_EQ(node, 0);
		word = 0;
		thread_begin(&t, stay, NULL);
		CHECK_EQ(syscall3(SYS_sched_getaffinity, t.tid, sizeof(got), (long)&got), 8);
		CHECK_EQ(got, mask); /* inherited */
		mask = all & -all;
		CHECK_EQ(syscall3(SYS_sched_setaffinity, t.tid, sizeof(mask), (long)&mask), 0);
		word = 1;
		futex(&word, F_WAKE, 1, NULL, NULL, 0);
		thread_end(&t);
		CHECK_EQ(seen_tid, __builtin_ctzl(all));
		syscall3(SYS_sched_getaffinity, 0, sizeof(got), (long)&got);
		CHECK_EQ(got, 1UL << i);
	}
	CHECK_EQ(syscall3(SYS_sched_setaffinity, 0, sizeof(all), (long)&all), 0);
	CHECK_EQ(syscall4(334 /* rseq */, 0, 32, 0, 0), NOSYS);
}

int main(int argc, char **argv)
{
	if (argc > 1) /* execve() of a thread: the pid is the process's, and nobody else is left */
		return syscall0(SYS_getpid) == strtol(argv[1], NULL, 10) &&
			       syscall0(SYS_gettid) == syscall0(SYS_getpid) &&
			       in_proc("task", 0) == 1
			   ? 23
			   : 1;
	flags_together();
	sharing();
	futexes();
	pi_locks();
	robust_lists();
	barriers();
	affinity();
	ends();
	return check_failures != 0;
}
