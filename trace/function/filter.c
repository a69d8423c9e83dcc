/*
 * The lists of functions that an array traces, by name, glob or number, allocated at first use.
 * Task context under host_lock.
 */
#include "trace/function/function.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/event/parts.h"
#include "trace/function/graph.h"
#include "trace/function/priv.h"
#include "trace/host_function.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"

/* "FUNCTIONS:mod:MODULE", for a module that is not there. */
struct trace_function_module {
	struct trace_function_module *next;
	size_t functions; /* characters before the first colon */
	char text[];
};

static void trace_function_forget_modules(
    struct trace_functions *f, enum trace_function_list which);

struct trace_function_edit {
	struct trace_array *tr;
	enum trace_function_list which;
	u64 *set;
	u64 *room; /* for the same of those who use the list */
};

static bool trace_function_set_is_empty(const u64 *set)
{
	for (size_t i = 0; i < trace_function_set_size() / sizeof(u64); i++)
		if (set[i])
			return false;
	return true;
}

/* ---- of an array ---- */

struct trace_functions *trace_functions_of(struct trace_array *tr)
{
	struct trace_functions *f = tr->functions;

	if (f)
		return f;
	f = host_alloc(sizeof(*f));
	if (f)
		f->tr = tr;
	tr->functions = f;
	return f;
}

void trace_functions_drop(struct trace_array *tr)
{
	struct trace_functions *f = tr->functions;

	if (!f)
		return;
	for (unsigned i = 0; i < TRACE_FUNCTION_LISTS; i++) {
		host_free(f->lists[i]);
		trace_function_forget_modules(f, i);
	}
	trace_commands_drop(f);
	host_free(f);
	tr->functions = NULL;
}

void trace_functions_fill_set(u64 *set, const u64 *wanted, const u64 *unwanted)
{
	for (size_t i = 0; i < trace_function_set_size() / sizeof(u64); i++)
		set[i] = (wanted ? wanted[i] : ~0UL) & ~(unwanted ? unwanted[i] : 0);
}

u64 *trace_functions_make_set(const u64 *wanted, const u64 *unwanted)
{
	u64 *set = host_alloc(trace_function_set_size());

	if (set)
		trace_functions_fill_set(set, wanted, unwanted);
	return set;
}

struct trace_function_table *trace_function_make_table(const u64 *list)
{
	unsigned n = 0, bits = 6, room = list ? 8 : 2; /* a list is mostly asked for others */
	u64 addr;

	for (unsigned i = 0; i < host_function_count(); i++)
		n += !list || trace_function_in(list, i);
	while (1u << bits < room * n)
		bits++;
	struct trace_function_table *t = host_alloc(sizeof(*t) + (sizeof(u64) << bits));
	if (!t)
		return NULL;
	t->shift = 64 - bits;
	t->mask = (1u << bits) - 1;
	for (unsigned i = 0; i < host_function_count(); i++) {
		if ((list && !trace_function_in(list, i)) || !host_function(i, &addr))
			continue;
		u64 at = trace_function_first_place(t, addr);
		while (t->at[at])
			at = (at + 1) & t->mask;
		t->at[at] = addr;
	}
	return t;
}

/* ---- words ---- */

/* A number is one of the functions that can be traced, counted from 1. */
static int trace_function_by_number(u64 *set, const char *word, bool in)
{
	u64 number, addr;

	if (parse_u64(word, 10, &number) || !number)
		return -EINVAL;
	for (unsigned i = 0; i < host_function_count(); i++)
		if (host_function(i, &addr) && !--number) {
			trace_function_put(set, i, in);
			return 0;
		}
	return -EINVAL;
}

/* A name without wildcards may be another name of the function. */
static u64 trace_function_address(const char *word)
{
	return strcspn(word, "*?[\\") == strlen(word) ? host_sym_find(word, NULL) : 0;
}

/* `member`: only of those that are in the set. */
static int trace_function_by_pattern(u64 *set, const char *word, bool in, bool member)
{
	const struct filter_insn pattern = {.text = word};
	u64 address = trace_function_address(word), addr;
	const char *name;
	int err = -EINVAL;

	for (unsigned i = 0; i < host_function_count(); i++) {
		if (!(name = host_function(i, &addr)))
			continue;
		if (addr != address && !filter_match_glob(&pattern, name, strlen(name)))
			continue;
		if (member && !trace_function_in(set, i))
			continue;
		trace_function_put(set, i, in);
		err = 0;
	}
	return err;
}

int trace_function_set_word(u64 *set, const char *word)
{
	bool in = *word != '!';

	if (!in)
		word++;
	return is_digit(*word) ? trace_function_by_number(set, word, in)
			       : trace_function_by_pattern(set, word, in, false);
}

/* ---- FUNCTION:mod:MODULE ---- */

static int trace_function_add_module(
    struct trace_functions *f, enum trace_function_list which, const char *word, const char *module)
{
	size_t size = strlen(word) + strlen(module) + sizeof(":mod:");
	struct trace_function_module *m = host_alloc(sizeof(*m) + size);

	if (!m)
		return -ENOMEM;
	fmt_snprintf(m->text, size, "%s:mod:%s", word, module);
	m->functions = strlen(word);
	m->next = f->modules[which];
	f->modules[which] = m;
	return 0;
}

/* "*" means those of the module with any functions. */
static int trace_function_del_module(
    struct trace_functions *f, enum trace_function_list which, const char *word, const char *module)
{
	struct trace_function_module **at = &f->modules[which], *m;
	int err = -EINVAL;

	while ((m = *at)) {
		if (strcmp(m->text + m->functions + strlen(":mod:"), module) ||
		    (strcmp(word, "*") &&
			(strlen(word) != m->functions || memcmp(m->text, word, m->functions)))) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		host_free(m);
		err = 0;
	}
	return err;
}

