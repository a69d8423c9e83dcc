/* help, seq, basename, dirname, date, uname, uptime, free, dmesg, clear, yes, id and the switch. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"
#include "kernel/shell/date.h"
#include "kernel/shell/history.h"

static int help_page(struct sh_io *io, const char *name)
{
	const struct sh_command *c = sh_command_find(name);

	if (!c)
		return sh_fail(io, "no help for '%s'", name);
	sh_printf(io, "usage: %s%s%s\n\n%s\n", c->name, *c->usage ? " " : "", c->usage, c->help);
	return 0;
}

int sh_cmd_help(struct sh_io *io, int argc, char **argv)
{
	size_t column = 0;
	int bad = 0;

	for (int i = 1; i < argc; i++)
		bad |= help_page(io, argv[i]);
	if (argc > 1)
		return bad;
	sh_puts(io, "Commands of the kernel (`help NAME` tells more; programs lie in /bin):\n\n");
	for (size_t i = 0; i < sh_command_count; i++) {
		sh_printf(io, "%-11s", sh_commands[i].name);
		if (++column % 7 == 0)
			sh_putc(io, '\n');
	}
	sh_puts(io, column % 7 ? "\n\n" : "\n");
	sh_puts(io, "Words: 'as it is'  \"$names expand\"  \\c  $VAR ${VAR:-x} $(command) $((1+2)) "
		    "$? $$ $! * ? [a-z] ~ # comment\n"
		    "Lines: a; b   a && b   a || b   ! a   a | b   a &   ( a )   { a; }   if while "
		    "until for case   f() { a; }\n"
		    "Files: > f  >> f  < f  2> f  2>&1  5< f  5<&-  <<END\n"
		    "Keys:  arrows, Ctrl-A E K U W Y R L, TAB completes, Ctrl-C interrupts, Ctrl-D "
		    "ends the input\n");
	return 0;
}

int sh_cmd_history(struct sh_io *io, int argc, char **argv)
{
	const struct sh_history *h = io->sh->history;

	(void)argc, (void)argv;
	for (int i = 0; h && i < h->count; i++)
		sh_printf(io, "%5d  %s\n", i + 1, h->line[i]);
	return 0;
}

int sh_cmd_seq(struct sh_io *io, int argc, char **argv)
{
	s64 n[3] = {1, 1, 0}; /* first, step, last */
	static const int place[3][3] = {{2}, {0, 2}, {0, 1, 2}};

	for (int i = 1; i < argc; i++)
		if (parse_s64(argv[i], 10, &n[place[argc - 2][i - 1]]))
			return sh_fail(io, "invalid number '%s'", argv[i]);
	if (!n[1])
		return sh_fail(io, "the step must not be 0");
	for (s64 i = n[0]; n[1] > 0 ? i <= n[2] : i >= n[2];) {
		if (io->error || os_interrupted())
			break;
		sh_printf(io, "%lld\n", (long long)i);
		if (__builtin_add_overflow(i, n[1], &i))
			break;
	}
	return 0;
}

int sh_cmd_basename(struct sh_io *io, int argc, char **argv)
{
	char *s = argv[1], *slash;
	size_t n = strlen(s), tail;

	while (n > 1 && s[n - 1] == '/')
		s[--n] = 0;
	slash = strrchr(s, '/');
	if (slash && slash[1])
		s = slash + 1;
	n = strlen(s);
	tail = argc > 2 ? strlen(argv[2]) : 0;
	if (tail && tail < n && !strcmp(s + n - tail, argv[2]))
		s[n - tail] = 0;
	sh_printf(io, "%s\n", s);
	return 0;
}

int sh_cmd_dirname(struct sh_io *io, int argc, char **argv)
{
	char *s = argv[1], *slash;
	size_t n = strlen(s);

	(void)argc;
	while (n > 1 && s[n - 1] == '/')
		s[--n] = 0;
	slash = strrchr(s, '/');
	while (slash && slash > s && slash[-1] == '/')
		slash--;
	if (!slash)
		s = ".";
	else
		slash[slash == s] = 0;
	sh_printf(io, "%s\n", s);
	return 0;
}

int sh_cmd_date(struct sh_io *io, int argc, char **argv)
{
	char text[256];

	if (argc > 1 && argv[1][0] != '+')
		return sh_fail(io, "the clock cannot be set");
	if (argc > 1)
		sh_date_format(os_unix_ns(), argv[1] + 1, text, sizeof(text));
	else
		sh_date_full(os_unix_ns(), text);
	sh_printf(io, "%s\n", text);
	return 0;
}

