/* The ELF planner against good files and broken ones: each row changes one word of a good file. */
#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/process/elf.h"

#define LIMIT 0x700000000000UL
#define FSIZE 0x5000UL

/* A program of two segments: text at 0x401000, data at 0x403000 with zeros after it. */
static u8 head[ELF_EHDR_SIZE], phdrs[ELF_MAX_PHDRS * ELF_PHDR_SIZE];

static void put(u8 *at, u64 v, unsigned size)
{
	memcpy(at, &v, size);
}

static void put_phdr(unsigned i, u32 type, u32 flags, u64 offset, u64 vaddr, u64 filesz, u64 memsz)
{
	u8 *p = phdrs + i * ELF_PHDR_SIZE;

	put(p, type, 4);
	put(p + 4, flags, 4);
	put(p + 8, offset, 8);
	put(p + 16, vaddr, 8);
	put(p + 32, filesz, 8);
	put(p + 40, memsz, 8);
	put(p + 48, 0x1000, 8);
}

static void good_file(void)
{
	memset(head, 0, sizeof(head));
	memset(phdrs, 0, sizeof(phdrs));
	memcpy(head, "\177ELF\2\1\1", 7);
	put(head + 16, 2, 2);  /* ET_EXEC */
	put(head + 18, 62, 2); /* x86-64 */
	put(head + 20, 1, 4);
	put(head + 24, 0x401010, 8); /* entry */
	put(head + 32, 64, 8);	     /* program headers */
	put(head + 54, ELF_PHDR_SIZE, 2);
	put(head + 56, 3, 2);
	put_phdr(0, 1, 5, 0, 0x401000, 0x1800, 0x1800);
	put_phdr(1, 1, 6, 0x2100, 0x403100, 0x300, 0x3000);
	put_phdr(2, 0x6474e551, 7, 0, 0, 0, 0); /* PT_GNU_STACK, executable: not heeded */
}

static int plan(u64 file_size, struct elf_image *img)
{
	return elf_load_plan(head, phdrs, file_size, ELF_DYN_BASE, LIMIT, img);
}

static void good(void)
{
	struct elf_image img;
	unsigned n;
	u64 off;

	good_file();
	EXPECT_EQ(elf_check_header(head, FSIZE, &off, &n), 0);
	EXPECT_EQ(off, 64);
	EXPECT_EQ(n, 3);
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT_EQ(img.count, 2);
	EXPECT_EQ(img.entry, 0x401010);
	EXPECT_EQ(img.phdr, 0x401040);
	EXPECT_EQ(img.end, 0x406100);
	EXPECT_EQ(img.seg[0].start, 0x401000);
	EXPECT_EQ(img.seg[0].end, 0x403000);
	EXPECT_EQ(img.seg[0].offset, 0);
	EXPECT_EQ(img.seg[0].file_end, 0x1800);
	EXPECT_EQ(img.seg[0].prot, PROT_R | PROT_X);
	EXPECT_EQ(img.seg[1].start, 0x403000);
	EXPECT_EQ(img.seg[1].end, 0x407000);
	EXPECT_EQ(img.seg[1].offset, 0x2000);
	EXPECT_EQ(img.seg[1].file_end, 0x2400);
	EXPECT_EQ(img.seg[1].prot, PROT_R | PROT_W);
}

/* Position-independent: everything is moved. */
static void moved(void)
{
	struct elf_image img;

	good_file();
	put(head + 16, 3, 2);
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT_EQ(img.entry, ELF_DYN_BASE + 0x401010);
	EXPECT_EQ(img.seg[1].start, ELF_DYN_BASE + 0x403000);
	EXPECT_EQ(img.phdr, ELF_DYN_BASE + 0x401040);
}

/* The path of an interpreter: where it is in the file, and how long it may be. */
static void interpreter(void)
{
	static const struct {
		u64 offset, size;
		int want;
	} rows[] = {
	    {0x1000, 28, 0},
	    {0x1000, 2, 0},
	    {0x1000, 1, -ENOEXEC},
	    {0, ELF_INTERP_MAX, 0},
	    {0, ELF_INTERP_MAX + 1, -ENOEXEC},
	    {FSIZE - 28, 28, 0},
	    {FSIZE - 27, 28, -ENOEXEC},
	    {FSIZE + 1, 28, -ENOEXEC},
	    {~0UL, 28, -ENOEXEC},
	};
	struct elf_image img;

	good_file();
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT_EQ(img.interp_size, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		good_file();
		put_phdr(2, 3, 4, rows[i].offset, 0, rows[i].size, rows[i].size);
		EXPECT_EQ(plan(FSIZE, &img), rows[i].want);
		if (!rows[i].want) {
			EXPECT_EQ(img.interp, rows[i].offset);
			EXPECT_EQ(img.interp_size, rows[i].size);
		}
	}
}

