/*
 * The memory map that the UEFI loader hands over, the firmware's times in ACPI's tables, the page
 * tables it makes, and the memory it keeps.
 */
#include "arch/arch.h"
#include "boot/efi/fpdt.h"
#include "boot/efi/kept.h"
#include "boot/efi/kernel_image.h"
#include "boot/efi/memory_map.h"
#include "boot/efi/page_tables.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

#define LINK (BOOT_LINK_BASE + 0x100000)

/* ---- The memory map ---- */

static struct boot_info info;
static struct {
	struct efi_memory m;
	u64 more; /* firmware's descriptors are longer than the standard's */
} map[300];

static void set(unsigned i, u32 type, u64 base, u64 pages, u64 attributes)
{
	map[i].m = (struct efi_memory){
	    .type = type, .base = base, .pages = pages, .attributes = attributes};
}

static void expect_range(unsigned i, u64 base, u64 size, u32 type)
{
	EXPECT_EQ(info.ranges[i].base, base);
	EXPECT_EQ(info.ranges[i].size, size);
	EXPECT_EQ(info.ranges[i].type, type);
}

static void map_types(void)
{
	set(0, 7, 0, 0x9f, 0);		 /* conventional */
	set(1, 3, 0x9f000, 1, 0);	 /* boot code: becomes one with it */
	set(2, 0, 0xa0000, 0x60, 0);	 /* reserved */
	set(3, 4, 0x100000, 16, 0);	 /* boot data */
	set(4, 2, 0x110000, 16, 0);	 /* loader data */
	set(5, 9, 0x120000, 2, 0);	 /* ACPI tables */
	set(6, 10, 0x122000, 2, 0);	 /* NVS */
	set(7, 6, 0x124000, 4, 0);	 /* runtime data */
	set(8, 7, 0x128000, 4, 0x40000); /* set apart for a device */
	set(9, 14, 0x12c000, 4, 0);	 /* persistent */
	set(10, 7, 0x200000, 0, 0);	 /* empty */
	set(11, 7, 0x201800, 1, 0);	 /* no page */
	set(12, 7, ~0UL << 12, 2, 0);	 /* round the end */
	set(13, 1, 0x300000, 1, 0);
	EXPECT(memory_map_take(&info, map, 14 * sizeof(map[0]) + 5, sizeof(map[0])));
	EXPECT_EQ(info.range_count, 7);
	expect_range(0, 0, 0xa0000, BOOT_MEM_USABLE);
	expect_range(1, 0xa0000, 0x60000, BOOT_MEM_RESERVED);
	expect_range(2, 0x100000, 0x20000, BOOT_MEM_USABLE);
	expect_range(3, 0x120000, 0x2000, BOOT_MEM_ACPI);
	expect_range(4, 0x122000, 0x2000, BOOT_MEM_NVS);
	expect_range(5, 0x124000, 0xc000, BOOT_MEM_RESERVED);
	expect_range(6, 0x300000, 0x1000, BOOT_MEM_USABLE);
	EXPECT_EQ(memory_map_end(map, 14 * sizeof(map[0]), sizeof(map[0])), 0x301000);
	EXPECT(!memory_map_take(&info, map, sizeof(map), sizeof(struct efi_memory) - 1));
	EXPECT(!memory_map_take(&info, map, sizeof(map[0]) - 1, sizeof(map[0])));
}

static u64 usable_pages(void)
{
	u64 sum = 0;

	for (unsigned i = 0; i < info.range_count; i++)
		if (info.ranges[i].type == BOOT_MEM_USABLE)
			sum += info.ranges[i].size / PAGE_SIZE;
	return sum;
}

/* More than there is room for: reserved ones go first, then the smallest. */
static void map_too_long(void)
{
	unsigned n = BOOT_MAX_RANGES + 40;

	for (unsigned i = 0; i < n;
	     i++) /* usable of 1, 2, 3 ... pages; every fourth reserved; gaps */
		set(i, i % 4 ? 7 : 0, i * 0x1000000UL, i + 1, 0);
	EXPECT(memory_map_take(&info, map, n * sizeof(map[0]), sizeof(map[0])));
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	u64 all = 0;
	for (unsigned i = 0; i < n; i++)
		all += i % 4 ? i + 1 : 0;
	EXPECT_EQ(usable_pages(), all); /* 126 usable ones: none had to go */
	memory_map_keep(&info, 0x7000000, 0x3000);
	bool kept = false;
	for (unsigned i = 0; i < info.range_count; i++)
		kept |= info.ranges[i].type == BOOT_MEM_KEPT && info.ranges[i].base == 0x7000000;
	EXPECT(kept);
	EXPECT_EQ(usable_pages(), all);
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	for (unsigned i = 0; i < n; i++)
		set(i, 7, i * 0x1000000UL, i + 1, 0);
	EXPECT(memory_map_take(&info, map, n * sizeof(map[0]), sizeof(map[0])));
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	for (unsigned i = 0; i < info.range_count; i++)
		EXPECT(info.ranges[i].size > 40 * PAGE_SIZE);
	/* ACPI's tables are never left out, however small; the last of them ends what is mapped. */
	set(n, 9, n * 0x1000000UL, 1, 0);
	EXPECT(memory_map_take(&info, map, (n + 1) * sizeof(map[0]), sizeof(map[0])));
	bool acpi = false;
	for (unsigned i = 0; i < info.range_count; i++)
		acpi |= info.ranges[i].type == BOOT_MEM_ACPI;
	EXPECT(acpi);
	EXPECT_EQ(memory_map_end(map, (n + 1) * sizeof(map[0]), sizeof(map[0])),
	    n * 0x1000000UL + PAGE_SIZE);
}

