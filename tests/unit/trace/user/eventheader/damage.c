/*
 * Damaged EventHeader records: the decoder's output for them, and that it reads nothing beyond
 * them.
 */
#include "kernel/lib/string.h"
#include "tests/unit/json_check.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/user/eventheader/tools.h"

#define HEAD "Unit:Event [level=4 keyword=0x1]"

static struct eh_maker m;

static void expect_damage(const char *text)
{
	const char *json;

	EXPECT_STR(eh_text(&m), text);
	json = eh_json(&m);
	EXPECT(json_check(json, strlen(json)));
	EXPECT(strstr(json, "\"damaged\":\""));
}

static void bad_headers(void)
{
	m.len = 0;
	expect_damage("Unit: [level=4 keyword=0x1] <damaged: shorter than a header at byte 0>");
	eh_make_header(&m, 3, 4);
	m.len = 7;
	expect_damage(
	    "Unit: [level=4 keyword=0x1] payload=03:00:00:00:00:00:00 <damaged: shorter than a "
	    "header at byte 7>");
	eh_make_header(&m, 0x0b, 4);
	expect_damage("Unit: [level=4 keyword=0x1 flags=0xb] <damaged: unknown flags at byte 0>");
	eh_make_header(&m, 3, 5);
	expect_damage(
	    "Unit: [level=4 keyword=0x1] <damaged: level is not that of the tracepoint at byte 7>");
	EXPECT_STR(eh_text_of("what", m.data, 8, 0),
	    "what: [level=0 keyword=0x0] <damaged: tracepoint's "
	    "name is not of the convention at byte 0>");
}

static void extension(u32 size, u32 kind, u32 bytes)
{
	static const u8 zeros[64];

	eh_make16(&m, size);
	eh_make16(&m, kind);
	eh_make_bytes(&m, zeros, bytes);
}

static void bad_extensions(void)
{
	eh_make_header(&m, 7, 4);
	expect_damage(
	    "Unit: [level=4 keyword=0x1] <damaged: cut in an extension's head at byte 8>");
	eh_make_bytes(&m, "\1\0\1", 3);
	expect_damage(
	    "Unit: [level=4 keyword=0x1] payload=01:00:01 <damaged: cut in an extension's head "
	    "at byte 8>");
	eh_make_header(&m, 7, 4);
	extension(3, EVENTHEADER_KIND_METADATA, 2);
	expect_damage(
	    "Unit: [level=4 keyword=0x1] payload=03:00:01:00:00:00 <damaged: extension reaches "
	    "beyond the record at byte 8>");
	eh_make_header(&m, 7, 4);
	extension(0, 0, 0);
	expect_damage("Unit: [level=4 keyword=0x1] <damaged: extension of kind 0 at byte 12>");
	eh_make_header(&m, 7, 4); /* the chain is not followed after a damage */
	extension(0, EVENTHEADER_CHAIN, 0);
	extension(1, EVENTHEADER_KIND_ACTIVITY, 1);
	expect_damage("Unit: [level=4 keyword=0x1] payload=01:00:02:00:00 <damaged: extension of "
		      "kind 0 at byte 12>");
	eh_make_header(&m, 7, 4);
	extension(15, EVENTHEADER_KIND_ACTIVITY, 15);
	expect_damage(
	    "Unit: [level=4 keyword=0x1] <damaged: activity extension of a wrong size at byte 12>");
	eh_make_header(&m, 7, 4);
	extension(16, EVENTHEADER_KIND_ACTIVITY | EVENTHEADER_CHAIN, 16);
	extension(16, EVENTHEADER_KIND_ACTIVITY, 16);
	expect_damage(
	    "Unit: [level=4 keyword=0x1 activity=00000000-0000-0000-0000-000000000000] <damaged: "
	    "a second activity extension at byte 32>");
	eh_make_event(&m, "Event");
	eh_make_payload(&m);
	m.data[11] |= 0x80;
	extension(1, EVENTHEADER_KIND_METADATA, 1);
	expect_damage(HEAD " <damaged: a second metadata extension at byte 22>");
	eh_make_event(
	    &m, "Event"); /* the chain goes on into the payload, and its last has the flag too */
	eh_make_payload(&m);
	m.data[11] |= 0x80;
	extension(0, 9 | EVENTHEADER_CHAIN, 0);
	expect_damage(HEAD " <damaged: cut in an extension's head at byte 22>");
}

/* One field's description of these bytes, and what is said of it. */
static void bad_field(const char *bytes, u32 n, const char *why)
{
	static char text[256];

	eh_make_event(&m, "Event");
	eh_make_bytes(&m, bytes, n);
	eh_make_payload(&m);
	fmt_snprintf(text, sizeof(text), HEAD " <damaged: %s>", why);
	expect_damage(text);
}

