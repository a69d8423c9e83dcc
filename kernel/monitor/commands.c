/* The monitor's commands: a row of the table and a function each. */
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/monitor.h"

#define TRIGGER	    "/proc/sysrq-trigger"
#define CRASH	    "/proc/trapline/crash"
#define HEAD_LINES  10
#define HEX_ROW	    16U
#define SIGNAL_TERM 15

/* ---- Files ---- */

static int monitor_cat(struct monitor *m, char **argv)
{
	int status = 0;

	while (*++argv && !m->interrupted) {
		struct file *f = monitor_open(m, *argv, O_RDONLY | O_NONBLOCK);
		ssize n = 0;
		while (f && (n = monitor_read(m, f, m->data, sizeof(m->data))) > 0)
			if (!monitor_put(m, m->data, n))
				break;
		status |= monitor_close(m, f, n);
	}
	return status;
}

/* A file that is read line by line, through m->data. */
struct lines {
	struct file *f;
	const char *line; /* without its newline */
	size_t length;
	size_t at, end; /* where the next one begins, where what has been read ends */
	ssize n;	/* of the last read */
};

/* False at the end. A line too long counts as two. */
static bool monitor_next_line(struct monitor *m, struct lines *l)
{
	const char *newline;

	while (!(newline = memchr(m->data + l->at, '\n', l->end - l->at))) {
		l->end -= l->at;
		memmove(m->data, m->data + l->at, l->end);
		l->at = 0;
		if (l->end == sizeof(m->data))
			break;
		l->n = monitor_read(m, l->f, m->data + l->end, sizeof(m->data) - l->end);
		if (l->n <= 0)
			break;
		l->end += l->n;
	}
	l->line = m->data + l->at;
	l->length = newline ? (size_t)(newline - l->line) : l->end;
	l->at += l->length + (newline != NULL);
	return newline || l->length;
}

static bool monitor_put_line(struct monitor *m, const struct lines *l)
{
	return monitor_put(m, l->line, l->length) && monitor_put(m, "\n", 1);
}

static int monitor_head(struct monitor *m, char **argv)
{
	const char *number = *++argv;
	u64 most = HEAD_LINES;
	int status = 0;

	if (*number == '-') {
		argv++;
		if (!strcmp(number++, "-n") && *argv)
			number = *argv++;
		if (parse_u64(number, 10, &most))
			return monitor_fail(m, "no number: %s", number);
	}
	for (; *argv && !m->interrupted; argv++) {
		struct lines l = {.f = monitor_open(m, *argv, O_RDONLY | O_NONBLOCK)};
		for (u64 left = l.f ? most : 0; left && monitor_next_line(m, &l); left--)
			if (!monitor_put_line(m, &l))
				break;
		status |= monitor_close(m, l.f, l.n);
	}
	return status;
}

/* ^ and $ at its ends hold the pattern to those of the line; the rest is as it stands. */
static bool monitor_grep_matches(const struct lines *l, const char *pattern)
{
	size_t n = strlen(pattern);
	bool begins = *pattern == '^', ends = n && pattern[n - 1] == '$';
	const char *text = pattern + begins;
	size_t size = n - begins - (ends && n > begins);

	for (size_t at = 0; at + size <= l->length; at++) {
		if (!memcmp(l->line + at, text, size) && (!ends || at + size == l->length))
			return true;
		if (begins)
			return false;
	}
	return false;
}

static int monitor_grep(struct monitor *m, char **argv)
{
	bool invert = !strcmp(argv[1], "-v"), any = false;
	const char *pattern = argv[1 + invert];
	int status = 0;

	argv += 2 + invert;
	if (!*argv)
		return monitor_fail(m, "usage: grep [-v] TEXT FILE...");
	for (; *argv && !m->interrupted; argv++) {
		struct lines l = {.f = monitor_open(m, *argv, O_RDONLY | O_NONBLOCK)};
		while (l.f && monitor_next_line(m, &l)) {
			if (monitor_grep_matches(&l, pattern) == invert)
				continue;
			any = true;
			if (!monitor_put_line(m, &l))
				break;
		}
		status |= monitor_close(m, l.f, l.n);
	}
	return status ? 2 : !any;
}

