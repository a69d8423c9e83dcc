/* The EventHeader decoder: names, attributes, fields, arrays, structs, byte order. */
#include "kernel/lib/string.h"
#include "tests/unit/json_check.h"
#include "tests/unit/trace/user/eventheader/tools.h"

#define HEAD "Unit:Event [level=4 keyword=0x1]"
#define META "\"meta\":{\"level\":4,\"keyword\":\"0x1\"}}"
#define BAD  "\"meta\":{\"level\":4,\"keyword\":\"0x1\","

static struct eh_maker m;

static void names(void)
{
	static const struct {
		const char *name, *provider;
		u64 keyword;
		u8 level;
		const char *options;
	} good[] = {
	    {"MyProvider_L3K2a", "MyProvider", 0x2a, 3, ""},
	    {"OtherProvider_L5K1fGperf", "OtherProvider", 0x1f, 5, "Gperf"},
	    {"a_b_c_LffKffffffffffffffff", "a_b_c", ~0UL, 255, ""},
	    {"x_L1K0AB1Gab", "x", 0, 1, "AB1Gab"},
	};
	static const char *const bad[] = {"", "x", "_L1K0", "x_L1", "x_LK0", "x_L0K0", "x_L1K",
	    "x_l1K0", "x_L1k0", "x_L100K0", "x_L1K10000000000000000", "x_L1K0g", "x_L1K0-",
	    "x_LAK0", "x_L1KA", "x_L1K0A-b", "x_L1K0_", "xL1K0"};
	struct eh_name n;
	char longest[258];

	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT(eh_name_parse(good[i].name, &n));
		EXPECT_EQ(n.provider_len, strlen(good[i].provider));
		EXPECT(!memcmp(n.provider, good[i].provider, n.provider_len));
		EXPECT_EQ(n.level, good[i].level);
		EXPECT(n.keyword == good[i].keyword);
		EXPECT_STR(n.options, good[i].options);
	}
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		if (eh_name_parse(bad[i], &n))
			ktap_fail(__FILE__, __LINE__, "%s is taken", bad[i]);
	for (u32 len = 254; len <= 257; len++) { /* less than 256 characters */
		memset(longest, 'x', len);
		memcpy(longest + len - 5, "_L1K0", 6);
		EXPECT_EQ(eh_name_parse(longest, &n), len < 256);
	}
}

static void attributes(void)
{
	static const u8 id[] = {
	    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0xf0, 0xe1, 0xd2, [31] = 0xff};

	eh_make_event(&m, "Event");
	eh_make_payload(&m);
	EXPECT_STR(eh_text(&m), HEAD);
	EXPECT_STR(eh_json(&m), "{\"n\":\"Unit:Event\"," META);

	eh_make_header(&m, EVENTHEADER_FLAGS, 0xab);
	m.data[1] = 2;
	m.data[2] = 0xe8, m.data[3] = 3;
	m.data[4] = 0x34, m.data[5] = 0x12;
	m.data[6] = 1;
	eh_make16(&m, 32);
	eh_make16(&m, EVENTHEADER_KIND_ACTIVITY | EVENTHEADER_CHAIN);
	eh_make_bytes(&m, id, 32);
	eh_make16(&m, 3); /* somebody's own: not looked at */
	eh_make16(&m, 0x123 | EVENTHEADER_CHAIN);
	eh_make_bytes(&m, "abc", 3);
	eh_make16(&m, 10);
	eh_make16(&m, EVENTHEADER_KIND_METADATA);
	eh_make_bytes(&m, "E;attr=v;;", 10);
	m.data[m.len - 1] = '\0';
	EXPECT_STR(eh_text_of("P_LabK8Gg", m.data, m.len, 0),
	    "P:E;attr=v; [level=171 keyword=0x8 options=Gg id=1000 version=2 opcode=1 tag=0x1234 "
	    "activity=01020304-0506-0708-090a-0b0c0d0e0f10 "
	    "related=f0e1d200-0000-0000-0000-0000000000ff]");
	EXPECT_STR(eh_json_of("P_LabK8Gg", m.data, m.len, 0),
	    "{\"n\":\"P:E;attr=v;\",\"meta\":{\"level\":171,\"keyword\":\"0x8\",\"options\":\"Gg\","
	    "\"id\":1000,\"version\":2,\"opcode\":1,\"tag\":\"0x1234\","
	    "\"activity\":\"01020304-0506-0708-090a-0b0c0d0e0f10\","
	    "\"related\":\"f0e1d200-0000-0000-0000-0000000000ff\"}}");
}

