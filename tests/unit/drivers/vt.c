/* The terminal of the screen (drivers/vt.c): how bytes change the grid. */
#include "drivers/vt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static struct vt v;

static void feed(const char *s)
{
	vt_write(&v, s, strlen(s));
}

/* A line without the blanks at its end. */
static const char *line(unsigned y)
{
	static char text[VT_COLUMNS_MAX + 1];
	unsigned n = v.columns;

	for (unsigned x = 0; x < n; x++)
		text[x] = v.cell[y * v.columns + x].c;
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	return text;
}

static void begin(const char *s)
{
	vt_init(&v, 10, 4);
	feed(s);
}

#define EXPECT_CURSOR(cx, cy)                                                                      \
	do {                                                                                       \
		EXPECT_EQ(v.x, cx);                                                                \
		EXPECT_EQ(v.y, cy);                                                                \
	} while (0)

static void writing(void)
{
	begin("ab\r\ncd\be\tx\a");
	EXPECT_STR(line(0), "ab");
	EXPECT_STR(line(1), "ce      x");
	EXPECT_CURSOR(9, 1);
	begin("\t\t\t");
	EXPECT_CURSOR(9, 0);		 /* not beyond the last column */
	begin("a\303\244\342\202\254b"); /* two bytes, three bytes: one place each */
	EXPECT_EQ(v.cell[1].c, VT_UNKNOWN);
	EXPECT_EQ(v.cell[2].c, VT_UNKNOWN);
	EXPECT_EQ(v.cell[3].c, 'b');
}

/* A full line goes on in the next only when more comes. */
static void wrapping(void)
{
	begin("123456789");
	EXPECT_CURSOR(9, 0);
	feed("0");
	EXPECT_CURSOR(9, 0);
	feed("\r\n");
	EXPECT_CURSOR(0, 1);
	feed("1234567890x");
	EXPECT_STR(line(2), "x");
	EXPECT_CURSOR(1, 2);
	begin("1234567890\b-");
	EXPECT_STR(line(0), "123456789-");
}

static void scrolling(void)
{
	begin("1\r\n2\r\n3\r\n4");
	EXPECT_STR(line(0), "1");
	feed("\r\n5");
	EXPECT_STR(line(0), "2");
	EXPECT_STR(line(3), "5");
	EXPECT_CURSOR(1, 3);
	feed("\r\n\n\n\n\n");
	for (unsigned y = 0; y < 4; y++)
		EXPECT_STR(line(y), "");
}

static void moving(void)
{
	begin("\033[3;4Hx\033[Ay\033[2Dz\033[9B\033[99C!");
	EXPECT_STR(line(2), "   x");
	EXPECT_STR(line(1), "   zy");
	EXPECT_STR(line(3), "         !");
	begin("abc\033[H1\033[5G5\033[4d4\0337\033[H2\0338x\033[s\033[H3\033[uy");
	EXPECT_STR(line(0), "3bc 5");
	EXPECT_STR(line(3), "     4xy");
	begin("\033[0;0H"); /* as 1;1 */
	EXPECT_CURSOR(0, 0);
	begin("\033[9999999999999H\033[A");
	EXPECT_CURSOR(0, 2);
}

static void erasing(void)
{
	begin("0123456789\r\nabcdefghij\033[1;5H\033[K");
	EXPECT_STR(line(0), "0123");
	feed("\033[2;5H\033[1K");
	EXPECT_STR(line(1), "     fghij");
	feed("\033[2K");
	EXPECT_STR(line(1), "");
	begin("a\r\nb\r\nc\033[2;1H\033[J");
	EXPECT_STR(line(0), "a");
	EXPECT_STR(line(1), "");
	EXPECT_STR(line(2), "");
	begin("a\r\nb\r\nc\033[2;1H\033[1J");
	EXPECT_STR(line(0), "");
	EXPECT_STR(line(1), "");
	EXPECT_STR(line(2), "c");
	feed("\033[2J");
	EXPECT_STR(line(2), "");
	EXPECT_CURSOR(0, 1);
	begin("0123456789\033[1;3H\033[2P");
	EXPECT_STR(line(0), "01456789");
	feed("\033[3@");
	EXPECT_STR(line(0), "01   45678");
	feed("\033[99P");
	EXPECT_STR(line(0), "01");
	begin("0123456789\033[1;3H\033[2X\033[1;9H\033[9X");
	EXPECT_STR(line(0), "01  4567");
}

