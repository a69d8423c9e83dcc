/*
 * The core of futexes (kernel/process/futex_queue.c), one thread after the other: what is locked
 * when a word is looked at, in which order two buckets are, who is woken, and what stays behind.
 * Something may happen right before a lock is taken or a word is exchanged. tests/host/futex has
 * the same with threads.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/process/futex_queue.h"

#define WAITERS 6U
#define WORDS	64U

static u32 words[WORDS];
static struct futex_waiter waiters[WAITERS];

/* What the core did. */
static struct futex_lock *held[2], *last_locked;
static unsigned holding, locks, roused;
static u32 dead, gone_address; /* the number of a thread; a word that is not there, from 1 on */
static void (*meanwhile)(void);

static struct futex_word word_of(unsigned i)
{
	return (struct futex_word){{&words, (u64)&words[i]}, (u64)&words[i]};
}

static void let_happen(void)
{
	void (*fn)(void) = meanwhile;

	meanwhile = NULL;
	if (fn)
		fn();
}

/* ---- what the core needs ---- */

u64 futex_lock(struct futex_lock *l)
{
	if (!holding)
		let_happen();
	EXPECT(holding < 2);
	EXPECT(!holding || (u64)held[0] < (u64)l); /* or two threads wait for each other */
	held[holding++] = l;
	last_locked = l;
	locks++;
	return 1;
}

void futex_unlock(struct futex_lock *l, u64 flags)
{
	EXPECT(holding && held[holding - 1] == l);
	EXPECT_EQ(flags, holding == 1);
	holding--;
}

int futex_load(u64 uaddr, u32 *value)
{
	EXPECT(holding);
	if (gone_address && uaddr == (u64)&words[gone_address - 1])
		return -EFAULT;
	*value = *(u32 *)uaddr;
	return 0;
}

int futex_exchange(u64 uaddr, u32 *old, u32 new)
{
	u32 want = *old;

	EXPECT(holding);
	let_happen();
	if (gone_address && uaddr == (u64)&words[gone_address - 1])
		return -EFAULT;
	*old = *(u32 *)uaddr;
	if (*old == want)
		*(u32 *)uaddr = new;
	return 0;
}

void futex_rouse(void *task)
{
	EXPECT(holding);
	EXPECT(((struct futex_waiter *)task)->state != FUTEX_QUEUED);
	roused++;
}

bool futex_owner_lives(u32 tid)
{
	return tid != dead;
}

/* ---- steps ---- */

static void begin(void)
{
	futex_init();
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 0;
	for (unsigned i = 0; i < WAITERS; i++)
		waiters[i] = (struct futex_waiter){.task = &waiters[i]};
	locks = roused = dead = gone_address = 0;
	meanwhile = NULL;
}

static int wait_for(unsigned waiter, unsigned word, u32 bitset)
{
	struct futex_word w = word_of(word);

	return futex_enqueue(&waiters[waiter], &w, 0, bitset);
}

static int wake(unsigned word, int n, u32 bitset)
{
	struct futex_word w = word_of(word);

	return futex_wake_key(&w.key, n, bitset);
}

static int requeue(unsigned from, unsigned to, int n, int move)
{
	struct futex_word a = word_of(from), b = word_of(to);

	return futex_requeue(&a, &b, n, move, &(u32){0});
}

static int lock_pi(unsigned waiter, unsigned word, bool try, bool heir)
{
	struct futex_word w = word_of(word);

	return futex_lock_pi(&waiters[waiter], &w, waiter + 1, try, heir);
}

static int unlock_pi(unsigned waiter, unsigned word)
{
	struct futex_word w = word_of(word);

	return futex_unlock_pi(&w, waiter + 1);
}

/* A letter for each waiter: away, queued, woken, or to try again. */
static void expect_states(const char *states)
{
	for (unsigned i = 0; i < WAITERS && states[i]; i++)
		if ("aqwt"[waiters[i].state] != states[i])
			ktap_fail(__FILE__, __LINE__, "waiter %u is %c, not %c", i,
			    "aqwt"[waiters[i].state], states[i]);
	EXPECT_EQ(holding, 0);
}

/* ---- the cases ---- */

static void waits_and_wakes(void)
{
	begin();
	for (unsigned i = 0; i < 5; i++)
		EXPECT_EQ(wait_for(i, i == 1, 1u << i), 0);
	expect_states("qqqqqa");
	EXPECT_EQ(wake(0, 1, FUTEX_BITSET_ALL), 1);
	expect_states("wqqqqa");
	EXPECT_EQ(wake(0, 9, 1u << 3), 1);
	expect_states("wqqwqa");
	EXPECT_EQ(wake(0, 9, 1u << 3 | 1u << 1), 0);
	EXPECT_EQ(wake(0, 2, FUTEX_BITSET_ALL), 2);
	expect_states("wqwwwa");
	EXPECT_EQ(wake(0, 2, FUTEX_BITSET_ALL), 0);
	EXPECT_EQ(roused, 4);
	EXPECT_EQ(futex_leave(&waiters[1]), FUTEX_QUEUED);
	EXPECT_EQ(futex_leave(&waiters[0]), FUTEX_WOKEN);
	EXPECT_EQ(wake(1, 1, FUTEX_BITSET_ALL), 0);
}

