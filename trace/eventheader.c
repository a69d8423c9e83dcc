/*
 * One walk over an EventHeader record, which makes a line's text or JSON of it. See eventheader.h.
 *
 * Words: the header tells the byte order; of the extensions two are known, the metadata and the activity; what is behind the last one is
 * the payload. A field's description stands in the metadata, its value in the payload. A description is read before its value, and again
 * for each element of an array of structs; each reading is a step, and steps are counted.
 *
 *   1. The header; then the extensions, up to the last or to the first that is not sound (eh_open).
 *   2. The event's name and attributes.
 *   3. Fields, one after the other, until the metadata ends or something does not fit: that ends the walk, and is told last.
 */
#include "kernel/lib/string.h"
#include "trace/eventheader_priv.h"

/* What is left to be read of a part of the record. */
struct part {
	const u8 *at, *end;
};

struct walk {
	struct eh_out out;
	const struct eh_record *rec;
	struct eh_name name;
	struct eventheader header;
	bool big;
	const u8 *activity; /* NULL: none */
	u32 activity_len;
	struct part meta, payload;
	bool has_meta;
	u32 steps;
	const char *damage; /* NULL: none */
	u32 damage_at;	    /* byte of the record */
};

struct field {
	const char *name;
	u32 name_len;
	u8 encoding, format;
	bool is_fixed, is_counted;
	u16 tag;
	u32 count; /* of elements, is_fixed */
};

static size_t left(const struct part *p)
{
	return p->end - p->at;
}

/* Notes the first thing that is wrong; always false. */
static bool damaged(struct walk *w, const char *why, const u8 *at)
{
	if (!w->damage) {
		w->damage = why;
		w->damage_at = at - (const u8 *)w->rec->data;
	}
	return false;
}

static u32 take16(struct walk *w, struct part *p)
{
	u32 v = eh_load(p->at, 2, w->big);

	p->at += 2;
	return v;
}

/* ---- step 1 ---------------------------------------------------------------------------------------------------------------- */

static bool take_extension(struct walk *w, u32 kind, const u8 *at, u32 size)
{
	switch (kind & EVENTHEADER_KIND_MASK) {
	case EVENTHEADER_KIND_METADATA:
		if (w->has_meta)
			return damaged(w, "a second metadata extension", at);
		w->has_meta = true;
		w->meta = (struct part){at, at + size};
		return true;
	case EVENTHEADER_KIND_ACTIVITY:
		if (w->activity)
			return damaged(w, "a second activity extension", at);
		if (size != 16 && size != 32)
			return damaged(w, "activity extension of a wrong size", at);
		w->activity = at;
		w->activity_len = size;
		return true;
	case 0:
		return damaged(w, "extension of kind 0", at);
	}
	return true; /* of somebody's own */
}

static bool take_extensions(struct walk *w, struct part *p)
{
	u32 kind, size;

	do {
		const u8 *start = p->at;
		if (left(p) < sizeof(struct eventheader_extension))
			return damaged(w, "cut in an extension's head", start);
		size = take16(w, p);
		kind = take16(w, p);
		if (left(p) < size) {
			p->at = start;
			return damaged(w, "extension reaches beyond the record", start);
		}
		p->at += size;
		if (!take_extension(w, kind, p->at - size, size))
			return false;
	} while (kind & EVENTHEADER_CHAIN);
	return true;
}

/* The header, if it is whole; what is behind it, if it can be told. */
static void open_record(struct walk *w)
{
	struct part p = {w->rec->data, (const u8 *)w->rec->data + w->rec->len};

	if (left(&p) < sizeof(w->header)) {
		damaged(w, "shorter than a header", p.end);
		return;
	}
	memcpy(&w->header, p.at, sizeof(w->header));
	w->big = !(w->header.flags & EVENTHEADER_LITTLE_ENDIAN);
	w->header.id = eh_load(p.at + 2, 2, w->big);
	w->header.tag = eh_load(p.at + 4, 2, w->big);
	p.at += sizeof(w->header);
	w->payload = p;
	if (w->header.flags & ~EVENTHEADER_FLAGS) {
		damaged(w, "unknown flags", w->rec->data);
		return;
	}
	if (w->header.level != w->name.level)
		damaged(w, "level is not that of the tracepoint", (const u8 *)w->rec->data + 7);
	if (w->header.flags & EVENTHEADER_EXTENSION)
		take_extensions(w, &p);
	w->payload = p;
}

