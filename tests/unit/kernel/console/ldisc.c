/*
 * The line discipline of terminals: kernel/console/ldisc.c. What is typed becomes lines, echo and
 * signals; what is written, bytes.
 */
#include "kernel/console/ldisc.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/signal_number.h"

static struct ldisc line;
static u16 queue[LDISC_QUEUE];
static char screen[256];
static size_t shown;

static void echo(struct ldisc *l, const char *s, size_t n)
{
	(void)l;
	for (size_t i = 0; i < n && shown < sizeof(screen) - 1; i++)
		screen[shown++] = s[i];
	screen[shown] = '\0';
}

static void begin(void)
{
	ldisc_init(&line, queue, echo);
	shown = 0;
	screen[0] = '\0';
}

enum which { IFLAG, OFLAG, LFLAG };

static void change(enum which which, u32 set, u32 clear)
{
	struct ldisc_mode mode = line.mode;
	u32 *flags[] = {&mode.iflag, &mode.oflag, &mode.lflag};

	*flags[which] = (*flags[which] | set) & ~clear;
	ldisc_set_mode(&line, &mode, false);
}

/* Types a text; the last signal it asked for. */
static int type(const char *s)
{
	int sig = 0, one;

	for (; *s; s++) {
		one = ldisc_input(&line, *s);
		sig = one ? one : sig;
	}
	return sig;
}

static const char *reads(size_t n)
{
	static char text[256];

	text[ldisc_take(&line, text, n)] = '\0';
	return text;
}

static void lines(void)
{
	begin();
	EXPECT_EQ(type("ab"), 0);
	EXPECT_EQ(ldisc_available(&line), 0);
	EXPECT(!line.readable);
	type("c\rnext\r");
	EXPECT(line.readable);
	EXPECT_STR(screen, "abc\r\nnext\r\n");
	EXPECT_STR(reads(2), "ab");
	EXPECT_STR(reads(100), "c\n");
	EXPECT_STR(reads(100), "next\n");
	EXPECT_EQ(ldisc_available(&line), 0);
}

static void end_of_file(void)
{
	begin();
	type("\004");
	EXPECT_EQ(ldisc_available(&line), 1);
	EXPECT_STR(reads(10), "");
	EXPECT_EQ(ldisc_available(&line), 0);
	type("ab\004");
	EXPECT_STR(reads(10), "ab");
	EXPECT_EQ(ldisc_available(&line), 0);
	/* A buffer that is just full does not leave an end of file of its own. */
	type("ab\004cd\r");
	EXPECT_STR(reads(2), "ab");
	EXPECT_STR(reads(10), "cd\n");
	type("a\r\004");
	EXPECT_STR(reads(2), "a\n");
	EXPECT_STR(reads(2), "");
}

static void erases(void)
{
	begin();
	type("abx\177\025");
	EXPECT_STR(screen, "abx\b \b\b \b\b \b");
	type("\177\025\027"); /* nothing is left to erase */
	EXPECT_STR(screen, "abx\b \b\b \b\b \b");
	type("one two  \027t\r");
	EXPECT_STR(reads(100), "one t\n");
	begin();
	type("a\001b\177\177c\r"); /* ^A takes two columns */
	EXPECT_STR(screen, "a^Ab\b \b\b \b\b \bc\r\n");
	EXPECT_STR(reads(100), "ac\n");
}

static void erases_tabs(void)
{
	begin();
	type("ab\t\177c\r");
	EXPECT_STR(screen, "ab\t\b\b\b\b\b\bc\r\n");
	EXPECT_STR(reads(100), "abc\n");
	begin();
	char out[16];
	size_t len;
	ldisc_output(&line, "p> ", 3, out, sizeof(out), &len); /* a prompt stands before the line */
	type("\t\177");
	EXPECT_STR(screen, "\t\b\b\b\b\b");
}

static void erases_utf8(void)
{
	begin();
	change(IFLAG, TTY_IUTF8, 0);
	type("a\xc3\xa9\177b\r");
	EXPECT_STR(screen, "a\xc3\xa9\b \bb\r\n");
	EXPECT_STR(reads(100), "ab\n");
	begin();
	type("\xc3\xa9\177\r"); /* without IUTF8 one byte goes */
	EXPECT_STR(reads(100), "\xc3\n");
}

static void signals(void)
{
	begin();
	EXPECT_EQ(type("abc\003"), SIGINT);
	EXPECT_STR(screen, "abc^C");
	EXPECT_EQ(type("\034"), SIGQUIT);
	EXPECT_EQ(type("\032"), SIGTSTP);
	type("d\r");
	EXPECT_STR(reads(100), "d\n"); /* what was typed before was discarded */
	change(LFLAG, TTY_NOFLSH, 0);
	EXPECT_EQ(type("ab\003c\r"), SIGINT);
	EXPECT_STR(reads(100), "abc\n");
	change(LFLAG, 0, TTY_ISIG);
	EXPECT_EQ(type("\003\r"), 0);
	EXPECT_STR(reads(100), "\003\n");
}

