/*
 * Shared by the files of trace/filter: the parser of one predicate, the tests, and the matching of
 * text.
 */
#pragma once

#include "trace/filter/compile.h"

/* Error texts. */
#define FILTER_INVALID_OP     "Invalid operator"
#define FILTER_TOO_MANY_OPEN  "Too many '('"
#define FILTER_TOO_MANY_CLOSE "Too few '('"
#define FILTER_MISSING_QUOTE  "Missing matching quote"
#define FILTER_MISSING_OPEN   "Missing '{'"
#define FILTER_MISSING_CLOSE  "Missing '}'"
#define FILTER_TOO_LONG	      "Operand too long"
#define FILTER_EXPECT_STRING  "Expecting string field"
#define FILTER_EXPECT_NUMBER  "Expecting numeric field"
#define FILTER_ILLEGAL_OP     "Illegal operation for field type"
#define FILTER_NO_FIELD	      "Field not found"
#define FILTER_ILLEGAL_NUMBER "Illegal integer value"
#define FILTER_BAD_SYSTEM     "Couldn't find or set field in one of a subsystem's events"
#define FILTER_TOO_MANY_TERMS "Too many terms in predicate expression"
#define FILTER_BAD_CPULIST    "Invalid cpulist"
#define FILTER_INVALID_VALUE  "Invalid value (did you forget quotes)?"
#define FILTER_NO_FUNCTION    "Function not found"
#define FILTER_NOTHING	      "No filter found"

#define FILTER_STRING_MAX  256	/* an operand is shorter */
#define FILTER_POINTED_MAX 1024 /* bytes read of a string outside the record, including its NUL */

/* A text being compiled. */
struct filter_parser {
	const struct trace_event_call *call;
	const char *text;
	size_t at;		/* offset of the next character */
	char *room;		/* for patterns */
	struct trace_filter *f; /* gets needs and fixed */
	struct trace_filter_error *err;
};

/* Notes the error and returns -EINVAL. */
int filter_fail(struct filter_parser *p, const char *why, size_t pos);
/* The same, but a trigger is refused with `code`. */
int filter_fail_as(struct filter_parser *p, int code, const char *why, size_t pos);
/*
 * Compiles one predicate, "field op value", to *in, except for in->next. *invert: the predicate is
 * true if the test is false. 0 or -EINVAL.
 */
int filter_parse_predicate(struct filter_parser *p, struct filter_insn *in, bool *invert);
/* Parse the value, at p->at, of a predicate on a number or a mask (number.c). */
struct filter_operand;
int filter_parse_number(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert);
int filter_parse_function(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert);
int filter_parse_cpus(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert);
int filter_parse_char(
    struct filter_parser *p, const struct filter_operand *o, struct filter_insn *in, bool *invert);

enum filter_op {
	FILTER_OP_GLOB,
	FILTER_OP_NE,
	FILTER_OP_EQ,
	FILTER_OP_LE,
	FILTER_OP_LT,
	FILTER_OP_GE,
	FILTER_OP_GT,
	FILTER_OP_AND,
	FILTER_OPS
};

/*
 * Kinds of the fields that every event has although no record contains them. They extend enum
 * trace_field_kind.
 */
enum { FILTER_FIELD_CPU = 64, FILTER_FIELD_COMM };

struct filter_operand {
	const struct trace_event_field *field;
	enum filter_op op;
	bool user, function; /* .ustring, .function */
};

/*
 * Sets in->match, in->text, in->text_len; `glob`: the pattern may have wildcards, and a leading '!'
 * toggles in->negate. The `len` that match() gets includes the NUL that should end the text.
 */
void filter_text_prepare(struct filter_insn *in, char *pattern, size_t len, bool glob);
/* Match patterns with any wildcards, and patterns with only '*' and '?'. */
bool filter_match_glob(const struct filter_insn *in, const char *s, u32 len);
bool filter_match_wild(const struct filter_insn *in, const char *s, u32 len);

/*
 * Makes the instruction test a range of numbers of this size (1, 2, 4, 8 bytes) and sign. The
 * caller has set offset, first and span.
 */
void filter_set_range(struct filter_insn *in, u32 size, bool is_signed);
/* The other tests that the parser uses; the first two depend on the field's size. */
filter_test filter_test_bits(u32 size);
filter_test filter_test_cpu_set(u32 size);
bool filter_test_cpu_range(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_cpu_bits(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_cpu_in(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_mask(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_string(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_dyn(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_rel(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_pointer(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_user(const struct filter_insn *in, const void *rec, u32 len);
bool filter_test_comm(const struct filter_insn *in, const void *rec, u32 len);
