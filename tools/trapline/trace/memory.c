/* Memory of a machine. See memory.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/trace/memory.h"

#define HIGH_BASE (4ULL << 30)

static void add_segment(struct memory *m, uint64_t physical, uint64_t offset, uint64_t size)
{
	uint64_t there = offset < m->size ? m->size - offset : 0;

	if (size > there) {
		m->missing += size - there;
		size = there;
	}
	if (!size)
		return;
	m->segment = xrealloc(m->segment, (m->segments + 1) * sizeof(*m->segment));
	m->segment[m->segments++] = (struct segment){physical, size, m->file + offset};
}

/* A RAM may begin with an ELF file, too: the kernel's, left there by who loaded it. */
bool memory_is_core(const struct memory *m)
{
	Elf64_Ehdr head;

	if (m->size <= sizeof(head) || memcmp(m->file, ELFMAG, SELFMAG))
		return false;
	memcpy(&head, m->file, sizeof(head));
	return head.e_type == ET_CORE;
}

static void core_segments(struct memory *m)
{
	Elf64_Ehdr head;
	Elf64_Phdr p;

	memcpy(&head, m->file, sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * sizeof(p);
		if (at > m->size || m->size - at < sizeof(p)) {
			m->missing += sizeof(p);
			return;
		}
		memcpy(&p, m->file + at, sizeof(p));
		if (p.p_type == PT_LOAD)
			add_segment(m, p.p_paddr, p.p_offset, p.p_filesz);
	}
}

void memory_open_in(struct memory *m, const uint8_t *data, uint64_t size)
{
	*m = (struct memory){.fd = -1, .file = data, .size = size};
	if (memory_is_core(m))
		core_segments(m);
	else
		add_segment(m, 0, 0, size);
}

bool memory_open(struct memory *m, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file = MAP_FAILED;

	*m = (struct memory){.file = NULL};
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size)
		file = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	else
		errno = ENODATA;
	if (file == MAP_FAILED) {
		close(fd);
		return false;
	}
	memory_open_in(m, file, st.st_size);
	m->fd = fd;
	return true;
}

void memory_split(struct memory *m, uint64_t above)
{
	uint64_t below = m->size - above;

	if (memory_is_core(m) || !above || above >= m->size || below > HIGH_BASE)
		return;
	m->segments = 0;
	add_segment(m, 0, 0, below);
	add_segment(m, HIGH_BASE, below, above);
}

uint64_t memory_written(const struct memory *m, uint64_t at, uint64_t *end)
{
	off_t from = lseek(m->fd, at, SEEK_DATA), to;

	if (from < 0) {
		*end = m->size;
		return errno == ENXIO ? m->size : at; /* nothing is left, or it is not known */
	}
	to = lseek(m->fd, from, SEEK_HOLE);
	*end = to < 0 || (uint64_t)to > m->size ? m->size : (uint64_t)to;
	return from;
}

void memory_close(struct memory *m)
{
	if (m->fd >= 0) {
		munmap((void *)m->file, m->size);
		close(m->fd);
	}
	free(m->segment);
	*m = (struct memory){.file = NULL};
}

const uint8_t *memory_at(const struct memory *m, uint64_t physical, uint64_t n)
{
	for (size_t i = 0; i < m->segments; i++) {
		const struct segment *s = &m->segment[i];
		uint64_t at = physical - s->physical;
		if (physical >= s->physical && at < s->size && n <= s->size - at)
			return s->data + at;
	}
	return NULL;
}
