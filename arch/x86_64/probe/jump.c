/*
 * Jumps in place of breakpoints: where one may be, its detour, putting it in and out. Contexts are
 * those of arch/arch.h.
 *
 * Words: the region is the whole instructions of which the jump covers at least the first byte; its
 * middle is what lies after its first byte and under the jump. The detour is a copy of detour.S,
 * then the region's instructions, then a jump back.
 *
 * The jump may stand when nobody can come to the middle: no jump leads there, no other probe's
 * slot, nobody is there now. From arch_jump_open() on, who traps at the head goes on in the
 * detour's copy, so that nobody new comes there; the caller then waits for those who were there.
 * text_patch() does the rest, and who traps meanwhile is resumed as before.
 */
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/irq/extable.h"
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/probe/insn.h"
#include "arch/x86_64/probe/probe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define DETOUR_SIZE 256
#define DETOURS	    1024

enum { OP_INT3 = 0xcc, OP_JMP = 0xe9, OP_STD = 0xfd };

/* detour.S: its parts, and the gaps. */
extern const u8 probe_detour[], probe_detour_missed[], probe_detour_entry[], probe_detour_ip[],
    probe_detour_arg[], probe_detour_handler[], probe_detour_copy[];

extern const struct static_branch_site __start___static_branch[], __stop___static_branch[];

/* What a detour stands for; addr 0: it is free. [A]: read in any context. */
static struct detour {
	u64 addr;
	u8 region;
	bool left; /* nobody comes there any more */
} detours[DETOURS];
static unsigned hint; /* [the caller's lock] */

/* ---- detours ---- */

static inline __attribute__((always_inline)) unsigned index_of(u64 rip)
{
	return (rip - (u64)__detours_start) / DETOUR_SIZE;
}

static u64 detour_take(const struct arch_probe *p)
{
	for (unsigned n = 0; n < DETOURS; n++) {
		unsigned i = (hint + n) % DETOURS;
		if (detours[i].addr)
			continue;
		hint = i + 1;
		detours[i].region = p->region;
		WRITE_ONCE(detours[i].addr, p->addr);
		return (u64)__detours_start + i * DETOUR_SIZE;
	}
	return 0;
}

void arch_jump_release(struct arch_probe *p)
{
	if (!p->detour)
		return;
	hint = index_of(p->detour);
	WRITE_ONCE(detours[hint].left, false);
	WRITE_ONCE(detours[hint].addr, 0);
	p->detour = 0;
}

void arch_jump_leave(const struct arch_probe *p)
{
	if (p->detour)
		WRITE_ONCE(detours[index_of(p->detour)].left, true);
}

bool probe_detour_is_left(u64 rip)
{
	return READ_ONCE(detours[index_of(rip)].left);
}

static unsigned offset_of(const u8 *part)
{
	return part - probe_detour;
}

bool probe_detour_saves(u64 rip)
{
	u64 at = rip - (u64)__detours_start;

	return at < (u64)(__slots_end - __detours_start) &&
	       at % DETOUR_SIZE < (u64)(probe_detour_copy - probe_detour);
}

/*
 * What the detour's instructions do to the stack and to %rbp; `words` lie above the probed code's
 * when they are not `framed`.
 */
static void follow_stack(const struct insn *i, int *words, bool *framed)
{
	unsigned reg = insn_reg(i), rm = i->modrm & 7;

	if ((i->opcode & 0xf8) == 0x50 || i->opcode == 0x68 || i->opcode == 0x6a ||
	    i->opcode == 0x9c) {
		++*words; /* push, pushfq */
	} else if ((i->opcode & 0xf8) == 0x58 || i->opcode == 0x9d) {
		--*words; /* pop, popfq */
		*framed &= i->opcode != 0x5d || i->rex;
	} else if (i->opcode == 0x8d && reg == 5) {
		*framed = true; /* leaq 1(%rsp), %rbp */
	} else if (i->opcode == 0x8d && reg == 4 && rm == 5) {
		*words = sizeof(struct regs) / 8; /* leaq -1(%rbp), %rsp */
	} else if (i->opcode == 0x8d && reg == 4) {
		*words -= i->disp / 8; /* leaq n(%rsp), %rsp */
	} else if (i->opcode == 0x83 && i->modrm == 0xc4) {
		*words -= i->imm / 8; /* addq $n, %rsp */
	}
}

int probe_detour_words(u64 rip)
{
	const u8 *at = probe_detour_entry,
		 *end = probe_detour + (rip - (u64)__detours_start) % DETOUR_SIZE;
	bool framed = end < at; /* the part before the entry, when a probe is missed */
	struct insn i;
	int words = 0;

	for (; at < end && insn_decode(&i, at, INSN_MAX); at += i.len)
		follow_stack(&i, &words, &framed);
	return framed ? -1 : words;
}

/* Before the copies an instruction is still to come; after them all have run. */
u64 __noprobe probe_detour_origin(u64 rip)
{
	u64 in = (rip - (u64)__detours_start) % DETOUR_SIZE;
	u64 copy = probe_detour_copy - probe_detour;
	const struct detour *d = &detours[index_of(rip)];

	if (in < copy)
		return READ_ONCE(d->addr);
	return READ_ONCE(d->addr) + MIN(in - copy, (u64)d->region);
}

static void __noprobe probe_detoured(struct regs *r, const struct arch_probe *p)
{
	r->rip = p->detour + (probe_detour_copy - probe_detour);
}

/* A 32-bit distance at `gap` of the detour that is made in `image`, from after it to `target`. */
static void put_distance(u8 *image, const struct arch_probe *p, unsigned gap, u64 target)
{
	probe_put_s32(image + gap, target - (p->detour + gap + 4));
}

