/*
 * See survey.h. A record changes what is known of its CPU and its task; what is over then is put down. Where events are missing on a CPU
 * nothing is concluded from before: neither who runs there, nor how long anything took that lay across. That is decided at the end, when
 * all gaps are known.
 */
#include "tools/trapline/survey.h"

#include <stdlib.h>
#include <string.h>

#define IRQ_DEPTH 16

struct survey_cpu {
	bool seen;  /* a record of it, or a gap */
	bool known; /* who runs there: pid */
	int32_t pid;
	uint64_t since, first; /* the slice of it; the first record in that */
	uint64_t visible;      /* since when nothing was lost */
	uint64_t last;	       /* record */
	struct entered {
		size_t name; /* role.word, of so many bytes: what its exit is recognized by */
		const char *word;
		int64_t number;
		uint32_t text;
		uint64_t begin;
	} irq[IRQ_DEPTH];
	unsigned depth;
};

/* The system call a task is in. */
struct survey_call {
	bool in;
	const struct event *event;
	int64_t number;
	uint32_t word;
	uint64_t begin;
};

/* Room for one more behind `count`; a power of two is where there is none. */
static void *more(void *items, size_t count, size_t size)
{
	return count & (count - 1) ? items : xrealloc(items, (count ? count * 2 : 1) * size);
}

static void add_span(struct survey *s, struct span span)
{
	if (span.end < span.begin || span.end < s->from || span.begin > s->to)
		return;
	s->span = more(s->span, s->spans, sizeof(span));
	s->span[s->spans++] = span;
}

static struct task *task_of(struct survey *s, int32_t pid)
{
	uint64_t *at = map_at(&s->task_at, (uint32_t)pid);

	if (!*at) {
		s->task = more(s->task, s->tasks, sizeof(*s->task));
		s->task[s->tasks++] = (struct task){.pid = pid};
		*at = s->tasks;
	}
	return &s->task[*at - 1];
}

/* ---- who runs ------------------------------------------------------------------------------------------------------ */

static void add_slice(struct survey *s, struct slice slice)
{
	if (slice.end < s->from || slice.begin > s->to)
		return;
	slice.begin = slice.begin < s->from ? s->from : slice.begin;
	slice.end = slice.end > s->to ? s->to : slice.end;
	s->slice = more(s->slice, s->slices, sizeof(slice));
	s->slice[s->slices++] = slice;
	task_of(s, slice.pid)->ran += slice.end - slice.begin;
}

static void end_slice(struct survey *s, unsigned cpu, uint64_t end)
{
	struct survey_cpu *c = &s->cpu[cpu];

	if (c->known && end >= c->since && end >= c->first)
		add_slice(s, (struct slice){cpu, c->pid, c->since, end, c->first});
	c->known = false;
}

static void begin_slice(struct survey_cpu *c, int32_t pid, uint64_t since, uint64_t now)
{
	c->known = true;
	c->pid = pid;
	c->since = since;
	c->first = now;
}

/* A record says who runs: since the CPU is visible, if there was no other yet. Another than we thought: a switch is not traced. */
static void running(struct survey *s, const struct record *r)
{
	struct survey_cpu *c = &s->cpu[r->cpu];
	uint64_t since = c->known ? r->time : c->visible;

	if (c->known && c->pid == r->pid)
		return;
	end_slice(s, r->cpu, c->last);
	begin_slice(c, r->pid, since, r->time);
}

static void switched(struct survey *s, const struct record *r, const struct role *role)
{
	struct survey_cpu *c = &s->cpu[r->cpu];
	int64_t next = role_number(s->trace, r, role->number, -1),
		previous = role_number(s->trace, r, role->detail, -1);

	if (next < 0 || previous < 0)
		return;
	s->switches = true;
	end_slice(s, r->cpu, r->time);
	begin_slice(c, next, r->time, r->time);
	*map_at(&s->woken, previous) = 0;
	uint64_t *woken = map_at(&s->woken, next);
	if (*woken && next)
		add_span(s, (struct span){.kind = SPAN_WAKEUP,
				.cpu = r->cpu,
				.pid = next,
				.begin = *woken - 1,
				.end = r->time});
	*woken = 0;
}

static void woken(struct survey *s, const struct record *r, const struct role *role)
{
	int64_t pid = role_number(s->trace, r, role->number, -1);
	uint64_t *since = pid < 0 ? NULL : map_at(&s->woken, pid);

	if (since && !*since)
		*since = r->time + 1;
}

/* ---- interrupts and system calls ----------------------------------------------------------------------------------- */