static int monitor_echo(struct monitor *m, char **argv)
{
	bool newline = !argv[1] || strcmp(argv[1], "-n");

	for (char **word = argv + (newline ? 1 : 2); *word; word++) {
		monitor_put(m, *word, strlen(*word));
		if (word[1])
			monitor_put(m, " ", 1);
	}
	if (newline)
		monitor_put(m, "\n", 1);
	return 0;
}

static int monitor_cd(struct monitor *m, char **argv)
{
	const char *to = argv[1] ? argv[1] : "/";
	int e = vfs_chdir(to);

	return e ? monitor_fail_errno(m, to, e) : 0;
}

static bool monitor_list_one(struct monitor *m, const char *directory, const char *name, bool more)
{
	static const char letters[] = "-pc-d-b---l-s---"; /* by S_IFMT */
	struct vstat st;

	if (!more)
		return monitor_printf(m, "%s\n", name);
	fmt_snprintf(m->data, sizeof(m->data), "%s%s%s", directory, *directory ? "/" : "", name);
	if (vfs_stat(m->data, false, &st))
		return monitor_printf(m, "?????????? %s\n", name);
	return monitor_printf(m, "%c%04o %12llu %s\n", letters[(st.mode & S_IFMT) >> 12],
	    st.mode & 07777, (unsigned long long)st.size, name);
}

static int monitor_list_path(struct monitor *m, const char *path, bool more)
{
	struct vstat st;
	struct dirent d;
	struct file *f;
	int e = 0;

	m->reading = path;
	if (!vfs_stat(path, true, &st) && (st.mode & S_IFMT) != S_IFDIR)
		return monitor_list_one(m, "", path, more), 0;
	f = monitor_open(m, path, O_RDONLY | O_DIRECTORY);
	for (u64 at = 2; f && (e = vfs_readdir(f, at, &d)) == 1; at++)
		if (!monitor_list_one(m, path, d.name, more))
			break;
	return monitor_close(m, f, e);
}

static int monitor_ls(struct monitor *m, char **argv)
{
	bool more = argv[1] && !strcmp(argv[1], "-l");
	int status = 0;

	argv += 1 + more;
	if (!*argv)
		return monitor_list_path(m, ".", more);
	for (; *argv; argv++)
		status |= monitor_list_path(m, *argv, more);
	return status;
}

static bool monitor_hex_row(struct monitor *m, u64 at, const u8 *row, size_t n)
{
	monitor_printf(m, "%08llx ", (unsigned long long)at);
	for (size_t i = 0; i < HEX_ROW; i++)
		if (i < n)
			monitor_printf(m, " %02x", row[i]);
		else
			monitor_put(m, "   ", 3);
	monitor_put(m, "  |", 3);
	for (size_t i = 0; i < n; i++)
		monitor_put(m, is_print(row[i]) ? (const char *)&row[i] : ".", 1);
	return monitor_put(m, "|\n", 2);
}

static int monitor_hexdump(struct monitor *m, char **argv)
{
	u64 from = 0, length = ~0UL;
	u8 row[HEX_ROW];
	struct file *f;
	ssize n = 0;

	for (int i = 2; i < m->words.count; i++)
		if (parse_u64(argv[i], 0, i == 2 ? &from : &length))
			return monitor_fail(m, "no number: %s", argv[i]);
	f = monitor_open(m, argv[1], O_RDONLY | O_NONBLOCK);
	for (; f && length; from += n, length -= n) {
		n = vfs_pread(f, row, MIN(length, HEX_ROW), from);
		if (n <= 0 || !monitor_hex_row(m, from, row, n))
			break;
	}
	return monitor_close(m, f, n);
}

/* ---- The machine ---- */

/* The file of a CPU's registers, CPU 0's if none is named, and the number of one. */
static struct file *monitor_open_msr(
    struct monitor *m, const char *number, const char *cpu, u32 flags, u64 *msr)
{
	u64 n = 0;

