/* See elf.h. Nothing in the file is trusted. */
#include "tools/trapline/goto/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARE_MOST 4096 /* how far a label without a size goes */

/* A section's header. False: there is none of that number. */
static bool section(const struct elf *e, size_t i, Elf64_Shdr *s)
{
	Elf64_Ehdr head;

	memcpy(&head, e->in.data, sizeof(head));
	if (i >= head.e_shnum || head.e_shoff > e->in.size ||
	    (e->in.size - head.e_shoff) / sizeof(*s) <= i)
		return false;
	memcpy(s, e->in.data + head.e_shoff + i * sizeof(*s), sizeof(*s));
	return s->sh_type == SHT_NOBITS ||
	       (s->sh_offset <= e->in.size && s->sh_size <= e->in.size - s->sh_offset);
}

/* A text of a table of texts; "": it is not whole. */
static const char *text_at(const struct elf *e, const Elf64_Shdr *s, uint64_t at)
{
	const char *text = (const char *)e->in.data + s->sh_offset + at;

	return at < s->sh_size && memchr(text, '\0', s->sh_size - at) ? text : "";
}

const uint8_t *elf_section(const struct elf *e, const char *name, size_t *size)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, s;

	memcpy(&head, e->in.data, sizeof(head));
	if (!section(e, head.e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
		return NULL;
	for (size_t i = 1; section(e, i, &s); i++)
		if (s.sh_type != SHT_NOBITS && !strcmp(text_at(e, &names, s.sh_name), name)) {
			*size = s.sh_size;
			return e->in.data + s.sh_offset;
		}
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->is_function - y->is_function;
}

static void take_symbols(struct elf *e, const Elf64_Shdr *s, const Elf64_Shdr *names)
{
	size_t count = s->sh_size / sizeof(Elf64_Sym);

	e->symbol = xrealloc(e->symbol, (e->symbols + count + 1) * sizeof(*e->symbol));
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym sym;
		unsigned type;

		memcpy(&sym, e->in.data + s->sh_offset + i * sizeof(sym), sizeof(sym));
		type = ELF64_ST_TYPE(sym.st_info);
		if (!sym.st_shndx || sym.st_shndx == SHN_ABS ||
		    (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
			continue;
		e->symbol[e->symbols++] = (struct elf_symbol){
		    sym.st_value, sym.st_size, text_at(e, names, sym.st_name), type == STT_FUNC};
	}
}

static void read_symbols(struct elf *e, unsigned type)
{
	Elf64_Shdr s, names;

	for (size_t i = 1; section(e, i, &s); i++)
		if (s.sh_type == type && section(e, s.sh_link, &names) &&
		    names.sh_type == SHT_STRTAB)
			take_symbols(e, &s, &names);
}

static bool take(struct elf *e, const char *path)
{
	Elf64_Ehdr head;

	if (e->in.size < sizeof(head) || memcmp(e->in.data, ELFMAG, SELFMAG) ||
	    e->in.data[EI_CLASS] != ELFCLASS64) {
		in_close(&e->in);
		return false;
	}
	e->path = xstrndup(path, strlen(path));
	read_symbols(e, SHT_SYMTAB);
	if (!e->symbols)
		read_symbols(e, SHT_DYNSYM);
	if (e->symbols)
		qsort(e->symbol, e->symbols, sizeof(*e->symbol), by_address);
	return true;
}

bool elf_open(struct elf *e, const char *path)
{
	*e = (struct elf){.path = NULL};
	return !access(path, R_OK) && in_open(&e->in, path) && take(e, path);
}

bool elf_open_in(struct elf *e, const char *path, const uint8_t *data, size_t size)
{
	uint8_t *copy = xmalloc(size + 1);

	memcpy(copy, data, size);
	*e = (struct elf){.in = {.data = copy, .size = size}};
	return take(e, path);
}

void elf_close(struct elf *e)
{
	if (!e->path)
		return;
	in_close(&e->in);
	free(e->symbol);
	free(e->path);
	*e = (struct elf){.path = NULL};
}

/* A label without a size, as of assembly, goes as far as the next symbol, or BARE_MOST. */
const struct elf_symbol *elf_at(const struct elf *e, uint64_t address)
{
	size_t n = COUNT_UP_TO(e->symbol, e->symbols, address, address);
	const struct elf_symbol *bare = NULL;

	for (size_t i = n; i-- > 0 && n - i <= 16;) {
		const struct elf_symbol *s = &e->symbol[i];
		if (address - s->address < s->size)
			return s;
		if (!s->size && !bare && *s->name && address - s->address < BARE_MOST)
			bare = s;
	}
	return bare;
}

const struct elf_symbol *elf_named(const struct elf *e, const char *name)
{
	for (size_t i = 0; i < e->symbols; i++)
		if (!strcmp(e->symbol[i].name, name))
			return &e->symbol[i];
	return NULL;
}

/* ---- source lines ---- */

static void become_addr2line(const struct elf *e, const uint64_t *address, size_t count, int to)
{
	char **word = xmalloc((count + 4) * sizeof(*word));
	size_t n = 0;

	word[n++] = "addr2line";
	word[n++] = "-e";
	word[n++] = e->path;
	for (size_t i = 0; i < count; i++)
		if (asprintf(&word[n++], "%llx", (unsigned long long)address[i]) < 0)
			_exit(127);
	dup2(to, STDOUT_FILENO);
	execvp(word[0], word);
	_exit(127);
}

/* Is the file there, from this directory on? */
static bool is_below(const char *directory, size_t n, const char *path)
{
	char whole[4096];

	snprintf(whole, sizeof(whole), "%.*s/%s", (int)n, directory, path);
	whole[strcspn(whole, ":")] = '\0';
	return !access(whole, R_OK);
}

/*
 * "/where/it/was/built/./kernel/main.c:12 (discriminator 3)": as much of the end as there is a file
 * of, from the directory above the ELF file's.
 */
static char *tidy(const struct elf *e, char *line)
{
	const char *slash = strrchr(e->path, '/'), *from = line;
	size_t n = slash ? (size_t)(slash - e->path) : 0;

	line[strcspn(line, " \n")] = '\0';
	if (strstr(line, "??") || strstr(line, ":?"))
		return NULL;
	while (n && e->path[n - 1] != '/')
		n--;
	n = n ? n - 1 : 0;
	for (const char *p = line; n && p; p = strchr(p, '/')) {
		p += *p == '/';
		if (is_below(e->path, n, p)) {
			from = p;
			break;
		}
	}
	while (!strncmp(from, "./", 2))
		from += 2;
	return xstrndup(from, strlen(from));
}

void elf_lines(const struct elf *e, const uint64_t *address, char **line, size_t count)
{
	char *text = NULL;
	size_t room = 0;
	int p[2], status;

	memset(line, 0, count * sizeof(*line));
	if (!count || pipe(p))
		return;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid)
		become_addr2line(e, address, count, p[1]);
	close(p[1]);
	FILE *f = fdopen(p[0], "r");
	for (size_t i = 0; f && i < count && getline(&text, &room, f) > 0; i++)
		line[i] = tidy(e, text);
	free(text);
	if (f)
		fclose(f);
	if (pid > 0)
		waitpid(pid, &status, 0);
}