/* The first line of a file, without its newline; false: there is none. */
static bool first_line(const char *path, char *buf, size_t size)
{
	struct file *f;
	ssize n;

	if (file_open(path, O_RDONLY, 0, &f))
		return false;
	n = kernel_read(f, buf, size - 1);
	file_put(f);
	if (n <= 0)
		return false;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return true;
}

int sh_cmd_uname(struct sh_io *io, int argc, char **argv)
{
	char version[256], *word[4] = {"Trapline", "trapline", "", ""}, *rest = version;
	struct sh_opts o;
	bool first = true;
	static const char letters[] = "snrvm";

	if (sh_options(io, argc, argv, "asnrvm", &o))
		return 1;
	if (first_line(
		"/proc/version", version, sizeof(version))) { /* "NAME version RELEASE REST" */
		word[0] = strsep(&rest, " ");
		strsep(&rest, " ");
		word[2] = rest ? strsep(&rest, " ") : "";
		word[3] = rest ? rest : "";
	}
	for (int i = 0; i < 5; i++) {
		if (!sh_opt(&o, 'a') && !sh_opt(&o, letters[i]) && !(o.set == 0 && i == 0))
			continue;
		sh_printf(io, "%s%s", first ? "" : " ", i == 4 ? "x86_64" : word[i]);
		first = false;
	}
	sh_putc(io, '\n');
	return 0;
}

int sh_cmd_uptime(struct sh_io *io, int argc, char **argv)
{
	u64 s = os_clock_ns() / 1000000000;
	struct sh_date d = sh_date_of(os_unix_ns());

	(void)argc, (void)argv;
	sh_printf(io, " %02d:%02d:%02d up ", d.hour, d.minute, d.second);
	if (s >= 86400)
		sh_printf(io, "%llu days, ", (unsigned long long)(s / 86400));
	sh_printf(io, "%llu:%02llu:%02llu\n", (unsigned long long)(s / 3600 % 24),
	    (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
	return 0;
}

int sh_cmd_free(struct sh_io *io, int argc, char **argv)
{
	u64 total = page_total() * 4, left = page_free_count() * 4;

	(void)argc, (void)argv;
	sh_puts(io, "              total        used        free\n");
	sh_printf(io, "Mem:   %12llu%12llu%12llu\n", (unsigned long long)total,
	    (unsigned long long)(total - left), (unsigned long long)left);
	return 0;
}

int sh_cmd_dmesg(struct sh_io *io, int argc, char **argv)
{
	char *buf = kmalloc(SH_READ_SIZE);
	u64 pos = 0;
	size_t n;

	(void)argc, (void)argv;
	while (buf && !io->error && (n = os_log(&pos, buf, SH_READ_SIZE)))
		sh_put(io, buf, n);
	kfree(buf);
	return 0;
}

int sh_cmd_clear(struct sh_io *io, int argc, char **argv)
{
	(void)argc;
	sh_puts(io, strcmp(argv[0], "reset") ? "\033[H\033[2J" : "\033c\033[m\033[2J");
	return 0;
}

int sh_cmd_yes(struct sh_io *io, int argc, char **argv)
{
	while (!io->error && !os_interrupted())
		sh_printf(io, "%s\n", argc > 1 ? argv[1] : "y");
	return 0;
}

int sh_cmd_id(struct sh_io *io, int argc, char **argv)
{
	(void)argc, (void)argv;
	sh_puts(io, "uid=0 gid=0\n");
	return 0;
}

int sh_cmd_power(struct sh_io *io, int argc, char **argv)
{
	(void)io, (void)argc;
	os_power(!strcmp(argv[0], "reboot"));
	return 1;
}

int sh_cmd_crash(struct sh_io *io, int argc, char **argv)
{
	const char *path = argc > 1 ? "/proc/trapline/crash" : "/proc/sysrq-trigger";
	const char *way = argc > 1 ? argv[1] : "c";
	struct file *f;
	int err = file_open(path, O_WRONLY, 0, &f);

	if (err)
		return sh_fail_open(io, path, err);
	ssize n = kernel_write(f, way, strlen(way));
	file_put(f);
	return n < 0 ? sh_fail_errno(io, n, "%s", way) : 0;
}
