/*
 * Text patched while it runs. The site is in a loop on another CPU where there is one; under
 * thread=multi these are real races, under icount the switches come where the loop pauses.
 */
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "tests/kernel/threads.h"

#define TOGGLES 1000
#define WAIT_NS 5000000000UL

static struct static_key key;

static void static_key_set(struct static_key *key, bool on)
{
	u8 state = on;
	static_key_set_many(&key, &state, 1);
}

static __noinline bool site(void)
{
	return static_branch(&key);
}

static u32 runner_stop; /* [A] */
static u64 runner_loops;
static u32 runner_value;

static void runner(void *unused)
{
	(void)unused;
	while (!atomic_load(&runner_stop)) {
		for (unsigned i = 0; i < 50; i++)
			atomic_store_relaxed(&runner_value, site());
		atomic_add(&runner_loops, 1);
		cpu_relax();
	}
}

static bool wait_loops(u64 n)
{
	u64 from = atomic_load(&runner_loops), end = clock_ns() + WAIT_NS;
	while (atomic_load(&runner_loops) < from + n)
		if (clock_ns() > end)
			return false;
		else
			cpu_relax();
	return true;
}

static void toggle_while_running(void)
{
	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	struct threads t = {0};
	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	atomic_store(&runner_stop, 0);
	thread_start(&t, runner, NULL, 1);
	unsigned stale = 0;
	for (unsigned i = 1; i <= TOGGLES; i++) {
		static_key_set(&key, i & 1);
		if (!wait_loops(2))
			break;
		stale += atomic_load(&runner_value) != (i & 1);
	}
	EXPECT_EQ(stale, 0);
	EXPECT(wait_loops(1));
	atomic_store(&runner_stop, 1);
	threads_join(&t);
	static_key_set(&key, false);
	task_set_affinity(current(), ~0UL);
}

static void toggle_here(void)
{
	for (unsigned i = 0; i < 10; i++) {
		EXPECT_EQ(site(), 0);
		static_key_set(&key, true);
		static_key_set(&key, true); /* nothing to do */
		EXPECT_EQ(site(), 1);
		EXPECT_EQ(key.enabled, 1);
		static_key_set(&key, false);
	}
}

/*
 * NMIs that run the site while it is being patched, sent by another CPU: they come between the
 * steps, trap at the int3 and go on as the new code says; a breakpoint inside an NMI.
 */
static u32 nmis, nmi_sender_stop;

static bool nmi_at_site(struct regs *r)
{
	(void)r;
	atomic_store_relaxed(&runner_value, site());
	atomic_add(&nmis, 1);
	return true;
}

static void nmi_sender(void *unused)
{
	(void)unused;
	while (!atomic_load(&nmi_sender_stop)) {
		u32 before = atomic_load(&nmis);
		nmi_send(0);
		while (atomic_load(&nmis) == before && !atomic_load(&nmi_sender_stop))
			cpu_relax();
	}
}

static void trap_in_nmi(void)
{
	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	u64 traps = text_patch_stats()->traps, end = clock_ns() + 2 * WAIT_NS;
	struct threads t = {0};
	EXPECT_EQ(task_set_affinity(current(), 1), 0);
	EXPECT_EQ(nmi_handler_add(nmi_at_site), 0);
	atomic_store(&nmi_sender_stop, 0);
	thread_start(&t, nmi_sender, NULL, 1);
	for (unsigned i = 1; i & 1 || i < 100 || text_patch_stats()->traps == traps; i++) {
		static_key_set(&key, i & 1);
		EXPECT_EQ(site(), i & 1);
		if (clock_ns() > end)
			break;
	}
	atomic_store(&nmi_sender_stop, 1);
	threads_join(&t);
	nmi_handler_remove(nmi_at_site);
	static_key_set(&key, false);
	EXPECT(text_patch_stats()->traps > traps);
	EXPECT_EQ(site(), 0);
	task_set_affinity(current(), ~0UL);
}

/* A tracepoint that is off is one nop of five bytes, and after off and on again it still is. */
static void off_is_nop(void)
{
	static const u8 nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	extern const struct static_branch_site __start___static_branch[], __stop___static_branch[];
	for (const struct static_branch_site *s = __start___static_branch;
	     s < __stop___static_branch; s++)
		if (!s->key->enabled)
			EXPECT_EQ(memcmp((void *)s->site, nop5, sizeof(nop5)), 0);
}

/* Many keys at once: their sites lie together, so pages and messages stay the same as for one. */
#define MANY 100
static struct static_key many[MANY];

#define SITE(n)                                                                                    \
	if (static_branch(&many[n]))                                                               \
		on++;
#define SITES5(n)  SITE(n) SITE(n + 1) SITE(n + 2) SITE(n + 3) SITE(n + 4)
#define SITES20(n) SITES5(n) SITES5(n + 5) SITES5(n + 10) SITES5(n + 15)

static __noinline unsigned many_sites(void)
{
	unsigned on = 0;
	SITES20(0)
	SITES20(20)
	SITES20(40)
	SITES20(60)
	SITES20(80)
	return on;
}

static void many_at_once(void)
{
	struct static_key *keys[MANY];
	u8 states[MANY];
	unsigned times = cpu_count() > 1 ? 2 : 1;
	for (unsigned i = 0; i < MANY; i++) {
		keys[i] = &many[i];
		states[i] = i % 2;
	}
	for (unsigned round = 0; round < 2; round++) {
		struct text_patch_stats before = *text_patch_stats();
		static_key_set_many(keys, states, MANY);
		EXPECT_EQ(many_sites(), round ? 0 : MANY / 2);
		EXPECT_EQ(text_patch_stats()->patches - before.patches, MANY / 2);
		EXPECT_EQ(text_patch_stats()->syncs - before.syncs, 3 * times);
		EXPECT(text_patch_stats()->pages - before.pages <=
		       2 * 3 * times); /* the function may lie across two */
		memset(states, 0, sizeof(states));
	}
}

/* Calls and jumps written over a nop in a function that is running. */
static u32 patched_calls;

static void __attribute__((used)) patch_target(void)
{
	patched_calls++;
}

static __noinline void call_site(void)
{
	__asm__ volatile(
	    ".globl test_call_site\ntest_call_site: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00" ::
		: "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

extern char test_call_site[];
NOTRACE(test_call_site, "a place in a function");

static void patch_call(void)
{
	struct text_patch p = {.addr = test_call_site, .len = 5};
	s32 distance = (s32)((char *)patch_target - (test_call_site + 5));
	u8 before[5];
	memcpy(before, test_call_site, 5);
	p.bytes[0] = 0xe8;
	memcpy(p.bytes + 1, &distance, 4);
	call_site();
	EXPECT_EQ(patched_calls, 0);
	text_patch(&p, 1);
	call_site();
	EXPECT_EQ(patched_calls, 1);
	memcpy(p.bytes, before, 5);
	text_patch(&p, 1);
	call_site();
	EXPECT_EQ(patched_calls, 1);
	EXPECT_EQ(memcmp(test_call_site, before, 5), 0);
}

static const struct ktap_case cases[] = {
    {"text_patch.off_is_nop", off_is_nop},
    {"text_patch.toggle_here", toggle_here},
    {"text_patch.toggle_while_running", toggle_while_running},
    {"text_patch.trap_in_nmi", trap_in_nmi},
    {"text_patch.many_at_once", many_at_once},
    {"text_patch.call", patch_call},
    {NULL, NULL},
};
extern const struct ktap_suite suite_text_patch;
const struct ktap_suite suite_text_patch = {cases};
