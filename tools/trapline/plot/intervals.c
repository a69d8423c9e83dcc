/*
 * Interrupts and system calls in a CPU's lane: strips along it, the wide ones one by one and the
 * others by columns. See track.h.
 */
#include "tools/trapline/plot/track.h"

#define IRQ_HEIGHT  7
#define CALL_TOP    35
#define CALL_HEIGHT 5

/* ---- one colour, many columns ---- */

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

/* ---- tracks ---- */

void track_begin(
    struct track *t, const struct plot *p, const char *class, const char *what, double height)
{
	*t = (struct track){.p = p, .class = class, .what = what, .y = p->y, .height = height};
	columns_begin(&t->columns, p->begin, p->end);
}

void track_add(struct track *t, const char *name, int32_t pid, uint64_t from, uint64_t to,
    uint64_t begin, uint64_t end)
{
	const struct plot *p = t->p;
	double x = plot_x(p, from), width = plot_x(p, to) - x;
	char took[32], at[32];

	if (width < WIDE) {
		columns_add(&t->columns, from, to, 0);
		t->count++;
		t->time += to - from;
		return;
	}
	fprintf(p->out, "<rect class='%s' x='%.1f' y='%g' width='%.1f' height='%g'><title>",
	    t->class, x, t->y, width, t->height);
	put_string(p, name);
	fputs(" in ", p->out);
	put_task(p, pid);
	fprintf(p->out, "\n%s from %s on</title></rect>", plot_duration(took, p, end - begin),
	    plot_time(at, p, begin, end - begin));
	if (t->labels)
		plot_label(p, "on small", name, x + 4, t->y + t->height - 3, width - 8);
}

/* Narrow ones: as high as they fill their column, and never too low to be seen. */
void track_end(struct track *t)
{
	struct path path = {.text = NULL};
	char took[32];
	unsigned to;

	for (unsigned from = 0; from < COLUMNS; from = to) {
		unsigned level = column_level(&t->columns, from);
		for (to = from + 1; to < COLUMNS && column_level(&t->columns, to) == level;)
			to++;
		double height = t->height * (0.4 + 0.6 * level / LEVELS);
		if (level)
			path_bar(
			    &path, LANES_LEFT + from, t->y + t->height - height, to - from, height);
	}
	if (path_begin(t->p, &path, t->class))
		fprintf(t->p->out, "<title>%llu %s, %s in all</title></path>",
		    (unsigned long long)t->count, t->what, plot_duration(took, t->p, t->time));
}

void track_irqs(const struct plot *p, unsigned cpu)
{
	struct track t;

	track_begin(&t, p, "irq", "short interrupts", IRQ_HEIGHT);
	t.y = p->y + 1;
	for (size_t i = 0; i < p->model.intervals; i++) {
		const struct interval *v = &p->model.interval[i];
		if (v->kind == INTERVAL_IRQ && v->cpu == cpu && !v->depth)
			track_add(&t, model_name(&p->model, v), v->pid, v->begin, v->end, v->begin,
			    v->end);
	}
	track_end(&t);
}

static int by_task(const void *a, const void *b)
{
	const struct interval *x = *(const struct interval *const *)a,
			      *y = *(const struct interval *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void calls_sort(const struct plot *p, struct calls *calls)
{
	*calls = (struct calls){.interval = xmalloc(p->model.intervals * sizeof(*calls->interval))};
	for (size_t i = 0; i < p->model.intervals; i++)
		if (p->model.interval[i].kind == INTERVAL_SYSCALL)
			calls->interval[calls->count++] = &p->model.interval[i];
	qsort(calls->interval, calls->count, sizeof(*calls->interval), by_task);
}

/* The first call of a task that ends after `time`. */
static size_t find_call(const struct calls *calls, int32_t pid, uint64_t time)
{
	size_t low = 0, high = calls->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct interval *s = calls->interval[middle];
		if (s->pid < pid || (s->pid == pid && s->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void calls_free(struct calls *calls)
{
	free(calls->interval);
}

/* Of each state of a task what it spent in system calls. */
void track_calls(const struct plot *p, unsigned cpu, const struct calls *calls)
{
	struct track t;

	track_begin(&t, p, "call", "short stretches in system calls", CALL_HEIGHT);
	t.y = p->y + CALL_TOP;
	for (size_t i = 0; i < p->model.states; i++) {
		const struct state *state = &p->model.state[i];
		if (state->cpu != cpu || !state->pid)
			continue;
		for (size_t k = find_call(calls, state->pid, state->begin); k < calls->count; k++) {
			const struct interval *call = calls->interval[k];
			if (call->pid != state->pid || call->begin >= state->end)
				break;
			track_add(&t, model_name(&p->model, call), call->pid,
			    call->begin > state->begin ? call->begin : state->begin,
			    call->end < state->end ? call->end : state->end, call->begin,
			    call->end);
		}
	}
	track_end(&t);
}
