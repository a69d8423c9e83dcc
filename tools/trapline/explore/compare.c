/*
 * Compares a bad run with a good one: see compare.h. Up to the first hold that only one of them
 * has, both are the same run.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/explore/compare.h"
#include "tools/trapline/lib/duration.h"
#include "tools/trapline/trace/text.h"

#define BEFORE 3 /* events that both runs have, */
#define AFTER  6 /* and of each those that follow */

/* Events in order, without those of the schedule itself. */
struct events {
	struct trace t;
	struct record *record;
	size_t count;
};

static bool is_own(const struct record *r)
{
	return r->event && !strcmp(r->event->system, "explore");
}

static uint64_t number_of(const struct trace *t, const struct record *r, const char *field)
{
	const struct field *f = event_field(r->event, field);
	struct value v = {.n = 0};

	if (f)
		trace_value(t, r, f, &v);
	return v.n;
}

static const char *time_text(char buf[32], uint64_t time)
{
	snprintf(buf, 32, "%llu.%09llu", (unsigned long long)(time / 1000000000),
	    (unsigned long long)(time % 1000000000));
	return buf;
}

/* Prints where a point of the schedule was. */
static void print_point(const struct trace *t, const struct record *r, uint64_t number)
{
	char time[32], length[32];
	const char *comm = trace_comm(t, r->pid);

	printf("  event %llu, %s: ", (unsigned long long)number, time_text(time, r->time));
	if (!strcmp(r->event->name, "explore_hold"))
		printf("%s-%d is held for %s at 0x%llx (%c%llu)\n", comm ? comm : "<...>", r->pid,
		    duration_text(length, number_of(t, r, "ns"), "u"),
		    (unsigned long long)number_of(t, r, "ip"),
		    "ukc?l???"[number_of(t, r, "clock") & 7],
		    (unsigned long long)number_of(t, r, "at"));
	else
		printf("task %llu goes to CPU %llu (w%llu)\n",
		    (unsigned long long)number_of(t, r, "pid"),
		    (unsigned long long)number_of(t, r, "target_cpu"),
		    (unsigned long long)number_of(t, r, "at"));
}

static bool open_events(struct events *e, const char *file, bool prints)
{
	struct record r;
	size_t room = 0;
	uint64_t number = 0, last = 0;

	*e = (struct events){.count = 0};
	if (!trace_open(&e->t, file))
		return false;
	while (trace_next(&e->t, &r)) {
		number += !r.is_gap;
		if (r.is_gap || !r.event)
			continue;
		if (is_own(&r)) {
			if (prints)
				print_point(&e->t, &r, number);
			last = number;
			continue;
		}
		if (e->count == room) {
			room = room ? 2 * room : 256;
			e->record = xrealloc(e->record, room * sizeof(*e->record));
		}
		e->record[e->count++] = r;
	}
	if (prints && last)
		printf("%s has it: trapline replay %s; trapline goto %s %llu\n", file, file, file,
		    (unsigned long long)last);
	return true;
}

static void close_events(struct events *e)
{
	trace_close(&e->t);
	free(e->record);
}

/* The same event of the same task, on the same CPU. */
static bool is_same_step(const struct record *a, const struct record *b)
{
	return a->event->id == b->event->id && a->pid == b->pid && a->cpu == b->cpu;
}

static void print_events(const struct events *e, const char *who, size_t from)
{
	printf("%s\n", who);
	for (size_t i = from; i < e->count && i < from + AFTER; i++) {
		fputs("  ", stdout);
		write_record(stdout, &e->t, &e->record[i]);
	}
	if (from >= e->count)
		puts("  (no more events)");
	else if (e->count > from + AFTER)
		printf("  and %zu more\n", e->count - from - AFTER);
}

static void compare(const struct events *bad, const struct events *good)
{
	size_t same = 0;

	while (same < bad->count && same < good->count &&
	       is_same_step(&bad->record[same], &good->record[same]))
		same++;
	printf("Both runs do the same in %zu events", same);
	if (same == bad->count && same == good->count) {
		puts(", which are all: record more of them (-e) to see where they part");
		return;
	}
	puts(same ? ", the last of them:" : "");
	for (size_t i = same > BEFORE ? same - BEFORE : 0; i < same; i++) {
		fputs("  ", stdout);
		write_record(stdout, &bad->t, &bad->record[i]);
	}
	print_events(bad, "then the bad one:", same);
	print_events(good, "and the good one:", same);
}

void explore_compare(const char *bad_file, const char *good_file)
{
	struct events bad, good;

	if (!open_events(&bad, bad_file, true))
		return;
	if (good_file && open_events(&good, good_file, false)) {
		compare(&bad, &good);
		close_events(&good);
	}
	close_events(&bad);
}
