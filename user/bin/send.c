/*
 * send [-b BYTES] [-r OFFSET+LENGTH,...] [FILE]...: files as lines of text, for a serial console
 * whose other end keeps what it gets (`trapline extract` makes the file of it again).
 *
 *   =trapline-file CRC NAME    the CRC-32 (hex) of the name; again every now and then, for one that
 *                              did not arrive
 *   =OFFSET CRC DATA           for each block: where in the file (hex), CRC-32 of the name, the
 *                              offset as 8 bytes and the data, base64
 *   =trapline-end SIZE CRC     (hex) CRC-32 of the name and the size as 8 bytes
 *
 * So a noisy line costs blocks, and it is known which: -r sends them again. No line is taken for
 * another file's. Anything may stand between the lines.
 */
#include "kernel/abi/crc32.h"
#include "user/command.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK	  768 /* a line of 1024 characters, and what stands before them */
#define BLOCK_MAX 3072
#define AGAIN	  64 /* blocks, then the name is said again */

static uint64_t block = BLOCK;
static const char *ranges; /* NULL: all of each file */

static const char *name; /* of the file being sent */
static uint32_t name_crc;
static unsigned blocks; /* since the name was said */
static uint8_t data[BLOCK_MAX];

static void put_base64(const uint8_t *p, size_t n)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n; p += 3, n -= n < 3 ? n : 3) {
		uint32_t v = p[0] << 16 | (n > 1 ? p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

		putchar(digits[v >> 18]);
		putchar(digits[v >> 12 & 63]);
		putchar(n > 1 ? digits[v >> 6 & 63] : '=');
		putchar(n > 2 ? digits[v & 63] : '=');
	}
}

static void put_name(void)
{
	printf("=trapline-file %08" PRIx32 " %s\n", name_crc, name);
	blocks = 0;
}

static void put_end(uint64_t size)
{
	if (blocks)
		put_name();
	printf("=trapline-end %" PRIx64 " %08" PRIx32 "\n", size,
	    abi_crc32(name_crc, &size, sizeof(size)));
}

static void put_block(uint64_t offset, size_t n)
{
	uint32_t crc = abi_crc32(abi_crc32(name_crc, &offset, sizeof(offset)), data, n);

	if (blocks++ == AGAIN)
		put_name();
	printf("=%" PRIx64 " %08" PRIx32 " ", offset, crc);
	put_base64(data, n);
	putchar('\n');
	fflush(stdout);
}

/* As much as there is, up to n bytes: pipes give it in pieces. -1 is an error. */
static ssize_t fill(int fd, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, data + done, n - done);

		if (got < 0)
			return got;
		if (!got)
			break;
		done += got;
	}
	return done;
}

/* Blocks from `at` on, up to `limit` bytes or the end; where that was, or -1. */
static off_t send_blocks(int fd, uint64_t at, uint64_t limit)
{
	while (limit && !ferror(stdout)) {
		ssize_t n = fill(fd, block < limit ? block : limit);

		if (n < 0)
			return n;
		if (!n)
			break;
		put_block(at, n);
		at += n;
		limit -= n;
	}
	return at;
}

/* One of the ranges, in hex; *p moves on. */
static bool next_range(const char **p, uint64_t *at, uint64_t *length)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **p) || !**p)
		return false;
	*at = strtoull(*p, &end, 16);
	if (*end != '+' || !end[1] || !strchr("0123456789abcdefABCDEF", end[1]))
		return false;
	*length = strtoull(end + 1, &end, 16);
	if (*end && *end != ',')
		return false;
	*p = *end ? end + 1 : end;
	return *length;
}

static bool ranges_fit(const char *p)
{
	uint64_t at, length;

	do {
		if (!next_range(&p, &at, &length))
			return false;
	} while (*p);
	return true;
}

/* The file's size, for that may be missing, too; 0: it has none; -1. */
static off_t send_ranges(int fd)
{
	uint64_t at, length;
	off_t end = 0;

	for (const char *p = ranges; *p && end >= 0;) {
		next_range(&p, &at, &length);
		end = lseek(fd, at, SEEK_SET);
		if (end >= 0)
			end = send_blocks(fd, at, length);
	}
	if (end < 0)
		return end;
	end = lseek(fd, 0, SEEK_END);
	return end < 0 ? 0 : end;
}

static int send_file(int fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	off_t end;

	name = slash ? slash + 1 : path;
	name_crc = abi_crc32(0, name, strlen(name));
	put_name();
	end = ranges ? send_ranges(fd) : send_blocks(fd, 0, UINT64_MAX);
	if (end > 0 || (!end && !ranges))
		put_end(end);
	return end < 0 ? command_fail_errno(path) : 0;
}

int main(int argc, char **argv)
{
	int c, status = 0;

	command_begin(argv[0], "[-b BYTES] [-r OFFSET+LENGTH,...] [FILE]...");
	while ((c = command_option(argc, argv, "b:r:")) > 0) {
		if (c == 'r')
			ranges = optarg;
		else if (!command_number(optarg, 10, &block))
			return 1;
	}
	if (!c)
		return 1;
	if (block == 0 || block > BLOCK_MAX)
		return command_fail("a block has 1 to %d bytes", BLOCK_MAX);
	if (ranges && !ranges_fit(ranges))
		return command_fail("bad ranges '%s': OFFSET+LENGTH,... in hex", ranges);
	if (optind == argc)
		status = send_file(0, "-");
	for (int i = optind; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);

		if (fd < 0) {
			status = command_fail("can't open '%s': %s", argv[i], errno_text(errno));
			continue;
		}
		status |= send_file(fd, argv[i]);
		close(fd);
	}
	return status;
}
