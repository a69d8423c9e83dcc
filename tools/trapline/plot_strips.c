/* Interrupts and system calls in a CPU's lane: strips along it, the wide ones one by one and the others by columns. See plot_lane.h. */
#include "tools/trapline/plot_lane.h"

#define IRQ_HEIGHT  7
#define CALL_TOP    35
#define CALL_HEIGHT 5

/* ---- one colour, many columns -------------------------------------------------------------------------------------- */

void path_bar(struct path *path, double x, double y, double width, double height)
{
	if (!path->out && !(path->out = open_memstream(&path->text, &path->size)))
		die(EXIT_TROUBLE, "out of memory");
	fprintf(path->out, "M%g %gh%gv%gh-%gz", x, y, width, height, width);
}

bool path_begin(const struct plot *p, struct path *path, const char *class)
{
	if (!path->out)
		return false;
	fclose(path->out);
	fprintf(p->out, "<path class='%s' d='%s'>", class, path->text);
	free(path->text);
	*path = (struct path){.text = NULL};
	return true;
}

unsigned column_level(const struct columns *c, unsigned column)
{
	uint64_t all = columns_edge(c, column + 1) - columns_edge(c, column),
		 level = (c->column[column].busy * LEVELS + all - 1) / all;

	return level > LEVELS ? LEVELS : level;
}

/* ---- strips -------------------------------------------------------------------------------------------------------- */

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
		unsigned level = column_level(&s->columns, from);
		for (to = from + 1; to < COLUMNS && column_level(&s->columns, to) == level;)
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

void lane_irqs(const struct plot *p, unsigned cpu)
{
	struct strip s;

	strip_begin(&s, p, "irq", "short interrupts");
	s.y = p->y + 1;
	s.height = IRQ_HEIGHT;
	for (size_t i = 0; i < p->survey.spans; i++) {
		const struct span *span = &p->survey.span[i];
		if (span->kind == SPAN_IRQ && span->cpu == cpu && !span->inner)
			strip_span(&s, span, span->begin, span->end);
	}
	strip_end(&s);
}

static int by_task(const void *a, const void *b)
{
	const struct span *x = *(const struct span *const *)a, *y = *(const struct span *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void calls_sort(const struct plot *p, struct calls *calls)
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

void calls_free(struct calls *calls)
{
	free(calls->span);
}

/* Of each slice of a task what it spent in system calls. */
void lane_calls(const struct plot *p, unsigned cpu, const struct calls *calls)
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
