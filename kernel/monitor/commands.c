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

/* Calls fn with each piece of each file until it returns false; the status. */
static int monitor_each_piece(struct monitor *m, char **paths,
    bool (*fn)(struct monitor *m, const char *s, size_t n, void *ctx), void *ctx)
{
	int status = 0;

	for (; *paths && !m->interrupted; paths++) {
		struct file *f;
		ssize n = monitor_open(m, *paths, &f);
		if (n) {
			status = monitor_fail_errno(m, *paths, n);
			continue;
		}
		while ((n = monitor_read(m, f, m->data, sizeof(m->data))) > 0)
			if (!fn(m, m->data, n, ctx))
				break;
		file_put(f);
		if (n < 0)
			status = monitor_fail_errno(m, *paths, n);
	}
	return status;
}

static bool monitor_cat_piece(struct monitor *m, const char *s, size_t n, void *unused)
{
	(void)unused;
	return monitor_put(m, s, n);
}

static int monitor_cat(struct monitor *m, int argc, char **argv)
{
	(void)argc;
	return monitor_each_piece(m, argv + 1, monitor_cat_piece, NULL);
}

/* Lines come in pieces: what is kept of one that is not whole yet. */
struct by_line {
	char line[1024];
	size_t used;
	bool (*fn)(struct monitor *m, struct by_line *b);
	const char *pattern;
	bool invert, any;
	u64 left, count;
};

static bool monitor_line_piece(struct monitor *m, const char *s, size_t n, void *ctx)
{
	struct by_line *b = ctx;

	for (size_t i = 0; i < n; i++) {
		if (s[i] != '\n' && b->used < sizeof(b->line) - 1) {
			b->line[b->used++] = s[i];
			continue;
		}
		b->line[b->used] = '\0';
		b->used = 0;
		if (!b->fn(m, b))
			return false;
		if (s[i] != '\n')
			b->line[b->used++] = s[i]; /* a line too long counts as two */
	}
	return true;
}

static bool monitor_head_line(struct monitor *m, struct by_line *b)
{
	monitor_put(m, b->line, strlen(b->line));
	return monitor_put(m, "\n", 1) && --b->left;
}

static int monitor_head(struct monitor *m, int argc, char **argv)
{
	struct by_line b;
	u64 lines = HEAD_LINES;
	int status = 0, at = 1;

	if (argc > 2 && !strcmp(argv[1], "-n"))
		at = 3;
	else if (argv[1][0] == '-')
		at = 2;
	if (at > 1 && parse_u64(at == 3 ? argv[2] : argv[1] + 1, 10, &lines))
		return monitor_fail(m, "no number: %s", argv[at - 1]);
	for (; at < argc && lines && !m->interrupted; at++) {
		char *one[] = {argv[at], NULL};
		b = (struct by_line){.fn = monitor_head_line, .left = lines};
		status |= monitor_each_piece(m, one, monitor_line_piece, &b);
	}
	return status;
}

/* ^ and $ at its ends hold the pattern to those of the line; the rest is as it stands. */
static bool monitor_grep_matches(const char *line, const char *pattern)
{
	size_t n = strlen(pattern), length = strlen(line);
	bool begins = *pattern == '^', ends = n && pattern[n - 1] == '$';
	const char *text = pattern + begins;
	size_t size = n - begins - (ends && n > begins);

	for (size_t at = 0; at + size <= length; at++) {
		if (!strncmp(line + at, text, size) && (!ends || at + size == length))
			return true;
		if (begins)
			return false;
	}
	return false;
}

static bool monitor_grep_line(struct monitor *m, struct by_line *b)
{
	if (monitor_grep_matches(b->line, b->pattern) == b->invert)
		return true;
	b->any = true;
	monitor_put(m, b->line, strlen(b->line));
	return monitor_put(m, "\n", 1);
}

static int monitor_grep(struct monitor *m, int argc, char **argv)
{
	struct by_line b;
	int at = 1, status;

	b = (struct by_line){.fn = monitor_grep_line};
	b.invert = !strcmp(argv[1], "-v");
	at += b.invert;
	if (at + 2 > argc)
		return monitor_fail(m, "usage: grep [-v] TEXT FILE...");
	b.pattern = argv[at];
	status = monitor_each_piece(m, argv + at + 1, monitor_line_piece, &b);
	return status ? 2 : !b.any;
}

