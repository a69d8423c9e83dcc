/*
 * Variables of histograms and references to them, also from other events. Task context under
 * host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/file.h"
#include "trace/hist/hist.h"

struct hist_field *hist_own_var(const struct hist *h, const char *name)
{
	for (u32 i = 0; i < h->n_fields; i++)
		if ((h->fields[i]->flags & HIST_VAR) && !strcmp(h->fields[i]->var_name, name))
			return h->fields[i];
	return NULL;
}

struct hist_field *hist_running_var(
    const struct trace_event_file *file, const char *name, struct hist **owner)
{
	struct hist *h;

	list_for_each_entry (h, &hists, node) {
		struct hist_field *var = h->file == file ? hist_own_var(h, name) : NULL;
		if (var) {
			*owner = h;
			return var;
		}
	}
	return NULL;
}

struct hist_field *hist_file_var(
    struct hist *h, struct trace_event_file *file, const char *name, struct hist **owner)
{
	struct hist_field *var = hist_own_var(h, name);

	*owner = h;
	return var ? var : hist_running_var(file, name, owner);
}

static struct hist_field *not_unique(struct hist *h, const char *name)
{
	hist_fail(h,
	    "Variable name not unique, need to use fully qualified name (subsys.event.var) for "
	    "variable",
	    name);
	return NULL;
}

static struct trace_event_file *find_file(
    const struct hist *h, const char *system, const char *event)
{
	struct trace_event_call *call = trace_event_find(system, event);

	return call ? trace_event_file_of(h->file->tr, call) : NULL;
}

/* Of the events that onmatch() handlers name. */
static struct hist_field *matched_var(
    struct hist *h, const char *name, struct hist **owner, bool *twice)
{
	struct hist_field *found = NULL;

	for (u32 i = 0; i < h->n_actions; i++) {
		const struct hist_action *a = h->actions[i];
		struct hist *who;
		struct trace_event_file *file =
		    a->handler == HIST_ONMATCH ? find_file(h, a->system, a->event) : NULL;
		struct hist_field *var = file ? hist_running_var(file, name, &who) : NULL;
		if (var && found) {
			*twice = true;
			return not_unique(h, name);
		}
		if (var) {
			found = var;
			*owner = who;
		}
	}
	return found;
}

/* Of any event of the instance: there must be but one that has it. */
static struct hist_field *any_var(struct hist *h, const char *name, struct hist **owner)
{
	struct hist_field *found = NULL;
	struct hist *other;

	list_for_each_entry (other, &hists, node) {
		if (other->file->tr != h->file->tr || !hist_own_var(other, name))
			continue;
		if (found && (*owner)->file != other->file)
			return not_unique(h, name);
		if (found)
			continue;
		found = hist_own_var(other, name);
		*owner = other;
	}
	return found;
}

struct hist_field *hist_find_var(
    struct hist *h, const char *system, const char *event, const char *name, struct hist **owner)
{
	struct hist_field *var = NULL;
	bool twice = false;

	if (!system || !event)
		var = matched_var(h, name, owner, &twice);
	if (var || twice)
		return var;
	if (!system)
		return any_var(h, name, owner);
	struct trace_event_file *file = find_file(h, system, event);
	return file ? hist_running_var(file, name, owner) : NULL;
}

/* ---- references ---- */

static const char *ref_label(
    struct hist *h, const char *system, const char *event, const char *name)
{
	if (!system || !event)
		return name;
	size_t size = strlen(system) + strlen(event) + strlen(name) + 3;
	char *label = hist_alloc(h, size);
	if (label)
		fmt_snprintf(label, size, "%s.%s.%s", system, event, name);
	return label;
}

struct hist_field *hist_make_ref(struct hist *h, struct hist *owner, struct hist_field *var,
    const char *system, const char *event)
{
	for (u32 i = 0; i < h->n_refs; i++)
		if (h->refs[i]->owner == owner && h->refs[i]->var == var->index)
			return h->refs[i];
	if (h->n_refs == HIST_REFS_MAX)
		return NULL;
	struct hist_field *ref = hist_alloc(h, sizeof(*ref));
	const char *name = ref ? hist_copy(h, var->var_name) : NULL;
	if (!name)
		return NULL;
	ref->flags = HIST_REF | (var->flags & (HIST_TIMESTAMP | HIST_USECS | HIST_PLACED));
	ref->op = HIST_OP_REF;
	ref->owner = owner;
	ref->var = var->index;
	ref->ref_index = h->n_refs;
	ref->size = var->size;
	ref->is_signed = var->is_signed;
	ref->type = hist_copy(h, var->type);
	ref->ref_name = name;
	ref->label = ref_label(h, system, event, name);
	if (!ref->type || !ref->label)
		return NULL;
	h->refs[h->n_refs++] = ref;
	return ref;
}

bool hist_is_needed(const struct hist *h)
{
	struct hist *other;

	list_for_each_entry (other, &hists, node)
		for (u32 i = 0; other != h && i < other->n_refs; i++)
			if (other->refs[i]->owner == h)
				return true;
	return false;
}

struct hist_field *hist_make_var(struct hist *h, const char *name, const struct hist_field *like)
{
	struct hist *owner;
	struct hist_field *var;

	if (hist_file_var(h, h->file, name, &owner) && !h->removing)
		return NULL;
	if (h->n_var_places == HIST_VARS_MAX)
		return NULL;
	var = hist_alloc(h, sizeof(*var));
	if (!var || !(var->var_name = hist_copy(h, name)))
		return NULL;
	var->flags = HIST_VAR;
	var->index = h->n_var_places++;
	var->size = like ? like->size : sizeof(u64);
	var->type = like ? like->type : "u64";
	var->label = var->var_name;
	return var;
}
