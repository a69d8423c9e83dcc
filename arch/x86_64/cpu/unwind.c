/*
 * Looking back by frame pointers. Any context, NMI included: reads only this CPU's own stacks and
 * the current task's, each word by a copy that may fail, and always goes up within one stack, so it
 * ends.
 *
 * Every function of the kernel that touches its stack keeps %rbp (Makefile: FRAMES). Entry code
 * sets it odd: one more than the address of a struct regs. Code that was interrupted before its
 * function had set up its frame, or after it dropped it, or that needs none, is known by its
 * instruction bytes; the return address is then read from where it still lies.
 *
 * The stack of ring 3 is followed as Linux does: its program counter, then by frame pointers, up,
 * while they lead anywhere.
 */
#include "arch/arch.h"
#include "arch/x86_64/probe/insn.h"
#include "arch/x86_64/cpu/percpu.h"
#include "arch/x86_64/probe/probe.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/irq/trap.h"

enum {
	PUSH_RBP = 0x55,
	REX_B = 0x41,
	REX_W = 0x48,
	POP_REG = 0x58,
	PUSHF = 0x9c,
	RET = 0xc3,
	INT3 = 0xcc,
	NOP_0F = 0x0f, /* the two first bytes of a nop */
	NOP_1F = 0x1f,
	CALL = 0xe8
};

#define HOOK_SIZE 5

/* arch/x86_64/probe/hook.S */
extern const char hook_entries[], hook_direct_return[], hook_call_entries[], hook_call_return[],
    hook_asking[], hook_arguments_return[], hook_return_slow[], hook_return_slow_called[],
    hook_return_called[], hook_return_pops[], hook_return_end[];

/* So many functions of what records are left out, at most. */
#define RECORDERS 32

struct walk {
	u64 *out, *end; /* where the next one goes, and the last */
	u64 fp;		/* next frame pointer; odd: struct regs */
	unsigned skips; /* functions of what records may still be left out, so many */
};

static bool is_text(u64 addr)
{
	return addr >= (u64)__text_start && addr < (u64)__text_end;
}

/* What records, or leads from a probe or a hook to it. */
static bool is_recorder(u64 addr)
{
	return addr - (u64)__trace_text_start < (u64)(__trace_text_end - __trace_text_start) ||
	       addr - (u64)__noprobe_start < (u64)(__noprobe_end - __noprobe_start);
}

static bool is_entry(u64 addr)
{
	return addr >= (u64)entry_text_start && addr < (u64)entry_text_end;
}

static bool on_task_stack(u64 p, size_t n, u64 top)
{
	return p - (top - KERNEL_STACK_SIZE) <= KERNEL_STACK_SIZE - n;
}

/* During a switch the stack of the task that is left is still, or already again, the one in use. */
static bool known_stack(u64 p, size_t n)
{
	return on_task_stack(p, n, this_cpu_read(kernel_rsp)) ||
	       on_task_stack(p, n, private_read(left_stack)) ||
	       (stacks_own(p) && stacks_own(p + n - 1));
}

static bool unwind_read_words(u64 at, void *to, size_t n)
{
	return !(at & 7) && known_stack(at, n) && copy_from_kernel_nofault(to, (void *)at, n) == 0;
}

static inline bool add(struct walk *w, u64 addr)
{
	if (unlikely(w->skips)) {
		if (is_recorder(addr)) {
			w->skips--;
			return true;
		}
		w->skips = 0;
	}
	if (w->out == w->end)
		return false;
	*w->out++ = addr;
	return true;
}

/* How long the hook is that a function begins with: a nop, or what stands in its place. */
static unsigned hook_length(u64 start)
{
	u8 p[INSN_MAX + 1];

	return probe_read_code(start, p) >= HOOK_SIZE &&
		       ((p[0] == NOP_0F && p[1] == NOP_1F) || p[0] == CALL)
		   ? HOOK_SIZE
		   : 0;
}

/*
 * push %rbp; mov %rsp, %rbp, the first byte of either perhaps replaced by a breakpoint that is no
 * probe's.
 */
static bool is_prologue(u64 at)
{
	u8 p[INSN_MAX + 1];

	return probe_read_code(at, p) >= 4 && (p[0] == PUSH_RBP || p[0] == INT3) &&
	       (p[1] == REX_W || p[1] == INT3) && p[2] == 0x89 && p[3] == 0xe5;
}

/*
 * Between pushfq and popq, as irq_flags() has them? The compiler does not know that they touch the
 * stack.
 */
static bool flags_on_stack(u64 at)
{
	u8 p[INSN_MAX + 1];

	return probe_read_code(at - 1, p) >= 3 && p[0] == PUSHF &&
	       (p[1 + (p[1] == REX_B)] & 0xf8) == POP_REG;
}

/*
 * The trap, or the detour of a jump, reports the address after the first byte; what it replaced
 * has not run.
 */
