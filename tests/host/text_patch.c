/*
 * Patching (arch/x86_64/probe/text_patch.c) of text that nobody runs, step by step: between two
 * moments at which all CPUs were told to serialise, a CPU may have fetched any mixture of what was
 * there, so each site may change in one way only; and who meets a breakpoint goes on as the new
 * code says. An emulated machine forgets old code at once, and shows none of this.
 */
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The machine's own turn interrupts off, which a program may not. */
#define irq_save    irq_save_of_the_machine
#define irq_restore irq_restore_of_the_machine
#include "arch/arch.h"
#undef irq_save
#undef irq_restore
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"

static bool irqs_off, window;
static struct cpu_local local;

static u64 irq_save(void)
{
	EXPECT(!irqs_off);
	irqs_off = true;
	return 5;
}

static void irq_restore(u64 flags)
{
	EXPECT_EQ(flags, 5);
	EXPECT(!window);
	irqs_off = false;
}

#include "arch/x86_64/probe/text_patch.c"

__asm__(".pushsection .data\n"
	".balign 4096\n"
	".globl __text_start, __text_end\n"
	"__text_start: .space 12288\n"
	"__text_end:\n"
	".popsection");

#define SITES_MAX 300

static struct text_patch sites[SITES_MAX];
static unsigned n_sites, serialised;
static u8 before[3 * PAGE_SIZE]; /* what was there when all serialised */
static u8 old[SITES_MAX][sizeof(sites[0].bytes)];

/* ---- what it needs of the machine ---- */

unsigned cpu_count(void)
{
	return 2;
}

void preempt_resched(void)
{
}

void paging_alias_close(void)
{
	EXPECT(irqs_off && window);
	window = false;
}

static unsigned told;

void kernel_text_patched(void)
{
	told++;
}

/* A site as it was and as it is: what may a CPU that has fetched some of it do? */
static void look_at(const struct text_patch *p, const u8 *was)
{
	const u8 *is = p->addr, *from = old[p - sites];
	u8 at = was[(char *)p->addr - __text_start];
	bool head = *is != at, tail;

	was += (char *)p->addr - __text_start;
	tail = memcmp(was + 1, is + 1, p->len - 1);
	if (p->len == 1)
		return;
	EXPECT(!(head && tail));
	EXPECT(!tail || *is == OP_INT3);
	EXPECT(!head || *is == OP_INT3 || *was == OP_INT3);
	/* A head that is no breakpoint has its own tail. */
	EXPECT(*is == OP_INT3 || !memcmp(is, from, p->len) || !memcmp(is, p->bytes, p->len));
}

/* Who meets a breakpoint of ours is told what to do. */
static void trap_at(const struct text_patch *p)
{
	struct regs r = {.rip = (u64)p->addr + 1, .cs = 8};

	EXPECT(text_patch_int3(&r));
	EXPECT(r.rip != (u64)p->addr + 1);
}

static void trap_everywhere(void)
{
	for (unsigned i = 0; i < n_sites; i++)
		if (sites[i].len > 1 && *(u8 *)sites[i].addr == OP_INT3)
			trap_at(&sites[i]);
}

/* What stands there is looked at before it is written, too. */
u8 *paging_alias_open(const void *page)
{
	EXPECT(irqs_off && !window && (u64)page % PAGE_SIZE == 0);
	window = true;
	trap_everywhere();
	return (u8 *)page;
}

void cpu_call_all(void (*fn)(void *), void *arg)
{
	EXPECT(!irqs_off && !window);
	EXPECT(this_cpu_read(preempt_count));
	fn(arg);
	serialised++;
	for (unsigned i = 0; i < n_sites; i++)
		look_at(&sites[i], before);
	trap_everywhere();
	memcpy(before, __text_start, sizeof(before));
}

/* ---- the cases ---- */

static unsigned long gs_before;

static void begin(void)
{
	local = (struct cpu_local){.self = &local};
	syscall(SYS_arch_prctl, ARCH_GET_GS, &gs_before);
	syscall(SYS_arch_prctl, ARCH_SET_GS, &local);
	memset(__text_start, 0x90, sizeof(before));
	memcpy(before, __text_start, sizeof(before));
	n_sites = serialised = told = 0;
}

static void end(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, gs_before);
}

/* A jump there, of five bytes and prefixes. */
static void add_site(unsigned at, unsigned len)
{
	struct text_patch *p = &sites[n_sites];

	*p = (struct text_patch){.addr = __text_start + at, .len = len};
	memset(p->bytes, 0x2e, len);
	p->bytes[len > 1 ? len - 5 : 0] = len > 1 ? OP_JMP : 0xfb;
	for (unsigned i = 1; len > 1 && i < 5; i++)
		p->bytes[len - 5 + i] = i * 16 + n_sites % 16;
	memcpy(old[n_sites++], p->addr, len);
}

static void patch_all(void)
{
	text_patch(sites, n_sites);
	for (unsigned i = 0; i < n_sites; i++)
		EXPECT(!memcmp(sites[i].addr, sites[i].bytes, sites[i].len));
	EXPECT(!memcmp(before, __text_start, sizeof(before))); /* all have serialised since */
	EXPECT_EQ(local.preempt_count, 0);
	EXPECT_EQ(told, 1);
}

/* As many as a batch has, one less, one more, and several batches; in no order. */
static void numbers(void)
{
	static const unsigned rows[] = {1, 2, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 300};

	for (unsigned row = 0; row < ARRAY_SIZE(rows); row++) {
		begin();
		for (unsigned i = 0; i < rows[row]; i++)
			add_site(i * 7 % rows[row] * 32 + i % 3, i % 4 == 1 ? 1 : 5 + i % 4);
		patch_all();
		EXPECT_EQ(serialised, 3 * 2 * ((rows[row] + BATCH - 1) / BATCH));
		end();
	}
	begin();
	add_site(5, 1); /* nobody sees half of it */
	patch_all();
	EXPECT_EQ(serialised, 2);
	end();
}

