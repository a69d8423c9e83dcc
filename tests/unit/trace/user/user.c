/*
 * User events: what a definition may say and how it is listed; names, in both ways to register;
 * payloads, good and bad; who keeps an event; all bits there are.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/export/tools.h"
#include "trace/host_context.h"
#include "trace/host_lock.h"
#include "trace/ring/ring.h"
#include "trace/user/write.h"

#define STRICT 0 /* as the newer ioctl registers */

static struct user_events_file *file;

static void begin(void)
{
	trace_fresh();
	file = user_events_open(NULL);
	EXPECT(file);
}

static void close_file(void)
{
	host_lock();
	user_events_release(file);
	host_unlock();
}

static void end(void)
{
	close_file();
	trace_fresh();
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
}

static long add(const char *text, u32 how)
{
	struct user_event *ev;

	return user_events_register(file, text, how, &ev);
}

static const struct {
	const char *text;
	const char *listed; /* NULL: refused */
	u32 size;	    /* of all fields */
} definitions[] = {
    {"e u32 a", "u:e u32 a\n", 4},
    {"e", "u:e\n", 0},
    {"e ", "u:e\n", 0},
    {"e ;;u8 a;; ;", "u:e u8 a\n", 1},
    {"e u32 a;u16 b; s8 c", "u:e u32 a; u16 b; s8 c\n", 7},
    {"e:FLAG,OTHER u64 a", "u:e u64 a\n", 8},
    {"e unsigned int a; unsigned short b; unsigned char c",
	"u:e unsigned int a; unsigned short b; unsigned char c\n", 7},
    {"e int a; short b; char c; s64 d", "u:e int a; short b; char c; s64 d\n", 15},
    {"e char[1024] a", "u:e char[1024] a\n", 1024},
    {"e char[0x10] a", "u:e char[0x10] a\n", 16},
    {"e char[0x0040] a", "u:e char[0x0040] a\n", 64}, /* as many characters as there may be */
    {"e char[0x00040] a", NULL, 0},
    {"e unsigned char[3] a", "u:e unsigned char[3] a\n", 3},
    {"e struct s a 12; u8 b", "u:e struct s a 12; u8 b\n", 13},
    {"e struct s a 100000", "u:e struct s a 100000\n", 100000},
    {"e __data_loc char[] a; __rel_loc unsigned char[] b",
	"u:e __data_loc char[] a; __rel_loc unsigned char[] b\n", 8},
    {"e u32 a[4]", "u:e u32 a[4]\n", 4},
    {"e u32 a; u32 a", "u:e u32 a; u32 a\n", 8},
    {"e/f u32 a", "u:e/f u32 a\n", 4},
    {"e long a", NULL, 0},
    {"e u32", NULL, 0},
    {"e u32 a b", NULL, 0},
    {"e u32 a 4", NULL, 0},
    {"e u32  a", NULL, 0},
    {"e u32 a ", NULL, 0},
    {"e unsigned a", NULL, 0},
    {"e char[1025] a", NULL, 0},
    {"e char[0] a", NULL, 0},
    {"e char[] a", NULL, 0},
    {"e char[8 a", NULL, 0},
    {"e char[12345678] a", NULL, 0},
    {"e u8[4] a", NULL, 0},
    {"e struct s a", NULL, 0},
    {"e struct s a 010", "u:e struct s a 10\n", 10}, /* decimal */
    {"e struct s a 0x10", NULL, 0},
    {"e struct s a 0", NULL, 0},
    {"e struct s a -1", NULL, 0},
    {"e struct s a 4294967295", NULL, 0},
    {"e struct s a 2147483647", "u:e struct s a 2147483647\n", 2147483647},
    {"e struct s a 2147483648", NULL, 0},
    {"e struct s a 2147483647; struct s b 2147483640",
	"u:e struct s a 2147483647; struct s b 2147483640\n", 4294967287},
    {"e struct s a 2147483647; struct s b 2147483641", NULL, 0},
    {"e struct s * a 8", NULL, 0},
    {"e __data_loc a", NULL, 0},
    {"e u32 a; bool b", NULL, 0},
};

