/* trace.dat, version 6 (man 5 trace-cmd.dat.v6): only what tells of events, their formats, the names of tasks and the sub-buffers. */
#include "tools/eventheader.h"

#include <stdlib.h>
#include <string.h>

static const u8 magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

bool is_dat(const struct file *file)
{
	return file->size >= sizeof(magic) && !memcmp(file->data, magic, sizeof(magic));
}

static const char *take_string(struct cursor *c)
{
	const u8 *p = c->at, *nul = memchr(p, '\0', c->end - p);

	if (!nul)
		die(c->file, "cut");
	c->at = nul + 1;
	return (const char *)p;
}

static u64 take_number(struct cursor *c, u32 bytes)
{
	return load(take(c, bytes), bytes);
}

static void expect_string(struct cursor *c, const char *what)
{
	if (strcmp(take_string(c), what))
		die(c->file, "not in the format of trace.dat, version 6");
}

/* The text behind its length, a number of so many bytes. */
static const char *take_text(struct cursor *c, u32 bytes, u64 *len)
{
	*len = take_number(c, bytes);
	return (const char *)take(c, *len);
}

static void skip_text(struct cursor *c, u32 bytes)
{
	u64 len;

	take_text(c, bytes, &len);
}

static void take_system(struct cursor *c)
{
	u64 n = take_number(c, 4), len;

	while (n--) {
		const char *text = take_text(c, 8, &len);
		take_formats(text, len);
	}
}

/* Until the number 0. */
static void skip_options(struct cursor *c)
{
	while (take_number(c, 2))
		skip_text(c, 4);
}

/* Is the clock that stands in brackets one of those that count something else? */
static bool is_in_ns(const char *clocks, u64 len)
{
	static const char *const others[] = {"[counter]", "[uptime]", "[x86-tsc]"};
	char *copy = strndup(clocks, len);
	bool in_ns = true;

	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		in_ns = in_ns && copy && !strstr(copy, others[i]);
	free(copy);
	return in_ns;
}

static void take_cpus(struct cursor *c, u64 cpus, size_t page)
{
	const struct file *file = c->file;

	for (u64 cpu = 0; cpu < cpus; cpu++) {
		u64 at = take_number(c, 8), size = take_number(c, 8);

		if (at > file->size || size > file->size - at)
			die(file, "cut");
		take_pages(file, file->data + at, file->data + at + size, page, (s32)cpu, true);
	}
}

void show_dat(const struct file *file)
{
	struct cursor c = {file, file->data + sizeof(magic), file->data + file->size};
	u64 page, systems, cpus, len;
	char *comms;

	expect_string(&c, "6");
	if (take_number(&c, 1))
		die(file, "of a big-endian machine");
	take(&c, 1);
	page = take_number(&c, 4);
	expect_string(&c, "header_page");
	skip_text(&c, 8);
	expect_string(&c, "header_event");
	skip_text(&c, 8);
	take_system(&c); /* the tracer's own */
	for (systems = take_number(&c, 4); systems; systems--) {
		take_string(&c);
		take_system(&c);
	}
	skip_text(&c, 4); /* symbols */
	skip_text(&c, 4); /* formats of trace_printk() */
	const char *text = take_text(&c, 8, &len);
	comms = strndup(text, len);
	cpus = take_number(&c, 4);
	expect_string(&c, "options  ");
	skip_options(&c);
	expect_string(&c, "flyrecord");
	take_cpus(&c, cpus, page);
	text = take_text(&c, 8, &len);
	show_noted(comms ? comms : "", is_in_ns(text, len));
	free(comms);
}