/* ---- step 2 ---------------------------------------------------------------------------------------------------------------- */

/* A name in the metadata, up to its NUL, and behind that. NULL: it has no end. */
static const char *take_name(struct part *meta, u32 *len)
{
	const char *name = (const char *)meta->at;
	const u8 *nul = left(meta) ? memchr(meta->at, '\0', left(meta)) : NULL;

	*len = (nul ? nul : meta->end) - meta->at;
	meta->at += *len + (nul ? 1 : 0);
	return nul ? name : NULL;
}

static void put_event_name(struct walk *w, u32 most)
{
	struct seq *s = w->out.s;
	const char *name = (const char *)w->meta.at;
	u32 len = 0;

	eh_utf8_put(s, w->name.provider, w->name.provider_len);
	seq_putc(s, ':');
	if (!w->has_meta)
		return;
	if (!take_name(&w->meta, &len))
		damaged(w, "event's name has no end", w->meta.end);
	eh_utf8_put(s, name, MIN(len, most));
}

static void put_number(struct walk *w, const char *key, u64 v, bool always)
{
	if (!v && !always)
		return;
	eh_out_key(&w->out, key);
	seq_dec(w->out.s, v, 1, ' ');
}

static void put_hex(struct walk *w, const char *key, u64 v, bool always)
{
	if (!v && !always)
		return;
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	seq_puts(w->out.s, "0x");
	seq_hex(w->out.s, v, 1);
	eh_out_quote(&w->out);
}

static void put_text(struct walk *w, const char *key, const char *text)
{
	if (!*text)
		return;
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	eh_utf8_put(w->out.s, text, strlen(text));
	eh_out_quote(&w->out);
}

static void put_id(struct walk *w, const char *key, const u8 *id)
{
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	eh_uuid_put(w->out.s, id);
	eh_out_quote(&w->out);
}

static void put_attributes(struct walk *w)
{
	const struct eventheader *h = &w->header;
	u8 plain = EVENTHEADER_POINTER64 | EVENTHEADER_LITTLE_ENDIAN;

	put_number(w, "level", w->name.level, true);
	put_hex(w, "keyword", w->name.keyword, true);
	put_text(w, "options", w->name.options);
	put_number(w, "id", h->id, false);
	put_number(w, "version", h->version, false);
	put_number(w, "opcode", h->opcode, false);
	put_hex(w, "tag", h->tag, false);
	if (w->activity)
		put_id(w, "activity", w->activity);
	if (w->activity && w->activity_len == 32)
		put_id(w, "related", w->activity + 16);
	if ((h->flags & ~EVENTHEADER_EXTENSION) != plain && w->rec->len >= sizeof(*h))
		put_hex(w, "flags", h->flags, true);
}

/* ---- step 3: descriptions --------------------------------------------------------------------------------------------------- */

static bool take_byte(struct walk *w, u8 *out)
{
	if (!left(&w->meta))
		return damaged(w, "metadata is cut", w->meta.end);
	*out = *w->meta.at++;
	return true;
}

static bool take_word(struct walk *w, u16 *out)
{
	if (left(&w->meta) < 2)
		return damaged(w, "metadata is cut", w->meta.end);
	*out = take16(w, &w->meta);
	return true;
}

