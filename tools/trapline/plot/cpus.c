/*
 * A lane for each CPU, from top to bottom: interrupts; who ran, as high as the CPU was busy, in the
 * colour of whom most of the time belongs to; system calls while their task ran; and over all of it
 * where events were lost. What is narrower than can be seen is drawn by columns, all of a colour as
 * one path: the size of the picture is bound by that of the drawing, not of the trace. Interrupts
 * and calls are in intervals.c, marks and gaps in marks.c.
 */
#include "tools/trapline/plot/track.h"
#include "tools/trapline/lib/output.h"

#define BAR_TOP	    9
#define LANE_STEP   47
#define AXIS_HEIGHT 20
#define RATE_HEIGHT 34
#define RATE_STEP   40
#define LABEL_ROOM  34 /* columns a name needs */
#define LETTER	    6.6
#define HAIR	    0.5 /* between tasks that have one colour */

/* ---- tasks ---- */

void plot_label(
    const struct plot *p, const char *class, const char *text, double x, double y, double width)
{
	size_t room = width > 0 ? width / LETTER : 0, length = strlen(text);

	if (width + 8 < LABEL_ROOM)
		return;
	fprintf(p->out, "<text class='%s' x='%.1f' y='%g'>", class, x, y);
	xml_put(p->out, text, length <= room ? length : room - 1);
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
		plot_label(p, "on", trace_comm(p->trace, pid), LANES_LEFT + from + 4,
		    p->y + BAR_TOP + BAR_HEIGHT - 8, to - from - 8.0);
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
		unsigned level = column_level(c, from);
		int32_t pid = c->column[from].who;
		for (to = from + 1; to < COLUMNS && column_level(c, to) == level &&
				    (int32_t)c->column[to].who == pid;)
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

/* ---- the whole ---- */

static void put_cpu(struct plot *p, unsigned cpu, const struct calls *calls)
{
	struct columns columns;
	uint64_t busy = 0;

	columns_begin(&columns, p->begin, p->end);
	for (size_t i = 0; i < p->model.states; i++) {
		const struct state *s = &p->model.state[i];
		if (s->cpu == cpu && s->pid)
			columns_add(&columns, s->begin, s->end, s->pid);
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		busy += columns.column[i].busy;
	fprintf(p->out, "<g><rect class='lane' x='%u' y='%u' width='%u' height='%u'/>", LANES_LEFT,
	    p->y, COLUMNS, LANE_HEIGHT);
	plot_grid(p, LANE_HEIGHT);
	fprintf(p->out, "<text class='head end' x='%u' y='%u'>CPU %u</text>", LANES_LEFT - 10,
	    p->y + 21, cpu);
	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>%.3g %% busy</text>",
	    LANES_LEFT - 10, p->y + 35, 100.0 * busy / (p->end - p->begin));
	put_tasks(p, &columns);
	track_irqs(p, cpu);
	track_calls(p, cpu, calls);
	track_gaps(p, cpu);
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

static uint64_t axis_begin(const struct plot *p, uint64_t *step)
{
	*step = tick_step(p->end - p->begin, 10);
	return p->begin + (*step - p->begin % *step) % *step;
}

void plot_grid(const struct plot *p, unsigned height)
{
	uint64_t step, time = axis_begin(p, &step);

	fputs("<path class='grid' d='", p->out);
	for (; time <= p->end && time >= p->begin; time += step)
		fprintf(p->out, "M%.1f %uv%u", plot_x(p, time), p->y, height);
	fputs("'/>\n", p->out);
}

/* What times the lines stand for; and above them how many events there are. */
void plot_axis(struct plot *p)
{
	uint64_t step, time = axis_begin(p, &step);
	char text[32];

	p->y += 4;
	put_rate(p);
	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>%s</text>", LANES_LEFT - 34,
	    p->y + 11, p->trace->in_ns ? "seconds" : "time");
	for (; time <= p->end && time >= p->begin; time += step)
		fprintf(p->out, "<text class='small mid' x='%.1f' y='%u'>%s</text>",
		    plot_x(p, time), p->y + 11, plot_time(text, p, time, step));
	fputs("\n", p->out);
	p->y += AXIS_HEIGHT;
}

/* "0, 3-5": CPUs without a lane, as a CPU that records nothing has nothing to show. */
static void put_silent(struct plot *p)
{
	unsigned to, shown = 0;

	for (unsigned from = 0; from < p->trace->cpus; from = to) {
		for (to = from; to < p->trace->cpus && !model_seen(&p->model, to); to++)
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

void plot_cpus(struct plot *p)
{
	struct calls calls;

	calls_sort(p, &calls);
	for (unsigned cpu = 0; cpu < p->trace->cpus; cpu++) {
		if (model_seen(&p->model, cpu))
			put_cpu(p, cpu, &calls);
		progress("drawing", cpu, p->trace->cpus);
	}
	progress("drawing", 1, 1);
	put_silent(p);
	calls_free(&calls);
}
