/*
 * Function commands: "FUNCTION:traceoff:3" in set_ftrace_filter. Each is a trigger
 * (trace/event/trigger.h) that a call of its function runs, instead of an event; the trigger code
 * supplies actions and counts. Two commands exist for functions alone: dump and cpudump.
 *
 * Words: a group has the commands of an array with the same name; those with a count and those
 * without form separate groups. A function has at most one command of a group. As on Linux, lists
 * show the newest group first, and calls run commands in that order.
 *
 * Task context under host_lock, but for trace_command_hit() and what it calls: any context, as
 * after host_preempt_disable(). It finds the commands of a function in a sorted table, which is
 * replaced as a whole. If a command calls hooked functions, these calls run no commands: `pulling`
 * names the context that is running one.
 */
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/event/enable.h"
#include "trace/filter/priv.h"
#include "trace/function/priv.h"
#include "trace/host_context.h"
#include "trace/host_cpus.h"
#include "trace/host_memory.h"
#include "trace/output/dump.h"
#include "trace/trigger/trigger.h"

enum trace_command_state { COMMAND_LIVE, COMMAND_NEW, COMMAND_DEAD };

struct trace_command {
	struct trace_trigger trigger;
	struct trace_command *next; /* by group, the newest first; then by function */
	u64 group;		    /* number of the group, in the order in which they began */
	unsigned function;	    /* the host's number */
	bool counted;
	enum trace_command_state state; /* for the change under way */
};

struct trace_command_table {
	unsigned count;
	struct trace_command_row {
		u64 ip;
		struct trace_command *command;
	} rows[]; /* by ip; of one ip the newest group first */
};

struct trace_commands {
	struct host_hook hook;
	struct trace_command_table *table; /* [A] */
	struct trace_command *first;	   /* [L] */
	u64 groups;			   /* [L] that have begun */
	bool hooked;			   /* [L] the hook is the host's */
	u8 pulling[MAX_CPUS];		   /* [C] the context in which commands act; 0: none do */
};

/* ---- a call ---- */

static void trace_command_pull(
    const struct trace_command_table *table, u64 ip, const struct host_context *ctx)
{
	const struct trace_trigger_hit hit = {.ctx = ctx};
	unsigned from = 0, to = table->count;

	while (from < to) {
		unsigned mid = from + (to - from) / 2;
		if (table->rows[mid].ip < ip)
			from = mid + 1;
		else
			to = mid;
	}
	for (; from < table->count && table->rows[from].ip == ip; from++) {
		struct trace_trigger *t = &table->rows[from].command->trigger;
		t->command->act(t, &hit);
	}
}

static void trace_command_hit(
    struct host_hook *hook, u64 ip, u64 parent_ip __maybe_unused, u64 *slot __maybe_unused)
{
	struct trace_commands *c = container_of(hook, struct trace_commands, hook);
	const struct trace_command_table *table = atomic_load_acquire(&c->table);
	struct host_context ctx;
	u8 before;

	host_context(&ctx);
	if (!table || !trace_function_begin(c->pulling, &ctx, &before))
		return;
	trace_command_pull(table, ip, &ctx);
	trace_function_end(c->pulling, &ctx, before);
}

static void trace_command_dump(struct trace_trigger *t, int mode)
{
	if (trace_trigger_take(t))
		trace_dump_soon(mode);
}

static void trace_command_dump_all(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	trace_command_dump(t, TRACE_DUMP_ALL);
}

static void trace_command_dump_cpu(
    struct trace_trigger *t, const struct trace_trigger_hit *hit __maybe_unused)
{
	trace_command_dump(t, TRACE_DUMP_ORIG);
}

static const struct trace_trigger_command dump_command = {
    .name = "dump", .act = trace_command_dump_all, .show = trace_trigger_show};
static const struct trace_trigger_command cpudump_command = {
    .name = "cpudump", .act = trace_command_dump_cpu, .show = trace_trigger_show};

unsigned trace_commands_count(unsigned function, unsigned *arrays)
{
	const struct trace_array *tr;
	unsigned n = 0;

	*arrays = 0;
	list_for_each_entry (tr, &trace_arrays, node) {
		const struct trace_commands *c = tr->functions ? tr->functions->commands : NULL;
		unsigned before = n;

		for (const struct trace_command *at = c ? c->first : NULL; at; at = at->next)
			n += at->function == function;
		*arrays += n > before;
	}
	return n;
}

