/* See origin.h. */
#include "tools/trapline/record/origin.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/trapline/machine/archive.h"

#define FORM "1" /* of the text */

/* ---- writing ---- */

static void put_value(struct bytes *out, const char *word, const char *value)
{
	bytes_put(out, word, strlen(word));
	bytes_put(out, " ", 1);
	for (; *value; value++) {
		if (*value == '\n' || *value == '%')
			bytes_put(out, *value == '%' ? "%25" : "%0A", 3);
		else
			bytes_put(out, value, 1);
	}
	bytes_put(out, "\n", 1);
}

static void __attribute__((format(printf, 3, 4)))
put(struct bytes *out, const char *word, const char *fmt, ...)
{
	char *value;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		die(EXIT_TROUBLE, "out of memory");
	va_end(ap);
	put_value(out, word, value);
	free(value);
}

/*
 * Writes a file of the host: its sum, and its path, or its path in an earlier run. The sum of a
 * file that is gone is "-".
 */
static void put_file(struct bytes *out, const char *word, const char *directory, const char *name,
    const char *earlier)
{
	char sum[SHA256_TEXT] = "-", *path = path_absolute(directory, name);
	struct in in;

	if (in_open(&in, path)) {
		sha256_text(in.data, in.size, sum);
		in_close(&in);
	}
	put(out, word, "%s %s", sum, earlier ? earlier : path);
	free(path);
}

/* Are these bytes those of the host's file at the entry's own path? */
static bool is_at_its_path(const struct archive_entry *e)
{
	char *path = path_absolute("/", e->path);
	struct stat st;
	struct in in;
	bool same = false;

	if (S_ISREG(e->mode) && !stat(path, &st) && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size == e->size && e->size && in_open(&in, path)) {
		same = in.size == e->size && !memcmp(in.data, e->data, e->size);
		in_close(&in);
	}
	free(path);
	return same;
}

/* Names a file that is still at its path by its sum; puts in the bytes of every other one. */
static void put_entry(struct bytes *out, const struct archive_entry *e)
{
	char sum[SHA256_TEXT];

	if (is_at_its_path(e)) {
		sha256_text(e->data, e->size, sum);
		put(out, "file", "%o %s %s", e->mode, sum, e->path);
		return;
	}
	put(out, "data", "%o %zu %s", e->mode, e->size, e->path);
	bytes_put(out, e->data, e->size);
	bytes_put(out, "\n", 1);
}

static void put_archive(struct bytes *out, const struct boot *b)
{
	struct archive_entry e;
	char sum[SHA256_TEXT];
	size_t at = 0;

	sha256_text(b->archive.data, b->archive_own, sum);
	put(out, "archive", "%s %zu", sum, b->archive_own);
	while (archive_next(b->archive.data, b->archive_own, &at, &e))
		put_entry(out, &e);
}

static void put_differences(struct bytes *out, const struct boot *b)
{
	const struct machine *m = &b->machine;

	if (!b->options.icount)
		put(out, "unlike", "it ran in real time");
	else if (b->options.console)
		put(out, "unlike", "it was typed at");
	else if (m->feed.fed)
		put(out, "unlike", "input or Ctrl-C came to its program while it ran");
	if (m->end == END_TIMEOUT || m->end == END_SIGNAL)
		put(out, "cut", m->end == END_TIMEOUT ? "--timeout" : "a signal");
}

void origin_put(struct bytes *out, const struct boot *b)
{
	const struct machine_options *o = &b->options;

	put(out, "trapline", FORM);
	put_differences(out, b);
	put(out, "qemu", "%s", b->machine.qemu_version);
	put_file(out, "kernel", b->directory, o->kernel, b->earlier_kernel);
	put(out, "append", "%s", o->append);
	put(out, "cpu", "%s", o->cpu);
	put(out, "smp", "%llu", (unsigned long long)o->cpus);
	put(out, "memory", "%llu", (unsigned long long)o->memory);
	put(out, "seed", "%d", MACHINE_SEED);
	put(out, "clock", "%llu %llu %llu", (unsigned long long)b->live.trace.clock_base,
	    (unsigned long long)b->live.trace.clock_mult,
	    (unsigned long long)b->live.trace.clock_add);
	if (!o->icount)
		put(out, "accel", "%s", o->accel);
	if (o->verbose)
		put(out, "verbose", "1");
	if (o->sealed)
		put(out, "sealed", "1");
	if (b->follow)
		put(out, "follow", "1");
	if (*b->instance)
		put(out, "instance", "%s", b->instance);
	for (size_t i = 0; i < o->extra_count; i++)
		put(out, "word", "%s", o->extra[i]);
	if (o->initrd)
		put_file(out, "initrd", b->directory, o->initrd, NULL);
	put_archive(out, b);
}