/* Where a site lies across two pages, the window does too; it is opened for where it begins. */
static void across_pages(void)
{
	for (unsigned at = PAGE_SIZE - 5; at <= PAGE_SIZE; at++) {
		begin();
		add_site(at, 5);
		add_site(at - 40, 5);
		add_site(at + PAGE_SIZE + 9, 5);
		patch_all();
		end();
	}
}

static const struct {
	u8 bytes[10];
	u8 len;
	s64 rip, pushed; /* from the site on; pushed 0: nothing is */
	int count;
	bool off, on;
} emulated[] = {
    {{0xe9, 0x10, 0, 0, 0}, 5, 0x15, 0, 0, false, false},
    {{0xe9, 0xf0, 0xff, 0xff, 0xff}, 5, -11, 0, 0, false, false},
    {{0xe9, 0, 0, 0, 0x80}, 5, 5 - 0x80000000L, 0, 0, false, false},
    {{0xe8, 0x10, 0, 0, 0}, 5, 0x15, 5, 0, false, false},
    {{0x2e, 0xe8, 0x10, 0, 0, 0}, 6, 0x16, 6, 0, false, false},
    {{0x2e, 0x2e, 0x2e, 0x2e, 0xe8, 0x10, 0, 0, 0}, 9, 0x19, 9, 0, false, false},
    {{0x0f, 0x1f, 0x44, 0, 0}, 5, 5, 0, 0, false, false},
    {{0x66, 0x0f, 0x1f, 0x44, 0, 0}, 6, 6, 0, 0, false, false},
    {{0x2e, 0x2e, 0x2e, 0x2e, 0xfa}, 5, 5, 0, 0, true, false},
    {{0x2e, 0x2e, 0x2e, 0x2e, 0xfb}, 5, 5, 0, 0, false, true},
    {{0x65, 0x83, 0x04, 0x25, 0, 0, 0, 0, 1}, 9, 9, 0, 1, false, false},
    {{0x65, 0x83, 0x2c, 0x25, 0, 0, 0, 0, 1}, 9, 9, 0, -1, false, false},
};

static unsigned emulation;

/* In the middle of patching a site whose new instruction is that one. */
static void emulate(const struct text_patch *p)
{
	static u64 stack[4];
	u64 at = (u64)p->addr, flags = emulated[emulation].off ? 0x246 : 0x46;
	struct regs r = {.rip = at + 1, .cs = 8, .rsp = (u64)&stack[2], .rflags = flags};
	u32 count = local.preempt_count;

	stack[1] = 0;
	EXPECT(text_patch_int3(&r));
	EXPECT_EQ(r.rip, at + emulated[emulation].rip);
	EXPECT_EQ(r.rsp, (u64)&stack[emulated[emulation].pushed ? 1 : 2]);
	EXPECT_EQ(stack[1], emulated[emulation].pushed ? at + emulated[emulation].pushed : 0);
	EXPECT_EQ(r.rflags & 0x200, emulated[emulation].on ? 0x200 : 0);
	EXPECT_EQ((int)(local.preempt_count - count), emulated[emulation].count);
	local.preempt_count = count;
}

static void emulations(void)
{
	for (emulation = 0; emulation < ARRAY_SIZE(emulated); emulation++) {
		begin();
		sites[0] = (struct text_patch){
		    .addr = __text_start + 0x100, .len = emulated[emulation].len};
		memcpy(sites[0].bytes, emulated[emulation].bytes, sites[0].len);
		batch[0] = &sites[0];
		batch_count = 1;
		emulate(&sites[0]);
		batch_count = 0;
		end();
	}
}

/* Whose breakpoint is it? */
static void whose(void)
{
	struct regs r = {.cs = 8};
	u8 *at = (u8 *)__text_start;

	begin();
	add_site(64, 5);
	add_site(96, 1);
	for (unsigned published = 0; published < 2; published++) {
		for (unsigned i = 0; i < n_sites; i++)
			batch[i] = &sites[i];
		batch_count = published ? n_sites : 0;
		at[32] = at[96] = OP_INT3;
		r.rip = (u64)at + 32 + 1; /* somebody else's */
		EXPECT(!text_patch_int3(&r));
		EXPECT_EQ(r.rip, (u64)at + 32 + 1);
		r.rip = (u64)at + 96 + 1; /* that of a probe, which is being written or taken out */
		EXPECT(!text_patch_int3(&r));
		r.rip = (u64)at + 40 + 1; /* it is gone again: its instruction is run */
		EXPECT(text_patch_int3(&r));
		EXPECT_EQ(r.rip, (u64)at + 40);
		r.rip = (u64)__text_start; /* outside */
		EXPECT(!text_patch_int3(&r));
		r.rip = (u64)__text_end + 1;
		EXPECT(!text_patch_int3(&r));
		r.rip = (u64)at + 64 + 1;
		r.cs = 0x33; /* ring 3 */
		EXPECT(!text_patch_int3(&r));
		r.cs = 8;
	}
	batch_count = 0;
	end();
}

static const struct ktap_case cases[] = {
    {"text_patch.numbers", numbers},
    {"text_patch.across_pages", across_pages},
    {"text_patch.emulations", emulations},
    {"text_patch.whose", whose},
    {NULL, NULL},
};
const struct ktap_suite suite_host_text_patch = {cases};
