/*
 * Where a record's text goes: objects, arrays and names of a trace line or of JSON, and characters
 * of any width, as UTF-8 that may be in a line or between quotes. Pure: any context.
 */
#pragma once

#include "kernel/lib/seq.h"

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

enum eh_charset { EH_LATIN, EH_UTF8, EH_UTF16, EH_UTF16_BIG, EH_UTF32, EH_UTF32_BIG };

struct eh_chars {
	const u8 *at, *end;
	enum eh_charset set;
};

/* The number that n bytes at p are. */
u64 eh_load(const u8 *p, u32 n, bool big);
/* Returns the next character's code and advances past it; U+FFFD if invalid. at < end. */
u32 eh_char_next(struct eh_chars *c);
/* Is there a byte-order mark? Then `set` is what it says, and it is skipped. */
void eh_chars_skip_mark(struct eh_chars *c);
/* In UTF-8; what would not stand in a line or between quotes with a backslash, as JSON has it. */
void eh_char_put(struct seq *s, u32 code);
void eh_chars_put(struct seq *s, struct eh_chars c);
void eh_utf8_put(struct seq *s, const char *text, u32 len);