/*
 * There are no modules: what is wanted of one is kept for the day when it comes, as on Linux. All
 * functions are outside a module.
 */
static int trace_function_edit_module(struct trace_function_edit *e, char *word, const char *module)
{
	struct trace_functions *f = e->tr->functions;

	if (!module)
		return trace_function_set_word(e->set, word);
	if (*module == '!' && !trace_function_set_word(e->set, *word ? word : "*"))
		return 0;
	return *word == '!' ? trace_function_del_module(f, e->which, word + 1, module)
			    : trace_function_add_module(f, e->which, word, module);
}

static void trace_function_forget_modules(struct trace_functions *f, enum trace_function_list which)
{
	struct trace_function_module *m;

	while ((m = f->modules[which])) {
		f->modules[which] = m->next;
		host_free(m);
	}
}

/* ---- a word of the file ---- */

/* Of function_graph's lists. */
static int trace_function_edit_graph(struct trace_function_edit *e, const char *word)
{
	bool in = *word != '!';

	if (!in)
		word++;
	return is_digit(*word) ? -EINVAL : trace_function_by_pattern(e->set, word, in, !in);
}

static bool trace_function_is_graphs(enum trace_function_list which)
{
	return which == TRACE_GRAPH_WANTED || which == TRACE_GRAPH_SILENT;
}

int trace_function_edit_word(struct trace_function_edit *e, char *word)
{
	if (trace_function_is_graphs(e->which))
		return trace_function_edit_graph(e, word);
	char *functions = strsep(&word, ":"), *name = strsep(&word, ":");

	if (!name)
		return trace_function_set_word(e->set, functions);
	if (e->which == TRACE_FUNCTIONS_STACK)
		return -ENODEV; /* as on Linux: mod and commands need an array */
	if (!strcmp(name, "mod"))
		return trace_function_edit_module(e, functions, word);
	return e->which == TRACE_FUNCTIONS_WANTED
		   ? trace_command_write(e->tr, functions, name, word)
		   : -EINVAL;
}

/* ---- changing ---- */

struct trace_function_edit *trace_function_edit_begin(
    struct trace_array *tr, enum trace_function_list which, bool empty)
{
	struct trace_functions *f = trace_functions_of(tr);
	struct trace_function_edit *e = f ? host_alloc(sizeof(*e)) : NULL;

	if (!e)
		return NULL;
	*e = (struct trace_function_edit){tr, which, host_alloc(trace_function_set_size()),
	    host_alloc(trace_function_set_size())};
	if (!e->set || !e->room) {
		host_free(e->set);
		host_free(e->room);
		host_free(e);
		return NULL;
	}
	if (empty)
		trace_function_forget_modules(f, which);
	else if (f->lists[which])
		memcpy(e->set, f->lists[which], trace_function_set_size());
	return e;
}

int trace_function_edit_end(struct trace_function_edit *e)
{
	u64 **list = &e->tr->functions->lists[e->which], *old = *list;
	u64 *set = trace_function_set_is_empty(e->set) ? NULL : e->set;
	bool graph = trace_function_is_graphs(e->which);
	int err = graph ? trace_graph_set_list(e->which, set) : 0;

	if (!err)
		*list = set;
	if (e->which == TRACE_FUNCTIONS_STACK)
		trace_stack_changed(e->room);
	else if (!graph)
		trace_functions_changed(e->tr, e->room);
	host_free(err ? NULL : old);
	host_free(err || !set ? e->set : NULL);
	host_free(e->room);
	host_free(e);
	return err;
}

/* ---- showing ---- */

void trace_function_list_show(struct seq *s, struct trace_array *tr, enum trace_function_list which)
{
	const struct trace_functions *f = tr->functions;
	const u64 *set = f ? f->lists[which] : NULL;
	const struct trace_function_module *m = f ? f->modules[which] : NULL;
	const char *name;
	u64 addr;

	if (!set && !(m && which == TRACE_FUNCTIONS_WANTED))
		seq_puts(s, which != TRACE_FUNCTIONS_UNWANTED && which != TRACE_GRAPH_SILENT
				? "#### all functions enabled ####\n"
				: "#### no functions disabled ####\n");
	for (unsigned i = 0; set && i < host_function_count(); i++)
		if (trace_function_in(set, i) && (name = host_function(i, &addr)))
			seq_printf(s, "%s\n", name);
	for (; m; m = m->next)
		seq_printf(s, "%s\n", m->text);
	if (which == TRACE_FUNCTIONS_WANTED)
		trace_commands_show(s, f);
}

/* As Linux: how many want it, whether with registers; and the entry of the only one. */
static void trace_function_show_state(
    struct seq *s, unsigned function, const char *name, const struct host_function_state *state)
{
	unsigned arrays, commands = trace_commands_count(function, &arrays);
	char fn[128];

	seq_printf(s, "%s (%u)%s         ", name, state->users + commands - arrays,
	    state->probed ? " R" : "  ");
	if (state->fn && commands < 2) {
		host_sym_print(fn, sizeof(fn), state->fn, true);
		seq_printf(s, "\ttramp: 0x%lx (%s) ->%s", state->entry, fn, fn);
	}
	seq_putc(s, '\n');
}

void trace_functions_show_enabled(struct seq *s, bool touched)
{
	struct host_function_state state;
	const char *name;
	u64 addr;

	for (unsigned i = 0; i < host_function_count() && !s->overflow; i++) {
		if (!(name = host_function(i, &addr)))
			continue;
		host_function_state(i, &state);
		if (touched ? state.touched : state.users)
			trace_function_show_state(s, i, name, &state);
	}
}
