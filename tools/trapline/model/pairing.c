/*
 * See pairing.h. Each CPU has a stack of interrupts, each task one of marks, one of function calls,
 * and one system call.
 * An end closes the innermost interval that it fits; those begun after that one lack their ends.
 */
#include "tools/trapline/model/pairing.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 16

struct pairing_stack {
	struct pairing_interval open[DEPTH];
	unsigned depth;
	uint64_t gaps; /* how many there were when it was looked at last */
	bool in_syscall;
	struct pairing_interval syscall;
};

/* Function calls that have not returned. */
struct pairing_calls {
	struct pairing_interval *open; /* each has a higher level than the one before it */
	unsigned depth;
	uint64_t gaps;
};

static void report(struct pairing *p, const struct pairing_interval *open, enum pairing_reason why)
{
	if (p->unpaired)
		p->unpaired(p->context, open, why);
}

/* Down to `depth`. */
static void unwind(
    struct pairing *p, struct pairing_stack *s, unsigned depth, enum pairing_reason why)
{
	while (s->depth > depth)
		report(p, &s->open[--s->depth], why);
}

static void abandon_task(struct pairing *p, struct pairing_stack *task, enum pairing_reason why)
{
	unwind(p, task, 0, why);
	if (task->in_syscall)
		report(p, &task->syscall, why);
	task->in_syscall = false;
}

static struct pairing_stack *task_of(struct pairing *p, int32_t pid)
{
	uint64_t *at = map_at(&p->task_at, (uint32_t)pid);

	if (!*at) {
		if (!(p->tasks & (p->tasks - 1)))
			p->task =
			    xrealloc(p->task, (p->tasks ? p->tasks * 2 : 1) * sizeof(*p->task));
		memset(&p->task[p->tasks++], 0, sizeof(*p->task));
		*at = p->tasks;
	}
	struct pairing_stack *task = &p->task[*at - 1];
	if (task->gaps != p->gaps)
		abandon_task(p, task, PAIRING_GAP);
	task->gaps = p->gaps;
	return task;
}

static enum pairing_result push(
    struct pairing *p, struct pairing_stack *s, struct pairing_interval interval)
{
	if (s->depth == DEPTH)
		unwind(p, s, 0, PAIRING_MISSING);
	interval.depth = s->depth;
	s->open[s->depth++] = interval;
	return PAIRING_BEGINS;
}

static enum pairing_result pop(
    struct pairing *p, struct pairing_stack *s, unsigned at, struct pairing_interval *out)
{
	unwind(p, s, at + 1, PAIRING_MISSING);
	*out = s->open[--s->depth];
	return PAIRING_ENDS;
}

/* ---- interrupts ---- */

static enum pairing_result irq_entry(
    struct pairing *p, const struct record *r, const struct semantics *how)
{
	return push(p, &p->cpu[r->cpu],
	    (struct pairing_interval){.kind = PAIRING_IRQ,
		.word = semantics_word(&p->words, how, p->trace, r),
		.begin = r->time,
		.record = *r});
}

/* Entry and exit have the start of their events' names in common, and the interrupt's number. */
static bool is_exit_of(
    const struct pairing *p, const struct pairing_interval *open, const struct record *r)
{
	const struct semantics *entry = &p->semantics[open->record.event - p->trace->event],
			       *exit = &p->semantics[r->event - p->trace->event];

	return entry->length == exit->length && !memcmp(entry->word, exit->word, exit->length) &&
	       semantics_number(p->trace, &open->record, entry->number, -1) ==
		   semantics_number(p->trace, r, exit->number, -1);
}

static enum pairing_result irq_exit(
    struct pairing *p, const struct record *r, struct pairing_interval *out)
{
	struct pairing_stack *s = &p->cpu[r->cpu];

	for (unsigned i = s->depth; i-- > 0;)
		if (is_exit_of(p, &s->open[i], r))
			return pop(p, s, i, out);
	return PAIRING_NONE;
}

static enum pairing_result nmi(struct pairing *p, const struct record *r,
    const struct semantics *how, struct pairing_interval *out)
{
	int64_t took = semantics_number(p->trace, r, how->detail, -1);

	if (took < 0 || (uint64_t)took > r->time)
		return PAIRING_NONE;
	*out = (struct pairing_interval){.kind = PAIRING_IRQ,
	    .depth = p->cpu[r->cpu].depth,
	    .word = semantics_word(&p->words, how, p->trace, r),
	    .begin = r->time - took,
	    .record = *r};
	return PAIRING_ENDS;
}

/* ---- system calls ---- */

/*
 * The event of all calls and the one of this call may both be there: the first entry and the first
 * exit count.
 */
static enum pairing_result syscall_entry(
    struct pairing *p, const struct record *r, const struct semantics *how)
{
	struct pairing_stack *task = task_of(p, r->pid);
	const struct record *first = &task->syscall.record;

