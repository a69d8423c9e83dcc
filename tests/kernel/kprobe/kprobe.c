/*
 * Probes (kernel/kprobe/kprobe.h): where they may be, what handlers see, several at a place,
 * probe_hits inside probe_hits.
 */
#include "kernel/base/sym.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/kprobe/tools.h"

/*
 * Instructions of known lengths: push (1), mov reg (3), an add in memory relative to %rip (7), call
 * (5), pop (1), ret (1).
 */
u64 kprobe_test_word;
u64 kprobe_test_target(u64 a, u64 b);
u64 kprobe_test_helper(u64 a);
__asm__(".pushsection .text.asm, \"ax\"\n"
	".globl kprobe_test_target\n.type kprobe_test_target, @function\n.balign "
	"16\nkprobe_test_target:\n\t"
	"pushq %rbp\n\tmovq %rsp, %rbp\n\taddq %rdi, kprobe_test_word(%rip)\n\tleaq (%rdi,%rsi), "
	"%rdi\n\t"
	"call kprobe_test_helper\n\tpopq %rbp\n\tret\n.size kprobe_test_target, . - "
	"kprobe_test_target\n"
	".globl kprobe_test_helper\n.type kprobe_test_helper, @function\n.balign "
	"16\nkprobe_test_helper:\n\t"
	"leaq 1(%rdi), %rax\n\tret\n.size kprobe_test_helper, . - kprobe_test_helper\n"
	".popsection");

static const u8 boundaries[] = {0, 1, 4, 11, 15, 20, 21};
#define TARGET_SIZE 22

static bool is_boundary(unsigned offset)
{
	for (unsigned i = 0; i < ARRAY_SIZE(boundaries); i++)
		if (boundaries[i] == offset)
			return true;
	return false;
}

/* Calls the target, which must do its work whatever is probed. */
static void call_target(void)
{
	u64 word = kprobe_test_word;

	EXPECT_EQ(kprobe_test_target(30, 12), 43);
	EXPECT_EQ(kprobe_test_word - word, 30);
}

static void every_instruction(void)
{
	u8 before[TARGET_SIZE];

	memcpy(before, (void *)kprobe_test_target, sizeof(before));
	for (unsigned offset = 0; offset < TARGET_SIZE; offset++) {
		struct kprobe p = {.symbol_name = "kprobe_test_target",
		    .offset = offset,
		    .pre_handler = probe_on_hit};
		int err = register_kprobe(&p);
		EXPECT_EQ(err, is_boundary(offset) ? 0 : -EILSEQ);
		if (err)
			continue;
		probe_hits = 0;
		call_target();
		EXPECT_EQ(probe_hits, 1);
		EXPECT_EQ(probe_seen.rip, (u64)kprobe_test_target + offset + 1);
		EXPECT_EQ(probe_seen.rdi, offset > 11 ? 42 : 30);
		EXPECT_EQ((u64)p.addr, (u64)kprobe_test_target + offset);
		unregister_kprobe(&p);
		call_target();
		EXPECT_EQ(probe_hits, 1);
		EXPECT_EQ(memcmp(before, (void *)kprobe_test_target, sizeof(before)), 0);
	}
}

static void all_at_once(void)
{
	struct kprobe p[ARRAY_SIZE(boundaries)] = {{0}}, *ps[ARRAY_SIZE(boundaries)];

	for (unsigned i = 0; i < ARRAY_SIZE(p); i++) {
		p[i].addr = (u8 *)kprobe_test_target + boundaries[i];
		p[i].pre_handler = probe_on_hit;
		p[i].post_handler = i & 1 ? probe_on_post : NULL;
		ps[i] = &p[i];
	}
	EXPECT_EQ(register_kprobes(ps, ARRAY_SIZE(ps)), 0);
	probe_hits = probe_post_hits = 0;
	call_target();
	EXPECT_EQ(probe_hits, ARRAY_SIZE(p));
	EXPECT_EQ(probe_post_hits, ARRAY_SIZE(p) / 2);
	unregister_kprobes(ps, ARRAY_SIZE(ps));
	/* One that is refused: none is registered. */
	p[3].offset = 1;
	EXPECT_EQ(register_kprobes(ps, ARRAY_SIZE(ps)), -EILSEQ);
	probe_hits = 0;
	call_target();
	EXPECT_EQ(probe_hits, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
		EXPECT(!p[i].site);
}

static void post_handlers(void)
{
	static const u8 at[] = {1, 4}; /* an emulated one, a copied one */

	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		struct kprobe p = {.symbol_name = "kprobe_test_target",
		    .offset = at[i],
		    .post_handler = probe_on_post};
		EXPECT_EQ(register_kprobe(&p), 0);
		probe_post_hits = 0;
		call_target();
		EXPECT_EQ(probe_post_hits, 1);
		EXPECT_EQ(probe_seen.rip, (u64)kprobe_test_target + at[i] + (at[i] == 1 ? 3 : 7));
		if (at[i] == 1)
			EXPECT_EQ(probe_seen.rbp, probe_seen.rsp);
		unregister_kprobe(&p);
		call_target();
		EXPECT_EQ(probe_post_hits, 1);
	}
}

static int on_hit_elsewhere(struct kprobe *p, struct regs *r)
{
	(void)p;
	r->rax = 77;
	r->rip = *(u64 *)r->rsp; /* returns at once */
	r->rsp += 8;
	return 1;
}

