/*
 * The kernel log as a ring of fixed slots. Any context, NMI included, without a lock: a writer
 * takes its slots with one atomic addition, fills them, and publishes each by storing its number. A
 * line longer than a slot takes several.
 *
 * Words: `seq` counts slots for ever; slot seq lives at seq % LOG_SLOTS. A slot is whole when its
 * own number says seq + 1. A writer that is held up while LOG_SLOTS newer ones come is lapped:
 * readers may then see a mixed slot of that line.
 */
#pragma once

#include "kernel/lib/types.h"

#define LOG_SLOTS     512
#define LOG_SLOT_TEXT 108

struct log_slot {
	u64 number; /* seq + 1 when whole, 0 while being written */
	u64 ns;
	u8 level;
	u8 part, parts; /* this one of so many */
	u8 len;
	char text[LOG_SLOT_TEXT];
};

/* One line, without its newline. */
void log_append(int level, u64 ns, const char *text, size_t n);
/*
 * Copies slot *seq; when it was overwritten, *seq moves to the oldest one kept. False: nothing
 * there yet. `skip_unfinished` passes over slots whose writer will never finish (panic).
 */
bool log_read(u64 *seq, struct log_slot *out, bool skip_unfinished);
/* Has slot `seq` been published? */
bool log_has(u64 seq);
