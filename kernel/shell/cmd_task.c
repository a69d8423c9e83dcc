/* sleep, ps, taskset, time, timeout, xargs, env, nice: tasks and the commands they run. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

/* "1", "0.25", "2m" in nanoseconds; false after a message. */
static bool duration(struct sh_io *io, const char *s, u64 *ns)
{
	static const char units[] = "smhd";
	static const u64 seconds[] = {1, 60, 3600, 86400};
	const char *p = s, *unit;
	u64 whole = parse_digits(p, &p, 10), fraction = 0;

	if (*p == '.') {
		u64 digit = 100000000;

		for (p++; is_digit(*p); p++, digit /= 10)
			fraction += (*p - '0') * digit;
	}
	unit = *p ? strchr(units, *p) : units;
	if (p == s || !unit || (*p && p[1]) || whole > 1000000000) {
		sh_fail(io, "invalid number '%s'", s);
		return false;
	}
	*ns = (whole * 1000000000 + fraction) * seconds[unit - units];
	return true;
}

int sh_cmd_sleep(struct sh_io *io, int argc, char **argv)
{
	u64 ns, total = 0;

	for (int i = 1; i < argc; i++) {
		if (!duration(io, argv[i], &ns))
			return 1;
		total += ns;
	}
	return os_sleep(total) ? 1 : 0;
}

int sh_cmd_ps(struct sh_io *io, int argc, char **argv)
{
	struct shell_stat s;

	(void)argc, (void)argv;
	sh_puts(io, "  PID  PPID STAT     TIME COMMAND\n");
	for (int pid = -1; os_ps(pid, &s) == 1; pid = s.pid) {
		u64 ms = s.run_ns / 1000000;

		sh_printf(io, "%5d %5d %c    %4llu.%03llu %s\n", s.pid, s.ppid, s.state,
		    (unsigned long long)(ms / 1000), (unsigned long long)(ms % 1000), s.comm);
	}
	return 0;
}

/* taskset MASK COMMAND..., taskset -c LIST COMMAND..., taskset -p [MASK] PID. */
static bool cpu_list(struct sh_io *io, const char *s, u64 *mask)
{
	*mask = 0;
	while (is_digit(*s)) {
		u64 from = parse_digits(s, &s, 10), to = from;

		if (*s == '-' && is_digit(s[1]))
			to = parse_digits(s + 1, &s, 10);
		for (; from <= to && from < 64; from++)
			*mask |= 1UL << from;
		s += *s == ',';
	}
	if (!*s && *mask)
		return true;
	sh_fail(io, "bad CPU list '%s'", s);
	return false;
}

static bool cpu_mask(struct sh_io *io, const char *s, u64 *mask)
{
	if (!parse_u64(s, 16, mask) && *mask)
		return true;
	sh_fail(io, "bad mask '%s'", s);
	return false;
}

static int show_affinity(struct sh_io *io, const char *pid_text)
{
	u64 pid, mask;

	if (!sh_number(io, pid_text, &pid))
		return 1;
	mask = os_affinity(pid);
	if (!mask)
		return sh_fail_errno(io, -ESRCH, "can't get affinity of pid %s", pid_text);
	sh_printf(io, "pid %s's current affinity mask: %llx\n", pid_text, (unsigned long long)mask);
	return 0;
}

int sh_cmd_taskset(struct sh_io *io, int argc, char **argv)
{
	bool list = !strcmp(argv[1], "-c"), pid_form = !strcmp(argv[1], "-p");
	int at = 1 + (list || pid_form), e;
	u64 mask, pid = 0;

	if (pid_form && argc == 3)
		return show_affinity(io, argv[2]);
	if (argc < at + 2)
		return sh_fail(io, "usage: taskset [-c] CPUS COMMAND [ARG]...");
	if (list ? !cpu_list(io, argv[at], &mask) : !cpu_mask(io, argv[at], &mask))
		return 1;
	if (pid_form && !sh_number(io, argv[at + 1], &pid))
		return 1;
	e = os_set_affinity(pid, mask);
	if (e)
		return sh_fail_errno(
		    io, e, "can't set pid %llu's affinity", (unsigned long long)pid);
	return pid_form ? 0 : sh_become(io->sh, argc - at - 1, argv + at + 1);
}

static int run_and_wait(struct sh_io *io, int argc, char **argv)
{
	bool tail = io->sh->tail;
	int status;

	io->sh->tail = false;
	sh_flush(io);
	status = sh_run_argv(io->sh, argc, argv, false);
	io->sh->tail = tail;
	return status;
}

int sh_cmd_time(struct sh_io *io, int argc, char **argv)
{
	u64 before = os_clock_ns(), ns;
	int status = run_and_wait(io, argc - 1, argv + 1);
	struct sh_buf b = {0};

	ns = os_clock_ns() - before;
	sh_buf_printf(&b, "real\t%llum %llu.%06llus\n", (unsigned long long)(ns / 60000000000),
	    (unsigned long long)(ns / 1000000000 % 60), (unsigned long long)(ns / 1000 % 1000000));
	if (b.len)
		sh_write_all(io->err, b.s, b.len);
	sh_buf_free(&b);
	return status;
}