static bool check_field(struct walk *w, const struct field *f, const u8 *at)
{
	if (!f->encoding || f->encoding >= EH_ENCODING_MAX)
		return damaged(w, "unknown encoding", at);
	if (f->is_fixed && f->is_counted)
		return damaged(w, "array of two kinds", at);
	if (f->is_fixed && !f->count)
		return damaged(w, "fixed array without elements", at);
	if (f->encoding == EH_STRUCT && !f->format)
		return damaged(w, "struct without fields", at);
	return true;
}

static bool take_field(struct walk *w, struct field *f)
{
	const u8 *start = w->meta.at;
	u8 encoding, format = 0;
	u16 count = 0;

	if (++w->steps > EH_STEPS_MAX)
		return damaged(w, "too much to show", start);
	f->tag = 0;
	f->name = take_name(&w->meta, &f->name_len);
	if (!f->name)
		return damaged(w, "metadata is cut", w->meta.end);
	if (!take_byte(w, &encoding))
		return false;
	if ((encoding & EH_ENCODING_CHAIN) && !take_byte(w, &format))
		return false;
	if ((format & EH_FORMAT_CHAIN) && !take_word(w, &f->tag))
		return false;
	if ((encoding & EH_FIXED_ARRAY) && !take_word(w, &count))
		return false;
	f->encoding = encoding & EH_ENCODING_MASK;
	f->format = format & EH_FORMAT_MASK;
	f->is_fixed = encoding & EH_FIXED_ARRAY;
	f->is_counted = encoding & EH_COUNTED_ARRAY;
	f->count = count;
	return check_field(w, f, start);
}

/* Goes over the descriptions of n fields and of what belongs to them. */
static bool skip_fields(struct walk *w, u32 n)
{
	struct field f;

	for (; n; n--) {
		if (!take_field(w, &f))
			return false;
		if (f.encoding == EH_STRUCT)
			n += f.format;
	}
	return true;
}

/* Do they look the same? What is no character is shown as one and the same. */
static bool is_same_name(const struct field *a, const struct field *b)
{
	const u8 *p = (const u8 *)a->name, *q = (const u8 *)b->name;
	struct eh_chars x = {p, p + a->name_len, EH_UTF8}, y = {q, q + b->name_len, EH_UTF8};

	while (x.at < x.end && y.at < y.end)
		if (eh_char_next(&x) != eh_char_next(&y))
			return false;
	return x.at == x.end && y.at == y.end;
}

/* Has it what could be taken for a number or a tag that was put there? */
static bool has_mark(const struct field *f)
{
	return memchr(f->name, '#', f->name_len) || strstr(f->name, ";tag=");
}

static bool is_taken(const struct field *f)
{
	return !strcmp(f->name, "n") || !strcmp(f->name, "meta");
}

/*
 * JSON: the number behind the name, so that no two in its object are the same: of how many fields with that name from `start` on it is
 * the last. 0: none is needed. Out of line: walk_fields() calls itself, and the kernel's last words have little stack.
 */
static __noinline u32 number_name(
    struct walk *w, const u8 *start, const struct field *f, bool is_top)
{
	struct walk ahead = *w;
	struct field other;
	u32 n = is_top && is_taken(f) ? 2 : 1;

	ahead.meta.at = start;
	while (take_field(&ahead, &other) && other.name < f->name) {
		n += is_same_name(&other, f);
		if (other.encoding == EH_STRUCT && !skip_fields(&ahead, other.format))
			break;
	}
	w->steps = ahead.steps;
	return n == 1 && !has_mark(f) ? 0 : n;
}

/* ---- step 3: values --------------------------------------------------------------------------------------------------------- */

static u32 unit_of(u8 encoding)
{
	return 1u << (encoding - (encoding < EH_STRING8 ? EH_ZSTRING8 : EH_STRING8));
}

/* The bytes of a string in front of its NUL, and behind that. */
static bool take_zstring(struct walk *w, u32 unit, struct eh_value *v)
{
	struct part *p = &w->payload;

	v->p = p->at;
	for (; left(p) >= unit; p->at += unit)
		if (!eh_load(p->at, unit, false)) {
			v->n = p->at - v->p;
			p->at += unit;
			return true;
		}
	v->n = p->at - v->p;
	return damaged(w, "string without an end", p->end);
}

