/*
 * The files that Linux has in /sys/kernel/debug/kprobes: a list of probes, a list of functions that
 * cannot have one, and a switch for all. The files themselves are in /proc/trapline/kprobes.
 * Besides, /proc/sys/debug/kprobes-optimization. Task context.
 */
#include "kernel/base/sym.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

static int kprobe_show_list(struct seq *s, void *ctx)
{
	(void)ctx;
	kprobes_show(s);
	return 0;
}

static int kprobe_show_blacklist(struct seq *s, void *ctx)
{
	u64 start, size;
	const char *name;

	(void)ctx;
	for (unsigned i = 0; sym_nth(i, &name, &start, &size) && !s->overflow; i++)
		if (arch_probe_refused(start))
			seq_printf(s, "0x%016lx-0x%016lx\t%s\n", start, start + size, name);
	return 0;
}

/* By the first letter, of "on" and "off" by the second: as Linux's kstrtobool(). */
static int parse_bool(const char *text, bool *v)
{
	bool by_second = *text == 'o' || *text == 'O';
	char c = by_second ? text[1] : text[0];

	*v = by_second ? c == 'n' || c == 'N' : c == '1' || c == 'y' || c == 'Y';
	if (*v)
		return 0;
	if (by_second ? c == 'f' || c == 'F' : c == '0' || c == 'n' || c == 'N')
		return 0;
	return -EINVAL;
}

static int kprobe_show_enabled(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, kprobes_are_on() ? "1\n" : "0\n");
	return 0;
}

static int kprobe_store_enabled(char *line, size_t n, void *ctx)
{
	bool on;
	int err = parse_bool(line, &on);

	(void)n;
	(void)ctx;
	if (!err)
		kprobes_switch(on);
	return err;
}

static int kprobe_show_optimization(struct seq *s, void *ctx)
{
	(void)ctx;
	seq_puts(s, kprobes_optimization_is_on() ? "1\n" : "0\n");
	return 0;
}

/* A number as C writes it, 0 or 1; Linux takes the first of several. */
static int kprobe_store_optimization(char *line, size_t n, void *ctx)
{
	u64 v;

	(void)n;
	(void)ctx;
	line = strstrip(line);
	line[strcspn(line, " \t")] = '\0';
	if (parse_u64(line, 0, &v) || v > 1)
		return -EINVAL;
	kprobes_optimization(v);
	return 0;
}

void kprobe_files_init(void)
{
	static const struct {
		const char *name;
		int (*show)(struct seq *s, void *ctx);
		int (*store)(char *line, size_t n, void *ctx);
	} files[] = {
	    {"list", kprobe_show_list, NULL},
	    {"blacklist", kprobe_show_blacklist, NULL},
	    {"enabled", kprobe_show_enabled, kprobe_store_enabled},
	};
	char path[64], target[64];

	proc_register("sys/debug/kprobes-optimization", kprobe_show_optimization,
	    kprobe_store_optimization, NULL);
	vfs_mkdir("/sys/kernel/debug/kprobes", 0755);
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		fmt_snprintf(path, sizeof(path), "trapline/kprobes/%s", files[i].name);
		proc_register(path, files[i].show, files[i].store, NULL);
		fmt_snprintf(target, sizeof(target), "/proc/%s", path);
		fmt_snprintf(path, sizeof(path), "/sys/kernel/debug/kprobes/%s", files[i].name);
		vfs_symlink(target, path);
	}
}
