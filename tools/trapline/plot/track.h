/* Tracks of a CPU or of a task, drawn from p->y down. */
#pragma once

#include "tools/trapline/plot/plot.h"

#define BAR_HEIGHT  24 /* of tasks */
#define LANE_HEIGHT 42
#define LEVELS	    8 /* levels of how busy a column is */
/* columns: intervals at least this wide are drawn separately, with their name */
#define WIDE	    4

/* Bars that form one path, whose text is collected first. */
struct path {
	char *text;
	size_t size;
	FILE *out;
};
void path_bar(struct path *path, double x, double y, double width, double height);
/* False: there are no bars. The caller writes the title and "</path>". */
bool path_begin(const struct plot *p, struct path *path, const char *class);
/* How busy a column is, up to LEVELS; 0: not at all. */
unsigned column_level(const struct columns *c, unsigned column);

/* System calls by task, in order: those of a task do not overlap. */
struct calls {
	const struct interval **interval;
	size_t count;
};
void calls_sort(const struct plot *p, struct calls *calls);
void calls_free(struct calls *calls);

/* A track along a lane: wide intervals are drawn separately, the rest by columns. */
struct track {
	const struct plot *p;
	const char *class, *what; /* what: the name of intervals drawn together */
	double y, height;
	bool labels; /* names inside intervals that are wide enough */
	struct columns columns;
	uint64_t count, time;
};
void track_begin(
    struct track *t, const struct plot *p, const char *class, const char *what, double height);
/* Adds the part `from` to `to` of an interval `begin` to `end`. */
void track_add(struct track *t, const char *name, int32_t pid, uint64_t from, uint64_t to,
    uint64_t begin, uint64_t end);
void track_end(struct track *t);

/* A text from x on, if there is room for it. */
void plot_label(
    const struct plot *p, const char *class, const char *text, double x, double y, double width);
/* Lines for the axis, from p->y down. */
void plot_grid(const struct plot *p, unsigned height);

void track_irqs(const struct plot *p, unsigned cpu);
void track_calls(const struct plot *p, unsigned cpu, const struct calls *calls);
void track_gaps(const struct plot *p, unsigned cpu);
/* Marks of a task that are moments, with their text if there is room; at p->y. */
void track_marks(const struct plot *p, int32_t pid);