static int monitor_echo(struct monitor *m, int argc, char **argv)
{
	bool newline = argc < 2 || strcmp(argv[1], "-n");
	int first = newline ? 1 : 2;

	for (int i = first; i < argc; i++) {
		if (i > first)
			monitor_put(m, " ", 1);
		monitor_put(m, argv[i], strlen(argv[i]));
	}
	if (newline)
		monitor_put(m, "\n", 1);
	return 0;
}

static int monitor_cd(struct monitor *m, int argc, char **argv)
{
	const char *to = argc > 1 ? argv[1] : "/";
	int e = vfs_chdir(to);

	return e ? monitor_fail_errno(m, to, e) : 0;
}

static char monitor_type_letter(u32 mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFCHR:
		return 'c';
	case S_IFIFO:
		return 'p';
	default:
		return '-';
	}
}

static bool monitor_list_one(struct monitor *m, const char *directory, const char *name, bool more)
{
	struct vstat st;

	if (!more)
		return monitor_printf(m, "%s\n", name);
	fmt_snprintf(m->data, sizeof(m->data), "%s%s%s", directory, *directory ? "/" : "", name);
	if (vfs_stat(m->data, false, &st))
		return monitor_printf(m, "?????????? %s\n", name);
	return monitor_printf(m, "%c%04o %12llu %s\n", monitor_type_letter(st.mode),
	    st.mode & 07777, (unsigned long long)st.size, name);
}

static int monitor_list_path(struct monitor *m, const char *path, bool more)
{
	struct vstat st;
	struct dirent d;
	struct file *f;
	int e = vfs_stat(path, true, &st);

	m->reading = path;
	if (!e && (st.mode & S_IFMT) != S_IFDIR)
		return monitor_list_one(m, "", path, more), 0;
	if (!e)
		e = file_open(path, O_RDONLY | O_DIRECTORY, 0, &f);
	if (e)
		return monitor_fail_errno(m, path, e);
	for (u64 at = 2; (e = vfs_readdir(f, at, &d)) == 1; at++)
		if (!monitor_list_one(m, path, d.name, more))
			break;
	file_put(f);
	return e < 0 ? monitor_fail_errno(m, path, e) : 0;
}

