/*
 * Where a probe may be and how its instruction is resumed; the slots; arming. Contexts are those of
 * arch/arch.h.
 *
 * A slot holds a copy of one instruction and, after it, a jump back (or an int3). A RIP-relative
 * operand of the copy is corrected for the distance. Slots lie in the kernel's image, so it stays
 * in reach. Their pages are read-only and executable, and are written like text.
 */
#include "arch/x86_64/probe/probe.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/irq/extable.h"
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/mm/paging.h"
#include "arch/x86_64/probe/insn.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define SLOTS 4096

enum { OP_INT3 = 0xcc, OP_JMP = 0xe9, OP_HLT = 0xf4 };

extern const struct static_branch_site __start___static_branch[], __stop___static_branch[];

/* The address whose instruction a slot holds; 0: it is free. [A]: read in any context. */
static u64 slot_addr[SLOTS], slot_next[SLOTS];
static bool slot_left[SLOTS]; /* [A] no CPU enters it any more */
static unsigned slot_hint;    /* [the caller's lock] */

/* ---- slots ---- */

bool __noprobe arch_probe_in_slot(u64 rip)
{
	return rip - (u64)__slots_start < (u64)(__slots_end - __slots_start);
}

u64 __noprobe arch_probe_origin(u64 rip)
{
	u64 at = rip - (u64)__slots_start;

	if (!arch_probe_in_slot(rip))
		return rip;
	if (at >= SLOTS * SLOT_SIZE)
		return probe_detour_origin(rip);
	return at % SLOT_SIZE ? READ_ONCE(slot_next[at / SLOT_SIZE])
			      : READ_ONCE(slot_addr[at / SLOT_SIZE]);
}

static u64 slot_take(u64 addr, u64 next)
{
	for (unsigned n = 0; n < SLOTS; n++) {
		unsigned i = (slot_hint + n) % SLOTS;
		if (slot_addr[i])
			continue;
		slot_hint = i + 1;
		WRITE_ONCE(slot_next[i], next);
		WRITE_ONCE(slot_addr[i], addr);
		return (u64)__slots_start + i * SLOT_SIZE;
	}
	return 0;
}

void probe_put_s32(u8 *to, s64 v)
{
	s32 word = v;

	memcpy(to, &word, sizeof(word));
}

void probe_copy_insn(u8 *copy, u64 to, const struct insn *i, const u8 *code, u64 from)
{
	memcpy(copy, code, i->len);
	if (insn_rip_relative(i))
		probe_put_s32(copy + i->disp_at, i->disp + (s64)(from - to));
}

static int slot_fill(struct arch_probe *p, const struct insn *i, const u8 *code, bool trap_behind)
{
	u8 copy[SLOT_SIZE];

	p->slot = slot_take(p->addr, p->next);
	if (!p->slot)
		return -ENOMEM;
	memset(copy, OP_INT3, sizeof(copy));
	probe_copy_insn(copy, p->slot, i, code, p->addr);
	if (!trap_behind) {
		copy[i->len] = OP_JMP;
		probe_put_s32(copy + i->len + 1, p->next - (p->slot + i->len + ARCH_JUMP_LEN));
	}
	paging_poke((void *)p->slot, copy, sizeof(copy));
	p->resume = probe_copy;
	return 0;
}

void arch_probe_release(struct arch_probe *p)
{
	if (!p->slot)
		return;
	unsigned i = (p->slot - (u64)__slots_start) / SLOT_SIZE;
	WRITE_ONCE(slot_left[i], false);
	WRITE_ONCE(slot_addr[i], 0);
	slot_hint = i;
	p->slot = 0;
}

/* ---- where ---- */

static bool within(u64 addr, const char *start, const char *end)
{
	return addr >= (u64)start && addr < (u64)end;
}

static bool in_static_branch(u64 addr)
{
	for (const struct static_branch_site *s = __start___static_branch;
	     s < __stop___static_branch; s++)
		if (addr - s->site < ARCH_JUMP_LEN)
			return true;
	return false;
}