/* ---- reading ---- */

struct reader {
	struct origin *o;
	const char *file;
	const uint8_t *at, *end;
	bool wrong; /* said */
};

static void wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct reader *r, const char *fmt, ...)
{
	char text[4200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!r->wrong)
		say("%s: %s", r->file, text);
	r->wrong = true;
}

/* The value of a line, to be freed. */
static char *value_of(const uint8_t *from, const uint8_t *to)
{
	char *value = xmalloc(to - from + 1);
	size_t n = 0;

	for (; from < to; from++) {
		bool escaped = *from == '%' && to - from > 2;
		value[n++] = escaped ? (from[1] == '0' ? '\n' : '%') : *from;
		from += escaped ? 2 : 0;
	}
	return value;
}

/* Keeps a text for as long as the origin. */
static char *keep(struct reader *r, const char *text)
{
	struct origin *o = r->o;

	if (o->kept_count == sizeof(o->kept) / sizeof(o->kept[0])) {
		wrong(r, "it has too many words for QEMU");
		return o->kept[0];
	}
	return o->kept[o->kept_count++] = xstrndup(text, strlen(text));
}

/* "SUM PATH" */
static void take_file(struct reader *r, const char *value, char sum[SHA256_TEXT], char **path)
{
	if (strlen(value) < SHA256_TEXT || value[SHA256_TEXT - 1] != ' ') {
		wrong(r, "the sum of a file its machine was made of is missing");
		return;
	}
	memcpy(sum, value, SHA256_TEXT - 1);
	*path = keep(r, value + SHA256_TEXT);
}

