/*
 * A trace of system calls as lines of strace. See strace.h.
 *
 * Two passes: the first pairs the records of each task into calls and lists what happened in
 * order, so that a call's beginning can show what only the probe on its return recorded. The
 * second writes the lines. A line is left open while its call runs; if another task's line comes
 * first, it ends with <unfinished ...> and is resumed later.
 */
#include "tools/trapline/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tools/trapline/lib/words.h"

#define RESULT_COLUMN 40
#define SENT_MOST     2048 /* signals on their way: more than the kernel queues */

/* signal_generate's result; higher ones: the signal was not sent */
#define SIGNAL_IGNORED 1

enum happening_kind { CALL_BEGINS, CALL_RETURNS, SIGNAL_COMES, TASK_ENDS, EVENTS_LOST };

/* A signal on its way. */
struct signal_sent {
	int32_t target; /* to which task, or the first of its process */
	int sig, code;
	int32_t pid, status; /* who sent it; how the child ended */
	uint64_t address;    /* of a fault, or the value that came along */
	bool stops;	     /* the task that takes it */
};

struct happening {
	enum happening_kind kind;
	int32_t pid;
	struct strace_call *call;
	struct signal_sent signal;
	uint64_t number; /* status of a task that ends; events that are lost, 0: nobody knows */
};

struct task {
	int32_t pid;
	struct strace_call *call; /* that it is in, by number + 1 */
	bool raw;		  /* raw_syscalls reported it, too */
	bool seen, ended;	  /* by lines */
	struct signal_sent *ignored;
	size_t ignored_count;
};

struct strace {
	struct trace *trace;
	FILE *out;
	struct happening *happening;
	size_t happenings;
	struct strace_call **call; /* all, to be freed */
	size_t calls;
	struct task **task;
	size_t tasks;
	struct map by_pid;		    /* number in `task` + 1 */
	struct signal_sent sent[SENT_MOST]; /* and not yet taken, the oldest first */
	size_t sent_count;
	/* the second pass */
	int32_t open; /* the task of the open line; 0: none */
	size_t column;
	unsigned living;
	bool first_seen, file;
};

static struct task *task_of(struct strace *s, int32_t pid)
{
	uint64_t *at = map_at(&s->by_pid, (uint32_t)pid);

	if (!*at) {
		s->task = xrealloc(s->task, (s->tasks + 1) * sizeof(*s->task));
		s->task[s->tasks] = xmalloc(sizeof(**s->task));
		s->task[s->tasks]->pid = pid;
		*at = ++s->tasks;
	}
	return s->task[*at - 1];
}

static struct happening *add(struct strace *s, enum happening_kind kind, int32_t pid)
{
	/* grown by halves: there is one for each record, nearly */
	if (!(s->happenings & (s->happenings - 1)))
		s->happening = xrealloc(
		    s->happening, (s->happenings ? 2 * s->happenings : 1) * sizeof(*s->happening));
	struct happening *h = &s->happening[s->happenings++];
	*h = (struct happening){.kind = kind, .pid = pid};
	return h;
}

/* ---- the first pass ---- */

static uint64_t number_of(const struct record *r, const char *name)
{
	const struct field *f = event_field(r->event, name);
	struct value v = {.kind = VALUE_NONE};

	if (f)
		field_value(f, r->data, r->size, &v);
	return v.kind == VALUE_INT || v.kind == VALUE_UINT ? v.n : 0;
}

/* Reports signals that the task ignored during a call: strace, which stops it, sees them then. */
static void tell_ignored(struct strace *s, struct task *t)
{
	for (size_t i = 0; i < t->ignored_count; i++)
		add(s, SIGNAL_COMES, t->pid)->signal = t->ignored[i];
	t->ignored_count = 0;
}

static struct strace_call *begin_call(struct strace *s, const struct record *r, uint32_t nr)
{
	const struct strace_row *row = strace_row(nr);
	struct task *t = task_of(s, r->pid);
	struct strace_call *c = row ? xmalloc(sizeof(*c)) : NULL;

