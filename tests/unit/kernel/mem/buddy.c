/* The page allocator's logic without a machine: which ranges are memory, and the buddies. */
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/buddy.h"
#include "kernel/mem/range.h"

/* ---- Ranges ---- */

static struct range_set set;

static void expect_ranges(int line, unsigned n, const u64 (*want)[2])
{
	if (set.count != n)
		ktap_fail(__FILE__, line, "%u ranges, not %u", set.count, n);
	for (unsigned i = 0; i < set.count && i < n; i++)
		if (set.r[i].start != want[i][0] || set.r[i].end != want[i][1])
			ktap_fail(__FILE__, line, "range %u is %llx-%llx", i,
			    (unsigned long long)set.r[i].start, (unsigned long long)set.r[i].end);
}
#define EXPECT_RANGES(...)                                                                         \
	do {                                                                                       \
		static const u64 want_[][2] = {__VA_ARGS__};                                       \
		expect_ranges(__LINE__, ARRAY_SIZE(want_), want_);                                 \
	} while (0)

static void ranges(void)
{
	set.count = 0;
	range_add(&set, 30, 40);
	range_add(&set, 10, 20);
	range_add(&set, 5, 5);
	EXPECT_RANGES({10, 20}, {30, 40});
	range_add(&set, 20, 25); /* touches */
	EXPECT_RANGES({10, 25}, {30, 40});
	range_add(&set, 0, 100); /* swallows */
	EXPECT_RANGES({0, 100});
	range_remove(&set, 10, 20);
	range_remove(&set, 50, 50);
	EXPECT_RANGES({0, 10}, {20, 100});
	range_remove(&set, 5, 30);
	EXPECT_RANGES({0, 5}, {30, 100});
	range_add(&set, 40, 50); /* inside */
	EXPECT_RANGES({0, 5}, {30, 100});
	range_remove(&set, 90, 200);
	range_remove(&set, 0, 5);
	EXPECT_RANGES({30, 90});
}

static void ranges_full(void)
{
	set.count = 0;
	for (unsigned i = 0; i < RANGE_MAX + 5; i++)
		range_add(&set, i * 10, i * 10 + 5);
	EXPECT_EQ(set.count, RANGE_MAX);
	range_remove(&set, 1, 2); /* no room for what lies above the hole: it goes with it */
	EXPECT_EQ(set.count, RANGE_MAX);
	EXPECT(set.r[0].start == 0 && set.r[0].end == 1 && set.r[1].start == 10);
}

#define MB (1UL << 20)

static void boot_map(void)
{
	static struct boot_info bi;

	memset(&bi, 0, sizeof(bi));
	bi.ranges[0] = (struct boot_range){64 * MB, 64 * MB, BOOT_MEM_USABLE, 0}; /* unsorted */
	bi.ranges[1] = (struct boot_range){0, 0x9fc00, BOOT_MEM_USABLE, 0};
	bi.ranges[2] = (struct boot_range){MB, 63 * MB, BOOT_MEM_USABLE, 0}; /* touches the first */
	bi.ranges[3] =
	    (struct boot_range){100 * MB + 5, 10, BOOT_MEM_RESERVED, 0}; /* overlaps; not a page */
	bi.ranges[4] = (struct boot_range){127 * MB, 8 * MB, BOOT_MEM_ACPI, 0};
	bi.ranges[5] = (struct boot_range){UINT64_MAX - 100, 1000, BOOT_MEM_USABLE, 0}; /* wraps */
	bi.ranges[6] =
	    (struct boot_range){200 * MB + 1, PAGE_SIZE, BOOT_MEM_USABLE, 0}; /* no whole page */
	bi.range_count = 7;
	bi.kernel_base = MB;
	bi.kernel_size = 2 * MB + 1;
	bi.initrd_base = 10 * MB + 100;
	bi.initrd_size = 100;
	range_set_from_boot(&set, &bi, 1UL << 46);
	EXPECT_RANGES(
	    {3 * MB + 4096, 10 * MB}, {10 * MB + 4096, 100 * MB}, {100 * MB + 4096, 127 * MB});
	range_set_from_boot(&set, &bi, 64 * MB); /* what the direct map does not reach */
	EXPECT_RANGES({3 * MB + 4096, 10 * MB}, {10 * MB + 4096, 64 * MB});
}

