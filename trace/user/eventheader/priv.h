/* Shared by the parts of the EventHeader decoder (trace/user/eventheader/). Pure: any context. */
#pragma once

#include "trace/user/eventheader/eventheader.h"

/* ---- where a record's text goes: out.c ---- */

struct eh_out {
	struct seq *s;
	bool json;
	bool first; /* nothing yet in the object or array that is open */
};

/*
 * Begins what has a name in an object: "name#2;tag=0x1": or name#2;tag=0x1=. A number or tag of 0
 * is left out.
 */
void eh_out_member(struct eh_out *o, const char *name, u32 len, u32 number, u16 tag);
/* The same with a plain name. */
void eh_out_key(struct eh_out *o, const char *name);
/* Begins an element of an array. */
void eh_out_element(struct eh_out *o);
void eh_out_open(struct eh_out *o, bool is_array);
void eh_out_close(struct eh_out *o, bool is_array);
/* What JSON has no type for: between quotes there, and only there. */
void eh_out_quote(struct eh_out *o);

/* ---- characters: char.c ---- */

enum eh_charset { EH_LATIN, EH_UTF8, EH_UTF16, EH_UTF16_BIG, EH_UTF32, EH_UTF32_BIG };

struct eh_chars {
	const u8 *at, *end;
	enum eh_charset set;
};

/* The next character's code, and behind it; U+FFFD for what is none. at < end. */
u32 eh_char_next(struct eh_chars *c);
/* Is there a byte-order mark? Then `set` is what it says, and it is skipped. */
void eh_chars_skip_mark(struct eh_chars *c);
/* In UTF-8; what would not stand in a line or between quotes with a backslash, as JSON has it. */
void eh_char_put(struct seq *s, u32 code);
void eh_chars_put(struct seq *s, struct eh_chars c);
void eh_utf8_put(struct seq *s, const char *text, u32 len);

/* ---- values: value.c, time.c, float.c ---- */

/* One value, or a string's characters: n bytes at p. */
struct eh_value {
	const u8 *p;
	u32 n;
	u8 encoding, format; /* enum eventheader_encoding, _format, without flags */
	bool big;	     /* byte order */
	bool is_cut;	     /* of a string: the record ends before it does */
};

void eh_value_put(struct eh_out *o, const struct eh_value *v);
void eh_uuid_put(struct seq *s, const u8 *id);
/* Hex digits of n bytes, with `between` in between. */
void eh_bytes_put(struct seq *s, const u8 *p, u32 n, char between);
u64 eh_load(const u8 *p, u32 n, bool big);
void eh_signed_put(struct seq *s, s64 v);
/*
 * Seconds since 1970 in ISO 8601, with as many digits as the year needs; TIME(v) beyond the years
 * that C's struct tm holds.
 */
void eh_time_put(struct seq *s, s64 v);
/*
 * Of the bits of a float (n: 4) or a double (8): the shortest decimal that means the same. False:
 * not finite.
 */
bool eh_float_put(struct seq *s, u64 bits, u32 n);
