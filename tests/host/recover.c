/*
 * Rings left in memory (trace/ring/recover.c), made by hand: what of each event, sub-buffer and
 * ring is believed, at its edges; and what becomes of damage at random.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"
#include "trace/ring/priv.h"
#include "trace/ring/recover.h"

#include <stdlib.h>

#define BASE   0xffff888000000000UL
#define PAGES  8UL
#define LAP    5UL
#define KNOWN  7
#define DAMAGE 500

/* The image: the ring, its slots, four sub-buffers in them, that of the reader, and a spare. */
enum { RING, SLOTS, FIRST, READERS = FIRST + 4, SPARE };

static char *image;

static struct rb_ring *ring(void)
{
	return (struct rb_ring *)image;
}

static u64 *slots(void)
{
	return (u64 *)(image + SLOTS * PAGE_SIZE);
}

static struct ring_buffer_page *page(unsigned i)
{
	return (struct ring_buffer_page *)(image + i * PAGE_SIZE);
}

static void *there(unsigned i)
{
	return (void *)(BASE + i * PAGE_SIZE);
}

static bool known(void *arg __maybe_unused, u16 id)
{
	return id == KNOWN;
}

static void fill(unsigned i, u64 lap, const u32 *words, unsigned bytes, unsigned events)
{
	memcpy(page(i)->data, words, bytes);
	page(i)->time_stamp = 1000 + i;
	page(i)->commit = rb_commit_fresh(lap) + events * RB_COMMIT_EVENT + bytes;
}

/* A ring of four, of which the first is written, and the reader has none yet. */
static void begin(const u32 *words, unsigned bytes, unsigned events)
{
	image = aligned_alloc(PAGE_SIZE, PAGES * PAGE_SIZE);
	memset(image, 0, PAGES * PAGE_SIZE);
	*ring() = (struct rb_ring){.number = rb_number_make(LAP, 0),
	    .next = rb_number_make(LAP, 0),
	    .slots = there(SLOTS),
	    .count = 4,
	    .page_mask = rb_mask_of(0),
	    .page = there(READERS),
	    .spare = there(SPARE)};
	for (unsigned i = 0; i < 4; i++)
		slots()[i] = rb_slot_make(there(FIRST + i), LAP - (i != 0));
	fill(FIRST, LAP, words, bytes, events);
}

static struct rb_recovery found;
static struct rb_recovered_page pages[PAGES];

static bool recover(u32 at)
{
	const struct rb_image im = {image, PAGES * PAGE_SIZE, BASE, known, NULL};
	u8 seen[PAGES + 1] = {0};

	return rb_recover_ring(&im, at, seen, pages, PAGES, &found);
}

static void expect(u32 good, u32 damaged, u32 outside, u64 events)
{
	EXPECT(recover(RING));
	EXPECT_EQ(found.good, good);
	EXPECT_EQ(found.damaged, damaged);
	EXPECT_EQ(found.outside, outside);
	EXPECT_EQ(found.events, events);
}

#define DATA(payload) (RINGBUF_TYPE_DATA | (payload))
#define LONG	      RINGBUF_TYPE_DATA
#define PADDING	      (RINGBUF_TYPE_PADDING | 1 << 5)
#define EVENT	      DATA(8), KNOWN, 0

