/*
 * See pairing.h. Each CPU has a stack of interrupts, each task one of marks, and one system call.
 * An end closes the innermost interval that it fits; those begun after that one lack their ends.
 */
#include "tools/trapline/pairing.h"

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
	*out = (struct pairing_interval){PAIRING_IRQ, p->cpu[r->cpu].depth,
	    semantics_word(&p->words, how, p->trace, r), r->time - took, *r};
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
}

const char *pairing_name(const struct pairing *p, enum pairing_kind kind, uint32_t word)
{
	return (kind == PAIRING_MARK ? &p->mark_words : &p->words)->word[word];
}

void pairing_free(struct pairing *p)
{
	free(p->semantics);
	words_free(&p->words);
	words_free(&p->mark_words);
	free(p->cpu);
	free(p->task);
	map_clear(&p->task_at);
}
