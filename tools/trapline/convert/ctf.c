/*
 * A trace as Common Trace Format 1.8 (https://diamon.org/ctf/v1.8.3/): a directory with `metadata`
 * and a stream for each CPU. A packet ends where events are missing, and each says how many were
 * discarded until its end, which is how CTF tells of gaps. See convert.h.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trapline/convert/convert.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trace/stats.h"

#define MAGIC	     0xc1fc1fc1u
#define UNKNOWN	     65535 /* the id of records that have no format */
#define PACKET_MOST  (256 << 10)
#define NS_PER_S     1000000000ULL
#define HEADER_BYTES 48

struct stream {
	FILE *file;
	struct bytes events;  /* of the packet that is being made */
	uint64_t first, last; /* times in it */
	uint64_t discarded;   /* so far */
	bool any;
};

struct ctf {
	struct trace *t;
	char *directory;
	struct stream *stream;
	bool failed;
	uint64_t turned_back; /* records whose time was before the one before them */
};

static char *path_in(const char *directory, const char *name)
{
	size_t n = strlen(directory) + strlen(name) + 2;
	char *path = xmalloc(n);

	snprintf(path, n, "%s/%s", directory, name);
	return path;
}

/* ---- metadata ---- */

static void put_quoted(FILE *out, const char *s)
{
	putc('"', out);
	for (; *s; s++) {
		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s >= ' ')
			putc(*s, out);
	}
	putc('"', out);
}

static void put_integer(FILE *out, unsigned bytes, bool is_signed, bool hex)
{
	fprintf(out, "integer { size = %u; align = 8; signed = %s;%s }", bytes * 8,
	    is_signed ? "true" : "false", hex ? " base = x;" : "");
}

/* Names get an underscore in front, which readers take off: so none is a word of the language. */
static void put_field(FILE *out, const struct field *f)
{
	fputs("\t\t", out);
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_TEXT_POINTER:
		fprintf(out, "string _%s;\n", f->name);
		break;
	case FIELD_ARRAY:
		fprintf(out, "integer { size = 16; align = 8; signed = false; } __%s_length;\n\t\t",
		    f->name);
		put_integer(out, f->item_size, f->is_signed, false);
		fprintf(out, " _%s[__%s_length];\n", f->name, f->name);
		break;
	default:
		put_integer(out, f->size, f->is_signed, f->is_pointer);
		fprintf(out, " _%s;\n", f->name);
	}
}

