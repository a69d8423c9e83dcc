/*
 * What of the UEFI loader is pure: its configuration, the check of the kernel's file, the memory map, page tables, checksums. Good
 * ones, ones at the limits, and damaged ones.
 */
#include "arch/arch.h"
#include "boot/efi/config.h"
#include "boot/efi/crc32.h"
#include "boot/efi/fpdt.h"
#include "boot/efi/kept.h"
#include "boot/efi/kernel_image.h"
#include "boot/efi/memory_map.h"
#include "boot/efi/page_tables.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

/* ---- Configuration ---- */

static struct config config;
static unsigned complaints;
static u32 complaint_line;
static const char *complaint;

static void complain(void *arg, uint32_t line, const char *what)
{
	EXPECT(arg == &config);
	complaints++;
	complaint_line = line;
	complaint = what;
}

static void parse_bytes(const char *text, size_t n)
{
	complaints = 0;
	complaint = "";
	config_parse(&config, text, n, complain, &config);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static void config_good(void)
{
	parse("\xef\xbb\xbf# a comment\r\n"
	      "timeout 7\r\n"
	      "  default\t2  \n"
	      "lastboot 128\n\n"
	      "kernel boot/kernel.elf 1C291ca3\n"
	      "archive more.cpio\n"
	      "cmdline quiet\n"
	      "entry First one\n"
	      "entry Second\n"
	      "cmdline trace_event=boot:*\n"
	      "cmdline maxcpus=1");
	EXPECT_EQ(complaints, 0);
	EXPECT_EQ(config.timeout, 7);
	EXPECT_EQ(config.chosen, 1);
	EXPECT_EQ(config.lastboot_kib, 128);
	EXPECT_STR(config.kernel.path, "boot/kernel.elf");
	EXPECT(config.kernel.has_crc);
	EXPECT_EQ(config.kernel.crc, 0x1c291ca3);
	EXPECT_STR(config.archive.path, "more.cpio");
	EXPECT(!config.archive.has_crc);
	EXPECT_EQ(config.entry_count, 2);
	EXPECT_STR(config.entries[0].title, "First one");
	EXPECT_STR(config.entries[0].cmdline, "quiet");
	EXPECT_STR(config.entries[1].title, "Second");
	EXPECT_STR(config.entries[1].cmdline, "quiet trace_event=boot:* maxcpus=1");
}

/* An empty file starts the kernel all the same, and so does one that says only something for all. */
static void config_short(void)
{
	parse("");
	EXPECT_EQ(complaints, 0);
	EXPECT_STR(config.kernel.path, "kernel.elf");
	EXPECT_STR(config.archive.path, "");
	EXPECT_EQ(config.timeout, 0);
	EXPECT_EQ(config.entry_count, 1);
	EXPECT_STR(config.entries[0].cmdline, "");
	parse("timeout never\ncmdline debug");
	EXPECT_EQ(config.timeout, CONFIG_NEVER);
	EXPECT_STR(config.entries[0].cmdline, "debug");
	EXPECT_STR(config.entries[0].title, "Trapline");
}

/* Each a line that counts for nothing, between two that do. */
static void config_bad_lines(void)
{
	static const char *const bad[][2] = {
	    {"timeout", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 3601", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout -1", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 99999999999999999999", "timeout wants seconds, 0 to 3600, or never"},
	    {"default 0", "default wants the number of an entry, 1 to 9"},
	    {"default 10", "default wants the number of an entry, 1 to 9"},
	    {"lastboot 65537", "lastboot wants KiB, 0 to 65536"},
	    {"kernel", "the name of the file is missing"},
	    {"kernel k 1234567", "the checksum is not 8 hexadecimal digits"},
	    {"kernel k 123456789", "the checksum is not 8 hexadecimal digits"},
	    {"kernel k 1234567g", "the checksum is not 8 hexadecimal digits"},
	    {"archive", "the name of the file is missing"},
	    {"entry", "the entry has no title"},
	    {"bootdelay 3", "unknown word at its beginning"},
	    {"kernel\x01k", "a byte in it is not ASCII text"},
	    {"cmdline caf\xc3\xa9", "a byte in it is not ASCII text"},
	};
	char text[256];

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "timeout 5\n%s\nkernel k.elf\n", bad[i][0]);
		parse(text);
		EXPECT_EQ(complaints, 1);
		EXPECT_EQ(complaint_line, 2);
		EXPECT_STR(complaint, bad[i][1]);
		EXPECT_EQ(config.timeout, 5);
		EXPECT_STR(config.kernel.path, "k.elf");
		EXPECT_EQ(config.entry_count, 1);
	}
	parse("default 2\nentry One\n");
	EXPECT_EQ(complaints, 1);
	EXPECT_EQ(complaint_line, 0);
	EXPECT_EQ(config.chosen, 0);
}

