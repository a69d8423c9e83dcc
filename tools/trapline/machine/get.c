/* See get.h. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/machine/get.h"
#include "tools/trapline/machine/archive.h"
#include "tools/trapline/lib/output.h"

/* Its last part. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* As is_directory(), with errno. */
static bool has_directory(const char *path)
{
	errno = ENOTDIR;
	return is_directory(path);
}

/* Where a file goes when `name` says so: into it, if it is a directory. */
static char *place(const char *name, const char *file)
{
	size_t size = strlen(name) + strlen(file) + 2;
	char *path = xmalloc(size);

	snprintf(path, size, is_directory(name) ? "%s/%s" : "%s", name, last_part(file));
	return path;
}

void get_names(const char *what, const char *directory, char **theirs, char **ours)
{
	const char *colon = strrchr(what, ':');
	char *file = xstrndup(what, colon ? (size_t)(colon - what) : strlen(what));

	*theirs = path_absolute(directory, file);
	*ours = place(colon ? colon + 1 : *file == '/' ? last_part(file) : file, file);
	free(file);
}

static bool can_be_written(const char *what, const char *directory)
{
	char *theirs, *ours, *copy;
	bool fine = false;

	get_names(what, directory, &theirs, &ours);
	copy = xstrndup(ours, strlen(ours));
	const char *parent = dirname(copy);
	if (!*last_part(ours) || !strcmp(theirs, "/"))
		say("--get %s: names no file", what);
	else if (is_directory(ours))
		say("--get %s: %s is a directory", what, ours);
	else if (access(parent, W_OK) || !has_directory(parent))
		say_errno(ours);
	else
		fine = true;
	free(copy);
	free(theirs);
	free(ours);
	return fine;
}

bool get_check(const struct machine_options *o, const char *directory)
{
	for (size_t i = 0; i < o->get_count; i++)
		if (!can_be_written(o->gets[i], directory))
			return false;
	return true;
}

static bool write_one(const struct fetched *f, const char *name)
{
	struct out out;

	if (!out_open(&out, name))
		return false;
	fwrite(f->data.data, 1, f->data.size, out.file);
	return out_finish(&out);
}

bool get_write(const struct machine *m, const char *directory)
{
	bool fine = true;

	for (size_t i = 0; i < m->options->get_count; i++) {
		const struct fetched *f = &m->fetched[i];
		const char *what = m->options->gets[i];
		char *theirs, *ours;

		get_names(what, directory, &theirs, &ours);
		if (f->lacking)
			say("--get %s: the guest has no such file", what);
		else if (!f->reported)
			say("--get %s: the machine ended before it could be fetched", what);
		else if (f->data.size != f->size)
			say("--get %s: only %zu of %llu bytes came", what, f->data.size,
			    (unsigned long long)f->size);
		fine = f->reported && !f->lacking && f->data.size == f->size &&
		       write_one(f, ours) && fine;
		free(theirs);
		free(ours);
	}
	return fine;
}
