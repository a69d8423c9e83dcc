/* The section of types for cases, and a walk over any section. */
#include "tests/unit/trace/types/sample.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"
#include "trace/host_types.h"

#define WORDS	  512
#define TEXT	  1024
#define FUNCTIONS 8192

enum {
	INT = 1,
	UNSIGNED,
	CHAR,
	S64,
	BOOL,
	BYTE,
	SHORT,
	CONST_CHAR,
	NAME,
	TEXT_16,
	COLOR,
	POINT,
	THING_PTR,
	BYTES_4,
	ANONYMOUS,
	THING,
	THING_T,
	VOLATILE_T,
	THING_T_PTR,
	NUMBERS,
	HIDDEN,
	HIDDEN_PTR,
	ANY,
	MKDIRAT,
	RMDIR,
	ROWS,
	OPEN_ARRAY,
	FLAG,
	LEVEL,
	HUGE,
	INNER,
	MIDDLE,
	CONST_MIDDLE,
	OUTER,
	OUTER_PTR,
	TYPES = OUTER_PTR
};

static struct {
	struct types_head head;
	u16 rest[TYPES + WORDS + FUNCTIONS + 8 + TEXT / 2];
} sample;

static u16 at[TYPES], words[WORDS], functions[FUNCTIONS];
static char text[TEXT];
static u32 n_types, n_words, n_text, n_functions;

static void put(u32 value)
{
	words[n_words++] = value;
}

/* Half the place of a name: each is there once for each use, which is as good. */
static u32 name(const char *s)
{
	u32 half = n_text / 2;

	n_text += ALIGN_UP(strlen(s) + 1, 2);
	memcpy(text + 2 * half, s, strlen(s) + 1);
	return half;
}

static void record(u32 head, u32 count)
{
	at[n_types++] = n_words;
	put(head | count << 7);
}

static void integer(const char *s, u32 size, u32 encoding)
{
	record(TYPES_INT, size);
	put(name(s));
	put(encoding);
}

static void modifier(enum types_kind kind, u32 type)
{
	record(kind, 0);
	put(type);
}

static void array(u32 type, u32 n)
{
	record(TYPES_ARRAY, 0);
	put(type);
	put(UNSIGNED);
	put(n);
	put(n >> 16);
}

static void structure(enum types_kind kind, const char *s, u32 size, u32 count, u32 flags)
{
	record(kind | flags, count);
	put(*s ? name(s) : 0);
	put(size);
	put(size >> 16);
}

/* A member of a narrow record; and of a wide one, in bits. */
static void member(const char *s, u32 type, u32 where)
{
	put(*s ? name(s) : 0);
	put(type);
	put(where);
}

static void wide(const char *s, u32 type, u32 bit, u32 bits)
{
	member(s, type, bit);
	put(bit >> 16 | bits << 8);
}

static void thing(void)
{
	structure(TYPES_STRUCT, "thing", 104, 14, TYPES_FLAG | TYPES_WIDE);
	wide("name", NAME, 0, 0);
	wide("text", TEXT_16, 64, 0);
	wide("next", THING_PTR, 192, 0);
	wide("where", POINT, 256, 0);
	wide("", ANONYMOUS, 320, 0);
	wide("color", COLOR, 352, 0);
	wide("low", UNSIGNED, 384, 3);
	wide("high", INT, 387, 29);
	wide("mid", UNSIGNED, 388, 8);
	wide("on", BOOL, 416, 0);
	wide("numbers", NUMBERS, 448, 0);
	wide("hidden", HIDDEN_PTR, 576, 0);
	wide("any", ANY, 640, 0);
	wide("big", S64, 704, 0);
}

static void enumeration(void)
{
	record(TYPES_ENUM | TYPES_FLAG | TYPES_WIDE, 4);
	put(name("color"));
	put(4);
	member("RED", 0, 0);
	member("GREEN", 5, 0);
	member("BLUE", 0xffff, 0xffff);
	member("WHITE", 0x8000, 1);
}

/* A value of two words, and of four. */
static void value(const char *s, u32 low)
{
	put(name(s));
	put(low);
	put(low >> 16);
}

static void long_value(const char *s, u64 n)
{
	value(s, n);
	put(n >> 32);
	put(n >> 48);
}

static void more_enumerations(void)
{
	record(TYPES_ENUM | TYPES_WIDE, 2);
	put(name("flag"));
	put(4);
	value("FLAG_LOW", 0x12345);
	value("FLAG_HIGH", 0x80000000);
	record(TYPES_ENUM, 2);
	put(name("level"));
	put(2);
	put(name("LEVEL_NONE"));
	put(0);
	put(name("LEVEL_MOST"));
	put(0xffff);
	record(TYPES_ENUM64 | TYPES_WIDE, 2);
	put(name("huge"));
	put(8);
	long_value("HUGE_ONE", 1);
	long_value("HUGE_TOP", 0x8001000200030004);
}

