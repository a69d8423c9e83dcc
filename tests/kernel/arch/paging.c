/*
 * Page tables of the kernel and of ring 3: arch/x86_64/mm/paging.c, arch/x86_64/mm/paging_boot.c,
 * arch/x86_64/mm/aspace.c, arch/x86_64/mm/tlb.c. tests/kernel/arch/walls.c looks at every entry.
 */
#include "arch/x86_64/cpu/features.h"
#include "arch/x86_64/cpu/regs.h"
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/mm/paging.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/unit/trace/tools.h"

static u64 leaf_bits(const void *p)
{
	u64 size, *e = paging_walk(paging_kernel_cr3(), (u64)p, &size);

	return e ? *e : 0;
}

static void sections_have_their_permissions(void)
{
	static int in_data = 1;
	static const char in_rodata[] = "constant";

	EXPECT_EQ(leaf_bits(__text_start) & (PTE_P | PTE_W | PTE_NX), PTE_P);
	EXPECT_EQ(leaf_bits(in_rodata) & (PTE_P | PTE_W | PTE_NX), PTE_P | PTE_NX);
	EXPECT_EQ(leaf_bits(&in_data) & (PTE_P | PTE_W | PTE_NX), PTE_P | PTE_W | PTE_NX);
	for (const char *p = __text_start; p < __rodata_end; p += PAGE_SIZE) {
		const char *alias = phys_to_virt(virt_to_phys(p));
		if ((leaf_bits(alias) & (PTE_P | PTE_W | PTE_NX)) != (PTE_P | PTE_NX)) {
			ktap_fail(__FILE__, __LINE__, "direct map of %p", (const void *)p);
			break;
		}
	}
	EXPECT_EQ(copy_to_kernel_nofault(__text_start, "x", 1), -EFAULT);
	EXPECT_EQ(copy_to_kernel_nofault((void *)in_rodata, "x", 1), -EFAULT);
	EXPECT_EQ(
	    copy_to_kernel_nofault(phys_to_virt(virt_to_phys(__text_start)), "x", 1), -EFAULT);
}

static void low_half_is_empty(void)
{
	const u64 *top = phys_to_virt(paging_kernel_cr3());
	unsigned n = 0;

	for (unsigned i = 0; i < 256; i++)
		n += top[i] & PTE_P;
	EXPECT_EQ(n, 0);
}

static void protections_are_on(void)
{
	u64 cr[ARCH_CONTROL_REGISTERS];

	arch_control_registers(cr);
	EXPECT(cr[0] & CR0_WP);
	EXPECT(rdmsr(MSR_EFER) & EFER_NXE);
	EXPECT_EQ(!!(cr[3] & CR4_SMEP), cpu_features.smep);
	EXPECT_EQ(!!(cr[3] & CR4_SMAP), cpu_features.smap);
	EXPECT_EQ(!!(cr[3] & CR4_UMIP), cpu_features.umip);
}

static void copy_control(void *arg)
{
	arch_control_registers((u64 *)arg + cpu_id() * ARCH_CONTROL_REGISTERS);
}

static void every_cpu_is_set_up_alike(void)
{
	static u64 cr[MAX_CPUS][ARCH_CONTROL_REGISTERS];

	cpu_call_all(copy_control, cr);
	for (unsigned i = 1; i < cpu_count(); i++) {
		EXPECT_EQ(cr[i][0], cr[0][0]);
		EXPECT_EQ(cr[i][3], cr[0][3]);
	}
}

struct probe {
	const void *at;
	int result[MAX_CPUS];
	u64 value[MAX_CPUS];
};

static void probe_here(void *arg)
{
	struct probe *p = arg;

	p->result[cpu_id()] = copy_from_kernel_nofault(&p->value[cpu_id()], p->at, sizeof(u64));
}

static void maps_and_unmaps_on_all_cpus(void)
{
	u64 va = paging_reserve(PAGE_SIZE), pages[2] = {page_alloc(0, true), page_alloc(0, true)};
	struct probe p = {.at = (void *)va};

	EXPECT(va && pages[0] && pages[1]);
	*(u64 *)phys_to_virt(pages[0]) = 1111;
	*(u64 *)phys_to_virt(pages[1]) = 2222;
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(kernel_map(va, pages[i], PAGE_SIZE, PROT_R | PROT_W), 0);
		EXPECT(kernel_readable((void *)va, PAGE_SIZE));
		EXPECT(!kernel_readable((void *)va, PAGE_SIZE + 1)); /* the guard after */
		cpu_call_all(probe_here, &p);
		for (unsigned c = 0; c < cpu_count(); c++) {
			EXPECT_EQ(p.result[c], 0);
			EXPECT_EQ(p.value[c], i ? 2222 : 1111);
		}
		kernel_unmap(va, PAGE_SIZE);
		EXPECT(!kernel_readable((void *)va, 1));
		cpu_call_all(probe_here, &p);
		for (unsigned c = 0; c < cpu_count(); c++)
			EXPECT_EQ(p.result[c], -EFAULT);
	}
	page_free(pages[0], 0);
	page_free(pages[1], 0);
}

