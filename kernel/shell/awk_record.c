/* awk's $0 and its fields: cut when one is first asked for, joined again when one was changed. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"

#define FIELDS_MAX 65536

/* Field number i (from 0) gets this text. */
static void put_piece(struct awk *w, u32 i, const char *s, size_t n)
{
	w->field[i] = w->pieces.len;
	sh_buf_put(&w->pieces, s, n);
	sh_buf_put(&w->pieces, "", 1);
	if (w->pieces.failed)
		awk_fail(w, "out of memory");
}

static void add_field(struct awk *w, void *ctx, const char *s, size_t n)
{
	(void)ctx;
	if (w->fields + 1 >= w->field_room) {
		u32 room = w->field_room ? w->field_room * 2 : 64;
		u32 *bigger =
		    room <= FIELDS_MAX ? krealloc(w->field, room * sizeof(*bigger)) : NULL;

		if (!bigger) {
			awk_fail(w, "too many fields");
			return;
		}
		w->field = bigger;
		w->field_room = room;
	}
	put_piece(w, w->fields, s, n);
	w->fields += !w->failed;
}

static struct sh_regex *fs_regex(struct awk *w, const char *fs)
{
	const char *error = "out of memory";

	if (w->fs_text && !strcmp(w->fs_text, fs))
		return w->fs_re;
	sh_regex_free(w->fs_re);
	kfree(w->fs_text);
	w->fs_text = kstrdup(fs);
	w->fs_re = w->fs_text ? sh_regex_new(fs, SH_REGEX_EXTENDED, &error) : NULL;
	if (!w->fs_re)
		awk_fail(w, "bad separator '%s': %s", fs, error);
	return w->fs_re;
}

static void split_blanks(struct awk *w, const char *s,
    void (*put)(struct awk *, void *, const char *, size_t), void *ctx)
{
	for (s += strspn(s, " \t\n"); *s && !w->failed; s += strspn(s, " \t\n")) {
		size_t n = strcspn(s, " \t\n");

		put(w, ctx, s, n);
		s += n;
	}
}

void awk_split(struct awk *w, const char *s, const char *fs,
    void (*put)(struct awk *, void *, const char *, size_t), void *ctx)
{
	size_t len = strlen(s), at = 0;
	struct sh_regex *re = NULL;

	if (!strcmp(fs, " ")) {
		split_blanks(w, s, put, ctx);
		return;
	}
	if (!len)
		return;
	if (fs[0] && fs[1])
		re = fs_regex(w, fs);
	for (;;) {
		const char *next = !re && *fs ? memchr(s + at, *fs, len - at) : NULL;
		size_t from = next ? (size_t)(next - s) : len, to = from + 1;
		struct sh_match m;

		if (re && sh_regex_match(re, s, len, at, &m) && m.to[0] > m.from[0]) {
			from = m.from[0];
			to = m.to[0];
		}
		put(w, ctx, s + at, from - at);
		if (from >= len || w->failed)
			return;
		at = to;
	}
}

static void set_nf(struct awk *w)
{
	awk_store(w, &w->nf->value, awk_int(w->fields));
}

static void need_fields(struct awk *w)
{
	struct awk_value fs = w->fs->value;

	if (w->split_done)
		return;
	w->split_done = true;
	w->fields = 0;
	w->pieces.len = 0;
	awk_split(w, sh_buf_str(&w->record), fs.kind == AWK_UNSET ? " " : awk_str(w, fs), add_field,
	    NULL);
	set_nf(w);
}

void awk_record(struct awk *w, const char *s, size_t n)
{
	w->record.len = 0;
	sh_buf_put(&w->record, s, n);
	sh_buf_str(&w->record);
	w->split_done = false;
}

u32 awk_nf(struct awk *w)
{
	need_fields(w);
	return w->fields;
}

struct awk_value awk_field(struct awk *w, s64 n)
{
	const char *s = sh_buf_str(&w->record);
	char *copy;

	if (n < 0) {
		awk_fail(w, "there is no field %lld", (long long)n);
		return (struct awk_value){0};
	}
	if (n) {
		need_fields(w);
		if (n > w->fields)
			return (struct awk_value){0};
		s = w->pieces.s + w->field[n - 1];
	}
	copy = sh_strdup(&w->tmp, s);
	if (!copy)
		awk_fail(w, "out of memory");
	return awk_input(copy ? copy : "");
}

/* $0 from the fields. */
static void join(struct awk *w)
{
	const char *ofs = awk_str(w, w->ofs->value);

	w->record.len = 0;
	for (u32 i = 0; i < w->fields; i++) {
		if (i)
			sh_buf_puts(&w->record, ofs);
		sh_buf_puts(&w->record, w->pieces.s + w->field[i]);
	}
	sh_buf_str(&w->record);
	set_nf(w);
}

void awk_field_set(struct awk *w, s64 n, const char *s)
{
	if (n < 0 || n >= FIELDS_MAX) {
		awk_fail(w, "there is no field %lld", (long long)n);
		return;
	}
	if (!n) {
		awk_record(w, s, strlen(s));
		return;
	}
	need_fields(w);
	while (w->fields < n && !w->failed)
		add_field(w, NULL, "", 0);
	if (w->failed)
		return;
	put_piece(w, n - 1, s, strlen(s)); /* the old text stays unused until the next record */
	if (!w->failed)
		join(w);
}

void awk_nf_changed(struct awk *w)
{
	s64 n = sh_dec_trunc(awk_num(w->nf->value));

	w->split_done ? (void)0 : need_fields(w);
	if (n < 0 || n >= FIELDS_MAX) {
		awk_fail(w, "NF out of range");
		return;
	}
	while (w->fields < n && !w->failed)
		add_field(w, NULL, "", 0);
	w->fields = n;
	if (!w->failed)
		join(w);
}
