/*
 * One walk over an EventHeader record, which makes a line's text or JSON of it. See eventheader.h.
 *
 * Words: the header tells the byte order; of the extensions two are known, the metadata and the
 * activity; what is after the last one is the payload. A field's description stands in the
 * metadata, its value in the payload. A description is read before its value, and again for each
 * element of an array of structs. Each reading is a step, and so is each element of an array; steps
 * are counted.
 *
 *   1. The header; then the extensions, up to the last or to the first that is not sound (walk.c).
 *   2. The event's name and attributes.
 *   3. Fields, one after the other, until the metadata ends or something does not fit: that ends
 *      the walk, and is reported last.
 */
#include "trace/user/eventheader/walk.h"

/* ---- the name of the tracepoint ---- */

/* Lower-case hex digits at *p, at most `max` of them; false: none, or too many. */
static bool eh_take_hex(const char **p, unsigned max, u64 *out)
{
	unsigned n = 0;
	u64 v = 0;

	for (; is_digit(**p) || (**p >= 'a' && **p <= 'f'); ++*p, n++)
		v = v << 4 | (u64)(is_digit(**p) ? **p - '0' : **p - 'a' + 10);
	*out = v;
	return n && n <= max;
}

static bool are_options(const char *p)
{
	while (*p >= 'A' && *p <= 'Z')
		for (p++; is_digit(*p) || (*p >= 'a' && *p <= 'z'); p++)
			;
	return !*p;
}

bool eh_name_parse(const char *tracepoint, struct eh_name *out)
{
	const char *p = strrchr(tracepoint, '_');
	u64 level;

	if (!p || p == tracepoint || strlen(tracepoint) >= EVENTHEADER_NAME_MAX)
		return false;
	out->provider = tracepoint;
	out->provider_len = p - tracepoint;
	if (*++p != 'L')
		return false;
	p++;
	if (!eh_take_hex(&p, 2, &level) || !level || *p++ != 'K' ||
	    !eh_take_hex(&p, 16, &out->keyword))
		return false;
	out->level = level;
	out->options = p;
	return are_options(p);
}

/* ---- step 2 ---- */

static void eh_put_event_name(struct eh_walk *w, u32 most)
{
	struct seq *s = w->out.s;
	const char *name = (const char *)w->meta.at;
	u32 len = 0;

	eh_utf8_put(s, w->name.provider, w->name.provider_len);
	seq_putc(s, ':');
	if (!w->has_meta)
		return;
	if (!eh_take_name(&w->meta, &len))
		eh_damaged(w, "event's name has no end", w->meta.end);
	eh_utf8_put(s, name, MIN(len, most));
}

static void eh_put_number(struct eh_walk *w, const char *key, u64 v, bool always)
{
	if (!v && !always)
		return;
	eh_out_key(&w->out, key);
	seq_dec(w->out.s, v, 1, ' ');
}

static void eh_put_hex(struct eh_walk *w, const char *key, u64 v, bool always)
{
	if (!v && !always)
		return;
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	seq_puts(w->out.s, "0x");
	seq_hex(w->out.s, v, 1);
	eh_out_quote(&w->out);
}

static void eh_put_text(struct eh_walk *w, const char *key, const char *text)
{
	if (!*text)
		return;
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	eh_utf8_put(w->out.s, text, strlen(text));
	eh_out_quote(&w->out);
}

static void put_id(struct eh_walk *w, const char *key, const u8 *id)
{
	eh_out_key(&w->out, key);
	eh_out_quote(&w->out);
	eh_uuid_put(w->out.s, id);
	eh_out_quote(&w->out);
}

static void eh_put_attributes(struct eh_walk *w)
{
	const struct eventheader *h = &w->header;
	u8 plain = EVENTHEADER_POINTER64 | EVENTHEADER_LITTLE_ENDIAN;

	eh_put_number(w, "level", w->name.level, true);
	eh_put_hex(w, "keyword", w->name.keyword, true);
	eh_put_text(w, "options", w->name.options);
	eh_put_number(w, "id", h->id, false);
	eh_put_number(w, "version", h->version, false);
	eh_put_number(w, "opcode", h->opcode, false);
	eh_put_hex(w, "tag", h->tag, false);
	if (w->activity)
		put_id(w, "activity", w->activity);
	if (w->activity && w->activity_len == 32)
		put_id(w, "related", w->activity + 16);
	if ((h->flags & ~EVENTHEADER_EXTENSION) != plain && w->rec->len >= sizeof(*h))
		eh_put_hex(w, "flags", h->flags, true);
}