static void definitions_listed(void)
{
	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++) {
		struct user_event *ev;
		long r = user_events_register(file, definitions[i].text, STRICT, &ev);

		EXPECT_EQ(r, definitions[i].listed ? 0 : -EINVAL);
		EXPECT_STR(trace_get("dynamic_events", NULL),
		    definitions[i].listed ? definitions[i].listed : "");
		if (!r)
			EXPECT_EQ(ev->min_size, definitions[i].size);
		close_file();
		EXPECT_STR(trace_get("dynamic_events", NULL), ""); /* nobody has it any more */
		file = user_events_open(NULL);
	}
	end();
}

static void names(void)
{
	begin();
	EXPECT_EQ(add("n u32 a", STRICT), 0);
	EXPECT_EQ(add("n u32 a;", STRICT), 0);
	EXPECT_EQ(add("n u64 a", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("n u32 a; u32 b", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("n nonsense", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("n u64 a", USER_EVENT_LAX), 0);
	EXPECT_EQ(add("n nonsense", USER_EVENT_LAX), 0);
	EXPECT_EQ(add("m nonsense", USER_EVENT_LAX), -EINVAL);
	EXPECT_EQ(add("n u32 a", USER_EVENT_REG_MULTI_FORMAT), 1);
	EXPECT_EQ(add("n u64 a", USER_EVENT_REG_MULTI_FORMAT), 2);
	EXPECT_EQ(add("n u32 a", USER_EVENT_REG_MULTI_FORMAT), 1);
	EXPECT_EQ(user_events_delete("n"), -EBUSY);
	EXPECT_EQ(user_events_delete("no"), -ENOENT);
	close_file();
	/* The older way made it one that stays; the others are gone. */
	EXPECT_STR(trace_get("dynamic_events", NULL), "u:n u32 a\n");
	EXPECT_EQ(trace_append("dynamic_events", "-:n u64 a"), -ENOENT);
	EXPECT_EQ(trace_append("dynamic_events", "-:user_events/n u32 a"), 0);
	file = user_events_open(NULL);
	end();
}

/* ---- payloads ---- */

/* Index, then the words given, then text with its NUL. */
static int write_words(s32 index, const u32 *words, unsigned n, const char *text)
{
	struct {
		struct trace_entry ent;
		u32 payload[16];
	} rec = {0};
	size_t size = n * sizeof(u32) + (text ? strlen(text) + 1 : 0);
	struct user_event *ev;

	memcpy(rec.payload, words, n * sizeof(u32));
	if (text)
		memcpy(rec.payload + n, text, strlen(text) + 1);
	int err = user_events_find(file, index, size, &ev);
	return err ? err : user_event_write(ev, &rec, sizeof(rec.ent) + size);
}

/* An event has a directory if its name is at most as long as a file's may be. */
static void longest_name(void)
{
	begin();
	for (int n = TRACEFS_NAME_MAX; n <= TRACEFS_NAME_MAX + 1; n++) {
		char name[TRACEFS_NAME_MAX + 2], text[sizeof(name) + 32];
		struct tracefs_node node;

		memset(name, 'n', sizeof(name));
		fmt_snprintf(text, sizeof(text), "u:%.*s", n, name);
		EXPECT_EQ(trace_append("dynamic_events", text), 0);
		fmt_snprintf(text, sizeof(text), "events/user_events/%.*s", n, name);
		EXPECT_EQ(trace_walk(text, &node), n > TRACEFS_NAME_MAX ? -ENOENT : 0);
	}
	EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	end();
}

#define WRITE(index, text, ...)                                                                    \
	write_words(index, (const u32[]){__VA_ARGS__}, sizeof((u32[]){__VA_ARGS__}) / 4, text)

static void payloads(void)
{
	begin();
	EXPECT_EQ(WRITE(0, NULL, 1), -ENOENT);
	EXPECT_EQ(add("p __data_loc char[] s; u32 n", STRICT), 0);
	EXPECT_EQ(add("r u32 n; __rel_loc u8[] b", STRICT), 1);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(16, 5), 7), -EBADF);
	EXPECT_EQ(trace_put("events/user_events/enable", "1"), 0);
	EXPECT_EQ(WRITE(-1, NULL, 1), -EINVAL);
	EXPECT_EQ(WRITE(2, NULL, 1), -ENOENT);
	EXPECT_EQ(WRITE(0, NULL, 1), -EINVAL);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(16, 6), 7), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(16, 4), 7), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(0xffff, 0xffff), 7), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(16, 0), 0x01000000), -EFAULT);
	EXPECT_EQ(WRITE(1, NULL, 3, DYN_LOC(0, 1)), -EFAULT);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(16, 5), 7), 0);
	EXPECT_STR(trace_nth_event(0), "p: s=text n=7");
	EXPECT_EQ(WRITE(0, NULL, 0, 8), 0);
	EXPECT_STR(trace_nth_event(1), "p: s= n=8");
	EXPECT_EQ(WRITE(1, NULL, 3, DYN_LOC(0, 4), 0x0102ff00), 0);
	EXPECT_STR(trace_nth_event(2), "r: n=3 b={0x0,0xff,0x2,0x1}");
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	EXPECT_EQ(trace_put("events/user_events/enable", "0"), 0);
	end();
}

