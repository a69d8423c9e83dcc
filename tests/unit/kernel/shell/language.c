/* The shell's language: what scripts print. Rows of script and output; see tools.h. */
#include "kernel/lib/ktap.h"
#include "tests/unit/kernel/shell/tools.h"

#define ROWS(...)                                                                                  \
	static const struct shell_row rows[] = {__VA_ARGS__};                                      \
	shell_expect(rows, ARRAY_SIZE(rows))

static void words(void)
{
	ROWS({"echo a  b\tc", "a b c\n"}, {"echo 'a  b' \"c  d\" e\\ \\ f", "a  b c  d e  f\n"},
	    {"echo a'b'\"c\"\\d", "abcd\n"}, {"echo \"a\\\"b\\\\c\\d\\$e\"", "a\"b\\c\\d$e\n"},
	    {"echo '\\' \"'\" '\"'", "\\ ' \"\n"}, {"echo a#b # c", "a#b\n"},
	    {"echo a;echo b", "a\nb\n"}, {"echo one\\\ntwo", "onetwo\n"},
	    {"echo 'one\ntwo'", "one\ntwo\n"}, {"echo ''", "\n"}, {"", ""},
	    {"# only a comment", ""}, {";", "sh: syntax error: unexpected \";\"\n=2"},
	    {"echo \"\" | wc -c", "1\n"},
	    {"echo ~ ~/x \"~\" a~", "/tmp/shell-test /tmp/shell-test/x ~ a~\n"});
}

static void variables(void)
{
	ROWS({"A=5; echo $A ${A} \"$A\"x '$A'", "5 5 5x $A\n"},
	    {"A='a  b'; echo $A \"$A\"", "a b a  b\n"}, {"echo [$nosuch]", "[]\n"},
	    {"A=; echo ${A-x}${A:-y}${B-z}", "yz\n"}, {"echo ${A:=set} $A", "set set\n"},
	    {"A=1; echo ${A:+alt} ${B:+alt}.", "alt .\n"},
	    {"echo ${A:?no value} after; echo next", "sh: A: no value\n=2"},
	    {"A=hello; echo ${#A} ${#B}", "5 0\n"},
	    {"A=a/b/c; echo ${A#*/} ${A##*/} ${A%/*} ${A%%/*}", "b/c c a/b a\n"},
	    {"A=hello; echo ${A:1:3} ${A:2} ${A: -2}", "ell llo lo\n"},
	    {"A=banana; echo ${A/an/X} ${A//an/X} ${A//a}", "bXana bXXa bnn\n"},
	    {"A=x; unset A; echo \"[$A]\"", "[]\n"},
	    {"readonly R=1; R=2; echo no", "sh: R: is read only\n=2"},
	    {"set -u; echo $nosuch", "sh: nosuch: parameter not set\n=2"},
	    {"A=1 B=2; echo $A$B", "12\n"},
	    {"set -- a 'b c' d; echo $# $2 $3; for x in \"$@\"; do echo \"<$x>\"; done",
		"3 b c d\n<a>\n<b c>\n<d>\n"},
	    {"set -- a b; echo \"$*\" \"x$@y\"; IFS=-; echo \"$*\"", "a b xa by\na-b\n"},
	    {"set --; for x in \"$@\"; do echo no; done; echo $#", "0\n"},
	    {"set -- a b c; shift 2; echo $1 $#", "c 1\n"},
	    {"false; echo $?; true; echo $?", "1\n0\n"}, {"A=1; (A=2; echo $A); echo $A", "2\n1\n"},
	    {"echo ${x:-${y:-deep}} ${x:-\"a  b\"}", "deep a  b\n"},
	    {"for i in ${x:-a b} ${x:-\"c d\"e f} \"${x:-g h}\" ${PWD:+i j}; do echo \"<$i>\"; "
	     "done",
		"<a>\n<b>\n<c de>\n<f>\n<g h>\n<i>\n<j>\n"},
	    {"y=${x:-a b}; echo \"$y\"; IFS=:; set -- ${x:-1:2} ${y:+'3:4'}; echo $# $3",
		"a b\n3 3 4\n"},
	    {"echo ${1x}", "sh: bad substitution\n=2"});
}