/* Lengths and numbers at their limits, and one beyond. */
static void config_limits(void)
{
	static char text[2 * BOOT_MAX_CMDLINE];

	for (unsigned n = CONFIG_MAX_TITLE - 2; n <= CONFIG_MAX_TITLE; n++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "entry ", 6);
		parse_bytes(text, 6 + n);
		EXPECT_EQ(complaints, n >= CONFIG_MAX_TITLE);
		memcpy(text, "kernel ", 7);
		parse_bytes(text, 7 + n);
		EXPECT_EQ(complaints, n >= CONFIG_MAX_PATH);
	}
	for (unsigned n = BOOT_MAX_CMDLINE - 2; n <= BOOT_MAX_CMDLINE; n++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "cmdline ", 8);
		parse_bytes(text, n); /* a line of n characters */
		EXPECT_EQ(complaints, n >= BOOT_MAX_CMDLINE);
		/* ... and two lines that make a command line of n */
		memcpy(text + 8 + 2000, "\ncmdline ", 9);
		parse_bytes(text, 8 + 2000 + 9 + n - 2001);
		EXPECT_EQ(complaints, n >= BOOT_MAX_CMDLINE);
		EXPECT_EQ(strlen(config.entries[0].cmdline), n < BOOT_MAX_CMDLINE ? n : 2000);
	}
	text[0] = '\0';
	for (unsigned i = 1; i <= CONFIG_MAX_ENTRIES + 1; i++) {
		snprintf(text + strlen(text), 32, "entry %u\n", i);
		parse(text);
		EXPECT_EQ(complaints, i > CONFIG_MAX_ENTRIES);
		EXPECT_EQ(config.entry_count, MIN(i, (unsigned)CONFIG_MAX_ENTRIES));
	}
}

static void config_random(void)
{
	u64 seed = 20240117;
	static char text[600];

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned round = 0; round < 500; round++) {
		static const char *const words[] = {"kernel ", "entry ", "cmdline ", "timeout ",
		    "default ", "\n", " ", "1", "\xff", "\r\n", "a", "archive "};
		size_t n = 0;
		while (n < 500) {
			const char *w = words[prng_next(&seed) % ARRAY_SIZE(words)];
			memcpy(text + n, w, strlen(w));
			n += strlen(w);
		}
		parse_bytes(text, n);
		EXPECT(config.entry_count >= 1 && config.entry_count <= CONFIG_MAX_ENTRIES);
		EXPECT(config.chosen < config.entry_count);
	}
}

static void checksum(void)
{
	EXPECT_EQ(crc32("", 0), 0);
	EXPECT_EQ(crc32("123456789", 9), 0xcbf43926);
}

/* ---- The kernel's file ---- */

#define LINK	  (BOOT_LINK_BASE + 0x100000)
#define FILE_SIZE 0x3000
static u8 file[FILE_SIZE], memory[0x5000];
static struct kernel_image img;

static void put(unsigned at, u64 v, unsigned size)
{
	memcpy(file + at, &v, size);
}

static void put_segment(unsigned i, u32 type, u64 offset, u64 vaddr, u64 file_size, u64 size)
{
	unsigned at = 64 + i * 56;

	put(at, type, 4);
	put(at + 8, offset, 8);
	put(at + 16, vaddr, 8);
	put(at + 32, file_size, 8);
	put(at + 40, size, 8);
}