/* ---- the table and the hook ---- */

static struct trace_commands *trace_commands_of(struct trace_array *tr)
{
	struct trace_functions *f = trace_functions_of(tr);

	if (f && !f->commands) {
		f->commands = host_alloc(sizeof(*f->commands));
		if (f->commands)
			f->commands->hook.fn = trace_command_hit;
	}
	return f ? f->commands : NULL;
}

static void trace_command_fill(struct trace_command_table *t, const struct trace_commands *c)
{
	for (struct trace_command *at = c->first; at; at = at->next) {
		unsigned i = t->count;
		u64 ip;

		if (at->state == COMMAND_DEAD)
			continue;
		host_function(at->function, &ip);
		for (; i && t->rows[i - 1].ip > ip; i--)
			t->rows[i] = t->rows[i - 1];
		t->rows[i] = (struct trace_command_row){ip, at};
		t->count++;
	}
}

/* What the list says takes effect. -ENOMEM, -EBUSY: nothing is done. */
static int trace_commands_apply(struct trace_commands *c)
{
	u64 *set = host_alloc(trace_function_set_size());
	unsigned n = 0;

	for (const struct trace_command *at = c->first; at; at = at->next)
		n += at->state != COMMAND_DEAD;
	struct trace_command_table *table = host_alloc(sizeof(*table) + n * sizeof(table->rows[0]));
	int err = set && table ? 0 : -ENOMEM;
	if (!err && !c->hooked)
		err = host_hook_add(&c->hook);
	if (err) {
		host_free(table);
		host_free(set);
		return err;
	}
	c->hooked = true;
	trace_command_fill(table, c);
	for (unsigned i = 0; i < n; i++)
		trace_function_put(set, table->rows[i].command->function, true);
	struct trace_command_table *old = c->table;
	atomic_store_release(&c->table, table);
	host_hook_set(&c->hook, set);
	host_synchronize();
	host_free(old);
	host_free(set);
	return 0;
}

/* Without any: the hook goes, and nothing is left to wait for. */
static void trace_commands_rest(struct trace_commands *c)
{
	if (c->first || !c->hooked)
		return;
	host_hook_remove(&c->hook);
	c->hooked = false;
	host_free(c->table);
	c->table = NULL;
}

/* ---- adding ---- */

static bool trace_command_same_group(const struct trace_command *a, const struct trace_command *b)
{
	return a->trigger.command == b->trigger.command && a->counted == b->counted;
}

static void trace_command_link(struct trace_commands *c, struct trace_command *new)
{
	struct trace_command **at = &c->first;

	while (*at && ((*at)->group > new->group ||
			  ((*at)->group == new->group && (*at)->function < new->function)))
		at = &(*at)->next;
	new->next = *at;
	*at = new;
}

static void trace_commands_turn(
    struct trace_commands *c, enum trace_command_state from, enum trace_command_state to)
{
	for (struct trace_command *at = c->first; at; at = at->next)
		if (at->state == from)
			at->state = to;
}

/* Unlinks and frees those that are dead, which nobody calls any more. */
static void trace_commands_bury(struct trace_commands *c)
{
	for (struct trace_command **at = &c->first, *dead; (dead = *at);) {
		if (dead->state != COMMAND_DEAD) {
			at = &dead->next;
			continue;
		}
		*at = dead->next;
		trace_trigger_disarm(&dead->trigger);
		host_free(dead);
	}
	trace_commands_rest(c);
}

static const struct trace_command *trace_command_find(
    const struct trace_commands *c, const struct trace_command *form, unsigned function)
{
	const struct trace_command *at = c->first;

	while (at && !(trace_command_same_group(at, form) && at->function == function))
		at = at->next;
	return at;
}

static int trace_command_add_one(
    struct trace_commands *c, const struct trace_command *form, unsigned function)
{
	struct trace_command *new = host_alloc(sizeof(*new));

	if (!new)
		return -ENOMEM;
	*new = *form;
	new->function = function;
	new->state = COMMAND_NEW;
	int err = trace_trigger_prepare(&new->trigger);
	if (err) {
		host_free(new);
		return err;
	}
	if (new->trigger.target)
		trace_file_soft(new->trigger.target, 1);
	trace_command_link(c, new);
	return 0;
}

