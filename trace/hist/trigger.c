/*
 * See trigger.h. It parses a command completely before it changes anything, then adds the hist and
 * its trigger together.
 */
#include "trace/hist/trigger.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/clock.h"
#include "trace/event/parts.h"
#include "trace/filter/compile.h"
#include "trace/hist/hist.h"
#include "trace/host_memory.h"

/* trigger->data. Several triggers may share a histogram, by its name. */
struct hist_use {
	struct hist *h;
	bool paused; /* [A] */
};

static struct hist_use *use_of(const struct trace_trigger *t)
{
	return t->data;
}

static bool is_hist(const struct trace_trigger *t)
{
	return t->command->write == hist_trigger_write;
}

/* ---- when the event fires ---- */

void hist_trigger_act(struct trace_trigger *t, const struct trace_trigger_hit *hit)
{
	struct hist_use *use = use_of(t);

	if (unlikely(hit->post)) {
		hist_take_snapshots(use->h, hit->ctx);
		return;
	}
	if (unlikely(READ_ONCE(use->paused)))
		return;
	if (unlikely(!hit->rec))
		trace_trigger_missed(t);
	else
		hist_update(use->h, hit->ctx, hit->rec, hit->len, hit->after);
}

static void hist_trigger_update_fields(struct trace_trigger *t, const void *rec)
{
	struct hist_use *use = use_of(t);

	if (likely(!READ_ONCE(use->paused)))
		hist_update_from_fields(use->h, rec);
}

void hist_trigger_set_paused(struct trace_trigger *t, bool paused)
{
	if (!trace_trigger_take(t))
		return;
	for (struct trace_trigger *other = atomic_load_acquire(&t->target->triggers); other;
	     other = READ_ONCE(other->next))
		if (is_hist(other))
			WRITE_ONCE(use_of(other)->paused, paused);
}

/* ---- those that are there ---- */

static const char *filter_text(const struct trace_filter *f)
{
	return f ? trace_filter_text(f) : NULL;
}

static bool same_filter(const struct trace_filter *a, const struct trace_filter *b)
{
	return a && b ? !strcmp(filter_text(a), filter_text(b)) : a == b;
}

static struct hist *hist_find_named(const char *name)
{
	struct hist *h;

	list_for_each_entry (h, &hists, node)
		if (name && h->name && !strcmp(h->name, name))
			return h;
	return NULL;
}

/*
 * The trigger of this file that counts as h would: one whose histogram has the same keys, values,
 * sort order, variables and actions, and the same filter. If there is a histogram of h's name, only
 * that one; otherwise one without a name.
 */
static struct trace_trigger *hist_find_same(
    const struct trace_event_file *file, const struct hist *h, const struct trace_filter *filter)
{
	const struct hist *named = hist_find_named(h->name);

	for (struct trace_trigger *t = file->triggers; t; t = t->next) {
		if (!is_hist(t) || !same_filter(filter, t->filter))
			continue;
		const struct hist *there = use_of(t)->h;
		if ((named ? there == named : !there->name) && hist_matches(h, there))
			return t;
	}
	return NULL;
}

const char *hist_trigger_filter(const struct hist *h)
{
	for (struct trace_trigger *t = h->file->triggers; t; t = t->next)
		if (is_hist(t) && use_of(t)->h == h)
			return filter_text(t->filter);
	return NULL;
}

/* ---- putting one in ---- */

/* What a line asks for, all of it read. */
struct request {
	const struct trace_trigger_command *command;
	struct trace_event_file *file;
	struct hist *h;
	struct trace_filter *filter;
};

static bool is_clock(const char *name)
{
	for (const struct trace_clock *c = trace_clocks; c->name; c++)
		if (!strcmp(c->name, name))
			return true;
	return false;
}

