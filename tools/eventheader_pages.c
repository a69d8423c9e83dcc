/*
 * The EventHeader events in sub-buffers. All that a sub-buffer says of itself is checked: nothing is followed out of it.
 *
 * Both forms of an event begin with a word whose upper 27 bits are the time since the one before. Trapline's lower five bits are two for
 * the type and three for a length; Linux's are type_len in one.
 */
#include "tools/eventheader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 16 /* of a sub-buffer: time, commit */
#define SIZE_MASK  0xfffff
#define COMM_MAX   16

/* ---- formats -------------------------------------------------------------------------------------------------------------- */

struct format {
	char name[EVENTHEADER_NAME_MAX];
	u32 offset; /* of struct eventheader in a record; 0: it is another kind of event */
};
static struct format *formats[65536]; /* by number */

/* Cuts off what the kernel puts behind the name of a multi-format event: ".N", in hex. */
static void cut_number(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789abcdef")])
		*dot = '\0';
}

static void take_line(const char *line, struct format *now, u32 *id)
{
	struct eh_name parts;
	unsigned n;

	if (sscanf(line, "name: %255s", now->name) == 1) {
		cut_number(now->name);
		*id = 0;
	} else if (sscanf(line, "ID: %u", &n) == 1) {
		*id = n < 65536 ? n : 0;
	} else if (*id &&
		   sscanf(line, " field:u8 eventheader_flags; offset:%u;", &now->offset) == 1 &&
		   eh_name_parse(now->name, &parts)) {
		free(formats[*id]);
		formats[*id] = malloc(sizeof(*now));
		if (formats[*id])
			*formats[*id] = *now;
	}
}

void take_formats(const char *text, size_t n)
{
	char *copy = strndup(text, n), *rest = copy;
	struct format now = {.offset = 0};
	u32 id = 0;

	for (char *line; rest && (line = strsep(&rest, "\n"));)
		take_line(line, &now, &id);
	free(copy);
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

struct noted {
	const u8 *data; /* the record */
	u32 len;
	s32 cpu;
	u64 time;
	size_t number; /* the order they were found in */
};
static struct noted *all;
static size_t n_all, room_all;

static void note(const u8 *p, u32 n, u64 time, s32 cpu)
{
	const struct format *f = n >= 8 ? formats[load(p, 2)] : NULL;

	if (!f || n < f->offset)
		return;
	if (n_all == room_all) {
		room_all = room_all * 2 + 1024;
		all = realloc(all, room_all * sizeof(*all));
		if (!all)
			abort();
	}
	all[n_all] = (struct noted){p, n, cpu, time, n_all};
	n_all++;
}

/* An event taken apart: so many bytes are it, of which the last `data` are a record. size 0: the page ends here. */
struct event {
	u64 size, data;
};

static struct event take_trapline(const u8 *p, u32 left, u64 *time)
{
	enum { PADDING, TIME_EXTEND, TIME_STAMP, DATA };
	u32 word = load(p, 4), len = word >> 2 & 7, delta = word >> 5;
	u64 more = left >= 8 ? load(p + 4, 4) : 0, last = left >= 12 ? load(p + 8, 4) : 0;

	switch (word & 3) {
	case PADDING:
		*time += len ? 0 : delta;
		return (struct event){delta ? 4 + more : 0, 0};
	case TIME_EXTEND:
		*time += (more << 27) + delta;
		return (struct event){8, 0};
	case TIME_STAMP:
		*time = more | last << 32;
		return (struct event){12, 0};
	}
	*time += delta;
	return len ? (struct event){4 + len * 4, len * 4} : (struct event){8 + more, more};
}

static struct event take_linux(const u8 *p, u32 left, u64 *time)
{
	enum { LONG, PADDING = 29, TIME_EXTEND, TIME_STAMP };
	u32 word = load(p, 4), type_len = word & 31, delta = word >> 5;
	u64 more = left >= 8 ? load(p + 4, 4) : 0, far = (more << 27) + delta;

	switch (type_len) {
	case PADDING:
		*time += delta;
		return (struct event){delta ? 4 + more : 0, 0};
	case TIME_EXTEND:
		*time += far;
		return (struct event){8, 0};
	case TIME_STAMP: /* without the uppermost five bits */
		*time = (*time & ~0UL << 59) | far;
		return (struct event){8, 0};
	case LONG: /* the length counts its own word */
		*time += delta;
		return more < 4 ? (struct event){0, 0} : (struct event){4 + more, more - 4};
	}
	*time += delta;
	return (struct event){4 + type_len * 4, type_len * 4};
}

static void take_page(const struct file *file, const u8 *page, size_t n, s32 cpu, bool is_linux)
{
	u64 time = load(page, 8), size = load(page + 8, 4) & SIZE_MASK;
	struct event e;

	if (size > n - HEAD_BYTES)
		die(file, "a sub-buffer is cut");
	for (const u8 *at = page + HEAD_BYTES, *end = at + size; end - at >= 4; at += e.size) {
		e = is_linux ? take_linux(at, end - at, &time) : take_trapline(at, end - at, &time);
		if (e.size > (u64)(end - at))
			die(file, "an event reaches beyond its sub-buffer");
		if (!e.size)
			break;
		note(at + e.size - e.data, e.data, time, cpu);
	}
}

void take_pages(
    const struct file *file, const u8 *at, const u8 *end, size_t page, s32 cpu, bool is_linux)
{
	while (at < end) {
		size_t n = MIN((size_t)(end - at), page);

		if (n < HEAD_BYTES)
			die(file, "a sub-buffer is cut");
		take_page(file, at, n, cpu, is_linux);
		at += n;
	}
}

/* ---- showing -------------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* A line "PID COMM". */
static void find_comm(const char *comms, s32 pid, char comm[COMM_MAX])
{
	int found;

	*comm = '\0';
	for (const char *line = comms; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%d", &found) != 1 || found != pid)
			continue;
		const char *name = strchr(line, ' ');
		if (name)
			snprintf(comm, COMM_MAX, "%.*s", (int)strcspn(name + 1, "\n"), name + 1);
		return;
	}
}

void show_noted(const char *comms, bool in_ns)
{
	char comm[COMM_MAX];

	if (n_all)
		qsort(all, n_all, sizeof(*all), by_time);
	for (const struct noted *e = all; e < all + n_all; e++) {
		const struct format *f = formats[load(e->data, 2)];
		struct eh_origin origin = {.time = e->time,
		    .in_ns = in_ns,
		    .cpu = e->cpu,
		    .pid = (s32)load(e->data + 4, 4),
		    .comm = comm};
		struct eh_record rec = {
		    f->name, e->data + f->offset, e->len - f->offset, .slack = 3};
		find_comm(comms, origin.pid, comm);
		show(&rec, &origin);
	}
}
