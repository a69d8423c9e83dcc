/*
 * A ring in a state to begin from, made once and put back as often as it is needed, and the balance
 * of what was done to it since: for tests that repeat one event at every boundary of its
 * instructions. On the CPU it is called on, which must stay the same.
 */
#pragma once

#include "trace/ring/write.h"

/* What lies after the tail's sub-buffer. */
enum scene_behind {
	BEHIND_FREE,   /* sub-buffers that were never written */
	BEHIND_READ,   /* the same, and the reader has taken the tail's and read it */
	BEHIND_UNREAD, /* unread events */
};
/* When the first event comes, after the last one of the scene. */
enum scene_time {
	TIME_NEAR,
	TIME_FAR,  /* too late for a delta */
	TIME_BACK, /* the clock went back */
};

struct scene {
	unsigned flags; /* of ring_buffer_alloc() */
	unsigned count; /* sub-buffers */
	/*
	 * bytes left behind the tail; RB_PAGE_DATA: its sub-buffer was begun and is empty; more:
	 * none was begun
	 */
	u64 room;
	enum scene_behind behind;
	enum scene_time time;
};

#define ROOM_FRESH (2 * RB_PAGE_DATA)

extern struct ring_buffer *scene_rb,
    *scene_other; /* the other: of the same size, empty, to swap with */

void scene_make(const struct scene *s);
void scene_end(void);
/* As it was made; the time of its last event is as long ago as the scene says. */
void scene_restore(void);

/* Notes the scene as it is in the middle of something, and puts it back to that. */
void scene_mark(void);
void scene_return(void);

/*
 * Writers. Each hit has a number, and its event, of at least 12 bytes, holds it. scene_hit() gives
 * the number of the next one, scene_fill() fills an event, scene_done() says what became of it
 * (NULL: refused). What is discarded is said so before it is.
 */
u32 scene_hit(void);
void scene_fill(void *data, size_t length, u32 hit);
void scene_done(u32 hit, const struct ring_buffer_event *ev);
void scene_discarded(u32 hit);
/* The last hit was none: it was refused by what does not count. */
void scene_not_hit(void);
/* A whole hit by call. Between host_enter() and host_preempt_enable(). */
void scene_write(size_t length);
/*
 * op(NULL) on its own, interrupts off, with hook(NULL) at boundary `at` of it; false: it has no
 * such boundary.
 */
bool scene_step(void (*op)(void *), u64 at, void (*hook)(void *));
/* Consuming readers: one event; a page. False: nothing there. */
bool scene_consume(void);
bool scene_read_page(void);

/*
 * Reads what is left; then all hits must be accounted for: whole, in order, at their time. After a
 * reset only what is left is looked at. What is wrong fails the case, with `label` in front.
 */
void scene_check(const char *label, bool was_reset);
/* Hits that were refused for want of room, as scene_check() found. */
u64 scene_refused(void);
