/* pwd, mkdir, rmdir, rm, ln, cp, mv, touch, find: names of files. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"

static bool is_dir(const char *path)
{
	struct vstat st;

	return !vfs_stat(path, true, &st) && (st.mode & S_IFMT) == S_IFDIR;
}

int sh_cmd_pwd(struct sh_io *io, int argc, char **argv)
{
	char *path = kmalloc(PATH_MAX);
	int e = path ? vfs_absolute(".", path) : -ENOMEM;

	(void)argc, (void)argv;
	if (e)
		sh_fail_errno(io, e, "pwd");
	else
		sh_printf(io, "%s\n", path);
	kfree(path);
	return e != 0;
}

static __noinline void umask_show(struct sh_io *io, u32 mask)
{
	sh_printf(io, "%04o\n", mask);
}

int sh_cmd_umask(struct sh_io *io, int argc, char **argv)
{
	u32 mask;

	if (argc == 1) {
		mask = os_umask(0);
		os_umask(mask);
		umask_show(io, mask);
		return 0;
	}
	if (parse_u32(argv[1], 8, &mask) || mask > 0777)
		return sh_fail(io, "illegal mode: %s", argv[1]);
	os_umask(mask);
	return 0;
}

/* -p: also what leads there; what is there already is no error. */
static int make_path(const char *path)
{
	char *copy = kstrdup(path);
	int e = copy ? 0 : -ENOMEM;

	for (char *p = copy; copy && *p && !e;) {
		char end;

		p += strspn(p, "/");
		p += strcspn(p, "/");
		end = *p;
		*p = 0;
		if (*copy)
			e = vfs_mkdir(copy, 0777);
		if (e && is_dir(copy))
			e = 0;
		*p = end;
	}
	kfree(copy);
	return e;
}

int sh_cmd_mkdir(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	int bad = 0;

	if (sh_options(io, argc, argv, "pm:", &o))
		return 1;
	for (; o.at < argc; o.at++) {
		int e = sh_opt(&o, 'p') ? make_path(argv[o.at]) : vfs_mkdir(argv[o.at], 0777);

		if (e)
			bad = sh_fail_errno(io, e, "can't create directory '%s'", argv[o.at]);
	}
	return bad;
}

int sh_cmd_rmdir(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	int bad = 0;

	if (sh_options(io, argc, argv, "", &o))
		return 1;
	for (; o.at < argc; o.at++) {
		int e = vfs_rmdir(argv[o.at]);

		if (e)
			bad = sh_fail_errno(io, e, "'%s'", argv[o.at]);
	}
	return bad;
}

/* Path of an entry of a directory, in arena memory; NULL: too long. */
static char *entry_path(struct sh_io *io, const char *dir, const char *name)
{
	size_t d = strlen(dir), n = strlen(name);
	char *p = d + n + 2 <= PATH_MAX ? sh_alloc(&io->sh->tmp, d + n + 2) : NULL;

	if (!p)
		return NULL;
	memcpy(p, dir, d);
	if (d && dir[d - 1] != '/')
		p[d++] = '/';
	memcpy(p + d, name, n + 1);
	return p;
}

/* The names in a directory, without . and .., in arena memory. */
static int read_names(struct sh_io *io, const char *dir, struct sh_words *out)
{
	struct dirent *de = sh_alloc(&io->sh->tmp, sizeof(*de));
	struct file *f;
	int e = de ? file_open(dir, O_RDONLY | O_DIRECTORY, 0, &f) : -ENOMEM;

	if (e)
		return e;
	for (u64 pos = 0; vfs_readdir(f, pos, de) == 1; pos++)
		if (strcmp(de->name, ".") && strcmp(de->name, ".."))
			sh_words_add(out, &io->sh->tmp, sh_strdup(&io->sh->tmp, de->name));
	file_put(f);
	return out->failed ? -ENOMEM : 0;
}

#define TREE_DEPTH 10

