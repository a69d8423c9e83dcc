/*
 * Who reads: records of one time, lines of two records beside those of other CPUs, waiting for a
 * part of the buffer, splice.
 */
#include <pthread.h>
#include <unistd.h>

#include "kernel/abi/trace_mmap.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/wait.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/host_wait.h"
#include "trace/ring/ring.h"
#include "trace/tracefs/tables.h"

static u64 one_time(void)
{
	return 1000;
}

static void fire_numbered(void *number)
{
	trace_unit_numbers(1, 2, *(int *)number, 4);
}

/* The numbers that fire_numbered() gave, as the text has them. */
static void expect_numbers(const char *text, const char *wanted)
{
	char found[64];
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, " c=")) && n < sizeof(found) - 1; at++)
		found[n++] = at[3];
	found[n] = '\0';
	EXPECT_STR(found, wanted);
}

/* Of records of one time, the lower CPU's comes first, in `trace` and in trace_pipe. */
static void one_time_on_all(void)
{
	static const unsigned cpus[] = {2, 0, 3, 1, 2};
	static char buf[8192];
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;

	trace_fresh();
	machine_clock(one_time);
	EXPECT_EQ(trace_put("trace_clock", "uptime"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	for (int i = 0; i < (int)ARRAY_SIZE(cpus); i++)
		host_on_cpu(cpus[i], fire_numbered, &i);
	expect_numbers(trace_get("trace", NULL), "13042");
	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	ssize n = tracefs_read(f, buf, sizeof(buf) - 1, &pos);
	buf[MAX(n, 0L)] = '\0';
	expect_numbers(buf, "13042");
	tracefs_release(f);
	machine_clock(NULL);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	trace_fresh();
}

static void call_leaf(void *number)
{
	u64 slot = 1;

	host_function_enter(0, &slot);
	host_function_return(&slot, *(u64 *)number);
}

/* A call that has a line with its return makes way for the other CPUs as any other line. */
static void leaves_of_cpus(void)
{
	u64 i, random = 7;
	const char *at;

	trace_fresh();
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
	EXPECT_EQ(trace_put("options/funcgraph-retval", "1"), 0);
	for (i = 100; i < 200; i++) {
		host_on_cpu(prng_next(&random) % host_cpu_count(), call_leaf, &i);
	}
	at = trace_get("trace", NULL);
	for (i = 100; i < 200; i++) {
		char value[32];

		fmt_snprintf(value, sizeof(value), "/* = 0x%lx */", i);
		at = strstr(at, value);
		if (!at) {
			ktap_note("not in order: %s", value);
			EXPECT(at);
			break;
		}
	}
	EXPECT_EQ(trace_put("options/funcgraph-retval", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	trace_fresh();
}

/* ---- waiting ---- */

static struct tracefs_file *open_raw(unsigned how)
{
	struct tracefs_node node;
	struct tracefs_file *f = NULL;

	EXPECT_EQ(trace_walk("per_cpu/cpu0/trace_pipe_raw", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | how, &f), 0);
	return f;
}

static void put(unsigned n)
{
	while (n--)
		EXPECT_EQ(trace_put("trace_marker_raw", "abcd"), 0);
}

static u64 pages[8 * PAGE_SIZE / 8];

struct waiter {
	struct tracefs_file *f;
	ssize got;
	u32 done;
};

/* Of the test's own CPU, whatever else that does. */
static void *wait_for_pages(void *arg)
{
	struct waiter *w = arg;
	u64 pos = 0;

	w->got = tracefs_splice(w->f, pages, PAGE_SIZE, &pos, false);
	atomic_store(&w->done, 1U);
	return NULL;
}

static bool comes_true(const u32 *word)
{
	for (unsigned i = 0; i < 20000 && !atomic_load(word); i++)
		usleep(100);
	return atomic_load(word);
}

/* The reader that waited for a part of the buffer has gone on. Recording is on again. */
static void expect_woken(struct waiter *w, pthread_t thread)
{
	EXPECT(comes_true(&w->done));
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
	if (!w->done) { /* so that the case ends */
		put(4 * 255);
		host_wake(trace_global->full_waiters);
	}
	pthread_join(thread, NULL);
}

/*
 * Nobody else waits: then events are sent the way that wakes once a part of the buffer is full; who
 * says so wakes at once, and so does switching off.
 */
static void waits_for_a_part(void)
{
	trace_fresh();
	struct tracefs_file *f = open_raw(0);

	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	for (unsigned round = 0; round < 3; round++) {
		struct waiter w = {.f = f};
		pthread_t thread;

		EXPECT_EQ(pthread_create(&thread, NULL, wait_for_pages, &w), 0);
		EXPECT(comes_true(&trace_global->full_readers));
		if (round == 0)
			put(4 * 255);
		else if (round == 1)
			EXPECT_EQ(tracefs_ioctl(f, 0), 0);
		else
			EXPECT_EQ(trace_put("tracing_on", "0"), 0);
		expect_woken(&w, thread);
		EXPECT_EQ(w.got, round == 0 ? PAGE_SIZE : 0);
		EXPECT_EQ(trace_global->full_readers, 0);
		EXPECT(!(trace_global->way & TRACE_WAY_WAKE));
		EXPECT_EQ(trace_put("trace", ""), 0);
	}
	tracefs_release(f);
	trace_fresh();
}

/* Who waits for a snapshot is woken by the next one. */
static void waits_for_a_snapshot(void)
{
	struct tracefs_node node;
	struct waiter w = {0};
	pthread_t thread;

	trace_fresh();
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	put(256);
	EXPECT_EQ(trace_walk("per_cpu/cpu0/snapshot_raw", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &w.f), 0);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_pages, &w), 0);
	usleep(5000); /* it is waiting now, or it has no need to */
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT(comes_true(&w.done));
	if (!w.done)
		host_wake(trace_global->waiters);
	pthread_join(thread, NULL);
	EXPECT_EQ(w.got, PAGE_SIZE);
	tracefs_release(w.f);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

/* ---- splice ---- */

/* From whole pages on, of whole pages. */
static void spliced_pages(void)
{
	u64 pos = 5;

	trace_fresh();
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	put(2 * 255 + 1);
	EXPECT_EQ(tracefs_splice(f, pages, PAGE_SIZE, &pos, true), -EINVAL);
	pos = 0;
	EXPECT_EQ(tracefs_splice(f, pages, PAGE_SIZE - 1, &pos, true), -EINVAL);
	EXPECT_EQ(tracefs_splice(f, pages, 2 * PAGE_SIZE + 100, &pos, true), 2 * PAGE_SIZE);
	EXPECT_EQ(pos, 2 * PAGE_SIZE);
	EXPECT_EQ(tracefs_splice(f, pages, PAGE_SIZE, &pos, true), -EAGAIN); /* not finished */
	EXPECT_EQ(pos, 2 * PAGE_SIZE);
	tracefs_release(f);
	trace_fresh();
}

/* A sub-buffer larger than the room comes in pages; they get smaller while a file is open. */
static void spliced_in_parts(void)
{
	u64 pos = 0;

	trace_fresh();
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	put(3 * 1023);
	EXPECT_EQ(tracefs_splice(f, pages, PAGE_SIZE + 100, &pos, true), PAGE_SIZE);
	EXPECT_EQ(tracefs_splice(f, pages, 3 * PAGE_SIZE - 1, &pos, true), 2 * PAGE_SIZE);
	EXPECT_EQ(tracefs_splice(f, pages, 4 * PAGE_SIZE, &pos, true), PAGE_SIZE);
	EXPECT_EQ(pos, 4 * PAGE_SIZE);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(trace_put("trace_marker_raw", "last"), 0);
	/* The file's own page is one of the new size: it begins with the records. */
	EXPECT_EQ(tracefs_read(f, pages, 100, &pos), 100);
	for (unsigned i = 0; i < 3; i++)
		EXPECT(!memcmp((char *)pages + RB_PAGE_HEADER + i * 16 + 12, "last", 4));
	EXPECT_EQ(tracefs_read(f, pages, PAGE_SIZE, &pos), PAGE_SIZE - 100);
	EXPECT_EQ(tracefs_read(f, pages, 100, &pos), -EAGAIN);
	tracefs_release(f);
	trace_fresh();
}

/* Sub-buffers that are larger than the room are not put there, and not before they are finished. */
static void spliced_large(void)
{
	u64 pos = 0;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	put(10);
	EXPECT_EQ(tracefs_splice(f, pages, PAGE_SIZE, &pos, true), -EAGAIN);
	put(2 * 1023);
	memset(pages, 0xaa, sizeof(pages));
	EXPECT_EQ(tracefs_splice(f, pages, 5 * PAGE_SIZE, &pos, true), 4 * PAGE_SIZE);
	EXPECT_EQ(pages[4 * PAGE_SIZE / 8], 0xaaaaaaaaaaaaaaaaUL);
	EXPECT_EQ(tracefs_splice(f, pages, 8 * PAGE_SIZE, &pos, true), 4 * PAGE_SIZE);
	tracefs_release(f);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	trace_fresh();
}

/* Reads with less room than a sub-buffer, or at an odd address, go by the file's own page. */
static void read_by_a_page_of_its_own(void)
{
	static char odd[2 * PAGE_SIZE];
	u64 pos = 0, commit;

	trace_fresh();
	EXPECT_EQ(trace_put("trace_clock", "counter"), 0);
	struct tracefs_file *f = open_raw(TRACEFS_NONBLOCK);
	put(3);
	EXPECT_EQ(tracefs_read(f, odd + 1, PAGE_SIZE, &pos), PAGE_SIZE);
	memcpy(&commit, odd + 1 + 8, sizeof(commit));
	EXPECT_EQ(commit, 3 * 16);
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	put(800);
	memset(pages, 0xaa, sizeof(pages));
	for (unsigned part = 0; part < 4; part++) {
		EXPECT_EQ(
		    tracefs_read(f, pages + part * PAGE_SIZE / 8, PAGE_SIZE, &pos), PAGE_SIZE);
		EXPECT_EQ(pages[(part + 1) * PAGE_SIZE / 8], 0xaaaaaaaaaaaaaaaaUL);
	}
	EXPECT_EQ(pages[1], (PAGE_SIZE - RB_PAGE_HEADER) / 16 * 16); /* what a page can hold */
	EXPECT_EQ(tracefs_read(f, pages, 10000, &pos), 10000);
	EXPECT_EQ(pages[1], (800 - (PAGE_SIZE - RB_PAGE_HEADER) / 16) * 16); /* all the others */
	tracefs_release(f); /* with the rest of its page */
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	EXPECT_EQ(trace_put("trace_clock", "local"), 0);
	trace_fresh();
}

static void *wait_for_a_reader(void *arg)
{
	struct waiter *w = arg;

	w->got = tracefs_ioctl(w->f, TRACE_MMAP_IOCTL_GET_READER);
	atomic_store(&w->done, 1U);
	return NULL;
}

/* Who maps the ring and asks for the next sub-buffer waits for a part of it, as splice does. */
static void waits_mapped(void)
{
	struct waiter w = {.f = open_raw(0)};
	pthread_t thread;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	EXPECT_EQ(tracefs_ioctl(w.f, TRACE_MMAP_IOCTL_GET_READER), -ENODEV); /* waits for nothing */
	EXPECT_EQ(tracefs_map(w.f, 0, 1), 0);
	put(1);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_a_reader, &w), 0);
	EXPECT(comes_true(&trace_global->full_readers));
	put(4 * 255);
	EXPECT(comes_true(&w.done));
	if (!w.done)
		host_wake(trace_global->full_waiters);
	pthread_join(thread, NULL);
	EXPECT_EQ(w.got, 0);
	tracefs_unmap(w.f);
	tracefs_release(w.f);
	trace_fresh();
}

/* With buffer_percent 0, splice waits for a sub-buffer that is finished, not for any record. */
static void waits_for_a_whole_one(void)
{
	struct waiter w = {.f = open_raw(0)};
	pthread_t thread;

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_percent", "0"), 0);
	put(1);
	EXPECT_EQ(pthread_create(&thread, NULL, wait_for_pages, &w), 0);
	EXPECT(comes_true(&trace_global->readers));
	put(255);
	EXPECT(comes_true(&w.done));
	if (!w.done)
		host_wake(trace_global->waiters);
	pthread_join(thread, NULL);
	EXPECT_EQ(w.got, PAGE_SIZE);
	tracefs_release(w.f);
	EXPECT_EQ(trace_put("buffer_percent", "50"), 0);
	trace_fresh();
}

/*
 * A program that waits for the next page of a mapping goes on if somebody wakes it, or recording
 * ends.
 */
static void woken_mapped(void)
{
	struct tracefs_file *f = open_raw(0);

	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "16"), 0);
	EXPECT_EQ(tracefs_map(f, 0, 1), 0);
	for (unsigned round = 0; round < 2; round++) {
		struct waiter w = {.f = f};
		pthread_t thread;

		EXPECT_EQ(pthread_create(&thread, NULL, wait_for_a_reader, &w), 0);
		EXPECT(comes_true(&trace_global->full_readers));
		EXPECT_EQ(round ? trace_put("tracing_on", "0") : (int)tracefs_ioctl(f, 0), 0);
		expect_woken(&w, thread);
		EXPECT_EQ(w.got, 0);
	}
	tracefs_unmap(f);
	tracefs_release(f);
	trace_fresh();
}

