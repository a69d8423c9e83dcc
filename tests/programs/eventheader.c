/*
 * user/eventheader.h as a program uses it: names and limits, every kind of field as `trace` shows
 * it, what happens while nobody listens, and what does not fit.
 */
#include "tests/programs/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "user/eventheader.h"

#define TRACING "/sys/kernel/tracing/"
#define EVENTS	TRACING "events/user_events/"

static struct eh_provider provider = EH_PROVIDER("EhTest", "Gtest");
static struct eh_tracepoint tp = EH_TRACEPOINT(&provider, EVENTHEADER_WARNING, 0x2a);
#define NAME "EhTest_L3K2aGtest"
#define HEAD " [level=3 keyword=0x2a options=Gtest"

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* The text of the only event in `trace`, which is empty then; "" if there is none. */
static const char *take(void)
{
	static char text[32768];
	size_t n = 0;
	ssize_t got;
	int fd = open(TRACING "trace", O_RDONLY);

	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = '\0';
	put(TRACING "trace", "");
	char *at = strstr(text, ": " NAME ": "), *end = at ? strchr(at, '\n') : NULL;
	if (!end)
		return "";
	*end = '\0';
	return at + strlen(": " NAME ": ");
}

static void expect(const char *file, int line, const char *want)
{
	const char *got = take();

	if (!strcmp(got, want))
		return;
	printf("# %s:%d: %s\n#   instead of %s\n", file, line, got, want);
	check_failures++;
}
#define EXPECT(want) expect(__FILE__, __LINE__, "EhTest:" want)

/* ---- names ---- */

static int name_of(
    const char *name, const char *options, unsigned level, uint64_t keyword, char *out)
{
	struct eh_provider p = EH_PROVIDER(name, options);
	struct eh_tracepoint t = EH_TRACEPOINT(&p, level, keyword);

	return eh_tracepoint_name(&t, out);
}

/* As the text writes a name down. */
static void check_listed(
    const char *providerName, unsigned eventLevel, unsigned long eventKeyword, const char *options)
{
	char out[EVENTHEADER_NAME_MAX], listed[EVENTHEADER_NAME_MAX];

	CHECK_EQ(name_of(providerName, options, eventLevel, eventKeyword, out), 0);
	snprintf(listed, sizeof(listed), "%s_L%xK%lx%s", providerName, eventLevel, eventKeyword,
	    options);
	CHECK(!strcmp(out, listed));
}

static void names(void)
{
	static const char *const bad_options[] = {
	    "g", "1", "G_", "Gx-", "GxAx", "GxGx", "GxyGx", "G ", "Gx:"};
	char out[EVENTHEADER_NAME_MAX], longest[300];

	check_listed("MyProvider", 3, 0x2a, "");
	check_listed("OtherProvider", 5, 0x1f, "Gperf");
	check_listed("MyCompany_MyOrg_MyComponent", 255, -1UL, "AoptionBoption");
	CHECK_EQ(name_of("MyProvider", "", 3, 0x2a, out), 0);
	CHECK(!strcmp(out, "MyProvider_L3K2a"));
	CHECK_EQ(name_of("OtherProvider", "Gperf", 5, 0x1f, out), 0);
	CHECK(!strcmp(out, "OtherProvider_L5K1fGperf"));
	CHECK_EQ(name_of("P", "AaBGx1GyZ", 255, UINT64_MAX, out), 0);
	CHECK(!strcmp(out, "P_LffKffffffffffffffffAaBGx1GyZ"));
	CHECK_EQ(name_of("", "", 3, 1, out), EINVAL);
	CHECK_EQ(name_of("a b", "", 3, 1, out), EINVAL);
	CHECK_EQ(name_of("a:b", "", 3, 1, out), EINVAL);
	CHECK_EQ(name_of("P", "", 0, 1, out), EINVAL);
	for (unsigned i = 0; i < sizeof(bad_options) / sizeof(bad_options[0]); i++)
		CHECK_EQ(name_of("P", bad_options[i], 1, 1, out), EINVAL);
	for (size_t len = 254; len <= 257; len++) { /* less than 256 characters with "_L3K1" */
		memset(longest, 'x', sizeof(longest));
		longest[len - 5] = '\0';
		CHECK_EQ(name_of(longest, "", 3, 1, out), len < 256 ? 0 : ENAMETOOLONG);
	}
}

