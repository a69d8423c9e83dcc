/*
 * The parts above and below the lanes: a summary of the trace, the legend of colours, charts of
 * durations. See plot.h.
 */
#include "tools/trapline/plot/plot.h"

#define LINE	       18
#define LEGEND_COLUMNS 5
#define PANEL_GAP      28
#define PANEL_WIDTH    ((DRAWING_WIDTH - 40 - 3 * PANEL_GAP) / 4)
#define PANEL_HEIGHT   120
#define BARS_LEAST     11 /* two powers of ten, and one more */

/* ---- heading ---- */

static void begin_text(const struct plot *p, const char *class, unsigned x)
{
	fprintf(p->out, "<text class='%s' x='%u' y='%u'>", class, x, p->y);
}

static void put_lost(const struct plot *p)
{
	uint64_t lost = 0;
	bool unknown = false;
	char number[32];

	for (size_t i = 0; i < p->model.gaps; i++) {
		lost += p->model.gap[i].lost;
		unknown |= p->model.gap[i].unknown;
	}
	if (lost || unknown)
		fprintf(p->out, " \xc2\xb7 <tspan class='warn'>%s lost</tspan>",
		    plot_lost(number, lost, unknown));
	else
		fputs(" \xc2\xb7 none lost", p->out);
}

void plot_heading(struct plot *p)
{
	char from[32], to[32], took[32];
	uint64_t range = p->end - p->begin;

	p->y = 34;
	begin_text(p, "big", 20);
	put_string(p, p->trace->file);
	fputs("</text>\n", p->out);
	p->y += 22;
	begin_text(p, "dim", 20);
	fprintf(p->out, "%llu events on %u CPUs \xc2\xb7 %s, from %s to %s \xc2\xb7 clock ",
	    (unsigned long long)p->model.records, p->trace->cpus, plot_duration(took, p, range),
	    plot_time(from, p, p->begin, range / 1000 + 1),
	    plot_time(to, p, p->end, range / 1000 + 1));
	put_string(p, p->trace->clock);
	put_lost(p);
	if (p->trace->uname[0])
		fputs(" \xc2\xb7 ", p->out);
	put_string(p, p->trace->uname);
	fputs("</text>\n", p->out);
	if (p->trace->damaged) {
		p->y += 20;
		begin_text(p, "warn", 20);
		fputs("The file is damaged: what is whole of it is drawn.</text>\n", p->out);
	}
	p->y += 22;
}

/* ---- legend ---- */

/* The place of the next one, from left to right. */
static void legend_place(struct plot *p, unsigned *at, unsigned *x)
{
	if (*at && *at % LEGEND_COLUMNS == 0)
		p->y += LINE;
	*x = LANES_LEFT + *at % LEGEND_COLUMNS * (COLUMNS / LEGEND_COLUMNS);
	(*at)++;
}

static void legend_swatch(struct plot *p, unsigned *at, const char *class, const char *text)
{
	unsigned x;

	legend_place(p, at, &x);
	fprintf(p->out,
	    "<rect class='%s' x='%u' y='%u' width='14' height='11'/><text x='%u' "
	    "y='%u'>%s</text>\n",
	    class, x, p->y - 10, x + 20, p->y, text);
}

static void legend_family(struct plot *p, unsigned *at, unsigned colour)
{
	const struct family *f = &p->top[colour];
	char took[32];
	unsigned x;

	legend_place(p, at, &x);
	fprintf(p->out,
	    "<rect class='%s' x='%u' y='%u' width='14' height='11'/><text x='%u' y='%u'>",
	    plot_class(colour), x, p->y - 10, x + 20, p->y);
	put_string(p, f->name);
	fprintf(p->out, " <tspan class='dim'>%s", plot_duration(took, p, f->ran));
	if (f->tasks > 1)
		fprintf(p->out, ", %u tasks", f->tasks);
	fputs("</tspan></text>\n", p->out);
}

/* What there is of it in the picture. */
static bool has_intervals(const struct plot *p, enum interval_kind kind)
{
	for (size_t i = 0; i < p->model.intervals; i++)
		if (p->model.interval[i].kind == kind)
			return true;
	return false;
}

static bool has_moments(const struct plot *p)
{
	for (size_t i = 0; i < p->model.marks; i++)
		if (!p->model.mark[i].paired)
			return true;
	return false;
}

/* Only of what the picture contains. */
void plot_legend(struct plot *p)
{
	unsigned at = 0;

	p->y += 14;
	for (unsigned i = 0; i <= COLOURS; i++)
		if (p->top[i].name)
			legend_family(p, &at, i);
	if (p->model.waitings)
		legend_swatch(p, &at, "wait", "waits for a CPU");
	if (has_intervals(p, INTERVAL_IRQ))
		legend_swatch(p, &at, "irq", "interrupt");
	if (has_intervals(p, INTERVAL_SYSCALL))
		legend_swatch(p, &at, "call", "system call");
	if (has_intervals(p, INTERVAL_MARK))
		legend_swatch(p, &at, "marked", "marked, from begin to end");
	if (has_moments(p))
		legend_swatch(p, &at, "mark", "mark of a program");
	if (p->model.gaps)
		legend_swatch(p, &at, "lost", "events lost, and how many");
	p->y += 10 + LINE;
	begin_text(p, "dim small", LANES_LEFT);
	fputs(p->model.switches ? "Where a column has more than one, a bar is as high as they fill "
				  "it, in the colour of "
				  "the task that ran longest."
				: "sched_switch is not in the trace: a bar goes from a task's "
				  "first event to its last in a row.",
	    p->out);
	fputs("</text>\n", p->out);
	p->y += 26;
}