/* The first of two counts. */
static void interpreters(void)
{
	struct elf_image img;

	good_file();
	put(head + 56, 4, 2);
	put_phdr(2, 3, 4, 0x1000, 0, 28, 28);
	put_phdr(3, 3, 4, 0x1100, 0, 5, 5);
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT_EQ(img.interp, 0x1000);
	EXPECT_EQ(img.interp_size, 28);
}

/* A segment of zeros alone: its place in the file says nothing. */
static void no_file_part(void)
{
	struct elf_image img;

	good_file();
	put_phdr(1, 1, 6, 0x2101, 0x403100, 0, 0x3000);
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT_EQ(img.seg[1].offset, 0);
	EXPECT_EQ(img.seg[1].file_end, 0);
	EXPECT(img.seg[1].zeros);
}

/* Program headers that no segment has as a whole are nowhere. */
static void headers_cut(void)
{
	struct elf_image img;

	for (u64 end = 64 + 3 * ELF_PHDR_SIZE - 1; end <= 64 + 3 * ELF_PHDR_SIZE; end++) {
		good_file();
		put_phdr(0, 1, 5, 0, 0x401000, end, 0x1800);
		EXPECT_EQ(plan(FSIZE, &img), 0);
		EXPECT_EQ(img.phdr, end < 64 + 3 * ELF_PHDR_SIZE ? 0 : 0x401040);
	}
}

/* As many segments as there may be, and one more. */
static void many_segments(void)
{
	static struct {
		struct elf_image img;
		u64 after;
	} out;

	for (unsigned n = ELF_MAX_SEGMENTS; n <= ELF_MAX_SEGMENTS + 1; n++) {
		good_file();
		put(head + 56, n, 2);
		for (unsigned i = 0; i < n; i++)
			put_phdr(i, 1, 5, 0, 0x401000 + i * PAGE_SIZE, 0x800, 0x800);
		out.after = 0x5a5a5a5a;
		EXPECT_EQ(plan(FSIZE, &out.img), n > ELF_MAX_SEGMENTS ? -ENOEXEC : 0);
		EXPECT_EQ(out.after, 0x5a5a5a5a);
	}
	EXPECT_EQ(out.img.count, ELF_MAX_SEGMENTS);
}

/* No room below the limit for what is moved. */
static void moved_too_far(void)
{
	struct elf_image img;

	for (u64 base = LIMIT - PAGE_SIZE; base <= LIMIT + PAGE_SIZE; base += PAGE_SIZE) {
		good_file();
		put(head + 16, 3, 2);
		EXPECT_EQ(elf_load_plan(head, phdrs, FSIZE, base, LIMIT, &img), -ENOEXEC);
	}
}

/* Is there memory after the file's part? */
static void zeros(void)
{
	struct elf_image img;

	good_file();
	EXPECT_EQ(plan(FSIZE, &img), 0);
	EXPECT(!img.seg[0].zeros);
	EXPECT(img.seg[1].zeros);
}

/* One word changed, and what comes of it. */
struct broken {
	const char *what;
	bool in_head;
	u16 at, size;
	u64 value;
	int want;
};

#define HEAD(what, at, size, value, want)                                                          \
	{                                                                                          \
		what, true, at, size, value, want                                                  \
	}
#define PH(what, i, at, size, value, want)                                                         \
	{                                                                                          \
		what, false, (i)*ELF_PHDR_SIZE + (at), size, value, want                           \
	}

