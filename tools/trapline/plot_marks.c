/* What programs marked, and where events were lost, in a CPU's lane. See plot_lane.h. */
#include "tools/trapline/convert.h"
#include "tools/trapline/plot_lane.h"

#define MARK_TOP    42
#define MARK_CELL   7  /* columns that share a mark */
#define GAP_NEAR    2  /* columns: gaps nearer than that are drawn as one */
#define NUMBER_ROOM 34 /* columns a number needs: gaps nearer than that have one together */

/* One says what it is, more of them how many. */
static void put_mark(
    const struct plot *p, unsigned cell, const struct record *first, unsigned count)
{
	char *text;
	size_t size;
	FILE *line;
	double x = LANES_LEFT + (cell + 0.5) * MARK_CELL, y = p->y + MARK_TOP;

	fprintf(p->out, "<path class='mark' d='M%g %gl3 6h-6z'><title>", x, y);
	if (count > 1)
		fprintf(p->out, "%u marks, the first:\n", count);
	if (!(line = open_memstream(&text, &size)))
		die(EXIT_TROUBLE, "out of memory");
	write_record(line, p->trace, first);
	fclose(line);
	size_t lead = strspn(text, " ");
	xml_put(p->out, text + lead, size - lead < 200 ? size - lead : 200);
	free(text);
	fputs("</title></path>", p->out);
}

void lane_marks(const struct plot *p, unsigned cpu)
{
	const struct record *first = NULL;
	unsigned at = 0, count = 0;

	for (size_t i = 0; i < p->survey.marks; i++) {
		const struct record *r = &p->survey.mark[i];
		if (r->cpu != cpu)
			continue;
		unsigned cell = (plot_x(p, r->time) - LANES_LEFT) / MARK_CELL;
		if (first && cell != at) {
			put_mark(p, at, first, count);
			first = NULL;
		}
		if (!first) {
			first = r;
			at = cell;
			count = 0;
		}
		count++;
	}
	if (first)
		put_mark(p, at, first, count);
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

/* In the gap if there is room, else behind it; before it at the end of the lane. */
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

	for (size_t i = 0; i < p->survey.gaps; i++) {
		const struct gap *g = &p->survey.gap[i];
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

void lane_gaps(const struct plot *p, unsigned cpu)
{
	each_hole(p, cpu, GAP_NEAR, COLUMNS, put_hole);
	each_hole(p, cpu, NUMBER_ROOM, 4 * NUMBER_ROOM, put_number);
}
