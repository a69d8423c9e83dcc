/*
 * Futexes, for Spin: the steps of kernel/process/futex_queue.c and of the sleep and the exit in kernel/process/futex.c, by the
 * names of their functions. Three threads run at once, each step of theirs that others can see between any two of the others'.
 * tests/drive/spin-check says which runs there are; the environment chooses:
 *
 *   SCENE   1: a mutex of the kind C libraries make of futex_wait() and futex_wake()
 *           2: a condition: two wait, the third moves one of them to another word, then wakes that
 *           3: a PI lock; its owner may end without giving it up
 *   GIVE_UP 0, 1: a sleeper may give up waiting (a timeout, a signal) and then tries again
 *   ROBUST  0, 1: a thread that ends has the lock in its robust list
 *   MUTANT  0: none; else the step that is done wrong, see tests/drive/spin-check
 *
 * What is done under a bucket's lock and seen by lock holders alone is one step with its neighbours. Seen without the lock:
 * the words, which programs change, the state and the bucket of a waiter, the count of PI users, and who lives.
 *
 * Wrong is: two threads that have the lock; a thread that sleeps for ever (an invalid end state); a waiter or a count that is
 * left when all have ended; an error that the scene gives no reason for.
 */
#define THREADS 3
#define NOBODY	THREADS

byte scene, give_up, robust, mutant;
#define MUT(k) (mutant == k)

/* ---- Words: 0 is free, else the owner's number + 1, with two marks ---- */

#define TID(t)	  (t + 1)
#define TID_OF(v) ((v) % 8)
#define WAITERS	  8
#define DIED	  16
#define HAS_WAITERS(v) (((v) / WAITERS) % 2)
#define HAS_DIED(v)    (((v) / DIED) % 2)

byte word[2];

/* ---- Buckets: one for each word ---- */

typedef bucket_t {
	bool locked;
	byte n;
	byte q[THREADS];	/* longest waiter first */
}
bucket_t bucket[2];

mtype = { AWAY, QUEUED, WOKEN, AGAIN };
typedef waiter_t {
	mtype state;
	byte at;		/* its bucket */
	byte owner;		/* of a PI lock: the owner's number + 1; 0: a plain waiter */
}
waiter_t w[THREADS];

bool asleep[THREADS];		/* the task's state: set before it looks a last time, cleared by who wakes it */
bool locks_gone[THREADS];	/* TASK_LOCKS_GONE */
byte pi_users;

/* What a spectator knows. */
byte g_inside, g_ended;

#define LOCK(b)	  atomic { !bucket[b].locked -> bucket[b].locked = true }
#define UNLOCK(b) bucket[b].locked = false

/* ---- Under the lock ---- */

inline put(t, b)
{
	d_step {
		bucket[b].q[bucket[b].n] = t;
		bucket[b].n++
	}
}

inline take(t, b)
{
	d_step {
		k = 0;
		do
		:: k < bucket[b].n && bucket[b].q[k] != t -> k++
		:: else -> break
		od;
		assert(k < bucket[b].n);
		do
		:: k + 1 < bucket[b].n -> bucket[b].q[k] = bucket[b].q[k + 1]; k++
		:: else -> break
		od;
		bucket[b].n--;
		bucket[b].q[bucket[b].n] = 0;
		k = 0
	}
}

/* futex_add() */
inline add(t, b)
{
	w[t].at = b;
	put(t, b);
	w[t].state = QUEUED
}

/* futex_remove() */
inline remove(t, b, to)
{
	take(t, b);
	if
	:: w[t].owner && !MUT(9) -> pi_users--
	:: else
	fi;
	w[t].state = to
}

/* futex_release() */
inline release(t, b, to)
{
	if
	:: MUT(1) ->			/* the task is woken before it can see that it was */
		asleep[t] = false;
		remove(t, b, to)
	:: else ->
		remove(t, b, to);
		asleep[t] = false
	fi
}

/* ---- Sleeping: futex_sleep() and futex_leave() ---- */

inline leave(t)
{
	do
	:: b = w[t].at;
		LOCK(b);
		moved = (b != w[t].at && !MUT(2));
		got = w[t].state;
		if
		:: !moved && got == QUEUED -> remove(t, w[t].at, AWAY)
		:: else
		fi;
		UNLOCK(b);
		if
		:: !moved -> break
		:: else
		fi
	od;
	b = 0;
	moved = false
}

