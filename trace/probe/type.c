/*
 * Fetch types: the types of probes' arguments, their bitfields and the lengths of arrays. Pure.
 *
 * To add a type, add a row to types[] (struct probe_type in probe.h); a number has at most 8 bytes.
 * If it is printed like no other, add its kind to enum probe_text, before PROBE_STRING if it is no
 * text, and a case to print.c. If it is text, its size is 4, the __data_loc word: add to
 * probe_fetch_string() in fetch.c how the text is made, and look at the rules for texts in parse.c
 * (check_type(), may_be_array()). Name it in trace/tracefs/readme.c.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/probe/probe.h"

#define NUMBER(bits, size)                                                                         \
	{"u" #bits, "u" #bits, size == 8 ? "%Lu" : "%u", size, PROBE_UNSIGNED, false},             \
	    {"s" #bits, "s" #bits, size == 8 ? "%Ld" : "%d", size, PROBE_SIGNED, true},            \
	{                                                                                          \
		"x" #bits, "u" #bits, size == 8 ? "0x%Lx" : "0x%x", size, PROBE_HEX, false         \
	}

static const struct probe_type types[] = {
    {"string", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_STRING, true},
    {"ustring", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_USTRING, true},
    {"symstr", "__data_loc char[]", "\\\"%s\\\"", 4, PROBE_SYMSTR, true},
    NUMBER(8, 1),
    NUMBER(16, 2),
    NUMBER(32, 4),
    NUMBER(64, 8),
    {"char", "u8", "'%c'", 1, PROBE_CHAR, false},
    {"symbol", "u64", "%pS", 8, PROBE_SYMBOL, false},
};

/* The unsigned number of so many bits, as text: "8", "0x10". */
static const char *unsigned_type(const char *bits)
{
	u64 n;

	if (parse_u64(bits, 0, &n))
		return NULL;
	return n == 8 ? "u8" : n == 16 ? "u16" : n == 32 ? "u32" : n == 64 ? "u64" : NULL;
}

/* The part after ':', or NULL. A bitfield has the type of what it lies in. */
const struct probe_type *probe_type_find(const char *name)
{
	if (!name)
		name = "x64";
	if (*name == 'b' && is_digit(name[1])) {
		name = strchr(name, '/');
		name = name ? unsigned_type(name + 1) : NULL;
	}
	for (unsigned i = 0; name && i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

/* A number of any base, as far as it goes; false: there is none. */
static bool digits(const char **at, u64 *value)
{
	const char *start = *at;

	*value = parse_digits(start, at, 0);
	return *at != start;
}

/* "bW@O/S" */
int probe_parse_bitfield(const char *text, struct probe_arg *arg)
{
	u64 width, offset, bits = arg->type->size * 8;

	if (!text || *text != 'b')
		return 0;
	text++;
	if (!digits(&text, &width) || !width || *text++ != '@')
		return -EINVAL;
	if (!digits(&text, &offset) || *text != '/')
		return -EINVAL;
	if (width > bits || offset > bits - width)
		return -EINVAL;
	arg->fetch.lshift = bits - width - offset;
	arg->fetch.rshift = bits - width;
	return 0;
}

/* Cuts "[N]" off the type. */
int probe_parse_count(struct probe_parse *p, char *text, char *type, u32 *count)
{
	char *open = type ? strchr(type, '[') : NULL, *close;

	*count = 0;
	if (!open)
		return 0;
	*open++ = '\0';
	close = strchr(open, ']');
	if (!close)
		return probe_parse_fail(
		    p, p->pos + (open + strlen(open) - text), "Array is not closed");
	if (close[1])
		return probe_parse_fail(p, p->pos + (close + 1 - text), "Array has wrong suffix");
	*close = '\0';
	if (parse_u32(open, 0, count) || !*count)
		return probe_parse_fail(p, p->pos + (open - text), "Invalid array size");
	if (*count > PROBE_ARRAY_MAX)
		return probe_parse_fail(p, p->pos + (open - text), "Array number is too big");
	return 0;
}
