/*
 * A trace looked at as a whole: who ran when, how long things took, what programs marked, where events are missing, how many there are of
 * each. For what compares and draws traces. Times are the records'.
 */
#pragma once

#include "tools/trapline/role.h"
#include "tools/trapline/trace.h"
#include "tools/trapline/words.h"

/* From a wakeup until the task ran; interrupts; system calls. */
enum span_kind { SPAN_WAKEUP, SPAN_IRQ, SPAN_CALL, SPAN_KINDS };

struct span {
	enum span_kind kind;
	bool inner;   /* of an interrupt: within another one */
	unsigned cpu; /* where it ended */
	int32_t pid;
	uint32_t word; /* survey.words has its name; of a wakeup none */
	uint64_t begin, end;
};

/* A task on a CPU. */
struct slice {
	unsigned cpu;
	int32_t pid;
	uint64_t begin, end, seen; /* seen: its first record */
};

/* Events lost on a CPU between two times; what happened then is not known. */
struct gap {
	unsigned cpu;
	uint64_t begin, end; /* begin 0: before the CPU's first record */
	uint64_t lost;
	bool unknown; /* and more */
};

struct task {
	int32_t pid;
	uint64_t ran, records;
};

struct survey {
	struct trace *trace;
	struct role *role; /* by event */
	uint64_t *count;   /* by event; behind them those without a format */
	uint64_t from,
	    to; /* the part that is wanted: what lies outside is known, and not counted */
	uint64_t records, first, last;
	bool
	    switches; /* sched_switch is among the events: slices are exact; else they are from a task's first record to its last */
	struct span *span;
	size_t spans;
	uint64_t unsure[SPAN_KINDS]; /* spans across a gap: left out */
	struct slice *slice;
	size_t slices;
	struct record *mark;
	size_t marks;
	struct gap *gap;
	size_t gaps;
	struct task *task;
	size_t tasks;
	struct words words;
	struct map task_at, woken,
	    call;	    /* by pid: number in `task` + 1; since when + 1; number in `open` + 1 */
	struct map of_task; /* event << 32 | pid: how many */
	struct survey_cpu *cpu;
	struct survey_call *open;
	size_t opens;
};

void survey_begin(struct survey *s, struct trace *t);
/* Of records from one time to another: said before the first. */
void survey_part(struct survey *s, uint64_t from, uint64_t to);
void survey_record(struct survey *s, const struct record *r);
/* Once all records were there. */
void survey_end(struct survey *s);
void survey_free(struct survey *s);
/* The number of a record's event in `count`. */
size_t survey_event(const struct survey *s, const struct record *r);
/* Is there a record of a CPU, or a gap? */
bool survey_seen(const struct survey *s, unsigned cpu);
/* Lost on a CPU in all; *unknown: and more. */
uint64_t survey_lost(const struct survey *s, unsigned cpu, bool *unknown);

/* How long the spans of a kind took, or those of a name of it: sorted. */
struct durations {
	uint64_t *value;
	size_t count;
};
#define WORD_ANY UINT32_MAX /* all but those within others */
void survey_durations(
    const struct survey *s, enum span_kind kind, uint32_t word, struct durations *out);
/* The smallest that at least `percent` of them do not exceed; there are some. */
uint64_t durations_at(const struct durations *d, unsigned percent);
