/*
 * The core of futexes: who waits for which word, who is woken, who owns a PI lock. It knows no
 * tasks and no page tables, and the same code runs on the host (tests/host/futex).
 * tests/spin/futex.pml is its model: who changes a step here changes it there.
 *
 * Words. A *key* says which word is meant: an address of an address space, or of physical memory
 * that several share. A *waiter* stands in the *bucket* of its key; what is done to a key is done
 * under the lock of its bucket, and the word is read or changed under it too. So a wake-up cannot
 * come between a waiter's look at the word and its place in the queue: whoever changes the word and
 * then wakes finds the waiter, or the waiter finds the word changed.
 *
 * A waiter belongs to its caller, which calls futex_leave() before it lets go of it: whoever wakes
 * it holds the bucket's lock while it looks at it.
 */
#pragma once

#include "kernel/lib/list.h"
#include "kernel/lib/types.h"

enum {
	FUTEX_WAITERS = 0x80000000u, /* in the word of a PI or robust lock: somebody waits */
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
	void *task;		     /* who sleeps */
	enum futex_state state;	     /* [A] written under the bucket's lock */
	u32 bitset;
	u32 tid, owner; /* of a PI lock: who waits, for whom; 0: a plain waiter */
};

/* The word of a key is at uaddr in the memory of the caller. */
struct futex_word {
	struct futex_key key;
	u64 uaddr;
};

/* What wake_op does to its word, and what the old value is compared with. */
struct futex_op {
	u32 op, cmp; /* enum */
	u32 oparg, cmparg;
};
enum { FUTEX_OP_SET, FUTEX_OP_ADD, FUTEX_OP_OR, FUTEX_OP_ANDN, FUTEX_OP_XOR };
enum { FUTEX_CMP_EQ, FUTEX_CMP_NE, FUTEX_CMP_LT, FUTEX_CMP_LE, FUTEX_CMP_GT, FUTEX_CMP_GE };

void futex_init(void);
/*
 * Queues the waiter if the word holds val: 0, -EAGAIN if it does not, -EFAULT: the word is not
 * there. Then the caller sleeps until w->state is not FUTEX_QUEUED any more, or it gives up.
 */
int futex_enqueue(struct futex_waiter *w, const struct futex_word *word, u32 val, u32 bitset);
/* The waiter waits no more; what had become of it. */
enum futex_state futex_leave(struct futex_waiter *w);
/* Wakes up to n (at least one), longest waiter first: how many; -EINVAL: it is a PI lock's. */
int futex_wake_key(const struct futex_key *key, int n, u32 bitset);
/*
 * Wakes up to `wake` of one key and moves up to `move` others to another. *val: the first word must
 * hold it, else -EAGAIN; NULL: whatever it holds. Returns both numbers' sum, -EFAULT, -EINVAL.
 */
int futex_requeue(
    const struct futex_word *from, const struct futex_word *to, int wake, int move, const u32 *val);
/* Changes the second word, wakes n1 of the first, and n2 of the second if its old value says so. */
int futex_wake_op(const struct futex_word *one, const struct futex_word *two, int n1, int n2,
    const struct futex_op *op);
/*
 * Takes a PI lock for `tid`: 1: it has it; 0: queued; -EAGAIN: held, and `try`; -EDEADLK; -ESRCH:
 * the owner is no thread; -EFAULT, -EINVAL. After FUTEX_WOKEN the waiter owns the lock, after
 * FUTEX_TRY_AGAIN it calls again with `heir`: the owner has died.
 */
int futex_lock_pi(
    struct futex_waiter *w, const struct futex_word *word, u32 tid, bool try, bool heir);
/* Gives the lock to who has waited longest, or frees it: 0, -EPERM, -EFAULT, -EINVAL. */
int futex_unlock_pi(const struct futex_word *word, u32 tid);
/* The thread is no more: those that wait for PI locks of its try again. */
void futex_owner_died(u32 tid);

/* ---- What the core needs. Called with a bucket locked: nothing of it sleeps. ---- */

struct futex_lock {
	u32 word[2];
};
u64 futex_lock(struct futex_lock *l); /* what futex_unlock() wants back */
void futex_unlock(struct futex_lock *l, u64 flags);
int futex_load(u64 uaddr, u32 *value); /* 0, -EFAULT */
/* Puts `new` where *old is: 0 with *old what was there, equal or not; -EFAULT. */
int futex_exchange(u64 uaddr, u32 *old, u32 new);
void futex_rouse(void *task);
bool futex_owner_lives(u32 tid);
