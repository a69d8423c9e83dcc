/* Watchpoints: definitions, how they are listed, what is refused, how many can be on at once. */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/trigger.h"
#include "trace/host_lock.h"

#define EVENTS "dynamic_events"
#define N64    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

static const char bad_address[] = "Invalid access memory address";
static const char bad_length[] = "This memory access length is not supported";
static const char bad_variable[] = "Invalid $-variable specified";

static const struct {
	const char *text;
	int err;
	const char *said; /* listed, or what error_log has */
	int word, pos;	  /* the caret: in which word of the text, and where in it */
} lines[] = {
    {"w w@0xffff888000001000", 0, "w:wprobes/w_0xffff888000001000 w@0xffff888000001000:4", 0, 0},
    {"w:x @0xffff888000001000", 0, "w:wprobes/x rw@0xffff888000001000:4", 0, 0},
    {"w:g/x rw@0xffff888000001000:8", 0, "w:g/x rw@0xffff888000001000:8", 0, 0},
    {"w:g/ r@0xffff888000001000:1", 0, "w:g/w_0xffff888000001000 r@0xffff888000001000:1", 0, 0},
    {"w:x rw@-1:8", 0, "w:wprobes/x rw@-1:8", 0, 0},
    {"w:x io@0x3f8", 0, "w:wprobes/x io@0x3f8:1", 0, 0},
    {"w:x io@0:4", 0, "w:wprobes/x io@0x0:4", 0, 0},
    {"w io@0x70:2", 0, "w:wprobes/io_0x70 io@0x70:2", 0, 0},
    {"w:x w@-1 a=$addr v=$value:s32 o=$old c=$comm m=+8(+0($addr)):u16 t=+0($addr):string", 0,
	"w:wprobes/x w@-1:4 a=$addr v=$value:s32 o=$old c=$comm m=+8(+0($addr)):u16 "
	"t=+0($addr):string",
	0, 0},
    {"w", -EINVAL, "No place to watch is specified", 0, 0},
    {"w:x", -EINVAL, "No place to watch is specified", 0, 0},
    {"w10 w@-1", -EINVAL, "Maxactive is not for wprobe", 0, 1},
    {"w: w@-1", -EINVAL, "Event name is not specified", 0, 2},
    {"w:/x w@-1", -EINVAL, "Group name is not specified", 0, 2},
    {"w:x-y w@-1", -EINVAL, "Event name must follow the same rules as C identifiers", 0, 2},
    {"w:" N64 " w@-1", -EINVAL, "Event name is too long", 0, 2},
    {"w:x nosuch", -EINVAL, "Access memory address requires @", 1, 0},
    {"w:x 0xffff888000001000", -EINVAL, "Access memory address requires @", 1, 0},
    {"w:x a@-1", -EINVAL, "Bad memory access type", 1, 0},
    {"w:x wr@-1", -EINVAL, "Bad memory access type", 1, 0},
    {"w:x w@nosuch", -ENOENT, bad_address, 1, 2},
    {"w:x rw@nosuch+8:8", -ENOENT, bad_address, 1, 3},
    {"w:x w@", -ENOENT, bad_address, 1, 2},
    {"w:x w@0:4", -EINVAL, bad_address, 1, 2},
    {"w:x w@0x:4", -EINVAL, bad_address, 1, 2},
    {"w:x w@12ab", -EINVAL, bad_address, 1, 2},
    {"w:x w@-2", -EINVAL, bad_address, 1, 2},
    {"w:x w@-0x1", -EINVAL, bad_address, 1, 2},
    {"w:x w@0xffffffffffffffff", -EINVAL, bad_address, 1, 2},
    {"w:x io@nosuch", -EINVAL, bad_address, 1, 3},
    {"w:x w@nosuch+offset", -EINVAL, "Invalid probed address or symbol", 1, 8},
    {"w:x w@nosuch-:4", -EINVAL, "Invalid probed address or symbol", 1, 8},
    {"w:x w@-1:0", -EINVAL, bad_length, 1, 5},
    {"w:x w@-1:3", -EINVAL, bad_length, 1, 5},
    {"w:x w@-1:16", -EINVAL, bad_length, 1, 5},
    {"w:x w@-1:", -EINVAL, bad_length, 1, 5},
    {"w:x w@-1:100", -EINVAL, bad_length, 1, 5},
    {"w:x io@0x3f8:8", -EINVAL, bad_length, 1, 9},
    {"w:x w@-1 $arg1", -EINVAL, bad_variable, 2, 0},
    {"w:x w@-1 $stack", -EINVAL, bad_variable, 2, 0},
    {"w:x w@-1 a=$stack2", -EINVAL, bad_variable, 2, 2},
    {"w:x w@-1 $addrs", -EINVAL, bad_variable, 2, 0},
    {"w:x w@-1 $retval", -EINVAL, "$retval is not available on probe", 2, 0},
    {"w:x w@-1 a=%ax", -EINVAL, "Invalid fetch argument", 2, 2},
    {"w:x w@-1 a=$value:u128", -EINVAL, "Unknown type is specified", 2, 9},
    {"w:x w@-1 a=$value a=$old", -EINVAL, "This argument name is already used", 3, 0},
    {"w:synthetic/src w@-1", -EEXIST, "Given group/event name is already used by another event", 0,
	0},
};