/* Runs the command and ends it if it takes too long. */
int sh_cmd_timeout(struct sh_io *io, int argc, char **argv)
{
	u64 ns, end;
	int pid, sig, which, status;

	if (!duration(io, argv[1], &ns))
		return 125;
	pid = sh_spawn_argv(io->sh, argc - 2, argv + 2);
	if (pid < 0)
		return sh_fail_errno(io, pid, "can't fork");
	end = os_clock_ns() + ns;
	while ((status = os_wait(pid, false, &sig, &which)) == -EAGAIN) {
		if (os_clock_ns() >= end || os_interrupted()) {
			os_kill(pid, 15);
			os_clear_interrupt();
			os_wait(pid, true, &sig, &which);
			return 143;
		}
		os_sleep(MIN(end - os_clock_ns(), 10000000UL));
	}
	return status;
}

int sh_cmd_env(struct sh_io *io, int argc, char **argv)
{
	struct sh_vars *v = &io->sh->vars;
	int i = 1;

	for (; i < argc && strchr(argv[i], '='); i++) {
		char *name = sh_strndup(&io->sh->tmp, argv[i], strcspn(argv[i], "="));

		if (!name || sh_var_set(v, name, strchr(argv[i], '=') + 1) ||
		    sh_var_export(v, name, true))
			return sh_fail(io, "can't set %s", argv[i]);
	}
	if (i < argc)
		return sh_become(io->sh, argc - i, argv + i);
	for (const struct sh_var *x = v->list; x; x = x->next)
		if (x->exported && x->value)
			sh_printf(io, "%s=%s\n", x->name, x->value);
	return 0;
}

/* The next word of the input into b: quotes and backslashes hold blanks. False: there is none. */
static bool next_word(struct sh_reader *r, struct sh_buf *b)
{
	char quote = 0;
	bool any = false;
	int c;

	b->len = 0;
	while ((c = sh_getc(r)) >= 0) {
		if (!quote && is_space(c)) {
			if (any)
				break;
			continue;
		}
		any = true;
		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? 0 : c;
		else if (c == '\\' && !quote && (c = sh_getc(r)) < 0)
			break;
		else
			sh_buf_putc(b, c);
	}
	return any;
}

struct xargs {
	struct sh_io *io;
	struct sh_opts o;
	char **command;
	int count;	     /* words of the command */
	u64 max;	     /* words added to each */
	const char *replace; /* -I */
	int status;
};

/* {} (or whatever -I says) in the command's words becomes the input's word. */
static char *replaced(struct xargs *x, const char *s, const char *by)
{
	struct sh_buf b = {0};
	const char *at;
	char *out;

	while ((at = strstr(s, x->replace))) {
		sh_buf_put(&b, s, at - s);
		sh_buf_puts(&b, by);
		s = at + strlen(x->replace);
	}
	sh_buf_puts(&b, s);
	out = b.failed ? NULL : sh_strdup(&x->io->sh->tmp, sh_buf_str(&b));
	sh_buf_free(&b);
	return out;
}

static void xargs_run(struct xargs *x, struct sh_words *added)
{
	struct sh_arena *a = &x->io->sh->tmp;
	struct sh_words all = {0};
	int status;

	for (int i = 0; i < x->count; i++)
		sh_words_add(
		    &all, a, x->replace ? replaced(x, x->command[i], added->v[0]) : x->command[i]);
	for (int i = 0; i < added->n && !x->replace; i++)
		sh_words_add(&all, a, added->v[i]);
	status = all.failed ? 1 : run_and_wait(x->io, all.n, all.v);
	if (status)
		x->status = status == 127 ? 127 : 123;
}

static int xargs_loop(struct xargs *x)
{
	struct sh_arena *a = &x->io->sh->tmp;
	struct sh_mark mark = sh_arena_mark(a);
	struct sh_words added = {0};
	struct sh_buf word = {0};
	struct sh_reader r;
	bool ran = false;

	if (sh_reader_init(&r, x->io, x->io->in))
		return sh_fail(x->io, "out of memory");
	while (!os_interrupted() && next_word(&r, &word)) {
		sh_words_add(&added, a, sh_strdup(a, sh_buf_str(&word)));
		if ((u64)added.n < x->max || added.failed)
			continue;
		xargs_run(x, &added);
		ran = true;
		added = (struct sh_words){0};
		sh_arena_release(a, mark);
	}
	if (added.n || (!ran && !sh_opt(&x->o, 'r') && !x->replace))
		xargs_run(x, &added);
	sh_reader_free(&r);
	sh_buf_free(&word);
	return x->status;
}

int sh_cmd_xargs(struct sh_io *io, int argc, char **argv)
{
	static char *echo[] = {"echo"};
	struct xargs x = {.io = io, .max = 1000};

	if (sh_options(io, argc, argv, "+n:rI:", &x.o))
		return 1;
	x.replace = sh_optval(&x.o, 'I');
	if (sh_opt(&x.o, 'n') && (!sh_number(io, sh_optval(&x.o, 'n'), &x.max) || !x.max))
		return 1;
	if (x.replace)
		x.max = 1;
	x.command = x.o.at < argc ? argv + x.o.at : echo;
	x.count = x.o.at < argc ? argc - x.o.at : 1;
	return xargs_loop(&x);
}
