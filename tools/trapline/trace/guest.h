/*
 * Reads the rings of a machine from outside, through its memory (kernel/abi/trace_export.h). The
 * guest neither waits for the reader nor knows of it: the reader copies data and then checks that
 * it was still valid. guest_ring.c has the steps.
 */
#pragma once

#include "kernel/abi/trace_export.h"
#include "tools/trapline/trace/memory.h"
#include "tools/trapline/trace/trace.h"

struct guest_cpu {
	bool begun;
	uint64_t ring;	 /* virtual address; it changes with a snapshot or a new buffer */
	uint64_t number; /* lap and index of the next sub-buffer */
	uint64_t offset; /* bytes of it already read */
	uint64_t time;	 /* of the record before that */
	/* events before it that were seen, reported lost, or overwritten before the first read */
	uint64_t counted;
	uint64_t next_seq; /* of the ring at the first read: if it changes, a reader was at work */
	bool gap;	   /* this sub-buffer does not follow the last one */
	uint64_t seen, lost; /* lost: not reported yet */
	uint64_t lost_told;
	bool lost_unknown;
};

struct guest {
	struct memory memory;
	struct trace_export head;
	uint64_t array, buffer; /* of the instance */
	uint32_t cpus;
	struct guest_cpu *cpu;
};

/* True if the file is the memory of a machine with our rings. Prints no message. */
bool guest_is_in(const char *file);
/*
 * False, after a message: there are no rings, or no such instance ("" is the global one). Takes
 * over `memory`.
 */
bool guest_open(
    struct guest *g, const char *file, const struct memory *memory, const char *instance);
void guest_close(struct guest *g);
/*
 * Read its memory by virtual address: copy n bytes; load a word, atomically and before later reads
 * (0: not mapped); copy a text, cut to `size`. False: not mapped.
 */
bool guest_fetch(const struct guest *g, uint64_t address, void *to, size_t n);
uint64_t guest_word(const struct guest *g, uint64_t address);
bool guest_text(const struct guest *g, uint64_t address, char *buf, size_t size);
/* Reads what a trace needs besides records: formats, names, clock. */
void guest_describe(struct guest *g, struct trace *t, const char *name);
/*
 * Append to `out` the kernel's functions in the form of /proc/kallsyms, or the ledger, from the
 * events' own counts.
 */
void guest_symbols(const struct guest *g, struct bytes *out);
void guest_ledger(const struct guest *g, struct bytes *out);
/* Reads the present names of tasks alone. */
void guest_names(struct guest *g, struct trace *t);
/* The present size of the largest sub-buffer of any CPU. */
uint32_t guest_page_size(const struct guest *g);
/*
 * Copies the next records of a CPU, up to a sub-buffer, as a page of `size` bytes in the kernel's
 * format. *lost: events lost before it; *unknown: and some more. False: nothing new, or the
 * sub-buffers have become larger.
 */
bool guest_next(
    struct guest *g, unsigned cpu, uint8_t *page, uint32_t size, uint64_t *lost, bool *unknown);