	if (task->in_syscall && first->event != r->event &&
	    semantics_number(p->trace, first, p->semantics[first->event - p->trace->event].number,
		-1) == semantics_number(p->trace, r, how->number, -1))
		return PAIRING_NONE;
	if (task->in_syscall)
		report(p, &task->syscall, PAIRING_MISSING);
	task->in_syscall = true;
	task->syscall = (struct pairing_interval){.kind = PAIRING_SYSCALL,
	    .word = semantics_word(&p->words, how, p->trace, r),
	    .begin = r->time,
	    .record = *r};
	return PAIRING_BEGINS;
}

static enum pairing_result syscall_exit(struct pairing *p, const struct record *r,
    const struct semantics *how, struct pairing_interval *out)
{
	struct pairing_stack *task = task_of(p, r->pid);
	const struct record *first = &task->syscall.record;

	if (!task->in_syscall ||
	    semantics_number(p->trace, first, p->semantics[first->event - p->trace->event].number,
		-1) != semantics_number(p->trace, r, how->number, -1))
		return PAIRING_NONE;
	task->in_syscall = false;
	*out = task->syscall;
	return PAIRING_ENDS;
}

/* ---- marks ---- */

static bool is_named(
    const struct pairing *p, const struct pairing_interval *open, const struct mark_parts *mark)
{
	const char *name = p->mark_words.word[open->word];

	return mark->innermost ||
	       (strlen(name) == mark->length && !memcmp(name, mark->name, mark->length));
}

static enum pairing_result mark(
    struct pairing *p, const struct record *r, struct pairing_interval *out)
{
	struct pairing_stack *s;
	struct mark_parts parts;

	semantics_mark(p->trace, r, &parts);
	if (parts.phase == MARK_INSTANT)
		return PAIRING_NONE;
	s = task_of(p, r->pid);
	if (parts.phase == MARK_BEGIN)
		return push(p, s,
		    (struct pairing_interval){.kind = PAIRING_MARK,
			.word = words_add(&p->mark_words, parts.name, parts.length),
			.begin = r->time,
			.record = *r});
	for (unsigned i = s->depth; i-- > 0;)
		if (is_named(p, &s->open[i], &parts))
			return pop(p, s, i, out);
	return PAIRING_NONE;
}

/* ---- function calls ---- */

uint32_t pairing_caller(const struct record *r)
{
	return r->pid ? (uint32_t)r->pid : CALLER_IDLE | r->cpu;
}

/* Gives up the open calls at this level and deeper. */
static void abandon_calls(
    struct pairing *p, struct pairing_calls *c, int64_t level, enum pairing_reason why)
{
	while (c->depth && c->open[c->depth - 1].level >= level) {
		const struct pairing_interval *open = &c->open[--c->depth];
		if (p->calls && why == PAIRING_OPEN)
			calltree_leave(
			    p->calls, open->node, open->begin, p->last, p->last - open->begin);
		report(p, open, why);
	}
}

static struct pairing_calls *calls_of(struct pairing *p, const struct record *r)
{
	uint64_t *at = map_at(&p->caller_at, pairing_caller(r));

	if (!*at) {
		if (!(p->callers & (p->callers - 1)))
			p->caller = xrealloc(
			    p->caller, (p->callers ? p->callers * 2 : 1) * sizeof(*p->caller));
		memset(&p->caller[p->callers++], 0, sizeof(*p->caller));
		*at = p->callers;
	}
	struct pairing_calls *calls = &p->caller[*at - 1];
	if (calls->gaps != p->gaps)
		abandon_calls(p, calls, INT64_MIN, PAIRING_GAP);
	calls->gaps = p->gaps;
	return calls;
}

static uint32_t call_word(struct pairing *p, const struct record *r, const struct semantics *how)
{
	uint64_t address = semantics_number(p->trace, r, how->detail, 0),
		 *word = map_at(&p->call_word, address);
	const char *name = trace_function(p->trace, address);
	char number[32];

	if (*word)
		return *word - 1;
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)address);
	name = name ? name : number;
	*word = words_add(&p->call_words, name, strlen(name)) + 1ul;
	return *word - 1;
}

static int64_t level_of(
    const struct pairing *p, const struct record *r, const struct semantics *how)
{
	return (int32_t)semantics_number(p->trace, r, how->number, 0);
}

static enum pairing_result call_entry(
    struct pairing *p, const struct record *r, const struct semantics *how)
{
	struct pairing_calls *c = calls_of(p, r);
	struct pairing_interval call = {.kind = PAIRING_CALL,
	    .word = call_word(p, r, how),
	    .begin = r->time,
	    .record = *r,
	    .level = level_of(p, r, how)};

	abandon_calls(p, c, call.level, PAIRING_MISSING);
	call.depth = c->depth;
	if (p->calls)
		call.node = calltree_enter(p->calls,
		    c->depth ? c->open[c->depth - 1].node
			     : calltree_caller(p->calls, pairing_caller(r)),
		    call.word);
	if (!(c->depth & (c->depth - 1)))
		c->open = xrealloc(c->open, (c->depth ? c->depth * 2 : 1) * sizeof(call));
	c->open[c->depth++] = call;
	return PAIRING_BEGINS;
}

