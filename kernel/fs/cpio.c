/* The reader of "newc" archives. Pure; see the header. */
#include "kernel/fs/cpio.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define HEADER_SIZE 110u
#define NAME_LIMIT  4096u /* with the NUL, as PATH_MAX */

/* The header's 13 numbers, 8 hex digits each, behind the 6 of the magic. */
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

static int hex_digit(u8 c)
{
	if (is_digit(c))
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_header(const u8 *h, u32 field[F_COUNT])
{
	if (memcmp(h, "070701", 6) != 0 && memcmp(h, "070702", 6) != 0)
		return -EINVAL;
	h += 6;
	for (unsigned i = 0; i < F_COUNT; i++) {
		field[i] = 0;
		for (unsigned k = 0; k < 8; k++) {
			int d = hex_digit(*h++);
			if (d < 0)
				return -EINVAL;
			field[i] = field[i] << 4 | d;
		}
	}
	return 0;
}

/* A name must end where it says, and must not climb. */
static bool name_is_good(const char *name, size_t size)
{
	if (size < 2 || strnlen(name, size) != size - 1)
		return false;
	for (const char *p = name; *p; p += strspn(p, "/")) {
		size_t len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.')
			return false;
		p += len;
	}
	return true;
}

/* Zero bytes pad the end of an archive; another may come behind them. */
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
