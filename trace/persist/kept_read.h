/*
 * The layout of the flight recorder's memory (kept.h), and reading a region that another run left.
 * Nothing in it is trusted. Pure: the host's tool reads lastboot.bin by it.
 */
#pragma once

#include "kernel/lib/types.h"
#include "trace/event/comm_slot.h"

#define KEPT_MAGIC    "TRAPKEPT"
#define KEPT_VERSION  3
#define KEPT_RINGS    (2 * MAX_CPUS) /* a buffer and its spare one */
#define KEPT_MIN_SIZE (512UL << 10)

/* A ring in the pool. */
struct kept_ring {
	u32 page; /* number in the region of its struct's; 0: none */
	u32 cpu;
};

/*
 * How a boot said that it ends. A triple fault, a hang, a watchdog and the reset button say
 * nothing.
 */
enum kept_end { KEPT_SILENT, KEPT_PANIC, KEPT_ORDERLY };

/*
 * The first page. `sum` is of all before it, which does not change after the start; the rest
 * changes while the kernel runs.
 */
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

/*
 * A text: system and format of an event, each ended by a NUL. Multiples of 8 bytes; sum is of all
 * after it.
 */
struct kept_text {
	u64 sum;
	u32 size; /* with this head */
	u16 id, format_at;
	char system[];
};

/*
 * Names of functions, by address, as struct host_symbols has them: after this head the tables
 * offset, name_at and global, then the names.
 */
struct kept_symbols {
	u64 start, end;
	u32 count, names_size;
	u32 tables[];
};
/* Words of the tables of so many functions. */
#define KEPT_SYMBOL_WORDS(count) (2 * (u64)(count) + ((count) + 31UL) / 32)

u64 kept_sum(const void *data, size_t n);

/*
 * Why `size` bytes at h, which hold at least a header, are no region that can be read; NULL: they
 * are. The others want one that is.
 */
const char *kept_refuse(const struct kept_header *h, size_t size);
/*
 * The text at *at of the used part, which goes on; NULL: that was the last, or what follows is
 * damaged.
 */
const struct kept_text *kept_next_text(const struct kept_header *h, u32 *at);
/* The names of functions, all of whose places are in the table; NULL: damaged. */
const struct kept_symbols *kept_symbols(const struct kept_header *h);
/* The slots of the table of names, which may hold anything; NULL: there is none. */
const struct trace_comm_slot *kept_comms(const struct kept_header *h, u32 *count);
/* A symbol of the table, i < count: its name, its letter in /proc/kallsyms, where it begins. */
const char *kept_symbol_name(const struct kept_symbols *s, u32 i);
char kept_symbol_type(const struct kept_symbols *s, u32 i);
u64 kept_symbol_start(const struct kept_symbols *s, u32 i);
/* Whether a slot holds a name: pid and an ended text. */
bool kept_is_comm(const struct trace_comm_slot *slot);
/* The page of the i-th ring and its CPU; 0: there is none. i < KEPT_RINGS. */
u32 kept_ring_page(const struct kept_header *h, unsigned i, u32 *cpu);
