/*
 * The boot as events. There is a ring from right after mem_init() on; what happened before is kept here as it comes, or came with
 * struct boot_info, and goes into the ring of the boot CPU before anything else does, with its own times. So the buffer has the
 * boot from its beginning, and the times in it only grow.
 *
 * kernel_boot_step() may be called before there is a %gs: it has an array, no locks, and nobody else runs. Everything else: the boot
 * CPU in kernel_main(), but for boot_user_task().
 */
#include "kernel/boot_events.h"

#include "arch/arch.h"
#include "boot/boot_info.h"
#include "kernel/events.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"
#include "trace/trace.h"

#define EARLY_MAX 16
/* The TSC counts from the reset, 0. If it has come further, some minutes, it was set or never stopped: no word about the reset. */
#define TSC_FRESH (1UL << 40)

static const struct boot_info *boot;
static struct {
	u64 tsc;
	const char *step;
} early[EARLY_MAX];
static unsigned early_count;
static bool live; /* the tracer takes steps by itself */
static u32 user_tasks;

void kernel_boot_step(const char *step)
{
	if (live) {
		trace_boot_step("kernel", step);
	} else if (early_count < EARLY_MAX) {
		early[early_count].tsc = cycles();
		early[early_count++].step = step;
	}
}

void kernel_boot_cpu(unsigned cpu, u32 apic_id, const char *step)
{
	trace_boot_cpu(cpu, apic_id, step);
}

void boot_user_task(void)
{
	if (!READ_ONCE(user_tasks) && !atomic_xchg(&user_tasks, 1))
		trace_boot_step("kernel", "user_task");
}

u64 boot_first_tsc(const struct boot_info *bi)
{
	return bi->entry_tsc < TSC_FRESH ? 0 : bi->entry_tsc;
}

#define FIRMWARE "firmware_" /* how the firmware's own stamps begin */

/* The firmware's own stamps, from before the loader, or the loader's. */
static void replay_stamps(bool firmware)
{
	unsigned n = MIN(boot->stamp_count, (u32)BOOT_MAX_STAMPS);

	for (unsigned i = 0; i < n; i++) {
		const struct boot_stamp *s = &boot->stamps[i];
		size_t skip = str_has_prefix(s->name, FIRMWARE) ? strlen(FIRMWARE) : 0;
		if (!skip == firmware)
			continue;
		trace_early_time(s->tsc);
		trace_boot_step(firmware ? "firmware" : "loader", s->name + skip);
	}
}

static void replay_object(const char *name, u64 base, u64 size)
{
	if (base)
		trace_boot_object(name, base, size);
}

/* What was handed over, at the time of the last step of the loader. */
static void replay_facts(void)
{
	const struct boot_framebuffer *fb = &boot->framebuffer;
	unsigned n = MIN(boot->range_count, (u32)BOOT_MAX_RANGES);

	for (unsigned i = 0; i < n; i++)
		trace_boot_memory(boot->ranges[i].base, boot->ranges[i].size, boot->ranges[i].type);
	replay_object("kernel", boot->kernel_base, boot->kernel_size);
	replay_object("archive", boot->initrd_base, boot->initrd_size);
	replay_object("lastboot", boot->lastboot_base, boot->lastboot_size);
	replay_object("rsdp", boot->rsdp, 0);
	replay_object("smbios", boot->smbios, 0);
	replay_object("fpdt", boot->fpdt, 0);
	replay_object("efi_system_table", boot->efi_system_table, 0);
	if (fb->format != BOOT_FB_NONE)
		trace_boot_framebuffer(fb->base, fb->width, fb->height, fb->pitch, fb->format);
}

static void replay(void)
{
	if (!boot_first_tsc(boot)) {
		trace_early_time(0);
		trace_boot_step("machine", "reset");
		replay_stamps(true); /* told from the reset on */
	}
	trace_early_time(boot->entry_tsc);
	trace_boot_step(boot->loader, "entered");
	replay_stamps(false);
	replay_facts();
	for (unsigned i = 0; i < early_count; i++) {
		trace_early_time(early[i].tsc);
		trace_boot_step("kernel", early[i].step);
	}
	live = true;
}

const struct trace_early *boot_events_of(const struct boot_info *bi)
{
	static const struct trace_early events = {"boot", replay};

	boot = bi;
	return &events;
}
