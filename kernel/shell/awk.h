/*
 * awk: the program as a tree (awk_lex.c, awk_expr.c, awk_parse.c), its values (awk_value.c) and its run (awk_run.c,
 * awk_call.c). Numbers are decimals without floating point. No functions of one's own, no getline, no redirections. Task
 * context; nodes lie in an arena.
 */
#pragma once

#include "kernel/shell/command.h"
#include "kernel/shell/decimal.h"
#include "kernel/shell/regex.h"

#define AWK_STACK_MIN 5120 /* bytes of stack an expression needs */

enum awk_kind {
	AWK_UNSET,
	AWK_NUMBER,
	AWK_STRING,
	AWK_INPUT /* text that may look like a number */
};

struct awk_value {
	enum awk_kind kind;
	struct sh_dec num;
	const char
	    *str; /* all kinds but numbers; in an arena, or kmalloc'ed where a variable holds it */
};

struct awk_item { /* of an array */
	struct awk_item *next;
	struct awk_value value;
	char key[];
};

#define AWK_BUCKETS 64
struct awk_var {
	struct awk_var *next;
	struct awk_value value;
	struct awk_item **items; /* AWK_BUCKETS lists once it is an array */
	u64 item_count;
	char name[];
};

enum awk_op {
	/* expressions */
	AWK_CONST,
	AWK_REGEX,
	AWK_VAR,
	AWK_FIELD,
	AWK_INDEX,
	AWK_ASSIGN,
	AWK_COND,
	AWK_OR,
	AWK_AND,
	AWK_IN,
	AWK_MATCH,
	AWK_NOMATCH,
	AWK_LT,
	AWK_LE,
	AWK_EQ,
	AWK_NE,
	AWK_GT,
	AWK_GE,
	AWK_CONCAT,
	AWK_ADD,
	AWK_SUB,
	AWK_MUL,
	AWK_DIV,
	AWK_MOD,
	AWK_NEG,
	AWK_PLUS,
	AWK_NOT,
	AWK_PRE,
	AWK_POST,
	AWK_CALL,
	/* statements */
	AWK_EXPR,
	AWK_PRINT,
	AWK_PRINTF,
	AWK_IF,
	AWK_WHILE,
	AWK_DO,
	AWK_FOR,
	AWK_FOR_IN,
	AWK_BLOCK,
	AWK_NEXT,
	AWK_EXIT,
	AWK_BREAK,
	AWK_CONTINUE,
	AWK_DELETE,
};

struct awk_node {
	enum awk_op op, sub; /* sub: of an assignment, AWK_ASSIGN for the plain one */
	struct awk_node *a, *b, *c, *d;
	struct awk_node *next; /* in a list of arguments or statements */
	struct awk_value value;
	struct awk_var *var;
	struct sh_regex *re;
	struct awk_node *all_next; /* every node with an expression, to free it */
	int n;			   /* AWK_CALL: which function; AWK_PRE, AWK_POST: +1 or -1 */
};

struct awk_rule {
	struct awk_rule *next;
	enum { AWK_BEGIN, AWK_END, AWK_ALWAYS, AWK_IF_TRUE, AWK_RANGE } when;
	bool inside;			   /* a range has begun */
	struct awk_node *from, *to, *body; /* body NULL: print */
};

enum awk_flow { AWK_GO, AWK_FLOW_BREAK, AWK_FLOW_CONTINUE, AWK_FLOW_NEXT, AWK_FLOW_EXIT };

struct awk {
	struct sh_io *io;
	struct sh_arena *arena; /* the program */
	struct sh_arena tmp;	/* strings of the running statement */
	struct awk_rule *rules, **end;
	struct awk_node *with_regex;
	struct awk_var *vars;
	struct awk_var *nf, *nr, *fnr, *fs, *ofs, *ors, *filename, *rstart, *rlength, *subsep;
	struct sh_buf record; /* $0 */
	struct sh_buf pieces; /* copies of the fields, each with a NUL */
	u32 *field;	      /* offsets into pieces */
	u32 fields, field_room;
	bool split_done;
	bool failed; /* said why */
	int status;
	struct sh_regex *fs_re;
	char *fs_text; /* what fs_re was made from */
};

/* awk_parse.c: 0, or 1 after a message. */
int awk_parse(struct awk *w, const char *text);
const char *awk_function_name(int n, int *min, int *max);

/* awk_value.c */
struct awk_var *awk_var(
    struct awk *w, const char *name, size_t n); /* made if need be; NULL: no memory */
void awk_set(struct awk *w, struct awk_var *v, struct awk_value value);
struct awk_item *awk_item(struct awk *w, struct awk_var *v, const char *key, bool make);
void awk_delete(struct awk_var *v, const char *key); /* NULL: all */
void awk_store(struct awk *w, struct awk_value *to, struct awk_value value);
struct awk_value awk_number(struct sh_dec d);
struct awk_value awk_int(s64 v);
struct awk_value awk_string(const char *s);
struct awk_value awk_input(const char *s);
struct sh_dec awk_num(struct awk_value v);
const char *awk_str(struct awk *w, struct awk_value v);
bool awk_true(struct awk_value v);
int awk_compare(struct awk *w, struct awk_value a, struct awk_value b);
void awk_vars_free(struct awk *w);

/* awk_record.c: $0, its fields, NF. */
void awk_record(struct awk *w, const char *s, size_t n);
struct awk_value awk_field(struct awk *w, s64 n);
void awk_field_set(struct awk *w, s64 n, const char *s);
void awk_nf_changed(struct awk *w);
u32 awk_nf(struct awk *w);
/* Cuts s at fs: calls put for each piece. */
void awk_split(struct awk *w, const char *s, const char *fs,
    void (*put)(struct awk *w, void *ctx, const char *s, size_t n), void *ctx);

/* awk_run.c */
struct awk_value awk_eval(struct awk *w, const struct awk_node *n);
enum awk_flow awk_exec(struct awk *w, const struct awk_node *n);
void awk_assign(struct awk *w, const struct awk_node *to, struct awk_value v);
void awk_fail(struct awk *w, const char *fmt, ...) __printf(2, 3);
/* A regular expression from a constant or a value; *own: to be freed. NULL: failed. */
struct sh_regex *awk_regex(struct awk *w, const struct awk_node *n, bool *own);

/* awk_call.c: functions and printf. */
struct awk_value awk_call(struct awk *w, const struct awk_node *n);
void awk_format(struct awk *w, struct sh_buf *out, const char *format, const struct awk_node *args);
