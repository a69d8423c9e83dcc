/* An event's `format` file: its fields, and their values in a record. Nothing of it is trusted. */
#pragma once

#include "tools/trapline/lib/util.h"

enum field_kind {
	FIELD_NUMBER,
	FIELD_TEXT,	    /* char name[n], or char name[] up to the record's end */
	FIELD_ARRAY,	    /* the same of numbers */
	FIELD_TEXT_POINTER, /* the address of a text in printk_formats */
};
enum field_place { PLACE_HERE, PLACE_DATA_LOC, PLACE_REL_LOC };

struct field {
	char *type, *name;
	uint32_t offset, size;
	bool is_signed, is_pointer;
	bool is_symbol; /* an address that the event's text prints as a symbol */
	enum field_kind kind;
	enum field_place place;
	uint32_t item_size; /* of FIELD_ARRAY */
};

struct event {
	char *system, *name, *print_fmt, *text; /* text: the whole format */
	uint32_t id;
	struct field *field; /* the common ones first */
	size_t fields, commons;
};

/* False: invalid; nothing stays allocated. */
bool format_parse(struct event *ev, const char *system, const char *text, size_t size);
void format_free(struct event *ev);
const struct field *event_field(const struct event *ev, const char *name);

struct value {
	enum { VALUE_NONE, VALUE_INT, VALUE_UINT, VALUE_TEXT, VALUE_ARRAY } kind;
	uint64_t n;	  /* a number, or the address of a text outside the record */
	const char *text; /* not NUL-terminated */
	size_t length;	  /* bytes of the text, items of the array */
	const uint8_t *items;
	uint32_t item_size;
	bool is_signed;
};
/*
 * The value of a field in a record of `size` bytes. VALUE_NONE: the field lies outside. A pointer
 * to text is a number.
 */
void field_value(const struct field *f, const uint8_t *record, uint32_t size, struct value *v);
int64_t value_item(const struct value *v, size_t i);
