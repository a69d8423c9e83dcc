/*
 * send: a file as lines of text, for a serial console whose other end keeps what it gets (`trapline extract` makes the file of it
 * again). Task context.
 *
 *   =trapline-file CRC NAME    the CRC-32 (hex) of the name; again every now and then, for one that did not arrive
 *   =OFFSET CRC DATA           for each block: where in the file (hex), CRC-32 of the name, the offset as 8 bytes and the data, base64
 *   =trapline-end SIZE CRC     (hex) CRC-32 of the name and the size as 8 bytes
 *
 * So what a noisy line costs is a block, and which one is known: -r sends it again. No line is taken for another file's. Anything
 * may stand between the lines.
 */
#include "kernel/lib/base64.h"
#include "kernel/lib/crc32.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

#define BLOCK	  768 /* a line of 1024 characters, and what stands before them */
#define BLOCK_MAX 3072
#define AGAIN	  64 /* blocks, then the name is said again */

struct sending {
	u64 block;
	const char *ranges; /* OFFSET+LENGTH,... ; NULL: all of it */
};

struct line {
	const char *name;
	u32 name_crc;
	unsigned blocks; /* since the name was said */
	u8 data[BLOCK_MAX];
	char text[BASE64_SIZE(BLOCK_MAX)];
};

static void put_name(struct sh_io *io, struct line *line)
{
	sh_printf(io, "=trapline-file %08x %s\n", line->name_crc, line->name);
	line->blocks = 0;
}

static void put_end(struct sh_io *io, struct line *line, u64 size)
{
	if (line->blocks)
		put_name(io, line);
	sh_printf(io, "=trapline-end %llx %08x\n", (unsigned long long)size,
	    crc32_add(line->name_crc, &size, sizeof(size)));
}

static void put_block(struct sh_io *io, struct line *line, u64 offset, size_t n)
{
	u32 crc = crc32_add(crc32_add(line->name_crc, &offset, sizeof(offset)), line->data, n);

	if (line->blocks++ == AGAIN)
		put_name(io, line);
	base64_encode(line->text, line->data, n);
	sh_printf(io, "=%llx %08x ", (unsigned long long)offset, crc);
	sh_put(io, line->text, BASE64_SIZE(n));
	sh_putc(io, '\n');
	sh_flush(io);
}

/* As much as there is, up to n bytes: pipes give it in pieces. */
static ssize fill(struct sh_io *io, struct file *f, u8 *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize got = sh_read(io, f, to + done, n - done);
		if (got < 0)
			return got;
		if (!got)
			break;
		done += got;
	}
	return done;
}

/* Blocks from `at` on, up to `limit` bytes or the end; where that was, or the error. */
static ssize send_blocks(struct sh_io *io, struct file *f, const struct sending *how,
    struct line *line, u64 at, u64 limit)
{
	while (limit && !io->error) {
		ssize n = fill(io, f, line->data, MIN(how->block, limit));
		if (n < 0)
			return n;
		if (!n)
			break;
		put_block(io, line, at, n);
		at += n;
		limit -= n;
	}
	return at;
}

static bool is_hex(char c)
{
	return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool parse_hex(const char **p, char end, u64 *out)
{
	const char *s = *p;
	u64 v = 0;

	for (; is_hex(*s) && v >> 60 == 0; s++)
		v = v << 4 | (is_digit(*s) ? *s - '0' : (*s | 32) - 'a' + 10);
	if (s == *p || (*s && *s != end))
		return false;
	*p = *s ? s + 1 : s;
	*out = v;
	return true;
}

/* One of the ranges; `*p` moves on. */
static bool next_range(const char **p, u64 *at, u64 *length)
{
	return parse_hex(p, '+', at) && parse_hex(p, ',', length) && *length;
}

/* The file's size, for that may be missing, too; 0: it has none. Or the error. */
static ssize send_ranges(
    struct sh_io *io, struct file *f, const struct sending *how, struct line *line)
{
	const char *p = how->ranges;
	ssize end = 0, size;

	while (*p && end >= 0) {
		u64 at, length;
		next_range(&p, &at, &length);
		s64 seeked = vfs_seek(f, at, 0);
		end = seeked < 0 ? seeked : send_blocks(io, f, how, line, at, length);
	}
	if (end < 0)
		return end;
	size = vfs_seek(f, 0, 2);
	return size < 0 ? 0 : size;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int send_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	const struct sending *how = ctx;
	struct line *line = kmalloc(sizeof(*line));

	if (!line)
		return sh_fail(io, "out of memory");
	line->name = last_part(name);
	line->name_crc = crc32_add(0, line->name, strlen(line->name));
	put_name(io, line);
	ssize end =
	    how->ranges ? send_ranges(io, f, how, line) : send_blocks(io, f, how, line, 0, ~0UL);
	if (end > 0 || (!end && !how->ranges))
		put_end(io, line, end);
	kfree(line);
	if (end < 0 && end != -EINTR)
		return sh_fail_errno(io, end, "%s", name);
	return end < 0;
}

static bool ranges_fit(const char *p)
{
	u64 at, length;

	do {
		if (!next_range(&p, &at, &length))
			return false;
	} while (*p);
	return true;
}

int sh_cmd_send(struct sh_io *io, int argc, char **argv)
{
	struct sending how = {.block = BLOCK};
	struct sh_opts o;

	if (sh_options(io, argc, argv, "b:r:", &o))
		return 1;
	if (sh_opt(&o, 'b') && !sh_number(io, sh_optval(&o, 'b'), &how.block))
		return 1;
	if (how.block == 0 || how.block > BLOCK_MAX)
		return sh_fail(io, "a block has 1 to %d bytes", BLOCK_MAX);
	how.ranges = sh_optval(&o, 'r');
	if (how.ranges && !ranges_fit(how.ranges))
		return sh_fail(io, "bad ranges '%s': OFFSET+LENGTH,... in hex", how.ranges);
	return sh_each_file(io, argc - o.at, argv + o.at, send_file, &how);
}
