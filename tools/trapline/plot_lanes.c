/*
 * A lane for each CPU, from top to bottom: interrupts; who ran, as high as the CPU was busy, in the colour of whom most of the time belongs
 * to; system calls while their task ran; what programs marked; and over all of it where events were lost. What is narrower than can be
 * seen is drawn by columns, all of a colour as one path: the size of the picture is bound by that of the drawing, not of the trace.
 */
#include "tools/trapline/convert.h"
#include "tools/trapline/plot.h"

#define BAR_TOP	    9
#define BAR_HEIGHT  24
#define CALL_TOP    35
#define CALL_HEIGHT 5
#define MARK_TOP    42
#define LANE_HEIGHT 49
#define LANE_STEP   55
#define AXIS_HEIGHT 20
#define RATE_HEIGHT 34
#define RATE_STEP   40
#define LEVELS	    8  /* of how busy a column is */
#define WIDE	    4  /* columns: what is as wide is drawn by itself, and says what it is */
#define MARK_CELL   7  /* columns that share a mark */
#define GAP_CELL    6  /* gaps nearer than that are drawn as one */
#define LABEL_ROOM  34 /* columns a name needs */
#define LETTER	    6.6
#define HAIR	    0.5 /* between tasks that have one colour */

/* ---- one colour, many columns -------------------------------------------------------------------------------------- */

/* Bars that are one path: their text is kept until all are there. */
struct path {
	char *text;
	size_t size;
	FILE *out;
};

static void path_bar(struct path *path, double x, double y, double width, double height)
{
	if (!path->out && !(path->out = open_memstream(&path->text, &path->size)))
		die(EXIT_TROUBLE, "out of memory");
	fprintf(path->out, "M%g %gh%gv%gh-%gz", x, y, width, height, width);
}

/* False: it has none. The title is the caller's, and the end: "</path>". */
static bool path_begin(const struct plot *p, struct path *path, const char *class)
{
	if (!path->out)
		return false;
	fclose(path->out);
	fprintf(p->out, "<path class='%s' d='%s'>", class, path->text);
	free(path->text);
	*path = (struct path){.text = NULL};
	return true;
}

