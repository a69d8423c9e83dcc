/*
 * The files that come along into the machine: the program, files and directories of the host's, the
 * standard input. See boot.h.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/record/boot.h"
#include "tools/trapline/machine/kernel_file.h"
#include "tools/trapline/record/libraries.h"

#define EXIT_NOT_FOUND 127
#define FED_FROM       (16 << 20) /* bytes: a larger input is passed on as it is read, not copied */

/* Below what the guest fills itself nothing can be made. */
static bool is_made_by_kernel(const char *path)
{
	static const char *const theirs[] = {"/proc", "/sys", "/dev"};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		size_t n = strlen(theirs[i]);
		if (!strncmp(path, theirs[i], n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

/* ---- the program ---- */

/*
 * In the guest it stands where it stands here, in a directory like ours: arguments and messages are
 * the same.
 */
static bool copy_program(struct boot *b, const char *name)
{
	char *path = path_absolute(b->directory, name);
	const char *refusal =
	    is_made_by_kernel(path) ? "the guest has files of its own there" : NULL;
	struct in in;
	bool is_script, brought = true;

	b->script_path = path;
	if (!in_open(&in, name))
		return false;
	is_script = program_is_script(in.data, in.size);
	refusal = refusal ? refusal : program_refusal(in.data, in.size);
	if (refusal)
		say("%s: %s", name, refusal);
	else
		archive_put(&b->archive, path, S_IFREG | 0755, in.data, in.size);
	if (!refusal && !is_script)
		brought = libraries_bring(&b->archive, in.data, in.size, path);
	in_close(&in);
	if (is_script)
		b->program.path = path;
	return !refusal && brought;
}

bool boot_program(struct boot *b, char **argv)
{
	struct stat st;

	if (!is_made_by_kernel(b->directory))
		archive_put(&b->archive, b->directory, S_IFDIR | 0755, NULL, 0);
	if (!argv || !*argv)
		return true;
	b->program.argv = argv;
	if (!strchr(argv[0], '/') || stat(argv[0], &st))
		return true;
	return copy_program(b, argv[0]);
}

static bool kernel_has(const char *kernel, const char *name)
{
	struct in in;

	if (!in_open(&in, kernel))
		return true; /* it is said when it is booted */
	bool has = kernel_has_program(in.data, in.size, name);
	in_close(&in);
	return has;
}

/* Of a path, once all else is in the archive. */
static bool has_path(const struct boot *b, const char *name)
{
	char *path = path_absolute(b->directory, name);
	bool has = is_made_by_kernel(path) || archive_has(b->archive.data, b->archive.size, path) ||
		   kernel_has(b->options.kernel, path);

	free(path);
	return has;
}

/* In the guest's /bin. */
static bool has_command(const struct boot *b, const char *name)
{
	char *path = path_absolute("/bin", name);
	bool has = archive_has(b->archive.data, b->archive.size, path) ||
		   kernel_has(b->options.kernel, name);

	free(path);
	return has;
}

bool boot_has_program(struct boot *b)
{
	const char *name = b->program.argv ? b->program.argv[0] : NULL;
	bool is_path = name && strchr(name, '/');

	/* An archive, or commands that run before, may bring it. */
	if (!name || b->options.initrd || b->may_make_program || !machine_find_kernel(&b->options))
		return true;
	if (is_path ? has_path(b, name) : has_command(b, name))
		return true;
	if (is_path)
		say("%s: there is no such program, here or in the guest", name);
	else
		say("%s: the guest has no such command (`trapline list -P` shows them); a program "
		    "of this machine is named by its path: ./%s",
		    name, name);
	b->refusal = EXIT_NOT_FOUND;
	return false;
}

/* ---- files and directories ---- */

/* FILE or FILE:PATH. `path` is to be freed. False, said. */
static bool split(
    const struct boot *b, const char *option, const char *what, char **file, char **path)
{
	const char *colon = strrchr(what, ':');

	*file = xstrndup(what, colon ? (size_t)(colon - what) : strlen(what));
	*path = path_absolute(b->directory, colon ? colon + 1 : what);
	if (!is_made_by_kernel(*path))
		return true;
	say("%s: the guest has files of its own there: %s %s:PATH", *path, option, *file);
	return false;
}

/* A program that is copied has its libraries, too. */
static bool copy_libraries(struct boot *b, const char *file)
{
	char *path = path_absolute(b->directory, file);
	struct in in;
	bool done = in_open(&in, file);

	if (done) {
		done = libraries_bring(&b->archive, in.data, in.size, path);
		in_close(&in);
	}
	free(path);
	return done;
}

static bool copy_file(struct boot *b, const char *what)
{
	char *file, *path;
	bool done = split(b, "--copy", what, &file, &path) &&
		    archive_copy(&b->archive, path, file) && copy_libraries(b, file);

	free(file);
	free(path);
	return done;
}

static bool copy_tree(struct boot *b, const char *path, const char *file);

static bool copy_link(struct boot *b, const char *path, const char *file)
{
	char target[4096];
	ssize_t n = readlink(file, target, sizeof(target));

	if (n < 0 || n == sizeof(target)) {
		say_errno(file);
		return false;
	}
	archive_put(&b->archive, path, S_IFLNK | 0777, target, n);
	return true;
}

static char *below(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = xmalloc(size);

	snprintf(path, size, "%s/%s", strcmp(directory, "/") ? directory : "", name);
	return path;
}

/* In the order of the names, so that the same directory makes the same archive. */
static bool copy_entries(struct boot *b, const char *path, const char *directory)
{
	struct dirent **entry;
	int n = scandir(directory, &entry, NULL, alphasort);
	bool fine = n >= 0;

	if (!fine)
		say_errno(directory);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		if (fine && strcmp(name, ".") && strcmp(name, "..")) {
			char *there = below(path, name), *here = below(directory, name);
			fine = copy_tree(b, there, here);
			free(there);
			free(here);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return fine;
}

static bool copy_tree(struct boot *b, const char *path, const char *file)
{
	struct stat st;

	if (lstat(file, &st)) {
		say_errno(file);
		return false;
	}
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		archive_put(&b->archive, path, S_IFDIR | (st.st_mode & 0777), NULL, 0);
		return copy_entries(b, path, file);
	case S_IFLNK:
		return copy_link(b, path, file);
	case S_IFREG:
		return archive_copy(&b->archive, path, file);
	default:
		say("%s: is no file, directory or link, and left out", file);
		return true;
	}
}

static bool copy_directory(struct boot *b, const char *what)
{
	char *file, *path;
	struct stat st;
	bool done = split(b, "--dir", what, &file, &path);

	if (done && stat(file, &st)) {
		say_errno(file);
		done = false;
	} else if (done && !S_ISDIR(st.st_mode)) {
		say("%s: is no directory: use --copy for a file", file);
		done = false;
	} else if (done && !strcmp(path, "/")) {
		say("--dir %s: the guest's / cannot be made read-only: --dir %s:PATH", what, file);
		done = false;
	}
	if (done) {
		archive_put(&b->archive, path, S_IFDIR | (st.st_mode & 0777), NULL, 0);
		done = copy_entries(b, path, file);
	}
	if (done)
		bytes_put(&b->readonly, path, strlen(path) + 1);
	free(file);
	free(path);
	return done;
}

/* ---- the standard input ---- */

/* The standard input is a file, and small enough. */
static bool input_is_file(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode) && st.st_size <= FED_FROM;
}

/* --input, or what is redirected to us from a file; else it is passed on as it comes. */
static bool copy_input(struct boot *b)
{
	const char *name = b->options.input;
	struct in in;

	if (!name && b->takes_input && input_is_file())
		name = "-";
	if (!name) {
		b->options.feed = b->takes_input && !b->options.sealed && feed_is_wanted();
		b->program.feed = b->options.feed;
		return true;
	}
	if (!in_open(&in, name))
		return false;
	b->program.input = in.size <= UINT32_MAX;
	if (b->program.input)
		archive_put(&b->archive, SCRIPT_INPUT, S_IFREG | 0644, in.data, in.size);
	else
		say("%s: is too large for an archive: cat %s | trapline ...", name, name);
	in_close(&in);
	return b->program.input;
}

bool boot_copies(struct boot *b)
{
	for (size_t i = 0; i < b->options.copy_count; i++)
		if (!copy_file(b, b->options.copies[i]))
			return false;
	for (size_t i = 0; i < b->options.dir_count; i++)
		if (!copy_directory(b, b->options.dirs[i]))
			return false;
	return copy_input(b) && boot_has_program(b);
}
