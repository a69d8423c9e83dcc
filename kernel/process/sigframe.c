/*
 * The frame of a signal handler on the ring-3 stack, and the way back from it (rt_sigreturn). Task
 * context. Layout: Linux's struct rt_sigframe for x86-64 (kernel/abi/linux.h), the FPU area above
 * it. What comes back is distrusted: only the flags a program may change itself, an address of ring
 * 3, and the selectors it had.
 */
#include "kernel/abi/linux.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/fault.h"
#include "kernel/process/process.h"
#include "kernel/task/sigset.h"

#define RED_ZONE 128 /* System V ABI: below the stack pointer a function may keep data */

/* rflags ring 3 may set by a frame: CF PF AF ZF SF TF DF OF RF AC. */
#define FLAGS_FREE    (0x1UL | 0x4 | 0x10 | 0x40 | 0x80 | 0x100 | 0x400 | 0x800 | 0x10000 | 0x40000)
/* ... and those a handler starts without: TF DF RF. */
#define FLAGS_CLEARED (0x100UL | 0x400 | 0x10000)

static bool signal_on_altstack(const struct signals *s, u64 sp)
{
	return sp > s->altstack_sp && sp - s->altstack_sp <= s->altstack_size;
}

/* The top of the stack the frame goes to. */
static u64 stack_for(const struct regs *r, const struct signals *s, u64 action_flags)
{
	bool alt =
	    (action_flags & ABI_SA_ONSTACK) && s->altstack_size && !signal_on_altstack(s, r->rsp);

	return alt ? s->altstack_sp + s->altstack_size : r->rsp - RED_ZONE;
}

/* Room of the FPU area on the stack; an XSAVE area is followed by a magic word. */
static size_t fpu_room(void)
{
	size_t size = arch_fpu_size();

	return size > ABI_FP_LEGACY_SIZE ? size + sizeof(u32) : size;
}

static int put_fpu(u64 to)
{
	struct task *t = current();
	size_t size = arch_fpu_size();
	struct abi_fpx_sw_bytes sw = {.magic1 = ABI_FP_XSTATE_MAGIC1,
	    .extended_size = fpu_room(),
	    .xfeatures = 3,
	    .xstate_size = size};
	u32 magic2 = ABI_FP_XSTATE_MAGIC2;
	int err;

	arch_fpu_save(t->arch.fpu);
	if (size > ABI_FP_LEGACY_SIZE) /* the header's first word: which parts are in use */
		memcpy(&sw.xfeatures, (const u8 *)t->arch.fpu + ABI_FP_LEGACY_SIZE,
		    sizeof(sw.xfeatures));
	err = copy_to_user(to, t->arch.fpu, size);
	if (err || size <= ABI_FP_LEGACY_SIZE)
		return err;
	err = copy_to_user(to + ABI_FP_XSTATE_OFFSET, &sw, sizeof(sw));
	return err ? err : copy_to_user(to + size, &magic2, sizeof(magic2));
}

static void fill_context(
    struct abi_sigcontext *c, const struct regs *r, const struct taken_signal *s)
{
	c->r8 = r->r8;
	c->r9 = r->r9;
	c->r10 = r->r10;
	c->r11 = r->r11;
	c->r12 = r->r12;
	c->r13 = r->r13;
	c->r14 = r->r14;
	c->r15 = r->r15;
	c->rdi = r->rdi;
	c->rsi = r->rsi;
	c->rbp = r->rbp;
	c->rbx = r->rbx;
	c->rdx = r->rdx;
	c->rax = r->rax;
	c->rcx = r->rcx;
	c->rsp = r->rsp;
	c->rip = r->rip;
	c->rflags = r->rflags;
	c->cs = r->cs;
	c->ss = r->ss;
	if (regs_vector(r) > 255)
		return;
	c->err = r->error;
	c->trapno = regs_vector(r);
	c->cr2 = s->info.addr;
}

