/* The symbols of an ELF file, and its source lines, which addr2line of binutils knows. */
#pragma once

#include "tools/trapline/lib/util.h"

struct elf_symbol {
	uint64_t address, size;
	const char *name;
	bool is_function;
};

struct elf {
	char *path;
	struct in in;
	struct elf_symbol *symbol; /* in the order of their addresses */
	size_t symbols;
};

/* False: it cannot be read, or is no ELF file of this machine's; nothing is left behind. */
bool elf_open(struct elf *e, const char *path);
/* The same of bytes that came from elsewhere, of which there are no lines. */
bool elf_open_in(struct elf *e, const char *path, const uint8_t *data, size_t size);
void elf_close(struct elf *e);
/* What lies at the address; NULL: nothing that has a name. */
const struct elf_symbol *elf_at(const struct elf *e, uint64_t address);
const struct elf_symbol *elf_named(const struct elf *e, const char *name);
/* Bytes of a section; NULL: there is no such section. */
const uint8_t *elf_section(const struct elf *e, const char *name, size_t *size);
/*
 * "FILE:LINE" of each address, to be freed; NULL where the file does not say, or there is no
 * addr2line.
 */
void elf_lines(const struct elf *e, const uint64_t *address, char **line, size_t count);
