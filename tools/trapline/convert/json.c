/*
 * A trace as Chrome's trace events (the "JSON Array Format" of trace_event). Process 0 has a track
 * for each CPU with who ran there, process 1 one for each task with its system calls and what else
 * it did, process 2 one for each CPU with interrupts, process 3 one for each task with what it
 * marked, process 4 one for each task, and each CPU's idle task, with its function calls: in a
 * track of these viewers slices have to be one within the other. Two records that are
 * the begin and the end of an interval are one slice, which has the fields of both. See convert.h.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/convert/convert.h"
#include "tools/trapline/model/pairing.h"
#include "tools/trapline/trace/stats.h"

#define LABEL_MOST 200

enum { CPU_LANES, TASK_LANES, IRQ_LANES, MARK_LANES, CALL_LANES };

struct json {
	FILE *out;
	struct trace *t;
	bool any;
	struct pairing pairing;
	struct running { /* by CPU */
		bool known;
		uint64_t since;
		char comm[32];
		int64_t pid;
	} * running;
};

/* Bytes that are no UTF-8 stand for the characters of their numbers, as in Latin-1. */
static void put_string(FILE *out, const char *s, size_t n)
{
	putc('"', out);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c >= 127)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void put_value(FILE *out, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		fputs("null", out);
		break;
	case VALUE_INT:
		fprintf(out, "%lld", (long long)v->n);
		break;
	case VALUE_UINT: /* larger ones are no numbers for who reads them as floating point */
		fprintf(out, v->n >> 53 ? "\"0x%llx\"" : "%llu", (unsigned long long)v->n);
		break;
	case VALUE_TEXT:
		put_string(out, v->text, v->length);
		break;
	case VALUE_ARRAY:
		putc('[', out);
		for (size_t i = 0; i < v->length; i++)
			fprintf(out, v->is_signed ? "%s%lld" : "%s%llu", i ? "," : "",
			    (long long)value_item(v, i));
		putc(']', out);
		break;
	}
}

