/*
 * Definitions of monitors. A definition is a text of statements, each ended by a line's end or by
 * ';' outside quotes; a '#' outside quotes begins a comment, up to the line's end:
 *
 *   monitor NAME global|cpu|task [DESCRIPTION]   begins it; one unit, or one per CPU, per task
 *   state NAME [initial] [final]                 without `initial` the first one is initial
 *   event NAME SYSTEM:EVENT [of FIELD] [start|run] [if FILTER]
 *                                                binds an event of the monitor; several may bind
 *                                                the same
 *   edge STATE EVENT STATE                       the event is allowed in the first state, and
 *                                                leads to the second
 *
 * `of`: the field with the number of the task whose unit it is, in place of the current one. A unit
 * is idle until a hit of `start`, which gives it the initial state, or of `run`, which then makes a
 * step from there. A definition whose bindings have neither begins by any of them, as with `run`.
 *
 * The parser cuts up a copy of the text; the names of the monitor stay in it. Task context under
 * host_lock.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/error_log.h"
#include "trace/filter/compile.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/rv/rv.h"

static const char *const scopes[] = {[RV_GLOBAL] = "global", [RV_CPU] = "cpu", [RV_TASK] = "task"};
static const char *const begins[] = {[RV_FOLLOWS] = "", [RV_STARTS] = "start", [RV_RUNS] = "run"};

struct rv_parser {
	const char *source;   /* the text as it was written */
	char *copy;	      /* the same, cut up as far as it was read; the monitor's in the end */
	char *statement;      /* the one that is read ... */
	char *at;	      /* ... and what is left of it */
	char *next;	      /* what follows it */
	struct rv_monitor *m; /* NULL: no definition has begun */
	bool initial_given;
	const char *error; /* NULL: none, or none to report */
	u32 pos;	   /* of the error, in the text */
};

static int rv_fail(struct rv_parser *p, const char *at, const char *error)
{
	p->error = error;
	p->pos = at - p->copy;
	return -EINVAL;
}

/* ---- words ---- */

static char *rv_skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/* The next word of the statement; at its end an empty one. */
static char *rv_word(struct rv_parser *p)
{
	char *word = rv_skip_blanks(p->at), *end = word + strcspn(word, " \t\r");

	p->at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* The end of the statement at `at`: where a comment begins, or where the statement is ended. */
static char *rv_statement_end(char *at)
{
	char quote = '\0';

	for (; *at && *at != '\n'; at++) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		else if (!quote && (*at == ';' || *at == '#'))
			break;
	}
	return at;
}

/* Cuts the next statement that is not empty out of the text; false: there is none. */
static bool rv_next_statement(struct rv_parser *p)
{
	do {
		if (!*p->next)
			return false;
		char *end = rv_statement_end(p->next);
		char *rest = *end == '#' ? end + strcspn(end, "\n") : end;

		p->at = p->statement = rv_skip_blanks(p->next);
		p->next = *rest ? rest + 1 : rest;
		*end = '\0';
	} while (!*p->statement);
	return true;
}

static int rv_parse_name(struct rv_parser *p, const char *missing, const char **name)
{
	char *word = rv_word(p);
	const char *end = word;

	if (!*word)
		return rv_fail(p, word, missing);
	while (is_alnum(*end) || *end == '_')
		end++;
	if (*end || is_digit(*word))
		return rv_fail(p, *end ? end : word,
		    "A name has letters, digits and _, and begins with no digit");
	if (end - word > RV_NAME_MAX)
		return rv_fail(p, word + RV_NAME_MAX, "A name has at most 31 characters");
	*name = word;
	return 0;
}

static int rv_parse_end(struct rv_parser *p)
{
	char *word = rv_word(p);

	return *word ? rv_fail(p, word, "The statement ends before this word") : 0;
}

/* Place of the name in the list; n: it is not there. */
static u32 rv_index(const char *const *names, u32 n, const char *name)
{
	u32 i = 0;

	while (i < n && strcmp(names[i], name))
		i++;
	return i;
}

/* ---- statements ---- */

static int rv_parse_scope(struct rv_parser *p)
{
	char *word = rv_word(p);
	u32 scope = rv_index(scopes, ARRAY_SIZE(scopes), word);

	if (scope == ARRAY_SIZE(scopes))
		return rv_fail(p, word, "A monitor is global, cpu or task");
	p->m->scope = scope;
	p->m->description = strstrip(p->at);
	return 0;
}

static int rv_parse_monitor(struct rv_parser *p)
{
	p->m = host_alloc(sizeof(*p->m));
	if (!p->m)
		return -ENOMEM;
	memset(p->m->to, RV_IDLE, sizeof(p->m->to));
	p->initial_given = false;
	int err = rv_parse_name(p, "The monitor has no name", &p->m->name);
	return err ? err : rv_parse_scope(p);
}