/* Two segments with a page between, zeros behind the second; a strange note, then ours. */
static void good_kernel(void)
{
	for (unsigned i = 0; i < FILE_SIZE; i++)
		file[i] = i * 7;
	memset(file, 0, 64 + 4 * 56);
	memcpy(file, "\177ELF\2\1\1", 7);
	put(16, 2, 2);
	put(18, 62, 2);
	put(32, 64, 8);
	put(54, 56, 2);
	put(56, 3, 2);
	put_segment(0, 1, 0x1000, LINK, 0x800, 0x1000);
	put_segment(1, 1, 0x2000, LINK + 0x2000, 0x900, 0x1f00);
	put_segment(2, 4, 0x2a00, LINK + 0x2a00, 20 + 12 + 12 + 16, 20 + 12 + 12 + 16);
	put(0x2a00, 4, 4);
	put(0x2a04, 4, 4);
	put(0x2a08, 18, 4);
	put(0x2a14, 9, 4);
	put(0x2a18, 16, 4);
	put(0x2a1c, BOOT_NOTE_TYPE, 4);
	memcpy(file + 0x2a20, BOOT_NOTE_NAME, 9);
	put(0x2a2c, LINK + 0x10, 8);
	put(0x2a34, sizeof(struct boot_info), 8);
}

static void kernel_good(void)
{
	good_kernel();
	EXPECT(!kernel_image_check(&img, file, FILE_SIZE));
	EXPECT_EQ(img.base, LINK);
	EXPECT_EQ(img.size, 0x4000);
	EXPECT_EQ(img.entry, LINK + 0x10);
	EXPECT_EQ(img.segment_count, 2);
	memset(memory, 0xee, sizeof(memory));
	kernel_image_load(&img, file, memory);
	for (unsigned i = 0; i < sizeof(memory); i++) {
		u8 want = i >= 0x4000 ? 0xee : 0;
		if (i < 0x800)
			want = file[0x1000 + i];
		else if (i >= 0x2000 && i < 0x2900)
			want = file[i];
		if (memory[i] != want) {
			ktap_fail(__FILE__, __LINE__, "byte %#x: %#x != %#x", i, memory[i], want);
			break;
		}
	}
}

/* {where, what, size} in a good file, and what is said of it. */
static void kernel_damaged(void)
{
	static const struct {
		unsigned at;
		u64 v;
		unsigned size;
		const char *says;
	} rows[] = {
	    {0, 0x7f, 4, "is not an ELF file"},
	    {4, 1, 1, "is not for x86-64"},
	    {5, 2, 1, "is not for x86-64"},
	    {18, 3, 2, "is not for x86-64"},
	    {16, 3, 2, "is an ELF file, but no program"},
	    {32, FILE_SIZE - 3 * 56 + 1, 8, "has a damaged table of segments"},
	    {32, ~0UL, 8, "has a damaged table of segments"},
	    {54, 55, 2, "has a damaged table of segments"},
	    {56, 0, 2, "has a damaged table of segments"},
	    {56, 17, 2, "has a damaged table of segments"},
	    {64, 0, 4, "has its entry outside of its code"},
	    {64 + 8, FILE_SIZE - 0x7ff, 8, "is cut off: a segment reaches beyond its end"},
	    {64 + 8, ~0UL - 10, 8, "is cut off: a segment reaches beyond its end"},
	    {64 + 32, 0x1001, 8, "has a segment of absurd size or address"},
	    {64 + 40, 65UL << 20, 8, "has a segment of absurd size or address"},
	    {64 + 40, ~0UL, 8, "has a segment of absurd size or address"},
	    {64 + 16, 0x100000, 8, "has a segment of absurd size or address"},
	    {64 + 16, ~0UL - 0x800, 8, "has a segment of absurd size or address"},
	    {64 + 40, 0x2001, 8, "has segments that overlap"},
	    {64 + 56 + 16, BOOT_LINK_BASE + (128UL << 20), 8, "has segments too far apart"},
	    {64 + 112, 6, 4, "is no kernel of Trapline: the note with its entry is missing"},
	    {64 + 112 + 32, FILE_SIZE, 8, "is cut off: its notes reach beyond its end"},
	    {0x2a00, ~0U, 4, "has a damaged note"},
	    {0x2a18, 0x1000, 4, "has a damaged note"},
	    {0x2a18, 8, 4, "is of another version than this loader"},
	    {0x2a20, 'x', 1, "is no kernel of Trapline: the note with its entry is missing"},
	    {0x2a34, sizeof(struct boot_info) + 8, 8, "is of another version than this loader"},
	    {0x2a2c, LINK + 0x800, 8, "has its entry outside of its code"},
	    {0x2a2c, LINK - 1, 8, "has its entry outside of its code"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		good_kernel();
		put(rows[i].at, rows[i].v, rows[i].size);
		const char *says = kernel_image_check(&img, file, FILE_SIZE);
		EXPECT_STR(says ? says : "nothing", rows[i].says);
	}
	good_kernel();
	for (unsigned n = 0; n < 64; n++)
		EXPECT_STR(kernel_image_check(&img, file, n), "is too short for an ELF file");
	for (unsigned n = 64; n < 0x2a3c; n += 13) /* cut off anywhere */
		EXPECT(kernel_image_check(&img, file, n));
	EXPECT(!kernel_image_check(&img, file, 0x2a3c));
}

/* Any byte of the headers and notes changed: what is accepted lies within file and limits. */
static void kernel_random(void)
{
	u64 seed = 77001;

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned round = 0; round < 3000; round++) {
		good_kernel();
		for (u64 n = prng_next(&seed) % 3; n < 3; n++) {
			u64 r = prng_next(&seed);
			file[r & 1 ? r / 2 % 232 : 0x2a00 + r / 2 % 60] = r >> 40;
		}
		if (kernel_image_check(&img, file, FILE_SIZE))
			continue;
		EXPECT(img.size <= KERNEL_MAX_SIZE && img.segment_count <= KERNEL_MAX_SEGMENTS);
		if (img.size <= sizeof(memory))
			kernel_image_load(&img, file, memory);
	}
}

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

