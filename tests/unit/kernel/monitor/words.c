/* The monitor's grammar: kernel/monitor/words.h. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/words.h"
#include "tests/unit/prng.h"

static struct words w;
static char shown[8192];

/*
 * Every command of the line as [word][word]>file, with && before one that wants success; then what
 * is wrong.
 */
static const char *cut(const char *line)
{
	const char *wrong = NULL, *at = line;
	size_t n = 0;

	shown[0] = '\0';
	while (words_next(&w, &at, 3, 77, &wrong)) {
		n += scnprintf(shown + n, sizeof(shown) - n, "%s",
		    w.only_after_success ? "&&"
		    : n			 ? ";"
					 : "");
		for (int i = 0; i < w.count; i++)
			n += scnprintf(shown + n, sizeof(shown) - n, "[%s]", w.word[i]);
		if (w.to)
			n += scnprintf(
			    shown + n, sizeof(shown) - n, "%s%s", w.append ? ">>" : ">", w.to);
	}
	if (wrong)
		scnprintf(shown + n, sizeof(shown) - n, "!%s", wrong);
	return shown;
}

static void plain(void)
{
	EXPECT_STR(cut(""), "");
	EXPECT_STR(cut("  \t "), "");
	EXPECT_STR(cut("a"), "[a]");
	EXPECT_STR(cut("  a\tbc  d "), "[a][bc][d]");
	EXPECT_STR(cut("echo *:* [x] ~ {a} (b) !c"), "[echo][*:*][[x]][~][{a}][(b)][!c]");
}

static void quotes(void)
{
	EXPECT_STR(cut("'a b' \"c  d\""), "[a b][c  d]");
	EXPECT_STR(cut("a'b'\"c\"d"), "[abcd]");
	EXPECT_STR(cut("'' \"\""), "[][]");
	EXPECT_STR(cut("'a\"b' \"c'd\""), "[a\"b][c'd]");
	EXPECT_STR(cut("\"\\\"\\\\\\$\\x\""), "[\"\\$\\x]");
	EXPECT_STR(cut("a\\ b \\'c \\;"), "[a b]['c][;]");
	EXPECT_STR(cut("'\\'"), "[\\]");
	EXPECT_STR(cut("'open"), "!a quote is not closed");
	EXPECT_STR(cut("ok; \"open"), "[ok]!a quote is not closed");
}

static void numbers(void)
{
	EXPECT_STR(cut("$? $$"), "[3][77]");
	EXPECT_STR(cut("a$?b \"$$.\" '$$'"), "[a3b][77.][$$]");
	EXPECT_STR(cut("$x \"$ts0\" $"), "[$x][$ts0][$]");
}

static void commands(void)
{
	EXPECT_STR(cut("a b;c"), "[a][b];[c]");
	EXPECT_STR(cut(";; a ;;; b ;"), "[a];[b]");
	EXPECT_STR(cut("a && b; c"), "[a]&&[b];[c]");
	EXPECT_STR(cut("a&&b"), "[a]&&[b]");
	EXPECT_STR(cut("a &&"), "[a]!no command after &&");
	EXPECT_STR(cut("a && ; b"), "[a]!no command after &&");
	EXPECT_STR(cut("a & b"), "!no pipes, input files or jobs here");
	EXPECT_STR(cut("a | b"), "!no pipes, input files or jobs here");
	EXPECT_STR(cut("a < b"), "!no pipes, input files or jobs here");
	EXPECT_STR(cut("'a|b<c&d;e'"), "[a|b<c&d;e]");
}

static void comments(void)
{
	EXPECT_STR(cut("# all of it"), "");
	EXPECT_STR(cut("a # b; c"), "[a]");
	EXPECT_STR(cut("a#b '#c'"), "[a#b][#c]");
	EXPECT_STR(cut("a; # b"), "[a]");
}

static void redirections(void)
{
	EXPECT_STR(cut("a > b"), "[a]>b");
	EXPECT_STR(cut("a b>c"), "[a][b]>c");
	EXPECT_STR(cut("a >>'b c' d"), "[a][d]>>b c");
	EXPECT_STR(cut("a >"), "!no file after >");
	EXPECT_STR(cut("a > ; b"), "!no file after >");
	EXPECT_STR(cut("a > b > c"), "!two files after >");
	EXPECT_STR(cut("> b"), "!no command before >");
}

static void limits(void)
{
	static char line[2 * WORDS_TEXT];

	for (unsigned i = 0; i < 2 * WORDS_MAX; i++)
		line[i] = i % 2 ? ' ' : 'x';
	EXPECT(!strchr(cut(line), '!'));
	EXPECT_EQ(w.count, 0); /* the last call found no more */
	line[2 * WORDS_MAX] = 'x';
	EXPECT(strstr(cut(line), "!too many words") != NULL);
	memset(line, 'y', sizeof(line) - 1);
	EXPECT_STR(cut(line), "!the line is too long");
}

/* Words may have as many bytes as there is room for, their ends counted, and not one more. */
static void room(void)
{
	static char line[WORDS_TEXT + 1];

	for (unsigned n = WORDS_TEXT - 4; n <= WORDS_TEXT; n++)
		for (unsigned blank = 0; blank < 2; blank++) {
			memset(line, 'y', n);
			line[n] = '\0';
			if (blank)
				line[100] = ' ';
			EXPECT_EQ(strchr(cut(line), '!') != NULL, n + 1 >= WORDS_TEXT);
		}
}

static void goes_on(void)
{
	char with[] = "echo a \\", two[] = "echo a \\\\", none[] = "echo", empty[] = "";

	EXPECT(words_continue(with));
	EXPECT_STR(with, "echo a ");
	EXPECT(!words_continue(two));
	EXPECT_STR(two, "echo a \\\\");
	EXPECT(!words_continue(none));
	EXPECT(!words_continue(empty));
}

/* Whatever is typed: the words lie in their room and the line is used up. */
static void random_lines(void)
{
	static const char bytes[] = "ab '\"\\$?>&;#|<\t";
	u64 r = 0x6d6f6e69746f72;

	ktap_note("seed %llu", (unsigned long long)r);
	for (unsigned round = 0; round < 20000; round++) {
		char line[40];
		size_t n = prng_next(&r) % (sizeof(line));
		const char *at = line, *wrong = NULL;
		unsigned commands = 0;

		for (size_t i = 0; i < n; i++)
			line[i] = bytes[prng_next(&r) % (sizeof(bytes) - 1)];
		line[n] = '\0';
		while (words_next(&w, &at, 1, 2, &wrong))
			for (commands++; w.count--;)
				if (w.word[w.count] < w.text ||
				    w.word[w.count] >= w.text + WORDS_TEXT)
					ktap_fail(__FILE__, __LINE__,
					    "a word of \"%s\" lies elsewhere", line);
		if ((!wrong && *at) || at > line + n || commands > n)
			ktap_fail(__FILE__, __LINE__, "\"%s\" is not cut to its end", line);
	}
}

static const struct ktap_case cases[] = {
    {"monitor_words.plain", plain},
    {"monitor_words.quotes", quotes},
    {"monitor_words.numbers", numbers},
    {"monitor_words.commands", commands},
    {"monitor_words.comments", comments},
    {"monitor_words.redirections", redirections},
    {"monitor_words.limits", limits},
    {"monitor_words.room", room},
    {"monitor_words.goes_on", goes_on},
    {"monitor_words.random_lines", random_lines},
    {NULL, NULL},
};
extern const struct ktap_suite suite_monitor_words;
const struct ktap_suite suite_monitor_words = {cases};
