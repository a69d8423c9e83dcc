/*
 * Records as lines, where values are at their edges: records that are too short or point outside
 * themselves, the fields of options/fields, flags and masks, packed formats, the latency header.
 */
#include <stdlib.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/clock.h"
#include "trace/event/file.h"
#include "trace/event/ftrace.h"
#include "trace/event/options.h"
#include "trace/host_clock.h"
#include "trace/host_lock.h"
#include "trace/output/bprintf.h"
#include "trace/output/fields.h"
#include "trace/output/ftrace.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/printk.h"
#include "trace/output/reader.h"

static char text[16384];

/* The line of a record in an array of its own, with these options. */
static const char *line_of(const void *rec, u32 len, u64 options)
{
	static struct trace_array tr;
	struct trace_out out;
	struct seq s;

	tr.clock = trace_clocks;
	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, options);
	const struct trace_line line = {
	    .tr = &tr, .ent = rec, .len = len, .ts = 5000, .next_ts = 5000};
	trace_print_line(&out, &line);
	text[s.len] = '\0';
	return text;
}

/* The event's own words: no columns. */
static const char *words_of(const void *rec, u32 len)
{
	return line_of(rec, len, trace_options_default() & ~TRACE_OPT_CONTEXT_INFO);
}

static const char *raw_of(const void *rec, u32 len)
{
	return line_of(
	    rec, len, (trace_options_default() & ~TRACE_OPT_CONTEXT_INFO) | TRACE_OPT_RAW);
}

/* ---- records of tracers ---- */

