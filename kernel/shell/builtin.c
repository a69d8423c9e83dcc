/* Builtins that change the shell they run in: cd, exit, export, set, read and the like. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"
#include "kernel/shell/scan.h"

int sh_cmd_colon(struct sh_io *io, int argc, char **argv)
{
	(void)io, (void)argc, (void)argv;
	return 0;
}

int sh_cmd_false(struct sh_io *io, int argc, char **argv)
{
	(void)io, (void)argc, (void)argv;
	return 1;
}

int sh_cmd_cd(struct sh_io *io, int argc, char **argv)
{
	struct sh_vars *v = &io->sh->vars;
	const char *to = argc > 1 ? argv[1] : sh_var_get(v, "HOME"), *old = sh_var_get(v, "PWD");
	char *path = kmalloc(PATH_MAX);
	bool back = to && !strcmp(to, "-");
	int e;

	if (back)
		to = sh_var_get(v, "OLDPWD");
	to = to ? to : "/";
	e = path ? vfs_chdir(to) : -ENOMEM;
	if (e)
		sh_fail_errno(io, e, "can't cd to %s", to);
	if (!e && back)
		sh_printf(io, "%s\n", to);
	if (!e && !vfs_absolute(".", path)) {
		sh_var_set(v, "OLDPWD", old ? old : "/");
		sh_var_set(v, "PWD", path);
	}
	kfree(path);
	return e ? 1 : 0;
}

static int status_arg(struct sh_io *io, int argc, char **argv, int otherwise, int *out)
{
	u64 n = otherwise;

	if (argc > 1 && (parse_u64(argv[1], 10, &n) || n > INT_MAX))
		return sh_fail(io, "Illegal number: %s", argv[1]);
	*out = n;
	return 0;
}

int sh_cmd_exit(struct sh_io *io, int argc, char **argv)
{
	int status = 0;

	if (status_arg(io, argc, argv, io->sh->status, &status))
		return 2;
	io->sh->exiting = true;
	return status & 255;
}

int sh_cmd_return(struct sh_io *io, int argc, char **argv)
{
	int status = 0;

	if (status_arg(io, argc, argv, io->sh->status, &status))
		return 2;
	io->sh->returning = true;
	return status & 255;
}

static int leave_loops(struct sh_io *io, int argc, char **argv, int *count)
{
	int n = 0;

	if (status_arg(io, argc, argv, 1, &n) || n < 1)
		return 2;
	*count = MIN(n, io->sh->loops);
	return 0;
}

int sh_cmd_break(struct sh_io *io, int argc, char **argv)
{
	return leave_loops(io, argc, argv, &io->sh->break_n);
}

int sh_cmd_continue(struct sh_io *io, int argc, char **argv)
{
	return leave_loops(io, argc, argv, &io->sh->continue_n);
}

int sh_cmd_eval(struct sh_io *io, int argc, char **argv)
{
	struct sh_buf b = {0};
	int status = 0;

	for (int i = 1; i < argc; i++)
		sh_buf_printf(&b, i > 1 ? " %s" : "%s", argv[i]);
	if (b.failed)
		status = sh_fail_errno(io, -ENOMEM, "eval");
	else if (b.len)
		status = sh_run_text(io->sh, sh_buf_str(&b));
	sh_buf_free(&b);
	return status;
}

/* A whole file as text; 0 or negative errno. */
static int read_file(const char *name, struct sh_buf *out)
{
	char piece[256];
	struct file *f;
	int e = file_open(name, O_RDONLY, 0, &f);
	ssize n;

	if (e)
		return e;
	while ((n = kernel_read(f, piece, sizeof(piece))) > 0)
		for (ssize i = 0; i < n; i++)
			if (piece[i])
				sh_buf_putc(out, piece[i]);
	file_put(f);
	return n < 0 ? n : out->failed ? -ENOMEM : 0;
}

int sh_cmd_dot(struct sh_io *io, int argc, char **argv)
{
	struct sh_buf text = {0};
	int e = read_file(argv[1], &text), status;

	(void)argc;
	if (e) {
		sh_buf_free(&text);
		return sh_fail_open(io, argv[1], e) + 1;
	}
	status = sh_run_text(io->sh, sh_buf_str(&text));
	io->sh->returning = false;
	sh_buf_free(&text);
	return status;
}

int sh_cmd_exec(struct sh_io *io, int argc, char **argv)
{
	struct shell *sh = io->sh;

	if (argc == 1) {
		sh->keep_redirs = true;
		return 0;
	}
	sh->exiting = true;
	if (sh->launch)
		return sh_become(sh, argc - 1, argv + 1);
	return sh_run_argv(sh, argc - 1, argv + 1, false);
}

