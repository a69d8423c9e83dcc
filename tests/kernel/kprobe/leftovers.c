/*
 * What probes, callbacks and calls that are followed leave behind: no object when an allocation
 * fails half-way, none after the removal, and no place in the text for copies and detours.
 */
#include "arch/arch.h"
#include "kernel/kprobe/fprobe.h"
#include "kernel/kprobe/ftrace.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/kprobe/tools.h"
#include "tests/kernel/objects.h"
#include "tests/kernel/threads.h"

static u64 __noipa leftover_target(u64 a)
{
	return a + 1;
}

static u64 __noipa leftover_other(u64 a)
{
	return a + 2;
}

/* ---- probes ---- */

static struct kprobe probe;

static int add_probe(void)
{
	probe = (struct kprobe){.symbol_name = "kprobe_test_target",
	    .offset = 4, /* it adds to a word relative to %rip, in a copy */
	    .post_handler = probe_on_post};
	return register_kprobe(&probe);
}

static void remove_probe(void)
{
	unregister_kprobe(&probe);
}

static struct kprobe several[3], *const several_list[] = {&several[0], &several[1], &several[2]};

static int add_several(void)
{
	static const u8 offsets[] = {4, 11, 15};

	for (unsigned i = 0; i < ARRAY_SIZE(several); i++)
		several[i] = (struct kprobe){.symbol_name = "kprobe_test_target",
		    .offset = offsets[i],
		    .pre_handler = probe_on_hit};
	return register_kprobes((struct kprobe **)several_list, ARRAY_SIZE(several));
}

static void remove_several(void)
{
	unregister_kprobes((struct kprobe **)several_list, ARRAY_SIZE(several));
}

static void of_probes(void)
{
	struct kprobe nowhere = {.symbol_name = "kprobe_test_target", .offset = 5};
	u64 before;

	expect_no_leftovers("a probe", add_probe, remove_probe);
	expect_no_leftovers("several probes", add_several, remove_several);
	before = objects_in_use();
	EXPECT_EQ(register_kprobe(&nowhere), -EILSEQ);
	EXPECT_EQ(objects_in_use(), before);
}

/* Where one of several is not registered none is switched, be it the first or the last. */
static void of_switches(void)
{
	struct kprobe none = {.flags = 0}, *list[2];

	EXPECT_EQ(add_probe(), 0);
	for (unsigned i = 0; i < 4; i++) {
		bool off = i / 2;

		list[i % 2] = &probe;
		list[!(i % 2)] = &none;
		EXPECT_EQ(off ? disable_kprobe(&probe) : enable_kprobe(&probe), 0);
		EXPECT_EQ(off ? enable_kprobes(list, 2) : disable_kprobes(list, 2), -EINVAL);
		EXPECT_EQ(!!(probe.flags & KPROBE_FLAG_DISABLED), off);
		EXPECT_EQ(none.flags, 0);
	}
	remove_probe();
}

/* Why a probe was refused is forgotten when it is tried elsewhere. */
static void of_reasons(void)
{
	struct kprobe p = {.addr = (void *)kernel_probe_int3, .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&p), -EINVAL);
	EXPECT(p.why);
	p.addr = NULL;
	p.symbol_name = "no_such_function";
	EXPECT_EQ(register_kprobe(&p), -ENOENT);
	EXPECT(!p.why);
}

/* A probe that is removed gives its copy's place back: the next one has the same. */
static void of_slots(void)
{
	u64 slot, trapping;

	EXPECT_EQ(add_probe(), 0);
	slot = probe.site->arch.slot;
	trapping = probe.site->trapping->slot;
	EXPECT(slot && trapping && slot != trapping);
	remove_probe();
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(add_probe(), 0);
		EXPECT(probe.site->arch.slot == slot || probe.site->arch.slot == trapping);
		EXPECT(
		    probe.site->trapping->slot == slot || probe.site->trapping->slot == trapping);
		remove_probe();
	}
}

/* The same of its detour; and the last post handler that goes gives back the copy that trapped. */
static void of_detours(void)
{
	struct kprobe p = {.symbol_name = "jump_target", .offset = 5, .pre_handler = probe_on_hit},
		      post = {.symbol_name = "kprobe_test_target",
			  .offset = 4,
			  .post_handler = probe_on_post};
	u64 detour = 0, slot = 0;

	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(probe_optimize());
		EXPECT(p.site->arch.detour != 0);
		detour = detour ? detour : p.site->arch.detour;
		EXPECT_EQ(p.site->arch.detour, detour);
		unregister_kprobe(&p);
	}
	EXPECT_EQ(add_several(), 0);
	u64 before = objects_in_use();
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(register_kprobe(&post), 0);
		slot = slot ? slot : post.site->trapping->slot;
		EXPECT_EQ(post.site->trapping->slot, slot);
		unregister_kprobe(&post);
		EXPECT_EQ(objects_in_use(), before);
	}
	remove_several();
}

/* ---- calls that are followed ---- */

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri, (void)r;
	return 0;
}

static struct kretprobe return_probe;

static int add_return_probe(void)
{
	return_probe = (struct kretprobe){.kp.symbol_name = "leftover_ends", .handler = on_return};
	return register_kretprobe(&return_probe);
}

static void remove_return_probe(void)
{
	unregister_kretprobe(&return_probe);
}