inline sleep(t)
{
	do
	:: if
		:: MUT(3) ->		/* looks first, and says then that it sleeps */
			if
			:: w[t].state != QUEUED -> break
			:: else
			fi;
			asleep[t] = true
		:: else ->
			asleep[t] = true;
			if
			:: w[t].state != QUEUED -> break
			:: else
			fi
		fi;
		if
		:: !asleep[t]		/* schedule() */
		:: give_up -> break
		fi
	od;
	asleep[t] = false;
	leave(t)
}

/* ---- Waiting and waking ---- */

/* got: AWAY: the word was another. */
inline wait(t, i, value)
{
	if
	:: MUT(4) ->			/* looks at the word before it has the lock */
		v = word[i];
		LOCK(i)
	:: else ->
		LOCK(i);
		v = word[i]
	fi;
	w[t].owner = 0;
	if
	:: v == value -> add(t, i); UNLOCK(i); sleep(t)
	:: else -> UNLOCK(i); got = AWAY
	fi;
	v = 0
}

/* futex_wake_in(), of all that are there or of the first. */
inline wake(i, all)
{
	LOCK(i);
	do
	:: bucket[i].n ->
		o = bucket[i].q[0];
		release(o, i, WOKEN);
		if
		:: all
		:: else -> break
		fi
	:: else -> break
	od;
	UNLOCK(i);
	o = 0
}

/* futex_requeue() with the value of the first word: the first is woken, the second moved. */
inline requeue(value)
{
	LOCK(0);
	LOCK(1);
	v = word[0];
	if
	:: v == value && bucket[0].n ->
		o = bucket[0].q[0];
		release(o, 0, WOKEN);
		if
		:: bucket[0].n ->
			o = bucket[0].q[0];
			take(o, 0);
			if
			:: MUT(6) -> put(o, 1)	/* the waiter is not told */
			:: else ->
				put(o, 1);
				w[o].at = 1
			fi
		:: else
		fi
	:: else
	fi;
	UNLOCK(1);
	UNLOCK(0);
	v = 0;
	o = 0
}

/* ---- PI locks; all of word 0 ---- */

/* futex_set_owner() */
inline set_owner(tid)
{
	d_step {
		k = 0;
		do
		:: k < bucket[0].n ->
			if
			:: w[bucket[0].q[k]].owner -> w[bucket[0].q[k]].owner = tid
			:: else
			fi;
			k++
		:: else -> break
		od;
		k = 0
	}
}

/* The compare and exchange of a word, one step: ok says whether it was done; if not, v is what was there. */
inline exchange(old, new)
{
	atomic {
		ok = (word[0] == old);
		if
		:: ok -> word[0] = new
		:: else -> v = word[0]
		fi
	}
}

/* futex_lock_pi(), futex_look_again(): `have`, or queued, or `lost`: the owner lives no more, and nobody has said so in the word. */
inline lock_pi(t, heir)
{
	have = false;
	lost = false;
	if
	:: MUT(7)
	:: else -> pi_users++
	fi;
	LOCK(0);
	v = word[0];
	assert(TID_OF(v) != TID(t));	/* EDEADLK */
	do
	:: !TID_OF(v) || (heir && locks_gone[TID_OF(v) - 1]) ->
		x = TID(t) + DIED * (HAS_DIED(v) || TID_OF(v)) + WAITERS * (bucket[0].n > 0);
		exchange(v, x);
		if
		:: ok -> set_owner(TID(t)); have = true; break
		:: else
		fi
	:: else ->
		if
		:: locks_gone[TID_OF(v) - 1] ->
			x = word[0];
			if
			:: x == v || MUT(8) -> lost = true; break
			:: else -> v = x
			fi
		:: else ->
			if
			:: !HAS_WAITERS(v) -> exchange(v, v + WAITERS)
			:: else -> ok = true
			fi;
			if
			:: ok ->
				w[t].owner = TID_OF(v);
				add(t, 0);
				if
				:: MUT(7) -> pi_users++	/* counted after it was seen that the owner lives */
				:: else
				fi;
				break
			:: else
			fi
		fi
	od;
	if
	:: (have || lost) && !MUT(7) -> pi_users--
	:: else
	fi;
	UNLOCK(0);
	ok = false;
	x = 0;
	v = 0
}

