/* grep: lines that match. Task context. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/command.h"
#include "kernel/shell/regex.h"

#define CONTEXT_MAX 1000

struct grep {
	struct sh_io *io;
	struct sh_opts o;
	struct sh_regex *re;
	bool named;		/* lines carry the file's name */
	u64 max, before, after; /* -m, -B, -A */
	bool any;		/* a line was selected somewhere */
	char **held;		/* the last `before` lines not printed, a ring */
	u64 held_count;
	/* Of the present file: */
	const char *name;
	u64 line, selected, printed_to, left; /* left: lines of context still to print */
};

/* -F: every character stands for itself. */
static void put_fixed(struct sh_buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr(".[]*^$\\", s[i]))
			sh_buf_putc(b, '\\');
		sh_buf_putc(b, s[i]);
	}
}

/* Adds the lines of one -e (or of the operand) as alternatives; *first: there are none before it. */
static void put_pattern(const struct grep *g, struct sh_buf *b, const char *s, bool *first)
{
	bool extended = sh_opt(&g->o, 'E');

	for (;; *first = false) {
		size_t n = strcspn(s, "\n");

		if (!*first)
			sh_buf_puts(b, extended ? "|" : "\\|");
		if (sh_opt(&g->o, 'F'))
			put_fixed(b, s, n);
		else
			sh_buf_put(b, s, n);
		if (!s[n])
			break;
		s += n + 1;
	}
	*first = false;
}

static void put_patterns(const struct grep *g, struct sh_buf *b, const char *pattern)
{
	bool first = true;

	if (pattern)
		put_pattern(g, b, pattern, &first);
	for (int i = 0; i < g->o.values; i++)
		if (g->o.value[i].letter == 'e')
			put_pattern(g, b, g->o.value[i].text, &first);
}

/* The operand, or without one what -e gave; -x goes around the whole. */
static struct sh_regex *compile(struct grep *g, const char *pattern)
{
	bool extended = sh_opt(&g->o, 'E');
	const char *open = extended ? "(" : "\\(", *close = extended ? ")" : "\\)", *error;
	unsigned flags =
	    (extended ? SH_REGEX_EXTENDED : 0) | (sh_opt(&g->o, 'i') ? SH_REGEX_ICASE : 0);
	struct sh_buf list = {0}, all = {0};
	struct sh_regex *re = NULL;

	put_patterns(g, &list, pattern);
	if (sh_opt(&g->o, 'x'))
		sh_buf_printf(&all, "^%s%s%s$", open, sh_buf_str(&list), close);
	else
		sh_buf_puts(&all, sh_buf_str(&list));
	if (list.failed || all.failed)
		sh_fail(g->io, "out of memory");
	else if (!(re = sh_regex_new(sh_buf_str(&all), flags, &error)))
		sh_fail(g->io, "bad regex '%s': %s", sh_buf_str(&list), error);
	sh_buf_free(&list);
	sh_buf_free(&all);
	return re;
}

static bool is_word(char c)
{
	return is_alnum(c) || c == '_';
}

/* The first match from `at` on; with -w one that no letter touches from outside. */
static bool find_match(struct grep *g, const char *s, size_t n, size_t at, struct sh_match *m)
{
	for (; at <= n && sh_regex_match(g->re, s, n, at, m); at = m->from[0] + 1) {
		size_t from = m->from[0], to = m->to[0];

		if (!sh_opt(&g->o, 'w') ||
		    (!(from && is_word(s[from - 1])) && !(to < n && is_word(s[to]))))
			return true;
	}
	return false;
}

static void put_prefix(struct grep *g, u64 line, char mark)
{
	if (g->named)
		sh_printf(g->io, "%s%c", g->name, mark);
	if (sh_opt(&g->o, 'n'))
		sh_printf(g->io, "%llu%c", (unsigned long long)line, mark);
}

static void put_line(struct grep *g, u64 line, const char *s, size_t n, char mark)
{
	put_prefix(g, line, mark);
	sh_put(g->io, s, n);
	sh_putc(g->io, '\n');
	g->printed_to = line;
}