static int rv_parse_state_word(struct rv_parser *p, char *word, u32 state)
{
	if (!strcmp(word, "final")) {
		p->m->final |= 1u << state;
	} else if (strcmp(word, "initial")) {
		return rv_fail(p, word, "A state is initial or final, or both");
	} else if (p->initial_given) {
		return rv_fail(p, word, "Another state is initial");
	} else {
		p->m->initial = state;
		p->initial_given = true;
	}
	return 0;
}

static int rv_parse_state(struct rv_parser *p)
{
	struct rv_monitor *m = p->m;
	const char *name;
	int err = rv_parse_name(p, "The state has no name", &name);

	if (!err && rv_index(m->states, m->n_states, name) < m->n_states)
		err = rv_fail(p, name, "There is such a state");
	else if (!err && m->n_states == RV_STATES_MAX)
		err = rv_fail(p, name, "A monitor has at most 32 states");
	if (err)
		return err;
	m->states[m->n_states++] = name;
	for (char *word = rv_word(p); *word && !err; word = rv_word(p))
		err = rv_parse_state_word(p, word, m->n_states - 1);
	return err;
}

static int rv_parse_call(struct rv_parser *p, struct rv_binding *b)
{
	char *system = rv_word(p), *name = strchr(system, ':');

	if (!*system || !name)
		return rv_fail(p, system, "An event is bound to SYSTEM:EVENT");
	*name++ = '\0';
	if (!strcmp(system, RV_SYSTEM))
		return rv_fail(p, system, "Monitors cannot follow monitors");
	b->call = trace_event_find(system, name);
	if (b->call && !(b->call->flags & TRACE_CALL_NO_ENABLE))
		return 0;
	rv_fail(p, system, "There is no such event");
	return -ENOENT;
}

static int rv_bind_field(struct rv_binding *b, const char *name)
{
	const struct trace_event_field *f = b->call->class->fields(b->call);

	while (f && f->name && strcmp(f->name, name))
		f++;
	if (!f || !f->name || f->kind != TRACE_FIELD_NUMBER || f->size > sizeof(u64))
		return -EINVAL;
	b->field = name;
	b->offset = f->offset;
	b->size = f->size;
	return 0;
}

static int rv_parse_field(struct rv_parser *p, struct rv_binding *b, const char *of)
{
	char *name = rv_word(p);

	if (p->m->scope != RV_TASK)
		return rv_fail(p, of, "Only a monitor of tasks has units by number");
	if (!*name || rv_bind_field(b, name))
		return rv_fail(p, name, "The event has no such field with a number");
	return 0;
}

static int rv_parse_filter(struct rv_parser *p, struct rv_binding *b)
{
	struct trace_filter_error why;
	char *text = rv_skip_blanks(p->at);

	p->at = text + strlen(text);
	strstrip(text);
	if (!*text)
		return rv_fail(p, text, "There is no filter after this word");
	int err = trace_filter_create(b->call, text, &b->trigger.filter, &why);
	if (err == -EINVAL)
		rv_fail(p, text + MIN((size_t)why.pos, strlen(text)), why.text);
	return err;
}

static int rv_parse_binding_words(struct rv_parser *p, struct rv_binding *b)
{
	char *word = rv_word(p);
	int err = 0;

	if (!strcmp(word, "of")) {
		err = rv_parse_field(p, b, word);
		word = rv_word(p);
	}
	for (u32 i = RV_STARTS; !err && i <= RV_RUNS; i++)
		if (!strcmp(word, begins[i])) {
			b->begin = i;
			word = rv_word(p);
			break;
		}
	if (err || !*word)
		return err;
	if (strcmp(word, "if"))
		return rv_fail(p, word, "This word has no meaning here");
	return rv_parse_filter(p, b);
}

static struct rv_binding *rv_add_binding(struct rv_monitor *m)
{
	struct rv_binding **at = &m->bindings, *b = host_alloc(sizeof(*b));

	if (!b)
		return NULL;
	while (*at)
		at = &(*at)->next;
	b->monitor = m;
	*at = b;
	return b;
}

static int rv_parse_event(struct rv_parser *p)
{
	struct rv_monitor *m = p->m;
	struct rv_binding *b;
	const char *name;
	int err = rv_parse_name(p, "The event has no name", &name);

	if (err)
		return err;
	u32 event = rv_index(m->events, m->n_events, name);
	if (event == RV_EVENTS_MAX)
		return rv_fail(p, name, "A monitor has at most 32 events");
	if (!(b = rv_add_binding(m)))
		return -ENOMEM;
	if (event == m->n_events)
		m->events[m->n_events++] = name;
	b->event = event;
	err = rv_parse_call(p, b);
	return err ? err : rv_parse_binding_words(p, b);
}