static bool take_string(struct walk *w, u32 unit, struct eh_value *v)
{
	struct part *p = &w->payload;

	v->p = p->at;
	v->n = 0;
	if (left(p) < 2)
		return damaged(w, "payload is cut", p->end);
	size_t bytes = (size_t)take16(w, p) * unit;
	v->p = p->at;
	v->n = MIN(bytes, left(p) / unit * unit);
	p->at += v->n;
	return v->n == bytes ? true : damaged(w, "string reaches beyond the record", p->end);
}

/* False: damaged; of a string there is what there is all the same. */
static bool take_value(struct walk *w, const struct field *f, struct eh_value *v)
{
	struct part *p = &w->payload;

	v->encoding = f->encoding;
	v->format = f->format;
	v->big = w->big;
	if (f->encoding >= EH_STRING8)
		return take_string(w, unit_of(f->encoding), v);
	if (f->encoding >= EH_ZSTRING8)
		return take_zstring(w, unit_of(f->encoding), v);
	v->p = p->at;
	v->n = 1u << (f->encoding - EH_VALUE8);
	if (left(p) < v->n)
		return damaged(w, "payload is cut", p->end);
	p->at += v->n;
	return true;
}

static bool walk_fields(struct walk *w, u32 n, u32 depth);

/* An element, or a field that is no array. */
static bool walk_one(struct walk *w, const struct field *f, u32 depth)
{
	struct eh_value v;
	bool whole;

	if (f->encoding != EH_STRUCT) {
		whole = take_value(w, f, &v);
		if (whole || f->encoding >= EH_ZSTRING8)
			eh_value_put(&w->out, &v);
		else
			seq_puts(w->out.s, w->out.json ? "null" : "?");
		return whole && !w->out.s->overflow;
	}
	eh_out_open(&w->out, false);
	whole = depth == EH_DEPTH_MAX ? damaged(w, "structs within structs, too deep", w->meta.at)
				      : walk_fields(w, f->format, depth + 1);
	eh_out_close(&w->out, false);
	return whole;
}

static bool walk_array(struct walk *w, const struct field *f, u32 depth)
{
	const u8 *elements = w->meta.at;
	bool whole = true;
	u32 count = f->count;

	eh_out_open(&w->out, true);
	if (f->is_counted && left(&w->payload) < 2)
		whole = damaged(w, "payload is cut", w->payload.end);
	else if (f->is_counted)
		count = take16(w, &w->payload);
	for (u32 i = 0; i < count && whole; i++) {
		w->meta.at = elements;
		eh_out_element(&w->out);
		whole = walk_one(w, f, depth);
	}
	eh_out_close(&w->out, true);
	if (whole && !count && f->encoding == EH_STRUCT)
		whole = skip_fields(w, f->format);
	return whole;
}

/* n: UINT_MAX for all that the metadata has. False: that was all that is sound. */
static bool walk_fields(struct walk *w, u32 n, u32 depth)
{
	const u8 *start = w->meta.at;
	struct field f;
	bool whole = true;

	for (u32 i = 0; i < n && whole && (n != UINT_MAX || left(&w->meta)); i++) {
		if (!take_field(w, &f))
			return false;
		u32 number = w->out.json ? number_name(w, start, &f, !depth) : 0;
		eh_out_member(&w->out, f.name, f.name_len, number, f.tag);
		if (f.is_fixed || f.is_counted)
			whole = walk_array(w, &f, depth);
		else
			whole = walk_one(w, &f, depth);
	}
	return whole;
}

/* What no description tells of, as bytes. */
static void put_rest(struct walk *w)
{
	size_t n = left(&w->payload);

	if (w->has_meta && n > w->rec->slack)
		damaged(w, "more than the fields describe", w->payload.at);
	if (!n || (w->has_meta && n <= w->rec->slack))
		return;
	eh_out_key(&w->out, "payload");
	eh_out_quote(&w->out);
	eh_bytes_put(w->out.s, w->payload.at, n, w->out.json ? ' ' : ':');
	eh_out_quote(&w->out);
}

