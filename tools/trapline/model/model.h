/*
 * The model of a trace: states of tasks, intervals (wakeups, interrupts, system calls, programs'
 * marks), gaps where events are missing, and counts. `diff` compares models, `plot` draws them.
 * Times are those of the records.
 */
#pragma once

#include "tools/trapline/model/pairing.h"

/*
 * From a wakeup until the task runs; interrupts; system calls; from the mark of a begin to that of
 * its end.
 */
enum interval_kind {
	INTERVAL_WAKEUP,
	INTERVAL_IRQ,
	INTERVAL_SYSCALL,
	INTERVAL_MARK,
	INTERVAL_KINDS
};

struct interval {
	enum interval_kind kind;
	unsigned depth; /* of interrupts and marks: the number around it */
	unsigned cpu;	/* where it ended */
	int32_t pid;
	uint32_t word; /* model_name() has its name; of a wakeup none */
	uint64_t begin, end;
};

/* A task on a CPU; or a runnable task waiting for the CPU on which it ran next. */
struct state {
	unsigned cpu;
	int32_t pid;
	uint64_t begin, end, seen; /* seen: its first record */
};

struct mark {
	struct record record;
	bool paired; /* begins or ends an interval */
};

/* Events lost on a CPU between two times. */
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

struct model {
	struct trace *trace;
	struct pairing pairing;
	struct calltree calls; /* of functions, below each caller */
	uint64_t *count;       /* by event; after them those without a format */
	uint64_t from,
	    to;	  /* the wanted part of time: events outside are tracked, but not counted */
	bool any; /* there is a record or a gap, also outside of that part */
	uint64_t records, first, last;
	/*
	 * the trace has sched_switch, so states are exact; else a state lasts from a task's first
	 * record to its last
	 */
	bool switches;
	struct interval *interval;
	size_t intervals;
	uint64_t unsure[INTERVAL_KINDS]; /* intervals across a gap: left out */
	struct state *state;		 /* running */
	size_t states;
	struct state *waiting;
	size_t waitings;
	struct mark *mark;
	size_t marks;
	struct gap *gap;
	size_t gaps;
	struct task *task;
	size_t tasks;
	struct map task_at, woken, runnable; /* by pid: number in `task` + 1; since when + 1 */
	struct map of_task;		     /* event << 32 | pid: how many */
	struct model_cpu *cpu;
};

void model_begin(struct model *m, struct trace *t);
/* Restricts the model to a part of time; call it before the first record. */
void model_part(struct model *m, uint64_t from, uint64_t to);
void model_record(struct model *m, const struct record *r);
/* Call this after the last record. */
void model_end(struct model *m);
void model_free(struct model *m);
/* The name of an interval of any kind but wakeups. */
const char *model_name(const struct model *m, const struct interval *v);
/* The number of a record's event in `count`. */
size_t model_event(const struct model *m, const struct record *r);
/* True if a CPU has a record or a gap. */
bool model_seen(const struct model *m, unsigned cpu);
/* The total of events lost on a CPU; *unknown: there are more. */
uint64_t model_lost(const struct model *m, unsigned cpu, bool *unknown);

/* Sorted durations of the intervals of a kind, or of a name of that kind. */
struct durations {
	uint64_t *value;
	size_t count;
};
#define WORD_ANY UINT32_MAX /* all but those within others */
void model_durations(
    const struct model *m, enum interval_kind kind, uint32_t word, struct durations *out);
/*
 * The percentile: the smallest duration that at least `percent` of them do not exceed. There must
 * be some.
 */
uint64_t durations_at(const struct durations *d, unsigned percent);
