/*
 * Hooks: each function of the symbol table begins with one, which is one instruction, or has a
 * reason why not; and the two files that list them list all. A user can be removed while calls are
 * in its entries.
 */
#include "kernel/kprobe/hook.h"
#include "arch/arch.h"
#include "kernel/base/sym.h"
#include "kernel/fs/file.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/sched.h"
#include "tests/kernel/threads.h"

/* One nop of five bytes, and not five of one. */
static bool begins_with_hook(u64 addr)
{
	u8 code[HOOK_LEN + 1];

	memcpy(code, (void *)addr, sizeof(code));
	kernel_probe_original(addr, code, sizeof(code));
	return !memcmp(code, "\x0f\x1f\x44\x00\x00", HOOK_LEN) && code[HOOK_LEN] != 0x90;
}

static void every_function(void)
{
	u64 start, size, last = 0;
	const char *name;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++) {
		if (start == last)
			continue; /* another name */
		last = start;
		if (sym_hooked(i) ? !begins_with_hook(start) || hook_refused(start)
				  : !hook_refused(start))
			ktap_fail(__FILE__, __LINE__, "%s: %s, %s", name,
			    sym_hooked(i) ? "hooked" : "not hooked", hook_refused(start));
	}
}

/* Lines of a file. */
static unsigned hook_test_lines(const char *path)
{
	static char buf[4096];
	unsigned lines = 0;
	struct file *f;
	ssize n;

	if (file_open(path, O_RDONLY, 0, &f))
		return 0;
	while ((n = kernel_read(f, buf, sizeof(buf))) > 0)
		while (n--)
			lines += buf[n] == '\n';
	file_put(f);
	return lines;
}

static void both_files(void)
{
	unsigned hooked = 0, refused = 0;
	u64 start, size;
	const char *name;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++)
		if (sym_hooked(i))
			hooked++;
		else if (hook_refused(start))
			refused++;
	EXPECT(hooked > 1000);
	EXPECT_EQ(hook_test_lines("/sys/kernel/tracing/available_filter_functions"), hooked);
	EXPECT_EQ(hook_test_lines("/sys/kernel/tracing/available_filter_functions_addrs"), hooked);
	EXPECT_EQ(hook_test_lines("/proc/trapline/notrace"), refused);
}

/* ---- users that are removed ---- */

static void hook_test_enter(struct hook_user *user, u64 *slot)
{
	(void)user, (void)slot;
}

static void hook_test_leave(
    struct hook_user *user, const struct hook_call *call, const struct hook_returned *ret)
{
	(void)user, (void)call, (void)ret;
}

static struct hook_user follower = {.enter = hook_test_enter, .leave = hook_test_leave};
static u32 watching; /* [A] */

/* Acts as a CPU that is in the user's entry during the removal, and goes on only afterwards. */
static void hook_test_in_entry(void *unused)
{
	(void)unused;
	preempt_disable();
	atomic_store(&watching, 1);
	while (READ_ONCE(kernel_hook_users[follower.number]) == &follower)
		barrier();
	((void (*)(void))arch_hook_entry(ARCH_HOOK_CALLS + follower.number))();
	preempt_enable();
}

static void removed_while_entered(void)
{
	u64 before = current()->cpus_allowed;
	struct threads t = {0};

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	task_set_affinity(current(), 1);
	watching = 0;
	EXPECT_EQ(hook_user_add(&follower), 0);
	EXPECT(follower.number < ARCH_HOOK_DIRECT);
	thread_start(&t, hook_test_in_entry, NULL, 1);
	while (!atomic_load(&watching))
		sched_yield_current();
	hook_user_remove(&follower);
	threads_join(&t);
	task_set_affinity(current(), before);
}

/* Ends an interrupt at rip while another task is due; true: the kernel preempts this task. */
static bool preempted_at(u64 rip)
{
	struct regs r = {.rip = rip};
	u64 flags = irq_save();

	current()->preempted_at = 0;
	kernel_irq_enter(&r, 0);
	this_cpu_write(need_resched, 1);
	kernel_irq_exit(&r, 0);
	bool preempted = current()->preempted_at == rip;
	irq_restore(flags);
	return preempted;
}

static void not_preempted_in_entries(void)
{
	for (int i = 0; i < ARCH_HOOK_DIRECT + ARCH_HOOK_CALLS; i++)
		EXPECT(!preempted_at(arch_hook_entry(i)));
	EXPECT(preempted_at((u64)not_preempted_in_entries));
	EXPECT(preempted_at(arch_hook_entry(ARCH_HOOK_MANY)));
}

static const struct ktap_case cases[] = {
    {"hooks.every_function", every_function},
    {"hooks.both_files", both_files},
    {"hooks.removed_while_entered", removed_while_entered},
    {"hooks.not_preempted_in_entries", not_preempted_in_entries},
    {NULL, NULL},
};
const struct ktap_suite suite_hooks = {cases};
