/*
 * Events of probes: an instruction or a function's return, defined by a line in kprobe_events, with
 * arguments that are fetched from registers, the stack and memory; or another event, whose fields
 * replace registers. There are two argument languages: today's, and the legacy one of 2009 (aN sN
 * sa rv ra), whose events have their own record, format and lines.
 *
 * A record has the common fields; the address at 8 (for a return: the function's, then the return
 * address; for another event: none); the packed arguments; the text of strings. A legacy record has
 * common_tgid at 8, the addresses from 16 on, the number of arguments, and 8 bytes for each
 * argument.
 *
 * kprobe.c defines events of instructions and returns, fprobe.c those of functions (Linux's f:
 * lines of dynamic_events), tprobe.c those of tracepoints, eprobe.c events of events, wprobe.c
 * watchpoints; event.c has their common part. parse.c reads arguments with the table of fetch types
 * in type.c; name.c reads those by name, for which expand.c prepares the line; fetch.c records
 * them, print.c prints them.
 *
 * Definitions: task context under host_lock. Fetching and recording: any context.
 */
#pragma once

#include "trace/dynevent/dynevent.h"
#include "trace/event/consumer.h"
#include "trace/event/event.h"
#include "trace/host_context.h"
#include "trace/host_probe.h"

#define PROBE_GROUP	    "kprobes"
#define EVENT_PROBE_GROUP   "eprobes"
#define FPROBE_GROUP	    "fprobes"
#define TPROBE_GROUP	    "tracepoints"
#define PROBE_ARGS_MAX	    128
#define PROBE_ARG_NAME_MAX  32
#define PROBE_ARG_TEXT_MAX  63
#define PROBE_ARRAY_MAX	    64
#define PROBE_SIZE_MAX	    3072 /* of the arguments in a record, without the text of strings */
#define PROBE_DEREFS_MAX    14
#define PROBE_MAXACTIVE_MAX 4096
#define PROBE_STACK_MAX	    2048 /* words of the kernel's stack, as Linux bounds $stackN */

/* How a value is printed. All from PROBE_STRING on are text: probe_is_string(). */
enum probe_text {
	PROBE_UNSIGNED,
	PROBE_SIGNED,
	PROBE_HEX,
	PROBE_CHAR,
	PROBE_SYMBOL,
	PROBE_STRING,  /* in the kernel, or where the last step points */
	PROBE_USTRING, /* in ring 3 */
	PROBE_SYMSTR,  /* the name of an address */
};

struct probe_type {
	const char *name;
	const char *field; /* its type in format */
	const char *fmt;   /* in print fmt */
	u8 size;
	u8 text; /* enum probe_text */
	bool is_signed;
};

/* Where a value comes from ... */
enum probe_source {
	PROBE_FROM_REG,	  /* param: where in the registers */
	PROBE_FROM_STACK, /* param: which word */
	PROBE_FROM_SP,
	PROBE_FROM_RET, /* where the function returns to */
	PROBE_FROM_IMM, /* imm; of a text its address */
	PROBE_FROM_COMM,
	/*
	 * param: for a return the index of a value saved at entry; for a watchpoint enum
	 * probe_watch_word
	 */
	PROBE_FROM_ENTRY,
	PROBE_FROM_FIELD, /* a field of the probed event: its value, or the address of a string */
};

/*
 * ... and the memory reads that lead to it: each reads at the value so far + deref; the last reads
 * the argument.
 */
struct probe_fetch {
	u8 source;
	u8 derefs;
	u16 user; /* a bit per step: in ring 3 */
	u32 param;
	union {
		u64 imm;
		const struct trace_event_field *field;
	};
	s64 deref[PROBE_DEREFS_MAX];
	u8 lshift, rshift; /* of a bitfield; both 0: none */
};

struct probe_arg {
	const char *name, *body; /* as listed: name=body */
	const struct probe_type *type;
	const char *field_type; /* in format */
	u32 count;		/* of an array; 0: none */
	u32 offset;		/* in the record */
	struct probe_fetch fetch;
};

struct probe_event;

