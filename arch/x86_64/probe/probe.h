/*
 * Between probe.c, which decides how an instruction is resumed, emulate.c, which does it, and
 * jump.c.
 */
#pragma once

#include "arch/arch.h"

#define SLOT_SIZE 32

/*
 * The bytes at addr as they are without probes, at most INSN_MAX + 1; returns how many there are.
 */
unsigned probe_read_code(u64 addr, u8 *code);
struct insn;
/*
 * Copies an instruction from `code` to where it will stand as `to`; what it addresses relative to
 * itself stays the same.
 */
void probe_copy_insn(u8 *copy, u64 to, const struct insn *i, const u8 *code, u64 from);
void probe_put_s32(u8 *to, s64 v);
u64 probe_detour_origin(u64 rip);
bool probe_detour_is_left(u64 rip);
/* Is that where a detour saves or restores registers? */
bool probe_detour_saves(u64 rip);
/*
 * There: how many words it has on the stack above the probed code's; -1: all of struct regs, at
 * %rbp - 1.
 */
int probe_detour_words(u64 rip);

/* Values of arch_probe.resume. */
enum { PROBE_NO_REG = 16, PROBE_RIP = 17 }; /* as numbers of registers */

void probe_copy(struct regs *r, const struct arch_probe *p);
void probe_nop(struct regs *r, const struct arch_probe *p);
void probe_push(struct regs *r, const struct arch_probe *p);
void probe_pop(struct regs *r, const struct arch_probe *p);
void probe_mov(struct regs *r, const struct arch_probe *p);
void probe_leave(struct regs *r, const struct arch_probe *p);
void probe_jmp(struct regs *r, const struct arch_probe *p);
void probe_call(struct regs *r, const struct arch_probe *p);
void probe_ret(struct regs *r, const struct arch_probe *p);
void probe_jcc(struct regs *r, const struct arch_probe *p);
void probe_loop(struct regs *r, const struct arch_probe *p);
void probe_jmp_near(struct regs *r, const struct arch_probe *p);
void probe_call_near(struct regs *r, const struct arch_probe *p);