static void list_vars(struct sh_io *io, const char *prefix, bool (*wanted)(const struct sh_var *v))
{
	for (const struct sh_var *v = io->sh->vars.list; v; v = v->next) {
		if (!wanted(v))
			continue;
		sh_printf(io, "%s%s", prefix, v->name);
		if (v->value) {
			sh_puts(io, "='");
			for (const char *s = v->value; *s; s++) {
				if (*s == '\'')
					sh_puts(io, "'\"'\"'");
				else
					sh_putc(io, *s);
			}
			sh_putc(io, '\'');
		}
		sh_putc(io, '\n');
	}
}

static bool is_set(const struct sh_var *v)
{
	return v->value != NULL;
}

static bool is_exported(const struct sh_var *v)
{
	return v->exported;
}

static bool is_readonly(const struct sh_var *v)
{
	return v->readonly;
}

/* NAME or NAME=VALUE for export, readonly and local: sets it if there is a value; the name's copy in *name. */
static int declare(struct sh_io *io, const char *arg, char **name, bool local)
{
	size_t n = sh_name_len(arg);
	int e = 0;

	if (!n || (arg[n] && arg[n] != '='))
		return sh_fail(io, "%s: bad variable name", arg);
	*name = sh_strndup(&io->sh->tmp, arg, n);
	if (!*name)
		e = -ENOMEM;
	if (!e && local)
		e = sh_local_save(io->sh, *name);
	if (!e && (arg[n] || local))
		e = sh_var_set(&io->sh->vars, *name, arg[n] ? arg + n + 1 : "");
	if (!e)
		return 0;
	return e == -EPERM ? sh_fail(io, "%s: is read only", *name)
			   : sh_fail_errno(io, e, "%s", arg);
}

int sh_cmd_export(struct sh_io *io, int argc, char **argv)
{
	bool on = true;
	char *name;
	int i = 1;

	if (i < argc && !strcmp(argv[i], "-n")) {
		on = false;
		i++;
	} else if (i < argc && !strcmp(argv[i], "-p")) {
		i++;
	}
	if (i == argc)
		list_vars(io, "export ", is_exported);
	for (; i < argc; i++)
		if (declare(io, argv[i], &name, false) || sh_var_export(&io->sh->vars, name, on))
			return 1;
	return 0;
}

int sh_cmd_readonly(struct sh_io *io, int argc, char **argv)
{
	char *name;

	if (argc == 1)
		list_vars(io, "readonly ", is_readonly);
	for (int i = 1; i < argc; i++)
		if (declare(io, argv[i], &name, false) || sh_var_readonly(&io->sh->vars, name))
			return 1;
	return 0;
}

int sh_cmd_local(struct sh_io *io, int argc, char **argv)
{
	char *name;

	if (!io->sh->functions_depth)
		return sh_fail(io, "not in a function");
	for (int i = 1; i < argc; i++)
		if (declare(io, argv[i], &name, true))
			return 1;
	return 0;
}

int sh_cmd_unset(struct sh_io *io, int argc, char **argv)
{
	int i = 1, bad = 0;
	bool function = i < argc && !strcmp(argv[i], "-f");

	i += function || (i < argc && !strcmp(argv[i], "-v"));
	for (; i < argc; i++) {
		if (function)
			sh_function_unset(io->sh, argv[i]);
		else if (sh_var_unset(&io->sh->vars, argv[i]))
			bad = sh_fail(io, "%s: is read only", argv[i]);
	}
	return bad;
}

static bool *option(struct shell *sh, char c)
{
	switch (c) {
	case 'e':
		return &sh->errexit;
	case 'f':
		return &sh->noglob;
	case 'u':
		return &sh->nounset;
	case 'x':
		return &sh->xtrace;
	default:
		return NULL;
	}
}

int sh_cmd_set(struct sh_io *io, int argc, char **argv)
{
	int i = 1;

	if (argc == 1)
		list_vars(io, "", is_set);
	for (; i < argc && (argv[i][0] == '-' || argv[i][0] == '+') && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			return sh_args_set(&io->sh->vars, argc - i, argv + i) ? 2 : 0;
		}
		for (const char *p = argv[i] + 1; *p; p++) {
			bool *o = option(io->sh, *p);

			if (!o)
				return sh_fail(io, "illegal option %c%c", argv[i][0], *p) + 1;
			*o = argv[i][0] == '-';
		}
	}
	if (i < argc && sh_args_set(&io->sh->vars, argc - i, argv + i))
		return 2;
	return 0;
}

