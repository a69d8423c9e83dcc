/*
 * See model.h. A record changes what is known of its CPU and its task; what is over then is put
 * down. Where events are missing on a CPU nothing is concluded from before: neither who runs there,
 * nor how long anything took that lay across. That is decided at the end, when all gaps are known.
 */
#include "tools/trapline/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "tools/trapline/lib/roomy.h"

#define TASK_STATES 0xff /* of prev_state: all that are not "running"; 0x100 is "preempted" */

struct model_cpu {
	bool seen;  /* a record of it, or a gap */
	bool known; /* who runs there: pid */
	int32_t pid;
	uint64_t since, first; /* the state of it; the first record in that */
	uint64_t visible;      /* since when nothing was lost */
	uint64_t last;	       /* record */
};

static void add_interval(struct model *m, struct interval interval)
{
	if (interval.end < interval.begin || interval.end < m->from || interval.begin > m->to)
		return;
	m->interval = roomy_more(m->interval, m->intervals, sizeof(interval));
	m->interval[m->intervals++] = interval;
}

static struct task *task_of(struct model *m, int32_t pid)
{
	uint64_t *at = map_at(&m->task_at, (uint32_t)pid);

	if (!*at) {
		m->task = roomy_more(m->task, m->tasks, sizeof(*m->task));
		m->task[m->tasks++] = (struct task){.pid = pid};
		*at = m->tasks;
	}
	return &m->task[*at - 1];
}

/* ---- who runs ---- */

static void add_state(struct model *m, struct state state)
{
	if (state.end < m->from || state.begin > m->to)
		return;
	state.begin = state.begin < m->from ? m->from : state.begin;
	state.end = state.end > m->to ? m->to : state.end;
	m->state = roomy_more(m->state, m->states, sizeof(state));
	m->state[m->states++] = state;
	task_of(m, state.pid)->ran += state.end - state.begin;
}

static void end_state(struct model *m, unsigned cpu, uint64_t end)
{
	struct model_cpu *c = &m->cpu[cpu];

	if (c->known && end >= c->since && end >= c->first)
		add_state(m, (struct state){cpu, c->pid, c->since, end, c->first});
	c->known = false;
}

static void begin_state(struct model_cpu *c, int32_t pid, uint64_t since, uint64_t now)
{
	c->known = true;
	c->pid = pid;
	c->since = since;
	c->first = now;
}

/*
 * A record says who runs: since the CPU is visible, if there was no other yet. Another than we
 * thought: a switch is not traced.
 */
static void running(struct model *m, const struct record *r)
{
	struct model_cpu *c = &m->cpu[r->cpu];
	uint64_t since = c->known ? r->time : c->visible;

	if (c->known && c->pid == r->pid)
		return;
	end_state(m, r->cpu, c->last);
	begin_state(c, r->pid, since, r->time);
}

/* Switched off the CPU while it could go on. */
static bool is_preempted(struct model *m, const struct record *r, const struct semantics *semantics)
{
	int64_t state = semantics_number(m->trace, r, semantics->state, TASK_STATES);

	return !(state & TASK_STATES);
}

/* The task that is switched to could run since it was woken or preempted. */
static void end_waiting(struct model *m, int64_t pid, const struct record *r)
{
	uint64_t *since = map_at(&m->runnable, pid);

	if (*since && pid && r->time >= m->from && *since - 1 <= m->to) {
		m->waiting = roomy_more(m->waiting, m->waitings, sizeof(*m->waiting));
		m->waiting[m->waitings++] =
		    (struct state){r->cpu, pid, *since - 1, r->time, r->time};
	}
	*since = 0;
}

static void switched(struct model *m, const struct record *r, const struct semantics *semantics)
{
	struct model_cpu *c = &m->cpu[r->cpu];
	int64_t next = semantics_number(m->trace, r, semantics->number, -1),
		previous = semantics_number(m->trace, r, semantics->detail, -1);

	if (next < 0 || previous < 0)
		return;
	m->switches = true;
	end_state(m, r->cpu, r->time);
	begin_state(c, next, r->time, r->time);
	end_waiting(m, next, r);
	if (is_preempted(m, r, semantics))
		*map_at(&m->runnable, previous) = r->time + 1;
	*map_at(&m->woken, previous) = 0;
	uint64_t *woken = map_at(&m->woken, next);
	if (*woken && next)
		add_interval(m, (struct interval){.kind = INTERVAL_WAKEUP,
				    .cpu = r->cpu,
				    .pid = next,
				    .begin = *woken - 1,
				    .end = r->time});
	*woken = 0;
}

