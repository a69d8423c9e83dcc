/*
 * The unwinder (arch/x86_64/cpu/unwind.c) at every instruction: a workload is single-stepped, and
 * before each step the trace is compared with the return addresses that calls pushed and returns
 * took. Then registers and frames that lie, at random.
 */
#include "kernel/base/random.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/timer.h"
#include "tests/unit/prng.h"

#define RFLAGS_TF  0x100UL
#define DEPTH_MAX  48
#define FUZZ_LOOPS 200000

static u64 expected[DEPTH_MAX]; /* return addresses, innermost last */
static unsigned depth;
static u64 last_rip;
static u64 steps, wrong, wrong_rip;
static volatile bool stop;

static bool is_call(const u8 *p)
{
	if ((*p & 0xf0) == 0x40)
		p++;
	return *p == 0xe8 || (*p == 0xff && (p[1] & 0x38) == 0x10);
}

/* What the instruction just run did to the chain of return addresses. */
static void follow(const struct regs *r)
{
	const u8 *p = (const u8 *)last_rip;

	if (is_call(p) && depth < DEPTH_MAX)
		expected[depth++] = *(u64 *)r->rsp;
	else if (*p == 0xc3 && depth)
		depth--;
}

static bool trace_is_right(const struct regs *r)
{
	u64 trace[DEPTH_MAX];
	unsigned n = stack_trace(r, trace, depth + 1);

	if (n < depth + 1 || trace[0] != r->rip)
		return false;
	for (unsigned i = 0; i < depth; i++)
		if (trace[i + 1] != expected[depth - 1 - i])
			return false;
	return true;
}

static bool on_step(struct regs *r)
{
	if (last_rip)
		follow(r);
	if (!trace_is_right(r) && !wrong++)
		wrong_rip = r->rip;
	last_rip = r->rip;
	steps++;
	if (stop)
		r->rflags &= ~RFLAGS_TF;
	return true;
}

static void __noinline steps_begin(void)
{
	last_rip = 0;
	depth = 0;
	stop = false;
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(RFLAGS_TF) : "memory", "cc");
}

static void nothing(struct timer *t)
{
	(void)t;
}

/* Formatting, allocation, symbols, timers, locks: several layers of each, never a switch. */
static void __noinline workload(void)
{
	static struct timer timer;
	char text[128];
	void *p = kmalloc(100);

	fmt_snprintf(text, sizeof(text), "%-10s|%08llx|%5d|%pS|%*d", "words", 0x1234ULL, -77,
	    (void *)workload, 6, 42);
	kfree(p);
	sym_address("workload", NULL);
	timer_setup(&timer, nothing);
	timer_start(&timer, clock_ns() + 1000000000);
	timer_cancel(&timer);
	irq_restore(irq_save());
}

static void every_instruction(void)
{
	steps = wrong = 0;
	EXPECT_EQ(debug_handler_add(on_step), 0);
	preempt_disable();
	steps_begin();
	workload();
	stop = true;
	preempt_enable();
	debug_handler_remove(on_step);
	EXPECT(steps > 3000);
	EXPECT_EQ(wrong, 0);
	if (wrong) {
		char text[96];
		sym_print(text, sizeof(text), wrong_rip, true);
		ktap_note("first of %llu wrong traces in %llu steps: at %s",
		    (unsigned long long)wrong, (unsigned long long)steps, text);
	}
}

/* ---- lies ---- */

static u64 pretend[64]; /* stands on no stack: nothing of it may be followed */

static u64 lie(u64 *seed, const u64 *stack, unsigned n)
{
	u64 near = (u64)stack + prng_next(seed) % (n * 8);

	switch (prng_next(seed) % 8) {
	case 0:
		return prng_next(seed);
	case 1:
		return near;
	case 2:
		return near | 1;
	case 3:
		return ALIGN_DOWN(near, 8);
	case 4:
		return ALIGN_DOWN(near, 8) + 1;
	case 5:
		return (u64)fmt_snprintf + prng_next(seed) % 256;
	case 6:
		return (u64)&pretend[prng_next(seed) % 64];
	default:
		return this_cpu_read(kernel_rsp) - prng_next(seed) % 600;
	}
}

static void fuzzed_frames(void)
{
	u64 seed = random_u64(), stack[48], out[20];
	struct regs r = {.cs = 0x10};
	unsigned over = 0;

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned i = 0; i < ARRAY_SIZE(pretend); i++)
		pretend[i] = (u64)&pretend[i] + 16;
	for (unsigned i = 0; i < FUZZ_LOOPS; i++) {
		for (unsigned k = 0; k < 4; k++)
			stack[prng_next(&seed) % 48] = lie(&seed, stack, 48);
		r.rip = lie(&seed, stack, 48);
		r.rbp = lie(&seed, stack, 48);
		r.rsp = lie(&seed, stack, 48);
		unsigned max = prng_next(&seed) % 20;
		out[max] = 0x5a5a;
		over += stack_trace(&r, out, max) > max || out[max] != 0x5a5a;
	}
	EXPECT_EQ(over, 0);
}

static const struct ktap_case cases[] = {
    {"unwind.every_instruction", every_instruction},
    {"unwind.fuzzed_frames", fuzzed_frames},
    {NULL, NULL},
};
const struct ktap_suite suite_unwind_steps = {cases};
