/* Numbers, texts and recorded memory, as strace prints them. See strace.h. */
#include "tools/trapline/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SIGNALS 64

uint64_t strace_word(const uint8_t *bytes, size_t i)
{
	uint64_t v;

	memcpy(&v, bytes + 8 * i, sizeof(v));
	return v;
}

uint32_t strace_half(const uint8_t *bytes, size_t i)
{
	uint32_t v;

	memcpy(&v, bytes + 4 * i, sizeof(v));
	return v;
}

/* ---- numbers ---- */

void strace_put_value(FILE *out, const struct strace_names *names, uint64_t value)
{
	const char *name = strace_name(names, value);

	if (name)
		fputs(name, out);
	else if (names->unknown)
		fprintf(out, "%#" PRIx64 " /* %s */", value, names->unknown);
	else
		fprintf(out, "%" PRId64, (int64_t)value);
}

/* A name may stand for several flags: it is used if all of them are set. */
void strace_put_flags(FILE *out, const struct strace_names *names, uint64_t value)
{
	const char *between = "", *zero = strace_name(names, 0);

	if (!value) {
		fputs(zero ? zero : "0", out);
		return;
	}
	for (const struct strace_name *n = names->name; n->name; n++) {
		if (!n->value || (value & n->value) != n->value)
			continue;
		fprintf(out, "%s%s", between, n->name);
		value &= ~n->value;
		between = "|";
	}
	if (!value)
		return;
	fprintf(out, "%s%#" PRIx64, between, value);
	if (!*between && names->unknown)
		fprintf(out, " /* %s */", names->unknown);
}

/* If fewer signals are outside the set than inside, prints those outside, after a tilde. */
void strace_put_set(FILE *out, uint64_t set)
{
	bool inverse = __builtin_popcountll(set) > SIGNALS * 2 / 3;
	const char *between = "";

	fputs(inverse ? "~[" : "[", out);
	for (unsigned i = 0; i < SIGNALS; i++) {
		const char *name = strace_name(&strace_signals, i + 1);
		if ((set >> i & 1) == inverse)
			continue;
		fprintf(out, "%s%s", between, name + strlen("SIG"));
		between = " ";
	}
	fputs("]", out);
}

void strace_put_mode(FILE *out, uint32_t mode)
{
	const char *type = strace_name(&strace_file_types, mode & 0170000);

	if (type)
		fprintf(out, "%s|", type);
	if (type && mode & 04000)
		fputs("S_ISUID|", out);
	if (type && mode & 02000)
		fputs("S_ISGID|", out);
	if (type && mode & 01000)
		fputs("S_ISVTX|", out);
	fprintf(out, "%#03o", type ? mode & 0777 : mode);
}

void strace_put_status(FILE *out, int32_t status)
{
	unsigned signal = status & 0x7f;

	if ((status & 0xff) == 0x7f) {
		fputs("{WIFSTOPPED(s) && WSTOPSIG(s) == ", out);
		strace_put_value(out, &strace_signals, status >> 8 & 0xff);
		fputs("}", out);
	} else if (status == 0xffff) {
		fputs("{WIFCONTINUED(s)}", out);
	} else if (signal) {
		fputs("{WIFSIGNALED(s) && WTERMSIG(s) == ", out);
		strace_put_value(out, &strace_signals, signal);
		fputs(status & 0x80 ? " && WCOREDUMP(s)}" : "}", out);
	} else {
		fprintf(out, "{WIFEXITED(s) && WEXITSTATUS(s) == %d}", status >> 8 & 0xff);
	}
}

