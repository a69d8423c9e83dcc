/* The reader of "newc" archives. Pure; see the header. */
#include "kernel/fs/cpio.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define HEADER_SIZE 110u
#define NAME_LIMIT  4096u /* with the NUL, as PATH_MAX */

/* The header's 13 numbers, 8 hex digits each, after the 6 of the magic. */
enum {
	F_INO,
	F_MODE,
	F_UID,
	F_GID,
	F_NLINK,
	F_MTIME,
	F_FILESIZE,
	F_DEVMAJOR,
	F_DEVMINOR,
	F_RDEVMAJOR,
	F_RDEVMINOR,
	F_NAMESIZE,
	F_CHECK,
	F_COUNT,
};

void cpio_init(struct cpio *c, const void *data, size_t size)
{
	*c = (struct cpio){.data = data, .size = size};
}

#define EACH(byte) ((byte)*0x0101010101010101UL)

/*
 * Eight hex digits, all at once: a byte of the word for each. A letter has bit 6, and its low bits
 * count from 1. Whatever is no digit is not what its value would be written as.
 */
static bool hex_number(const u8 *s, u32 *out)
{
	u64 text, letters, n, tens;

	__builtin_memcpy(&text, s, sizeof(text));
	letters = text >> 6 & EACH(1);
	n = (text & EACH(0xf)) + letters * 9;
	tens = (n + EACH(6)) >> 4 & EACH(1);
	if (n & EACH(0xf0) || (text | letters << 5) != n + EACH('0') + tens * ('a' - '0' - 10))
		return false;
	n = __builtin_bswap64(n);
	n = (n | n >> 4) & 0x00ff00ff00ff00ff;
	n = (n | n >> 8) & 0x0000ffff0000ffff;
	*out = n | n >> 16;
	return true;
}

static int read_header(const u8 *h, u32 field[F_COUNT])
{
	if (memcmp(h, "070701", 6) != 0 && memcmp(h, "070702", 6) != 0)
		return -EINVAL;
	h += 6;
	for (unsigned i = 0; i < F_COUNT; i++, h += 8)
		if (!hex_number(h, &field[i]))
			return -EINVAL;
	return 0;
}

/* A name must end where it says, and must not climb. */
static bool name_is_good(const char *name, size_t size)
{
	const char *part = name;

	for (size_t i = 0; i < size; i++) {
		const char *p = name + i;
		if (*p && *p != '/')
			continue;
		if (p - part == 2 && part[0] == '.' && part[1] == '.')
			return false;
		if (!*p)
			return i && i == size - 1;
		part = p + 1;
	}
	return false;
}

/* Zero bytes pad the end of an archive; another may come after them. */
static void skip_padding(struct cpio *c)
{
	while (c->at < c->size && c->data[c->at] == 0)
		c->at++;
}

int cpio_next(struct cpio *c, struct cpio_entry *e)
{
	u32 field[F_COUNT];
	size_t left, name_end, end;

	skip_padding(c);
again:
	if (c->at >= c->size)
		return 0;
	left = c->size - c->at;
	if (left < HEADER_SIZE || read_header(c->data + c->at, field) ||
	    field[F_NAMESIZE] > NAME_LIMIT)
		return -EINVAL;
	/* Name and data are padded to 4 bytes, counted from the header, which is aligned itself. */
	name_end = ALIGN_UP((size_t)HEADER_SIZE + field[F_NAMESIZE], 4);
	end = ALIGN_UP(name_end + field[F_FILESIZE], 4);
	if (name_end > left || name_end + field[F_FILESIZE] > left)
		return -EINVAL;
	e->name = (const char *)c->data + c->at + HEADER_SIZE;
	if (!name_is_good(e->name, field[F_NAMESIZE]))
		return -EINVAL;
	e->data = c->data + c->at + name_end;
	e->size = field[F_FILESIZE];
	e->ino = field[F_INO];
	e->mode = field[F_MODE];
	e->nlink = field[F_NLINK];
	e->dev_major = field[F_DEVMAJOR];
	e->dev_minor = field[F_DEVMINOR];
	c->at += MIN(end, left); /* the last entry's padding may be cut off */
	if (strcmp(e->name, "TRAILER!!!") == 0) {
		skip_padding(c);
		goto again;
	}
	return 1;
}
