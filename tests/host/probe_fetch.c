/*
 * What a hit of a probe fetches, where memory ends, is ring 3's or changes while it is read; and
 * texts that filters read by their address.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/kprobe_tools.h"
#include "tests/unit/trace/filter/sample.h"
#include "tests/unit/trace/probe/eprobe_tools.h"
#include "tests/unit/trace/types/sample.h"
#include "trace/probe/probe.h"

#include <sys/mman.h>

/* Two pages, and none after them; what a case leaves there, the next one finds. */
static char *two_pages(void)
{
	static char *at;

	if (!at) {
		at = mmap(NULL, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
		EXPECT(at != MAP_FAILED);
		munmap(at + 2 * PAGE_SIZE, PAGE_SIZE);
	}
	memset(at, 'x', 2 * PAGE_SIZE);
	return at;
}

static void begin(const char *arguments)
{
	char line[256];

	fmt_snprintf(line, sizeof(line), "p:x do_mkdirat %s", arguments);
	kprobe_begin(line);
}

static const char *hit(u64 di, u64 si)
{
	return kprobe_hit(false, &(struct machine_regs){.di = di, .si = si});
}

/* Strings that end with the last byte there is, and that do not. */
static void at_the_end_of_memory(void)
{
	char *end_of = two_pages() + 2 * PAGE_SIZE, wanted[300];

	begin("s=+0(%di):string");
	for (u64 n = 1; n <= 130; n++) {
		memset(end_of - PAGE_SIZE, 'x', PAGE_SIZE);
		end_of[-1] = '\0';
		memset(wanted, 'x', sizeof(wanted));
		memcpy(wanted, "s=\"", 3);
		memcpy(wanted + 3 + n - 1, "\"", 2);
		EXPECT_STR(hit((u64)end_of - n, 0), wanted);
		end_of[-1] = 'x';
		EXPECT_STR(hit((u64)end_of - n, 0), "s=(fault)");
	}
	EXPECT_STR(hit((u64)end_of, 0), "s=(fault)");
	kprobe_end();
	begin("a=+0(%di):u8[4] b=+0(%si):x32");
	memcpy(end_of - 4, "\1\2\3\4", 4);
	EXPECT_STR(hit((u64)end_of - 4, (u64)end_of - 4), "a={1,2,3,4} b=0x4030201");
	EXPECT_STR(hit((u64)end_of - 3, (u64)end_of - 3), "a={2,3,4,0} b=0x0");
	EXPECT_STR(hit((u64)end_of, ~0UL), "a={0,0,0,0} b=0x0");
	kprobe_end();
}

/* A text as long as the record has room for is there, one that is longer is cut, and both end. */
static void longest_strings(void)
{
	const unsigned room = RB_MAX_DATA - 20;
	char *at = two_pages();

	begin("s=+0(%di):string");
	for (unsigned n = room - 2; n <= room + 1; n++) {
		memset(at, 'x', 2 * PAGE_SIZE);
		at[n] = '\0';
		const char *text = hit((u64)at, 0);
		EXPECT_EQ(strlen(text), 4 + MIN(n, room - 1));
		EXPECT_EQ(text[strlen(text) - 1], '"');
	}
	kprobe_end();
}

/* What all texts take together: the record has no room for the last one. */
static void strings_of_a_full_record(void)
{
	char *at = two_pages();

	at[2047] = '\0';
	begin("a=+0(%di):string b=+0(%si):string c=+0(%di):string d=+0(%si):string");
	const char *text = hit((u64)at, (u64)at + 1948);
	EXPECT(strstr(text, " b=\"xxxxxx"));
	EXPECT(strstr(text, " c=\"xxxxxx"));
	EXPECT(strstr(text, "xxx\" d=(fault)"));
	kprobe_end();
}

static char *grows;

static void grow(void)
{
	static unsigned n;

	if (n++ % 2) /* the text was measured, and is read now */
		memset(grows, 'y', 500);
}

/* It takes no more room than it had when it was measured. */
static void a_string_that_grows(void)
{
	char *at = two_pages();

	grows = at;
	memcpy(at, "abc", 4);
	at[1000] = '\0';
	begin("s=+0(%di):string");
	machine_before_copy(grow);
	const char *text = hit((u64)at, 0);
	machine_before_copy(NULL);
	EXPECT_STR(text, "s=\"yyy\"");
	kprobe_end();
}

/* Steps that name ring 3's memory do not read the kernel's, each for itself. */
static void whose_memory(void)
{
	static u64 kernel[4];
	u64 *user = (u64 *)two_pages();

	kernel[0] = 7;
	kernel[1] = (u64)&user[0];
	kernel[2] = (u64)&kernel[0];
	memcpy(&kernel[3], "kernel", 7);
	user[0] = 9;
	user[1] = (u64)&kernel[0];
	user[2] = (u64)&user[0];
	memcpy(&user[3], "user", 5);
	machine_user_memory(user, PAGE_SIZE);
	begin("a=+0(%di):u64 b=+u0(%di):u64 c=+u0(+8(%di)):u64 d=+0(+u8(%di)):u64 "
	      "e=+u0(+u16(%di)):u64 f=+0(+16(%di)):u64 g=+24(%di):ustring h=+u24(%di):string");
	EXPECT_STR(hit((u64)kernel, 0), "a=7 b=0 c=9 d=0 e=0 f=7 g=(fault) h=(fault)");
	EXPECT_STR(hit((u64)user, 0), "a=9 b=9 c=0 d=7 e=9 f=9 g=\"user\" h=\"user\"");
	kprobe_end();
	machine_user_memory(NULL, 0);
}

/* Bit fields that the kernel's types name: a signed one is negative if its highest bit is set. */
static void bit_fields(void)
{
	u32 *word = (u32 *)(two_pages() + 48);

	types_sample_use();
	begin("l=thing->low h=thing->high");
	*word = 5 | (u32)-3 << 3;
	EXPECT_STR(hit(0, (u64)word - 48), "l=5 h=-3");
	*word = 2 | 3 << 3;
	EXPECT_STR(hit(0, (u64)word - 48), "l=2 h=3");
	kprobe_end();
	types_host_use();
}

/* One place is no array of strings, however short. */
static void one_string_is_no_array(void)
{
	char *at = two_pages(), value[64];

	memcpy(at, "text", 5);
	eprobe_begin();
	EXPECT_EQ(trace_append(EVENTS, "e:x synthetic.src s=$b:string t=$b:string[1] "
				       "u=$b:string[2] v=$b:string[3]"),
	    0);
	EXPECT_EQ(trace_put("events/eprobes/x/enable", "1"), 0);
	fmt_snprintf(value, sizeof(value), "b=%lu", (u64)at);
	trace_put("events/synthetic/src/inject", value);
	EXPECT(strstr(trace_nth_event(0),
	    ") s=\"text\" t={\"text\"} u={(fault),(fault)} v={(fault),(fault),(fault)}"));
	eprobe_end();
}

/* Filters read texts by blocks, none of which goes on where memory may end. */
static void filters_at_the_end_of_memory(void)
{
	char *end_of = two_pages() + 2 * PAGE_SIZE;
	struct filter_sample rec = filter_sample_usual;

	for (u64 n = 4; n <= 200; n++) {
		memset(end_of - PAGE_SIZE, 'x', PAGE_SIZE);
		memcpy(end_of - 4, "end", 4);
		rec.ptr = end_of - n;
		EXPECT(filter_sample_matches("ptr ~ \"*end\"", &rec));
		end_of[-1] = 'x';
		EXPECT(!filter_sample_matches("ptr ~ \"*\"", &rec));
	}
}

static const struct ktap_case cases[] = {
    {"probe_fetch.at_the_end_of_memory", at_the_end_of_memory},
    {"probe_fetch.longest_strings", longest_strings},
    {"probe_fetch.strings_of_a_full_record", strings_of_a_full_record},
    {"probe_fetch.a_string_that_grows", a_string_that_grows},
    {"probe_fetch.whose_memory", whose_memory},
    {"probe_fetch.bit_fields", bit_fields},
    {"probe_fetch.one_string_is_no_array", one_string_is_no_array},
    {"probe_fetch.filters_at_the_end_of_memory", filters_at_the_end_of_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_probe_fetch = {cases};