/* What forbids it; in Linux's order. */
static int check_new(const struct request *r, const struct hist *named)
{
	struct hist *h = r->h;

	if (named && !hist_matches(h, named))
		return hist_fail(h,
		    "Named hist trigger doesn't match existing named trigger (includes variables)",
		    h->name);
	if ((!h->name || named) && hist_find_same(r->file, h, r->filter)) {
		hist_fail(h, "Hist trigger already exists", NULL);
		return -EEXIST;
	}
	if (h->cont || h->clear) {
		hist_fail(h, "Can't clear or continue a nonexistent hist trigger", NULL);
		return -ENOENT;
	}
	if (h->timestamps && !is_clock(h->clock))
		return hist_fail(h, "Couldn't set trace_clock", h->clock);
	return named ? 0 : hist_check_vars(h);
}

/*
 * Time stamps count in the histogram's clock: the whole instance changes over to it, for good, as
 * on Linux.
 */
static void set_clock(const struct hist *h)
{
	struct trace_array *tr = h->file->tr;

	if (h->timestamps && strcmp(tr->clock->name, h->clock))
		trace_array_set_clock(tr, h->clock);
}

static struct trace_trigger *make_trigger(const struct request *r, struct hist *h)
{
	struct trace_trigger *t = host_alloc(sizeof(*t));
	struct hist_use *use = host_alloc(sizeof(*use));

	if (!t || !use) {
		host_free(t);
		host_free(use);
		return NULL;
	}
	use->h = h;
	use->paused = r->h->pause;
	t->command = r->command;
	t->file = r->file;
	t->left = TRACE_TRIGGER_UNLIMITED;
	t->look = h->simple ? hist_trigger_update_fields : NULL;
	t->look_common = h->common;
	t->data = use;
	return t;
}

/* The histogram and the filter belong to the trigger once this succeeds. */
static int hist_trigger_add(struct request *r, struct hist *h)
{
	struct trace_trigger *t = make_trigger(r, h);
	int err = t ? 0 : -ENOMEM;

	if (!err) {
		t->filter = r->filter;
		err = trace_trigger_add(t);
	}
	if (err && t) {
		host_free(t->data);
		host_free(t);
	}
	if (err)
		return err;
	r->filter = NULL;
	h->users++;
	trace_event_get(r->file->call);
	return 0;
}

static int add(struct request *r)
{
	struct hist *named = hist_find_named(r->h->name);
	int err = check_new(r, named);

	if (!err && named)
		return hist_trigger_add(r, named);
	if (!err)
		err = hist_start(r->h);
	if (!err)
		err = hist_trigger_add(r, r->h);
	if (err)
		return err;
	set_clock(r->h);
	r->h = NULL;
	return 0;
}

/* "pause", "cont" or "clear" for one that is there; false: there is none. */
static bool change(const struct request *r)
{
	const struct hist *h = r->h;
	struct trace_trigger *t =
	    h->pause || h->cont || h->clear ? hist_find_same(r->file, h, r->filter) : NULL;

	if (!t)
		return false;
	if (h->clear && !h->pause && !h->cont)
		hist_clear(use_of(t)->h);
	else
		WRITE_ONCE(use_of(t)->paused, h->pause);
	return true;
}

/* What is not there need not go. */
static int take_out(const struct request *r)
{
	struct trace_trigger *t = hist_find_same(r->file, r->h, r->filter);

	if (t && hist_is_needed(use_of(t)->h))
		return -EBUSY;
	trace_trigger_remove(t);
	return 0;
}

/* ---- the line ---- */

/*
 * An "if" with blanks around it; *filter is NULL without one. -EINVAL: nothing before or after it.
 */
static int split_filter(char *text, char **filter)
{
	char *p = text;

	*filter = NULL;
	while ((p = strstr(p, "if"))) {
		if (p == text)
			return -EINVAL;
		if (p[-1] != ' ' && p[-1] != '\t') {
			p++;
			continue;
		}
		if (!p[2] || !p[3])
			return -EINVAL;
		if (p[2] == ' ' || p[2] == '\t')
			break;
		p++;
	}
	if (p) {
		p[-1] = '\0';
		*filter = strstrip(p);
	}
	return 0;
}

