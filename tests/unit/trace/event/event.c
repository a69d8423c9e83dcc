/*
 * Switching events on and off: set_event, enable files, what lists show; fields and formats;
 * numbers and systems of events that come and go.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"

#define ALL_UNIT "unit:unit_numbers\nunit:unit_text\nunit:unit_flags\n"

/* Words written to set_event one after the other, the error of each, and what is listed then. */
static const struct {
	const char *text;
	bool append;
	int err;
	const char *listed;
} set_event_steps[] = {
    {"unit_text", true, 0, "unit:unit_text\n"},
    {"unit:unit_numbers\n", true, 0, "unit:unit_numbers\nunit:unit_text\n"},
    {"!unit_text", true, 0, "unit:unit_numbers\n"},
    {"unit_text", false, 0, "unit:unit_text\n"},
    {"nosuch", true, -EINVAL, "unit:unit_text\n"},
    {"nosuch", false, -EINVAL, ""},
    {"unit:", false, 0, ALL_UNIT},
    {"unit:*", false, 0, ALL_UNIT},
    {"!unit:*\n", true, 0, ""},
    {"unit", false, 0, "unit2:unit\n" ALL_UNIT}, /* a system's name and an event's */
    {"!unit2", true, 0, ALL_UNIT},
    {"*:unit_text", false, 0, "unit:unit_text\n"},
    {":unit_flags", true, 0, "unit:unit_text\nunit:unit_flags\n"},
    {"  unit_text\tunit_flags \n", false, 0, "unit:unit_text\nunit:unit_flags\n"},
    {"unit_text nosuch unit_flags", false, -EINVAL,
	"unit:unit_text\n"}, /* those before a bad one stay */
    {"unit_t*", false, -EINVAL, ""},
    {"uni?:unit_text", false, -EINVAL, ""},
    {"*", false, -EINVAL, ""},
    {"!", false, -EINVAL, ""},
    {"!nosuch", false, -EINVAL, ""},
    {"UNIT_TEXT", false, -EINVAL, ""},
    {"unit:nosuch", false, -EINVAL, ""},
    {"nosuch:unit_text", false, -EINVAL, ""},
    {"unit:unit_text:x", false, -EINVAL, ""},
    {"print", false, -EINVAL, ""},
    {"ftrace:print", false, -EINVAL, ""},
    {"\x01\xff", false, -EINVAL, ""},
    {" \n", false, 0, ""},
};

static void set_event(void)
{
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(set_event_steps); i++) {
		typeof(&set_event_steps[0]) s = &set_event_steps[i];
		int err = s->append ? trace_append("set_event", s->text)
				    : trace_put("set_event", s->text);
		if (err != s->err)
			ktap_note("step %u: %s", i, s->text);
		EXPECT_EQ(err, s->err);
		EXPECT_STR(trace_get("set_event", NULL), s->listed);
	}
	trace_fresh();
}

/* As set_event, but what is meant belongs to one system: words for others find nothing. */
static void word_of_system(void)
{
	static const struct {
		const char *only, *word;
		int err;
		const char *listed;
	} steps[] = {
	    {"unit", "unit_text", 0, "unit:unit_text\n"},
	    {"unit2", "unit_flags", -EINVAL, "unit:unit_text\n"},
	    {"unit2", "unit:", -EINVAL, "unit:unit_text\n"},
	    {"unit2", "unit", 0, "unit2:unit\nunit:unit_text\n"}, /* its event of that name */
	    {"unit", "*:*", 0, "unit2:unit\n" ALL_UNIT},
	    {"unit2", "!*:*", 0, ALL_UNIT},
	    {"nosuch", "unit:*", -EINVAL, ALL_UNIT},
	};
	char word[64];

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		strscpy(word, steps[i].word, sizeof(word));
		host_lock();
		EXPECT_EQ(trace_set_event_word_of(trace_global, steps[i].only, word), steps[i].err);
		host_unlock();
		EXPECT_STR(trace_get("set_event", NULL), steps[i].listed);
	}
	trace_fresh();
}