static void handler_goes_elsewhere(void)
{
	struct kprobe p = {.symbol_name = "kprobe_test_helper", .pre_handler = on_hit_elsewhere};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(kprobe_test_target(1, 2), 77);
	unregister_kprobe(&p);
	EXPECT_EQ(kprobe_test_target(1, 2), 4);
}

static void several_at_a_place(void)
{
	struct kprobe a = {.symbol_name = "kprobe_test_helper", .pre_handler = probe_on_hit}, b = a,
		      c = a;

	c.flags = KPROBE_FLAG_DISABLED;
	EXPECT_EQ(register_kprobe(&a), 0);
	EXPECT_EQ(register_kprobe(&b), 0);
	EXPECT_EQ(register_kprobe(&c), 0);
	probe_hits = 0;
	call_target();
	EXPECT_EQ(probe_hits, 2);
	EXPECT_EQ(enable_kprobe(&c), 0);
	call_target();
	EXPECT_EQ(probe_hits, 5);
	EXPECT_EQ(disable_kprobe(&a), 0);
	unregister_kprobe(&b);
	call_target();
	EXPECT_EQ(probe_hits, 6);
	EXPECT_EQ(disable_kprobe(&c), 0);
	EXPECT(*(u8 *)kprobe_test_helper != 0xcc);
	call_target();
	EXPECT_EQ(probe_hits, 6);
	unregister_kprobe(&a);
	unregister_kprobe(&c);
	EXPECT_EQ(enable_kprobe(&c), -EINVAL);
}

static void wrong_calls(void)
{
	struct kprobe p = {.pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&p), -EINVAL); /* nowhere */
	p.symbol_name = "no_such_function";
	EXPECT_EQ(register_kprobe(&p), -ENOENT);
	p.symbol_name = "kprobe_test_helper";
	p.addr = (void *)kprobe_test_helper;
	EXPECT_EQ(register_kprobe(&p), -EINVAL);
	p.addr = NULL;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(register_kprobe(&p), -EINVAL); /* again */
	probe_hits = 0;
	call_target();
	EXPECT_EQ(probe_hits, 1);
	unregister_kprobe(&p);
	unregister_kprobe(&p);		   /* nothing to do */
	EXPECT_EQ(register_kprobe(&p), 0); /* and again */
	unregister_kprobe(&p);
	p.symbol_name = NULL;
	p.addr = (void *)kprobe_test_helper;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(register_kprobe(&p), -EINVAL); /* by its address, too */
	unregister_kprobe(&p);
}

/* A name that several functions have names no place, whichever of them comes first. */
static void ambiguous_name(void)
{
	struct kprobe p = {.pre_handler = probe_on_hit};
	unsigned count = 0;
	const char *name;
	u64 start, size;

	for (unsigned i = 0; count < 2 && sym_nth(i, &name, &start, &size); i++)
		sym_address(name, &count);
	EXPECT(count > 1);
	p.symbol_name = name;
	EXPECT_EQ(register_kprobe(&p), -EADDRNOTAVAIL);
	EXPECT(!p.addr);
}

/* Each with a word of why. */
static void refused_places(void)
{
	static const struct {
		const char *symbol, *why;
		u64 addr;
	} rows[] = {
	    {"syscall_entry", "entry code", 0},
	    {"kernel_probe_int3", "code that probes need themselves", 0},
	    {"probe_push", "code that probes need themselves", 0},
	    {"trap_dispatch", "code that probes need themselves", 0},
	    {"ring_buffer_lock_reserve", "code of the tracer itself", 0},
	    {"trace_record_sched_switch", "code of the tracer itself", 0},
	    {"pvh_start", "code of the boot, in another mode of the CPU", 0},
	    {NULL, "not in the kernel's text", (u64)&probe_hits},
	    {NULL, "not in the kernel's text", 8},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kprobe p = {.symbol_name = rows[i].symbol,
		    .addr = (void *)rows[i].addr,
		    .pre_handler = probe_on_hit};
		EXPECT_EQ(register_kprobe(&p), -EINVAL);
		EXPECT_STR(p.why, rows[i].why);
	}
}

/* ---- probe_hits inside probe_hits ---- */

static int on_hit_calls(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	probe_hits++;
	barrier();
	kprobe_test_helper(1);
	kprobe_test_helper(2);
	return 0;
}

static void inside_a_handler(void)
{
	struct kprobe outer = {.symbol_name = "kprobe_test_target", .pre_handler = on_hit_calls};
	struct kprobe inner = {.symbol_name = "kprobe_test_helper", .pre_handler = probe_on_hit};

	EXPECT_EQ(register_kprobe(&outer), 0);
	EXPECT_EQ(register_kprobe(&inner), 0);
	probe_hits = 0;
	for (unsigned i = 0; i < 100; i++)
		call_target();
	EXPECT_EQ(probe_hits, 200);
	EXPECT_EQ(inner.nmissed, 200);
	EXPECT_EQ(outer.nmissed, 0);
	unregister_kprobe(&inner);
	unregister_kprobe(&outer);
}

static const struct ktap_case cases[] = {
    {"kprobe.every_instruction", every_instruction},
    {"kprobe.all_at_once", all_at_once},
    {"kprobe.post_handlers", post_handlers},
    {"kprobe.handler_goes_elsewhere", handler_goes_elsewhere},
    {"kprobe.several_at_a_place", several_at_a_place},
    {"kprobe.wrong_calls", wrong_calls},
    {"kprobe.ambiguous_name", ambiguous_name},
    {"kprobe.refused_places", refused_places},
    {"kprobe.inside_a_handler", inside_a_handler},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe = {cases};