static int remove_path(struct sh_io *io, const char *path, const struct sh_opts *o, int depth)
{
	struct sh_mark mark = sh_arena_mark(&io->sh->tmp);
	struct sh_words names = {0};
	struct vstat st;
	int e = vfs_stat(path, false, &st), bad = 0;

	if (e == -ENOENT && sh_opt(o, 'f'))
		return 0;
	if (!e && (st.mode & S_IFMT) == S_IFDIR) {
		if (!sh_opt(o, 'r') && !sh_opt(o, 'R'))
			return sh_fail(io, "'%s' is a directory", path);
		e = depth > TREE_DEPTH ? -ELOOP : read_names(io, path, &names);
		for (int i = 0; !e && i < names.n; i++) {
			char *inner = entry_path(io, path, names.v[i]);

			bad |= inner ? remove_path(io, inner, o, depth + 1) : 1;
		}
		if (!e && !bad)
			e = vfs_rmdir(path);
	} else if (!e) {
		e = vfs_unlink(path);
	}
	sh_arena_release(&io->sh->tmp, mark);
	return e ? sh_fail_errno(io, e, "can't remove '%s'", path) : bad;
}

int sh_cmd_rm(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	int bad = 0;

	if (sh_options(io, argc, argv, "rRfi", &o))
		return 1;
	if (o.at == argc && !sh_opt(&o, 'f'))
		return sh_fail(io, "no file named");
	for (; o.at < argc; o.at++)
		bad |= remove_path(io, argv[o.at], &o, 0);
	return bad;
}

/* What comes behind the last slash. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int sh_cmd_ln(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	const char *to;
	int e;

	if (sh_options(io, argc, argv, "sf", &o))
		return 1;
	if (argc - o.at < 1 || argc - o.at > 2)
		return sh_fail(io, "usage: ln -s TARGET [NAME]");
	if (!sh_opt(&o, 's'))
		return sh_fail_errno(io, -EPERM, "only symbolic links (-s)");
	to = argc - o.at == 2 ? argv[o.at + 1] : last_part(argv[o.at]);
	if (is_dir(to) && !(to = entry_path(io, to, last_part(argv[o.at]))))
		return sh_fail(io, "out of memory");
	if (sh_opt(&o, 'f'))
		vfs_unlink(to);
	e = vfs_symlink(argv[o.at], to);
	return e ? sh_fail_errno(io, e, "%s", to) : 0;
}

static int copy_file(struct sh_io *io, const char *from, const char *to)
{
	char *buf = kmalloc(SH_READ_SIZE);
	struct file *in, *out;
	struct vstat st;
	ssize n;
	int e = buf ? file_open(from, O_RDONLY, 0, &in) : -ENOMEM;

	if (e) {
		kfree(buf);
		return sh_fail_open(io, from, e);
	}
	e = file_open(to, O_WRONLY | O_CREAT | O_TRUNC,
	    vfs_stat(from, true, &st) ? 0666 : st.mode & 0777, &out);
	if (e) {
		file_put(in);
		kfree(buf);
		return sh_fail_errno(io, e, "can't create '%s'", to);
	}
	while ((n = sh_read(io, in, buf, SH_READ_SIZE)) > 0 && !(e = sh_write_all(out, buf, n)))
		;
	file_put(in);
	file_put(out);
	kfree(buf);
	if (n < 0)
		return sh_fail_errno(io, n, "error reading from '%s'", from);
	return e ? sh_fail_errno(io, e, "error writing to '%s'", to) : 0;
}

static int copy_tree(struct sh_io *io, const char *from, const char *to, bool recursive, int depth)
{
	struct sh_words names = {0};
	int e, bad = 0;

	if (!is_dir(from))
		return copy_file(io, from, to);
	if (!recursive)
		return sh_fail(io, "omitting directory '%s'", from);
	e = depth > TREE_DEPTH ? -ELOOP : is_dir(to) ? 0 : vfs_mkdir(to, 0777);
	if (!e)
		e = read_names(io, from, &names);
	for (int i = 0; !e && i < names.n; i++) {
		char *a = entry_path(io, from, names.v[i]), *b = entry_path(io, to, names.v[i]);

		bad |= a && b ? copy_tree(io, a, b, true, depth + 1) : 1;
	}
	return e ? sh_fail_errno(io, e, "can't create directory '%s'", to) : bad;
}

static int move_file(struct sh_io *io, const char *from, const char *to)
{
	int e = vfs_rename(from, to), bad;

	if (!e)
		return 0;
	if (e != -EXDEV)
		return sh_fail_errno(io, e, "can't rename '%s'", from);
	bad = copy_tree(io, from, to, false, 0);
	if (!bad && (e = vfs_unlink(from)))
		bad = sh_fail_errno(io, e, "can't remove '%s'", from);
	return bad;
}

/* FILE... TARGET of cp and mv: a directory takes them all under their names. */
static int to_target(struct sh_io *io, int count, char **args, const struct sh_opts *o, bool move)
{
	const char *target = args[count - 1];
	bool dir = is_dir(target);
	int bad = 0;

	if (count > 2 && !dir)
		return sh_fail(io, "target '%s' is not a directory", target);
	for (int i = 0; i < count - 1; i++) {
		struct sh_mark mark = sh_arena_mark(&io->sh->tmp);
		const char *to = dir ? entry_path(io, target, last_part(args[i])) : target;

		if (!to)
			bad = sh_fail(io, "out of memory");
		else if (move)
			bad |= move_file(io, args[i], to);
		else
			bad |= copy_tree(
			    io, args[i], to, sh_opt(o, 'r') || sh_opt(o, 'R') || sh_opt(o, 'a'), 0);
		sh_arena_release(&io->sh->tmp, mark);
	}
	return bad;
}