static const struct {
	u32 words[8];
	unsigned bytes, events;
	bool good;
} rows[] = {
    {{EVENT}, 12, 1, true},
    {{EVENT}, 12, 0, false},
    {{EVENT}, 12, 2, false},
    {{EVENT, EVENT}, 24, 2, true},
    {{DATA(12), KNOWN, 0}, 12, 1, false},
    {{DATA(4), KNOWN}, 8, 1, false},
    {{DATA(8), KNOWN + 1, 0}, 12, 1, false},
    {{LONG, 8, KNOWN, 0}, 16, 1, true},
    {{LONG, 12, KNOWN, 0}, 16, 1, false},
    {{LONG, ~0U - 3, KNOWN, 0}, 16, 1, false},
    {{LONG, 10, KNOWN, 0, 0}, 20, 1, false},
    {{LONG, 0, EVENT}, 20, 2, false},
    {{EVENT, LONG}, 16, 2, false},
    {{RINGBUF_TYPE_TIME_EXTENT, 5, EVENT}, 20, 1, true},
    {{EVENT, RINGBUF_TYPE_TIME_EXTENT, 5}, 20, 1, true},
    {{EVENT, RINGBUF_TYPE_TIME_EXTENT}, 16, 1, false},
    {{RINGBUF_TYPE_TIME_STAMP, 5, 6, EVENT}, 24, 1, true},
    {{EVENT, RINGBUF_TYPE_TIME_STAMP, 5, 6}, 24, 1, true},
    {{EVENT, RINGBUF_TYPE_TIME_STAMP, 5}, 20, 1, false},
    {{EVENT, PADDING, 4}, 20, 1, true},
    {{EVENT, PADDING, 8}, 20, 1, false},
    {{EVENT, PADDING, 8, 0}, 24, 1, true},
    {{EVENT, PADDING, 0}, 20, 1, false},
    {{EVENT, PADDING, 6, 0}, 24, 1, false},
    {{EVENT, PADDING}, 16, 1, false},
    {{EVENT, RINGBUF_TYPE_PADDING, 4}, 20, 1, false},
};

/* As a sub-buffer of the ring, and as the reader's. */
static void events(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		bool good = rows[i].good;

		begin(rows[i].words, rows[i].bytes, rows[i].events);
		expect(good, !good, 0, good ? rows[i].events : 0);
		fill(READERS, LAP, rows[i].words, rows[i].bytes, rows[i].events);
		page(FIRST)->commit = rb_commit_fresh(LAP);
		ring()->page_seq = 1;
		ring()->end = rows[i].bytes;
		expect(good, !good, 0, good ? rows[i].events : 0);
		free(image);
	}
}

/* Of the reader's page what is behind the last event that it read, if one ends there. */
static void partly_read(void)
{
	static const u32 words[] = {EVENT, EVENT, EVENT};

	for (u64 offset = 0; offset <= 40; offset += 4) {
		bool sound = offset % 12 == 0 && offset < 36, all = offset >= 36;

		begin(words, 0, 0);
		fill(READERS, LAP, words, 36, 3);
		ring()->page_seq = 1;
		ring()->end = 36;
		ring()->offset = offset;
		ring()->stamp = 77;
		expect(sound, !sound && !all, 0, sound ? 3 - offset / 12 : 0);
		if (sound) {
			EXPECT_EQ(pages[0].from, offset);
			EXPECT_EQ(pages[0].end, 36);
			EXPECT_EQ(pages[0].stamp, offset ? 77 : 1000 + READERS);
		}
		ring()->page = there(PAGES);
		expect(0, 0, !all, 0);
		free(image);
	}
}

/* What is full is whole to its end, and no page is longer than a page. */
static void ends(void)
{
	u32 words[RB_PAGE_DATA / 4] = {DATA(8), KNOWN, 0, LONG, RB_PAGE_DATA - 12 - 8, KNOWN};

	begin(words, RB_PAGE_DATA, 2);
	expect(1, 0, 0, 2);
	page(FIRST)->commit += 4;
	expect(0, 1, 0, 0);
	page(FIRST)->commit = rb_commit_fresh(LAP) + RB_COMMIT_EVENT + rb_commit_padding(8) + 20;
	expect(1, 0, 0, 1);
	EXPECT_EQ(pages[0].end, 12);
	page(FIRST)->commit = rb_commit_fresh(LAP) + RB_COMMIT_EVENT + rb_commit_padding(24) + 20;
	expect(0, 1, 0, 0);
	free(image);
}

