/*
 * The protocol between `trapline goto` and its plugin in QEMU (tools/stop_plugin.c). They share
 * memory that both map, and a socket: the plugin sends a byte and waits for one.
 *
 * A place in a run is the number of instructions that all CPUs together have started: a
 * deterministic machine runs all CPUs in one thread. QEMU translates instructions in blocks, and
 * can stop only between two blocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the plugin sends. */
#define PLAN_STOP  'S' /* the plugin holds the machine: stop it, then send PLAN_GO */
#define PLAN_FOUND 'F' /* `found` has the place; the machine runs on and is no longer needed */
#define PLAN_GO	   'G'

enum plan_kind {
	PLAN_RECORD,	 /* stops when `cpu` reserves a record of `time` */
	PLAN_BLOCK,	 /* stops after the block that begins at `count` */
	PLAN_FIND_COUNT, /* finds the place `count` */
	PLAN_FIND_CALL,	 /* ... the first instruction at `address` from `count` on */
	PLAN_FIND_WRITE, /* ... the first write to `bytes` at `address` of RAM, from `count` on */
	PLAN_FIND_WRITER /* ... the last one before `count` */
};

/* A place, and how to reach it. */
struct plan_place {
	uint64_t at;	 /* instructions begun before it */
	uint64_t before; /* where the block before its block begins */
	uint64_t block;	 /* where its block begins */
	uint64_t pc, block_pc;
	uint32_t cpu;
	uint32_t by_machine; /* of a write: no instruction did it, but an interrupt or a device */
};

#define PLAN_WATCHED 8 /* most bytes that are watched */

struct plan {
	/* Set before the machine starts. */
	uint32_t kind, cpu;
	uint64_t time, clock_base, clock_mult, clock_add; /* of records, as struct trace has them */
	uint64_t count, address;
	uint32_t bytes;
	/* Set by the plugin. */
	uint32_t is_found;
	struct plan_place found;
	uint64_t begun;	  /* instructions, now */
	uint64_t block;	  /* where the last block began */
	uint64_t overrun; /* blocks begun since PLAN_GO */
	uint64_t tail;	  /* PLAN_RECORD: the address of the ring's tail */
	uint64_t last;	  /* the time of the last record that was reserved; 0: none was */
};

static inline uint64_t plan_time(const struct plan *p, uint64_t stamp)
{
	if (!p->clock_mult)
		return stamp;
	return (uint64_t)((unsigned __int128)(stamp - p->clock_base) * p->clock_mult >> 32) +
	       p->clock_add;
}