/* The page where other CPUs begin: the highest that is free as a whole, below 640 KiB. */
static void low_page(void)
{
	static struct boot_info bi;

	memset(&bi, 0, sizeof(bi));
	EXPECT_EQ(range_low_page(&bi), 0);
	bi.ranges[0] = (struct boot_range){0, 4095, BOOT_MEM_USABLE, 0};
	bi.ranges[1] = (struct boot_range){MB, MB, BOOT_MEM_USABLE, 0};
	bi.range_count = 2;
	EXPECT_EQ(range_low_page(&bi), 0);
	bi.ranges[0].size = 2 * PAGE_SIZE; /* page 0 is none, page 1 is */
	EXPECT_EQ(range_low_page(&bi), PAGE_SIZE);
	bi.ranges[0].size = 0x9fc00;
	EXPECT_EQ(range_low_page(&bi), 0x9e000);
	bi.ranges[0].size = 0xa0000 + PAGE_SIZE;
	EXPECT_EQ(range_low_page(&bi), 0x9f000);
	bi.ranges[2] = (struct boot_range){0x9efff, 1, BOOT_MEM_NVS, 0};
	bi.ranges[3] = (struct boot_range){0x9f000, 1, BOOT_MEM_RESERVED, 0};
	bi.range_count = 4;
	EXPECT_EQ(range_low_page(&bi), 0x9d000);
	bi.initrd_base = 0x9d100;
	bi.initrd_size = 16;
	EXPECT_EQ(range_low_page(&bi), 0x9c000);
}

/* ---- Buddies ---- */

#define PFNS (4 * BLOCK_FRAMES)
static struct frame memory[PFNS + 1]; /* the last for the blocks' states */
static struct buddy b;

static void setup(void)
{
	memset(memory, 0xaa, sizeof(memory)); /* memory need not be clean */
	buddy_init(&b, memory, PFNS - 5);
	EXPECT(buddy_bytes(PFNS - 5) <= sizeof(memory));
}

/* All frames of the lists, counted; and no two buddies free beside each other. */
static u64 count_free(void)
{
	u64 n = 0;

	for (unsigned o = 0; o <= MAX_ORDER; o++) {
		EXPECT_EQ(b.nonempty >> o & 1, b.head[o] != 0);
		for (u32 pfn = b.head[o]; pfn; pfn = b.frames[pfn].next) {
			u64 other = pfn ^ (1UL << o);
			EXPECT_EQ(pfn % (1UL << o), 0);
			EXPECT(o == MAX_ORDER || b.frames[other].kind != FRAME_FREE ||
			       b.frames[other].order != o);
			n += 1UL << o;
		}
	}
	return n + b.fresh * BLOCK_FRAMES;
}

static void buddy_lazy(void)
{
	setup();
	buddy_add(&b, 0, 3 * BLOCK_FRAMES - 7);
	EXPECT_EQ(b.total, 3 * BLOCK_FRAMES - 8); /* never frame 0 */
	EXPECT_EQ(b.free, count_free());
	EXPECT_EQ(b.fresh, 1);
	EXPECT_EQ(memory[BLOCK_FRAMES].kind, 0xaa); /* nobody wrote there */
	EXPECT(buddy_frame(&b, BLOCK_FRAMES) == NULL);
	EXPECT(buddy_frame(&b, 3 * BLOCK_FRAMES) == NULL);
	EXPECT(buddy_frame(&b, 1UL << 40) == NULL);
	u64 whole = buddy_alloc(&b, MAX_ORDER);
	EXPECT_EQ(whole, BLOCK_FRAMES);
	EXPECT_EQ(buddy_alloc(&b, MAX_ORDER), 0); /* what is left has holes */
	EXPECT_EQ(b.fresh, 0);
	EXPECT(buddy_free(&b, whole, MAX_ORDER));
	EXPECT_EQ(b.free, count_free());
	EXPECT_EQ(b.free, b.total);
}

