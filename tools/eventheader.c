/*
 * eventheader [--json] FILE                  decodes a file of EventHeader events, or those in a
 *     trace.dat
 * eventheader [--json] --pages [-s BYTES] FORMATS FILE
 *     ... in sub-buffers as trace_pipe_raw gives them, of 4096 bytes or of BYTES
 *
 * by the kernel's own decoder (trace/user/eventheader/): a line an event, as `trace` has it, or a
 * JSON object an event.
 *
 * A file of events is one record after the other, of
 *
 *     u32    bytes of this record, these four too; little-endian
 *     char[] the tracepoint's name, and a NUL
 *     u8[]   the event, from struct eventheader on
 *
 * which is also what the samples of Microsoft's LinuxTracepoints write. Of a trace.dat (version 6,
 * not compressed: as Trapline writes it, and trace-cmd on request), all events that are not
 * EventHeader's are passed over. FORMATS is the text of `format` files of events, one after the
 * other: it lists the number of each event.
 *
 * Exit 0: all was read; 1: the file is damaged, or is none; 2: wrong arguments. A damaged event is
 * shown as one and is no reason to stop.
 */
#include "tools/eventheader.h"
#include "tools/trapline/trace/page.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1u << 20)

static const unsigned char dat_magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
static bool as_json;

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

static u32 load32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static void show_records(const char *name, const struct in *in)
{
	const u8 *at = in->data, *end = at + in->size;

	while (at < end) {
		size_t left = end - at, size = left >= 4 ? load32(at) : 0, text;
		if (size < 4 || size > left)
			die(EXIT_DAMAGED, "%s: a record is cut", name);
		text = strnlen((const char *)at + 4, size - 4);
		if (text == size - 4)
			die(EXIT_DAMAGED, "%s: a tracepoint's name has no end", name);
		struct eh_record rec = {.tracepoint = (const char *)at + 4,
		    .data = at + 4 + text + 1,
		    .len = size - 4 - text - 1};
		show(&rec, NULL);
		at += size;
	}
}

static int show_file(const char *name)
{
	struct in in;

	if (!in_open(&in, name))
		return EXIT_DAMAGED;
	if (in.size >= sizeof(dat_magic) && !memcmp(in.data, dat_magic, sizeof(dat_magic)))
		return show_dat(name, in) ? EXIT_FINE : EXIT_DAMAGED;
	show_records(name, &in);
	in_close(&in);
	return EXIT_FINE;
}

static int show_raw(const char *formats_name, const char *name, uint32_t page_size)
{
	struct in formats, in;
	bool whole;

	if (!in_open(&formats, formats_name) || !in_open(&in, name))
		return EXIT_DAMAGED;
	whole = show_pages(name, in, formats, page_size);
	in_close(&formats);
	in_close(&in);
	return whole ? EXIT_FINE : EXIT_DAMAGED;
}

static uint32_t page_size_of(const char *text)
{
	char *end;
	unsigned long size = strtoul(text, &end, 10);

	if (*end || !page_size_ok(size))
		die(EXIT_USAGE, "-s %s: a sub-buffer has 4096 bytes, 8192, and so on to 524288",
		    text);
	return size;
}

int main(int argc, char **argv)
{
	int arg = 1;

	program = "eventheader";
	if (arg < argc && !strcmp(argv[arg], "--json")) {
		as_json = true;
		arg++;
	}
	if (argc - arg == 1 && argv[arg][0] != '-')
		return show_file(argv[arg]);
	if (argc - arg == 5 && !strcmp(argv[arg], "--pages") && !strcmp(argv[arg + 1], "-s"))
		return show_raw(argv[arg + 3], argv[arg + 4], page_size_of(argv[arg + 2]));
	if (argc - arg == 3 && !strcmp(argv[arg], "--pages"))
		return show_raw(argv[arg + 1], argv[arg + 2], PAGE_BYTES);
	fprintf(stderr,
	    "usage: eventheader [--json] FILE | [--json] --pages [-s BYTES] FORMATS FILE\n");
	return EXIT_USAGE;
}
