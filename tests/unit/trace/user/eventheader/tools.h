/* Records in the EventHeader convention, put together byte by byte, for the decoder's cases. */
#pragma once

#include "kernel/lib/ktap.h"
#include "trace/user/eventheader/eventheader.h"

struct eh_maker {
	bool big;
	u32 len;
	u32 meta; /* where the metadata's extension begins */
	u8 data[8192];
};

void eh_make8(struct eh_maker *m, u32 v);
void eh_make16(struct eh_maker *m, u32 v);
void eh_make32(struct eh_maker *m, u32 v);
void eh_make64(struct eh_maker *m, u64 v);
void eh_make_bytes(struct eh_maker *m, const void *p, u32 n);
/* With its NUL. */
void eh_make_name(struct eh_maker *m, const char *name);
/* A header with these flags and a level, all else 0; in big-endian order if the flags say so. */
void eh_make_header(struct eh_maker *m, u32 flags, u32 level);
/* Header of level 4, 64 bits, little-endian; begins the metadata of an event of that name. */
void eh_make_event(struct eh_maker *m, const char *name);
/* A field: the encoding with its flags but that of a format; format 0: none is written. */
void eh_make_field(struct eh_maker *m, const char *name, u32 encoding, u32 format);
/* Ends the metadata: the payload follows. */
void eh_make_payload(struct eh_maker *m);

/*
 * What the decoder makes of it, without slack, as an event of the tracepoint Unit_L4K1. Until the
 * next call.
 */
const char *eh_text(const struct eh_maker *m);
const char *eh_json(const struct eh_maker *m);
const char *eh_text_of(const char *tracepoint, const void *data, u32 len, u32 slack);
const char *eh_json_of(const char *tracepoint, const void *data, u32 len, u32 slack);