static void splitting(void)
{
	ROWS({"A=' a  b '; set -- $A; echo $# $1 $2", "2 a b\n"},
	    {"IFS=:; A=a:b::c; set -- $A; echo $# \"$3\" $4", "4  c\n"},
	    {"IFS=': '; A='a : b'; set -- $A; echo $#", "2\n"},
	    {"IFS=; A='a b'; set -- $A; echo $#", "1\n"},
	    {"A='x y'; set -- z$A; echo $1 $#", "zx 2\n"},
	    {"A=; set -- $A \"$A\" ''; echo $#", "2\n"}, {"A='*'; cd /; echo \"$A\"", "*\n"},
	    {"set -- $(printf 'a b\\nc'); echo $#", "3\n"});
}

static void arithmetic(void)
{
	ROWS({"echo $((1+2*3)) $(((1+2)*3)) $((7/2)) $((-7%3)) $((7-2-1))", "7 9 3 -1 4\n"},
	    {"echo $((1<<10)) $((0x1f)) $((010)) $((~0)) $((!5)) $((-3))", "1024 31 8 -1 0 -3\n"},
	    {"echo $((5>3&&2<1)) $((1||0)) $((6&3)) $((6|3)) $((6^3)) $((1==1)) $((1!=1))",
		"0 1 2 7 5 1 0\n"},
	    {"x=4; echo $((x+1)) $(($x+1)) $((x++)) $x $((--x)) $((x+=3)) $((x<<=1)) $x",
		"5 5 4 5 4 7 14 14\n"},
	    {"echo $((2>1?10:20)) $((0?1/0:3)) $((0&&1/0))", "10 3 0\n"},
	    {"echo $((1/0)); echo no", "sh: divide by zero\n=2"},
	    {"echo $((1+)); echo no", "sh: arithmetic syntax error\n=2"},
	    {"x=abc; echo $((x))", "sh: arithmetic syntax error\n=2"},
	    {"i=1; i=$((i+1)); echo $i $(( (i) )) $((1,2))", "2 2 2\n"},
	    {"echo $((9223372036854775807+1))", "-9223372036854775808\n"},
	    {"echo $((08))", "sh: arithmetic syntax error\n=2"},
	    {"echo $((((((((((((((((((1))))))))))))))))))",
		"sh: arithmetic too deeply nested\n=2"});
}

static void substitution(void)
{
	ROWS({"echo $(echo a b) `echo c`", "a b c\n"},
	    {"A=$(printf 'x\\n\\n\\n'); echo \"[$A]\"", "[x]\n"},
	    {"echo $(echo $(echo deep)) \"$(echo \"q  q\")\"", "deep q  q\n"},
	    {"A=$(false); echo $?; A=$(exit 3); echo $?", "1\n3\n"},
	    {"echo `echo \\`echo in\\``", "in\n"},
	    {"echo $(nosuch) $?", "sh: nosuch: not found\n127\n"},
	    {"A=$(printf '%0500d' 7); echo ${#A}", "500\n"}, {"echo $(( $(echo 3) * 2 ))", "6\n"},
	    {"echo \"$(echo ')' '(')\"", ") (\n"},
	    {"printf 'a\\0b' > f; A=$(cat f); echo $A", "ab\n"});
}

static void patterns(void)
{
	ROWS({"touch a1 a2 b1 .h; echo *; echo a* ?1 [ab]1 [!a]*",
		 "a1 a2 b1\na1 a2 a1 b1 a1 b1 b1\n"},
	    {"echo *:* no* '*' \\*", "*:* no* * *\n"},
	    {"mkdir d e; touch d/x e/x e/y; echo */x d/* ./*/y", "d/x e/x d/x ./e/y\n"},
	    {"touch .h; echo .h* .[h]", ".h .h\n"},
	    {"case abc in a*c) echo 1;; esac; case 'a*' in 'a*') echo 2;; esac", "1\n2\n"},
	    {"case x in [[:digit:]]) echo d;; [[:alpha:]]) echo a;; esac", "a\n"},
	    {"case b in a|b|c) echo in;; *) echo out;; esac", "in\n"},
	    {"case x in y) echo no;; esac; echo $?", "0\n"},
	    {"case ']' in []]) echo b;; esac; case - in [a-]) echo m;; esac", "b\nm\n"},
	    {"set -f; echo *", "*\n"});
}

