/* Completion: commands where a command stands, else paths. Task context. */
#include "kernel/shell/complete.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

/* Characters that need a backslash in a word. */
#define SPECIALS " \t\\'\"$`|&;<>()*?[]#~!{}"

/* Where the word ending at `at` begins; *command: a command belongs there. */
static size_t word_start(const char *line, size_t at, bool *command)
{
	size_t start = at, before;

	while (start) {
		char c = line[start - 1];

		if (strchr(" \t|&;<>()`=", c) && !(start > 1 && line[start - 2] == '\\'))
			break;
		start--;
	}
	for (before = start; before && (line[before - 1] == ' ' || line[before - 1] == '\t');)
		before--;
	*command = !before || strchr("|&;(`", line[before - 1]);
	return start;
}

static void add_name(
    struct shell *sh, struct sh_words *w, const char *name, const char *prefix, const char *tail)
{
	size_t n = strlen(name), t = strlen(tail);
	char *s;

	if (!str_has_prefix(name, prefix))
		return;
	s = sh_alloc(&sh->tmp, n + t + 1);
	if (s) {
		memcpy(s, name, n);
		memcpy(s + n, tail, t + 1);
	}
	sh_words_add(w, &sh->tmp, s);
}

static bool is_dir(struct shell *sh, const char *dir, const struct dirent *de)
{
	char *path;
	struct vstat st;

	if (de->mode == S_IFDIR)
		return true;
	if (de->mode != S_IFLNK)
		return false;
	path = sh_alloc(&sh->tmp, PATH_MAX);
	return path && snprintf(path, PATH_MAX, "%s/%s", dir, de->name) < PATH_MAX &&
	       !vfs_stat(path, true, &st) && (st.mode & S_IFMT) == S_IFDIR;
}

/* Names in a directory beginning with prefix. */
static void add_files(
    struct shell *sh, struct sh_words *w, const char *dir, const char *prefix, bool mark)
{
	struct dirent *de = sh_alloc(&sh->tmp, sizeof(*de));
	struct file *f;

	if (!de || file_open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY, 0, &f))
		return;
	for (u64 pos = 0; vfs_readdir(f, pos, de) == 1; pos++) {
		if (de->name[0] == '.' && *prefix != '.')
			continue;
		if (str_has_prefix(de->name, prefix))
			add_name(sh, w, de->name, prefix,
			    mark && is_dir(sh, *dir ? dir : ".", de) ? "/" : "");
	}
	file_put(f);
}

static void add_commands(struct shell *sh, struct sh_words *w, const char *prefix)
{
	for (size_t i = 0; i < sh_command_count; i++)
		add_name(sh, w, sh_commands[i].name, prefix, "");
	for (const struct sh_function *f = sh->functions; f; f = f->next)
		add_name(sh, w, f->node->name, prefix, "");
	add_files(sh, w, "/bin", prefix, false);
}

static void sort_unique(struct sh_words *w)
{
	int n = 0;

	sh_words_sort(w->v, w->n);
	for (int i = 0; i < w->n; i++)
		if (!n || strcmp(w->v[n - 1], w->v[i]))
			w->v[n++] = w->v[i];
	w->n = n;
}

/* How many bytes all candidates have in common. */
static size_t common(const struct sh_words *w)
{
	size_t n = strlen(w->v[0]);

	for (int i = 1; i < w->n; i++) {
		size_t k = 0;

		while (k < n && w->v[i][k] == w->v[0][k])
			k++;
		n = k;
	}
	return n;
}

/* The word to insert: what stood before the last slash, then the common beginning with its specials quoted. */
static char *insertion(struct shell *sh, const char *dir, const struct sh_words *w)
{
	size_t n = common(w), d = strlen(dir);
	char *s = sh_alloc(&sh->tmp, d + 2 * n + 2), *o;

	if (!s)
		return NULL;
	memcpy(s, dir, d);
	o = s + d;
	for (size_t i = 0; i < n; i++) {
		if (strchr(SPECIALS, w->v[0][i]))
			*o++ = '\\';
		*o++ = w->v[0][i];
	}
	if (w->n == 1 && (!n || w->v[0][n - 1] != '/'))
		*o++ = ' ';
	*o = 0;
	return s;
}

static char *unquoted(struct shell *sh, const char *s, size_t n)
{
	char *out = sh_alloc(&sh->tmp, n + 1), *o = out;

	for (size_t i = 0; out && i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		else if (s[i] == '\'' || s[i] == '"')
			continue;
		*o++ = s[i];
	}
	if (out)
		*o = 0;
	return out;
}

void sh_complete(struct shell *sh, const char *line, size_t at, struct sh_completion *c)
{
	bool command;
	size_t start = word_start(line, at, &command), dir_len;
	char *word = unquoted(sh, line + start, at - start), *slash, *dir, *raw_dir;

	*c = (struct sh_completion){.start = start};
	slash = word ? strrchr(word, '/') : NULL;
	dir = slash  ? sh_strndup(&sh->tmp, word, slash + 1 - word)
	      : word ? sh_strdup(&sh->tmp, "")
		     : NULL;
	for (dir_len = at; dir_len > start && line[dir_len - 1] != '/';)
		dir_len--;
	raw_dir = sh_strndup(&sh->tmp, line + start, dir_len - start);
	if (!dir || !raw_dir)
		return;
	if (command && !slash)
		add_commands(sh, &c->found, word);
	else
		add_files(sh, &c->found, dir, slash ? slash + 1 : word, true);
	if (!c->found.n)
		return;
	sort_unique(&c->found);
	c->text = insertion(sh, raw_dir, &c->found);
}