static int rv_parse_known(struct rv_parser *p, const char *const *names, u32 n, const char *missing,
    const char *unknown, u32 *index)
{
	const char *name;
	int err = rv_parse_name(p, missing, &name);

	if (err)
		return err;
	*index = rv_index(names, n, name);
	return *index < n ? 0 : rv_fail(p, name, unknown);
}

static int rv_parse_edge(struct rv_parser *p)
{
	static const char form[] = "An edge is STATE EVENT STATE",
			  state[] = "There is no such state";
	struct rv_monitor *m = p->m;
	u32 from, event, to;
	int err = rv_parse_known(p, m->states, m->n_states, form, state, &from);

	if (!err)
		err = rv_parse_known(
		    p, m->events, m->n_events, form, "The monitor has no such event", &event);
	if (!err)
		err = rv_parse_known(p, m->states, m->n_states, form, state, &to);
	if (err)
		return err;
	if (m->to[from][event] != RV_IDLE)
		return rv_fail(p, p->statement, "The state has an edge for this event already");
	m->to[from][event] = to;
	return 0;
}

static const struct {
	const char *word;
	int (*parse)(struct rv_parser *p);
} statements[] = {
    {"monitor", rv_parse_monitor},
    {"state", rv_parse_state},
    {"event", rv_parse_event},
    {"edge", rv_parse_edge},
};

/* ---- a definition that is whole ---- */

/* A task begins idle, whatever the last one of its number did. */
static int rv_add_forgetting(struct rv_monitor *m)
{
	struct trace_event_call *call = trace_event_find("sched", "sched_process_fork");
	struct rv_binding *b;

	if (m->scope != RV_TASK || !call)
		return 0;
	b = rv_add_binding(m);
	if (!b)
		return -ENOMEM;
	b->call = call;
	b->begin = RV_FORGETS;
	return rv_bind_field(b, "child_pid");
}

/* A definition without a word of where it begins does so at any event. */
static void rv_set_begin(struct rv_monitor *m)
{
	for (const struct rv_binding *b = m->bindings; b; b = b->next)
		if (b->begin != RV_FOLLOWS)
			return;
	for (struct rv_binding *b = m->bindings; b; b = b->next)
		b->begin = RV_RUNS;
}

/* What the names of the monitor are in. */
static int rv_keep_text(struct rv_parser *p)
{
	size_t size = p->next - p->copy;
	char *text = host_alloc(size + 1);
	struct rv_monitor *m = p->m;

	if (!text)
		return -ENOMEM;
	memcpy(text, p->copy, size);
	m->text = text;
	m->name += text - p->copy;
	m->description += text - p->copy;
	for (u32 i = 0; i < m->n_states; i++)
		m->states[i] += text - p->copy;
	for (u32 i = 0; i < m->n_events; i++)
		m->events[i] += text - p->copy;
	for (struct rv_binding *b = m->bindings; b; b = b->next)
		if (b->field)
			b->field += text - p->copy;
	return 0;
}

/* The monitor's name is where the carets of what concerns all of it are. */
static int rv_finish(struct rv_parser *p, bool built_in)
{
	struct rv_monitor *m = p->m;
	const char *name = m ? m->name : NULL;
	int err;

	if (!m)
		return 0;
	if (!m->n_states)
		return rv_fail(p, name, "The monitor has no state");
	if (!m->n_events)
		return rv_fail(p, name, "The monitor has no event");
	rv_set_begin(m);
	m->built_in = built_in;
	err = rv_keep_text(p);
	if (!err)
		err = rv_add_forgetting(m);
	if (!err)
		err = rv_register(m);
	if (!err)
		p->m = NULL;
	else if (err == -EEXIST)
		rv_fail(p, name, "There is such a monitor, or one of its events");
	else if (err == -ENOSPC)
		rv_fail(p, name, "There are as many monitors as there may be");
	return err;
}

static int rv_remove(struct rv_parser *p)
{
	const char *name;
	int err;

	p->at = p->statement + 1;
	err = rv_parse_name(p, "There is no name after this", &name);
	if (!err)
		err = rv_parse_end(p);
	if (err)
		return err;
	struct rv_monitor *m = rv_find(name);
	if (!m || m->built_in) {
		rv_fail(
		    p, name, m ? "This monitor is the kernel's own" : "There is no such monitor");
		return m ? -EINVAL : -ENOENT;
	}
	err = rv_unregister(m);
	if (err)
		rv_fail(p, name, "The monitor or one of its events is enabled");
	return err;
}

/* ---- a text ---- */