static void control(void)
{
	ROWS({"if true; then echo y; else echo n; fi", "y\n"},
	    {"if false; then echo a; elif true; then echo b; fi", "b\n"},
	    {"if false; then echo a; fi; echo $?", "0\n"},
	    {"i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done", "1\n2\n3\n"},
	    {"i=0; until [ $i = 2 ]; do i=$((i+1)); done; echo $i", "2\n"},
	    {"for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done", "1\n3\n"},
	    {"for i in 1 2; do for j in a b; do [ $j = b ] && break 2; echo $i$j; done; done",
		"1a\n"},
	    {"for i in 1 2; do for j in a b; do [ $j = b ] && continue 2; echo $i$j; done; done",
		"1a\n2a\n"},
	    {"true && echo a || echo b; false && echo c || echo d", "a\nd\n"},
	    {"! true; echo $?; ! false && echo y", "1\ny\n"},
	    {"{ echo a; echo b; } | wc -l", "2\n"}, {"(exit 4); echo $?", "4\n"},
	    {"false\ntrue\nfalse", "=1"}, {"if true\nthen\necho multi\nfi", "multi\n"},
	    {"for x in a b\ndo echo $x\ndone", "a\nb\n"},
	    {"set -e; if false; then :; fi; false || true; echo go; false; echo no", "go\n=1"},
	    {"eval 'echo a' '; echo b'", "a\nb\n"}, {"while true; do break; done; echo $?", "0\n"},
	    {"break; echo out", "out\n"});
}

static void functions(void)
{
	ROWS({"f() { echo $1 $#; return 3; }; f a b; echo $?", "a 2\n3\n"},
	    {"f() { local v=1; echo $v; }; v=9; f; echo $v", "1\n9\n"},
	    {"f() { echo a; }; f() { echo b; }; f; unset -f f; f", "b\nsh: f: not found\n=127"},
	    {"f() { v=2; }; v=1; f; echo $v", "2\n"},
	    {"f() (v=2; echo $v); v=1; f; echo $v", "2\n1\n"},
	    {"f() { echo $v; }; v=1 f; echo \"[$v]\"", "1\n[]\n"},
	    {"f() { f; }; f", "sh: too deeply nested\n=2"},
	    {"set -- x; f() { set -- y; echo $1; }; f; echo $1", "y\nx\n"},
	    {"f() { cat; }; echo in | f", "in\n"},
	    {"f() { echo $1; [ $1 = 0 ] || f $(($1-1)); }; f 3", "3\n2\n1\n0\n"});
}

static void redirections(void)
{
	ROWS({"echo a > f; echo b >> f; cat f; cat < f | wc -l", "a\nb\n2\n"},
	    {"echo a >/nodir/f; echo $?", "sh: can't create /nodir/f: nonexistent directory\n1\n"},
	    {"cat < nosuch; echo $?", "sh: can't open nosuch: no such file\n1\n"},
	    {"(echo out; echo err >&2) 2>&1 >/dev/null | cat", "err\n"},
	    {"echo x 2>/dev/null 1>&2", ""},
	    {"echo a > f; exec 5< f; cat <&5; exec 5<&-; cat <&5",
		"a\nsh: 5: Bad file descriptor\n=1"},
	    {"exec 6> f; echo one >&6; echo two >&6; exec 6>&-; cat f", "one\ntwo\n"},
	    {"cat <<E\na $((1+1)) `echo b`\nE", "a 2 b\n"}, {"cat <<'E'\n$x `y`\nE", "$x `y`\n"},
	    {"cat <<-E\n\t\tin\n\tE\necho after", "in\nafter\n"},
	    {"cat <<A; cat <<B\n1\nA\n2\nB", "1\n2\n"},
	    {"while read a b; do echo \"$b-$a\"; done <<E\n1 2\n3 4 5\nE", "2-1\n4 5-3\n"},
	    {"{ echo a; echo b; } > f; wc -l < f", "2\n"}, {"> f; cat f; echo $?", "0\n"},
	    {"echo x >&9", "sh: 9: Bad file descriptor\n=1"}, {"echo a 1>f 2>&1; cat f", "a\n"},
	    {"A=f; echo b > $A; cat f", "b\n"},
	    {"echo x >&-", "sh: write error: Bad file descriptor\n=1"},
	    {"echo a > f; cat f - < f", "a\na\n"});
}

