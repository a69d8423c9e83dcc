/*
 * The trace that the flight recorder of another boot left (trace/persist/kept.h): checked, taken
 * into memory of this boot, and offered as instances/lastboot. Task context under host_lock, but
 * printing, which is as trace/output/print.h has it.
 */
#pragma once

#include "trace/event/event.h"

struct trace_prevboot;

/* At boot, before kept_start(): the generation that this boot is. */
u64 trace_lastboot_find(void);
/* Before it is offered: what its instance is called. */
void trace_lastboot_name(const char *name);
/* At boot, when the CPUs are up: makes the instance, if there is something to show. */
void trace_lastboot_offer(void);
/* Its instance, if it ended without a word (enum kept_end); else NULL. */
struct trace_array *trace_lastboot_silent(void);
/* Prints what was found, what was not, and why. */
void trace_lastboot_show(struct seq *s);

/* Its events by number, NULL after the last: system, name and the text of `format`. */
struct trace_prevboot_text {
	const char *system, *format;
	char name[256];
	u16 id;
	bool last; /* no later one has its id: the records of that id are its own */
};
bool trace_prevboot_nth(const struct trace_prevboot *past, u32 n, struct trace_prevboot_text *out);
/* As `/proc/kallsyms` and `saved_cmdlines` showed them. */
void trace_prevboot_show_symbols(const struct trace_prevboot *past, struct seq *s);
void trace_prevboot_show_comms(const struct trace_prevboot *past, struct seq *s);
const char *trace_prevboot_release(const struct trace_prevboot *past);
/* Whether addresses in its records are functions and texts of this kernel, too. */
bool trace_prevboot_same_kernel(const struct trace_prevboot *past);
/* A time stamp before all of its records: its clock began there. */
u64 trace_prevboot_begin(const struct trace_prevboot *past);