/* How many ns a call took, by its exit; -1: the exit does not say, or the trace is not in ns. */
static int64_t call_took(
    const struct pairing *p, const struct record *r, const struct semantics *how)
{
	int64_t called = semantics_number(p->trace, r, how->called, 0),
		returned = semantics_number(p->trace, r, how->returned, -1);

	return p->trace->in_ns && called >= 0 && returned >= called ? returned - called : -1;
}

/* An exit says how long its call took, so an exit without an entry is an interval, too. */
static enum pairing_result call_exit(struct pairing *p, const struct record *r,
    const struct semantics *how, struct pairing_interval *out)
{
	struct pairing_calls *c = calls_of(p, r);
	int64_t level = level_of(p, r, how), took = call_took(p, r, how);
	uint32_t word = call_word(p, r, how);

	abandon_calls(p, c, level + 1, PAIRING_MISSING);
	if (c->depth && c->open[c->depth - 1].level == level &&
	    c->open[c->depth - 1].word == word) {
		*out = c->open[--c->depth];
		if (p->calls)
			calltree_leave(p->calls, out->node, out->begin, r->time,
			    took < 0 ? r->time - out->begin : (uint64_t)took);
		return PAIRING_ENDS;
	}
	if (p->calls)
		p->calls->headless++;
	if (took < 0 || (uint64_t)took > r->time)
		return PAIRING_NONE;
	*out = (struct pairing_interval){.kind = PAIRING_CALL,
	    .depth = c->depth,
	    .word = word,
	    .begin = r->time - took,
	    .record = *r,
	    .level = level};
	return PAIRING_ENDS;
}

/* ---- the whole ---- */

void pairing_begin(struct pairing *p, struct trace *t)
{
	*p = (struct pairing){.trace = t};
	p->semantics = xmalloc(t->events * sizeof(*p->semantics));
	for (size_t i = 0; i < t->events; i++)
		semantics_find(&p->semantics[i], &t->event[i]);
	p->cpu = xmalloc(t->cpus * sizeof(*p->cpu));
}

/*
 * Tasks migrate, so an end of any of them may be lost: each is abandoned when it is looked at next.
 */
static void lost(struct pairing *p, unsigned cpu)
{
	unwind(p, &p->cpu[cpu], 0, PAIRING_GAP);
	p->gaps++;
}

enum pairing_result pairing_record(
    struct pairing *p, const struct record *r, struct pairing_interval *out)
{
	const struct semantics *how;

	p->last = r->time;
	if (r->is_gap)
		lost(p, r->cpu);
	if (r->is_gap || !r->event)
		return PAIRING_NONE;
	how = &p->semantics[r->event - p->trace->event];
	switch (how->kind) {
	case SEMANTICS_IRQ_ENTRY:
		return irq_entry(p, r, how);
	case SEMANTICS_IRQ_EXIT:
		return irq_exit(p, r, out);
	case SEMANTICS_NMI:
		return nmi(p, r, how, out);
	case SEMANTICS_SYSCALL_ENTRY:
		return syscall_entry(p, r, how);
	case SEMANTICS_SYSCALL_EXIT:
		return syscall_exit(p, r, how, out);
	case SEMANTICS_MARK:
		return mark(p, r, out);
	case SEMANTICS_CALL_ENTRY:
		return call_entry(p, r, how);
	case SEMANTICS_CALL_EXIT:
		return call_exit(p, r, how, out);
	default:
		return PAIRING_NONE;
	}
}

void pairing_end(struct pairing *p)
{
	for (unsigned cpu = 0; cpu < p->trace->cpus; cpu++)
		unwind(p, &p->cpu[cpu], 0, PAIRING_OPEN);
	for (size_t i = 0; i < p->tasks; i++)
		abandon_task(
		    p, &p->task[i], p->task[i].gaps == p->gaps ? PAIRING_OPEN : PAIRING_GAP);
	for (size_t i = 0; i < p->callers; i++)
		abandon_calls(p, &p->caller[i], INT64_MIN,
		    p->caller[i].gaps == p->gaps ? PAIRING_OPEN : PAIRING_GAP);
}

const char *pairing_name(const struct pairing *p, enum pairing_kind kind, uint32_t word)
{
	switch (kind) {
	case PAIRING_MARK:
		return p->mark_words.word[word];
	case PAIRING_CALL:
		return p->call_words.word[word];
	default:
		return p->words.word[word];
	}
}

void pairing_free(struct pairing *p)
{
	free(p->semantics);
	words_free(&p->words);
	words_free(&p->mark_words);
	words_free(&p->call_words);
	map_clear(&p->call_word);
	free(p->cpu);
	free(p->task);
	for (size_t i = 0; i < p->callers; i++)
		free(p->caller[i].open);
	free(p->caller);
	map_clear(&p->task_at);
	map_clear(&p->caller_at);
}
