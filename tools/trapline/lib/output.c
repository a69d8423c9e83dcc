/* Output files, which appear as a whole or not at all, and progress. See output.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/trapline/lib/util.h"
#include "tools/trapline/lib/output.h"

/* ---- progress ---- */

static bool as_lines;

void progress_as_lines(void)
{
	as_lines = true;
}

static void show_progress(const char *what, uint64_t done, uint64_t total, bool tty)
{
	fprintf(stderr, "%s%s: ", tty ? "\r" : "", what);
	if (total)
		fprintf(stderr, "%d %%", (int)(done * 100.0 / total));
	else
		fprintf(stderr, "%llu", (unsigned long long)done);
	fputs(tty ? "  " : "\n", stderr);
}

void progress(const char *what, uint64_t done, uint64_t total)
{
	static time_t shown;
	int error = errno; /* that of a write before is still wanted */
	bool tty = isatty(STDERR_FILENO), over = total && done >= total;
	time_t now = time(NULL);

	errno = error;
	if (!tty && !as_lines)
		return;
	if (over && (shown || as_lines)) {
		fprintf(stderr, "%s%s: done%s\n", tty ? "\r" : "", what, tty ? "       " : "");
		shown = 0;
	} else if (!over && now != shown) {
		if (shown || as_lines)
			show_progress(what, done, total, tty);
		shown = now;
	}
}

/* ---- what is not finished ---- */

#define UNFINISHED_MOST 512 /* a directory with a file for each CPU */

/*
 * Read by a signal handler, so a slot is written when its text is whole, and `unfinished_count`
 * after it. Signals do not come while texts are freed.
 */
static char *unfinished[UNFINISHED_MOST];
static volatile sig_atomic_t unfinished_count;

void unfinished_add(const char *path)
{
	if (unfinished_count == UNFINISHED_MOST)
		return;
	unfinished[unfinished_count] = xstrndup(path, strlen(path));
	unfinished_count++;
}

void unfinished_keep(void)
{
	int count = unfinished_count;

	unfinished_count = 0;
	for (int i = 0; i < count; i++)
		free(unfinished[i]);
}

/* Async-signal-safe. */
static void remove_all(void)
{
	for (int i = unfinished_count - 1; i >= 0; i--)
		if (unlink(unfinished[i]))
			rmdir(unfinished[i]);
}

void unfinished_remove(void)
{
	remove_all();
	unfinished_keep();
}

/* The handler is gone by now (SA_RESETHAND): the signal ends us when we return. */
static void end_early(int sig)
{
	remove_all();
	raise(sig);
}

void unfinished_watch(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};
	struct sigaction how = {.sa_handler = end_early, .sa_flags = SA_RESETHAND}, old;

	sigfillset(&how.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &how, NULL);
	signal(SIGXFSZ, SIG_IGN);
}

/* ---- a file ---- */

static void forget(struct out *out)
{
	free(out->name);
	free(out->temporary);
	*out = (struct out){.file = NULL};
}

static FILE *open_temporary(char *name)
{
	mode_t mask = umask(0);

	umask(mask);
	int fd = mkstemp(name);
	if (fd < 0)
		return NULL;
	unfinished_add(name);
	fchmod(fd, 0666 & ~mask);
	return fdopen(fd, "wb");
}

/* A directory that is missing is the usual reason, and strerror() speaks of a file. */
static void say_no_file(const char *name)
{
	const char *slash = strrchr(name, '/');
	char *directory = xstrndup(name, slash ? (size_t)(slash - name) : 0);
	int error = errno;

	if (error == ENOENT && *directory && access(directory, F_OK)) {
		say("%s: there is no directory %s", name, directory);
	} else {
		errno = error;
		say_errno(name);
	}
	free(directory);
}

bool out_open(struct out *out, const char *name)
{
	struct stat st;
	char *real;

	*out = (struct out){.file = stdout};
	if (!strcmp(name, "-"))
		return true;
	real = realpath(name, NULL); /* behind a link, which stays */
	out->name = real ? real : xstrndup(name, strlen(name));
	if (real && !stat(real, &st) && !S_ISREG(st.st_mode)) {
		out->file = fopen(real, "wb");
	} else {
		size_t size = strlen(out->name) + 8;
		out->temporary = xmalloc(size);
		snprintf(out->temporary, size, "%s.XXXXXX", out->name);
		out->file = open_temporary(out->temporary);
	}
	if (out->file)
		return true;
	say_no_file(name);
	forget(out);
	return false;
}

bool out_finish(struct out *out)
{
	bool fine = !fflush(out->file) && !ferror(out->file);

	if (out->name)
		fine = !fclose(out->file) && fine;
	if (fine && out->temporary)
		fine = !rename(out->temporary, out->name);
	if (!fine) {
		say_errno(out->name ? out->name : "standard output");
		unfinished_remove();
	}
	unfinished_keep();
	forget(out);
	return fine;
}

void out_drop(struct out *out)
{
	if (out->name)
		fclose(out->file);
	unfinished_remove();
	forget(out);
}
