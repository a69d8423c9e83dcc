/* See timeline.h. */
#include "tools/trapline/model/timeline.h"

#include <stdlib.h>
#include <string.h>

#define STATE_MASK  0xff
#define STATE_ENDED 0xb0	  /* dead, zombie */
#define FLAGS_IRQ   (8 | 16 | 64) /* of a record: hard and soft interrupt, NMI */

static void *more(void *items, size_t count, size_t size)
{
	return count & (count - 1) ? items : xrealloc(items, (count ? count * 2 : 1) * size);
}

static void add_slice(struct slices *s, uint64_t begin, uint64_t end, uint32_t word)
{
	s->slice = more(s->slice, s->count, sizeof(*s->slice));
	s->slice[s->count++] = (struct slice){begin, end, word};
}

static struct timeline_task *task_of(struct timeline *l, int32_t pid)
{
	uint64_t *at = map_at(&l->task_at, (uint32_t)pid);

	if (!*at) {
		l->task = more(l->task, l->tasks, sizeof(*l->task));
		l->task[l->tasks++] = (struct timeline_task){.pid = pid};
		*at = l->tasks;
	}
	return &l->task[*at - 1];
}

/* ---- states ---- */

static void add_life(struct timeline_task *t, struct life life)
{
	t->life = more(t->life, t->lives, sizeof(*t->life));
	t->life[t->lives++] = life;
}

/* The task's state; NULL: it is unknown since the last gap. */
static struct life *now_of(const struct timeline *l, const struct timeline_task *t)
{
	struct life *now = t->lives ? &t->life[t->lives - 1] : NULL;

	return now && now->begin >= l->epoch ? now : NULL;
}

/* A record of a task that nothing is known of: it has run since then. */
static void seen(struct timeline *l, const struct record *r)
{
	struct timeline_task *t;

	if (!r->pid)
		return;
	t = task_of(l, r->pid);
	if (!now_of(l, t))
		add_life(t, (struct life){.begin = l->epoch, .state = LIFE_RUNS, .cpu = r->cpu});
}

static void switched_from(
    struct timeline *l, const struct record *r, int32_t pid, int64_t prev_state)
{
	struct timeline_task *t = task_of(l, pid);
	enum life_state state = prev_state & STATE_ENDED		       ? LIFE_GONE
				: !(prev_state & STATE_MASK) || t->woken_early ? LIFE_READY
									       : LIFE_WAITS;

	t->woken_early = false;
	add_life(t, (struct life){.begin = r->time, .state = state, .cpu = r->cpu});
}

static void switched_to(struct timeline *l, const struct record *r, int32_t pid)
{
	struct timeline_task *t = task_of(l, pid);

	if (!now_of(l, t))
		add_life(t, (struct life){.begin = l->epoch, .state = LIFE_READY});
	t->woken_early = false;
	add_life(t, (struct life){.begin = r->time, .state = LIFE_RUNS, .cpu = r->cpu});
}

static void begin_tenure(struct timeline *l, unsigned cpu, uint64_t begin, int32_t pid)
{
	struct timeline_cpu *c = &l->cpu[cpu];

	c->tenure = more(c->tenure, c->tenures, sizeof(*c->tenure));
	c->tenure[c->tenures++] = (struct tenure){begin, pid};
}

static void switched(struct timeline *l, const struct record *r, const struct semantics *how)
{
	int64_t next = semantics_number(l->trace, r, how->number, -1),
		previous = semantics_number(l->trace, r, how->detail, -1);

	if (next < 0 || previous < 0)
		return;
	l->switches++;
	if (previous)
		switched_from(l, r, previous, semantics_number(l->trace, r, how->state, 1));
	if (next)
		switched_to(l, r, next);
	begin_tenure(l, r->cpu, r->time, next);
}

static void woken(struct timeline *l, const struct record *r, const struct semantics *how)
{
	int64_t pid = semantics_number(l->trace, r, how->number, -1);
	struct timeline_task *t;
	struct life *now;

	if (pid <= 0)
		return;
	l->wakings++;
	t = task_of(l, pid);
	now = now_of(l, t);
	if (!now) {
		add_life(t, (struct life){.begin = l->epoch, .state = LIFE_WAITS});
		now = &t->life[t->lives - 1];
		now->first = !strcmp(r->event->name, "sched_wakeup_new");
	}
	if (now->state == LIFE_RUNS)
		t->woken_early = true;
	if (now->state != LIFE_WAITS && now->state != LIFE_GONE)
		return;
	now->woken = now->state == LIFE_WAITS;
	now->by_irq = !r->pid || (r->flags & FLAGS_IRQ);
	now->waker = r->pid;
	now->cpu = r->cpu;
	add_life(t, (struct life){.begin = r->time, .state = LIFE_READY});
}

/* ---- system calls and interrupts ---- */

static struct semantics *how_of(const struct timeline *l, const struct record *r)
{
	return r->event ? &l->pairing.semantics[r->event - l->trace->event] : NULL;
}