static void set_event_limits(void)
{
	char word[130];

	trace_fresh();
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	for (unsigned n = 126; n <= 129; n++)
		EXPECT_EQ(trace_put("set_event", word + 129 - n), -EINVAL);
	/* A write takes one word. */
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;
	EXPECT_EQ(trace_walk("set_event", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_WRITE, &f), 0);
	EXPECT_EQ(tracefs_write(f, "  unit_text\nunit_numbers", 24, &pos), 12);
	EXPECT_EQ(tracefs_write(f, "   ", 3, &pos), 3);
	EXPECT_EQ(tracefs_write(f, " \0x", 3, &pos), 2);
	EXPECT_EQ(tracefs_write(f, "!unit_text\0x", 12, &pos), 11);
	tracefs_release(f);
	EXPECT_STR(trace_get("set_event", NULL), "");
	/* A name that fits after one that does not: neither hides the other. */
	char both[160];
	fmt_snprintf(both, sizeof(both), "unit_text %s", word);
	EXPECT_EQ(trace_put("set_event", both), -EINVAL);
	EXPECT_STR(trace_get("set_event", NULL), "unit:unit_text\n");
	trace_fresh();
}

/* Leaves out events that are on only if they are named: TRACE_CALL_ASKED. */
static void copy_but_asked(char *to, const char *lines)
{
	for (; *lines; lines += strcspn(lines, "\n") + 1) {
		size_t n = strcspn(lines, "\n") + 1;

		if (!strncmp(lines, "preemptirq:", 11))
			continue;
		memcpy(to, lines, n);
		to += n;
	}
	*to = '\0';
}

static void set_event_all(void)
{
	static const char *const forms[] = {"*:*", "*:", ":", "*:*\n"};

	trace_fresh();
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(forms); i++) {
		EXPECT_EQ(trace_put("set_event", forms[i]), 0);
		char *available = host_alloc(65536);
		copy_but_asked(available, trace_get("available_events", NULL));
		EXPECT_STR(trace_get("set_event", NULL), available);
		host_free(available);
		EXPECT_STR(trace_get("events/enable", NULL), "1\n");
	}
	EXPECT_EQ(trace_append("set_event", "!*:*"), 0);
	EXPECT_STR(trace_get("set_event", NULL), "");
	EXPECT_STR(trace_get("events/enable", NULL), "0\n");
	trace_fresh();
}

/* An event with many hits is on only if it is named; off it is with all others. */
static void asked_for_by_name(void)
{
	struct trace_event_call *call;

	trace_fresh();
	call = trace_event_find("unit", "unit_text");
	call->flags |= TRACE_CALL_ASKED;
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(trace_put("events/enable", "1"), 0);
	EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), "0\n");
	EXPECT_STR(trace_get("events/enable", NULL), "1\n");
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), "0\n");
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), "1\n");
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), "0\n");
	call->flags &= ~TRACE_CALL_ASKED;
	trace_fresh();
}

/* Its system counts it as any other, all together leave it out while it is off. */
static void state_of_asked(void)
{
	struct trace_event_call *call;

	trace_fresh();
	call = trace_event_find("unit", "unit_text");
	call->flags |= TRACE_CALL_ASKED;
	EXPECT_EQ(trace_put("set_event", "unit:unit_numbers unit:unit_flags"), 0);
	EXPECT_STR(trace_get("events/unit/enable", NULL), "X\n");
	EXPECT_EQ(trace_append("set_event", "unit:unit_text"), 0);
	EXPECT_STR(trace_get("events/unit/enable", NULL), "1\n");
	EXPECT_EQ(trace_put("set_event", "unit:unit_text"), 0);
	EXPECT_STR(trace_get("events/unit/enable", NULL), "X\n");
	EXPECT_STR(trace_get("events/enable", NULL), "X\n");
	call->flags &= ~TRACE_CALL_ASKED;
	trace_fresh();
}