static const struct broken rows[] = {
    HEAD("no magic", 0, 1, 'E', -ENOEXEC),
    HEAD("32 bits", 4, 1, 1, -ENOEXEC),
    HEAD("big endian", 5, 1, 2, -ENOEXEC),
    HEAD("object file", 16, 2, 1, -ENOEXEC),
    HEAD("core file", 16, 2, 4, -ENOEXEC),
    HEAD("other machine", 18, 2, 3, -ENOEXEC),
    HEAD("odd header size", 54, 2, 57, -ENOEXEC),
    HEAD("no headers", 56, 2, 0, -ENOEXEC),
    HEAD("too many headers", 56, 2, ELF_MAX_PHDRS + 1, -ENOEXEC),
    HEAD("headers behind the end", 32, 8, FSIZE, -ENOEXEC),
    HEAD("headers cut off", 32, 8, FSIZE - 3 * ELF_PHDR_SIZE + 1, -ENOEXEC),
    HEAD("headers at the very end", 32, 8, FSIZE - 3 * ELF_PHDR_SIZE, 0),
    HEAD("headers wrap", 32, 8, ~0UL - 10, -ENOEXEC),
    HEAD("entry nowhere", 24, 8, 0x500000, -ENOEXEC),
    HEAD("entry in data", 24, 8, 0x403100, -ENOEXEC),
    HEAD("entry wraps", 24, 8, ~0UL, -ENOEXEC),
    HEAD("entry in the text's last byte", 24, 8, 0x402fff, 0),
    PH("interpreter without a path", 2, 0, 4, 3, -ENOEXEC),
    PH("note", 2, 0, 4, 4, 0),
    PH("empty segment", 2, 0, 4, 1, 0),
    PH("text not executable", 0, 4, 4, 4, -ENOEXEC),
    PH("text at page 0", 0, 16, 8, 0, -ENOEXEC),
    PH("file part larger than memory", 0, 40, 8, 0x17ff, -ENOEXEC),
    PH("file part behind the end", 0, 32, 8, FSIZE + 1, -ENOEXEC),
    PH("file part wraps", 1, 32, 8, ~0UL, -ENOEXEC),
    PH("offset behind the end", 1, 8, 8, FSIZE + 0x100, -ENOEXEC),
    PH("offset wraps", 1, 8, 8, ~0xeffUL, -ENOEXEC),
    PH("offset and address in different places of a page", 1, 8, 8, 0x2101, -ENOEXEC),
    PH("memory reaches the limit", 1, 40, 8, LIMIT - 0x403100, 0),
    PH("memory over the limit", 1, 40, 8, LIMIT - 0x403100 + 1, -ENOEXEC),
    PH("memory wraps", 1, 40, 8, ~0UL, -ENOEXEC),
    PH("address at the limit", 1, 16, 8, LIMIT + 0x100, -ENOEXEC),
    PH("address of the kernel", 1, 16, 8, 0xffffffff80000100, -ENOEXEC),
    PH("segments share a page", 1, 16, 8, 0x402100, -ENOEXEC),
    PH("segments out of order", 1, 16, 8, 0x400100, -ENOEXEC),
    PH("segments overlap", 0, 40, 8, 0x3000, -ENOEXEC),
    PH("segments touch", 0, 40, 8, 0x2000, 0),
};

static void broken(void)
{
	struct elf_image img;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct broken *b = &rows[i];
		int got;

		good_file();
		put((b->in_head ? head : phdrs) + b->at, b->value, b->size);
		memset(&img, 0x5a, sizeof(img));
		got = plan(FSIZE, &img);
		if (got != b->want)
			ktap_fail(__FILE__, __LINE__, "%s: %d, not %d", b->what, got, b->want);
		if (got && img.count != 0x5a5a5a5a)
			ktap_fail(__FILE__, __LINE__, "%s: the result was touched", b->what);
	}
}

/*
 * Every length of file short of its last used byte is refused; so are all single bits of the
 * headers, or they do no harm.
 */
static void cut_off(void)
{
	struct elf_image img;

	good_file();
	for (u64 size = 0; size < 0x2400; size++)
		if (plan(size, &img) == 0)
			ktap_fail(__FILE__, __LINE__, "%lu bytes suffice", (unsigned long)size);
	EXPECT_EQ(plan(0x2400, &img), 0);
}

static bool sane(const struct elf_image *img)
{
	u64 low = PAGE_SIZE;

	for (unsigned i = 0; i < img->count; i++) {
		const struct elf_segment *s = &img->seg[i];

		if (s->start < low || s->end <= s->start || s->end > LIMIT ||
		    ((s->start | s->end | s->offset) & (PAGE_SIZE - 1)))
			return false;
		if (s->file_end > FSIZE)
			return false;
		low = s->end;
	}
	return img->count && img->entry >= img->seg[0].start && img->entry < low;
}

static void flipped_bits(void)
{
	struct elf_image img;
	unsigned accepted = 0;

	for (unsigned bit = 0; bit < (sizeof(head) + 3 * ELF_PHDR_SIZE) * 8; bit++) {
		unsigned at = bit / 8;

		good_file();
		*(at < sizeof(head) ? &head[at] : &phdrs[at - sizeof(head)]) ^= 1 << (bit & 7);
		if (plan(FSIZE, &img))
			continue;
		accepted++;
		if (!sane(&img))
			ktap_fail(__FILE__, __LINE__, "bit %u: an insane plan", bit);
	}
	EXPECT(accepted > 0);
}

static const struct ktap_case cases[] = {
    {"elf.good", good},
    {"elf.moved", moved},
    {"elf.interpreter", interpreter},
    {"elf.interpreters", interpreters},
    {"elf.no_file_part", no_file_part},
    {"elf.headers_cut", headers_cut},
    {"elf.many_segments", many_segments},
    {"elf.moved_too_far", moved_too_far},
    {"elf.zeros", zeros},
    {"elf.broken", broken},
    {"elf.cut_off", cut_off},
    {"elf.flipped_bits", flipped_bits},
    {NULL, NULL},
};
const struct ktap_suite suite_task_elf = {cases};
