/*
 * Writing protobuf by hand: varints, and messages within messages.
 * https://protobuf.dev/programming-guides/encoding/
 */
#pragma once

#include "tools/trapline/lib/util.h"

void proto_uint(struct bytes *b, unsigned field, uint64_t v);
static inline void proto_int(struct bytes *b, unsigned field, int64_t v)
{
	proto_uint(b, field, v);
}
void proto_bytes(struct bytes *b, unsigned field, const void *data, size_t n);
void proto_string(struct bytes *b, unsigned field, const char *s);
/* A message: begin, its fields, end with what begin returned. */
size_t proto_begin(struct bytes *b, unsigned field);
void proto_end(struct bytes *b, size_t begun);