/* -o: every match that is not empty. */
static void put_matches(struct grep *g, const char *s, size_t n)
{
	struct sh_match m;
	size_t at = 0;

	while (find_match(g, s, n, at, &m)) {
		if (m.to[0] > m.from[0]) {
			put_prefix(g, g->line, ':');
			sh_put(g->io, s + m.from[0], m.to[0] - m.from[0]);
			sh_putc(g->io, '\n');
			at = m.to[0];
		} else {
			at = m.to[0] + 1;
		}
	}
}

static void forget(struct grep *g)
{
	for (u64 i = 0; g->held && i < g->before; i++) {
		kfree(g->held[i]);
		g->held[i] = NULL;
	}
	g->held_count = 0;
}

static void put_before(struct grep *g)
{
	u64 n = MIN(g->held_count, g->before), first = g->line - n;

	if ((g->before || g->after) && g->printed_to && first > g->printed_to + 1)
		sh_puts(g->io, "--\n");
	for (u64 i = first; i < g->line; i++) {
		char *s = g->held[i % g->before];

		if (s)
			put_line(g, i, s, strlen(s), '-');
	}
	forget(g);
}

static void hold(struct grep *g, const char *s, size_t n)
{
	char **slot;

	if (!g->before)
		return;
	slot = &g->held[g->line % g->before];
	kfree(*slot);
	*slot = kstrndup(s, n);
	g->held_count++;
}

/* A selected line. */
static void select(struct grep *g, const char *s, size_t n)
{
	g->selected++;
	g->any = true;
	if (sh_opt(&g->o, 'c') || sh_opt(&g->o, 'q') || sh_opt(&g->o, 'l') || sh_opt(&g->o, 'L'))
		return;
	if (sh_opt(&g->o, 'o')) {
		if (!sh_opt(&g->o, 'v'))
			put_matches(g, s, n);
		return;
	}
	put_before(g);
	put_line(g, g->line, s, n, ':');
	g->left = g->after;
}

static bool file_done(const struct grep *g)
{
	return g->io->error ||
	       (g->selected && (sh_opt(&g->o, 'q') || sh_opt(&g->o, 'l') || sh_opt(&g->o, 'L'))) ||
	       (g->selected >= g->max && !g->left);
}

static void finish_file(struct grep *g)
{
	if (sh_opt(&g->o, 'q'))
		return;
	if (sh_opt(&g->o, 'l') || sh_opt(&g->o, 'L')) {
		if (sh_opt(&g->o, 'l') == (g->selected > 0))
			sh_printf(g->io, "%s\n", g->name);
	} else if (sh_opt(&g->o, 'c')) {
		if (g->named)
			sh_printf(g->io, "%s:", g->name);
		sh_printf(g->io, "%llu\n", (unsigned long long)g->selected);
	}
}

static int grep_file(struct sh_io *io, struct file *f, const char *name, void *ctx)
{
	struct grep *g = ctx;
	struct sh_buf line = {0};
	struct sh_reader r;
	struct sh_match m;
	int error;

	g->name = strcmp(name, "-") ? name : "(standard input)";
	g->line = g->selected = g->printed_to = g->left = 0;
	if (sh_reader_init(&r, io, f))
		return sh_fail(io, "out of memory") + 1;
	while (!file_done(g) && sh_getline(&r, &line)) {
		size_t n = line.len - (line.s[line.len - 1] == '\n');

		g->line++;
		if (g->selected < g->max && find_match(g, line.s, n, 0, &m) != sh_opt(&g->o, 'v')) {
			select(g, line.s, n);
		} else if (g->left) {
			g->left--;
			put_line(g, g->line, line.s, n, '-');
		} else {
			hold(g, line.s, n);
		}
	}
	forget(g);
	error = r.error;
	sh_buf_free(&line);
	sh_reader_free(&r);
	finish_file(g);
	if (!error || error == -EINTR)
		return 0;
	return sh_fail_errno(io, error, "%s", name) + 1;
}