static void hwlat(void)
{
	struct rec_hwlat rec = {.ent.type = TRACE_HWLAT,
	    .duration = 12,
	    .outer_duration = 7,
	    .nmi_total_ts = 9,
	    .tv_sec = 3,
	    .tv_nsec = 45,
	    .seqnum = 6,
	    .count = 2,
	    .smi_count = 5};

	trace_fresh();
	EXPECT_STR(words_of(&rec, sizeof(rec)),
	    "#6     inner/outer(us):   12/7     ts:3.000000045 count:2 smi-count:5\n");
	rec.nmi_count = 4;
	EXPECT_STR(words_of(&rec, sizeof(rec)),
	    "#6     inner/outer(us):   12/7     ts:3.000000045 count:2 nmi-total:9 nmi-count:4 "
	    "smi-count:5\n");
	/* As Linux records it, without the number of SMIs. */
	EXPECT_STR(words_of(&rec, sizeof(rec) - 4),
	    "#6     inner/outer(us):   12/7     ts:3.000000045 count:2 nmi-total:9 nmi-count:4\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 8), "");
	EXPECT_STR(raw_of(&rec, sizeof(rec) - 4), "12 7 3 000000045 6\n");
	EXPECT_STR(raw_of(&rec, sizeof(rec) - 8), "");
}

static void osnoise(void)
{
	struct rec_osnoise rec = {.ent.type = TRACE_OSNOISE, .runtime = 3, .noise = 1};

	trace_fresh();
	EXPECT_STR(words_of(&rec, sizeof(rec)),
	    "3          1  66.66666       0      0      0      0      0      0\n");
	rec.noise = 0;
	EXPECT_STR(words_of(&rec, sizeof(rec)),
	    "3          0 100.00000       0      0      0      0      0      0\n");
	rec.runtime = 0;
	EXPECT_STR(words_of(&rec, sizeof(rec)),
	    "0          0   0.00000       0      0      0      0      0      0\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 1), "");
	struct rec_timerlat late = {.ent.type = TRACE_TIMERLAT, .seqnum = 1, .timer_latency = 77};
	EXPECT_STR(
	    words_of(&late, sizeof(late)), "#1     context    irq timer_latency        77 ns\n");
	late.context = 1;
	EXPECT_STR(
	    words_of(&late, sizeof(late)), "#1     context thread timer_latency        77 ns\n");
	EXPECT_STR(words_of(&late, sizeof(late) - 1), "");
}

static void switches(void)
{
	struct rec_context_switch rec = {.ent.type = TRACE_CTX,
	    .prev_pid = 1,
	    .next_pid = 77777,
	    .prev_prio = 120,
	    .next_prio = 98,
	    .prev_state = 8,
	    .next_state = 9,
	    .next_cpu = 2};

	trace_fresh();
	EXPECT_STR(words_of(&rec, sizeof(rec)), "       1:120:I ==> [002]   77777: 98:? <...>\n");
	EXPECT_STR(raw_of(&rec, sizeof(rec)), "1 120 I 2 77777 98 ?\n");
	rec.ent.type = TRACE_WAKE;
	EXPECT_STR(words_of(&rec, sizeof(rec)), "       1:120:I   + [002]   77777: 98:? <...>\n");
	EXPECT_STR(raw_of(&rec, sizeof(rec)), "1 120 + 2 77777 98 ?\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 1), "");
}

static void functions(void)
{
	struct rec_function rec = {.ent.type = TRACE_FN, .ip = 0x10, .parent_ip = 0x20};
	struct rec_func_repeats again = {.ent.type = TRACE_FUNC_REPEATS,
	    .ip = 0x10,
	    .count = 3,
	    .top_delta_ts = 1,
	    .bottom_delta_ts = 5};

	trace_fresh();
	EXPECT_STR(words_of(&rec, sizeof(rec)), "sym_10 <-sym_20\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 1), "");
	rec.parent_ip = 0;
	EXPECT_STR(words_of(&rec, sizeof(rec)), "sym_10\n");
	EXPECT_STR(raw_of(&again, sizeof(again)), "10 0 3 4294967301\n");
	EXPECT_STR(raw_of(&again, sizeof(again) - 1), "");
}

static void stacks(void)
{
	struct {
		struct trace_entry ent;
		s32 size;
		u32 pad;
		u64 caller[3];
	} __packed rec = {.ent.type = TRACE_STACK, .size = 2, .caller = {0x10, 0x20, 0x30}};
	struct {
		struct rec_user_stack head;
		u64 more[2];
	} __packed user = {.head.ent.type = TRACE_USER_STACK};

	trace_fresh();
	/* As many frames as it counts; of those, the ones that lie in the record. */
	EXPECT_STR(words_of(&rec, sizeof(rec)), "<stack trace>\n => sym_10\n => sym_20\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 8), "<stack trace>\n => sym_10\n => sym_20\n");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 9), "<stack trace>\n => sym_10\n");
	rec.size = -1;
	EXPECT_STR(words_of(&rec, sizeof(rec)), "<stack trace>\n");
	/* Eight frames at most; the first that is 0 ends them. */
	for (u64 i = 0; i < TRACE_USER_FRAMES; i++)
		user.head.caller[i] = i + 1;
	user.more[0] = 9;
	const char *shown = words_of(&user, sizeof(user));
	EXPECT(str_has_prefix(shown, "<user stack trace>\n =>  <0000000000000001>\n"));
	EXPECT(strstr(shown, " =>  <0000000000000008>\n") && !strstr(shown, "9>"));
	user.head.caller[2] = 0;
	EXPECT_STR(words_of(&user, sizeof(user)),
	    "<user stack trace>\n =>  <0000000000000001>\n =>  <0000000000000002>\n");
}

/* ---- texts ---- */

static void messages(void)
{
	struct {
		struct trace_entry ent;
		u64 ip;
		const char *fmt;
		u32 words[2];
	} __packed rec = {.ent.type = TRACE_BPRINT, .fmt = "%d|%d", .words = {5, 6}};
	struct rec_print print = {.ent.type = TRACE_PRINT};

	trace_fresh();
	EXPECT_STR(words_of(&rec, sizeof(rec)), "0: 5|6");
	EXPECT_STR(words_of(&rec, sizeof(rec) - 4), "0: 5|"); /* the second is not in it */
	EXPECT_STR(words_of(&rec, sizeof(struct rec_bprint) - 1), "0: ");
	EXPECT_STR(words_of(&print, sizeof(print)), "0: ");
	/* Only messages alone, and only if both options are on. */
	u64 options = trace_options_default() | TRACE_OPT_PRINTK_MSGONLY;
	EXPECT_STR(line_of(&rec, sizeof(rec), options), "5|6");
	EXPECT(strstr(line_of(&rec, sizeof(rec), options & ~TRACE_OPT_PRINTK), "] ..... "));
}

/* Another boot's text is looked at byte by byte: cut at what there is room for, or not there. */
static void texts_of_another_boot(void)
{
	static char longer[300];
	struct rec_bputs rec = {.ent.type = TRACE_BPUTS, .str = longer};
	struct trace_out out;
	struct seq s;

	memset(longer, 'x', sizeof(longer) - 1);
	for (unsigned there = 0; there < 2; there++) {
		seq_init(&s, text, sizeof(text) - 1);
		trace_out_init(&out, &s, 0);
		out.past = (const struct trace_prevboot *)text; /* any boot but this one */
		rec.str = there ? longer : (const char *)8;
		EXPECT(trace_ftrace_message(&out, &rec, sizeof(rec)));
		EXPECT_EQ(s.len, there ? 255 : 0);
	}
}

static void pack(char *out, size_t size, const char *fmt, ...)
{
	u32 words[300];
	va_list ap;
	struct seq s;

	va_start(ap, fmt);
	u32 n = bprintf_encode(words, ARRAY_SIZE(words), fmt, ap);
	va_end(ap);
	seq_init(&s, out, size - 1);
	bprintf_decode(&s, fmt, words, n);
	out[s.len] = '\0';
}

static u32 packed_words(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	u32 n = bprintf_encode(NULL, 0, fmt, ap);
	va_end(ap);
	return n;
}

static void packed(void)
{
	static const char *const longs[] = {"%ld", "%zd", "%jd", "%td", "%Ld", "%p"};
	const char *none = NULL;
	u32 words[2] = {7, 7};
	struct seq s;

	for (unsigned i = 0; i < ARRAY_SIZE(longs); i++)
		EXPECT_EQ(packed_words(longs[i], 1UL), 2);
	EXPECT_EQ(packed_words("%d%hd%c", 1, 2, 3), 3);
	EXPECT_EQ(packed_words("%s", "abc"), 1);
	EXPECT_EQ(packed_words("%s", "abcd"), 2);
	pack(text, sizeof(text), "<%s>", none);
	EXPECT_STR(text, "<(null)>");
	fmt_set_pointer_hook(trace_pointer_text);
	pack(text, sizeof(text), "%ps|%pS|%d", (void *)0x12, (void *)0x34, 5);
	EXPECT_STR(text, "sym_12|sym_34+0x0/0x10|5");
	/* A width that is missing, and a conversion longer than any, end the text. */
	seq_init(&s, text, sizeof(text) - 1);
	bprintf_decode(&s, "a%*d", words, 0);
	EXPECT_EQ(s.len, 1);
	s.len = 0;
	bprintf_decode(&s, "a%*s", words, 0);
	EXPECT_EQ(s.len, 1);
	s.len = 0;
	bprintf_decode(&s, "b%0000000000000000000000000000000000000000000000001d", words, 2);
	EXPECT_EQ(s.len, 1);
	s.len = 0;
	bprintf_decode(&s, "c%ld", words, 1);
	EXPECT_EQ(s.len, 1);
}

static unsigned times(const char *what, const char *in)
{
	unsigned n = 0;

	for (; (in = strstr(in, what)); in++)
		n++;
	return n;
}

/* trace_printk() takes 240 words of arguments; each format is listed once, in C's form. */
static void printks(void)
{
	static char argument[1000];

	trace_fresh();
	memset(argument, 'a', 960);
	EXPECT_EQ(trace_printk("long %s\n", argument), -E2BIG);
	argument[959] = '\0';
	EXPECT_EQ(trace_printk("long %s\n", argument), 960);
	EXPECT(strstr(trace_nth_event(0), argument));
	for (int i = 0; i < 700; i++) /* each gives its memory back */
		EXPECT_EQ(trace_printk("a \\ and\ta \"%d\"\n", i), 4);
	EXPECT(strstr(trace_get("trace", NULL), ": a \\ and\ta \"699\"\n"));
	EXPECT_EQ(
	    times(": \"a \\\\ and\\ta \\\"%d\\\"\\n\"\n", trace_get("printk_formats", NULL)), 1);
	trace_fresh();
}

/* ---- helpers of events' formats ---- */

static void flags_and_masks(void)
{
	static const struct trace_name names[] = {{3, "BOTH"}, {1, "ONE"}, {0, NULL}};
	struct {
		u32 words[4];
		char more[8];
	} rec = {{0, 0x11, 0x22, 0x33}, "outside"};
	struct trace_out out;
	struct seq s;

	memset(&out, 0xff, sizeof(out));
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, 0);
	EXPECT_STR(trace_flags_text(&out, 0x10, "|", names), "0x10");
	EXPECT_STR(trace_flags_text(&out, 0x13, "|", names), "BOTH|0x10");
	EXPECT_STR(trace_flags_text(&out, 0x2, "|", names), "0x2");
	EXPECT_STR(trace_get_mask(&out, &rec, 16, 8 << 16 | 4), "00000022,00000011");
	EXPECT_STR(trace_get_mask(&out, &rec, 16, 6 << 16 | 4), "00000011");
	EXPECT_STR(trace_get_mask(&out, &rec, 16, 8 << 16 | 12), "");
	/* A text lies in the record, with its end. */
	EXPECT_STR(trace_get_str(&rec, 24, 8 << 16 | 16), "outside");
	EXPECT_STR(trace_get_str(&rec, 23, 8 << 16 | 16), "");
	EXPECT_STR(trace_get_str(&rec, 24, 7 << 16 | 16), "");
	EXPECT_STR(trace_get_str(&rec, 16, 8 << 16 | 16), "");
	EXPECT_STR(trace_get_str(&rec, 24, 16), "");
	/* Without more room, texts are cut, and then empty. */
	for (unsigned i = 0; i < 200; i++) {
		const char *t = trace_symbol_text(&out, 0x123456, names);
		EXPECT(strlen(t) <= 8);
		if (i == 199)
			EXPECT_STR(t, "");
	}
}

static u64 clock_ns;

static u64 clock_of_ours(void)
{
	return ++clock_ns;
}

static void pointers(void)
{
	char one[32], two[32];

	machine_clock(clock_of_ours);
	trace_pointer_text(one, sizeof(one), 'H', one);
	trace_pointer_text(two, sizeof(two), 'H', one);
	EXPECT_STR(one, two); /* at any time */
	trace_pointer_text(two, sizeof(two), 'H', two);
	EXPECT(strcmp(one, two));
	trace_pointer_text(one, sizeof(one), 'H', NULL);
	EXPECT_STR(one, "0000000000000000");
	machine_clock(NULL);
}

/* A name found before is shown again only for the same address and options. */
static void kept_symbols(void)
{
	struct trace_symbols *kept = calloc(1, sizeof(*kept));
	struct trace_out out;
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, 0);
	out.symbols = kept;
	trace_print_ip(&out, 0x10);
	out.options = TRACE_OPT_SYM_OFFSET;
	trace_print_ip(&out, 0x10);
	trace_print_ip(&out, 0x10 + ((u64)TRACE_SYMBOLS_KEPT << 8));
	out.options = TRACE_OPT_SYM_ADDR;
	trace_print_ip(&out, 0x10);
	text[s.len] = '\0';
	char wanted[256];
	fmt_snprintf(wanted, sizeof(wanted),
	    "sym_10sym_10+0x0/0x10sym_%lx+0x0/0x10sym_10 <0000000000000010>",
	    0x10 + ((u64)TRACE_SYMBOLS_KEPT << 8));
	EXPECT_STR(text, wanted);
	free(kept);
}

/* ---- an event without a format: options/fields, and `name=value` ---- */

static const struct trace_event_field fields[] = {
    {"u8", "low", 8, 1, false, TRACE_FIELD_NUMBER},
    {"u8", "high", 9, 1, false, TRACE_FIELD_NUMBER},
    {"u16", "half", 10, 2, false, TRACE_FIELD_NUMBER},
    {"int", "word", 12, 4, true, TRACE_FIELD_NUMBER},
    {"__data_loc char[]", "dyn", 16, 4, false, TRACE_FIELD_DYN_STRING},
    {"__rel_loc char[]", "rel", 20, 4, false, TRACE_FIELD_REL_STRING},
    {"__data_loc u8[]", "list", 24, 4, false, TRACE_FIELD_DYN_ARRAY},
    {"__data_loc long[]", "frames", 28, 4, false, TRACE_FIELD_STACK},
    {"char *", "ptr", 32, 8, false, TRACE_FIELD_PTR_STRING},
    {"char[4]", "chars", 40, 4, false, TRACE_FIELD_STRING},
    {"u8[3]", "three", 44, 3, false, TRACE_FIELD_NUMBER},
    {"char[]", "none", 48, 0, false, TRACE_FIELD_ARRAY},
    {.name = NULL},
};

static const struct trace_event_field *all_fields(
    const struct trace_event_call *call __maybe_unused)
{
	return fields;
}

static const struct trace_event_class plain_class = {.system = "unit", .fields = all_fields};
static struct trace_event_call plain = {.class = &plain_class, .name = "unit_plain"};

struct plain_rec {
	struct trace_entry ent;
	u8 low, high;
	u16 half;
	s32 word;
	u32 dyn, rel, list, frames;
	const char *ptr;
	char chars[4];
	u8 three[4];
	char rest[8]; /* 48 */
	u64 stack[3]; /* 56: their count, two addresses */
};

static const char *shown_fields(const struct plain_rec *rec, u32 len, bool past)
{
	struct trace_out out;
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, 0);
	if (past)
		out.past = (const struct trace_prevboot *)text;
	void *copy = malloc(len); /* nothing lies beyond its end */
	memcpy(copy, rec, len);
	trace_print_fields(&out, &plain, copy, len);
	free(copy);
	text[s.len] = '\0';
	return text;
}

static void shown_by_type(void)
{
	static char pointed[200];
	struct plain_rec rec = {.low = 126,
	    .high = 127,
	    .half = 0xffff,
	    .word = -1,
	    .dyn = 4 << 16 | 48,
	    .rel = 4 << 16 | (52 - 24),
	    .list = 3 << 16 | 44,
	    .frames = 24 << 16 | 56,
	    .ptr = pointed,
	    .chars = "four",
	    .three = {1, 0xab, 3},
	    .rest = "dyn\0a\x7f"
		    "b",
	    .stack = {2, 0x10, 0x20}};
	char wanted[1024];

	memset(pointed, 'p', 150);
	fmt_snprintf(wanted, sizeof(wanted),
	    "unit_plain: low='~'(126) high=(127) half=0xffff (65535) word=0xffffffff (-1) dyn=dyn "
	    "rel=a.b (61:7f:62) list=01,ab,03 frames=sym_10,sym_20 ptr=(0x%016lx:%.128s) "
	    "chars=four three=01,ab,03 none=\n",
	    (u64)pointed, pointed);
	EXPECT_STR(shown_fields(&rec, sizeof(rec), false), wanted);
	/* A field that ends where the record does is in it; with one byte less it is not. */
	EXPECT(
	    strstr(shown_fields(&rec, 47, false), " chars=four three=01,ab,03 none=<OVERFLOW>\n"));
	EXPECT(strstr(text, " frames=<OVERFLOW> "));
	EXPECT(strstr(text, " dyn=<OVERFLOW> rel=<OVERFLOW> list=01,ab,03 "));
	EXPECT(strstr(shown_fields(&rec, 46, false), " three=<OVERFLOW> "));
	EXPECT(strstr(text, " list=<OVERFLOW> "));
	EXPECT(
	    strstr(shown_fields(&rec, 9, false), " low='~'(126) high=<OVERFLOW> half=<OVERFLOW> "));
	EXPECT(strstr(shown_fields(&rec, 17, false), " word=0xffffffff (-1) dyn=<OVERFLOW> "));
	/* A stack that ends within a frame has those before. */
	rec.frames -= 1 << 16;
	EXPECT(strstr(shown_fields(&rec, sizeof(rec), false), " frames=sym_10 ptr="));
	/* A pointer is followed only if there is something, and in this boot. */
	rec.frames = 0;
	fmt_snprintf(wanted, sizeof(wanted), " ptr=(0x%016lx) ", (u64)pointed);
	EXPECT(strstr(shown_fields(&rec, sizeof(rec), true), wanted));
	rec.ptr = (const char *)16;
	EXPECT(strstr(shown_fields(&rec, sizeof(rec), false), " ptr=(0x0000000000000010) "));
	rec.low = 0xa0;
	rec.high = 0x9f;
	EXPECT(strstr(shown_fields(&rec, sizeof(rec), false), " low='\xa0'(160) high=(159) "));
}

/* The option is for events that have fields of their own, not for those of the tracer. */
static void which_show_fields(void)
{
	struct plain_rec rec = {.low = 65, .word = -5, .dyn = 4 << 16 | 48, .rest = "dyn"};
	struct rec_function fn = {.ent.type = TRACE_FN, .ip = 0x10};
	u64 options = trace_options_default() & ~TRACE_OPT_CONTEXT_INFO;

	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_event_register(&plain), 0);
	host_unlock();
	rec.ent.type = plain.id;
	EXPECT_STR(line_of(&fn, sizeof(fn), options | TRACE_OPT_FIELDS), "sym_10\n");
	EXPECT(str_has_prefix(line_of(&rec, sizeof(rec), options | TRACE_OPT_FIELDS),
	    "unit_plain: low='A'(65) high=(0) half=0x0 (0) word=0xfffffffb (-5) "));
	/* Up to the first that is not in the record; of one without a size there is the name. */
	EXPECT(str_has_prefix(
	    line_of(&rec, 16, options), "unit_plain: low=65 high=0 half=0 word=-5\n"));
	EXPECT_STR(line_of(&rec, 15, options), "unit_plain: low=65 high=0 half=0\n");
	EXPECT(strstr(line_of(&rec, sizeof(rec), options), " word=-5 dyn=dyn rel="));
	EXPECT(str_has_prefix(text + strlen(text) - 7, " none=\n"));
	host_lock();
	EXPECT_EQ(trace_event_unregister(&plain), 0);
	host_unlock();
	trace_fresh();
}

/* ---- columns, numbers ---- */

static void columns(void)
{
	static const struct {
		u64 ns;
		char mark;
	} marks[] = {{10000, ' '}, {10001, '+'}, {100000, '+'}, {100001, '!'}, {1000000, '!'},
	    {10000000, '#'}, {10000001, '*'}, {1000000000, '@'}, {1000000001, '$'}};
	struct rec_bputs rec = {.ent.type = TRACE_BPUTS, .str = "text"};

	trace_fresh();
	const struct trace_line line = {.tr = trace_global, .ent = &rec.ent, .len = sizeof(rec)};
	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++)
		EXPECT_EQ(trace_delay_mark(marks[i].ns), marks[i].mark);
	/* A line without the room for its columns is cut. */
	for (size_t size = 1; size < 140; size++) {
		char *room = malloc(size);
		struct trace_out out;
		struct seq s;

		seq_init(&s, room, size);
		trace_out_init(&out, &s, trace_options_default());
		trace_print_line(&out, &line);
		EXPECT(s.len <= size);
		free(room);
	}
	/* Of the three forms that are not for people the first counts. */
	u64 options = trace_options_default() & ~TRACE_OPT_CONTEXT_INFO;
	struct rec_function fn = {.ent.type = TRACE_FN, .ip = 0x4142, .parent_ip = 0x43};
	EXPECT_STR(line_of(&fn, sizeof(fn), options | TRACE_OPT_BIN | TRACE_OPT_HEX), "BA");
	EXPECT_STR(line_of(&fn, sizeof(fn), options | TRACE_OPT_HEX | TRACE_OPT_RAW),
	    "0000000000004142 0000000000000043 \n");
	EXPECT_STR(line_of(&fn, sizeof(fn) - 1, options | TRACE_OPT_HEX), "\n");
}