static int rv_parse_statement(struct rv_parser *p, bool built_in)
{
	int err = 0;

	if (*p->statement == '!') {
		err = rv_finish(p, built_in);
		return err ? err : rv_remove(p);
	}
	const char *word = rv_word(p);
	if (!strcmp(word, statements[0].word))
		err = rv_finish(p, built_in);
	if (err)
		return err;
	for (u32 i = 0; i < ARRAY_SIZE(statements); i++) {
		if (strcmp(word, statements[i].word))
			continue;
		if (!p->m && i)
			return rv_fail(p, word, "A definition begins with the word monitor");
		err = statements[i].parse(p);
		return err || !i ? err : rv_parse_end(p);
	}
	return rv_fail(p, word, "A statement is one of monitor, state, event, edge");
}

static int rv_parse_text(struct rv_parser *p, bool built_in)
{
	int err = 0;

	while (!err && rv_next_statement(p))
		err = rv_parse_statement(p, built_in);
	if (!err)
		err = rv_finish(p, built_in);
	if (p->m)
		rv_free(p->m);
	return err;
}

/* Shows the line that the error is in. */
static void rv_log_error(const struct rv_parser *p)
{
	u32 begin = p->pos, end = p->pos;

	while (begin && p->source[begin - 1] != '\n')
		begin--;
	while (p->source[end] && p->source[end] != '\n')
		end++;
	char *line = host_alloc(end - begin + 1);
	if (!line)
		return;
	memcpy(line, p->source + begin, end - begin);
	trace_error_log(trace_global, "rv", line, p->error, p->pos - begin);
	host_free(line);
}

static int rv_define_text(const char *text, size_t n, bool built_in)
{
	struct rv_parser p = {.source = text, .copy = host_alloc(n + 1)};

	if (!p.copy)
		return -ENOMEM;
	p.next = memcpy(p.copy, text, n);
	int err = rv_parse_text(&p, built_in);
	if (err && p.error && !built_in)
		rv_log_error(&p);
	host_free(p.copy);
	return err;
}

int rv_define(const char *text, size_t n)
{
	if (n > RV_TEXT_MAX || memchr(text, '\0', n))
		return -EINVAL;
	char *copy = host_alloc(n + 1); /* with a NUL at its end */
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, n);
	int err = rv_define_text(copy, n, false);
	host_free(copy);
	return err;
}

/* ---- listing and removing ---- */

static void rv_show_binding(struct seq *s, const struct rv_monitor *m, const struct rv_binding *b)
{
	seq_printf(s, "event %s %s:%s", m->events[b->event], b->call->class->system, b->call->name);
	if (b->field)
		seq_printf(s, " of %s", b->field);
	if (*begins[b->begin])
		seq_printf(s, " %s", begins[b->begin]);
	if (b->trigger.filter)
		seq_printf(s, " if %s", trace_filter_text(b->trigger.filter));
	seq_putc(s, '\n');
}

static void rv_show_monitor(struct seq *s, const struct rv_monitor *m)
{
	seq_printf(s, "monitor %s %s%s%s\n", m->name, scopes[m->scope], *m->description ? " " : "",
	    m->description);
	for (u32 i = 0; i < m->n_states; i++)
		seq_printf(s, "state %s%s%s\n", m->states[i], i == m->initial ? " initial" : "",
		    m->final >> i & 1 ? " final" : "");
	for (const struct rv_binding *b = m->bindings; b; b = b->next)
		if (b->begin != RV_FORGETS)
			rv_show_binding(s, m, b);
	for (u32 from = 0; from < m->n_states; from++)
		for (u32 event = 0; event < m->n_events; event++)
			if (m->to[from][event] != RV_IDLE)
				seq_printf(s, "edge %s %s %s\n", m->states[from], m->events[event],
				    m->states[m->to[from][event]]);
}

void rv_define_show(struct seq *s)
{
	const struct rv_monitor *m;

	list_for_each_entry (m, &rv_monitors, node)
		if (!m->built_in)
			rv_show_monitor(s, m);
}

int rv_define_clear(void)
{
	struct rv_monitor *m, *next;
	int err = 0;

	list_for_each_entry (m, &rv_monitors, node)
		if (!m->built_in && rv_is_busy(m))
			return -EBUSY;
	list_for_each_entry_safe (m, next, &rv_monitors, node)
		if (!m->built_in && !err)
			err = rv_unregister(m);
	return err;
}

/* ---- the kernel's own ---- */

extern const char *const __start_rv_texts[], *const __stop_rv_texts[]; /* the linker's */

void rv_init(void)
{
	for (const char *const *text = __start_rv_texts; text < __stop_rv_texts; text++) {
		int err = rv_define_text(*text, strlen(*text), true);
		if (err && err != -ENOENT)
			host_log(
			    "rv: error %d in the definition that begins \"%.16s\"", err, *text);
	}
}