static bool bit_is_set(u32 bit)
{
	return ((const u8 *)user_events_page())[bit / 8] >> bit % 8 & 1;
}

static void bits_follow(void)
{
	struct user_event *ev;

	begin();
	EXPECT_EQ(user_events_register(file, "b u32 a", USER_EVENT_LAX, &ev), 0);
	EXPECT(ev->bit && !bit_is_set(ev->bit));
	EXPECT_EQ(trace_put("events/user_events/b/trigger", "hist:keys=a"), 0);
	EXPECT(bit_is_set(ev->bit));
	EXPECT_EQ(trace_put("events/user_events/b/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/user_events/b/trigger", "!hist:keys=a"), 0);
	EXPECT(bit_is_set(ev->bit));
	EXPECT(strstr(trace_get("user_events_status", NULL), ":b # Used by ftrace\n"));
	EXPECT_EQ(user_events_delete("b"), -EBUSY);
	EXPECT_EQ(trace_put("events/user_events/b/enable", "0"), 0);
	EXPECT(!bit_is_set(ev->bit) && !bit_is_set(0));
	end();
}

static unsigned bits_set(void)
{
	const u64 *page = user_events_page();
	unsigned n = 0;

	for (u32 bit = 0; bit < USER_EVENT_BITS; bit++)
		n += page[bit / 64] >> bit % 64 & 1;
	return n;
}

/* The bit of an event is its own, be it one of the first 64 or not. */
static void bits_of_many(void)
{
	struct user_event *ev;
	char text[32];

	begin();
	EXPECT_EQ(bits_set(), 0);
	for (u32 i = 0; i < 200; i++) {
		fmt_snprintf(text, sizeof(text), "many_%u", i);
		EXPECT_EQ(user_events_register(file, text, STRICT, &ev), i);
		fmt_snprintf(text, sizeof(text), "user_events:many_%u", i);
		EXPECT_EQ(trace_put("set_event", text), 0);
		EXPECT(bit_is_set(ev->bit));
		EXPECT_EQ(bits_set(), 1);
	}
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(bits_set(), 0);
	end();
}

