/*
 * EventHeader events in `trace` and trace_pipe: which user events are of that kind, as text, as
 * JSON (options/eventheader-json), in an instance, too long for a line.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/json_check.h"
#include "tests/unit/trace/tools.h"
#include "tests/unit/trace/user/eventheader/tools.h"
#include "trace/host_lock.h"
#include "trace/host_user.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/user/user.h"
#include "trace/user/write.h"

#define NAME "EhUnit_L4K1"
#define EV   "events/user_events/" NAME

static struct eh_maker m;
static struct user_events_file *file;
static struct user_event *event;

static void begin(const char *definition, u32 how)
{
	trace_fresh();
	file = user_events_open(NULL);
	EXPECT(file && user_events_register(file, definition, how, &event) >= 0);
	EXPECT_EQ(
	    trace_put(how ? "events/user_events_multi/enable" : "events/user_events/enable", "1"),
	    0);
}

static void end(void)
{
	EXPECT_EQ(trace_put("options/eventheader-json", "0"), 0);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	host_lock();
	user_events_release(file);
	host_unlock();
	user_events_settle();
	trace_fresh();
}

/* What is in m, as a program writes it. */
static void write_event(void)
{
	static u8 rec[sizeof(struct trace_entry) + sizeof(m.data)];

	memset(rec, 0, sizeof(struct trace_entry));
	memcpy(rec + sizeof(struct trace_entry), m.data, m.len);
	EXPECT_EQ(user_event_write(event, rec, sizeof(struct trace_entry) + m.len), 0);
}

static void make_hello(void)
{
	eh_make_event(&m, "Hello");
	eh_make_field(&m, "count", EH_VALUE16, 0);
	eh_make_field(&m, "text", EH_ZSTRING8, 0);
	eh_make_payload(&m);
	eh_make16(&m, 3);
	eh_make_name(&m, "hi");
}

/* A string of n bytes that take 6 each in JSON and in text. */
static void make_long(u32 n)
{
	static const char one[] = "\1";

	eh_make_event(&m, "Long");
	eh_make_field(&m, "s", EH_STRING8, 0);
	eh_make_payload(&m);
	eh_make16(&m, n);
	while (n--)
		eh_make_bytes(&m, one, 1);
}

/*
 * The only line of a text that begins with '{'; "" if there is none, or more. NUL-terminated in
 * place.
 */
static char *json_line(const char *text)
{
	char *line = strstr((char *)text, "\n{");
	static char none[1];

	if (*text == '{')
		line = (char *)text - 1;
	if (!line || strstr(line + 1, "\n{"))
		return none;
	char *stop = strchr(line + 1, '\n');
	if (!stop)
		return none;
	*stop = '\0';
	EXPECT(json_check(line + 1, stop - line - 1));
	return line + 1;
}

static void text(void)
{
	begin(NAME " " EVENTHEADER_FIELDS, 0);
	make_hello();
	write_event();
	EXPECT_STR(
	    trace_nth_event(0), NAME ": EhUnit:Hello [level=4 keyword=0x1] count=3 text=\"hi\"");
	EXPECT(strstr(trace_get(EV "/format", NULL), "u8 eventheader_flags;"));
	EXPECT_EQ(trace_put("trace", ""), 0);
	eh_make_header(&m, 3, 4);
	write_event();
	EXPECT_STR(trace_nth_event(0), NAME ": EhUnit: [level=4 keyword=0x1]");
	end();
}

/*
 * The name without the fields, the fields without the name, fields in another order or of another
 * type: an event as any other.
 */
static void others(void)
{
	static const char *const all[] = {
	    "EhUnit " EVENTHEADER_FIELDS,
	    "EhUnit_L0K1 " EVENTHEADER_FIELDS,
	    NAME " u8 eventheader_flags;u8 version;u16 id;u16 tag;u8 opcode",
	    NAME " u8 eventheader_flags;u8 version;u16 tag;u16 id;u8 opcode;u8 level",
	    NAME " s8 eventheader_flags;u8 version;u16 id;u16 tag;u8 opcode;u8 level",
	    NAME " " EVENTHEADER_FIELDS ";u8 more",
	};

	for (u32 i = 0; i < ARRAY_SIZE(all); i++) {
		begin(all[i], 0);
		make_hello();
		write_event();
		EXPECT_EQ(trace_put("options/eventheader-json", "1"), 0);
		if (!strstr(trace_nth_event(0), ": eventheader_flags=7 version=0 "))
			ktap_fail(__FILE__, __LINE__, "%s: %s", all[i], trace_nth_event(0));
		end();
	}
}

