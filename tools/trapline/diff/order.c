/*
 * The order of events on each CPU, compared as diff(1) compares lines: an event is the same as
 * another one if its name and its task's are. Of those that are in both, one after the other,
 * values and times are compared.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/diff/diff.h"
#include "tools/trapline/trace/sequence.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trace/text.h"

static const struct lane nothing;

struct comparison {
	struct diff *d;
	uint64_t cpus_differ, values_differ, times_differ; /* CPUs; events */
	struct words fields;				   /* "sched:sched_switch next_pid" */
	uint64_t *field;				   /* how often another value, by number */
	int64_t shift_least, shift_most;
};

static const struct lane *records_of(const struct diff *d, int side, unsigned cpu)
{
	return cpu < d->side[side].trace.cpus ? &d->side[side].cpu[cpu] : &nothing;
}

/* ---- values and times ---- */

static bool same_value(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind || a->length != b->length)
		return false;
	switch (a->kind) {
	case VALUE_NONE:
		return true;
	case VALUE_INT:
	case VALUE_UINT:
		return a->n == b->n;
	case VALUE_TEXT:
		return !memcmp(a->text, b->text, a->length);
	case VALUE_ARRAY:
		break;
	}
	for (size_t i = 0; i < a->length; i++)
		if (value_item(a, i) != value_item(b, i))
			return false;
	return true;
}

static void other_value(struct comparison *c, const struct event *ev, const char *field)
{
	uint32_t before = c->fields.count, n;
	char *text;
	int size = asprintf(&text, "%s:%s %s", ev->system, ev->name, field);

	if (size < 0)
		die(EXIT_TROUBLE, "out of memory");
	n = words_add(&c->fields, text, size);
	free(text);
	if (c->fields.count > before) {
		c->field = xrealloc(c->field, c->fields.count * sizeof(*c->field));
		c->field[n] = 0;
	}
	c->field[n]++;
}

/* Times in the record of a function call's exit are times as those of records are. */
static bool is_left_out(const struct comparison *c, const struct event *ev, const struct field *f)
{
	const struct model *m = &c->d->side[0].model;
	const struct semantics *how = &m->pairing.semantics[ev - m->trace->event];

	return !strcmp(f->name, "common_type") ||
	       (c->d->ignore_time && (f == how->called || f == how->returned));
}

/*
 * All fields of A's format by their names, those that the record has of itself among them; and B
 * may have some more.
 */
static void compare_values(struct comparison *c, const struct record *a, const struct record *b)
{
	struct value x, y;
	bool same = true;

	if (!a->event || !b->event ||
	    (a->size == b->size && !memcmp(a->data + 2, b->data + 2, a->size - 2)))
		return;
	for (size_t i = 0; i < a->event->fields; i++) {
		const struct field *f = &a->event->field[i], *g = event_field(b->event, f->name);
		if (is_left_out(c, a->event, f))
			continue;
		trace_value(&c->d->side[0].trace, a, f, &x);
		if (g)
			trace_value(&c->d->side[1].trace, b, g, &y);
		if (g && same_value(&x, &y))
			continue;
		other_value(c, a->event, f->name);
		same = false;
	}
	for (size_t i = 0; i < b->event->fields; i++) {
		if (event_field(a->event, b->event->field[i].name))
			continue;
		other_value(c, b->event, b->event->field[i].name);
		same = false;
	}
	c->values_differ += !same;
}

static void compare_times(struct comparison *c, const struct record *a, const struct record *b)
{
	int64_t shift = b->time - a->time;

	if (!shift)
		return;
	if (!c->times_differ++)
		c->shift_least = c->shift_most = shift;
	if (shift < c->shift_least)
		c->shift_least = shift;
	if (shift > c->shift_most)
		c->shift_most = shift;
}

static void compare_run(
    struct comparison *c, const struct lane *a, const struct lane *b, const struct run *run)
{
	for (size_t i = 0; i < run->length; i++) {
		const struct record *x = &a->record[run->a + i], *y = &b->record[run->b + i];
		if (!c->d->ignore_values)
			compare_values(c, x, y);
		if (!c->d->ignore_time)
			compare_times(c, x, y);
	}
}

/* ---- order ---- */