/* The status counts all events, and those that are on; it lists them by their bits. */
static void status(void)
{
	struct user_event *ev[3];
	char want[128];

	begin();
	EXPECT_EQ(user_events_register(file, "st_a", STRICT, &ev[0]), 0);
	EXPECT_EQ(user_events_register(file, "st_b", STRICT, &ev[1]), 1);
	EXPECT_EQ(user_events_register(file, "st_c", STRICT, &ev[2]), 2);
	EXPECT_EQ(trace_put("set_event", "st_b"), 0);
	fmt_snprintf(want, sizeof(want),
	    "%u:st_a\n%u:st_b # Used by ftrace\n%u:st_c\n\nActive: 3\nBusy: 1\nMax: 32768\n",
	    ev[0]->bit, ev[1]->bit, ev[2]->bit);
	EXPECT_STR(trace_get("user_events_status", NULL), want);
	EXPECT_EQ(trace_put("set_event", ""), 0);
	end();
}

/* An event that only a user of the trace still has goes as soon as he switches it off. */
static void off_and_gone(void)
{
	begin();
	EXPECT_EQ(add("off u32 a", STRICT), 0);
	EXPECT_EQ(trace_put("events/user_events/off/enable", "1"), 0);
	close_file();
	EXPECT_STR(trace_get("dynamic_events", NULL), "u:off u32 a\n");
	EXPECT_EQ(trace_put("events/user_events/off/enable", "0"), 0);
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
	file = user_events_open(NULL);
	end();
}

static u64 too_large(void)
{
	const char *text = strstr(trace_get("trace_ledger", NULL), "\nall: refused "), *end;

	text = text ? strstr(text, "too_large ") : NULL;
	EXPECT(text);
	return text ? parse_digits(text + strlen("too_large "), &end, 10) : 0;
}

/* A write that is larger than any record is counted as one, and as lost; nothing is recorded. */
static void huge(void)
{
	struct user_event *ev;

	begin();
	EXPECT_EQ(user_events_register(file, "h u32 a", STRICT, &ev), 0);
	u64 before = too_large();
	user_event_write_huge(ev); /* off: nobody counts */
	EXPECT_EQ(trace_put("events/user_events/h/enable", "1"), 0);
	user_event_write_huge(ev);
	EXPECT_EQ(trace_counts("user_events", "h").hit, 1);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(too_large(), before + 1);
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	EXPECT_EQ(trace_put("events/user_events/h/enable", "0"), 0);
	end();
}

/* Text of no length has the byte before it as its end, be it one of the common fields. */
static void empty_texts(void)
{
	struct host_context ctx;

	begin();
	EXPECT_EQ(add("et __data_loc char[] s", STRICT), 0);
	EXPECT_EQ(trace_put("events/user_events/enable", "1"), 0);
	host_enter(&ctx);
	host_preempt_enable();
	for (u32 at = 0; at <= 4; at++) {
		u8 before = (u32)ctx.pid >> (at ? 8 * at - 8 : 0);
		EXPECT_EQ(WRITE(0, NULL, DYN_LOC(at ? 4 + at : 0, 0)), at && before ? -EFAULT : 0);
	}
	EXPECT_EQ(WRITE(0, "x", DYN_LOC(12, 0)), 0); /* the upper half of the word before */
	EXPECT_EQ(WRITE(0, "x", DYN_LOC(13, 0)), -EFAULT);
	EXPECT_EQ(WRITE(0, "x", DYN_LOC(14, 0)), 0);
	EXPECT_EQ(trace_put("events/user_events/enable", "0"), 0);
	end();
}

/* One event `name`, written once and gone with the file that registered it. */
static void pass_by(const char *name, u32 value)
{
	char text[32], enable[64];

	fmt_snprintf(text, sizeof(text), "%s u32 a", name);
	fmt_snprintf(enable, sizeof(enable), "events/user_events/%s/enable", name);
	file = user_events_open(NULL);
	EXPECT_EQ(add(text, STRICT), 0);
	EXPECT_EQ(trace_put(enable, "1"), 0);
	EXPECT_EQ(WRITE(0, NULL, value), 0);
	EXPECT_EQ(trace_put(enable, "0"), 0);
	close_file();
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
}