static void no_wait(void)
{
	struct futex_word other = word_of(1), w = word_of(0);
	u32 one = 1;

	begin();
	words[0] = 1;
	EXPECT_EQ(wait_for(0, 0, FUTEX_BITSET_ALL), -EAGAIN);
	EXPECT_EQ(requeue(0, 1, 1, 1), -EAGAIN);
	gone_address = 1;
	EXPECT_EQ(wait_for(0, 0, FUTEX_BITSET_ALL), -EFAULT);
	EXPECT_EQ(requeue(0, 1, 1, 1), -EFAULT);
	EXPECT_EQ(futex_requeue(&w, &other, 1, 1, NULL), 0); /* it is not looked at */
	EXPECT_EQ(futex_wake_op(&other, &w, 1, 1, &(struct futex_op){.oparg = 5}), -EFAULT);
	EXPECT_EQ(lock_pi(0, 0, false, false), -EFAULT);
	EXPECT_EQ(unlock_pi(0, 0), -EFAULT);
	gone_address = 0;
	EXPECT_EQ(futex_requeue(&w, &other, 1, 1, &one), 0);
	EXPECT_EQ(words[0], 1);
	expect_states("aaaaaa");
	EXPECT_EQ(wake(0, 9, FUTEX_BITSET_ALL) + wake(1, 9, FUTEX_BITSET_ALL), 0);
}

/* Both ways, so that one of them has the higher bucket first; and within a bucket. */
static void moves(void)
{
	for (unsigned to = 1; to < WORDS; to++) {
		begin();
		for (unsigned i = 0; i < 4; i++)
			EXPECT_EQ(wait_for(i, 0, FUTEX_BITSET_ALL), 0);
		EXPECT_EQ(wait_for(4, to, FUTEX_BITSET_ALL), 0);
		EXPECT_EQ(requeue(0, to, 1, 2), 3);
		expect_states("wqqqqa");
		EXPECT_EQ(wake(0, 9, FUTEX_BITSET_ALL), 1);
		expect_states("wqqwqa");
		EXPECT_EQ(requeue(to, 0, 0, 2), 2);
		EXPECT_EQ(wake(to, 9, FUTEX_BITSET_ALL), 1);
		expect_states("wqwwqa"); /* the one that waited there first went first */
		EXPECT_EQ(futex_leave(&waiters[1]), FUTEX_QUEUED);
		EXPECT_EQ(wake(0, 9, FUTEX_BITSET_ALL), 1);
		expect_states("wawwwa");
		EXPECT_EQ(wait_for(1, 0, FUTEX_BITSET_ALL), 0);
		EXPECT_EQ(requeue(0, 0, 0, 1), 1);
		EXPECT_EQ(requeue(0, to, 0, 0), 0);
		EXPECT_EQ(wake(0, 9, FUTEX_BITSET_ALL), 1);
		EXPECT_EQ(wait_for(1, 0, FUTEX_BITSET_ALL), 0);
		EXPECT_EQ(requeue(0, to, 0, 1), 1);
		EXPECT_EQ(wake(to, 9, 0), 0);
		struct futex_lock *of_its_word = last_locked;
		EXPECT_EQ(futex_leave(&waiters[1]), FUTEX_QUEUED);
		EXPECT(last_locked == of_its_word);
	}
}

static void move_all(void)
{
	for (unsigned to = 1; to < WORDS; to++) {
		requeue(to - 1, to, 0, 9);
		EXPECT_EQ(holding, 0);
	}
}

/* Somebody moves it to another word after it has read which bucket it is in. */
static void leaves_while_moved(void)
{
	begin();
	EXPECT_EQ(wait_for(0, 0, FUTEX_BITSET_ALL), 0);
	EXPECT_EQ(wait_for(1, 0, FUTEX_BITSET_ALL), 0);
	meanwhile = move_all;
	EXPECT_EQ(futex_leave(&waiters[0]), FUTEX_QUEUED);
	expect_states("aq");
	EXPECT_EQ(wake(WORDS - 1, 9, FUTEX_BITSET_ALL), 1);
	EXPECT_EQ(roused, 1);
}

static void change_word(void)
{
	words[1] = 7;
}

