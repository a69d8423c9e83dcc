/*
 * See semantics.h. Names are Linux's; of an interrupt's entry and exit any pair X_entry and X_exit
 * of the systems irq and irq_vectors.
 */
#include "tools/trapline/model/semantics.h"
#include "tools/trapline/trace/eventheader.h"

#include <string.h>

#define ARG(type, name)
#define SYSCALL(nr, text, args) {nr, #text},
static const struct {
	int number;
	const char *name;
} syscalls[] = {
#include "kernel/abi/syscalls.def"
};

static const struct {
	const char *system, *name;
	enum semantics_kind kind;
	const char *number, *detail, *state;
} known[] = {
    {"sched", "sched_switch", SEMANTICS_SWITCH, "next_pid", "prev_pid", "prev_state"},
    {"sched", "sched_waking", SEMANTICS_WAKEUP, "pid", NULL, NULL},
    {"sched", "sched_wakeup", SEMANTICS_WAKEUP, "pid", NULL, NULL},
    {"sched", "sched_wakeup_new", SEMANTICS_WAKEUP, "pid", NULL, NULL},
    {"irq", "irq_handler_entry", SEMANTICS_IRQ_ENTRY, "irq", "name", NULL},
    {"irq", "irq_handler_exit", SEMANTICS_IRQ_EXIT, "irq", NULL, NULL},
    {"irq", "softirq_entry", SEMANTICS_IRQ_ENTRY, "vec", NULL, NULL},
    {"irq", "softirq_exit", SEMANTICS_IRQ_EXIT, "vec", NULL, NULL},
    {"nmi", "nmi_handler", SEMANTICS_NMI, NULL, "delta_ns", NULL},
    {"raw_syscalls", "sys_enter", SEMANTICS_SYSCALL_ENTRY, "id", NULL, NULL},
    {"raw_syscalls", "sys_exit", SEMANTICS_SYSCALL_EXIT, "id", NULL, NULL},
    {"ftrace", "print", SEMANTICS_MARK, NULL, NULL, NULL},
    {"ftrace", "bprint", SEMANTICS_MARK, NULL, NULL, NULL},
    {"ftrace", "bputs", SEMANTICS_MARK, NULL, NULL, NULL},
    {"ftrace", "raw_data", SEMANTICS_MARK, NULL, NULL, NULL},
    {"ftrace", "funcgraph_entry", SEMANTICS_CALL_ENTRY, "depth", "func", NULL},
    {"ftrace", "fgraph_retaddr_entry", SEMANTICS_CALL_ENTRY, "depth", "func", NULL},
    {"ftrace", "funcgraph_exit", SEMANTICS_CALL_EXIT, "depth", "func", NULL},
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);

	return n > m && !strcmp(text + n - m, with);
}

/* Those whose names follow a rule: a system has many of them. */
static enum semantics_kind by_rule(const struct event *ev)
{
	if (!strcmp(ev->system, "user_events"))
		return SEMANTICS_MARK;
	if (!strcmp(ev->system, "irq_vectors") && ends(ev->name, "_entry"))
		return SEMANTICS_IRQ_ENTRY;
	if (!strcmp(ev->system, "irq_vectors") && ends(ev->name, "_exit"))
		return SEMANTICS_IRQ_EXIT;
	if (!strcmp(ev->system, "syscalls") && begins(ev->name, "sys_enter_"))
		return SEMANTICS_SYSCALL_ENTRY;
	if (!strcmp(ev->system, "syscalls") && begins(ev->name, "sys_exit_"))
		return SEMANTICS_SYSCALL_EXIT;
	return SEMANTICS_OTHER;
}

static void set_word(struct semantics *semantics, const char *name)
{
	if (begins(name, "sys_"))
		name += begins(name, "sys_enter_") ? 10 : begins(name, "sys_exit_") ? 9 : 4;
	semantics->word = name;
	semantics->length = strlen(name);
	if (semantics->kind == SEMANTICS_IRQ_ENTRY || semantics->kind == SEMANTICS_IRQ_EXIT)
		semantics->length -= ends(name, "_entry") ? 6 : ends(name, "_exit") ? 5 : 0;
}

void semantics_find(struct semantics *semantics, const struct event *ev)
{
	*semantics = (struct semantics){.kind = by_rule(ev)};
	if (!strcmp(ev->system, "syscalls"))
		semantics->number = event_field(ev, "__syscall_nr");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].system, ev->system) || strcmp(known[i].name, ev->name))
			continue;
		semantics->kind = known[i].kind;
		semantics->number = known[i].number ? event_field(ev, known[i].number) : NULL;
		semantics->detail = known[i].detail ? event_field(ev, known[i].detail) : NULL;
		semantics->state = known[i].state ? event_field(ev, known[i].state) : NULL;
	}
	if (semantics->kind == SEMANTICS_CALL_EXIT) {
		semantics->called = event_field(ev, "calltime");
		semantics->returned = event_field(ev, "rettime");
	}
	set_word(semantics, ev->name);
}

int64_t semantics_number(
    const struct trace *t, const struct record *r, const struct field *f, int64_t otherwise)
{
	struct value v = {.kind = VALUE_NONE};

	if (f)
		trace_value(t, r, f, &v);
	return v.kind == VALUE_INT || v.kind == VALUE_UINT ? (int64_t)v.n : otherwise;
}

