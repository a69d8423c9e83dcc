/*
 * Step 1 of the walk over an EventHeader record: its header and its extensions. See walk.h. Pure:
 * any context.
 */
#include "trace/user/eventheader/walk.h"

static bool take_extension(struct eh_walk *w, u32 kind, const u8 *at, u32 size)
{
	switch (kind & EVENTHEADER_KIND_MASK) {
	case EVENTHEADER_KIND_METADATA:
		if (w->has_meta)
			return eh_damaged(w, "a second metadata extension", at);
		w->has_meta = true;
		w->meta = (struct eh_span){at, at + size};
		return true;
	case EVENTHEADER_KIND_ACTIVITY:
		if (w->activity)
			return eh_damaged(w, "a second activity extension", at);
		if (size != 16 && size != 32)
			return eh_damaged(w, "activity extension of a wrong size", at);
		w->activity = at;
		w->activity_len = size;
		return true;
	case 0:
		return eh_damaged(w, "extension of kind 0", at);
	}
	return true; /* of somebody's own */
}

static bool take_extensions(struct eh_walk *w, struct eh_span *p)
{
	u32 kind, size;

	do {
		const u8 *start = p->at;
		if (eh_left(p) < sizeof(struct eventheader_extension))
			return eh_damaged(w, "cut in an extension's head", start);
		size = eh_take16(w, p);
		kind = eh_take16(w, p);
		if (eh_left(p) < size) {
			p->at = start;
			return eh_damaged(w, "extension reaches beyond the record", start);
		}
		p->at += size;
		if (!take_extension(w, kind, p->at - size, size))
			return false;
	} while (kind & EVENTHEADER_CHAIN);
	return true;
}

/* The header, if it is whole; what is behind it, if it can be told. */
static void open_record(struct eh_walk *w)
{
	struct eh_span p = {w->rec->data, (const u8 *)w->rec->data + w->rec->len};

	if (eh_left(&p) < sizeof(w->header)) {
		eh_damaged(w, "shorter than a header", p.end);
		return;
	}
	memcpy(&w->header, p.at, sizeof(w->header));
	w->big = !(w->header.flags & EVENTHEADER_LITTLE_ENDIAN);
	w->header.id = eh_load(p.at + 2, 2, w->big);
	w->header.tag = eh_load(p.at + 4, 2, w->big);
	p.at += sizeof(w->header);
	w->payload = p;
	if (w->header.flags & ~EVENTHEADER_FLAGS) {
		eh_damaged(w, "unknown flags", w->rec->data);
		return;
	}
	if (w->header.level != w->name.level)
		eh_damaged(w, "level is not that of the tracepoint", (const u8 *)w->rec->data + 7);
	if (w->header.flags & EVENTHEADER_EXTENSION)
		take_extensions(w, &p);
	w->payload = p;
}

void eh_walk_open(struct eh_walk *w, struct seq *s, const struct eh_record *rec, bool json)
{
	memset(w, 0, sizeof(*w));
	w->out = (struct eh_out){.s = s, .json = json, .first = true};
	w->rec = rec;
	if (!eh_name_parse(rec->tracepoint, &w->name)) {
		w->name.provider = rec->tracepoint;
		w->name.provider_len = strlen(rec->tracepoint);
		w->name.options = "";
		eh_damaged(w, "tracepoint's name is not of the convention", rec->data);
	}
	w->payload = (struct eh_span){rec->data, (const u8 *)rec->data + rec->len};
	open_record(w);
}
