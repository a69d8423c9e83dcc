/*
 * Probes of many functions, and callbacks at the entry of functions: which functions they choose,
 * what their handlers get, and that the kernel calls no handler after the removal.
 */
#include "kernel/kprobe/fprobe.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/ftrace.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static u64 __noipa fprobe_test_add(u64 a, u64 b)
{
	return a + b;
}

static u64 __noipa fprobe_test_add_twice(u64 a, u64 b)
{
	return fprobe_test_add(a, b) + fprobe_test_add(a, b);
}

static u64 __noipa fprobe_test_other(u64 a, u64 b)
{
	return a * b;
}

/* ---- probes ---- */

static struct {
	u64 entries, exits, ip, ret_ip, a, b, data, value;
	int refuse; /* this many exits */
} seen;

static int fprobe_test_entry(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data)
{
	(void)fp;
	seen.entries++;
	seen.ip = entry_ip;
	seen.ret_ip = ret_ip;
	seen.a = regs->rdi;
	seen.b = regs->rsi;
	if (entry_data)
		*(u64 *)entry_data = 100 + seen.entries;
	return seen.refuse && seen.refuse--;
}

static void fprobe_test_exit(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data)
{
	(void)fp;
	seen.exits++;
	seen.ip = entry_ip;
	seen.ret_ip = ret_ip;
	seen.data = *(u64 *)entry_data;
	seen.value = regs->rax;
}

static bool is_in(u64 addr, const void *function)
{
	u64 start, size;

	return sym_find(addr, &start, &size) && start == (u64)function;
}

static void entry_alone(void)
{
	struct fprobe fp = {.entry_handler = fprobe_test_entry};

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(register_fprobe(&fp, "fprobe_test_add", NULL), 0);
	EXPECT_EQ(register_fprobe(&fp, "fprobe_test_add", NULL), -EINVAL);
	EXPECT_EQ(fprobe_test_add_twice(3, 4), 14);
	fprobe_test_other(1, 2);
	EXPECT_EQ(seen.entries, 2);
	EXPECT_EQ(seen.ip, (u64)fprobe_test_add);
	EXPECT(is_in(seen.ret_ip, fprobe_test_add_twice));
	EXPECT_EQ(seen.a, 3);
	EXPECT_EQ(seen.b, 4);
	EXPECT_EQ(fprobe_missed(&fp), 0);
	EXPECT_EQ(unregister_fprobe(&fp), 0);
	EXPECT_EQ(unregister_fprobe(&fp), -EINVAL);
	fprobe_test_add(1, 2);
	EXPECT_EQ(seen.entries, 2);
}

