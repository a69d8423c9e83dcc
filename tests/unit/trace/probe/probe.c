/*
 * Definitions of probe events: limits, what is listed means the same when typed again, random
 * lines. Hits are in tests/kernel and the sessions.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/dynevent/synth_cmd.h"
#include "trace/event/api.h"
#include "trace/probe/kprobe_cmd.h"

static char line[8192];

/* NAME=BODY as often as asked for. */
static const char *many_args(unsigned n)
{
	size_t at = fmt_snprintf(line, sizeof(line), "p:many do_mkdirat");

	for (unsigned i = 0; i < n; i++)
		at += fmt_snprintf(line + at, sizeof(line) - at, " a%u=%%ax", i);
	return line;
}

static unsigned args_listed(void)
{
	const char *text = trace_get("kprobe_events", NULL);
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '=';
	return n;
}

/* Linux drops what is too much, without a word. */
static void argument_count(void)
{
	trace_fresh();
	for (unsigned n = 127; n <= 129; n++) {
		EXPECT_EQ(trace_put("kprobe_events", many_args(n)), 0);
		EXPECT_EQ(args_listed(), MIN(n, 128u));
	}
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

static void lengths(void)
{
	static const struct {
		const char *fmt;
		unsigned most;
	} rows[] = {
	    {"p:%.*s do_mkdirat", 63},
	    {"p:%.*s/x do_mkdirat", 63},
	    {"p:x do_mkdirat %.*s=%%ax", 32},
	    {"p:x do_mkdirat a=\\\"%.*s\"", 60},
	};
	char name[80];

	trace_fresh();
	memset(name, 'n', sizeof(name));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned n = rows[i].most - 1; n <= rows[i].most + 1; n++) {
			fmt_snprintf(line, sizeof(line), rows[i].fmt, (int)n, name);
			EXPECT_EQ(trace_put("kprobe_events", line), n > rows[i].most ? -EINVAL : 0);
		}
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

/* Nothing is there yet, and nothing comes; all else is as with others. */
static void of_modules(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("kprobe_events", "p:x nosuch:do_mkdirat a=%di"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "r:y nosuch:do_rmdir $retval"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "p:z nosuch:do_rmdir+16"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "p:u nosuch:do_rmdir $arg1"), -EINVAL);
	EXPECT_EQ(trace_append("kprobe_events", "r5:v nosuch:do_rmdir+16"), 0);
	EXPECT_STR(trace_get("kprobe_events", NULL), "p:kprobes/x nosuch:do_mkdirat a=%di\n"
						     "r:kprobes/y nosuch:do_rmdir arg1=$retval\n"
						     "p:kprobes/z nosuch:do_rmdir+16\n"
						     "r5:kprobes/v nosuch:do_rmdir+16\n");
	EXPECT_EQ(trace_put("events/kprobes/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/kprobes/enable", "0"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:x nosuch:do_mkdirat a=%di"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
	EXPECT_STR(trace_get("kprobe_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static void arrays_and_nesting(void)
{
	trace_fresh();
	for (unsigned n = 0; n <= 65; n++) {
		fmt_snprintf(line, sizeof(line), "p:x do_mkdirat +0(%%di):u8[%u]", n);
		EXPECT_EQ(trace_put("kprobe_events", line), n && n <= 64 ? 0 : -EINVAL);
	}
	for (unsigned n = 13; n <= 15; n++) {
		size_t at = fmt_snprintf(line, sizeof(line), "p:x do_mkdirat ");
		for (unsigned i = 0; i < n; i++)
			at += fmt_snprintf(line + at, sizeof(line) - at, "+0(");
		at += fmt_snprintf(line + at, sizeof(line) - at, "%%di");
		for (unsigned i = 0; i < n; i++)
			line[at++] = ')';
		line[at] = '\0';
		EXPECT_EQ(trace_put("kprobe_events", line), n <= 14 ? 0 : -EINVAL);
	}
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

static const char *const good[] = {
    "p:x do_mkdirat",
    "p:g/x do_mkdirat a=%di:s32 b=+0(%si):string c=+u8(+0(%si)):ustring",
    "r:x do_mkdirat $retval r=$retval:b4@8/32",
    "r17:x do_rmdir%return $stack",
    "p:x do_mkdirat+5 %di %si:x8 \\5 \\\"text\" $comm $stack3:symbol $stack2:symstr",
    "p:x do_mkdirat +0(%di):u8[5] +0(%di):string[3] -8(%sp):s16[2]",
    "p:x do_mkdirat a0 s1 sa +4(sa) -8(+0(a1))",
    "r:x do_mkdirat rv ra s0",
};

/* The listing, less its last newline, is a line that makes the same event. */
static void listing_is_a_definition(void)
{
	char first[512], format[4096];

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(trace_put("kprobe_events", good[i]), 0);
		strscpy(first, trace_get("kprobe_events", NULL), sizeof(first));
		const char *path =
		    strstr(first, ":g/") ? "events/g/x/format" : "events/kprobes/x/format";
		strscpy(format, strstr(trace_get(path, NULL), "format:"), sizeof(format));
		EXPECT_EQ(trace_put("kprobe_events", first), 0);
		EXPECT_STR(trace_get("kprobe_events", NULL), first);
		EXPECT_STR(strstr(trace_get(path, NULL), "format:"), format);
		EXPECT_EQ(trace_put("dynamic_events", first), 0);
		EXPECT_STR(trace_get("kprobe_events", NULL), first);
	}
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

/*
 * Good lines with pieces of others in them: whatever comes of it, what was refused is not listed
 * and nothing breaks.
 */
static void random_lines(void)
{
	static const char *const pieces[] = {"+0(", ")", ":", "[4]", "string", "u8", "$arg1",
	    "$stack", "$retval", "%di", "a=", "@", "\\", "\"", "-", "b4@4/32", "x64", "a0", "ra",
	    " ", "+", "=", "/", "+u4(", "symbol", "$comm", "18446744073709551615", ":p", "r9"};
	u64 seed = 20240117;

	trace_fresh();
	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned i = 0; i < 3000; i++) {
		size_t at = fmt_snprintf(
		    line, sizeof(line), "%s", good[prng_next(&seed) % ARRAY_SIZE(good)]);
		for (unsigned k = prng_next(&seed) % 5; k > 0; k--) {
			const char *piece = pieces[prng_next(&seed) % ARRAY_SIZE(pieces)];
			size_t n = strlen(piece), where = prng_next(&seed) % (at + 1);
			memmove(line + where + n, line + where, at - where + 1);
			memcpy(line + where, piece, n);
			at += n;
		}
		int err = trace_put("kprobe_events", line);
		const char *text = trace_get("kprobe_events", NULL);
		if (err ? *text != '\0' : *text == '\0' && line[strspn(line, " ")] != '#')
			ktap_fail(__FILE__, __LINE__, "%d: %s", err, line);
	}
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

/* The probe's event is one like others: on, filtered by its arguments, gone when it is not busy. */
static void busy(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", "p:x do_mkdirat a=%di:s32"), 0);
	EXPECT_EQ(trace_put("events/kprobes/x/filter", "a == -100"), 0);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "1"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), -EBUSY);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), -EBUSY);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "0"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), 0);
	EXPECT_EQ(trace_append("kprobe_events", "-:x"), -ENOENT);
}

