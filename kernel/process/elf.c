/*
 * The ELF file as a plan of what to map where: see elf.h. Everything a header says is distrusted:
 * sizes against the file, addresses against the limit, segments against each other, all without
 * wrapping.
 */
#include "kernel/process/elf.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

struct ehdr {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
_Static_assert(sizeof(struct ehdr) == ELF_EHDR_SIZE, "ELF header");

struct phdr {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};
_Static_assert(sizeof(struct phdr) == ELF_PHDR_SIZE, "ELF program header");

enum {
	ET_EXEC = 2,
	ET_DYN = 3,
	EM_X86_64 = 62,
	PT_LOAD = 1,
	PT_INTERP = 3,
	PT_PHDR = 6,
	PF_X = 1,
	PF_W = 2,
	PF_R = 4
};

int elf_check_header(const void *head, u64 file_size, u64 *phoff, unsigned *phnum)
{
	static const u8 magic[7] = {
	    0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little endian */, 1 /* version */};
	struct ehdr e;

	if (file_size < sizeof(e))
		return -ENOEXEC;
	memcpy(&e, head, sizeof(e));
	if (memcmp(e.ident, magic, sizeof(magic)) || e.machine != EM_X86_64 ||
	    (e.type != ET_EXEC && e.type != ET_DYN))
		return -ENOEXEC;
	if (e.phentsize != ELF_PHDR_SIZE || !e.phnum || e.phnum > ELF_MAX_PHDRS)
		return -ENOEXEC;
	if (e.phoff > file_size || (u64)e.phnum * ELF_PHDR_SIZE > file_size - e.phoff)
		return -ENOEXEC;
	*phoff = e.phoff;
	*phnum = e.phnum;
	return 0;
}

static unsigned segment_prot(u32 flags)
{
	return (flags & PF_R ? PROT_R : 0) | (flags & PF_W ? PROT_W : 0) |
	       (flags & PF_X ? PROT_X : 0);
}

/*
 * One PT_LOAD row, moved by `base`, must lie in the file and below the limit and above what came
 * before it.
 */
static int add_segment(
    struct elf_image *img, const struct phdr *p, u64 base, u64 file_size, u64 limit)
{
	u64 skew = p->vaddr & (PAGE_SIZE - 1),
	    low = img->count ? img->seg[img->count - 1].end : PAGE_SIZE;
	struct elf_segment *s = &img->seg[img->count];

	if (!p->memsz)
		return 0;
	if (img->count == ELF_MAX_SEGMENTS || p->filesz > p->memsz)
		return -ENOEXEC;
	if (p->offset > file_size || p->filesz > file_size - p->offset)
		return -ENOEXEC;
	if ((p->offset & (PAGE_SIZE - 1)) != skew && p->filesz)
		return -ENOEXEC;
	if (p->vaddr >= limit - base || p->memsz > limit - base - p->vaddr)
		return -ENOEXEC;
	s->start = base + p->vaddr - skew;
	s->end = ALIGN_UP(base + p->vaddr + p->memsz, PAGE_SIZE);
	if (s->start < low)
		return -ENOEXEC;
	/* Nothing of the file at all: offsets that reach file_end at once. */
	s->offset = p->filesz ? p->offset - skew : 0;
	s->file_end = p->filesz ? p->offset + p->filesz : 0;
	s->zeros = p->memsz > p->filesz;
	s->prot = segment_prot(p->flags);
	img->end = base + p->vaddr + p->memsz;
	img->count++;
	return 0;
}

/* Where the program headers lie once mapped: some segment's file part holds them. */
static u64 find_phdrs(const struct elf_image *img, u64 phoff, u64 size)
{
	for (unsigned i = 0; i < img->count; i++) {
		const struct elf_segment *s = &img->seg[i];

		if (phoff >= s->offset && phoff < s->file_end && size <= s->file_end - phoff)
			return s->start + (phoff - s->offset);
	}
	return 0;
}

static bool executable_at(const struct elf_image *img, u64 addr)
{
	for (unsigned i = 0; i < img->count; i++)
		if (addr >= img->seg[i].start && addr < img->seg[i].end)
			return img->seg[i].prot & PROT_X;
	return false;
}

/* The first row that names an interpreter counts. */
static int elf_add_interp(struct elf_image *img, const struct phdr *p, u64 file_size)
{
	if (img->interp_size)
		return 0;
	if (p->filesz < 2 || p->filesz > ELF_INTERP_MAX || p->offset > file_size ||
	    p->filesz > file_size - p->offset)
		return -ENOEXEC;
	img->interp = p->offset;
	img->interp_size = p->filesz;
	return 0;
}

int elf_load_plan(
    const void *head, const void *phdrs, u64 file_size, u64 base, u64 limit, struct elf_image *out)
{
	struct elf_image img = {0};
	struct ehdr e;
	u64 phoff;
	int err = elf_check_header(head, file_size, &phoff, &img.phnum);

	if (err)
		return err;
	memcpy(&e, head, sizeof(e));
	if (e.type != ET_DYN)
		base = 0;
	if (base >= limit)
		return -ENOEXEC;
	for (unsigned i = 0; i < img.phnum; i++) {
		struct phdr p;

		memcpy(&p, (const u8 *)phdrs + i * ELF_PHDR_SIZE, sizeof(p));
		if (p.type == PT_INTERP)
			err = elf_add_interp(&img, &p, file_size);
		if (p.type == PT_LOAD)
			err = add_segment(&img, &p, base, file_size, limit);
		if (err)
			return err;
	}
	if (e.entry >= limit - base || !executable_at(&img, base + e.entry))
		return -ENOEXEC;
	img.entry = base + e.entry;
	img.phdr = find_phdrs(&img, phoff, (u64)img.phnum * ELF_PHDR_SIZE);
	*out = img;
	return 0;
}
