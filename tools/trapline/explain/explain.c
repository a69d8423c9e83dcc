/* See explain.h. A wait for a task is that task's span, which may have waits of its own. */
#include "tools/trapline/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MOST 16 /* tasks that wait for one another */

/* The task whose time `explain` takes apart, and the task that waits for it meanwhile. */
struct link {
	const struct timeline_task *task;
	const struct link *waiter;
	uint32_t wait;
	unsigned depth;
};

/* The number of the part that a piece belongs to. */
static uint32_t part_of(struct explanation *e, const struct part *piece)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%d %d %d %u %u %d %u", piece->kind, piece->pid,
	    piece->other, piece->call, piece->irq, piece->waiter, piece->wait);

	return words_add(&e->alike, text, n);
}

/* A piece from one time to another. */
static void add_piece(
    struct explanation *e, const struct link *link, struct part piece, uint64_t from, uint64_t to)
{
	if (from == to)
		return;
	piece.pid = link->task->pid;
	piece.waiter = link->waiter ? link->waiter->task->pid : 0;
	piece.wait = link->waiter ? link->wait : NO_WORD;
	uint32_t i = part_of(e, &piece);
	if (i == e->parts) {
		if (!(e->parts & (e->parts - 1)))
			e->part =
			    xrealloc(e->part, (e->parts ? e->parts * 2 : 1) * sizeof(*e->part));
		e->part[e->parts++] = piece;
	}
	struct part *p = &e->part[i];
	p->time += to - from;
	p->count++;
	if (to - from > p->longest) {
		p->longest = to - from;
		p->at = from;
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the word of the slice that contains `time`, or NO_WORD. Lowers *until to the time at
 * which that changes.
 */
static uint32_t word_at(const struct slices *s, uint64_t time, uint64_t *until)
{
	size_t i = slices_from(s, time);

	if (i == s->count)
		return NO_WORD;
	bool inside = s->slice[i].begin <= time;
	*until = least(*until, inside ? s->slice[i].end : s->slice[i].begin);
	return inside ? s->slice[i].word : NO_WORD;
}

static void explain_run(
    struct explanation *e, const struct link *link, unsigned cpu, uint64_t from, uint64_t to)
{
	for (uint64_t next; from < to; from = next) {
		next = to;
		struct part piece = {.kind = PART_RUNS,
		    .call = word_at(&link->task->calls, from, &next),
		    .irq = word_at(&e->timeline->cpu[cpu].irqs, from, &next)};
		if (piece.irq != NO_WORD) {
			piece.kind = PART_IRQ;
			piece.call = NO_WORD;
		}
		add_piece(e, link, piece, from, next);
	}
}

/* Adds pieces of a runnable task: which tasks had the CPU that it ran on afterwards. */
static void explain_ready(struct explanation *e, const struct link *link, const struct life *ran,
    uint64_t from, uint64_t to)
{
	struct part piece = {.kind = PART_READY, .call = NO_WORD, .irq = NO_WORD};

	if (!ran) {
		add_piece(e, link, piece, from, to);
		return;
	}
	const struct timeline_cpu *c = &e->timeline->cpu[ran->cpu];
	for (uint64_t next; from < to; from = next) {
		size_t i = timeline_tenure(c, from);
		next = i + 1 < c->tenures ? least(to, c->tenure[i + 1].begin) : to;
		piece.other = c->tenures ? c->tenure[i].pid : 0;
		piece.kind = piece.other ? PART_READY : PART_WAKES;
		add_piece(e, link, piece, from, next);
	}
}

static void explain_task(
    struct explanation *e, const struct link *link, uint64_t from, uint64_t to);

static bool is_waiting(const struct link *link, int32_t pid)
{
	for (; link; link = link->waiter)
		if (link->task->pid == pid)
			return true;
	return false;
}

static void explain_wait(struct explanation *e, const struct link *link, const struct life *life,
    uint64_t from, uint64_t to, uint64_t woken)
{
	const struct timeline *l = e->timeline;
	const struct timeline_task *waker = timeline_task(l, life->waker);
	uint64_t until = to;
	struct part piece = {.kind = PART_STUCK,
	    .call = life->first ? NO_WORD : word_at(&link->task->calls, from, &until),
	    .irq = NO_WORD};

	if (life->woken && life->by_irq) {
		uint64_t end = UINT64_MAX;
		piece.kind = PART_SLEEPS;
		piece.irq = word_at(&l->cpu[life->cpu].irqs, woken, &end);
	} else if (life->woken && waker && !is_waiting(link, life->waker) &&
		   link->depth < CHAIN_MOST) {
		struct link inner = {waker, link, piece.call, link->depth + 1};
		explain_task(e, &inner, from, to);
		return;
	} else if (life->woken) {
		piece.kind = PART_WAITS;
		piece.other = life->waker;
	}
	add_piece(e, link, piece, from, to);
}

static void explain_task(struct explanation *e, const struct link *link, uint64_t from, uint64_t to)
{
	const struct timeline_task *t = link->task;
	struct part piece = {.kind = PART_UNSEEN, .call = NO_WORD, .irq = NO_WORD};

	if (!t->lives || t->life[0].begin >= to) {
		add_piece(e, link, piece, from, to);
		return;
	}
	if (t->life[0].begin > from) {
		add_piece(e, link, piece, from, t->life[0].begin);
		from = t->life[0].begin;
	}
	for (size_t i = timeline_life(t, from); from < to; i++) {
		const struct life *life = &t->life[i], *after = i + 1 < t->lives ? life + 1 : NULL;
		uint64_t end = after ? after->begin : UINT64_MAX, next = least(end, to);
		if (life->state == LIFE_RUNS) {
			explain_run(e, link, life->cpu, from, next);
		} else if (life->state == LIFE_READY) {
			explain_ready(
			    e, link, after && after->state == LIFE_RUNS ? after : NULL, from, next);
		} else if (life->state == LIFE_WAITS) {
			explain_wait(e, link, life, from, next, end);
		} else {
			piece.kind = PART_GONE;
			add_piece(e, link, piece, from, next);
		}
		from = next;
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void explain_span(
    struct explanation *e, const struct timeline *l, int32_t pid, uint64_t from, uint64_t to)
{
	struct link link = {.task = timeline_task(l, pid)};

	*e = (struct explanation){.timeline = l, .from = from, .to = to, .pid = pid};
	explain_task(e, &link, from, to);
	if (e->parts)
		qsort(e->part, e->parts, sizeof(*e->part), largest_first);
}

void explain_free(struct explanation *e)
{
	free(e->part);
	words_free(&e->alike);
}

/* How much of a span lies between the task's first run and the end of its last. */
static uint64_t presence(const struct timeline_task *t, uint64_t from, uint64_t to)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < t->lives; i++) {
		if (t->life[i].state != LIFE_RUNS)
			continue;
		begin = least(begin, t->life[i].begin);
		end = i + 1 < t->lives ? t->life[i + 1].begin : UINT64_MAX;
	}
	begin = begin > from ? begin : from;
	end = least(end, to);
	return end > begin ? end - begin : 0;
}

int32_t explain_main_task(const struct timeline *l, uint64_t from, uint64_t to)
{
	uint64_t most = 0;
	int32_t pid = 0;

	for (size_t i = 0; i < l->tasks; i++) {
		const struct timeline_task *t = &l->task[i];
		uint64_t there = presence(t, from, to);
		if (there > most && (t->calls.count || !l->syscalls)) {
			most = there;
			pid = t->pid;
		}
	}
	return pid;
}

/* ---- words ---- */

static void put_task(const struct explanation *e, int32_t pid, bool names, FILE *out)
{
	fputs(trace_comm(e->timeline->trace, pid), out);
	if (!names)
		fprintf(out, "-%d", pid);
}

static void put_word(const struct explanation *e, const char *before, uint32_t word, FILE *out)
{
	if (word != NO_WORD)
		fprintf(out, "%s%s", before, e->timeline->pairing.words.word[word]);
}

void explain_text(const struct explanation *e, const struct part *p, bool names, FILE *out)
{
	put_task(e, p->pid, names, out);
	switch (p->kind) {
	case PART_RUNS:
		fputs(" ran", out);
		if (p->call == NO_WORD && e->timeline->syscalls)
			fputs(" in its own code", out);
		break;
	case PART_IRQ:
		put_word(e, " was interrupted by ", p->irq, out);
		break;
	case PART_READY:
		fputs(" could run, but ", out);
		if (p->other)
			put_task(e, p->other, names, out);
		fputs(p->other ? " had the CPU" : "had no CPU", out);
		break;
	case PART_WAKES:
		fputs(" could run, but its idle CPU had to wake", out);
		break;
	case PART_SLEEPS:
		fputs(" slept", out);
		put_word(e, " in ", p->call, out);
		fputs(" until ", out);
		put_word(e, "", p->irq, out);
		fputs(p->irq == NO_WORD ? "an interrupt" : "", out);
		return;
	case PART_WAITS:
		fputs(" waited", out);
		put_word(e, " in ", p->call, out);
		fputs(" for ", out);
		put_task(e, p->other, names, out);
		return;
	case PART_STUCK:
		fputs(" waited", out);
		put_word(e, " in ", p->call, out);
		fputs(", and nothing woke it", out);
		return;
	case PART_GONE:
		fputs(" had ended", out);
		break;
	case PART_UNSEEN:
		fputs(" has no events yet", out);
		break;
	}
	put_word(e, " in ", p->call, out);
}

void explain_waiter(const struct explanation *e, const struct part *p, bool names, FILE *out)
{
	if (!p->waiter)
		return;
	fputs(" while ", out);
	put_task(e, p->waiter, names, out);
	fputs(" waited for it", out);
	put_word(e, " in ", p->wait, out);
}
