/* File name expansion: a pattern component by component, over what directories hold. Task context. */
#include "kernel/fs/vfs.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/glob.h"

/* The state of one expansion: paths found so far for the components before `rest`. */
struct walk {
	struct sh_arena *arena;
	struct sh_words found;
};

static char *join(struct sh_arena *a, const char *dir, const char *name, size_t n)
{
	size_t d = strlen(dir);
	char *s = sh_alloc(a, d + n + 1);

	if (!s)
		return NULL;
	memcpy(s, dir, d);
	memcpy(s + d, name, n);
	s[d + n] = 0;
	return s;
}

/* Adds dir + every name in it that matches. */
static void match_dir(struct walk *w, const char *dir, const char *pattern, struct dirent *de)
{
	struct file *f;

	if (file_open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY, 0, &f) < 0)
		return;
	for (u64 pos = 0; vfs_readdir(f, pos, de) == 1; pos++) {
		if (de->name[0] == '.' && *pattern != '.')
			continue;
		if (sh_glob_match(pattern, de->name))
			sh_words_add(
			    &w->found, w->arena, join(w->arena, dir, de->name, strlen(de->name)));
	}
	file_put(f);
}

/* A component without magic: taken as it is, without its backslashes. */
static char *plain(struct sh_arena *a, const char *s, size_t n)
{
	char *out = sh_alloc(a, n + 1), *o = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		*o++ = s[i];
	}
	*o = 0;
	return out;
}

/* Every path so far goes one component (and its slashes) further. */
static struct sh_words step(struct sh_arena *a, struct sh_words from, const char *part, size_t n,
    const char *slashes, size_t slash_count, struct dirent *de)
{
	struct walk w = {.arena = a};
	char *pattern = sh_strndup(a, part, n), *name;

	for (int i = 0; pattern && i < from.n; i++) {
		int before = w.found.n;
		struct vstat st;

		if (sh_glob_magic(pattern)) {
			match_dir(&w, from.v[i], pattern, de);
		} else if ((name = plain(a, part, n))) {
			name = join(a, from.v[i], name, strlen(name));
			if (name && (!n || vfs_stat(name, false, &st) == 0))
				sh_words_add(&w.found, a, name);
		}
		for (int k = before; slash_count && k < w.found.n; k++)
			w.found.v[k] = join(a, w.found.v[k], slashes, slash_count);
	}
	w.found.failed |= !pattern;
	return w.found;
}

bool sh_glob_paths(const char *pattern, struct sh_arena *a, struct sh_words *out)
{
	struct dirent *de = kmalloc(sizeof(*de));
	struct sh_words found = {0};

	sh_words_add(&found, a, sh_strdup(a, ""));
	while (de && *pattern && found.n) {
		size_t n = strcspn(pattern, "/"), slashes = strspn(pattern + n, "/");

		found = step(a, found, pattern, n, pattern + n, slashes, de);
		pattern += n + slashes;
	}
	kfree(de);
	if (!de || found.failed || !found.n)
		return false;
	sh_words_sort(found.v, found.n);
	for (int i = 0; i < found.n; i++)
		sh_words_add(out, a, found.v[i]);
	return true;
}