static void firmware_is_read_only(void)
{
	u64 pa = page_alloc(0, true);
	char *p = (char *)firmware_map(pa + 8, 16);

	EXPECT(p && (u64)p % PAGE_SIZE == 8);
	EXPECT(kernel_readable(p, 16));
	EXPECT_EQ(copy_to_kernel_nofault(p, "x", 1), -EFAULT);
	EXPECT(!firmware_map(~0UL - 100, 10));
	EXPECT(!firmware_map(pa, 0));
	EXPECT(!device_map(1UL << cpu_features.phys_bits, 4096));
	EXPECT(!device_map((1UL << cpu_features.phys_bits) - 4096, 8192));
	char *across = (char *)firmware_map(pa + 4092, 8); /* two pages, and none behind them */
	EXPECT(across && kernel_readable(across, 8) && !kernel_readable(across + 4 + 4096, 1));
	char *next = (char *)firmware_map(pa, 8);
	EXPECT(next && !kernel_readable(next - 1, 1));
	kernel_unmap((u64)across - 4092, 2 * PAGE_SIZE);
	kernel_unmap((u64)next, PAGE_SIZE);
	kernel_unmap((u64)p - 8, PAGE_SIZE);
	page_free(pa, 0);
}

static void readable_knows_bad_addresses(void)
{
	char c = 0;

	EXPECT(kernel_readable(&c, 1));
	EXPECT(kernel_readable(__text_start, 4096));
	EXPECT(!kernel_readable(NULL, 1));
	EXPECT(!kernel_readable((void *)0x400000, 1));
	EXPECT(!kernel_readable((void *)0x800000000000, 1)); /* not canonical */
	EXPECT(!kernel_readable((void *)-1UL, 2));
	EXPECT(!kernel_readable(__kernel_end + (1UL << 30), 1));
}

static void address_spaces(void)
{
	u64 free_before = page_free_count(), pa = page_alloc(0, true);
	struct aspace *as = aspace_create();
	unsigned prot = 99;

	EXPECT(as && pa);
	EXPECT_EQ(aspace_lookup(as, 0x400000, &prot), 0);
	EXPECT_EQ(aspace_map(as, 0x400000, pa, PROT_R | PROT_W | PROT_USER), 0);
	EXPECT_EQ(aspace_map(as, USER_END, pa, PROT_R), -EINVAL);
	EXPECT_EQ(aspace_lookup(as, 0x400000, &prot), pa);
	EXPECT_EQ(prot, PROT_R | PROT_W | PROT_USER);
	EXPECT_EQ(aspace_map(as, 0x400000, pa, PROT_R | PROT_X | PROT_USER), 0);
	aspace_lookup(as, 0x400000, &prot);
	EXPECT_EQ(prot, PROT_R | PROT_X | PROT_USER);
	EXPECT_EQ(aspace_map(as, 0x400000, pa, 0), 0); /* PROT_NONE: kept */
	EXPECT_EQ(aspace_lookup(as, 0x400000, &prot), pa);
	EXPECT_EQ(prot, 0);
	EXPECT_EQ(aspace_next(as, 0x1000, USER_END), 0x400000);
	EXPECT_EQ(aspace_next(as, 0x401000, USER_END), USER_END);
	EXPECT_EQ(aspace_next(as, 0x1000, 0x400000), 0x400000);
	/* the same place in other tables, after a look at the first */
	EXPECT_EQ(aspace_lookup(as, 0x600000, &prot), 0);
	EXPECT_EQ(aspace_map(as, 0x600000, pa, PROT_R | PROT_USER), 0);
	EXPECT_EQ(aspace_lookup(as, 0x40000400000, &prot), 0);
	EXPECT_EQ(aspace_lookup(as, USER_END, &prot), 0);
	EXPECT_EQ(aspace_next(as, 0x401000, USER_END), 0x600000);
	EXPECT_EQ(aspace_unmap(as, 0x600000), pa);
	EXPECT_EQ(aspace_lookup(as, 0x400000, &prot), pa);
	EXPECT_EQ(aspace_unmap(as, 0x400000), pa);
	EXPECT_EQ(aspace_unmap(as, 0x400000), 0);
	EXPECT_EQ(aspace_unmap(as, 0x7f0000000000), 0);
	EXPECT_EQ(aspace_next(as, 0, USER_END), USER_END);
	aspace_destroy(as);
	page_free(pa, 0);
	EXPECT_EQ(page_free_count(), free_before);
}

