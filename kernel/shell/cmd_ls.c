/* ls: names sorted, in columns or lines; -l as busybox prints it. Task context. */
#include "kernel/lib/string.h"
#include "kernel/shell/command.h"
#include "kernel/shell/date.h"

struct ls {
	struct sh_io *io;
	struct sh_opts o;
	bool color, columns;
	int bad;
};

struct entry {
	char *name;
	struct vstat st;
	bool ok; /* st is filled */
};

static void mode_text(u32 mode, char out[11])
{
	static const char types[][2] = {"-", "d", "l", "c", "p"};
	u32 t = mode & S_IFMT;

	out[0] = *types[t == S_IFDIR   ? 1
			: t == S_IFLNK ? 2
			: t == S_IFCHR ? 3
			: t == S_IFIFO ? 4
				       : 0];
	for (int i = 0; i < 9; i++)
		out[1 + i] = mode >> (8 - i) & 1 ? "rwx"[i % 3] : '-';
	if (mode & 01000)
		out[9] = mode & 1 ? 't' : 'T';
	out[10] = 0;
}

static void put_name(struct ls *l, const struct entry *e)
{
	u32 type = e->st.mode & S_IFMT;
	const char *on = type == S_IFDIR     ? "\033[1;34m"
			 : type == S_IFLNK   ? "\033[1;36m"
			 : e->st.mode & 0111 ? "\033[1;32m"
					     : "";

	if (l->color && e->ok && *on)
		sh_printf(l->io, "%s%s\033[m", on, e->name);
	else
		sh_puts(l->io, e->name);
	if (sh_opt(&l->o, 'F') && type == S_IFDIR)
		sh_putc(l->io, '/');
}

static void put_long(struct ls *l, const char *dir, const struct entry *e)
{
	char mode[11], when[32];
	long n;

	if (!e->ok)
		return;
	mode_text(e->st.mode, mode);
	sh_date_ls(e->st.mtime_ns, os_unix_ns(), when);
	if (sh_opt(&l->o, 'i'))
		sh_printf(l->io, "%7llu ", (unsigned long long)e->st.ino);
	sh_printf(l->io, "%s %4u %-8u %-8u", mode, e->st.nlink, e->st.uid, e->st.gid);
	if ((e->st.mode & S_IFMT) == S_IFCHR)
		sh_printf(l->io, " %4u, %3u", (unsigned)(e->st.rdev >> 8 & 0xfff),
		    (unsigned)(e->st.rdev & 0xff));
	else
		sh_printf(l->io, " %9llu", (unsigned long long)e->st.size);
	sh_printf(l->io, " %s ", when);
	put_name(l, e);
	if ((e->st.mode & S_IFMT) == S_IFLNK) {
		struct sh_mark mark = sh_arena_mark(&l->io->sh->tmp);
		char *path = sh_alloc(&l->io->sh->tmp, 2 * PATH_MAX);

		if (path && snprintf(path, PATH_MAX, "%s%s%s", dir ? dir : "", dir ? "/" : "",
				e->name) < PATH_MAX) {
			n = vfs_readlink(path, path + PATH_MAX, PATH_MAX - 1);
			sh_puts(l->io, " -> ");
			sh_put(l->io, path + PATH_MAX, MAX(n, 0L));
		}
		sh_arena_release(&l->io->sh->tmp, mark);
	}
	sh_putc(l->io, '\n');
}

/* Down, then right, as many columns as fit into 80. */
static void put_columns(struct ls *l, const struct entry *e, int n)
{
	size_t width = 1;
	int columns, rows;

	for (int i = 0; i < n; i++)
		width = MAX(width, strlen(e[i].name));
	width += 2;
	columns = MAX(80 / (int)width, 1);
	rows = (n + columns - 1) / columns;
	for (int r = 0; r < rows; r++) {
		for (int i = r; i < n; i += rows) {
			put_name(l, &e[i]);
			for (size_t k = strlen(e[i].name); i + rows < n && k < width; k++)
				sh_putc(l->io, ' ');
		}
		sh_putc(l->io, '\n');
	}
}

static void put_entries(struct ls *l, const char *dir, const struct entry *e, int n)
{
	if (sh_opt(&l->o, 'l')) {
		for (int i = 0; i < n; i++)
			put_long(l, dir, &e[i]);
	} else if (l->columns) {
		put_columns(l, e, n);
	} else {
		for (int i = 0; i < n; i++) {
			if (sh_opt(&l->o, 'i'))
				sh_printf(l->io, "%7llu ", (unsigned long long)e[i].st.ino);
			put_name(l, &e[i]);
			sh_putc(l->io, '\n');
		}
	}
}

/* Is a before b? */
static bool before(const struct ls *l, const struct entry *a, const struct entry *b)
{
	bool r = sh_opt(&l->o, 't') && a->st.mtime_ns != b->st.mtime_ns
		     ? a->st.mtime_ns > b->st.mtime_ns
		 : sh_opt(&l->o, 'S') && a->st.size != b->st.size ? a->st.size > b->st.size
								  : strcmp(a->name, b->name) < 0;

	return r != sh_opt(&l->o, 'r');
}

static void sort_entries(const struct ls *l, struct entry *e, int n)
{
	for (int gap = n / 2; gap; gap /= 2) { /* Shell's sort */
		for (int i = gap; i < n; i++) {
			struct entry x = e[i];
			int k = i;

			for (; k >= gap && before(l, &x, &e[k - gap]); k -= gap)
				e[k] = e[k - gap];
			e[k] = x;
		}
	}
}