/* ---- The firmware's times ---- */

static u8 fpdt[128], fbpt[128];

static void good_fpdt(void)
{
	static const u8 record[16] = {0, 0, 16, 1};
	u64 at = (u64)fbpt;

	memset(fpdt, 0, sizeof(fpdt));
	memset(fbpt, 0, sizeof(fbpt));
	memcpy(fpdt, "FPDT\x44", 5); /* 36, a strange record of 16, ours */
	fpdt[36] = 0x77;
	fpdt[38] = 16;
	memcpy(fpdt + 52, record, sizeof(record));
	memcpy(fpdt + 60, &at, sizeof(at));
	memcpy(fbpt, "FBPT\x38", 5); /* 8 and 48 */
	fbpt[8] = 2;
	fbpt[10] = 48;
	for (u64 i = 0; i < 5; i++)
		memcpy(fbpt + 16 + i * 8, &(u64){1000000 * (i + 1)}, 8);
}

/* True if times are found in the tables with one byte of one of them changed. */
static bool fpdt_with(u8 *table, unsigned at, u8 v)
{
	struct fpdt_times t;
	u8 sum = 0;

	good_fpdt();
	table[at] = v;
	for (unsigned i = 0; i < 68; i++)
		sum += fpdt[i];
	if (table != fpdt || at != 9)
		fpdt[9] -= sum;
	fpdt_read((u64)fpdt, &t);
	EXPECT(t.reset_end == 0 ||
	       (t.reset_end == 1000000 && t.loader_load == 2000000 && t.loader_start == 3000000));
	return t.reset_end;
}

static void firmware_times(void)
{
	struct fpdt_times t;

	EXPECT(fpdt_with(fpdt, 10, 0));
	EXPECT(!fpdt_with(fpdt, 9, 1));	  /* the sum */
	EXPECT(!fpdt_with(fpdt, 0, 'X')); /* signatures */
	EXPECT(!fpdt_with(fbpt, 3, 'X'));
	EXPECT(!fpdt_with(fpdt, 4, 67)); /* lengths */
	EXPECT(!fpdt_with(fpdt, 4, 35));
	EXPECT(!fpdt_with(fpdt, 7, 1));
	EXPECT(!fpdt_with(fbpt, 4, 55));
	EXPECT(!fpdt_with(fbpt, 4, 0));
	EXPECT(!fpdt_with(fbpt, 6, 1));
	EXPECT(!fpdt_with(fpdt, 38, 0)); /* records: no progress, beyond the end, too short */
	EXPECT(!fpdt_with(fpdt, 38, 33));
	EXPECT(!fpdt_with(fpdt, 54, 15));
	EXPECT(!fpdt_with(fbpt, 10, 47));
	EXPECT(!fpdt_with(fbpt, 10, 49));
	EXPECT(!fpdt_with(fpdt, 52, 1)); /* other records only */
	EXPECT(!fpdt_with(fbpt, 8, 3));
	fpdt_read(0, &t);
	EXPECT_EQ(t.reset_end, 0);
}

/* ---- Page tables ---- */

/* Tables lie where they are pointed to from: memory one to one, which the kernel does not have. */
static u64 tables_memory[40 * 512] __aligned(4096);

static u64 walk(const u64 *top, u64 va, u64 *size)
{
	const u64 *table = top;

	for (unsigned level = 3;; level--) {
		u64 e = table[va >> (12 + 9 * level) & 511];
		*size = 4096UL << 9 * level;
		if (!(e & 1))
			return ~0UL;
		if (!level || e & 0x80)
			return e & 0x000ffffffffff000UL;
		table = (const u64 *)(e & 0x000ffffffffff000UL);
	}
}

static bool one_to_one(void)
{
	bool yes = !((u64)tables_memory >> 52);

	if (!yes)
		ktap_skip("memory is not mapped one to one here");
	return yes;
}