static bool dat_has(const char *text)
{
	size_t n = strlen(text);
	bool found = false;

	dat_read("trace.dat", PAGE_SIZE);
	for (u64 at = 0; at + n <= dat_file()->size && !found; at++)
		found = !memcmp(dat_file()->data + at, text, n);
	dat_release();
	return found;
}

/* Each event has a bit of its own in the page, which no other one's switch changes. */
static void bits_are_apart(void)
{
	char text[64];

	begin();
	for (u32 i = 0; i < 70; i++) {
		fmt_snprintf(text, sizeof(text), "b%u u32 a", i);
		EXPECT_EQ(add(text, STRICT), i);
	}
	for (u32 i = 0; i < 70; i++) {
		u32 set = 0;

		fmt_snprintf(text, sizeof(text), "events/user_events/b%u/enable", i);
		EXPECT_EQ(trace_put(text, "1"), 0);
		for (u32 bit = 0; bit < 256; bit++)
			set += bit_is_set(bit);
		EXPECT_EQ(set, i + 1);
	}
	EXPECT_EQ(trace_put("events/user_events/enable", "0"), 0);
	for (u32 bit = 0; bit < 256; bit++)
		EXPECT(!bit_is_set(bit));
	end();
}

/*
 * Programs come and go, and take nothing with them; trace.dat has the formats of their events as
 * long as there may be records.
 */
static void records_stay(void)
{
	struct user_event *ev;

	trace_fresh();
	pass_by("gone", 1);
	pass_by("gone", 2); /* another of the same name */
	file = user_events_open(NULL);
	EXPECT_EQ(user_events_register(file, "gone u64 b", USER_EVENT_LAX, &ev), 0);
	close_file();
	EXPECT_EQ(user_events_delete("gone"), 0);
	EXPECT_STR(trace_nth_event(0), "gone: a=1");
	EXPECT_STR(trace_nth_event(1), "gone: a=2");
	EXPECT(strstr(trace_get("trace_ledger", NULL), "\nbalanced\n"));
	EXPECT(dat_has("name: gone\n"));
	/* One that dynamic_events removes leaves its records, too. */
	EXPECT_EQ(trace_append("dynamic_events", "u:typed u32 a"), 0);
	EXPECT_EQ(trace_put("events/user_events/typed/inject", "a=3"), 0);
	EXPECT_STR(trace_nth_event(2), "typed: a=3");
	EXPECT_EQ(trace_append("dynamic_events", "-:typed"), 0);
	EXPECT_STR(trace_nth_event(2), "typed: a=3");
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT(!dat_has("name: gone\n"));
}

