/* What the files of `trapline goto` share: the events of a trace, and the machine that stands. */
#pragma once

#include "tools/trapline/seek.h"
#include "tools/trapline/stack.h"

struct visit {
	struct trace trace;
	struct origin origin;
	struct seek seek;
	struct elf kernel;
	struct record *event; /* all of them, in their order */
	size_t events;
	/* Where it stands. */
	size_t at;	/* the last event reached, by index */
	bool on_event;	/* no instruction since it was reserved */
	uint64_t count; /* instructions begun */
	unsigned cpu;
	uint64_t r[GDB_REGISTERS];
	bool batch;
	int status;
};

/* Which event the words mean: its index. False, said: there is none. */
bool goto_choose(
    const struct visit *v, const char *word, const char *match, uint64_t nth, size_t *index);
/* Event, task, registers and stack of the place. */
void goto_show(struct visit *v);
void goto_show_event(struct visit *v);
void goto_show_registers(struct visit *v);
void goto_show_stack(struct visit *v);
/* "function+0x12" of the kernel or of the program, or the number. */
void goto_name(const struct visit *v, uint64_t address, char *text, size_t size);
/*
 * Goes on until the record is committed, and compares it with the trace's. False, said: it is not
 * the same. The machine is at another place then.
 */
bool goto_check(struct visit *v);
