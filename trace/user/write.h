/*
 * Writing a user event, inline for its caller kernel/trace/user_events.c. Task context; no lock, no
 * allocation.
 *
 * The caller has copied the payload from the program, so the program cannot change it any more.
 * These functions check the payload before they reserve space, so an invalid one leaves no record.
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
 * Records an event. rec: room for the common fields, then the payload, then zeros up to a multiple
 * of 4; `size` excludes these zeros. Returns -EFAULT without recording if a check of the payload
 * fails; else 0, also if the rings have no room, which is counted.
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
