/* Formats of events. See format.h. */
#include "tools/trapline/trace/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MOST 1024

struct line {
	const char *at, *end;
};

static bool next_line(struct line *rest, struct line *out)
{
	if (rest->at >= rest->end)
		return false;
	const char *stop = memchr(rest->at, '\n', rest->end - rest->at);
	*out = (struct line){rest->at, stop ? stop : rest->end};
	rest->at = stop ? stop + 1 : rest->end;
	return true;
}

static bool skip_word(struct line *l, const char *word)
{
	size_t n = strlen(word);

	while (l->at < l->end && (*l->at == '\t' || *l->at == ' '))
		l->at++;
	if ((size_t)(l->end - l->at) < n || memcmp(l->at, word, n))
		return false;
	l->at += n;
	return true;
}

static bool take_number(struct line *l, uint32_t *out)
{
	uint64_t v = 0;
	const char *start = l->at;

	for (; l->at < l->end && isdigit((unsigned char)*l->at) && v < 1UL << 32; l->at++)
		v = v * 10 + (*l->at - '0');
	*out = v;
	if (l->at == start || v >= 1UL << 31)
		return false;
	if (l->at < l->end && *l->at == ';')
		l->at++;
	return true;
}

/* "char name[16]": how many; 0: none said. -1: it is no array. */
static long brackets(const char *p, size_t n)
{
	const char *open = memchr(p, '[', n);

	return open ? strtol(open + 1, NULL, 0) : -1;
}

static uint32_t size_of_type(const char *type)
{
	static const struct {
		const char *word;
		uint32_t size;
	} known[] = {{"char", 1}, {"u8", 1}, {"s8", 1}, {"bool", 1}, {"short", 2}, {"u16", 2},
	    {"s16", 2}, {"long", 8}, {"u64", 8}, {"s64", 8}, {"size_t", 8}, {"*", 8}, {"x64", 8},
	    {"x8", 1}, {"x16", 2}};

	if (strchr(type, '*'))
		return 8;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(type, known[i].word))
			return known[i].size;
	return 4;
}

/* Is it made of characters? Not "unsigned char", which are numbers. */
static bool is_text_type(const char *type)
{
	return strstr(type, "char") && !strstr(type, "unsigned") && !strchr(type, '*');
}

static void set_kind(struct field *f, long count)
{
	f->is_pointer = strchr(f->type, '*');
	f->place = strstr(f->type, "__data_loc")  ? PLACE_DATA_LOC
		   : strstr(f->type, "__rel_loc") ? PLACE_REL_LOC
						  : PLACE_HERE;
	f->item_size = size_of_type(f->type);
	if (count > 0 && f->place == PLACE_HERE && f->size % count == 0 && f->size)
		f->item_size = f->size / count;
	if (f->item_size != 1 && f->item_size != 2 && f->item_size != 4 && f->item_size != 8)
		f->item_size = 1;
	if (f->place != PLACE_HERE || count >= 0)
		f->kind = is_text_type(f->type) ? FIELD_TEXT : FIELD_ARRAY;
	else if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		f->kind = FIELD_ARRAY;
	else
		f->kind = f->is_pointer && strstr(f->type, "char") && f->size == 8
			      ? FIELD_TEXT_POINTER
			      : FIELD_NUMBER;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "unsigned char common_flags", "char comm[16]", "__data_loc char[] text" */
static bool parse_declaration(struct field *f, const char *p, size_t n, long *count)
{
	size_t end = n, start;

	while (end && p[end - 1] != ']' && !is_name_char(p[end - 1]))
		end--;
	if (end && p[end - 1] == ']')
		while (end && p[end - 1] != '[')
			end--;
	if (end && p[end - 1] == '[')
		end--;
	for (start = end; start && is_name_char(p[start - 1]); start--)
		;
	if (start == end || start == 0)
		return false;
	*count = brackets(p, n);
	f->name = xstrndup(p + start, end - start);
	while (start && p[start - 1] == ' ')
		start--;
	f->type = xstrndup(p, start);
	return true;
}

static bool parse_field(struct event *ev, struct line l)
{
	struct field f = {.name = NULL};
	uint32_t is_signed;
	long count;
	const char *stop = memchr(l.at, ';', l.end - l.at);

	if (!stop || ev->fields == FIELDS_MOST || !parse_declaration(&f, l.at, stop - l.at, &count))
		return false;
	l.at = stop + 1;
	if (!skip_word(&l, "offset:") || !take_number(&l, &f.offset) || !skip_word(&l, "size:") ||
	    !take_number(&l, &f.size) || !skip_word(&l, "signed:") ||
	    !take_number(&l, &is_signed)) {
		free(f.name);
		free(f.type);
		return false;
	}
	f.is_signed = is_signed;
	set_kind(&f, count);
	ev->field = xrealloc(ev->field, (ev->fields + 1) * sizeof(f));
	ev->field[ev->fields++] = f;
	if (!strncmp(f.name, "common_", 7) && ev->commons == ev->fields - 1)
		ev->commons++;
	return true;
}

/* "%ps ...", (void *)REC->ip: another argument may follow, or the line ends. */
static bool is_symbol(const struct event *ev, const struct field *f)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "(void *)REC->%s", f->name);
	const char *found = f->kind == FIELD_NUMBER && f->size == 8 && n < (int)sizeof(text) &&
				    strstr(ev->print_fmt, "%p")
				? strstr(ev->print_fmt, text)
				: NULL;

	return found && strchr(",) \"\n", found[n]);
}