/* ---- step 3: values ---- */

/* Bytes of a string's character. */
static u32 unit_of(u8 encoding)
{
	static const u8 units[EH_ENCODING_MAX] = {[EH_ZSTRING8] = 1,
	    [EH_ZSTRING16] = 2,
	    [EH_ZSTRING32] = 4,
	    [EH_STRING8] = 1,
	    [EH_STRING16] = 2,
	    [EH_STRING32] = 4,
	    [EH_BINARY8] = 1};

	return units[encoding];
}

/* The bytes of a string before its NUL, and after it. */
static bool take_zstring(struct eh_walk *w, u32 unit, struct eh_value *v)
{
	struct eh_span *p = &w->payload;

	v->p = p->at;
	for (; eh_left(p) >= unit; p->at += unit)
		if (!eh_load(p->at, unit, false)) {
			v->n = p->at - v->p;
			p->at += unit;
			return true;
		}
	v->n = p->at - v->p;
	return eh_damaged(w, "string without an end", p->end);
}

static bool take_string(struct eh_walk *w, u32 unit, struct eh_value *v)
{
	struct eh_span *p = &w->payload;

	v->p = p->at;
	v->n = 0;
	if (eh_left(p) < 2)
		return eh_damaged(w, "payload is cut", p->end);
	size_t bytes = (size_t)eh_take16(w, p) * unit;
	v->p = p->at;
	v->n = MIN(bytes, eh_left(p) / unit * unit);
	p->at += v->n;
	return v->n == bytes ? true : eh_damaged(w, "string reaches beyond the record", p->end);
}

/* False: damaged; of a string there is what there is all the same. */
static bool take_value(struct eh_walk *w, const struct eh_field *f, struct eh_value *v)
{
	struct eh_span *p = &w->payload;

	v->encoding = f->encoding;
	v->format = f->format;
	v->big = w->big;
	if (f->encoding >= EH_STRING8)
		return take_string(w, unit_of(f->encoding), v);
	if (f->encoding >= EH_ZSTRING8)
		return take_zstring(w, unit_of(f->encoding), v);
	v->p = p->at;
	v->n = 1u << (f->encoding - EH_VALUE8);
	if (eh_left(p) < v->n)
		return eh_damaged(w, "payload is cut", p->end);
	p->at += v->n;
	return true;
}

static bool eh_walk_fields(struct eh_walk *w, u32 n, u32 depth);

/* An element, or a field that is no array. */
static bool eh_walk_one(struct eh_walk *w, const struct eh_field *f, u32 depth)
{
	struct eh_value v;
	bool whole;

	if (f->encoding != EH_STRUCT) {
		whole = take_value(w, f, &v);
		v.is_cut = !whole;
		if (whole || f->encoding >= EH_ZSTRING8)
			eh_value_put(&w->out, &v);
		else
			seq_puts(w->out.s, w->out.json ? "null" : "?");
		return whole && !w->out.s->overflow;
	}
	eh_out_open(&w->out, false);
	whole = depth == EH_DEPTH_MAX
		    ? eh_damaged(w, "structs within structs, too deep", w->meta.at)
		    : eh_walk_fields(w, f->format, depth + 1);
	eh_out_close(&w->out, false);
	return whole;
}

static bool walk_array(struct eh_walk *w, const struct eh_field *f, u32 depth)
{
	const u8 *elements = w->meta.at;
	bool whole = true;
	u32 count = f->count;

	eh_out_open(&w->out, true);
	if (f->is_counted && eh_left(&w->payload) < 2)
		whole = eh_damaged(w, "payload is cut", w->payload.end);
	else if (f->is_counted)
		count = eh_take16(w, &w->payload);
	for (u32 i = 0; i < count && whole; i++) {
		w->meta.at = elements;
		eh_out_element(&w->out);
		whole = eh_step(w) && eh_walk_one(w, f, depth);
	}
	eh_out_close(&w->out, true);
	if (whole && !count && f->encoding == EH_STRUCT)
		whole = eh_skip_fields(w, f->format);
	return whole;
}