/* An exit whose entry came before the trace: the task has been in that call from the beginning. */
static void exit_alone(struct timeline *l, const struct record *r, const struct semantics *how)
{
	struct timeline_task *t = task_of(l, r->pid);
	struct semantics entry = *how;

	entry.kind = SEMANTICS_SYSCALL_ENTRY;
	if (!t->calls.count || t->calls.slice[t->calls.count - 1].end < l->epoch)
		add_slice(&t->calls, l->epoch, r->time,
		    semantics_word(&l->pairing.words, &entry, l->trace, r));
}

static void paired(struct timeline *l, const struct record *r, const struct semantics *how)
{
	struct pairing_interval v;

	if (pairing_record(&l->pairing, r, &v) != PAIRING_ENDS) {
		if (how && how->kind == SEMANTICS_SYSCALL_EXIT)
			exit_alone(l, r, how);
		return;
	}
	if (v.kind == PAIRING_SYSCALL)
		add_slice(&task_of(l, r->pid)->calls, v.begin, r->time, v.word);
	else if (v.kind == PAIRING_IRQ && !v.depth)
		add_slice(&l->cpu[r->cpu].irqs, v.begin, r->time, v.word);
}

/* A call that is open at the end goes on. */
static void unpaired(void *timeline, const struct pairing_interval *v, enum pairing_reason why)
{
	struct timeline *l = timeline;

	if (why == PAIRING_OPEN && v->kind == PAIRING_SYSCALL)
		add_slice(&task_of(l, v->record.pid)->calls, v->begin, UINT64_MAX, v->word);
	else if (why == PAIRING_OPEN && v->kind == PAIRING_IRQ && !v->depth)
		add_slice(&l->cpu[v->record.cpu].irqs, v->begin, UINT64_MAX, v->word);
}

/* ---- the whole ---- */

static void lost(struct timeline *l, const struct record *r)
{
	l->gap = more(l->gap, l->gaps, sizeof(*l->gap));
	l->gap[l->gaps++] =
	    (struct gap_seen){r->cpu, l->cpu[r->cpu].last, r->time, r->lost, r->lost_unknown};
	l->epoch = r->time;
}

/* A damaged trace may go back in time, but the searches here need times in order. */
static struct record in_order(const struct timeline *l, const struct record *r)
{
	struct record copy = *r;

	copy.time = r->time > l->last ? r->time : l->last;
	return copy;
}

void timeline_record(struct timeline *l, const struct record *told)
{
	const struct record record = in_order(l, told), *r = &record;
	const struct semantics *how = how_of(l, r);

	if (!l->any)
		l->first = l->epoch = r->time;
	l->any = true;
	l->last = r->time;
	if (r->is_gap) {
		lost(l, r);
	} else {
		if (!l->cpu[r->cpu].tenures)
			begin_tenure(l, r->cpu, l->first, r->pid);
		l->cpu[r->cpu].last = r->time;
		seen(l, r);
	}
	if (how && how->kind == SEMANTICS_SWITCH)
		switched(l, r, how);
	else if (how && how->kind == SEMANTICS_WAKEUP)
		woken(l, r, how);
	l->syscalls +=
	    how && (how->kind == SEMANTICS_SYSCALL_ENTRY || how->kind == SEMANTICS_SYSCALL_EXIT);
	paired(l, r, how);
}

void timeline_begin(struct timeline *l, struct trace *t)
{
	*l = (struct timeline){.trace = t};
	pairing_begin(&l->pairing, t);
	l->pairing.unpaired = unpaired;
	l->pairing.context = l;
	l->cpu = xmalloc(t->cpus * sizeof(*l->cpu));
}

void timeline_end(struct timeline *l)
{
	pairing_end(&l->pairing);
}

void timeline_free(struct timeline *l)
{
	for (size_t i = 0; i < l->tasks; i++) {
		free(l->task[i].life);
		free(l->task[i].calls.slice);
	}
	for (unsigned i = 0; i < l->trace->cpus; i++) {
		free(l->cpu[i].irqs.slice);
		free(l->cpu[i].tenure);
	}
	free(l->task);
	free(l->cpu);
	free(l->gap);
	map_clear(&l->task_at);
	pairing_free(&l->pairing);
}

const struct timeline_task *timeline_task(const struct timeline *l, int32_t pid)
{
	uint64_t at = map_find(&l->task_at, (uint32_t)pid);

	return at ? &l->task[at - 1] : NULL;
}

size_t slices_from(const struct slices *s, uint64_t time)
{
	return COUNT_UP_TO(s->slice, s->count, end, time);
}

size_t timeline_tenure(const struct timeline_cpu *c, uint64_t time)
{
	size_t n = COUNT_UP_TO(c->tenure, c->tenures, begin, time);

	return n ? n - 1 : 0;
}

size_t timeline_life(const struct timeline_task *t, uint64_t time)
{
	size_t n = COUNT_UP_TO(t->life, t->lives, begin, time);

	return n ? n - 1 : 0;
}