/* futex_unlock_pi() */
inline unlock_pi(t)
{
	LOCK(0);
	v = word[0];
	do
	:: assert(TID_OF(v) == TID(t));
		if
		:: bucket[0].n -> o = bucket[0].q[0]; x = TID(o) + WAITERS
		:: else -> x = 0
		fi;
		exchange(v, x);
		if
		:: ok -> break
		:: else
		fi
	od;
	if
	:: x && MUT(5) ->
		w[o].state = AGAIN;	/* as after a death */
		asleep[o] = false;
		take(o, 0);
		pi_users--
	:: x && !MUT(5) ->
		release(o, 0, WOKEN);
		if
		:: MUT(10)		/* the others still wait for who gave it */
		:: else -> set_owner(TID(o))
		fi
	:: else
	fi;
	UNLOCK(0);
	ok = false;
	x = 0;
	v = 0;
	o = 0
}

/* futex_owner_died() */
inline owner_died(t)
{
	if
	:: pi_users ->
		LOCK(0);
		k2 = 0;
		do
		:: k2 < bucket[0].n ->
			o = bucket[0].q[k2];
			if
			:: w[o].owner == TID(t) -> release(o, 0, AGAIN)
			:: else -> k2++
			fi
		:: else -> break
		od;
		UNLOCK(0);
		k2 = 0;
		o = 0
	:: else
	fi
}

/* futex_exit(): the robust list, the mark, those that wait. */
inline exit(t)
{
	if
	:: robust ->
		v = word[0];
		do
		:: TID_OF(v) == TID(t) ->
			exchange(v, DIED + WAITERS * HAS_WAITERS(v));
			if
			:: ok -> break
			:: else
			fi
		:: else -> break
		od;
		ok = false;
		v = 0
	:: else
	fi;
	if
	:: MUT(11) ->			/* the waiters are looked for before the mark is seen */
		owner_died(t);
		locks_gone[t] = true
	:: else ->
		locks_gone[t] = true;
		owner_died(t)
	fi
}

/* ---- Scenes ---- */

inline enter()
{
	g_inside++;
	assert(g_inside == 1)
}

/* 0 free, 1 held, 2 held and perhaps waited for */
inline mutex(t)
{
	atomic {
		v = word[0];
		if
		:: v == 0 -> word[0] = 1
		:: else
		fi
	}
	do
	:: v == 0 -> break
	:: else ->
		atomic { v = word[0]; word[0] = 2 }
		if
		:: v == 0 -> break
		:: else -> wait(t, 0, 2); v = 1
		fi
	od;
	enter();
	g_inside--;
	atomic { v = word[0]; word[0] = 0 }
	if
	:: v == 2 -> wake(0, false)
	:: else
	fi;
	v = 0
}

inline condition(t)
{
	if
	:: t < 2 ->
		do
		:: word[0] == 0 -> wait(t, 0, 0)
		:: else -> break
		od
	:: else ->
		word[0] = 1;
		requeue(1);
		wake(1, true);
		wake(0, true)
	fi
}

inline pi(t)
{
	/* A program tries without a call first. */
	exchange(0, TID(t));
	have = ok;
	ok = false;
	v = 0;
	heir = false;
	do
	:: have -> break
	:: else ->
		lock_pi(t, heir);
		if
		:: have || lost -> break
		:: else ->
			sleep(t);
			have = (got == WOKEN);
			heir = (got == AGAIN)
		fi
	od;
	heir = false;
	if
	:: lost ->
		/* Only a lock of nobody's list is lost, and only to who came too late to wait. */
		assert(!robust)
	:: else ->
		enter();
		g_inside--;
		if
		:: true ->
			exchange(TID(t), 0);
			if
			:: ok -> ok = false; v = 0
			:: else -> v = 0; unlock_pi(t)
			fi
		:: t != 2 -> exit(t)	/* with it */
		fi
	fi;
	have = false;
	lost = false
}

proctype thread(byte t)
{
	byte b, k, k2, o, v, x;
	bool moved, ok, have, lost, heir;
	mtype got;

	if
	:: scene == 1 -> mutex(t)
	:: scene == 2 -> condition(t)
	:: scene == 3 -> pi(t)
	fi;
	got = AWAY;
	g_ended++
}

c_code {
	static int setting(const char *name, int otherwise)
	{
		char *value = getenv(name);

		return value ? atoi(value) : otherwise;
	}
}

init {
	byte t;

	atomic {
		c_code {
			now.scene = setting("SCENE", 1);
			now.give_up = setting("GIVE_UP", 0);
			now.robust = setting("ROBUST", 0);
			now.mutant = setting("MUTANT", 0);
		};
		for (t : 0 .. THREADS - 1) {
			w[t].state = AWAY
		}
		run thread(0);
		run thread(1);
		run thread(2)
	}
	g_ended == THREADS;
	assert(!bucket[0].n && !bucket[1].n && !pi_users)
}
