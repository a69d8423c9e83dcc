/*
 * The x86-64 instruction decoder: where an instruction ends, where its parts lie, what kind it is.
 * 64-bit mode only. Pure: any context, on the host too. Tables after the opcode maps of the Intel
 * SDM, volume 2, appendix A.
 */
#pragma once

#include "kernel/lib/types.h"

#define INSN_MAX 15 /* bytes; a longer one is #GP */

/* Which table the opcode is from: by escape bytes, or by a VEX, EVEX or XOP prefix. */
enum insn_map {
	INSN_MAP_1 = 0, /* one byte */
	INSN_MAP_0F = 1,
	INSN_MAP_0F38 = 2,
	INSN_MAP_0F3A = 3,
	INSN_MAP_EVEX5 = 5, /* FP16 */
	INSN_MAP_EVEX6 = 6,
	INSN_MAP_XOP8 = 8, /* AMD's */
	INSN_MAP_XOP9 = 9,
	INSN_MAP_XOPA = 10,
};

/* Legacy prefixes seen. */
enum {
	INSN_PREFIX_LOCK = 1,
	INSN_PREFIX_REPNE = 2, /* f2 */
	INSN_PREFIX_REP = 4,   /* f3 */
	INSN_PREFIX_SEG = 8,   /* fs or gs: the others mean nothing */
	INSN_PREFIX_66 = 16,
	INSN_PREFIX_67 = 32,
	INSN_PREFIX_VECTOR = 64, /* VEX, EVEX or XOP */
};

/* Bits of insn.rex. */
enum { INSN_REX_B = 1, INSN_REX_X = 2, INSN_REX_R = 4, INSN_REX_W = 8 };

struct insn {
	u8 len;
	u8 map;	     /* enum insn_map */
	u8 opcode;   /* the last byte of it */
	u8 prefixes; /* INSN_PREFIX_* */
	u8 rex;	     /* INSN_REX_*; of a REX prefix only */
	bool has_modrm;
	u8 modrm, sib;	       /* sib: only if insn_has_sib() */
	u8 modrm_at;	       /* offset; 0: none */
	u8 disp_at, disp_size; /* 0, 1, 4 bytes (8: the address of mov moffs) */
	u8 imm_at, imm_size;   /* in all; enter has 3, as 2 and 1 */
	s64 disp, imm;	       /* sign-extended */
};

static inline unsigned insn_mod(const struct insn *i)
{
	return i->modrm >> 6;
}

/* The middle field of ModRM, without its REX bit: which of an opcode group. */
static inline unsigned insn_reg(const struct insn *i)
{
	return i->modrm >> 3 & 7;
}

static inline unsigned insn_rm(const struct insn *i)
{
	return i->modrm & 7;
}

static inline bool insn_has_sib(const struct insn *i)
{
	return i->has_modrm && insn_mod(i) != 3 && insn_rm(i) == 4;
}

/*
 * Is an operand addressed relative to the end of the instruction? Then the disp bytes say how far.
 */
static inline bool insn_rip_relative(const struct insn *i)
{
	return i->has_modrm && insn_mod(i) == 0 && insn_rm(i) == 5;
}

/* How an instruction changes %rip, and whether it can run only in its own place. */
enum insn_kind {
	INSN_PLAIN,	/* goes on after itself, wherever it stands */
	INSN_NOP,	/* and does nothing at all */
	INSN_JMP,	/* jmp rel8, rel32 */
	INSN_JCC,	/* condition: low four bits of the opcode */
	INSN_LOOP,	/* loopne, loope, loop, jrcxz: opcode - 0xe0 */
	INSN_CALL,	/* call rel32 */
	INSN_JMP_NEAR,	/* jmp through register or memory */
	INSN_CALL_NEAR, /* call through register or memory */
	INSN_RET,	/* ret, ret imm16 */
	INSN_INT3,
	INSN_STI, /* holds interrupts off after itself: so do mov and pop of %ss */
	INSN_HLT,
	INSN_UD,     /* ud0, ud1, ud2 */
	INSN_SYSTEM, /* far jumps and returns, int n, iret, syscall, sysret ... */
};

/*
 * Decodes what begins at `p`, of which `room` bytes may be read. The length, or 0: no instruction
 * of 64-bit mode, or it goes on past `room`.
 */
unsigned insn_decode(struct insn *i, const u8 *p, size_t room);
enum insn_kind insn_kind(const struct insn *i);
