/*
 * Where the time of a span went: explain_span() divides a task's span into pieces and counts each
 * once. While the task waits for another one, the other task's pieces count instead.
 */
#pragma once

#include "tools/trapline/model/timeline.h"

enum part_kind {
	PART_RUNS,   /* in its own code, or in a system call */
	PART_IRQ,    /* interrupted while it ran */
	PART_READY,  /* another task had the CPU */
	PART_WAKES,  /* the CPU was idle, and had to begin */
	PART_SLEEPS, /* until an interrupt woke it */
	PART_WAITS,  /* for a task whose time is not divided further */
	PART_STUCK,  /* nothing in the span woke it */
	PART_GONE,   /* it had ended */
	PART_UNSEEN, /* the trace has no event of it */
};

#define NO_WORD UINT32_MAX

/* Pieces that are alike. */
struct part {
	enum part_kind kind;
	int32_t pid, other; /* other: the task that had the CPU, or that it waited for */
	uint32_t call, irq; /* words, or NO_WORD */
	int32_t waiter;	    /* the task that waits for this one; 0: none, this is the span's own */
	uint32_t wait;	    /* in this system call */
	uint64_t time, count;
	uint64_t longest, at; /* the longest piece, and when it began */
};

struct explanation {
	const struct timeline *timeline;
	uint64_t from, to;
	int32_t pid; /* the task of the span */
	struct part *part;
	size_t parts;
	struct words alike; /* texts by which pieces belong to one part; numbered as the parts */
};

/* Parts are sorted, the largest first; their times add up to the span. */
void explain_span(
    struct explanation *e, const struct timeline *l, int32_t pid, uint64_t from, uint64_t to);
void explain_free(struct explanation *e);
/*
 * Returns the task whose first to last run covers most of the span; if some tasks make system
 * calls, one of those. 0: there is none.
 */
int32_t explain_main_task(const struct timeline *l, uint64_t from, uint64_t to);
/* "ls-5 ran in read", without the waiting task. `names`: without pids. */
void explain_text(const struct explanation *e, const struct part *p, bool names, FILE *out);
/* " while sh-3 waited for it in wait4", or nothing. */
void explain_waiter(const struct explanation *e, const struct part *p, bool names, FILE *out);
