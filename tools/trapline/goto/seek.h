/*
 * The machine of a trace, run again to any place of its run and stopped there.
 *
 * Each move is a run from the beginning: a stop may change which CPU goes on, so a machine that has
 * stopped is looked at and thrown away. A plugin in QEMU (stop_plan.h) recognizes the place. What
 * it cannot stop at at once, such as an instruction in the middle of a translated block, it finds
 * in one run; the next one stops before that block, and gdb's protocol steps through it. Within a
 * block no interrupt comes and no clock is read, so these steps are those of the unbroken run.
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
	unsigned cpu; /* that stands at the place */
	void (*arrived)(struct seek *s);
	void *context;
	/* Ours. */
	int plan_fd, channel[2], gdb_ends[2]; /* ours and QEMU's */
	struct machine_spy spy;
	const char *wrong; /* why it did not arrive; NULL: not known */
	bool did_arrive, again;
};

/* False, said: there is no plugin, or no room. */
bool seek_open(struct seek *s, struct origin *o);
void seek_close(struct seek *s);
/*
 * Runs until the CPU has reserved the record of that time, then calls arrived(). False, said: it
 * did not come there.
 */
bool seek_record(struct seek *s, unsigned cpu, uint64_t time);
/* The same for a place that was found. */
bool seek_place(struct seek *s, const struct plan_place *to);
/*
 * Finds a place. `kind` is one of PLAN_FIND_...; what it needs of s->plan is set already. False:
 * there is none, or, said: it was not found.
 */
bool seek_find(struct seek *s, enum plan_kind kind, uint64_t count, struct plan_place *found);
