/*
 * Where a probe may become a jump and where not, and why; and that functions are as closed as that
 * takes for granted.
 */
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/probe/insn.h"
#include "arch/x86_64/probe/probe.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/kernel/kprobe/tools.h"

static const struct {
	u8 offset;
	const char *why;
} places[] = {
    {0, NULL},
    {1, NULL},
    {4, NULL},
    {5, NULL},
    {12, NULL},
    {16, NULL},
    {19, "an instruction that may not run elsewhere"},
    {20, "an instruction that may not run elsewhere"},
    {21, "an instruction that may not run elsewhere"},
};

static void every_place(void)
{
	u8 before[JUMP_TARGET_SIZE];

	memcpy(before, (void *)jump_target, sizeof(before));
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++) {
		struct kprobe p = {.symbol_name = "jump_target",
		    .offset = places[i].offset,
		    .pre_handler = probe_on_hit};
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(probe_optimize());
		EXPECT_STR(p.site->no_jump, places[i].why);
		EXPECT_EQ(probe_head(&p), places[i].why ? OP_INT3 : OP_JMP);
		probe_hits = 0;
		jump_target_call();
		EXPECT_EQ(probe_hits, 1);
		EXPECT_EQ(probe_seen.rip, (u64)p.addr + 1);
		EXPECT_EQ(probe_seen.rdi, 30);
		EXPECT_EQ(probe_seen.cs, 0x10);
		/*
		 * A breakpoint pushes what it finds: 0 after an interrupt took this CPU from ring
		 * 3.
		 */
		EXPECT(probe_seen.ss == 0x18 || (places[i].why && !probe_seen.ss));
		EXPECT_EQ(probe_seen.orig_rax, (u64)-1);
		unregister_kprobe(&p);
		EXPECT_EQ(memcmp(before, (void *)jump_target, sizeof(before)), 0);
		jump_target_call();
		EXPECT_EQ(probe_hits, 1);
	}
}

/* Places that say no, each for a reason of its own; the probe is at 0 but where it says +1. */
extern u8 jump_no_into[], jump_no_loop[], jump_no_call[], jump_no_table[], jump_no_std[],
    jump_no_fault[], jump_no_end[], jump_no_last[], jump_no_jcc[], jump_no_static[],
    jump_no_target[];
struct static_key jump_key;
__asm__(".pushsection .text.asm, \"ax\"\n"
	".macro jump_no name\n.globl jump_no_\\name\n.type jump_no_\\name, @function\n.balign "
	"16\njump_no_\\name:\n.endm\n"
	".macro jump_no_ends name\n.size jump_no_\\name, . - jump_no_\\name\n.endm\n"
	".macro nop4\n.byte 0x0f, 0x1f, 0x40, 0\n.endm\n.macro nop5\n.byte 0x0f, 0x1f, 0x44, 0, "
	"0\n.endm\n"
	"jump_no into\n\tnop\n1:\tnop4\n\tjc 1b\n\tret\njump_no_ends into\n"
	"jump_no last\n\tnop4\n1:\tnop\n\tjc 1b\n\tret\njump_no_ends last\n"
	"jump_no loop\n\tnop\n1:\tnop4\n\tloop 1b\n\tret\njump_no_ends loop\n"
	"jump_no call\n\tnop\n1:\tnop4\n\tret\n\tcall 1b\n\tret\njump_no_ends call\n"
	"jump_no table\n\tnop5\n\tjmp *%rax\njump_no_ends table\n"
	"jump_no std\n\tnop5\n\tstd\n\tcld\n\tret\njump_no_ends std\n"
	"jump_no fault\n\tnop5\n3:\tmovb (%rax), %al\n4:\tret\njump_no_ends fault\n"
	".pushsection __ex_table, \"a\"\n\t.quad 3b, 4b, 1\n.popsection\n"
	"jump_no jcc\n\tnop\n\tjc 1f\n\tnop4\n1:\tret\njump_no_ends jcc\n"
	"jump_no static\n\tnop\n5:\tnop5\n\tret\njump_no_ends static\n"
	"jump_no target\n\tnop\n6:\tnop4\n\tret\njump_no_ends target\n"
	".pushsection __static_branch, \"a\"\n\t.balign 8\n\t.quad 5b, 6b, jump_key\n.popsection\n"
	/* up to the next function: what lies between is padding */
	"jump_no end\n\tnop5\n\tnop5\n\tnop\n\tnop\n\tret\n\tnop\n\tnop\n\tnop\njump_no_ends end\n"
	"jump_no behind\n\tret\njump_no_ends behind\n"
	".popsection");

extern const u8 probe_no_word_jump[], probe_no_word_branch[], probe_no_wait[];
__asm__(".pushsection .text.asm, \"ax\"\n"
	".macro probe_no name\n.globl probe_no_\\name\n.type probe_no_\\name, "
	"@function\n.balign 16\nprobe_no_\\name:\n.endm\n"
	".macro probe_no_ends name\n.size probe_no_\\name, . - probe_no_\\name\n.endm\n"
	"probe_no word_jump\n\t.byte 0x66\n\tjmp *%rax\nprobe_no_ends word_jump\n"
	"probe_no word_branch\n\t.byte 0x66, 0x0f, 0x84, 0, 0, 0, "
	"0\n\tret\nprobe_no_ends word_branch\n"
	"probe_no wait\n\tsti\n\thlt\n\tret\nprobe_no_ends wait\n"
	".popsection");

static void __noipa jump_target_toggles(void)
{
	u64 flags = irq_save();

	barrier();
	irq_restore(flags);
}

/* The first switch of the watched interrupts in a function. */
static u64 toggle_in(u64 function)
{
	u64 at = function;

	while (!arch_toggle_at(at))
		at++;
	return at;
}