static void tables(void)
{
	struct page_tables t;
	u64 end = 5UL << 30, size, image = 0x7654000;

	if (!one_to_one())
		return;
	EXPECT(page_tables_bytes(end, 0x405000) <= sizeof(tables_memory));
	page_tables_make(&t, (u64)tables_memory, end, BOOT_DIRECT_BASE, LINK, image, 0x405000);
	EXPECT(t.next <= t.end);
	for (u64 at = 0x1000; at < end; at += 0x3456000) {
		EXPECT_EQ(walk(t.top, at, &size), ALIGN_DOWN(at, 2UL << 20));
		EXPECT_EQ(size, 2UL << 20);
		EXPECT_EQ(walk(t.top, BOOT_DIRECT_BASE + at, &size), ALIGN_DOWN(at, 2UL << 20));
	}
	for (u64 at = 0; at < 0x405000; at += 0x1000)
		EXPECT_EQ(walk(t.top, LINK + at, &size), image + at);
	EXPECT_EQ(walk(t.top, LINK - 0x1000, &size), ~0UL);
	EXPECT_EQ(walk(t.top, LINK + 0x405000, &size), ~0UL);
	EXPECT_EQ(walk(t.top, end, &size), ~0UL);
	page_tables_make(&t, (u64)tables_memory, 0x1000000, BOOT_DIRECT_BASE, LINK, image, 0x1000);
	EXPECT_EQ(walk(t.top, 0xfee00000, &size), 0xfee00000); /* 4 GiB at least */
}

/* RAM that ends within a GiB is mapped to its end, that below the end of a GiB not beyond it. */
static void tables_of_parts(void)
{
	static const u64 ends[] = {
	    (4UL << 30) + 4096, (5UL << 30) - 4096, (6UL << 30) + (2UL << 20)};
	struct page_tables t;
	u64 size;

	if (!one_to_one())
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		u64 last = ends[i] - 1, gib = ALIGN_UP(ends[i], 1UL << 30);

		page_tables_make(
		    &t, (u64)tables_memory, ends[i], BOOT_DIRECT_BASE, LINK, 0x7654000, 0x1000);
		EXPECT(t.next <= t.end);
		EXPECT_EQ(walk(t.top, last, &size), ALIGN_DOWN(last, 2UL << 20));
		EXPECT_EQ(walk(t.top, BOOT_DIRECT_BASE + last, &size), ALIGN_DOWN(last, 2UL << 20));
		EXPECT_EQ(walk(t.top, gib, &size), ~0UL);
	}
}

/* The number of tables that is asked for suffices for every size of RAM. */
static void tables_fit(void)
{
	static const u64 ends[] = {1, 4UL << 30, (4UL << 30) + 1, 9UL << 30};

	if (!one_to_one())
		return;

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++)
		for (u64 size = 0x1ff000; size <= 0x201000; size += 0x1000) {
			struct page_tables t;
			EXPECT(page_tables_bytes(ends[i], size) <= sizeof(tables_memory));
			page_tables_make(&t, (u64)tables_memory, ends[i], BOOT_DIRECT_BASE,
			    LINK + 0xff000, 0, size);
			EXPECT(t.next <= t.end);
		}
}

/* ---- Memory that was kept ---- */

#define KEPT_AT	  0x8000000UL
#define KEPT_ROOM 0x400000UL

static void kept(void)
{
	static const struct {
		struct boot_kept is;
		u64 bytes;
	} rows[] = {
	    {{BOOT_KEPT_MAGIC, {1, 2, 3, 4}, KEPT_ROOM, BOOT_DIRECT_BASE + KEPT_AT}, KEPT_ROOM},
	    {{BOOT_KEPT_MAGIC, {0}, KEPT_ROOM - 1, BOOT_DIRECT_BASE + KEPT_AT}, KEPT_ROOM - 1},
	    {{BOOT_KEPT_MAGIC, {0}, KEPT_ROOM + 1, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	    {{BOOT_KEPT_MAGIC, {0}, ~0UL, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	    {{BOOT_KEPT_MAGIC, {0}, 40, BOOT_DIRECT_BASE + KEPT_AT}, 40},
	    {{BOOT_KEPT_MAGIC, {0}, 39, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	    {{BOOT_KEPT_MAGIC, {0}, 0, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	    {{BOOT_KEPT_MAGIC, {0}, KEPT_ROOM, BOOT_DIRECT_BASE + KEPT_AT + 4096}, 0},
	    {{BOOT_KEPT_MAGIC, {0}, KEPT_ROOM, KEPT_AT}, 0},
	    {{"TRAPKEPX", {0}, KEPT_ROOM, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	    {{"", {0}, KEPT_ROOM, BOOT_DIRECT_BASE + KEPT_AT}, 0},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(kept_bytes(&rows[i].is, KEPT_AT, KEPT_ROOM), rows[i].bytes);
	EXPECT_EQ(kept_bytes(&rows[4].is, KEPT_AT, 40), 40);
	EXPECT_EQ(kept_bytes(&rows[4].is, KEPT_AT, 39), 0);
}

static const struct ktap_case cases[] = {
    {"efi.map_types", map_types},
    {"efi.map_too_long", map_too_long},
    {"efi.firmware_times", firmware_times},
    {"efi.tables", tables},
    {"efi.tables_of_parts", tables_of_parts},
    {"efi.tables_fit", tables_fit},
    {"efi.kept", kept},
    {NULL, NULL},
};
const struct ktap_suite suite_efi_memory = {cases};
