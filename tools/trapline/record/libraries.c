/*
 * The shared libraries of a program, found as its interpreter finds them (ld.so(8)): by DT_RPATH
 * and DT_RUNPATH with $ORIGIN, by /etc/ld.so.cache, and in the usual directories. See libraries.h.
 * Every offset in a file is checked against its size.
 */
#include "tools/trapline/record/libraries.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/machine/kernel_file.h"

#define CACHE "/etc/ld.so.cache"

/* An ELF file, and where it is. */
struct object {
	const uint8_t *data;
	size_t size;
	const char *path;
	Elf64_Ehdr head;
	const char
	    *strings; /* of its dynamic section, up to the end of the file; NULL: it has none */
	size_t strings_size;
	const char *runpath; /* DT_RUNPATH, else DT_RPATH; NULL: none */
};

static bool get_header(struct object *o, unsigned i, Elf64_Phdr *p)
{
	uint64_t at = o->head.e_phoff + (uint64_t)i * sizeof(*p);

	if (at > o->size || o->size - at < sizeof(*p))
		return false;
	memcpy(p, o->data + at, sizeof(*p));
	return p->p_offset <= o->size && p->p_filesz <= o->size - p->p_offset;
}

/* The first header of a type: false, there is none. */
static bool find_header(struct object *o, uint32_t type, Elf64_Phdr *p)
{
	for (unsigned i = 0; i < o->head.e_phnum && get_header(o, i, p); i++)
		if (p->p_type == type)
			return true;
	return false;
}

static bool object_open(struct object *o, const uint8_t *data, size_t size, const char *path)
{
	*o = (struct object){.data = data, .size = size, .path = path};
	if (size < sizeof(o->head) || memcmp(data, ELFMAG, SELFMAG))
		return false;
	memcpy(&o->head, data, sizeof(o->head));
	return o->head.e_ident[EI_CLASS] == ELFCLASS64 && o->head.e_machine == EM_X86_64;
}

const char *libraries_interpreter(const uint8_t *data, size_t size)
{
	struct object o;
	Elf64_Phdr p;

	if (!object_open(&o, data, size, "") || !find_header(&o, PT_INTERP, &p) || !p.p_filesz)
		return NULL;
	return data[p.p_offset + p.p_filesz - 1] ? NULL : (const char *)data + p.p_offset;
}

/* Where in the file an address of the program is: its offset, or ~0. */
static uint64_t offset_of(struct object *o, uint64_t address)
{
	Elf64_Phdr p;

	for (unsigned i = 0; i < o->head.e_phnum && get_header(o, i, &p); i++)
		if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
			return p.p_offset + (address - p.p_vaddr);
	return ~0ULL;
}

/* Entry i of the dynamic section; false: the end. */
static bool get_dynamic(struct object *o, const Elf64_Phdr *p, unsigned i, Elf64_Dyn *d)
{
	if ((uint64_t)(i + 1) * sizeof(*d) > p->p_filesz)
		return false;
	memcpy(d, o->data + p->p_offset + i * sizeof(*d), sizeof(*d));
	return d->d_tag != DT_NULL;
}

/* A string of the dynamic section; NULL: it is not in the file. */
static const char *get_string(const struct object *o, uint64_t at)
{
	if (!o->strings || at >= o->strings_size ||
	    !memchr(o->strings + at, 0, o->strings_size - at))
		return NULL;
	return o->strings + at;
}

/* Reads what is said of the others: strings, and where to look. */
static void read_dynamic(struct object *o, const Elf64_Phdr *p)
{
	uint64_t at = ~0ULL;
	Elf64_Dyn d;

	for (unsigned i = 0; get_dynamic(o, p, i, &d); i++)
		if (d.d_tag == DT_STRTAB)
			at = offset_of(o, d.d_un.d_ptr);
	if (at >= o->size)
		return;
	o->strings = (const char *)o->data + at;
	o->strings_size = o->size - at;
	for (unsigned i = 0; get_dynamic(o, p, i, &d); i++)
		if (d.d_tag == DT_RUNPATH || (d.d_tag == DT_RPATH && !o->runpath))
			o->runpath = get_string(o, d.d_un.d_val);
}

/* ---- where a library is ---- */

static char *joined(const char *a, size_t n, const char *b, const char *c)
{
	char *path = xmalloc(n + strlen(b) + strlen(c) + 2);

	memcpy(path, a, n);
	sprintf(path + n, "%s/%s", b, c);
	return path;
}

static bool is_object(const char *path)
{
	struct object o;
	struct in in;
	struct stat st;
	bool is;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !in_open(&in, path))
		return false;
	is = object_open(&o, in.data, in.size, path);
	in_close(&in);
	return is;
}

/* The path if a library is there, else it is freed: NULL. */
static char *if_there(char *path)
{
	if (is_object(path))
		return path;
	free(path);
	return NULL;
}

