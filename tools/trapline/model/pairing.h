/*
 * Pairs the records that begin and end an interval: interrupts of a CPU; system calls, marks and
 * function calls of a task. The model and the conversions share it. Records come in the order of
 * their times; their data must stay valid.
 */
#pragma once

#include "tools/trapline/model/calltree.h"
#include "tools/trapline/model/semantics.h"

enum pairing_kind { PAIRING_IRQ, PAIRING_SYSCALL, PAIRING_MARK, PAIRING_CALL };

struct pairing_interval {
	enum pairing_kind kind;
	unsigned depth; /* intervals of the same CPU or task around it */
	uint32_t word;	/* pairing_name() has its name */
	uint64_t begin;
	/* The record that begins it; the only one of an NMI, or of a call without its entry. */
	struct record record;
	int32_t level; /* of a function call: its depth, as the kernel counts it */
	uint32_t node; /* and its place in pairing.calls */
};

enum pairing_result { PAIRING_NONE, PAIRING_BEGINS, PAIRING_ENDS };
/* Why an interval has no end. */
enum pairing_reason { PAIRING_GAP, PAIRING_MISSING, PAIRING_OPEN };

struct pairing {
	struct trace *trace;
	struct semantics *semantics; /* by event */
	struct words words;	     /* names of interrupts and system calls, ... */
	struct words mark_words;     /* ... of marks: as many as programs like ... */
	struct words call_words;     /* ... and of functions */
	struct map call_word;	     /* by address: word + 1 */
	struct calltree *calls;	     /* counts function calls; NULL: not wanted */
	/* Called for each begin that has no end; NULL: not wanted. */
	void (*unpaired)(
	    void *context, const struct pairing_interval *open, enum pairing_reason why);
	void *context;
	struct pairing_stack *cpu, *task;
	size_t tasks;
	struct pairing_calls *caller;
	size_t callers;
	uint64_t gaps, last;
	struct map task_at;   /* by pid: number in `task` + 1 */
	struct map caller_at; /* by caller: number in `caller` + 1 */
};

/* The task, or the CPU's idle task, whose calls the record belongs to. */
uint32_t pairing_caller(const struct record *r);

void pairing_begin(struct pairing *p, struct trace *t);
/*
 * PAIRING_ENDS: *out is the interval that the record ends. A gap ends the open intervals of its CPU
 * and of all tasks.
 */
enum pairing_result pairing_record(
    struct pairing *p, const struct record *r, struct pairing_interval *out);
/* After the last record: reports what is still open. */
void pairing_end(struct pairing *p);
const char *pairing_name(const struct pairing *p, enum pairing_kind kind, uint32_t word);
void pairing_free(struct pairing *p);
