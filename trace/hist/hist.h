/*
 * Histograms: the tables and actions of hist triggers. The language is that of Linux's histogram
 * document.
 *
 * Words. A *field* of a histogram has a value when the event fires: a field of the event, a
 * constant, an expression, a reference to a variable. *Keys* select the entry, which sums up
 * *values* and stores *variables*. A *reference* reads a variable of the entry with the same key,
 * in this histogram or in another event's. A *handler* (onmatch, onmax, onchange) decides when an
 * *action* (trace, save, snapshot) runs.
 *
 * Making and showing: task context under host_lock. hist_update(): any context, between
 * host_enter() and host_preempt_enable().
 *
 * trigger.c is the command of the `trigger` file. parse.c parses it, expr.c its expressions, and
 * action.c its handlers and actions; var.c finds variables. hist.c then makes the table (map.c) and
 * publishes its variables. update.c counts an event, do.c runs the actions, print.c shows the
 * command and the table. Up to two keys that are plain numbers take a fast path in update.c.
 */
#pragma once

#include "kernel/lib/seq.h"
#include "trace/event/event.h"
#include "trace/hist/map.h"
#include "trace/host_context.h"

#define HIST_KEYS_MAX	 3
#define HIST_VALS_MAX	 3 /* hitcount is one */
#define HIST_FIELDS_MAX	 (HIST_KEYS_MAX + HIST_VALS_MAX + HIST_VARS_MAX)
#define HIST_SORTS_MAX	 2
#define HIST_ACTIONS_MAX 8
#define HIST_REFS_MAX	 16
#define HIST_PARAMS_MAX	 64
#define HIST_STRING	 256 /* bytes of a stored string; the maximum for a string in a key */
#define HIST_FRAMES	 16
#define HIST_KEY_WORDS	 ((HIST_STRING + HIST_FRAMES * 8) / 8)
#define HIST_COMM	 16

enum hist_flags {
	HIST_HITCOUNT = 1 << 0,
	HIST_KEY = 1 << 1,
	HIST_IS_STRING = 1 << 2,
	HIST_HEX = 1 << 3,
	HIST_SYM = 1 << 4,
	HIST_SYM_OFFSET = 1 << 5,
	HIST_EXECNAME = 1 << 6,
	HIST_SYSCALL = 1 << 7,
	HIST_STACKTRACE = 1 << 8,
	HIST_LOG2 = 1 << 9,
	HIST_TIMESTAMP = 1 << 10,
	HIST_USECS = 1 << 11,
	HIST_VAR = 1 << 12,
	HIST_EXPR = 1 << 13,
	HIST_REF = 1 << 14,
	HIST_CPU = 1 << 15,
	HIST_ALIAS = 1 << 16, /* a variable that is another's value */
	HIST_BUCKETS = 1 << 17,
	HIST_CONST = 1 << 18,
	HIST_PERCENT = 1 << 19,
	HIST_GRAPH = 1 << 20,

	HIST_PLACED = HIST_IS_STRING | HIST_STACKTRACE, /* not numbers: stored in the entry */
};

/* Where a value comes from. */
enum hist_op {
	HIST_OP_U8,
	HIST_OP_U16,
	HIST_OP_U32,
	HIST_OP_U64,
	HIST_OP_S8,
	HIST_OP_S16,
	HIST_OP_S32,
	HIST_OP_STRING,	    /* the address, in the record */
	HIST_OP_DYN_STRING, /* the same */
	HIST_OP_REL_STRING, /* the same, relative to the end of the field */
	HIST_OP_CONST,
	HIST_OP_ONE,
	HIST_OP_TIMESTAMP,
	HIST_OP_CPU,
	HIST_OP_REF,
	HIST_OP_EXECNAME,  /* the address, in the entry */
	HIST_OP_STACK,	   /* not a number: a key or a variable */
	HIST_OP_REC_STACK, /* the same, of the record */
	HIST_OP_LOG2,
	HIST_OP_BUCKET,
	HIST_OP_ADD,
	HIST_OP_SUB,
	HIST_OP_MUL,
	HIST_OP_DIV,
	HIST_OP_NEG,
};

struct hist;