/*
 * n fields, or fewer if the metadata ends first: a struct may be open-ended. False: that was all
 * that is sound.
 */
static bool eh_walk_fields(struct eh_walk *w, u32 n, u32 depth)
{
	const u8 *start = w->meta.at;
	struct eh_field f;
	bool whole = true;

	for (u32 i = 0; i < n && whole && eh_left(&w->meta); i++) {
		if (!eh_take_field(w, &f))
			return false;
		u32 number = w->out.json ? eh_number_name(w, start, &f, !depth) : 0;
		eh_out_member(&w->out, f.name, f.name_len, number, f.tag);
		if (f.is_fixed || f.is_counted)
			whole = walk_array(w, &f, depth);
		else
			whole = eh_walk_one(w, &f, depth);
	}
	return whole;
}

/* The payload beyond the last description, as bytes. */
static void eh_put_rest(struct eh_walk *w)
{
	size_t n = eh_left(&w->payload);

	if (w->has_meta && n > w->rec->slack)
		eh_damaged(w, "more than the fields describe", w->payload.at);
	if (!n || (w->has_meta && n <= w->rec->slack))
		return;
	eh_out_key(&w->out, "payload");
	eh_out_quote(&w->out);
	eh_bytes_put(w->out.s, w->payload.at, n, w->out.json ? ' ' : ':');
	eh_out_quote(&w->out);
}

static void eh_put_fields(struct eh_walk *w)
{
	if (w->has_meta && eh_left(&w->meta) && !w->out.s->overflow)
		eh_walk_fields(w, UINT_MAX, 0);
}

/* ---- the two outputs ---- */

static void put_damage(struct eh_walk *w)
{
	seq_printf(w->out.s, "%s at byte %u", w->damage, w->damage_at);
}

void eh_print_text(struct seq *s, const struct eh_record *rec)
{
	struct eh_walk w;

	eh_walk_open(&w, s, rec, false);
	eh_put_event_name(&w, UINT_MAX);
	seq_puts(s, " [");
	eh_put_attributes(&w);
	seq_putc(s, ']');
	eh_put_fields(&w);
	eh_put_rest(&w);
	if (w.damage) {
		seq_puts(s, " <damaged: ");
		put_damage(&w);
		seq_putc(s, '>');
	}
}

static void put_origin(struct eh_walk *w, const struct eh_origin *origin)
{
	eh_out_key(&w->out, "time");
	if (origin->in_ns)
		seq_printf(w->out.s, "%llu.%09llu", (unsigned long long)origin->time / 1000000000,
		    (unsigned long long)origin->time % 1000000000);
	else
		seq_dec(w->out.s, origin->time, 1, ' ');
	if (origin->cpu >= 0)
		eh_put_number(w, "cpu", origin->cpu, true);
	eh_out_key(&w->out, "pid");
	seq_printf(w->out.s, "%d", origin->pid);
	eh_put_text(w, "comm", origin->comm);
}

static void eh_begin_json(struct eh_walk *w, struct seq *s, const struct eh_record *rec, u32 most)
{
	eh_walk_open(w, s, rec, true);
	eh_out_open(&w->out, false);
	eh_out_key(&w->out, "n");
	eh_out_quote(&w->out);
	eh_put_event_name(w, most);
	eh_out_quote(&w->out);
}

static void eh_begin_meta(struct eh_walk *w, const struct eh_origin *origin)
{
	eh_out_key(&w->out, "meta");
	eh_out_open(&w->out, false);
	if (origin)
		put_origin(w, origin);
	eh_put_attributes(w);
}

static void eh_end_json(struct eh_walk *w)
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
	struct eh_walk w;

	eh_begin_json(&w, s, rec, UINT_MAX);
	eh_put_fields(&w);
	eh_begin_meta(&w, origin);
	eh_put_rest(&w);
	eh_end_json(&w);
}

void eh_print_json_head(
    struct seq *s, const struct eh_record *rec, const struct eh_origin *origin, const char *why)
{
	struct eh_walk w;

	eh_begin_json(&w, s, rec, EH_HEAD_NAME);
	eh_begin_meta(&w, origin);
	w.damage = NULL; /* without the fields nothing else is of use */
	eh_damaged(&w, why, w.payload.at);
	eh_end_json(&w);
}
