/*
 * The core of futexes (kernel/process/futex_queue.c) with threads of the host: futexes [ROUNDS
 * [SEED]]. Locks and conditions are made of it as C libraries make them, PI locks as the kernel
 * does, and threads yield at random where the core is about to look at a word or has just woken
 * somebody. A wake-up that is lost leaves a thread asleep, which is found after PATIENCE; a lock
 * that two have, or a waiter that stays behind, is found by counting. A line a case.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/process/futex_queue.h"
#include "tests/unit/prng.h"

#define THREADS	 6
#define PATIENCE 30 /* seconds */

static struct thread {
	pthread_t thread;
	sem_t woken;
	u64 random;
	u32 tid;
	bool dead; /* [A] it has let go of its locks */
} threads[THREADS];
static _Thread_local struct thread *me;
static u64 rounds = 1000000, seed;
static u64 steps; /* [A] calls of the core */
static unsigned failures;

static void check(bool ok, const char *what)
{
	if (!ok && !__atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST))
		printf("# %s\n", what);
}

static bool chance(unsigned of)
{
	return prng_next(&me->random) % of == 0;
}

static void wobble(void)
{
	if (chance(64))
		sched_yield();
}

/* ---- what the core needs ---- */

u64 futex_lock(struct futex_lock *l)
{
	u32 mine = __atomic_fetch_add(&l->word[0], 1, __ATOMIC_SEQ_CST);

	while (atomic_load_acquire(&l->word[1]) != mine)
		sched_yield();
	return 0;
}

void futex_unlock(struct futex_lock *l, u64 flags)
{
	(void)flags;
	atomic_store_release(&l->word[1], l->word[1] + 1);
}

int futex_load(u64 uaddr, u32 *value)
{
	wobble();
	*value = atomic_load((u32 *)uaddr);
	return 0;
}

int futex_exchange(u64 uaddr, u32 *old, u32 new)
{
	wobble();
	__atomic_compare_exchange_n(
	    (u32 *)uaddr, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return 0;
}

void futex_rouse(void *task)
{
	sem_post(&((struct thread *)task)->woken);
	wobble();
}

bool futex_owner_lives(u32 tid)
{
	wobble();
	return tid && tid <= THREADS && !atomic_load(&threads[tid - 1].dead);
}

/* ---- waiting, as kernel/process/futex.c does it ---- */

static struct futex_word word_of(u32 *p)
{
	return (struct futex_word){{&threads, (u64)p}, (u64)p};
}

/* Until it is not queued any more; or, for `impatient`, some time before. */
static enum futex_state sleep_on(struct futex_waiter *w, bool impatient)
{
	struct timespec until;

	while (!impatient && atomic_load(&w->state) == FUTEX_QUEUED) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += PATIENCE;
		if (sem_timedwait(&me->woken, &until)) {
			printf("not ok - a wake-up was lost (seed %lu)\n", (unsigned long)seed);
			exit(1);
		}
	}
	if (impatient)
		wobble();
	return futex_leave(w);
}

static int wait_on(u32 *p, u32 value, u32 bitset, bool impatient)
{
	struct futex_waiter w = {.task = me};
	struct futex_word word = word_of(p);

	atomic_add(&steps, 1);
	if (futex_enqueue(&w, &word, value, bitset))
		return -EAGAIN;
	return sleep_on(&w, impatient) == FUTEX_QUEUED ? -ETIMEDOUT : 0;
}

static int wake(u32 *p, int n)
{
	struct futex_word word = word_of(p);

	atomic_add(&steps, 1);
	return futex_wake_key(&word.key, n, FUTEX_BITSET_ALL);
}

/* ---- a mutex of three states: free, held, held and waited for ---- */

static void take(u32 *lock)
{
	u32 was = 0;

	if (atomic_cas(lock, 0, 1))
		return;
	was = atomic_xchg(lock, 2);
	while (was) {
		wait_on(lock, 2, FUTEX_BITSET_ALL, chance(16));
		was = atomic_xchg(lock, 2);
	}
}

static void give(u32 *lock)
{
	if (atomic_xchg(lock, 0) == 2)
		wake(lock, 1);
}

static u32 locks[3], inside[3];
static u64 taken;

static void *play_mutex(void *self)
{
	me = self;
	for (u64 i = 0; i < rounds / THREADS / 4; i++) {
		unsigned n = prng_next(&me->random) % 3;

		take(&locks[n]);
		check(atomic_add(&inside[n], 1) == 1, "a mutex has two owners");
		if (chance(2))
			sched_yield();
		atomic_sub(&inside[n], 1);
		give(&locks[n]);
		atomic_add(&taken, 1);
	}
	return NULL;
}

/* ---- a queue with a condition: signals, and broadcasts that move waiters to the mutex ---- */

static u32 sequence, queue_lock;
static int stock, want; /* [queue_lock] */

static void broadcast(void)
{
	struct futex_word from = word_of(&sequence), to = word_of(&queue_lock);
	u32 seen;

	do {
		atomic_add(&sequence, 1);
		seen = atomic_load(&sequence);
		atomic_add(&steps, 1);
	} while (futex_requeue(&from, &to, 1, 1 << 30, &seen) < 0);
}

/* Who was moved holds the mutex as one that is waited for. */
static void take_contended(u32 *lock)
{
	while (atomic_xchg(lock, 2))
		wait_on(lock, 2, FUTEX_BITSET_ALL, false);
}

