/* See log_buffer.h for the words and the protocol. */
#include "kernel/base/log_buffer.h"

#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"

static struct log_slot slots[LOG_SLOTS];
static u64 head; /* [A] seq of the next slot to be taken */

static struct log_slot *slot_of(u64 seq)
{
	return &slots[seq % LOG_SLOTS];
}

void log_append(int level, u64 ns, const char *text, size_t n)
{
	unsigned parts = n ? (n + LOG_SLOT_TEXT - 1) / LOG_SLOT_TEXT : 1;
	u64 seq = atomic_fetch_add(&head, parts); /* 1. the slots are ours */
	for (unsigned i = 0; i < parts; i++) {
		struct log_slot *s = slot_of(seq + i);
		size_t len = MIN(n, (size_t)LOG_SLOT_TEXT);
		atomic_store(&s->number, 0); /* 2. readers of the old line see that it is gone */
		s->ns = ns;
		s->level = level;
		s->part = i;
		s->parts = parts;
		s->len = len;
		memcpy(s->text, text, len);
		atomic_store_release(&s->number, seq + i + 1); /* 3. published */
		text += len;
		n -= len;
	}
}

bool log_has(u64 seq)
{
	return atomic_load_acquire(&slot_of(seq)->number) > seq;
}

/* 1. whole? 2. copy 3. still the same? */
static bool copy_slot(u64 seq, struct log_slot *out)
{
	const struct log_slot *s = slot_of(seq);
	if (atomic_load_acquire(&s->number) != seq + 1)
		return false;
	memcpy(out, s, sizeof(*out));
	smp_rmb();
	return atomic_load_relaxed(&s->number) == seq + 1 && out->len <= LOG_SLOT_TEXT;
}

bool log_read(u64 *seq, struct log_slot *out, bool skip_unfinished)
{
	for (;;) {
		u64 end = atomic_load(&head);
		if (end > LOG_SLOTS && *seq < end - LOG_SLOTS)
			*seq = end - LOG_SLOTS;
		if (*seq >= end)
			return false;
		if (copy_slot(*seq, out))
			return true;
		/* Overwritten meanwhile: again from what is oldest now. Else its writer is not
		 * done. */
		if (atomic_load(&head) <= *seq + LOG_SLOTS) {
			if (!skip_unfinished)
				return false;
			++*seq;
		}
	}
}