int sh_cmd_cp(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;

	if (sh_options(io, argc, argv, "rRafp", &o))
		return 1;
	if (argc - o.at < 2)
		return sh_fail(io, "usage: cp [-r] FROM... TO");
	return to_target(io, argc - o.at, argv + o.at, &o, false);
}

int sh_cmd_mv(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;

	if (sh_options(io, argc, argv, "f", &o))
		return 1;
	if (argc - o.at < 2)
		return sh_fail(io, "usage: mv FROM... TO");
	return to_target(io, argc - o.at, argv + o.at, &o, true);
}

int sh_cmd_touch(struct sh_io *io, int argc, char **argv)
{
	struct sh_opts o;
	int bad = 0;

	if (sh_options(io, argc, argv, "c", &o))
		return 1;
	for (; o.at < argc; o.at++) {
		struct file *f;
		int e = file_open(argv[o.at], O_WRONLY | (sh_opt(&o, 'c') ? 0 : O_CREAT), 0666, &f);

		if (!e)
			file_put(f);
		else if (e != -EISDIR && !(e == -ENOENT && sh_opt(&o, 'c')))
			bad = sh_fail_errno(io, e, "%s", argv[o.at]);
	}
	return bad;
}

struct find {
	const char *name; /* pattern, NULL: any */
	char type;	  /* 0: any */
	u64 max_depth;
};

static char type_letter(u32 mode)
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
		return 'f';
	}
}

static int find_path(struct sh_io *io, const struct find *f, const char *path, u64 depth)
{
	struct sh_mark mark = sh_arena_mark(&io->sh->tmp);
	struct sh_words names = {0};
	struct vstat st;
	int e = vfs_stat(path, false, &st), bad = 0;

	if (e)
		return sh_fail_errno(io, e, "%s", path);
	if ((!f->name || sh_glob_match(f->name, last_part(path))) &&
	    (!f->type || f->type == type_letter(st.mode)))
		sh_printf(io, "%s\n", path);
	if ((st.mode & S_IFMT) == S_IFDIR && depth < f->max_depth)
		e = read_names(io, path, &names);
	for (int i = 0; !e && i < names.n && !os_interrupted(); i++) {
		char *inner = entry_path(io, path, names.v[i]);

		bad |= inner ? find_path(io, f, inner, depth + 1) : 1;
	}
	sh_arena_release(&io->sh->tmp, mark);
	return e ? sh_fail_errno(io, e, "%s", path) : bad;
}

int sh_cmd_find(struct sh_io *io, int argc, char **argv)
{
	struct find f = {.max_depth = 2 * TREE_DEPTH};
	int first = 1, paths, bad = 0;

	while (first < argc && argv[first][0] != '-')
		first++;
	paths = first;
	for (; first < argc; first += 2) {
		const char *value = first + 1 < argc ? argv[first + 1] : NULL;

		if (!strcmp(argv[first], "-print"))
			first--;
		else if (!value)
			return sh_fail(io, "%s requires an argument", argv[first]);
		else if (!strcmp(argv[first], "-name"))
			f.name = value;
		else if (!strcmp(argv[first], "-type"))
			f.type = *value;
		else if (!strcmp(argv[first], "-maxdepth") && sh_number(io, value, &f.max_depth))
			f.max_depth = MIN(f.max_depth, 2UL * TREE_DEPTH);
		else
			return sh_fail(io, "unrecognized: %s", argv[first]);
	}
	for (int i = 1; i < paths; i++)
		bad |= find_path(io, &f, argv[i], 0);
	return paths == 1 ? find_path(io, &f, ".", 0) : bad;
}