static void enable_values(void)
{
	static const struct {
		const char *text;
		int err;
		const char *then;
	} steps[] = {{"1", 0, "1\n"}, {"0\n", 0, "0\n"}, {"2", -EINVAL, "0\n"},
	    {"-1", -EINVAL, "0\n"}, {"x", -EINVAL, "0\n"}, {"\n", -EINVAL, "0\n"},
	    {"1x", -EINVAL, "0\n"}, {"1 1", -EINVAL, "0\n"}, {"0x1", -EINVAL, "0\n"},
	    {" 1", -EINVAL, "0\n"}, {"+1\n", 0, "1\n"}, {"", 0, "1\n"}, {"00", 0, "0\n"},
	    {"01\n", 0, "1\n"}, {"99999999999999999999999", -ERANGE, "1\n"},
	    {"18446744073709551615", -EINVAL, "1\n"}, {"18446744073709551616", -ERANGE, "1\n"}};

	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		EXPECT_EQ(trace_put("events/unit/unit_text/enable", steps[i].text), steps[i].err);
		EXPECT_STR(trace_get("events/unit/unit_text/enable", NULL), steps[i].then);
	}
	trace_fresh();
}

static void enable_states(void)
{
	trace_fresh();
	EXPECT_STR(trace_get("events/unit/enable", NULL), "0\n");
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	EXPECT_STR(trace_get("events/unit/enable", NULL), "X\n");
	EXPECT_STR(trace_get("events/enable", NULL), "X\n");
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_STR(trace_get("events/unit/enable", NULL), "1\n");
	EXPECT_STR(trace_get("events/unit2/enable", NULL), "0\n");
	EXPECT_EQ(trace_put("events/unit/enable", "2"), -EINVAL);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	EXPECT_STR(trace_get("events/enable", NULL), "0\n");
	host_lock();
	EXPECT_EQ(trace_events_state(trace_global, "nosuch"), '?');
	host_unlock();
}

/* The switch in the code follows the last user, not the first. */
static void keys(void)
{
	trace_fresh();
	EXPECT_EQ(key_unit_text.enabled, 0);
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	EXPECT_EQ(key_unit_text.enabled, 1);
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_EQ(key_unit_text.enabled, 1);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "0"), 0);
	EXPECT_EQ(key_unit_text.enabled, 0);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	trace_fresh();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
}

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* Starting after the id, which depends on what else there is. */
static const char *format_of(const char *path)
{
	const char *text = strstr(trace_get(path, NULL), "format:");

	return text ? text : "";
}

static void formats(void)
{
	trace_fresh();
	EXPECT_STR(format_of("events/unit/unit_numbers/format"),
	    COMMON "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
		   "\tfield:u16 b;\toffset:10;\tsize:2;\tsigned:0;\n"
		   "\tfield:int c;\toffset:12;\tsize:4;\tsigned:1;\n"
		   "\tfield:u64 d;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		   "print fmt: \"a=%d b=%u c=%d d=%llu\", REC->a, REC->b, REC->c, (unsigned long "
		   "long)REC->d\n");
	EXPECT_STR(format_of("events/unit/unit_text/format"),
	    COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		   "\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:1;\n"
		   "\tfield:int mark;\toffset:28;\tsize:4;\tsigned:1;\n"
		   "\tfield:__data_loc char[] more;\toffset:32;\tsize:4;\tsigned:1;\n\n"
		   "print fmt: \"comm=%s text=%s mark=%d more=%s\", REC->comm, __get_str(text), "
		   "REC->mark, __get_str(more)\n");
	EXPECT_STR(format_of("events/ftrace/print/format"),
	    COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		   "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n\n"
		   "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n");
	EXPECT(strstr(trace_get("events/ftrace/print/format", NULL), "name: print\nID: 5\n"));
	EXPECT_STR(trace_get("events/ftrace/raw_data/id", NULL), "18\n");
}

/*
 * Two instances: an event goes to each that wants it, whichever was first, and to none that does
 * not.
 */
