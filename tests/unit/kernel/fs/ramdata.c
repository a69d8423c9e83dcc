/* The contents of files in memory: kernel/fs/ramdata.c, on pages counted here. */
#include "kernel/fs/ramdata.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

#define POOL 64

static _Alignas(4096) u8 pool[POOL][PAGE_SIZE];
static bool used[POOL];
static unsigned allowed; /* pages that may be in use */

static unsigned in_use(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < POOL; i++)
		n += used[i];
	return n;
}

static void *pool_page(bool zero)
{
	if (in_use() >= allowed)
		return NULL;
	for (unsigned i = 0; i < POOL; i++) {
		if (!used[i]) {
			used[i] = true;
			memset(pool[i], zero ? 0 : 0xaa,
			    PAGE_SIZE); /* what is not asked to be zero is not */
			return pool[i];
		}
	}
	return NULL;
}

static void pool_release(void *page)
{
	unsigned i = ((u8 *)page - pool[0]) / PAGE_SIZE;

	EXPECT(i < POOL && used[i]);
	used[i] = false;
}

static const struct ramdata_mem mem = {pool_page, pool_release};

static void start(struct ramdata *d)
{
	memset(used, 0, sizeof(used));
	allowed = POOL;
	ramdata_init(d, &mem);
}

static void expect_zeros(const struct ramdata *d, u64 from, u64 to)
{
	for (u64 at = from; at < to; at++) {
		u8 c = 1;
		if (ramdata_read(d, &c, 1, at) != 1 || c) {
			EXPECT_EQ(at, 0); /* shows where */
			EXPECT_EQ(c, 0);
			return;
		}
	}
}

static void writes_and_reads(void)
{
	struct ramdata d;
	char buf[16];

	start(&d);
	EXPECT_EQ(ramdata_read(&d, buf, 16, 0), 0);
	EXPECT_EQ(ramdata_write(&d, "hello", 5, 0), 5);
	EXPECT_EQ(ramdata_write(&d, "J", 1, 0), 1);
	EXPECT_EQ(ramdata_write(&d, "", 0, 100), 0);
	EXPECT_EQ(d.size, 5);
	EXPECT_EQ(ramdata_read(&d, buf, 16, 0), 5);
	EXPECT(memcmp(buf, "Jello", 5) == 0);
	EXPECT_EQ(ramdata_read(&d, buf, 16, 4), 1);
	EXPECT_EQ(ramdata_read(&d, buf, 16, 5), 0);
	EXPECT_EQ(ramdata_read(&d, buf, 16, ~0UL), 0);
	ramdata_truncate(&d, 0);
	EXPECT_EQ(in_use(), 0);
}

static void crosses_pages(void)
{
	static u8 big[3 * PAGE_SIZE], back[3 * PAGE_SIZE];
	struct ramdata d;

	start(&d);
	for (unsigned i = 0; i < sizeof(big); i++)
		big[i] = i * 7 + (i >> 8);
	EXPECT_EQ(ramdata_write(&d, big, sizeof(big), 100), sizeof(big));
	EXPECT_EQ(ramdata_read(&d, back, sizeof(back), 100), sizeof(back));
	EXPECT(memcmp(big, back, sizeof(big)) == 0);
	expect_zeros(&d, 0, 100);
	ramdata_truncate(&d, 0);
	EXPECT_EQ(in_use(), 0);
}

/*
 * A write far behind the end costs the pages of the way there and one of data; the hole reads as
 * zeros.
 */
static void sparse(void)
{
	static const u64 far[] = {
	    PAGE_SIZE, 511 * PAGE_SIZE, 512 * PAGE_SIZE, 1UL << 30, RAMDATA_MAX - 1};
	struct ramdata d;
	char c;

	for (unsigned i = 0; i < ARRAY_SIZE(far); i++) {
		start(&d);
		EXPECT_EQ(ramdata_write(&d, "a", 1, 3), 1);
		EXPECT_EQ(ramdata_write(&d, "z", 1, far[i]), 1);
		EXPECT_EQ(d.size, far[i] + 1);
		EXPECT(in_use() <= 10);
		EXPECT(ramdata_read(&d, &c, 1, 3) == 1 && c == 'a');
		EXPECT(ramdata_read(&d, &c, 1, far[i]) == 1 && c == 'z');
		EXPECT(ramdata_read(&d, &c, 1, far[i] / 2 + 8) == 1 && c == 0);
		ramdata_truncate(&d, 0);
		EXPECT_EQ(in_use(), 0);
	}
}