static u32 caret_of(const char *text, int word, int pos)
{
	u32 at = 0;

	while (word-- > 0)
		at += strcspn(text + at, " ") + 1;
	return at + pos;
}

static void expect(unsigned i)
{
	char wanted[400];

	EXPECT_EQ(trace_put("error_log", ""), 0);
	int err = trace_append(EVENTS, lines[i].text);
	if (err)
		fmt_snprintf(wanted, sizeof(wanted), "] wprobe: error: %s\n  Command: %s\n%*s^\n",
		    lines[i].said, lines[i].text,
		    11 + caret_of(lines[i].text, lines[i].word, lines[i].pos), "");
	else
		fmt_snprintf(wanted, sizeof(wanted), "%s\n", lines[i].said);
	const char *text = trace_get(err ? "error_log" : EVENTS, NULL);
	if (err != lines[i].err || !strstr(text, wanted))
		ktap_fail(__FILE__, __LINE__, "%s: %d %s", lines[i].text, err, text);
	if (!err) /* what is listed makes the same event */
		EXPECT_EQ(trace_put(EVENTS, lines[i].said), 0);
	if (!err)
		EXPECT_STR(trace_get(EVENTS, NULL), wanted);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
}

static void define(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append("synthetic_events", "src int a"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		bool needs_src = lines[i].err == -EEXIST;
		if (!needs_src && *trace_get("synthetic_events", NULL))
			EXPECT_EQ(trace_put("synthetic_events", ""), 0);
		if (needs_src)
			EXPECT_EQ(trace_append("synthetic_events", "src int a"), 0);
		expect(i);
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* ---- switching on ---- */

static u64 words[6] __aligned(8);

static const char *const names[] = {"a", "b", "c", "d", "e"};

static void define_at(const char *name, const char *kind, const void *at, unsigned len)
{
	char line[128];

	fmt_snprintf(
	    line, sizeof(line), "w:%s %s@0x%llx:%u", name, kind, (unsigned long long)at, len);
	EXPECT_EQ(trace_append(EVENTS, line), 0);
}

static int enable(const char *name, const char *text)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "events/wprobes/%s/enable", name);
	return trace_put(path, text);
}