static int monitor_ls(struct monitor *m, int argc, char **argv)
{
	bool more = argc > 1 && !strcmp(argv[1], "-l");
	int status = 0, first = more ? 2 : 1;

	if (first == argc)
		return monitor_list_path(m, ".", more);
	for (int i = first; i < argc; i++)
		status |= monitor_list_path(m, argv[i], more);
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

static int monitor_hex_file(struct monitor *m, const char *path, u64 from, u64 length)
{
	u8 row[HEX_ROW];
	struct file *f;
	ssize n = monitor_open(m, path, &f);

	if (n)
		return monitor_fail_errno(m, path, n);
	while (length && (n = vfs_pread(f, row, MIN(length, HEX_ROW), from)) > 0) {
		if (!monitor_hex_row(m, from, row, n))
			break;
		from += n;
		length -= n;
	}
	file_put(f);
	return n < 0 ? monitor_fail_errno(m, path, n) : 0;
}

static int monitor_hexdump(struct monitor *m, int argc, char **argv)
{
	u64 from = 0, length = ~0UL;

	if ((argc > 2 && parse_u64(argv[2], 0, &from)) ||
	    (argc > 3 && parse_u64(argv[3], 0, &length)))
		return monitor_fail(m, "no number among %s %s", argv[2], argc > 3 ? argv[3] : "");
	return monitor_hex_file(m, argv[1], from, length);
}

/* ---- The machine ---- */

/* The number of a register, and the CPU that has it: the words behind the command. */
static int monitor_msr_open(
    struct monitor *m, char **argv, int cpu_word, u32 flags, u64 *msr, struct file **f)
{
	u64 cpu = 0;
	int e;

	if (parse_u64(argv[1], 0, msr) || (argv[cpu_word] && parse_u64(argv[cpu_word], 0, &cpu)))
		return monitor_fail(m, "no number among the words");
	fmt_snprintf(m->data, sizeof(m->data), "/dev/cpu/%llu/msr", (unsigned long long)cpu);
	m->reading = m->data;
	e = file_open(m->data, flags, 0, f);
	return e ? monitor_fail_errno(m, m->data, e) : 0;
}

static int monitor_rdmsr(struct monitor *m, int argc, char **argv)
{
	struct file *f;
	u64 msr, value;
	ssize n;

	(void)argc;
	if (monitor_msr_open(m, argv, 2, O_RDONLY, &msr, &f))
		return 1;
	n = vfs_pread(f, &value, sizeof(value), msr);
	file_put(f);
	if (n != sizeof(value))
		return monitor_fail(
		    m, "the CPU does not tell register 0x%llx", (unsigned long long)msr);
	return !monitor_printf(m, "%llx\n", (unsigned long long)value);
}

static int monitor_wrmsr(struct monitor *m, int argc, char **argv)
{
	struct file *f;
	u64 msr, value;
	ssize n;

	(void)argc;
	if (parse_u64(argv[2], 0, &value))
		return monitor_fail(m, "no number: %s", argv[2]);
	if (monitor_msr_open(m, argv, 3, O_WRONLY, &msr, &f))
		return 1;
	n = vfs_pwrite(f, &value, sizeof(value), msr);
	file_put(f);
	return n == sizeof(value) ? 0 : monitor_fail(m, "the CPU refuses that");
}

static int monitor_dmesg(struct monitor *m, int argc, char **argv)
{
	u64 at = 0;
	size_t n;

	(void)argc, (void)argv;
	while ((n = m->system->log(&at, m->data, sizeof(m->data))))
		if (!monitor_put(m, m->data, n))
			break;
	return 0;
}

static int monitor_sysrq(struct monitor *m, int argc, char **argv)
{
	(void)argc;
	return monitor_write_text(m, TRIGGER, argv[1]);
}

static int monitor_crash(struct monitor *m, int argc, char **argv)
{
	return argc > 1 ? monitor_write_text(m, CRASH, argv[1])
			: monitor_write_text(m, TRIGGER, "c");
}

static int monitor_poweroff(struct monitor *m, int argc, char **argv)
{
	(void)argc, (void)argv;
	return monitor_write_text(m, TRIGGER, "o");
}

static int monitor_reboot(struct monitor *m, int argc, char **argv)
{
	(void)argc, (void)argv;
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
	if (monitor_open(m, path, &f))
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

static int monitor_ps(struct monitor *m, int argc, char **argv)
{
	struct dirent d;
	struct file *f;
	int e = monitor_open(m, "/proc", &f);

	(void)argc, (void)argv;
	if (e)
		return monitor_fail_errno(m, "/proc", e);
	monitor_printf(m, "    PID    PPID S NAME\n");
	for (u64 at = 2; vfs_readdir(f, at, &d) == 1; at++)
		if (is_digit(*d.name) && !monitor_ps_task(m, d.name))
			break;
	file_put(f);
	return 0;
}

static int monitor_kill(struct monitor *m, int argc, char **argv)
{
	u64 sig = SIGNAL_TERM, pid;
	int status = 0, first = argv[1][0] == '-' ? 2 : 1;

	if (first == argc || (first == 2 && parse_u64(argv[1] + 1, 10, &sig)))
		return monitor_fail(m, "usage: kill [-NUMBER] PID...");
	if (m->system->dead)
		return monitor_fail(m, "no task runs after a panic");
	for (int i = first; i < argc; i++) {
		int e = parse_u64(argv[i], 10, &pid);
		if (!e)
			e = m->system->kill(pid, sig);
		if (e)
			status = monitor_fail_errno(m, argv[i], e);
	}
	return status;
}

static int monitor_run_program(struct monitor *m, int argc, char **argv)
{
	int status;

	(void)argc;
	if (m->system->dead)
		return monitor_fail(m, "no program runs after a panic");
	status = m->system->run(argv + 1);
	if (status >= 0)
		return status;
	monitor_fail_errno(m, argv[1], status);
	return status == -ENOENT ? 127 : 126;
}

/* ---- The prompt ---- */

static int monitor_exit(struct monitor *m, int argc, char **argv)
{
	(void)argc, (void)argv;
	m->leave = true;
	return 0;
}

static int monitor_help(struct monitor *m, int argc, char **argv)
{
	(void)argc, (void)argv;
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
