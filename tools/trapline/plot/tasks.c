/*
 * A lane for each task, from top to bottom: its marks; what it marked as begun and ended, one
 * within the other; when it ran, and below that when it waited for a CPU; its system calls. See
 * track.h.
 */
#include "tools/trapline/plot/track.h"

#define MARKS_HEIGHT 14
#define MARKED_STEP  14
#define MARKED_DEPTH 4
#define STATE_HEIGHT 12
#define WAIT_HEIGHT  3
#define CALLS_HEIGHT 5
#define LANE_GAP     4
#define FOOT_HEIGHT  22

/* What a lane has. */
struct content {
	bool marks, calls;
	unsigned depth; /* of what was marked as begun and ended */
};

static void find_contents(const struct plot *p, struct content *content)
{
	const struct model *m = &p->model;
	unsigned lane;

	for (size_t i = 0; i < m->marks; i++) {
		lane = plot_lane_of(p, m->mark[i].record.pid);
		if (lane != LANE_NONE && !m->mark[i].paired)
			content[lane].marks = true;
	}
	for (size_t i = 0; i < m->intervals; i++) {
		const struct interval *v = &m->interval[i];
		lane = plot_lane_of(p, v->pid);
		if (lane == LANE_NONE)
			continue;
		content[lane].calls |= v->kind == INTERVAL_SYSCALL;
		if (v->kind == INTERVAL_MARK && v->depth < MARKED_DEPTH &&
		    v->depth >= content[lane].depth)
			content[lane].depth = v->depth + 1;
	}
}

static unsigned lane_height(const struct content *c)
{
	return 2 + (c->marks ? MARKS_HEIGHT : 0) + c->depth * MARKED_STEP + STATE_HEIGHT +
	       WAIT_HEIGHT + (c->calls ? CALLS_HEIGHT + 2 : 0);
}

/* Intervals of a kind and a task; of what is marked, of a depth. */
static void put_intervals(
    const struct plot *p, struct track *t, int32_t pid, enum interval_kind kind, unsigned depth)
{
	for (size_t i = 0; i < p->model.intervals; i++) {
		const struct interval *v = &p->model.interval[i];
		if (v->kind == kind && v->pid == pid && v->depth == depth)
			track_add(
			    t, model_name(&p->model, v), pid, v->begin, v->end, v->begin, v->end);
	}
	track_end(t);
}

static void put_states(
    struct track *t, int32_t pid, const struct state *state, size_t states, const char *format)
{
	char name[48];

	for (size_t i = 0; i < states; i++) {
		const struct state *s = &state[i];
		if (s->pid != pid)
			continue;
		snprintf(name, sizeof(name), "%s %u", format, s->cpu);
		track_add(t, name, pid, s->begin, s->end, s->begin, s->end);
	}
	track_end(t);
}

static void put_title(const struct plot *p, int32_t pid, unsigned height)
{
	const char *comm = trace_comm(p->trace, pid);

	fprintf(p->out, "<rect class='lane' x='%u' y='%u' width='%u' height='%u'/>", LANES_LEFT,
	    p->y, COLUMNS, height);
	plot_grid(p, height);
	fprintf(p->out, "<text class='end' x='%u' y='%u'>", LANES_LEFT - 10, p->y + height / 2 + 4);
	xml_put(p->out, comm, strnlen(comm, 16));
	fprintf(p->out, " <tspan class='dim small'>%d</tspan></text>", pid);
}

static void put_lane(struct plot *p, int32_t pid, const struct content *c)
{
	struct track t;
	unsigned top = p->y;

	fputs("<g>", p->out);
	put_title(p, pid, lane_height(c));
	p->y += 1;
	if (c->marks) {
		track_marks(p, pid);
		p->y += MARKS_HEIGHT;
	}
	for (unsigned depth = 0; depth < c->depth; depth++) {
		track_begin(&t, p, "marked", "short intervals", MARKED_STEP - 1);
		t.labels = true;
		put_intervals(p, &t, pid, INTERVAL_MARK, depth);
		p->y += MARKED_STEP;
	}
	track_begin(
	    &t, p, plot_class(plot_colour(p, pid)), "short stretches of running", STATE_HEIGHT);
	put_states(&t, pid, p->model.state, p->model.states, "on CPU");
	p->y += STATE_HEIGHT;
	track_begin(&t, p, "wait", "short waits for a CPU", WAIT_HEIGHT);
	put_states(&t, pid, p->model.waiting, p->model.waitings, "waits for a CPU, then on CPU");
	p->y += WAIT_HEIGHT + 1;
	if (c->calls) {
		track_begin(&t, p, "call", "short system calls", CALLS_HEIGHT);
		put_intervals(p, &t, pid, INTERVAL_SYSCALL, 0);
	}
	fputs("</g>\n", p->out);
	p->y = top + lane_height(c) + LANE_GAP;
}

static void put_folded(struct plot *p)
{
	size_t folded = p->lanes_missing + (p->lanes > LANES_SHOWN ? p->lanes - LANES_SHOWN : 0);
	uint64_t ran = 0;
	char took[32];

	if (!folded)
		return;
	for (size_t i = 0; i < p->model.tasks; i++) {
		unsigned lane = plot_lane_of(p, p->model.task[i].pid);
		if (p->model.task[i].pid &&
		    (lane == LANE_NONE || p->lane[lane].rank >= LANES_SHOWN))
			ran += p->model.task[i].ran;
	}
	fprintf(p->out,
	    "<text class='dim' x='%u' y='%u'>%zu more task%s, which ran for %s%s</text>\n",
	    LANES_LEFT, p->y + 14, folded, folded > 1 ? "s" : "", plot_duration(took, p, ran),
	    folded > 1 ? " together" : "");
	p->y += FOOT_HEIGHT;
}

void plot_tasks(struct plot *p)
{
	struct content *content = xmalloc(p->lanes * sizeof(*content));

	find_contents(p, content);
	p->y += 6;
	for (unsigned i = 0; i < p->lanes; i++)
		if (p->lane[i].rank < LANES_SHOWN)
			put_lane(p, p->lane[i].pid, &content[i]);
	put_folded(p);
	free(content);
}