void signal_fill_info(struct abi_siginfo *i, const struct taken_signal *s)
{
	*i = (struct abi_siginfo){.si_signo = s->sig, .si_code = s->info.code};
	if ((sig_bit(s->sig) & SIGS_SYNCHRONOUS) && s->info.code > 0 && s->info.code != SI_KERNEL) {
		i->si_addr = s->info.addr;
		return;
	}
	i->si_pid = s->info.pid;
	if (s->info.code == SI_TIMER)
		i->si_overrun = s->overrun;
	if (s->info.code < 0)
		i->si_value = s->info.value;
	else
		i->si_status = s->info.status;
}

static void fill_frame(
    struct abi_sigframe *f, const struct regs *r, const struct taken_signal *s, u64 fpu)
{
	struct signals *sig = &current()->sig;

	memset(f, 0, sizeof(*f));
	f->pretcode = s->action.restorer;
	f->uc.uc_flags = ABI_UC_SIGCONTEXT_SS | ABI_UC_STRICT_RESTORE_SS;
	if (arch_fpu_size() > ABI_FP_LEGACY_SIZE)
		f->uc.uc_flags |= ABI_UC_FP_XSTATE;
	f->uc.uc_stack.ss_sp = sig->altstack_sp;
	f->uc.uc_stack.ss_size = sig->altstack_size;
	f->uc.uc_stack.ss_flags = !sig->altstack_size		    ? ABI_SS_DISABLE
				  : signal_on_altstack(sig, r->rsp) ? ABI_SS_ONSTACK
								    : 0;
	fill_context(&f->uc.uc_mcontext, r, s);
	f->uc.uc_mcontext.oldmask = f->uc.uc_sigmask =
	    sig->restore_blocked ? sig->saved_blocked : sig->blocked;
	f->uc.uc_mcontext.fpstate = fpu;
	signal_fill_info(&f->info, s);
}

static void enter_handler(struct regs *r, const struct taken_signal *s, u64 frame)
{
	struct signals *sig = &current()->sig;
	u64 mask = sig->blocked | s->action.mask;

	if (!(s->action.flags & ABI_SA_NODEFER))
		mask |= sig_bit(s->sig);
	sig->restore_blocked = false;
	signal_set_blocked(mask);
	r->rdi = s->sig;
	r->rsi = frame + offsetof(struct abi_sigframe, info);
	r->rdx = frame + offsetof(struct abi_sigframe, uc);
	r->rax = 0;
	r->rip = s->action.handler;
	r->rsp = frame;
	r->rflags &= ~FLAGS_CLEARED;
}

int signal_frame(struct regs *r, const struct taken_signal *s)
{
	struct signals *sig = &current()->sig;
	struct abi_sigframe f;
	u64 top = stack_for(r, sig, s->action.flags), fpu, frame;

	/* Linux's x86-64 has no way back of its own either. */
	if (!(s->action.flags & ABI_SA_RESTORER) || s->action.handler >= USER_END)
		return -EFAULT;
	if (top > USER_END || top < USER_START)
		return -EFAULT;
	fpu = ALIGN_DOWN(top - fpu_room(), 64);
	/* As if called: the stack pointer is 8 beside a multiple of 16. */
	frame = ALIGN_DOWN(fpu - sizeof(f), 16) - 8;
	if (signal_on_altstack(sig, top) && !signal_on_altstack(sig, frame))
		return -EFAULT;
	fill_frame(&f, r, s, fpu);
	if (put_fpu(fpu) || copy_to_user(frame, &f, sizeof(f)))
		return -EFAULT;
	enter_handler(r, s, frame);
	return 0;
}

/*
 * The FPU area of a frame into `area`: all of it when the frame says that it is whole, else the
 * part every CPU has.
 */
static int get_fpu(u8 *area, u64 from)
{
	size_t size = arch_fpu_size();
	struct abi_fpx_sw_bytes sw;
	u32 magic2;
	u64 legacy_parts = 3;

	if (copy_from_user(area, from, size > ABI_FP_LEGACY_SIZE ? ABI_FP_LEGACY_SIZE : size))
		return -EFAULT;
	if (size <= ABI_FP_LEGACY_SIZE)
		return 0;
	memcpy(&sw, area + ABI_FP_XSTATE_OFFSET, sizeof(sw));
	if (sw.magic1 == ABI_FP_XSTATE_MAGIC1 && sw.xstate_size == size) {
		if (copy_from_user(area + ABI_FP_LEGACY_SIZE, from + ABI_FP_LEGACY_SIZE,
			size - ABI_FP_LEGACY_SIZE))
			return -EFAULT;
		if (!copy_from_user(&magic2, from + size, sizeof(magic2)) &&
		    magic2 == ABI_FP_XSTATE_MAGIC2)
			return 0;
	}
	memset(area + ABI_FP_LEGACY_SIZE, 0, size - ABI_FP_LEGACY_SIZE);
	memcpy(area + ABI_FP_LEGACY_SIZE, &legacy_parts, sizeof(legacy_parts));
	return 0;
}

