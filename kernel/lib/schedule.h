/*
 * Chosen schedules (kernel/task/explore.h) as text: lists of points, and the points that a seed
 * stands for. Pure: any context; the host's tools read and write the same text.
 *
 *     u12+7~20,c14~16,w3~1   points: the clock, the time on it, of clock u `+` and the number of
 *                            instructions after that, then ~ and the amount
 */
#pragma once

#include "kernel/lib/types.h"

enum schedule_clock { SCHEDULE_U, SCHEDULE_K, SCHEDULE_C, SCHEDULE_W, SCHEDULE_L, SCHEDULE_CLOCKS };
/* The letter of each clock. */
extern const char schedule_letters[SCHEDULE_CLOCKS + 1];
#define SCHEDULE_POINTS	   32
#define SCHEDULE_LONGEST   40 /* the most that a task may be held: the logarithm of ns */
#define SCHEDULE_STEPS	   ((1u << 24) - 1) /* most instructions after a stretch's beginning */
#define SCHEDULE_STRETCHES 64u		    /* whose length a span may state */
#define SCHEDULE_POINT_MAX 36		    /* characters of a point, with its comma */
#define SCHEDULE_SPAN_MAX  (21 * 6 + 9 * SCHEDULE_STRETCHES) /* of a span, with its NUL */

struct schedule_point {
	u64 at;	   /* time on the clock */
	u32 step;  /* of SCHEDULE_U: instructions after `at` */
	u8 clock;  /* enum schedule_clock */
	u8 amount; /* logarithm of the ns to hold the task; of SCHEDULE_W: CPUs further */
};

/* In the order of their clocks, then times. */
struct schedule {
	struct schedule_point point[SCHEDULE_POINTS];
	unsigned count;
};

/* Inserts the point in order. False: there is no room. */
bool schedule_add(struct schedule *s, struct schedule_point p);
/* Parses a list of points. 0 or -EINVAL. */
int schedule_parse(struct schedule *s, const char *text);
/*
 * How far the clocks go, and the instructions of stretches in ring 3: of the longest one, and of
 * each of the first ones.
 */
struct schedule_span {
	u64 clock[SCHEDULE_CLOCKS], steps;
	u32 length[SCHEDULE_STRETCHES];
	unsigned lengths;
};
/* Parses "U,K,C,W,L,STEPS", and the lengths that are known, each after a comma. 0 or -EINVAL. */
int schedule_parse_span(struct schedule_span *span, const char *text);
/*
 * Measured times of stretches include the kernel's way to ring 3 and back, and the shortest is
 * little more than that: it becomes one instruction, and the others lose as much. 0: not measured.
 */
void schedule_trim_span(struct schedule_span *span);
/* Makes the points of the seed (schedule_seed.c); of seed 0: none. */
void schedule_of_seed(struct schedule *s, u64 seed, const struct schedule_span *span);
/* Writes the point, with a NUL; returns the number of characters before it. */
unsigned schedule_print(char text[SCHEDULE_POINT_MAX], const struct schedule_point *p);