static void disabled_characters(void)
{
	begin();
	struct ldisc_mode mode = line.mode;
	mode.cc[TTY_VINTR] = 0;
	ldisc_set_mode(&line, &mode, false);
	EXPECT_EQ(type("\003"), 0);
	EXPECT_EQ(
	    ldisc_input(&line, 0), 0); /* a NUL byte is no control character that is switched off */
	type("\r");
	EXPECT_EQ(ldisc_available(&line), 3);
}

static void quoted(void)
{
	begin();
	EXPECT_EQ(type("a\026\003\026\177\r"), 0);
	EXPECT_STR(screen, "a^\b^C^\b^?\r\n");
	EXPECT_STR(reads(100), "a\003\177\n");
	begin();
	type("a\026\nb\r"); /* a quoted newline ends no line */
	EXPECT_EQ(ldisc_available(&line), 4);
	EXPECT_STR(reads(100), "a\nb\n");
	begin();
	type("\026"); /* in raw mode, too, the next byte is the quoted one, and is there at once */
	change(LFLAG, 0, TTY_ICANON);
	EXPECT_EQ(type("\003"), 0);
	EXPECT_EQ(ldisc_available(&line), 1);
	EXPECT_STR(reads(100), "\003");
}

static void reprints(void)
{
	begin();
	type("ab\022c\r");
	EXPECT_STR(screen, "ab^R\r\nabc\r\n");
	EXPECT_STR(reads(100), "abc\n");
}

static void echo_modes(void)
{
	begin();
	change(LFLAG, 0, TTY_ECHO);
	type("secret\177\r");
	EXPECT_STR(screen, "");
	EXPECT_STR(reads(100), "secre\n");
	change(LFLAG, TTY_ECHONL, 0);
	type("x\r");
	EXPECT_STR(screen, "\r\n");
	begin();
	change(LFLAG, 0, TTY_ECHOE | TTY_ECHOKE);
	type("ab\177c\025d\r");
	EXPECT_STR(screen, "ab^?c^U\r\nd\r\n");
	EXPECT_STR(reads(100), "d\n");
	begin();
	change(LFLAG, 0, TTY_ECHOCTL);
	type("\001");
	EXPECT_STR(screen, "\001");
}

static void maps_input(void)
{
	begin();
	change(IFLAG, TTY_IGNCR, 0);
	type("a\rb\n");
	EXPECT_STR(reads(100), "ab\n");
	begin();
	change(IFLAG, TTY_INLCR, TTY_ICRNL);
	change(LFLAG, 0, TTY_ICANON);
	type("\r\n");
	EXPECT_STR(reads(100), "\r\r");
	begin();
	change(IFLAG, TTY_ISTRIP, 0);
	type("\xe1\r");
	EXPECT_STR(reads(100), "a\n");
}

static void other_ends(void)
{
	begin();
	struct ldisc_mode mode = line.mode;
	mode.cc[TTY_VEOL] = ';';
	mode.cc[TTY_VEOL2] = '.';
	ldisc_set_mode(&line, &mode, false);
	type("a;b.c\r");
	EXPECT_STR(reads(100), "a;");
	EXPECT_STR(reads(100), "b.");
	change(LFLAG, 0, TTY_IEXTEN);
	type("d.e\r");
	EXPECT_STR(reads(100), "c\n");
	EXPECT_STR(reads(100), "d.e\n");
}

static void raw(void)
{
	begin();
	change(LFLAG, 0, TTY_ICANON);
	type("a\004\177");
	EXPECT_EQ(ldisc_available(&line), 3);
	EXPECT_STR(reads(100), "a\004\177");
	/* A line begun in canonical mode can be read when the mode is left. */
	begin();
	type("begun");
	change(LFLAG, 0, TTY_ICANON);
	EXPECT_STR(reads(100), "begun");
}

static void flow(void)
{
	begin();
	type("\023");
	EXPECT(line.stopped);
	type("a");
	EXPECT(line.stopped);
	type("\021");
	EXPECT(!line.stopped);
	change(IFLAG, TTY_IXANY, 0);
	type("\023b");
	EXPECT(!line.stopped);
	type("\023\003"); /* a signal starts output, too */
	EXPECT(!line.stopped);
	type("\023");
	change(IFLAG, 0, TTY_IXON);
	EXPECT(!line.stopped);
	type("\023\r");
	EXPECT_STR(reads(100), "\023\n");
}