/* The longest there is, registered. */
static void longest_name(void)
{
	char name[252];

	memset(name, 'x', sizeof(name));
	name[250] = '\0';
	struct eh_provider p = EH_PROVIDER(name, "");
	struct eh_tracepoint t = EH_TRACEPOINT(&p, 3, 1);
	CHECK_EQ(eh_register(&t), 0);
	eh_unregister(&t);
	CHECK_EQ(p.fd, -1);
}

/* ---- fields ---- */

static void numbers(void)
{
	CHECK_EQ(EH_WRITE(&tp, "U", EHF_U8("a", 255), EHF_U16("b", 65535), EHF_U32("c", 4294967295),
		     EHF_U64("d", UINT64_MAX)),
	    0);
	EXPECT("U" HEAD "] a=255 b=65535 c=4294967295 d=18446744073709551615");
	EH_WRITE(&tp, "S", EHF_S8("a", -128), EHF_S16("b", -32768), EHF_S32("c", INT32_MIN),
	    EHF_S64("d", INT64_MIN));
	EXPECT("S" HEAD "] a=-128 b=-32768 c=-2147483648 d=-9223372036854775808");
	EH_WRITE(&tp, "X", EHF_X8("a", 0xc8), EHF_X16("b", 0xbeef), EHF_X32("c", 1),
	    EHF_X64("d", UINT64_MAX), EHF_POINTER("p", (void *)0x1234));
	EXPECT("X" HEAD "] a=0xc8 b=0xbeef c=0x1 d=0xffffffffffffffff p=0x1234");
	EH_WRITE(&tp, "F", EHF_BOOL("t", true), EHF_BOOL("f", false), EHF_F32("x", 3.14f),
	    EHF_F64("y", -1.0 / 3), EHF_F64("z", 1e300));
	EXPECT("F" HEAD "] t=true f=false x=3.14 y=-0.3333333333333333 z=1e+300");
	EH_WRITE(&tp, "C", EHF_CHAR("a", 'A'), EHF_CHAR16("b", 0x20ac), EHF_CHAR32("c", 0x1f600));
	EXPECT("C" HEAD "] a='A' b='\xe2\x82\xac' c='\xf0\x9f\x98\x80'");
}

static void meanings(void)
{
	static const uint8_t id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	static const uint8_t address[16] = {[15] = 1};

	EH_WRITE(&tp, "M", EHF_PID("pid", 42), EHF_ERRNO("err", ENOENT), EHF_TIME32("t", 0),
	    EHF_TIME64("u", 2000000000), EHF_PORT("port", 0x5000), EHF_IPV4("ip", 0x0100007f),
	    EHF_IPV6("ip6", address), EHF_UUID("id", id), EHF_BYTES16("raw", EH_BYTES, id));
	EXPECT(
	    "M" HEAD "] pid=42 err=ENOENT(2) t=1970-01-01T00:00:00Z u=2033-05-18T03:33:20Z port=80 "
	    "ip=127.0.0.1 ip6=::1 id=01020304-0506-0708-090a-0b0c0d0e0f10 "
	    "raw=01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f:10");
}

static void strings(void)
{
	static const uint16_t wide[] = {'h', 'i', 0xd83d, 0xde00, 0};
	static const uint32_t wider[] = {'h', 'i', 0x1f600, 0};

	EH_WRITE(&tp, "Z", EHF_STR("a", "hi"), EHF_STR16("b", wide), EHF_STR32("c", wider),
	    EHF_STR("n", NULL), EHF_STR32("m", NULL), EHF_STR_AS("l", EH_STRING_LATIN, "\xe9"));
	EXPECT(
	    "Z" HEAD "] a=\"hi\" b=\"hi\xf0\x9f\x98\x80\" c=\"hi\xf0\x9f\x98\x80\" n=\"\" m=\"\" "
	    "l=\"\xc3\xa9\"");
	EH_WRITE(&tp, "T", EHF_TEXT("a", "hi there", 2), EHF_TEXT16("b", wide, 1),
	    EHF_TEXT32("c", wider, 2), EHF_TEXT("n", "", 0), EHF_BINARY("x", "\1\2\xff", 3),
	    EHF_TEXT16_AS("y", EH_BYTES, wide, 2), EHF_STR16_AS("j", EH_STRING_JSON, wide),
	    EHF_STR32_AS("k", EH_BYTES, wider), EHF_TEXT32_AS("e", EH_STRING_XML, wider, 1));
	EXPECT("T" HEAD "] a=\"hi\" b=\"h\" c=\"hi\" n=\"\" x=01:02:ff y=68:00:69:00 "
	       "j=\"hi\xf0\x9f\x98\x80\" k=68:00:00:00:69:00:00:00:00:f6:01:00 e=\"h\"");
}