static void too_far(void)
{
	struct ramdata d;

	start(&d);
	EXPECT_EQ(ramdata_write(&d, "ab", 2, RAMDATA_MAX), -EFBIG);
	EXPECT_EQ(ramdata_write(&d, "ab", 2, ~0UL), -EFBIG);
	EXPECT_EQ(ramdata_write(&d, "ab", 2, RAMDATA_MAX - 1), 1);
	EXPECT_EQ(ramdata_truncate(&d, RAMDATA_MAX + 1), -EFBIG);
	EXPECT_EQ(d.size, RAMDATA_MAX);
	ramdata_truncate(&d, 0);
	EXPECT_EQ(in_use(), 0);
}

/* What is cut off does not come back when the file grows again. */
static void cut_bytes_are_gone(void)
{
	static const u64 cuts[] = {
	    0, 1, 100, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 2 * PAGE_SIZE, 2 * PAGE_SIZE + 50};
	static u8 ones[2 * PAGE_SIZE + 100];
	struct ramdata d;

	memset(ones, 1, sizeof(ones));
	for (unsigned i = 0; i < ARRAY_SIZE(cuts); i++) {
		start(&d);
		ramdata_write(&d, ones, sizeof(ones), 0);
		EXPECT_EQ(ramdata_truncate(&d, cuts[i]), 0);
		EXPECT_EQ(in_use(), cuts[i] ? (cuts[i] + PAGE_SIZE - 1) / PAGE_SIZE + 1 : 0);
		EXPECT_EQ(ramdata_truncate(&d, sizeof(ones)), 0);
		expect_zeros(&d, cuts[i], sizeof(ones));
		ramdata_truncate(&d, 0);
		EXPECT_EQ(in_use(), 0);
	}
}

/* Contents in place: read without a page, copied by the page when written, cut like any. */
static void base_is_copied_on_write(void)
{
	static u8 base[2 * PAGE_SIZE + 10];
	struct ramdata d;
	u8 c;

	memset(base, 5, sizeof(base));
	start(&d);
	ramdata_set_base(&d, base, sizeof(base));
	EXPECT_EQ(d.size, sizeof(base));
	EXPECT(ramdata_read(&d, &c, 1, sizeof(base) - 1) == 1 && c == 5);
	EXPECT_EQ(in_use(), 0);
	EXPECT_EQ(ramdata_write(&d, "x", 1, PAGE_SIZE + 1), 1);
	EXPECT_EQ(base[PAGE_SIZE + 1], 5);
	EXPECT_EQ(in_use(), 2); /* the page and one of the tree */
	EXPECT(ramdata_read(&d, &c, 1, PAGE_SIZE) == 1 && c == 5);
	EXPECT(ramdata_read(&d, &c, 1, PAGE_SIZE + 1) == 1 && c == 'x');
	EXPECT(ramdata_read(&d, &c, 1, PAGE_SIZE + 2) == 1 && c == 5);
	EXPECT_EQ(ramdata_write(&d, "y", 1, sizeof(base) + 5), 1);
	expect_zeros(&d, sizeof(base), sizeof(base) + 5);
	EXPECT_EQ(ramdata_truncate(&d, 10), 0);
	EXPECT_EQ(ramdata_truncate(&d, sizeof(base)), 0);
	expect_zeros(&d, 10, sizeof(base));
	EXPECT(ramdata_read(&d, &c, 1, 9) == 1 && c == 5);
	ramdata_truncate(&d, 0);
	EXPECT_EQ(in_use(), 0);
}

