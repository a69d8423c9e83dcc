/*
 * Doing what a probed instruction does: arch_probe.resume. Any context, interrupts off, before or
 * after a probe's handlers, so none of this may be probed. Kernel memory the instruction would
 * touch is touched: a fault here is the fault it would have had.
 */
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/probe/probe.h"

#define WORD(field) (offsetof(struct regs, field) / 8)

/* Where the register of that number lies, in words. */
static const u8 reg_word[16] = {WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp),
    WORD(rsi), WORD(rdi), WORD(r8), WORD(r9), WORD(r10), WORD(r11), WORD(r12), WORD(r13), WORD(r14),
    WORD(r15)};

#define REG(r, n) (((u64 *)(r))[reg_word[n]])

enum { CF = 1, PF = 4, ZF = 0x40, SF = 0x80, OF = 0x800 };

void __noprobe probe_copy(struct regs *r, const struct arch_probe *p)
{
	r->rip = p->slot;
}

void __noprobe probe_nop(struct regs *r, const struct arch_probe *p)
{
	r->rip = p->next;
}

static inline void push(struct regs *r, u64 value)
{
	r->rsp -= 8;
	*(u64 *)r->rsp = value;
}

static inline u64 pop(struct regs *r)
{
	u64 value = *(u64 *)r->rsp;

	r->rsp += 8;
	return value;
}

void __noprobe probe_push(struct regs *r, const struct arch_probe *p)
{
	push(r, REG(r, p->base));
	r->rip = p->next;
}

void __noprobe probe_pop(struct regs *r, const struct arch_probe *p)
{
	u64 value = pop(r); /* pop %rsp loads what it read */

	REG(r, p->base) = value;
	r->rip = p->next;
}

/* mov between registers; what is 32 bits wide clears the rest. */
void __noprobe probe_mov(struct regs *r, const struct arch_probe *p)
{
	u64 value = REG(r, p->index);

	REG(r, p->base) = p->wide ? value : (u32)value;
	r->rip = p->next;
}

void __noprobe probe_leave(struct regs *r, const struct arch_probe *p)
{
	r->rsp = r->rbp;
	r->rbp = pop(r);
	r->rip = p->next;
}

void __noprobe probe_jmp(struct regs *r, const struct arch_probe *p)
{
	r->rip = p->target;
}

void __noprobe probe_call(struct regs *r, const struct arch_probe *p)
{
	push(r, p->next);
	r->rip = p->target;
}

void __noprobe probe_ret(struct regs *r, const struct arch_probe *p)
{
	r->rip = pop(r);
	r->rsp += p->target;
}

/* Conditions come in pairs, the odd one the opposite (SDM volume 1, appendix B). */
static inline bool condition(u64 flags, unsigned code)
{
	bool less = !(flags & SF) != !(flags & OF), is;

	switch (code >> 1) {
	case 0:
		is = flags & OF;
		break;
	case 1:
		is = flags & CF;
		break;
	case 2:
		is = flags & ZF;
		break;
	case 3:
		is = flags & (CF | ZF);
		break;
	case 4:
		is = flags & SF;
		break;
	case 5:
		is = flags & PF;
		break;
	case 6:
		is = less;
		break;
	default:
		is = less || flags & ZF;
		break;
	}
	return is != (code & 1);
}

void __noprobe probe_jcc(struct regs *r, const struct arch_probe *p)
{
	r->rip = condition(r->rflags, p->condition) ? p->target : p->next;
}

/* loopne, loope, loop, jrcxz; with an address-size prefix they count in %ecx. */
void __noprobe probe_loop(struct regs *r, const struct arch_probe *p)
{
	u64 count = r->rcx;
	bool taken;

	if (p->condition < 3) {
		count--;
		r->rcx = p->wide ? count : (u32)count;
	}
	count = p->wide ? count : (u32)count;
	if (p->condition == 3)
		taken = !count;
	else
		taken = count && (p->condition == 2 || !(r->rflags & ZF) == !p->condition);
	r->rip = taken ? p->target : p->next;
}

/* Where a jump or call through register or memory leads. */
static inline u64 near_target(const struct regs *r, const struct arch_probe *p)
{
	u64 addr = (s64)p->disp;

	if (!p->memory)
		return REG(r, p->base);
	if (p->base != PROBE_NO_REG)
		addr += p->base == PROBE_RIP ? p->next : REG(r, p->base);
	if (p->index != PROBE_NO_REG)
		addr += REG(r, p->index) << p->scale;
	return *(u64 *)addr;
}

void __noprobe probe_jmp_near(struct regs *r, const struct arch_probe *p)
{
	r->rip = near_target(r, p);
}

/* The target is read before the return address is stored. */
void __noprobe probe_call_near(struct regs *r, const struct arch_probe *p)
{
	u64 target = near_target(r, p);

	push(r, p->next);
	r->rip = target;
}