/* Microseconds with three digits after the point: exact. */
static void put_us(FILE *out, uint64_t ns)
{
	fprintf(
	    out, "%llu.%03llu", (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
}

/* What each begins with: {"ph":"i","pid":1,"tid":2,"ts":3.000,"name":"x" */
static void begin(
    struct json *j, const char *phase, int process, int64_t lane, uint64_t time, const char *name)
{
	fprintf(j->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%lld,\"ts\":", j->any ? "," : "",
	    phase, process, (long long)lane);
	put_us(j->out, time);
	fputs(",\"name\":", j->out);
	put_string(j->out, name, strlen(name));
	j->any = true;
}

static void put_lane(struct json *j, const char *what, int process, int64_t lane, const char *name)
{
	begin(j, "M", process, lane, 0, what);
	fputs(",\"args\":{\"name\":", j->out);
	put_string(j->out, name, strlen(name));
	fputs("}}", j->out);
}

static void put_lanes(struct json *j)
{
	char text[32];

	put_lane(j, "process_name", CPU_LANES, 0, "CPUs");
	put_lane(j, "process_name", TASK_LANES, 0, "Tasks");
	put_lane(j, "process_name", IRQ_LANES, 0, "Interrupts");
	put_lane(j, "process_name", MARK_LANES, 0, "Marks");
	put_lane(j, "process_name", CALL_LANES, 0, "Functions");
	put_lane(j, "thread_name", TASK_LANES, 0, "<idle>");
	for (unsigned cpu = 0; cpu < j->t->cpus; cpu++) {
		snprintf(text, sizeof(text), "CPU %u", cpu);
		put_lane(j, "thread_name", CPU_LANES, cpu, text);
		put_lane(j, "thread_name", IRQ_LANES, cpu, text);
		snprintf(text, sizeof(text), "<idle> on CPU %u", cpu);
		put_lane(j, "thread_name", CALL_LANES, CALLER_IDLE | cpu, text);
	}
	for (size_t i = 0; i < j->t->comms.count; i++) {
		const struct name *comm = &j->t->comms.name[i];
		put_lane(j, "thread_name", TASK_LANES, comm->key, comm->text);
		put_lane(j, "thread_name", MARK_LANES, comm->key, comm->text);
		put_lane(j, "thread_name", CALL_LANES, comm->key, comm->text);
	}
}

/* Who ran on the CPU until now. */
static void end_running(struct json *j, unsigned cpu, uint64_t now)
{
	struct running *run = &j->running[cpu];

	if (!run->known || !run->pid || now < run->since)
		return;
	begin(j, "X", CPU_LANES, cpu, run->since, run->comm);
	fputs(",\"dur\":", j->out);
	put_us(j->out, now - run->since);
	fprintf(j->out, ",\"args\":{\"pid\":%lld}}", (long long)run->pid);
}

static void switched(struct json *j, const struct record *r)
{
	const struct field *pid = event_field(r->event, "next_pid"),
			   *comm = event_field(r->event, "next_comm");
	struct running *run = &j->running[r->cpu];
	struct value v;

	if (!pid || !comm)
		return;
	end_running(j, r->cpu, r->time);
	*run = (struct running){.known = true, .since = r->time};
	trace_value(j->t, r, pid, &v);
	run->pid = (int32_t)v.n;
	trace_value(j->t, r, comm, &v);
	if (v.kind == VALUE_TEXT)
		snprintf(run->comm, sizeof(run->comm), "%.*s", (int)v.length, v.text);
}

/* "common_cpu":0,"common_flags":".....", and the fields. */
static void put_fields(struct json *j, const struct record *r)
{
	char flags[6];

	trace_flags(r, flags);
	fprintf(j->out, "\"common_cpu\":%u,\"common_flags\":\"%s\"", r->cpu, flags);
	for (size_t i = r->event ? r->event->commons : 0; r->event && i < r->event->fields; i++) {
		const struct field *f = &r->event->field[i];
		struct value v;

		trace_value(j->t, r, f, &v);
		fprintf(j->out, ",");
		put_string(j->out, f->name, strlen(f->name));
		putc(':', j->out);
		put_value(j->out, &v);
	}
}

static void put_category(struct json *j, const struct record *r)
{
	const char *system = r->event ? r->event->system : "unknown";

	fputs(",\"cat\":", j->out);
	put_string(j->out, system, strlen(system));
}

static bool is_mark(const struct json *j, const struct record *r)
{
	return r->event && j->pairing.semantics[r->event - j->t->event].kind == SEMANTICS_MARK;
}

/* An instant. That of a mark is called what the mark says. */
static void put_record(struct json *j, const struct record *r)
{
	char name[LABEL_MOST];
	bool mark = is_mark(j, r);

	snprintf(name, sizeof(name), "unknown event %u", r->id);
	if (r->event)
		snprintf(name, sizeof(name), "%s", r->event->name);
	if (mark)
		semantics_mark_text(j->t, r, name, sizeof(name));
	begin(j, "i", mark ? MARK_LANES : TASK_LANES, r->pid, r->time, name);
	fputs(",\"s\":\"t\"", j->out);
	put_category(j, r);
	fputs(",\"args\":{", j->out);
	if (mark) {
		fputs("\"common_event\":", j->out);
		put_string(j->out, r->event->name, strlen(r->event->name));
		putc(',', j->out);
	}
	put_fields(j, r);
	fputs("}}", j->out);
}

/* ---- slices ---- */

static void put_half(struct json *j, const char *which, const struct record *r)
{
	fprintf(j->out, "\"%s\":{\"common_event\":", which);
	put_string(j->out, r->event->name, strlen(r->event->name));
	fprintf(j->out, ",\"common_pid\":%d,", r->pid);
	put_fields(j, r);
	putc('}', j->out);
}

static void begin_slice(struct json *j, const char *phase, const struct pairing_interval *v)
{
	static const int process[] = {[PAIRING_IRQ] = IRQ_LANES,
	    [PAIRING_SYSCALL] = TASK_LANES,
	    [PAIRING_MARK] = MARK_LANES,
	    [PAIRING_CALL] = CALL_LANES};
	int64_t lane = v->kind == PAIRING_IRQ	 ? (int64_t)v->record.cpu
		       : v->kind == PAIRING_CALL ? (int64_t)pairing_caller(&v->record)
						 : v->record.pid;

	begin(j, phase, process[v->kind], lane, v->begin,
	    pairing_name(&j->pairing, v->kind, v->word));
	put_category(j, &v->record);
}

/* From its first record to `end`; an NMI, or a call without its entry, has one record. */
static void put_slice(struct json *j, const struct pairing_interval *v, const struct record *end)
{
	begin_slice(j, "X", v);
	fputs(",\"dur\":", j->out);
	put_us(j->out, end->time - v->begin);
	fputs(",\"args\":{", j->out);
	if (v->record.data == end->data) {
		put_half(j, "end", end);
	} else {
		put_half(j, "begin", &v->record);
		putc(',', j->out);
		put_half(j, "end", end);
	}
	fputs("}}", j->out);
}

/*
 * What is open at the end of the trace has a begin alone; elsewhere an end without its begin would
 * close something else.
 */
static void put_unpaired(void *json, const struct pairing_interval *v, enum pairing_reason why)
{
	struct json *j = json;

	if (why != PAIRING_OPEN) {
		put_record(j, &v->record);
		return;
	}
	begin_slice(j, "B", v);
	fputs(",\"args\":{", j->out);
	put_half(j, "begin", &v->record);
	fputs("}}", j->out);
}

static void put_paired(struct json *j, const struct record *r)
{
	struct pairing_interval v;

	switch (pairing_record(&j->pairing, r, &v)) {
	case PAIRING_NONE:
		put_record(j, r);
		break;
	case PAIRING_BEGINS: /* comes with its end */
		break;
	case PAIRING_ENDS:
		put_slice(j, &v, r);
		break;
	}
}

static void put_gap(struct json *j, const struct record *r)
{
	struct pairing_interval v;

	pairing_record(&j->pairing, r, &v);
	j->running[r->cpu].known = false;
	begin(j, "i", CPU_LANES, r->cpu, r->time, "lost events");
	fprintf(j->out,
	    ",\"s\":\"t\",\"cat\":\"trapline\",\"args\":{\"common_cpu\":%u,\"count\":%llu,\"more\":"
	    "%s}}",
	    r->cpu, (unsigned long long)r->lost, r->lost_unknown ? "true" : "false");
}

static void put_other(struct json *j)
{
	const char *ledger = stats_ledger(j->t);

	fputs("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":", j->out);
	put_string(j->out, j->t->clock, strlen(j->t->clock));
	fputs(",\"system\":", j->out);
	put_string(j->out, j->t->uname, strlen(j->t->uname));
	if (ledger) {
		fputs(",\"ledger\":", j->out);
		put_string(j->out, ledger, strlen(ledger));
	}
	fputs("}}\n", j->out);
}

void write_json(struct trace *t, FILE *out)
{
	struct json j = {
	    .out = out, .t = t, .running = xmalloc((t->cpus + 1) * sizeof(*j.running))};
	struct record r;
	uint64_t last = 0;

	fputs("{\"traceEvents\":[", out);
	pairing_begin(&j.pairing, t);
	j.pairing.unpaired = put_unpaired;
	j.pairing.context = &j;
	put_lanes(&j);
	while (trace_next(t, &r)) {
		if (r.is_gap) {
			put_gap(&j, &r);
		} else {
			if (r.event && !strcmp(r.event->name, "sched_switch"))
				switched(&j, &r);
			put_paired(&j, &r);
		}
		if (r.time > last) /* a record's time may be before that of the one before it */
			last = r.time;
		trace_progress(t);
	}
	for (unsigned cpu = 0; cpu < t->cpus; cpu++)
		end_running(&j, cpu, last);
	pairing_end(&j.pairing);
	put_other(&j);
	pairing_free(&j.pairing);
	free(j.running);
}