static void buddy_splits_and_joins(void)
{
	static u64 got[BLOCK_FRAMES];

	setup();
	buddy_add(&b, BLOCK_FRAMES, 2 * BLOCK_FRAMES);
	for (unsigned i = 0; i < BLOCK_FRAMES; i++) {
		got[i] = buddy_alloc(&b, 0);
		EXPECT(got[i] != 0);
		EXPECT_EQ(b.frames[got[i]].refs, 1);
	}
	EXPECT_EQ(buddy_alloc(&b, 0), 0);
	EXPECT_EQ(b.free, 0);
	EXPECT_EQ(b.nonempty, 0);
	/* every second one first: nothing can join; then the rest: all becomes one run again */
	for (unsigned i = 0; i < BLOCK_FRAMES; i++)
		if (got[i] % 2)
			EXPECT(buddy_free(&b, got[i], 0));
	EXPECT_EQ(b.nonempty, 1);
	EXPECT_EQ(buddy_alloc(&b, 1), 0);
	for (unsigned i = 0; i < BLOCK_FRAMES; i++)
		if (got[i] % 2 == 0)
			EXPECT(buddy_free(&b, got[i], 0));
	EXPECT_EQ(b.nonempty, 1u << MAX_ORDER);
	EXPECT_EQ(b.free, count_free());
}

static void buddy_refuses(void)
{
	setup();
	buddy_add(&b, BLOCK_FRAMES, 2 * BLOCK_FRAMES - 1);
	u64 p = buddy_alloc(&b, 2);
	EXPECT(!buddy_free(&b, p, 1));
	EXPECT(!buddy_free(&b, p + 1, 0));
	EXPECT(buddy_free(&b, p, 2));
	EXPECT(!buddy_free(&b, p, 2));
	EXPECT(!buddy_free(&b, 2 * BLOCK_FRAMES - 1, 0)); /* was never memory */
	EXPECT(!buddy_free(&b, 3 * BLOCK_FRAMES, 0));
	EXPECT_EQ(b.free, b.total);
	EXPECT_EQ(b.free, count_free());
}

/* Random orders in and out: runs never overlap, are aligned, and all comes back. */
static void buddy_random(void)
{
	static struct {
		u64 pfn;
		unsigned order;
	} held[200];
	static u8 owner[PFNS];
	unsigned n = 0;
	u32 seed = 12345;

	setup();
	memset(owner, 0, sizeof(owner));
	buddy_add(&b, 300, PFNS - 100);
	for (unsigned step = 0; step < 20000; step++) {
		seed = seed * 1664525 + 1013904223;
		if (n < ARRAY_SIZE(held) && (seed >> 16 & 1)) {
			unsigned order = __builtin_ctz(seed >> 20 | 1 << 7);
			u64 p = buddy_alloc(&b, order);
			if (!p)
				continue;
			EXPECT_EQ(p % (1UL << order), 0);
			for (u64 i = p; i < p + (1UL << order); i++)
				EXPECT_EQ(owner[i]++, 0);
			held[n].pfn = p;
			held[n++].order = order;
		} else if (n) {
			unsigned i = (seed >> 8) % n;
			for (u64 f = held[i].pfn; f < held[i].pfn + (1UL << held[i].order); f++)
				EXPECT_EQ(--owner[f], 0);
			EXPECT(buddy_free(&b, held[i].pfn, held[i].order));
			held[i] = held[--n];
		}
	}
	EXPECT_EQ(b.free, count_free());
	while (n--)
		EXPECT(buddy_free(&b, held[n].pfn, held[n].order));
	EXPECT_EQ(b.free, b.total);
	EXPECT_EQ(b.free, count_free());
}

static const struct ktap_case cases[] = {
    {"range.sets", ranges},
    {"range.full", ranges_full},
    {"range.boot_map", boot_map},
    {"range.low_page", low_page},
    {"buddy.lazy", buddy_lazy},
    {"buddy.splits_and_joins", buddy_splits_and_joins},
    {"buddy.refuses", buddy_refuses},
    {"buddy.random", buddy_random},
    {NULL, NULL},
};
const struct ktap_suite suite_mem_frames = {cases};