/* The reason why the address cannot be probed; NULL: it can. */
const char *arch_probe_refused(u64 addr)
{
	if (!within(addr, __text_start, __text_end))
		return "not in the kernel's text";
	if (within(addr, __text_start, __boot_text_end))
		return "code of the boot, in another mode of the CPU";
	if (within(addr, __trace_text_start, __trace_text_end))
		return "code of the tracer itself";
	if (within(addr, (char *)entry_text_start, (char *)entry_text_end))
		return "entry code";
	if (within(addr, __noprobe_start, __noprobe_end))
		return "code that probes need themselves";
	if (in_static_branch(addr) || arch_toggle_at(addr))
		return "a switch that is patched itself";
	if (extable_find(addr))
		return "an instruction that may fault";
	return NULL;
}

/* Reads the original bytes of an instruction, but none after the end of the text. */
unsigned probe_read_code(u64 addr, u8 *code)
{
	unsigned room = MIN((u64)INSN_MAX + 1, (u64)__text_end - addr);

	memcpy(code, (void *)addr, room);
	kernel_probe_original(addr, code, room);
	return room;
}

/*
 * Decodes the instruction that contains addr, from the function's first one on. Returns its
 * address; 0: unknown.
 */
static u64 probe_find_insn(u64 addr, struct insn *i, u8 *code)
{
	for (u64 at = kernel_function_start(addr); at && at <= addr; at += i->len) {
		if (!insn_decode(i, code, probe_read_code(at, code)))
			return 0;
		if (addr < at + i->len)
			return at;
	}
	return 0;
}

u64 arch_probe_insn(u64 addr, unsigned *len)
{
	u8 code[INSN_MAX + 1];
	struct insn i;
	u64 at = probe_find_insn(addr, &i, code);

	*len = at ? i.len : 0;
	return at;
}

/* ---- how ---- */

static unsigned reg_number(unsigned low, u8 rex, u8 bit)
{
	return low | (rex & bit ? 8 : 0);
}

static const char *prepare_near(struct arch_probe *p, const struct insn *i)
{
	p->resume = insn_kind(i) == INSN_CALL_NEAR ? probe_call_near : probe_jmp_near;
	p->memory = insn_mod(i) != 3;
	p->disp = i->disp;
	p->base = reg_number(insn_rm(i), i->rex, INSN_REX_B);
	p->index = PROBE_NO_REG;
	if (i->prefixes & (INSN_PREFIX_SEG | INSN_PREFIX_67 | INSN_PREFIX_66))
		return "a jump with a segment or size of its own";
	if (insn_rip_relative(i))
		p->base = PROBE_RIP;
	if (!insn_has_sib(i))
		return NULL;
	p->base = reg_number(i->sib & 7, i->rex, INSN_REX_B);
	if ((i->sib & 7) == 5 && insn_mod(i) == 0)
		p->base = PROBE_NO_REG;
	p->index = reg_number(i->sib >> 3 & 7, i->rex, INSN_REX_X);
	if (p->index == 4)
		p->index = PROBE_NO_REG;
	p->scale = i->sib >> 6;
	return NULL;
}

/* Instructions that are simpler to emulate than to copy. */
static bool prepare_simple(struct arch_probe *p, const struct insn *i)
{
	if (i->map != INSN_MAP_1 || i->prefixes)
		return false;
	switch (i->opcode) {
	case 0x50 ... 0x57:
	case 0x58 ... 0x5f:
		p->base = reg_number(i->opcode & 7, i->rex, INSN_REX_B);
		p->resume = i->opcode < 0x58 ? probe_push : probe_pop;
		return true;
	case 0x89:
	case 0x8b:
		if (insn_mod(i) != 3)
			return false;
		p->base = reg_number(insn_rm(i), i->rex, INSN_REX_B);
		p->index = reg_number(insn_reg(i), i->rex, INSN_REX_R);
		if (i->opcode == 0x8b) {
			u8 to = p->index;
			p->index = p->base;
			p->base = to;
		}
		p->wide = i->rex & INSN_REX_W;
		p->resume = probe_mov;
		return true;
	case 0xc9:
		p->resume = probe_leave;
		return true;
	default:
		return false;
	}
}

static bool jump_is_odd(const struct insn *i)
{
	return i->prefixes & INSN_PREFIX_66; /* AMD's and Intel's CPUs differ */
}

static u8 first_byte(u64 addr)
{
	u8 code[INSN_MAX + 1];

	return probe_read_code(addr, code) ? code[0] : 0;
}