static void two_arrays(void)
{
	struct trace_array *second;
	struct trace_event_file *file;

	trace_fresh();
	host_lock();
	second = trace_array_create("second", 16384);
	EXPECT(second);
	file = trace_event_file_of(second, trace_event_find("unit", "unit_numbers"));
	EXPECT_EQ(trace_files_enable(&file, 1, true), 0);
	host_unlock();
	trace_unit_numbers(1, 2, 3, 4);
	EXPECT_EQ(ring_buffer_entries(second->buffer), 1);
	EXPECT_STR(trace_nth_event(0), "");

	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	trace_unit_numbers(5, 6, 7, 8);
	EXPECT_EQ(ring_buffer_entries(second->buffer), 2);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=5 b=6 c=7 d=8");

	host_lock();
	EXPECT_EQ(trace_files_enable(&file, 1, false), 0);
	host_unlock();
	trace_unit_numbers(9, 0, 0, 0);
	EXPECT_EQ(ring_buffer_entries(second->buffer), 2);
	EXPECT_STR(trace_nth_event(1), "unit_numbers: a=9 b=0 c=0 d=0");

	/* In again, and out again from behind. */
	host_lock();
	EXPECT_EQ(trace_files_enable(&file, 1, true), 0);
	host_unlock();
	EXPECT(file->way & TRACE_WAY_MORE);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	EXPECT(!(file->way & TRACE_WAY_MORE));
	trace_unit_numbers(1, 1, 1, 1);
	EXPECT_EQ(ring_buffer_entries(second->buffer), 3);
	EXPECT_STR(trace_nth_event(2), "");
	host_lock();
	trace_array_destroy(second); /* with the event still on */
	host_unlock();
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	trace_unit_numbers(2, 2, 2, 2);
	EXPECT_STR(trace_nth_event(2), "");
}

static u64 soft_off_of(const struct trace_event_file *file)
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < host_cpu_limit(); cpu++)
		sum += file->counts[cpu].soft_off;
	return sum;
}

static void soft(struct trace_event_file *file, int users)
{
	host_lock();
	EXPECT_EQ(trace_file_prepare(file), 0);
	trace_file_soft(file, users);
	host_unlock();
}

/*
 * Somebody needs the event live: it fires, is counted and not recorded, until it is switched on;
 * and it stays as it was left.
 */
static void soft_mode(void)
{
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));

	trace_fresh();
	soft(file, 1);
	u64 before = soft_off_of(file);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	EXPECT(!trace_file_is_on(file));
	trace_unit_numbers(1, 0, 0, 0);
	EXPECT_EQ(soft_off_of(file), before + 1);
	EXPECT_STR(trace_nth_event(0), "");

	trace_file_way(file, TRACE_WAY_SOFT_OFF, false); /* as enable_event does */
	EXPECT(trace_file_is_on(file));
	trace_unit_numbers(2, 0, 0, 0);
	EXPECT_EQ(soft_off_of(file), before + 1);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=2 b=0 c=0 d=0");

	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	trace_unit_numbers(3, 0, 0, 0);
	EXPECT_EQ(soft_off_of(file), before + 2);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	soft(file, -1); /* on: it stays */
	EXPECT_EQ(key_unit_numbers.enabled, 1);
	soft(file, 1);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "0"), 0);
	soft(file, -1); /* off: it goes */
	EXPECT_EQ(key_unit_numbers.enabled, 0);
	EXPECT_STR(trace_nth_event(1), "");
}

static void soft_shows(const char *enable, const char *system, const char *set_event)
{
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), enable);
	EXPECT_STR(trace_get("events/unit/enable", NULL), system);
	EXPECT_STR(trace_get("set_event", NULL), set_event);
}

