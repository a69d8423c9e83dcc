/*
 * stress [STEPS | SECONDSs [SEED]]: four processes of sixteen threads each. Every thread takes so
 * many steps (20), or steps for so long: it maps, protects, moves and unmaps memory, takes a lock,
 * sends signals, writes to pipes and files, and starts threads, children and programs, some of
 * which it kills.
 *
 * Each thread stamps the pages it has and finds them as it left them; what a lock guards is
 * counted without a step lost; what was written is read; each child has the status it ended with.
 */
#include <stdbool.h>

#include "tests/programs/thread.h"

enum { PROCESSES = 4, THREADS = 16, SLOTS = 4, PAGES_MOST = 8, NAP_NS = 200000, RECORD = 512 };

struct slot {
	unsigned long *at, pages;
};

struct worker {
	unsigned long random, stamp;
	struct slot slots[SLOTS];
	int pipe[2];
	volatile int tid;
	struct thread thread, spare;
};

static struct worker workers[THREADS];
static volatile int lock; /* 0: free, 1: taken, 2: taken, and others wait */
static volatile unsigned long guarded, guarded_in_all, spares, spares_in_all, sent, got;
static unsigned long steps_wanted, until_ns;

/* Of all processes, in a page that they share. */
static struct {
	unsigned long steps, forks, execs, kills, signals;
} * counts;

static void add(volatile unsigned long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_SEQ_CST);
}

static unsigned long pick(struct worker *w, unsigned long n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % n;
}

/* ---- memory ---- */

static bool as_left(const struct worker *w, const struct slot *s)
{
	for (unsigned long i = 0; i < s->pages; i++)
		if (s->at[i * PAGE / 8] != w->stamp + i ||
		    s->at[(i + 1) * PAGE / 8 - 1] != w->stamp)
			return false;
	return true;
}

static void stamp(struct worker *w, struct slot *s)
{
	for (unsigned long i = 0; i < s->pages; i++) {
		s->at[i * PAGE / 8] = w->stamp + i;
		s->at[(i + 1) * PAGE / 8 - 1] = w->stamp;
	}
}

static void step_map(struct worker *w)
{
	struct slot *s = &w->slots[pick(w, SLOTS)];

	CHECK(as_left(w, s));
	if (s->pages)
		CHECK_EQ(syscall2(SYS_munmap, (long)s->at, s->pages * PAGE), 0);
	s->pages = 1 + pick(w, PAGES_MOST);
	s->at = (unsigned long *)map_pages(0, s->pages, P_READ | P_WRITE, M_PRIVATE);
	for (unsigned long i = 0; i < s->pages * PAGE / 8; i += 64)
		CHECK_EQ(s->at[i], 0);
	stamp(w, s);
}

static void step_protect(struct worker *w)
{
	struct slot *s = &w->slots[pick(w, SLOTS)];

	if (!s->pages)
		return;
	CHECK_EQ(syscall3(SYS_mprotect, (long)s->at, s->pages * PAGE, P_READ), 0);
	CHECK(as_left(w, s));
	CHECK_EQ(syscall3(SYS_mprotect, (long)s->at, s->pages * PAGE, P_READ | P_WRITE), 0);
	stamp(w, s);
}

static void step_move(struct worker *w)
{
	enum { MAYMOVE = 1 };
	struct slot *s = &w->slots[pick(w, SLOTS)];
	unsigned long pages = 1 + pick(w, PAGES_MOST), kept = pages;
	long at;

	if (!s->pages)
		return;
	at = syscall4(SYS_mremap, (long)s->at, s->pages * PAGE, pages * PAGE, MAYMOVE);
	CHECK(at > 0);
	if (kept > s->pages)
		kept = s->pages;
	*s = (struct slot){(unsigned long *)at, kept};
	CHECK(as_left(w, s));
	s->pages = pages;
	stamp(w, s);
}

/* ---- locks and signals ---- */

static void step_lock(struct worker *w)
{
	int was = 0;

	if (!__atomic_compare_exchange_n(&lock, &was, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		while (__atomic_exchange_n(&lock, 2, __ATOMIC_SEQ_CST))
			futex(&lock, F_WAIT | F_PRIVATE, 2, NULL, NULL, 0);
	unsigned long n = guarded;
	if (!pick(w, 8))
		syscall0(SYS_sched_yield);
	guarded = n + 1;
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_SEQ_CST) == 2)
		futex(&lock, F_WAKE | F_PRIVATE, 1, NULL, NULL, 0);
	add(&guarded_in_all);
}

static void hear(int sig)
{
	(void)sig;
	add(&got);
}

static void step_signal(struct worker *w)
{
	int tid = workers[pick(w, THREADS)].tid;

	if (tid && syscall3(SYS_tgkill, syscall0(SYS_getpid), tid, L_USR1) == 0)
		add(&sent);
}

static void nap(unsigned long ns)
{
	struct abi_timespec t = {0, ns};

	syscall2(SYS_nanosleep, (long)&t, 0);
}

static void step_nap(struct worker *w)
{
	nap(pick(w, NAP_NS));
}

/* ---- files ---- */

static void step_pipe(struct worker *w)
{
	unsigned long out[RECORD / 8], in[RECORD / 8] = {0};

	for (unsigned i = 0; i < RECORD / 8; i++)
		out[i] = w->stamp + i;
	CHECK_EQ(syscall3(SYS_write, w->pipe[1], (long)out, RECORD), RECORD);
	CHECK_EQ(syscall3(SYS_read, w->pipe[0], (long)in, RECORD), RECORD);
	CHECK_EQ(memcmp(out, in, RECORD), 0);
}

