/*
 * The boot as events of the system `boot`: the steps of the firmware and the loader, what was
 * handed over, and the kernel's own steps. There is a ring from right after mem_init() on. Steps
 * taken before that are kept in a static array, or arrived with struct boot_info; they enter the
 * ring of the boot CPU before any other event, with their own times. So the buffer has the boot
 * from its beginning, and the times in it only grow. Time 0 is the reset of the machine, where the
 * TSC starts to count.
 *
 * kernel_boot_step() may be called before %gs is set up: it writes to an array without a lock,
 * while nothing else runs. The other functions run on the boot CPU in kernel_main().
 */
#include "kernel/trace/boot_events.h"

#include "arch/arch.h"
#include "boot/boot_info.h"
#include "kernel/base/boot_time.h"
#include "kernel/base/events.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/string.h"
#include "trace/trace.h"

#define EARLY_MAX 16

static const struct boot_info *boot;
static struct {
	u64 tsc;
	const char *step;
} early[EARLY_MAX];
static unsigned early_count;
static bool live; /* the tracer takes steps by itself */

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

#define FIRMWARE "firmware_" /* how the firmware's own stamps begin */

/* The firmware's own stamps, from before the loader, or the loader's. */
static void boot_events_replay_stamps(bool firmware)
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

static void boot_events_replay_object(const char *name, u64 base, u64 size)
{
	if (base)
		trace_boot_object(name, base, size);
}

/* Records what the loader handed over, with the time of its last step. */
static void replay_facts(void)
{
	const struct boot_framebuffer *fb = &boot->framebuffer;
	unsigned n = MIN(boot->range_count, (u32)BOOT_MAX_RANGES);

	for (unsigned i = 0; i < n; i++)
		trace_boot_memory(boot->ranges[i].base, boot->ranges[i].size, boot->ranges[i].type);
	boot_events_replay_object("kernel", boot->kernel_base, boot->kernel_size);
	boot_events_replay_object("archive", boot->initrd_base, boot->initrd_size);
	boot_events_replay_object("lastboot", boot->lastboot_base, boot->lastboot_size);
	boot_events_replay_object("rsdp", boot->rsdp, 0);
	boot_events_replay_object("smbios", boot->smbios, 0);
	boot_events_replay_object("fpdt", boot->fpdt, 0);
	boot_events_replay_object("efi_system_table", boot->efi_system_table, 0);
	if (fb->format != BOOT_FB_NONE)
		trace_boot_framebuffer(fb->base, fb->width, fb->height, fb->pitch, fb->format);
}

static void boot_events_replay(void)
{
	if (!boot_first_tsc(boot->entry_tsc)) {
		trace_early_time(0);
		trace_boot_step("machine", "reset");
		boot_events_replay_stamps(true); /* with times since the reset */
	}
	trace_early_time(boot->entry_tsc);
	trace_boot_step(boot->loader, "entered");
	boot_events_replay_stamps(false);
	replay_facts();
	for (unsigned i = 0; i < early_count; i++) {
		trace_early_time(early[i].tsc);
		trace_boot_step("kernel", early[i].step);
	}
	live = true;
}

const struct trace_early *boot_events_of(const struct boot_info *bi)
{
	static const struct trace_early events = {"boot", boot_events_replay};

	boot = bi;
	return &events;
}
