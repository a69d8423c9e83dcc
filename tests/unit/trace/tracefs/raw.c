/*
 * The file trace_pipe_raw: what reads of any size give, waiting and not, poll() and buffer_percent,
 * and what header_page says.
 */
#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"
#include "trace/host_lock.h"
#include "trace/tracefs/tables.h"

#define CLOCK "counter" /* small times: no time stands in front of an event */
#define EVENT 16	/* of put(): header, common fields, id */

static u8 got[2 * PAGE_SIZE];

/*
 * Events of the CPU that this runs on; the case stays there (it has one, or is not moved: only its
 * first CPU may run it).
 */
static struct tracefs_file *open_file_below(const char *dir, const char *name, unsigned how)
{
	struct host_context ctx;
	struct tracefs_node node;
	struct tracefs_file *f = NULL;
	char path[64];

	host_enter(&ctx);
	fmt_snprintf(path, sizeof(path), "%sper_cpu/cpu%u/%s", dir, ctx.cpu, name);
	host_preempt_enable();
	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(node.mode, 0100440);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | how, &f), 0);
	return f;
}

static struct tracefs_file *open_file_raw(const char *name, unsigned how)
{
	return open_file_below("", name, how);
}

static struct tracefs_file *open_raw(unsigned how)
{
	return open_file_raw("trace_pipe_raw", how);
}

static void put(unsigned n)
{
	while (n--)
		EXPECT_EQ(trace_put("trace_marker_raw", "abcd"), 0);
}

static ssize take(struct tracefs_file *f, size_t n)
{
	u64 pos = 0;

	memset(got, 0xaa, sizeof(got));
	ssize done = tracefs_read(f, got, n, &pos);
	EXPECT_EQ(pos, MAX(done, 0L));
	return done;
}

static u64 commit_word(void)
{
	u64 word;

	memcpy(&word, got + 8, sizeof(word));
	return word;
}

static void start(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("trace_clock", CLOCK), 0);
}

/*
 * How many events a first read of n bytes takes, n around each edge; what it does not take is there
 * for the next file.
 */
static void first_read(void)
{
	for (size_t n = RB_PAGE_HEADER; n <= RB_PAGE_HEADER + 2 * EVENT + 1; n++) {
		size_t events = (n - RB_PAGE_HEADER) / EVENT;
		start();
		put(3);
		struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
		EXPECT_EQ(take(f, n), events ? (ssize)n : 0);
		EXPECT_EQ(got[n], 0xaa);
		if (events) {
			EXPECT_EQ(commit_word(), events * EVENT);
		}
		tracefs_release(f);
		f = open_raw(TRACEFS_NONBLOCK);
		EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE);
		EXPECT_EQ(commit_word(), (3 - events) * EVENT);
		EXPECT_EQ(take(f, PAGE_SIZE), -EAGAIN);
		tracefs_release(f);
	}
	trace_fresh();
}

/*
 * After the first read of a page, the rest of its 4096 bytes: N-1, N, N+1 bytes at a time come to
 * the same pages.
 */
static void rest_of_page(void)
{
	static const size_t sizes[] = {
	    RB_PAGE_HEADER + EVENT, 100, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t n = sizes[i], done = 0;
		start();
		put(1);
		struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
		while (done < PAGE_SIZE) {
			ssize part = take(f, n);
			EXPECT_EQ(part, MIN(n, PAGE_SIZE - done));
			if (done == 0)
				EXPECT_EQ(commit_word(), EVENT);
			if (part <= 0)
				break;
			done += part;
			EXPECT_EQ(tracefs_poll(f) & 1, done < PAGE_SIZE);
		}
		EXPECT_EQ(take(f, n), -EAGAIN);
		EXPECT_EQ(take(f, 0), 0);
		tracefs_release(f);
	}
	trace_fresh();
}

