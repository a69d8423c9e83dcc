/*
 * The walls around the kernel's memory: arch/x86_64/mm/walls.c and paging_seal.c. The suite is the
 * last one, so the walls still hold after everything that the others did.
 *
 * forbidden_accesses tries what no code of the kernel may do, on this CPU with interrupts off and
 * an IDT of its own, whose handlers note the trap and go on after the access.
 */
#include "arch/x86_64/cpu/cpu.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/stacks.h"
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/timer.h"
#include "tests/unit/trace/tools.h"

/* ---- The walls as they are, and with a breach in them ---- */

static char said[160];

static void note_breach(void *unused __maybe_unused, const char *text)
{
	strscpy(said, text, sizeof(said));
}

static unsigned breaches(void)
{
	struct arch_walls sum;

	said[0] = '\0';
	arch_walls_check(&sum, note_breach, NULL);
	return sum.breaches;
}

static void they_hold(void)
{
	struct arch_walls sum;
	u64 began = clock_ns();

	arch_walls_check(&sum, note_breach, NULL);
	u64 took = clock_ns() - began;
	EXPECT_EQ(sum.breaches, 0);
	if (sum.breaches)
		ktap_note("%s", said);
	EXPECT_EQ(sum.cpus, cpu_count());
	EXPECT(sum.pages >= page_total());
	EXPECT(sum.tables > 8);
	ktap_note("%lu pages, %lu tables, %lu ns", (unsigned long)sum.pages,
	    (unsigned long)sum.tables, (unsigned long)took);
}

/* Writes to a page table that may be read-only. */
static void change_entry(const void *va, u64 bits)
{
	u64 size, flags = irq_save(), cr0 = read_cr0();

	write_cr0(cr0 & ~(u64)CR0_WP);
	*paging_walk(paging_kernel_cr3(), (u64)va, &size) ^= bits;
	write_cr0(cr0);
	tlb_flush_local((u64)va, PAGE_SIZE);
	irq_restore(flags);
}

static void entry_is_seen(const void *va, u64 bits, const char *what)
{
	change_entry(va, bits);
	unsigned n = breaches();
	change_entry(va, bits);
	if (!n || !strstr(said, what))
		ktap_fail(__FILE__, __LINE__, "%s: %u, %s", what, n, said);
}

/*
 * The top table is read-only from the first address space on: there was one, also if only these
 * cases run.
 */
static void had_address_space(void)
{
	struct aspace *as = aspace_create();

	EXPECT(as != NULL);
	if (as)
		aspace_destroy(as);
}

static void changed_entries_are_seen(void)
{
	static int in_data = 1;
	static const char in_rodata[] = "constant";
	const u64 *top = phys_to_virt(paging_kernel_cr3());
	const void *table = phys_to_virt(top[KERNEL_IMAGE_BASE >> 39 & 511] & PTE_ADDR);

	had_address_space();
	entry_is_seen(__text_start, PTE_W, "is writable and executable");
	entry_is_seen(
	    phys_to_virt(virt_to_phys(__text_start)), PTE_W, "is writable, and text or rodata");
	entry_is_seen(in_rodata, PTE_W, "is writable, and text or rodata");
	entry_is_seen(in_rodata, PTE_NX, "is executable, and no text");
	entry_is_seen(&in_data, PTE_NX, "is writable and executable");
	entry_is_seen(&in_data, PTE_U, "is open to ring 3");
	entry_is_seen(table, PTE_W, "the page table at");
	entry_is_seen(top, PTE_W, "the page table at");
	EXPECT_EQ(breaches(), 0);
}

static void register_off(void *bits)
{
	write_cr4(read_cr4() & ~(u64)bits);
}

static void register_on(void *bits)
{
	write_cr4(read_cr4() | (u64)bits);
}

static void other_breaches_are_seen(void)
{
	unsigned last = cpu_count() - 1;
	u64 guard = stacks_ist_top(last, IST_DF) - 3 * PAGE_SIZE, pa = page_alloc(0, true);

	if (cpu_features.smep) {
		cpu_call_all(register_off, (void *)(u64)CR4_SMEP);
		EXPECT_EQ(breaches(), cpu_count());
		EXPECT(strstr(said, "SMEP, SMAP or UMIP is off"));
		cpu_call_all(register_on, (void *)(u64)CR4_SMEP);
	}
	EXPECT_EQ(kernel_map(guard, pa, PAGE_SIZE, PROT_R | PROT_W), 0);
	EXPECT_EQ(breaches(), 1);
	EXPECT(strstr(said, "a stack has no guard page"));
	kernel_unmap(guard, PAGE_SIZE);
	page_free(pa, 0);
	EXPECT_EQ(breaches(), 0);
}

