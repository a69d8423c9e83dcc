/*
 * /dev/cpu/N/msr, as on Linux: the position is the register's number, eight bytes are its value;
 * and /proc/trapline/msr, the registers there are names for with what the first CPU has in them.
 * Task context.
 */
#include "arch/arch.h"
#include "kernel/base/printk.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"

static unsigned cpu_of(const struct file *f)
{
	return (u64)f->priv;
}

/* As on Linux: several values are the same register's, one after the other. */
static ssize dev_msr_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	u64 value;

	if (n % sizeof(value) || *pos > 0xffffffff)
		return -EINVAL;
	for (size_t at = 0; at < n; at += sizeof(value)) {
		int r = arch_msr_read(cpu_of(f), *pos, &value);
		if (r)
			return at ? (ssize)at : r;
		memcpy((char *)buf + at, &value, sizeof(value));
	}
	return n;
}

static ssize dev_msr_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	u64 value;

	if (n % sizeof(value) || *pos > 0xffffffff)
		return -EINVAL;
	for (size_t at = 0; at < n; at += sizeof(value)) {
		memcpy(&value, (const char *)buf + at, sizeof(value));
		int r = arch_msr_write(cpu_of(f), *pos, value);
		if (r)
			return at ? (ssize)at : r;
	}
	return n;
}

static const struct file_ops msr_ops = {
    .read = dev_msr_read, .write = dev_msr_write, .seek = dev_seek};

static const struct {
	u32 msr;
	const char *name;
} named[] = {
#define MSR(number, name) {number, #name},
#include "kernel/machine/msr_names.def"
#undef MSR
};

static int dev_msr_show(struct seq *s, void *unused)
{
	u64 value;

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		seq_printf(s, "%8x %-28s ", named[i].msr, named[i].name);
		if (arch_msr_read(0, named[i].msr, &value))
			seq_puts(s, "-\n");
		else
			seq_printf(s, "%llx\n", (unsigned long long)value);
	}
	return 0;
}

void dev_cpu_init(void)
{
	char name[24];

	for (u64 cpu = 0; cpu < cpu_count(); cpu++) {
		fmt_snprintf(name, sizeof(name), "cpu/%u/msr", (unsigned)cpu);
		if (dev_register(name, 0600, &msr_ops, (void *)cpu))
			pr_err("cannot make /dev/%s", name);
	}
	proc_register("trapline/msr", dev_msr_show, NULL, NULL);
}