/* What the files show of it; inject records whatever is off, but not in soft mode. */
static void soft_files(void)
{
	static const char inject[] = "events/unit/unit_numbers/inject";
	struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));

	trace_fresh();
	soft_shows("0\n", "0\n", "");
	soft(file, 1);
	soft_shows("0*\n", "X\n", "unit:unit_numbers\n");
	EXPECT_EQ(trace_put(inject, "a=1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	soft_shows("1*\n", "X\n", "unit:unit_numbers\n");
	soft(file, 1);
	soft_shows("1*\n", "X\n", "unit:unit_numbers\n");
	EXPECT_EQ(trace_put("set_event", ""), 0);
	soft_shows("0*\n", "X\n", "unit:unit_numbers\n");
	soft(file, -1);
	soft_shows("0*\n", "X\n", "unit:unit_numbers\n");
	EXPECT_EQ(trace_put("events/unit/enable", "1"), 0);
	EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1*\n");
	EXPECT_STR(trace_get("events/unit/enable", NULL), "1\n");
	EXPECT_EQ(trace_put("events/unit/enable", "0"), 0);
	soft(file, -1);
	soft_shows("0\n", "0\n", "");
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(trace_put(inject, "a=2"), 0);
	EXPECT_STR(trace_nth_event(0), "unit_numbers: a=2 b=0 c=0 d=0");
}

/* ---- the registry ---- */

/* Entries of a directory in events/, each with a blank after it. */
static const char *entries(const char *path)
{
	static char text[4096];
	char name[TRACEFS_NAME_MAX + 1];
	struct tracefs_node dir, entry;
	u64 cookie = 0;
	size_t len = 0;

	*text = '\0';
	if (!trace_walk(path, &dir))
		while (tracefs_readdir(&dir, &cookie, &entry, name) == 1)
			len += fmt_snprintf(text + len, sizeof(text) - len, "%s ", name);
	return text;
}

/* A number that no event has is none's, the first beyond the table as well, however large it is. */
static void numbers_of_none(void)
{
	trace_fresh();
	EXPECT(!trace_event_by_id(0));
	for (unsigned id = 1024; id <= 1u << 20; id *= 2) {
		const struct trace_event_call *call = trace_event_by_id(id);
		EXPECT(!call || call->id == id);
	}
	EXPECT(!trace_event_by_id(65536));
	EXPECT(!trace_event_by_id(0xffffffff));
}

/* Of a system with many events none is lost as its table grows, and none stays that is removed. */
static void many_of_a_system(void)
{
	char line[48];

	trace_fresh();
	for (unsigned i = 0; i < 70; i++) {
		fmt_snprintf(line, sizeof(line), "many%02u int a", i);
		EXPECT_EQ(trace_append("synthetic_events", line), 0);
	}
	for (unsigned i = 0; i < 70; i++) {
		fmt_snprintf(line, sizeof(line), "many%02u ", i);
		EXPECT(strstr(entries("events/synthetic"), line));
	}
	EXPECT_EQ(
	    trace_append("synthetic_events", "!many00"), 0); /* the last one takes its place */
	EXPECT(!strstr(entries("events/synthetic"), "many00 "));
	EXPECT(strstr(entries("events/synthetic"), "many69 "));
	EXPECT_EQ(trace_append("synthetic_events", "!many69"), 0);
	EXPECT(!strstr(entries("events/synthetic"), "many69 "));
	EXPECT(strstr(entries("events/synthetic"), "many68 "));
	EXPECT(strstr(entries("events/synthetic"), "many01 "));
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_STR(entries("events/synthetic"), "");
}

/* Each pointer of a format gets the letter that hides it, unless it has one. */
static void letters_of_pointers(void)
{
	static const char *const rows[][2] = {{"p=%p", "p=%pH"}, {"p=%p q", "p=%pH q"},
	    {"%p,%p", "%pH,%pH"}, {"%pS %p.", "%pS %pH."}, {"%pS %px", "%pS %px"}, {"a=%d", "a=%d"},
	    {"%", "%"}, {"", ""}};
	struct trace_event_call call = {.name = "letters"};

	trace_fresh();
	call.class = trace_event_find("unit", "unit_numbers")->class;
	host_lock();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		call.fmt = rows[i][0];
		EXPECT_EQ(trace_event_register(&call), 0);
		EXPECT_STR(call.fmt_hashed, rows[i][1]);
		EXPECT_EQ(trace_event_unregister(&call), 0);
	}
	host_unlock();
}

/* Removing an event clears the buffers where it was ever on, hit or not, as on Linux; no others. */
static void removed_clears(void)
{
	trace_fresh();
	for (unsigned was_on = 0; was_on < 2; was_on++) {
		EXPECT_EQ(trace_append("synthetic_events", "passing int a"), 0);
		EXPECT_EQ(trace_put("trace_marker", "mark"), 0);
		if (was_on) {
			EXPECT_EQ(trace_put("events/synthetic/passing/enable", "1"), 0);
			EXPECT_EQ(trace_put("events/synthetic/passing/enable", "0"), 0);
		}
		EXPECT(strstr(trace_nth(0), ": mark"));
		EXPECT_EQ(trace_append("synthetic_events", "!passing"), 0);
		EXPECT_EQ(!*trace_nth(0), was_on);
		EXPECT_EQ(trace_put("trace", ""), 0);
	}
}