/* A call of the event for all of them. */
static uint32_t syscall_word(struct words *words, int64_t number)
{
	char text[32];

	for (size_t i = 0; i < sizeof(syscalls) / sizeof(syscalls[0]); i++)
		if (syscalls[i].number == number)
			return words_add(words, syscalls[i].name, strlen(syscalls[i].name));
	snprintf(text, sizeof(text), "system call %lld", (long long)number);
	return words_add(words, text, strlen(text));
}

uint32_t semantics_word(struct words *words, const struct semantics *semantics,
    const struct trace *t, const struct record *r)
{
	char text[96];
	struct value v = {.kind = VALUE_NONE};
	int64_t number = semantics_number(t, r, semantics->number, -1);

	if (semantics->kind == SEMANTICS_NMI)
		return words_add(words, "NMI", 3);
	if (semantics->kind == SEMANTICS_SYSCALL_ENTRY && !strcmp(r->event->system, "raw_syscalls"))
		return syscall_word(words, number);
	if (semantics->kind == SEMANTICS_SYSCALL_ENTRY || !semantics->number)
		return words_add(words, semantics->word, semantics->length);
	if (semantics->detail)
		trace_value(t, r, semantics->detail, &v);
	if (begins(semantics->word, "irq_handler"))
		snprintf(text, sizeof(text), "irq %lld %.*s", (long long)number,
		    v.kind == VALUE_TEXT ? (int)(v.length < 64 ? v.length : 64) : 0,
		    v.text ? v.text : "");
	else
		snprintf(text, sizeof(text), "%.*s %lld", (int)semantics->length, semantics->word,
		    (long long)number);
	return words_add(words, text, strlen(text));
}

/* ---- marks ---- */

static struct value mark_value(const struct trace *t, const struct record *r)
{
	const struct field *buf = event_field(r->event, "buf");
	struct value v = {.kind = VALUE_NONE};

	if (buf)
		trace_value(t, r, buf, &v);
	return v;
}

/*
 * The opcode says whether it is a begin or an end. The event's own name is only in the record, and
 * there may be a word for the same in it.
 */
static bool eventheader_mark(const struct record *r, struct mark_parts *mark)
{
	static char text[4096];
	char name[EVENTHEADER_NAME_MAX];
	struct eventheader head;
	struct eh_record rec;
	struct seq s;

	if (!eventheader_of(r, name, &rec) || rec.len < sizeof(head))
		return false;
	memcpy(&head, rec.data, sizeof(head));
	if (head.opcode != EVENTHEADER_ACTIVITY_START && head.opcode != EVENTHEADER_ACTIVITY_STOP)
		return false;
	seq_init(&s, text, sizeof(text));
	eh_print_text(&s, &rec);
	const char *space = memchr(text, ' ', s.len);
	mark_parse(mark, text, space ? (size_t)(space - text) : s.len);
	mark->innermost = false;
	mark->phase = head.opcode == EVENTHEADER_ACTIVITY_START ? MARK_BEGIN : MARK_END;
	return true;
}

void semantics_mark(const struct trace *t, const struct record *r, struct mark_parts *mark)
{
	struct value v;

	if (!strcmp(r->event->system, "user_events")) {
		if (!eventheader_mark(r, mark))
			mark_parse(mark, r->event->name, strlen(r->event->name));
		return;
	}
	v = mark_value(t, r);
	if (v.kind == VALUE_TEXT)
		mark_parse(mark, v.text, v.length);
	else
		*mark = (struct mark_parts){.phase = MARK_INSTANT};
}

/* "name field=value field=value" */
static void put_fields(FILE *out, const struct trace *t, const struct record *r)
{
	fputs(r->event->name, out);
	for (size_t i = r->event->commons; i < r->event->fields; i++) {
		struct value v = {.kind = VALUE_NONE};
		trace_value(t, r, &r->event->field[i], &v);
		if (v.kind == VALUE_TEXT)
			fprintf(out, " %s=%.*s", r->event->field[i].name, (int)v.length, v.text);
		else if (v.kind == VALUE_INT)
			fprintf(out, " %s=%lld", r->event->field[i].name, (long long)v.n);
		else if (v.kind == VALUE_UINT)
			fprintf(out, " %s=%llu", r->event->field[i].name, (unsigned long long)v.n);
	}
}

static void trim_text(char *text)
{
	size_t lead = strspn(text, " "), n = strlen(text + lead);

	memmove(text, text + lead, n + 1);

	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
}

void semantics_mark_text(const struct trace *t, const struct record *r, char *buf, size_t size)
{
	struct value v = mark_value(t, r);
	FILE *out = fmemopen(buf, size, "w");

	if (!out)
		die(EXIT_TROUBLE, "out of memory");
	buf[0] = '\0';
	if (v.kind == VALUE_TEXT)
		fprintf(out, "%.*s", (int)v.length, v.text);
	else if (!put_eventheader(out, r))
		put_fields(out, t, r);
	fclose(out);
	buf[size - 1] = '\0';
	trim_text(buf);
}
