/*
 * A trace as a picture: what the parts of `trapline plot` share. Everything is drawn in units of an
 * SVG of DRAWING_WIDTH.
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

/* All tasks of a name have one colour. */
struct family {
	const char *name;
	uint64_t ran;
	unsigned tasks;
};

/* A task with a lane of its own. */
struct lane {
	int32_t pid;
	size_t task;   /* in the model */
	unsigned rank; /* 0: who is to be seen before all others */
};
#define LANES_MOST  300 /* in a page */
#define LANES_SHOWN 30	/* unfolded at first, and in an SVG */
#define LANE_NONE   UINT32_MAX

struct plot {
	struct trace *trace;
	struct model model;
	struct rate rate;
	uint64_t begin, end; /* what is drawn: at least COLUMNS apart */
	FILE *out;
	bool svg;    /* alone, without a page around it */
	bool part;   /* not all of the trace */
	bool icicle; /* function calls hang from the task, instead of standing on it */
	/* those that ran longest; behind them all others; without a name: there is none */
	struct family top[COLOURS + 1];
	struct lane *lane; /* in the order in which the tasks came */
	unsigned lanes;
	size_t lanes_missing;
	struct map lane_at; /* by pid: number in `lane` + 1 */
	unsigned y;	    /* how far down we are */
};

/* The part of time that is wanted. */
struct window {
	bool has_begin, has_end;
	uint64_t begin, end;
};

/*
 * Draws an open trace. Errors of `out` are seen by who closes it. False, said: there is nothing of
 * the trace in the window.
 */
bool write_plot(struct trace *t, const struct window *w, FILE *out, bool svg, bool icicle);

/* A duration, or a number where the clock has no unit. */
const char *plot_duration(char buf[32], const struct plot *p, uint64_t n);
/* A time as `trace` has it, with digits enough for steps of `step`. */
const char *plot_time(char buf[32], const struct plot *p, uint64_t time, uint64_t step);
/* How many are lost: "12", "12 or more", "some". */
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
 * The JSON for the script of a page. Returns the time below which it puts things together; 0:
 * nowhere.
 */
uint64_t plot_data(const struct plot *p);
/* Function calls, as one more member of that JSON; nothing if there are none. */
void plot_calls_data(const struct plot *p);
bool plot_has_calls(const struct plot *p);
extern const char plot_script[];

/* All of it, as a drawing or as a page. */
void plot_svg(struct plot *p);
void plot_page(struct plot *p);

/* Each goes on at p->y, and leaves it below what it drew. */
void plot_heading(struct plot *p);
void plot_axis(struct plot *p);
void plot_cpus(struct plot *p);
void plot_tasks(struct plot *p);
void plot_calls(struct plot *p);
void plot_legend(struct plot *p);
void plot_histograms(struct plot *p);
void plot_ledger(struct plot *p);
/* What stands below the drawing in a page. */
void plot_tables(struct plot *p);
void plot_ledger_tables(struct plot *p);
extern const char plot_style[], plot_page_style[];