	t->call = c;
	t->raw = false;
	if (!c)
		return NULL;
	tell_ignored(s, t);
	*c = (struct strace_call){.row = row, .nr = nr, .pid = r->pid, .enter = *r};
	if (!(s->calls & (s->calls - 1)))
		s->call = xrealloc(s->call, (s->calls ? 2 * s->calls : 1) * sizeof(*s->call));
	s->call[s->calls++] = c;
	add(s, CALL_BEGINS, r->pid)->call = c;
	return c;
}

static void take_enter(struct strace *s, const struct record *r)
{
	struct strace_call *c = begin_call(s, r, number_of(r, "__syscall_nr"));
	size_t first = r->event->commons + 1; /* after the number of the call */

	for (size_t i = 0; c && i < STRACE_ARGUMENTS && first + i < r->event->fields; i++) {
		struct value v;
		field_value(&r->event->field[first + i], r->data, r->size, &v);
		c->arg[i] = v.kind == VALUE_INT || v.kind == VALUE_UINT ? v.n : 0;
	}
}

/* Skips a call that an event of its own has reported. */
static void take_raw_enter(struct strace *s, const struct record *r)
{
	struct task *t = task_of(s, r->pid);
	const struct field *f = event_field(r->event, "args");
	uint32_t nr = number_of(r, "id");
	struct strace_call *c;
	struct value v;

	if (t->call && t->call->nr == nr && !t->raw) {
		t->raw = true;
		return;
	}
	c = begin_call(s, r, nr);
	if (!c || !f)
		return;
	t->raw = true;
	field_value(f, r->data, r->size, &v);
	for (size_t i = 0; v.kind == VALUE_ARRAY && i < v.length && i < STRACE_ARGUMENTS; i++)
		c->arg[i] = value_item(&v, i);
}

static void take_exit(struct strace *s, const struct record *r)
{
	struct task *t = task_of(s, r->pid);

	if (!t->call)
		return;
	t->call->result = number_of(r, "ret");
	t->call->returned = true;
	add(s, CALL_RETURNS, r->pid)->call = t->call;
	t->call = NULL;
	tell_ignored(s, t);
}

static void drop_sent(struct strace *s, size_t i)
{
	s->sent_count--;
	memmove(&s->sent[i], &s->sent[i + 1], (s->sent_count - i) * sizeof(*s->sent));
}

static void take_signal_sent(struct strace *s, const struct record *r, bool forced)
{
	if (s->sent_count == SENT_MOST)
		drop_sent(s, 0);
	s->sent[s->sent_count++] = (struct signal_sent){
	    .target = forced ? r->pid : (int32_t)number_of(r, "target"),
	    .sig = number_of(r, "sig"),
	    .code = number_of(r, "code"),
	    .pid = number_of(r, "pid"),
	    .status = number_of(r, "status"),
	    .address = number_of(r, "address"),
	};
}

/* Finds a signal on its way: one sent to this task comes before one to others of its process. */
static struct signal_sent find_signal(struct strace *s, int32_t pid, int sig, int code)
{
	struct signal_sent found = {.target = pid, .sig = sig, .code = code};
	size_t at = s->sent_count;

	for (size_t i = 0; i < s->sent_count; i++) {
		const struct signal_sent *one = &s->sent[i];
		if (one->sig != sig || one->code != code)
			continue;
		if (at == s->sent_count || one->target == pid)
			at = i;
		if (one->target == pid)
			break;
	}
	if (at == s->sent_count)
		return found;
	found = s->sent[at];
	drop_sent(s, at);
	return found;
}

/* Forgets the signal sent last, which the kernel dropped: one like it is pending. */
static void forget_signal(struct strace *s, int32_t pid, int sig, int code)
{
	for (size_t i = s->sent_count; i-- > 0;) {
		const struct signal_sent *one = &s->sent[i];
		if (one->target == pid && one->sig == sig && one->code == code) {
			drop_sent(s, i);
			return;
		}
	}
}