/* ---- histograms ---- */

struct histogram {
	struct durations durations;
	unsigned first, last; /* bars with something in them */
	uint64_t bar[BARS], most;
	unsigned x;
};

static void count_bars(struct histogram *h)
{
	h->first = bar_of(h->durations.value[0]);
	h->last = bar_of(h->durations.value[h->durations.count - 1]);
	for (size_t i = 0; i < h->durations.count; i++)
		h->bar[bar_of(h->durations.value[i])]++;
	for (unsigned i = h->first; i <= h->last; i++)
		h->most = h->bar[i] > h->most ? h->bar[i] : h->most;
	while (h->last - h->first + 1 < BARS_LEAST) { /* in the middle of so many */
		h->first -= h->first ? 1 : 0;
		h->last += h->last + 1 < BARS ? 1 : 0;
	}
}

/* "10 ms": a power of ten. */
static const char *plot_power(char buf[32], const struct plot *p, unsigned power)
{
	static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
	unsigned unit = p->trace->in_ns ? power / 3 : 0, zeros = power - 3 * unit;

	if (unit > 3) {
		unit = 3;
		zeros = power - 9;
	}
	snprintf(buf, 32, "1%.*s %s", (int)zeros, "00000000000000000000",
	    p->trace->in_ns ? units[unit] : "");
	return buf;
}

static double bar_width(const struct histogram *h)
{
	return (double)PANEL_WIDTH / (h->last - h->first + 1);
}

static void put_bar(const struct plot *p, const struct histogram *h, unsigned i, const char *class)
{
	double width = bar_width(h), height = (double)PANEL_HEIGHT * h->bar[i] / h->most,
	       x = h->x + width * (i - h->first);
	char from[32], to[32];

	if (h->bar[i] && height < 1.5)
		height = 1.5;
	fprintf(p->out,
	    "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>%llu from %s to "
	    "%s</title></rect>",
	    class, x + 0.5, p->y + PANEL_HEIGHT - height, width - 1, height,
	    (unsigned long long)h->bar[i], plot_duration(from, p, bar_begin(i)),
	    i + 1 < BARS ? plot_duration(to, p, bar_begin(i + 1)) : "the end of time");
}

static void put_scale(const struct plot *p, const struct histogram *h)
{
	char text[32];

	for (unsigned i = h->first; i <= h->last; i++) {
		double x = h->x + bar_width(h) * (i - h->first);
		bool ten = i % 5 == 1;
		fprintf(p->out, "<path class='axis' d='M%.1f %uv%u'/>", x, p->y + PANEL_HEIGHT,
		    ten ? 5 : 2);
		if (!ten)
			continue;
		fprintf(p->out, "<text class='dim small mid' x='%.1f' y='%u'>%s</text>", x,
		    p->y + PANEL_HEIGHT + 16, plot_power(text, p, (i - 1) / 5));
	}
}

static void put_panel(const struct plot *p, struct histogram *h, enum interval_kind kind)
{
	char median[32], p90[32], most[32], class[8];
	const struct durations *d = &h->durations;

	count_bars(h);
	snprintf(class, sizeof(class), "bar%u", kind);
	fprintf(p->out,
	    "<text class='dim' x='%u' y='%u'>%zu \xc2\xb7 median %s \xc2\xb7 90 %% %s \xc2\xb7 "
	    "most %s",
	    h->x, p->y - 14, d->count, plot_duration(median, p, durations_at(d, 50)),
	    plot_duration(p90, p, durations_at(d, 90)),
	    plot_duration(most, p, durations_at(d, 100)));
	fputs("</text>\n", p->out);
	if (p->model.unsure[kind])
		fprintf(p->out,
		    "<text class='dim small end' x='%u' y='%u'>%llu across gaps: not "
		    "measured</text>\n",
		    h->x + PANEL_WIDTH, p->y + PANEL_HEIGHT + 30,
		    (unsigned long long)p->model.unsure[kind]);
	for (unsigned i = h->first; i <= h->last; i++)
		if (h->bar[i])
			put_bar(p, h, i, class);
	fprintf(
	    p->out, "<path class='axis' d='M%u %uh%u'/>", h->x, p->y + PANEL_HEIGHT, PANEL_WIDTH);
	put_scale(p, h);
	fprintf(p->out, "<text class='dim small end' x='%u' y='%u'>%llu</text>\n",
	    h->x + PANEL_WIDTH, p->y + 8, (unsigned long long)h->most);
}

void plot_histograms(struct plot *p)
{
	static const char *const title[] = {
	    "Wakeup, until it runs", "Interrupts", "System calls", "Marked by programs"};
	static const char *const lacks[] = {"nothing to measure: sched_wakeup and sched_switch",
	    "nothing to measure: irq and irq_vectors",
	    "nothing to measure: syscalls or raw_syscalls",
	    "nothing to measure: a begin and an end of one name"};

	p->y += 16;
	for (enum interval_kind kind = 0; kind < INTERVAL_KINDS; kind++) {
		struct histogram h = {.x = 20 + kind * (PANEL_WIDTH + PANEL_GAP)};

		fprintf(
		    p->out, "<text class='head' x='%u' y='%u'>%s</text>\n", h.x, p->y, title[kind]);
		model_durations(&p->model, kind, WORD_ANY, &h.durations);
		p->y += 34;
		if (h.durations.count)
			put_panel(p, &h, kind);
		else
			fprintf(p->out, "<text class='dim' x='%u' y='%u'>%s</text>\n", h.x,
			    p->y - 14, lacks[kind]);
		p->y -= 34;
		free(h.durations.value);
	}
	p->y += 34 + PANEL_HEIGHT + 40;
}
