/*
 * Prepares a CPU for the kernel's C: its words at %gs, GDT, TSS, IDT, system-call MSRs, control
 * registers. cpu_prepare() runs on the boot CPU in task context, cpu_setup() once on each CPU with
 * interrupts off.
 */
#include "arch/x86_64/cpu/cpu.h"
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/fpu.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/cpu/tables.h"
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/probe/watch.h"

#define GDT_ENTRIES  10
#define GATE_PRESENT 0x8e00 /* interrupt gate, ring 0 */
#define GATE_RING3   0x6000
/* SYSCALL clears CF PF AF ZF SF TF IF DF OF IOPL NT RF AC. */
#define SYSCALL_MASK                                                                               \
	(0x8d5UL | RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_RF |       \
	    RFLAGS_AC)

/*
 * Memory types by the bits PAT, PCD, PWT of a page's entry, as at reset but for 1: write-combining
 * in place of write-through.
 */
#define PAT_VALUE 0x0007040600070106UL

struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7]; /* ist[0] is IST 1 */
	u64 reserved2;
	u16 reserved3, iomap;
} __packed;

struct gate {
	u16 offset_low, selector, flags, offset_mid;
	u32 offset_high, reserved;
};

struct table_pointer {
	u16 limit;
	u64 base;
} __packed;

static struct cpu_local locals[MAX_CPUS] __aligned(64) __nowatch;
static struct {
	u64 gdt[GDT_ENTRIES];
	struct tss tss;
} __aligned(64) tables[MAX_CPUS] __nowatch;
/* Read-only once the final page tables are loaded; cpu_idt_init() writes it before. */
static const struct gate idt[256] __aligned(64);

struct cpu_local *cpu_local_of(unsigned cpu)
{
	return &locals[cpu];
}

#define CPUID_RDRAND (1u << 30)
#define CANARY_MIX   0x9e3779b97f4a7c15UL /* odd: no bit of the sum is lost */

static u64 canary;

/* What no writer beyond an array's end can know, and no string holds: its lowest byte is 0. */
void cpu_canary_init(void)
{
	u64 random = 0;

	if (cpuid(1, 0).c & CPUID_RDRAND)
		__asm__ volatile("rdrand %0" : "=r"(random)::"cc"); /* 0 when it has none */
	canary = (cycles() ^ random) * CANARY_MIX & ~0xffUL;
	locals[0].canary = canary;
	wrmsr(MSR_GS_BASE, (u64)&locals[0]);
}

static void set_gate(unsigned vector, const void *entry, enum ist ist, u16 extra)
{
	u64 at = (u64)entry;
	struct gate *gate = (struct gate *)&idt[vector];

	__asm__("" : "+r"(gate)); /* the compiler need not know what it is written through */
	*gate = (struct gate){
	    .offset_low = at,
	    .offset_mid = at >> 16,
	    .offset_high = at >> 32,
	    .selector = SEL_KERNEL_CS,
	    .flags = GATE_PRESENT | extra | ist,
	};
}

void cpu_idt_init(void)
{
	for (unsigned v = 0; v < 256; v++)
		set_gate(v, trap_stubs[v], 0, 0);
	set_gate(TRAP_NMI, trap_nmi_entry, IST_NMI, 0);
	set_gate(TRAP_DF, trap_stubs[TRAP_DF], IST_DF, 0);
	set_gate(TRAP_MC, trap_stubs[TRAP_MC], IST_MC, 0);
	set_gate(TRAP_DB, trap_stubs[TRAP_DB], IST_DB, 0);
	set_gate(TRAP_BP, trap_stubs[TRAP_BP], IST_BP, GATE_RING3);
	set_gate(TRAP_OF, trap_stubs[TRAP_OF], 0, GATE_RING3);
}

