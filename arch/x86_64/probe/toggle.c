/*
 * Watching toggles: the instruction becomes a call of its function in toggle.S, and itself again.
 * Task context, one caller at a time; arch_toggle_at(): any.
 */
#include "arch/x86_64/cpu/sections.h"
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/probe/probe.h"
#include "kernel/lib/string.h"

#define CHUNK 128 /* toggles patched in one go */

enum { OP_INT3 = 0xcc, OP_CALL = 0xe8, PREFIX = 0x2e };

extern const s32 __toggles[], __toggles_irqs_on[], __toggles_preempt_off[], __toggles_preempt_on[],
    __toggles_end[]; /* linker.ld */
extern const char toggle_irqs_off[], toggle_irqs_on[], toggle_preempt_off[],
    toggle_preempt_on[]; /* toggle.S */

#define COUNT offsetof(struct cpu_local, preempt_count)
#define COUNTED(modrm)                                                                             \
	{                                                                                          \
		0x65, 0x83, modrm, 0x25, COUNT & 255, COUNT >> 8 & 255, 0, 0, 1                    \
	}

static const struct toggle_kind {
	const s32 *from, *to;
	const char *target;
	u32 which;
	u8 len;
	u8 plain[9]; /* as arch/this_cpu.h has it */
} kinds[] = {
    {__toggles, __toggles_irqs_on, toggle_irqs_off, ARCH_TOGGLE_IRQS, 5,
	{PREFIX, PREFIX, PREFIX, PREFIX, 0xfa}},
    {__toggles_irqs_on, __toggles_preempt_off, toggle_irqs_on, ARCH_TOGGLE_IRQS, 5,
	{PREFIX, PREFIX, PREFIX, PREFIX, 0xfb}},
    {__toggles_preempt_off, __toggles_preempt_on, toggle_preempt_off, ARCH_TOGGLE_PREEMPT, 9,
	COUNTED(0x04)},
    {__toggles_preempt_on, __toggles_end, toggle_preempt_on, ARCH_TOGGLE_PREEMPT, 9, COUNTED(0x2c)},
};

static u64 toggle_addr(const s32 *at)
{
	return (u64)at + *at;
}

bool arch_toggle_at(u64 addr)
{
	u8 first = *(const u8 *)addr;

	/*
	 * The first byte rules out most code. A toggle that is being patched begins with an int3.
	 */
	if (first != kinds[0].plain[0] && first != kinds[2].plain[0] && first != OP_CALL &&
	    first != OP_INT3)
		return false;
	for (const struct toggle_kind *k = kinds; k < kinds + ARRAY_SIZE(kinds); k++)
		for (const s32 *at = k->from; at < k->to; at++)
			if (addr - toggle_addr(at) < k->len)
				return true;
	return false;
}

/*
 * True if the toggle at addr may call. Code that such a call itself runs must not: the tracer's,
 * and what probes need.
 */
static bool toggle_may_call(u64 addr)
{
	static const struct {
		const char *start, *end;
	} quiet[] = {{__trace_text_start, __trace_text_end}, {__lib_text_start, __lib_text_end},
	    {__unhooked_start, __unhooked_end}, {__noprobe_start, __noprobe_end}};

	for (unsigned i = 0; i < ARRAY_SIZE(quiet); i++)
		if (addr >= (u64)quiet[i].start && addr < (u64)quiet[i].end)
			return false;
	return true;
}

static void toggle_make_patch(
    struct text_patch *p, const struct toggle_kind *k, u64 addr, bool watch)
{
	u8 *call = p->bytes + k->len - 5;

	p->addr = (void *)addr;
	p->len = k->len;
	memcpy(p->bytes, k->plain, k->len);
	if (!watch)
		return;
	memset(p->bytes, PREFIX, k->len);
	call[0] = OP_CALL;
	probe_put_s32(call + 1, (u64)k->target - (addr + k->len));
}

static void toggle_watch_kind(const struct toggle_kind *k, bool watch)
{
	static struct text_patch patches[CHUNK];
	unsigned n = 0;

	for (const s32 *at = k->from; at < k->to; at++) {
		if (!toggle_may_call(toggle_addr(at)))
			continue;
		toggle_make_patch(&patches[n++], k, toggle_addr(at), watch);
		if (n == CHUNK) {
			text_patch(patches, n);
			n = 0;
		}
	}
	if (n)
		text_patch(patches, n);
}

void arch_toggles_watch(u32 which)
{
	static u32 watched;

	for (const struct toggle_kind *k = kinds; k < kinds + ARRAY_SIZE(kinds); k++)
		if ((which ^ watched) & k->which)
			toggle_watch_kind(k, which & k->which);
	watched = which;
}