/* Output that was held goes on at a signal's character, though no other would start it. */
static void signal_starts_output(void)
{
	static const struct {
		const char *typed;
		int sig;
	} rows[] = {{"\003", SIGINT}, {"\034", SIGQUIT}, {"\032", SIGTSTP}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		type("\023a");
		EXPECT(line.stopped);
		EXPECT_EQ(type(rows[i].typed), rows[i].sig);
		EXPECT(!line.stopped);
	}
	begin();
	change(LFLAG, 0, TTY_ISIG);
	EXPECT_EQ(type("\023\003"), 0);
	EXPECT(line.stopped);
}

/* A quote that was begun is flushed like all that was typed: the next byte counts as it stands. */
static void flushes_quote(void)
{
	begin();
	type("ab\026");
	EXPECT(line.quoted);
	ldisc_flush(&line);
	EXPECT_EQ(type("\003"), SIGINT);
	type("\026");
	struct ldisc_mode mode = line.mode;
	ldisc_set_mode(&line, &mode, true);
	type("\025c\r");
	EXPECT_STR(reads(100), "c\n");
}

static void flushes(void)
{
	begin();
	type("a\rb");
	struct ldisc_mode mode = line.mode;
	ldisc_set_mode(&line, &mode, true);
	type("c\r");
	EXPECT_STR(reads(100), "c\n");
	EXPECT_EQ(ldisc_available(&line), 0);
}

/*
 * The longest line has one entry less than the queue, and its newline; what is beyond is not taken.
 */
static void limit(void)
{
	for (u32 more = 0; more < 3; more++) {
		begin();
		change(LFLAG, 0, TTY_ECHO);
		for (u32 i = 0; i < LDISC_QUEUE - 2 + more; i++)
			ldisc_input(&line, 'a');
		ldisc_input(&line, '\r');
		EXPECT_EQ(ldisc_available(&line), LDISC_QUEUE - 1 + (more > 0));
	}
	change(IFLAG, TTY_IMAXBEL, 0);
	ldisc_input(&line, 'b');
	EXPECT_STR(screen, "\a");
	ldisc_flush(&line);
	type("b\r");
	EXPECT_STR(reads(100), "b\n");
}

static void no_queue(void)
{
	ldisc_init(&line, NULL, echo);
	EXPECT_EQ(type("abc\r\003"), SIGINT);
	EXPECT_EQ(ldisc_available(&line), 0);
}

static const char *writes(const char *s)
{
	static char out[256];
	size_t len = 0, n = strlen(s), done = 0, some;

	while (done < n) {
		done += ldisc_output(&line, s + done, n - done, out + len, 16, &some);
		len += some;
	}
	out[len] = '\0';
	return out;
}

static void output(void)
{
	begin();
	EXPECT_STR(writes("ab\ncd\n"), "ab\r\ncd\r\n");
	EXPECT_STR(
	    writes("0123456789012345678901234567890\n"), "0123456789012345678901234567890\r\n");
	change(OFLAG, TTY_TAB3, 0);
	EXPECT_STR(writes("a\tb\t\n"), "a       b       \r\n");
	change(OFLAG, TTY_OCRNL, TTY_ONLCR | TTY_TAB3);
	EXPECT_STR(writes("a\rb\n"), "a\nb\n");
	change(OFLAG, TTY_ONOCR | TTY_ONLRET, TTY_OCRNL);
	EXPECT_STR(writes("\n\ra\r"), "\na\r");
	change(OFLAG, 0, TTY_OPOST);
	EXPECT_STR(writes("a\n\tb"), "a\n\tb");
}

static const struct ktap_case cases[] = {
    {"ldisc.lines", lines},
    {"ldisc.end_of_file", end_of_file},
    {"ldisc.erases", erases},
    {"ldisc.erases_tabs", erases_tabs},
    {"ldisc.erases_utf8", erases_utf8},
    {"ldisc.signals", signals},
    {"ldisc.disabled_characters", disabled_characters},
    {"ldisc.quoted", quoted},
    {"ldisc.reprints", reprints},
    {"ldisc.echo_modes", echo_modes},
    {"ldisc.maps_input", maps_input},
    {"ldisc.other_ends", other_ends},
    {"ldisc.raw", raw},
    {"ldisc.flow", flow},
    {"ldisc.signal_starts_output", signal_starts_output},
    {"ldisc.flushes_quote", flushes_quote},
    {"ldisc.flushes", flushes},
    {"ldisc.limit", limit},
    {"ldisc.no_queue", no_queue},
    {"ldisc.output", output},
    {NULL, NULL},
};
extern const struct ktap_suite suite_ldisc;
const struct ktap_suite suite_ldisc = {cases};