	if (parse_u64(number, 0, msr) || (cpu && parse_u64(cpu, 0, &n))) {
		monitor_fail(m, "no number among the words");
		return NULL;
	}
	fmt_snprintf(m->data, sizeof(m->data), "/dev/cpu/%llu/msr", (unsigned long long)n);
	return monitor_open(m, m->data, flags);
}

static int monitor_rdmsr(struct monitor *m, char **argv)
{
	u64 msr, value;
	struct file *f = monitor_open_msr(m, argv[1], argv[2], O_RDONLY, &msr);
	ssize n = f ? vfs_pread(f, &value, sizeof(value), msr) : 0;

	if (monitor_close(m, f, 0))
		return 1;
	if (n != sizeof(value))
		return monitor_fail(
		    m, "the CPU does not tell register 0x%llx", (unsigned long long)msr);
	return !monitor_printf(m, "%llx\n", (unsigned long long)value);
}

static int monitor_wrmsr(struct monitor *m, char **argv)
{
	u64 msr, value;
	struct file *f;
	ssize n;

	if (parse_u64(argv[2], 0, &value))
		return monitor_fail(m, "no number: %s", argv[2]);
	f = monitor_open_msr(m, argv[1], argv[3], O_WRONLY, &msr);
	n = f ? vfs_pwrite(f, &value, sizeof(value), msr) : 0;
	if (monitor_close(m, f, 0))
		return 1;
	return n == sizeof(value) ? 0 : monitor_fail(m, "the CPU refuses that");
}

static int monitor_dmesg(struct monitor *m, char **argv __maybe_unused)
{
	u64 at = 0;
	size_t n;

	while ((n = m->system->log(&at, m->data, sizeof(m->data))))
		if (!monitor_put(m, m->data, n))
			break;
	return 0;
}

/* Writes a text to a file of the kernel's own, in one write. */
static int monitor_write_text(struct monitor *m, const char *path, const char *text)
{
	struct file *f = monitor_open(m, path, O_WRONLY);

	return monitor_close(m, f, f ? kernel_write(f, text, strlen(text)) : 0);
}

static int monitor_sysrq(struct monitor *m, char **argv)
{
	return monitor_write_text(m, TRIGGER, argv[1]);
}

static int monitor_crash(struct monitor *m, char **argv)
{
	return argv[1] ? monitor_write_text(m, CRASH, argv[1])
		       : monitor_write_text(m, TRIGGER, "c");
}

static int monitor_poweroff(struct monitor *m, char **argv __maybe_unused)
{
	return monitor_write_text(m, TRIGGER, "o");
}

static int monitor_reboot(struct monitor *m, char **argv __maybe_unused)
{
	return monitor_write_text(m, TRIGGER, "b");
}

/* ---- Tasks ---- */

/* The line of /proc/PID/stat: pid (name) state parent ... */
static bool monitor_ps_task(struct monitor *m, const char *pid)
{
	char path[32], *open, *close;
	struct file *f;
	ssize n;

	fmt_snprintf(path, sizeof(path), "/proc/%.10s/stat", pid);
	if (file_open(path, O_RDONLY, 0, &f))
		return true; /* it has ended meanwhile */
	n = monitor_read(m, f, m->data, sizeof(m->data) - 1);
	file_put(f);
	m->data[MAX(n, 0)] = '\0';
	open = strchr(m->data, '(');
	close = strrchr(m->data, ')');
	if (!open || !close)
		return true;
	return monitor_printf(m, "%7s %7.*s %c %.*s\n", pid, (int)strcspn(close + 4, " "),
	    close + 4, close[2], (int)(close - open - 1), open + 1);
}

static int monitor_ps(struct monitor *m, char **argv __maybe_unused)
{
	struct file *f = monitor_open(m, "/proc", O_RDONLY | O_DIRECTORY);
	struct dirent d;

	if (f)
		monitor_printf(m, "    PID    PPID S NAME\n");
	for (u64 at = 2; f && vfs_readdir(f, at, &d) == 1; at++)
		if (is_digit(*d.name) && !monitor_ps_task(m, d.name))
			break;
	return monitor_close(m, f, 0);
}

