/*
 * Part of arch/arch.h: changing the kernel's text while it runs. Branches that are off, patches,
 * probes (breakpoints, and jumps in their place). All serialised inside or by the caller, as said;
 * arch/x86_64/probe/text_patch.c has the protocol.
 */
#pragma once

#include "arch/this_cpu.h"

/*
 * A branch that is off costs one 5-byte nop. Sites are kept in a section, {site, target, key};
 * static_key_set_many() patches all sites of a list of keys, a page at a time, with the int3-first
 * protocol (each step twice where TCG needs it).
 */
struct static_key {
	u32 enabled; /* what the sites are patched for: 0 or 1 */
	u32 first;   /* its first site, counted from 1; 0: none is known. Set by the first change */
};

#define static_branch(key)                                                                         \
	({                                                                                         \
		__label__ yes_, out_;                                                              \
		bool on_ = false;                                                                  \
		__asm__ goto("1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"                           \
			     ".pushsection __static_branch, \"a\"\n\t"                             \
			     ".balign 8\n\t.quad 1b, %l[yes_], %c0\n\t.popsection"                 \
			     :                                                                     \
			     : "i"(key)                                                            \
			     :                                                                     \
			     : yes_);                                                              \
		goto out_;                                                                         \
yes_:                                                                                              \
		on_ = true;                                                                        \
out_:                                                                                              \
		unlikely(on_);                                                                     \
	})

struct static_branch_site {
	u64 site, target;
	struct static_key *key;
};

/* keys[i] becomes states[i] (0 or 1), all in one pass. Task context; serialised inside. */
void static_key_set_many(struct static_key *const *keys, const u8 *states, unsigned n);

/*
 * Selects the toggles (arch/this_cpu.h) that call kernel_irqs_off() and its kin in place of their
 * own instruction; 0: none. Toggles in the tracer, in the library, and in code that hooks and
 * probes run keep their instruction: they must not call. Task context, one at a time.
 */
enum { ARCH_TOGGLE_IRQS = 1, ARCH_TOGGLE_PREEMPT = 2 };
void arch_toggles_watch(u32 which);
/* True if addr is inside a toggle. Any context. */
bool arch_toggle_at(u64 addr);

struct text_patch {
	void *addr;
	/*
	 * 1..16; longer than 1: the new code is one nop, jmp rel32, call rel32 or toggle, or begins
	 * with a probe's int3
	 */
	u8 len;
	u8 bytes[16];
};
/*
 * Replaces instructions while all CPUs run. int3 hits on a half-patched site resume as if the new
 * code were there. Task context; serialised inside.
 */
void text_patch(const struct text_patch *p, unsigned n);
/* The kernel's: called after each text_patch(), in task context. */
void kernel_text_patched(void);
/*
 * How much was patched since boot; `pages` counts each page opened in each step, `traps` who ran
 * into a half-patched site.
 */
struct text_patch_stats {
	u64 patches, pages, syncs;
	u64 traps; /* [A] */
};
const struct text_patch_stats *text_patch_stats(void);

/*
 * Code that runs before a breakpoint is known to be a probe's, and entry code: may not be probed,
 * holds no patched site.
 */
#define __noprobe __notrace __attribute__((section(".noprobe.text"), noinline))

/*
 * Why a function that is marked __notrace begins without a hook (kernel/kprobe/hook.h): after it,
 * in its file.
 */
struct notrace_reason {
	const void *function;
	const char *why;
};
#define NOTRACE(function_, why_)                                                                   \
	static const struct notrace_reason notrace_##function_                                     \
	    __attribute__((section("__notrace"), used, aligned(16))) = {function_, why_}

/*
 * Probes: an int3 in place of the first byte of an instruction, and how the interrupted code goes
 * on as if it were not there: by doing what the instruction does (the simple ones and all that
 * change %rip), or by running a copy of it elsewhere, in a slot, which ends in a jump back; or, for
 * who wants to know when it has run, in another int3. Prepare and release: task context, one at a
 * time (kernel/kprobe/kprobe.c's lock). The others: any context.
 */
#define ARCH_JUMP_LEN 5
struct arch_probe {
	u64 addr, next; /* the instruction, and the one after it */
	void (*resume)(struct regs *r, const struct arch_probe *p); /* [A] */
	u64 slot;	       /* where the copy stands; 0: it is emulated */
	u64 target;	       /* of a branch; of ret what it drops */
	s32 disp;	       /* operand in memory: disp(base, index, 1 << scale) */
	u8 base, index, scale; /* numbers of registers; 16: none */
	u8 condition;	       /* of jcc; of a loop its opcode's low bits */
	bool memory, wide;     /* operand: in memory, not in register `base`; 64 bits of it count */
	u8 first;	       /* the byte that the int3 replaces */
	u8 len;
	/* Of a jump in its place: see below. */
	u8 region;		   /* bytes of the instructions that it covers; 0: not known */
	u8 covered[ARCH_JUMP_LEN]; /* what stands where the jump is to be */
	u64 detour;		   /* 0: none */
	void (*plain)(struct regs *r, const struct arch_probe *p); /* resume without a detour */
};

/*
 * May there be a probe at addr, and how? 0, -EILSEQ (no instruction begins there), -ENOMEM (no free
 * slot), -EINVAL: then *why says it in words. trap_behind: the slot ends in an int3. What holds a
 * slot is to be released.
 */