static void step_file(struct worker *w)
{
	char path[] = "/tmp/stress-0123456789abcdef";
	unsigned long in = 0, at = pick(w, 8 * PAGE);
	long fd;

	for (unsigned i = 0; i < 16; i++)
		path[sizeof(path) - 2 - i] = "0123456789abcdef"[w->stamp >> 4 * i & 15];
	fd = syscall3(SYS_open, (long)path, 02 | 0100 | 0200, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(syscall4(SYS_pwrite64, fd, (long)&w->stamp, 8, at), 8);
	CHECK_EQ(syscall4(SYS_pread64, fd, (long)&in, 8, at), 8);
	CHECK_EQ(in, w->stamp);
	CHECK_EQ(syscall1(SYS_close, fd), 0);
	CHECK_EQ(syscall1(SYS_unlink, (long)path), 0);
}

/* ---- threads, children, programs ---- */

static void count_one(void *unused)
{
	(void)unused;
	add(&spares);
}

static void step_thread(struct worker *w)
{
	add(&spares_in_all);
	thread_begin(&w->spare, count_one, NULL);
	thread_end(&w->spare);
}

static void expect_end(long pid, int status)
{
	int said = -1;
	long r;

	while ((r = syscall4(SYS_wait4, pid, (long)&said, 0, 0)) == INTR)
		;
	CHECK_EQ(r, pid);
	CHECK_EQ(said, status);
}

static void step_fork(struct worker *w)
{
	int code = pick(w, 100);
	long pid = syscall0(SYS_fork);

	if (!pid) {
		for (unsigned i = 0; i < SLOTS; i++)
			if (!as_left(w, &w->slots[i]))
				exit_now(101);
		step_map(w);
		exit_now(check_failures ? 102 : code);
	}
	CHECK(pid > 0);
	expect_end(pid, code << 8);
	add(&counts->forks);
}

static void step_exec(struct worker *w)
{
	static char *argv[] = {"/bin/true", NULL};
	long pid = syscall0(SYS_vfork);

	(void)w;
	if (!pid) {
		syscall3(SYS_execve, (long)argv[0], (long)argv, (long)(argv + 1));
		exit_now(103);
	}
	CHECK(pid > 0);
	expect_end(pid, 0);
	add(&counts->execs);
}

static void step_kill(struct worker *w)
{
	long pid = syscall0(SYS_fork);

	while (!pid)
		step_map(w);
	CHECK(pid > 0);
	nap(pick(w, 4 * NAP_NS));
	CHECK_EQ(syscall2(SYS_kill, pid, L_KILL), 0);
	expect_end(pid, L_KILL);
	add(&counts->kills);
}

/* ---- all of it ---- */

static bool goes_on(unsigned long steps)
{
	return until_ns ? (unsigned long)now_ns() < until_ns : steps < steps_wanted;
}

static void work(void *arg)
{
	static void (*const all[])(struct worker *) = {step_map, step_map, step_map, step_protect,
	    step_protect, step_move, step_lock, step_lock, step_lock, step_signal, step_signal,
	    step_signal, step_nap, step_pipe, step_pipe, step_file, step_thread, step_fork,
	    step_exec, step_kill};
	struct worker *w = arg;

	w->tid = syscall0(SYS_gettid);
	for (unsigned long n = 0; goes_on(n); n++) {
		all[pick(w, sizeof(all) / sizeof(*all))](w);
		add(&counts->steps);
	}
	w->tid = 0;
}

static void process(unsigned long seed, unsigned long number)
{
	set_handler(L_USR1, hear, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];
		w->stamp = (number << 48) + ((unsigned long)(i + 1) << 32) + 1;
		w->random = seed * 0x9e3779b97f4a7c15 + w->stamp;
		CHECK_EQ(syscall1(SYS_pipe, (long)w->pipe), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		thread_begin(&workers[i].thread, work, &workers[i]);
	for (unsigned i = 0; i < THREADS; i++)
		thread_vanish(&workers[i].thread);
	for (unsigned i = 0; i < THREADS * SLOTS; i++)
		CHECK(as_left(&workers[i / SLOTS], &workers[i / SLOTS].slots[i % SLOTS]));
	CHECK_EQ(guarded, guarded_in_all);
	CHECK_EQ(spares, spares_in_all);
	CHECK(got <= sent && (!sent || got));
	__atomic_fetch_add(&counts->signals, got, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)now_ns() | 1;
	char *unit = "";
	long pids[PROCESSES];

	steps_wanted = argc > 1 ? strtoul(argv[1], &unit, 10) : 20;
	if (*unit == 's')
		until_ns = now_ns() + steps_wanted * 1000000000;
	printf("# seed %lu\n", seed);
	fflush(stdout);
	counts = (void *)map_pages(0, 1, P_READ | P_WRITE, M_SHARED);
	for (unsigned i = 0; i < PROCESSES; i++) {
		pids[i] = syscall0(SYS_fork);
		if (!pids[i]) {
			process(seed, i + 1);
			fflush(stdout);
			exit_now(check_failures != 0);
		}
	}
	for (unsigned i = 0; i < PROCESSES; i++)
		expect_end(pids[i], 0);
	printf("# %lu steps, %lu forks, %lu programs, %lu killed, %lu signals\n", counts->steps,
	    counts->forks, counts->execs, counts->kills, counts->signals);
	CHECK(counts->forks && counts->execs && counts->kills && counts->signals);
	return check_failures != 0;
}
