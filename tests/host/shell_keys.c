/*
 * The interactive line: keys in, the line that the shell gets out. History, completion, too long lines, and what no keyboard sends.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/editor.h"
#include "kernel/shell/exec.h"
#include "tests/host/shell/posix.h"
#include "tests/unit/prng.h"

#define PLACE  "/tmp/shell-keys"
#define SCREEN PLACE "/.screen"

struct typing {
	struct shell *sh;
	struct sh_editor *e;
	struct file *screen; /* what the terminal got */
	struct sh_buf text;  /* the last line */
};

static void start(struct typing *t)
{
	struct file *wr = NULL;

	*t = (struct typing){.sh = sh_new()};
	sh_run_text(t->sh, "rm -rf " PLACE "; mkdir " PLACE "; cd " PLACE
			   "; touch alone 'a b' pair1 pair2; mkdir dir; touch dir/inside");
	EXPECT_EQ(file_open(SCREEN, O_WRONLY | O_CREAT, 0600, &wr), 0);
	EXPECT_EQ(file_open(SCREEN, O_RDONLY, 0, &t->screen), 0);
	sh_var_set(&t->sh->vars, "PATH", "/bin");
	t->sh->fd[1] = wr;
	t->sh->fd[2] = file_get(wr);
	t->e = sh_editor_new(t->sh);
	EXPECT(t->e != NULL);
}

static void stop(struct typing *t)
{
	posix_type(NULL, 0);
	sh_buf_free(&t->text);
	sh_editor_free(t->e);
	sh_run_text(t->sh, "cd /; rm -r " PLACE);
	sh_free(t->sh);
	file_put(t->screen);
}

