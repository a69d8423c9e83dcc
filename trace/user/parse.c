/* Definitions of user events: text -> fields. Pure: no state. Task context. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"
#include "trace/user/user.h"

#define ARRAY_MAX    1024 /* bytes of char[N] */
#define ARRAY_DIGITS 7	  /* characters after its '[', as Linux has it */
#define STRUCT_MAX                                                                                 \
	0x7fffffff /* bytes, as Linux has it: nobody can write such an event, but it is one */

/* What an event is built in. */
struct user_def {
	struct user_event *ev;
	struct trace_event_field *field;
	struct user_event_check *check;
	u32 offset;
	const char *text;	      /* the definition, which is cut up */
	struct user_event_error *err; /* positions in it */
};

static int refuse(struct user_def *d, const char *at, const char *why)
{
	*d->err = (struct user_event_error){why, at - d->text};
	return -EINVAL;
}

static const struct {
	const char *name;
	u32 size;
} types[] = {
    {"s64", 8},
    {"u64", 8},
    {"s32", 4},
    {"u32", 4},
    {"int", 4},
    {"unsigned int", 4},
    {"s16", 2},
    {"u16", 2},
    {"short", 2},
    {"unsigned short", 2},
    {"s8", 1},
    {"u8", 1},
    {"char", 1},
    {"unsigned char", 1},
};

/* Types that have a blank in them begin so; longer ones first. */
static const char *const two_words[] = {
    "__data_loc unsigned ",
    "__data_loc ",
    "__rel_loc unsigned ",
    "__rel_loc ",
    "unsigned ",
    "struct ",
};

/* N of "...[N]"; 0: not one that is taken. */
static u32 array_size(const char *type)
{
	const char *from = strchr(type, '[') + 1, *end = strchr(from, ']');
	char digits[ARRAY_DIGITS + 1];
	u32 size;

	if (!end || strlen(from) > ARRAY_DIGITS)
		return 0;
	memcpy(digits, from, end - from);
	digits[end - from] = '\0';
	return parse_u32(digits, 0, &size) || size > ARRAY_MAX ? 0 : size;
}

/* 0: not a type, or one whose size is to be said (struct). */
static u32 type_size(const char *type)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, type))
			return types[i].size;
	if (str_has_prefix(type, "char[") || str_has_prefix(type, "unsigned char["))
		return array_size(type);
	if (str_has_prefix(type, "__data_loc ") || str_has_prefix(type, "__rel_loc "))
		return sizeof(u32);
	return 0;
}

static void add_check(struct user_def *d, const char *type)
{
	bool relative = str_has_prefix(type, "__rel_loc ");

	if (relative || str_has_prefix(type, "__data_loc "))
		*d->check++ = (struct user_event_check){
		    .offset = d->offset, .relative = relative, .text = strstr(type, "char")};
}

static int add_field(struct user_def *d, const char *type, const char *name, u32 size)
{
	bool number = size == 1 || size == 2 || size == 4 || size == 8;

	if (size > STRUCT_MAX || size > UINT_MAX - d->offset)
		return refuse(d, type, "Field is too large");
	add_check(d, type);
	*d->field++ = (struct trace_event_field){
	    .type = type,
	    .name = name,
	    .offset = d->offset,
	    .size = size,
	    .is_signed = type[0] != 'u',
	    .kind = number ? TRACE_FIELD_NUMBER : TRACE_FIELD_ARRAY,
	};
	d->offset += size;
	return 0;
}

/* Where the type that `field` begins with may end at the earliest. */
static char *behind_first_words(char *field)
{
	for (unsigned i = 0; i < ARRAY_SIZE(two_words); i++)
		if (str_has_prefix(field, two_words[i]))
			return field + strlen(two_words[i]);
	return field;
}

/* "type name [size]", one blank between each two; nothing at all is fine. */
static int parse_field(struct user_def *d, char *field)
{
	field += strspn(field, " \t\n\v\f\r");
	if (!*field)
		return 0;
	char *type = field, *rest = behind_first_words(field);
	strsep(&rest, " ");
	char *name = strsep(&rest, " "), *digits = strsep(&rest, " ");
	bool is_struct = str_has_prefix(type, "struct ");
	u32 size;

	if (!name)
		return refuse(d, type + strlen(type), "Field name is missing");
	if (rest)
		return refuse(d, rest, "Unexpected text after the field");
	if (digits && !is_struct)
		return refuse(d, digits, "Only a struct has a size");
	if (is_struct && (!digits || parse_u32(digits, 10, &size) || !size))
		return refuse(d, digits ? digits : name + strlen(name),
		    "Size of the struct is missing or invalid");
	if (!is_struct)
		size = type_size(type);
	if (!size)
		return refuse(
		    d, type, strchr(type, '[') ? "Invalid type or array size" : "Unknown type");
	return add_field(d, type, name, size);
}

static int parse_fields(struct user_def *d, char *fields)
{
	int err = 0;
	char *field;

	while (!err && (field = strsep(&fields, ";")))
		err = parse_field(d, field);
	return err;
}

static u32 count_fields(const char *text)
{
	u32 n = 1;

	for (; *text; text++)
		n += *text == ';';
	return n;
}

size_t user_event_name_len(const char *text)
{
	size_t n = 0;

	while (text[n] && text[n] != ' ' && text[n] != ':')
		n++;
	return n;
}

/* One block: the event, its fields, the checks, its name, the text that the fields point into. */
static struct user_event *create(const char *text, const char *suffix, struct user_def *d)
{
	u32 n = count_fields(text);
	size_t name = user_event_name_len(text), tail = strlen(suffix) + 1, size = strlen(text) + 1;
	struct user_event *ev = host_alloc(sizeof(*ev) + (n + 1) * sizeof(*d->field) +
					   n * sizeof(*d->check) + name + 1 + name + tail + size);

	if (!ev)
		return NULL;
	*d = (struct user_def){.ev = ev, .offset = sizeof(struct trace_entry)};
	d->field = (struct trace_event_field *)(ev + 1);
	d->check = (struct user_event_check *)(d->field + n + 1);
	char *to = (char *)(d->check + n);
	ev->table = d->field;
	ev->checks = d->check;
	ev->name = to;
	memcpy(to, text, name); /* the block is zeroed: this ends it */
	ev->call.name = to + name + 1;
	memcpy(to + name + 1, text, name);
	memcpy(to + name + 1 + name, suffix, tail);
	d->text = memcpy(to + name + 1 + name + tail, text, size);
	return ev;
}

int user_event_parse(
    const char *text, const char *suffix, struct user_event **out, struct user_event_error *err)
{
	struct user_def d;
	struct user_event *ev = create(text, suffix, &d);

	*out = NULL;
	*err = (struct user_event_error){NULL, 0};
	if (!ev)
		return -ENOMEM;
	d.err = err;
	char *fields = strchr(d.text, ' '); /* flags before it are known to nobody */
	int code = fields ? parse_fields(&d, fields + 1) : 0;
	if (code) {
		host_free(ev);
		return code;
	}
	ev->n_fields = d.field - ev->table;
	ev->n_checks = d.check - ev->checks;
	ev->min_size = d.offset - sizeof(struct trace_entry);
	*out = ev;
	return 0;
}