static void irq_entry(struct survey *s, const struct record *r, const struct role *role)
{
	struct survey_cpu *c = &s->cpu[r->cpu];

	if (c->depth == IRQ_DEPTH)
		c->depth = 0; /* exits are not traced */
	c->irq[c->depth++] =
	    (struct entered){role->length, role->word, role_number(s->trace, r, role->number, -1),
		role_word(&s->words, role, s->trace, r), r->time};
}

/* Those entered after the one that is left have no exit in the trace. */
static void irq_exit(struct survey *s, const struct record *r, const struct role *role)
{
	struct survey_cpu *c = &s->cpu[r->cpu];
	int64_t number = role_number(s->trace, r, role->number, -1);
	unsigned i = c->depth;

	while (i-- > 0) {
		const struct entered *e = &c->irq[i];
		if (e->name != role->length || memcmp(e->word, role->word, e->name) ||
		    e->number != number)
			continue;
		add_span(
		    s, (struct span){SPAN_IRQ, i > 0, r->cpu, r->pid, e->text, e->begin, r->time});
		c->depth = i;
		return;
	}
}

static void nmi(struct survey *s, const struct record *r, const struct role *role)
{
	int64_t took = role_number(s->trace, r, role->detail, -1);

	if (took >= 0 && (uint64_t)took <= r->time)
		add_span(s, (struct span){SPAN_IRQ, s->cpu[r->cpu].depth > 0, r->cpu, r->pid,
				role_word(&s->words, role, s->trace, r), r->time - took, r->time});
}

static struct survey_call *call_of(struct survey *s, int32_t pid)
{
	uint64_t *at = map_at(&s->call, (uint32_t)pid);

	if (!*at) {
		s->open = more(s->open, s->opens, sizeof(*s->open));
		s->open[s->opens++] = (struct survey_call){.in = false};
		*at = s->opens;
	}
	return &s->open[*at - 1];
}

/* The event of all calls and the one of this call may both be there: the first entry and the first exit count. */
static void call_entry(struct survey *s, const struct record *r, const struct role *role)
{
	struct survey_call *call = call_of(s, r->pid);
	int64_t number = role_number(s->trace, r, role->number, -1);

	if (call->in && call->number == number && call->event != r->event)
		return;
	*call = (struct survey_call){
	    true, r->event, number, role_word(&s->words, role, s->trace, r), r->time};
}

static void call_exit(struct survey *s, const struct record *r, const struct role *role)
{
	struct survey_call *call = call_of(s, r->pid);

	if (!call->in || call->number != role_number(s->trace, r, role->number, -1))
		return;
	add_span(
	    s, (struct span){SPAN_CALL, false, r->cpu, r->pid, call->word, call->begin, r->time});
	call->in = false;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------- */

void survey_begin(struct survey *s, struct trace *t)
{
	*s = (struct survey){.trace = t, .to = UINT64_MAX};
	s->role = xmalloc(t->events * sizeof(*s->role));
	for (size_t i = 0; i < t->events; i++)
		role_find(&s->role[i], &t->event[i]);
	s->count = xmalloc((t->events + 1) * sizeof(*s->count));
	s->cpu = xmalloc(t->cpus * sizeof(*s->cpu));
}

void survey_part(struct survey *s, uint64_t from, uint64_t to)
{
	s->from = from;
	s->to = to;
}

size_t survey_event(const struct survey *s, const struct record *r)
{
	return r->event ? (size_t)(r->event - s->trace->event) : s->trace->events;
}

static void lost(struct survey *s, const struct record *r)
{
	struct survey_cpu *c = &s->cpu[r->cpu];

	end_slice(s, r->cpu, c->last);
	s->unsure[SPAN_IRQ] += c->depth;
	c->depth = 0;
	s->gap = more(s->gap, s->gaps, sizeof(*s->gap));
	s->gap[s->gaps++] = (struct gap){r->cpu, c->last, r->time, r->lost, r->lost_unknown};
	c->visible = r->time;
	c->seen = true;
}

static void act(struct survey *s, const struct record *r, const struct role *role)
{
	static void (*const acts[])(
	    struct survey * s, const struct record *r, const struct role *role) = {
	    [ROLE_SWITCH] = switched,
	    [ROLE_WAKEUP] = woken,
	    [ROLE_IRQ_ENTRY] = irq_entry,
	    [ROLE_IRQ_EXIT] = irq_exit,
	    [ROLE_NMI] = nmi,
	    [ROLE_CALL_ENTRY] = call_entry,
	    [ROLE_CALL_EXIT] = call_exit,
	    [ROLE_MARK] = NULL,
	};

	if (acts[role->kind])
		acts[role->kind](s, r, role);
}

static void count(struct survey *s, const struct record *r, size_t event)
{
	s->records++;
	s->count[event]++;
	(*map_at(&s->of_task, (uint64_t)event << 32 | (uint32_t)r->pid))++;
	task_of(s, r->pid)->records++;
	if (r->event && s->role[event].kind == ROLE_MARK) {
		s->mark = more(s->mark, s->marks, sizeof(*s->mark));
		s->mark[s->marks++] = *r;
	}
}

void survey_record(struct survey *s, const struct record *r)
{
	struct survey_cpu *c = &s->cpu[r->cpu];
	size_t event = survey_event(s, r);

	if (!s->records && !s->gaps)
		s->first = r->time;
	if (r->time > s->last)
		s->last = r->time;
	if (r->is_gap) {
		lost(s, r);
		return;
	}
	if (!c->seen)
		c->visible = s->first;
	c->seen = true;
	if (r->time >= s->from && r->time <= s->to)
		count(s, r, event);
	running(s, r);
	if (r->event)
		act(s, r, &s->role[event]);
	c->last = r->time;
}

/* Of the gaps from each one on, which are in the order of their ends, when the first begins. */
static uint64_t *gap_begins(const struct survey *s)
{
	uint64_t *begin = xmalloc((s->gaps + 1) * sizeof(*begin));

	begin[s->gaps] = UINT64_MAX;
	for (size_t i = s->gaps; i-- > 0;)
		begin[i] = s->gap[i].begin < begin[i + 1] ? s->gap[i].begin : begin[i + 1];
	return begin;
}

/* Was something lost meanwhile, on any CPU, for tasks move? An interrupt stays, and is forgotten when its CPU loses something. */
static bool is_unsure(const struct survey *s, const uint64_t *gap_begin, const struct span *span)
{
	size_t low = 0, high = s->gaps;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (s->gap[middle].end <= span->begin)
			low = middle + 1;
		else
			high = middle;
	}
	return span->kind != SPAN_IRQ && gap_begin[low] < span->end;
}

