/*
 * The flight recorder's memory: a region that a warm reset keeps, in which the global array's rings lie, with what is needed to read
 * them without the kernel that wrote them: clock, formats of events, names of tasks and functions. kept.c writes it, for this boot;
 * lastboot.c reads what another boot left. Layout: a header page, names of functions, texts (formats), then the pool of pages.
 *
 * Task context under host_lock, unless said.
 */
#pragma once

#include "trace/event.h"

#define KEPT_MAGIC    "TRAPKEPT"
#define KEPT_VERSION  1
#define KEPT_RINGS    (2 * MAX_CPUS) /* a buffer and its spare one */
#define KEPT_MIN_SIZE (512UL << 10)

/* A ring in the pool. */
struct kept_ring {
	u32 page; /* number in the region of its struct's; 0: none */
	u32 cpu;
};

/* How a boot said that it ends. A triple fault, a hang, a watchdog and the reset button say nothing. */
enum kept_end { KEPT_SILENT, KEPT_PANIC, KEPT_ORDERLY };

/* The first page. `sum` is of all before it, which does not change after the start; the rest changes while the kernel runs. */
struct kept_header {
	char magic[8];
	u32 version, header_size, ring_version, pad;
	u64 size, base;	 /* of the region; its address in the kernel that wrote it */
	u64 generation;	 /* boots that used the region, one after the other */
	u64 symbols_sum; /* of the names of functions: another kernel has another */
	u32 symbols_at, symbols_size, texts_at, texts_size, pool_at, pad2;
	char release[32];
	u64 sum;

	u64 clock_base,
	    clock_mult; /* host_clock_ns(c) == (c - base) * mult >> 32; mult 0: not measured yet */
	u64 unix_ns;	/* host_unix_ns() */
	char clock[16]; /* trace_clock */
	u32 texts_used;
	u32 texts_full; /* a format had no room: records of that event cannot be told from damage */
	u32 comms_page, comms_size; /* struct trace_comm_slot[]; page 0: none */
	u32 cpus, ended;	    /* ended: enum kept_end */
	struct kept_ring rings[KEPT_RINGS];
};

/* A text: system and format of an event, each ended by a NUL. Multiples of 8 bytes; sum is of all behind it. */
struct kept_text {
	u64 sum;
	u32 size; /* with this head */
	u16 id, format_at;
	char system[];
};

/* Names of functions, by address: count, then as many of these, then the names. */
struct kept_symbol {
	u64 start;
	u32 size, name_at; /* from the first name */
};
struct kept_symbols {
	u64 count;
	struct kept_symbol symbol[];
};

u64 kept_sum(const void *data, size_t n);

/*
 * Takes the region for this boot: what lies in it is gone. Before the first ring is made. False: there is none, or it is too small; all
 * else here then does nothing.
 */
bool kept_start(u64 generation);
void kept_stop(void);
/* What was not known at the start: the clock as measured, how many CPUs. */
void kept_update(void);
void kept_note_clock(const char *name);
/* The first counts. Any context. */
void kept_note_end(enum kept_end how);
/* Before the first record of that event. */
void kept_note_event(struct trace_event_call *call);
/* For a table of names: NULL: no room. kept_free(): false: not from there. */
void *kept_alloc(unsigned pages);
bool kept_free(void *p, unsigned pages);
void kept_note_comms(const void *slots, size_t size);
/* A line about the region: where, how large, how much of the pool is in use. */
void kept_show(struct seq *s);
