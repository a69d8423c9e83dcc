/* Archive, machine, trace. See boot.h. */
#include "tools/trapline/record/boot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/machine/archive.h"
#include "tools/trapline/machine/get.h"
#include "tools/trapline/record/origin.h"
#include "tools/trapline/lib/output.h"

#define MEMORY_RESERVE (14ULL << 20) /* beside the archive: the kernel, rings, the program */

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
	bytes_free(&b->readonly);
	free(b->directory);
	free(b->script_path);
}

/* ---- the archive ---- */

/* With our standard input as the program's, the script is that of a shell behind a pipe. */
static void put_script(struct boot *b, const struct bytes *script)
{
	struct bytes feed = {.data = NULL};

	if (b->options.feed) {
		script_feed(&feed);
		archive_put(&b->archive, SCRIPT_FED, S_IFREG | 0755, script->data, script->size);
		script = &feed;
	}
	archive_put(&b->archive, SCRIPT_MAIN, S_IFREG | 0755, script->data, script->size);
	bytes_free(&feed);
}

/* The user's archive last: it may replace what is in ours. */
static bool finish_archive(struct boot *b, const struct bytes *script)
{
	struct in in;

	put_script(b, script);
	archive_end(&b->archive);
	b->archive_own = b->archive.size;
	if (b->options.initrd) {
		if (!in_open(&in, b->options.initrd))
			return false;
		bytes_put(&b->archive, in.data, in.size);
		in_close(&in);
	}
	if (b->archive.size + MEMORY_RESERVE <= b->options.memory)
		return true;
	say("the copied files have %zu MB, the machine's memory %llu: --mem SIZE",
	    b->archive.size >> 20, (unsigned long long)b->options.memory >> 20);
	return false;
}

/* ---- the trace ---- */

static void take(struct machine *m)
{
	struct boot *b = m->context;

	if (!b->is_open) {
		b->is_open = live_open(&b->live, m->memory_path, b->instance);
		if (!b->is_open)
			return;
		dat_begin(&b->writer, b->live.guest.cpus);
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
	struct bytes origin = {.data = NULL};
	bool damaged;

	if (!b->is_open) {
		say("no trace could be taken out of the machine's memory");
		out_drop(&b->out);
		return false;
	}
	live_describe(&b->live); /* formats and names as they were at the end, not at some look */
	origin_put(&origin, b);
	dat_finish(&b->writer, &b->live, &origin, b->out.file);
	bytes_free(&origin);
	damaged = b->live.trace.damaged;
	if (!out_finish(&b->out))
		return false;
	say_counts(b);
	return !damaged;
}

static bool make(struct boot *b, const struct bytes *script)
{
	if (!machine_find_kernel(&b->options) || (script && !finish_archive(b, script)) ||
	    (b->out_name && !out_open(&b->out, b->out_name)))
		return false;
	if (machine_make(&b->machine, &b->options, &b->archive))
		return true;
	if (b->out_name)
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
	if (b->got_trace && b->taken)
		b->taken(b);
	if (b->is_open) {
		dat_drop(&b->writer);
		live_close(&b->live);
	}
}

int boot_outputs(struct boot *b)
{
	int out = b->out_name && !strcmp(b->out_name, "-") ? STDERR_FILENO : STDOUT_FILENO;
	struct stat one, other;

	b->program.one_output = !fstat(out, &one) && !fstat(STDERR_FILENO, &other) &&
				one.st_dev == other.st_dev && one.st_ino == other.st_ino;
	return out;
}

bool boot_begin_script(struct boot *b, struct bytes *script)
{
	boot_outputs(b);
	b->program.explored =
	    strstr(b->options.append, "sched_seed=") || strstr(b->options.append, "sched_points=");
	b->program.deaf = b->options.sealed;
	script_begin(script);
	for (size_t at = 0; at < b->readonly.size;) {
		const char *path = (const char *)b->readonly.data + at;
		script_readonly(script, path);
		at += strlen(path) + 1;
	}
	return get_check(&b->options, b->directory);
}

void boot_end_script(struct boot *b, struct bytes *script)
{
	for (size_t i = 0; i < b->options.get_count; i++) {
		char *theirs, *ours;
		get_names(b->options.gets[i], b->directory, &theirs, &ours);
		script_get(script, i, theirs);
		free(theirs);
		free(ours);
	}
	script_missing_calls(script);
	script_end(script);
}

int boot_text(struct boot *b, const struct bytes *script, int out)
{
	struct machine *m = &b->machine;

	b->out_name = NULL;
	if (!make(b, script))
		return EXIT_OWN;
	m->out = out;
	machine_play(m);
	return machine_status(m);
}

static void set_look(struct boot *b, uint64_t look_ns)
{
	b->follow = look_ns;
	b->machine.look = look_ns ? take : NULL;
	b->machine.look_ns = look_ns;
}

/* With a QEMU of that version, and drops what the program prints. False, said: it is another. */
static bool play_again(struct machine *m, const char *qemu)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nowhere < 0)
		die(EXIT_TROUBLE, "/dev/null cannot be opened");
	m->wanted_qemu = qemu;
	m->out = m->err = nowhere;
	machine_play(m);
	close(nowhere);
	if (m->end == END_OTHER)
		say("this QEMU is %s; it was %s", m->qemu_version, qemu);
	return m->end != END_OTHER;
}

bool boot_watched(
    struct boot *b, const char *qemu, void (*prepare)(struct machine *m), void *context)
{
	struct machine *m = &b->machine;

	b->out_name = NULL;
	if (m->options)
		machine_free(m);
	if (!make(b, NULL))
		return false;
	m->context = context;
	prepare(m);
	return play_again(m, qemu) && m->end != END_NO_QEMU;
}

bool boot_again(struct boot *b, const char *qemu, bool follow)
{
	struct machine *m = &b->machine;

	if (!make(b, NULL))
		return false;
	m->context = b;
	set_look(b, follow ? BOOT_LOOK_NS : 0);
	if (!play_again(m, qemu)) {
		out_drop(&b->out);
		return false;
	}
	take_out(b);
	return b->got_trace;
}

int boot_run(struct boot *b, const struct bytes *script, bool follow, uint64_t look_ns)
{
	struct machine *m = &b->machine;
	int status;
	bool came;

	if (!make(b, script))
		return EXIT_OWN;
	m->context = b;
	m->warned = b->warned;
	set_look(b, follow ? look_ns : 0);
	m->may_switch_off = !b->program.argv;
	m->out = boot_outputs(b);
	m->one_output = b->program.one_output;
	machine_play(m);
	status = machine_status(m);
	take_out(b);
	came = m->failed_step >= 0 || get_write(m, b->directory);
	return m->status >= 0 && (!b->got_trace || !came) ? EXIT_OWN : status;
}