/* ---- kernel code: the examples of the events document, 7.3 ---- */

static void api_gen_cmd(void)
{
	static char buf[MAX_DYNEVENT_CMD_LEN];
	struct trace_event_file *gen_kprobe_test;
	struct dynevent_cmd cmd;

	trace_fresh();
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(kprobe_event_gen_cmd_start(
		      &cmd, "gen_kprobe_test", "do_mkdirat", "dfd=%ax", "filename=%dx"),
	    0);
	EXPECT_EQ(kprobe_event_add_fields(&cmd, "flags=%cx", "mode=+4($stack)"), 0);
	EXPECT_EQ(kprobe_event_gen_cmd_end(&cmd), 0);
	EXPECT_STR(trace_get("kprobe_events", NULL), "p:kprobes/gen_kprobe_test do_mkdirat dfd=%ax "
						     "filename=%dx flags=%cx mode=+4($stack)\n");
	gen_kprobe_test = trace_get_event_file(NULL, "kprobes", "gen_kprobe_test");
	EXPECT(!IS_ERR(gen_kprobe_test));
	if (IS_ERR(gen_kprobe_test))
		return;
	EXPECT_EQ(
	    trace_array_set_clr_event(gen_kprobe_test->tr, "kprobes", "gen_kprobe_test", true), 0);
	EXPECT_EQ(kprobe_event_delete("gen_kprobe_test"), -EBUSY);
	EXPECT_EQ(
	    trace_array_set_clr_event(gen_kprobe_test->tr, "kprobes", "gen_kprobe_test", false), 0);
	trace_put_event_file(gen_kprobe_test);
	EXPECT_EQ(kprobe_event_delete("gen_kprobe_test"), 0);
	EXPECT_EQ(kprobe_event_delete("gen_kprobe_test"), -ENOENT);

	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(
	    kretprobe_event_gen_cmd_start(&cmd, "gen_kretprobe_test", "do_mkdirat", "$retval"), 0);
	EXPECT_EQ(kretprobe_event_gen_cmd_end(&cmd), 0);
	EXPECT(strstr(trace_get("kprobe_events", NULL),
	    ":kprobes/gen_kretprobe_test do_mkdirat arg1=$retval"));
	EXPECT_EQ(kprobe_event_delete("gen_kretprobe_test"), 0);
}