static void drop_unsure(struct survey *s)
{
	uint64_t *gap_begin = gap_begins(s);
	size_t kept = 0;

	for (size_t i = 0; i < s->spans; i++) {
		if (is_unsure(s, gap_begin, &s->span[i]))
			s->unsure[s->span[i].kind]++;
		else
			s->span[kept++] = s->span[i];
	}
	s->spans = kept;
	free(gap_begin);
}

/* Where no switches are traced, nobody ran before he was seen. */
static void begin_where_seen(struct survey *s)
{
	for (size_t i = 0; i < s->slices; i++) {
		struct slice *slice = &s->slice[i];
		uint64_t seen = slice->seen < slice->end ? slice->seen : slice->end;
		if (seen <= slice->begin)
			continue;
		task_of(s, slice->pid)->ran -= seen - slice->begin;
		slice->begin = seen;
	}
}

static void drop_gaps_outside(struct survey *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->gaps; i++)
		if (s->gap[i].end >= s->from && s->gap[i].begin <= s->to)
			s->gap[kept++] = s->gap[i];
	s->gaps = kept;
}

void survey_end(struct survey *s)
{
	for (unsigned cpu = 0; cpu < s->trace->cpus; cpu++)
		end_slice(s, cpu, s->switches ? s->last : s->cpu[cpu].last);
	if (!s->switches)
		begin_where_seen(s);
	drop_unsure(s);
	drop_gaps_outside(s);
}

void survey_free(struct survey *s)
{
	free(s->role);
	free(s->count);
	free(s->span);
	free(s->slice);
	free(s->mark);
	free(s->gap);
	free(s->task);
	words_free(&s->words);
	map_clear(&s->task_at);
	map_clear(&s->woken);
	map_clear(&s->call);
	map_clear(&s->of_task);
	free(s->cpu);
	free(s->open);
}

bool survey_seen(const struct survey *s, unsigned cpu)
{
	return s->cpu[cpu].seen;
}

uint64_t survey_lost(const struct survey *s, unsigned cpu, bool *unknown)
{
	uint64_t sum = 0;

	*unknown = false;
	for (size_t i = 0; i < s->gaps; i++) {
		if (s->gap[i].cpu != cpu)
			continue;
		sum += s->gap[i].lost;
		*unknown |= s->gap[i].unknown;
	}
	return sum;
}

/* ---- durations ----------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void survey_durations(
    const struct survey *s, enum span_kind kind, uint32_t word, struct durations *out)
{
	*out = (struct durations){.value = xmalloc(s->spans * sizeof(uint64_t))};
	for (size_t i = 0; i < s->spans; i++) {
		const struct span *span = &s->span[i];
		if (span->kind == kind && (word == WORD_ANY ? !span->inner : span->word == word))
			out->value[out->count++] = span->end - span->begin;
	}
	qsort(out->value, out->count, sizeof(uint64_t), by_value);
}

uint64_t durations_at(const struct durations *d, unsigned percent)
{
	return d->value[(d->count * percent + 99) / 100 - 1];
}
