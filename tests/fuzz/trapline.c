/*
 * The host's readers of traces: sub-buffers, formats, whole files, serial logs. The first byte says
 * what the rest is:
 *
 *   0  a trace.dat file                       1 a format up to the first NUL, after it records of
 *       a sub-buffer, and what all writers
 *   2  a sub-buffer in Linux's format            make of them
 *   3  the same in the kernel's               4  a serial log
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/trapline/convert/convert.h"
#include "tools/trapline/explain/explain.h"
#include "tools/trapline/plot/plot.h"
#include "tools/trapline/machine/serial.h"
#include "tools/trapline/strace/strace.h"
#include "tools/trapline/trace/text.h"

static FILE *nowhere;

static void write_page(struct trace *t, FILE *out)
{
	write_plot(t, &(struct window){.has_begin = false}, out, false, false);
}

static void write_calls(struct trace *t, FILE *out)
{
	strace_write(t, out, false);
}

/* Where the time of the whole went, for the task that was there longest. */
static void write_explained(struct trace *t, FILE *out)
{
	struct explanation e;
	struct timeline l;
	struct record r;
	uint64_t sum = 0;
	int32_t pid;

	timeline_begin(&l, t);
	while (trace_next(t, &r))
		timeline_record(&l, &r);
	timeline_end(&l);
	pid = explain_main_task(&l, l.first, l.last);
	if (pid) {
		explain_span(&e, &l, pid, l.first, l.last);
		for (size_t i = 0; i < e.parts; i++) {
			sum += e.part[i].time;
			explain_text(&e, &e.part[i], false, out);
		}
		FUZZ_CHECK(sum == l.last - l.first);
		explain_free(&e);
	}
	timeline_free(&l);
}

static void write_all(const char *name, const struct bytes *file)
{
	void (*const writers[])(struct trace *, FILE *) = {
	    write_text, write_json, write_perfetto, write_page, write_calls, write_explained};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		struct bytes copy = {.data = NULL};
		struct trace t;

		bytes_put(
		    &copy, file->data, file->size); /* exactly: so that a byte beyond is seen */
		copy.data = xrealloc(copy.data, copy.size);
		if (trace_open_in(&t, name, (struct in){.data = copy.data, .size = copy.size})) {
			writers[i](&t, nowhere);
			trace_close(&t);
		}
	}
}

/* Records lie within what the page says it has, in its order. */
static void walk(enum records records, const uint8_t *data, size_t size)
{
	static uint8_t page[PAGE_BYTES];
	const uint8_t *last = page + PAGE_HEADER;
	struct page_walk w;

	memset(page, 0, sizeof(page));
	memcpy(page, data, size < sizeof(page) ? size : sizeof(page));
	page_begin(&w, records, page, sizeof(page));
	while (page_next(&w)) {
		FUZZ_CHECK(w.record >= last && w.record + w.length <= page + PAGE_HEADER + w.end);
		FUZZ_CHECK(w.end <= PAGE_ROOM);
		last = w.record + w.length;
	}
	FUZZ_CHECK(!page_next(&w)); /* the end is the end */
}

static void put_sized(struct bytes *b, size_t bytes, const void *data, uint64_t size)
{
	bytes_put(b, &size, bytes);
	bytes_put(b, data, size);
}

/* A file of one event and one page. */
static void with_format(const uint8_t *data, size_t size)
{
	struct bytes b = {.data = NULL};
	const uint8_t *nul = memchr(data, 0, size);
	size_t length = nul ? (size_t)(nul - data) : size, rest = nul ? size - length - 1 : 0;
	uint32_t one = 1, none = 0;
	uint64_t head[2] = {1000, rest < PAGE_ROOM ? rest : PAGE_ROOM}, entry[2];

	bytes_put(&b, "\x17\x08\x44tracing6\0\0\x08\0\x10\0\0header_page\0\0\0\0\0\0\0\0\0", 38);
	put_sized(&b, 0, "header_event", 13);
	bytes_zeros(&b, 8);
	bytes_put(&b, &none, 4);
	bytes_put(&b, &one, 4);
	bytes_put(&b, "sys", 4);
	bytes_put(&b, &one, 4);
	put_sized(&b, 8, data, length);
	bytes_zeros(&b, 4);
	put_sized(&b, 4, "0x1000 : \"text\\n\"\n", 18);
	put_sized(&b, 8, "1 one\n", 6);
	bytes_put(&b, &one, 4);
	bytes_put(&b, "options  \0\0\0flyrecord", 22);
	entry[0] = b.size + 16;
	entry[1] = PAGE_BYTES;
	bytes_put(&b, entry, 16);
	bytes_put(&b, head, 16);
	bytes_put(&b, nul ? nul + 1 : data, head[1]);
	bytes_zeros(&b, PAGE_ROOM - head[1]);
	write_all("made", &b);
	bytes_free(&b);
}

static void serial(const uint8_t *data, size_t size)
{
	struct serial_files files;
	struct range r;

	serial_read(&files, data, size);
	for (size_t i = 0; i < files.count; i++) {
		const struct serial_file *f = &files.file[i];
		uint64_t missing = 0, have = 0;

		for (uint64_t at = 0; serial_missing(f, at, &r); at = r.at + r.length) {
			FUZZ_CHECK(r.at >= at && r.length && r.at + r.length <= f->size);
			missing += r.length;
		}
		for (size_t k = 0; k < f->haves; k++)
			have += f->have[k].length;
		FUZZ_CHECK(missing + have == f->size);
	}
	serial_free(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	say_nothing = true;
	switch (data[0] % 5) {
	case 0: {
		struct bytes b = {.data = (uint8_t *)data + 1, .size = size - 1};
		write_all("given", &b);
		break;
	}
	case 1:
		with_format(data + 1, size - 1);
		break;
	case 4:
		serial(data + 1, size - 1);
		break;
	default:
		walk(data[0] % 5 == 2 ? RECORDS_LINUX : RECORDS_OWN, data + 1, size - 1);
	}
	return 0;
}
