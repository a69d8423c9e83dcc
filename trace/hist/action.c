/*
 * Handlers and actions of histograms: "onmax($v).save(f)", "onmatch(sys.event).trace(synth,$v,f)"
 * ... They are parsed with the command; their references are resolved when the histogram starts.
 * Task context under host_lock. do.c runs them.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/dynevent/synth.h"
#include "trace/event/array.h"
#include "trace/event/file.h"
#include "trace/event/snapshot.h"
#include "trace/hist/hist.h"
#include "trace/hist/parse.h"
#include "trace/hist/trigger.h"

static const char no_action[] = "No action found";
static const char mismatch[] = "Handler doesn't support action";

#define SYNTHETIC                                                                                  \
	"synthetic_" /* begins the name of a variable that is made for another event's field */

/* ---- parsing ---- */

/* One letter is no parameter, as on Linux. */
static int parse_params(struct hist *h, struct hist_action *a, char *list)
{
	char *param;

	while ((param = strsep(&list, ","))) {
		if (a->n_params == HIST_PARAMS_MAX)
			return hist_fail(h, "Too many action params", NULL);
		param = strstrip(param);
		if (strlen(param) < 2)
			return hist_fail(h, "Invalid action param", param);
		if (a->synth_name && !*a->synth_name)
			a->synth_name = param;
		else
			a->params[a->n_params++] = param;
	}
	return 0;
}

/* ".name(params)" */
static int hist_parse_action_call(struct hist *h, struct hist_action *a, char *text)
{
	strsep(&text, ".");
	if (!text)
		return hist_fail(h, no_action, NULL);
	a->name = strsep(&text, "(");
	if (!text)
		return hist_fail(h, no_action, NULL);
	char *params = strsep(&text, ")");
	if (str_has_prefix(a->name, "save"))
		a->kind = HIST_SAVE;
	else if (str_has_prefix(a->name, "snapshot"))
		a->kind = HIST_SNAPSHOT;
	else
		a->kind = HIST_TRACE;
	if (a->kind == HIST_SNAPSHOT && !text)
		return hist_fail(h, "No closing paren found", params);
	if (a->kind == HIST_TRACE && str_has_prefix(a->name, "trace"))
		a->synth_name = ""; /* the first parameter */
	int err = a->kind == HIST_SNAPSHOT ? 0 : parse_params(h, a, params);
	if (!err && a->kind != HIST_TRACE && a->handler == HIST_ONMATCH)
		err = hist_fail(h, mismatch, a->name);
	return err;
}

/* "system.event).action(...)" */
static int parse_onmatch(struct hist *h, struct hist_action *a, char *text)
{
	char *event = strsep(&text, ")");

	if (!text)
		return hist_fail(h, "No closing paren found", event);
	a->system = strsep(&event, ".");
	if (!event)
		return hist_fail(h, "Missing subsystem", a->system);
	a->event = event;
	if (!trace_event_find(a->system, event))
		return hist_fail(h, "Invalid subsystem or event name", event);
	return hist_parse_action_call(h, a, text);
}

/* "$var).action(...)" */
static int parse_track(struct hist *h, struct hist_action *a, char *text)
{
	a->tracked = strsep(&text, ")");
	return text ? hist_parse_action_call(h, a, text) : -EINVAL;
}