/* Its task ends in it: the call never returns. */
static void __noipa leftover_ends(void *end)
{
	if (end)
		do_exit(0);
	barrier();
}

static void leave_calls(bool end)
{
	struct threads t = {0};

	if (end) {
		thread_start(&t, leftover_ends, &t, -1);
		threads_join(&t);
	} else {
		leftover_ends(NULL);
	}
}

#define ROUNDS 16
#define SLACK  4 /* of stacks that are kept for the next task, and of a task that is going */

/* Calls that return, and calls that do not. */
static void of_return_probes(void)
{
	expect_no_leftovers("a return probe", add_return_probe, remove_return_probe);
	leave_calls(true);
	settled_free_pages();
	u64 before = objects_in_use();
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		EXPECT_EQ(add_return_probe(), 0);
		leave_calls(i & 1);
		remove_return_probe();
	}
	settled_free_pages();
	EXPECT(objects_in_use() <= before + SLACK);
}

/* ---- probes and callbacks of many functions ---- */

static struct fprobe fp;

static void fprobe_leftover_exit(
    struct fprobe *p, u64 entry_ip, u64 ret_ip, struct regs *regs, void *entry_data)
{
	(void)p, (void)entry_ip, (void)ret_ip, (void)regs, (void)entry_data;
}

static int add_fprobe(void)
{
	fp = (struct fprobe){.exit_handler = fprobe_leftover_exit};
	return register_fprobe(&fp, "leftover_*", NULL);
}

static int add_fprobe_syms(void)
{
	static const char *names[] = {"leftover_target", "leftover_other"};

	fp = (struct fprobe){.exit_handler = fprobe_leftover_exit};
	return register_fprobe_syms(&fp, names, ARRAY_SIZE(names));
}

static void remove_fprobe(void)
{
	EXPECT_EQ(unregister_fprobe(&fp), 0);
}

/* The first of its functions is refused, or the second. */
static void of_fprobes(void)
{
	static u64 places[] = {(u64)leftover_target, (u64)leftover_other};

	expect_no_leftovers("an fprobe", add_fprobe, remove_fprobe);
	expect_no_leftovers("an fprobe by names", add_fprobe_syms, remove_fprobe);
	u64 before = objects_in_use();
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		fp = (struct fprobe){.exit_handler = fprobe_leftover_exit,
		    .entry_data_size = KRETPROBE_DATA_MAX + 1};
		EXPECT_EQ(register_fprobe_ips(&fp, places, ARRAY_SIZE(places)), -EINVAL);
		EXPECT_EQ(objects_in_use(), before);
		fp.entry_data_size = 0;
		places[i]++;
		EXPECT_EQ(register_fprobe_ips(&fp, places, ARRAY_SIZE(places)), -EINVAL);
		places[i]--;
		EXPECT_EQ(objects_in_use(), before);
	}
	EXPECT_EQ(register_fprobe_ips(&fp, places, 0), -EINVAL);
}

static __notrace void on_function(u64 ip, u64 parent_ip, struct ftrace_ops *o, struct regs *regs)
{
	(void)ip, (void)parent_ip, (void)o, (void)regs;
}
NOTRACE(on_function, "a test calls it at the entry of functions");

static struct ftrace_ops ops;

static int ftrace_leftover_set(
    int (*set)(struct ftrace_ops *o, const char *buf, int len, int reset), const char *text)
{
	return set(&ops, text, strlen(text), 1);
}

static int add_callback(void)
{
	int err = ftrace_leftover_set(ftrace_set_filter, "leftover_*");

	if (!err)
		err = ftrace_leftover_set(ftrace_set_notrace, "leftover_other");
	if (!err)
		err = register_ftrace_function(&ops);
	if (err)
		ftrace_free_filter(&ops);
	return err;
}

static void remove_callback(void)
{
	EXPECT_EQ(unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

/* Of a list that another one replaces, and of one that could not be applied. */
static int change_list(void)
{
	const u64 *wanted = ops.wanted;
	int err = ftrace_leftover_set(ftrace_set_filter, "leftover_target");

	if (err)
		EXPECT_EQ((u64)ops.wanted, (u64)wanted);
	return err;
}

static void keep_list(void)
{
}

static void of_callbacks(void)
{
	ops = (struct ftrace_ops){.func = on_function};
	expect_no_leftovers("a callback", add_callback, remove_callback);
	EXPECT_EQ(add_callback(), 0);
	int number = ops.user.number;
	remove_callback();
	expect_no_leftovers("a callback", add_callback, remove_callback);
	EXPECT_EQ(add_callback(), 0);
	EXPECT_EQ(ops.user.number, number); /* no failed one keeps a number */
	expect_no_leftovers("another list", change_list, keep_list);
	remove_callback();
}

static const struct ktap_case cases[] = {
    {"kprobe_leftovers.of_probes", of_probes},
    {"kprobe_leftovers.of_switches", of_switches},
    {"kprobe_leftovers.of_reasons", of_reasons},
    {"kprobe_leftovers.of_slots", of_slots},
    {"kprobe_leftovers.of_detours", of_detours},
    {"kprobe_leftovers.of_return_probes", of_return_probes},
    {"kprobe_leftovers.of_fprobes", of_fprobes},
    {"kprobe_leftovers.of_callbacks", of_callbacks},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_leftovers = {cases};