static void fields(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "a", EH_VALUE32, 0);
	eh_make_field(&m, "b;unit=ms", EH_VALUE16, EH_SIGNED);
	eh_make_name(&m, "c");
	eh_make8(&m, EH_ZSTRING8 | EH_ENCODING_CHAIN);
	eh_make8(&m, EH_DEFAULT | EH_FORMAT_CHAIN);
	eh_make16(&m, 0xbeef);
	eh_make_payload(&m);
	eh_make32(&m, 7);
	eh_make16(&m, -2);
	eh_make_name(&m, "te\"xt");
	EXPECT_STR(eh_text(&m), HEAD " a=7 b;unit=ms=-2 c;tag=0xbeef=\"te\\\"xt\"");
	EXPECT_STR(eh_json(&m),
	    "{\"n\":\"Unit:Event\",\"a\":7,\"b;unit=ms\":-2,\"c;tag=0xbeef\":\"te\\\"xt\"," META);
}

/* What stands in a name is shown as what stands in a string is. */
static void odd_names(void)
{
	eh_make_event(&m, "Ev\nent\xff");
	eh_make_field(&m, "", EH_VALUE8, 0);
	eh_make_field(&m, "a\"b\x1b", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make16(&m, 0x201);
	EXPECT_STR(eh_text(&m), "Unit:Ev\\nent\xc3\xbf [level=4 keyword=0x1] =1 a\\\"b\\u001b=2");
	EXPECT_STR(
	    eh_json(&m), "{\"n\":\"Unit:Ev\\nent\xc3\xbf\",\"\":1,\"a\\\"b\\u001b\":2," META);
}

static void same_names(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "n", EH_VALUE8, 0);
	eh_make_field(&m, "five", EH_VALUE8, 0);
	eh_make_field(&m, "s", EH_STRUCT, 2);
	eh_make_field(&m, "five", EH_VALUE8, 0);
	eh_make_field(&m, "five", EH_VALUE8, 0);
	eh_make_field(&m, "five", EH_VALUE8, 0);
	eh_make_field(&m, "meta", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make_bytes(&m, "\1\2\3\4\5\6", 6);
	EXPECT_STR(eh_text(&m), HEAD " n=1 five=2 s={five=3 five=4} five=5 meta=6");
	EXPECT_STR(eh_json(&m), "{\"n\":\"Unit:Event\",\"n#2\":1,\"five\":2,\"s\":{\"five\":3,"
				"\"five#2\":4},\"five#2\":5,\"meta#2\":6," META);
}

/* Names that look alike, or like what is put after a name. */
static void alike_names(void)
{
	static const char *const names[] = {
	    "\xfe", "\xc3\xbe", "a", "a#2", "a", "a;tag=0x1", "a;tag=0x1", "a#2"};
	const char *json;

	eh_make_event(&m, "Event");
	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		eh_make_field(&m, names[i], EH_VALUE8, 0);
	eh_make_name(&m, "a");
	eh_make8(&m, EH_VALUE8 | EH_ENCODING_CHAIN);
	eh_make8(&m, EH_FORMAT_CHAIN);
	eh_make16(&m, 1);
	eh_make_payload(&m);
	eh_make_bytes(&m, "\1\2\3\4\5\6\7\x8\x9", 9);
	json = eh_json(&m);
	EXPECT_STR(json,
	    "{\"n\":\"Unit:Event\",\"\xc3\xbe\":1,\"\xc3\xbe#2\":2,\"a\":3,\"a#2#1\":4,"
	    "\"a#2\":5,\"a;tag=0x1#1\":6,\"a;tag=0x1#2\":7,\"a#2#2\":8,\"a#3;tag=0x1\":9," META);
	EXPECT(json_check(json, strlen(json)));
}

static void arrays(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "fixed", EH_VALUE16 | EH_FIXED_ARRAY, EH_HEX);
	eh_make16(&m, 2);
	eh_make_field(&m, "counted", EH_VALUE8 | EH_COUNTED_ARRAY, 0);
	eh_make_field(&m, "none", EH_VALUE64 | EH_COUNTED_ARRAY, 0);
	eh_make_field(&m, "strings", EH_STRING8 | EH_COUNTED_ARRAY, 0);
	eh_make_name(&m, "tagged");
	eh_make8(&m, EH_ZSTRING8 | EH_FIXED_ARRAY | EH_ENCODING_CHAIN);
	eh_make8(&m, EH_FORMAT_CHAIN);
	eh_make16(&m, 1);
	eh_make16(&m, 1);
	eh_make_field(&m, "last", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make32(&m, 0xbeef0001);
	eh_make16(&m, 3);
	eh_make_bytes(&m, "\1\2\3", 3);
	eh_make16(&m, 0);
	eh_make16(&m, 2);
	eh_make16(&m, 1);
	eh_make8(&m, 'x');
	eh_make16(&m, 0);
	eh_make_name(&m, "z");
	eh_make8(&m, 9);
	EXPECT_STR(eh_text(&m), HEAD " fixed={0x1,0xbeef} counted={1,2,3} none={} "
				     "strings={\"x\",\"\"} tagged;tag=0x1={\"z\"} last=9");
	EXPECT_STR(eh_json(&m),
	    "{\"n\":\"Unit:Event\",\"fixed\":[\"0x1\",\"0xbeef\"],\"counted\":[1,2,3],"
	    "\"none\":[],\"strings\":[\"x\",\"\"],\"tagged;tag=0x1\":[\"z\"],\"last\":9," META);
}

static void structs(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "outer", EH_STRUCT, 3);
	eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_field(&m, "inner", EH_STRUCT | EH_COUNTED_ARRAY, 2);
	eh_make_field(&m, "x", EH_VALUE8, 0);
	eh_make_field(&m, "y", EH_ZSTRING8, 0);
	eh_make_field(&m, "b", EH_VALUE8, 0);
	eh_make_field(&m, "none", EH_STRUCT | EH_COUNTED_ARRAY, 1);
	eh_make_field(&m, "deep", EH_STRUCT, 1);
	eh_make_field(&m, "p", EH_VALUE8, 0);
	eh_make_field(&m, "last", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make8(&m, 1);
	eh_make16(&m, 2);
	eh_make_bytes(&m, "\2q", 3);
	eh_make_bytes(&m, "\3r", 3);
	eh_make8(&m, 4);
	eh_make16(&m, 0);
	eh_make8(&m, 5);
	EXPECT_STR(eh_text(&m),
	    HEAD " outer={a=1 inner={{x=2 y=\"q\"},{x=3 y=\"r\"}} b=4} none={} last=5");
	EXPECT_STR(eh_json(&m),
	    "{\"n\":\"Unit:Event\",\"outer\":{\"a\":1,\"inner\":[{\"x\":2,"
	    "\"y\":\"q\"},{\"x\":3,\"y\":\"r\"}],\"b\":4},\"none\":[],\"last\":5," META);
}

/*
 * Structs that want more fields than the metadata has: one, one within it, and each element of an
 * array.
 */
static void open_structs(void)
{
	eh_make_event(&m, "Event");
	eh_make_field(&m, "a", EH_VALUE8, 0);
	eh_make_field(&m, "outer", EH_STRUCT, 127);
	eh_make_field(&m, "b", EH_VALUE8, 0);
	eh_make_field(&m, "all", EH_STRUCT | EH_COUNTED_ARRAY, 127);
	eh_make_field(&m, "c", EH_VALUE8, 0);
	eh_make_field(&m, "none", EH_STRUCT | EH_COUNTED_ARRAY, 127);
	eh_make_field(&m, "d", EH_VALUE8, 0);
	eh_make_payload(&m);
	eh_make_bytes(&m, "\1\2\2\0\3\0\0\4\0\0", 10);
	EXPECT_STR(eh_text(&m), HEAD " a=1 outer={b=2 all={{c=3 none={}},{c=4 none={}}}}");
	EXPECT_STR(eh_json(&m),
	    "{\"n\":\"Unit:Event\",\"a\":1,\"outer\":{\"b\":2,\"all\":[{\"c\":3,"
	    "\"none\":[]},{\"c\":4,\"none\":[]}]}," META);
	eh_make_event(&m, "Event");
	eh_make_field(&m, "s", EH_STRUCT, 1);
	eh_make_payload(&m);
	EXPECT_STR(eh_text(&m), HEAD " s={}");
	EXPECT_STR(eh_json(&m), "{\"n\":\"Unit:Event\",\"s\":{}," META);
}

/* Structs within structs, up to the limit and one beyond. */
static void depth(void)
{
	for (u32 n = EH_DEPTH_MAX - 1; n <= EH_DEPTH_MAX + 1; n++) {
		eh_make_event(&m, "Event");
		for (u32 i = 0; i < n; i++)
			eh_make_field(&m, "s", EH_STRUCT, 1);
		eh_make_field(&m, "v", EH_VALUE8, 0);
		eh_make_payload(&m);
		eh_make8(&m, 6);
		const char *text = eh_text(&m);
		EXPECT_EQ(strstr(text, "{v=6}") != NULL, n <= EH_DEPTH_MAX);
		EXPECT_EQ(strstr(text, "<damaged: structs within structs, too deep") != NULL,
		    n > EH_DEPTH_MAX);
		text = eh_json(&m);
		EXPECT(json_check(text, strlen(text)));
	}
}

static void byte_order(void)
{
	eh_make_header(&m, EVENTHEADER_EXTENSION, 4);
	m.data[3] = 5;
	m.meta = m.len;
	eh_make16(&m, 0);
	eh_make16(&m, EVENTHEADER_KIND_METADATA);
	eh_make_name(&m, "Event");
	eh_make_field(&m, "a", EH_VALUE32 | EH_COUNTED_ARRAY, 0);
	eh_make_field(&m, "s", EH_STRING16, 0);
	eh_make_field(&m, "port", EH_VALUE16, EH_PORT);
	eh_make_field(&m, "z", EH_ZSTRING8, 0);
	eh_make_field(&m, "w", EH_STRING32, 0);
	eh_make_field(&m, "c", EH_VALUE16, EH_STRING_UTF);
	eh_make_field(&m, "f", EH_VALUE64, EH_FLOAT);
	eh_make_payload(&m);
	eh_make16(&m, 1);
	eh_make32(&m, 0x01020304);
	eh_make16(&m, 1);
	eh_make16(&m, 0x20ac);
	eh_make16(&m, 80);
	eh_make_name(&m, "hi");
	eh_make16(&m, 1);
	eh_make32(&m, 'x');
	eh_make16(&m, 'y');
	eh_make64(&m, 0x3ff8000000000000);
	EXPECT_STR(eh_text(&m), "Unit:Event [level=4 keyword=0x1 id=5 flags=0x4] a={16909060} "
				"s=\"\xe2\x82\xac\" port=80 z=\"hi\" w=\"x\" c='y' f=1.5");
	eh_make_header(&m, EVENTHEADER_LITTLE_ENDIAN, 4); /* of 32 bits, without metadata */
	eh_make_bytes(&m, "\x12\x34", 2);
	EXPECT_STR(eh_text(&m), "Unit: [level=4 keyword=0x1 flags=0x2] payload=12:34");
	EXPECT_STR(
	    eh_json(&m), "{\"n\":\"Unit:\"," BAD "\"flags\":\"0x2\",\"payload\":\"12 34\"}}");
}

static const struct ktap_case cases[] = {
    {"eventheader.names", names},
    {"eventheader.attributes", attributes},
    {"eventheader.fields", fields},
    {"eventheader.odd_names", odd_names},
    {"eventheader.same_names", same_names},
    {"eventheader.alike_names", alike_names},
    {"eventheader.arrays", arrays},
    {"eventheader.structs", structs},
    {"eventheader.open_structs", open_structs},
    {"eventheader.depth", depth},
    {"eventheader.byte_order", byte_order},
    {NULL, NULL},
};
const struct ktap_suite suite_eventheader = {cases};