static void outer(void)
{
	structure(TYPES_UNION, "", 4, 2, 0);
	member("inner_word", UNSIGNED, 0);
	member("inner_bytes", BYTES_4, 0);
	structure(TYPES_STRUCT, "", 8, 2, 0);
	member("middle", INT, 0);
	member("", INNER, 4);
	modifier(TYPES_CONST, MIDDLE);
	structure(TYPES_STRUCT, "outer", 0x40020, 5, TYPES_FLAG | TYPES_WIDE);
	wide("first", INT, 0, 0);
	wide("", CONST_MIDDLE, 32, 0);
	wide("rows", ROWS, 96, 0);
	wide("far", UNSIGNED, 0x2000c3, 5);
	wide("open", OPEN_ARRAY, 0x2000e0, 0);
}

static void all_types(void)
{
	integer("int", 4, TYPES_SIGNED);
	integer("unsigned int", 4, 0);
	integer("char", 1, TYPES_SIGNED);
	integer("s64", 8, TYPES_SIGNED);
	integer("_Bool", 1, TYPES_BOOL);
	integer("unsigned char", 1, 0);
	integer("unsigned short", 2, 0);
	modifier(TYPES_CONST, CHAR);
	modifier(TYPES_PTR, CONST_CHAR);
	array(CHAR, 16);
	enumeration();
	structure(TYPES_STRUCT, "point", 8, 2, 0);
	member("x", INT, 0);
	member("y", INT, 4);
	modifier(TYPES_PTR, THING);
	array(BYTE, 4);
	structure(TYPES_UNION, "", 4, 2, 0);
	member("word", UNSIGNED, 0);
	member("bytes", BYTES_4, 0);
	thing();
	record(TYPES_TYPEDEF, 0);
	put(name("thing_t"));
	put(THING);
	modifier(TYPES_VOLATILE, THING_T);
	modifier(TYPES_PTR, VOLATILE_T);
	array(INT, 4);
	record(TYPES_FWD, 0);
	put(name("hidden"));
	modifier(TYPES_PTR, HIDDEN);
	modifier(TYPES_PTR, 0);
	record(TYPES_PROTO, 3);
	put(INT);
	put(name("dfd"));
	put(INT);
	put(name("thing"));
	put(THING_T_PTR);
	put(name("mode"));
	put(SHORT);
	record(TYPES_PROTO, 2);
	put(0);
	put(name("where"));
	put(POINT);
	put(name("name"));
	put(NAME);
	array(BYTES_4, 0x10003);
	array(CHAR, 0);
	more_enumerations();
	outer();
	modifier(TYPES_PTR, OUTER); /* last: its record is a short one */
}

static void function(const char *s, u32 proto)
{
	long i = host_sym_number(s);

	if (i < 0 || i >= FUNCTIONS)
		return;
	functions[i] = proto;
	n_functions = MAX(n_functions, (u32)i + 1);
}

static void append(u16 **to, const void *from, u32 n)
{
	memcpy(*to, from, n * sizeof(u16));
	*to += n;
}

size_t types_sample(const void **data)
{
	static const u16 named[] = {COLOR, FLAG, HUGE, LEVEL, OUTER, POINT, THING, THING_T};
	u16 *to = sample.rest;

	n_types = n_words = n_functions = 0;
	n_text = 2; /* the empty name */
	all_types();
	memset(functions, 0, sizeof(functions));
	function("do_mkdirat", MKDIRAT);
	function("do_rmdir", RMDIR);
	function("first_function", MKDIRAT);
	function("second_function", RMDIR);
	append(&to, at, n_types);
	append(&to, words, n_words);
	append(&to, functions, n_functions);
	append(&to, named, ARRAY_SIZE(named));
	append(&to, text, n_text / 2);
	sample.head = (struct types_head){.magic = TYPES_MAGIC,
	    .size = (char *)to - (char *)&sample,
	    .n_types = n_types,
	    .n_words = n_words,
	    .n_functions = n_functions,
	    .n_named = ARRAY_SIZE(named),
	    .n_text = n_text};
	*data = &sample;
	return sample.head.size;
}

void types_sample_use(void)
{
	const void *data;
	size_t size = types_sample(&data);

	EXPECT(!types_use(data, size));
}

void types_host_use(void)
{
	size_t size;
	const void *data = host_types(&size);

	EXPECT(!types_use(data, size));
}

/* Does this type have sense, as what a pointer, a member or a function may be made of? */
static unsigned walk_type(u32 type, u32 n)
{
	struct types_member m;
	u32 count, under = types_strip(type);
	unsigned bad = under > n;

	bad += types_target(type, &count) > n;
	bad += !types_name(type);
	bad += types_kind(under) == TYPES_TYPEDEF;
	types_size(type);
	types_encoding(type);
	for (int value = -2; value < 4; value++)
		types_enum_name(under, value);
	if (types_member(under, "name", 4, &m))
		bad += m.type > n;
	types_member(under, "no such member", 14, &m);
	bad += types_result(type) > n;
	for (unsigned i = 0; i < types_param_count(type); i++)
		bad += !types_param(type, i, &under) || under > n;
	return bad;
}

unsigned types_walk(void)
{
	size_t size;
	const struct types_head *h = types_used(&size);
	char byte;
	struct seq s;
	unsigned bad = 0;

	for (u32 i = 0; h && i <= h->n_types; i++)
		bad += walk_type(i, h->n_types);
	bad += types_find("thing") > (h ? h->n_types : 0);
	types_find("no such type");
	types_function("do_mkdirat");
	seq_init(&s, &byte, 1);
	types_show_btf(&s);
	return bad;
}
