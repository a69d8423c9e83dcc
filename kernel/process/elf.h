/*
 * ELF programs for x86-64, and the interpreters that dynamic ones name, checked whole before
 * anything is mapped. Pure: no memory but its arguments (host tests feed it broken files). ELF-64
 * Object File Format 1.5; System V ABI, AMD64 supplement, chapters 4 and 5.
 */
#pragma once

#include "kernel/lib/types.h"

#define ELF_EHDR_SIZE	 64
#define ELF_PHDR_SIZE	 56
#define ELF_MAX_PHDRS	 64
#define ELF_MAX_SEGMENTS 16
#define ELF_INTERP_MAX	 4096		  /* bytes of an interpreter's path, with the NUL */
#define ELF_DYN_BASE	 0x555555554000UL /* where position-independent programs go */

/* A mapping: pages [start, end), the file's bytes up to file_end, then zeros. */
struct elf_segment {
	u64 start, end;
	u64 offset;   /* in the file, of start: page-aligned */
	u64 file_end; /* in the file */
	unsigned prot;
	bool zeros; /* the program has memory after file_end, which begins as zeros */
};

struct elf_image {
	u64 entry;
	u64 phdr; /* where the program finds its own headers; 0: nowhere */
	u64 end;  /* first byte after the last segment: the heap starts in the page above */
	u64 interp,
	    interp_size; /* in the file: the interpreter's path with its NUL; size 0: none */
	u64 interp_base; /* where the caller of elf_load_plan() puts the interpreter */
	unsigned phnum;
	unsigned count;
	struct elf_segment seg[ELF_MAX_SEGMENTS];
};

/*
 * Number and place of the program headers: 0 or -ENOEXEC. `head`: the file's first ELF_EHDR_SIZE
 * bytes.
 */
int elf_check_header(const void *head, u64 file_size, u64 *phoff, unsigned *phnum);
/*
 * `phdrs`: phnum * ELF_PHDR_SIZE bytes. 0 or -ENOEXEC; base: where it goes if it may go anywhere,
 * page-aligned; limit: first address not to be used.
 */
int elf_load_plan(
    const void *head, const void *phdrs, u64 file_size, u64 base, u64 limit, struct elf_image *out);
