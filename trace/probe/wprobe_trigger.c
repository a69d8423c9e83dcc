/*
 * Triggers that move watchpoints: "set_wprobe:WPROBE:FIELD[+|-ADJUST][:COUNT] [if FILTER]" has the
 * event WPROBE of the group wprobes watch the address in FIELD and switches it on;
 * "clear_wprobe:WPROBE[:FIELD[+|-ADJUST]][:COUNT] [if FILTER]" ends that. Lines are handled in task
 * context under host_lock; they act in any context. A count goes down only if the watchpoint moved.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/event/file.h"
#include "trace/host_memory.h"
#include "trace/probe/wprobe.h"
#include "trace/trigger/trigger.h"

/* trigger->data. */
struct wprobe_where {
	u32 offset; /* of the field in the record */
	s64 adjust;
	char name[]; /* of the field; "": any address, of clear_wprobe */
};

static bool wprobe_is_set(const struct trace_trigger_command *command)
{
	return *command->name == 's';
}

/* ---- acting; any context ---- */

static u64 wprobe_address(const struct wprobe_where *where, const struct trace_trigger_hit *hit)
{
	u64 addr = 0;

	if (where->offset + sizeof(addr) > hit->len)
		return 0;
	memcpy(&addr, (const char *)hit->rec + where->offset, sizeof(addr));
	return addr ? addr + where->adjust : 0;
}

static void wprobe_trigger_move(struct trace_trigger *t, u64 from, u64 to)
{
	struct wprobe *w = wprobe_of(t->target->call);

	if (atomic_load(&w->addr) != from || !trace_trigger_take(t))
		return;
	if (!wprobe_move(w, t->target, from, to))
		trace_trigger_give(t);
}

void wprobe_trigger_set(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	struct wprobe *w = wprobe_of(t->target->call);
	struct host_watch_form form = wprobe_form(w);
	u64 addr = hit->rec ? wprobe_address(t->data, hit) : 0;

	if (unlikely(!hit->rec))
		trace_trigger_missed(t);
	else if (addr && addr != HOST_WATCH_NOWHERE && !host_watch_refused(&form, addr))
		wprobe_trigger_move(t, HOST_WATCH_NOWHERE, addr);
}

void wprobe_trigger_clear(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	const struct wprobe_where *where = t->data;
	u64 addr = atomic_load(&wprobe_of(t->target->call)->addr);

	if (unlikely(!hit->rec))
		trace_trigger_missed(t);
	else if (addr != HOST_WATCH_NOWHERE &&
		 (!*where->name || addr == wprobe_address(where, hit)))
		wprobe_trigger_move(t, addr, HOST_WATCH_NOWHERE);
}

/* ---- lines ---- */

static int wprobe_find_field(struct trace_trigger *t, struct wprobe_where *where)
{
	const struct trace_event_call *call = t->file->call;
	const struct trace_event_field *f = call->class->fields(call);

	while (f->name && strcmp(f->name, where->name))
		f++;
	if (!f->name)
		return -ENOENT;
	where->offset = f->offset;
	return f->size == sizeof(u64) ? 0 : -ENOEXEC;
}

/* "FIELD[+|-ADJUST]"; NULL: none. text is cut up. */
static int wprobe_parse_where(struct trace_trigger *t, char *text)
{
	char *sign = text ? text + strcspn(text, "+-") : "", op = *sign;
	size_t n = text ? (size_t)(sign - text) : 0;
	struct wprobe_where *where = host_alloc(sizeof(*where) + n + 1);

	if (!where)
		return -ENOMEM;
	t->data = where;
	if (text)
		memcpy(where->name, text, n);
	if (op && (!is_digit(sign[1]) || parse_s64(sign + (op == '+'), 0, &where->adjust)))
		return -EINVAL;
	if (n)
		return wprobe_find_field(t, where);
	return text || wprobe_is_set(t->command) ? -EINVAL : 0;
}

/* "WPROBE[:FIELD][:COUNT]" without its count, which begins with a digit. */
static int wprobe_parse_param(struct trace_trigger *t, char *param)
{
	char *name = strsep(&param, ":"), *field = NULL;
	const struct trace_event_call *call = name ? trace_event_find(WPROBE_GROUP, name) : NULL;

	if (!call || !wprobe_of(call))
		return -ENOENT;
	t->target = trace_event_file_of(t->file->tr, call);
	if (param && !is_digit(*param))
		field = strsep(&param, ":");
	int err = wprobe_parse_where(t, field);
	if (!err && param)
		err = parse_u64(param, 0, &t->left);
	return err;
}

static struct trace_trigger *wprobe_trigger_find(const struct trace_trigger *form)
{
	struct trace_trigger *t = form->file->triggers;

	while (t && (t->command != form->command || t->target != form->target))
		t = t->next;
	return t;
}

static int wprobe_trigger_add(struct trace_trigger *t, char *filter)
{
	if (wprobe_trigger_find(t))
		return -EEXIST;
	if (wprobe_is_set(t->command) && trace_file_is_on(t->target))
		return -EBUSY;
	int err = filter ? trace_trigger_parse_filter(t->file->call, filter, &t->filter) : 0;
	return err ? err : trace_trigger_add(t);
}

int wprobe_trigger_write(const struct trace_trigger_command *command, struct trace_event_file *file,
    bool remove, char *rest)
{
	struct trace_trigger *t = host_alloc(sizeof(*t));
	char *param, *filter;

	if (!t)
		return -ENOMEM;
	*t = (struct trace_trigger){
	    .command = command, .file = file, .left = TRACE_TRIGGER_UNLIMITED};
	trace_trigger_split(rest, true, &param, &filter);
	int err = wprobe_parse_param(t, param);
	if (!err && remove)
		trace_trigger_remove(wprobe_trigger_find(t));
	else if (!err)
		err = wprobe_trigger_add(t, filter);
	if (err || remove)
		trace_trigger_free(t);
	return err;
}

void wprobe_trigger_show(struct seq *s, const struct trace_trigger *t)
{
	const struct wprobe_where *where = t->data;

	seq_printf(s, "%s:%s", t->command->name, t->target->call->name);
	if (*where->name)
		seq_printf(
		    s, ":%s%s%ld", where->name, where->adjust < 0 ? "" : "+", (long)where->adjust);
	trace_trigger_show_rest(s, t);
}

void wprobe_trigger_release(struct trace_trigger *t)
{
	host_free(t->data);
}