static int read_request(struct request *r, bool remove, const char *cmd, char *text)
{
	char *filter;
	int err = split_filter(text, &filter);

	if (!err)
		err = hist_create(r->file, cmd, filter ? strstrip(text) : text, remove, &r->h);
	if (!err && filter)
		err = trace_trigger_parse_filter(r->file->call, filter, &r->filter);
	return err;
}

static int run(struct request *r, bool remove, char *text)
{
	size_t size = strlen(text) + 1;
	char *cmd = host_alloc(size);

	if (!cmd)
		return -ENOMEM;
	memcpy(cmd, text, size);
	int err = read_request(r, remove, cmd, text);
	if (!err && remove)
		err = take_out(r);
	else if (!err && !change(r))
		err = add(r);
	if (r->h)
		hist_free(r->h);
	trace_filter_free(r->filter);
	host_free(cmd);
	return err;
}

int hist_trigger_write(const struct trace_trigger_command *command, struct trace_event_file *file,
    bool remove, char *rest)
{
	struct request r = {.command = command, .file = file};

	return rest && *rest ? run(&r, remove, rest) : -EINVAL;
}

static const struct trace_trigger_command *hist_command(void)
{
	const struct trace_trigger_command *c = trace_trigger_commands;

	while (c->write != hist_trigger_write)
		c++;
	return c;
}

int hist_trigger_run(struct trace_event_file *file, const char *command, bool remove)
{
	size_t size = strlen(command) + 1;
	char *text = host_alloc(size);

	if (!text)
		return -ENOMEM;
	memcpy(text, command, size);
	int err = hist_trigger_write(hist_command(), file, remove, text);
	host_free(text);
	return err;
}

/* ---- going ---- */

/* A histogram that stays, by its name, now belongs to another event that uses it. */
static void hand_over(struct hist *h, const struct trace_event_file *from)
{
	struct trace_array *tr;
	struct trace_event_file *file;

	if (h->file != from)
		return;
	list_for_each_entry (tr, &trace_arrays, node)
		list_for_each_entry (file, &tr->files, node)
			for (struct trace_trigger *t = file->triggers; t; t = t->next)
				if (is_hist(t) && use_of(t)->h == h) {
					WRITE_ONCE(h->file, file);
					return;
				}
}

/* Nobody stands on the trigger any more. */
void hist_trigger_release(struct trace_trigger *t)
{
	struct hist_use *use = use_of(t);

	if (!use)
		return;
	if (--use->h->users)
		hand_over(use->h, t->file);
	else
		hist_free(use->h);
	trace_event_put(t->file->call);
	host_free(use);
	t->data = NULL;
}

void hist_triggers_clear(struct trace_event_file *file)
{
	struct trace_trigger *t, *next;

	for (t = file->triggers; t; t = t->next)
		if (is_hist(t) && hist_is_needed(use_of(t)->h))
			return;
	do {
		next = NULL;
		for (t = file->triggers; t; t = t->next)
			if (is_hist(t))
				next = t;
		trace_trigger_remove(next);
	} while (next);
}

bool hist_triggers_hold(const struct trace_array *tr)
{
	struct hist *h;

	list_for_each_entry (h, &hists, node)
		if (h->file->tr == tr && (h->n_vars || h->n_refs))
			return true;
	return false;
}

/* ---- showing ---- */

void hist_trigger_show(struct seq *s, const struct trace_trigger *t)
{
	hist_show_spec(s, use_of(t)->h);
	if (t->filter)
		seq_printf(s, " if %s", trace_filter_text(t->filter));
	seq_puts(s, READ_ONCE(use_of(t)->paused) ? " [paused]\n" : " [active]\n");
}

int hist_triggers_show(struct seq *s, const struct trace_event_file *file)
{
	bool first = true;
	int err = 0;

	for (struct trace_trigger *t = file->triggers; t && !err; t = t->next) {
		if (!is_hist(t))
			continue;
		seq_puts(s, first ? "" : "\n\n");
		seq_puts(s, "# event histogram\n#\n# trigger info: ");
		hist_trigger_show(s, t);
		seq_puts(s, "#\n\n");
		err = hist_show_table(s, use_of(t)->h);
		first = false;
	}
	return err;
}
