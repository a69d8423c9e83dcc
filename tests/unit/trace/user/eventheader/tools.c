/*
 * See tools.h. The decoder is given a copy of exactly the record's size, so that a byte read beyond
 * is seen on the host.
 */
#include "tests/unit/trace/user/eventheader/tools.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"

void eh_make_bytes(struct eh_maker *m, const void *p, u32 n)
{
	if (m->len + n > sizeof(m->data)) {
		EXPECT(!"room for the record");
		return;
	}
	memcpy(m->data + m->len, p, n);
	m->len += n;
}

static void make(struct eh_maker *m, u64 v, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u8 byte = v >> 8 * (m->big ? n - 1 - i : i);
		eh_make_bytes(m, &byte, 1);
	}
}

void eh_make8(struct eh_maker *m, u32 v)
{
	make(m, v, 1);
}

void eh_make16(struct eh_maker *m, u32 v)
{
	make(m, v, 2);
}

void eh_make32(struct eh_maker *m, u32 v)
{
	make(m, v, 4);
}

void eh_make64(struct eh_maker *m, u64 v)
{
	make(m, v, 8);
}

void eh_make_name(struct eh_maker *m, const char *name)
{
	eh_make_bytes(m, name, strlen(name) + 1);
}

void eh_make_header(struct eh_maker *m, u32 flags, u32 level)
{
	m->big = !(flags & EVENTHEADER_LITTLE_ENDIAN);
	m->len = 0;
	eh_make8(m, flags);
	eh_make8(m, 0);
	eh_make16(m, 0);
	eh_make16(m, 0);
	eh_make8(m, 0);
	eh_make8(m, level);
}

static void begin_metadata(struct eh_maker *m, const char *name)
{
	m->meta = m->len;
	eh_make16(m, 0);
	eh_make16(m, EVENTHEADER_KIND_METADATA);
	eh_make_name(m, name);
}

void eh_make_event(struct eh_maker *m, const char *name)
{
	eh_make_header(m, EVENTHEADER_FLAGS, 4);
	begin_metadata(m, name);
}

void eh_make_field(struct eh_maker *m, const char *name, u32 encoding, u32 format)
{
	eh_make_name(m, name);
	eh_make8(m, encoding | (format ? EH_ENCODING_CHAIN : 0));
	if (format)
		eh_make8(m, format);
}

void eh_make_payload(struct eh_maker *m)
{
	u32 len = m->len;

	m->len = m->meta;
	eh_make16(m, len - m->meta - 4);
	m->len = len;
}

static const char *print(const char *tracepoint, const void *data, u32 len, u32 slack, bool json)
{
	static char text[65536];
	void *copy = host_alloc(len ? len : 1);
	struct eh_record rec = {tracepoint, copy, len, slack};
	struct seq s;

	memcpy(copy, data, len);
	seq_init(&s, text, sizeof(text) - 1);
	if (json)
		eh_print_json(&s, &rec, NULL);
	else
		eh_print_text(&s, &rec);
	EXPECT(!s.overflow);
	text[s.len] = '\0';
	host_free(copy);
	return text;
}

const char *eh_text_of(const char *tracepoint, const void *data, u32 len, u32 slack)
{
	return print(tracepoint, data, len, slack, false);
}

const char *eh_json_of(const char *tracepoint, const void *data, u32 len, u32 slack)
{
	return print(tracepoint, data, len, slack, true);
}

const char *eh_text(const struct eh_maker *m)
{
	return eh_text_of("Unit_L4K1", m->data, m->len, 0);
}

const char *eh_json(const struct eh_maker *m)
{
	return eh_json_of("Unit_L4K1", m->data, m->len, 0);
}