/* A search ends where it shall, though the same table has more beyond that. */
static void next_within(void)
{
	u64 pa = page_alloc(0, true);
	struct aspace *as = aspace_create();

	EXPECT_EQ(aspace_map(as, 0x410000, pa, PROT_R | PROT_USER), 0);
	for (u64 end = 0x40e000; end <= 0x412000; end += PAGE_SIZE)
		EXPECT_EQ(aspace_next(as, 0x400000, end), MIN(end, 0x410000UL));
	EXPECT_EQ(aspace_next(as, 0x411000, 0x413000), 0x413000);
	EXPECT_EQ(aspace_next(as, 0x410fff, 0x413000), 0x410000);
	EXPECT_EQ(aspace_unmap(as, 0x410000), pa);
	aspace_destroy(as);
	page_free(pa, 0);
}

#define USER_AT 0x10000UL

struct remote {
	struct aspace *as;
	u64 before, after, destroyed;
};

/* Loads the space and keeps it loaded, as a CPU does that went on to a kernel thread. */
static void load_here(void *arg)
{
	struct remote *r = arg;

	aspace_switch(r->as);
	copy_from_user_nofault(&r->before, USER_AT, sizeof r->before);
}

static void read_here(void *arg)
{
	struct remote *r = arg;

	copy_from_user_nofault(&r->after, USER_AT, sizeof r->after);
}

static void tables_here(void *arg)
{
	struct remote *r = arg;

	r->destroyed = read_cr3();
}

static u64 tlb_interrupts(unsigned cpu)
{
	return irq_counts(cpu)->n[IRQ_COUNT_TLB];
}

/*
 * Another CPU has the old page in its TLB: after the flush it must not, the other has counted it,
 * and the event was recorded on both; after the end of the space its tables are left.
 */
static void flush_reaches_other_cpus(void)
{
	u64 pages[2] = {page_alloc(0, true), page_alloc(0, true)};
	struct remote r = {.as = aspace_create()};

	if (cpu_count() < 2) {
		ktap_skip("one CPU");
		return;
	}
	preempt_disable();
	unsigned other = (cpu_id() + 1) % cpu_count();
	preempt_enable();
	*(u64 *)phys_to_virt(pages[0]) = 1111;
	*(u64 *)phys_to_virt(pages[1]) = 2222;
	aspace_map(r.as, USER_AT, pages[0], PROT_R | PROT_USER);
	cpu_call(other, load_here, &r);
	EXPECT_EQ(r.before, 1111);
	aspace_map(r.as, USER_AT, pages[1], PROT_R | PROT_USER);
	u64 counted = tlb_interrupts(other);
	trace_fresh();
	trace_put("events/tlb/tlb_flush/enable", "1");
	aspace_flush(r.as, USER_AT + 1, PAGE_SIZE);
	trace_put("events/tlb/tlb_flush/enable", "0");
	cpu_call(other, read_here, &r);
	EXPECT_EQ(r.after, 2222);
	EXPECT_EQ(tlb_interrupts(other), counted + 1);
	EXPECT_STR(trace_nth_event(0), "tlb_flush: pages:2 reason:remote ipi send (4)");
	EXPECT_STR(trace_nth_event(1), "tlb_flush: pages:2 reason:remote shootdown (1)");
	EXPECT_STR(trace_nth_event(2), "");
	aspace_destroy(r.as);
	cpu_call(other, tables_here, &r);
	EXPECT_EQ(r.destroyed, paging_kernel_cr3());
	page_free(pages[0], 0);
	page_free(pages[1], 0);
}

/* A text byte changed and changed back through the private alias; afterwards the alias is gone. */
static void pokes_read_only_text(void)
{
	static const u8 target[2] = {0x11, 0x22};
	u8 now[2];

	paging_poke((void *)target, "\x33", 1);
	EXPECT_EQ(READ_ONCE(target[0]), 0x33);
	EXPECT_EQ(READ_ONCE(target[1]), 0x22);
	paging_poke((void *)target, "\x11", 1);
	EXPECT_EQ(copy_from_kernel_nofault(now, target, 2), 0);
	EXPECT_EQ(now[0], 0x11);
	EXPECT_EQ(copy_to_kernel_nofault((void *)target, "x", 1), -EFAULT);
}

static const struct ktap_case cases[] = {
    {"paging.sections_have_their_permissions", sections_have_their_permissions},
    {"paging.low_half_is_empty", low_half_is_empty},
    {"paging.protections_are_on", protections_are_on},
    {"paging.every_cpu_is_set_up_alike", every_cpu_is_set_up_alike},
    {"paging.maps_and_unmaps_on_all_cpus", maps_and_unmaps_on_all_cpus},
    {"paging.firmware_is_read_only", firmware_is_read_only},
    {"paging.readable_knows_bad_addresses", readable_knows_bad_addresses},
    {"paging.address_spaces", address_spaces},
    {"paging.next_within", next_within},
    {"paging.flush_reaches_other_cpus", flush_reaches_other_cpus},
    {"paging.pokes_read_only_text", pokes_read_only_text},
    {NULL, NULL},
};
const struct ktap_suite suite_paging = {cases};