/* A page belongs to one slot, or to the reader; a lap to its slot and to the page's account. */
static void pages_and_slots(void)
{
	static const u32 words[] = {EVENT};

	begin(words, 12, 1);
	ring()->number = rb_number_make(LAP, 1);
	slots()[1] = rb_slot_make(there(FIRST), LAP);
	expect(1, 1, 0, 1);
	slots()[1] = rb_slot_make(there(FIRST + 1), LAP);
	fill(FIRST + 1, LAP, words, 12, 1);
	expect(2, 0, 0, 2);
	fill(READERS, LAP, words, 12, 1);
	ring()->page = there(FIRST);
	ring()->page_seq = 1;
	ring()->end = 12;
	expect(2, 1, 0, 2);
	ring()->page_seq = 0;
	fill(FIRST + 1, LAP + 1, words, 12, 1);
	expect(1, 1, 0, 1);
	slots()[1] = rb_slot_make(there(FIRST + 1), LAP + 1);
	expect(1, 0, 0, 1);
	slots()[1] = rb_slot_make(there(PAGES), LAP);
	expect(1, 0, 1, 1);
	slots()[1] = rb_slot_make((void *)(BASE - PAGE_SIZE), LAP);
	expect(1, 0, 1, 1);
	slots()[1] = rb_slot_make(there(RING), LAP); /* the ring itself is no sub-buffer */
	ring()->tail.a = rb_commit_fresh(LAP);
	EXPECT(recover(RING));
	EXPECT_EQ(found.good, 1);
	free(image);
}

/* A writer that had entered the next sub-buffer, but not said so yet, had written there. */
static void crossing(void)
{
	static const u32 words[] = {EVENT, EVENT};

	begin(words, 24, 2);
	slots()[1] = rb_slot_make(there(FIRST + 1), LAP);
	fill(FIRST + 1, LAP, words, 12, 1);
	expect(2, 0, 0, 3);
	slots()[1] = rb_slot_make(there(PAGES), LAP); /* a page elsewhere: it need not be there */
	expect(1, 0, 0, 2);
	ring()->number = rb_number_make(LAP, 3);
	for (unsigned i = 1; i < 4; i++) {
		slots()[i] = rb_slot_make(there(FIRST + i), LAP);
		fill(FIRST + i, LAP, words, 24, 2);
	}
	expect(4, 0, 0, 8); /* each once, though the next is the first again */
	free(image);
}

/* The reader was overtaken: what is left of its lap is gone, the oldest of the new one is first. */
static void overtaken(void)
{
	static const u32 words[] = {EVENT};

	begin(words, 12, 1);
	for (unsigned i = 0; i < 4; i++) {
		slots()[i] = rb_slot_make(there(FIRST + i), LAP + 1 - (i > 1));
		fill(FIRST + i, LAP + 1 - (i > 1), words, 12, 1);
	}
	ring()->number = rb_number_make(LAP + 1, 1);
	expect(4, 0, 0, 4);
	EXPECT_EQ(pages[0].page, FIRST + 2);
	EXPECT_EQ(pages[3].page, FIRST + 1);
	ring()->number = rb_number_make(LAP - 1, 1); /* after its reader */
	EXPECT(recover(RING));
	EXPECT_EQ(found.good, 0);
	free(image);
}

/* The writer, just a round ahead of its reader, had entered one more, but not said so yet. */
static void crossing_when_overtaken(void)
{
	static const u32 words[] = {EVENT};

	begin(words, 12, 1);
	for (unsigned i = 0; i < 4; i++) {
		slots()[i] = rb_slot_make(there(FIRST + i), LAP + (i < 2));
		fill(FIRST + i, LAP + (i < 2), words, 12, 1);
	}
	ring()->number = rb_number_make(LAP + 1, 0);
	expect(4, 0, 0, 4);
	EXPECT_EQ(pages[0].page, FIRST + 2);
	EXPECT_EQ(pages[3].page, FIRST + 1);
	free(image);
}

