/* futex, the lists of robust locks, and membarrier. Task context. */
#include "kernel/process/futex.h"

#include "arch/arch.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"

enum {
	FUTEX_WAIT,
	FUTEX_WAKE,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE,
	FUTEX_WAKE_OP,
	FUTEX_LOCK_PI,
	FUTEX_UNLOCK_PI,
	FUTEX_TRYLOCK_PI,
	FUTEX_WAIT_BITSET,
	FUTEX_WAKE_BITSET,
	FUTEX_LOCK_PI2 = 13,
	FUTEX_PRIVATE = 128,
	FUTEX_CLOCK_REALTIME = 256
};
#define FUTEX_COMMAND (~(u32)(FUTEX_PRIVATE | FUTEX_CLOCK_REALTIME))

static bool sys_futex_waits(u32 op)
{
	op &= FUTEX_COMMAND;
	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI ||
	       op == FUTEX_LOCK_PI2;
}

/* When a wait times out: FUTEX_WAIT gives a length, the others a time of a clock. */
static int sys_futex_deadline(u64 timeout, u32 op, u64 *deadline)
{
	u32 command = op & FUTEX_COMMAND;
	u64 ns, boot = clock_boot_unix_ns();
	int err = sys_get_timespec(timeout, &ns);

	if (err)
		return err;
	if (command == FUTEX_WAIT)
		ns += clock_ns();
	else if (command == FUTEX_LOCK_PI || (op & FUTEX_CLOCK_REALTIME))
		ns = ns > boot ? ns - boot : 0;
	*deadline = ns;
	return 0;
}

/*
 * After a signal without a handler, a wait of a given length goes on to the same end; a handler
 * ends it. A wait without a deadline begins again unless the handler forbids it.
 */
static long sys_futex_wait(u64 uaddr, u32 op, u32 val, const u64 *deadline, u32 bitset)
{
	struct signals *s = &current()->sig;
	u64 end = deadline ? *deadline : FUTEX_NEVER;
	int ret;

	if (deadline && s->restart_ns && (op & FUTEX_COMMAND) == FUTEX_WAIT)
		end = s->restart_ns;
	s->restart_ns = 0;
	ret = futex_wait(uaddr, !(op & FUTEX_PRIVATE), val, bitset, end);
	if (ret != -EINTR)
		return ret;
	if (!deadline)
		return sys_interrupted(ERESTARTSYS);
	s->restart_ns = end;
	return sys_interrupted(ERESTARTNOHAND);
}

static s32 sys_futex_sign_extend(u32 bits)
{
	return (s32)(bits << 20) >> 20;
}

/* The instruction of FUTEX_WAKE_OP. */
static int sys_futex_decode(u32 code, struct futex_op *op)
{
	*op = (struct futex_op){
	    .op = code >> 28 & 7,
	    .cmp = code >> 24 & 15,
	    .oparg = sys_futex_sign_extend(code >> 12 & 0xfff),
	    .cmparg = sys_futex_sign_extend(code & 0xfff),
	};
	if (code >> 31)
		op->oparg = 1u << (op->oparg & 31);
	return op->op > FUTEX_OP_XOR || op->cmp > FUTEX_CMP_GE ? -ENOSYS : 0;
}

static long sys_futex_wake_op(u64 uaddr, bool shared, s32 n1, u64 uaddr2, s32 n2, u32 code)
{
	struct futex_op op;
	int err = sys_futex_decode(code, &op);

	return err ? err : futex_wake_two(uaddr, uaddr2, shared, n1, n2, &op);
}

static long sys_futex_lock(u64 uaddr, bool shared, const u64 *deadline, bool try)
{
	int ret = futex_pi_lock(uaddr, shared, deadline ? *deadline : FUTEX_NEVER, try);

	return ret == -EINTR ? sys_interrupted(ERESTARTNOINTR) : ret;
}

/*
 * With Linux's names of function and parameters, for probes. *timeout is a time of clock_ns(); NULL
 * waits without end.
 */
