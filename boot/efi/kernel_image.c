/*
 * The ELF file of the kernel. Every number in it is checked before it is used. Pure. (System V ABI,
 * chapter 4 and 5; ELF-64)
 */
#include "boot/efi/kernel_image.h"

#define PAGE	       4096
#define LINK_END       (BOOT_LINK_BASE + (1ull << 30)) /* of what the loader can map */
#define ELF_HEADER     64
#define ELF_PHDR       56
#define PHDRS_MAX      16
#define NOTE_HEADER    12
#define MACHINE_X86_64 62
enum { TYPE_EXEC = 2, PT_LOAD = 1, PT_NOTE = 4, PF_X = 1 };

static uint64_t get(const void *file, size_t at, unsigned bytes)
{
	const uint8_t *p = (const uint8_t *)file + at;
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static int same(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	while (n && *x == *y) {
		x++;
		y++;
		n--;
	}
	return !n;
}

/* Does [at, at + n) lie in a file of `size` bytes? */
static int inside(uint64_t at, uint64_t n, uint64_t size)
{
	return at <= size && n <= size - at;
}

static const char *check_header(const void *file, size_t size)
{
	if (size < ELF_HEADER)
		return "is too short for an ELF file";
	if (!same(file, "\177ELF", 4))
		return "is not an ELF file";
	if (get(file, 4, 1) != 2 || get(file, 5, 1) != 1 || get(file, 18, 2) != MACHINE_X86_64)
		return "is not for x86-64";
	if (get(file, 16, 2) != TYPE_EXEC)
		return "is an ELF file, but no program";
	if (get(file, 54, 2) != ELF_PHDR || !get(file, 56, 2) || get(file, 56, 2) > PHDRS_MAX ||
	    !inside(get(file, 32, 8), get(file, 56, 2) * ELF_PHDR, size))
		return "has a damaged table of segments";
	return NULL;
}

static const char *take_segment(struct kernel_image *img, const void *file, size_t ph, size_t size)
{
	struct kernel_segment s = {.offset = get(file, ph + 8, 8),
	    .vaddr = get(file, ph + 16, 8),
	    .file_size = get(file, ph + 32, 8),
	    .size = get(file, ph + 40, 8)};

	if (!s.size)
		return NULL;
	if (!inside(s.offset, s.file_size, size))
		return "is cut off: a segment reaches beyond its end";
	if (s.file_size > s.size || s.size > KERNEL_MAX_SIZE || s.vaddr < BOOT_LINK_BASE ||
	    s.vaddr > LINK_END - s.size)
		return "has a segment of absurd size or address";
	if (img->segment_count == KERNEL_MAX_SEGMENTS)
		return "has too many segments";
	if (img->segment_count) {
		const struct kernel_segment *last = &img->segments[img->segment_count - 1];
		if (s.vaddr < last->vaddr + last->size)
			return "has segments that overlap";
	}
	img->segments[img->segment_count++] = s;
	return NULL;
}

/* The notes in [at, at + n) of the file: ours gives the entry. */
static const char *take_notes(struct kernel_image *img, const void *file, uint64_t at, uint64_t n)
{
	while (n >= NOTE_HEADER) {
		uint64_t name = (get(file, at, 4) + 3) & ~3ull,
			 desc = (get(file, at + 4, 4) + 3) & ~3ull;
		uint64_t type = get(file, at + 8, 4), body = at + NOTE_HEADER;
		if (name > n - NOTE_HEADER || desc > n - NOTE_HEADER - name)
			return "has a damaged note";
		if (type == BOOT_NOTE_TYPE && get(file, at, 4) == sizeof(BOOT_NOTE_NAME) &&
		    same((const char *)file + body, BOOT_NOTE_NAME, sizeof(BOOT_NOTE_NAME))) {
			if (desc < sizeof(struct boot_note) ||
			    get(file, body + name + 8, 8) != sizeof(struct boot_info))
				return "is of another version than this loader";
			img->entry = get(file, body + name, 8);
		}
		at += NOTE_HEADER + name + desc;
		n -= NOTE_HEADER + name + desc;
	}
	return NULL;
}

static const char *take_program_header(
    struct kernel_image *img, const void *file, size_t ph, size_t size)
{
	uint64_t offset = get(file, ph + 8, 8), n = get(file, ph + 32, 8);

	if (get(file, ph, 4) == PT_LOAD)
		return take_segment(img, file, ph, size);
	if (get(file, ph, 4) != PT_NOTE)
		return NULL;
	return inside(offset, n, size) ? take_notes(img, file, offset, n)
				       : "is cut off: its notes reach beyond its end";
}

static const char *check_whole(struct kernel_image *img)
{
	const struct kernel_segment *first = img->segments, *last = first + img->segment_count - 1;

	if (!img->segment_count)
		return "has nothing to load";
	if (!img->entry)
		return "is no kernel of Trapline: the note with its entry is missing";
	img->base = first->vaddr & ~(uint64_t)(PAGE - 1);
	img->size = (last->vaddr + last->size - img->base + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (img->size > KERNEL_MAX_SIZE)
		return "has segments too far apart";
	if (img->entry < first->vaddr || img->entry >= first->vaddr + first->file_size)
		return "has its entry outside of its code";
	return NULL;
}

const char *kernel_image_check(struct kernel_image *img, const void *file, size_t size)
{
	const char *wrong = check_header(file, size);

	*img = (struct kernel_image){0};
	if (wrong)
		return wrong;
	for (size_t i = 0; i < get(file, 56, 2) && !wrong; i++)
		wrong = take_program_header(img, file, get(file, 32, 8) + i * ELF_PHDR, size);
	return wrong ? wrong : check_whole(img);
}

void kernel_image_load(const struct kernel_image *img, const void *file, void *to)
{
	uint8_t *memory = to;

	for (uint64_t i = 0; i < img->size; i++)
		memory[i] = 0;
	for (uint32_t i = 0; i < img->segment_count; i++) {
		const struct kernel_segment *s = &img->segments[i];
		const uint8_t *from = (const uint8_t *)file + s->offset;
		for (uint64_t at = 0; at < s->file_size; at++)
			memory[s->vaddr - img->base + at] = from[at];
	}
}