/* An event of which no record is left goes with all that is known of it, at once. */
static void no_records_left(void)
{
	begin();
	EXPECT_EQ(add("hit_once u32 a", USER_EVENT_LAX), 0);
	EXPECT_EQ(trace_put("events/user_events/hit_once/enable", "1"), 0);
	EXPECT_EQ(WRITE(0, NULL, 1), 0);
	EXPECT_EQ(trace_put("events/user_events/hit_once/enable", "0"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	close_file();
	EXPECT(dat_has("name: hit_once\n"));
	EXPECT_EQ(user_events_delete("hit_once"), 0);
	EXPECT(!dat_has("name: hit_once\n"));
	file = user_events_open(NULL);
	end();
}

/* As many as are remembered, and one more: then the trace begins anew. */
static void many_go(void)
{
	char name[16];

	trace_fresh();
	for (u32 i = 0; i <= 256; i++) {
		fmt_snprintf(name, sizeof(name), "go_%u", i);
		if (i == 256) /* the snapshot has all of them now, and begins anew as well */
			EXPECT_EQ(trace_put("snapshot", "1"), 0);
		pass_by(name, i);
		EXPECT_STR(trace_nth_event(0), i < 256 ? "go_0: a=0" : "");
	}
	EXPECT(ring_buffer_empty(trace_global->snapshot));
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	pass_by("last", 7);
	EXPECT_STR(trace_nth_event(0), "last: a=7");
	trace_fresh();
}

/* Takes `n` more; the last error. */
static long take(u32 from, u32 n)
{
	char text[32];
	long r = 0;

	for (u32 i = from; i < from + n && r >= 0; i++) {
		fmt_snprintf(text, sizeof(text), "all_%u", i);
		r = add(text, STRICT);
	}
	return r;
}

/* How many events of the file are not found by their numbers. */
static unsigned without_number(void)
{
	const struct user_event_table *t = file->table;
	unsigned n = 0;

	for (u32 i = 0; i < t->count; i++)
		n += trace_event_by_id(t->events[i]->call.id) != &t->events[i]->call;
	return n;
}

/* 32767, one more, and after one is given back that one again; then all are given back. */
static void all_bits(void)
{
	struct user_event *ev;

	begin();
	host_lock();
	struct user_events_file *other = user_events_open(NULL);
	host_unlock();
	EXPECT_EQ(user_events_register(other, "first", STRICT, &ev), 0);
	u32 bit = ev->bit;
	EXPECT_EQ(take(0, USER_EVENT_BITS - 3), USER_EVENT_BITS - 4);
	EXPECT_EQ(take(USER_EVENT_BITS, 1), USER_EVENT_BITS - 3);
	EXPECT_EQ(take(USER_EVENT_BITS + 1, 1), -EMFILE);
	EXPECT_EQ(without_number(), 0);
	EXPECT_EQ(add("all_0", STRICT), 0); /* one that is there takes none */
	host_lock();
	user_events_release(other);
	host_unlock();
	EXPECT_EQ(user_events_register(file, "last", STRICT, &ev), USER_EVENT_BITS - 2);
	EXPECT_EQ(ev->bit, bit);
	EXPECT_EQ(take(USER_EVENT_BITS + 1, 1), -EMFILE);
	end();
	EXPECT_STR(trace_get("user_events_status", NULL), "\nActive: 0\nBusy: 0\nMax: 32768\n");
}

/*
 * A refused definition leaves its reason, and a caret where it is wrong: of an ioctl, and of
 * dynamic_events.
 */
static void errors(void)
{
	static const struct {
		const char *text, *why;
		u32 caret; /* in the text */
	} all[] = {
	    {"e u32", "Field name is missing", 5},
	    {"e u33 a", "Unknown type", 2},
	    {"e u32 a; x b", "Unknown type", 9},
	    {"e u32 a b", "Only a struct has a size", 8},
	    {"e u32 a b c", "Unexpected text after the field", 10},
	    {"e struct s a", "Size of the struct is missing or invalid", 12},
	    {"e struct s a x", "Size of the struct is missing or invalid", 13},
	    {"e char[1025] a", "Invalid type or array size", 2},
	    {"e struct s a 2147483647; struct s b 2147483647", "Field is too large", 25},
	    {"there u16 a", "An event of this name has other fields", 0},
	};
	struct user_event *ev;
	char line[128], want[256];

	begin();
	EXPECT(user_events_register(file, "there u32 a", 0, &ev) >= 0);
	for (u32 i = 0; i < ARRAY_SIZE(all); i++) {
		EXPECT_EQ(trace_put("error_log", ""), 0);
		EXPECT(user_events_register(file, all[i].text, 0, &ev) < 0);
		fmt_snprintf(want, sizeof(want), "user_events: error: %s\n  Command: %s\n  %*s^\n",
		    all[i].why, all[i].text, (int)(9 + all[i].caret), "");
		EXPECT(strstr(trace_get("error_log", NULL), want));
		if (!all[i].caret)
			continue; /* dynamic_events takes the event that is there */
		fmt_snprintf(line, sizeof(line), "u:%s", all[i].text);
		EXPECT_EQ(trace_append("dynamic_events", line), -EINVAL);
		fmt_snprintf(want, sizeof(want), "user_events: error: %s\n  Command: %s\n  %*s^\n",
		    all[i].why, line, (int)(11 + all[i].caret), "");
		EXPECT(strstr(trace_get("error_log", NULL), want));
	}
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT(user_events_register(file, "fine u32 a", 0, &ev) >= 0);
	EXPECT_STR(trace_get("error_log", NULL), "");
	end();
}

/* Each text of a record must end where the record does, at the latest, and with a NUL. */
static void relative_texts(void)
{
	begin();
	EXPECT_EQ(add("t __rel_loc char[] s; __rel_loc char[] z", STRICT), 0);
	EXPECT_EQ(trace_put("events/user_events/enable", "1"), 0);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 4), DYN_LOC(0, 5)), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 6), DYN_LOC(0, 5)), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(5, 5), DYN_LOC(0, 5)), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 5), DYN_LOC(0, 4)), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 5), DYN_LOC(0, 6)), -EFAULT);
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 5), DYN_LOC(1, 5)), -EFAULT);
	EXPECT_STR(trace_nth_event(0), "");
	EXPECT_EQ(WRITE(0, "text", DYN_LOC(4, 5), DYN_LOC(1, 4)), 0);
	EXPECT_STR(trace_nth_event(0), "t: s=text z=ext");
	EXPECT_EQ(trace_put("events/user_events/enable", "0"), 0);
	end();
}

