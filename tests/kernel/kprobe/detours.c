/*
 * More probes than there is room for detours: 1024 become jumps, the others stay breakpoints and
 * are hit all the same; one that goes leaves its place to another.
 */
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/kprobe/tools.h"

#define DETOURS 1024 /* arch/x86_64/probe/jump.c */
#define PLACES	(DETOURS + 2)

/* As many places as PLACES, each five bytes long. */
void detour_row(void);
extern u8 detour_row_places[];
__asm__(
    ".pushsection .text.asm, \"ax\"\n.globl detour_row\n.type detour_row, @function\n.balign 16\n"
    "detour_row:\n\t"
    "pushq %rbp\n\tmovq %rsp, %rbp\n"
    "detour_row_places:\n\t"
    ".rept 1026\n\t.byte 0x0f, 0x1f, 0x44, 0, 0\n\t.endr\n\t" /* a nop */
    "popq %rbp\n\tret\n"
    ".size detour_row, . - detour_row\n.popsection");

static struct kprobe probes[PLACES];
static u16 hits[PLACES];

static int count(struct kprobe *p, struct regs *r)
{
	(void)r;
	hits[p - probes]++;
	return 0;
}

static int add(unsigned i)
{
	probes[i] = (struct kprobe){.addr = detour_row_places + 5 * i, .pre_handler = count};
	return register_kprobe(&probes[i]);
}

/* The first n are there: so many of them are jumps. */
static unsigned jumps(unsigned n)
{
	unsigned found = 0;

	EXPECT(probe_optimize());
	for (unsigned i = 0; i < n; i++)
		found += probe_head(&probes[i]) == OP_JMP;
	return found;
}

/* Each is hit once a call. */
static void expect_hits(unsigned first, unsigned n)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < PLACES; i++)
		hits[i] = 0;
	detour_row();
	for (unsigned i = 0; i < PLACES; i++)
		wrong += hits[i] != (i >= first && i < n);
	EXPECT_EQ(wrong, 0);
}

static void full(void)
{
	unsigned n = 0;

	while (n < DETOURS - 1)
		EXPECT_EQ(add(n++), 0);
	EXPECT_EQ(jumps(n), DETOURS - 1);
	expect_hits(0, n);
	while (n < PLACES) {
		EXPECT_EQ(add(n++), 0);
		EXPECT_EQ(jumps(n), DETOURS);
		expect_hits(0, n);
	}
	for (unsigned i = 0; i < 2; i++) {
		unregister_kprobe(&probes[i]);
		probes[i].addr = detour_row_places + 5 * i; /* a nop again */
		EXPECT_EQ(jumps(n), DETOURS);
		expect_hits(i + 1, n);
	}
	for (unsigned i = 2; i < n; i++)
		unregister_kprobe(&probes[i]);
	expect_hits(0, 0);
}

static const struct ktap_case cases[] = {
    {"kprobe_detours.full", full},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_detours = {cases};
