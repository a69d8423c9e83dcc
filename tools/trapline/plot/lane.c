/* Which tasks have lanes of their own, and in which order. See plot.h. */
#include "tools/trapline/plot/plot.h"

struct candidate {
	size_t task; /* in the model: in the order in which they came */
	uint64_t ran;
	bool marks;
};

/* Programs that mark something are those that are looked at; then who ran longest. */
static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->marks != y->marks)
		return x->marks ? -1 : 1;
	if (x->ran != y->ran)
		return x->ran > y->ran ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int by_time(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static size_t find_candidates(const struct plot *p, struct candidate *out)
{
	const struct model *m = &p->model;
	struct map marks = {.slots = 0};
	size_t count = 0;

	for (size_t i = 0; i < m->marks; i++)
		*map_at(&marks, (uint32_t)m->mark[i].record.pid) = 1;
	for (size_t i = 0; i < m->tasks; i++)
		if (m->task[i].pid)
			out[count++] = (struct candidate){
			    i, m->task[i].ran, *map_at(&marks, (uint32_t)m->task[i].pid)};
	map_clear(&marks);
	qsort(out, count, sizeof(*out), by_rank);
	return count;
}

void plot_find_lanes(struct plot *p)
{
	struct candidate *candidate = xmalloc(p->model.tasks * sizeof(*candidate));
	size_t count = find_candidates(p, candidate);

	p->lanes = count < LANES_MOST ? count : LANES_MOST;
	p->lanes_missing = count - p->lanes;
	p->lane = xmalloc(p->lanes * sizeof(*p->lane));
	for (unsigned i = 0; i < p->lanes; i++)
		p->lane[i] =
		    (struct lane){p->model.task[candidate[i].task].pid, candidate[i].task, i};
	qsort(p->lane, p->lanes, sizeof(*p->lane), by_time);
	for (unsigned i = 0; i < p->lanes; i++)
		*map_at(&p->lane_at, (uint32_t)p->lane[i].pid) = i + 1;
	free(candidate);
}

unsigned plot_lane_of(const struct plot *p, int32_t pid)
{
	uint64_t lane = map_find(&p->lane_at, (uint32_t)pid);

	return lane ? lane - 1 : LANE_NONE;
}