/* -EINVAL: all that are meant have it already. */
static int trace_commands_add(struct trace_commands *c, struct trace_command *form, const u64 *set)
{
	const struct trace_command *other = c->first;
	int err = -EINVAL;

	while (other && !trace_command_same_group(other, form))
		other = other->next;
	form->group = other ? other->group : ++c->groups;
	for (unsigned i = 0; i < host_function_count(); i++) {
		if (!trace_function_in(set, i) || trace_command_find(c, form, i))
			continue;
		err = trace_command_add_one(c, form, i);
		if (err)
			break;
	}
	if (!err)
		err = trace_commands_apply(c);
	trace_commands_turn(c, COMMAND_NEW, err ? COMMAND_DEAD : COMMAND_LIVE);
	trace_commands_bury(c);
	return err;
}

/* ---- removing ---- */

/* As on Linux: nothing and "*" mean all. -ENODEV: the group is empty; -EINVAL: none is meant. */
static int trace_commands_remove(
    struct trace_commands *c, const struct trace_command *form, const char *functions)
{
	const struct filter_insn pattern = {.text = functions};
	int err = -ENODEV;
	u64 addr;

	for (struct trace_command *at = c->first; at; at = at->next) {
		if (!trace_command_same_group(at, form))
			continue;
		const char *name = host_function(at->function, &addr);
		if (!*functions || filter_match_glob(&pattern, name, strlen(name)))
			at->state = COMMAND_DEAD;
		if (err)
			err = at->state == COMMAND_DEAD ? 0 : -EINVAL;
	}
	if (!err)
		err = trace_commands_apply(c);
	if (err)
		trace_commands_turn(c, COMMAND_DEAD, COMMAND_LIVE);
	else
		trace_commands_bury(c);
	return err;
}

void trace_commands_drop(struct trace_functions *f)
{
	struct trace_commands *c = f->commands;

	if (!c)
		return;
	if (c->hooked)
		host_hook_set(&c->hook, NULL);
	host_synchronize();
	trace_commands_turn(c, COMMAND_LIVE, COMMAND_DEAD);
	trace_commands_bury(c);
	host_free(c);
	f->commands = NULL;
}

/* ---- lines ---- */

static const struct trace_trigger_command *trace_command_named(const char *name)
{
	const struct trace_trigger_command *t = trace_trigger_commands;

	if (!strcmp(name, dump_command.name))
		return &dump_command;
	if (!strcmp(name, cpudump_command.name))
		return &cpudump_command;
	while (t->name && (!(t->flags & TRACE_TRIGGER_FUNCTION) || strcmp(t->name, name)))
		t++;
	return t->name ? t : NULL;
}

/* What stands after the name of the command; NULL: nothing. A dump is made once, whatever is said.
 */
static int trace_command_parse(struct trace_command *form, char *param, bool remove)
{
	struct trace_trigger *t = &form->trigger;

	t->left = TRACE_TRIGGER_UNLIMITED;
	if (t->command == &cpudump_command)
		return 0;
	if (t->command == &dump_command) {
		t->left = 1;
		return 0;
	}
	if (t->command->flags & TRACE_TRIGGER_TARGET) {
		t->target = param ? trace_trigger_parse_target(t->file->tr, &param) : NULL;
		if (!t->target)
			return -EINVAL;
	}
	form->counted = param;
	return param && !remove ? trace_trigger_parse_count(param, &t->left) : 0;
}

int trace_command_write(struct trace_array *tr, char *functions, const char *name, char *param)
{
	struct trace_command form = {.trigger = {.command = trace_command_named(name),
					 .file = trace_ftrace_file(tr, TRACE_FN)}};
	bool remove = *functions == '!';

	if (!form.trigger.command)
		return -EINVAL;
	int err = trace_command_parse(&form, param, remove);
	struct trace_commands *c = err ? NULL : trace_commands_of(tr);
	if (!c)
		return err ? err : -ENOMEM;
	if (remove)
		return trace_commands_remove(c, &form, functions + 1);
	u64 *set = host_alloc(trace_function_set_size());
	if (!set)
		return -ENOMEM;
	err = trace_function_set_word(set, functions);
	if (!err)
		err = trace_commands_add(c, &form, set);
	host_free(set);
	return err;
}

void trace_commands_show(struct seq *s, const struct trace_functions *f)
{
	const struct trace_command *c = f && f->commands ? f->commands->first : NULL;
	u64 addr;

	for (; c; c = c->next) {
		seq_printf(s, "%s:", host_function(c->function, &addr));
		c->trigger.command->show(s, &c->trigger);
	}
}
