/*
 * The program of the running task: its memory, from the kernel's structures, and its files, which
 * the trace's archive contains or names. See goto.h.
 */
#include "tools/trapline/goto/goto.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/machine/archive.h"

#define PATH_MOST    512
#define AREAS_MOST   65536
#define KERNEL_START 0xffff800000000000ULL

/* ---- the kernel's structures ---- */

/* A member of a struct of the kernel's at that address, as a number. */
static bool member(
    struct visit *v, const char *type, uint64_t address, const char *name, uint64_t *n)
{
	struct ctype t;
	struct cmember m;

	*n = 0;
	return address && ktypes_named(&v->types, type, &t) &&
	       ktypes_find(&v->types, t, name, &m) && ktypes_size(&v->types, m.type) <= 8 &&
	       gdb_memory(&v->seek.gdb, address + m.bit / 8, n, ktypes_size(&v->types, m.type));
}

static uint64_t offset_of(struct visit *v, const char *type, const char *name)
{
	struct ctype t;
	struct cmember m;

	if (!ktypes_named(&v->types, type, &t) || !ktypes_find(&v->types, t, name, &m))
		return 0;
	return m.bit / 8;
}

static bool text_at(struct visit *v, uint64_t address, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!gdb_memory(&v->seek.gdb, address + i, &text[i], 1))
			return false;
		if (!text[i])
			return true;
	}
	return false;
}

/* %gs leads to struct cpu_local in the kernel; entry code has not exchanged it yet, or already. */
uint64_t goto_current(struct visit *v)
{
	uint64_t gs = v->r[GDB_GS_BASE], task;

	if (gs < KERNEL_START)
		gs = v->r[GDB_KERNEL_GS_BASE];
	return member(v, "struct cpu_local", gs, "current", &task) ? task : 0;
}

bool goto_task(struct visit *v, char comm[16], int *pid)
{
	uint64_t task = goto_current(v), n;

	if (!task || !member(v, "struct task", task, "pid", &n) ||
	    !gdb_memory(&v->seek.gdb, task + offset_of(v, "struct task", "comm"), comm, 16))
		return false;
	comm[15] = '\0';
	*pid = (int)n;
	return true;
}

/* Which file is mapped there, and where in it the address lies. */
static bool find_file(struct visit *v, uint64_t address, char path[PATH_MOST], uint64_t *offset)
{
	uint64_t mm, head, node, file, start, end, text;

	if (!member(v, "struct task", goto_current(v), "mm", &mm) || !mm)
		return false;
	node = head = mm + offset_of(v, "struct mm", "areas");
	for (unsigned i = 0; i < AREAS_MOST; i++) {
		if (!gdb_memory(&v->seek.gdb, node, &node, sizeof(node)) || node == head)
			return false;
		uint64_t area = node - offset_of(v, "struct vm_area", "node");
		if (!member(v, "struct vm_area", area, "start", &start) ||
		    !member(v, "struct vm_area", area, "end", &end))
			return false;
		if (address < start || address >= end)
			continue;
		*offset = address - start;
		if (!member(v, "struct vm_area", area, "file", &file) || !file ||
		    !member(v, "struct file", file, "path", &text) ||
		    !text_at(v, text, path, PATH_MOST) ||
		    !member(v, "struct vm_area", area, "offset", &start))
			return false;
		*offset += start;
		return true;
	}
	return false;
}

/* ---- the files ---- */

static bool find_entry(const struct visit *v, const char *path, struct archive_entry *e)
{
	const struct boot *b = &v->origin.boot;
	size_t at = 0;

	while (archive_next(b->archive.data, b->archive_own, &at, e)) {
		char *own = path_absolute("/", e->path);
		bool same = !strcmp(own, path);
		free(own);
		if (same)
			return true;
	}
	return false;
}

/* The file as it came along; one that lies here by the same path has lines, too. */
static void open_file(const struct visit *v, struct goto_file *f)
{
	struct archive_entry e;

	if (!find_entry(v, f->path, &e))
		return;
	if (elf_open(&f->elf, f->path)) {
		f->is_here = f->elf.in.size == e.size && !memcmp(f->elf.in.data, e.data, e.size);
		if (f->is_here)
			return;
		elf_close(&f->elf);
	}
	elf_open_in(&f->elf, f->path, e.data, e.size);
}

