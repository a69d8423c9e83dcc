/* Protobuf's wire format. See proto.h. */
#include "tools/trapline/lib/proto.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

#define LENGTH_BYTES                                                                               \
	5 /* of a message, always: longer than need be, and so known before the message is */

static void varint(struct bytes *b, uint64_t v)
{
	uint8_t text[10];
	size_t n = 0;

	do {
		text[n] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		v >>= 7;
		n++;
	} while (v);
	bytes_put(b, text, n);
}

static void tag(struct bytes *b, unsigned field, unsigned wire)
{
	varint(b, field << 3 | wire);
}

void proto_uint(struct bytes *b, unsigned field, uint64_t v)
{
	tag(b, field, WIRE_VARINT);
	varint(b, v);
}

void proto_bytes(struct bytes *b, unsigned field, const void *data, size_t n)
{
	tag(b, field, WIRE_BYTES);
	varint(b, n);
	bytes_put(b, data, n);
}

void proto_string(struct bytes *b, unsigned field, const char *s)
{
	proto_bytes(b, field, s, strlen(s));
}

size_t proto_begin(struct bytes *b, unsigned field)
{
	tag(b, field, WIRE_BYTES);
	bytes_zeros(b, LENGTH_BYTES);
	return b->size;
}

void proto_end(struct bytes *b, size_t begun)
{
	uint64_t length = b->size - begun;

	for (unsigned i = 0; i < LENGTH_BYTES; i++, length >>= 7)
		b->data[begun - LENGTH_BYTES + i] =
		    (length & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0);
}
