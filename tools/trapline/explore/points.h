/*
 * The schedules that explore tries: those of seeds, a seed's with its longest point moved, and what
 * is left of a schedule without some of its points. Pure.
 */
#pragma once

#include "kernel/lib/schedule.h"
#include "tools/trapline/lib/util.h"

/* Bytes of a schedule as words of the kernel's command line. */
#define SCHEDULE_TEXT (SCHEDULE_POINTS * SCHEDULE_POINT_MAX + 64)

/*
 * A seed, or its points with the longest one moved. A seed that failed after others often fails
 * alone a few instructions earlier or later, because the kernel does not do exactly the same there.
 * Way 1 moves the point one tick earlier, 2 one later, then two, four, eight and so on, up to 2048.
 */
struct candidate {
	uint64_t seed;
	unsigned moved; /* 0: not; 1 to MOVED_WAYS: that way */
};
#define MOVED_WAYS 24

/* The points; `span` is the text of sched_span=. */
void candidate_points(struct schedule *s, const struct candidate *c, const char *span);
/* The words for the kernel: the seed, or the points if one of them is moved. */
void candidate_text(char text[SCHEDULE_TEXT], const struct candidate *c, const char *span);
/* The words for the kernel that list the points. */
void points_text(char text[SCHEDULE_TEXT], const struct schedule *s);

/* The schedule without its nth part of `size` points. False: it has no such part. */
bool points_leave_out(struct schedule *to, const struct schedule *from, unsigned n, unsigned size);
/*
 * One point alone, up to `most` ticks earlier or later: without the delays of the others, the same
 * place is reached at another time. Each point is tried where it is before any is moved; those that
 * hold longest come first. False: n is beyond the last of these.
 */
bool points_move_one(struct schedule *to, const struct schedule *from, unsigned n, unsigned most);