static void registering_twice(void)
{
	trace_fresh();
	host_lock();
	EXPECT_EQ(trace_event_register(trace_event_find("unit", "unit_text")), -EEXIST);
	host_unlock();
}

/* Ways that an event goes, each with two hits: a=5 and a=6. What becomes of the two. */
#define WAY "events/unit/unit_numbers/"
static const struct {
	const char *trigger, *filter; /* NULL: none */
	bool enabled, recording;
	u64 recorded, filtered, soft_off, lost;
} ways[] = {
    {NULL, NULL, true, true, 2, 0, 0, 0},
    {NULL, "a == 5", true, true, 1, 1, 0, 0},
    {NULL, "a == 7 || a == 8", true, true, 0, 2, 0, 0},
    {NULL, NULL, true, false, 0, 0, 0, 2},
    {NULL, "a == 5", true, false, 0, 1, 0, 1},
    {"hist:keys=a", NULL, false, true, 0, 0, 2, 0},
    {"hist:keys=a if a == 5", NULL, false, true, 0, 0, 2, 0},
    {"hist:keys=a:sort=a", NULL, true, true, 2, 0, 0, 0},
    {"hist:keys=common_pid", NULL, false, true, 0, 0, 2, 0},
    {"hist:keys=a if a == 5", "a == 6", true, true, 1, 1, 0, 0},
    {"traceon", NULL, false, true, 0, 0, 2, 0},
    {"traceon if a == 5", NULL, true, true, 2, 0, 0, 0},
};

/* Each hit of an event counts once, and what is not recorded counts under one reason. */
static void each_hit_once(void)
{
	char line[40];

	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
		trace_fresh();
		struct trace_event_count was = trace_counts("unit", "unit_numbers");
		if (ways[i].trigger)
			EXPECT_EQ(trace_append(WAY "trigger", ways[i].trigger), 0);
		if (ways[i].filter)
			EXPECT_EQ(trace_put(WAY "filter", ways[i].filter), 0);
		EXPECT_EQ(trace_put(WAY "enable", ways[i].enabled ? "1" : "0"), 0);
		EXPECT_EQ(trace_put("tracing_on", ways[i].recording ? "1" : "0"), 0);
		trace_unit_numbers(5, 0, 0, 0);
		trace_unit_numbers(6, 0, 0, 0);
		struct trace_event_count now = trace_counts("unit", "unit_numbers");
		if (now.hit - was.hit != 2)
			ktap_note("way %u", i);
		EXPECT_EQ(now.hit - was.hit, 2);
		EXPECT_EQ(now.filtered - was.filtered, ways[i].filtered);
		EXPECT_EQ(now.soft_off - was.soft_off, ways[i].soft_off);
		EXPECT_EQ(now.lost - was.lost, ways[i].lost);
		EXPECT_EQ(now.too_deep + now.pid_filtered, was.too_deep + was.pid_filtered);
		EXPECT_EQ(2 - ways[i].filtered - ways[i].soft_off - ways[i].lost, ways[i].recorded);
		EXPECT_EQ(!*trace_nth_event(0), !ways[i].recorded);
		EXPECT_EQ(trace_put(WAY "filter", "0"), 0);
		fmt_snprintf(line, sizeof(line), "!%s", ways[i].trigger ? ways[i].trigger : "");
		if (ways[i].trigger)
			EXPECT_EQ(trace_append(WAY "trigger", line), 0);
	}
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"events.set_event", set_event},
    {"events.set_event_limits", set_event_limits},
    {"events.set_event_all", set_event_all},
    {"events.asked_for_by_name", asked_for_by_name},
    {"events.enable_values", enable_values},
    {"events.enable_states", enable_states},
    {"events.keys", keys},
    {"events.formats", formats},
    {"events.two_arrays", two_arrays},
    {"events.soft_mode", soft_mode},
    {"events.soft_files", soft_files},
    {"events.state_of_asked", state_of_asked},
    {"events.numbers_of_none", numbers_of_none},
    {"events.many_of_a_system", many_of_a_system},
    {"events.letters_of_pointers", letters_of_pointers},
    {"events.removed_clears", removed_clears},
    {"events.registering_twice", registering_twice},
    {"events.word_of_system", word_of_system},
    {"events.each_hit_once", each_hit_once},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_events = {cases};
