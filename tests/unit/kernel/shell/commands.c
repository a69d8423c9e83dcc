/* The shell's commands: what they print. Rows of script and output; see tools.h. */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"
#include "tests/unit/kernel/shell/tools.h"

#define ROWS(...)                                                                                  \
	static const struct shell_row rows[] = {__VA_ARGS__};                                      \
	shell_expect(rows, ARRAY_SIZE(rows))

#define TEXT "printf 'one 1\\ntwo 2\\nthree 3\\nTwo 2\\n' > g; "

static void echo(void)
{
	ROWS({"echo -n a; echo b", "ab\n"}, {"echo -e 'a\\tb\\x41\\0101\\n.\\cno'", "a\tbAA\n."},
	    {"echo 'a\\tb' -n", "a\\tb -n\n"},
	    {"echo -E -e 'x\\ny'; echo -x; echo -", "x\ny\n-x\n-\n"},
	    {"printf '%s-%s\\n' a b c", "a-b\nc-\n"},
	    {"printf '%05d|%x|%X|%o|%5s|%-5s|%c|%%\\n' 42 255 255 8 ab cd xyz",
		"00042|ff|FF|10|   ab|cd   |x|%\n"},
	    {"printf '%b' 'a\\nb\\n'; printf '\\101\\n'", "a\nb\nA\n"},
	    {"printf '%d %d %d\\n' 0x10 010 \"'A\"", "16 8 65\n"},
	    {"printf '%.2s|%*d|%.3d\\n' abcdef 5 42 7", "ab|   42|007\n"},
	    {"printf '%032d' 0 | tr 0 a; printf '%0500d' 7 | wc -c",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa500\n"},
	    {"printf ''", ""}, {"printf '%d\\n' x", "sh: invalid number 'x'\n0\n=1"},
	    {"printf '%d\\n' ''", "sh: invalid number ''\n0\n=1"},
	    {"printf '%d\\n' 12x", "sh: invalid number '12x'\n0\n=1"},
	    {"printf '%y'", "sh: %y: invalid format\n=1"}, {"printf 'no newline'", "no newline"});
}

static void test(void)
{
	ROWS({"[ 1 -lt 2 ] && [ 2 -ge 2 ] && [ 1 -ne 2 ] && [ -1 -gt -2 ] && echo y", "y\n"},
	    {"[ a = a ] && [ a != b ] && [ a \\< b ]; echo $?", "0\n"},
	    {"[ -z '' ] && [ -n x ] && [ x ] && [ ! '' ]; echo $?", "0\n"},
	    {"touch f; mkdir d; [ -f f -a -d d -a -e f ]; echo $?; [ -s f ]; echo $?", "0\n1\n"},
	    {"[ a = b -o c = c ]; echo $?; [ ! a = b ]; echo $?", "0\n0\n"},
	    {"[ '(' 1 = 2 ')' ]; echo $?", "1\n"}, {"test; echo $?; [ ]; echo $?", "1\n1\n"},
	    {"[ 1 -eq x ]; echo $?", "sh: x: bad number\n2\n"}, {"[ 1", "sh: missing ]\n=2"},
	    {"[ a b ]; echo $?; [ a = ]",
		"sh: b: unknown operand\n2\nsh: =: argument expected\n=2"},
	    {"[ -f = -f ]; echo $?; [ ! ]; echo $?; [ -n ]; echo $?", "0\n0\n0\n"},
	    {"ln -s nowhere l; [ -L l ]; echo $?; [ -e l ]; echo $?", "0\n1\n"});
}

static void grep(void)
{
	ROWS({TEXT "grep two g; grep -c two g; grep -v o g; grep -i TWO g",
		 "two 2\n1\nthree 3\ntwo 2\nTwo 2\n"},
	    {TEXT "grep nosuch g; echo $?", "1\n"},
	    {TEXT "grep -n -x 'two 2' g; grep -w 2 g", "2:two 2\ntwo 2\nTwo 2\n"},
	    {TEXT "grep -o '[a-z]*' g | head -2; grep -o 't[^ ]*' g", "one\ntwo\ntwo\nthree\n"},
	    {TEXT "grep -m1 -c 'one\\|two' g; grep -E '^(one|th)' g", "1\none 1\nthree 3\n"},
	    {TEXT "grep -B1 -A1 three g", "two 2\nthree 3\nTwo 2\n"},
	    {TEXT "grep -A1 one g g | head -3", "g:one 1\ng-two 2\ng:one 1\n"},
	    {TEXT "grep -q two g && echo found; grep -l two g nosuch; echo $?",
		"found\ng\ngrep: nosuch: No such file or directory\n2\n"},
	    {TEXT "grep -h one g g; grep -L two g; grep -F 'o' g | wc -l", "one 1\none 1\n3\n"},
	    {"printf 'a.b\\naxb\\n' | grep -F a.b; printf 'a.b\\naxb\\n' | grep 'a\\.b'",
		"a.b\na.b\n"},
	    {"echo abab | grep -E '^(ab){2}$'; echo aab | grep 'a\\{2\\}b'", "abab\naab\n"},
	    {"echo x | grep '['; echo $?", "grep: bad regex '[': unmatched [\n2\n"},
	    {"echo a | grep -e a; printf 'a\\nb\\nc\\n' | grep -e 'a\nc'", "a\na\nc\n"},
	    {"mkdir d; echo hit > d/f; grep -r hit d", "d/f:hit\n"},
	    {TEXT "grep -e one -e two g; grep -c -E -e '^o' -e '^(T|th)' g; grep -e '' -e x g | wc "
		  "-l",
		"one 1\ntwo 2\n3\n4\n"},
	    {TEXT "grep two g -n; grep -- -n g; grep one -e two; echo $?",
		"2:two 2\ngrep: one: No such file or directory\n2\n"},
	    {"printf 'x (a) y\\nxa\\n[0]\\na_\\nba a\\n' | grep -w -e '(a)' -e '\\[0\\]' -e a; "
	     "echo 'aa a' | "
	     "grep -ow a; echo ab_c | grep -cw ab",
		"x (a) y\n[0]\nba a\na\n0\n=1"},
	    {"grep -s x nosuch; echo $?; echo -n x | grep -s x", "2\nx\n"},
	    {"grep -cx 12 <<E\n12\n123\nE", "1\n"},
	    {"printf 'a\\n\\nb\\n' | grep -c ''; printf 'x' | grep x", "3\nx\n"});
}

static void sed(void)
{
	ROWS({TEXT "sed 's/o/0/' g | head -2; sed -n 2p g", "0ne 1\ntw0 2\ntwo 2\n"},
	    {"echo aaa | sed 's/a/b/g'; echo aaa | sed 's/a/b/2'; echo aaa | sed 's/a/b/2g'",
		"bbb\naba\nabb\n"},
	    {"echo 'ab cd' | sed 's/\\([a-z]*\\) \\([a-z]*\\)/\\2 [&] \\1/'", "cd [ab cd] ab\n"},
	    {"echo ab | sed -E 's/(a)(b)/\\2\\1/;s|b|x/y|'", "x/ya\n"},
	    {TEXT "sed 2,3d g; sed '/two/,$d' g; sed '$!d' g", "one 1\nTwo 2\none 1\nTwo 2\n"},
	    {TEXT "sed -n '/one/p;$='  g; sed 1q g", "one 1\n4\none 1\n"},
	    {TEXT "sed = g | sed 'N;s/\\n/:/' | head -1; sed -n '$!{h;d};H;x;p' g",
		"1:one 1\nthree 3\nTwo 2\n"},
	    {"echo abc | sed 'y/abc/xyz/;a after' ; echo b | sed 'i\\\nbefore'",
		"xyz\nafter\nbefore\nb\n"},
	    {"echo a.b | sed 's/\\./-/'; echo 'x/y' | sed 's,/,.,'", "a-b\nx.y\n"},
	    {"echo abc | sed 's/x*/-/g'", "-a-b-c-\n"}, {"echo aaa | sed ':l;s/a/b/;tl'", "bbb\n"},
	    {"sed 's/a/b' </dev/null", "sed: unterminated expression\n=1"},
	    {"sed -n '/x/{p' </dev/null", "sed: unmatched {\n=1"},
	    {"echo A | sed 's/a/x/I'; seq 6 | sed -n '1~2p' | tr '\\n' ' '; echo", "x\n1 3 5 \n"},
	    {"seq 3 | sed '2c two'; echo q | sed k", "1\ntwo\n3\nsed: unknown command\n=1"},
	    {"seq 5 | sed -e 2d -e 's/^/x/' -e 4q", "x1\nx3\nx4\n"},
	    {"seq 9 | sed -n '/2/,+1p;/5/,+0p;8,+9p' | tr '\\n' ' '; printf ' \\tx\\n' | sed 's/^[ "
	     "\\t]*//'",
		"2 3 5 8 9 x\n"},
	    {"printf 'a\\nb\\n' | sed 'N;s/[\\n]/+/'; echo 'a\\b' | sed 's/[\\]/-/'", "a+b\na-b\n"},
	    {"printf 'a\\nb' | sed p; echo; printf a | sed '$a end'; printf a | sed -n 'p;='; "
	     "printf a > f; "
	     "printf b | sed 's/$/;/' f -",
		"a\na\nb\nb\na\nend\na\n1\na;\nb;"},
	    {"echo 'a b' | sed 's/ /\\n/'; echo x | sed 's/x/a\\&b/'", "a\nb\na&b\n"});
}

static void awk(void)
{
	ROWS({"echo 'a b c' | awk '{print $1,$3}'", "a c\n"},
	    {TEXT "awk '{print length($0)}' g", "5\n5\n7\n5\n"},
	    {TEXT "awk '/two/{n++} END{print n, NR}' g", "1 4\n"},
	    {"echo a:b:c | awk -F: '{print $2, NF, $NF}'", "b 3 c\n"},
	    {"awk 'BEGIN{for(i=0;i<3;i++) s=s i; print s, 7/2, 1/3, 0.1+0.2, 2*3.5, 10%4}'",
		"012 3.5 0.333333 0.3 7 2\n"},
	    {TEXT "awk '{a[$2]++} END{for(k in a) print k, a[k]}' g | sort", "1 1\n2 2\n3 1\n"},
	    {TEXT "awk '$2 > 1 && $1 != \"three\"' g", "two 2\nTwo 2\n"},
	    {TEXT "awk 'NR==2,/three/' g", "two 2\nthree 3\n"},
	    {"echo foo | awk '{n=gsub(/o/,\"[&]\"); print n, $0; $3=\"z\"; print; print NF}'",
		"2 f[o][o]\nf[o][o]  z\n3\n"},
	    {"awk 'BEGIN{print substr(\"hello\",2,3), index(\"abc\",\"c\"), toupper(\"x\"), "
	     "split(\"a-b\",p,\"-\"), p[2], match(\"xab\",/ab/), RSTART, RLENGTH}'",
		"ell 3 X 2 b 2 2 2\n"},
	    {"awk 'BEGIN{printf \"%5.2f|%-4s|%04d|%x|%c%%\\n\", 3.14159, \"ab\", 42, 255, \"q\"}'",
		" 3.14|ab  |0042|ff|q%\n"},
	    {"awk 'BEGIN{exit 3} END{print \"end\"}'", "end\n=3"},
	    {"echo 5 | awk '{ if ($1 < 10) print \"num\"; else print \"str\" }'; awk 'BEGIN{print "
	     "\"10\" < \"9\", 10 < 9}'",
		"num\n1 0\n"},
	    {"awk 'BEGIN{print 1/0}'", "awk: division by zero\n=2"},
	    {"awk 'BEGIN { print 1'", "awk: unmatched { near ''\n=2"},
	    {"echo 33870.894106: | awk '{printf \"%.6f\\n\", $1-33870.894}'", "0.000106\n"},
	    {"awk 'BEGIN { while (i < 3) { i++; if (i == 2) continue; print i }; do j++; while (j "
	     "< 5); print j }'",
		"1\n3\n5\n"},
	    {TEXT "awk '!seen[$2]++ {print $1}' g", "one\ntwo\nthree\n"},
	    {"awk -v n=4 'BEGIN{print n*2; x[\"a\"]; print (\"a\" in x), (\"b\" in x); delete "
	     "x[\"a\"]; print length(x)}'",
		"8\n1 0\n0\n"},
	    {"awk 'BEGIN{print NR, NF, FNR} END{print NR}' < /dev/null", "0 0 0\n0\n"},
	    {"awk 'BEGIN{system(\"x\")}'; awk '{getline x}'; awk 'function f(x){return x}'",
		"awk: not understood here near '(\"x\")}'\nawk: not understood here near ' x}'\n"
		"awk: not understood here near ' f(x){return x}'\n=2"},
	    {"printf 'a b\\n' | awk '{print; next; print \"no\"} END {print NR}'", "a b\n1\n"},
	    {"awk 'BEGIN{print 2^3}'", "awk: syntax error near '3}'\n=2"},
	    {"awk 'BEGIN{print length()}' ; echo x | awk '{print -$1, !$1, $1 ~ /x/, \"a\" > 0}'; "
	     "echo $?",
		"0\nawk: syntax error near ' 0}'\n2\n"});
}

static void text(void)
{
	ROWS({"echo a:b:c | cut -d: -f2-; echo abcdef | cut -c1-2,5; echo nod | cut -d: -f2",
		 "b:c\nabe\nnod\n"},
	    {"echo 'a b' | cut -d' ' -f3 | wc -c; echo x | cut -d: -f2 -s", "1\n"},
	    {"printf 'b\\na\\nc\\na\\n' | sort; printf '10\\n9\\n' | sort -n; printf 'a\\nb\\n' | "
	     "sort -r",
		"a\na\nb\nc\n9\n10\nb\na\n"},
	    {"printf 'x 2\\ny 1\\n' | sort -k2; printf 'a:3\\nb:1\\n' | sort -t: -k2n",
		"y 1\nx 2\nb:1\na:3\n"},
	    {"printf '%s\\n' 'a 2 x' 'b 10 x' 'c 1 y' 'D 2 y' > f; sort -k3,3 -k2,2n f | tr '\\n' "
	     ",; "
	     "sort -k3,3r -k2,2nr f | tr '\\n' ,; sort -r -k2n f | tr '\\n' ,",
		"a 2 x,b 10 x,c 1 y,D 2 y,D 2 y,c 1 y,b 10 x,a 2 x,c 1 y,a 2 x,D 2 y,b 10 x,"},
	    {"printf '%s\\n' 'a 2 x' 'b 10 x' 'c 1 y' 'D 2 y' > f; sort -k1.2 f | head -1; sort "
	     "-k3.2,3.2 -u f; sort f -f | tr '\\n' ,; sort -f -k1,1 f -s | tail -1",
		"c 1 y\na 2 x\nD 2 y\na 2 x,b 10 x,c 1 y,D 2 y,D 2 y\n"},
	    {"touch f; sort -k0 f; sort -k1x f; sort -k1,2.3q f",
		"sort: bad key '0'\nsort: bad key '1x'\nsort: bad key '1,2.3q'\n=1"},
	    {"printf 'b\\na\\nb\\n' | sort -u; printf 'a\\na\\nb\\n' | uniq -c; printf "
	     "'a\\na\\nb\\n' | uniq -d",
		"a\nb\n      2 a\n      1 b\na\n"},
	    {"echo hello | tr a-y b-z; echo aabb | tr -s a; echo 'a1b2' | tr -d 0-9; echo abc | tr "
	     "-cd 'ac\\n'",
		"ifmmp\nabb\nab\nac\n"},
	    {"printf 'a\\0b\\n' | tr -d '\\000'; echo ab | tr '[:lower:]' '[:upper:]'",
		"ab\nAB\n"});
}

static void parts_and_counts(void)
{
	ROWS({"seq 12 | head -2; seq 12 | tail -2; seq 12 | tail -n +11; seq 3 | head -c 3",
		 "1\n2\n11\n12\n11\n12\n1\n2"},
	    {"seq 5 > f; head -n 1 f f; tail -1 f", "==> f <==\n1\n\n==> f <==\n1\n5\n"},
	    {"printf 'a b\\nc' > f; wc f; wc -l < f; wc -w f",
		"        1         3         5 f\n1\n3 f\n"},
	    {"seq 5 > f; wc -l f f; wc f -c", "        5 f\n        5 f\n       10 total\n10 f\n"},
	    {"seq 5 | head -n -2; seq 5 | head -c -7; seq 5 | head -n -9; seq 9999 | head -n -9998",
		"1\n2\n3\n1\n21\n"},
	    {"seq 5 | tail +4; seq 5 > f; tail -c +9 f; tail -n 1 f -q f; tail nosuch",
		"4\n5\n5\n5\n5\ntail: can't open 'nosuch': No such file or directory\ntail: no "
		"files\n=1"},
	    {"seq 5 -2 1; seq 2 3", "5\n3\n1\n2\n3\n"});
}

static void bytes_as_text(void)
{
	ROWS({"printf 'abc\\n' | hexdump -C; printf 'abc' | hexdump",
		 "00000000  61 62 63 0a                                       "
		 "|abc.|\n00000004\n0000000 6261 0063                              \n0000003\n"},
	    {"printf 'ab\\0\\n\\377' | hexdump -c; printf 'ab\\377' | hexdump -b; printf abc | "
	     "hexdump -x",
		"0000000   a   b  \\0  \\n 377                                            "
		"\n0000005\n"
		"0000000 141 142 377                                                    \n0000003\n"
		"0000000    6261    0063                                                "
		"\n0000003\n"},
	    {"seq 1 8 | hexdump -d; seq 1 8 | hexdump -o",
		"0000000   02609   02610   02611   02612   02613   02614   02615   02616\n0000010\n"
		"0000000  005061  005062  005063  005064  005065  005066  005067  "
		"005070\n0000010\n"},
	    {"dd if=/dev/zero bs=64 count=1 2>/dev/null | hexdump -C",
		"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  "
		"|................|\n*\n00000040\n"},
	    {"seq 5 > f; send -b 8 f; send -r 2+2,6+100 f",
		"=trapline-file 76d32be0 f\n=0 47dd6b61 MQoyCjMKNAo=\n=8 82d586cb "
		"NQo=\n=trapline-file 76d32be0 f\n=trapline-end a 58b0f048\n"
		"=trapline-file 76d32be0 f\n=2 dab680c5 Mgo=\n=6 7e652769 NAo1Cg==\n=trapline-file "
		"76d32be0 f\n=trapline-end a 58b0f048\n"},
	    {"echo x > f; cat f | send -; > f; send f",
		"=trapline-file 97ddb3f8 -\n=0 21bc69dc eAo=\n=trapline-file 97ddb3f8 "
		"-\n=trapline-end 2 d7927627\n=trapline-file 76d32be0 f\n=trapline-end 0 "
		"c970ec80\n"},
	    {"send -b 0 f; send -b 3073 f; send -r 2+ f; send -r 1+1,x f; send nosuch",
		"send: a block has 1 to 3072 bytes\nsend: a block has 1 to 3072 bytes\n"
		"send: bad ranges '2+': OFFSET+LENGTH,... in hex\n"
		"send: bad ranges '1+1,x': OFFSET+LENGTH,... in hex\n"
		"send: nosuch: No such file or directory\n=1"});
}

static void passed_on(void)
{
	ROWS({"seq 9 | dd bs=4 count=2 of=f; cat f",
		 "2+0 records in\n2+0 records out\n1\n2\n3\n4\n"},
	    {"dd if=nosuch; echo abcdef > f; printf xy | dd of=f conv=notrunc 2>/dev/null; cat f",
		"dd: can't open 'nosuch': No such file or directory\nxycdef\n"},
	    {"echo hi | tee f | cat; cat f", "hi\nhi\n"},
	    {"head -x", "head: unrecognized option: x (see `help head`)\n=1"},
	    {"echo a b c | xargs -n2 echo x; echo a b | xargs -I{} echo '<{}>'",
		"x a b\nx c\n<a>\n<b>\n"},
	    {"cut -f2 nosuch; tail nosuch; sort nosuch",
		"cut: nosuch: No such file or directory\n"
		"tail: can't open 'nosuch': No such file or directory\ntail: no files\n"
		"sort: nosuch: No such file or directory\n=1"});
}

static void files(void)
{
	ROWS({"mkdir a; mkdir a; echo $?", "mkdir: can't create directory 'a': File exists\n1\n"},
	    {"mkdir -p b/c/d && ls b; rmdir nosuch; echo $?",
		"c\nrmdir: 'nosuch': No such file or directory\n1\n"},
	    {"touch f g; ls; ls -1; ls nosuch; echo $?",
		"f\ng\nf\ng\nls: nosuch: No such file or directory\n1\n"},
	    {"mkdir d; touch d/x f; ls f d; ls -d d; ls -a d", "f\n\nd:\nx\nd\n.\n..\nx\n"},
	    {"echo abc > f; ls -l f | cut -c1-44",
		"-rw-r--r--    1 0        0                4 \n"},
	    {"echo abc > f; cp f g; mv g h; cat h; rm f h; ls", "abc\n"},
	    {"mkdir d; echo x > d/f; cp -r d e; cat e/f; rm -r d e; ls; rm nosuch",
		"x\nrm: can't remove 'nosuch': No such file or directory\n=1"},
	    {"ln -s f l; echo via > l; cat f; ls -l l | sed 's/ .* l / l /'",
		"via\nlrwxrwxrwx l -> f\n"},
	    {"cd /tmp; pwd; cd - > /dev/null; pwd; cd; pwd",
		"/tmp\n/tmp/shell-test\n/tmp/shell-test\n"},
	    {"basename /a/b.c .c; dirname /a/b/c; basename x/; dirname x; dirname /x",
		"b\n/a/b\nx\n.\n/\n"},
	    {"mkdir d; touch d/f1 d/g; find d -name 'f*'; find d -type d", "d/f1\nd\n"},
	    {"type cat echo; which nosuch; echo $?; type nosuch",
		"cat is a command of the kernel\necho is a shell builtin\n127\nnosuch: not "
		"found\n=127"},
	    {"help echo | head -1; help nosuch",
		"usage: echo [-neE] [WORD]...\nhelp: no help for 'nosuch'\n=1"},
	    {"date +%Y | wc -c; env X=1 sh -c 'echo $X'", "5\n1\n"},
	    {"timeout 0.1 sleep 60; echo $?", "143\n"},
	    {"cd; cd nosuch", "sh: cd: can't cd to nosuch: No such file or directory\n=1"},
	    {"cat a b < /dev/null; echo $?", "cat: can't open 'a': No such file or directory\ncat: "
					     "can't open 'b': No such file or directory\n1\n"},
	    {"touch /nodir/x", "touch: /nodir/x: No such file or directory\n=1"});
}

/* They are looked up by halving. */
static void table(void)
{
	for (size_t i = 0; i < sh_command_count; i++) {
		EXPECT(sh_command_find(sh_commands[i].name) == &sh_commands[i]);
		EXPECT(!i || strcmp(sh_commands[i - 1].name, sh_commands[i].name) < 0);
	}
	EXPECT(!sh_command_find("nosuch"));
	ROWS({"uname -m; uname | wc -w", "x86_64\n1\n"});
}

static const struct ktap_case cases[] = {
    {"shell.table", table},
    {"shell.echo", echo},
    {"shell.test", test},
    {"shell.grep", grep},
    {"shell.sed", sed},
    {"shell.awk", awk},
    {"shell.text", text},
    {"shell.parts_and_counts", parts_and_counts},
    {"shell.bytes_as_text", bytes_as_text},
    {"shell.passed_on", passed_on},
    {"shell.files", files},
    {NULL, NULL},
};

const struct ktap_suite suite_shell_commands = {cases};