enum strace_cause strace_put_code(FILE *out, int sig, int code)
{
	static const struct {
		int sig;
		const struct strace_names *names;
		enum strace_cause cause;
	} own[] = {{4, &strace_signal_codes_ill, STRACE_FAULT},
	    {5, &strace_signal_codes_trap, STRACE_FAULT},
	    {7, &strace_signal_codes_bus, STRACE_FAULT},
	    {8, &strace_signal_codes_fpe, STRACE_FAULT},
	    {11, &strace_signal_codes_segv, STRACE_FAULT},
	    {17, &strace_signal_codes_child, STRACE_CHILD}};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (own[i].sig != sig || code <= 0 || code >= 0x80)
			continue;
		strace_put_value(out, own[i].names, code);
		return own[i].cause;
	}
	if (strace_name(&strace_signal_codes, (uint32_t)code))
		strace_put_value(out, &strace_signal_codes, (uint32_t)code);
	else
		fprintf(out, "%#x", code);
	return STRACE_SENT;
}

void strace_put_address(struct strace_put *p, uint64_t value)
{
	if (value)
		fprintf(p->out, "%#" PRIx64, value);
	else
		fputs("NULL", p->out);
}

/* ---- texts ---- */

/* `next`: a digit after it would belong to a short octal number. */
static void put_char(FILE *out, uint8_t c, uint8_t next)
{
	static const char special[] = "\t\n\v\f\r", letters[] = "tnvfr";
	const char *at = c ? strchr(special, c) : NULL;

	if (at)
		fprintf(out, "\\%c", letters[at - special]);
	else if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (c >= ' ' && c < 127)
		putc(c, out);
	else
		fprintf(out, next >= '0' && next <= '9' ? "\\%03o" : "\\%o", c);
}

void strace_put_text(FILE *out, const uint8_t *text, size_t size, bool more)
{
	putc('"', out);
	for (size_t i = 0; i < size; i++)
		put_char(out, text[i], i + 1 < size ? text[i + 1] : 0);
	fputs(more ? "\"..." : "\"", out);
}

/* ---- memory ---- */

bool strace_failed(const struct strace_call *c)
{
	return c->returned && c->result < 0 && c->result >= -4095;
}

/* Fields that follow one another, of one name and a number after it, are one. */
static size_t whole_size(const struct record *r, const struct field *first)
{
	const struct field *end = r->event->field + r->event->fields, *f = first + 1;
	uint32_t at = first->offset + first->size;

	while (f < end && f->offset == at && strstr(f->name, "_more")) {
		at += f->size;
		f++;
	}
	return at <= r->size ? at - first->offset : 0;
}

static const uint8_t *bytes_of(const struct record *r, const char *name, size_t *size)
{
	const struct field *f = r->data ? event_field(r->event, name) : NULL;
	struct value v;

	if (!f)
		return NULL;
	if (f->place == PLACE_HERE) {
		*size = whole_size(r, f);
		return *size ? r->data + f->offset : NULL;
	}
	field_value(f, r->data, r->size, &v);
	*size = v.length;
	return v.kind == VALUE_TEXT ? (const uint8_t *)v.text : NULL;
}

const uint8_t *strace_bytes(const struct strace_put *p, const char *suffix, size_t *size)
{
	const uint8_t *bytes;
	char name[32];

	snprintf(name, sizeof(name), "a%u%s", p->at, suffix);
	bytes = bytes_of(&p->call->after, name, size);
	return bytes ? bytes : bytes_of(&p->call->before, name, size);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	while (size && !*bytes) {
		bytes++;
		size--;
	}
	return !size;
}

/* A probe records zeros for memory that it cannot read. */
const uint8_t *strace_memory(struct strace_put *p, uint64_t address, size_t size)
{
	static const int64_t no_memory = -14; /* EFAULT */
	const uint8_t *bytes = NULL;
	size_t there = 0;

	if (address && !(p->kind->is_out && strace_failed(p->call)))
		bytes = strace_bytes(p, "", &there);
	if (bytes && p->call->result == no_memory && is_zero(bytes, there))
		bytes = NULL;
	if (bytes && there >= size)
		return bytes;
	strace_put_address(p, address);
	return NULL;
}
