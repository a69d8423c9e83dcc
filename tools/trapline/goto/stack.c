/* See stack.h. */
#include "tools/trapline/goto/stack.h"

#include <string.h>

#define HOOK_SIZE    5
#define USER_RPL     3
#define KERNEL_START 0xffff800000000000ULL

/* struct regs of arch/this_cpu.h, as entry code puts it on a stack. */
enum { REGS_RBP = 4, REGS_RIP = 16, REGS_CS = 17, REGS_RSP = 19, REGS_WORDS = 21 };

struct walk {
	struct gdb *g;
	const struct elf *kernel;
	struct frame *frame;
	size_t count;
};

static void add(struct walk *w, struct frame f)
{
	w->frame[w->count++] = f;
}

static bool word_at(struct walk *w, uint64_t at, uint64_t *word)
{
	return gdb_memory(w->g, at, word, sizeof(*word));
}

static bool is_text(const struct walk *w, uint64_t address)
{
	return address >= KERNEL_START && elf_at(w->kernel, address) != NULL;
}

/*
 * How many words above rsp the return address lies in a function that has not set up its frame, or
 * dropped it already; -1: it has its frame.
 */
static int frameless(struct walk *w, uint64_t pc)
{
	const struct elf_symbol *f = elf_at(w->kernel, pc);
	uint8_t code[HOOK_SIZE] = {0}, at[1] = {0};

	if (!f || !gdb_memory(w->g, f->address, code, sizeof(code)) ||
	    !gdb_memory(w->g, pc, at, sizeof(at)))
		return -1;
	uint64_t begin = f->address;
	if (code[0] == 0x0f || code[0] == 0xe8) /* a hook: a nop, or a call in its place */
		begin += HOOK_SIZE;
	if (pc <= begin || at[0] == 0xc3)
		return 0;
	if (!gdb_memory(w->g, begin, code, sizeof(code)) || code[0] != 0x55)
		return -1;
	return pc == begin + 1 ? 1 : -1;
}

/* The program's stack, while frame pointers lead up. */
static void walk_user(struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp, bool interrupted)
{
	uint64_t frame[2];

	add(w, (struct frame){
		   .pc = pc, .is_user = true, .is_interrupted = interrupted, .sp = sp, .fp = fp});
	while (w->count < STACK_MOST && fp >= sp && !(fp & 7) &&
	       gdb_memory(w->g, fp, frame, sizeof(frame)) && frame[1] && frame[1] < KERNEL_START) {
		add(w, (struct frame){.pc = frame[1],
			   .is_return = true,
			   .is_user = true,
			   .sp = fp + 16,
			   .fp = frame[0]});
		if (frame[0] <= fp)
			return;
		fp = frame[0];
	}
}

/* Registers that entry code has saved. Returns the next frame pointer; 0: the end. */
static uint64_t enter_regs(struct walk *w, uint64_t at)
{
	uint64_t r[REGS_WORDS], ret;
	int depth;

	if (!gdb_memory(w->g, at, r, sizeof(r)))
		return 0;
	if ((r[REGS_CS] & USER_RPL) == USER_RPL) {
		walk_user(w, r[REGS_RIP], r[REGS_RSP], r[REGS_RBP], true);
		return 0;
	}
	add(w,
	    (struct frame){
		.pc = r[REGS_RIP], .is_interrupted = true, .sp = r[REGS_RSP], .fp = r[REGS_RBP]});
	depth = frameless(w, r[REGS_RIP]);
	if (depth >= 0 && word_at(w, r[REGS_RSP] + 8 * depth, &ret) && is_text(w, ret))
		add(w, (struct frame){.pc = ret,
			   .is_return = true,
			   .sp = r[REGS_RSP] + 8 * (depth + 1),
			   .fp = r[REGS_RBP]});
	return r[REGS_RBP];
}

/* Entry code makes %rbp odd: one more than where the registers of what it interrupted are. */
static void walk_kernel(struct walk *w, uint64_t fp)
{
	uint64_t frame[2];

	while (fp >= KERNEL_START && w->count < STACK_MOST - 1) {
		if (fp & 1) {
			fp = enter_regs(w, fp - 1);
			continue;
		}
		if (!gdb_memory(w->g, fp, frame, sizeof(frame)) || !is_text(w, frame[1]))
			return;
		add(w, (struct frame){
			   .pc = frame[1], .is_return = true, .sp = fp + 16, .fp = frame[0]});
		if (!(frame[0] & 1) && frame[0] <= fp)
			return;
		fp = frame[0];
	}
}

size_t stack_walk(
    struct gdb *g, const struct elf *kernel, const uint64_t r[GDB_REGISTERS], struct frame *frame)
{
	struct walk w = {.g = g, .kernel = kernel, .frame = frame};
	uint64_t ret;
	int depth;

	if ((r[GDB_CS] & USER_RPL) == USER_RPL) {
		walk_user(&w, r[GDB_RIP], r[GDB_RSP], r[GDB_RBP], false);
		return w.count;
	}
	add(&w, (struct frame){.pc = r[GDB_RIP], .sp = r[GDB_RSP], .fp = r[GDB_RBP]});
	depth = frameless(&w, r[GDB_RIP]);
	if (depth >= 0 && word_at(&w, r[GDB_RSP] + 8 * depth, &ret) && is_text(&w, ret))
		add(&w, (struct frame){.pc = ret,
			    .is_return = true,
			    .sp = r[GDB_RSP] + 8 * (depth + 1),
			    .fp = r[GDB_RBP]});
	walk_kernel(&w, r[GDB_RBP]);
	return w.count;
}