static void take_signal(struct strace *s, const struct record *r)
{
	bool generated = !strcmp(r->event->name, "signal_generate");
	int sig = number_of(r, "sig"), code = number_of(r, "code");
	uint64_t result = number_of(r, "result");
	struct task *t;

	if (sig == 9) /* SIGKILL ends a task that does not see it come */
		return;
	if (!generated) {
		struct happening *h = add(s, SIGNAL_COMES, r->pid);
		h->signal = find_signal(s, r->pid, sig, code);
		h->signal.stops = sig >= 19 && sig <= 22 && !number_of(r, "sa_handler");
		return;
	}
	t = task_of(s, number_of(r, "pid"));
	if (result > SIGNAL_IGNORED)
		forget_signal(s, t->pid, sig, code);
	if (result != SIGNAL_IGNORED) /* signal_deliver reports the others */
		return;
	t->ignored = xrealloc(t->ignored, (t->ignored_count + 1) * sizeof(*t->ignored));
	t->ignored[t->ignored_count++] = find_signal(s, t->pid, sig, code);
}

/* Takes a record of one of our probes. */
static void take_probed(struct strace *s, const struct record *r)
{
	struct task *t = task_of(s, r->pid);
	bool before;
	int nr;

	if (!strcmp(r->event->name, "end")) {
		t->call = NULL;
		add(s, TASK_ENDS, r->pid)->number = number_of(r, "code");
		return;
	}
	if (!strncmp(r->event->name, "signal_", strlen("signal_"))) {
		take_signal_sent(s, r, !strcmp(r->event->name, "signal_forced"));
		return;
	}
	nr = strace_probed(r->event->name, &before);
	if (t->call && t->call->nr == (uint32_t)nr)
		*(before ? &t->call->before : &t->call->after) = *r;
}

static void take(struct strace *s, const struct record *r)
{
	const char *system = r->event ? r->event->system : "",
		   *name = r->event ? r->event->name : "";

	if (r->is_gap)
		add(s, EVENTS_LOST, 0)->number = r->lost;
	else if (!strcmp(system, "syscalls") && !strncmp(name, "sys_enter_", 10))
		take_enter(s, r);
	else if (!strcmp(system, "syscalls"))
		take_exit(s, r);
	else if (!strcmp(system, "raw_syscalls") && !strcmp(name, "sys_enter"))
		take_raw_enter(s, r);
	else if (!strcmp(system, "raw_syscalls"))
		take_exit(s, r);
	else if (!strcmp(system, STRACE_SYSTEM))
		take_probed(s, r);
	else if (!strcmp(system, "signal"))
		take_signal(s, r);
}

/* ---- lines ---- */

static void put(struct strace *s, const char *text)
{
	const char *line = strrchr(text, '\n');

	fputs(text, s->out);
	s->column = line ? strlen(line + 1) : s->column + strlen(text);
}

static void end_open_line(struct strace *s)
{
	if (s->open)
		put(s, " <unfinished ...>\n");
	s->open = 0;
}

/* Begins a line of a task; of the first one when others live, too. */
static void begin_line(struct strace *s, int32_t pid)
{
	struct task *t = task_of(s, pid);
	char text[64];

	end_open_line(s);
	if (!t->seen) {
		t->seen = true;
		s->living++;
		if (s->first_seen && !s->file) {
			snprintf(text, sizeof(text), "strace: Process %d attached\n", pid);
			put(s, text);
		}
		s->first_seen = true;
	}
	s->column = 0;
	if (s->file || s->living > 1) {
		snprintf(text, sizeof(text), s->file ? "%-5d " : "[pid %5d] ", pid);
		put(s, text);
	}
}

/* An argument as text; to be freed. */
static char *argument(const struct strace_call *c, unsigned at)
{
	const struct strace_kind *kind = c->row->arg[at];
	char *text = NULL;
	size_t size;
	struct strace_put p = {open_memstream(&text, &size), c, at, kind};

	if (!p.out)
		die(EXIT_TROUBLE, "out of memory");
	if (kind)
		kind->put(&p, c->arg[at]);
	else
		fprintf(p.out, "%#" PRIx64, c->arg[at]);
	fclose(p.out);
	return text;
}

