/* A trace as a picture: what the parts of `trapline plot` share. Everything is drawn in units of an SVG of DRAWING_WIDTH. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "tools/trapline/columns.h"
#include "tools/trapline/duration.h"
#include "tools/trapline/survey.h"
#include "tools/trapline/xml.h"

#define DRAWING_WIDTH 1280
#define LANES_LEFT    92
#define COLOURS	      12

/* All tasks of a name have one colour. */
struct family {
	const char *name;
	uint64_t ran;
	unsigned tasks;
};

struct plot {
	struct trace *trace;
	struct survey survey;
	struct rate rate;
	uint64_t begin, end; /* what is drawn: at least COLUMNS apart */
	FILE *out;
	bool svg; /* alone, without a page around it */
	struct family
	    top[COLOURS +
		1]; /* those that ran longest; behind them all others; without a name: there is none */
	unsigned y; /* how far down we are */
};

/* The part of time that is wanted. */
struct window {
	bool has_begin, has_end;
	uint64_t begin, end;
};

/* Draws an open trace. Errors of `out` are seen by who closes it. */
void write_plot(struct trace *t, const struct window *w, FILE *out, bool svg);

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

/* Each goes on at p->y, and leaves it below what it drew. */
void plot_heading(struct plot *p);
void plot_lanes(struct plot *p);
void plot_legend(struct plot *p);
void plot_histograms(struct plot *p);
void plot_ledger(struct plot *p);
/* What stands below the drawing in a page. */
void plot_tables(struct plot *p);
extern const char plot_style[], plot_page_style[];
