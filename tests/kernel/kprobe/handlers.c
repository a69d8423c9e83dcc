/*
 * Which handlers a hit calls where several probes share a place: not those of disabled probes, none
 * after one that goes elsewhere, and each with the registers that it asked for.
 */
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/kprobe/tools.h"

static u64 __noipa handlers_target(u64 a)
{
	return a + 1;
}

static u64 __noipa handlers_other(u64 a)
{
	return a + 100;
}

/* A probe that counts its handlers' calls. */
struct counting_probe {
	struct kprobe p;
	unsigned hits, posts;
};

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)r;
	container_of(p, struct counting_probe, p)->hits++;
	return 0;
}

static void on_post(struct kprobe *p, struct regs *r, u64 flags)
{
	(void)r, (void)flags;
	container_of(p, struct counting_probe, p)->posts++;
}

/* Before the instruction after the hook, or at the hook. */
static const unsigned offsets[] = {0, HOOK_LEN};

static void of_disabled_probes(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct counting_probe a = {.p = {.symbol_name = "handlers_target",
					       .offset = offsets[i],
					       .pre_handler = on_hit,
					       .post_handler = on_post}},
				      b = a;

		EXPECT_EQ(register_kprobe(&a.p), 0);
		EXPECT_EQ(register_kprobe(&b.p), 0);
		EXPECT_EQ(disable_kprobe(&a.p), 0);
		EXPECT_EQ(handlers_target(1), 2);
		EXPECT_EQ(a.hits + a.posts, 0);
		EXPECT_EQ(b.hits, 1);
		EXPECT_EQ(b.posts, 1);
		unregister_kprobe(&b.p);
		EXPECT(!a.p.site->post == !a.p.post_handler);
		unregister_kprobe(&a.p);
	}
}

/* The last post handler of a place is gone: its probes need no trap after the instruction. */
static void after_post_handlers(void)
{
	struct counting_probe stays = {
	    .p = {.symbol_name = "kprobe_test_target", .offset = 4, .pre_handler = on_hit}};
	struct kprobe post = {
	    .symbol_name = "kprobe_test_target", .offset = 4, .post_handler = probe_on_post};

	EXPECT_EQ(register_kprobe(&stays.p), 0);
	EXPECT_EQ(register_kprobe(&post), 0);
	EXPECT(stays.p.site->trapping != NULL);
	unregister_kprobe(&post);
	EXPECT(!stays.p.site->trapping);
	EXPECT(!stays.p.site->untrapped);
	unregister_kprobe(&stays.p);
}

/* Sends the call to another function. */
static int on_hit_goes_elsewhere(struct kprobe *p, struct regs *r)
{
	container_of(p, struct counting_probe, p)->hits++;
	r->rip = (u64)handlers_other;
	return 1;
}

/* The one that was registered last is called first. */
static void of_one_that_goes_elsewhere(void)
{
	struct counting_probe behind = {.p = {.symbol_name = "handlers_target",
					    .pre_handler = on_hit}},
			      goes = behind;

	goes.p.pre_handler = on_hit_goes_elsewhere;
	EXPECT_EQ(register_kprobe(&behind.p), 0);
	EXPECT_EQ(register_kprobe(&goes.p), 0);
	EXPECT_EQ(handlers_target(1), 101);
	EXPECT_EQ(goes.hits, 1);
	EXPECT_EQ(behind.hits, 0);
	unregister_kprobe(&goes.p);
	EXPECT_EQ(handlers_target(1), 2);
	EXPECT_EQ(behind.hits, 1);
	unregister_kprobe(&behind.p);
}

static void of_argument_readers(void)
{
	struct counting_probe a = {.p = {.symbol_name = "handlers_target",
				       .pre_handler = on_hit,
				       .flags = KPROBE_FLAG_ARGUMENTS}},
			      b = a, c = a;

	EXPECT_EQ(register_kprobe(&a.p), 0);
	EXPECT_EQ(register_kprobe(&b.p), 0);
	EXPECT_EQ(register_kprobe(&c.p), 0);
	EXPECT_EQ(disable_kprobe(&b.p), 0);
	EXPECT_EQ(handlers_target(1), 2);
	EXPECT_EQ(a.hits, 1);
	EXPECT_EQ(b.hits, 0);
	EXPECT_EQ(c.hits, 1);
	unregister_kprobe(&a.p);
	unregister_kprobe(&b.p);
	EXPECT_EQ(handlers_target(1), 2);
	EXPECT_EQ(c.hits, 2);
	unregister_kprobe(&c.p);
}

/* What was missed in an earlier life of a probe does not count in the next. */
static int on_hit_calls_other(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	handlers_other(1);
	return 0;
}

static void missed_hits(void)
{
	struct kprobe outer = {.symbol_name = "handlers_target", .pre_handler = on_hit_calls_other},
		      inner = {.symbol_name = "handlers_other", .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&outer), 0);
	EXPECT_EQ(register_kprobe(&inner), 0);
	handlers_target(1);
	EXPECT_EQ(inner.nmissed, 1);
	unregister_kprobe(&inner);
	EXPECT_EQ(register_kprobe(&inner), 0);
	EXPECT_EQ(inner.nmissed, 0);
	unregister_kprobe(&inner);
	unregister_kprobe(&outer);
}

/* The address that the first instruction of a hooked function calls; 0: it calls none. */
static u64 handlers_calls(u64 function)
{
	const u8 *at = (const u8 *)function;

	return *at == 0xe8 ? function + HOOK_LEN + *(const s32 *)(at + 1) : 0;
}

/* Switched on again together, each hook calls the entry that its probes need. */
static void kinds_together(void)
{
	struct kprobe all = {.symbol_name = "handlers_target", .pre_handler = probe_on_hit},
		      arguments = {.symbol_name = "handlers_other",
			  .pre_handler = probe_on_hit,
			  .flags = KPROBE_FLAG_ARGUMENTS};

	EXPECT_EQ(register_kprobe(&all), 0);
	EXPECT_EQ(register_kprobe(&arguments), 0);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(handlers_calls((u64)handlers_target), arch_hook_entry(ARCH_HOOK_PROBE));
		EXPECT_EQ(
		    handlers_calls((u64)handlers_other), arch_hook_entry(ARCH_HOOK_ARGUMENTS));
		kprobes_switch(false);
		EXPECT_EQ(handlers_calls((u64)handlers_target), 0);
		EXPECT_EQ(handlers_calls((u64)handlers_other), 0);
		kprobes_switch(true);
	}
	unregister_kprobe(&all);
	unregister_kprobe(&arguments);
}

static const struct ktap_case cases[] = {
    {"kprobe_handlers.of_disabled_probes", of_disabled_probes},
    {"kprobe_handlers.after_post_handlers", after_post_handlers},
    {"kprobe_handlers.of_one_that_goes_elsewhere", of_one_that_goes_elsewhere},
    {"kprobe_handlers.of_argument_readers", of_argument_readers},
    {"kprobe_handlers.missed_hits", missed_hits},
    {"kprobe_handlers.kinds_together", kinds_together},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_handlers = {cases};