/* The number of arguments. A call without kinds in strace.h has those of its event. */
static unsigned arguments(const struct strace_call *c)
{
	unsigned n = 0;

	while (n < STRACE_ARGUMENTS && c->row->arg[n])
		n++;
	if (!c->row->result) {
		bool raw = !strcmp(c->enter.event->system, "raw_syscalls");
		size_t fields = c->enter.event->fields - c->enter.event->commons - 1;
		n = raw || fields > STRACE_ARGUMENTS ? STRACE_ARGUMENTS : fields;
	}
	return n;
}

/* The first argument that the call fills; the number of arguments if there is none. */
static unsigned first_out(const struct strace_call *c)
{
	unsigned i = 0, n = arguments(c);

	while (i < n && !(c->row->arg[i] && c->row->arg[i]->is_out))
		i++;
	return i;
}

/* Some of the arguments; `comma`: there was one before. True: there was one. */
static bool put_arguments(
    struct strace *s, const struct strace_call *c, unsigned from, unsigned to, bool comma)
{
	for (unsigned i = from; i < to; i++) {
		char *text = argument(c, i);
		if (*text && comma)
			put(s, ", ");
		put(s, text);
		comma |= *text != '\0';
		free(text);
	}
	return comma;
}

static bool has_arguments(const struct strace_call *c, unsigned from, unsigned to)
{
	bool any = false;

	for (unsigned i = from; i < to && !any; i++) {
		char *text = argument(c, i);
		any = *text != '\0';
		free(text);
	}
	return any;
}

static void put_error(FILE *out, int64_t error)
{
	static const struct strace_name restarts[] = {
	    {512, "ERESTARTSYS (To be restarted if SA_RESTART is set)"},
	    {513, "ERESTARTNOINTR (To be restarted)"},
	    {514, "ERESTARTNOHAND (To be restarted if no handler)"},
	    {516, "ERESTART_RESTARTBLOCK (Interrupted by signal)"}, {0, NULL}};
	const char *restart = strace_name(&(struct strace_names){restarts, NULL}, error);

	if (restart)
		fprintf(out, "? %s", restart);
	else
		fprintf(out, "-1 %s (%s)", errno_name(error) ? errno_name(error) : "E???",
		    errno_text(error));
}

/* ") = RESULT" and what belongs to it. */
static void put_result(struct strace *s, const struct strace_call *c)
{
	char *text = NULL;
	size_t size;
	struct strace_put p = {open_memstream(&text, &size), c, STRACE_ARGUMENTS, NULL};

	if (!p.out)
		die(EXIT_TROUBLE, "out of memory");
	put(s, ") ");
	fprintf(
	    p.out, "%*s= ", s->column < RESULT_COLUMN ? (int)(RESULT_COLUMN - s->column) : 0, "");
	if (strace_failed(c))
		put_error(p.out, -c->result);
	else if (c->row->result)
		c->row->result(&p);
	else
		fprintf(p.out, "%" PRId64, c->result);
	putc('\n', p.out);
	fclose(p.out);
	put(s, text);
	free(text);
	s->open = 0;
}

static void put_begin(struct strace *s, const struct strace_call *c)
{
	unsigned out = first_out(c), n = arguments(c);
	bool any;

	begin_line(s, c->pid);
	put(s, c->row->name);
	put(s, "(");
	any = put_arguments(s, c, 0, out, false);
	if (any && has_arguments(c, out, n))
		put(s, ", ");
	s->open = c->pid;
	if (strace_never_returns(c))
		put_result(s, c);
}

static void put_return(struct strace *s, const struct strace_call *c)
{
	if (s->open != c->pid) {
		begin_line(s, c->pid);
		put(s, "<... ");
		put(s, c->row->name);
		put(s, " resumed>");
	}
	put_arguments(s, c, first_out(c), arguments(c), false);
	put_result(s, c);
}

