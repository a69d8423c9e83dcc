/*
 * Events of probes: an instruction or a function's return, defined by a line in kprobe_events, with arguments that are fetched from
 * registers, the stack and memory. Two languages: today's, and that of 2009 (spec: aN sN sa rv ra), whose events have the record, the
 * format and the lines of then.
 *
 * A record: the common fields; the address (of a return: that of the function, and where it returns to), at 8; the arguments, packed;
 * the text of strings. One of 2009: common_tgid at 8, the address(es) from 16 on, the number of arguments, the arguments, 8 bytes each.
 *
 * Definitions: task context under host_lock. Fetching and recording: any context.
 */
#pragma once

#include "trace/dynevent.h"
#include "trace/event.h"

#define PROBE_GROUP	    "kprobes"
#define PROBE_ARGS_MAX	    128
#define PROBE_ARG_NAME_MAX  32
#define PROBE_ARG_TEXT_MAX  63
#define PROBE_ARRAY_MAX	    64
#define PROBE_DEREFS_MAX    14
#define PROBE_MAXACTIVE_MAX 4096
#define PROBE_STRING_MAX    2048 /* with the NUL; what is longer is cut */

enum probe_text {
	PROBE_UNSIGNED,
	PROBE_SIGNED,
	PROBE_HEX,
	PROBE_CHAR,
	PROBE_SYMBOL,
	PROBE_STRING,  /* in the kernel, or wherever the last step leads */
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
};

/* ... through which steps in memory it is reached: each reads what lies at the value so far + deref; the last reads the argument. */
struct probe_fetch {
	u8 source;
	u8 derefs;
	u16 user; /* a bit per step: in ring 3 */
	u32 param;
	u64 imm;
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

/* One place. Several may belong to one event. */
struct trace_probe {
	struct dynevent dyn;
	struct probe_event *event;
	struct trace_probe *next; /* [L] of the event */
	struct host_probe *host;  /* NULL: the place is not there */
	u64 hits;		  /* [A] */
	const char *symbol;	  /* NULL: addr */
	u64 addr, offset;
	u32 maxactive;
	bool is_return, old;
	u16 sp;	     /* where the stack pointer is in the registers */
	bool simple; /* all arguments are 8 bytes from registers, at reg[]; and not of 2009 */
	u32 n_args;
	u16 *reg;
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
	char *group, *name; /* each of the table's names is a copy as well */
};

extern const struct dynevent_kind probe_dynevent_kind;

static inline bool probe_is_string(const struct probe_type *t)
{
	return t->text >= PROBE_STRING;
}

static inline struct probe_event *probe_event_of(const struct trace_event_call *call)
{
	return container_of(call, struct probe_event, call);
}

/* A line of kprobe_events. Errors go to error_log. */
int probe_command(char *line);
void probe_profile_show(struct seq *s);

/* ---- parsing: probe_parse.c ------------------------------------------------------------------------------------------- */

/* What is wrong, where: the word of the command, and the position in it. NULL: it is not said. */
struct probe_error {
	const char *text;
	u32 word, pos;
};

/* The line in words. */
struct probe_words {
	u32 n;
	char **word;
};

/* Memory of one probe: names are cut from it. */
struct probe_arena {
	char *at, *end;
};
char *probe_keep(struct probe_arena *a, const char *text, size_t n); /* NULL: full */

struct probe_parse {
	struct probe_error *err;
	struct probe_arena *arena;
	bool is_return, at_entry;
	u32 word; /* of the argument */
	u32 pos;  /* in it: of what is parsed */
};

/* Argument number i; the ones before are in tp->args. 0, -EINVAL, -ENOENT (a symbol that is not there), -ENOMEM. */
int probe_parse_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p);
/* The same in the language of 2009; and whether all arguments are of it. */
int probe_parse_old_arg(struct trace_probe *tp, u32 i, const char *text, struct probe_parse *p);
bool probe_is_old(const struct probe_words *w);

/* ---- recording: probe_fetch.c; printing: probe_print.c ------------------------------------------------------------------ */

/* What the host calls at a hit: regs as host_reg_find() knows them; at a return, where the function returns to. */
void probe_hit(void *tp, const void *regs, u64 ip, u64 ret);

/* Where the arguments begin. */
static inline u32 probe_head(const struct trace_probe *tp)
{
	if (tp->old)
		return tp->is_return ? 40 : 32;
	return tp->is_return ? 24 : 16;
}

void probe_class_init(struct trace_event_class *class, bool old);
const struct trace_event_field *probe_event_table(const struct trace_event_call *call);
