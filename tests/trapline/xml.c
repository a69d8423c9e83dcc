/* Text within markup: no byte of it gets out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/xml.h"

static void expect(const char *text, size_t n, const char *want)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	xml_put(out, text, n);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

#define EXPECT(text, want) expect(text, sizeof(text) - 1, want)

static void markup(void **state)
{
	(void)state;
	EXPECT("<script>", "&#60;script&#62;");
	EXPECT("a&b;", "a&#38;b;");
	EXPECT("'\"]]>", "&#39;&#34;]]&#62;");
	EXPECT("plain text 0-9", "plain text 0-9");
	EXPECT("", "");
}

static void controls(void **state)
{
	(void)state;
	EXPECT("\0a\033[1m\n\t\177", "&#9216;a&#9243;[1m\n&#9225;&#9249;");
}

/* What is UTF-8 stays; what is none, too long, cut off, or nothing that XML has, does not. */
static void utf8(void **state)
{
	(void)state;
	EXPECT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	EXPECT("\xc3", "&#65533;");
	EXPECT("\xc3x", "&#65533;x");
	EXPECT("\x80\xff", "&#65533;&#65533;");
	EXPECT("\xc0\xbc", "&#65533;&#65533;");				/* '<', two bytes long */
	EXPECT("\xe0\x80\xbc", "&#65533;&#65533;&#65533;");		/* three */
	EXPECT("\xed\xa0\x80", "&#65533;&#65533;&#65533;");		/* half of a pair */
	EXPECT("\xef\xbf\xbe", "&#65533;&#65533;&#65533;");		/* U+FFFE */
	EXPECT("\xf4\x90\x80\x80", "&#65533;&#65533;&#65533;&#65533;"); /* U+110000 */
	EXPECT("\xc2\x85", "&#65533;");
	EXPECT("\xe2\x82", "&#65533;&#65533;");
}

/* In a page the element around it ends at "</", whatever a string of JSON is. */
static void json(void **state)
{
	static const char text[] = "a\"b\\c</script>&'\n\xff\xc3\xa4";
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	json_put(out, text, sizeof(text) - 1);
	fclose(out);
	assert_string_equal(
	    got, "a\\u0022b\\u005cc\\u003c/script\\u003e\\u0026\\u0027\\u000a\\ufffd\xc3\xa4");
	free(got);
}

int xml_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(markup), cmocka_unit_test(controls),
	    cmocka_unit_test(utf8), cmocka_unit_test(json)};

	return unit_group("xml", tests, COUNT_OF(tests), NULL, NULL);
}
