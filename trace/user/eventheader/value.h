/* Values of EventHeader fields as text: numbers, addresses, strings, times. Pure: any context. */
#pragma once

#include "trace/user/eventheader/out.h"

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
void eh_signed_put(struct seq *s, s64 v);
