/*
 * eventheader [--json] FILE                  decodes a file of EventHeader events, or those in a trace.dat
 * eventheader [--json] --pages FORMATS FILE  ... in sub-buffers as trace_pipe_raw gives them
 *
 * by the kernel's own decoder (trace/eventheader*.c): a line an event, as `trace` has it, or a JSON object an event.
 *
 * A file of events is one record after the other, of
 *
 *     u32    bytes of this record, these four too; little-endian
 *     char[] the tracepoint's name, and a NUL
 *     u8[]   the event, from struct eventheader on
 *
 * which is also what the samples of Microsoft's LinuxTracepoints write. Of a trace.dat (version 6, not compressed: as Trapline writes it,
 * and trace-cmd on request), all events that are not EventHeader's are passed over. FORMATS is the text of `format` files of events, one
 * behind the other: it tells which event has which number.
 *
 * Exit 0: all was read; 1: the file is damaged, or is none; 2: wrong arguments. A damaged event is shown as one and is no reason to stop.
 */
#include "tools/eventheader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096
#define TEXT_MAX   (1u << 20)

static bool as_json;

_Noreturn void die(const struct file *file, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "eventheader: %s: %s\n", file->name, why);
	exit(1);
}

u64 load(const u8 *p, u32 n)
{
	u64 v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

const u8 *take(struct cursor *c, u64 n)
{
	const u8 *p = c->at;

	if (n > (u64)(c->end - p))
		die(c->file, "cut");
	c->at += n;
	return p;
}

/* The whole of it, and a NUL behind. */
static struct file read_file(const char *name)
{
	struct file file = {name, NULL, 0};
	FILE *f = fopen(name, "rb");
	size_t room = 0, n;

	if (!f)
		die(&file, strerror(errno));
	do {
		if (room - file.size < 2) {
			room = room * 2 + 65536;
			file.data = realloc(file.data, room);
			if (!file.data)
				die(&file, "no memory");
		}
		n = fread(file.data + file.size, 1, room - file.size - 1, f);
		file.size += n;
	} while (n);
	if (ferror(f))
		die(&file, "cannot be read");
	fclose(f);
	file.data[file.size] = '\0';
	return file;
}

/* As the columns of `trace`, as far as they are known. */
static void show_columns(const struct eh_origin *origin)
{
	printf("%16s-%-7d ", *origin->comm ? origin->comm : "<...>", origin->pid);
	if (origin->cpu >= 0)
		printf("[%03d] ", origin->cpu);
	if (origin->in_ns)
		printf("%5llu.%06llu: ", (unsigned long long)origin->time / 1000000000,
		    (unsigned long long)origin->time / 1000 % 1000000);
	else
		printf("%12llu: ", (unsigned long long)origin->time);
}

void show(const struct eh_record *rec, const struct eh_origin *origin)
{
	static char text[TEXT_MAX];
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	if (as_json) {
		eh_print_json(&s, rec, origin);
		if (s.overflow) {
			seq_init(&s, text, sizeof(text) - 1);
			eh_print_json_head(&s, rec, origin, "more than a line can hold");
		}
	} else {
		if (origin)
			show_columns(origin);
		printf("%s: ", rec->tracepoint);
		eh_print_text(&s, rec);
	}
	text[s.len] = '\n';
	fwrite(text, 1, s.len + 1, stdout);
}

static void show_records(const struct file *file)
{
	const u8 *at = file->data, *end = at + file->size;

	while (at < end) {
		size_t left = end - at, size = left >= 4 ? load(at, 4) : 0, text;
		if (size < 4 || size > left)
			die(file, "a record is cut");
		text = strnlen((const char *)at + 4, size - 4);
		if (text == size - 4)
			die(file, "a tracepoint's name has no end");
		struct eh_record rec = {.tracepoint = (const char *)at + 4,
		    .data = at + 4 + text + 1,
		    .len = size - 4 - text - 1};
		show(&rec, NULL);
		at += size;
	}
}

static void show_pages(const struct file *formats, const struct file *file)
{
	take_formats((const char *)formats->data, formats->size);
	take_pages(file, file->data, file->data + file->size, PAGE_BYTES, -1, false);
	show_noted("", false);
}

int main(int argc, char **argv)
{
	struct file file, formats;
	int arg = 1;

	if (arg < argc && !strcmp(argv[arg], "--json")) {
		as_json = true;
		arg++;
	}
	if (argc - arg == 1 && argv[arg][0] != '-') {
		file = read_file(argv[arg]);
		if (is_dat(&file))
			show_dat(&file);
		else
			show_records(&file);
		return 0;
	}
	if (argc - arg == 3 && !strcmp(argv[arg], "--pages")) {
		formats = read_file(argv[arg + 1]);
		file = read_file(argv[arg + 2]);
		show_pages(&formats, &file);
		return 0;
	}
	fprintf(stderr, "usage: eventheader [--json] FILE | [--json] --pages FORMATS FILE\n");
	return 2;
}
