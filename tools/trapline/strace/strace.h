/*
 * A trace of system calls as strace prints it. strace.c pairs records and writes lines, calls.c has
 * the table of calls and the kinds of their arguments, values.c and structs.c print them, names.c
 * has the names of numbers.
 *
 * The events of system calls have the numbers, and texts up to syscall_user_buf_size. Probes on the
 * handlers of the calls record the data of other pointers, mostly when a handler returns:
 * strace_probes() makes their definitions from the same table. A trace without these probes shows
 * addresses.
 */
#pragma once

#include "tools/trapline/trace/trace.h"

#define STRACE_SYSTEM	 "strace" /* of the probes */
#define STRACE_TEXT	 "165"	  /* bytes of a text that the events keep: the maximum */
#define STRACE_SHOWN	 32	  /* bytes of a buffer that a line shows */
#define STRACE_CALLS	 512
#define STRACE_ARGUMENTS 6

/* ---- names of numbers ---- */

struct strace_name {
	uint64_t value;
	const char *name;
};

struct strace_names {
	const struct strace_name *name; /* ended by a name that is NULL */
	const char *unknown;		/* PROT_???; NULL: a number without a name stays bare */
};

#define STRACE_NAMES(id) extern const struct strace_names strace_##id;
#include "tools/trapline/strace/names.def"

/* The name of a number; NULL: it has none. */
const char *strace_name(const struct strace_names *names, uint64_t value);

/* ---- calls ---- */

struct strace_row;

/* A call by a task. Records without data are missing. */
struct strace_call {
	const struct strace_row *row;
	uint32_t nr;
	int32_t pid;
	uint64_t arg[STRACE_ARGUMENTS];
	struct record enter, before, after; /* before, after: of the probes */
	int64_t result;
	bool returned;
};

/* Where to print an argument. */
struct strace_put {
	FILE *out;
	const struct strace_call *call;
	unsigned at; /* which argument; beyond the last: the result */
	const struct strace_kind *kind;
};

/* A kind of arguments. */
struct strace_kind {
	/* if it prints nothing, the argument is omitted */
	void (*put)(struct strace_put *p, uint64_t value);
	const struct strace_names *names;
	/*
	 * The probe's fetch expression at the call's return, or begin; NULL: none. # stands for the
	 * argument's name in the record, @ for the place of its value.
	 */
	const char *after, *before;
	bool is_out; /* the call fills it: it is printed when the call returns */
};

struct strace_row {
	const char *name;
	const struct strace_kind *arg[STRACE_ARGUMENTS];
	void (*result)(struct strace_put *p); /* NULL: a decimal number */
};

/* The row of a call; for one that the table lacks a row with a name alone, or NULL. */
const struct strace_row *strace_row(uint32_t nr);
/* exit() and exit_group() */
bool strace_never_returns(const struct strace_call *c);
/* The definitions of the probes, for dynamic_events; a NULL ends them. Not to be freed. */
const char *const *strace_probes(void);
/* The number of the call that a probe of this name is on; -1: it is none of our probes. */
int strace_probed(const char *event, bool *before);

/* ---- values ---- */

/* The bytes of the argument that a probe recorded in the field with this suffix; NULL: none. */
const uint8_t *strace_bytes(const struct strace_put *p, const char *suffix, size_t *size);
/*
 * The bytes of a structure. Prints the address and returns NULL if the call failed and filled
 * nothing, or no probe recorded it.
 */
const uint8_t *strace_memory(struct strace_put *p, uint64_t address, size_t size);
/* True if the call returned an error, also one that restarts it. */
bool strace_failed(const struct strace_call *c);

void strace_put_address(struct strace_put *p, uint64_t value);
/* "TEXT", with `more` bytes left out "TEXT"... */
void strace_put_text(FILE *out, const uint8_t *text, size_t size, bool more);
void strace_put_value(FILE *out, const struct strace_names *names, uint64_t value);
void strace_put_flags(FILE *out, const struct strace_names *names, uint64_t value);
#define STRACE_BITS 1024 /* bits of a set that the probes record */
/* Prints si_code; returns whether the signal reports a child's end or a fault at an address. */
enum strace_cause { STRACE_SENT, STRACE_CHILD, STRACE_FAULT };
enum strace_cause strace_put_code(FILE *out, int sig, int code);
void strace_put_bits(FILE *out, const uint8_t *bits, uint64_t n); /* [0 2]: those that are set */
void strace_put_set(FILE *out, uint64_t set); /* of signals: [INT CHLD], ~[KILL] */
void strace_put_mode(FILE *out, uint32_t mode);
void strace_put_status(FILE *out, int32_t status);    /* of a process that ended or stopped */
uint64_t strace_word(const uint8_t *bytes, size_t i); /* the 8 bytes at 8 * i */
uint32_t strace_half(const uint8_t *bytes, size_t i); /* the 4 bytes at 4 * i */

/* Kinds of arguments that point at structures: see calls.c. */
#define STRACE_STRUCT(id) void strace_put_##id(struct strace_put *p, uint64_t value);
#include "tools/trapline/strace/structs.def"

/* ---- lines ---- */

/*
 * Prints all calls of a trace; of a recording with our probes those from the program's execve on.
 * `file`: each line begins with its task, as strace writes a file; else only while there are
 * several.
 */
void strace_write(struct trace *t, FILE *out, bool file);