/* With everything on that patches text, and with all of it off again. */
static void they_hold_after_patching(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("events/enable", "1"), 0);
	EXPECT_EQ(breaches(), 0);
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	EXPECT_EQ(trace_put("kprobe_events", "p:walls vfs_read"), 0);
	EXPECT_EQ(trace_put("events/kprobes/walls/enable", "1"), 0);
	EXPECT_EQ(breaches(), 0);
	EXPECT_EQ(trace_put("events/kprobes/walls/enable", "0"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
	EXPECT_EQ(breaches(), 0);
	trace_fresh();
}

/* ---- Forbidden accesses ---- */

struct gate {
	u16 offset_low, selector, flags, offset_mid;
	u32 offset_high, reserved;
};

struct table_pointer {
	u16 limit;
	u64 base;
} __packed;

static struct gate own_idt[256];
u64 walls_trap_vector, walls_trap_error, walls_trap_addr;
u64 walls_trap_resume, walls_trap_rsp;
extern const u8 walls_trap_ud[], walls_trap_gp[], walls_trap_pf[];

/* Notes the trap and goes on at walls_trap_resume, on the stack as it was there. */
#define NOTE_TRAP(name, vector, error)                                                             \
	"walls_trap_" name ":" error "\n"                                                          \
	"	movq $" vector ", walls_trap_vector(%rip)\n"                                       \
	"	popq walls_trap_error(%rip)\n"                                                           \
	"	mov %cr2, %rax\n"                                                                        \
	"	mov %rax, walls_trap_addr(%rip)\n"                                                       \
	"	mov walls_trap_resume(%rip), %rax\n"                                                     \
	"	mov %rax, (%rsp)\n"                                                                      \
	"	mov walls_trap_rsp(%rip), %rax\n"                                                        \
	"	mov %rax, 24(%rsp)\n"                                                                    \
	"	iretq\n"
__asm__(".pushsection .text.asm, \"ax\"\n" NOTE_TRAP("ud", "6", " push $0")
	NOTE_TRAP("gp", "13", "") NOTE_TRAP("pf", "14", "") ".popsection");

static void own_gate(unsigned vector, const u8 *entry)
{
	u64 at = (u64)entry;

	own_idt[vector].offset_low = at;
	own_idt[vector].offset_mid = at >> 16;
	own_idt[vector].offset_high = at >> 32;
}

enum access { READ, WRITE, RUN };

#define ATTEMPT(instruction)                                                                       \
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"                                                \
			 "mov %%rax, walls_trap_resume(%%rip)\n\t"                                 \
			 "mov %%rsp, walls_trap_rsp(%%rip)\n\t" instruction "\n"                   \
			 "1:" ::"D"(addr)                                                          \
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc")

static void __noinline attempt(enum access how, u64 addr)
{
	switch (how) {
	case READ:
		ATTEMPT("movb (%%rdi), %%al");
		break;
	case WRITE:
		ATTEMPT("movb %%al, (%%rdi)");
		break;
	case RUN:
		ATTEMPT("call *%%rdi");
		break;
	}
}

/* Interrupts off: nobody else may take a trap through the other table. */
static void attempt_with_own_idt(enum access how, u64 addr)
{
	struct table_pointer kernel, own = {sizeof(own_idt) - 1, (u64)own_idt};

	__asm__ volatile("sidt %0" : "=m"(kernel));
	memcpy(own_idt, (const void *)kernel.base, sizeof(own_idt));
	own_gate(TRAP_UD, walls_trap_ud);
	own_gate(TRAP_GP, walls_trap_gp);
	own_gate(TRAP_PF, walls_trap_pf);
	walls_trap_vector = ~0UL;
	__asm__ volatile("lidt %0" ::"m"(own));
	attempt(how, addr);
	__asm__ volatile("lidt %0" ::"m"(kernel));
}

enum { PRESENT = 1, TO_WRITE = 2, TO_RUN = 16 };

static void forbidden(const char *what, enum access how, const void *at, u64 vector, u64 error)
{
	u64 addr = (u64)at, flags = irq_save();

	attempt_with_own_idt(how, addr);
	u64 got = walls_trap_vector, code = walls_trap_error, where = walls_trap_addr;
	irq_restore(flags);
	if (got != vector || code != error || (vector == TRAP_PF && where != addr))
		ktap_fail(__FILE__, __LINE__, "%s: trap %ld, error %lx, at %lx", what, (long)got,
		    (unsigned long)code, (unsigned long)where);
}

