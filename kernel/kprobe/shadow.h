/*
 * The shadow stack of a task: the return addresses that were taken from its own stack, by return
 * probes (kretprobe.c) and by users of hooks that follow calls to their returns (hook.c).
 *
 * Words: a record belongs to the slot, the address in the task's stack where the return address
 * stood. Records of nested calls lie one above the other, those of interrupts and NMIs on top:
 * whoever pushes pops before it returns. Below a record lies what its owner keeps of the call. A
 * record is stale when its function was left otherwise than by its return.
 *
 * The stack belongs to its task: no locks. An NMI may come between any two instructions; it finds
 * `top` either before or after. Code that is not probed and not hooked. The structs are in
 * arch/arch.h, because hook_return reads them.
 */
#pragma once

#include "kernel/lib/atomic.h"
#include "kernel/task/task.h"

/* Into code that may not be probed. */
#define SHADOW_INLINE inline __attribute__((always_inline))

static SHADOW_INLINE struct shadow *shadow_of(const struct task *t)
{
	return t->arch.shadow;
}

/* The current task's, where no task is switched. One without any has arch_no_shadow. */
static SHADOW_INLINE struct shadow *shadow_here(void)
{
	return *(struct shadow *const __seg_gs *)offsetof(struct cpu_local, shadow);
}

static SHADOW_INLINE struct shadow_record *shadow_below(struct shadow_record *r)
{
	return (struct shadow_record *)((u8 *)r - r->size);
}

/*
 * A new record on `top` with `room` bytes below it; NULL: the stack is full. The caller fills them
 * in and writes the slot last. An NMI that comes before `top` is raised may use the same bytes and
 * has left them when it returns, so all is written after; until then the record says slot 0.
 */
static SHADOW_INLINE struct shadow_record *shadow_push_on(
    struct shadow *s, struct shadow_record *top, u64 owner, u64 ret, u64 room)
{
	u64 size = room + sizeof(struct shadow_record);
	struct shadow_record *r = (struct shadow_record *)((u8 *)top + size);

	if (unlikely((u8 *)r > s->last))
		return NULL;
	WRITE_ONCE(r->size, size);
	WRITE_ONCE(r->slot, 0);
	WRITE_ONCE(s->top, r);
	WRITE_ONCE(r->size, size);
	r->ret = ret;
	r->owner = owner;
	return r;
}

static SHADOW_INLINE struct shadow_record *shadow_push(
    struct shadow *s, u64 owner, u64 ret, u64 room)
{
	return shadow_push_on(s, s->top, owner, ret, room);
}

/* Every task has one from now on. 0 or -ENOMEM. Task context. */
int shadow_stacks_make(void);
/*
 * Drops what functions left behind that cannot return any more: below `slot`, and those of the slot
 * itself where something else stands there now.
 */
void shadow_drop_stale(struct shadow *s, u64 slot);
/* The same, and the innermost record that is written. */
struct shadow_record *shadow_first(struct shadow *s, u64 slot);

/* Is this return address one of the two that are put in place of others? */
static SHADOW_INLINE bool shadow_is_return(u64 ret)
{
	return ret == (u64)probe_return || ret == (u64)hook_return;
}

/* A record goes without its return: left, or (ended) its task ended. Its owner's. */
void kretprobe_dropped(struct shadow_record *r);
void hook_dropped(const struct shadow_record *r, bool ended);