static void json(void)
{
	begin(NAME " " EVENTHEADER_FIELDS, 0);
	make_hello();
	write_event();
	EXPECT_EQ(trace_put("trace_clock", "counter"), 0); /* clears */
	write_event();
	EXPECT_EQ(trace_put("options/eventheader-json", "1"), 0);
	const char *line = json_line(trace_get("trace", NULL));
	EXPECT(str_has_prefix(
	    line, "{\"n\":\"EhUnit:Hello\",\"count\":3,\"text\":\"hi\",\"meta\":{\"time\":"));
	EXPECT(strstr(line, ",\"cpu\":"));
	EXPECT(strstr(line, ",\"pid\":"));
	EXPECT(strstr(line, ",\"comm\":\""));
	EXPECT(strstr(line, ",\"level\":4,\"keyword\":\"0x1\"}}"));
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	write_event();
	line = strstr(json_line(trace_get("trace", NULL)), "\"time\":");
	line = line ? line + strlen("\"time\":") : "";
	line += strspn(line, "0123456789");
	EXPECT_EQ(*line, '.'); /* seconds, and nine digits of them */
	EXPECT_EQ(strspn(line + 1, "0123456789"), 9);
	/* Other ways to show a record go first; other events stay lines. */
	EXPECT_EQ(trace_put("options/raw", "1"), 0);
	EXPECT_STR(json_line(trace_get("trace", NULL)), "");
	EXPECT_EQ(trace_put("options/raw", "0"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("trace_marker", "a line"), 0);
	EXPECT_STR(json_line(trace_get("trace", NULL)), "");
	EXPECT(strstr(trace_nth(0), ": a line"));
	end();
}

static void option(void)
{
	int err;

	trace_fresh();
	EXPECT_STR(trace_get("options/eventheader-json", &err), "0\n");
	EXPECT_EQ(trace_put("trace_options", "eventheader-json"), 0);
	EXPECT_STR(trace_get("options/eventheader-json", &err), "1\n");
	EXPECT(!strstr(trace_get("trace_options", &err), "eventheader")); /* Linux's list */
	EXPECT(strstr(trace_get("trace_options", &err), "notest_nop_refuse\n"));
	EXPECT_EQ(trace_put("trace_options", "noeventheader-json"), 0);
	EXPECT_STR(trace_get("options/eventheader-json", &err), "0\n");
}

static void multi_format(void)
{
	begin(NAME " " EVENTHEADER_FIELDS, USER_EVENT_REG_MULTI_FORMAT);
	make_hello();
	write_event();
	EXPECT(strstr(trace_nth(0), ": EhUnit:Hello [level=4 keyword=0x1] count=3 text=\"hi\""));
	end();
}

static void read_pipe(char *out, size_t room)
{
	struct tracefs_node node;
	struct tracefs_file *pipe;
	u64 pos = 0;

	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &pipe), 0);
	ssize n = tracefs_read(pipe, out, room - 1, &pos);
	out[n > 0 ? n : 0] = '\0';
	tracefs_release(pipe);
}

/*
 * In `trace` a line has room for 16 KiB, in trace_pipe for less than 4. What is longer is JSON all
 * the same, and says so.
 */
static void too_long(void)
{
	static char piped[8192];
	const char *line;

	begin(NAME " " EVENTHEADER_FIELDS, 0);
	EXPECT_EQ(trace_put("options/eventheader-json", "1"), 0);
	for (u32 n = 500; n <= 3500; n += 500) {
		make_long(n);
		write_event();
		line = json_line(trace_get("trace", NULL));
		EXPECT(str_has_prefix(line, "{\"n\":\"EhUnit:Long\","));
		EXPECT_EQ(strstr(line, "\"damaged\":\"more than a line can hold at byte ") != NULL,
		    n * 6 > 16000);
		read_pipe(piped, sizeof(piped));
		line = json_line(piped);
		EXPECT(str_has_prefix(line, "{\"n\":\"EhUnit:Long\","));
		EXPECT_EQ(strstr(line, "\"damaged\":\"more than a line can hold at byte ") != NULL,
		    n * 6 > 3900);
		EXPECT_EQ(trace_put("trace", ""), 0);
	}
	end();
}

/* A line that has no room in what is left of a read goes into the next one, whole. */
static void next_read(void)
{
	static char piped[8192];
	unsigned lines = 0;

	begin(NAME " " EVENTHEADER_FIELDS, 0);
	EXPECT_EQ(trace_put("options/eventheader-json", "1"), 0);
	make_long(400);
	for (u32 i = 0; i < 5; i++)
		write_event();
	do {
		read_pipe(piped, sizeof(piped));
		EXPECT(!strstr(piped, "\"damaged\""));
		for (const char *at = piped; (at = strstr(at, "{\"n\":\"EhUnit:Long\",")); at++)
			lines++;
	} while (*piped);
	EXPECT_EQ(lines, 5);
	end();
}

/* The CPU is that of the line, whichever shows it. */
static void json_cpu(void)
{
	static struct trace_out out;
	static char text[1024];
	struct {
		struct trace_entry ent;
		u8 data[256];
	} rec = {.ent = {.pid = 7}};
	struct seq s;

	begin(NAME " " EVENTHEADER_FIELDS, 0);
	make_hello();
	rec.ent.type = event->call.id;
	memcpy(rec.data, m.data, m.len);
	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, 0);
	const struct trace_line line = {
	    .tr = trace_global, .ent = &rec.ent, .len = sizeof(rec.ent) + m.len, .cpu = 3};
	user_eventheader_print_json(&out, &line);
	text[s.len] = '\0';
	EXPECT(strstr(text, ",\"cpu\":3,\"pid\":7,"));
	end();
}

static void longest_name(void)
{
	const char *line;

	begin(NAME " " EVENTHEADER_FIELDS, 0);
	EXPECT_EQ(trace_put("options/eventheader-json", "1"), 0);
	eh_make_event(&m, "");
	m.len--;
	for (u32 i = 0; i < 3500; i++)
		eh_make8(&m, 1);
	eh_make8(&m, 0);
	eh_make_payload(&m);
	write_event();
	line = json_line(trace_get("trace", NULL));
	EXPECT(strstr(line, "more than a line can hold"));
	EXPECT(strlen(line) < 1200);
	end();
}

static const struct ktap_case cases[] = {
    {"trace_eventheader.text", text},
    {"trace_eventheader.others", others},
    {"trace_eventheader.json", json},
    {"trace_eventheader.option", option},
    {"trace_eventheader.multi_format", multi_format},
    {"trace_eventheader.too_long", too_long},
    {"trace_eventheader.next_read", next_read},
    {"trace_eventheader.json_cpu", json_cpu},
    {"trace_eventheader.longest_name", longest_name},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_eventheader = {cases};