/* One probe. Several may belong to one event. */
struct trace_probe {
	struct dynevent dyn;
	struct probe_event *event;
	struct trace_probe *next; /* [L] of the event */
	struct host_probe *host;  /* NULL: the place does not exist */
	u64 hits;		  /* [A] */
	const char *symbol;	  /* NULL: addr */
	u64 addr, offset;
	u32 maxactive;
	struct trace_event_call *probed; /* another event; NULL: a place in the code */
	const char *filter;		 /* for records of `probed`; NULL: none */
	bool is_return, old;
	struct trace_event_call *tracepoint; /* of a tprobe; NULL: it does not exist */
	struct trace_consumer consumer;	     /* of that */
	struct wprobe *watch;		     /* of wprobe.c; NULL */
	u16 sp;				     /* the stack pointer's position in the registers */
	/*
	 * If all arguments are 8-byte registers, listed in reg[]: the record's size, and its size
	 * in the ring; else 0.
	 */
	u32 simple, simple_size;
	u32 n_args, n_entry;
	u16 *reg;
	s16 *entry; /* of a return: host_arg_place() of each value that is kept at the entry */
	struct probe_arg args[];
};

struct probe_event {
	struct trace_event_call call;
	struct trace_event_class class;
	struct trace_key key;
	struct trace_probe *first; /* [L] newest first; never NULL once registered */
	u32 size;		   /* of a record without strings' text */
	u32 n_strings;		   /* arguments that are strings */
	struct trace_event_field *table;
	char *group, *name; /* each of the table's names is a copy, too */
};

extern const struct dynevent_kind probe_dynevent_kind, event_probe_dynevent_kind,
    fprobe_dynevent_kind, tprobe_dynevent_kind, wprobe_dynevent_kind;

static inline bool probe_is_string(const struct probe_type *t)
{
	return t->text >= PROBE_STRING;
}

/* Bytes in the record, without the text of strings. */
static inline u32 probe_arg_size(const struct probe_arg *arg)
{
	return arg->type->size * (arg->count ? arg->count : 1);
}

static inline struct probe_event *probe_event_of(const struct trace_event_call *call)
{
	return container_of(call, struct probe_event, call);
}

static inline struct trace_probe *trace_probe_of(const struct dynevent *ev)
{
	return container_of(ev, struct trace_probe, dyn);
}

/* A line of kprobe_events. Errors go to error_log. */
int probe_command(char *line);
void probe_profile_show(struct seq *s);

/* ---- parsing: parse.c, type.c, legacy.c ---- */

/* An error: its text (NULL: none to report), the word of the command, and the position in it. */
struct probe_error {
	const char *text;
	u32 word, pos;
	/* an error to log first for the same place, as Linux does; NULL: none */
	const char *before;
	/* negative errno of the first unusable @SYMBOL: reported if there is no other error */
	int late;
};

/* The line in words. */
struct probe_words {
	u32 n;
	char **word;
};

/* Memory of one probe, from which names are allocated. */
struct probe_arena {
	char *at, *end;
};
char *probe_parse_keep(struct probe_arena *a, const char *text, size_t n); /* NULL: full */

struct probe_parse {
	struct probe_error *err;
	struct probe_arena *arena;
	const struct trace_event_call *probed; /* arguments are its fields; NULL: registers */
	bool is_return, at_entry;
	bool is_watch;	   /* the watched address and values replace registers */
	bool no_registers; /* by their names */
	/* the function that is entered or returns; NULL: unknown, or neither */
	const char *function;
	u32 proto;     /* of it, or of a tracepoint's call; 0: unknown */
	bool asked;    /* the line has named a parameter by its number */
	bool named;    /* Linux 6.1 would refuse the line, so later rules apply */
	bool no_field; /* the last error was that the event has no such field */
	struct trace_probe *tp;
	u32 type;     /* declared type of the parsed expression, without modifiers; 0: unknown */
	u8 bit, bits; /* the first bit of a bit field in the value read, and its length; 0: none */
	u32 casts;    /* open casts */
	u32 room;     /* bytes of PROBE_SIZE_MAX that earlier arguments have left */
	u32 word;     /* of the argument */
	u32 pos;      /* position in that word */
};

/* Notes an error at `pos` of the argument; returns -EINVAL. */
int probe_parse_fail(struct probe_parse *p, u32 pos, const char *text);
/*
 * Parses BODY of today's language, and modifies it. *is_text: it is a literal text. Errors as in
 * probe_parse_arg().
 */
int probe_parse_body(struct probe_parse *p, struct probe_fetch *f, char *text, bool *is_text);
/* Parse what follows "$stack", or "$arg". */
int probe_parse_stack(struct probe_parse *p, struct probe_fetch *f, const char *text);
int probe_parse_argument_number(struct probe_parse *p, struct probe_fetch *f, const char *text);
static inline void probe_from_reg(struct probe_fetch *f, int reg)
{
	f->source = PROBE_FROM_REG;
	f->param = reg;
}