/* What was drawn since the last call. */
static const char *seen(struct typing *t)
{
	static char text[8192];
	ssize n = kernel_read(t->screen, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return text;
}

/* One line from the keys. */
static enum sh_line type(struct typing *t, const char *keys, size_t n)
{
	sh_buf_free(&t->text);
	posix_type(keys, n);
	return sh_editor_line(t->e, &t->text, false);
}

#define TYPE(t, keys) type(t, keys, sizeof(keys) - 1)

static void expect_line(struct typing *t, const char *keys, const char *line)
{
	enum sh_line end = type(t, keys, strlen(keys));

	if (end != SH_LINE || strcmp(sh_buf_str(&t->text), line))
		ktap_fail(keys, end, "wanted \"%s\" got \"%s\"", line, sh_buf_str(&t->text));
	seen(t);
}

static void editing(void)
{
	static const struct {
		const char *keys, *line;
	} rows[] = {
	    {"abc\r", "abc\n"},
	    {"abc\n", "abc\n"},
	    {"abc\002\002X\006Y\r", "aXbYc\n"},
	    {"abc\033[D\033[DX\033[CY\r", "aXbYc\n"},
	    {"abc\033ODX\r", "abXc\n"},
	    {"abc\001X\005Y\r", "XabcY\n"},
	    {"abc\033[HX\033[FY\r", "XabcY\n"},
	    {"abc\033[1~X\033[4~Y\r", "XabcY\n"},
	    {"abc\033[7~X\033[8~Y\r", "XabcY\n"},
	    {"abc\177\177X\r", "aX\n"},
	    {"abc\bX\r", "abX\n"},
	    {"\177\bx\r", "x\n"},
	    {"abc\033[D\033[3~X\r", "abX\n"},
	    {"abc\001\004\r", "bc\n"},
	    {"one two  \027X\r", "one X\n"},
	    {"one two\025X\r", "X\n"},
	    {"one two\033[D\033[D\025\r", "wo\n"},
	    {"one two\001\013\031\031\r", "one twoone two\n"},
	    {"one two\027\031\031\r", "one twotwo\n"},
	    {"one two\033bX\033b\033bY\033fZ\r", "YoneZ Xtwo\n"},
	    {"one two\033[1;5DX\033[1;5CY\r", "one XtwoY\n"},
	    {"one two\001\033d\r", " two\n"},
	    {"abdc\002\024\r", "abcd\n"},
	    {"ba\024\r", "ab\n"},
	    {"\024x\r", "x\n"},
	    {"ab\014c\r", "abc\n"},
	    {"\303\244\303\266\002X\r",
		"\303\244X\303\266\n"}, /* a character is one, however many bytes */
	    {"\303\244\303\266\177X\r", "\303\244X\n"},
	    {"a\tb\r", "ab\n"}, /* nothing to complete: a bell */
	    {"\r", "\n"},
	};
	struct typing t;

	start(&t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_line(&t, rows[i].keys, rows[i].line);
	stop(&t);
}

static void ends(void)
{
	struct typing t;

	start(&t);
	EXPECT_EQ(TYPE(&t, "abc\003"), SH_LINE_DROPPED);
	EXPECT(strstr(seen(&t), "^C\n"));
	EXPECT_EQ(TYPE(&t, "\004"), SH_LINE_END);
	EXPECT_EQ(TYPE(&t, "abc"), SH_LINE_END); /* the terminal is gone */
	posix_type("\004", 1);
	EXPECT_EQ(
	    sh_editor_line(t.e, &t.text, true), SH_LINE_DROPPED); /* of an unfinished command */
	expect_line(&t, "next\r", "next\n");
	stop(&t);
}

static void history(void)
{
	char line[16];
	struct typing t;

	start(&t);
	expect_line(&t, "one\r", "one\n");
	expect_line(&t, "two\r", "two\n");
	expect_line(&t, "two\r", "two\n"); /* kept once */
	expect_line(&t, "\033[A\r", "two\n");
	expect_line(&t, "\033[A\033[AX\r", "oneX\n");
	expect_line(&t, "new\020\020\016\016\r", "new\n"); /* what was being typed comes back */
	expect_line(&t, "\033[A\033[A\033[A\033[A\033[A\033[A\r", "one\n");
	expect_line(&t, "\033[B\r", "\n");
	expect_line(&t, "\022tw\r", "two\n");
	expect_line(&t, "\022o\022\022\r", "oneX\n");
	expect_line(&t, "\022neX\005!\r", "oneX!\n");
	expect_line(&t, "\022zzz\177\177\177tw\r", "two\n");
	EXPECT_EQ(TYPE(&t, "\022on\003"), SH_LINE_DROPPED);
	for (int i = 0; i < 250; i++) { /* more than are kept */
		snprintf(line, sizeof(line), "line%d\r", i);
		EXPECT_EQ(type(&t, line, strlen(line)), SH_LINE);
		seen(&t);
	}
	expect_line(&t, "\022one\r", "\n"); /* forgotten */
	expect_line(&t, "\022e5\022\r", "line58\n");
	stop(&t);
}

static void completion(void)
{
	struct typing t;

	start(&t);
	expect_line(&t, "unam\t-r\r", "uname -r\n");
	expect_line(&t, "cat al\t\r", "cat alone \n");
	expect_line(&t, "cat di\tin\t\r", "cat dir/inside \n");
	expect_line(&t, "cat a\\ \t\r", "cat a\\ b \n");
	expect_line(&t, "cat < al\t\r", "cat < alone \n");
	expect_line(&t, "echo a; unam\t\r", "echo a; uname \n");
	EXPECT_EQ(TYPE(&t, "cat p\t\t1\r"), SH_LINE);
	EXPECT_STR(sh_buf_str(&t.text), "cat pair1\n");
	EXPECT(strstr(seen(&t), "\npair1  pair2\n"));
	EXPECT_EQ(TYPE(&t, "cat zz\t\r"), SH_LINE);
	EXPECT(strchr(seen(&t), '\a'));
	stop(&t);
}

/* A line of n characters. */
static enum sh_line long_line(struct typing *t, char *keys, size_t n, const char *then)
{
	memset(keys, 'x', n);
	strscpy(keys + n, then, 32);
	return type(t, keys, n + strlen(then));
}

static void limits(void)
{
	char *keys = kmalloc(SH_LINE_MAX + 64);
	struct typing t;

	start(&t);
	for (int more = -1; more <= 0; more++) {
		EXPECT_EQ(long_line(&t, keys, SH_LINE_MAX + more, "\r"), SH_LINE);
		EXPECT_EQ(t.text.len, SH_LINE_MAX + more + 1UL);
		while (*seen(&t))
			;
	}
	EXPECT_EQ(long_line(&t, keys, SH_LINE_MAX + 1, "\r"), SH_LINE_REFUSED);
	const char *screen = seen(&t);
	while (!strstr(screen, "line too long (65536 characters, at most 65535)") && *screen)
		screen = seen(&t);
	EXPECT(strstr(screen, "line too long"));
	EXPECT_EQ(long_line(&t, keys, SH_LINE_MAX + 20, "\025short\r"), SH_LINE);
	EXPECT_STR(sh_buf_str(&t.text), "short\n");
	EXPECT_EQ(
	    long_line(&t, keys, SH_LINE_MAX + 20, "\033[A\r"), SH_LINE); /* another line instead */
	EXPECT_STR(sh_buf_str(&t.text), "short\n");
	EXPECT_EQ(TYPE(&t, "a\001\377\r"), SH_LINE_REFUSED);
	while (*seen(&t))
		;
	expect_line(&t, "next\r", "next\n");
	kfree(keys);
	stop(&t);
}

/* Random bytes, with the beginnings of keys among them: whatever comes, the next line is read as typed. */
static void noise(void)
{
	static const char *const parts[] = {"\033", "\033[", "\033[1;", "\033O", "\t", "\022",
	    "\031", "\033[A", "\033[999999999999~", "\303", "\r"};
	u64 seed = 1;
	struct typing t;
	char keys[256];

	start(&t);
	for (int round = 0; round < 3000; round++) {
		size_t n = 0;
		while (n < 200) {
			const char *part = parts[prng_next(&seed) % ARRAY_SIZE(parts)];
			if (prng_next(&seed) % 3)
				keys[n++] = prng_next(&seed);
			else
				n += strscpy(keys + n, part, sizeof(keys) - n);
		}
		type(&t, keys, n);
		while (*seen(&t))
			;
		if (round % 10 == 0)
			expect_line(&t, "next\r", "next\n");
	}
	stop(&t);
}

static const struct ktap_case cases[] = {
    {"shell.keys.editing", editing},
    {"shell.keys.ends", ends},
    {"shell.keys.history", history},
    {"shell.keys.completion", completion},
    {"shell.keys.limits", limits},
    {"shell.keys.noise", noise},
    {NULL, NULL},
};

const struct ktap_suite suite_shell_keys = {cases};
