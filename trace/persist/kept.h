/*
 * The flight recorder's memory: a region that a warm reset keeps, in which the global array's rings
 * lie, with what is needed to read them without the kernel that wrote them: clock, formats of
 * events, names of tasks and functions. kept.c writes it, for this boot; lastboot.c reads what
 * another boot left. Layout: a header page, names of functions, texts (formats), then the pool of
 * pages.
 *
 * Task context under host_lock, unless said.
 */
#pragma once

#include "trace/event/event.h"
#include "trace/persist/kept_read.h"

/*
 * Takes the region for this boot: what lies in it is gone. Before the first ring is made. False:
 * there is none, or it is too small; all else here then does nothing.
 */
bool kept_start(u64 generation);
void kept_stop(void);
/* What was not known at the start: the clock as measured, how many CPUs. */
void kept_update(void);
/* The first counts. Any context. */
void kept_note_end(enum kept_end how);
/* A line about the region: where, how large, how much of the pool is in use. */
void kept_show(struct seq *s);
