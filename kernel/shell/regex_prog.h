/* A compiled regular expression: shared by regex.c, which makes it, and regex_match.c, which runs it. */
#pragma once

#include "kernel/shell/regex.h"

#define SH_RX_PROG_MAX	4000
#define SH_RX_CLASS_MAX 64

enum sh_rx_op {
	SH_RX_CHAR, /* c */
	SH_RX_ANY,
	SH_RX_CLASS, /* classes[c] */
	SH_RX_SPLIT, /* goes on at both pc + x (preferred) and pc + y */
	SH_RX_JUMP,  /* pc + x */
	SH_RX_SAVE,  /* place c of the match */
	SH_RX_BOL,
	SH_RX_EOL,
	SH_RX_WORD_EDGE,
	SH_RX_NO_EDGE,
	SH_RX_WORD_START,
	SH_RX_WORD_END,
	SH_RX_MATCH,
};

struct sh_rx_inst {
	u8 op, c;
	s16 x, y;
};

struct sh_rx_thread {
	u16 pc;
	s32 place[2 * SH_REGEX_GROUPS];
};

struct sh_rx_list {
	struct sh_rx_thread *t;
	unsigned n;
};

struct
    sh_rx_todo { /* what adding a thread has still to do: follow pc, or (pc < 0) put a place back */
	s32 pc, place, value;
};

struct sh_regex {
	struct sh_rx_inst *prog;
	unsigned len;
	u64 classes[SH_RX_CLASS_MAX][4];
	unsigned class_count, groups;
	bool icase;
	bool anchored; /* begins with ^ */
	bool filter;   /* every match begins with a byte of `first` */
	u64 first[4];
	/* While matching: */
	struct sh_rx_list now, next;
	struct sh_rx_todo *todo;
	u32 *seen; /* per instruction: the step that has it already */
	u32 step;
};

static inline bool sh_rx_has(const u64 set[4], u8 c)
{
	return set[c >> 6] >> (c & 63) & 1;
}
