/*
 * Marks of programs, in their tasks' lanes, and gaps where events were lost, in the CPUs'. See
 * track.h.
 */
#include "tools/trapline/plot/track.h"

#define MARK_CELL   7 /* columns that share a mark */
#define MARK_LETTER 6.0
#define GAP_NEAR    2  /* columns: gaps nearer than that are drawn as one */
#define NUMBER_ROOM 34 /* columns a number needs: gaps nearer than that have one together */

/* Moments that share a cell. */
struct cell {
	const struct record *first;
	unsigned at, count;
};

/* From x on; before the mark if there is too little room after it, and there is before it. */
static void put_mark_label(
    const struct plot *p, const char *text, double x, double previous, double next)
{
	double width = strlen(text) * MARK_LETTER;

	if (next < LANES_LEFT + COLUMNS || x + 14 + width < next || x - previous < width + 14) {
		plot_label(p, "small", text, x + 7, p->y + 11, next - x - 14);
		return;
	}
	fprintf(p->out, "<text class='small end' x='%.1f' y='%u'>", x - 7, p->y + 11);
	put_string(p, text);
	fputs("</text>", p->out);
}

/* One says what it is, more of them how many; between those before and after it. */
static void put_mark(const struct plot *p, const struct cell *cell, double previous, double next)
{
	double x = LANES_LEFT + (cell->at + 0.5) * MARK_CELL;
	char text[160], at[32], many[32];

	semantics_mark_text(p->trace, cell->first, text, sizeof(text));
	fprintf(p->out, "<path class='mark' d='M%g %ul4 5l-4 5l-4 -5z'><title>", x, p->y + 2);
	if (cell->count > 1)
		fprintf(p->out, "%u marks, the first:\n", cell->count);
	put_string(p, text);
	fprintf(p->out, "\nat %s</title></path>", plot_time(at, p, cell->first->time, 1));
	snprintf(many, sizeof(many), "%u marks", cell->count);
	put_mark_label(p, cell->count > 1 ? many : text, x, previous, next);
}

void track_marks(const struct plot *p, int32_t pid)
{
	struct cell cell = {.first = NULL};
	double previous = LANES_LEFT;

	for (size_t i = 0; i < p->model.marks; i++) {
		const struct record *r = &p->model.mark[i].record;
		if (r->pid != pid || p->model.mark[i].paired)
			continue;
		double x = plot_x(p, r->time);
		unsigned at = (x - LANES_LEFT) / MARK_CELL;
		if (cell.first && at != cell.at) {
			put_mark(p, &cell, previous, x);
			previous = LANES_LEFT + (cell.at + 1.0) * MARK_CELL;
			cell.first = NULL;
		}
		if (!cell.first)
			cell = (struct cell){r, at, 0};
		cell.count++;
	}
	if (cell.first)
		put_mark(p, &cell, previous, LANES_LEFT + COLUMNS);
}

/* Gaps that are drawn as one. */
struct hole {
	double from, to;
	uint64_t lost;
	bool unknown, any;
};

static void put_hole(const struct plot *p, const struct hole *h)
{
	double width = h->to - h->from < 3 ? 3 : h->to - h->from;
	char number[32];

	fprintf(p->out,
	    "<rect class='lost' x='%.1f' y='%u' width='%.1f' height='%u'><title>%s events "
	    "lost</title></rect>",
	    h->from, p->y, width, LANE_HEIGHT, plot_lost(number, h->lost, h->unknown));
}

/* In the gap if there is room, else after it; before it at the end of the lane. */
static void put_number(const struct plot *p, const struct hole *h)
{
	bool within = h->to - h->from > NUMBER_ROOM * 2,
	     before = h->to + NUMBER_ROOM > LANES_LEFT + COLUMNS;
	char number[32];
	double x = within ? (h->from + h->to) / 2 : before ? h->from - 2 : h->to + 4;

	fprintf(p->out, "<text class='lostn%s' x='%.1f' y='%u'>%s%s</text>",
	    within   ? " mid"
	    : before ? " end"
		     : "",
	    x, p->y + LANE_HEIGHT / 2 + 1, plot_lost(number, h->lost, h->unknown),
	    within ? " lost" : "");
}

/* Gaps of a CPU: some nearer than `near`, in no more than `most`, as one. */
static void each_hole(const struct plot *p, unsigned cpu, double near, double most,
    void (*put)(const struct plot *p, const struct hole *h))
{
	struct hole hole = {.any = false};

	for (size_t i = 0; i < p->model.gaps; i++) {
		const struct gap *g = &p->model.gap[i];
		double from = plot_x(p, g->begin), to = plot_x(p, g->end);
		if (g->cpu != cpu)
			continue;
		if (hole.any && (from > hole.to + near || to > hole.from + most)) {
			put(p, &hole);
			hole = (struct hole){.any = false};
		}
		if (!hole.any)
			hole = (struct hole){.from = from, .any = true};
		hole.to = to;
		hole.lost += g->lost;
		hole.unknown |= g->unknown;
	}
	if (hole.any)
		put(p, &hole);
}

void track_gaps(const struct plot *p, unsigned cpu)
{
	each_hole(p, cpu, GAP_NEAR, COLUMNS, put_hole);
	each_hole(p, cpu, NUMBER_ROOM, 4 * NUMBER_ROOM, put_number);
}
