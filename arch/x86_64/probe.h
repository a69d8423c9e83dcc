/* Between probe.c, which decides how an instruction is resumed, and probe_emulate.c, which does it: values of arch_probe.resume. */
#pragma once

#include "arch/arch.h"

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