static void woken(struct model *m, const struct record *r, const struct semantics *semantics)
{
	int64_t pid = semantics_number(m->trace, r, semantics->number, -1);
	uint64_t *since = pid < 0 ? NULL : map_at(&m->woken, pid);

	if (since && !*since)
		*since = r->time + 1;
	since = pid < 0 ? NULL : map_at(&m->runnable, pid);
	if (since && !*since)
		*since = r->time + 1;
}

/* ---- pairs of records ---- */

static const enum interval_kind kind_of[] = {[PAIRING_IRQ] = INTERVAL_IRQ,
    [PAIRING_SYSCALL] = INTERVAL_SYSCALL,
    [PAIRING_MARK] = INTERVAL_MARK};

static void unpaired(void *model, const struct pairing_interval *open, enum pairing_reason why)
{
	struct model *m = model;

	if (why == PAIRING_GAP && open->kind != PAIRING_CALL)
		m->unsure[kind_of[open->kind]]++;
}

/* Marks are in the order of their times; NULL: it is outside the part that is wanted. */
static struct mark *find_mark(struct model *m, const struct record *r)
{
	size_t low = 0, high = m->marks;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (m->mark[middle].record.time < r->time)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < m->marks && m->mark[low].record.time == r->time; low++)
		if (m->mark[low].record.data == r->data)
			return &m->mark[low];
	return NULL;
}

static void pair(struct model *m, const struct record *r)
{
	struct pairing_interval begun;
	struct mark *mark;

	if (pairing_record(&m->pairing, r, &begun) != PAIRING_ENDS || begun.kind == PAIRING_CALL)
		return;
	add_interval(m, (struct interval){kind_of[begun.kind], begun.depth, r->cpu, r->pid,
			    begun.word, begun.begin, r->time});
	if (begun.kind != PAIRING_MARK)
		return;
	if ((mark = find_mark(m, &begun.record)))
		mark->paired = true;
	if ((mark = find_mark(m, r)))
		mark->paired = true;
}

/* ---- the whole ---- */

void model_begin(struct model *m, struct trace *t)
{
	*m = (struct model){.trace = t, .to = UINT64_MAX};
	pairing_begin(&m->pairing, t);
	m->pairing.unpaired = unpaired;
	m->pairing.context = m;
	calltree_begin(&m->calls);
	m->pairing.calls = &m->calls;
	m->count = xmalloc((t->events + 1) * sizeof(*m->count));
	m->cpu = xmalloc(t->cpus * sizeof(*m->cpu));
}

void model_part(struct model *m, uint64_t from, uint64_t to)
{
	m->from = from;
	m->to = to;
	calltree_part(&m->calls, from, to);
}

size_t model_event(const struct model *m, const struct record *r)
{
	return r->event ? (size_t)(r->event - m->trace->event) : m->trace->events;
}

static void lost(struct model *m, const struct record *r)
{
	struct model_cpu *c = &m->cpu[r->cpu];

	end_state(m, r->cpu, c->last);
	m->gap = roomy_more(m->gap, m->gaps, sizeof(*m->gap));
	m->gap[m->gaps++] = (struct gap){r->cpu, c->last, r->time, r->lost, r->lost_unknown};
	c->visible = r->time;
	c->seen = true;
}

static void count(struct model *m, const struct record *r, size_t event)
{
	m->records++;
	m->count[event]++;
	(*map_at(&m->of_task, (uint64_t)event << 32 | (uint32_t)r->pid))++;
	task_of(m, r->pid)->records++;
	if (r->event && m->pairing.semantics[event].kind == SEMANTICS_MARK) {
		m->mark = roomy_more(m->mark, m->marks, sizeof(*m->mark));
		m->mark[m->marks++] = (struct mark){*r, false};
	}
}

void model_record(struct model *m, const struct record *r)
{
	struct model_cpu *c = &m->cpu[r->cpu];
	size_t event = model_event(m, r);

	if (!m->any)
		m->first = r->time;
	m->any = true;
	if (r->time > m->last)
		m->last = r->time;
	if (r->is_gap) {
		pair(m, r);
		lost(m, r);
		return;
	}
	if (!c->seen)
		c->visible = m->first;
	c->seen = true;
	if (r->time >= m->from && r->time <= m->to)
		count(m, r, event);
	running(m, r);
	if (r->event && m->pairing.semantics[event].kind == SEMANTICS_SWITCH)
		switched(m, r, &m->pairing.semantics[event]);
	else if (r->event && m->pairing.semantics[event].kind == SEMANTICS_WAKEUP)
		woken(m, r, &m->pairing.semantics[event]);
	else
		pair(m, r);
	c->last = r->time;
}