static u64 before_probe(u64 at)
{
	u8 now = *(const u8 *)(at - 1), is = now;

	kernel_probe_original(at - 1, &is, 1);
	return now == INT3 || is != now ? at - 1 : at;
}

/*
 * How many words above rsp the return address lies if the code at rip has no frame, being before
 * its prologue, or at the ret, or in a function that needs none and so leaves the stack alone; -1:
 * it has one. The Makefile's FRAMES keep functions so.
 */
static int frameless(u64 rip)
{
	u64 start = kernel_function_start(rip), at = rip;
	u8 code[INSN_MAX + 1];

	if (!start)
		return -1;
	if (at > start)
		at = before_probe(at);
	if (at <= start)
		return 0;
	start += hook_length(start);
	if (at <= start)
		return 0;
	if (!is_prologue(start))
		return flags_on_stack(at);
	if (at == start + 1)
		return 1;
	return probe_read_code(at, code) && code[0] == RET ? 0 : -1;
}

/*
 * Does a call instruction end here? call rel32, or call through register or memory (/2 of 0xff) in
 * its lengths.
 */
static bool follows_call(u64 addr)
{
	const u8 *p = (const u8 *)addr;

	if (!is_text(addr) || !is_text(addr - 7))
		return false;
	if (p[-5] == 0xe8)
		return true;
	for (unsigned n = 2; n <= 7; n++)
		if (p[-(int)n] == 0xff && (p[-(int)n + 1] & 0x38) == 0x10)
			return true;
	return false;
}

static bool in_probe_return(u64 rip)
{
	return rip >= (u64)probe_return && rip < (u64)probe_return_end;
}

static bool in_hook_return(u64 rip)
{
	return rip >= (u64)hook_return_slow && rip < (u64)hook_return_end;
}

/* The return address that was taken from this place of the stack, if one was. */
static u64 real_return(u64 ret, u64 at)
{
	bool taken = ret == (u64)probe_return || ret == (u64)hook_return;
	u64 real = taken ? kernel_probe_returns_to(at) : 0;

	return real ? real : ret;
}

/* Where a hooked function goes on, which has no frame yet, and its return address, lie at `at`. */
static bool unwind_add_hooked(struct walk *w, u64 at, unsigned back)
{
	u64 hooked[2];

	return unwind_read_words(at, hooked, sizeof(hooked)) && is_text(hooked[0]) &&
	       add(w, hooked[0] - back) && add(w, real_return(hooked[1], at + 8));
}

/* The place of a return address that hook_return fills in; until then the shadow stack has it. */
static bool unwind_add_returned(struct walk *w, u64 at)
{
	u64 ret;

	if (!unwind_read_words(at, &ret, sizeof(ret)))
		return false;
	return add(w, ret ? ret : kernel_probe_returns_to(0));
}

/* Is that where one of the entries calls? `call` is where the first of them does. */
static bool unwind_is_in_entry(
    u64 ret, const char *first, const char *call, const char *end, unsigned size)
{
	return ret - (u64)first < (u64)(end - first) &&
	       (ret - (u64)first) % size == (u64)(call - first);
}

/* The return address `ret`, which stands at `at`; false: the walk ends. */
static bool unwind_add_return(struct walk *w, u64 ret, u64 at)
{
	if (unwind_is_in_entry(
		ret, hook_entries, hook_direct_return, hook_call_entries, HOOK_ENTRY))
		return unwind_add_hooked(w, at + 8 + HOOK_SAVED, 0);
	if (unwind_is_in_entry(
		ret, hook_call_entries, hook_call_return, hook_asking, HOOK_CALL_ENTRY))
		return unwind_add_hooked(w, at + 16 + HOOK_SAVED, 0);
	if (ret == (u64)hook_arguments_return) /* as probes with all registers have it */
		return unwind_add_hooked(w, at + 8 + HOOK_ARGUMENTS, HOOK_SIZE - 1);
	if (ret == (u64)hook_return_called || ret == (u64)hook_return_slow_called)
		return unwind_add_returned(w, at + 8 + offsetof(struct hook_returned, to));
	return is_text(ret) && add(w, real_return(ret, at));
}

/* The same where code was interrupted that returns stand for. */
static bool unwind_enter_return(struct walk *w, const struct regs *r)
{
	unsigned pops = 0; /* three of one byte, and the ret */

	if (in_hook_return(r->rip) && r->rip >= (u64)hook_return_pops)
		pops = r->rip - (u64)hook_return_pops;
	else if (r->rip != (u64)hook_return_slow_called)
		return add(w, kernel_probe_returns_to(0));
	return unwind_add_returned(w, r->rsp + 8 * (3 - pops));
}

/*
 * Goes on from the registers of interrupted code; false at the end: entry code has no frames, and
 * %rbp may be ring 3's.
 */
