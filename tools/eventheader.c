/*
 * eventheader [--json] FILE                  decodes a file of EventHeader events
 * eventheader [--json] --pages FORMATS FILE  ... sub-buffers as trace_pipe_raw gives them
 *
 * by the kernel's own decoder (trace/eventheader*.c): a line an event, as `trace` has it behind the time, or a JSON object an event.
 *
 * A file of events is one record after the other, of
 *
 *     u32    bytes of this record, these four too; little-endian
 *     char[] the tracepoint's name, and a NUL
 *     u8[]   the event, from struct eventheader on
 *
 * which is also what the samples of Microsoft's LinuxTracepoints write. FORMATS is the text of `format` files of events, one behind the
 * other: it tells which event has which number. Sub-buffers have 4096 bytes, as the file `events/header_page` describes them; events that
 * are none of EventHeader's are passed over.
 *
 * Exit 0: all was read; 1: the file is damaged, or is none; 2: wrong arguments. A damaged event is shown as one and is no reason to stop.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/eventheader.h"

#define PAGE_BYTES 4096
#define HEAD_BYTES 16
#define TEXT_MAX   (1u << 20)

static bool as_json;

/* ---- files ---------------------------------------------------------------------------------------------------------------- */

struct file {
	u8 *data;
	size_t size;
};

static void die(const char *name, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "eventheader: %s: %s\n", name, why);
	exit(1);
}

/* The whole of it, and a NUL behind. */
static struct file read_file(const char *name)
{
	struct file file = {NULL, 0};
	FILE *f = fopen(name, "rb");
	size_t room = 0, n;

	if (!f)
		die(name, strerror(errno));
	do {
		if (room - file.size < 2) {
			room = room * 2 + 65536;
			file.data = realloc(file.data, room);
			if (!file.data)
				die(name, "no memory");
		}
		n = fread(file.data + file.size, 1, room - file.size - 1, f);
		file.size += n;
	} while (n);
	if (ferror(f))
		die(name, "cannot be read");
	fclose(f);
	file.data[file.size] = '\0';
	return file;
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

/* origin: NULL for none. */
static void show(const struct eh_record *rec, const struct eh_origin *origin)
{
	static char text[TEXT_MAX];
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	if (as_json) {
		eh_print_json(&s, rec, origin);
	} else {
		if (origin)
			printf("%llu: ", (unsigned long long)origin->time);
		printf("%s: ", rec->tracepoint);
		eh_print_text(&s, rec);
	}
	text[s.len] = '\n';
	if (s.overflow)
		printf("{\"damaged\":\"more than a line can hold\"}\n");
	else
		fwrite(text, 1, s.len + 1, stdout);
}

static u64 load(const u8 *p, u32 n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static int show_records(const char *name, struct file file)
{
	const u8 *at = file.data, *end = at + file.size;

	while (at < end) {
		size_t left = end - at, size = left >= 4 ? load(at, 4) : 0, text;
		if (size < 4 || size > left)
			die(name, "a record is cut");
		text = strnlen((const char *)at + 4, size - 4);
		if (text == size - 4)
			die(name, "a tracepoint's name has no end");
		struct eh_record rec = {.tracepoint = (const char *)at + 4,
		    .data = at + 4 + text + 1,
		    .len = size - 4 - text - 1};
		show(&rec, NULL);
		at += size;
	}
	return 0;
}

/* ---- formats -------------------------------------------------------------------------------------------------------------- */

struct format {
	char name[EVENTHEADER_NAME_MAX];
	u32 offset; /* of struct eventheader in a record */
};
static struct format *formats[65536]; /* by number; NULL: no such event, or none of EventHeader's */

/* From lines "name: N", "ID: N", and of a field that an event of EventHeader has first. */
static void read_formats(const char *name)
{
	struct file file = read_file(name);
	struct format now = {.offset = 0};
	struct eh_name parts;
	unsigned id = 0, offset;

	for (char *line = strtok((char *)file.data, "\n"); line; line = strtok(NULL, "\n")) {
		if (sscanf(line, "name: %255s", now.name) == 1)
			id = 0;
		else if (sscanf(line, "ID: %u", &id) == 1)
			id = id < 65536 ? id : 0;
		else if (id &&
			 sscanf(line, " field:u8 eventheader_flags; offset:%u;", &offset) == 1 &&
			 eh_name_parse(now.name, &parts)) {
			now.offset = offset;
			free(formats[id]);
			formats[id] = malloc(sizeof(now));
			if (!formats[id])
				die(name, "no memory");
			*formats[id] = now;
		}
	}
	free(file.data);
}

/* ---- sub-buffers ---------------------------------------------------------------------------------------------------------- */

enum { PADDING, TIME_EXTEND, TIME_STAMP, DATA };

static void show_data(const u8 *p, u32 n, u64 time)
{
	const struct format *f = n >= 8 ? formats[load(p, 2)] : NULL;
	struct eh_origin origin = {.time = time, .cpu = -1, .comm = ""};

	if (!f || n < f->offset)
		return;
	struct eh_record rec = {f->name, p + f->offset, n - f->offset, .slack = 3};
	origin.pid = (s32)load(p + 4, 4);
	show(&rec, &origin);
}

/* The event at p, of `left` bytes at most; its size, 0 where the page ends. */
static u32 show_event(const u8 *p, u32 left, u64 *time)
{
	u32 word = load(p, 4), len = word >> 2 & 7, delta = word >> 5;
	u64 more = left >= 8 ? load(p + 4, 4) : 0, last = left >= 12 ? load(p + 8, 4) : 0, size;

	switch (word & 3) {
	case PADDING:
		*time += len ? 0 : delta;
		return delta ? 4 + more : 0;
	case TIME_EXTEND:
		*time += (more << 27) + delta;
		return 8;
	case TIME_STAMP:
		*time = more | last << 32;
		return 12;
	}
	*time += delta;
	size = len ? 4 + len * 4 : 8 + more;
	if (size <= left)
		show_data(p + (len ? 4 : 8), size - (len ? 4 : 8), *time);
	return size > left ? left + 1 : size;
}

static void show_page(const char *name, const u8 *page, size_t n)
{
	u64 time = load(page, 8), size = load(page + 8, 4) & 0xfffff;

	if (size > n - HEAD_BYTES)
		die(name, "a sub-buffer is cut");
	for (u32 at = 0, used; at + 4 <= size; at += used) {
		used = show_event(page + HEAD_BYTES + at, size - at, &time);
		if (used > size - at)
			die(name, "an event reaches beyond its sub-buffer");
		if (!used)
			break;
	}
}

static int show_pages(const char *name, struct file file)
{
	for (size_t at = 0; at < file.size; at += PAGE_BYTES) {
		size_t left = file.size - at;

		if (left < HEAD_BYTES)
			die(name, "a sub-buffer is cut");
		show_page(name, file.data + at, MIN(left, (size_t)PAGE_BYTES));
	}
	return 0;
}

int main(int argc, char **argv)
{
	int arg = 1;

	if (arg < argc && !strcmp(argv[arg], "--json")) {
		as_json = true;
		arg++;
	}
	if (argc - arg == 1 && argv[arg][0] != '-')
		return show_records(argv[arg], read_file(argv[arg]));
	if (argc - arg == 3 && !strcmp(argv[arg], "--pages")) {
		read_formats(argv[arg + 1]);
		return show_pages(argv[arg + 2], read_file(argv[arg + 2]));
	}
	fprintf(stderr, "usage: eventheader [--json] FILE | [--json] --pages FORMATS FILE\n");
	return 2;
}
