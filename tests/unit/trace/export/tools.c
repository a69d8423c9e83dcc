/*
 * Taking a trace.dat file apart as trace-cmd does: its sections, against the files they come from;
 * its records.
 */
#include "tests/unit/trace/export/tools.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/clock.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"

static struct dat_file file;

/* Counted, lest the ledger find more in the ring than was hit. */
void dat_record(u32 length)
{
	static u8 data[RB_MAX_DATA];

	for (u32 i = 8; i < length; i++)
		data[i]++;
	host_preempt_disable();
	EXPECT_EQ(ring_buffer_write(trace_global->buffer, length, data), 0);
	local_inc(&trace_ftrace_file(trace_global, TRACE_PRINT)->counts[host_cpu()].hit);
	host_preempt_enable();
}

/* ---- reading one ---- */

void dat_release(void)
{
	host_free(file.data);
	file = (struct dat_file){.data = NULL};
}

struct tracefs_file *dat_open(const char *path)
{
	struct tracefs_node node;
	struct tracefs_file *f = NULL;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(node.mode, 0100440);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ, &f), 0);
	return f;
}

/* The rest of an open one after what is in `file`; the error that ended it. */
ssize dat_drain(struct tracefs_file *f, size_t step)
{
	u64 pos = file.size, room = file.size;
	ssize got;

	do {
		if (room - file.size < step) {
			u8 *more = host_alloc(room = room * 2 + step + 65536);
			EXPECT(more);
			memcpy(more, file.data, file.size);
			host_free(file.data);
			file.data = more;
		}
		got = tracefs_read(f, file.data + file.size, step, &pos);
		file.size += MAX(got, 0L);
	} while (got > 0);
	return got;
}

void dat_start(struct tracefs_file *f)
{
	u64 pos = 0;

	dat_release();
	file.data = host_alloc(1);
	file.size = 1;
	EXPECT_EQ(tracefs_read(f, file.data, 1, &pos), 1);
}

void dat_read(const char *path, size_t step)
{
	struct tracefs_file *f = dat_open(path);

	dat_release();
	EXPECT_EQ(dat_drain(f, step), 0);
	tracefs_release(f);
}

static const void *take(u64 n)
{
	const u8 *p = file.data + file.at;

	EXPECT(file.size - file.at >= n);
	if (file.size - file.at < n)
		return "";
	file.at += n;
	return p;
}

static u64 take_number(u64 bytes)
{
	u64 v = 0;

	memcpy(&v, take(bytes), bytes);
	return v;
}

static const char *take_string(void)
{
	const char *s = (const char *)file.data + file.at;

	take(strlen(s) + 1);
	return s;
}

/* A text after its length is what the file shows, or (NULL) anything. */
static void take_text(u64 bytes, const char *path)
{
	u64 n = take_number(bytes);
	const char *text = take(n);

	if (!path)
		return;
	const char *shown = trace_get(path, NULL);
	EXPECT_EQ(n, strlen(shown));
	EXPECT(!memcmp(text, shown, n));
}

static void take_systems(bool past)
{
	u64 systems = take_number(4);
	char path[160];
	bool found = false;

	EXPECT(systems > 0);
	while (systems--) {
		const char *name = take_string();
		for (u64 n = take_number(4); n; n--) {
			u64 length = take_number(8);
			const char *text = take(length), *end = memchr(text, '\n', length);
			fmt_snprintf(path, sizeof(path), "%sevents/%s/%.*s/format",
			    past ? "instances/lastboot/" : "", name, (int)(end - text - 6),
			    text + 6);
			EXPECT_EQ(length, strlen(trace_get(path, NULL)));
			found |= strstr(path, "events/unit/unit_text/format") != NULL;
		}
	}
	EXPECT(found);
}

/* Of another boot, formats and names are not those that the files show now. */
static u64 take_header(bool past)
{
	u64 options = 0, id;

	file.at = 0;
	EXPECT(!memcmp(take(12), "\x17\x08\x44tracing6", 12));
	EXPECT_EQ(take_number(2), 8 << 8);
	u64 page_size = take_number(4);
	EXPECT(page_size >= PAGE_SIZE && page_size <= PAGE_SIZE << RB_ORDER_MAX &&
	       !(page_size & (page_size - 1)));
	EXPECT(!strcmp(take_string(), "header_page"));
	take_text(8, "events/header_page");
	EXPECT(!strcmp(take_string(), "header_event"));
	take_text(8, NULL);
	u64 own = take_number(4);
	EXPECT(past ? own > 0 : own == 16);
	while (own--)
		take_text(8, NULL);
	take_systems(past);
	take_text(4, NULL);
	take_text(4, "printk_formats");
	take_text(8, past ? NULL : "saved_cmdlines");
	EXPECT_EQ(take_number(4), host_cpu_count());
	EXPECT(!strcmp(take_string(), "options  "));
	while ((id = take_number(2))) {
		options |= 1UL << id;
		take_text(4, NULL);
	}
	EXPECT(!strcmp(take_string(), "flyrecord"));
	id = file.at;
	file.at += host_cpu_count() * 16;
	take_text(8, NULL);
	EXPECT_EQ(file.size % page_size, 0);
	file.at = id;
	return options;
}

