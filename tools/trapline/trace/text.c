/* A trace as lines. See convert.h. */
#include <ctype.h>
#include <string.h>

#include "tools/trapline/trace/text.h"
#include "tools/trapline/trace/stats.h"
#include "tools/trapline/trace/eventheader.h"

/* A text in one line: what cannot be printed as \ooo. */
static void put_text(FILE *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (c == '\\')
			fputs("\\\\", out);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c < ' ' || c == 127)
			fprintf(out, "\\%03o", c);
		else
			putc(c, out);
	}
}

static void put_array(FILE *out, const struct value *v)
{
	putc('{', out);
	for (size_t i = 0; i < v->length; i++)
		fprintf(out, v->is_signed ? "%s%lld" : "%s%llu", i ? "," : "",
		    (long long)value_item(v, i));
	putc('}', out);
}

static void put_value(FILE *out, const struct field *f, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		fputs("(fault)", out);
		break;
	case VALUE_INT:
		fprintf(out, "%lld", (long long)v->n);
		break;
	case VALUE_UINT:
		fprintf(out, f->is_pointer || strstr(f->type, "x64") ? "0x%llx" : "%llu",
		    (unsigned long long)v->n);
		break;
	case VALUE_TEXT:
		put_text(out, v->text, v->length);
		break;
	case VALUE_ARRAY:
		put_array(out, v);
		break;
	}
}

/* Of "name+0x0" the name. */
static void put_symbol(FILE *out, const char *symbol)
{
	size_t n = strlen(symbol);

	fwrite(symbol, 1, n > 4 && !strcmp(symbol + n - 4, "+0x0") ? n - 4 : n, out);
}

static void put_field(
    FILE *out, const struct trace *t, const struct record *r, const struct field *f)
{
	struct value v;
	char symbol[160];

	trace_value(t, r, f, &v);
	fprintf(out, " %s=", f->name);
	if (v.kind == VALUE_UINT && f->is_symbol && trace_symbol(t, v.n, symbol, sizeof(symbol)))
		put_symbol(out, symbol);
	else
		put_value(out, f, &v);
}

static void put_time(FILE *out, const struct trace *t, uint64_t time)
{
	if (t->in_ns)
		fprintf(out, "%5llu.%09llu", (unsigned long long)(time / 1000000000),
		    (unsigned long long)(time % 1000000000));
	else
		fprintf(out, "%15llu", (unsigned long long)time);
}

static void put_gap(FILE *out, const struct trace *t, const struct record *r)
{
	fprintf(out, "%*s[%03u] ", 25, "", r->cpu);
	fputs("..... ", out);
	put_time(out, t, r->time);
	if (r->lost)
		fprintf(out, ": [LOST %llu EVENTS%s]\n", (unsigned long long)r->lost,
		    r->lost_unknown ? " AND MORE" : "");
	else
		fputs(": [LOST EVENTS]\n", out);
}

void write_record(FILE *out, const struct trace *t, const struct record *r)
{
	char flags[6];

	trace_flags(r, flags);
	fprintf(out, "%16s-%-7d [%03u] %s ", trace_comm(t, r->pid), r->pid, r->cpu, flags);
	put_time(out, t, r->time);
	if (!r->event) {
		fprintf(out, ": [UNKNOWN EVENT %u]\n", r->id);
		return;
	}
	fprintf(out, ": %s:", r->event->name);
	bool decoded = put_eventheader(out, r);
	for (size_t i = r->event->commons; !decoded && i < r->event->fields; i++)
		put_field(out, t, r, &r->event->field[i]);
	putc('\n', out);
}

void write_line(FILE *out, const struct trace *t, const struct record *r)
{
	if (r->is_gap)
		put_gap(out, t, r);
	else
		write_record(out, t, r);
}

void write_records(struct trace *t, FILE *out)
{
	struct record r;

	while (trace_next(t, &r)) {
		write_line(out, t, &r);
		trace_progress(t);
	}
}

void write_text(struct trace *t, FILE *out)
{
	const char *ledger = stats_ledger(t);

	fprintf(out, "# clock: %s\n# system: %s\n", t->clock, t->uname);
	while (ledger && *ledger) {
		size_t n = strcspn(ledger, "\n");
		if (n)
			fprintf(out, "# %.*s\n", (int)n, ledger);
		ledger += n + (ledger[n] == '\n');
	}
	write_records(t, out);
}