/* The entry handler's data reaches the exit handler of the same call, of nested calls as well. */
static void entry_and_exit(void)
{
	struct fprobe fp = {.entry_handler = fprobe_test_entry,
	    .exit_handler = fprobe_test_exit,
	    .entry_data_size = sizeof(u64)};

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(register_fprobe(&fp, "fprobe_test_*", "*_other"), 0);
	EXPECT_EQ(fprobe_test_add_twice(5, 6), 22);
	fprobe_test_other(1, 2);
	EXPECT_EQ(seen.entries, 3);
	EXPECT_EQ(seen.exits, 3);
	EXPECT_EQ(seen.ip, (u64)fprobe_test_add_twice); /* it returns last */
	EXPECT(is_in(seen.ret_ip, entry_and_exit));
	EXPECT_EQ(seen.data, 101);
	EXPECT_EQ(seen.value, 22);
	seen.refuse = 1;
	fprobe_test_add(7, 8);
	EXPECT_EQ(seen.entries, 4);
	EXPECT_EQ(seen.exits, 3);
	EXPECT_EQ(unregister_fprobe(&fp), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(seen.entries, 4);
	EXPECT_EQ(seen.exits, 3);
}

static int fprobe_test_returns_to(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data)
{
	(void)fp, (void)entry_ip, (void)regs, (void)entry_data;
	seen.a = ret_ip;
	return 0;
}

/* An entry handler sees where a call returns to though an exit handler's probe took the address. */
static void entry_beside_exit(void)
{
	struct fprobe exits = {.exit_handler = fprobe_test_exit, .entry_data_size = sizeof(u64)},
		      before = {.entry_handler = fprobe_test_returns_to}, after = before;

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(register_fprobe(&before, "fprobe_test_add", NULL), 0);
	EXPECT_EQ(register_fprobe(&exits, "fprobe_test_add", NULL), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT(is_in(seen.a, fprobe_test_add_twice));
	EXPECT_EQ(unregister_fprobe(&before), 0);
	EXPECT_EQ(register_fprobe(&after, "fprobe_test_add", NULL), 0);
	seen.a = 0;
	fprobe_test_add_twice(1, 2);
	EXPECT(is_in(seen.a, fprobe_test_add_twice));
	EXPECT_EQ(seen.exits, 4);
	EXPECT_EQ(unregister_fprobe(&after), 0);
	EXPECT_EQ(unregister_fprobe(&exits), 0);
}

static u64 __noipa fprobe_test_deep(u64 depth)
{
	u64 below = depth ? fprobe_test_deep(depth - 1) : 0;

	barrier();
	return below + 1;
}

static void fprobe_test_exit_counts(
    struct fprobe *fp, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data)
{
	(void)fp, (void)entry_ip, (void)ret_ip, (void)regs, (void)entry_data;
	seen.exits++;
}

/* A call that cannot be followed to its return, for want of room, counts as missed. */
static void missed_calls(void)
{
	struct fprobe fp = {
	    .exit_handler = fprobe_test_exit_counts, .entry_data_size = KRETPROBE_DATA_MAX};

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(register_fprobe(&fp, "fprobe_test_deep", NULL), 0);
	EXPECT_EQ(fprobe_test_deep(99), 100);
	EXPECT(seen.exits > 40 && seen.exits < 100);
	EXPECT_EQ(seen.exits + fprobe_missed(&fp), 100);
	EXPECT_EQ(unregister_fprobe(&fp), 0);
}

static void chosen_functions(void)
{
	struct fprobe fp = {.entry_handler = fprobe_test_entry};
	const char *names[] = {"fprobe_test_other", "fprobe_test_add"},
		   *bad[] = {names[0], "nosuch"};
	u64 inside[] = {(u64)fprobe_test_add, (u64)fprobe_test_add + 1};

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(register_fprobe(&fp, "nosuch_*", NULL), -EINVAL);
	EXPECT_EQ(register_fprobe(&fp, "fprobe_test_add", "fprobe_*"), -EINVAL);
	EXPECT_EQ(register_fprobe_syms(&fp, bad, 2), -ENOENT);
	EXPECT_EQ(register_fprobe_ips(&fp, inside, 2), -EINVAL);
	inside[0]++, inside[1]--;
	EXPECT_EQ(register_fprobe_ips(&fp, inside, 2), -EINVAL);
	EXPECT_EQ(register_fprobe_syms(&fp, names, 2), 0);
	fprobe_test_add_twice(1, 1);
	fprobe_test_other(1, 1);
	EXPECT_EQ(seen.entries, 3);
	EXPECT_EQ(unregister_fprobe(&fp), 0);
	fp = (struct fprobe){.entry_handler = NULL};
	EXPECT_EQ(register_fprobe_syms(&fp, names, 2), -EINVAL);
}

/* ---- calls ---- */

struct ftrace_test_calls {
	u64 n, ip, parent_ip;
};

/* Without a hook: it would be called for itself. */
static __notrace void ftrace_test_func(
    u64 ip, u64 parent_ip, struct ftrace_ops *ops, struct regs *regs)
{
	struct ftrace_test_calls *calls = ops->private;

	(void)regs;
	if (!is_in(ip, fprobe_test_add) && !is_in(ip, fprobe_test_add_twice))
		return;
	calls->n++;
	calls->ip = ip;
	calls->parent_ip = parent_ip;
}
NOTRACE(ftrace_test_func, "a test calls it at the entry of functions");

static int ftrace_test_filter(struct ftrace_ops *ops, const char *text, int reset)
{
	return ftrace_set_filter(ops, text, strlen(text), reset);
}

static void ftrace_calls(void)
{
	struct ftrace_test_calls calls = {0};
	struct ftrace_ops ops = {.func = ftrace_test_func, .private = &calls};

	EXPECT_EQ(ftrace_test_filter(&ops, "nosuch", 0), -EINVAL);
	EXPECT_EQ(ftrace_test_filter(&ops, "fprobe_test_add", 0), 0);
	EXPECT_EQ(register_ftrace_function(&ops), 0);
	EXPECT_EQ(register_ftrace_function(&ops), -EBUSY);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 2);
	EXPECT_EQ(calls.ip, (u64)fprobe_test_add);
	EXPECT(is_in(calls.parent_ip, fprobe_test_add_twice));
	EXPECT_EQ(unregister_ftrace_function(&ops), 0);
	EXPECT_EQ(unregister_ftrace_function(&ops), -EINVAL);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 2);
	ftrace_free_filter(&ops);
}

/* Lists change while it is registered: more functions, none of these, others alone. */
static void ftrace_lists(void)
{
	struct ftrace_test_calls calls = {0};
	struct ftrace_ops ops = {.func = ftrace_test_func, .private = &calls};

	EXPECT_EQ(ftrace_test_filter(&ops, "fprobe_test_other", 0), 0);
	EXPECT_EQ(register_ftrace_function(&ops), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 0);
	EXPECT_EQ(ftrace_test_filter(&ops, "fprobe_test_add*", 0), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 3);
	EXPECT_EQ(ftrace_set_notrace(&ops, "*_twice and more", 7, 0), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 5);
	EXPECT_EQ(ftrace_set_notrace(&ops, NULL, 0, 0), 0); /* changes nothing */
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 7);
	calls.n = 5;
	EXPECT_EQ(ftrace_set_notrace(&ops, NULL, 0, 1), 0);
	EXPECT_EQ(ftrace_test_filter(&ops, "fprobe_test_add_twice", 1), 0);
	fprobe_test_add_twice(1, 2);
	EXPECT_EQ(calls.n, 6);
	EXPECT_EQ(unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

static const struct ktap_case cases[] = {
    {"fprobe.entry_alone", entry_alone},
    {"fprobe.entry_and_exit", entry_and_exit},
    {"fprobe.entry_beside_exit", entry_beside_exit},
    {"fprobe.missed_calls", missed_calls},
    {"fprobe.chosen_functions", chosen_functions},
    {"fprobe.ftrace_calls", ftrace_calls},
    {"fprobe.ftrace_lists", ftrace_lists},
    {NULL, NULL},
};
const struct ktap_suite suite_fprobe = {cases};