/* What stands after "print fmt: " may have lines of its own. */
bool format_parse(struct event *ev, const char *system, const char *text, size_t size)
{
	struct line rest = {text, text + size}, l;
	bool has_id = false, fine = true;

	*ev = (struct event){.name = NULL};
	while (fine && next_line(&rest, &l)) {
		if (!ev->name && skip_word(&l, "name: ")) {
			ev->name = xstrndup(l.at, l.end - l.at);
		} else if (!has_id && skip_word(&l, "ID: ")) {
			fine = has_id = take_number(&l, &ev->id) && ev->id < 65536;
		} else if (skip_word(&l, "field:")) {
			fine = parse_field(ev, l);
		} else if (skip_word(&l, "print fmt: ")) {
			ev->print_fmt = xstrndup(l.at, rest.end - l.at);
			break;
		}
	}
	for (size_t i = 0; ev->print_fmt && i < ev->fields; i++)
		ev->field[i].is_symbol = is_symbol(ev, &ev->field[i]);
	ev->system = xstrndup(system, strlen(system));
	ev->text = xstrndup(text, size);
	if (fine && ev->name && has_id)
		return true;
	format_free(ev);
	return false;
}

void format_free(struct event *ev)
{
	for (size_t i = 0; i < ev->fields; i++) {
		free(ev->field[i].name);
		free(ev->field[i].type);
	}
	free(ev->field);
	free(ev->system);
	free(ev->name);
	free(ev->print_fmt);
	free(ev->text);
	*ev = (struct event){.name = NULL};
}

const struct field *event_field(const struct event *ev, const char *name)
{
	for (size_t i = 0; ev && i < ev->fields; i++)
		if (!strcmp(ev->field[i].name, name))
			return &ev->field[i];
	return NULL;
}

/* ---- values ---- */

static uint64_t load(const uint8_t *p, uint32_t size, bool is_signed)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	if (is_signed && size < 8 && v >> (size * 8 - 1))
		v |= ~0UL << size * 8;
	return v;
}

/* Where the bytes of a text or an array lie; false: outside. */
static bool find_bytes(const struct field *f, uint32_t record_size, const uint8_t *record,
    uint64_t *at, uint64_t *size)
{
	*at = f->offset;
	*size = f->size;
	if (f->place != PLACE_HERE) {
		if (*at + 4 > record_size)
			return false;
		uint32_t loc = load(record + *at, 4, false);
		*at = (loc & 0xffff) + (f->place == PLACE_REL_LOC ? *at + 4 : 0);
		*size = loc >> 16;
	} else if (!f->size && *at <= record_size) {
		*size = record_size - *at;
	}
	return *at + *size <= record_size;
}

void field_value(const struct field *f, const uint8_t *record, uint32_t size, struct value *v)
{
	uint64_t at, bytes;

	*v = (struct value){.kind = VALUE_NONE, .is_signed = f->is_signed};
	if (!find_bytes(f, size, record, &at, &bytes))
		return;
	switch (f->kind) {
	case FIELD_NUMBER:
	case FIELD_TEXT_POINTER:
		v->kind = f->is_signed ? VALUE_INT : VALUE_UINT;
		v->n = load(record + at, bytes, f->is_signed);
		break;
	case FIELD_TEXT:
		v->kind = VALUE_TEXT;
		v->text = (const char *)record + at;
		v->length = strnlen(v->text, bytes);
		break;
	case FIELD_ARRAY:
		v->kind = VALUE_ARRAY;
		v->items = record + at;
		v->item_size = f->item_size;
		v->length = bytes / f->item_size;
		break;
	}
}

int64_t value_item(const struct value *v, size_t i)
{
	return load(v->items + i * v->item_size, v->item_size, v->is_signed);
}