static void put_event(FILE *out, const struct event *ev)
{
	fputs("event {\n\tname = ", out);
	put_quoted(out, ev->name);
	fprintf(out, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", ev->id);
	for (size_t i = ev->commons; i < ev->fields; i++)
		put_field(out, &ev->field[i]);
	fputs("\t};\n};\n\n", out);
}

static void put_env(FILE *out, const struct trace *t)
{
	fputs("env {\n\ttracer_name = \"trapline\";\n\tsystem = ", out);
	put_quoted(out, t->uname);
	fputs(";\n\ttrace_clock = ", out);
	put_quoted(out, t->clock);
	if (stats_ledger(t)) {
		fputs(";\n\tledger = ", out);
		put_quoted(out, stats_ledger(t));
	}
	fputs(";\n};\n\n", out);
}

static void put_metadata(FILE *out, const struct trace *t)
{
	fputs("/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = "
	      "le;\n\tpacket.header := struct {\n"
	      "\t\tinteger { size = 32; align = 8; signed = false; } magic;\n"
	      "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n\t};\n};\n\n",
	    out);
	put_env(out, t);
	fprintf(out, "clock {\n\tname = \"trace\";\n\tfreq = %llu;\n};\n\n",
	    (unsigned long long)NS_PER_S);
	fputs("stream {\n\tid = 0;\n\tpacket.context := struct {\n", out);
	static const char *const context[] = {
	    "timestamp_begin", "timestamp_end", "content_size", "packet_size", "events_discarded"};
	for (size_t i = 0; i < sizeof(context) / sizeof(context[0]); i++)
		fprintf(out, "\t\tinteger { size = %d; align = 8; signed = false;%s } %s;\n",
		    i == 4 ? 32 : 64, i < 2 ? " map = clock.trace.value;" : "", context[i]);
	fputs("\t\tinteger { size = 32; align = 8; signed = false; } cpu_id;\n\t};\n\tevent.header "
	      ":= struct {\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } id;\n"
	      "\t\tinteger { size = 64; align = 8; signed = false; map = clock.trace.value; } "
	      "timestamp;\n\t};\n"
	      "\tevent.context := struct {\n"
	      "\t\tinteger { size = 32; align = 8; signed = true; } _pid;\n\t\tstring "
	      "_comm;\n\t\tstring _flags;\n\t};\n};\n\n",
	    out);
	for (size_t i = 0; i < t->events; i++)
		if (t->by_id[t->event[i].id] == &t->event[i])
			put_event(out, &t->event[i]);
	fprintf(out,
	    "event {\n\tname = \"unknown\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n"
	    "\t\tinteger { size = 16; align = 8; signed = false; } _id;\n\t};\n};\n",
	    UNKNOWN);
}

/* ---- streams ---- */

static void put_u32(struct bytes *b, uint32_t v)
{
	bytes_put(b, &v, sizeof(v));
}

static void put_u64(struct bytes *b, uint64_t v)
{
	bytes_put(b, &v, sizeof(v));
}

/* Ends the packet: what is known of it now stands before its events. */
static void flush(struct ctf *c, unsigned cpu)
{
	struct stream *s = &c->stream[cpu];
	struct bytes b = {.data = NULL};
	uint64_t bits = (HEADER_BYTES + s->events.size) * 8;

	put_u32(&b, MAGIC);
	put_u32(&b, 0);
	put_u64(&b, s->first);
	put_u64(&b, s->last);
	put_u64(&b, bits);
	put_u64(&b, bits);
	put_u32(&b, s->discarded);
	put_u32(&b, cpu);
	bytes_put(&b, s->events.data, s->events.size);
	fwrite(b.data, 1, b.size, s->file);
	bytes_free(&b);
	s->events.size = 0;
	s->first = s->last;
}

/* Up to the NUL: a string of CTF ends there. `text` is NULL if the value is missing. */
static void put_text(struct bytes *b, const char *text, size_t n)
{
	bytes_put(b, text, text ? strnlen(text, n) : 0);
	bytes_zeros(b, 1);
}

static void put_value(struct bytes *b, const struct field *f, const struct value *v)
{
	char number[32];
	uint16_t count = v->kind == VALUE_ARRAY ? v->length : 0;

	switch (f->kind) {
	case FIELD_TEXT:
		put_text(b, v->text, v->length);
		break;
	case FIELD_TEXT_POINTER:
		snprintf(number, sizeof(number), "0x%llx", (unsigned long long)v->n);
		if (v->kind == VALUE_TEXT)
			put_text(b, v->text, v->length);
		else
			put_text(b, number, sizeof(number));
		break;
	case FIELD_ARRAY:
		bytes_put(b, &count, sizeof(count));
		bytes_put(b, v->items, (size_t)count * f->item_size);
		break;
	default:
		bytes_put(b, &v->n, f->size);
	}
}

/* A field that lies outside its record is zero, or empty. */
static void put_record(struct ctf *c, const struct record *r)
{
	struct stream *s = &c->stream[r->cpu];
	uint16_t id = r->event ? r->id : UNKNOWN;
	uint64_t time = r->time;
	const char *comm = trace_comm(c->t, r->pid);
	char flags[6];

	if (s->any && time < s->last) {
		time = s->last; /* a stream's times do not go back */
		c->turned_back++;
	}
	if (!s->any)
		s->first = time;
	s->any = true;
	s->last = time;
	bytes_put(&s->events, &id, sizeof(id));
	put_u64(&s->events, time);
	put_u32(&s->events, r->pid);
	put_text(&s->events, comm, strlen(comm));
	trace_flags(r, flags);
	put_text(&s->events, flags, sizeof(flags));
	if (!r->event)
		bytes_put(&s->events, &r->id, sizeof(r->id));
	for (size_t i = r->event ? r->event->commons : 0; r->event && i < r->event->fields; i++) {
		struct value v;

		trace_value(c->t, r, &r->event->field[i], &v);
		put_value(&s->events, &r->event->field[i], &v);
	}
	if (s->events.size > PACKET_MOST)
		flush(c, r->cpu);
}

/*
 * The packet before the gap ends; an empty one, until what comes after the gap, has the larger
 * count.
 */
static void put_gap(struct ctf *c, const struct record *r)
{
	struct stream *s = &c->stream[r->cpu];

	if (!s->any)
		s->first = s->last = r->time;
	s->any = true;
	flush(c, r->cpu);
	s->discarded += r->lost ? r->lost : 1;
	s->last = r->time > s->last ? r->time : s->last;
	flush(c, r->cpu);
}

/* ---- the directory ---- */

static FILE *create(struct ctf *c, const char *name)
{
	char *path = path_in(c->directory, name);
	FILE *f = fopen(path, "wb");

	if (f)
		unfinished_add(path);
	else
		say_errno(path);
	free(path);
	c->failed |= !f;
	return f;
}

static void finish(struct ctf *c, FILE *f)
{
	if (!f)
		return;
	bool fine = !ferror(f);
	fine = !fclose(f) && fine;
	if (!fine)
		say_errno(c->directory);
	c->failed |= !fine;
}

static void write_files(struct ctf *c)
{
	char name[32];
	struct record r;
	FILE *metadata = create(c, "metadata");

	if (metadata)
		put_metadata(metadata, c->t);
	finish(c, metadata);
	for (unsigned cpu = 0; cpu < c->t->cpus && !c->failed; cpu++) {
		snprintf(name, sizeof(name), "cpu%u", cpu);
		c->stream[cpu].file = create(c, name);
	}
	while (!c->failed && trace_next(c->t, &r)) {
		if (r.is_gap)
			put_gap(c, &r);
		else
			put_record(c, &r);
		trace_progress(c->t);
	}
	for (unsigned cpu = 0; cpu < c->t->cpus; cpu++) {
		if (c->stream[cpu].file && !c->failed)
			flush(c, cpu);
		finish(c, c->stream[cpu].file);
		bytes_free(&c->stream[cpu].events);
	}
	if (c->turned_back)
		say("%llu records have the time of the one before them: theirs was earlier, which "
		    "CTF has no place for",
		    (unsigned long long)c->turned_back);
	progress("converting", 1, 1);
}

bool write_ctf(struct trace *t, const char *directory)
{
	struct ctf c = {.t = t};
	struct stat st;
	size_t n = strlen(directory);
	mode_t mask = umask(0);

	umask(mask);
	if (!stat(directory, &st)) {
		say("%s: is there already", directory);
		return false;
	}
	while (n > 1 && directory[n - 1] == '/')
		n--;
	c.directory = xmalloc(n + 8);
	snprintf(c.directory, n + 8, "%.*s.XXXXXX", (int)n, directory);
	if (!mkdtemp(c.directory) || chmod(c.directory, 0777 & ~mask)) {
		say_errno(directory);
		free(c.directory);
		return false;
	}
	unfinished_add(c.directory);
	c.stream = xmalloc(t->cpus * sizeof(*c.stream));
	write_files(&c);
	if (!c.failed && rename(c.directory, directory)) {
		say_errno(directory);
		c.failed = true;
	}
	if (c.failed)
		unfinished_remove();
	unfinished_keep();
	free(c.stream);
	free(c.directory);
	return !c.failed;
}