static void bad_metadata(void)
{
	eh_make_event(&m, "Event");
	m.len--;
	eh_make_payload(&m);
	expect_damage(HEAD " <damaged: event's name has no end at byte 17>");
	bad_field("abc", 3, "metadata is cut at byte 21");
	bad_field("abc", 4, "metadata is cut at byte 22");
	bad_field("abc\0\x84", 5, "metadata is cut at byte 23");
	bad_field("abc\0\x84\x81\0", 7, "metadata is cut at byte 25");
	bad_field("abc\0\x24\0", 6, "metadata is cut at byte 24");
	bad_field("abc\0\0", 5, "unknown encoding at byte 18");
	bad_field("abc\0\x0e", 5, "unknown encoding at byte 18");
	bad_field("abc\0\x64\1\0", 7, "array of two kinds at byte 18");
	bad_field("abc\0\x24\0\0", 7, "fixed array without elements at byte 18");
	bad_field("abc\0\1", 5, "struct without fields at byte 18");
	bad_field("abc\0\x81\x80\0\0", 8, "struct without fields at byte 18");
	eh_make_event(&m, "Event"); /* in a struct's field, and in one of those passed over */
	eh_make_field(&m, "s", EH_STRUCT, 2);
	eh_make_bytes(&m, "a", 2);
	eh_make_payload(&m);
	expect_damage(HEAD " s={} <damaged: metadata is cut at byte 24>");
	eh_make_event(&m, "Event");
	eh_make_field(&m, "s", EH_STRUCT | EH_COUNTED_ARRAY, 127);
	eh_make_bytes(&m, "a", 2);
	eh_make_payload(&m);
	eh_make16(&m, 0);
	expect_damage(HEAD " s={} <damaged: metadata is cut at byte 24>");
}

static void bad_payload(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_field(&m, "b", EH_VALUE32, 0);
	eh_make_payload(&m);
	eh_make_bytes(&m, "\1\2\3\4", 4);
	expect_damage(HEAD " a=1 b=? payload=02:03:04 <damaged: payload is cut at byte 28>");
	EXPECT(strstr(eh_json(&m), "\"a\":1,\"b\":null,"));
	eh_make_event(&m, "Event");
	eh_make_field(&m, "z", EH_ZSTRING16, 0);
	eh_make_payload(&m);
	eh_make_bytes(&m, "a\0b\0c", 5);
	expect_damage(HEAD " z=\"ab\" payload=63 <damaged: string without an end at byte 26>");
	eh_make_event(&m, "Event");
	eh_make_field(&m, "c", EH_STRING16, 0);
	eh_make_payload(&m);
	eh_make16(&m, 0xffff);
	eh_make_bytes(&m, "a\0b\0c", 5);
	expect_damage(
	    HEAD " c=\"ab\" payload=63 <damaged: string reaches beyond the record at byte 28>");
	eh_make_event(&m, "Event");
	eh_make_field(&m, "v", EH_VALUE8 | EH_COUNTED_ARRAY, 0);
	eh_make_payload(&m);
	eh_make16(&m, 0xffff);
	eh_make_bytes(&m, "\1\2", 2);
	expect_damage(HEAD " v={1,2,?} <damaged: payload is cut at byte 25>");
	m.len = 22;
	expect_damage(HEAD " v={} payload=ff <damaged: payload is cut at byte 22>");
	eh_make_event(&m, "Event");
	eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make_bytes(&m, "\1\2\3\4\5", 5);
	expect_damage(
	    HEAD " a=1 payload=02:03:04:05 <damaged: more than the fields describe at byte 22>");
	EXPECT_STR(eh_text_of("Unit_L4K1", m.data, m.len, 4), HEAD " a=1");
	EXPECT(strstr(eh_text_of("Unit_L4K1", m.data, m.len, 3), "<damaged: more than"));
}

/* Descriptions are read again for each element: the work one record can make has an end. */
static void too_much(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "s", EH_STRUCT | EH_COUNTED_ARRAY, 1);
	eh_make_field(&m, "t", EH_STRUCT | EH_COUNTED_ARRAY, 127);
	for (u32 i = 0; i < 127; i++)
		eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make16(&m, 0xffff);
	for (u32 i = 0; i < 2000; i++)
		eh_make16(&m, 0);
	EXPECT(strstr(eh_text(&m), "<damaged: too much to show at byte "));
	EXPECT(strstr(eh_json(&m), "\"damaged\":\"too much to show at byte "));
}

/*
 * A step for s; 129 for each element of it: itself, t and the fields of t that are passed over; and
 * one for each field after s.
 */
