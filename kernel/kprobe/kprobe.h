/*
 * Probes in the kernel's own text, with Linux's names: a kprobe at any instruction, a kretprobe
 * where a function returns.
 *
 * Registration and every other change of probes: task context, serialised inside. A handler runs
 * with interrupts off in the context of the probed instruction, NMI included. It may call only
 * functions whose header says "any context" and which take no lock: recording an event is one,
 * copy_from_kernel_nofault() and copy_from_user_nofault() (arch/memory.h) read memory. It must not
 * sleep, allocate, wait for a lock, use the FPU, or change a probe. It may be probed itself: a
 * probe hit while another's handlers run on the same CPU calls no handler and is counted in
 * nmissed.
 *
 *   1. arch/x86_64/probe/probe.c checks the place: it must be the start of an instruction (insn.c
 *      decodes the function), and not entry code, code that probes need (__noprobe), the tracer, or
 *      text that is patched otherwise.
 *   2. An int3 replaces its first byte. A hit traps (arch/x86_64/irq/entry.S) and hit.c calls the
 *      handlers.
 *   3. The instruction is then emulated (arch/x86_64/probe/emulate.c, if it changes %rip or is
 *      simple) or its copy runs in a slot that jumps back. No task is preempted in a slot.
 *   4. A little later jump.c replaces the int3 by a jump, where that is safe.
 *   5. A return probe (kretprobe.c) moves the return address to a shadow stack of the task;
 *      backtraces look there.
 *
 * At the beginning of a function its hook (hook.h) calls the handlers instead, with interrupts off
 * as well: steps 2 to 4 do not happen.
 */
#pragma once

#include "arch/arch.h"
#include "kernel/lib/seq.h"

struct kprobe;
struct kretprobe;
struct probe_site;

/*
 * Called before the instruction; regs->rip is one byte after its start. A handler that changed
 * regs->rip returns nonzero: execution continues there, and the instruction is skipped. Once the
 * probe has become a jump, the result is ignored. A post handler prevents that.
 */
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct regs *regs);
/* After it. */
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct regs *regs, u64 flags);

/*
 * ARGUMENTS: at a function's entry its handler reads only rdi, rsi, rdx, rcx, r8, r9 and rflags of
 * the registers, and changes none. If all probes of the entry say so, a hit costs less.
 */
enum { KPROBE_FLAG_DISABLED = 1, KPROBE_FLAG_ARGUMENTS = 2 };

/*
 * Zeroed but for where it is to be, by symbol and offset or by address, its handlers, and flags.
 */
struct kprobe {
	const char *symbol_name;
	u64 offset; /* from either */
	void *addr;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	u32 flags;   /* [A] */
	u64 nmissed; /* [A] */
	/*
	 * after -EINVAL by register_kprobe(): what speaks against that place; NULL: something
	 * else is wrong
	 */
	const char *why;
	/* Of kernel/kprobe/kprobe.c. */
	struct probe_site *site; /* NULL: not registered */
	struct kprobe *next;	 /* [A] at the same site */
};

/*
 * 0; -EINVAL (symbol and address, or neither, or registered already, or not to be probed: p->why),
 * -ENOENT (no such symbol), -EADDRNOTAVAIL (it occurs more than once), -EILSEQ (inside an
 * instruction), -ENOMEM.
 */
int register_kprobe(struct kprobe *p);
/* On return none of its handlers runs any more. */
void unregister_kprobe(struct kprobe *p);
/* All or none; the first error. */
int register_kprobes(struct kprobe **ps, unsigned n);
void unregister_kprobes(struct kprobe **ps, unsigned n);
/* 0, or -EINVAL: not registered. */
int enable_kprobe(struct kprobe *p);
int disable_kprobe(struct kprobe *p);
int enable_kprobes(struct kprobe **ps, unsigned n);
int disable_kprobes(struct kprobe **ps, unsigned n);

/* A call that is under way, from the entry handler to the handler. */
struct kretprobe_instance {
	struct kretprobe *rp;
	u64 ret_addr; /* the real one */
	void *data;   /* rp->data_size bytes */
};
/*
 * `regs` are those at the entry or at the return. If the entry handler returns nonzero, this call
 * is not followed. The result of the return handler is ignored.
 */
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct regs *regs);

struct kretprobe_holder;

/*
 * Calls are kept on a stack of the task's own, so there is no limit to how many are under way at
 * once; maxactive is there for those who are used to give it.
 */
struct kretprobe {
	struct kprobe kp; /* where: a function's first instruction; no handlers */
	kretprobe_handler_t handler, entry_handler;
	int maxactive;
	size_t data_size; /* at most KRETPROBE_DATA_MAX */
	u64 nmissed; /* [A] calls not followed: the task's stack of calls was full, or missing */
	struct kretprobe_holder *holder;
};
#define KRETPROBE_DATA_MAX 1024

/* As register_kprobe(); -EINVAL besides: not at a function's entry, data_size. */
int register_kretprobe(struct kretprobe *rp);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, unsigned n);
void unregister_kretprobes(struct kretprobe **rps, unsigned n);
static inline int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kprobe(&rp->kp);
}
static inline int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kprobe(&rp->kp);
}

/* Is it the kprobe inside a kretprobe? */
bool kretprobe_is(const struct kprobe *p);
/* Off: all int3s leave the text until they are on again; what is registered meanwhile waits. */
void kprobes_switch(bool on);
bool kprobes_are_on(void);
/* Off: no breakpoint becomes a jump, and those that have are breakpoints again. */
void kprobes_optimization(bool on);
bool kprobes_optimization_is_on(void);
/*
 * What is to become a jump does so now, and not a little later; false: not all could, as somebody
 * is in their way.
 */
bool kprobes_optimize(void);
/* From now on there are tasks. */
void kprobe_optimizer_init(void);
/* A line for each probe: address, k or r, symbol, state. */
void kprobes_show(struct seq *out);
/* The files of /sys/kernel/debug/kprobes, as Linux has them: list, blacklist, enabled. At boot. */
void kprobe_files_init(void);
/* Is this an address in the kernel's image, code or not? */
bool kprobe_in_image(u64 addr);