/* Not when the buckets are locked: then the word is read first. */
static void change_word_at_exchange(void)
{
	meanwhile = change_word;
}

static void operations(void)
{
	static const struct {
		struct futex_op op;
		u32 before, after;
		bool both;
	} rows[] = {
	    {{FUTEX_OP_SET, FUTEX_CMP_EQ, 5, 3}, 3, 5, true},
	    {{FUTEX_OP_ADD, FUTEX_CMP_NE, 5, 3}, 3, 8, false},
	    {{FUTEX_OP_OR, FUTEX_CMP_LT, 4, 3}, 3, 7, false},
	    {{FUTEX_OP_OR, FUTEX_CMP_LT, 4, 0}, -1U, -1U, true},
	    {{FUTEX_OP_ANDN, FUTEX_CMP_LE, 1, 3}, 3, 2, true},
	    {{FUTEX_OP_XOR, FUTEX_CMP_GT, 6, 3}, 3, 5, false},
	    {{FUTEX_OP_XOR, FUTEX_CMP_GE, 6, 3}, 3, 5, true},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct futex_word one = word_of(i % 2 ? 2 : 0), two = word_of(1);

		begin();
		words[1] = rows[i].before;
		for (unsigned w = 0; w < 4; w++)
			EXPECT_EQ(futex_enqueue(&waiters[w], w < 2 ? &one : &two,
				      w < 2 ? 0 : rows[i].before, FUTEX_BITSET_ALL),
			    0);
		EXPECT_EQ(futex_wake_op(&one, &two, 1, 1, &rows[i].op), 1 + rows[i].both);
		EXPECT_EQ(words[1], rows[i].after);
		expect_states(rows[i].both ? "wqwq" : "wqqq");
	}
}

/* What is compared is what was exchanged. */
static void operation_on_a_word_that_changes(void)
{
	static const struct futex_op add = {FUTEX_OP_ADD, FUTEX_CMP_EQ, 5, 7};
	struct futex_word one = word_of(0), two = word_of(1);

	begin();
	EXPECT_EQ(wait_for(0, 1, FUTEX_BITSET_ALL), 0);
	meanwhile = change_word_at_exchange;
	EXPECT_EQ(futex_wake_op(&one, &two, 1, 1, &add), 1);
	EXPECT_EQ(words[1], 12);
	expect_states("w");
}

/* A word that a PI lock has waiters for is no plain word, and the reverse. */
static void kinds_of_waiters(void)
{
	static const struct futex_op nothing = {FUTEX_OP_ADD, FUTEX_CMP_NE, 0, 0};
	struct futex_word pi = word_of(0), plain = word_of(1);

	begin();
	EXPECT_EQ(lock_pi(5, 0, false, false), 1);
	EXPECT_EQ(lock_pi(0, 0, false, false), 0);
	EXPECT_EQ(futex_wake_op(&pi, &plain, 1, 1, &nothing), -EINVAL);
	EXPECT_EQ(futex_wake_op(&plain, &pi, 1, 1, &nothing), -EINVAL);
	EXPECT_EQ(futex_requeue(&pi, &plain, 1, 1, NULL), -EINVAL);
	EXPECT_EQ(wake(0, 1, FUTEX_BITSET_ALL), -EINVAL);
	expect_states("q");
	EXPECT_EQ(unlock_pi(5, 0), 0);
	EXPECT_EQ(unlock_pi(0, 0), 0);
}

/* What a thread that ends has to lock: nothing if nobody waits. */
static unsigned locks_of_a_death(unsigned tid)
{
	unsigned before = locks;

	futex_owner_died(tid);
	return locks - before;
}

static void pi_locks(void)
{
	begin();
	EXPECT_EQ(lock_pi(0, 0, false, false), 1);
	EXPECT_EQ(words[0], 1);
	EXPECT_EQ(lock_pi(0, 0, false, false), -EDEADLK);
	EXPECT_EQ(lock_pi(1, 0, true, false), -EAGAIN);
	EXPECT_EQ(locks_of_a_death(9), 0);
	EXPECT_EQ(lock_pi(1, 0, false, false), 0);
	EXPECT_EQ(lock_pi(2, 0, false, false), 0);
	EXPECT_EQ(words[0], 1 | FUTEX_WAITERS);
	EXPECT(locks_of_a_death(9));
	expect_states("aqq");
	EXPECT_EQ(unlock_pi(1, 0), -EPERM);
	EXPECT_EQ(unlock_pi(0, 0), 0);
	expect_states("awq");
	EXPECT_EQ(words[0], 2 | FUTEX_WAITERS);
	EXPECT_EQ(futex_leave(&waiters[2]), FUTEX_QUEUED);
	EXPECT_EQ(unlock_pi(1, 0), 0);
	EXPECT_EQ(words[0], 0);
	EXPECT_EQ(locks_of_a_death(9), 0);
	EXPECT_EQ(wait_for(0, 0, FUTEX_BITSET_ALL), 0);
	words[0] = 5;
	EXPECT_EQ(lock_pi(1, 0, false, false), -EINVAL);
	EXPECT_EQ(unlock_pi(4, 0), -EINVAL);
	EXPECT_EQ(wake(0, 1, FUTEX_BITSET_ALL), 1);
	EXPECT_EQ(locks_of_a_death(9), 0);
}

