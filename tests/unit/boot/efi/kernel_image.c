/*
 * The check of the kernel's file by the UEFI loader: good files, ones at the limits, damaged ones.
 */
#include "boot/efi/kernel_image.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

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

/* Two segments with a page between, zeros after the second; a strange note, then ours. */
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
	    /* beyond what the loader can map, by a byte; and the last that it can */
	    {64 + 56 + 16, BOOT_LINK_BASE + (1UL << 30) - 0x1eff, 8,
		"has a segment of absurd size or address"},
	    {64 + 56 + 16, BOOT_LINK_BASE + (1UL << 30) - 0x1f00, 8, "has segments too far apart"},
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

static const struct ktap_case cases[] = {
    {"efi.kernel", kernel_good},
    {"efi.kernel_damaged", kernel_damaged},
    {"efi.kernel_random", kernel_random},
    {NULL, NULL},
};
const struct ktap_suite suite_efi_kernel_image = {cases};
