/*
 * What docs/ring-buffer.md shows of the ring buffer is what the ring buffer does. Its pictures
 * stand in blocks after a line `<!-- ring_doc NAME -->`; each is made here again, from the ring's
 * own memory, and compared. Steps are seen by running an operation with the CPU's trap flag on and
 * writing down each word that changed, in the order it did. A block that differs is printed as it
 * should be.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "kernel/lib/ktap.h"
#include "tests/unit/trace/ring/tools.h"
#include "trace/host_context.h"
#include "trace/ring/write.h"

#define DOCUMENT  "docs/ring-buffer.md"
#define TRAP_FLAG 0x100
#define PAGES	  4    /* A and B in the ring, R and S the reader's */
#define EVENT	  1008 /* four to a sub-buffer, 48 bytes are left */
#define CELLS	  5

static char out[16384];
static size_t used;

static void __printf(1, 2) say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	used += vsnprintf(out + used, sizeof(out) - used, fmt, ap);
	va_end(ap);
}

/* ---- The document ---- */

static char *document(void)
{
	static char text[1 << 17];
	FILE *f = fopen(DOCUMENT, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	return text;
}

static unsigned compared;

/* The block of that name is what was said since the last one. */
static void block(const char *name)
{
	char marker[80];
	const char *at;

	snprintf(marker, sizeof(marker), "<!-- ring_doc %s -->\n```\n", name);
	at = strstr(document(), marker);
	out[used] = 0;
	if (!at || strncmp(at + strlen(marker), out, used) ||
	    strncmp(at + strlen(marker) + used, "```\n", 4)) {
		ktap_fail(__FILE__, __LINE__, "%s: the block %s is not what the ring does",
		    DOCUMENT, name);
		fprintf(stderr, "%s%s```\n", marker, out);
	}
	used = 0;
	compared++;
}

/* ---- Words of a ring ---- */

static struct ring_buffer *rb;
static struct ring_buffer_page *pages[PAGES];

struct words {
	u64 depth, tail, last, number, slot[2], overrun_events, overrun_pages, dropped,
	    commit_overrun;
	u64 account[PAGES], stamp[PAGES];
	u32 header[PAGES][CELLS];
};

static struct rb_ring *ring(void)
{
	return rb->cpu_buffers[ring_cpu()].ring;
}

static void begin(unsigned flags)
{
	rb = ring_make(2, flags);
	pages[0] = rb_slot_page(ring()->slots[0]);
	pages[1] = rb_slot_page(ring()->slots[1]);
	pages[2] = ring()->page;
	pages[3] = ring()->spare;
	for (int p = 0; p < PAGES; p++) /* so that the padding's header, 0, is seen to be written */
		*(u32 *)(pages[p]->data + (CELLS - 1) * EVENT) = ~0U;
	ring_now = 1000;
}

static void end(void)
{
	ring_buffer_free(rb);
}

static void look(struct words *w)
{
	struct rb_ring *r = ring();

	*w = (struct words){.depth = rb->cpu_buffers[ring_cpu()].depth,
	    .tail = r->tail.a,
	    .last = r->tail.b,
	    .number = r->number,
	    .slot = {r->slots[0], r->slots[1]},
	    .overrun_events = r->overrun_events,
	    .overrun_pages = r->overrun_pages,
	    .dropped = r->dropped,
	    .commit_overrun = r->commit_overrun};
	for (int p = 0; p < PAGES; p++) {
		w->account[p] = pages[p]->commit;
		w->stamp[p] = pages[p]->time_stamp;
		for (int c = 0; c < CELLS; c++)
			w->header[p][c] = *(u32 *)(pages[p]->data + c * EVENT);
	}
}

static char letter(const struct ring_buffer_page *page)
{
	for (int p = 0; p < PAGES; p++)
		if (page == pages[p])
			return "ABRS"[p];
	return '?';
}

static const char *slot_text(u64 slot, char *buf)
{
	sprintf(buf, "page %c, lap %llu", letter(rb_slot_page(slot)),
	    (unsigned long long)rb_slot_gen(slot));
	return buf;
}

static const char *tail_text(u64 tail, char *buf)
{
	u8 *at = (u8 *)rb_tail_event(tail);
	struct ring_buffer_page *page = rb_page_of(rb_tail_event(tail - 1), rb_mask_of(0));

	if (!tail)
		return "nowhere";
	sprintf(buf, "%c+%d, crossing %llu", letter(page), (int)(at - page->data),
	    (unsigned long long)rb_tail_moves(tail));
	return buf;
}

static const char *number_text(u64 number, char *buf)
{
	sprintf(buf, "lap %llu, index %llu", (unsigned long long)rb_number_gen(number),
	    (unsigned long long)rb_number_index(number));
	return buf;
}

static u64 account_lap(u64 account)
{
	return account >> RB_COMMIT_GEN;
}

static const char *account_text(u64 account, char *buf)
{
	u64 bytes = rb_commit_bytes(account), events = rb_commit_events(account);
	int n = sprintf(buf, "lap %llu: %llu bytes, %llu event%s",
	    (unsigned long long)account_lap(account), (unsigned long long)bytes,
	    (unsigned long long)events, events == 1 ? "" : "s");

	if (bytes != rb_commit_end(account))
		sprintf(buf + n, ", %llu of padding",
		    (unsigned long long)(bytes - rb_commit_end(account)));
	return buf;
}

static const char *header_text(u32 header, char *buf)
{
	static const char *const types[] = {"PADDING", "TIME_EXTENT", "TIME_STAMP", "DATA"};

	if (!header)
		return "PADDING to the end";
	sprintf(buf, "%s, len %u, delta %u", types[header & 3], header >> 2 & 7, header >> 5);
	return buf;
}

/* ---- Steps ---- */

static struct words before;
static volatile bool watching;

static void change(const char *step, const char *what, const char *to)
{
	say("%-3s %-16s %s\n", step, what, to);
}

#define COUNTER(step, field)                                                                       \
	do {                                                                                       \
		if (now.field != before.field) {                                                   \
			sprintf(buf, "%llu", (unsigned long long)now.field);                       \
			change(step, #field, buf);                                                 \
		}                                                                                  \
	} while (0)

static void write_page_changes(const struct words *now, int p)
{
	char buf[120], name[40];

	if (now->account[p] != before.account[p]) {
		u64 more = now->account[p] - before.account[p];
		const char *step = account_lap(now->account[p]) != account_lap(before.account[p])
				       ? (watching ? "C4" : "")
				   : more >> 24 ? "C5"
						: "W6";

		if (p >= 2 && !rb_commit_bytes(now->account[p]))
			step = "R5";
		sprintf(name, "account of %c", "ABRS"[p]);
		change(step, name, account_text(now->account[p], buf));
	}
	if (now->stamp[p] != before.stamp[p]) {
		sprintf(name, "time of %c", "ABRS"[p]);
		sprintf(buf, "%llu", (unsigned long long)now->stamp[p]);
		change("C5", name, buf);
	}
	for (int c = 0; c < CELLS; c++) {
		if (now->header[p][c] == before.header[p][c])
			continue;
		sprintf(name, "header %c+%d", "ABRS"[p], c * EVENT);
		change(c == CELLS - 1 ? "C5" : "W5", name, header_text(now->header[p][c], buf));
	}
}

/* What is different now, in one line each. */
static void write_changes(void)
{
	struct words now;
	char buf[120], name[40];

	look(&now);
	if (!memcmp(&now, &before, sizeof(now)))
		return;
	if (now.depth != before.depth) {
		sprintf(buf, "%llu", (unsigned long long)now.depth);
		change(now.depth > before.depth ? "W1" : "W7", "depth", buf);
	}
	for (int i = 0; i < 2; i++) {
		if (now.slot[i] == before.slot[i])
			continue;
		sprintf(name, "slot %d", i);
		change(rb_slot_page(now.slot[i]) == rb_slot_page(before.slot[i]) ? "C3" : "R5",
		    name, slot_text(now.slot[i], buf));
	}
	COUNTER("C3", overrun_events);
	COUNTER("C3", overrun_pages);
	COUNTER("C2", dropped);
	COUNTER("C2", commit_overrun);
	if (now.tail != before.tail) {
		int n = sprintf(name, "%s", tail_text(now.tail, buf));

		sprintf(name + n, " at %llu", (unsigned long long)now.last);
		change(rb_tail_moves(now.tail) != rb_tail_moves(before.tail) ? "C5" : "W4", "tail",
		    name);
	}
	if (now.number != before.number)
		change("C5", "number", number_text(now.number, buf));
	for (int p = 0; p < PAGES; p++)
		write_page_changes(&now, p);
	before = now;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	write_changes();
}

static void watch(bool on)
{
	static struct sigaction old;
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	if (on) {
		look(&before);
		sigaction(SIGTRAP, &sa, &old);
		watching = true;
		__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc");
	} else {
		__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
		watching = false;
		sigaction(SIGTRAP, &old, NULL);
	}
}

static struct ring_buffer_event *open_event(void)
{
	return ring_reserve(rb, EVENT - 8);
}

/* One event, watched. */
static void put_watched(void)
{
	struct host_context ctx;
	struct ring_buffer_event *ev;

	host_enter(&ctx);
	watch(true);
	ev = ring_buffer_lock_reserve(rb, EVENT - 8);
	if (ev)
		ring_buffer_unlock_commit(rb, ev);
	watch(false);
	host_preempt_enable();
}

static void put(unsigned n)
{
	static const u8 data[EVENT];

	while (n--) {
		ring_now += 5;
		ring_put(rb, data, EVENT - 8);
	}
}

/* ---- The whole ring ---- */

static void state(void)
{
	char buf[120];
	struct rb_ring *r = ring();

	say("tail      %s, time %llu\n", tail_text(r->tail.a, buf), (unsigned long long)r->tail.b);
	say("number    %s\n", number_text(r->number, buf));
	for (int i = 0; i < 2; i++) {
		say("slot %d    %s", i, slot_text(r->slots[i], buf));
		say(" (%s)\n", account_text(rb_slot_page(r->slots[i])->commit, buf));
	}
	say("reader    page %c%s, spare %c, next %s\n", letter(r->page),
	    r->open ? ", which is still written" : "", letter(r->spare), number_text(r->next, buf));
}

static void writing(void)
{
	begin(0);
	state();
	block("empty");
	put(1);
	state();
	block("one event");
	ring_now += 5;
	put_watched();
	block("W1 to W7");
	put(2);
	ring_now += 5;
	put_watched();
	block("crossing");
	put(3);
	ring_now += 5;
	put_watched();
	block("full");
	ring_buffer_change_overwrite(rb, true);
	ring_now += 5;
	put_watched();
	block("evicting");
	state();
	block("overwritten");
	end();
}

static void nesting(void)
{
	struct ring_buffer_event *outer, *inner;

	begin(RB_FL_OVERWRITE);
	outer = open_event();
	ring_now += 5;
	inner = open_event();
	state();
	block("two reserved");
	ring_commit(rb, inner);
	state();
	EXPECT(!ring_buffer_consume(rb, ring_cpu(), NULL, NULL));
	block("inner committed");
	put(6); /* as a nested writer: over the edge, and the ring is full */
	ring_now += 5;
	put_watched();
	block("overrun");
	ring_commit(rb, outer);
	put(1);
	state();
	block("outer committed");
	end();
}

static void reading(void)
{
	begin(RB_FL_OVERWRITE);
	put(5);
	state();
	block("before reading");
	look(&before);
	ring_buffer_consume(rb, ring_cpu(), NULL, NULL);
	write_changes();
	block("R5");
	state();
	block("taken");
	for (int i = 0; i < 4; i++)
		ring_buffer_consume(rb, ring_cpu(), NULL, NULL);
	put(1);
	state();
	block("taken while written");
	end();
}

/* ---- Bytes ---- */

static void dump(const void *from, size_t n)
{
	const u8 *p = from;

	for (size_t i = 0; i < n; i++) {
		if (i % 16 == 0)
			say("%s%04zx ", i ? "\n" : "", i);
		say(" %02x", p[i]);
	}
	say("\n");
}

static void bytes(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh"
				      "ijklmnopqrstuvwxyzABCDEFGH";
	struct ring_buffer_event *ev, *nested;
	struct ring_buffer_page *page;

	begin(0);
	ring_put(rb, letters, 4);
	ring_now += 100;
	ring_put(rb, "abcdefg", 7);
	dump(pages[0]->data + 8, 12);
	block("7 bytes");
	ring_now += 100;
	ring_put(rb, letters, 82);
	dump(pages[0]->data + 20, 92);
	block("82 bytes");
	ring_now += 3UL << 27 | 5;
	ring_put(rb, "abcd", 4);
	dump(pages[0]->data + 112, 16);
	block("extent");
	ring_now = 500;
	ring_put(rb, "abcd", 4);
	dump(pages[0]->data + 128, 20);
	block("stamp");
	ring_now += 7;
	ev = ring_reserve(rb, 8);
	memcpy(ring_buffer_event_data(ev), "abcdefgh", 8);
	ring_now += 1;
	nested = ring_reserve(rb, 4);
	memcpy(ring_buffer_event_data(nested), "abcd", 4);
	ring_commit(rb, nested);
	ring_discard(rb, ev);
	dump(pages[0]->data + 148, 20);
	block("discarded");
	page = ring_buffer_alloc_page();
	EXPECT_EQ(ring_buffer_read_page(rb, &page, PAGE_SIZE, ring_cpu(), false), 0);
	dump(page, 36);
	block("page");
	ring_buffer_free_page(page);
	end();
}

/* All of the document's blocks were made: none is left that nobody checks. */
static void all_checked(void)
{
	unsigned blocks = 0;

	for (const char *at = document(); (at = strstr(at, "<!-- ring_doc ")); at++)
		blocks++;
	compared = 0;
	writing();
	nesting();
	reading();
	bytes();
	EXPECT_EQ(blocks, compared);
}

static const struct ktap_case cases[] = {
    {"ring_doc.pictures", all_checked},
    {NULL, NULL},
};
const struct ktap_suite suite_ring_doc = {cases};