/* The longest name that an event may have is deleted by it; none is longer. */
static void api_longest_name(void)
{
	static char buf[MAX_DYNEVENT_CMD_LEN];
	struct dynevent_cmd cmd;
	char name[65];

	trace_fresh();
	memset(name, 'n', sizeof(name));
	name[63] = '\0';
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, name, "do_mkdirat"), 0);
	EXPECT_EQ(kprobe_event_gen_cmd_end(&cmd), 0);
	name[63] = 'n';
	name[64] = '\0';
	EXPECT_EQ(kprobe_event_delete(name), -ENOENT);
	name[63] = '\0';
	EXPECT_EQ(kprobe_event_delete(name), 0);
	EXPECT_STR(trace_get("kprobe_events", NULL), "");
}

static void api_misuse(void)
{
	static char buf[MAX_DYNEVENT_CMD_LEN];
	struct dynevent_cmd cmd;

	trace_fresh();
	synth_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, "e", "do_mkdirat"), -EINVAL);
	EXPECT_EQ(kprobe_event_add_fields(&cmd, "a=%ax"), -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, "e", ""), -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, "e", "do_mkdirat"), 0);
	for (unsigned i = 0; i < 128; i++)
		EXPECT_EQ(kprobe_event_add_field(&cmd, "%ax"), 0);
	EXPECT_EQ(kprobe_event_add_field(&cmd, "%ax"), -EINVAL);
	kprobe_event_cmd_init(&cmd, buf, 24);
	EXPECT_EQ(kprobe_event_gen_cmd_start(&cmd, "e", "do_mkdirat", "a=%ax"), -E2BIG);
	EXPECT_STR(trace_get("kprobe_events", NULL), "");
}

static const struct ktap_case cases[] = {
    {"probe.argument_count", argument_count},
    {"probe.lengths", lengths},
    {"probe.of_modules", of_modules},
    {"probe.arrays_and_nesting", arrays_and_nesting},
    {"probe.listing_is_a_definition", listing_is_a_definition},
    {"probe.random_lines", random_lines},
    {"probe.busy", busy},
    {"probe.api_gen_cmd", api_gen_cmd},
    {"probe.api_longest_name", api_longest_name},
    {"probe.api_misuse", api_misuse},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_probe = {cases};
