/*
 * Hooks: the 5-byte nop at the beginning of every C function of the kernel that can have one. For
 * the others, hook_refused() gives the reason. Functions have the numbers of kernel/base/sym.h.
 *
 * A user of hooks is called when one of its functions is entered: in any context, NMI included,
 * with preemption off, before the function has a frame. What it calls must not be hooked, or it
 * must see that it calls itself. Kprobes at the beginning of functions are the users' first.
 *
 * A user with enter() and leave() follows calls to their returns: enter() decides for each, by
 * hook_call_follow(). Both are called with interrupts off; hook_entered_flags() and `ret` have the
 * flags of the code that was interrupted. The record of a followed call lies on the task's shadow
 * stack (shadow.h).
 *
 * 1. hook_user_add() adds the user.
 * 2. hook_user_set() sets the functions that it hooks, and patches all that change together.
 * 3. hook_user_remove() removes it; when that returns, no CPU is in its fn().
 */
#pragma once

#include "kernel/kprobe/shadow.h"

#define HOOK_LEN ARCH_HOOK_LEN

struct probe_site;

/* 0; -ENOMEM; -EBUSY: too many users. Task context, like the others that change anything. */
int hook_user_add(struct hook_user *user);
/* `functions`: a bit map in words of 64; NULL: none. Ignores functions without a hook. */
void hook_user_set(struct hook_user *user, const u64 *functions);
void hook_user_remove(struct hook_user *user);
/*
 * For a user that was added. hook_user_ask(): whether its calls test if they are to be skipped.
 * hook_user_skip(): whether those on this CPU are skipped from now on; any context, preemption off.
 */
void hook_user_ask(struct hook_user *user, bool ask);
void hook_user_skip(const struct hook_user *user, bool skip);
/*
 * Probes at the beginning of hooked functions. hook_at(): whether a function with a hook begins at
 * addr. hook_prepare(): allocates the tables, before the first probe; 0 or -ENOMEM.
 * hook_set_probes(): which probes the functions at n addresses call.
 */
enum hook_probes {
	HOOK_NO_PROBES,
	HOOK_PROBES,	      /* as kernel_hook_probe() calls them */
	HOOK_ARGUMENT_PROBES, /* as kernel_hook_probe_arguments() does, unless others are there */
};
bool hook_at(u64 addr);
int hook_prepare(void);
void hook_set_probes(const u64 *addrs, unsigned n, enum hook_probes which);

/* Who hooks a function. */
struct hook_state {
	unsigned users; /* probes count as one */
	bool probed;	/* among them */
	bool touched;	/* it was patched before */
	u64 entry;	/* the address it calls now; 0: none */
	const void *fn; /* its user's function, if it has only one user; else NULL */
};
struct hook_state hook_state(unsigned function);
/*
 * In enter(), the slow path. hook_call_outer() returns the innermost pending call that the user
 * follows; NULL: there is none. hook_call_follow() follows the call that is entered; false: it
 * cannot, and counts the call as missed.
 */
static SHADOW_INLINE struct hook_call *hook_call_from(
    const struct hook_user *user, struct shadow_record *r)
{
	while ((r->owner & ~HOOK_CALLS_SHARED) != user->calls || !r->slot) {
		if (!r->owner)
			return NULL;
		r = shadow_below(r);
	}
	return (struct hook_call *)r - 1;
}

static SHADOW_INLINE const struct hook_call *hook_call_outer(
    const struct hook_user *user, const u64 *slot)
{
	struct shadow *s = shadow_of(current());
	struct shadow_record *r = s ? s->top : NULL;

	if (unlikely(!s))
		return NULL;
	if (unlikely(r->slot <= (u64)slot))
		r = shadow_first(s, (u64)slot);
	return hook_call_from(user, r);
}

/* In leave(): the followed call that encloses the returning one; NULL: there is none. */
static SHADOW_INLINE struct hook_call *hook_call_around(
    const struct hook_user *user, const struct hook_call *call)
{
	return hook_call_from(user, shadow_below((struct shadow_record *)(call + 1)));
}

