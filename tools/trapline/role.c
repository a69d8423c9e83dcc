/* See role.h. Names are Linux's; of an interrupt's entry and exit any pair X_entry and X_exit of the systems irq and irq_vectors. */
#include "tools/trapline/role.h"

#include <string.h>

#define ARG(type, name)
#define SYSCALL(nr, text, args) {nr, #text},
static const struct {
	int number;
	const char *name;
} calls[] = {
#include "kernel/abi/syscalls.def"
};

static const struct {
	const char *system, *name;
	enum role_kind kind;
	const char *number, *detail;
} known[] = {
    {"sched", "sched_switch", ROLE_SWITCH, "next_pid", "prev_pid"},
    {"sched", "sched_waking", ROLE_WAKEUP, "pid", NULL},
    {"sched", "sched_wakeup", ROLE_WAKEUP, "pid", NULL},
    {"sched", "sched_wakeup_new", ROLE_WAKEUP, "pid", NULL},
    {"irq", "irq_handler_entry", ROLE_IRQ_ENTRY, "irq", "name"},
    {"irq", "irq_handler_exit", ROLE_IRQ_EXIT, "irq", NULL},
    {"irq", "softirq_entry", ROLE_IRQ_ENTRY, "vec", NULL},
    {"irq", "softirq_exit", ROLE_IRQ_EXIT, "vec", NULL},
    {"nmi", "nmi_handler", ROLE_NMI, NULL, "delta_ns"},
    {"raw_syscalls", "sys_enter", ROLE_CALL_ENTRY, "id", NULL},
    {"raw_syscalls", "sys_exit", ROLE_CALL_EXIT, "id", NULL},
    {"ftrace", "print", ROLE_MARK, NULL, NULL},
    {"ftrace", "bprint", ROLE_MARK, NULL, NULL},
    {"ftrace", "bputs", ROLE_MARK, NULL, NULL},
    {"ftrace", "raw_data", ROLE_MARK, NULL, NULL},
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
static enum role_kind by_rule(const struct event *ev)
{
	if (!strcmp(ev->system, "user_events"))
		return ROLE_MARK;
	if (!strcmp(ev->system, "irq_vectors") && ends(ev->name, "_entry"))
		return ROLE_IRQ_ENTRY;
	if (!strcmp(ev->system, "irq_vectors") && ends(ev->name, "_exit"))
		return ROLE_IRQ_EXIT;
	if (!strcmp(ev->system, "syscalls") && begins(ev->name, "sys_enter_"))
		return ROLE_CALL_ENTRY;
	if (!strcmp(ev->system, "syscalls") && begins(ev->name, "sys_exit_"))
		return ROLE_CALL_EXIT;
	return ROLE_OTHER;
}

static void set_word(struct role *role, const char *name)
{
	if (begins(name, "sys_"))
		name += begins(name, "sys_enter_") ? 10 : begins(name, "sys_exit_") ? 9 : 4;
	role->word = name;
	role->length = strlen(name);
	if (role->kind == ROLE_IRQ_ENTRY || role->kind == ROLE_IRQ_EXIT)
		role->length -= ends(name, "_entry") ? 6 : ends(name, "_exit") ? 5 : 0;
}

void role_find(struct role *role, const struct event *ev)
{
	*role = (struct role){.kind = by_rule(ev)};
	if (!strcmp(ev->system, "syscalls"))
		role->number = event_field(ev, "__syscall_nr");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].system, ev->system) || strcmp(known[i].name, ev->name))
			continue;
		role->kind = known[i].kind;
		role->number = known[i].number ? event_field(ev, known[i].number) : NULL;
		role->detail = known[i].detail ? event_field(ev, known[i].detail) : NULL;
	}
	set_word(role, ev->name);
}

int64_t role_number(
    const struct trace *t, const struct record *r, const struct field *f, int64_t otherwise)
{
	struct value v = {.kind = VALUE_NONE};

	if (f)
		trace_value(t, r, f, &v);
	return v.kind == VALUE_INT || v.kind == VALUE_UINT ? (int64_t)v.n : otherwise;
}

/* A call of the event for all of them. */
static uint32_t call_word(struct words *words, int64_t number)
{
	char text[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return words_add(words, calls[i].name, strlen(calls[i].name));
	snprintf(text, sizeof(text), "system call %lld", (long long)number);
	return words_add(words, text, strlen(text));
}

uint32_t role_word(
    struct words *words, const struct role *role, const struct trace *t, const struct record *r)
{
	char text[96];
	struct value v = {.kind = VALUE_NONE};
	int64_t number = role_number(t, r, role->number, -1);

	if (role->kind == ROLE_NMI)
		return words_add(words, "NMI", 3);
	if (role->kind == ROLE_CALL_ENTRY && !strcmp(r->event->system, "raw_syscalls"))
		return call_word(words, number);
	if (role->kind == ROLE_CALL_ENTRY || !role->number)
		return words_add(words, role->word, role->length);
	if (role->detail)
		trace_value(t, r, role->detail, &v);
	if (begins(role->word, "irq_handler"))
		snprintf(text, sizeof(text), "irq %lld %.*s", (long long)number,
		    v.kind == VALUE_TEXT ? (int)(v.length < 64 ? v.length : 64) : 0,
		    v.text ? v.text : "");
	else
		snprintf(text, sizeof(text), "%.*s %lld", (int)role->length, role->word,
		    (long long)number);
	return words_add(words, text, strlen(text));
}
