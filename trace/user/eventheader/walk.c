/*
 * See walk.h. Descriptions of fields are read here and not where they are used: that calls itself,
 * and a panic has little stack left for the last lines of the trace.
 */
#include "trace/user/eventheader/walk.h"

/* ---- step 1 ---- */

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

static void take_extensions(struct eh_walk *w, struct eh_span *p)
{
	u32 kind, size;

	do {
		const u8 *start = p->at;
		if (eh_left(p) < sizeof(struct eventheader_extension)) {
			eh_damaged(w, "cut in an extension's head", start);
			return;
		}
		size = eh_take16(w, p);
		kind = eh_take16(w, p);
		if (eh_left(p) < size) {
			p->at = start;
			eh_damaged(w, "extension reaches beyond the record", start);
			return;
		}
		p->at += size;
		if (!take_extension(w, kind, p->at - size, size))
			return;
	} while (kind & EVENTHEADER_CHAIN);
}

/* The header, if it is whole; what is after it, if that is known. */
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

/* ---- descriptions of fields ---- */

const char *eh_take_name(struct eh_span *meta, u32 *len)
{
	const char *name = (const char *)meta->at;
	const u8 *nul = eh_left(meta) ? memchr(meta->at, '\0', eh_left(meta)) : NULL;

	*len = (nul ? nul : meta->end) - meta->at;
	meta->at += *len + (nul ? 1 : 0);
	return nul ? name : NULL;
}

static bool take_byte(struct eh_walk *w, u8 *out)
{
	if (!eh_left(&w->meta))
		return eh_damaged(w, "metadata is cut", w->meta.end);
	*out = *w->meta.at++;
	return true;
}

static bool eh_take_word(struct eh_walk *w, u16 *out)
{
	if (eh_left(&w->meta) < 2)
		return eh_damaged(w, "metadata is cut", w->meta.end);
	*out = eh_take16(w, &w->meta);
	return true;
}

static bool check_field(struct eh_walk *w, const struct eh_field *f, const u8 *at)
{
	if (!f->encoding || f->encoding >= EH_ENCODING_MAX)
		return eh_damaged(w, "unknown encoding", at);
	if (f->is_fixed && f->is_counted)
		return eh_damaged(w, "array of two kinds", at);
	if (f->is_fixed && !f->count)
		return eh_damaged(w, "fixed array without elements", at);
	if (f->encoding == EH_STRUCT && !f->format)
		return eh_damaged(w, "struct without fields", at);
	return true;
}

bool eh_step(struct eh_walk *w)
{
	return ++w->steps <= EH_STEPS_MAX ? true : eh_damaged(w, "too much to show", w->meta.at);
}

bool eh_take_field(struct eh_walk *w, struct eh_field *f)
{
	const u8 *start = w->meta.at;
	u8 encoding = 0, format = 0;
	u16 count = 0;

	if (!eh_step(w))
		return false;
	f->tag = 0;
	f->name = eh_take_name(&w->meta, &f->name_len);
	if (!f->name)
		return eh_damaged(w, "metadata is cut", w->meta.end);
	if (!take_byte(w, &encoding))
		return false;
	if ((encoding & EH_ENCODING_CHAIN) && !take_byte(w, &format))
		return false;
	if ((format & EH_FORMAT_CHAIN) && !eh_take_word(w, &f->tag))
		return false;
	if ((encoding & EH_FIXED_ARRAY) && !eh_take_word(w, &count))
		return false;
	f->encoding = encoding & EH_ENCODING_MASK;
	f->format = format & EH_FORMAT_MASK;
	f->is_fixed = encoding & EH_FIXED_ARRAY;
	f->is_counted = encoding & EH_COUNTED_ARRAY;
	f->count = count;
	return check_field(w, f, start);
}

bool eh_skip_fields(struct eh_walk *w, u32 n)
{
	struct eh_field f;

	for (; n && eh_left(&w->meta); n--) {
		if (!eh_take_field(w, &f))
			return false;
		if (f.encoding == EH_STRUCT)
			n += f.format;
	}
	return true;
}

/* Do they look the same? What is no character is shown as one and the same. */
static bool is_same_name(const struct eh_field *a, const struct eh_field *b)
{
	const u8 *p = (const u8 *)a->name, *q = (const u8 *)b->name;
	struct eh_chars x = {p, p + a->name_len, EH_UTF8}, y = {q, q + b->name_len, EH_UTF8};

	while (x.at < x.end && y.at < y.end)
		if (eh_char_next(&x) != eh_char_next(&y))
			return false;
	return x.at == x.end && y.at == y.end;
}

/* Has it what could be taken for a number or a tag that was put there? */
static bool has_mark(const struct eh_field *f)
{
	return memchr(f->name, '#', f->name_len) || strstr(f->name, ";tag=");
}

static bool is_taken(const struct eh_field *f)
{
	return !strcmp(f->name, "n") || !strcmp(f->name, "meta");
}

u32 eh_number_name(struct eh_walk *w, const u8 *start, const struct eh_field *f, bool is_top)
{
	struct eh_walk ahead = *w;
	struct eh_field other;
	u32 n = is_top && is_taken(f) ? 2 : 1;

	ahead.meta.at = start;
	while (eh_take_field(&ahead, &other) && other.name < f->name) {
		n += is_same_name(&other, f);
		if (other.encoding == EH_STRUCT && !eh_skip_fields(&ahead, other.format))
			break;
	}
	w->steps = ahead.steps;
	return n == 1 && !has_mark(f) ? 0 : n;
}
