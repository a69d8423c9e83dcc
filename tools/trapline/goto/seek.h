/*
 * Runs the machine of a trace again to any place of its run and stops it there.
 *
 * Each move is a run from the beginning: a stop may change which CPU runs next, so a stopped
 * machine is inspected and discarded. A plugin in QEMU (stop_plan.h) recognizes the place. It
 * cannot stop at every place, such as an instruction in the middle of a translated block. It then
 * finds the place in one run; the next run stops before that block, and gdb's protocol steps
 * through it. Within a block no interrupt comes and no clock is read, so these steps are those of
 * the unbroken run.
 */
#pragma once

#include "tools/trapline/goto/gdb.h"
#include "tools/trapline/record/origin.h"
#include "tools/trapline/goto/stop_plan.h"

struct seek {
	struct origin *origin;
	struct plan *plan;
	struct plan_place to; /* with PLAN_BLOCK: where to step to */
	/* While the machine stands: */
	struct machine *machine;
	struct gdb gdb;
	unsigned cpu; /* the CPU at the place */
	void (*arrived)(struct seek *s);
	void *context;
	/* Ours. */
	int plan_fd, channel[2], gdb_ends[2]; /* ours and QEMU's */
	struct machine_spy spy;
	const char *wrong; /* why it did not reach the place; NULL: not known */
	bool did_arrive, again;
};

/* False, after a message: there is no memory. */
bool seek_open(struct seek *s, struct origin *o);
void seek_close(struct seek *s);
/*
 * Runs until the CPU has reserved the record of that time, then calls arrived(). False, after a
 * message: it did not get there.
 */
bool seek_record(struct seek *s, unsigned cpu, uint64_t time);
/* The same for a place that was found. */
bool seek_place(struct seek *s, const struct plan_place *to);
/*
 * Finds a place. `kind` is one of PLAN_FIND_...; the caller has set its arguments in s->plan.
 * False: there is none; or, after a message, it was not found.
 */
bool seek_find(struct seek *s, enum plan_kind kind, uint64_t count, struct plan_place *found);