struct hist_field {
	u32 flags;
	u8 op;
	u8 index;     /* a value's sum, a variable's place */
	u8 ref_index; /* a reference's place in refs[] */
	bool is_signed;
	bool once; /* a reference that resets the variable */
	u16 at;	   /* in the record */
	u16 size;  /* size of the value; of a whole string */
	u16 key_at, key_words;
	u16 text;	      /* a placed variable's place in the entry's text */
	const char *type;     /* the C type, for synthetic events */
	const char *label;    /* its name in an entry's line */
	const char *var_name; /* of a variable */
	const char *ref_name; /* of a reference: the variable's */
	/* of a reference: the histogram of the variable, whose index there is `var` */
	struct hist *owner;
	u8 var;
	u64 number; /* constant, width of buckets */
	const struct trace_event_field *field;
	struct hist_field *a, *b;
};

struct hist_sort {
	const struct hist_field *field; /* fields[0] for hitcount */
	bool descending;
};

/* A variable made for an action's parameter that is a field. */
struct hist_param_var {
	struct hist_field *var, *val;
};

enum hist_handler { HIST_ONMATCH, HIST_ONMAX, HIST_ONCHANGE };
enum hist_action_kind { HIST_SAVE, HIST_SNAPSHOT, HIST_TRACE };

struct synth_event;

/* What snapshot() stores about the event that triggered the last snapshot. */
struct hist_snapshot {
	u64 value;		  /* [A] */
	bool taken;		  /* [A] */
	struct hist_entry *entry; /* [A] */
	u64 due;		  /* [A] a bit per CPU: taken once its record was made */
};

struct hist_action {
	u8 handler, kind;
	const char *system, *event; /* onmatch's */
	const char *tracked;	    /* onmax's, onchange's: "$name" */
	const char *name;	    /* the action as written: "trace", "save_it" */
	const char *synth_name;	    /* trace(NAME, ...): the first parameter; else NULL */
	const char *params[HIST_PARAMS_MAX];
	u32 n_params;
	struct synth_event *synth;  /* kept from being removed while the action exists */
	u8 refs[HIST_PARAMS_MAX];   /* of each parameter */
	struct hist_field *ref;	    /* to the tracked variable */
	u8 best;		    /* place of the variable that keeps max or last */
	struct hist_snapshot *shot; /* of snapshot() */
};

/* A histogram on another event, created to make a field of that event a variable. */
struct hist_helper {
	struct hist_helper *next;
	struct trace_event_file *file;
	const char *command;
};

struct hist_block; /* of memory */

struct hist {
	struct list_head node; /* all histograms that run */
	struct trace_event_file *file;
	struct hist_map *map;
	struct hist_field *fields[HIST_FIELDS_MAX]; /* hitcount, values, variables, keys */
	struct hist_field *refs[HIST_REFS_MAX];
	struct hist_param_var *field_vars[HIST_VARS_MAX], *save_vars[HIST_VARS_MAX];
	struct hist_action *actions[HIST_ACTIONS_MAX];
	struct hist_sort sort[HIST_SORTS_MAX];
	u32 n_vals, n_vars, n_keys, n_fields; /* n_vals with variables and hitcount */
	u32 n_sums, n_var_places, n_texts, n_refs;
	u32 n_field_vars, n_save_vars, n_actions, n_sorts;
	u32 key_words, size;
	bool timestamps, usecs, needs_comm;
	/* number of keys if the fast path applies, else 0; bytes of the record that it reads */
	u32 simple, simple_len;
	bool more_than_sums;	  /* simple, with variables or times among the values */
	bool common;		  /* simple, and reads common fields */
	bool pause, cont, clear;  /* what the command said */
	bool nohitcount;	  /* it is not shown */
	bool stopped;		  /* [A] being cleared */
	u32 users;		  /* triggers */
	const char *name, *clock; /* name: "name=NAME" or NULL */
	const char *keys_text, *vals_text, *sort_text;
	struct hist_defs *defs; /* variables as written */
	struct hist_helper *helpers;
	const char *where, *cmd; /* for error_log */
	const char *text;	 /* the part of cmd that is parsed; the parser modifies it */
	u32 text_at;		 /* where it begins in cmd */
	struct hist_block *blocks;
	bool no_memory; /* an allocation failed, so lookups may have failed for that reason */
	bool removing;	/* parsed only to compare it with an existing one */
};

/* ---- making ---- */

/*
 * Parses "keys=...:..." (modified; without the filter) for an event: 0, -EINVAL, -EDOM, -ENOMEM;
 * error_log shows errors with cmd. Nothing else can reach the histogram until hist_start().
 * removing: names may exist already.
 */
int hist_create(
    struct trace_event_file *file, const char *cmd, char *text, bool removing, struct hist **out);