/* Fetches argument n of the function, at its entry; for a return, too. */
void probe_from_argument(struct probe_parse *p, struct probe_fetch *f, unsigned n);

/* ---- name.c: arguments by name ---- */

/* "NAME->MEMBER...", also "$retval"; "(STRUCT)BODY->MEMBER...". As probe_parse_body(). */
int probe_parse_name(struct probe_parse *p, struct probe_fetch *f, char *text);
int probe_parse_cast(struct probe_parse *p, struct probe_fetch *f, char *text);
/* The fetch type for the declared type. */
const struct probe_type *probe_type_declared(const struct probe_parse *p);
/*
 * Checks that the declared type is a string; dereferences a pointer to characters. 0; -EINVAL: it
 * is no string.
 */
int probe_check_string(struct probe_parse *p, struct probe_fetch *f, bool user);
/* Sets the shifts of a declared bit field. */
void probe_set_bitfield(const struct probe_parse *p, struct probe_arg *arg);

/* ---- expand.c: words that stand for others ---- */

/* True if the form of an argument is one that Linux 6.1 refuses, because it has a name. */
bool probe_is_named(const struct probe_words *w, bool is_return);
/*
 * Expands $arg* and the like. The caller frees out->word by host_free(); it is NULL if nothing was
 * expanded. form: as in probe_parse_args(); sets form->asked. 0, or an error, which it notes.
 */
int probe_expand(const struct probe_words *w, struct probe_parse *form, struct probe_words *out);

/*
 * type.c. Finds a type by the text after ':' (NULL: none) without "[N]"; NULL: no such type. A
 * bitfield has the type of its container.
 */
const struct probe_type *probe_type_find(const char *name);
/* Parses the position of the bits in "bW@O/S"; accepts other types unchanged. 0 or -EINVAL. */
int probe_parse_bitfield(const char *text, struct probe_arg *arg);
/* Removes "[N]" from the type, after ':' in text: 0 or -EINVAL. */
int probe_parse_count(struct probe_parse *p, char *text, char *type, u32 *count);

/*
 * Parses argument i; earlier ones are in tp->args. 0, -EINVAL, -ENOENT (no such symbol or field),
 * -E2BIG, -ENOMEM.
 */
int probe_parse_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p);
/*
 * legacy.c. The same for a legacy argument. probe_is_legacy(): true if all arguments are legacy; a
 * word that names a parameter of `proto` is not.
 */
int probe_parse_legacy_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p);
bool probe_is_legacy(const struct probe_words *w, u32 proto);

/* ---- what all kinds of probes have in common: event.c ---- */

/* "[GROUP/]NAME", with room for one byte too many, to detect long names. */
struct probe_id {
	char group[DYNEVENT_NAME_MAX + 2], name[DYNEVENT_NAME_MAX + 2];
};
/*
 * Sets the parts that the text has; a group may come without a name. `word`, `pos`: position of the
 * text, for *err. 0 or -EINVAL.
 */
int probe_parse_id(
    struct probe_id *id, const char *text, u32 word, u32 pos, struct probe_error *err);

/*
 * Splits a line into words for define(), and logs its errors to error_log. 0, also for an empty
 * line; -ECANCELED: not of this kind.
 */
typedef int (*probe_define_fn)(const struct probe_words *w, struct probe_error *err);
int probe_define(const char *line, const char *who, probe_define_fn define);
int probe_fail(struct probe_error *err, u32 word, u32 pos, const char *text); /* -EINVAL */
void probe_log_error(const char *who, const struct probe_words *w, const struct probe_error *err);

/*
 * Allocates a probe with room for the arguments (from the third word on) and `extra` bytes of text.
 * The caller frees it by host_free(). NULL: no memory.
 */
struct trace_probe *probe_alloc(
    const struct probe_words *w, size_t extra, struct probe_arena *arena);
/*
 * Parses all arguments and places them in the record. form: the initial state for each. Errors as
 * in probe_parse_arg().
 */
int probe_parse_args(
    struct trace_probe *tp, const struct probe_words *w, const struct probe_parse *form);
/*
 * Creates the unregistered event of a probe in *out, to be freed by host_free(). 0, -ENOMEM;
 * -EEXIST: another event has the name.
 */
int probe_event_create(const struct probe_id *id, const struct trace_probe *tp,
    struct probe_error *err, struct probe_event **out);
/* Registers an event, whose name is free, with its first probe: 0, -ENOMEM, -ENOSPC. */
int probe_event_add(struct probe_event *ev, struct trace_probe *tp);
/*
 * retired.c. Unregisters a legacy event, on or off, and its last probe; its records stay readable.
 */