long do_futex(u64 uaddr, u32 op, u32 val, const u64 *timeout, u64 uaddr2, u32 val2, u32 val3)
{
	bool shared = !(op & FUTEX_PRIVATE);
	u32 command = op & FUTEX_COMMAND;

	if ((op & FUTEX_CLOCK_REALTIME) && command != FUTEX_WAIT_BITSET &&
	    command != FUTEX_LOCK_PI2)
		return -ENOSYS;
	if (!val3 && (command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET))
		return -EINVAL;
	if ((s32)(val | val2) < 0 && (command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE))
		return -EINVAL;
	switch (command) {
	case FUTEX_WAIT:
		return sys_futex_wait(uaddr, op, val, timeout, FUTEX_BITSET_ALL);
	case FUTEX_WAIT_BITSET:
		return sys_futex_wait(uaddr, op, val, timeout, val3);
	case FUTEX_WAKE:
		return futex_wake(uaddr, shared, val, FUTEX_BITSET_ALL);
	case FUTEX_WAKE_BITSET:
		return futex_wake(uaddr, shared, val, val3);
	case FUTEX_REQUEUE:
		return futex_move(uaddr, uaddr2, shared, val, val2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_move(uaddr, uaddr2, shared, val, val2, &val3);
	case FUTEX_WAKE_OP:
		return sys_futex_wake_op(uaddr, shared, val, uaddr2, val2, val3);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return sys_futex_lock(uaddr, shared, timeout, false);
	case FUTEX_TRYLOCK_PI:
		return sys_futex_lock(uaddr, shared, NULL, true);
	case FUTEX_UNLOCK_PI:
		return futex_pi_unlock(uaddr, shared);
	default:
		return -ENOSYS;
	}
}

long __x64_sys_futex(const struct regs *r)
{
	bool timed = sys_futex_waits(r->rsi) && r->r10;
	u64 deadline;
	int err = timed ? sys_futex_deadline(r->r10, r->rsi, &deadline) : 0;

	if (err)
		return err;
	return do_futex(r->rdi, r->rsi, r->rdx, timed ? &deadline : NULL, r->r8, r->r10, r->r9);
}

long __x64_sys_set_robust_list(const struct regs *r)
{
	if (r->rsi != sizeof(struct abi_robust_list_head))
		return -EINVAL;
	current()->robust_list = r->rdi;
	return 0;
}

long __x64_sys_get_robust_list(const struct regs *r)
{
	u64 head, size = sizeof(struct abi_robust_list_head);
	struct task *t = task_find((s32)r->rdi ? (s32)r->rdi : current()->pid);

	if (!t)
		return -ESRCH;
	head = READ_ONCE(t->robust_list);
	task_put(t);
	if (copy_to_user(r->rdx, &size, sizeof(size)))
		return -EFAULT;
	return copy_to_user(r->rsi, &head, sizeof(head));
}

enum {
	MEMBARRIER_QUERY,
	MEMBARRIER_GLOBAL,
	MEMBARRIER_GLOBAL_EXPEDITED,
	MEMBARRIER_REGISTER_GLOBAL = 4,
	MEMBARRIER_PRIVATE = 8,
	MEMBARRIER_REGISTER_PRIVATE = 16,
	MEMBARRIER_PRIVATE_SYNC_CORE = 32,
	MEMBARRIER_REGISTER_SYNC_CORE = 64,
	MEMBARRIER_COMMANDS = 127,
};

/* An interrupt is a barrier of every kind. */
static void sys_membarrier_here(void *unused)
{
	(void)unused;
}

static long sys_membarrier_all(bool allowed)
{
	if (!allowed)
		return -EPERM;
	cpu_call_all(sys_membarrier_here, NULL);
	return 0;
}

long __x64_sys_membarrier(const struct regs *r)
{
	u32 *registered = &current()->mm->membarrier;

	if ((u32)r->rsi)
		return -EINVAL;
	switch ((u32)r->rdi) {
	case MEMBARRIER_QUERY:
		return MEMBARRIER_COMMANDS;
	case MEMBARRIER_GLOBAL:
	case MEMBARRIER_GLOBAL_EXPEDITED:
		return sys_membarrier_all(true);
	case MEMBARRIER_PRIVATE:
		return sys_membarrier_all(atomic_load(registered) & MEMBARRIER_REGISTER_PRIVATE);
	case MEMBARRIER_PRIVATE_SYNC_CORE:
		return sys_membarrier_all(atomic_load(registered) & MEMBARRIER_REGISTER_SYNC_CORE);
	case MEMBARRIER_REGISTER_GLOBAL:
	case MEMBARRIER_REGISTER_PRIVATE:
	case MEMBARRIER_REGISTER_SYNC_CORE:
		atomic_or(registered, (u32)r->rdi);
		return 0;
	default:
		return -EINVAL;
	}
}
