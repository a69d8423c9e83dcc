/*
 * files KIND FILE: reads a file with the code of the loader (KIND: kernel, config) or of the kernel
 * (archive, program), built for the host with sanitizers. Exit status 0: the file is accepted; 1:
 * refused, with the reason on stderr; 2: wrong usage.
 */
#include "boot/efi/config.h"
#include "boot/efi/kernel_image.h"
#include "kernel/fs/cpio.h"
#include "kernel/lib/errno.h"
#include "kernel/process/elf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USER_TOP 0x7ffff0000000UL

static int refused(const char *what)
{
	fprintf(stderr, "refused: %s\n", what);
	return 1;
}

static int read_kernel(const char *data, size_t size)
{
	struct kernel_image image;
	const char *wrong = kernel_image_check(&image, data, size);

	if (wrong)
		return refused(wrong);
	assert(image.entry >= image.base && image.entry < image.base + image.size);
	char *to = malloc(image.size);
	kernel_image_load(&image, data, to);
	free(to);
	return 0;
}

static void complain(void *count, uint32_t line, const char *what)
{
	++*(unsigned *)count;
	fprintf(stderr, "line %u: %s\n", line, what);
}

static int read_config(const char *data, size_t size)
{
	static struct config c;
	unsigned complaints = 0;

	config_parse(&c, data, size, complain, &complaints);
	assert(c.entry_count >= 1 && c.entry_count <= CONFIG_MAX_ENTRIES);
	assert(c.chosen < c.entry_count);
	assert(memchr(c.kernel.path, '\0', sizeof(c.kernel.path)));
	assert(memchr(c.archive.path, '\0', sizeof(c.archive.path)));
	for (unsigned i = 0; i < c.entry_count; i++) {
		assert(memchr(c.entries[i].title, '\0', sizeof(c.entries[i].title)));
		assert(memchr(c.entries[i].cmdline, '\0', sizeof(c.entries[i].cmdline)));
	}
	return complaints ? refused("some of its lines") : 0;
}

/* Sums up all bytes of the entries, so that each is read. */
static int read_archive(const char *data, size_t size)
{
	struct cpio_entry e;
	struct cpio c;
	unsigned sum = 0;
	int r;

	cpio_init(&c, data, size);
	while ((r = cpio_next(&c, &e)) > 0) {
		sum += strlen(e.name);
		for (size_t i = 0; i < e.size; i++)
			sum += e.data[i];
	}
	printf("%u\n", sum);
	return r < 0 ? refused("a damaged archive") : 0;
}

static int read_program(const char *data, size_t size)
{
	struct elf_image image;
	unsigned phnum;
	u64 phoff;

	if (size < ELF_EHDR_SIZE || elf_check_header(data, size, &phoff, &phnum))
		return refused("its header");
	assert(phoff <= size && phnum * ELF_PHDR_SIZE <= size - phoff);
	if (elf_load_plan(data, data + phoff, size, ELF_DYN_BASE, USER_TOP, &image))
		return refused("its program headers");
	for (unsigned i = 0; i < image.count; i++) {
		const struct elf_segment *s = &image.seg[i];
		assert(s->start < s->end && s->end <= USER_TOP && s->file_end <= size);
		assert(!i || s->start >= s[-1].end);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*read)(const char *data, size_t size);
} kinds[] = {{"kernel", read_kernel}, {"config", read_config}, {"archive", read_archive},
    {"program", read_program}};

/* Reads a file into a block of exactly its size, so that the sanitizer sees any access past it. */
static char *whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	data = malloc(*size);
	*size = fread(data, 1, *size, f);
	fclose(f);
	return data;
}

int main(int argc, char **argv)
{
	size_t size;
	char *data = argc == 3 ? whole(argv[2], &size) : NULL;

	for (unsigned i = 0; data && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			int status = kinds[i].read(data, size);
			free(data);
			return status;
		}
	fprintf(stderr, "files kernel|config|archive|program FILE\n");
	return 2;
}
