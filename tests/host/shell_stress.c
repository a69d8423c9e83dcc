/*
 * The shell under what nobody types: random bytes, words thrown together, no memory at every single allocation. Nothing may be
 * left over, and the sanitizers must stay silent. A thread presses Ctrl-C when a script does not end.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"
#include "kernel/shell/regex.h"
#include "tests/host/shell/posix.h"
#include "tests/unit/kernel/shell/tools.h"

static u64 seed;

static unsigned random(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

/* Runs it and sees that nothing stays allocated. */
static void try(const char *script, char *out)
{
	long before = posix_allocated();
	int sig, pid;

	posix_watch(script);
	shell_try(script, out);
	while (os_wait(-1, true, &sig, &pid) != -ECHILD) /* what it left in the background */
		os_clear_interrupt();
	posix_watch(NULL);
	if (posix_allocated() != before)
		ktap_fail(script, posix_allocated() - before, "blocks left over");
}

static void bytes_are_harmless(void)
{
	char *out = kmalloc(SHELL_TRY_MAX), text[200], message[128];
	struct sh_script *script;
	size_t used;
	long before = posix_allocated();

	seed = 1;
	for (int round = 0; round < 20000; round++) {
		size_t n = random(sizeof(text) - 1);

		for (size_t i = 0; i < n; i++)
			text[i] = random(3) ? " \n;&|<>(){}$'\"`\\#!=*?[]~ab01"[random(29)]
					    : 1 + random(255);
		text[n] = 0;
		if (sh_parse(text, &script, &used, message) == SH_PARSE_OK)
			sh_script_put(script);
	}
	EXPECT_EQ(posix_allocated(), before);
	kfree(out);
}

/* Words that do no harm wherever they land. */
static const char *const soup[] = {
    "echo",
    "true",
    "false",
    ":",
    "test",
    "[",
    "]",
    "cat",
    "printf",
    "read",
    "set",
    "--",
    "wc",
    "sort",
    "grep",
    "sed",
    "awk",
    "cut",
    "tr",
    "head",
    "tail",
    "seq",
    "eval",
    "if",
    "then",
    "else",
    "fi",
    "while",
    "do",
    "done",
    "for",
    "in",
    "case",
    "esac",
    "{",
    "}",
    "(",
    ")",
    "&&",
    "||",
    "|",
    ";",
    "&",
    "\n",
    "!",
    "f()",
    "f",
    "x=1",
    "x=$x$x",
    "$x",
    "\"$x\"",
    "${x:-y}",
    "${#x}",
    "${x%?}",
    "${x/a/b}",
    "$((x+1))",
    "$((",
    "))",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    "$",
    "*",
    "?",
    "[a-z]",
    "~",
    "#",
    "<",
    ">",
    ">>",
    "2>&1",
    "<<E",
    "E",
    "/dev/null",
    "/nosuch",
    "a",
    "b",
    "-n",
    "-c",
    "-1",
    "s/a/b/",
    "{print}",
    "\\(a*\\)*",
    "break",
    "continue",
    "return",
    "$?",
    "$@",
    "shift",
    "local",
    "export",
    "unset",
    "x",
    "wait",
    "exit",
    "%s",
    "%d",
    "99999999999999999999",
    ";;",
    "exec",
    "5<",
    "<&5",
    "-",
};

static void words_are_harmless(void)
{
	char *out = kmalloc(SHELL_TRY_MAX), text[600];

	seed = 2;
	for (int round = 0; round < 1500; round++) {
		size_t at = 0;

		for (unsigned n = 1 + random(25); n && at < sizeof(text) - 40; n--) {
			const char *word = soup[random(ARRAY_SIZE(soup))];

			at += strscpy(text + at, word, sizeof(text) - at);
			if (random(4))
				text[at++] = ' ';
		}
		text[at] = 0;
		try(text, out);
	}
	kfree(out);
}

static void expressions_are_harmless(void)
{
	static const char alphabet[] = "ab.*+?[](){}|\\^$-:,123w<>";
	char pattern[40], text[60];
	long before = posix_allocated();

	seed = 3;
	for (int round = 0; round < 30000; round++) {
		size_t n = random(sizeof(pattern) - 1), len = random(sizeof(text) - 1);
		const char *error;
		struct sh_regex *re;
		struct sh_match m;

		for (size_t i = 0; i < n; i++)
			pattern[i] = alphabet[random(sizeof(alphabet) - 1)];
		pattern[n] = 0;
		for (size_t i = 0; i < len; i++)
			text[i] = "ab c1"[random(5)];
		re = sh_regex_new(pattern, random(4), &error);
		if (re && sh_regex_match(re, text, len, 0, &m))
			EXPECT(m.from[0] >= 0 && m.to[0] >= m.from[0] && m.to[0] <= (ssize)len);
		sh_regex_free(re);
	}
	EXPECT_EQ(posix_allocated(), before);
}

/* Each allocation of these fails once. */
static void no_memory(void)
{
	static const char *const scripts[] = {
	    "x='a b'; for i in $x *; do echo $i ${x#a} $((i+1)); done; f() { local x=$1; echo $x; "
	    "}; f 1 > f; cat f | wc -l",
	    "printf 'a 1\\nb 2\\n' | sort -r | sed 's/\\(.\\)/[\\1]/;p' | grep -o '[ab]' | uniq -c",
	    "printf 'a 1\\nb 2\\n' | awk '{n[$1]+=$2; s = s $1} END{for(k in n) print k, n[k]; "
	    "print s, split(s, p, \"b\")}'",
	    "cat <<E | tr a-z A-Z | cut -c1-2 | tail -1\n$(echo one)\ntwo\nE\ntouch q; mkdir d; ls "
	    "-l; ls d; find .; (exit 3) & wait $!; A=1 sh -c 'echo $A'",
	};
	char *out = kmalloc(SHELL_TRY_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		for (u64 n = 1; n < 400; n += 1 + n / 60) {
			mem_fail_nth(n);
			try(scripts[i], out);
			mem_fail_nth(0);
		}
	}
	kfree(out);
}

static void loops_use_no_more(void)
{
	char *out = kmalloc(SHELL_TRY_MAX);
	long before = posix_allocated();

	shell_try("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); x=\"$i ${i%?}\"; case $x in 1*) :;; "
		  "esac; done; echo $i",
	    out);
	EXPECT_STR(out, "20000\n");
	EXPECT_EQ(posix_allocated(), before);
	EXPECT(posix_peak() < before + 200); /* nothing piles up while it runs */
	kfree(out);
}

static const struct ktap_case cases[] = {
    {"shell.stress.bytes", bytes_are_harmless},
    {"shell.stress.words", words_are_harmless},
    {"shell.stress.expressions", expressions_are_harmless},
    {"shell.stress.no_memory", no_memory},
    {"shell.stress.loops", loops_use_no_more},
    {NULL, NULL},
};

const struct ktap_suite suite_shell_stress = {cases};
