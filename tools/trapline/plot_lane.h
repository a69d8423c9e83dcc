/* The parts of a CPU's lane, which are drawn one over the other from p->y down. */
#pragma once

#include "tools/trapline/plot.h"

#define BAR_HEIGHT  24 /* of tasks */
#define LANE_HEIGHT 49
#define LEVELS	    8 /* of how busy a column is */
#define WIDE	    4 /* columns: what is as wide is drawn by itself, and says what it is */

/* Bars that are one path: their text is kept until all are there. */
struct path {
	char *text;
	size_t size;
	FILE *out;
};
void path_bar(struct path *path, double x, double y, double width, double height);
/* False: it has none. The title is the caller's, and the end: "</path>". */
bool path_begin(const struct plot *p, struct path *path, const char *class);
/* How busy a column is, up to LEVELS; 0: not at all. */
unsigned column_level(const struct columns *c, unsigned column);

/* System calls by task, in order: those of a task do not overlap. */
struct calls {
	const struct span **span;
	size_t count;
};
void calls_sort(const struct plot *p, struct calls *calls);
void calls_free(struct calls *calls);

void lane_irqs(const struct plot *p, unsigned cpu);
void lane_calls(const struct plot *p, unsigned cpu, const struct calls *calls);
void lane_marks(const struct plot *p, unsigned cpu);
void lane_gaps(const struct plot *p, unsigned cpu);
