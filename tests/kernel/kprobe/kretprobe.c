/*
 * Return probes: values, data, recursion, several at a function, calls that never return, what a
 * backtrace shows.
 */
#include "kernel/base/sym.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"

static u64 returns, entries, data_wrong;
static u64 last_value, last_ret;
static u64 trace[16];
static unsigned traced;

static int on_entry(struct kretprobe_instance *ri, struct regs *r)
{
	atomic_add(&entries, 1);
	*(u64 *)ri->data = r->rdi;
	((u64 *)ri->data)[1] = ~r->rdi;
	return r->rdi == 1000; /* not that one */
}

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	atomic_add(&returns, 1);
	last_value = r->rax;
	last_ret = ri->ret_addr;
	if (ri->rp->data_size)
		data_wrong += ((u64 *)ri->data)[0] != ~((u64 *)ri->data)[1];
	traced = stack_trace(r, trace, ARRAY_SIZE(trace));
	return 0;
}

static u64 __noipa returns_sum(u64 depth)
{
	u64 below = depth ? returns_sum(depth - 1) : 0;

	barrier();
	return below + depth;
}

static u64 __noipa calls_it(u64 depth)
{
	u64 sum = returns_sum(depth);

	barrier();
	return sum;
}

static bool trace_has(const char *name)
{
	for (unsigned i = 0; i < traced; i++) {
		const char *found = sym_find(trace[i] - 1, NULL, NULL);
		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

static void begin(void)
{
	returns = entries = data_wrong = 0;
	traced = 0;
}

static void value_and_address(void)
{
	struct kretprobe rp = {.kp.symbol_name = "returns_sum", .handler = on_return};

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT_EQ(calls_it(0), 0);
	EXPECT_EQ(returns, 1);
	EXPECT_EQ(calls_it(3), 6);
	EXPECT_EQ(returns, 5);
	EXPECT_EQ(last_value, 6);
	EXPECT_STR(sym_find(last_ret, NULL, NULL), "calls_it");
	EXPECT_EQ(trace[0], last_ret);
	EXPECT(trace_has("value_and_address"));
	unregister_kretprobe(&rp);
	calls_it(3);
	EXPECT_EQ(returns, 5);
	EXPECT_EQ(rp.nmissed + rp.kp.nmissed, 0);
}

static void data_of_calls(void)
{
	struct kretprobe rp = {.kp.symbol_name = "returns_sum",
	    .handler = on_return,
	    .entry_handler = on_entry,
	    .data_size = 16};

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	calls_it(64);
	EXPECT_EQ(entries, 65);
	EXPECT_EQ(returns, 65);
	EXPECT_EQ(data_wrong, 0);
	unregister_kretprobe(&rp);
	rp.data_size = KRETPROBE_DATA_MAX + 1;
	EXPECT_EQ(register_kretprobe(&rp), -EINVAL);
}

/* The data of a size that is no multiple of 8 lies where words may, too. */
static int on_return_aligned(struct kretprobe_instance *ri, struct regs *r)
{
	(void)r;
	returns++;
	data_wrong += (u64)ri->data % 8 != 0;
	return 0;
}

static void data_of_odd_size(void)
{
	struct kretprobe rp = {
	    .kp.symbol_name = "returns_sum", .handler = on_return_aligned, .data_size = 13};

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	calls_it(8);
	EXPECT_EQ(returns, 9);
	EXPECT_EQ(data_wrong, 0);
	unregister_kretprobe(&rp);
}

/* A task's stack of calls has room for some fifty with so much data; the rest counts as missed. */
static void no_room(void)
{
	struct kretprobe rp = {
	    .kp.symbol_name = "returns_sum", .handler = on_return, .data_size = KRETPROBE_DATA_MAX};

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT_EQ(calls_it(99), 4950);
	EXPECT(returns > 40 && rp.nmissed > 0);
	EXPECT_EQ(returns + rp.nmissed, 100);
	unregister_kretprobe(&rp);
	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT_EQ(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static void wrong_calls(void)
{
	struct kretprobe rp = {
	    .kp.symbol_name = "returns_sum", .kp.offset = 1, .handler = on_return};

	EXPECT_EQ(register_kretprobe(&rp), -EINVAL);
	rp.kp.offset = 0;
	rp.kp.symbol_name = "no_such_function";
	EXPECT_EQ(register_kretprobe(&rp), -ENOENT);
	rp.kp.symbol_name = NULL;
	rp.kp.addr = (u8 *)returns_sum + 1;
	EXPECT_EQ(register_kretprobe(&rp), -EINVAL);
	rp.kp.addr = (void *)returns_sum;
	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT_EQ(register_kretprobe(&rp), -EINVAL);
	unregister_kretprobe(&rp);
	/* One of two is refused: the other one is not registered either. */
	struct kretprobe good = {.kp.symbol_name = "returns_sum", .handler = on_return},
			 bad = {.kp.symbol_name = "no_such_function"}, *both[] = {&good, &bad};

	EXPECT_EQ(register_kretprobes(both, 2), -ENOENT);
	EXPECT(!good.kp.site && !good.holder);
	begin();
	calls_it(0);
	EXPECT_EQ(returns, 0);
}

static unsigned elsewhere;

/* Whichever probe it is, the call returns to its caller, and not to another probe's trampoline. */
static int on_return_where(struct kretprobe_instance *ri, struct regs *r)
{
	const char *name = sym_find(ri->ret_addr, NULL, NULL);

	(void)r;
	elsewhere += !name || (strcmp(name, "calls_it") && strcmp(name, "returns_sum"));
	return 0;
}

static void each_returns_to_the_caller(void)
{
	struct kretprobe a = {.kp.symbol_name = "returns_sum", .handler = on_return_where}, b = a,
			 c = a;

	elsewhere = 0;
	EXPECT_EQ(register_kretprobe(&a), 0);
	EXPECT_EQ(register_kretprobe(&b), 0);
	EXPECT_EQ(register_kretprobe(&c), 0);
	EXPECT(a.holder != b.holder && b.holder != c.holder && a.holder != c.holder);
	EXPECT_EQ(calls_it(2), 3);
	EXPECT_EQ(elsewhere, 0);
	unregister_kretprobe(&a);
	unregister_kretprobe(&b);
	unregister_kretprobe(&c);
}

static struct kretprobe switched_off;

static u64 __noipa switches_off(u64 a)
{
	EXPECT_EQ(disable_kretprobe(&switched_off), 0);
	barrier();
	return a;
}

/* A probe that was disabled after the entry is disabled at the return. */
static void disabled_inside(void)
{
	switched_off = (struct kretprobe){.kp.symbol_name = "switches_off", .handler = on_return};
	begin();
	EXPECT_EQ(register_kretprobe(&switched_off), 0);
	EXPECT_EQ(switches_off(3), 3);
	EXPECT_EQ(returns, 0);
	unregister_kretprobe(&switched_off);
}

/* Interrupts of a CPU that is idle belong to its idle task, whose calls are followed as well. */
static void kretprobe_test_idle(void *sum)
{
	*(u64 *)sum = returns_sum(3);
}

static void on_idle_cpus(void)
{
	struct kretprobe rp = {.kp.symbol_name = "returns_sum", .handler = on_return};
	u64 sum = 0;

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		cpu_call(cpu, kretprobe_test_idle, &sum);
	EXPECT_EQ(sum, 6);
	EXPECT_EQ(returns, 4 * cpu_count());
	EXPECT_EQ(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static void several_at_a_function(void)
{
	struct kretprobe a = {.kp.symbol_name = "returns_sum", .handler = on_return}, b = a, c = a;

	begin();
	EXPECT_EQ(register_kretprobe(&a), 0);
	EXPECT_EQ(register_kretprobe(&b), 0);
	EXPECT_EQ(calls_it(5), 15);
	EXPECT_EQ(returns, 12);
	EXPECT_STR(sym_find(last_ret, NULL, NULL), "calls_it");
	EXPECT_EQ(register_kretprobe(&c), 0);
	EXPECT_EQ(disable_kretprobe(&a), 0);
	returns = 0;
	EXPECT_EQ(calls_it(5), 15);
	EXPECT_EQ(returns, 12);
	unregister_kretprobe(&a);
	unregister_kretprobe(&b);
	unregister_kretprobe(&c);
}

/* ---- a backtrace from inside the function: the real addresses, not that of the hook ---- */

static u64 __noipa looks_back(u64 depth)
{
	u64 v = depth ? looks_back(depth - 1) : 0;

	if (!depth)
		traced = stack_trace(NULL, trace, ARRAY_SIZE(trace));
	barrier();
	return v;
}

static void __noipa calls_looks_back(void)
{
	looks_back(3);
	barrier();
}

static void real_addresses(void)
{
	struct kretprobe rp = {.kp.symbol_name = "looks_back"};
	u64 plain[16];
	unsigned n = 0;

	for (unsigned round = 0; round < 2; round++) {
		calls_looks_back();
		if (round)
			break;
		n = traced;
		memcpy(plain, trace, sizeof(plain));
		EXPECT_EQ(register_kretprobe(&rp), 0);
	}
	unregister_kretprobe(&rp);
	EXPECT(n > 6);
	EXPECT_EQ(n, traced);
	for (unsigned i = 0; i < n; i++) /* but for this function, which may call from two places */
		if (i != 5)
			EXPECT_EQ(plain[i], trace[i]);
}

/* ---- a call that is left otherwise ---- */

/* setjmp and longjmp in a few lines: leave() goes back to where come() was called, with 1. */
long kretprobe_test_come(u64 *buf);
void kretprobe_test_leave(u64 *buf);
__asm__(
    ".pushsection .text.asm, \"ax\"\n"
    ".globl kretprobe_test_come\n.type kretprobe_test_come, @function\nkretprobe_test_come:\n\t"
    "movq (%rsp), %rax\n\tmovq %rax, (%rdi)\n\tleaq 8(%rsp), %rax\n\tmovq %rax, 8(%rdi)\n\tmovq "
    "%rbp, 16(%rdi)\n\t"
    "movq %rbx, 24(%rdi)\n\tmovq %r12, 32(%rdi)\n\tmovq %r13, 40(%rdi)\n\tmovq %r14, 48(%rdi)\n\t"
    "movq %r15, 56(%rdi)\n\txorl %eax, %eax\n\tret\n"
    ".globl kretprobe_test_leave\n.type kretprobe_test_leave, @function\nkretprobe_test_leave:\n\t"
    "movq 8(%rdi), %rsp\n\tmovq 16(%rdi), %rbp\n\tmovq 24(%rdi), %rbx\n\tmovq 32(%rdi), %r12\n\t"
    "movq 40(%rdi), %r13\n\tmovq 48(%rdi), %r14\n\tmovq 56(%rdi), %r15\n\tmovl $1, %eax\n\tjmp "
    "*(%rdi)\n"
    ".popsection");

static u64 __noipa jumps_out(u64 depth, u64 *buf)
{
	u64 v = depth ? jumps_out(depth - 1, buf) : 0;

	if (!depth && buf)
		kretprobe_test_leave(buf);
	barrier();
	return v + 1;
}

static void __noipa jump_once(void)
{
	u64 buf[8];

	if (!kretprobe_test_come(buf))
		jumps_out(4, buf);
}

static void left_by_a_jump(void)
{
	struct kretprobe rp = {.kp.symbol_name = "jumps_out", .handler = on_return};

	begin();
	EXPECT_EQ(register_kretprobe(&rp), 0);
	for (unsigned i = 0; i < 2000;
	     i++) /* more than the shadow stack would hold if none were dropped */
		jump_once();
	EXPECT_EQ(returns, 0);
	EXPECT_EQ(jumps_out(4, NULL), 5);
	EXPECT_EQ(returns, 5);
	EXPECT_EQ(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* The calls that jump_once() leaves are forgotten when it returns itself. */
static void left_inside_a_followed_call(void)
{
	struct kretprobe inner = {.kp.symbol_name = "jumps_out", .handler = on_return},
			 outer = {.kp.symbol_name = "jump_once", .handler = on_return};

	begin();
	EXPECT_EQ(register_kretprobe(&inner), 0);
	EXPECT_EQ(register_kretprobe(&outer), 0);
	for (unsigned i = 0; i < 10; i++)
		jump_once();
	EXPECT_EQ(returns, 10);
	EXPECT_STR(sym_find(last_ret, NULL, NULL), "left_inside_a_followed_call");
	EXPECT_EQ(inner.nmissed + outer.nmissed, 0);
	unregister_kretprobe(&inner);
	unregister_kretprobe(&outer);
}

/* ---- removed while calls are under way ---- */

static struct kretprobe removed;

static u64 __noipa removes(u64 depth)
{
	u64 v = depth ? removes(depth - 1) : 0;

	if (!depth)
		unregister_kretprobe(&removed);
	barrier();
	return v + 1;
}

static void removed_inside(void)
{
	removed = (struct kretprobe){.kp.symbol_name = "removes", .handler = on_return};
	begin();
	for (unsigned i = 0; i < 10; i++) {
		EXPECT_EQ(register_kretprobe(&removed), 0);
		EXPECT_EQ(removes(10), 11);
	}
	EXPECT_EQ(returns, 0);
}

/* ---- many tasks ---- */

#define ROUNDS 100
static u64 calls;

static void recursing(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		calls_it(63);
		atomic_add(&calls, 64);
		if (i % 8 == 0)
			sched_yield_current();
	}
}

/* On several CPUs at once: it leaves nothing that the next would overwrite. */
static int on_return_anywhere(struct kretprobe_instance *ri, struct regs *r __maybe_unused)
{
	atomic_add(&returns, 1);
	if (((u64 *)ri->data)[0] != ~((u64 *)ri->data)[1])
		atomic_add(&data_wrong, 1);
	return 0;
}

static void on_all_cpus(void)
{
	struct kretprobe rp = {.kp.symbol_name = "returns_sum",
	    .handler = on_return_anywhere,
	    .entry_handler = on_entry,
	    .data_size = 16};

	struct threads t = {0};

	begin();
	calls = 0;
	EXPECT_EQ(register_kretprobe(&rp), 0);
	for (unsigned i = 0; i < 8; i++)
		thread_start(&t, recursing, NULL, i % cpu_count());
	threads_join(&t);
	unregister_kretprobe(&rp);
	EXPECT_EQ(returns + rp.nmissed + rp.kp.nmissed, calls);
	EXPECT_EQ(returns, calls);
	EXPECT_EQ(entries, calls);
	EXPECT_EQ(data_wrong, 0);
}

static int on_entry_never(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri, (void)r;
	return 1;
}

/*
 * A later probe gets the holder of one that is gone, once no call of that is left, whichever way
 * the calls ended.
 */
static void holders_are_used_again(void)
{
	struct kretprobe refused = {.kp.symbol_name = "returns_sum",
			     .handler = on_return,
			     .entry_handler = on_entry_never},
			 left = {.kp.symbol_name = "jumps_out", .handler = on_return};
	struct kretprobe_holder *of_refused, *of_left;

	for (unsigned round = 0; round < 3; round++) {
		EXPECT_EQ(register_kretprobe(&refused), 0);
		EXPECT_EQ(register_kretprobe(&left), 0);
		if (!round) {
			of_refused = refused.holder;
			of_left = left.holder;
		}
		EXPECT(refused.holder == of_refused);
		EXPECT(left.holder == of_left);
		calls_it(2);
		jump_once();
		EXPECT_EQ(jumps_out(0, NULL), 1); /* it drops the record that the jump left */
		unregister_kretprobe(&left);
		unregister_kretprobe(&refused);
	}
}

static u64 refused_returns;

static int on_refused_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri, (void)r;
	refused_returns++;
	return 0;
}

/* A probe that refuses a call does not see its return, also when another probe waits for it. */
static void refused_beside_another(void)
{
	struct kretprobe refused = {.kp.symbol_name = "returns_sum",
			     .handler = on_refused_return,
			     .entry_handler = on_entry_never},
			 taken = {.kp.symbol_name = "returns_sum", .handler = on_return};
	struct kretprobe *order[] = {&refused, &taken};

	refused_returns = 0;
	for (unsigned round = 0; round < 2; round++) {
		begin();
		EXPECT_EQ(register_kretprobe(order[round]), 0);
		EXPECT_EQ(register_kretprobe(order[!round]), 0);
		EXPECT_EQ(calls_it(5), 15);
		EXPECT_EQ(returns, 6);
		EXPECT_EQ(refused_returns, 0);
		EXPECT_STR(sym_find(last_ret, NULL, NULL), "calls_it");
		unregister_kretprobe(&refused);
		unregister_kretprobe(&taken);
	}
}

static const struct ktap_case cases[] = {
    {"kretprobe.value_and_address", value_and_address},
    {"kretprobe.data_of_calls", data_of_calls},
    {"kretprobe.data_of_odd_size", data_of_odd_size},
    {"kretprobe.no_room", no_room},
    {"kretprobe.wrong_calls", wrong_calls},
    {"kretprobe.each_returns_to_the_caller", each_returns_to_the_caller},
    {"kretprobe.disabled_inside", disabled_inside},
    {"kretprobe.on_idle_cpus", on_idle_cpus},
    {"kretprobe.several_at_a_function", several_at_a_function},
    {"kretprobe.real_addresses", real_addresses},
    {"kretprobe.left_by_a_jump", left_by_a_jump},
    {"kretprobe.refused_beside_another", refused_beside_another},
    {"kretprobe.holders_are_used_again", holders_are_used_again},
    {"kretprobe.left_inside_a_followed_call", left_inside_a_followed_call},
    {"kretprobe.removed_inside", removed_inside},
    {"kretprobe.on_all_cpus", on_all_cpus},
    {NULL, NULL},
};
const struct ktap_suite suite_kretprobe = {cases};