int sh_cmd_shift(struct sh_io *io, int argc, char **argv)
{
	struct sh_vars *v = &io->sh->vars;
	int n = 0;

	if (status_arg(io, argc, argv, 1, &n))
		return 2;
	if (n > v->argc)
		return sh_fail(io, "can't shift that many");
	for (int i = 0; i < n; i++)
		kfree(v->argv[i]);
	memmove(v->argv, v->argv + n, (v->argc - n) * sizeof(*v->argv));
	v->argc -= n;
	return 0;
}

/* One line from the input, a byte at a time: what follows it belongs to the next reader. False: end of file. */
static bool read_line(struct sh_io *io, struct sh_buf *line, bool raw)
{
	char c;

	while (sh_read(io, io->in, &c, 1) == 1) {
		if (c == '\n')
			return true;
		if (c == '\\' && !raw) {
			if (sh_read(io, io->in, &c, 1) != 1)
				return false;
			if (c == '\n')
				continue;
		}
		if (c)
			sh_buf_putc(line, c);
	}
	return false;
}

/* Cuts the line into the variables at IFS; the last one gets the rest. */
static int split_line(struct sh_io *io, char *s, char **names, int count)
{
	const char *ifs = sh_var_get(&io->sh->vars, "IFS");
	int bad = 0;

	ifs = ifs ? ifs : " \t\n";
	for (int i = 0; i < count; i++) {
		size_t n;
		char *rest, *end;

		while (*s && strchr(ifs, *s) && is_space(*s))
			s++;
		n = i == count - 1 ? strlen(s) : strcspn(s, ifs);
		rest = s[n] ? s + n + 1 : s + n;
		end = s + n;
		while (end > s && i == count - 1 && strchr(ifs, end[-1]) && is_space(end[-1]))
			end--;
		*end = 0;
		if (sh_var_set(&io->sh->vars, names[i], s))
			bad = sh_fail(io, "%s: is read only", names[i]);
		s = rest;
	}
	return bad;
}

int sh_cmd_read(struct sh_io *io, int argc, char **argv)
{
	static char *reply[] = {"REPLY"};
	struct sh_buf line = {0};
	struct sh_opts o;
	bool got;
	int bad;

	if (sh_options(io, argc, argv, "+rp:", &o))
		return 2;
	for (int i = o.at; i < argc; i++)
		if (!sh_name_len(argv[i]) || argv[i][sh_name_len(argv[i])])
			return sh_fail(io, "%s: bad variable name", argv[i]) + 1;
	if (sh_optval(&o, 'p'))
		sh_puts(io, sh_optval(&o, 'p'));
	got = read_line(io, &line, sh_opt(&o, 'r'));
	sh_buf_str(&line);
	bad = line.failed;
	if (!bad)
		bad = o.at < argc ? split_line(io, line.s, argv + o.at, argc - o.at)
				  : split_line(io, line.s, reply, 1);
	sh_buf_free(&line);
	return bad || !got;
}

static bool describe(struct sh_io *io, const char *name, bool terse)
{
	const struct sh_command *c = sh_command_find(name);
	char *path = sh_alloc(&io->sh->tmp, PATH_MAX);
	const char *what;

	if (sh_function_find(io->sh, name))
		what = "a function";
	else if (c && (c->flags & SH_BUILTIN))
		what = "a shell builtin";
	else if (path && sh_find_program(io->sh, name, path))
		what = path;
	else if (c)
		what = "a command of the kernel";
	else
		return false;
	if (terse)
		sh_printf(io, "%s\n", what == path ? path : name);
	else
		sh_printf(io, "%s is %s\n", name, what);
	return true;
}

int sh_cmd_type(struct sh_io *io, int argc, char **argv)
{
	int bad = 0;

	for (int i = 1; i < argc; i++) {
		if (describe(io, argv[i], !strcmp(argv[0], "which")))
			continue;
		bad = 127;
		if (strcmp(argv[0], "which"))
			sh_printf(io, "%s: not found\n", argv[i]);
	}
	return bad;
}

int sh_cmd_command(struct sh_io *io, int argc, char **argv)
{
	if (strcmp(argv[1], "-v") && strcmp(argv[1], "-V"))
		return sh_run_argv(io->sh, argc - 1, argv + 1, false);
	for (int i = 2; i < argc; i++)
		if (!describe(io, argv[i], argv[1][1] == 'v'))
			return 127;
	return 0;
}