static struct goto_file *file_named(struct visit *v, const char *path)
{
	for (size_t i = 0; i < v->files; i++)
		if (!strcmp(v->file[i].path, path))
			return &v->file[i];
	v->file = xrealloc(v->file, (v->files + 1) * sizeof(*v->file));
	v->file[v->files] =
	    (struct goto_file){.path = xstrndup(path, strlen(path)), .elf = {.path = NULL}};
	open_file(v, &v->file[v->files]);
	return &v->file[v->files++];
}

void goto_close_files(struct visit *v)
{
	for (size_t i = 0; i < v->files; i++) {
		elf_close(&v->file[i].elf);
		free(v->file[i].path);
	}
	free(v->file);
}

/* An offset in the file as an address of its symbols, or the other way. */
static bool translate(const struct elf *e, uint64_t from, bool to_offset, uint64_t *to)
{
	Elf64_Ehdr head;
	Elf64_Phdr p;

	if (!e->path)
		return false;
	memcpy(&head, e->in.data, sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * sizeof(p);
		if (at > e->in.size || e->in.size - at < sizeof(p))
			return false;
		memcpy(&p, e->in.data + at, sizeof(p));
		uint64_t base = to_offset ? p.p_vaddr : p.p_offset;
		if (p.p_type != PT_LOAD || from < base || from - base >= p.p_memsz)
			continue;
		*to = from - base + (to_offset ? p.p_offset : p.p_vaddr);
		return true;
	}
	return false;
}

struct goto_file *goto_file_at(struct visit *v, uint64_t address, uint64_t *own)
{
	char path[PATH_MOST];
	uint64_t offset;
	struct goto_file *f;

	if (address >= KERNEL_START || !find_file(v, address, path, &offset))
		return NULL;
	f = file_named(v, path);
	if (!translate(&f->elf, offset, false, own))
		*own = offset;
	return f;
}

/* Symbols of the file that runs: of a moved one, as far as it was moved. */
bool goto_program_symbol(struct visit *v, const char *name, uint64_t *address)
{
	struct frame frame[STACK_MOST];
	size_t n = stack_walk(&v->seek.gdb, &v->kernel, v->r, frame);

	for (size_t i = 0; i < n; i++) {
		uint64_t own = 0;
		struct goto_file *f = frame[i].is_user ? goto_file_at(v, frame[i].pc, &own) : NULL;
		const struct elf_symbol *s = f && f->elf.path ? elf_named(&f->elf, name) : NULL;
		if (!s)
			continue;
		*address = s->address + (frame[i].pc - own);
		return true;
	}
	return false;
}

/* ---- where memory lies ---- */

#define ENTRY_PRESENT 1
#define ENTRY_LARGE   0x80
#define ENTRY_PAGE    0x000ffffffffff000ULL

/* The tables that the CPU walks, out of RAM. */
bool goto_physical(const struct visit *v, uint64_t address, uint64_t *physical)
{
	const struct boot *b = &v->origin.boot;
	struct memory m;
	uint64_t table = v->r[GDB_CR3] & ENTRY_PAGE;
	bool found = false;

	if (!memory_open(&m, b->machine.memory_path))
		return false;
	for (int shift = 39; shift >= 12 && !found; shift -= 9) {
		const uint8_t *p = memory_at(&m, table + (address >> shift & 511) * 8, 8);
		uint64_t entry = 0;

		if (p)
			memcpy(&entry, p, sizeof(entry));
		if (!(entry & ENTRY_PRESENT))
			break;
		table = entry & ENTRY_PAGE;
		if (shift > 12 && (shift == 39 || !(entry & ENTRY_LARGE)))
			continue;
		uint64_t within = (1ULL << shift) - 1;
		*physical = (table & ~within) | (address & within);
		p = memory_at(&m, *physical, 1);
		found = p != NULL;
		*physical = found ? p - m.file : 0; /* as the plugin counts */
	}
	memory_close(&m);
	return found;
}