static int restore_fpu(u64 from)
{
	u8 *area = fpu_alloc();
	int err = 0;

	if (!area)
		return -ENOMEM;
	if (from)
		err = get_fpu(area, from);
	else
		arch_fpu_init(area);
	if (!err)
		arch_fpu_load(area);
	kfree(area);
	return err;
}

static void restore_regs(struct regs *r, const struct abi_sigcontext *c)
{
	r->r8 = c->r8;
	r->r9 = c->r9;
	r->r10 = c->r10;
	r->r11 = c->r11;
	r->r12 = c->r12;
	r->r13 = c->r13;
	r->r14 = c->r14;
	r->r15 = c->r15;
	r->rdi = c->rdi;
	r->rsi = c->rsi;
	r->rbp = c->rbp;
	r->rbx = c->rbx;
	r->rdx = c->rdx;
	r->rax = c->rax;
	r->rcx = c->rcx;
	r->rsp = c->rsp;
	r->rip = c->rip;
	r->rflags = (r->rflags & ~FLAGS_FREE) | (c->rflags & FLAGS_FREE);
	r->orig_rax = ~0UL; /* no call to do again */
}

static bool context_valid(const struct regs *r, const struct abi_ucontext *uc)
{
	const struct abi_sigcontext *c = &uc->uc_mcontext;

	if (c->rip >= USER_END || c->cs != r->cs)
		return false;
	return !(uc->uc_flags & ABI_UC_STRICT_RESTORE_SS) || c->ss == r->ss;
}

int signal_set_altstack(const struct abi_stack *st)
{
	struct signals *s = &current()->sig;
	u32 flags = st->ss_flags & ~ABI_SS_AUTODISARM;

	if (signal_on_altstack(s, task_regs(&current()->arch)->rsp))
		return -EPERM;
	if (flags && flags != ABI_SS_DISABLE && flags != ABI_SS_ONSTACK)
		return -EINVAL;
	if (flags == ABI_SS_DISABLE) {
		s->altstack_sp = s->altstack_size = 0;
		return 0;
	}
	if (st->ss_size < ABI_MINSIGSTKSZ)
		return -ENOMEM;
	s->altstack_sp = st->ss_sp;
	s->altstack_size = st->ss_size;
	return 0;
}

void signal_get_altstack(struct abi_stack *st)
{
	const struct signals *s = &current()->sig;
	u64 sp = task_regs(&current()->arch)->rsp;

	*st = (struct abi_stack){.ss_sp = s->altstack_sp, .ss_size = s->altstack_size};
	st->ss_flags = !s->altstack_size	   ? ABI_SS_DISABLE
		       : signal_on_altstack(s, sp) ? ABI_SS_ONSTACK
						   : 0;
}

long signal_return(struct regs *r)
{
	u64 frame = r->rsp - 8; /* the handler's ret has taken pretcode */
	struct abi_ucontext uc;

	if (copy_from_user(&uc, frame + offsetof(struct abi_sigframe, uc), sizeof(uc)) ||
	    !context_valid(r, &uc) || restore_fpu(uc.uc_mcontext.fpstate)) {
		if (signal_fatal(SIGSEGV))
			fault_report(r, "bad frame in rt_sigreturn", frame);
		signal_force(r, SIGSEGV, SI_KERNEL, 0);
		r->orig_rax = ~0UL;
		return 0;
	}
	signal_set_blocked(uc.uc_sigmask);
	restore_regs(r, &uc.uc_mcontext);
	(void)signal_set_altstack(&uc.uc_stack); /* as Linux: a bad one changes nothing */
	return r->rax;
}