/* True if the file is still the same: *in has its bytes. */
static bool is_same(struct reader *r, const char *path, const char *sum, struct in *in)
{
	char now[SHA256_TEXT];
	struct stat st;

	/* A trace may name a pipe, or a device that has no end. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		wrong(r, "%s is not the file that it was recorded with", path);
		return false;
	}
	if (!in_open(in, path)) {
		r->wrong = true;
		return false;
	}
	sha256_text(in->data, in->size, now);
	if (!strcmp(now, sum))
		return true;
	wrong(r, "%s is not the file that it was recorded with", path);
	in_close(in);
	return false;
}

/* "MODE SUM PATH": a file of the host's. */
static void take_entry_file(struct reader *r, const char *value)
{
	char *end, sum[SHA256_TEXT] = "", *path;
	uint32_t mode = strtoul(value, &end, 8);
	struct in in;

	if (*end != ' ' || strlen(end + 1) < SHA256_TEXT) {
		wrong(r, "a line of its archive cannot be read");
		return;
	}
	memcpy(sum, end + 1, SHA256_TEXT - 1);
	path = path_absolute("/", end + 1 + SHA256_TEXT);
	if (is_same(r, path, sum, &in)) {
		archive_put(&r->o->boot.archive, path, mode, in.data, in.size);
		in_close(&in);
	}
	free(path);
}

/* "MODE SIZE PATH", and bytes after the line. */
static void take_entry_data(struct reader *r, const char *value)
{
	char *end;
	uint32_t mode = strtoul(value, &end, 8);
	uint64_t size = strtoull(end, &end, 10);

	if (*end != ' ' || size >= (uint64_t)(r->end - r->at)) {
		wrong(r, "a part of its archive breaks off");
		return;
	}
	archive_put(&r->o->boot.archive, end + 1, mode, r->at, size);
	r->at += size + 1;
}

static void take_number(struct reader *r, const char *value, uint64_t most, uint64_t *number)
{
	if (!parse_number(value, most, number) || !*number)
		wrong(r, "'%s' is no number of its machine's", value);
}

static void take_word(struct reader *r, const char *value)
{
	struct machine_options *m = &r->o->boot.options;

	m->extra = xrealloc(m->extra, (m->extra_count + 1) * sizeof(*m->extra));
	m->extra[m->extra_count++] = keep(r, value);
}

static void take_machine(struct reader *r, const char *word, const char *value)
{
	struct machine_options *m = &r->o->boot.options;

	if (!strcmp(word, "append"))
		m->append = keep(r, value);
	else if (!strcmp(word, "cpu"))
		m->cpu = keep(r, value);
	else if (!strcmp(word, "smp"))
		take_number(r, value, 64, &m->cpus);
	else if (!strcmp(word, "memory"))
		take_number(r, value, 1ULL << 40, &m->memory);
	else if (!strcmp(word, "verbose"))
		m->verbose = true;
	else if (!strcmp(word, "sealed"))
		m->sealed = true;
	else if (!strcmp(word, "word"))
		take_word(r, value);
	else if (!strcmp(word, "instance"))
		r->o->boot.instance = keep(r, value);
}

/* "BASE MULT ADD" (struct trace) */
static void take_clock(struct origin *o, const char *value)
{
	char *end;

	for (size_t i = 0; i < 3; i++, value = end)
		o->clock[i] = strtoull(value, &end, 10);
	o->has_clock = true;
}

static void take_line(struct reader *r, const char *word, const char *value)
{
	struct origin *o = r->o;

	if (!strcmp(word, "trapline") && strcmp(value, FORM))
		wrong(r, "it was recorded by a later trapline");
	else if (!strcmp(word, "unlike"))
		o->unlike = keep(r, value);
	else if (!strcmp(word, "cut"))
		o->cut = keep(r, value);
	else if (!strcmp(word, "qemu"))
		o->qemu = keep(r, value);
	else if (!strcmp(word, "kernel"))
		take_file(r, value, o->kernel_sum, &o->kernel_path);
	else if (!strcmp(word, "initrd"))
		take_file(r, value, o->initrd_sum, &o->initrd_path);
	else if (!strcmp(word, "follow"))
		o->follow = true;
	else if (!strcmp(word, "clock"))
		take_clock(o, value);
	else if (!strcmp(word, "archive"))
		memcpy(o->archive_sum, value, strnlen(value, SHA256_TEXT - 1));
	else if (!strcmp(word, "file"))
		take_entry_file(r, value);
	else if (!strcmp(word, "data"))
		take_entry_data(r, value);
	else
		take_machine(r, word, value);
}

static void take_lines(struct reader *r)
{
	while (!r->wrong && r->at < r->end) {
		const uint8_t *stop = memchr(r->at, '\n', r->end - r->at);
		const uint8_t *line = r->at, *space;
		char *word, *value;

		stop = stop ? stop : r->end;
		space = memchr(line, ' ', stop - line);
		space = space ? space : stop;
		r->at = stop + (stop < r->end);
		word = value_of(line, space);
		value = value_of(space + (space < stop), stop);
		take_line(r, word, value);
		free(word);
		free(value);
	}
}

/* The kernel, and the archive whole. */
static void finish(struct reader *r, const char *kernel)
{
	struct origin *o = r->o;
	char sum[SHA256_TEXT];
	struct in in;

	o->boot.options.kernel = kernel ? kernel : o->kernel_path;
	o->boot.earlier_kernel = o->kernel_path;
	if (!o->boot.options.kernel || !o->qemu || !*o->archive_sum) {
		wrong(r, "what it says of its machine breaks off");
		return;
	}
	if (is_same(r, o->boot.options.kernel, o->kernel_sum, &in))
		in_close(&in);
	archive_end(&o->boot.archive);
	o->boot.archive_own = o->boot.archive.size;
	sha256_text(o->boot.archive.data, o->boot.archive.size, sum);
	if (!r->wrong && strcmp(sum, o->archive_sum))
		wrong(r, "the archive that was recorded with cannot be made again");
	o->boot.options.initrd = o->initrd_path;
	if (!r->wrong && o->initrd_path && is_same(r, o->initrd_path, o->initrd_sum, &in)) {
		bytes_put(&o->boot.archive, in.data, in.size);
		in_close(&in);
	}
}

bool origin_open(struct origin *o, const struct trace *t, const char *kernel)
{
	struct reader r = {
	    .o = o, .file = t->file, .at = t->origin, .end = t->origin + t->origin_size};

	*o = (struct origin){.qemu = NULL};
	boot_begin(&o->boot);
	o->boot.options.icount = true;
	o->boot.options.quiet = true;
	if (!t->origin_size) {
		say("%s: it does not say what machine made it: `trapline record` and `run` leave "
		    "such "
		    "traces",
		    t->file);
		return false;
	}
	take_lines(&r);
	if (!r.wrong && o->unlike) {
		say("%s: another run would differ: %s", t->file, o->unlike);
		return false;
	}
	if (!r.wrong)
		finish(&r, kernel);
	return !r.wrong;
}

void origin_close(struct origin *o)
{
	boot_end(&o->boot);
	for (size_t i = 0; i < o->kept_count; i++)
		free(o->kept[i]);
}