static void values_in_bytes(void)
{
	static const uint8_t address[16] = {0x20, 1, [15] = 1};
	static const uint32_t n = 0x1234;

	EH_WRITE(&tp, "V", EHF_BINARY_AS("none", EH_SIGNED, NULL, 0),
	    EHF_BINARY_AS("n", EH_UNSIGNED, &n, sizeof(n)), EHF_BINARY_AS("x", EH_HEX, &n, 2),
	    EHF_BINARY_AS("odd", EH_HEX, &n, 3), EHF_BINARY_AS("ip", EH_IP_ADDRESS, address, 4),
	    EHF_BINARY_AS("ip6", EH_IP_ADDRESS, address, 16), EHF_BINARY("b", address, 2),
	    EHF_PACKED("all", EH_BINARY8, EH_SIGNED, 2, "\1\0\xff\0", 5), EHF_BOOL32("t", 1),
	    EHF_BOOL32("m", -1));
	EXPECT("V" HEAD "] none=null n=4660 x=0x1234 odd=34:12:00 ip=32.1.0.0 ip6=2001::1 b=20:01 "
	       "all={-1,null} t=true m=-1");
}

static void arrays(void)
{
	static const uint8_t bytes[] = {1, 2, 3};
	static const double reals[] = {0.5, 2};
	static const uint8_t ids[2][16] = {{1}, {2}};

	EH_WRITE(&tp, "A", EHF_FIXED("f", EH_VALUE8, EH_UNSIGNED, bytes, 3),
	    EHF_ARRAY("d", EH_VALUE64, EH_FLOAT, reals, 2),
	    EHF_ARRAY("none", EH_VALUE32, EH_UNSIGNED, NULL, 0),
	    EHF_ARRAY("id", EH_VALUE128, EH_UUID, ids, 2),
	    EHF_PACKED("z", EH_ZSTRING8, EH_STRING_UTF, 2, "ab\0c", 5),
	    EHF_TAG(0xbeef, EHF_FIXED("t", EH_VALUE8, EH_HEX, bytes, 1)));
	EXPECT("A" HEAD "] f={1,2,3} d={0.5,2} none={} id={01000000-0000-0000-0000-000000000000,"
	       "02000000-0000-0000-0000-000000000000} z={\"ab\",\"c\"} t;tag=0xbeef={0x1}");
}

static void structs(void)
{
	static const struct __attribute__((packed)) {
		uint8_t a;
		char z[2];
	} two[] = {{1, "x"}, {2, "y"}};

	EH_WRITE(&tp, "N", EHF_STRUCT("outer", 3), EHF_U8("a", 1), EHF_STRUCT("inner", 1),
	    EHF_TAG(7, EHF_U8("b;unit=ms", 2)), EHF_U8("c", 3), EHF_U8("d", 4),
	    EHF_STRUCTS("s", 2, 2, two, sizeof(two)), EHF_MEMBER("a", EH_VALUE8, EH_UNSIGNED),
	    EHF_MEMBER("z", EH_ZSTRING8, EH_STRING_UTF), EHF_U8("last", 5));
	EXPECT("N" HEAD
	       "] outer={a=1 inner={b;unit=ms;tag=0x7=2} c=3} d=4 s={{a=1 z=\"x\"},{a=2 z=\"y\"}} "
	       "last=5");
}