static unsigned level_of(const struct columns *c, unsigned column)
{
	uint64_t all = columns_edge(c, column + 1) - columns_edge(c, column),
		 level = (c->column[column].busy * LEVELS + all - 1) / all;

	return level > LEVELS ? LEVELS : level;
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

/* A task's name where there is room for it. */
static void put_label(const struct plot *p, int32_t pid, double x, double y, double width)
{
	const char *comm = trace_comm(p->trace, pid);
	size_t room = (width - 8) / LETTER, length = strlen(comm);

	if (width < LABEL_ROOM)
		return;
	fprintf(p->out, "<text class='on' x='%g' y='%g'>", x + 4, y);
	xml_put(p->out, comm, length <= room ? length : room - 1);
	fputs(length <= room ? "</text>" : "\xe2\x80\xa6</text>", p->out);
}

static void put_wide_bar(const struct plot *p, int32_t pid, unsigned from, unsigned to,
    double height, const struct columns *c)
{
	double y = p->y + BAR_TOP + BAR_HEIGHT - height;
	char took[32], at[32];
	uint64_t begin = columns_edge(c, from), end = columns_edge(c, to);

	fprintf(p->out, "<rect class='%s' x='%u' y='%g' width='%g' height='%g'><title>",
	    plot_class(plot_colour(p, pid)), LANES_LEFT + from, y, to - from - HAIR, height);
	put_task(p, pid);
	fprintf(p->out, "\nabout %s from %s on</title></rect>", plot_duration(took, p, end - begin),
	    plot_time(at, p, begin, end - begin));
	if (height > BAR_HEIGHT / 2)
		put_label(p, pid, LANES_LEFT + from, p->y + BAR_TOP + BAR_HEIGHT - 8, to - from);
}

static void put_paths(const struct plot *p, struct path *paths)
{
	for (unsigned i = 0; i <= COLOURS; i++) {
		if (!path_begin(p, &paths[i], plot_class(i)))
			continue;
		fputs("<title>", p->out);
		put_string(p, p->top[i].name);
		fputs("</title></path>", p->out);
	}
}

/* Columns of the same task and level, next to each other, are one bar. */
static void put_tasks(const struct plot *p, const struct columns *c)
{
	struct path paths[COLOURS + 1] = {{.text = NULL}};
	unsigned to;

	for (unsigned from = 0; from < COLUMNS; from = to) {
		unsigned level = level_of(c, from);
		int32_t pid = c->column[from].who;
		for (to = from + 1;
		     to < COLUMNS && level_of(c, to) == level && (int32_t)c->column[to].who == pid;)
			to++;
		double height = (double)BAR_HEIGHT * level / LEVELS;
		if (!level)
			continue;
		if (to - from >= WIDE)
			put_wide_bar(p, pid, from, to, height, c);
		else
			path_bar(&paths[plot_colour(p, pid)], LANES_LEFT + from,
			    p->y + BAR_TOP + BAR_HEIGHT - height, to - from, height);
	}
	put_paths(p, paths);
}

/* ---- interrupts and system calls ----------------------------------------------------------------------------------- */

/* A strip of a lane: what is wide by itself, the rest by columns. */
struct strip {
	const struct plot *p;
	const char *class, *what;
	double y, height;
	struct columns columns;
	uint64_t count, time;
};

static void strip_begin(struct strip *s, const struct plot *p, const char *class, const char *what)
{
	*s = (struct strip){.p = p, .class = class, .what = what};
	columns_begin(&s->columns, p->begin, p->end);
}

static void strip_span(struct strip *s, const struct span *span, uint64_t from, uint64_t to)
{
	const struct plot *p = s->p;
	double x = plot_x(p, from), width = plot_x(p, to) - x;
	char took[32], at[32];

	if (width < WIDE) {
		columns_add(&s->columns, from, to, 0);
		s->count++;
		s->time += to - from;
		return;
	}
	fprintf(p->out, "<rect class='%s' x='%.1f' y='%g' width='%.1f' height='%g'><title>",
	    s->class, x, s->y, width, s->height);
	put_string(p, p->survey.words.word[span->word]);
	fputs(" in ", p->out);
	put_task(p, span->pid);
	fprintf(p->out, "\n%s from %s on</title></rect>",
	    plot_duration(took, p, span->end - span->begin),
	    plot_time(at, p, span->begin, span->end - span->begin));
}

/* Narrow ones: as high as they fill their column, and never too low to be seen. */
static void strip_end(struct strip *s)
{
	struct path path = {.text = NULL};
	char took[32];
	unsigned to;

	for (unsigned from = 0; from < COLUMNS; from = to) {
		unsigned level = level_of(&s->columns, from);
		for (to = from + 1; to < COLUMNS && level_of(&s->columns, to) == level;)
			to++;
		double height = s->height * (0.4 + 0.6 * level / LEVELS);
		if (level)
			path_bar(
			    &path, LANES_LEFT + from, s->y + s->height - height, to - from, height);
	}
	if (path_begin(s->p, &path, s->class))
		fprintf(s->p->out, "<title>%llu %s, %s in all</title></path>",
		    (unsigned long long)s->count, s->what, plot_duration(took, s->p, s->time));
}

static void put_irqs(const struct plot *p, unsigned cpu)
{
	struct strip s;

	strip_begin(&s, p, "irq", "short interrupts");
	s.y = p->y + 1;
	s.height = BAR_TOP - 2;
	for (size_t i = 0; i < p->survey.spans; i++) {
		const struct span *span = &p->survey.span[i];
		if (span->kind == SPAN_IRQ && span->cpu == cpu && !span->inner)
			strip_span(&s, span, span->begin, span->end);
	}
	strip_end(&s);
}

/* System calls by task, in order: those of a task do not overlap. */
struct calls {
	const struct span **span;
	size_t count;
};

static int by_task(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void sort_calls(const struct plot *p, struct calls *calls)
{
	*calls = (struct calls){.span = xmalloc(p->survey.spans * sizeof(*calls->span))};
	for (size_t i = 0; i < p->survey.spans; i++)
		if (p->survey.span[i].kind == SPAN_CALL)
			calls->span[calls->count++] = &p->survey.span[i];
	qsort(calls->span, calls->count, sizeof(*calls->span), by_task);
}

/* The first call of a task that ends behind `time`. */
static size_t find_call(const struct calls *calls, int32_t pid, uint64_t time)
{
	size_t low = 0, high = calls->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct span *s = calls->span[middle];
		if (s->pid < pid || (s->pid == pid && s->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of each slice of a task what it spent in system calls. */
static void put_calls(const struct plot *p, unsigned cpu, const struct calls *calls)
{
	struct strip s;

	strip_begin(&s, p, "call", "short stretches in system calls");
	s.y = p->y + CALL_TOP;
	s.height = CALL_HEIGHT;
	for (size_t i = 0; i < p->survey.slices; i++) {
		const struct slice *slice = &p->survey.slice[i];
		if (slice->cpu != cpu || !slice->pid)
			continue;
		for (size_t k = find_call(calls, slice->pid, slice->begin); k < calls->count; k++) {
			const struct span *call = calls->span[k];
			if (call->pid != slice->pid || call->begin >= slice->end)
				break;
			strip_span(&s, call,
			    call->begin > slice->begin ? call->begin : slice->begin,
			    call->end < slice->end ? call->end : slice->end);
		}
	}
	strip_end(&s);
}

/* ---- marks and gaps ------------------------------------------------------------------------------------------------ */

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

static void put_marks(const struct plot *p, unsigned cpu)
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

/* Some gaps that lie close to each other. */
struct hole {
	double from, to;
	uint64_t lost;
	bool unknown, any;
};

static void put_hole(const struct plot *p, struct hole *h)
{
	double width = h->to - h->from < 3 ? 3 : h->to - h->from;

	if (!h->any)
		return;
	fprintf(p->out,
	    "<rect class='lost' x='%.1f' y='%u' width='%.1f' height='%u'><title>%llu events%s "
	    "lost</title></rect>",
	    h->from, p->y, width, LANE_HEIGHT, (unsigned long long)h->lost,
	    h->unknown ? " and more" : "");
	fprintf(p->out, "<text class='lostn%s' x='%.1f' y='%u'>%llu%s%s</text>",
	    width > 60 ? " mid" : "", width > 60 ? h->from + width / 2 : h->from + width + 2,
	    p->y + BAR_TOP + BAR_HEIGHT / 2 + 4, (unsigned long long)h->lost, h->unknown ? "+" : "",
	    width > 60 ? " lost" : "");
	h->any = false;
}

static void put_gaps(const struct plot *p, unsigned cpu)
{
	struct hole hole = {.any = false};

	for (size_t i = 0; i < p->survey.gaps; i++) {
		const struct gap *g = &p->survey.gap[i];
		double from = plot_x(p, g->begin), to = plot_x(p, g->end);
		if (g->cpu != cpu)
			continue;
		if (hole.any && from > hole.to + GAP_CELL * 5)
			put_hole(p, &hole);
		if (!hole.any)
			hole = (struct hole){.from = from, .any = true};
		hole.to = to;
		hole.lost += g->lost;
		hole.unknown |= g->unknown;
	}
	put_hole(p, &hole);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

static void put_cpu(struct plot *p, unsigned cpu, const struct calls *calls)
{
	struct columns columns;
	uint64_t busy = 0;

	columns_begin(&columns, p->begin, p->end);
	for (size_t i = 0; i < p->survey.slices; i++) {
		const struct slice *s = &p->survey.slice[i];
		if (s->cpu == cpu && s->pid)
			columns_add(&columns, s->begin, s->end, s->pid);
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		busy += columns.column[i].busy;
	fprintf(p->out, "<g><rect class='lane' x='%u' y='%u' width='%u' height='%u'/>", LANES_LEFT,
	    p->y, COLUMNS, LANE_HEIGHT);
	fprintf(p->out, "<text class='head end' x='%u' y='%u'>CPU %u</text>", LANES_LEFT - 10,
	    p->y + 21, cpu);
	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>%.3g %% busy</text>",
	    LANES_LEFT - 10, p->y + 35, 100.0 * busy / (p->end - p->begin));
	put_tasks(p, &columns);
	put_irqs(p, cpu);
	put_calls(p, cpu, calls);
	put_marks(p, cpu);
	put_gaps(p, cpu);
	fputs("</g>\n", p->out);
	p->y += LANE_STEP;
}

/* How many events, over time: the highest column as high as there is room. */
static void put_rate(struct plot *p)
{
	struct columns c;
	uint64_t most = 1;

	columns_begin(&c, p->begin, p->end);
	for (unsigned i = 0; i < RATE_BINS; i++) {
		uint64_t time = p->rate.first + ((uint64_t)i << p->rate.shift);
		if (p->rate.bin[i] && time >= c.begin && time < c.end)
			c.column[columns_of(&c, time)].busy += p->rate.bin[i];
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		most = c.column[i].busy > most ? c.column[i].busy : most;
	fprintf(p->out, "<path class='rate' d='M%u %u", LANES_LEFT, p->y + RATE_HEIGHT);
	for (unsigned i = 0; i < COLUMNS; i++)
		fprintf(p->out, "V%.1fh1",
		    p->y + RATE_HEIGHT - (double)RATE_HEIGHT * c.column[i].busy / most);
	fprintf(p->out, "V%uz'><title>events over time</title></path>", p->y + RATE_HEIGHT);
	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>events</text>\n",
	    LANES_LEFT - 10, p->y + RATE_HEIGHT - 4);
	p->y += RATE_STEP;
}

/* Lines through all lanes, and what time they stand for. */
static void put_axis(struct plot *p, unsigned bottom)
{
	uint64_t step = tick_step(p->end - p->begin, 10),
		 time = p->begin + (step - p->begin % step) % step;
	char text[32];

	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>%s</text>", LANES_LEFT - 10,
	    p->y + 11, p->trace->in_ns ? "seconds" : "time");
	for (; time <= p->end && time >= p->begin; time += step) {
		double x = plot_x(p, time);
		fprintf(p->out,
		    "<path class='grid' d='M%.1f %uV%u'/><text class='small mid' x='%.1f' "
		    "y='%u'>%s</text>",
		    x, p->y + 15, bottom, x, p->y + 11, plot_time(text, p, time, step));
	}
	fputs("\n", p->out);
	p->y += AXIS_HEIGHT;
}

/* "0, 3-5": CPUs without a lane, as a CPU that records nothing has nothing to show. */
static void put_silent(struct plot *p)
{
	unsigned to, shown = 0;

	for (unsigned from = 0; from < p->trace->cpus; from = to) {
		for (to = from; to < p->trace->cpus && !survey_seen(&p->survey, to); to++)
			;
		if (to == from) {
			to++;
			continue;
		}
		if (!shown++)
			fprintf(p->out, "<text class='dim' x='%u' y='%u'>No events on CPU ",
			    LANES_LEFT, p->y + 12);
		else
			fputs(", ", p->out);
		fprintf(p->out, "%u", from);
		if (to - from > 1)
			fprintf(p->out, "-%u", to - 1);
	}
	if (!shown)
		return;
	fputs("</text>\n", p->out);
	p->y += 22;
}

void plot_lanes(struct plot *p)
{
	unsigned lanes = 0, bottom;
	struct calls calls;

	for (unsigned cpu = 0; cpu < p->trace->cpus; cpu++)
		lanes += survey_seen(&p->survey, cpu);
	bottom = p->y + AXIS_HEIGHT + RATE_STEP + LANE_STEP * lanes;
	sort_calls(p, &calls);
	put_axis(p, bottom);
	put_rate(p);
	for (unsigned cpu = 0; cpu < p->trace->cpus; cpu++) {
		if (survey_seen(&p->survey, cpu))
			put_cpu(p, cpu, &calls);
		progress("drawing", cpu, p->trace->cpus);
	}
	progress("drawing", 1, 1);
	put_silent(p);
	free(calls.span);
}