#define USER_AT	      0x10000UL
#define NON_CANONICAL 0xdead000000000000UL

static void forbidden_to_memory(void)
{
	static u8 in_data[] = {0xc3};
	static const u8 in_rodata[] = {0xc3};
	u8 on_stack[] = {0xc3};
	u8 *heap = kmalloc(16);
	const u64 *top = phys_to_virt(paging_kernel_cr3());
	const void *table = phys_to_virt(top[KERNEL_IMAGE_BASE >> 39 & 511] & PTE_ADDR);
	struct table_pointer idt;
	u64 stack_guard = this_cpu_read(kernel_rsp) - KERNEL_STACK_SIZE - 1;

	__asm__ volatile("sidt %0" : "=m"(idt));
	__asm__ volatile("" : "+m"(on_stack)); /* it is in memory */
	*heap = 0xc3;
	forbidden("write text", WRITE, __text_start, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("write text's alias", WRITE, phys_to_virt(virt_to_phys(__text_start)), TRAP_PF,
	    PRESENT | TO_WRITE);
	forbidden("write slots", WRITE, __slots_start, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("write rodata", WRITE, in_rodata, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("write rodata's alias", WRITE, phys_to_virt(virt_to_phys(in_rodata)), TRAP_PF,
	    PRESENT | TO_WRITE);
	forbidden("write the IDT", WRITE, (void *)idt.base, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("write a page table", WRITE, table, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("write the top table", WRITE, top, TRAP_PF, PRESENT | TO_WRITE);
	forbidden("run data", RUN, in_data, TRAP_PF, PRESENT | TO_RUN);
	forbidden("run rodata", RUN, in_rodata, TRAP_PF, PRESENT | TO_RUN);
	forbidden("run the heap", RUN, heap, TRAP_PF, PRESENT | TO_RUN);
	forbidden("run the stack", RUN, on_stack, TRAP_PF, PRESENT | TO_RUN);
	forbidden("run text's alias", RUN, phys_to_virt(virt_to_phys(__text_start)), TRAP_PF,
	    PRESENT | TO_RUN);
	forbidden("read below the stack", READ, (void *)stack_guard, TRAP_PF, 0);
	forbidden("write below the stack", WRITE, (void *)stack_guard, TRAP_PF, TO_WRITE);
	forbidden("read beyond the image", READ, __kernel_end, TRAP_PF, 0);
	forbidden("run null", RUN, NULL, TRAP_PF, TO_RUN);
	forbidden("read a non-canonical address", READ, (void *)NON_CANONICAL, TRAP_GP, 0);
	forbidden("run a non-canonical address", RUN, (void *)NON_CANONICAL, TRAP_GP, 0);
	kfree(heap);
}

/* Ring 3 may read, write and run it: the kernel may not. */
static void forbidden_to_ring3(void)
{
	struct aspace *as = aspace_create();
	u64 pa = page_alloc(0, true);

	*(u8 *)phys_to_virt(pa) = 0xc3;
	aspace_map(as, USER_AT, pa, PROT_R | PROT_W | PROT_X | PROT_USER);
	preempt_disable();
	aspace_switch(as);
	if (cpu_features.smap) {
		forbidden("read ring 3's", READ, (void *)USER_AT, TRAP_PF, PRESENT);
		forbidden("write ring 3's", WRITE, (void *)USER_AT, TRAP_PF, PRESENT | TO_WRITE);
	}
	if (cpu_features.smep)
		forbidden("run ring 3's", RUN, (void *)USER_AT, TRAP_PF, PRESENT | TO_RUN);
	aspace_switch(NULL);
	preempt_enable();
	aspace_destroy(as);
	page_free(pa, 0);
}

static void forbidden_accesses(void)
{
	had_address_space();
	forbidden_to_memory();
	forbidden_to_ring3();
}

static const struct ktap_case cases[] = {
    {"walls.they_hold", they_hold},
    {"walls.changed_entries_are_seen", changed_entries_are_seen},
    {"walls.other_breaches_are_seen", other_breaches_are_seen},
    {"walls.they_hold_after_patching", they_hold_after_patching},
    {"walls.forbidden_accesses", forbidden_accesses},
    {NULL, NULL},
};
const struct ktap_suite suite_walls = {cases};