/* Of the gaps from each one on, which are in the order of their ends, when the first begins. */
static uint64_t *gap_begins(const struct model *m)
{
	uint64_t *begin = xmalloc((m->gaps + 1) * sizeof(*begin));

	begin[m->gaps] = UINT64_MAX;
	for (size_t i = m->gaps; i-- > 0;)
		begin[i] = m->gap[i].begin < begin[i + 1] ? m->gap[i].begin : begin[i + 1];
	return begin;
}

/* Was something lost meanwhile, on any CPU? */
static bool is_across_gap(
    const struct model *m, const uint64_t *gap_begin, uint64_t begin, uint64_t end)
{
	return gap_begin[COUNT_UP_TO(m->gap, m->gaps, end, begin)] < end;
}

/* Tasks migrate. An interrupt does not, and is abandoned when its own CPU loses something. */
static void drop_unsure(struct model *m)
{
	uint64_t *gap_begin = gap_begins(m);
	size_t kept = 0;

	for (size_t i = 0; i < m->intervals; i++) {
		const struct interval *v = &m->interval[i];
		if (v->kind != INTERVAL_IRQ && is_across_gap(m, gap_begin, v->begin, v->end))
			m->unsure[v->kind]++;
		else
			m->interval[kept++] = *v;
	}
	m->intervals = kept;
	kept = 0;
	for (size_t i = 0; i < m->waitings; i++)
		if (!is_across_gap(m, gap_begin, m->waiting[i].begin, m->waiting[i].end))
			m->waiting[kept++] = m->waiting[i];
	m->waitings = kept;
	free(gap_begin);
}

/* Where no switches are traced, nobody ran before he was seen. */
static void begin_where_seen(struct model *m)
{
	for (size_t i = 0; i < m->states; i++) {
		struct state *state = &m->state[i];
		uint64_t seen = state->seen < state->end ? state->seen : state->end;
		if (seen <= state->begin)
			continue;
		task_of(m, state->pid)->ran -= seen - state->begin;
		state->begin = seen;
	}
}

static void drop_gaps_outside(struct model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->gaps; i++)
		if (m->gap[i].end >= m->from && m->gap[i].begin <= m->to)
			m->gap[kept++] = m->gap[i];
	m->gaps = kept;
}

void model_end(struct model *m)
{
	for (unsigned cpu = 0; cpu < m->trace->cpus; cpu++)
		end_state(m, cpu, m->switches ? m->last : m->cpu[cpu].last);
	pairing_end(&m->pairing);
	calltree_end(&m->calls);
	calltree_sort(&m->calls, &m->pairing.call_words);
	if (!m->switches)
		begin_where_seen(m);
	drop_unsure(m);
	drop_gaps_outside(m);
}

void model_free(struct model *m)
{
	pairing_free(&m->pairing);
	calltree_free(&m->calls);
	free(m->count);
	roomy_free(m->interval);
	roomy_free(m->state);
	roomy_free(m->waiting);
	roomy_free(m->mark);
	roomy_free(m->gap);
	roomy_free(m->task);
	map_clear(&m->task_at);
	map_clear(&m->woken);
	map_clear(&m->runnable);
	map_clear(&m->of_task);
	free(m->cpu);
}

const char *model_name(const struct model *m, const struct interval *v)
{
	return pairing_name(
	    &m->pairing, v->kind == INTERVAL_MARK ? PAIRING_MARK : PAIRING_IRQ, v->word);
}

bool model_seen(const struct model *m, unsigned cpu)
{
	return m->cpu[cpu].seen;
}

uint64_t model_lost(const struct model *m, unsigned cpu, bool *unknown)
{
	uint64_t sum = 0;

	*unknown = false;
	for (size_t i = 0; i < m->gaps; i++) {
		if (m->gap[i].cpu != cpu)
			continue;
		sum += m->gap[i].lost;
		*unknown |= m->gap[i].unknown;
	}
	return sum;
}

/* ---- durations ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void model_durations(
    const struct model *m, enum interval_kind kind, uint32_t word, struct durations *out)
{
	*out = (struct durations){.value = xmalloc(m->intervals * sizeof(uint64_t))};
	for (size_t i = 0; i < m->intervals; i++) {
		const struct interval *interval = &m->interval[i];
		if (interval->kind == kind &&
		    (word == WORD_ANY ? !interval->depth : interval->word == word))
			out->value[out->count++] = interval->end - interval->begin;
	}
	qsort(out->value, out->count, sizeof(uint64_t), by_value);
}

uint64_t durations_at(const struct durations *d, unsigned percent)
{
	return d->value[(d->count * percent + 99) / 100 - 1];
}