static int monitor_kill(struct monitor *m, char **argv)
{
	u64 sig = SIGNAL_TERM, pid;
	bool named = *argv[1] == '-';
	int status = 0;

	if (named && (!argv[2] || parse_u64(argv[1] + 1, 10, &sig)))
		return monitor_fail(m, "usage: kill [-NUMBER] PID...");
	if (m->system->dead)
		return monitor_fail(m, "no task runs after a panic");
	for (argv += 1 + named; *argv; argv++) {
		int e = parse_u64(*argv, 10, &pid);
		if (!e)
			e = m->system->kill(pid, sig);
		if (e)
			status = monitor_fail_errno(m, *argv, e);
	}
	return status;
}

static int monitor_run_program(struct monitor *m, char **argv)
{
	int status;

	if (m->system->dead)
		return monitor_fail(m, "no program runs after a panic");
	status = m->system->run(argv + 1);
	if (status >= 0)
		return status;
	monitor_fail_errno(m, argv[1], status);
	return status == -ENOENT ? 127 : 126;
}

/* ---- The prompt ---- */

static int monitor_exit(struct monitor *m, char **argv __maybe_unused)
{
	m->leave = true;
	return 0;
}

static int monitor_help(struct monitor *m, char **argv __maybe_unused)
{
	monitor_printf(
	    m, "The kernel's own prompt. Files are below /sys/kernel/tracing, /proc, /dev.\n\n");
	for (unsigned i = 0; i < monitor_command_count; i++) {
		const struct monitor_command *c = &monitor_commands[i];
		char usage[64];
		fmt_snprintf(usage, sizeof(usage), "%s %s", c->name, c->usage);
		monitor_printf(m, "  %-30s %s\n", usage, c->help);
	}
	monitor_printf(m,
	    "\nWords: 'as it is'  \"with $? and $$\"  \\c  # comment\n"
	    "Lines: a; b   a && b   a > file   a >> file   a line that ends in \\ goes on\n");
	return 0;
}

const struct monitor_command monitor_commands[] = {
    {"cat", 1, -1, "FILE...", "prints files; Ctrl-C ends it", monitor_cat},
    {"cd", 0, 1, "[DIRECTORY]", "goes there", monitor_cd},
    {"crash", 0, 1, "[WAY]", "a panic, or a way of /proc/trapline/crash", monitor_crash},
    {"dmesg", 0, 0, "", "prints the kernel's log", monitor_dmesg},
    {"echo", 0, -1, "[-n] [WORD]...", "prints words, in one write", monitor_echo},
    {"exit", 0, 0, "", "leaves the monitor", monitor_exit},
    {"grep", 2, -1, "[-v] TEXT FILE...",
	"prints lines that have (-v: lack) it; ^ and $ are their ends", monitor_grep},
    {"head", 1, -1, "[-n LINES] FILE...", "prints the first lines", monitor_head},
    {"help", 0, 0, "", "prints this", monitor_help},
    {"hexdump", 1, 3, "FILE [FROM [LENGTH]]", "prints bytes", monitor_hexdump},
    {"kill", 1, -1, "[-NUMBER] PID...", "sends a signal, 15 if none is named", monitor_kill},
    {"ls", 0, -1, "[-l] [FILE]...", "lists files", monitor_ls},
    {"poweroff", 0, 0, "", "switches the machine off", monitor_poweroff},
    {"ps", 0, 0, "", "lists the tasks", monitor_ps},
    {"rdmsr", 1, 2, "REGISTER [CPU]", "prints a model-specific register", monitor_rdmsr},
    {"reboot", 0, 0, "", "starts the machine again", monitor_reboot},
    {"run", 1, -1, "PROGRAM [WORD]...", "runs a program and waits for it", monitor_run_program},
    {"sysrq", 1, 1, "KEY", "what the key does; h lists them", monitor_sysrq},
    {"wrmsr", 2, 3, "REGISTER VALUE [CPU]", "sets a model-specific register", monitor_wrmsr},
};
const unsigned monitor_command_count = ARRAY_SIZE(monitor_commands);
