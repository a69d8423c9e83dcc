/* The files of /proc that belong to no other part of the kernel. Task context. */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/proc.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/printk.h"
#include "kernel/base/sym.h"
#include "kernel/base/version.h"
#include "kernel/task/load.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"

#define CS_NS 10000000UL /* hundredths of a second, which programs count in */

static int proc_show_meminfo(struct seq *s, void *ctx)
{
	u64 total = page_total() * PAGE_SIZE / 1024, free = page_free_count() * PAGE_SIZE / 1024;

	(void)ctx;
	seq_printf(s, "MemTotal:       %8lu kB\nMemFree:        %8lu kB\nMemAvailable:   %8lu kB\n",
	    total, free, free);
	seq_puts(s, "Buffers:               0 kB\nCached:                0 kB\n"
		    "SwapTotal:             0 kB\nSwapFree:              0 kB\n");
	return 0;
}

/* How long a CPU had nothing to run. */
static u64 proc_idle_ns(unsigned cpu)
{
	return MIN(task_runtime_ns(sched_idle_task(cpu)), clock_ns());
}

static int proc_show_uptime(struct seq *s, void *ctx)
{
	u64 cs = clock_ns() / CS_NS, idle = 0;

	(void)ctx;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		idle += proc_idle_ns(cpu) / CS_NS;
	seq_printf(s, "%lu.%02lu %lu.%02lu\n", cs / 100, cs % 100, idle / 100, idle % 100);
	return 0;
}

/*
 * A CPU runs tasks or its idle loop. All time of tasks is shown as user time, the kernel's too.
 */
static void proc_show_cpu_time(struct seq *s, u64 busy, u64 idle)
{
	seq_printf(s, "%lu 0 0 %lu 0 0 0 0 0 0\n", busy / CS_NS, idle / CS_NS);
}

static int proc_show_stat(struct seq *s, void *ctx)
{
	u64 now = clock_ns(), idle = 0;
	unsigned running = 0;

	(void)ctx;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		idle += proc_idle_ns(cpu);
		running += sched_runnable(cpu);
	}
	seq_puts(s, "cpu  ");
	proc_show_cpu_time(s, now * cpu_count() - MIN(idle, now * cpu_count()), idle);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		idle = proc_idle_ns(cpu);
		seq_printf(s, "cpu%u ", cpu);
		proc_show_cpu_time(s, now - MIN(idle, now), idle);
	}
	seq_printf(s, "btime %lu\nprocs_running %u\nprocs_blocked 0\n",
	    clock_boot_unix_ns() / 1000000000, running);
	return 0;
}

static int proc_show_loadavg(struct seq *s, void *ctx)
{
	unsigned running = 0, all = 0;
	struct task *t = NULL;
	u64 load[3];
	int last = 0;

	(void)ctx;
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		running += sched_runnable(cpu);
	while ((t = task_next(t))) {
		all++;
		last = t->pid;
	}
	load_averages(load);
	for (unsigned i = 0; i < 3; i++) {
		u64 hundredths = (load[i] * 100 + (1UL << LOAD_SHIFT) / 2) >> LOAD_SHIFT;
		seq_printf(s, "%lu.%02lu ", hundredths / 100, hundredths % 100);
	}
	seq_printf(s, "%u/%u %d\n", running, all, last);
	return 0;
}

/* Texts that do not change, for programs that ask what kind of Linux this is. */
static int proc_show_text(struct seq *s, void *ctx)
{
	seq_puts(s, ctx);
	return 0;
}

/*
 * Under Linux's name and with its fields, as people try probe arguments that fetch data with it:
 * name, release, who built it, compiler.
 */
extern const char linux_proc_banner[];
const char linux_proc_banner[] = "%s version %s (trapline) (" __VERSION__ ") %s\n";

static int proc_show_version(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, linux_proc_banner, KERNEL_NAME, KERNEL_RELEASE, "SMP");
	return 0;
}

static int proc_show_cmdline(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%s\n", cmdline());
	return 0;
}

static int proc_show_kallsyms(struct seq *s, void *ctx)
{
	(void)ctx;
	sym_show(s);
	return 0;
}

static int proc_show_filesystems(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, "nodev\tramfs\nnodev\tproc\nnodev\ttracefs\n");
	return 0;
}

static int proc_show_mounts(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, "ramfs / ramfs rw 0 0\n"
		    "proc /proc proc rw 0 0\n"
		    "tracefs /sys/kernel/tracing tracefs rw 0 0\n"
		    "tracefs /sys/kernel/debug/tracing tracefs rw 0 0\n");
	return 0;
}

/*
 * Linux's four: the console's level, that of messages without one, and the least and the usual
 * console level.
 */
static int proc_show_printk(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%d\t%d\t%d\t%d\n", printk_level(), LOG_WARNING, LOG_ALERT, LOG_DEBUG);
	return 0;
}

static int proc_store_printk(char *line, size_t n, void *ctx)
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

/* A line: a directory that, with all below it, cannot be changed from here on. */
static int proc_store_readonly(char *line, size_t n __maybe_unused, void *ctx __maybe_unused)
{
	line[strcspn(line, "\n")] = '\0';
	return vfs_set_readonly(line);
}

static int proc_show_nothing(struct seq *s __maybe_unused, void *ctx __maybe_unused)
{
	return 0;
}

static int proc_show_panic_on_oom(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_printf(s, "%u\n", mem_panic_on_oom());
	return 0;
}

static int proc_store_panic_on_oom(char *line, size_t n, void *ctx)
{
	u64 how;
	int err = parse_u64(strstrip(line), 10, &how);

	(void)n, (void)ctx;
	return err ? err : mem_set_panic_on_oom(how);
}

void proc_files_init(void)
{
	static const struct {
		const char *path;
		int (*show)(struct seq *s, void *ctx);
	} files[] = {
	    {"cmdline", proc_show_cmdline},
	    {"filesystems", proc_show_filesystems},
	    {"kallsyms", proc_show_kallsyms},
	    {"loadavg", proc_show_loadavg},
	    {"meminfo", proc_show_meminfo},
	    {"mounts", proc_show_mounts},
	    {"stat", proc_show_stat},
	    {"uptime", proc_show_uptime},
	    {"version", proc_show_version},
	};

	static const struct {
		const char *path, *text;
	} texts[] = {
	    {"sys/kernel/hostname", "trapline\n"},
	    {"sys/kernel/osrelease", ABI_RELEASE "\n"},
	    {"sys/kernel/ostype", KERNEL_NAME "\n"},
	    {"sys/kernel/pid_max", "32768\n"},
	    {"sys/vm/overcommit_memory", "0\n"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		proc_register(texts[i].path, proc_show_text, NULL, (void *)texts[i].text);
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		proc_register(files[i].path, files[i].show, NULL, NULL);
	proc_register("sys/kernel/printk", proc_show_printk, proc_store_printk, NULL);
	proc_register("trapline/readonly", proc_show_nothing, proc_store_readonly, NULL);
	proc_register("sys/vm/panic_on_oom", proc_show_panic_on_oom, proc_store_panic_on_oom, NULL);
}