static SHADOW_INLINE void hook_call_put(struct hook_call *to, const struct hook_call *call)
{
	to->ip = call->ip;
	to->start = call->start;
	to->level = call->level;
}

static SHADOW_INLINE bool hook_call_follow(
    struct hook_user *user, u64 *slot, const struct hook_call *call)
{
	struct shadow *s = shadow_of(current());
	struct shadow_record *r = NULL;
	u64 ret = *slot, owner = user->calls;

	/* The slot may have a record of a function that never returned. */
	if (likely(s) && unlikely(s->top->slot <= (u64)slot))
		shadow_drop_stale(s, (u64)slot);
	if (unlikely(shadow_is_return(ret))) { /* another user has replaced the return address */
		ret = s->top->ret;
		owner |= HOOK_CALLS_SHARED;
	}
	if (likely(s))
		r = shadow_push(s, owner, ret, sizeof(*call));
	if (unlikely(!r)) {
		atomic_add(&user->missed, 1);
		return false;
	}
	hook_call_put((struct hook_call *)r - 1, call);
	WRITE_ONCE(r->slot, (u64)slot);
	if (likely(ret == *slot))
		*slot = (u64)hook_return;
	return true;
}

/*
 * In enter(), the fast path. hook_calls_top() finds the innermost record of the task; false: take
 * the slow path. The record is then of a call around the one that is entered, so no record is
 * stale, and nobody has replaced the return address. hook_call_under() returns the innermost call
 * that the user follows, NULL if there is none. hook_call_begin() makes room for the call that is
 * entered; NULL: no room, take the slow path. Once the caller has filled it in, hook_call_begun()
 * follows the call; hook_call_drop() gives the room back.
 */
struct hook_calls {
	struct shadow *shadow;
	struct shadow_record *top;
};

static SHADOW_INLINE bool hook_calls_top(const u64 *slot, struct hook_calls *at)
{
	at->shadow = shadow_here();
	at->top = at->shadow->top;
	return likely(at->top->slot > (u64)slot);
}

static SHADOW_INLINE const struct hook_call *hook_call_under(
    const struct hook_user *user, struct hook_calls at)
{
	u64 owner = at.top->owner;

	if (likely(owner == user->calls))
		return (const struct hook_call *)at.top - 1;
	return likely(!owner) ? NULL : hook_call_from(user, at.top);
}

static SHADOW_INLINE u64 hook_call_next_level(const struct hook_user *user, struct hook_calls at)
{
	const struct hook_call *call;
	u64 owner = at.top->owner;

	if (likely(owner == user->calls))
		return ((const struct hook_call *)at.top - 1)->level + 1;
	if (!owner)
		return 0;
	call = hook_call_from(HIDE(user), at.top); /* it reads `calls` itself, not before */
	return call ? call->level + 1 : 0;
}

static SHADOW_INLINE struct hook_call *hook_call_begin(
    struct hook_user *user, struct hook_calls at, const u64 *slot)
{
	struct shadow_record *r =
	    shadow_push_on(at.shadow, at.top, user->calls, *slot, sizeof(struct hook_call));

	return likely(r) ? (struct hook_call *)r - 1 : NULL;
}

static SHADOW_INLINE void hook_call_drop(struct hook_call *call)
{
	WRITE_ONCE(shadow_here()->top, shadow_below((struct shadow_record *)(call + 1)));
}

static SHADOW_INLINE void hook_call_begun(struct hook_call *call, u64 *slot)
{
	WRITE_ONCE(((struct shadow_record *)(call + 1))->slot, (u64)slot);
	*slot = (u64)hook_return;
}

/* Calls leave() of a followed call: the record is on top, interrupts are off. Any context. */
void hook_call_returned(const struct shadow_record *r, const struct hook_returned *ret);
/*
 * `code` has n bytes read from addr on: replaces those of patched hooks by the unpatched text. Any
 * context.
 */
void hook_original(u64 addr, u8 *code, unsigned n);

/* Why the function that begins at addr has no hook; NULL: it has one, or none begins there. */
const char *hook_refused(u64 addr);
/* The file /proc/trapline/notrace: a line for each function without a hook. At boot. */
void hook_files_init(void);