/* Those of one side up to `to`, as long as lines are left. */
static void put_only(
    struct diff *d, int side, unsigned cpu, size_t from, size_t to, unsigned *lines)
{
	for (; from < to && *lines; from++, (*lines)--) {
		fputs(side ? "      + " : "      - ", d->body);
		write_record(
		    d->body, &d->side[side].trace, &records_of(d, side, cpu)->record[from]);
	}
}

/* What lies between the runs. */
static void put_differences(struct diff *d, unsigned cpu, const struct runs *runs)
{
	const struct lane *a = records_of(d, 0, cpu), *b = records_of(d, 1, cpu);
	unsigned lines = d->lines;
	size_t at_a = 0, at_b = 0, all = a->count + b->count;

	for (size_t i = 0; i <= runs->count; i++) {
		struct run end = {a->count, b->count, 0},
			   run = i < runs->count ? runs->run[i] : end;
		put_only(d, 0, cpu, at_a, run.a, &lines);
		put_only(d, 1, cpu, at_b, run.b, &lines);
		at_a = run.a + run.length;
		at_b = run.b + run.length;
		all -= 2 * run.length;
	}
	if (all > d->lines)
		fprintf(d->body, "        and %llu more (-n N shows N of them)\n",
		    (unsigned long long)all - d->lines);
}

static void compare_cpu(struct comparison *c, unsigned cpu)
{
	const struct lane *a = records_of(c->d, 0, cpu), *b = records_of(c->d, 1, cpu);
	struct sequence x = {a->token, a->count}, y = {b->token, b->count};
	size_t both = 0;
	struct runs runs;

	sequence_compare(&runs, &x, &y, SEQUENCE_EFFORT);
	for (size_t i = 0; i < runs.count; i++) {
		both += runs.run[i].length;
		compare_run(c, a, b, &runs.run[i]);
	}
	if (both == a->count && both == b->count) {
		fprintf(c->d->body, "  CPU %-3u the same: %zu events\n", cpu, both);
	} else {
		fprintf(c->d->body,
		    "  CPU %-3u %zu events the same, %zu only in A, %zu only in B\n", cpu, both,
		    a->count - both, b->count - both);
		put_differences(c->d, cpu, &runs);
		c->cpus_differ++;
	}
	runs_free(&runs);
}

static void put_values(const struct comparison *c)
{
	if (!c->values_differ)
		return;
	fprintf(c->d->body, "\nvalues: %llu events that are in both have others\n",
	    (unsigned long long)c->values_differ);
	for (uint32_t i = 0; i < c->fields.count; i++)
		fprintf(c->d->body, "  %-48s %10llu\n", c->fields.word[i],
		    (unsigned long long)c->field[i]);
	diff_found(c->d, "values of %llu events", (unsigned long long)c->values_differ);
}

static void put_shift(const struct comparison *c, int64_t shift)
{
	char text[32];

	fprintf(c->d->body, " %s%s", shift < 0 ? "-" : "+",
	    diff_duration(
		text, &c->d->side[0].trace, shift < 0 ? -(uint64_t)shift : (uint64_t)shift));
}

static void put_times(const struct comparison *c)
{
	if (!c->times_differ)
		return;
	fprintf(c->d->body, "\ntimes: %llu events that are in both have others, in B by",
	    (unsigned long long)c->times_differ);
	put_shift(c, c->shift_least);
	fputs(" to", c->d->body);
	put_shift(c, c->shift_most);
	fputs("\n", c->d->body);
	diff_found(c->d, "times of %llu events", (unsigned long long)c->times_differ);
}

void diff_order(struct diff *d)
{
	struct comparison c = {.d = d};
	unsigned cpus = d->side[0].trace.cpus;

	if (cpus < d->side[1].trace.cpus)
		cpus = d->side[1].trace.cpus;
	fputs("\norder of events\n", d->body);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		compare_cpu(&c, cpu);
		progress("comparing", cpu, cpus);
	}
	progress("comparing", 1, 1);
	if (c.cpus_differ)
		diff_found(d, "order of events on %llu of %u CPUs",
		    (unsigned long long)c.cpus_differ, cpus);
	put_values(&c);
	put_times(&c);
	words_free(&c.fields);
	free(c.field);
}