/* -r: every file below. */
static int grep_tree(struct grep *g, const char *path, int depth)
{
	struct sh_mark mark = sh_arena_mark(&g->io->sh->tmp);
	struct dirent *de = sh_alloc(&g->io->sh->tmp, sizeof(*de));
	char *name = sh_alloc(&g->io->sh->tmp, PATH_MAX);
	struct vstat st;
	struct file *f;
	int bad = 0, e = vfs_stat(path, depth == 0, &st);

	if (!e)
		e = file_open(
		    path, O_RDONLY | ((st.mode & S_IFMT) == S_IFDIR ? O_DIRECTORY : 0), 0, &f);
	if (e)
		return sh_opt(&g->o, 's') ? 2 : sh_fail_errno(g->io, e, "%s", path) + 1;
	if ((st.mode & S_IFMT) == S_IFREG)
		bad = grep_file(g->io, f, path, g);
	for (u64 pos = 0;
	     (st.mode & S_IFMT) == S_IFDIR && de && name && vfs_readdir(f, pos, de) == 1; pos++) {
		if (!strcmp(de->name, ".") || !strcmp(de->name, "..") || depth > 9 ||
		    os_interrupted())
			continue;
		if (snprintf(name, PATH_MAX, "%s/%s", path, de->name) < PATH_MAX)
			bad |= grep_tree(g, name, depth + 1);
	}
	file_put(f);
	sh_arena_release(&g->io->sh->tmp, mark);
	return bad;
}

static bool numbers(struct grep *g)
{
	static const char letters[] = "mABC";
	u64 n[4] = {~0UL, 0, 0, 0};

	for (int i = 0; i < 4; i++)
		if (sh_opt(&g->o, letters[i]) &&
		    !sh_number(g->io, sh_optval(&g->o, letters[i]), &n[i]))
			return false;
	g->max = n[0];
	g->after = sh_opt(&g->o, 'A') ? n[1] : n[3];
	g->before = MIN(sh_opt(&g->o, 'B') ? n[2] : n[3], (u64)CONTEXT_MAX);
	if (!g->before)
		return true;
	g->held = kzalloc(g->before * sizeof(*g->held));
	if (!g->held)
		sh_fail(g->io, "out of memory");
	return g->held != NULL;
}

static int run(struct grep *g, int count, char **files)
{
	static char *here[] = {"."};
	int bad = 0;

	if (!sh_opt(&g->o, 'r'))
		return sh_each_file(g->io, count, files, grep_file, g);
	if (!count) {
		count = 1;
		files = here;
	}
	for (int i = 0; i < count; i++)
		bad |= grep_tree(g, files[i], 0);
	return bad;
}

static int grep(struct sh_io *io, int argc, char **argv, struct grep *g)
{
	const char *pattern = NULL;
	int at, bad;

	if (sh_options(io, argc, argv, "cvonqwxhHlLisEFrm:A:B:C:e:", &g->o))
		return 2;
	at = g->o.at;
	io->quiet_open = sh_opt(&g->o, 's');
	if (!sh_opt(&g->o, 'e')) {
		if (at == argc)
			return sh_fail(io, "no pattern") + 1;
		pattern = argv[at++];
	}
	g->named =
	    !sh_opt(&g->o, 'h') && (sh_opt(&g->o, 'H') || argc - at > 1 || sh_opt(&g->o, 'r'));
	if (!numbers(g) || !(g->re = compile(g, pattern)))
		return 2;
	bad = run(g, argc - at, argv + at);
	return bad && !(g->any && sh_opt(&g->o, 'q')) ? 2 : !g->any;
}

int sh_cmd_grep(struct sh_io *io, int argc, char **argv)
{
	struct grep *g = kzalloc(sizeof(*g));
	int status;

	if (!g)
		return sh_fail(io, "out of memory") + 1;
	g->io = io;
	status = grep(io, argc, argv, g);
	sh_regex_free(g->re);
	kfree(g->held);
	kfree(g);
	return status;
}
