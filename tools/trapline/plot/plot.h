/*
 * Shared by the files of `trapline plot`, which draws a trace. Units are those of an SVG of
 * DRAWING_WIDTH.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "tools/trapline/plot/columns.h"
#include "tools/trapline/lib/duration.h"
#include "tools/trapline/model/model.h"
#include "tools/trapline/lib/xml.h"

#define DRAWING_WIDTH 1340
#define LANES_LEFT    160
#define COLOURS	      12

/* Tasks of the same name have one colour. */
struct family {
	const char *name;
	uint64_t ran;
	unsigned tasks;
};

/* A task with a lane of its own. */
struct lane {
	int32_t pid;
	size_t task;   /* in the model */
	unsigned rank; /* 0: shown before all others */
};
#define LANES_MOST  300 /* in a page */
#define LANES_SHOWN 30	/* unfolded at first, and in an SVG */
#define LANE_NONE   UINT32_MAX

struct plot {
	struct trace *trace;
	struct model model;
	struct rate rate;
	uint64_t begin, end; /* the drawn part: at least COLUMNS long */
	FILE *out;
	bool svg;    /* alone, without a page around it */
	bool part;   /* not all of the trace */
	bool icicle; /* function calls hang below the task, instead of standing on it */
	/* those that ran longest, then all others; without a name: unused */
	struct family top[COLOURS + 1];
	struct lane *lane; /* in the order in which the tasks came */
	unsigned lanes;
	size_t lanes_missing;
	struct map lane_at; /* by pid: number in `lane` + 1 */
	unsigned y;	    /* the present vertical position */
};

/* The wanted part of time. */
struct window {
	bool has_begin, has_end;
	uint64_t begin, end;
};

/*
 * Draws an open trace; the caller sees errors of `out` when it closes it. False, after a message:
 * the window contains nothing of the trace.
 */
bool write_plot(struct trace *t, const struct window *w, FILE *out, bool svg, bool icicle);

/* A duration, or a plain number if the clock has no unit. */
const char *plot_duration(char buf[32], const struct plot *p, uint64_t n);
/* A time in the form of `trace`, with enough digits for steps of `step`. */
const char *plot_time(char buf[32], const struct plot *p, uint64_t time, uint64_t step);
/* The number of lost events: "12", "12 or more", "some". */
const char *plot_lost(char buf[32], uint64_t lost, bool unknown);
double plot_x(const struct plot *p, uint64_t time);
void put_string(const struct plot *p, const char *text);
/* "name-12" */
void put_task(const struct plot *p, int32_t pid);
/* The number of its colour; COLOURS: of those without one. */
unsigned plot_colour(const struct plot *p, int32_t pid);
/* Its class: "t3", "tx". */
const char *plot_class(unsigned colour);

void plot_find_lanes(struct plot *p);
/* The number of a task's lane, or LANE_NONE. */
unsigned plot_lane_of(const struct plot *p, int32_t pid);
/*
 * Writes the JSON for the script of a page. Returns the duration below which it merges intervals;
 * 0: it merges none.
 */
uint64_t plot_data(const struct plot *p);
/* Function calls, as one more member of that JSON; nothing if there are none. */
void plot_calls_data(const struct plot *p);
bool plot_has_calls(const struct plot *p);
extern const char plot_script[];

/* Draw everything, as a drawing or as a page. */
void plot_svg(struct plot *p);
void plot_page(struct plot *p);

/* Each starts at p->y, and moves it below what it drew. */
void plot_heading(struct plot *p);
void plot_axis(struct plot *p);
void plot_cpus(struct plot *p);
void plot_tasks(struct plot *p);
void plot_calls(struct plot *p);
void plot_legend(struct plot *p);
void plot_histograms(struct plot *p);
void plot_ledger(struct plot *p);
/* The part of a page below the drawing. */
void plot_tables(struct plot *p);
void plot_ledger_tables(struct plot *p);
extern const char plot_style[], plot_page_style[];