static void colours(void)
{
	begin("a\033[31;1mb\033[44mc\033[7md\033[0me\033[92;100mf\033[39;49mg\033[mh");
	static const u8 expected[] = {0x07, 0x09, 0x49, 0x94, 0x07, 0x8a, 0x0f, 0x07};
	for (unsigned i = 0; i < sizeof(expected); i++)
		EXPECT_EQ(v.cell[i].attr, expected[i]);
}

/* What is not known says nothing, and the text after it is seen. */
static void unknown(void)
{
	begin("a\033[?25lb\033(Bc\033[5qd\033Ze\033[>f");
	EXPECT_STR(line(0), "abcde");
	begin("\033[1;2;3;4;5;6;7;8;9;10;11mx\033cy");
	EXPECT_STR(line(0), "y");
	EXPECT_CURSOR(1, 0);
}

/* Nothing of a sequence is left in the next: neither that it is private, nor its parameters. */
static void one_after_the_other(void)
{
	begin("\033[?25l\033[2;3Hx");
	EXPECT_CURSOR(3, 1);
	feed("\033[3;5H\033[Hy");
	EXPECT_CURSOR(1, 0);
	feed("\033[;4H\033[2Hz");
	EXPECT_CURSOR(1, 1);
	feed("\033[?1049\033[2B"); /* one that another breaks off */
	EXPECT_CURSOR(1, 3);
}

/* What the shell's editor sends for each key. */
static void editor(void)
{
	begin("\r# ls\033[K\r# ls -l\033[K\033[3D");
	EXPECT_STR(line(0), "# ls -l");
	EXPECT_CURSOR(4, 0);
	feed("\r# l\033[K");
	EXPECT_STR(line(0), "# l");
}

static void sizes(void)
{
	vt_init(&v, 0, 0);
	EXPECT_EQ(v.columns, 1);
	EXPECT_EQ(v.rows, 1);
	feed("ab\r\n\033[J\033[K\033[3P\033[2@c");
	vt_init(&v, VT_COLUMNS_MAX, VT_ROWS_MAX);
	EXPECT_EQ(v.columns, VT_COLUMNS_MAX);
	vt_init(&v, VT_COLUMNS_MAX + 1, VT_ROWS_MAX + 1);
	EXPECT_EQ(v.columns, VT_COLUMNS_MAX);
	EXPECT_EQ(v.rows, VT_ROWS_MAX);
	feed("\033[999;999Hx\n\n\033[1J\033[J");
}

/* Whatever comes: the cursor stays on the screen (and the sanitizers watch the rest). */
static void noise(void)
{
	static const char parts[] = "\033[;?0123456789ABCDGHJKPX@fdmsu78c(\r\n\b\txyz\377\303";
	u32 seed = 12345; /* each run the same */

	vt_init(&v, 7, 3);
	for (unsigned i = 0; i < 200000; i++) {
		seed = seed * 1103515245 + 12345;
		vt_write(&v, &parts[(seed >> 16) % (sizeof(parts) - 1)], 1);
		if (v.x >= v.columns || v.y >= v.rows) {
			ktap_fail(__FILE__, __LINE__, "byte %u: cursor at %u, %u", i, v.x, v.y);
			return;
		}
	}
}

static const struct ktap_case cases[] = {
    {"vt.writing", writing},
    {"vt.wrapping", wrapping},
    {"vt.scrolling", scrolling},
    {"vt.moving", moving},
    {"vt.erasing", erasing},
    {"vt.colours", colours},
    {"vt.unknown", unknown},
    {"vt.one_after_the_other", one_after_the_other},
    {"vt.editor", editor},
    {"vt.sizes", sizes},
    {"vt.noise", noise},
    {NULL, NULL},
};
extern const struct ktap_suite suite_vt;
const struct ktap_suite suite_vt = {cases};