/* Names of a directory into arena memory, with their stat where it is wanted. */
static struct entry *read_dir(struct ls *l, struct file *f, const char *dir, int *count)
{
	struct sh_arena *a = &l->io->sh->tmp;
	bool details = sh_opt(&l->o, 'l') || sh_opt(&l->o, 't') || sh_opt(&l->o, 'S') ||
		       sh_opt(&l->o, 'i') || l->color;
	struct dirent *de = sh_alloc(a, sizeof(*de));
	char *path = sh_alloc(a, PATH_MAX);
	struct entry *e = NULL;
	int n = 0, room = 0;

	for (u64 pos = 0; de && path && vfs_readdir(f, pos, de) == 1; pos++) {
		if (de->name[0] == '.' && !sh_opt(&l->o, 'a') &&
		    (!sh_opt(&l->o, 'A') || !strcmp(de->name, ".") || !strcmp(de->name, "..")))
			continue;
		if (n == room) {
			struct entry *bigger =
			    sh_alloc(a, (room = room ? room * 2 : 32) * sizeof(*e));

			if (!bigger)
				break;
			if (n)
				memcpy(bigger, e, n * sizeof(*e));
			e = bigger;
		}
		e[n] = (struct entry){.name = sh_strdup(a, de->name),
		    .st.mode = de->mode,
		    .st.ino = de->ino,
		    .ok = true};
		if (!e[n].name)
			break;
		if (details) {
			snprintf(path, PATH_MAX, "%s/%s", dir, de->name);
			e[n].ok = !vfs_stat(path, false, &e[n].st);
		}
		n++;
	}
	*count = n;
	return e;
}

static void list_dir(struct ls *l, const char *dir)
{
	struct sh_mark mark = sh_arena_mark(&l->io->sh->tmp);
	struct entry *e;
	struct file *f;
	int n, error = file_open(dir, O_RDONLY | O_DIRECTORY, 0, &f);

	if (error) {
		l->bad = sh_fail_open(l->io, dir, error);
		return;
	}
	e = read_dir(l, f, dir, &n);
	file_put(f);
	sort_entries(l, e, n);
	if (sh_opt(&l->o, 'l')) {
		u64 blocks = 0;

		for (int i = 0; i < n; i++)
			blocks +=
			    (e[i].st.mode & S_IFMT) == S_IFREG ? (e[i].st.size + 1023) / 1024 : 0;
		sh_printf(l->io, "total %llu\n", (unsigned long long)blocks);
	}
	put_entries(l, dir, e, n);
	sh_arena_release(&l->io->sh->tmp, mark);
}

static void list_tree(struct ls *l, const char *dir, int depth)
{
	struct sh_mark mark = sh_arena_mark(&l->io->sh->tmp);
	struct ls quiet = {.io = l->io};
	struct entry *e;
	struct file *f;
	int n = 0;

	sh_printf(l->io, "%s%s:\n", depth ? "\n" : "", dir);
	list_dir(l, dir);
	if (file_open(dir, O_RDONLY | O_DIRECTORY, 0, &f))
		return;
	e = read_dir(&quiet, f, dir, &n);
	file_put(f);
	sort_entries(&quiet, e, n);
	for (int i = 0; i < n && depth < 10 && !os_interrupted(); i++) {
		char *path =
		    (e[i].st.mode & S_IFMT) == S_IFDIR ? sh_alloc(&l->io->sh->tmp, PATH_MAX) : NULL;

		if (path && snprintf(path, PATH_MAX, "%s/%s", dir, e[i].name) < PATH_MAX)
			list_tree(l, path, depth + 1);
	}
	sh_arena_release(&l->io->sh->tmp, mark);
}

/* The operands: files first, then the directories, each with its name if there are several. */
static int list_operands(struct ls *l, int count, char **names)
{
	struct entry *files = sh_alloc(&l->io->sh->tmp, 2 * count * sizeof(*files)), *dirs;
	int nf = 0, nd = 0;

	if (!files)
		return sh_fail(l->io, "out of memory");
	dirs = files + count;
	for (int i = 0; i < count; i++) {
		struct entry e = {.name = names[i], .ok = true};
		int error = vfs_stat(names[i], !sh_opt(&l->o, 'l') && !sh_opt(&l->o, 'd'), &e.st);

		if (error)
			l->bad = sh_fail_errno(l->io, error, "%s", names[i]);
		else if ((e.st.mode & S_IFMT) == S_IFDIR && !sh_opt(&l->o, 'd'))
			dirs[nd++] = e;
		else
			files[nf++] = e;
	}
	sort_entries(l, files, nf);
	sort_entries(l, dirs, nd);
	put_entries(l, NULL, files, nf);
	for (int i = 0; i < nd && !os_interrupted(); i++) {
		if (sh_opt(&l->o, 'R')) {
			list_tree(l, dirs[i].name, nf || i);
			continue;
		}
		if (count > 1)
			sh_printf(l->io, "%s%s:\n", nf || i ? "\n" : "", dirs[i].name);
		list_dir(l, dirs[i].name);
	}
	return l->bad;
}

int sh_cmd_ls(struct sh_io *io, int argc, char **argv)
{
	static char *here[] = {"."};
	struct ls l = {.io = io};
	bool tty = io->out && os_is_tty(io->out);

	if (sh_options(io, argc, argv, "laA1dFitSrRhn", &l.o))
		return 1;
	l.columns = tty && io->sh->fancy && !sh_opt(&l.o, '1');
	l.color = tty && io->sh->fancy;
	if (l.o.at < argc)
		return list_operands(&l, argc - l.o.at, argv + l.o.at);
	return list_operands(&l, 1, here);
}