/* An event that is to stay does so when its file is closed, until it is deleted by its name. */
static void persistent(void)
{
	struct user_event *ev;

	begin();
	EXPECT_EQ(user_events_register(file, "stay u32 a", USER_EVENT_REG_PERSIST, &ev), 0);
	EXPECT_EQ(add("go u32 a", STRICT), 1);
	EXPECT_EQ(user_events_delete("stay"), -EBUSY);
	close_file();
	EXPECT_STR(trace_get("dynamic_events", NULL), "u:stay u32 a\n");
	EXPECT_EQ(trace_append("dynamic_events", "-:other/stay"), -ENOENT);
	EXPECT_EQ(trace_append("dynamic_events", "-:stay u32 a; u32 b"), -ENOENT);
	EXPECT_EQ(trace_append("dynamic_events", "-:stay u32 b"), -ENOENT);
	EXPECT_EQ(user_events_delete("stay"), 0);
	EXPECT_EQ(user_events_delete("stay"), -ENOENT);
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
	file = user_events_open(NULL);
	end();
}

/* Fields are others if one type, name or size of a struct differs, the last one as well. */
static void fields_differ(void)
{
	begin();
	EXPECT_EQ(add("d u32 a; struct s b 8", STRICT), 0);
	EXPECT_EQ(add("d u32 a; struct s b 8", STRICT), 0);
	EXPECT_EQ(add("d u32 a; struct s b 4", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("d u32 a; struct s c 8", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("d u32 a; struct t b 8", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("d s32 a; struct s b 8", STRICT), -EADDRINUSE);
	EXPECT_EQ(add("d u32 a", STRICT), -EADDRINUSE);
	end();
}

#define ENABLE_MAX 4096 /* bytes of the list, with a NUL after each word */

static bool is_on(const char *name)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "events/user_events/%s/enable", name);
	return !strcmp(trace_get(path, NULL), "1\n");
}

/* Which names the patterns mean; the last one that matches decides. */
static void enabled_when_new(void)
{
	static const struct {
		const char *list, *name;
		bool on;
	} rows[] = {{"*", "a1", true}, {"b?", "b1", true}, {"b?", "b12", false},
	    {"c*d*e", "c1d2d3e", true}, {"c*d*e", "c1d2d3ef", false}, {"* !f1", "f1", false},
	    {"* !f1", "f2", true}, {"!g1 *", "g1", true}, {"", "h1", false},
	    {"x y\ti1", "i1", true}, {"j", "j1", false}, {"*j", "kj", true},
	    {"k*lm", "k-llm", true}, {"k*lm", "k-ln", false}, {"n*", "n", true}, {"**", "o", true},
	    {"p*?", "p", false}, {"p*?", "p1", true}, {"*q*?q", "1q2q", true}};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("user_events_enable", rows[i].list), 0);
		EXPECT(add(rows[i].name, STRICT) >= 0);
		EXPECT_EQ(is_on(rows[i].name), rows[i].on);
	}
	EXPECT_EQ(trace_put("user_events_enable", "a b !c\n"), 0);
	EXPECT_STR(trace_get("user_events_enable", NULL), "a\nb\n!c\n");
	EXPECT_EQ(trace_put("user_events_enable", "d !"), -EINVAL); /* cleared when it was opened */
	EXPECT_STR(trace_get("user_events_enable", NULL), "");
	EXPECT_EQ(trace_put("events/user_events/enable", "0"), 0);
	end();
}

