/*
 * Which functions an array wants, by name, glob or number. Task context under host_lock. An array
 * has these lists from their first use on.
 */
#include "trace/function/function.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/filter/priv.h"
#include "trace/event/parts.h"
#include "trace/function/priv.h"
#include "trace/host_function.h"
#include "trace/host_memory.h"
#include "trace/host_symbol.h"

#define WORD_BITS 64

struct trace_function_edit {
	struct trace_array *tr;
	enum trace_function_list which;
	u64 *set;
};

static size_t trace_function_set_size(void)
{
	return (host_function_count() + WORD_BITS - 1) / WORD_BITS * sizeof(u64);
}

static bool trace_function_in(const u64 *set, unsigned i)
{
	return set[i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void trace_function_put(u64 *set, unsigned i, bool in)
{
	u64 bit = 1UL << i % WORD_BITS;

	set[i / WORD_BITS] = in ? set[i / WORD_BITS] | bit : set[i / WORD_BITS] & ~bit;
}

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
	host_free(f->lists[TRACE_FUNCTIONS_WANTED]);
	host_free(f->lists[TRACE_FUNCTIONS_UNWANTED]);
	host_free(f);
	tr->functions = NULL;
}

u64 *trace_functions_make_set(const struct trace_functions *f)
{
	const u64 *wanted = f->lists[TRACE_FUNCTIONS_WANTED],
		  *unwanted = f->lists[TRACE_FUNCTIONS_UNWANTED];
	size_t size = trace_function_set_size();
	u64 *set = host_alloc(size);

	for (size_t i = 0; set && i < size / sizeof(u64); i++)
		set[i] = (wanted ? wanted[i] : ~0UL) & ~(unwanted ? unwanted[i] : 0);
	return set;
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

static int trace_function_by_pattern(u64 *set, const char *word, bool in)
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
		trace_function_put(set, i, in);
		err = 0;
	}
	return err;
}

int trace_function_edit_word(struct trace_function_edit *e, char *word)
{
	bool in = *word != '!';

	if (!in)
		word++;
	return is_digit(*word) ? trace_function_by_number(e->set, word, in)
			       : trace_function_by_pattern(e->set, word, in);
}

/* ---- changing ---- */

struct trace_function_edit *trace_function_edit_begin(
    struct trace_array *tr, enum trace_function_list which, bool empty)
{
	struct trace_functions *f = trace_functions_of(tr);
	struct trace_function_edit *e = f ? host_alloc(sizeof(*e)) : NULL;

	if (!e)
		return NULL;
	*e = (struct trace_function_edit){tr, which, host_alloc(trace_function_set_size())};
	if (!e->set) {
		host_free(e);
		return NULL;
	}
	if (!empty && f->lists[which])
		memcpy(e->set, f->lists[which], trace_function_set_size());
	return e;
}

void trace_function_edit_end(struct trace_function_edit *e)
{
	u64 **list = &e->tr->functions->lists[e->which], *old = *list;
	bool empty = trace_function_set_is_empty(e->set);

	*list = empty ? NULL : e->set;
	trace_functions_changed(e->tr);
	host_free(old);
	if (empty)
		host_free(e->set);
	host_free(e);
}

/* ---- showing ---- */

void trace_function_list_show(struct seq *s, struct trace_array *tr, enum trace_function_list which)
{
	const u64 *set = tr->functions ? tr->functions->lists[which] : NULL;
	const char *name;
	u64 addr;

	if (!set)
		seq_puts(s, which == TRACE_FUNCTIONS_WANTED ? "#### all functions enabled ####\n"
							    : "#### no functions disabled ####\n");
	for (unsigned i = 0; set && i < host_function_count(); i++)
		if (trace_function_in(set, i) && (name = host_function(i, &addr)))
			seq_printf(s, "%s\n", name);
}

/* As Linux: how many want it, whether with registers; and the entry of the only one. */
static void trace_function_show_state(
    struct seq *s, const char *name, const struct host_function_state *state)
{
	char fn[128];

	seq_printf(s, "%s (%u)%s         ", name, state->users, state->probed ? " R" : "  ");
	if (state->fn) {
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
			trace_function_show_state(s, name, &state);
	}
}