static u64 microseconds_after(const char *what)
{
	const char *at = strstr(trace_get("per_cpu/cpu0/stats", NULL), what);
	u64 s = 0, us = 0;

	EXPECT(at);
	for (at += strlen(what); *at == ' '; at++)
		;
	for (; is_digit(*at); at++)
		s = 10 * s + *at - '0';
	EXPECT_EQ(strcspn(at + 1, "\n"), 6);
	for (at++; is_digit(*at); at++)
		us = 10 * us + *at - '0';
	return s * 1000000 + us;
}

/* `stats`: the time is that of the clock; the oldest event of an empty buffer has none. */
static void stats(void)
{
	trace_fresh();
	u64 before = host_clock_ns(host_clock()) / 1000, us = microseconds_after("now ts:"),
	    after = host_clock_ns(host_clock()) / 1000;
	EXPECT(before <= us && us <= after);
	EXPECT_EQ(trace_put("trace_clock", "tai"), 0);
	EXPECT_EQ(microseconds_after("oldest event ts:"), 0);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	trace_fresh();
}

/* ---- the header of a latency ---- */

static const char *latency_head(const struct trace_latency *longest)
{
	struct trace_symbols *kept = calloc(1, sizeof(*kept));
	const struct trace_reader r = {.tr = trace_global,
	    .buffer = trace_global->buffer,
	    .longest = *longest,
	    .symbols = kept};
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	EXPECT(trace_print_latency_head(&s, &r));
	text[s.len] = '\0';
	free(kept);
	return text;
}