/* Without memory a write takes what fits, or nothing, and what was there stays. */
static void runs_out_of_pages(void)
{
	static u8 big[4 * PAGE_SIZE];
	struct ramdata d;

	memset(big, 9, sizeof(big));
	for (unsigned pages = 0; pages < 6; pages++) {
		start(&d);
		allowed = pages;
		ssize r = ramdata_write(&d, big, sizeof(big), 0);
		/* one page holds data without a tree; from two on the tree takes one */
		ssize want = pages == 0	  ? -ENOSPC
			     : pages == 1 ? (ssize)PAGE_SIZE
					  : (ssize)((pages - 1) * PAGE_SIZE);
		EXPECT_EQ(r, want);
		EXPECT_EQ(d.size, r < 0 ? 0 : r);
		EXPECT_EQ(ramdata_write(&d, "n", 1, 1UL << 40), -ENOSPC);
		EXPECT_EQ(d.size, r < 0 ? 0 : r);
		ramdata_truncate(&d, 0);
		EXPECT_EQ(in_use(), 0);
	}
}

/*
 * Pages that are mapped stay where they are whatever happens to the file, and show what it holds.
 */
static void pinned_pages_stay(void)
{
	static u8 base[PAGE_SIZE + 10];
	struct ramdata d;
	u8 *page, c;

	memset(base, 5, sizeof(base));
	start(&d);
	ramdata_set_base(&d, base, sizeof(base));
	page = ramdata_pin(&d, 1);
	EXPECT(page && page[0] == 5 && page[9] == 5 && page[10] == 0);
	EXPECT(ramdata_pin(&d, 2) == NULL);
	EXPECT_EQ(ramdata_write(&d, "w", 1, PAGE_SIZE + 3), 1);
	EXPECT_EQ(page[3], 'w');
	page[4] = 'm';
	EXPECT(ramdata_read(&d, &c, 1, PAGE_SIZE + 4) == 1 && c == 'm');
	EXPECT_EQ(ramdata_truncate(&d, 0), 0);
	EXPECT(page[3] == 0 && used[(page - pool[0]) / PAGE_SIZE]);
	EXPECT(ramdata_pin(&d, 0) == NULL);
	EXPECT_EQ(ramdata_truncate(&d, PAGE_SIZE + 10), 0);
	EXPECT(ramdata_pin(&d, 1) == page);
	EXPECT_EQ(ramdata_truncate(&d, 0), 0);
	ramdata_destroy(&d);
	EXPECT_EQ(in_use(), 0);
}

/* A page itself: the base's bytes, a hole's zeros, and no pin: what is cut off goes. */
static void pages_themselves(void)
{
	static u8 base[PAGE_SIZE + 10];
	struct ramdata d;
	u8 *page;

	memset(base, 5, sizeof(base));
	start(&d);
	EXPECT(ramdata_page(&d, 0) == NULL);
	ramdata_set_base(&d, base, sizeof(base));
	page = ramdata_page(&d, 1);
	EXPECT(page && page[0] == 5 && page[9] == 5 && page[10] == 0);
	EXPECT(ramdata_page(&d, 1) == page);
	EXPECT(ramdata_page(&d, 2) == NULL);
	EXPECT_EQ(ramdata_truncate(&d, 5 * PAGE_SIZE), 0);
	page = ramdata_page(&d, 4);
	EXPECT(page && page[0] == 0 && page[PAGE_SIZE - 1] == 0);
	EXPECT(ramdata_page(&d, 5) == NULL);
	allowed = 0;
	EXPECT(ramdata_page(&d, 3) == NULL);
	EXPECT_EQ(ramdata_truncate(&d, 0), 0);
	EXPECT_EQ(in_use(), 0);
}

static const struct ktap_case cases[] = {
    {"ramdata.writes_and_reads", writes_and_reads},
    {"ramdata.crosses_pages", crosses_pages},
    {"ramdata.sparse", sparse},
    {"ramdata.too_far", too_far},
    {"ramdata.cut_bytes_are_gone", cut_bytes_are_gone},
    {"ramdata.base_is_copied_on_write", base_is_copied_on_write},
    {"ramdata.runs_out_of_pages", runs_out_of_pages},
    {"ramdata.pinned_pages_stay", pinned_pages_stay},
    {"ramdata.pages_themselves", pages_themselves},
    {NULL, NULL},
};
const struct ktap_suite suite_fs_ramdata = {cases};