static void steps(void)
{
	const u32 elements = (EH_STEPS_MAX - 1) / 129, rest = (EH_STEPS_MAX - 1) % 129;

	for (u32 more = rest - 1; more <= rest + 1; more++) {
		eh_make_event(&m, "Event");
		eh_make_field(&m, "s", EH_STRUCT | EH_COUNTED_ARRAY, 1);
		eh_make_field(&m, "t", EH_STRUCT | EH_COUNTED_ARRAY, 127);
		for (u32 i = 0; i < 127; i++)
			eh_make_field(&m, "a", EH_VALUE8, 0);
		for (u32 i = 0; i < more; i++)
			eh_make_field(&m, "b", EH_VALUE8, 0);
		eh_make_payload(&m);
		eh_make16(&m, elements);
		for (u32 i = 0; i < elements; i++)
			eh_make16(&m, 0);
		for (u32 i = 0; i < more; i++)
			eh_make8(&m, 7);
		const char *text = eh_text(&m), *last = strrchr(text, '=');
		EXPECT_STR(
		    strstr(text, "<damaged: ") ? "damaged" : last, more > rest ? "damaged" : "=7");
	}
}

/* Arrays of structs without fields, within each other: they read nothing of the record. */
static void empty_elements(void)
{
	eh_make_event(&m, "Event");
	for (u32 i = 0; i < EH_DEPTH_MAX; i++) {
		eh_make_field(&m, "s", EH_STRUCT | EH_FIXED_ARRAY, 127);
		eh_make16(&m, 0xffff);
	}
	eh_make_payload(&m);
	struct eh_record rec = {"Unit_L4K1", m.data, m.len, 0};
	static char text[EH_STEPS_MAX * 4];
	struct seq s;
	seq_init(&s, text, sizeof(text) - 1);
	eh_print_text(&s, &rec);
	text[s.len] = '\0';
	EXPECT(!s.overflow);
	EXPECT(strstr(text, "<damaged: too much to show at byte "));
}

/* Of strings, one of two characters. */
static void put_value(u32 encoding)
{
	static const u32 units[] = {1, 2, 4, 1, 2, 4, 1};

	if (encoding <= EH_VALUE128) {
		eh_make_bytes(&m, "0123456789abcdef", 1u << (encoding - EH_VALUE8));
		return;
	}
	u32 unit = units[encoding - EH_ZSTRING8];
	if (encoding >= EH_STRING8)
		eh_make16(&m, 2);
	eh_make_bytes(&m, "abcdefgh", 2 * unit);
	if (encoding < EH_STRING8)
		eh_make_bytes(&m, "\0\0\0", unit);
}

/*
 * One, a fixed and a counted array of each encoding, in a record that is a byte short, right, and a
 * byte long.
 */
static void ends(void)
{
	static const u32 arrays[] = {0, EH_FIXED_ARRAY, EH_COUNTED_ARRAY};

	for (u32 encoding = EH_VALUE8; encoding < EH_ENCODING_MAX; encoding++) {
		for (u32 i = 0; i < ARRAY_SIZE(arrays); i++) {
			eh_make_event(&m, "Event");
			eh_make_field(&m, "v", encoding | arrays[i], 0);
			if (arrays[i] == EH_FIXED_ARRAY)
				eh_make16(&m, 2);
			eh_make_payload(&m);
			if (arrays[i] == EH_COUNTED_ARRAY)
				eh_make16(&m, 2);
			put_value(encoding);
			if (arrays[i])
				put_value(encoding);
			EXPECT(!strstr(eh_text(&m), "<damaged"));
			m.len--;
			EXPECT(strstr(eh_text(&m), "<damaged: "));
			m.len++;
			eh_make8(&m, 0);
			EXPECT(strstr(eh_text(&m), "<damaged: more than the fields describe"));
		}
	}
}

/*
 * Extensions that end where the record does, and a byte after it; ids of 15 to 17 and of 31 to 33
 * bytes.
 */
static void extension_ends(void)
{
	for (u32 size = 0; size < 40; size++) {
		bool fits = size == 16 || size == 32;

		eh_make_header(&m, 7, 4);
		extension(size, EVENTHEADER_KIND_ACTIVITY, size);
		EXPECT_EQ(strstr(eh_text(&m), "<damaged") == NULL, fits);
		eh_make_header(&m, 7, 4);
		extension(size, 9, size);
		EXPECT_STR(eh_text(&m), "Unit: [level=4 keyword=0x1]");
		eh_make_header(&m, 7, 4);
		extension(size + 1, 9, size);
		EXPECT(strstr(
		    eh_text(&m), "<damaged: extension reaches beyond the record at byte 8>"));
	}
}