static void latency_headers(void)
{
	struct trace_latency longest = {.ns = 1499, .cpu = 2};

	trace_fresh();
	EXPECT_EQ(trace_put("trace_marker", "something"), 0);
	EXPECT(strstr(latency_head(&longest), "\n# latency: 1 us, #1/1, CPU#2 | "));
	EXPECT(!strstr(text, "started at"));
	longest.ns = 1500;
	longest.from = 0x10;
	longest.to = 0x20;
	EXPECT(strstr(latency_head(&longest), "\n# latency: 2 us, #1/1, CPU#2 | "));
	EXPECT(strstr(text, "\n#  => started at: sym_10\n#  => ended at:   sym_20\n#\n#\n"));
	EXPECT_EQ(trace_put("options/latency-format", "1"), 0);
	EXPECT(strstr(trace_get("trace", NULL), "#  cmd     pid "));
	EXPECT_EQ(trace_put("options/verbose", "1"), 0);
	EXPECT(strstr(trace_get("trace", NULL), "\n# latency: 0 us, #1/1, "));
	EXPECT(!strstr(trace_get("trace", NULL), "#  cmd     pid "));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"lines.hwlat", hwlat},
    {"lines.osnoise", osnoise},
    {"lines.switches", switches},
    {"lines.functions", functions},
    {"lines.stacks", stacks},
    {"lines.messages", messages},
    {"lines.texts_of_another_boot", texts_of_another_boot},
    {"lines.packed", packed},
    {"lines.printks", printks},
    {"lines.flags_and_masks", flags_and_masks},
    {"lines.pointers", pointers},
    {"lines.kept_symbols", kept_symbols},
    {"lines.shown_by_type", shown_by_type},
    {"lines.which_show_fields", which_show_fields},
    {"lines.columns", columns},
    {"lines.stats", stats},
    {"lines.latency_headers", latency_headers},
    {NULL, NULL},
};
const struct ktap_suite suite_lines = {cases};
