/*
 * The walls around the kernel's memory, looked at: /proc/trapline/walls does it when it is read.
 * With the boot word `walls` it is done at boot, each time after text was patched, and before the
 * machine is switched off; a breach ends the kernel then. Task context.
 */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"

static bool watched; /* set once, at boot */

static void machine_walls_show_breach(void *arg, const char *text)
{
	seq_printf(arg, "%s\n", text);
}

static int machine_walls_show(struct seq *s, void *unused)
{
	struct arch_walls sum;

	(void)unused;
	arch_walls_check(&sum, machine_walls_show_breach, s);
	seq_printf(s, "pages %llu\ntables %llu\ncpus %u\nbreaches %u\n",
	    (unsigned long long)sum.pages, (unsigned long long)sum.tables, sum.cpus, sum.breaches);
	return 0;
}

static void machine_walls_panic(void *arg, const char *text)
{
	panic("walls, %s: %s", (const char *)arg, text);
}

void machine_walls_check(const char *when)
{
	struct arch_walls sum;

	if (watched)
		arch_walls_check(&sum, machine_walls_panic, (void *)when);
}

void kernel_text_patched(void)
{
	machine_walls_check("after text was patched");
}

void machine_walls_init(void)
{
	proc_register("trapline/walls", machine_walls_show, NULL, NULL);
	watched = cmdline_flag("walls");
	machine_walls_check("at boot");
	if (watched)
		pr_info("walls: they hold, and are watched");
}