int arch_probe_prepare(struct arch_probe *p, u64 addr, bool trap_behind, const char **why);
/*
 * The instruction that has addr in it: where it begins, and its length; 0: not known. Task context.
 */
u64 arch_probe_insn(u64 addr, unsigned *len);
/* Why nothing there may be probed; NULL: the instructions that may be, may be. Any context. */
const char *arch_probe_refused(u64 addr);
/* When no CPU can be in its slot any more: see arch_probe_sync(). */
void arch_probe_release(struct arch_probe *p);
/* Sets r to go on with what the int3 replaced, or after it. */
static inline void arch_probe_resume(struct regs *r, const struct arch_probe *p)
{
	READ_ONCE(p->resume)(r, p);
}
#define ARCH_PROBE_BATCH 64
/* Puts the int3s in, or takes them out: at most ARCH_PROBE_BATCH. Task context. */
void arch_probe_arm(struct arch_probe *const *p, unsigned n, bool on);
/* Nobody comes into p's slot and detour any more, but for those who have just trapped. */
void arch_probe_leave(const struct arch_probe *p);
/*
 * Returns when no CPU is where it was before the call: in a handler of a breakpoint or jump, or in
 * a slot or detour that was left. Nobody is preempted in any (arch_probe_in_slot()). Task context.
 */
void arch_probe_sync(void);
/* Is this an address in the kernel's image, code or not? */
bool arch_probe_in_image(u64 addr);
bool arch_probe_in_slot(u64 rip);
/* The address that a slot's code stands for; rip itself where there is no slot. */
u64 arch_probe_origin(u64 rip);
/*
 * A jump in place of the breakpoint: it leads to a detour, which saves the registers, calls a
 * function with interrupts off, runs copies of the instructions that the jump covers, and jumps
 * back after them. Task context, under the same lock as prepare.
 */
/*
 * Why there can be none, for good; NULL: there can, and p->region says what it covers. Looks at the
 * whole function.
 */
const char *arch_jump_check(struct arch_probe *p);
/*
 * Makes the detour: from now on, who traps at p goes on in its copies. fn(arg, regs) is what it
 * calls; regs->rip is as after a breakpoint, and what fn makes of it, or returns, means nothing. 0,
 * -ENOMEM. Nobody may be in an older detour of p: arch_jump_leave().
 */
int arch_jump_open(struct arch_probe *p, int (*fn)(void *arg, struct regs *r), void *arg);
/* As before. Who is in the detour goes on. */
void arch_jump_close(struct arch_probe *p);
void arch_jump_leave(
    const struct arch_probe *p);	      /* as arch_probe_leave(), but of the detour alone */
void arch_jump_release(struct arch_probe *p); /* when nobody can be in it */
/* Is that inside what the jump covers, or on the way there? */
bool arch_jump_inside(const struct arch_probe *p, u64 rip);
/*
 * Puts jumps in place of breakpoints, or breakpoints in place of jumps: at most ARCH_PROBE_BATCH.
 */
void arch_jump_arm(struct arch_probe *const *p, unsigned n, bool on);

/*
 * Return probes: where a hooked function returns to (arch/x86_64/irq/entry.S). Calls
 * kernel_probe_return().
 */
void probe_return(void);
/*
 * A function that a user of hooks follows returns here (arch/x86_64/probe/hook.S). Calls
 * kernel_hook_returned(), which sees only the returned values: hook_return does not save all
 * registers.
 */
void hook_return(void);

/*
 * Hooks of functions: the nop at a function's beginning becomes a call of an entry. There are
 * ARCH_HOOK_DIRECT entries that call kernel_hook_users[to]->fn, with preemption off, and as many
 * (ARCH_HOOK_CALLS on) that call ->enter, with interrupts off. ARCH_HOOK_ASKS above each is one
 * that first asks for the user's bit in the CPU's hook_skip, and returns if it is set. MANY calls
 * kernel_hook_many(), PROBE kernel_hook_probe(), which find all registers; ARGUMENTS calls
 * kernel_hook_probe_arguments(). Task context, one at a time (kernel/kprobe/hook.c's lock),
 * addresses ascending.
 */
#define ARCH_HOOK_LEN	 5
#define ARCH_HOOK_DIRECT 16
#define ARCH_HOOK_CALLS	 ARCH_HOOK_DIRECT
#define ARCH_HOOK_ASKS	 (2 * ARCH_HOOK_DIRECT)
#define ARCH_HOOK_BATCH	 128
enum { ARCH_HOOK_OFF = -1, ARCH_HOOK_MANY = -2, ARCH_HOOK_PROBE = -3, ARCH_HOOK_ARGUMENTS = -4 };
struct arch_hook {
	u64 addr;
	int to; /* an entry's number, or one of these */
};
void arch_hooks_set(const struct arch_hook *hooks, unsigned n); /* at most ARCH_HOOK_BATCH */
void arch_hook_nop(u8 code[ARCH_HOOK_LEN]);			/* what stands there unpatched */
u64 arch_hook_entry(int to);					/* 0 for OFF */
/*
 * True if rip is in an entry of a single user, perhaps before the entry turns preemption or
 * interrupts off. The scheduler must not preempt a task there: the task holds the number of a user
 * that may be removed. Any context.
 */
bool arch_hook_in_entry(u64 rip);