static void attributes(void)
{
	static const uint8_t a[16] = {1}, b[16] = {2};

	EH_WRITE(&tp, "None");
	EXPECT("None" HEAD "]");
	EH_WRITE_AS(&tp, "All",
	    EH_AS(.id = 7, .version = 2, .opcode = EVENTHEADER_ACTIVITY_START, .tag = 0x12,
		.activity = a, .related = b),
	    EHF_U8("x", 1));
	EXPECT("All" HEAD
	       " id=7 version=2 opcode=1 tag=0x12 activity=01000000-0000-0000-0000-000000000000 "
	       "related=02000000-0000-0000-0000-000000000000] x=1");
	EH_WRITE_AS(&tp, "One", EH_AS(.activity = a));
	EXPECT("One" HEAD " activity=01000000-0000-0000-0000-000000000000]");
}

/* ---- the rest ---- */

static unsigned evaluations;

static uint32_t evaluate(void)
{
	return ++evaluations;
}

static void nobody(void)
{
	put(EVENTS NAME "/enable", "0");
	CHECK(!eh_enabled(&tp));
	CHECK_EQ(EH_WRITE(&tp, "E", EHF_U32("n", evaluate())), 0);
	CHECK_EQ(evaluations, 0);
	put(EVENTS NAME "/enable", "1");
	CHECK(eh_enabled(&tp));
	CHECK_EQ(EH_WRITE(&tp, "E", EHF_U32("n", evaluate())), 0);
	CHECK_EQ(evaluations, 1);
	EXPECT("E" HEAD "] n=1");
	errno = ERANGE; /* not to be touched */
	EH_WRITE(&tp, "E", EHF_U32("n", 2));
	CHECK_EQ(errno, ERANGE);
	take();
}

/* What a record cannot hold: an event that is refused leaves nothing. */
static void too_big(void)
{
	static char text[70000];

	memset(text, 'x', sizeof(text) - 1);
	CHECK_EQ(EH_WRITE(&tp, "B", EHF_STR("t", text)), E2BIG);
	CHECK_EQ(EH_WRITE(&tp, "B", EHF_TEXT("t", text, 65536)), E2BIG);
	CHECK_EQ(EH_WRITE(&tp, "B", EHF_TEXT("t", text, SIZE_MAX)), E2BIG);
	CHECK(!*take());
	CHECK_EQ(EH_WRITE(&tp, "B", EHF_TEXT("t", text, 3900)), 0);
	CHECK_EQ(strspn(take() + strlen("EhTest:B" HEAD "] t=\""), "x"), 3900);
}

static void again(void)
{
	struct eh_tracepoint other = EH_TRACEPOINT(&provider, 1, 0);

	CHECK_EQ(eh_register(&tp), EALREADY);
	CHECK_EQ(eh_register(&other), 0);
	CHECK(!eh_enabled(&other));
	eh_unregister(&other);
	eh_unregister(&other); /* nothing to do */
	CHECK(provider.fd >= 0);
	CHECK_EQ(EH_WRITE(&tp, "E", EHF_U8("n", 3)), 0);
	EXPECT("E" HEAD "] n=3");
	eh_unregister(&tp);
	CHECK_EQ(provider.fd, -1);
	CHECK(!eh_enabled(&tp));
	CHECK_EQ(EH_WRITE(&tp, "E", EHF_U8("n", 4)), 0);
	CHECK(!*take());
	CHECK_EQ(eh_register(&tp), 0); /* it is still switched on */
	CHECK(eh_enabled(&tp));
	EH_WRITE(&tp, "E", EHF_U8("n", 5));
	EXPECT("E" HEAD "] n=5");
}

int main(void)
{
	names();
	longest_name();
	CHECK_EQ(eh_register(&tp), 0);
	CHECK(!eh_enabled(&tp));
	put(EVENTS NAME "/enable", "1");
	CHECK(eh_enabled(&tp));
	put(TRACING "trace", "");
	numbers();
	meanings();
	strings();
	values_in_bytes();
	arrays();
	structs();
	attributes();
	nobody();
	too_big();
	again();
	put(EVENTS NAME "/enable", "0");
	eh_unregister(&tp);
	return check_failures != 0;
}
