/* See roomy.h. What lies in a file is known by its address. */
#include "tools/trapline/lib/roomy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/trapline/lib/util.h"

#define LARGE (4ul << 20) /* bytes: from here on an array lies in a file */

static struct mapping {
	void *at;
	size_t bytes;
	int fd; /* -1: it is memory after all */
} * mapping;
static size_t mappings;

static struct mapping *mapping_at(const void *items)
{
	for (size_t i = 0; i < mappings; i++)
		if (mapping[i].at == items)
			return &mapping[i];
	return NULL;
}

/* -1: none. */
static int nameless_file(size_t bytes)
{
	const char *directory = getenv("TMPDIR");
	char name[256];

	snprintf(name, sizeof(name), "%.200s/trapline-XXXXXX",
	    directory && *directory ? directory : "/tmp");
	int fd = mkstemp(name);
	if (fd < 0)
		return -1;
	unlink(name);
	if (!ftruncate(fd, (off_t)bytes))
		return fd;
	close(fd);
	return -1;
}

static void *map(size_t bytes)
{
	int fd = nameless_file(bytes);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		die(EXIT_TROUBLE, "out of memory");
	mapping = xrealloc(mapping, (mappings + 1) * sizeof(*mapping));
	mapping[mappings++] = (struct mapping){at, bytes, fd};
	return at;
}

static void *map_larger(struct mapping *m, size_t bytes)
{
	if (m->fd >= 0 && ftruncate(m->fd, (off_t)bytes))
		die(EXIT_TROUBLE, "no room for a file");
	m->at = mremap(m->at, m->bytes, bytes, MREMAP_MAYMOVE);
	if (m->at == MAP_FAILED)
		die(EXIT_TROUBLE, "out of memory");
	m->bytes = bytes;
	return m->at;
}

void *roomy_more(void *items, size_t count, size_t size)
{
	size_t bytes = (count ? 2 * count : 1) * size;
	struct mapping *m;
	void *larger;

	if (count & (count - 1)) /* not a power of two: there is room */
		return items;
	if (bytes < LARGE)
		return xrealloc(items, bytes);
	m = mapping_at(items);
	if (m)
		return map_larger(m, bytes);
	larger = memcpy(map(bytes), items, count * size);
	free(items);
	return larger;
}

void roomy_free(void *items)
{
	struct mapping *m = mapping_at(items);

	if (!m) {
		free(items);
		return;
	}
	munmap(m->at, m->bytes);
	if (m->fd >= 0)
		close(m->fd);
	*m = mapping[--mappings];
}