static bool comes_and_goes(void *arg __maybe_unused)
{
	return true;
}

/* Looks while another reader, of the other kind, waits and leaves. */
static bool look_beside_another(void *filled)
{
	if (*(bool *)filled)
		trace_wait_filled(trace_global, comes_and_goes, NULL);
	else
		trace_wait(trace_global, comes_and_goes, NULL);
	EXPECT(trace_global->way & TRACE_WAY_WAKE);
	return true;
}

/* Records are sent by way of the wake-up until the last reader has left, of whichever kind. */
static void until_the_last_leaves(void)
{
	bool filled;

	trace_fresh();
	filled = true;
	EXPECT_EQ(trace_wait(trace_global, look_beside_another, &filled), 0);
	EXPECT(!(trace_global->way & TRACE_WAY_WAKE));
	filled = false;
	EXPECT_EQ(trace_wait_filled(trace_global, look_beside_another, &filled), 0);
	EXPECT(!(trace_global->way & TRACE_WAY_WAKE));
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"readers.one_time_on_all", one_time_on_all},
    {"readers.leaves_of_cpus", leaves_of_cpus},
    {"readers.waits_for_a_part", waits_for_a_part},
    {"readers.waits_for_a_snapshot", waits_for_a_snapshot},
    {"readers.spliced_pages", spliced_pages},
    {"readers.spliced_in_parts", spliced_in_parts},
    {"readers.spliced_large", spliced_large},
    {"readers.read_by_a_page_of_its_own", read_by_a_page_of_its_own},
    {"readers.waits_mapped", waits_mapped},
    {"readers.woken_mapped", woken_mapped},
    {"readers.until_the_last_leaves", until_the_last_leaves},
    {"readers.waits_for_a_whole_one", waits_for_a_whole_one},
    {NULL, NULL},
};
const struct ktap_suite suite_readers = {cases};