int hist_parse_action(struct hist *h, char *text)
{
	struct hist_action *a = hist_alloc(h, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	if (str_has_prefix(text, "onmatch(")) {
		a->handler = HIST_ONMATCH;
		err = parse_onmatch(h, a, text + strlen("onmatch("));
	} else {
		bool max = str_has_prefix(text, "onmax(");
		a->handler = max ? HIST_ONMAX : HIST_ONCHANGE;
		err = parse_track(h, a, text + strlen(max ? "onmax(" : "onchange("));
	}
	if (!err)
		h->actions[h->n_actions++] = a;
	return err;
}

/* ---- a variable for a field ---- */

/*
 * A field named as a parameter becomes a variable of that name. NULL and *err: what is wrong is
 * logged.
 */
static struct hist_param_var *hist_make_param_var(struct hist *h, const char *name, int *err)
{
	struct hist_param_var *pv = hist_alloc(h, sizeof(*pv));
	char *copy = hist_copy(h, name);

	if (!pv || !copy) {
		*err = -ENOMEM;
		return NULL;
	}
	*err = hist_parse_atom(h, copy, HIST_VAR, NULL, &pv->val);
	if (*err) {
		hist_fail(h, "Couldn't parse field variable", name);
		return NULL;
	}
	pv->var = hist_make_var(h, name, pv->val);
	if (!pv->var) {
		*err = hist_fail(h, "Couldn't create or find variable", name);
		return NULL;
	}
	pv->var->flags |= pv->val->flags & HIST_PLACED;
	if (pv->var->flags & HIST_PLACED)
		pv->var->text = h->n_texts++;
	return pv;
}

static bool hist_is_own_event(const struct hist *h, const char *system, const char *event)
{
	const struct trace_event_call *call = h->file->call;

	return !system ||
	       (event && !strcmp(system, call->class->system) && !strcmp(event, call->name));
}

static bool same_keys(const struct hist *a, const struct hist *b)
{
	if (a->n_keys != b->n_keys)
		return false;
	for (u32 i = 0; i < a->n_keys; i++) {
		const struct hist_field *x = a->fields[a->n_vals + i],
					*y = b->fields[b->n_vals + i];
		if (!x->type || !y->type || strcmp(x->type, y->type) || x->size != y->size ||
		    x->is_signed != y->is_signed)
			return false;
	}
	return true;
}

/* A histogram of another event that has keys as ours. */
static struct hist *compatible(const struct hist *h, const struct trace_event_file *file)
{
	struct hist *other;

	list_for_each_entry (other, &hists, node)
		if (other->file == file && same_keys(other, h))
			return other;
	return NULL;
}

static size_t helper_command_size(const struct hist *like, const char *field, const char *filter)
{
	size_t size = sizeof("keys=:" SYNTHETIC "= if ") + 2 * strlen(field);

	for (u32 i = 0; i < like->n_keys; i++)
		size += strlen(like->fields[like->n_vals + i]->label) + 1;
	return size + (filter ? strlen(filter) : 0);
}

/* "keys=KEYS:synthetic_FIELD=FIELD[ if FILTER]"; NULL: no memory. */
static const char *helper_command(struct hist *h, const struct hist *like, const char *field)
{
	const char *filter = hist_trigger_filter(like);
	size_t size = helper_command_size(like, field, filter);
	char *text = hist_alloc(h, size);
	struct seq s;

	if (!text)
		return NULL;
	seq_init(&s, text, size - 1);
	seq_puts(&s, "keys=");
	for (u32 i = 0; i < like->n_keys; i++)
		seq_printf(&s, "%s%s", i ? "," : "", like->fields[like->n_vals + i]->label);
	seq_printf(&s, ":" SYNTHETIC "%s=%s", field, field);
	if (filter)
		seq_printf(&s, " if %s", filter);
	return text;
}

static int run_helper(
    struct hist *h, struct trace_event_file *file, const char *field, const struct hist *like)
{
	struct hist_helper *helper = hist_alloc(h, sizeof(*helper));

	if (!helper || !(helper->command = helper_command(h, like, field)))
		return -ENOMEM;
	int err = hist_trigger_run(file, helper->command, false);
	if (err) {
		h->no_memory |= err == -ENOMEM;
		return hist_fail(h, "Couldn't create histogram for field", field);
	}
	helper->file = file;
	helper->next = h->helpers;
	h->helpers = helper;
	return 0;
}

/* A field of another event: that event gets a histogram with a variable of it. */
static struct hist_field *helper_var(
    struct hist *h, const char *system, const char *event, const char *field, struct hist **owner)
{
	struct trace_event_call *call = trace_event_find(system, event);
	struct trace_event_file *file = call ? trace_event_file_of(h->file->tr, call) : NULL;
	size_t size = sizeof(SYNTHETIC) + strlen(field);
	char *name = hist_alloc(h, size);

	if (!name)
		return NULL;
	if (!file) {
		hist_fail(h, "Event file not found", field);
		return NULL;
	}
	struct hist *like = compatible(h, file);
	if (!like) {
		hist_fail(h, "Matching event histogram not found", field);
		return NULL;
	}
	fmt_snprintf(name, size, SYNTHETIC "%s", field);
	struct hist_field *var = hist_find_var(h, system, event, name, owner);
	if (var || run_helper(h, file, field, like))
		return var;
	var = hist_find_var(h, system, event, name, owner);
	if (!var)
		hist_fail(h, "Couldn't find synthetic variable", field);
	return var;
}

static struct hist_field *param_field(struct hist *h, const struct hist_action *a,
    const char *system, const char *event, const char *name, struct hist **owner)
{
	struct hist_param_var *pv = NULL;
	int err;

	*owner = h;
	if (hist_is_own_event(h, system, event))
		pv = hist_make_param_var(h, name, &err);
	if (pv) {
		h->field_vars[h->n_field_vars++] = pv;
		return pv->var;
	}
	if (!system && a->handler == HIST_ONMATCH) {
		system = a->system;
		event = a->event;
	}
	return event ? helper_var(h, system, event, name, owner) : NULL;
}

/* ---- trace(): parameters against the synthetic event's fields ---- */

static struct hist_field *param_var(struct hist *h, const struct hist_action *a, const char *system,
    const char *event, const char *name, struct hist **owner)
{
	struct hist_field *var = NULL;

	*owner = h;
	if (hist_is_own_event(h, system, event))
		var = hist_own_var(h, name);
	if (!var && !system && a->handler == HIST_ONMATCH)
		var = hist_find_var(h, a->system, a->event, name, owner);
	else if (!var)
		var = hist_find_var(h, system, event, name, owner);
	if (!var)
		hist_fail(h, "Couldn't find param", name);
	return var;
}

static bool is_signed_type(const struct synth_field *f)
{
	return f->text[0] != 'u' && strcmp(f->text, "gfp_t");
}

/*
 * A stack takes a stack, a dynamic string every string, a fixed one those of its size; a number its
 * type, or one of the same size and sign.
 */
static bool fits(const struct synth_event *ev, u32 pos, const struct hist_field *var)
{
	if (pos >= ev->n_fields)
		return false;
	const struct synth_field *f = &ev->fields[pos];
	bool string = var->flags & HIST_IS_STRING;
	if (f->is_stack || (var->flags & HIST_STACKTRACE))
		return f->is_stack && (var->flags & HIST_STACKTRACE);
	if (!f->type)
		return string && (!f->size || f->size == var->size);
	return !string && (!strcmp(f->text, var->type) ||
			      (f->type->size == var->size && is_signed_type(f) == var->is_signed));
}

static int bind_param(struct hist *h, struct hist_action *a, u32 i)
{
	char *text = hist_copy(h, a->params[i]), *system = NULL, *event = NULL;
	struct hist_field *var;
	struct hist *owner;

	if (!text)
		return -ENOMEM;
	if (strchr(text, '.')) {
		system = strsep(&text, ".");
		event = strsep(&text, ".");
		if (!text)
			return -EINVAL;
	}
	if (*text == '$')
		var = param_var(h, a, system, event, text + 1, &owner);
	else
		var = param_field(h, a, system, event, text, &owner);
	if (!var)
		return -EINVAL;
	if (!fits(a->synth, i, var))
		return hist_fail(h, "Param type doesn't match synthetic event field type", text);
	struct hist_field *ref = hist_make_ref(h, owner, var, system, event);
	if (!ref)
		return -ENOMEM;
	a->refs[i] = ref->ref_index;
	return 0;
}

static int start_trace(struct hist *h, struct hist_action *a)
{
	const char *name = a->synth_name ? a->synth_name : a->name;
	int err = 0;

	a->synth = synth_event_find(name);
	if (!a->synth)
		return hist_fail(h, "Couldn't find synthetic event", name);
	trace_event_get(&a->synth->call);
	for (u32 i = 0; i < a->n_params && !err; i++)
		err = bind_param(h, a, i);
	if (!err && a->n_params != a->synth->n_fields)
		err = hist_fail(h, "Param count doesn't match synthetic event field count",
		    a->synth->call.name);
	return err;
}

/* ---- save(), snapshot(), what onmax and onchange watch ---- */

static int start_save(struct hist *h, struct hist_action *a)
{
	if (h->n_save_vars) {
		hist_fail(h, "Can't have more than one save() action per hist", NULL);
		return -EEXIST;
	}
	for (u32 i = 0; i < a->n_params; i++) {
		int err;
		struct hist_param_var *pv = hist_make_param_var(h, a->params[i], &err);
		if (!pv) {
			hist_fail(h, "Couldn't create field variable", a->params[i]);
			return err;
		}
		h->save_vars[h->n_save_vars++] = pv;
	}
	return 0;
}

/* One at a time in an instance. */
static int start_snapshot(struct hist *h, struct hist_action *a)
{
	struct hist_snapshot *shot = hist_alloc(h, sizeof(*shot));

	if (h->file->tr->snapshot_conds)
		return -EBUSY;
	if (!shot)
		return -ENOMEM;
	int err = trace_snapshot_arm(h->file->tr);
	if (err)
		return err;
	h->file->tr->snapshot_conds++;
	a->shot = shot;
	return 0;
}

static int start_action(struct hist *h, struct hist_action *a)
{
	switch (a->kind) {
	case HIST_SAVE:
		return start_save(h, a);
	case HIST_SNAPSHOT:
		return start_snapshot(h, a);
	default:
		return start_trace(h, a);
	}
}

static int start_tracking(struct hist *h, struct hist_action *a)
{
	const char *name = a->tracked + 1;

	if (a->tracked[0] != '$')
		return hist_fail(
		    h, "For onmax(x) or onchange(x), x must be a variable", a->tracked);
	struct hist_field *var = hist_own_var(h, name), *best;
	if (!var)
		return hist_fail(h, "Couldn't find onmax or onchange variable", name);
	if (var->flags & HIST_PLACED)
		return hist_refuse_string(h, a->tracked);
	a->ref = hist_make_ref(h, h, var, NULL, NULL);
	if (!a->ref)
		return -ENOMEM;
	best = hist_make_var(h, a->handler == HIST_ONMAX ? "__max" : "__change", NULL);
	if (!best)
		return hist_fail(h, "Couldn't create onmax or onchange variable", NULL);
	a->best = best->index;
	return 0;
}

int hist_start_actions(struct hist *h)
{
	int err = 0;

	for (u32 i = 0; i < h->n_actions && !err; i++) {
		struct hist_action *a = h->actions[i];
		if (a->handler != HIST_ONMATCH)
			err = start_tracking(h, a);
		if (!err)
			err = start_action(h, a);
	}
	return err;
}

void hist_stop_actions(struct hist *h)
{
	for (u32 i = 0; i < h->n_actions; i++) {
		if (h->actions[i]->synth)
			trace_event_put(&h->actions[i]->synth->call);
		if (h->actions[i]->shot) {
			trace_snapshot_disarm(h->file->tr);
			h->file->tr->snapshot_conds--;
		}
	}
	for (struct hist_helper *helper = h->helpers; helper; helper = helper->next)
		hist_trigger_run(helper->file, helper->command, true);
}

/* What they keep beyond the entries. */
void hist_clear_actions(struct hist *h)
{
	for (u32 i = 0; i < h->n_actions; i++)
		if (h->actions[i]->shot)
			*h->actions[i]->shot = (struct hist_snapshot){.value = 0};
}

/* ---- comparing and showing ---- */

static bool same_action(const struct hist_action *a, const struct hist_action *b)
{
	if (a->handler != b->handler || a->kind != b->kind || a->n_params != b->n_params)
		return false;
	for (u32 i = 0; i < a->n_params; i++)
		if (strcmp(a->params[i], b->params[i]))
			return false;
	if (strcmp(
		a->synth_name ? a->synth_name : a->name, b->synth_name ? b->synth_name : b->name))
		return false;
	if (a->handler != HIST_ONMATCH)
		return !strcmp(a->tracked, b->tracked);
	return !strcmp(a->system, b->system) && !strcmp(a->event, b->event);
}

bool hist_same_actions(const struct hist *a, const struct hist *b)
{
	if (a->n_actions != b->n_actions)
		return false;
	for (u32 i = 0; i < a->n_actions; i++)
		if (!same_action(a->actions[i], b->actions[i]))
			return false;
	return true;
}

static void show_action(struct seq *s, const struct hist_action *a)
{
	if (a->handler == HIST_ONMATCH)
		seq_printf(s, ":onmatch(%s.%s)", a->system, a->event);
	else
		seq_printf(
		    s, ":%s(%s)", a->handler == HIST_ONMAX ? "onmax" : "onchange", a->tracked);
	seq_printf(s, ".%s(", a->name);
	if (a->synth_name)
		seq_puts(s, a->synth_name);
	for (u32 i = 0; i < a->n_params; i++)
		seq_printf(s, "%s%s", i || a->synth_name ? "," : "", a->params[i]);
	seq_putc(s, ')');
}

void hist_show_actions(struct seq *s, const struct hist *h)
{
	for (u32 i = 0; i < h->n_actions; i++)
		show_action(s, h->actions[i]);
}
