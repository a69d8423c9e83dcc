/*
 * The rings of a machine, seen from outside through its memory (kernel/abi/trace_export.h). Nobody
 * in there waits for us or knows of us: what is read is copied, and then it is looked whether it
 * was still true. See guest_ring.c for the steps.
 */
#pragma once

#include "kernel/abi/trace_export.h"
#include "tools/trapline/trace/memory.h"
#include "tools/trapline/trace/trace.h"

struct guest_cpu {
	bool begun;
	uint64_t ring;	 /* virtual address; another one: a snapshot, or a new buffer */
	uint64_t number; /* lap and index of the sub-buffer that is wanted */
	uint64_t offset; /* bytes of it that we have */
	uint64_t time;	 /* of the record before that */
	/* events before it that were overwritten when we began, seen, or reported lost */
	uint64_t counted;
	uint64_t next_seq;   /* of the ring when we began: else a reader was there */
	bool gap;	     /* it does not follow the last one */
	uint64_t seen, lost; /* lost: not told yet */
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

/* Is it the memory of a machine with rings of ours? Says nothing. */
bool guest_is_in(const char *file);
/*
 * False, said: there is none, or no such instance ("" is the global one). The memory is the guest's
 * from now on.
 */
bool guest_open(
    struct guest *g, const char *file, const struct memory *memory, const char *instance);
void guest_close(struct guest *g);
/*
 * Of its memory by virtual address: n bytes copied, false: not there; a word, at once and before
 * whatever is read behind it, 0: not there; a text, cut to the size, false: not there.
 */
bool guest_fetch(const struct guest *g, uint64_t address, void *to, size_t n);
uint64_t guest_word(const struct guest *g, uint64_t address);
bool guest_text(const struct guest *g, uint64_t address, char *buf, size_t size);
/* Formats, names, clock: what a trace needs besides records. */
void guest_describe(struct guest *g, struct trace *t, const char *name);
/*
 * The kernel's functions, as /proc/kallsyms has them; and what became of the hits of each event and
 * CPU, as far as the events' own counts tell (trace_ledger): put behind what is there.
 */
void guest_symbols(const struct guest *g, struct bytes *out);
void guest_ledger(const struct guest *g, struct bytes *out);
/* Names of tasks alone, as they are now. */
void guest_names(struct guest *g, struct trace *t);
/* Bytes that a page needs for any CPU's sub-buffer, as they are now. */
uint32_t guest_page_size(const struct guest *g);
/*
 * The next records of a CPU, up to a sub-buffer of them, as a page of `size` bytes in the kernel's
 * format, with what is lost before it (`*lost`, and `*unknown`: some more) apart. False: there is
 * no more for now, or the sub-buffers have become larger.
 */
bool guest_next(
    struct guest *g, unsigned cpu, uint8_t *page, uint32_t size, uint64_t *lost, bool *unknown);