/* More than there is room for: reserved ones go first, then the smallest. */
static void map_too_long(void)
{
	unsigned n = BOOT_MAX_RANGES + 40;
	u64 sum = 0;

	for (unsigned i = 0; i < n;
	     i++) /* usable of 1, 2, 3 ... pages; every fourth reserved; gaps */
		set(i, i % 4 ? 7 : 0, i * 0x1000000UL, i + 1, 0);
	EXPECT(memory_map_take(&info, map, n * sizeof(map[0]), sizeof(map[0])));
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	for (unsigned i = 0; i < info.range_count; i++)
		if (info.ranges[i].type == BOOT_MEM_USABLE)
			sum += info.ranges[i].size / PAGE_SIZE;
	u64 all = 0;
	for (unsigned i = 0; i < n; i++)
		all += i % 4 ? i + 1 : 0;
	EXPECT_EQ(sum, all); /* 126 usable ones: none had to go */
	memory_map_keep(&info, 0x7000000, 0x3000);
	bool kept = false;
	for (unsigned i = 0; i < info.range_count; i++)
		kept |= info.ranges[i].type == BOOT_MEM_KEPT && info.ranges[i].base == 0x7000000;
	EXPECT(kept);
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	for (unsigned i = 0; i < n; i++)
		set(i, 7, i * 0x1000000UL, i + 1, 0);
	EXPECT(memory_map_take(&info, map, n * sizeof(map[0]), sizeof(map[0])));
	EXPECT_EQ(info.range_count, BOOT_MAX_RANGES);
	for (unsigned i = 0; i < info.range_count; i++)
		EXPECT(info.ranges[i].size > 40 * PAGE_SIZE);
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
    {"efi.config", config_good},
    {"efi.config_short", config_short},
    {"efi.config_bad_lines", config_bad_lines},
    {"efi.config_limits", config_limits},
    {"efi.config_random", config_random},
    {"efi.kept", kept},
    {"efi.checksum", checksum},
    {"efi.kernel", kernel_good},
    {"efi.kernel_damaged", kernel_damaged},
    {"efi.kernel_random", kernel_random},
    {"efi.map_types", map_types},
    {"efi.map_too_long", map_too_long},
    {"efi.firmware_times", firmware_times},
    {"efi.tables", tables},
    {"efi.tables_fit", tables_fit},
    {NULL, NULL},
};

const struct ktap_suite suite_efi_loader = {cases};
