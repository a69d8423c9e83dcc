/* The files of /proc that belong to no other part of the kernel. Task context. */
#include "arch/arch.h"
#include "kernel/cmdline.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/printk.h"
#include "kernel/sym.h"
#include "kernel/version.h"

static int show_meminfo(struct seq *s, void *ctx)
{
	u64 total = page_total() * PAGE_SIZE / 1024, free = page_free_count() * PAGE_SIZE / 1024;

	(void)ctx;
	seq_printf(s, "MemTotal:       %8lu kB\nMemFree:        %8lu kB\nMemAvailable:   %8lu kB\n",
	    total, free, free);
	return 0;
}

static int show_uptime(struct seq *s, void *ctx)
{
	u64 cs = clock_ns() / 10000000;

	(void)ctx;
	seq_printf(s, "%lu.%02lu 0.00\n", cs / 100, cs % 100);
	return 0;
}

static int show_version(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%s version %s (%s)\n", KERNEL_NAME, KERNEL_RELEASE, __VERSION__);
	return 0;
}

static int show_cmdline(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%s\n", cmdline());
	return 0;
}

static int show_kallsyms(struct seq *s, void *ctx)
{
	u64 start, size;
	const char *name;

	(void)ctx;
	for (unsigned i = 0; sym_nth(i, &name, &start, &size) && !s->overflow; i++) {
		seq_hex(s, start, 16);
		seq_puts(s, " T ");
		seq_puts(s, name);
		seq_putc(s, '\n');
	}
	return 0;
}

static int show_filesystems(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, "nodev\trootfs\nnodev\tproc\nnodev\ttracefs\n");
	return 0;
}

static int show_mounts(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, "rootfs / rootfs rw 0 0\n"
		    "proc /proc proc rw 0 0\n"
		    "tracefs /sys/kernel/tracing tracefs rw 0 0\n"
		    "tracefs /sys/kernel/debug/tracing tracefs rw 0 0\n");
	return 0;
}

/* Linux's four: the console's level, that of messages without one, and the least and the usual console level. */
static int show_printk(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%d\t%d\t%d\t%d\n", printk_level(), LOG_WARNING, LOG_ALERT, LOG_DEBUG);
	return 0;
}

static int store_printk(char *line, size_t n, void *ctx)
{
	char *rest = line, *first = strsep(&rest, " \t\n");
	s32 level;
	int r = parse_s32(first, 10, &level);

	(void)n, (void)ctx;
	if (r || level < 0)
		return -EINVAL;
	printk_set_level(level);
	return 0;
}

void proc_files_init(void)
{
	static const struct {
		const char *path;
		int (*show)(struct seq *s, void *ctx);
	} files[] = {
	    {"cmdline", show_cmdline},
	    {"filesystems", show_filesystems},
	    {"kallsyms", show_kallsyms},
	    {"meminfo", show_meminfo},
	    {"mounts", show_mounts},
	    {"uptime", show_uptime},
	    {"version", show_version},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		proc_register(files[i].path, files[i].show, NULL, NULL);
	proc_register("sys/kernel/printk", show_printk, store_printk, NULL);
	oom_files_init();
}
