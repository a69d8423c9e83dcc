/* What the files of `trapline goto` share: the events of a trace, and the machine that stands. */
#pragma once

#include "tools/trapline/goto/ktypes.h"
#include "tools/trapline/goto/seek.h"
#include "tools/trapline/goto/stack.h"

/* A file that programs are made of, if the trace has it. */
struct goto_file {
	char *path;
	struct elf elf; /* elf.path NULL: it is not there */
	bool is_here;	/* the same file lies here by this path */
};

/* Where to go next. */
struct move {
	enum {
		MOVE_QUIT,
		MOVE_EVENT, /* n: its index */
		MOVE_COUNT, /* n: instructions since the machine began */
		MOVE_CALL,  /* n: the next time that this address is executed */
		MOVE_WRITE, /* n: the next write to bytes of RAM there */
		MOVE_WRITER /* n: the last one before here */
	} kind;
	uint64_t n, from; /* from: instructions from where on, or up to which */
	unsigned bytes;
};

struct visit {
	struct trace trace;
	struct origin origin;
	struct seek seek;
	struct elf kernel;
	struct record *event; /* all of them, in their order */
	size_t events;
	struct ktypes types;
	struct goto_file *file;
	size_t files;
	/* Where it stands. */
	size_t at;	 /* the event, or the last one before here, by index */
	bool has_event;	 /* else it is before the first one */
	bool on_event;	 /* no instruction since its room was reserved */
	bool on_write;	 /* the next instruction writes what was watched ... */
	bool by_machine; /* ... or the processor itself, or a device, does */
	uint64_t count;	 /* instructions begun */
	unsigned cpu;
	uint64_t r[GDB_REGISTERS];
	struct move move;	 /* where to next */
	struct plan_place place; /* how to come here again, if it is no event */
	char line[4096];	 /* the last command */
	bool batch, greeted;
	bool serves; /* gdb, at this port of ours: */
	unsigned port;
	int status;
};

/* Which event the words mean: its index. False, said: there is none. */
bool goto_choose(
    const struct visit *v, const char *word, const char *match, uint64_t nth, size_t *index);
/* What there is to see: all of it, or the event and the place in a line each. */
void goto_show(struct visit *v);
void goto_show_short(struct visit *v);
void goto_show_registers(struct visit *v);
void goto_show_stack(struct visit *v);
/* The lines around here, so many before and behind. */
void goto_show_trace(struct visit *v, size_t around);
/* "function+0x12" of the kernel or of the program, or the number. */
void goto_name(struct visit *v, uint64_t address, char *text, size_t size);
/*
 * Goes on until the record is committed, and compares it with the trace's. False, said: it is not
 * the same. The machine is at another place then.
 */
bool goto_check(struct visit *v);

/* Reads a line and does what it says, again and again, until there is a move. */
void goto_prompt(struct visit *v);

/*
 * The machine for gdb: writes a script for it, and leaves the machine to it. False, said. And a
 * launch file for Visual Studio Code; is the port free?
 */
bool goto_serve(struct visit *v);
bool goto_write_launch(const struct visit *v);
bool goto_port_is_free(unsigned port);

/* An expression: prints it; or is it a number? False, said: it is wrong. */
bool goto_print(struct visit *v, const char *text, bool hexadecimal);
bool goto_number(struct visit *v, const char *text, uint64_t *n);

/* The struct task of the CPU; 0: not known. */
uint64_t goto_current(struct visit *v);
bool goto_task(struct visit *v, char comm[16], int *pid);
/* The file whose code is there, and the address in its own terms; NULL: not known. */
struct goto_file *goto_file_at(struct visit *v, uint64_t address, uint64_t *own);
void goto_close_files(struct visit *v);
bool goto_program_symbol(struct visit *v, const char *name, uint64_t *address);
/* Where in the file of RAM an address lies; false: nowhere. */
bool goto_physical(const struct visit *v, uint64_t address, uint64_t *physical);
