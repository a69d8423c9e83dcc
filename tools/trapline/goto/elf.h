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

/* False: the file cannot be read, or is no ELF file for this machine; nothing stays open. */
bool elf_open(struct elf *e, const char *path);
/* The same for bytes in memory, without source lines. */
bool elf_open_in(struct elf *e, const char *path, const uint8_t *data, size_t size);
void elf_close(struct elf *e);
/* The symbol at the address; NULL: none. */
const struct elf_symbol *elf_at(const struct elf *e, uint64_t address);
const struct elf_symbol *elf_named(const struct elf *e, const char *name);
/* Bytes of a section; NULL: there is no such section. */
const uint8_t *elf_section(const struct elf *e, const char *name, size_t *size);
/*
 * "FILE:LINE" of each address, which the caller frees; NULL if the file has no line for it, or
 * there is no addr2line.
 */
void elf_lines(const struct elf *e, const uint64_t *address, char **line, size_t count);