static void expect_said(const char *why)
{
	const char *log = trace_get("error_log", NULL);

	if (!strstr(log, why))
		ktap_fail(__FILE__, __LINE__, "%s: %s", why, log);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* There are four. Switched off, one is free again; those of a system are on as far as they go. */
static void how_many(void)
{
	trace_fresh();
	for (unsigned i = 0; i < 5; i++)
		define_at(names[i], "w", &words[i], 8);
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(enable(names[i], "1"), 0);
	EXPECT_EQ(enable("d", "1"), 0);
	EXPECT_STR(trace_get("error_log", NULL), "");
	EXPECT_EQ(enable("e", "1"), -ENOSPC);
	EXPECT_STR(trace_get("events/wprobes/e/enable", NULL), "0\n");
	expect_said("wprobe: error: All debug registers are in use\n  Command: w:wprobes/e w@0x");
	EXPECT_EQ(trace_put(EVENTS, ""), -EBUSY);
	EXPECT_EQ(enable("b", "0"), 0);
	EXPECT_EQ(enable("e", "1"), 0);
	EXPECT_EQ(enable("b", "1"), -ENOSPC);
	EXPECT_EQ(trace_put("events/wprobes/enable", "1"), -ENOSPC);
	EXPECT_STR(trace_get("events/wprobes/enable", NULL), "X\n");
	EXPECT_EQ(trace_put("events/wprobes/enable", "0"), 0);
	EXPECT_EQ(trace_put("events/wprobes/enable", "1"), -ENOSPC);
	EXPECT_EQ(trace_put("events/wprobes/enable", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* All lengths, at each place of a word. */
static void alignment(void)
{
	trace_fresh();
	for (unsigned len = 1; len <= 8; len *= 2)
		for (unsigned at = 0; at < 9; at++) {
			define_at("a", "w", (char *)words + at, len);
			EXPECT_EQ(enable("a", "1"), at % len ? -EINVAL : 0);
			if (at % len)
				expect_said("The address is not a multiple of the length");
			EXPECT_EQ(enable("a", "0"), 0);
			EXPECT_EQ(trace_put(EVENTS, ""), 0);
		}
}

static void not_on(void)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
	    {"w:a r@-1", "This CPU does not watch reads alone"},
	    {"w:a w@8:8", "The address is not the kernel's"},
	    {"w:a w@0x7ffffffff000:8", "The address is not the kernel's"},
	    {"w:a io@0x3f9:2", "The port is not a multiple of the length"},
	    {"w:a io@0x10000", "There is no such port"},
	};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put(EVENTS, rows[i].line), 0);
		EXPECT_EQ(enable("a", "1"), -EINVAL);
		expect_said(rows[i].why);
	}
	EXPECT_EQ(trace_put(EVENTS, "w:a io@0xffff"), 0);
	EXPECT_EQ(enable("a", "1"), 0);
	EXPECT_EQ(enable("a", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, "w:a rw@-1:8"), 0);
	EXPECT_EQ(enable("a", "1"), 0);
	EXPECT_EQ(enable("a", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
}

/* "-:NAME PLACE ARGS" means one that is listed so. */
static void remove_by_place(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(EVENTS, "w:a io@0x3f8:1 v=$value"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:a io@0x3f8:2"), -ENOENT);
	EXPECT_EQ(trace_append(EVENTS, "-:a io@0x3f"), -ENOENT);
	EXPECT_EQ(trace_append(EVENTS, "-:a io@0x3f8:1 v=$old"), -ENOENT);
	EXPECT_EQ(trace_append(EVENTS, "-:kprobes/a"), -ENOENT);
	EXPECT_EQ(trace_append(EVENTS, "-:wprobes/a io@0x3f8:1 v=$value"), 0);
	EXPECT_STR(trace_get(EVENTS, NULL), "");
}

/* ---- triggers ---- */

#define TRIGGER "events/synthetic/src/trigger"

static const struct {
	const char *text;
	int err;
	const char *listed; /* NULL: nothing */
} triggers[] = {
    {"set_wprobe:a:p", 0, "set_wprobe:a:p+0:unlimited\n"},
    {"set_wprobe:a:p+8:3", 0, "set_wprobe:a:p+8:count=3\n"},
    {"set_wprobe:a:p-0x10:0x3 if n > 5", 0, "set_wprobe:a:p-16:count=3 if n > 5\n"},
    {"clear_wprobe:a", 0, "clear_wprobe:a:unlimited\n"},
    {"clear_wprobe:a:7", 0, "clear_wprobe:a:count=7\n"},
    {"clear_wprobe:a:p+8 if n == 1", 0, "clear_wprobe:a:p+8:unlimited if n == 1\n"},
    {"clear_wprobe:a:p:7", 0, "clear_wprobe:a:p+0:count=7\n"},
    {"set_wprobe", -ENOENT, NULL},
    {"set_wprobe:", -ENOENT, NULL},
    {"set_wprobe:nosuch:p", -ENOENT, NULL},
    {"set_wprobe:src:p", -ENOENT, NULL},
    {"clear_wprobe:nosuch", -ENOENT, NULL},
    {"set_wprobe:a", -EINVAL, NULL},
    {"set_wprobe:a:", -EINVAL, NULL},
    {"set_wprobe:a:5", -EINVAL, NULL},
    {"set_wprobe:a:p+x", -EINVAL, NULL},
    {"set_wprobe:a:p+8x", -EINVAL, NULL},
    {"set_wprobe:a:p:x", -EINVAL, NULL},
    {"set_wprobe:a:nosuch", -ENOENT, NULL},
    {"set_wprobe:a:n", -ENOEXEC, NULL},
    {"clear_wprobe:a:n", -ENOEXEC, NULL},
    {"clear_wprobe:a:", -EINVAL, NULL},
    {"clear_wprobe:a:+8", -EINVAL, NULL},
    {"set_wprobe:a:p if nosuch == 1", -EINVAL, NULL},
    {"set_wprobe:a:p unless n", -EINVAL, NULL},
};

static void trigger_lines(void)
{
	char line[80];

	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", "src unsigned long p; int n"), 0);
	EXPECT_EQ(trace_append(EVENTS, "w:a rw@-1:8 $addr"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(triggers); i++) {
		int err = trace_append(TRIGGER, triggers[i].text);
		const char *text = trace_get(TRIGGER, NULL);
		if (err != triggers[i].err ||
		    (triggers[i].listed ? strcmp(text, triggers[i].listed) : *text != '#'))
			ktap_fail(__FILE__, __LINE__, "%s: %d %s", triggers[i].text, err, text);
		if (err)
			continue;
		EXPECT_STR(trace_get("events/wprobes/a/enable", NULL), "0*\n");
		EXPECT_EQ(trace_append(TRIGGER, triggers[i].text), -EEXIST);
		EXPECT_EQ(trace_append(EVENTS, "-:wprobes/a"), -EBUSY);
		fmt_snprintf(line, sizeof(line), "!%s", triggers[i].text);
		EXPECT_EQ(trace_append(TRIGGER, line), 0);
		EXPECT_STR(trace_get("events/wprobes/a/enable", NULL), "0\n");
	}
	EXPECT_EQ(enable("a", "1"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "set_wprobe:a:p"), -EBUSY);
	EXPECT_EQ(trace_append(TRIGGER, "clear_wprobe:a:p"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "!clear_wprobe:a:p"), 0);
	EXPECT_EQ(enable("a", "0"), 0);
	EXPECT_EQ(trace_append(EVENTS, "-:wprobes/a"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
}

/* A trigger holds a watchpoint: there is none for the fifth, and none for reads alone. */
static void trigger_without_room(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events", "src unsigned long p; int n"), 0);
	EXPECT_EQ(trace_append(EVENTS, "w:r r@-1"), 0);
	EXPECT_EQ(trace_append(TRIGGER, "set_wprobe:r:p"), -EINVAL);
	for (unsigned i = 0; i < 5; i++) {
		char line[40];
		fmt_snprintf(line, sizeof(line), "w:a%u w@-1:8", i);
		EXPECT_EQ(trace_append(EVENTS, line), 0);
		fmt_snprintf(line, sizeof(line), "set_wprobe:a%u:p", i);
		EXPECT_EQ(trace_append(TRIGGER, line), i < 4 ? 0 : -ENOSPC);
	}
	EXPECT_EQ(enable("a4", "1"), -ENOSPC);
	EXPECT_EQ(trace_append(TRIGGER, "!set_wprobe:a2:p"), 0);
	EXPECT_EQ(enable("a4", "1"), 0);
	host_lock();
	trace_triggers_clear(trace_global);
	host_unlock();
	EXPECT_EQ(enable("a4", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

/* Without room for both, a trigger's event and its target have no watchpoint. */
static void target_without_event(void)
{
	trace_fresh();
	for (unsigned i = 0; i < 5; i++)
		define_at(names[i], "w", &words[i], 8);
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(enable(names[i], "1"), 0);
	EXPECT_EQ(trace_append("events/wprobes/d/trigger", "enable_event:wprobes:e"), -ENOSPC);
	expect_said("All debug registers are in use");
	EXPECT_EQ(enable("d", "1"), 0);
	EXPECT_EQ(enable("e", "1"), -ENOSPC);
	EXPECT_EQ(trace_put("events/wprobes/enable", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static const struct ktap_case cases[] = {
    {"watch.define", define},
    {"watch.how_many", how_many},
    {"watch.alignment", alignment},
    {"watch.not_on", not_on},
    {"watch.remove_by_place", remove_by_place},
    {"watch.trigger_lines", trigger_lines},
    {"watch.trigger_without_room", trigger_without_room},
    {"watch.target_without_event", target_without_event},
    {NULL, NULL},
};
const struct ktap_suite suite_watch = {cases};