/* A ring whose own words are impossible is none. */
static void no_ring(void)
{
	static const u32 words[] = {EVENT};
	struct rb_ring was;

	begin(words, 12, 1);
	was = *ring();
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		*ring() = was;                                                                     \
		ring()->change;                                                                    \
		EXPECT(!recover(RING));                                                            \
		EXPECT_EQ(found.good + found.damaged + found.outside, 0);                          \
	} while (0)
	REFUSED(count = 0);
	REFUSED(count = PAGES + 1);
	REFUSED(count = (1UL << 61) + 4);
	REFUSED(slots = (u64 *)((char *)was.slots + 4));
	REFUSED(slots = (u64 *)(BASE - 8));
	REFUSED(slots = (u64 *)(BASE + PAGES * PAGE_SIZE - 24));
	REFUSED(page_mask = rb_mask_of(1));
	REFUSED(next = rb_number_make(LAP, 4));
	REFUSED(number = rb_number_make(LAP, 4));
	REFUSED(offset = RB_PAGE_DATA + 4);
	REFUSED(offset = 2);
	REFUSED(end = RB_PAGE_DATA + 4);
	*ring() = was;
	EXPECT(!recover(PAGES)); /* its page is not there */
	ring()->overrun_events = 1UL << 48;
	expect(1, 0, 0, 1);
	EXPECT_EQ(found.overrun, 0);
	ring()->overrun_events--;
	expect(1, 0, 0, 1);
	EXPECT_EQ(found.overrun, (1UL << 48) - 1);
	free(image);
}

/* Any bits of the ring, its slots and its accounts: what is found lies in the image, each once. */
static void damage(void)
{
	static const u32 words[] = {EVENT, EVENT, EVENT};
	u64 seed = 0x5eed0002, good = 0;

	ktap_note("seed %lx", seed);
	for (unsigned round = 0; round < DAMAGE; round++) {
		begin(words, 36, 3);
		for (unsigned i = 0; i < 4; i++) {
			slots()[i] = rb_slot_make(there(FIRST + i), LAP);
			fill(FIRST + i, LAP, words, 36, 3);
		}
		ring()->number = rb_number_make(LAP, 3);
		fill(READERS, LAP, words, 36, 3);
		ring()->page_seq = 1;
		ring()->end = 36;
		for (unsigned n = 1 + prng_next(&seed) % 4; n; n--) {
			u64 in = prng_next(&seed) % 3, at;

			at = in == 0   ? prng_next(&seed) % sizeof(struct rb_ring)
			     : in == 1 ? SLOTS * PAGE_SIZE + prng_next(&seed) % 32
				       : (FIRST + prng_next(&seed) % 5) * PAGE_SIZE +
					     prng_next(&seed) % 52;
			image[at] ^= 1 << prng_next(&seed) % 8;
		}
		if (recover(RING)) {
			u64 sum = 0;
			u32 once = 0;

			EXPECT(found.good <= 5);
			for (unsigned i = 0; i < found.good; i++) {
				EXPECT(pages[i].page < PAGES && pages[i].end <= RB_PAGE_DATA &&
				       pages[i].from < pages[i].end &&
				       !(once >> pages[i].page & 1));
				once |= 1U << pages[i].page;
				sum += pages[i].events;
			}
			EXPECT_EQ(sum, found.events);
			good += found.good;
		}
		free(image);
	}
	EXPECT(good > DAMAGE && good < 5 * DAMAGE); /* some of it was found, some was not */
}

static const struct ktap_case cases[] = {
    {"recover.events", events},
    {"recover.partly_read", partly_read},
    {"recover.ends", ends},
    {"recover.pages_and_slots", pages_and_slots},
    {"recover.crossing", crossing},
    {"recover.overtaken", overtaken},
    {"recover.crossing_when_overtaken", crossing_when_overtaken},
    {"recover.no_ring", no_ring},
    {"recover.damage", damage},
    {NULL, NULL},
};
const struct ktap_suite suite_recover = {cases};