void probe_event_retire(struct probe_event *ev);
/* True if the event has this group (NULL: any) and this name (empty: any). */
bool probe_match_name(const struct trace_probe *tp, const char *system, const char *event);
/* Shows " NAME=BODY ..."; compares the first arguments with `args`. */
void probe_show_args(struct seq *s, const struct trace_probe *tp);
bool probe_match_args(const struct trace_probe *tp, const char *args);

/* ---- places: kprobe.c, for fprobe.c and tprobe.c as well ---- */

/* A parsed line without its arguments. */
struct probe_definition {
	const struct dynevent_kind *kind;
	struct probe_id id;
	char symbol[256]; /* "": addr */
	u64 addr, offset;
	u32 maxactive;
	bool is_return;
	bool at_entry;			     /* where a function begins */
	struct trace_event_call *tracepoint; /* of tprobe.c; NULL: it is not there */
};
/*
 * Creates the probe and, unless it joins one, the event: 0, or an error of probe_parse_args() and
 * others.
 */
int probe_define_place(
    const struct probe_definition *d, const struct probe_words *w, struct probe_error *err);
/* Parses the `n` digits between the letter and the colon: 0 or -EINVAL. */
int probe_parse_maxactive(
    struct probe_definition *d, const char *text, size_t n, struct probe_error *err);
/* The first word that is $retval, or contains it, at *pos; 0: none. */
u32 fprobe_find_value(const struct probe_words *w, u32 *pos);
/* For struct dynevent_kind of all; a line "-:NAME SYMBOL ..." has no "%return", as on Linux. */
bool kprobe_event_is_busy(const struct dynevent *dyn);
int kprobe_event_free(struct dynevent *dyn);
bool kprobe_event_match(
    const struct dynevent *dyn, const char *system, const char *event, const char *args);

/* ---- triggers that move watchpoints: wprobe_trigger.c; as in struct trace_trigger_command ---- */

struct trace_trigger;
struct trace_trigger_command;
struct trace_trigger_hit;
int wprobe_trigger_write(const struct trace_trigger_command *command, struct trace_event_file *file,
    bool remove, char *rest);
void wprobe_trigger_set(struct trace_trigger *t, const struct trace_trigger_hit *hit);
void wprobe_trigger_clear(struct trace_trigger *t, const struct trace_trigger_hit *hit);
void wprobe_trigger_show(struct seq *s, const struct trace_trigger *t);
void wprobe_trigger_release(struct trace_trigger *t);

/* ---- recording: fetch.c; printing: print.c ---- */

/*
 * The host calls this at a hit. `regs` is as for host_reg_find(); `ret` is the return address if
 * the hit is a return.
 */
typedef int (*probe_hit_fn)(void *tp, const void *regs, u64 ip, u64 ret);
probe_hit_fn probe_hit_of(const struct trace_probe *tp);
/* A tracepoint calls this, with its arguments in place of registers. */
typedef void (*probe_consume_fn)(struct trace_consumer *consumer, const u64 *args);
probe_consume_fn probe_consume_of(const struct trace_probe *tp);
/* The same for a return with values of the entry: probe_keep() saves n_entry of them. */
void probe_keep(void *tp, const void *regs, u64 *kept);
int probe_return_hit(void *tp, const void *regs, u64 ip, u64 ret, const u64 *kept);
/* The words of a watchpoint's hit: the address, and the values after and before the access. */
enum probe_watch_word { PROBE_WATCH_ADDR, PROBE_WATCH_VALUE, PROBE_WATCH_OLD, PROBE_WATCH_WORDS };
void probe_watch_hit(struct trace_probe *tp, const void *regs, u64 ip, const u64 *words);
/*
 * Fetches arguments from a record of the probed event and records them in `file`, which is of the
 * probe's own event. Between host_enter() and host_preempt_enable().
 */
void probe_event_hit(const struct trace_probe *tp, struct trace_event_file *file,
    const struct host_context *ctx, const void *rec, u32 len);

/* The offset of the arguments in the record. */
static inline u32 probe_head(const struct trace_probe *tp)
{
	if (tp->probed)
		return 8;
	if (tp->old)
		return tp->is_return ? 40 : 32;
	return tp->is_return ? 24 : 16;
}

void probe_class_init(struct trace_event_class *class, const struct trace_probe *tp);
const struct trace_event_field *probe_event_table(const struct trace_event_call *call);