static bool unwind_enter_regs(struct walk *w, const struct regs *r)
{
	struct regs probed;
	u64 ret;
	int depth, saved = 0;

	if (regs_user(r))
		return false;
	if (probe_detour_saves(r->rip) && (saved = probe_detour_words(r->rip)) < 0) {
		if (!unwind_read_words(r->rbp - 1, &probed, sizeof(probed)) || regs_user(&probed))
			return false;
		r = &probed;
		saved = 0;
	}
	if (!add(w, arch_probe_origin(r->rip)) || is_entry(r->rip))
		return false;
	if (in_probe_return(r->rip) || in_hook_return(r->rip)) {
		w->fp = r->rbp;
		return unwind_enter_return(w, r);
	}
	u64 rip = arch_probe_origin(r->rip), at;
	depth = is_text(rip) ? frameless(rip) : 0; /* called through a bad pointer */
	at = r->rsp + 8 * (depth + saved); /* what a detour has put on the stack lies above */
	if (depth >= 0 && unwind_read_words(at, &ret, sizeof ret) &&
	    follows_call(real_return(ret, at)) && !unwind_add_return(w, ret, at))
		return false;
	w->fp = r->rbp;
	return true;
}

static bool step_regs(struct walk *w, u64 at)
{
	struct regs r;

	return unwind_read_words(at, &r, sizeof r) && unwind_enter_regs(w, &r);
}

static bool unwind_step_frame(struct walk *w)
{
	u64 frame[2]; /* caller's frame pointer, return address */
	u64 at = w->fp;

	if (!unwind_read_words(at, frame, sizeof frame))
		return false;
	if (arch_probe_in_slot(
		frame[1])) { /* called by a detour, as a trap handler is by entry code */
		w->fp = frame[0];
		return w->fp & 1;
	}
	if (!unwind_add_return(w, frame[1], at + 8))
		return false;
	w->fp = frame[0];
	/*
	 * Up within one stack. Only entry code goes from one stack to another, and says so by an
	 * odd pointer.
	 */
	return w->fp & 1 || w->fp > at;
}

/* A return address that stands for no other, and that no code with a stack of its own left. */
static bool is_plain_return(u64 ret)
{
	return ret - (u64)__text_start < (u64)(__noprobe_start - __text_start) ||
	       (is_text(ret) && ret != (u64)probe_return &&
		   ret - (u64)hook_entries >= (u64)(hook_return_end - hook_entries));
}

/*
 * unwind_step_frame() for all frames that are plain, on the current task's own stack. It is mapped,
 * and the pointers go up, so that one look at each is enough. False: the walk ends.
 */
static bool unwind_step_frames(struct walk *walk)
{
	struct walk w = *walk; /* in registers */
	u64 last = this_cpu_read(kernel_rsp) - 16, next, ret;
	bool more = true;

	if (!on_task_stack(w.fp, 16, last + 16))
		return unwind_step_frame(walk);
	for (; w.fp <= last && !(w.fp & 7); w.fp = next) {
		next = ((const u64 *)w.fp)[0];
		ret = ((const u64 *)w.fp)[1];
		if (!is_plain_return(ret))
			break;
		more = add(&w, ret) && (next > w.fp || next & 1);
		if (!more)
			break;
	}
	if (w.fp == walk->fp && more)
		return unwind_step_frame(walk);
	*walk = w;
	return more;
}

/*
 * Through regs the stack may change, so a bad chain could go round: what is added or left out is
 * bounded.
 */
static unsigned unwind_walk(struct walk *w, const struct regs *r, unsigned max)
{
	const u64 *out = w->out;
	bool more = !r || unwind_enter_regs(w, r);

	while (more && (unsigned)(w->out - out) < max)
		more = w->fp & 1 ? step_regs(w, w->fp - 1) : unwind_step_frames(w);
	return w->out - out;
}

unsigned stack_trace(const struct regs *r, u64 *out, unsigned max)
{
	struct walk w = {out, out + max, (u64)__builtin_frame_address(0), 0};

	return unwind_walk(&w, r, max);
}

unsigned stack_trace_traced(u64 *out, unsigned max)
{
	struct walk w = {out, out + max, (u64)__builtin_frame_address(0), RECORDERS};

	return unwind_walk(&w, NULL, max);
}

/*
 * The ring-3 registers of the current task; NULL: it has none, being a kernel thread. An NMI leaves
 * them on its own stack.
 */
static const struct regs *user_regs(void)
{
	const struct regs *r = private_read(nmi_regs);

	if (r && regs_user(r))
		return r;
	r = (const struct regs *)this_cpu_read(kernel_rsp) - 1;
	return r->cs == SEL_USER_CS ? r : NULL;
}

unsigned stack_trace_user(u64 *out, unsigned max)
{
	const struct regs *r = user_regs();
	unsigned n = 0;
	u64 fp;

	if (!r || !max)
		return 0;
	out[n++] = r->rip;
	for (fp = r->rbp; n < max;) {
		u64 frame[2];
		if (fp < r->rsp || copy_from_user_nofault(frame, fp, sizeof frame) || !frame[1])
			break;
		out[n++] = frame[1];
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return n;
}
