/*
 * The states of each task over time (it ran, was runnable, or waited until a task or an interrupt
 * woke it), and its system calls. For each CPU: which task ran there, and interrupts. Built from
 * sched_switch, wakings, and what pairing.c pairs.
 */
#pragma once

#include "tools/trapline/model/pairing.h"

enum life_state {
	LIFE_RUNS,
	LIFE_READY, /* runnable, without a CPU */
	LIFE_WAITS,
	LIFE_GONE,
};

/* From `begin` until the next one. */
struct life {
	uint64_t begin;
	enum life_state state;
	unsigned cpu; /* where it runs, or where it was woken from a wait */
	bool woken;   /* a wait: it ended, by ... */
	bool by_irq;  /* ... an interrupt, or else by ... */
	bool first;   /* a wait: the task does not exist yet, and `waker` creates it */
	int32_t waker;
};

/* A system call, an interrupt. */
struct slice {
	uint64_t begin, end;
	uint32_t word;
};

struct slices {
	struct slice *slice;
	size_t count;
};

struct timeline_task {
	int32_t pid;
	struct life *life;
	size_t lives;
	bool woken_early; /* woken while it still ran: its next wait does not count */
	struct slices calls;
};

struct tenure {
	uint64_t begin;
	int32_t pid;
};

struct timeline_cpu {
	struct slices irqs;
	struct tenure *tenure;
	size_t tenures;
	uint64_t last; /* time of the last record; 0: none */
};

struct gap_seen {
	unsigned cpu;
	uint64_t begin, end, lost;
	bool unknown;
};

struct timeline {
	struct trace *trace;
	struct pairing pairing;
	struct timeline_task *task;
	size_t tasks;
	struct map task_at; /* by pid: number in `task` + 1 */
	struct timeline_cpu *cpu;
	uint64_t epoch; /* nothing was lost after this time */
	uint64_t first, last;
	bool any;
	uint64_t switches, wakings, syscalls; /* how many there are */
	struct gap_seen *gap;
	size_t gaps;
};

/* One record after the other, in the order of their times; then the end. */
void timeline_begin(struct timeline *l, struct trace *t);
void timeline_record(struct timeline *l, const struct record *r);
void timeline_end(struct timeline *l);
void timeline_free(struct timeline *l);
/* NULL: there is no such task. */
const struct timeline_task *timeline_task(const struct timeline *l, int32_t pid);
/* The first of some slices that ends after a time. */
size_t slices_from(const struct slices *s, uint64_t time);
/* The index of the tenure at a time; the first one, if that begins later. */
size_t timeline_tenure(const struct timeline_cpu *c, uint64_t time);
/* The state at a time. */
size_t timeline_life(const struct timeline_task *t, uint64_t time);
