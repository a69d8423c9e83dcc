/* Shared by the files of `trapline goto`: the events of a trace, and the stopped machine. */
#pragma once

#include "tools/trapline/goto/ktypes.h"
#include "tools/trapline/goto/seek.h"
#include "tools/trapline/goto/stack.h"

/* A program or library, if the trace contains the file. */
struct goto_file {
	char *path;
	struct elf elf; /* elf.path NULL: it is not there */
	bool is_here;	/* the same file exists on the host at this path */
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
	/* Where the machine is stopped. */
	size_t at;	 /* the event, or the last one before here, by index */
	bool has_event;	 /* else it is before the first one */
	bool on_event;	 /* no instruction has run since the record was reserved */
	bool on_write;	 /* the next instruction writes what was watched ... */
	bool by_machine; /* ... or the processor itself, or a device, does */
	uint64_t count;	 /* instructions begun */
	unsigned cpu;
	uint64_t r[GDB_REGISTERS];
	struct move move;	 /* where to next */
	struct plan_place place; /* how to reach this place again, if it is not an event */
	char line[4096];	 /* the last command */
	bool batch, greeted;
	bool serves; /* gdb, at this port of ours: */
	unsigned port;
	int status;
};

/* Finds the index of the event that the words name. False, after a message: there is none. */
bool goto_choose(
    const struct visit *v, const char *word, const char *match, uint64_t nth, size_t *index);
/* Shows the stop in full, or the event and the place in a line each. */
void goto_show(struct visit *v);
void goto_show_short(struct visit *v);
void goto_show_registers(struct visit *v);
void goto_show_stack(struct visit *v);
/* Shows the lines of the trace around here, `around` before and after. */
void goto_show_trace(struct visit *v, size_t around);
/* "function+0x12" of the kernel or of the program, or the number. */
void goto_name(struct visit *v, uint64_t address, char *text, size_t size);
/*
 * Lets the machine commit the record and compares it with the trace's. False, after a message: they
 * differ. The machine then is at another place.
 */
bool goto_check(struct visit *v);

/* Reads and executes command lines until one of them moves. */
void goto_prompt(struct visit *v);

/*
 * The machine for gdb: writes a script for it, and leaves the machine to it. False, said. And a
 * launch file for Visual Studio Code; is the port free?
 */
bool goto_serve(struct visit *v);
bool goto_write_launch(const struct visit *v);
bool goto_port_is_free(unsigned port);

/*
 * Evaluate an expression: print it, or return it as a number. False, after a message: it is
 * invalid.
 */
bool goto_print(struct visit *v, const char *text, bool hexadecimal);
bool goto_number(struct visit *v, const char *text, uint64_t *n);

/* The address of the CPU's struct task; 0: not known. */
uint64_t goto_current(struct visit *v);
bool goto_task(struct visit *v, char comm[16], int *pid);
/* The file whose code is at the address, and the address within that file; NULL: not known. */
struct goto_file *goto_file_at(struct visit *v, uint64_t address, uint64_t *own);
void goto_close_files(struct visit *v);
bool goto_program_symbol(struct visit *v, const char *name, uint64_t *address);
/* The offset of an address in the file of RAM; false: it is not mapped. */
bool goto_physical(const struct visit *v, uint64_t address, uint64_t *physical);