u64 dat_take_header(void)
{
	return take_header(false);
}

/* ---- its records ---- */

static u64 page_word(u64 at)
{
	u64 v;

	memcpy(&v, file.data + at, sizeof(v));
	return v;
}

/* What the file says after its first bytes, its version and two bytes of the machine's kind. */
u32 dat_page_size(void)
{
	return page_word(14);
}

static u32 record_word(const struct dat_cpu_walk *w, u64 offset)
{
	u32 v;

	memcpy(&v, file.data + w->at + RB_PAGE_HEADER + offset, sizeof(v));
	return v;
}

static void begin_page(struct dat_cpu_walk *w)
{
	u64 commit = page_word(w->at + 8);

	w->time = page_word(w->at);
	w->offset = 0;
	w->bytes = commit & 0xfffff;
	EXPECT(w->bytes <= dat_page_size() - RB_PAGE_HEADER);
	if (commit & 1UL << 31 && commit & RB_MISSED_STORED)
		w->lost += page_word(w->at + RB_PAGE_HEADER + w->bytes);
	else if (commit & 1UL << 31)
		w->unknown++;
}

/* One record of Linux's format: true if it is data. */
static bool step(struct dat_cpu_walk *w)
{
	u32 word = record_word(w, w->offset), type = word & 31;
	u64 delta = word >> 5;

	w->offset += 4;
	if (type >= 30) {
		delta |= (u64)record_word(w, w->offset) << 27;
		w->offset += 4;
	}
	w->time = type == 31 ? delta : w->time + delta;
	if (type > 28) {
		EXPECT(type >= 30); /* no padding */
		return false;
	}
	w->length = type * 4;
	if (!type) {
		w->length = record_word(w, w->offset) - 4;
		w->offset += 4;
	}
	w->data = file.data + w->at + RB_PAGE_HEADER + w->offset;
	w->offset += w->length;
	EXPECT(w->offset <= w->bytes);
	return true;
}

bool dat_next(struct dat_cpu_walk *w)
{
	while (w->at < w->end) {
		while (w->offset < w->bytes)
			if (step(w))
				return true;
		w->at += dat_page_size();
		if (w->at < w->end)
			begin_page(w);
	}
	return false;
}

/* After the header: where a CPU's pages are. */
struct dat_cpu_walk dat_walk(unsigned cpu)
{
	struct dat_cpu_walk w = {.at = page_word(file.at + cpu * 16)};

	w.end = w.at + page_word(file.at + cpu * 16 + 8);
	EXPECT_EQ(w.at % dat_page_size(), 0);
	EXPECT(w.end <= file.size);
	if (w.at < w.end)
		begin_page(&w);
	return w;
}

/* The file has what the buffer has. How many that is. */
u64 dat_check(struct trace_array *tr, struct ring_buffer *rb)
{
	u64 records = 0, ts;
	bool missed;

	take_header(tr->past);
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		struct ring_buffer_live *it = ring_buffer_live_start(rb, cpu);
		struct dat_cpu_walk w = dat_walk(cpu);
		struct ring_buffer_event *ev;
		while ((ev = ring_buffer_live_next(it, &ts, &missed))) {
			EXPECT(dat_next(&w));
			EXPECT_EQ(w.time, trace_clock_ns(tr, ts));
			EXPECT_EQ(w.length, ring_buffer_data_length(ev));
			EXPECT(!memcmp(w.data, ring_buffer_event_data(ev), w.length));
			records++;
		}
		EXPECT(!dat_next(&w));
		EXPECT_EQ(w.unknown, 0);
		ring_buffer_live_finish(it);
	}
	return records;
}

void dat_sum(u64 *records, u64 *lost, u64 *unknown)
{
	*records = *lost = *unknown = 0;
	dat_take_header();
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++) {
		struct dat_cpu_walk w = dat_walk(cpu);
		while (dat_next(&w))
			++*records;
		*lost += w.lost;
		*unknown += w.unknown;
	}
}

struct dat_file *dat_file(void)
{
	return &file;
}