u64 cpu_prepare(unsigned cpu, u32 apic_id)
{
	struct cpu_local *l = &locals[cpu];
	struct tss *tss = &tables[cpu].tss;
	u64 top = stacks_prepare(cpu), at = (u64)tss;

	if (!top)
		return 0;
	*l = (struct cpu_local){.self = l,
	    .kernel_rsp = top,
	    .cpu = cpu,
	    .apic_id = apic_id,
	    .canary = canary,
	    .shadow = &arch_no_shadow};
	tss->rsp[0] = top;
	tss->iomap = sizeof *tss;
	for (unsigned i = 1; i <= IST_COUNT; i++)
		tss->ist[i - 1] = stacks_ist_top(cpu, i);
	u64 *gdt = tables[cpu].gdt;
	gdt[SEL_KERNEL_CS / 8] = 0x00af9b000000ffff;
	gdt[SEL_KERNEL_SS / 8] = 0x00cf93000000ffff;
	gdt[SEL_USER_SS / 8] = 0x00cff3000000ffff;
	gdt[SEL_USER_CS / 8] = 0x00affb000000ffff;
	gdt[SEL_TSS / 8] =
	    (sizeof *tss - 1) | (at & 0xffffff) << 16 | 0x89UL << 40 | (at >> 24 & 0xff) << 56;
	gdt[SEL_TSS / 8 + 1] = at >> 32;
	return top;
}

static void load_tables(unsigned cpu)
{
	struct table_pointer gdt = {sizeof tables[cpu].gdt - 1, (u64)tables[cpu].gdt};
	struct table_pointer idt_pointer = {sizeof idt - 1, (u64)idt};

	__asm__ volatile("lgdt %0\n\t"
			 "pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\tmovl %2, %%ss\n\t"
			 "movl %3, %%ds\n\t"
			 "movl %3, %%es\n\t"
			 "movl %3, %%fs\n\t"
			 "movl %3, %%gs\n\t"
			 "lidt %4\n\t"
			 "ltr %w5" ::"m"(gdt),
			 "i"(SEL_KERNEL_CS), "r"(SEL_KERNEL_SS), "r"(0), "m"(idt_pointer),
			 "r"(SEL_TSS)
			 : "rax", "memory");
}

static void load_msrs(unsigned cpu)
{
	wrmsr(MSR_GS_BASE, (u64)&locals[cpu]);
	wrmsr(MSR_KERNEL_GS_BASE, 0);
	wrmsr(MSR_FS_BASE, 0);
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE | EFER_NXE);
	/* SYSCALL takes cs and ss from bits 32..47, SYSRET from 48..63 plus 16 and plus 8. */
	wrmsr(MSR_STAR, (u64)(SEL_USER_SS - 8) << 48 | (u64)SEL_KERNEL_CS << 32);
	wrmsr(MSR_LSTAR, (u64)syscall_entry);
	wrmsr(MSR_SFMASK, SYSCALL_MASK);
	wrmsr(MSR_PAT, PAT_VALUE);
}

static void load_control(void)
{
	u64 cr4 = CR4_DE | CR4_PAE | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT;

	if (cpu_features.mce)
		cr4 |= CR4_MCE;
	if (cpu_features.umip)
		cr4 |= CR4_UMIP;
	if (cpu_features.smep)
		cr4 |= CR4_SMEP;
	if (cpu_features.smap)
		cr4 |= CR4_SMAP;
	if (cpu_features.xsave)
		cr4 |= CR4_OSXSAVE;
	write_cr0((read_cr0() | CR0_MP | CR0_NE | CR0_WP | CR0_AM) & ~(u64)(CR0_EM | CR0_TS));
	write_cr4(cr4);
	fpu_setup();
}

void cpu_setup(unsigned cpu, u32 apic_id)
{
	load_tables(cpu);
	load_msrs(cpu);
	locals[cpu].apic_id = apic_id;
	load_control();
	watch_cpu_init();
}

void __noprobe cpu_ist_set(enum ist which, u64 top)
{
	tables[cpu_id()].tss.ist[which - 1] = top;
}

void cpu_set_kernel_stack(u64 top)
{
	this_cpu()->kernel_rsp = top;
	tables[cpu_id()].tss.rsp[0] = top;
}

const char *cpu_entries_wrong(void)
{
	struct table_pointer loaded;

	__asm__ volatile("sidt %0" : "=m"(loaded));
	if (loaded.base != (u64)idt || loaded.limit != sizeof idt - 1)
		return "the IDT is another";
	if (rdmsr(MSR_LSTAR) != (u64)syscall_entry || rdmsr(MSR_SFMASK) != SYSCALL_MASK)
		return "system calls enter elsewhere, or with flags of ring 3";
	return NULL;
}

void arch_control_registers(u64 out[ARCH_CONTROL_REGISTERS])
{
	out[0] = read_cr0();
	out[1] = read_cr2();
	out[2] = read_cr3();
	out[3] = read_cr4();
}
