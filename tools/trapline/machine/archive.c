/*
 * Archives for -initrd, and what may be in them. See archive.h; the kernel's reader is
 * kernel/fs/cpio.c.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/trapline/machine/archive.h"

#define FIELDS	     13
#define HEADER_BYTES (6 + FIELDS * 8)

static void pad(struct bytes *b)
{
	bytes_zeros(b, -b->size % 4);
}

static void put_entry(
    struct bytes *b, const char *name, uint32_t mode, const void *data, size_t size)
{
	size_t name_size = strlen(name) + 1;
	/* inode, mode, user, group, links, time, size, devices twice, size of the name, sum */
	const uint32_t field[FIELDS] = {
	    b->size / 4 + 1, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0};
	char header[HEADER_BYTES + 1] = "070701";

	for (unsigned i = 0; i < FIELDS; i++)
		snprintf(header + 6 + i * 8, 9, "%08x", field[i]);
	bytes_put(b, header, HEADER_BYTES);
	bytes_put(b, name, name_size);
	pad(b);
	bytes_put(b, data, size);
	pad(b);
}

void archive_put(
    struct bytes *archive, const char *path, uint32_t mode, const void *data, size_t size)
{
	put_entry(archive, path + strspn(path, "/"), mode, data, size);
}

#define TRAILER "TRAILER!!!"

void archive_end(struct bytes *archive)
{
	put_entry(archive, TRAILER, 0, NULL, 0);
}

enum { FIELD_MODE = 1, FIELD_SIZE = 6, FIELD_NAME_SIZE = 11 };

static uint32_t field_of(const uint8_t *header, unsigned i)
{
	char digits[9] = "";

	memcpy(digits, header + 6 + i * 8, 8);
	return strtoul(digits, NULL, 16);
}

bool archive_next(const uint8_t *archive, size_t size, size_t *at, struct archive_entry *e)
{
	const uint8_t *header = archive + *at;
	size_t name, data;

	if (*at > size || size - *at < HEADER_BYTES)
		return false;
	name = field_of(header, FIELD_NAME_SIZE);
	e->mode = field_of(header, FIELD_MODE);
	e->size = field_of(header, FIELD_SIZE);
	data = *at + HEADER_BYTES + name;
	data += -data % 4;
	if (!name || name > size || data > size || size - data < e->size ||
	    archive[*at + HEADER_BYTES + name - 1])
		return false;
	e->path = (const char *)header + HEADER_BYTES;
	e->data = archive + data;
	*at = data + e->size + -(data + e->size) % 4;
	return strcmp(e->path, TRAILER);
}

bool archive_copy(struct bytes *archive, const char *path, const char *host_file)
{
	struct stat st;
	struct in in;

	if (stat(host_file, &st)) {
		say_errno(host_file);
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		say("%s: not a regular file", host_file);
		return false;
	}
	if (!in_open(&in, host_file))
		return false;
	bool fits = in.size <= UINT32_MAX;
	if (fits)
		archive_put(archive, path, S_IFREG | (st.st_mode & 07777), in.data, in.size);
	else
		say("%s: is too large for an archive", host_file);
	in_close(&in);
	return fits;
}

/* One part of a path after those that are there. */
static void add_part(char *path, const char *part, size_t n)
{
	char *end = path + strlen(path);

	if (n == 2 && !memcmp(part, "..", 2)) {
		char *slash = strrchr(path, '/');
		*(slash ? slash : path) = '\0';
	} else if (n && !(n == 1 && *part == '.')) {
		*end++ = '/';
		memcpy(end, part, n);
		end[n] = '\0';
	}
}

static void add_parts(char *path, const char *parts)
{
	while (*parts) {
		size_t n = strcspn(parts, "/");
		add_part(path, parts, n);
		parts += n;
		parts += strspn(parts, "/");
	}
}

char *path_absolute(const char *directory, const char *path)
{
	char *out = xmalloc(strlen(directory) + strlen(path) + 3);

	if (*path != '/')
		add_parts(out, directory);
	add_parts(out, path);
	if (!*out)
		*out = '/';
	return out;
}

bool program_is_script(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;

	return end && end - data > 4 && !memcmp(data, "#!", 2) && memmem(data, end - data, "sh", 2);
}

const char *program_refusal(const uint8_t *data, size_t size)
{
	Elf64_Ehdr head;

	if (program_is_script(data, size))
		return NULL;
	if (size < sizeof(head) || memcmp(data, ELFMAG, SELFMAG))
		return "is neither an ELF program nor a script for sh";
	memcpy(&head, data, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64)
		return "is no program for x86-64";
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		if (at > size || size - at < sizeof(Elf64_Phdr))
			return "breaks off";
	}
	return NULL;
}
