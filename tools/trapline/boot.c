/* Archive, machine, trace. See boot.h. */
#include "tools/trapline/boot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/archive.h"

void boot_begin(struct boot *b)
{
	*b = (struct boot){.out_name = "trace.dat", .instance = ""};
	machine_defaults(&b->options);
	b->directory = getcwd(NULL, 0);
	if (!b->directory)
		b->directory = xstrndup("/", 1);
	b->program.directory = b->directory;
}

void boot_end(struct boot *b)
{
	if (b->machine.options)
		machine_free(&b->machine);
	machine_forget(&b->options);
	bytes_free(&b->archive);
	free(b->directory);
	free(b->script_path);
}

/* ---- what comes along ----------------------------------------------------------------------------------------------- */

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

/* In the guest it stands where it stands here, in a directory like ours: arguments and messages are the same. */
static bool copy_program(struct boot *b, const char *name)
{
	char *path = path_absolute(b->directory, name);
	const char *refusal =
	    is_made_by_kernel(path) ? "stands where the guest has files of its own" : NULL;
	struct in in;
	bool is_script;

	if (!in_open(&in, name))
		return false;
	is_script = program_is_script(in.data, in.size);
	refusal = refusal ? refusal : program_refusal(in.data, in.size);
	if (refusal)
		say("%s: %s", name, refusal);
	else
		archive_put(&b->archive, path, S_IFREG | 0755, in.data, in.size);
	in_close(&in);
	b->script_path = path;
	if (is_script)
		b->program.path = path;
	return !refusal;
}

bool boot_program(struct boot *b, char **argv)
{
	struct stat st;

	if (!argv || !*argv)
		return true;
	b->program.argv = argv;
	if (!is_made_by_kernel(b->directory))
		archive_put(&b->archive, b->directory, S_IFDIR | 0755, NULL, 0);
	if (!strchr(argv[0], '/') || stat(argv[0], &st))
		return true;
	return copy_program(b, argv[0]);
}

/* FILE or FILE:PATH. */
static bool copy_file(struct boot *b, const char *what)
{
	const char *colon = strrchr(what, ':');
	char *file = xstrndup(what, colon ? (size_t)(colon - what) : strlen(what));
	char *path = path_absolute(b->directory, colon ? colon + 1 : what);
	bool done = !is_made_by_kernel(path) && archive_copy(&b->archive, path, file);

	if (is_made_by_kernel(path))
		say("%s: stands where the guest has files of its own: --copy %s:PATH", path, file);
	free(file);
	free(path);
	return done;
}

/* --input, or what is redirected to us from a file. */
static bool copy_input(struct boot *b)
{
	const char *name = b->options.input;
	struct stat st;
	struct in in;

	if (!name && b->program.argv && !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode))
		name = "-";
	if (!name)
		return true;
	if (!in_open(&in, name))
		return false;
	archive_put(&b->archive, SCRIPT_INPUT, S_IFREG | 0644, in.data, in.size);
	in_close(&in);
	b->program.input = true;
	return true;
}

bool boot_copies(struct boot *b)
{
	for (size_t i = 0; i < b->options.copy_count; i++)
		if (!copy_file(b, b->options.copies[i]))
			return false;
	return copy_input(b);
}

/* The user's archive last: it may replace what is in ours. */
static bool finish_archive(struct boot *b, const struct bytes *script)
{
	struct in in;

	archive_put(&b->archive, SCRIPT_MAIN, S_IFREG | 0755, script->data, script->size);
	archive_end(&b->archive);
	if (!b->options.initrd)
		return true;
	if (!in_open(&in, b->options.initrd))
		return false;
	bytes_put(&b->archive, in.data, in.size);
	in_close(&in);
	return true;
}

/* ---- the trace ------------------------------------------------------------------------------------------------------ */

static void take(struct machine *m)
{
	struct boot *b = m->context;

	if (!b->is_open) {
		b->is_open = live_open(&b->live, m->memory_path, b->instance);
		if (!b->is_open)
			return;
		dat_begin(&b->writer, &b->live);
	}
	dat_take(&b->writer, &b->live);
	if (b->program.argv || !m->look) /* there is the program's own output to look at */
		return;
	if (m->end == END_NOT_YET)
		progress("recorded", b->live.seen, 0);
	else
		progress("recorded", 1, 1);
}

static void say_counts(const struct boot *b)
{
	const struct live *l = &b->live;
	char lost[80] = "";

	if (l->lost)
		snprintf(lost, sizeof(lost), "; %llu were overwritten before they could be read",
		    (unsigned long long)l->lost);
	if (!b->options.quiet)
		say("%s: %llu events%s%s",
		    strcmp(b->out_name, "-") ? b->out_name : "standard output",
		    (unsigned long long)l->seen, lost,
		    l->lost_unknown ? "; some were taken by a reader in the machine" : "");
}

/* False, said: there is no whole trace. */
static bool write_trace(struct boot *b)
{
	bool damaged;

	if (!b->is_open) {
		say("no trace could be taken out of the machine's memory");
		out_drop(&b->out);
		return false;
	}
	dat_finish(&b->writer, &b->live, b->out.file);
	damaged = b->live.trace.damaged;
	if (!out_finish(&b->out))
		return false;
	say_counts(b);
	return !damaged;
}

static bool make(struct boot *b, const struct bytes *script)
{
	if (!machine_find_kernel(&b->options) || !finish_archive(b, script) ||
	    !out_open(&b->out, b->out_name))
		return false;
	if (machine_make(&b->machine, &b->options, &b->archive))
		return true;
	out_drop(&b->out);
	return false;
}

/* A machine that never came to its script has no trace; nor has one that was refused. */
static void take_out(struct boot *b)
{
	const struct machine *m = &b->machine;

	if (m->end == END_NO_QEMU || m->failed_step >= 0 ||
	    (m->end == END_QEMU && !m->ready && !b->options.console)) {
		out_drop(&b->out);
	} else {
		take(&b->machine);
		b->got_trace = write_trace(b);
	}
	if (b->is_open) {
		dat_drop(&b->writer);
		live_close(&b->live);
	}
}

int boot_run(struct boot *b, const struct bytes *script, bool follow, uint64_t look_ns)
{
	struct machine *m = &b->machine;
	int status;

	if (!make(b, script))
		return EXIT_OWN;
	m->context = b;
	m->warned = b->warned;
	m->look = follow ? take : NULL;
	m->look_ns = look_ns;
	m->may_switch_off = !b->program.argv;
	if (!strcmp(b->out_name, "-"))
		m->out = STDERR_FILENO;
	machine_play(m);
	status = machine_status(m);
	take_out(b);
	return m->status >= 0 && !b->got_trace ? EXIT_OWN : status;
}