/* Resolves the references of actions, creates the map, and publishes the histogram's variables. */
int hist_start(struct hist *h);
/* Frees a histogram, started or not. No writer may use it any more. */
void hist_free(struct hist *h);
/* True if another histogram refers to one of its variables. */
bool hist_is_needed(const struct hist *h);
/* True if both count the same things in the same way. */
bool hist_matches(const struct hist *a, const struct hist *b);
void hist_clear(struct hist *h);
/* -EINVAL, logged: another histogram of the event has a variable of the same name. */
int hist_check_vars(struct hist *h);
extern struct list_head hists; /* the started histograms */

/* ---- counting ---- */

/*
 * `after`: where TRACE_TRIGGER_HIST is added if a snapshot() shall contain this record, so that
 * hist_take_snapshots() has to follow it. NULL: there will be no record, and it is taken at once.
 */
void hist_update(
    struct hist *h, const struct host_context *ctx, const void *rec, u32 len, u32 *after);
/* The same if h->simple, from an image of the fields. After host_preempt_disable(). */
void hist_update_from_fields(struct hist *h, const void *rec);

/* ---- showing ---- */

/* "hist:keys=...", up to the filter. */
void hist_show_spec(struct seq *s, const struct hist *h);
/* The table and what follows it. 0 or -ENOMEM. */
int hist_show_table(struct seq *s, struct hist *h);
void hist_show_key(struct seq *s, const struct hist *h, struct hist_entry *e);
/* A line each, up to a 0 or HIST_FRAMES. */
void hist_show_frames(struct seq *s, const u64 *frames);
/* ".hex", ".buckets=10" ...; nothing if it has none. */
void hist_show_modifier(struct seq *s, const struct hist_field *f);

/* ---- between the files of it ---- */

/* Zeroed memory, freed with the histogram. NULL: no memory. */
void *hist_alloc(struct hist *h, size_t size);
char *hist_copy(struct hist *h, const char *text);
/*
 * Logs an error with the caret at the first `word` in the command (NULL: at its start). Returns
 * -EINVAL.
 */
int hist_fail(struct hist *h, const char *text, const char *word);
/*
 * Logs that a number is required in place of a string or a stack; the caret points at `word`, a
 * part of h->text. Returns -EINVAL.
 */
int hist_refuse_string(struct hist *h, const char *word);
extern const char hist_string_refused[]; /* what it logs */

/* var.c */
struct hist_field *hist_own_var(const struct hist *h, const char *name);
/* Searches the event's running histograms. */
struct hist_field *hist_running_var(
    const struct trace_event_file *file, const char *name, struct hist **owner);
/* Searches this histogram and the event's running ones. */
struct hist_field *hist_file_var(
    struct hist *h, struct trace_event_file *file, const char *name, struct hist **owner);
/*
 * Finds "$name" of any event (system and event NULL), or of one. NULL: none, or several, which it
 * logs.
 */
struct hist_field *hist_find_var(
    struct hist *h, const char *system, const char *event, const char *name, struct hist **owner);
/* Makes a reference to a variable; NULL: no memory, or too many references. */
struct hist_field *hist_make_ref(struct hist *h, struct hist *owner, struct hist_field *var,
    const char *system, const char *event);
/* Makes a variable that the command does not define. NULL: no memory, or too many. */
struct hist_field *hist_make_var(struct hist *h, const char *name, const struct hist_field *like);

/* action.c */
int hist_parse_action(struct hist *h, char *text);
int hist_start_actions(struct hist *h);
void hist_stop_actions(struct hist *h);
void hist_clear_actions(struct hist *h);
bool hist_same_actions(const struct hist *a, const struct hist *b);
void hist_show_actions(struct seq *s, const struct hist *h);

/* do.c */
void hist_run_actions(struct hist *h, struct hist_entry *e, const struct host_context *ctx,
    const void *rec, u32 len, const u64 *refs, u32 *after);
void hist_take_snapshots(struct hist *h, const struct host_context *ctx);
void hist_show_tracked(struct seq *s, const struct hist *h, struct hist_entry *e);
void hist_show_snapshot(struct seq *s, const struct hist *h);

/* update.c: stores the record's fields that save() or an action's parameter names. */
void hist_store_params(struct hist *h, struct hist_entry *e, struct hist_param_var *const *vars,
    u32 n, const struct host_context *ctx, const void *rec, u32 len);