static void owner_lets_go(void)
{
	words[0] = 0;
}

static void somebody_queues(void)
{
	words[0] |= FUTEX_WAITERS;
}

/* The word changes between each look at it and its exchange. */
static void pi_words_that_change(void)
{
	begin();
	words[0] = 1;
	meanwhile = owner_lets_go;
	EXPECT_EQ(lock_pi(1, 0, false, false), 1);
	EXPECT_EQ(words[0], 2);
	meanwhile = somebody_queues;
	EXPECT_EQ(unlock_pi(1, 0), 0);
	EXPECT_EQ(words[0], 0);
	meanwhile = somebody_queues;
	EXPECT_EQ(lock_pi(2, 0, false, false), 1);
	EXPECT_EQ(words[0], 3);
	EXPECT_EQ(unlock_pi(2, 0), 0);
	EXPECT_EQ(locks_of_a_death(9), 0);
}

/* Heirs: who takes a lock of a dead thread is told so, and so are those that wait on. */
static void pi_owner_dies(void)
{
	begin();
	words[0] = 9;
	EXPECT_EQ(lock_pi(0, 0, false, false), 0);
	EXPECT_EQ(lock_pi(1, 0, false, false), 0);
	EXPECT_EQ(lock_pi(2, 1, false, false), 1);
	EXPECT_EQ(lock_pi(3, 1, false, false), 0);
	dead = 9;
	EXPECT_EQ(lock_pi(4, 0, false, false), -ESRCH);
	futex_owner_died(9);
	expect_states("ttaqa");
	EXPECT_EQ(lock_pi(1, 0, false, true), 1);
	EXPECT_EQ(words[0], 2 | FUTEX_OWNER_DIED);
	EXPECT_EQ(lock_pi(0, 0, false, true), 0);
	EXPECT_EQ(words[0], 2 | FUTEX_OWNER_DIED | FUTEX_WAITERS);
	EXPECT_EQ(unlock_pi(1, 0), 0);
	EXPECT_EQ(words[0], 1 | FUTEX_WAITERS);
	EXPECT_EQ(unlock_pi(0, 0), 0);
	words[0] = FUTEX_OWNER_DIED | FUTEX_WAITERS; /* its robust list has done that */
	EXPECT_EQ(lock_pi(0, 0, true, false), 1);
	EXPECT_EQ(words[0], 1 | FUTEX_OWNER_DIED);
	EXPECT_EQ(unlock_pi(0, 0), 0);
	EXPECT_EQ(unlock_pi(2, 1), 0);
	EXPECT_EQ(unlock_pi(3, 1), 0);
	EXPECT_EQ(locks_of_a_death(9), 0);
}

/* Who takes a lock that others wait for says so in the word, and is the one they wait for. */
static void pi_taken_before_the_waiters(void)
{
	begin();
	words[0] = 9;
	EXPECT_EQ(lock_pi(0, 0, false, false), 0);
	words[0] = FUTEX_WAITERS;
	EXPECT_EQ(lock_pi(1, 0, true, false), 1);
	EXPECT_EQ(words[0], 2 | FUTEX_WAITERS);
	dead = 2;
	futex_owner_died(9);
	expect_states("q");
	futex_owner_died(2);
	expect_states("t");
	EXPECT_EQ(lock_pi(0, 0, false, true), 1);
	EXPECT_EQ(words[0], 1 | FUTEX_OWNER_DIED);
	EXPECT_EQ(unlock_pi(0, 0), 0);
}

static const struct ktap_case cases[] = {
    {"futex.waits_and_wakes", waits_and_wakes},
    {"futex.no_wait", no_wait},
    {"futex.moves", moves},
    {"futex.leaves_while_moved", leaves_while_moved},
    {"futex.operations", operations},
    {"futex.operation_on_a_word_that_changes", operation_on_a_word_that_changes},
    {"futex.kinds_of_waiters", kinds_of_waiters},
    {"futex.pi_locks", pi_locks},
    {"futex.pi_words_that_change", pi_words_that_change},
    {"futex.pi_owner_dies", pi_owner_dies},
    {"futex.pi_taken_before_the_waiters", pi_taken_before_the_waiters},
    {NULL, NULL},
};
const struct ktap_suite suite_futex_core = {cases};