static void put_fields(struct walk *w)
{
	if (w->has_meta && left(&w->meta) && !w->out.s->overflow)
		walk_fields(w, UINT_MAX, 0);
}

/* ---- the two outputs -------------------------------------------------------------------------------------------------------- */

static void start(struct walk *w, struct seq *s, const struct eh_record *rec, bool json)
{
	memset(w, 0, sizeof(*w));
	w->out = (struct eh_out){.s = s, .json = json, .first = true};
	w->rec = rec;
	if (!eh_name_parse(rec->tracepoint, &w->name)) {
		w->name.provider = rec->tracepoint;
		w->name.provider_len = strlen(rec->tracepoint);
		w->name.options = "";
		damaged(w, "tracepoint's name is not of the convention", rec->data);
	}
	w->payload = (struct part){rec->data, (const u8 *)rec->data + rec->len};
	open_record(w);
}

static void put_damage(struct walk *w)
{
	seq_printf(w->out.s, "%s at byte %u", w->damage, w->damage_at);
}

void eh_print_text(struct seq *s, const struct eh_record *rec)
{
	struct walk w;

	start(&w, s, rec, false);
	put_event_name(&w, UINT_MAX);
	seq_puts(s, " [");
	put_attributes(&w);
	seq_putc(s, ']');
	put_fields(&w);
	put_rest(&w);
	if (w.damage) {
		seq_puts(s, " <damaged: ");
		put_damage(&w);
		seq_putc(s, '>');
	}
}

static void put_origin(struct walk *w, const struct eh_origin *origin)
{
	eh_out_key(&w->out, "time");
	if (origin->in_ns)
		seq_printf(w->out.s, "%llu.%09llu", (unsigned long long)origin->time / 1000000000,
		    (unsigned long long)origin->time % 1000000000);
	else
		seq_dec(w->out.s, origin->time, 1, ' ');
	if (origin->cpu >= 0)
		put_number(w, "cpu", origin->cpu, true);
	eh_out_key(&w->out, "pid");
	seq_printf(w->out.s, "%d", origin->pid);
	put_text(w, "comm", origin->comm);
}

static void begin_json(struct walk *w, struct seq *s, const struct eh_record *rec, u32 most)
{
	start(w, s, rec, true);
	eh_out_open(&w->out, false);
	eh_out_key(&w->out, "n");
	eh_out_quote(&w->out);
	put_event_name(w, most);
	eh_out_quote(&w->out);
}

static void begin_meta(struct walk *w, const struct eh_origin *origin)
{
	eh_out_key(&w->out, "meta");
	eh_out_open(&w->out, false);
	if (origin)
		put_origin(w, origin);
	put_attributes(w);
}

static void end_json(struct walk *w)
{
	if (w->damage) {
		eh_out_key(&w->out, "damaged");
		eh_out_quote(&w->out);
		put_damage(w);
		eh_out_quote(&w->out);
	}
	eh_out_close(&w->out, false);
	eh_out_close(&w->out, false);
}

void eh_print_json(struct seq *s, const struct eh_record *rec, const struct eh_origin *origin)
{
	struct walk w;

	begin_json(&w, s, rec, UINT_MAX);
	put_fields(&w);
	begin_meta(&w, origin);
	put_rest(&w);
	end_json(&w);
}

void eh_print_json_head(
    struct seq *s, const struct eh_record *rec, const struct eh_origin *origin, const char *why)
{
	struct walk w;

	begin_json(&w, s, rec, EH_HEAD_NAME);
	begin_meta(&w, origin);
	w.damage = NULL; /* without the fields nothing else is of use */
	damaged(&w, why, w.payload.at);
	end_json(&w);
}