static void refusals(void)
{
	static const struct {
		u8 *at;
		const char *why;
	} rows[] = {
	    {jump_no_into, "a jump leads into it"},
	    {jump_no_last, "a jump leads into it"},
	    {jump_no_loop, "a jump leads into it"},
	    {jump_no_call, "a jump leads into it"},
	    {jump_no_table, "its function jumps to places that are not known"},
	    {jump_no_std, "its function turns the direction of strings"},
	    {jump_no_fault, "its function has instructions that may fault"},
	    {jump_no_end + 13, "its function ends too soon"},
	    {jump_no_jcc, "an instruction that may not run elsewhere"},
	    {jump_no_static, "a switch that is patched itself"},
	    {jump_no_target, "a jump leads into it"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kprobe p = {.addr = rows[i].at, .pre_handler = probe_on_hit};
		EXPECT_EQ(register_kprobe(&p), 0);
		EXPECT(probe_optimize());
		EXPECT_STR(p.site->no_jump, rows[i].why);
		EXPECT_EQ(probe_head(&p), OP_INT3);
		unregister_kprobe(&p);
	}
}

/* Places that no probe may have, as they are in these functions. */
static void no_probe(void)
{
	const struct {
		u64 at;
		const char *why;
	} rows[] = {
	    {(u64)jump_no_fault + 5, "an instruction that may fault"},
	    {(u64)jump_no_static + 1, "a switch that is patched itself"},
	    {(u64)jump_no_static + 5, "a switch that is patched itself"},
	    {(u64)probe_no_word_jump, "a jump with a segment or size of its own"},
	    {(u64)probe_no_word_branch, "a jump with a segment or size of its own"},
	    {(u64)probe_no_wait, "it holds interrupts off for the one behind"},
	    {(u64)probe_no_wait + 1, "it waits for the interrupt that the one before lets in"},
	    {(u64)__text_end, "not in the kernel's text"},
	    {toggle_in((u64)jump_target_toggles), "a switch that is patched itself"},
	};
	u8 code[INSN_MAX + 1];

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kprobe p = {.addr = (void *)rows[i].at, .pre_handler = probe_on_hit};
		EXPECT_EQ(register_kprobe(&p), -EINVAL);
		EXPECT_STR(p.why, rows[i].why);
	}
	EXPECT_EQ(probe_read_code((u64)__text_end - 3, code), 3);
}

/* Of each byte of a detour: the instruction that is still to come. */
static void origins(void)
{
	extern const u8 probe_detour[], probe_detour_copy[];
	struct kprobe p = {.symbol_name = "jump_target", .offset = 5, .pre_handler = probe_on_hit};
	unsigned copy = probe_detour_copy - probe_detour;

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT(probe_optimize());
	const struct arch_probe *a = &p.site->arch;
	EXPECT_EQ(a->region, 7);
	for (unsigned at = 0; at < copy; at++)
		EXPECT_EQ(arch_probe_origin(a->detour + at), a->addr);
	for (unsigned at = 0; at < (unsigned)a->region + ARCH_JUMP_LEN; at++)
		EXPECT_EQ(arch_probe_origin(a->detour + copy + at), a->addr + MIN(at, 7u));
	EXPECT(probe_detour_saves(a->detour + copy - 1));
	EXPECT(!probe_detour_saves(a->detour + copy));
	unregister_kprobe(&p);
}

/* ---- the ground it stands on ---- */

/*
 * Is it the beginning of a function, or of none? Those without probes have entrances of their own.
 */
static bool is_entrance(u64 target)
{
	u64 start = kernel_function_start(target);

	return !start || start == target || arch_probe_refused(target) != NULL;
}

static bool is_branch(enum insn_kind kind)
{
	return kind == INSN_JMP || kind == INSN_JCC || kind == INSN_LOOP || kind == INSN_CALL;
}

/*
 * No code leads into the middle of another function: so it is enough to look for jumps within one.
 */
static void functions_are_closed(void)
{
	u64 start, size, branches = 0;
	const char *name;

	for (unsigned n = 0; sym_nth(n, &name, &start, &size); n++) {
		if (arch_probe_refused(start) || str_has_prefix(name, "opcodes_"))
			continue; /* these are single instructions of opcodes.c */
		struct insn i;
		for (u64 at = start; at < start + size; at += i.len) {
			u8 code[INSN_MAX + 1];
			if (!insn_decode(&i, code, probe_read_code(at, code)))
				break;
			u64 target = at + i.len + i.imm;
			if (!is_branch(insn_kind(&i)) || target - start < size)
				continue;
			branches++;
			if (!is_entrance(target))
				ktap_fail(__FILE__, __LINE__, "%s+0x%lx leads to %llx", name,
				    (unsigned long)(at - start), (unsigned long long)target);
		}
	}
	EXPECT(branches > 1000);
}

/*
 * The first bytes of the text can be read like any: before them there is nothing to look for a jump
 * in.
 */
static void first_bytes(void)
{
	u8 code[INSN_MAX + 1];
	const char *name;
	u64 start, size;

	EXPECT(sym_nth(0, &name, &start, &size));
	for (u64 at = start; at < start + ARCH_JUMP_LEN; at++) {
		EXPECT_EQ(probe_read_code(at, code), sizeof(code));
		EXPECT(!memcmp(code, (void *)at, sizeof(code)));
	}
}

static const struct ktap_case cases[] = {
    {"kprobe_jump.every_place", every_place},
    {"kprobe_jump.refusals", refusals},
    {"kprobe_jump.no_probe", no_probe},
    {"kprobe_jump.origins", origins},
    {"kprobe_jump.functions_are_closed", functions_are_closed},
    {"kprobe_jump.first_bytes", first_bytes},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_jump_places = {cases};
