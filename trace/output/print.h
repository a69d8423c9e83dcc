/* Helpers of the generated print functions, and of those written by hand: record -> text. Task
 * context, except under tp_printk. */
#pragma once

#include "kernel/lib/string.h"
#include "trace/event/event.h"

/* Both are false for pointers. */
#define TRACE_IS_SIGNED(type)                                                                      \
	_Generic((type)0, char : 1, signed char : 1, short : 1, int : 1, long : 1, long long : 1,  \
	    default : 0)
#define TRACE_KIND(type)                                                                           \
	_Generic((type)0, char *: TRACE_FIELD_PTR_STRING, const char *: TRACE_FIELD_PTR_STRING, \
	    default: TRACE_FIELD_NUMBER)

typedef s32 pid_t;

/* A cache of symbol names, for callers that print many lines. Starts zeroed. */
#define TRACE_SYMBOLS_KEPT 16
struct trace_symbols {
	struct trace_symbol {
		u64 ip;
		u64 options;
		u32 len;
		char text[112];
	} sym[TRACE_SYMBOLS_KEPT];
};

void trace_out_init(struct trace_out *out, struct seq *seq, u64 options);

struct trace_name {
	u64 value;
	const char *text;
};

/* The names of the bits set in value, with delim between; what has no name in hex. */
const char *trace_flags_text(
    struct trace_out *out, u64 value, const char *delim, const struct trace_name *names);
const char *trace_symbol_text(struct trace_out *out, u64 value, const struct trace_name *names);
/* The string a __data_loc word points at, "" when it points nowhere or has no end inside the
 * record. */
const char *trace_get_str(const void *rec, u32 len, u32 loc);
const char *trace_get_mask(struct trace_out *out, const void *rec, u32 len, u32 loc);

/* Prints with out->fmt, which is `fmt` or its twin for options/hash-ptr. */
void trace_print_text(struct trace_out *out, ...);
static inline __printf(1, 2) void trace_check_format(const char *fmt __maybe_unused, ...)
{
}
#define trace_print_rec(out, ...)                                                                  \
	do {                                                                                       \
		if (0)                                                                             \
			trace_check_format(__VA_ARGS__);                                           \
		TRACE_PRINT_REST(out, __VA_ARGS__);                                                \
	} while (0)
#define TRACE_PRINT_REST(out, fmt, ...) trace_print_text(out __VA_OPT__(, ) __VA_ARGS__)

/* Storing what has no fixed size, after the fields. */
#define TRACE_MEM_MAX 3000
static inline u32 trace_mem_room(size_t len)
{
	return (len < TRACE_MEM_MAX ? len : TRACE_MEM_MAX) + 1;
}

static inline const char *trace_str(const char *s)
{
	return s ? s : "(null)";
}

/* The bytes may change meanwhile and be more than were counted: never beyond `end`, always ended by
 * a NUL. */
static inline u32 trace_put_mem(void *rec, u32 *at, u32 end, const void *from, size_t len)
{
	u32 room = trace_mem_room(len);

	if (unlikely(room > end - *at))
		room = end - *at;
	if (unlikely(!room))
		return *at;
	u32 loc = room << 16 | *at;
	memcpy((char *)rec + *at, from, room - 1);
	((char *)rec)[*at + room - 1] = '\0';
	*at += room;
	return loc;
}

/* Cut to fit and filled up with NULs. */
static inline void trace_put_chars(char *field, u32 n, const char *from)
{
	u32 len = strnlen(from, n - 1);

	memcpy(field, from, len);
	memset(field + len, 0, n - len);
}

static inline u32 trace_put_u64(void *rec, u32 *at, u64 v)
{
	u32 loc = 8u << 16 | *at;
	memcpy((char *)rec + *at, &v, 8);
	*at += 8;
	return loc;
}

/* "name+0x1/0x20 <address>" as the options want it. */
void trace_print_ip(struct trace_out *out, u64 ip);

/* For fmt_set_pointer_hook(): %pS and %ps symbols, %px the bare value, %pH hashed. Any context. */
int trace_pointer_text(char *buf, size_t size, char letter, const void *p);