static void put_code(FILE *out, const struct signal_sent *g)
{
	enum strace_cause cause = strace_put_code(out, g->sig, g->code);

	if (g->code == 0x80) /* the kernel's own has no more */
		return;
	if (cause == STRACE_FAULT) {
		fputs(", si_addr=", out);
		fprintf(out, g->address ? "%#" PRIx64 : "NULL", g->address);
		return;
	}
	if (g->code == -2)
		fprintf(out, ", si_timerid=%d, si_overrun=0", g->pid);
	else
		fprintf(out, ", si_pid=%d, si_uid=0", g->pid);
	if (g->code == -2 || (g->code == -1 && g->address)) {
		fprintf(out, ", si_int=%d, si_ptr=", (int32_t)g->address);
		fprintf(out, g->address ? "%#" PRIx64 : "NULL", g->address);
	}
	if (cause != STRACE_CHILD)
		return;
	fputs(", si_status=", out);
	if (g->code == 1)
		fprintf(out, "%d", g->status);
	else
		strace_put_value(out, &strace_signals, g->status);
	fputs(", si_utime=0, si_stime=0", out);
}

static void put_signal(struct strace *s, const struct happening *h)
{
	begin_line(s, h->pid);
	fputs("--- ", s->out);
	strace_put_value(s->out, &strace_signals, h->signal.sig);
	fputs(" {si_signo=", s->out);
	strace_put_value(s->out, &strace_signals, h->signal.sig);
	fputs(", si_code=", s->out);
	put_code(s->out, &h->signal);
	fputs("} ---\n", s->out);
	if (!h->signal.stops)
		return;
	begin_line(s, h->pid);
	fputs("--- stopped by ", s->out);
	strace_put_value(s->out, &strace_signals, h->signal.sig);
	fputs(" ---\n", s->out);
}

static void put_end(struct strace *s, const struct happening *h)
{
	struct task *t = task_of(s, h->pid);

	if (t->ended)
		return;
	begin_line(s, h->pid);
	if (h->number & 0x7f) {
		fputs("+++ killed by ", s->out);
		strace_put_value(s->out, &strace_signals, h->number & 0x7f);
		fputs(" +++\n", s->out);
	} else {
		fprintf(s->out, "+++ exited with %u +++\n", (unsigned)(h->number >> 8 & 0xff));
	}
	t->ended = true;
	s->living--;
}

static void put_happening(struct strace *s, const struct happening *h)
{
	switch (h->kind) {
	case CALL_BEGINS:
		put_begin(s, h->call);
		break;
	case CALL_RETURNS:
		put_return(s, h->call);
		break;
	case SIGNAL_COMES:
		put_signal(s, h);
		break;
	case TASK_ENDS:
		put_end(s, h);
		break;
	case EVENTS_LOST:
		end_open_line(s);
		if (h->number)
			fprintf(s->out, "strace: %" PRIu64 " events are missing here\n", h->number);
		else
			fputs("strace: events are missing here\n", s->out);
		break;
	}
}

/*
 * Where the lines begin. A recording of ours begins in the shell that becomes the program: the
 * first execve that succeeds is the program's.
 */
static size_t first_happening(const struct strace *s)
{
	bool ours = false;

	for (size_t i = 0; i < s->trace->events; i++)
		ours |= !strcmp(s->trace->event[i].system, STRACE_SYSTEM);
	for (size_t i = 0; ours && i < s->happenings; i++) {
		const struct happening *h = &s->happening[i];
		if (h->kind == CALL_BEGINS && !strcmp(h->call->row->name, "execve") &&
		    h->call->returned && !h->call->result)
			return i;
	}
	return ours ? s->happenings : 0;
}

void strace_write(struct trace *t, FILE *out, bool file)
{
	struct strace s = {.trace = t, .out = out, .file = file};
	struct record r;

	while (trace_next(t, &r))
		take(&s, &r);
	for (size_t i = first_happening(&s); i < s.happenings; i++)
		put_happening(&s, &s.happening[i]);
	end_open_line(&s);
	for (size_t i = 0; i < s.calls; i++)
		free(s.call[i]);
	for (size_t i = 0; i < s.tasks; i++) {
		free(s.task[i]->ignored);
		free(s.task[i]);
	}
	free(s.call);
	free(s.task);
	free(s.happening);
	map_clear(&s.by_pid);
}