static void fill(u8 *image, const struct arch_probe *p, u64 fn, u64 arg)
{
	unsigned to = offset_of(probe_detour_copy);
	u8 code[INSN_MAX + 1];
	struct insn i;

	memset(image, OP_INT3, DETOUR_SIZE);
	memcpy(image, probe_detour, to);
	probe_put_s32(image + offset_of(probe_detour_ip), p->addr + 1);
	memcpy(image + offset_of(probe_detour_arg), &arg, sizeof(arg));
	put_distance(image, p, offset_of(probe_detour_handler), fn);
	put_distance(image, p, offset_of(probe_detour_missed), (u64)kernel_probe_missed);
	for (u64 at = p->addr; at < p->addr + p->region; at += i.len, to += i.len) {
		insn_decode(&i, code, probe_read_code(at, code));
		probe_copy_insn(image + to, p->detour + to, &i, code, at);
	}
	image[to] = OP_JMP;
	put_distance(image, p, to + 1, p->addr + p->region);
}

int arch_jump_open(struct arch_probe *p, int (*fn)(void *arg, struct regs *r), void *arg)
{
	u8 image[DETOUR_SIZE];

	if (!p->detour)
		p->detour = detour_take(p);
	if (!p->detour)
		return -ENOMEM;
	WRITE_ONCE(detours[index_of(p->detour)].left, false);
	fill(image, p, (u64)fn, (u64)arg);
	paging_poke((void *)p->detour, image, sizeof(image));
	p->plain = p->resume;
	WRITE_ONCE(p->resume, probe_detoured);
	return 0;
}

void arch_jump_close(struct arch_probe *p)
{
	WRITE_ONCE(p->resume, p->plain);
}

/* ---- where ---- */

static bool in_middle(const struct arch_probe *p, u64 addr)
{
	return addr > p->addr && addr < p->addr + ARCH_JUMP_LEN;
}

bool arch_jump_inside(const struct arch_probe *p, u64 rip)
{
	return in_middle(p, rip) || (p->slot && rip - p->slot < SLOT_SIZE);
}

/* Finds the region: whole instructions, each of which may be probed itself and runs anywhere. */
static const char *measure(struct arch_probe *p, u64 end)
{
	u8 code[INSN_MAX + 1];
	struct insn i;
	u64 at = p->addr;

	for (; at < p->addr + ARCH_JUMP_LEN; at += i.len) {
		const char *why = at < end ? arch_probe_refused(at) : "its function ends too soon";
		if (why)
			return why;
		if (!insn_decode(&i, code, probe_read_code(at, code)))
			return "what follows is no instruction";
		if (insn_kind(&i) != INSN_PLAIN && insn_kind(&i) != INSN_NOP)
			return "an instruction that may not run elsewhere";
	}
	if (at > end)
		return "its function ends too soon";
	p->region = at - p->addr;
	return NULL;
}

/* What an instruction of the function says against a jump at p. */
static const char *against(const struct arch_probe *p, const struct insn *i, u64 next)
{
	switch (insn_kind(i)) {
	case INSN_JMP_NEAR:
		return "its function jumps to places that are not known";
	case INSN_JMP:
	case INSN_JCC:
	case INSN_LOOP:
	case INSN_CALL:
		return in_middle(p, next + i->imm) ? "a jump leads into it" : NULL;
	default:
		return i->map == INSN_MAP_1 && i->opcode == OP_STD
			   ? "its function turns the direction of strings"
			   : NULL;
	}
}

/*
 * Other functions lead to the beginning of this one or to where they were called:
 * tests/kernel/kprobe/jump.c looks.
 */
static const char *search(const struct arch_probe *p, u64 at, u64 end)
{
	u8 code[INSN_MAX + 1];
	const char *why = NULL;
	struct insn i;

	for (; at < end && !why; at += i.len) {
		if (!insn_decode(&i, code, probe_read_code(at, code)))
			return "its function holds what is no instruction";
		why = against(p, &i, at + i.len);
	}
	return why;
}

static const char *search_tables(const struct arch_probe *p, u64 start, u64 end)
{
	for (const struct static_branch_site *s = __start___static_branch;
	     s < __stop___static_branch; s++)
		if (in_middle(p, s->target))
			return "a jump leads into it";
	if (extable_touches(start, end))
		return "its function has instructions that may fault";
	return NULL;
}

const char *arch_jump_check(struct arch_probe *p)
{
	u64 start = kernel_function_start(p->addr), end = kernel_function_end(p->addr);
	const char *why = measure(p, end);

	if (!why)
		why = search_tables(p, start, end);
	if (!why)
		why = search(p, start, end);
	if (why) {
		p->region = 0;
		return why;
	}
	u8 code[INSN_MAX + 1];
	probe_read_code(p->addr, code);
	memcpy(p->covered, code, sizeof(p->covered));
	return NULL;
}

/* ---- arming ---- */

void arch_jump_arm(struct arch_probe *const *p, unsigned n, bool on)
{
	static struct text_patch patches[ARCH_PROBE_BATCH];

	for (unsigned i = 0; i < n; i++) {
		u8 *to = patches[i].bytes;
		patches[i].addr = (void *)p[i]->addr;
		patches[i].len = ARCH_JUMP_LEN;
		memcpy(to, p[i]->covered, ARCH_JUMP_LEN);
		to[0] = on ? OP_JMP : OP_INT3;
		if (on)
			probe_put_s32(to + 1, p[i]->detour + offset_of(probe_detour_entry) -
						  (p[i]->addr + ARCH_JUMP_LEN));
	}
	if (n)
		text_patch(patches, n);
}
