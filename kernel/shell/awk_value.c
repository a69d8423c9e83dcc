/* awk's values, variables and arrays. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/awk.h"

struct awk_value awk_number(struct sh_dec d)
{
	return (struct awk_value){.kind = AWK_NUMBER, .num = d};
}

struct awk_value awk_int(s64 v)
{
	return awk_number(sh_dec_int(v));
}

struct awk_value awk_string(const char *s)
{
	return (struct awk_value){.kind = AWK_STRING, .str = s};
}

struct awk_value awk_input(const char *s)
{
	return (struct awk_value){.kind = AWK_INPUT, .str = s};
}

struct sh_dec awk_num(struct awk_value v)
{
	const char *end;

	if (v.kind == AWK_NUMBER)
		return v.num;
	return v.kind == AWK_UNSET ? sh_dec_int(0) : sh_dec_parse(v.str, &end);
}

const char *awk_str(struct awk *w, struct awk_value v)
{
	char text[32], *copy;

	if (v.kind != AWK_NUMBER)
		return v.kind == AWK_UNSET ? "" : v.str;
	sh_dec_text(v.num, text);
	copy = sh_strdup(&w->tmp, text);
	if (!copy)
		awk_fail(w, "out of memory");
	return copy ? copy : "";
}

/* Text from outside that is a number as a whole. */
static bool looks_numeric(struct awk_value v)
{
	const char *end;

	if (v.kind == AWK_NUMBER || v.kind == AWK_UNSET)
		return true;
	if (v.kind != AWK_INPUT)
		return false;
	sh_dec_parse(v.str, &end);
	return end != v.str && !end[strspn(end, " \t\n")];
}

bool awk_true(struct awk_value v)
{
	if (v.kind == AWK_UNSET)
		return false;
	return looks_numeric(v) ? awk_num(v).m != 0 : *v.str != 0;
}

int awk_compare(struct awk *w, struct awk_value a, struct awk_value b)
{
	if (looks_numeric(a) && looks_numeric(b))
		return sh_dec_cmp(awk_num(a), awk_num(b));
	return strcmp(awk_str(w, a), awk_str(w, b));
}

struct awk_var *awk_var(struct awk *w, const char *name, size_t n)
{
	struct awk_var *v;

	for (v = w->vars; v; v = v->next)
		if (!strncmp(v->name, name, n) && !v->name[n])
			return v;
	v = kzalloc(sizeof(*v) + n + 1);
	if (!v)
		return NULL;
	memcpy(v->name, name, n);
	v->next = w->vars;
	w->vars = v;
	return v;
}

/* Variables own their strings. */
void awk_store(struct awk *w, struct awk_value *to, struct awk_value value)
{
	const char *old = to->str;

	if (value.str && !(value.str = kstrdup(value.str))) {
		awk_fail(w, "out of memory");
		return;
	}
	*to = value;
	kfree(old);
}

void awk_set(struct awk *w, struct awk_var *v, struct awk_value value)
{
	if (v->items) {
		awk_fail(w, "%s is an array", v->name);
		return;
	}
	awk_store(w, &v->value, value);
	if (v == w->nf)
		awk_nf_changed(w);
}

static struct awk_item **bucket(struct awk_var *v, const char *key)
{
	u32 h = 0;

	while (*key)
		h = h * 31 + (u8)*key++;
	return &v->items[h % AWK_BUCKETS];
}

struct awk_item *awk_item(struct awk *w, struct awk_var *v, const char *key, bool make)
{
	struct awk_item *i, **at;

	if (!v->items) {
		if (!make)
			return NULL;
		v->items = kzalloc(AWK_BUCKETS * sizeof(*v->items));
		if (!v->items) {
			awk_fail(w, "out of memory");
			return NULL;
		}
	}
	at = bucket(v, key);
	for (i = *at; i; i = i->next)
		if (!strcmp(i->key, key))
			return i;
	i = make ? kzalloc(sizeof(*i) + strlen(key) + 1) : NULL;
	if (!i) {
		if (make)
			awk_fail(w, "out of memory");
		return NULL;
	}
	memcpy(i->key, key, strlen(key));
	i->next = *at;
	*at = i;
	v->item_count++;
	return i;
}

void awk_delete(struct awk_var *v, const char *key)
{
	for (int b = 0; v->items && b < AWK_BUCKETS; b++) {
		for (struct awk_item **at = &v->items[b]; *at;) {
			struct awk_item *i = *at;

			if (key && strcmp(i->key, key)) {
				at = &i->next;
				continue;
			}
			*at = i->next;
			kfree(i->value.str);
			kfree(i);
			v->item_count--;
		}
	}
}

void awk_vars_free(struct awk *w)
{
	while (w->vars) {
		struct awk_var *v = w->vars;

		w->vars = v->next;
		awk_delete(v, NULL);
		kfree(v->items);
		kfree(v->value.str);
		kfree(v);
	}
}