/* Several may have it open; each gets events of its own. */
static void two_files(void)
{
	start();
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK), *g = open_raw(TRACEFS_NONBLOCK);
	put(2);
	EXPECT_EQ(take(f, RB_PAGE_HEADER + EVENT), RB_PAGE_HEADER + EVENT);
	EXPECT_EQ(take(g, PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(commit_word(), EVENT);
	tracefs_release(f);
	tracefs_release(g);
	trace_fresh();
}

/* An instance has a percentage of its own, and options/block, whatever the top's are. */
static void poll_percent_of_an_instance(void)
{
	static const char own[] = "instances/i/buffer_percent";

	start();
	EXPECT_EQ(trace_make_instance("i"), 0);
	struct tracefs_file *f =
	    open_file_below("instances/i/", "trace_pipe_raw", TRACEFS_NONBLOCK);
	EXPECT_EQ(trace_put("instances/i/trace_marker_raw", "abcd"), 0);
	EXPECT_EQ(trace_put(own, "0"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	EXPECT_EQ(trace_put("buffer_percent", "0"), 0);
	EXPECT_EQ(trace_put(own, "100"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(trace_put("options/block", "1"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(trace_put("options/block", "0"), 0);
	EXPECT_EQ(trace_put("instances/i/options/block", "1"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	tracefs_release(f);
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

static void poll_percent(void)
{
	start();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0); /* 5 sub-buffers, of 255 such events */
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	EXPECT_EQ(trace_put("buffer_percent", "0"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	put(1);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
	put(2 * 255);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(trace_put("options/block", "1"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	EXPECT_EQ(trace_put("options/block", "0"), 0);
	put(1);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	EXPECT_EQ(trace_put("buffer_percent", "61"), 0);
	EXPECT_EQ(tracefs_poll(f) & 1, 0);
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
	tracefs_release(f);
	trace_fresh();
}

/*
 * poll() of trace_pipe: of all CPUs at any record, of one as trace_pipe_raw; and at the end, when a
 * read would not wait.
 */
static void poll_pipe(void)
{
	struct tracefs_node node;
	struct tracefs_file *all;
	u64 pos = 0;

	start();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &all), 0);
	EXPECT_EQ(tracefs_poll(all), 0);
	put(1);
	EXPECT_EQ(tracefs_poll(all), POLL_IN);
	EXPECT_EQ(tracefs_read(all, got, 3, &pos), 3);
	EXPECT_EQ(tracefs_poll(all), POLL_IN); /* the rest of the line */
	EXPECT(tracefs_read(all, got, sizeof(got), &pos) > 0);
	EXPECT_EQ(tracefs_poll(all), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(tracefs_poll(all), 0); /* a read would say EAGAIN, for ever */
	EXPECT_EQ(tracefs_read(all, got, sizeof(got), &pos), -EAGAIN);
	tracefs_set_nonblock(all, false);
	EXPECT_EQ(tracefs_poll(all), POLL_IN);
	EXPECT_EQ(tracefs_read(all, got, sizeof(got), &pos), 0);
	tracefs_release(all);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
	struct tracefs_file *one = open_file_raw("trace_pipe", TRACEFS_NONBLOCK);
	put(2 * 255 + 1);
	EXPECT_EQ(tracefs_poll(one), POLL_IN);
	EXPECT_EQ(trace_put("buffer_percent", "61"), 0);
	EXPECT_EQ(tracefs_poll(one), 0);
	EXPECT_EQ(trace_put("options/block", "1"), 0);
	EXPECT_EQ(tracefs_poll(one), POLL_IN);
	EXPECT_EQ(trace_put("options/block", "0"), 0);
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
	tracefs_release(one);
	trace_fresh();
}

static void percent_file(void)
{
	EXPECT_STR(trace_get("buffer_percent", NULL), "50\n");
	EXPECT_EQ(trace_put("buffer_percent", "99"), 0);
	EXPECT_EQ(trace_put("buffer_percent", "100"), 0);
	EXPECT_EQ(trace_put("buffer_percent", "101"), -EINVAL);
	EXPECT_EQ(trace_put("buffer_percent", "-1"), -EINVAL);
	EXPECT_STR(trace_get("buffer_percent", NULL), "100\n");
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
}

static void commands(void)
{
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);

	EXPECT_EQ(tracefs_ioctl(f, 0), 0);
	EXPECT_EQ(tracefs_ioctl(f, 1), -ENOTTY);
	tracefs_release(f);
}

/* The number after "\tfield: ... NAME;\tWHAT:" in header_page. */
static u64 header_says(const char *name, const char *what)
{
	const char *at = strstr(trace_get("events/header_page", NULL), name);
	u64 n = 0;

	at = at ? strstr(at, what) : NULL;
	EXPECT(at);
	for (at += at ? strlen(what) : 0; at && is_digit(*at); at++)
		n = n * 10 + *at - '0';
	return n;
}

/* What header_page says of a page is where things are in one that was read. */
static void header_page(void)
{
	u64 word = 0, stamp;

	start();
	put(2);
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE);
	tracefs_release(f);
	EXPECT_EQ(header_says(" timestamp;", "offset:"), 0);
	memcpy(&stamp, got, header_says(" timestamp;", "size:"));
	EXPECT(stamp > 0 && stamp < 1000000); /* the clock counts */
	memcpy(&word, got + header_says(" commit;", "offset:"), header_says(" commit;", "size:"));
	EXPECT_EQ(word, 2 * EVENT);
	u64 data = header_says(" data;", "offset:");
	EXPECT_EQ(data + header_says(" data;", "size:"), PAGE_SIZE);
	const struct ring_buffer_event *ev = (void *)(got + data);
	EXPECT_EQ(ev->type, RINGBUF_TYPE_DATA);
	EXPECT_EQ(ev->len, EVENT / 4 - 1);
	EXPECT(!memcmp(got + data + EVENT - 4, "abcd", 4));
	trace_fresh();
}

/* What is read of a snapshot is gone from it; before there is one there is nothing. */
static void snapshot(void)
{
	start();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	struct tracefs_file *f = open_file_raw("snapshot_raw", TRACEFS_NONBLOCK),
			    *g = open_raw(TRACEFS_NONBLOCK);
	EXPECT_EQ(take(f, PAGE_SIZE), -EAGAIN);
	EXPECT_EQ(tracefs_poll(f), 0);
	put(3);
	EXPECT_EQ(take(f, PAGE_SIZE), -EAGAIN);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	put(1);
	EXPECT_EQ(tracefs_poll(f) & 1, 1);
	EXPECT_EQ(take(f, RB_PAGE_HEADER + 2 * EVENT), RB_PAGE_HEADER + 2 * EVENT);
	EXPECT_EQ(commit_word(), 2 * EVENT);
	EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE - (RB_PAGE_HEADER + 2 * EVENT));
	EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(commit_word(), EVENT);
	EXPECT_EQ(take(f, PAGE_SIZE), -EAGAIN);
	EXPECT_EQ(take(g, PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(commit_word(), EVENT);
	EXPECT(strstr(trace_get("snapshot", NULL), "Snapshot is allocated"));
	put(600);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(take(f, PAGE_SIZE), PAGE_SIZE);
	EXPECT_EQ(commit_word(), RB_PAGE_DATA - EVENT); /* one of them was read before */
	EXPECT_EQ(trace_put("snapshot", "0"), 0);	/* while it is open */
	EXPECT_EQ(take(f, PAGE_SIZE), -EAGAIN);
	EXPECT(!tracefs_can_map(f));
	EXPECT_EQ(tracefs_ioctl(f, 0), -ENOTTY);
	tracefs_release(f);
	tracefs_release(g);
	trace_fresh();
}

/* Mappings are counted; the buffer keeps its size and is not exchanged until the last is gone. */
static void mapped(void)
{
	start();
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK), *g = open_raw(TRACEFS_NONBLOCK);
	EXPECT(tracefs_can_map(f));
	EXPECT_EQ(tracefs_ioctl(f, TRACE_MMAP_IOCTL_GET_READER), -ENODEV);
	EXPECT_EQ(tracefs_map(f, 0, 1), 0);
	const struct trace_buffer_meta *meta = tracefs_map_page(f, 0);
	u64 pages = 1 + meta->nr_subbufs;
	EXPECT_EQ(tracefs_map(f, 0, pages + 1), -EINVAL);
	EXPECT_EQ(tracefs_map(f, 1, pages), -EINVAL);
	EXPECT_EQ(tracefs_map(f, ~0UL, 1), -EINVAL);
	EXPECT_EQ(tracefs_map(f, 1, ~0UL), -EINVAL);
	EXPECT_EQ(tracefs_map(f, pages - 1, 1), 0);
	EXPECT(tracefs_map_page(f, pages - 1) && !tracefs_map_page(f, pages));
	EXPECT_EQ(tracefs_map(g, 0, pages), 0);
	tracefs_map_again(g);
	for (unsigned users = 4; users; users--) {
		EXPECT_EQ(trace_global->mapped, users);
		EXPECT_EQ(trace_put("buffer_size_kb", "200"), -EBUSY);
		EXPECT_EQ(trace_put("snapshot", "1"), -EBUSY);
		EXPECT(!trace_global->snapshot);
		put(1);
		EXPECT_EQ(tracefs_ioctl(f, TRACE_MMAP_IOCTL_GET_READER), 0);
		EXPECT_EQ(meta->read, 5 - users);
		tracefs_unmap(users > 2 ? g : f);
	}
	EXPECT_EQ(tracefs_ioctl(f, TRACE_MMAP_IOCTL_GET_READER), -ENODEV);
	EXPECT_EQ(trace_put("buffer_size_kb", "200"), 0);
	/* Who may take a snapshot at any time keeps others from mapping. */
	host_lock();
	EXPECT_EQ(trace_snapshot_arm(trace_global), 0);
	host_unlock();
	EXPECT_EQ(tracefs_map(f, 0, 1), -EBUSY);
	host_lock();
	trace_snapshot_disarm(trace_global);
	host_unlock();
	EXPECT_EQ(tracefs_map(f, 0, 1), 0);
	host_lock();
	EXPECT_EQ(trace_snapshot_arm(trace_global), -EBUSY);
	host_unlock();
	tracefs_unmap(f);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	tracefs_release(f);
	tracefs_release(g);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"raw.mapped", mapped},
    {"raw.snapshot", snapshot},
    {"raw.first_read", first_read},
    {"raw.rest_of_page", rest_of_page},
    {"raw.two_files", two_files},
    {"raw.poll_percent", poll_percent},
    {"raw.poll_percent_of_an_instance", poll_percent_of_an_instance},
    {"raw.poll_pipe", poll_pipe},
    {"raw.percent_file", percent_file},
    {"raw.commands", commands},
    {"raw.header_page", header_page},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_raw = {cases};
