/*
 * What Linux shows in /sys/kernel/debug/kprobes: the probes there are, the functions that have none, and a switch for all. The files
 * themselves are in /proc/trapline/kprobes. Task context.
 */
#include "kernel/fs/vfs.h"
#include "kernel/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/sym.h"

static int show_list(struct seq *s, void *ctx)
{
	(void)ctx;
	kprobes_show(s);
	return 0;
}

static int show_blacklist(struct seq *s, void *ctx)
{
	u64 start, size;
	const char *name;

	(void)ctx;
	for (unsigned i = 0; sym_nth(i, &name, &start, &size) && !s->overflow; i++)
		if (arch_probe_refused(start))
			seq_printf(s, "0x%016lx-0x%016lx\t%s\n", start, start + size, name);
	return 0;
}

static int show_enabled(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, kprobes_are_on() ? "1\n" : "0\n");
	return 0;
}

static int store_enabled(char *line, size_t n, void *ctx)
{
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	(void)n;
	(void)ctx;
	if (err || v > 1)
		return -EINVAL;
	kprobes_switch(v);
	return 0;
}

void kprobe_files_init(void)
{
	static const struct {
		const char *name;
		int (*show)(struct seq *s, void *ctx);
		int (*store)(char *line, size_t n, void *ctx);
	} files[] = {
	    {"list", show_list, NULL},
	    {"blacklist", show_blacklist, NULL},
	    {"enabled", show_enabled, store_enabled},
	};
	char path[64], target[64];

	vfs_mkdir("/sys/kernel/debug/kprobes", 0755);
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "trapline/kprobes/%s", files[i].name);
		proc_register(path, files[i].show, files[i].store, NULL);
		snprintf(target, sizeof(target), "/proc/%s", path);
		snprintf(path, sizeof(path), "/sys/kernel/debug/kprobes/%s", files[i].name);
		vfs_symlink(target, path);
	}
}