static void pipes(void)
{
	ROWS({"echo a | cat | cat", "a\n"},
	    {"true | false; echo $?; false | true; echo $?", "1\n0\n"},
	    {"echo a | { read x; echo got $x; }", "got a\n"}, {"seq 1000 | head -1", "1\n"},
	    {"yes | head -2", "y\ny\n"}, {"nosuch | cat; echo $?", "sh: nosuch: not found\n0\n"},
	    {"seq 3 |\n wc -l", "3\n"},
	    {"i=0; seq 3 | while read x; do i=$x; done; echo $i", "0\n"});
}

static void jobs(void)
{
	ROWS({"(exit 3) & wait $!; echo $?", "3\n"},
	    {"sleep 60 & P=$!; kill $P; wait $P; echo $?", "Terminated\n143\n"},
	    {"sleep 60 & kill -9 $!; wait $!; echo $?", "Killed\n137\n"},
	    {"sleep 60 & kill $!; wait; echo $?", "0\n"},
	    {"sleep 60 & kill $!; wait; echo $?", "0\n"},
	    {"kill -0 99999; echo $?", "sh: can't kill pid 99999: No such process\n1\n"},
	    {"true & P=$!; sleep 0.1; sleep 0.1; kill -0 $P 2>/dev/null; echo $?", "1\n"},
	    {"(echo a) & wait; echo b", "a\nb\n"},
	    {"sh -c 'echo $1 $0; exit 5' x y; echo $?", "y x\n5\n"},
	    {"A=1; export B=2; sh -c 'echo [$A$B]'", "[2]\n"},
	    {"[ $$ = $(sh -c 'echo $PPID' >/dev/null; echo $$) ] && echo same", "same\n"},
	    {"wait 12345; echo $?", "127\n"},
	    {"cat > f < /dev/zero & P=$!; kill $P; wait $P; echo $?", "Terminated\n143\n"});
}

static void errors(void)
{
	ROWS({"nosuch", "sh: nosuch: not found\n=127"},
	    {"/no/such", "sh: /no/such: not found\n=127"},
	    {"/tmp", "sh: /tmp: Permission denied\n=126"},
	    {"echo (", "sh: syntax error: unexpected end of file\n=2"},
	    {")", "sh: syntax error: unexpected \")\"\n=2"},
	    {"if true", "sh: syntax error: unexpected end of file\n=2"},
	    {"echo 'abc", "sh: syntax error: unexpected end of file\n=2"},
	    {"fi", "sh: syntax error: unexpected \"fi\"\n=2"},
	    {"| x", "sh: syntax error: unexpected \"|\"\n=2"},
	    {"echo a &&\n", "sh: syntax error: unexpected end of file\n=2"},
	    {"for 1 in a; do :; done", "sh: syntax error: bad for loop variable\n=2"},
	    {"echo >", "sh: syntax error: unexpected end of file\n=2"},
	    {"cd /nosuch", "sh: cd: can't cd to /nosuch: No such file or directory\n=1"},
	    {"echo x > /dev/full", "sh: write error: No space left on device\n=1"},
	    {"printf x > /dev/full; echo $?", "1\n"},
	    {"((((((((((((((((((((echo deep))))))))))))))))))))", "sh: too deeply nested\n=2"},
	    {"exit 300", "=44"}, {"exit x", "sh: exit: Illegal number: x\n=2"},
	    {"{ { { { { { { { { { { { { { { { { { { { echo; } }; } }; }",
		"sh: too deeply nested\n=2"},
	    {"cat nosuch", "cat: can't open 'nosuch': No such file or directory\n=1"});
}

static const struct ktap_case cases[] = {
    {"shell.words", words},
    {"shell.variables", variables},
    {"shell.splitting", splitting},
    {"shell.arithmetic", arithmetic},
    {"shell.substitution", substitution},
    {"shell.patterns", patterns},
    {"shell.control", control},
    {"shell.functions", functions},
    {"shell.redirections", redirections},
    {"shell.pipes", pipes},
    {"shell.jobs", jobs},
    {"shell.errors", errors},
    {NULL, NULL},
};

const struct ktap_suite suite_shell_language = {cases};