/* 0, and p->resume is set if the instruction is emulated; or -EINVAL and why. */
static int prepare_kind(struct arch_probe *p, const struct insn *i, const char **why)
{
	enum insn_kind kind = insn_kind(i);

	*why = NULL;
	p->target = p->next + i->imm;
	p->condition = kind == INSN_JCC ? i->opcode & 15 : i->opcode & 3;
	p->wide = !(i->prefixes & INSN_PREFIX_67);
	switch (kind) {
	case INSN_NOP:
		p->resume = i->prefixes & INSN_PREFIX_REP
				? NULL
				: probe_nop; /* pause is a hint worth giving */
		break;
	case INSN_JMP:
	case INSN_CALL:
	case INSN_JCC:
		if (jump_is_odd(i))
			*why = "a jump with a segment or size of its own";
		p->resume = kind == INSN_JMP	? probe_jmp
			    : kind == INSN_CALL ? probe_call
						: probe_jcc;
		break;
	case INSN_LOOP:
		p->resume = probe_loop;
		break;
	case INSN_RET:
		p->target = i->imm_size ? (u16)i->imm : 0;
		p->resume = probe_ret;
		break;
	case INSN_JMP_NEAR:
	case INSN_CALL_NEAR:
		*why = prepare_near(p, i);
		break;
	case INSN_INT3:
		*why = "a breakpoint already";
		break;
	case INSN_HLT:
		*why = "it waits for the interrupt that the one before lets in";
		break;
	case INSN_STI:
		if (i->opcode != 0xfb || first_byte(p->next) == OP_HLT)
			*why = "it holds interrupts off for the one behind";
		break;
	case INSN_UD:
		*why = "it is there to fault";
		break;
	case INSN_SYSTEM:
		*why = "it leaves for another mode of the CPU";
		break;
	default:
		prepare_simple(p, i);
	}
	return *why ? -EINVAL : 0;
}

int arch_probe_prepare(struct arch_probe *p, u64 addr, bool trap_behind, const char **why)
{
	u8 code[INSN_MAX + 1];
	struct insn i;
	int err;

	*p = (struct arch_probe){.addr = addr};
	*why = arch_probe_refused(addr);
	if (*why)
		return -EINVAL;
	if (probe_find_insn(addr, &i, code) != addr)
		return -EILSEQ;
	p->first = code[0];
	p->len = i.len;
	p->next = addr + i.len;
	err = prepare_kind(p, &i, why);
	if (err || p->resume)
		return err;
	return slot_fill(p, &i, code, trap_behind);
}

/* ---- arming ---- */

void arch_probe_arm(struct arch_probe *const *p, unsigned n, bool on)
{
	static struct text_patch patches[ARCH_PROBE_BATCH];

	for (unsigned i = 0; i < n; i++) {
		patches[i].addr = (void *)p[i]->addr;
		patches[i].len = 1;
		patches[i].bytes[0] = on ? OP_INT3 : p[i]->first;
	}
	if (n)
		text_patch(patches, n);
}

void arch_probe_leave(const struct arch_probe *p)
{
	if (p->slot)
		WRITE_ONCE(slot_left[(p->slot - (u64)__slots_start) / SLOT_SIZE], true);
	arch_jump_leave(p);
}

static bool is_left(u64 rip)
{
	u64 at = rip - (u64)__slots_start;

	if (!arch_probe_in_slot(rip))
		return false;
	return at < SLOTS * SLOT_SIZE ? READ_ONCE(slot_left[at / SLOT_SIZE])
				      : probe_detour_is_left(rip);
}

static void probe_look_for_slot(void *found)
{
	const struct regs *r = irq_regs();

	if (r && is_left(r->rip))
		atomic_store((bool *)found, true);
}

/*
 * Handlers run with interrupts off, and so does code in a slot that cannot take the call. A CPU
 * that a handler sent to a slot just before arch_probe_leave() takes the call right after the
 * handler, in the slot, and is found there.
 */
void arch_probe_sync(void)
{
	bool found;

	do {
		found = false;
		cpu_call_all(probe_look_for_slot, &found);
	} while (found);
}

bool arch_probe_in_image(u64 addr)
{
	return addr - (u64)__kernel_start < (u64)(__kernel_end - __kernel_start);
}