/* In the directories of a list with colons; $ORIGIN is the directory of the object. */
static char *find_in_list(const struct object *o, const char *list, const char *name)
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(o->path, '/');

	for (char *found; *list; list += strcspn(list, ":"), list += *list == ':') {
		size_t n = strcspn(list, ":"), skip = 0;

		for (unsigned i = 0; i < 2; i++)
			if (!strncmp(list, origins[i], strlen(origins[i])))
				skip = strlen(origins[i]);
		if (skip) {
			char *rest = xstrndup(list + skip, n - skip);
			found = if_there(joined(o->path, slash ? slash - o->path : 0, rest, name));
			free(rest);
		} else {
			found = if_there(joined(list, n, "", name));
		}
		if (found)
			return found;
	}
	return NULL;
}

/* The file that ldconfig keeps: a header, entries, and their strings, by their offset from it. */
struct cache_head {
	char magic[20];
	uint32_t count, strings_size, unused[5];
};
struct cache_entry {
	int32_t flags;
	uint32_t name, path, unused;
	uint64_t hwcap;
};
#define CACHE_MAGIC  "glibc-ld.so.cache1.1"
#define CACHE_X86_64 0x0303

static const char *cache_string(const struct in *in, uint64_t at)
{
	return at < in->size && memchr(in->data + at, 0, in->size - at)
		   ? (const char *)in->data + at
		   : NULL;
}

static char *find_in_cache(const char *name)
{
	struct cache_head head;
	struct cache_entry e;
	char *found = NULL;
	struct stat st;
	struct in in;

	if (stat(CACHE, &st) || !in_open(&in, CACHE))
		return NULL;
	memset(&head, 0, sizeof(head));
	if (in.size >= sizeof(head))
		memcpy(&head, in.data, sizeof(head));
	if (memcmp(head.magic, CACHE_MAGIC, sizeof(head.magic)))
		head.count = 0;
	for (uint64_t i = 0; i < head.count && !found; i++) {
		uint64_t at = sizeof(head) + i * sizeof(e);
		const char *its, *path;

		if (at + sizeof(e) > in.size)
			break;
		memcpy(&e, in.data + at, sizeof(e));
		its = cache_string(&in, e.name);
		path = cache_string(&in, e.path);
		if (its && path && e.flags == CACHE_X86_64 && !e.hwcap && !strcmp(its, name))
			found = if_there(xstrndup(path, strlen(path)));
	}
	in_close(&in);
	return found;
}

static const char usual[] =
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";

static bool is_usual(const char *path)
{
	size_t n = strrchr(path, '/') - path;

	for (const char *list = usual; *list; list += strcspn(list, ":"), list += *list == ':')
		if (strcspn(list, ":") == n && !strncmp(list, path, n))
			return true;
	return false;
}

/* To be freed; NULL: nowhere. *by_cache: the cache has to come, too, for the guest to find it. */
static char *find_library(const struct object *o, const char *name, bool *by_cache)
{
	const char *search = getenv("LD_LIBRARY_PATH");
	char *found = NULL;

	*by_cache = false;
	if (strchr(name, '/'))
		return if_there(xstrndup(name, strlen(name)));
	if (o->runpath)
		found = find_in_list(o, o->runpath, name);
	if (!found && search)
		found = find_in_list(o, search, name);
	if (!found) {
		found = find_in_cache(name);
		*by_cache = found && !is_usual(found);
	}
	return found ? found : find_in_list(o, usual, name);
}

/* ---- bringing them ---- */

static bool bring_all(struct bytes *archive, const uint8_t *data, size_t size, const char *path);

/* One file, and what it needs; nothing if it is there already. */
static bool bring_file(struct bytes *archive, const char *path)
{
	struct in in;
	bool fine;

	if (archive_has(archive->data, archive->size, path))
		return true;
	if (!archive_copy(archive, path, path) || !in_open(&in, path))
		return false;
	fine = bring_all(archive, in.data, in.size, path);
	in_close(&in);
	return fine;
}

static bool bring_library(struct bytes *archive, const struct object *o, const char *name)
{
	bool by_cache, fine;
	char *path = find_library(o, name, &by_cache);

	if (!path) {
		say("%s: needs the shared library %s, which is not found here", o->path, name);
		return false;
	}
	fine = bring_file(archive, path);
	if (fine && by_cache && !archive_has(archive->data, archive->size, CACHE))
		fine = archive_copy(archive, CACHE, CACHE);
	free(path);
	return fine;
}

static bool bring_all(struct bytes *archive, const uint8_t *data, size_t size, const char *path)
{
	struct object o;
	Elf64_Phdr p;
	Elf64_Dyn d;
	bool fine = true;

	if (!object_open(&o, data, size, path) || !find_header(&o, PT_DYNAMIC, &p))
		return true;
	read_dynamic(&o, &p);
	for (unsigned i = 0; fine && get_dynamic(&o, &p, i, &d); i++) {
		const char *name = d.d_tag == DT_NEEDED ? get_string(&o, d.d_un.d_val) : NULL;

		if (name)
			fine = bring_library(archive, &o, name);
	}
	return fine;
}

bool libraries_bring(struct bytes *archive, const uint8_t *data, size_t size, const char *path)
{
	const char *interpreter = libraries_interpreter(data, size);

	return !interpreter ||
	       (bring_file(archive, interpreter) && bring_all(archive, data, size, path));
}
