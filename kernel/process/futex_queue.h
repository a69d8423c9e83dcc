/*
 * The core of futexes: the waiters of each word, and the owners of PI locks. It knows no tasks and
 * no page tables, and the same code runs on the host (tests/host/futex). tests/spin/futex.pml is
 * its model: change a step in both.
 *
 * Words. A *key* names a word: an address of an address space, or of physical memory that several
 * share. A *waiter* is queued in the *bucket* of its key. Every operation on the key holds the lock
 * of the bucket, also while it reads or changes the word. So no wake-up is lost between reading the
 * word and queueing the waiter: a thread that changes the word and then wakes finds the waiter, or
 * the waiter finds the word changed.
 *
 * The caller owns its waiter and calls futex_leave() before freeing it: a waker holds the bucket's
 * lock while it accesses the waiter.
 */
#pragma once

#include "kernel/lib/list.h"
#include "kernel/lib/types.h"

enum {
	FUTEX_WAITERS = 0x80000000u, /* in the word of a PI or robust lock: it has waiters */
	FUTEX_OWNER_DIED = 0x40000000u,
	FUTEX_TID_MASK = 0x3fffffffu,
};
#define FUTEX_BITSET_ALL 0xffffffffu

struct futex_key {
	const void *space; /* NULL: physical */
	u64 addr;
};

enum futex_state { FUTEX_AWAY, FUTEX_QUEUED, FUTEX_WOKEN, FUTEX_TRY_AGAIN };

struct futex_waiter {
	struct list_head node;
	struct futex_key key;
	struct futex_bucket *bucket; /* changed under the locks of both, by a requeue */
	void *task;		     /* for futex_rouse() */
	enum futex_state state;	     /* [A] written under the bucket's lock */
	u32 bitset;
	u32 tid, owner; /* for a PI lock: the waiting thread and the owner; 0: a plain waiter */
};

/* The word of a key is at uaddr in the memory of the caller. */
struct futex_word {
	struct futex_key key;
	u64 uaddr;
};

/* How FUTEX_WAKE_OP changes its word, and with what it compares the old value. */
struct futex_op {
	u32 op, cmp; /* enum */
	u32 oparg, cmparg;
};
enum { FUTEX_OP_SET, FUTEX_OP_ADD, FUTEX_OP_OR, FUTEX_OP_ANDN, FUTEX_OP_XOR };
enum { FUTEX_CMP_EQ, FUTEX_CMP_NE, FUTEX_CMP_LT, FUTEX_CMP_LE, FUTEX_CMP_GT, FUTEX_CMP_GE };

void futex_init(void);
/*
 * Queues the waiter if the word holds val: 0, -EAGAIN if it does not, -EFAULT if its page is
 * missing. After 0 the caller sleeps until w->state is no longer FUTEX_QUEUED, or gives up.
 */
int futex_enqueue(struct futex_waiter *w, const struct futex_word *word, u32 val, u32 bitset);
/* Takes the waiter out of its queue, and returns the state it had. */
enum futex_state futex_leave(struct futex_waiter *w);
/* Wakes up to n (at least one), longest waiter first. How many; -EINVAL for a PI lock's key. */
int futex_wake_key(const struct futex_key *key, int n, u32 bitset);
/*
 * Wakes up to `wake` waiters of one key, and moves up to `move` others to another. -EAGAIN unless
 * the first word holds *val; NULL: any value. Returns the sum of both, -EFAULT, -EINVAL.
 */
int futex_requeue(
    const struct futex_word *from, const struct futex_word *to, int wake, int move, const u32 *val);
/* Changes the second word, wakes n1 of the first, and n2 of the second if its old value says so. */
int futex_wake_op(const struct futex_word *one, const struct futex_word *two, int n1, int n2,
    const struct futex_op *op);
/*
 * Takes a PI lock for `tid`. 1: taken; 0: queued; -EAGAIN: `try`, and the lock is held; -EDEADLK;
 * -ESRCH: no thread has the owner's tid; -EFAULT, -EINVAL. On FUTEX_WOKEN the waiter owns the lock;
 * on FUTEX_TRY_AGAIN the owner has died, and the waiter calls again with `heir`.
 */
int futex_lock_pi(
    struct futex_waiter *w, const struct futex_word *word, u32 tid, bool try, bool heir);
/* Gives the lock to the longest waiter, or frees it: 0, -EPERM, -EFAULT, -EINVAL. */
int futex_unlock_pi(const struct futex_word *word, u32 tid);
/* The thread has ended: the waiters for PI locks it owned try again. */
void futex_owner_died(u32 tid);

/* ---- The host of the core provides these. Called with a bucket locked: they do not sleep. ---- */

struct futex_lock {
	u32 word[2];
};
u64 futex_lock(struct futex_lock *l); /* returns the flags for futex_unlock() */
void futex_unlock(struct futex_lock *l, u64 flags);
int futex_load(u64 uaddr, u32 *value); /* 0, -EFAULT */
/* Compare and exchange: 0, and *old is the value found, equal or not; -EFAULT. */
int futex_exchange(u64 uaddr, u32 *old, u32 new);
void futex_rouse(void *task);
bool futex_owner_lives(u32 tid);