/* Of a multi-format event the name that the program gave is listed, not that with a number. */
static void enabled_in_all_formats(void)
{
	struct user_event *ev;

	begin();
	EXPECT_EQ(trace_put("user_events_enable", "multi"), 0);
	for (u32 i = 0; i < 2; i++) {
		EXPECT_EQ(user_events_register(file, i ? "multi u32 a" : "multi u64 a",
			      USER_EVENT_REG_MULTI_FORMAT, &ev),
		    i);
		EXPECT(bit_is_set(ev->bit));
	}
	EXPECT_EQ(user_events_register(file, "mult", USER_EVENT_REG_MULTI_FORMAT, &ev), 2);
	EXPECT(!bit_is_set(ev->bit));
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	EXPECT_EQ(trace_put("events/user_events_multi/enable", "0"), 0);
	end();
}

static void enable_list_is_full(void)
{
	static char word[ENABLE_MAX + 1];

	begin();
	for (size_t n = ENABLE_MAX - 2; n <= ENABLE_MAX; n++) {
		memset(word, 'w', n);
		word[n] = '\0';
		host_lock();
		user_events_enable_clear();
		int err = user_events_enable_store(word);
		host_unlock();
		EXPECT_EQ(err, n < ENABLE_MAX ? 0 : -ENOSPC);
	}
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	end();
}

static int store_more(size_t n)
{
	static char word[ENABLE_MAX + 1];

	memset(word, 'w', n);
	word[n] = '\0';
	host_lock();
	int err = user_events_enable_store(word);
	host_unlock();
	return err;
}

/* A line takes events from the list that later lines do not have; a refused one takes none. */
static void enable_list_fills(void)
{
	begin();
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	EXPECT_EQ(store_more(2047), 0);
	EXPECT_EQ(store_more(2048), -ENOSPC);
	EXPECT_EQ(store_more(2046), 0);
	EXPECT_EQ(store_more(1), -ENOSPC);
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	EXPECT_EQ(store_more(ENABLE_MAX - 1), 0);
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"user_events.enabled_when_new", enabled_when_new},
    {"user_events.enabled_in_all_formats", enabled_in_all_formats},
    {"user_events.enable_list_is_full", enable_list_is_full},
    {"user_events.enable_list_fills", enable_list_fills},
    {"user_events.longest_name", longest_name},
    {"user_events.relative_texts", relative_texts},
    {"user_events.persistent", persistent},
    {"user_events.fields_differ", fields_differ},
    {"user_events.definitions", definitions_listed},
    {"user_events.errors", errors},
    {"user_events.names", names},
    {"user_events.payloads", payloads},
    {"user_events.bits", bits_follow},
    {"user_events.empty_texts", empty_texts},
    {"user_events.huge", huge},
    {"user_events.bits_of_many", bits_of_many},
    {"user_events.status", status},
    {"user_events.off_and_gone", off_and_gone},
    {"user_events.bits_are_apart", bits_are_apart},
    {"user_events.records_stay", records_stay},
    {"user_events.no_records_left", no_records_left},
    {"user_events.many_go", many_go},
    {"user_events.all_bits", all_bits},
    {NULL, NULL},
};
const struct ktap_suite suite_user_events = {cases};