/* That counts what JSON needs to tell names apart, too. */
static void too_many_names(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "s", EH_STRUCT | EH_COUNTED_ARRAY, 127);
	for (u32 i = 0; i < 127; i++)
		eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make16(&m, 50);
	for (u32 i = 0; i < 50 * 127; i++)
		eh_make8(&m, 1);
	EXPECT(!strstr(eh_text(&m), "<damaged"));
	EXPECT(strstr(eh_json(&m), "\"damaged\":\"too much to show at byte "));
}

static void rich(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "u", EH_VALUE32, 0);
	eh_make_field(&m, "s", EH_STRUCT | EH_COUNTED_ARRAY, 2);
	eh_make_field(&m, "f", EH_VALUE64, EH_FLOAT);
	eh_make_field(&m, "z", EH_ZSTRING8, 0);
	eh_make_field(&m, "c", EH_STRING32, EH_STRING_JSON);
	eh_make_field(&m, "id", EH_VALUE128 | EH_FIXED_ARRAY, EH_UUID);
	eh_make16(&m, 2);
	eh_make_payload(&m);
	eh_make32(&m, 4);
	eh_make16(&m, 2);
	for (u32 i = 0; i < 2; i++) {
		eh_make64(&m, 0x400921fb54442d18);
		eh_make_name(&m, "abc");
	}
	eh_make16(&m, 2);
	eh_make64(&m, 0x4200000041);
	eh_make_bytes(&m, m.data, 32);
}

/*
 * Cut anywhere, and with any one byte changed: nothing outside is read (the sanitizer sees to
 * that), and JSON stays JSON.
 */
static void cut(void)
{
	rich();
	u32 whole = m.len;
	for (u32 len = 0; len <= whole; len++) {
		m.len = len;
		EXPECT_EQ(strstr(eh_text(&m), "<damaged: ") != NULL, len != whole);
		const char *json = eh_json(&m);
		EXPECT(json_check(json, strlen(json)));
	}
}

static void changed(void)
{
	u64 seed = 20260801;

	ktap_note("seed %llu", (unsigned long long)seed);
	for (u32 i = 0; i < 4000; i++) {
		rich();
		u64 r = prng_next(&seed);
		m.data[r % m.len] = r >> 32;
		if (r >> 60 < 4)
			m.data[(r >> 16) % m.len] = r >> 40;
		eh_text(&m);
		const char *json = eh_json(&m);
		if (!json_check(json, strlen(json)))
			ktap_fail(__FILE__, __LINE__, "round %u: %s", i, json);
	}
}

/* What does not fit is cut and said by the seq, wherever that is. */
static void no_room(void)
{
	static char text[1024];
	struct seq s;

	rich();
	struct eh_record rec = {"Unit_L4K1", m.data, m.len, 0};
	seq_init(&s, text, sizeof(text));
	eh_print_json(&s, &rec, NULL);
	EXPECT(!s.overflow);
	size_t whole = s.len;
	for (size_t room = 0; room <= whole; room++) {
		seq_init(&s, text, room);
		eh_print_json(&s, &rec, NULL);
		EXPECT_EQ(s.overflow, room < whole);
		EXPECT_EQ(s.len, room);
	}
}

static void origin(void)
{
	static char text[512];
	struct eh_origin from = {1234567890123, true, 3, -1, "a\"b"};
	struct eh_record rec = {"Unit_L4K1", m.data, 0, 0};
	struct seq s;

	eh_make_header(&m, 3, 4);
	rec.len = m.len;
	seq_init(&s, text, sizeof(text) - 1);
	eh_print_json(&s, &rec, &from);
	text[s.len] = '\0';
	EXPECT_STR(text, "{\"n\":\"Unit:\",\"meta\":{\"time\":1234.567890123,\"cpu\":3,\"pid\":-1,"
			 "\"comm\":\"a\\\"b\",\"level\":4,\"keyword\":\"0x1\"}}");
	from.in_ns = false;
	seq_init(&s, text, sizeof(text) - 1);
	eh_print_json(&s, &rec, &from);
	text[s.len] = '\0';
	EXPECT(strstr(text, "\"time\":1234567890123,"));
}

static const struct ktap_case cases[] = {
    {"eventheader.bad_headers", bad_headers},
    {"eventheader.bad_extensions", bad_extensions},
    {"eventheader.bad_metadata", bad_metadata},
    {"eventheader.bad_payload", bad_payload},
    {"eventheader.too_much", too_much},
    {"eventheader.steps", steps},
    {"eventheader.empty_elements", empty_elements},
    {"eventheader.ends", ends},
    {"eventheader.extension_ends", extension_ends},
    {"eventheader.too_many_names", too_many_names},
    {"eventheader.cut", cut},
    {"eventheader.changed", changed},
    {"eventheader.no_room", no_room},
    {"eventheader.origin", origin},
    {NULL, NULL},
};
const struct ktap_suite suite_eventheader_damage = {cases};