static void *play_condition(void *self)
{
	unsigned parity;

	me = self;
	parity = (me->tid - 1) % 2;
	for (u64 i = 0; i < rounds / THREADS / 8; i++) {
		take(&queue_lock);
		if (parity) {
			stock++;
			/* who broadcasts holds the mutex as one that is waited for */
			atomic_store(&queue_lock, 2);
			broadcast();
		} else {
			want++;
			while (!stock) {
				u32 seen = atomic_load(&sequence);

				give(&queue_lock);
				wait_on(&sequence, seen, FUTEX_BITSET_ALL, chance(32));
				take_contended(&queue_lock);
			}
			stock--;
			want--;
		}
		give(&queue_lock);
	}
	return NULL;
}

/* ---- semaphores: wake_op gives to one word and wakes those of two ---- */

static u32 pebbles[2];

static void *play_op(void *self)
{
	static const struct futex_op add = {FUTEX_OP_ADD, FUTEX_CMP_GE, 1, 0};
	struct futex_word a = word_of(&pebbles[0]), b = word_of(&pebbles[1]);

	me = self;
	for (u64 i = 0; i < rounds / THREADS / 8; i++) {
		if (me->tid % 2) {
			atomic_add(&pebbles[0], 1);
			atomic_add(&steps, 1);
			check(futex_wake_op(&a, &b, 1, 1, &add) >= 0, "wake_op fails");
			continue;
		}
		for (unsigned n = 0; n < 2; n++) {
			u32 have = atomic_load(&pebbles[n]);

			while (!have || !atomic_cas(&pebbles[n], have, have - 1)) {
				if (!have)
					wait_on(&pebbles[n], 0, 1u << prng_next(&me->random) % 32,
					    false);
				have = atomic_load(&pebbles[n]);
			}
		}
	}
	return NULL;
}

/* ---- PI locks, whose owners may end with them ---- */

static u32 pi_locks[2], pi_inside[2];
static u64 deaths;

static int take_pi(u32 *lock, bool impatient)
{
	struct futex_waiter w = {.task = me};
	struct futex_word word = word_of(lock);
	enum futex_state state = FUTEX_AWAY;
	int ret;

	if (atomic_cas(lock, 0, me->tid))
		return 0;
	do {
		atomic_add(&steps, 1);
		ret = futex_lock_pi(&w, &word, me->tid, false, state == FUTEX_TRY_AGAIN);
		if (ret)
			return ret < 0 ? ret : 0;
		state = sleep_on(&w, impatient);
	} while (state == FUTEX_TRY_AGAIN);
	return state == FUTEX_WOKEN ? 0 : -ETIMEDOUT;
}

static void give_pi(u32 *lock)
{
	struct futex_word word = word_of(lock);

	atomic_add(&steps, 1);
	if (!atomic_cas(lock, me->tid, 0))
		check(futex_unlock_pi(&word, me->tid) == 0, "a PI lock cannot be unlocked");
}

/* As the end of a thread with a robust list; then another begins, with the same number. */
static void die_holding(u32 *lock)
{
	u32 value = atomic_load(lock);

	while (!atomic_cas(lock, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED))
		value = atomic_load(lock);
	atomic_store(&me->dead, true);
	sched_yield(); /* somebody may look just now */
	futex_owner_died(me->tid);
	atomic_store(&me->dead, false);
	atomic_add(&deaths, 1);
}

static void *play_pi(void *self)
{
	me = self;
	for (u64 i = 0; i < rounds / THREADS / 4; i++) {
		unsigned n = prng_next(&me->random) % 2;
		int err = take_pi(&pi_locks[n], chance(8));

		check(!err || err == -ETIMEDOUT, "a PI lock cannot be taken");
		if (err)
			continue;
		check((atomic_load(&pi_locks[n]) & FUTEX_TID_MASK) == me->tid,
		    "a PI lock names another owner");
		check(atomic_add(&pi_inside[n], 1) == 1, "a PI lock has two owners");
		if (chance(2))
			sched_yield();
		atomic_sub(&pi_inside[n], 1);
		if (chance(256))
			die_holding(&pi_locks[n]);
		else
			give_pi(&pi_locks[n]);
	}
	return NULL;
}

/* ---- the cases ---- */

static void play(const char *name, void *(*fn)(void *), u32 *words, unsigned n)
{
	unsigned before = failures;
	u64 first = steps;

	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].tid = i + 1;
		threads[i].random = seed + 7919 * (i + 1);
		sem_init(&threads[i].woken, 0, 0);
		pthread_create(&threads[i].thread, NULL, fn, &threads[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	me = &threads[0];
	for (unsigned i = 0; i < n; i++)
		check(wake(&words[i], 1 << 30) == 0, "a waiter stayed behind");
	printf("%s - futexes.%s (%lu calls)\n", failures == before ? "ok" : "not ok", name,
	    (unsigned long)(steps - first));
}

int main(int argc, char **argv)
{
	struct timespec now;
	unsigned cases = 4;

	clock_gettime(CLOCK_REALTIME, &now);
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (u64)now.tv_nsec;
	printf("# seed %lu, %lu rounds\n", (unsigned long)seed, (unsigned long)rounds);
	setvbuf(stdout, NULL, _IOLBF, 0);
	futex_init();
	play("mutex", play_mutex, locks, 3);
	play("condition", play_condition, &sequence, 1);
	play("wake_op", play_op, pebbles, 2);
	play("pi", play_pi, pi_locks, 2);
	check(taken == rounds / THREADS / 4 * THREADS, "not all rounds were played");
	check(deaths || rounds < 10000, "nobody died with a lock");
	printf("%u passed, %u failed\n", failures ? cases - 1 : cases, failures ? 1 : 0);
	return failures != 0;
}
