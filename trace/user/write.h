/*
 * Writing a user event: whoever has the bytes (kernel/trace/user_events.c) has this inline. Task
 * context; no lock, no allocation.
 *
 * The payload has been copied from the program before anything here looks at it, so it cannot
 * change any more; and nothing is reserved before it is found good, so that a bad one leaves no
 * trace.
 */
#pragma once

#include "kernel/lib/string.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/user/user.h"

bool user_event_checks_pass(const struct user_event *ev, void *rec, size_t size);
#define USER_EVENT_BY_WORDS 64 /* bytes up to which a loop is shorter than a call */

/* A record has room for whole words. */
static inline __attribute__((always_inline)) void user_event_fill(
    void *to, const void *rec, u32 size)
{
	const u32 head = sizeof(struct trace_entry) / sizeof(u32);
	const u32 *from = rec;
	u32 *at = to;

	if (unlikely(size > USER_EVENT_BY_WORDS)) {
		memcpy(at + head, from + head, size - sizeof(struct trace_entry));
		return;
	}
	for (u32 i = head; i < (size + sizeof(u32) - 1) / sizeof(u32); i++) {
		at[i] = from[i];
		barrier(); /* or the compiler makes a call of it */
	}
}

/*
 * Records. rec: room for the common fields, then the payload, zeros up to a multiple of 4; `size`
 * bytes in all without these. 0, or -EFAULT when a check of the payload fails: then nothing is
 * recorded. What no ring has room for is counted, and 0.
 */
static inline __attribute__((always_inline)) int user_event_write(
    const struct user_event *ev, void *rec, size_t size)
{
	struct trace_slot slot;

	host_preempt_disable();
	if (unlikely(ev->n_checks && !user_event_checks_pass(ev, rec, size))) {
		host_preempt_enable();
		return -EFAULT;
	}
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	if (likely(file)) {
		void *to = trace_record(&slot, file, size);
		if (likely(to)) {
			user_event_fill(to, rec, size);
			trace_record_end(&slot);
		} else if (!trace_record_idle(file) && !trace_record_full(file, size)) {
			trace_gate(file, rec, size);
		}
	}
	host_preempt_enable();
	return 0;
}
