/*
 * trapline record: boots a kernel, switches events on as trace-cmd record does, runs a program and
 * takes the trace out while it runs. What the options ask for is a list of steps, done in the guest
 * by a script; one that fails says its number, and we what it was.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/record/record.h"
#include "tools/trapline/record/boot.h"
#include "tools/trapline/strace/strace.h"
#include "tools/trapline/lib/suggest.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline record [OPTION]... -e EVENT... [--] PROGRAM [ARGUMENT]...\n"
    "       trapline record --strace[=FILE] [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Boots the kernel in QEMU, enables events, runs a program there and writes what they record to "
    "a trace.dat file. Without a program\n"
    "it records until Ctrl-C or --timeout. The program's output is printed, and its exit status "
    "passed on. The first Ctrl-C goes to\n"
    "the program, a second one ends the machine. `trapline help run` explains what PROGRAM may "
    "be.\n"
    "\n"
    "  -e EVENT        as in set_event: SYSTEM, SYSTEM:EVENT, EVENT, several of them, or !EVENT; "
    "with * and ?; or all. May be repeated.\n"
    "                  `trapline list` shows them. user_events and user_events:NAME are enabled "
    "when the program registers them\n"
    "  -v              disable the events of the -e options that follow\n"
    "  -f FILTER       filter for the preceding -e\n"
    "  -R TRIGGER      trigger for the preceding -e; may be repeated\n"
    "  -i              accept an -e that matches nothing (always accepted for kprobes, eprobes, "
    "uprobes and synthetic)\n"
    "  --define DEF    a line for dynamic_events: p:NAME FUNCTION ARGS (kprobe), r: (return "
    "probe), s: (synthetic), e: (event probe),\n"
    "                  u:NAME FIELDS (user event, for -f and -R before the program registers it); "
    "may be repeated\n"
    "  -F              only events of the program;  -c  and of its children\n"
    "  -C CLOCK        trace_clock;  -b KB  buffer size of each CPU;  -M MASK  the CPUs to trace\n"
    "  -O OPTION       a trace option, or noOPTION;  -T  a stack trace with each event;  -p TRACER "
    " current_tracer\n"
    "  -s USECS        time between two reads of the rings (10000). With --icount they are read "
    "only at the end, so that each run\n"
    "                  writes the same file\n"
    "  -o, --output FILE  the trace (trace.dat); - is the standard output\n"
    "  --strace[=FILE] print the system calls of the program and its children as strace -f does, "
    "on the standard error or to FILE.\n"
    "                  `trapline report --strace` prints them again from the trace\n"
    "  --seeds A..B    run the program with each of these seeds in place of sched_seed=, in one "
    "machine, until it fails\n"
    "  --rehearse      run the program once first, without recording and without its output\n"
    "  -q, --quiet     do not print the number of events\n"
    "  --before COMMANDS  for the guest's shell, before the program;  --after COMMANDS  after it, "
    "such as\n"
    "                  'cat events/sched/sched_switch/hist'. They are not recorded\n"
    "\n";

static const char statuses[] = "\n"
			       "Exit status: that of the program; 123 the machine ended before it, "
			       "by a panic for example; 124 --timeout; 125 trapline failed,\n"
			       "as with an -e that matches nothing; 127 there is no such program; "
			       "128+N signal N ended it, or trapline. With 123, 124 and\n"
			       "128+N, too, the trace is written.\n";

const struct option record_options[] = {{"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'}, {"define", required_argument, NULL, OPTION_DEFINE},
    {"before", required_argument, NULL, OPTION_BEFORE},
    {"after", required_argument, NULL, OPTION_AFTER},
    {"strace", optional_argument, NULL, OPTION_STRACE},
    {"seeds", required_argument, NULL, OPTION_SEEDS},
    {"rehearse", no_argument, NULL, OPTION_REHEARSE}, MACHINE_OPTIONS, {0}};

struct recording {
	struct boot boot; /* first: it is what the machine's context is */
	struct steps steps;
	const char *after;
	bool off, own_only, children, strace;
	const char *strace_name; /* NULL: the standard error */
	uint64_t look_us;
};

static void help(void)
{
	fputs(usage, stdout);
	fputs(machine_usage, stdout);
	fputs(statuses, stdout);
}

static void say_step(const struct step *s, const char *what)
{
	say("%s %s: %s", step_option(s), s->text, what);
}

static void warned(struct machine *m, int step)
{
	const struct recording *r = m->context;

	if (step >= 0 && (size_t)step < r->steps.count)
		say_step(&r->steps.step[step], "there is no such event now");
}

/* Which of its words names no event; NULL: none that we know. To be freed. */
static char *wrong_word(const struct step *s, const char *events)
{
	const char *p = s->text;
	char *word;

	while ((word = step_word(&p))) {
		if (!step_user_event(word) && !suggest_has(events, word))
			break;
		free(word);
	}
	return word;
}

/* Such as a name that differs in a letter or two. */
static void say_no_event(const struct step *s, const char *events)
{
	char *word = wrong_word(s, events), *like = word ? suggest(events, word) : NULL;

	if (like)
		say("%s %s: there is no such event; did you mean %s?", step_option(s), word, like);
	else
		say("%s %s: there is no such event; `trapline list` shows them", step_option(s),
		    word ? word : s->text);
	free(word);
	free(like);
}

/* What the kernel said of it, too: its error_log, with the place in the text. */
static void say_failure(struct recording *r)
{
	struct machine *m = &r->boot.machine;
	const struct step *s;

	if (m->failed_step < 0 || (size_t)m->failed_step >= r->steps.count)
		return;
	s = &r->steps.step[m->failed_step];
	bytes_put(&m->why, "", 1);
	if (step_names_events(s)) {
		say_no_event(s, (const char *)m->why.data);
		return;
	}
	if (s->event && step_user_event(s->event))
		say_step(s, "does not fit its event, or that is not there before the program "
			    "registers it: --define 'u:NAME FIELDS' makes it");
	else
		say_step(s, step_failure(s));
	fputs((const char *)m->why.data, stderr);
}

/* Were there events of that name in the machine, which were on? */
static bool was_registered(const struct trace *t, const char *pattern)
{
	for (size_t i = 0; i < t->events; i++)
		if (!strncmp(t->event[i].system, "user_events", strlen("user_events")) &&
		    !fnmatch(pattern, t->event[i].name, 0))
			return true;
	return false;
}

/*
 * A name that nobody registered is most likely misspelt: a trace without it looks like a program
 * that wrote nothing.
 */
static void say_unregistered(const struct boot *b)
{
	const struct recording *r = (const struct recording *)b;
	const struct trace *t = &b->live.trace;

	for (size_t i = 0; i < r->steps.count; i++) {
		const struct step *s = &r->steps.step[i];
		const char *p = s->text;
		char *word;

		while (s->kind == STEP_EVENT && (word = step_word(&p))) {
			const char *name = step_user_event(word);
			if (name && !was_registered(t, name))
				say("-e %s: nobody registered such an event", word);
			free(word);
		}
	}
}

static const char tracefs[] = "/sys/kernel/tracing/";

/* What the program's shell does before it becomes the program: from here on it is recorded. */
static void put_start(struct bytes *b, const struct recording *r)
{
	if (r->own_only)
		script_put(b, "echo $$ > %sset_event_pid; ", tracefs);
	script_put(b, "echo 1 > %stracing_on; ", tracefs);
	bytes_put(b, "", 1);
}

static void put_script(struct bytes *script, struct recording *r)
{
	struct bytes start = {.data = NULL};

	script_put(script, "cd %s\n", tracefs);
	steps_script(script, &r->steps, &r->boot.program);
	script_tell_ready(script);
	put_start(&start, r);
	if (r->boot.program.argv)
		script_program(script, &r->boot.program, (const char *)start.data);
	else
		script_put(script, "%s\n", start.data);
	if (!r->boot.program.argv)
		script_wait(script);
	script_put(script, "echo 0 > %stracing_on\n", tracefs);
	if (r->after) {
		script_sh(script, &r->boot.program, r->after);
		script_text(script, "\n");
	}
	boot_end_script(&r->boot, script);
	bytes_free(&start);
}

/* Without a program we are its end. */
static int natural_end(const struct recording *r, int status)
{
	enum machine_end end = r->boot.machine.end;

	if (!r->boot.program.argv && (end == END_SIGNAL || end == END_TIMEOUT) && r->boot.got_trace)
		return EXIT_FINE;
	return status;
}

/* Prints the calls from the trace that was written. False, after a message. */
static bool put_strace(const struct recording *r)
{
	struct out out = {.file = stderr};
	struct trace t;

	if (!trace_open(&t, r->boot.out_name))
		return false;
	if (r->strace_name && !out_open(&out, r->strace_name)) {
		trace_close(&t);
		return false;
	}
	strace_write(&t, out.file, r->strace_name);
	trace_close(&t);
	return !r->strace_name || out_finish(&out);
}

static int record(struct recording *r, char **argv)
{
	struct bytes script = {.data = NULL};
	int status = EXIT_OWN;

	r->boot.warned = warned;
	r->boot.taken = say_unregistered;
	r->boot.takes_input = *argv;
	r->boot.may_make_program = steps_have(&r->steps, STEP_BEFORE);
	machine_settle(&r->boot.options, !*argv);
	if (!*argv && !r->boot.options.quiet)
		say("records until Ctrl-C%s", r->boot.options.timeout ? " or --timeout" : "");
	if (boot_program(&r->boot, argv) && boot_copies(&r->boot) &&
	    boot_begin_script(&r->boot, &script)) {
		put_script(&script, r);
		/*
		 * Which events are overwritten before we look depends on the host's speed: with
		 * --icount the rings are read when the machine has ended.
		 */
		status = boot_run(&r->boot, &script, !r->boot.options.sealed, r->look_us * 1000);
		say_failure(r);
		if (r->boot.machine.seed)
			say("the last seed was %u", r->boot.machine.seed);
		if (r->strace && r->boot.got_trace && !put_strace(r))
			status = EXIT_OWN;
	} else if (r->boot.refusal) {
		status = r->boot.refusal;
	}
	bytes_free(&script);
	return natural_end(r, status);
}

/* Records what strace shows, for the program and its children. */
static void add_strace(struct recording *r, const char *name)
{
	static const char events[] = "syscalls raw_syscalls signal " STRACE_SYSTEM;

	r->strace_name = name;
	if (r->strace)
		return;
	r->strace = r->own_only = r->children = true;
	for (const char *const *probe = strace_probes(); *probe; probe++)
		steps_add(&r->steps, STEP_DEFINE, *probe, NULL);
	steps_add(&r->steps, STEP_TEXTS, STRACE_TEXT, NULL);
	steps_add(&r->steps, STEP_OPTION, "event-fork", NULL);
	steps_add(&r->steps, STEP_EVENT, events, NULL);
}

/* Of the last -e. */
static int add_to_event(struct recording *r, enum step_kind kind, const char *text)
{
	const char *event = steps_last_event(&r->steps);

	if (!event) {
		bad_usage("record", "%s is of an -e before it", kind == STEP_FILTER ? "-f" : "-R");
		return EXIT_OWN;
	}
	steps_add(&r->steps, kind, text, event);
	return -1;
}

/* Options that are a step each, with a text of their own or the one after them. */
static const struct {
	int option;
	enum step_kind kind;
	const char *text;
} step_options[] = {
    {OPTION_DEFINE, STEP_DEFINE, NULL},
    {OPTION_BEFORE, STEP_BEFORE, NULL},
    {'C', STEP_CLOCK, NULL},
    {'b', STEP_SIZE, NULL},
    {'M', STEP_MASK, NULL},
    {'O', STEP_OPTION, NULL},
    {'T', STEP_OPTION, "stacktrace"},
    {'p', STEP_TRACER, NULL},
};

static bool add_step(struct recording *r, int c)
{
	for (size_t i = 0; i < sizeof(step_options) / sizeof(step_options[0]); i++) {
		if (step_options[i].option != c)
			continue;
		steps_add(&r->steps, step_options[i].kind,
		    step_options[i].text ? step_options[i].text : optarg, NULL);
		return true;
	}
	return false;
}

/* "A..B" */
static int take_seeds(struct program *p, const char *text)
{
	int end = 0;

	if (sscanf(text, "%9u..%9u%n", &p->seed_first, &p->seed_last, &end) == 2 && !text[end] &&
	    p->seed_first && p->seed_first <= p->seed_last)
		return -1;
	bad_usage("record", "--seeds %s: from 1 on, A..B", text);
	return EXIT_OWN;
}

/* -1: go on. */
static int take_option(struct recording *r, int c)
{
	if (add_step(r, c))
		return -1;
	switch (c) {
	case 'e':
		steps_add(&r->steps, r->off ? STEP_EVENT_OFF : STEP_EVENT, optarg, NULL);
		break;
	case 'v':
		r->off = true;
		break;
	case 'f':
		return add_to_event(r, STEP_FILTER, optarg);
	case 'R':
		return add_to_event(r, STEP_TRIGGER, optarg);
	case 'i':
		r->steps.missing_is_fine = true;
		break;
	case OPTION_AFTER:
		r->after = optarg;
		break;
	case 'F':
		r->own_only = true;
		break;
	case 'c':
		steps_add(&r->steps, STEP_OPTION, "event-fork", NULL);
		r->children = true;
		break;
	case 's':
		if (parse_number(optarg, 1000000000, &r->look_us) && r->look_us)
			break;
		bad_usage("record", "-s %s: not a number of microseconds", optarg);
		return EXIT_OWN;
	case 'o':
		r->boot.out_name = optarg;
		break;
	case OPTION_STRACE:
		add_strace(r, optarg);
		break;
	case OPTION_SEEDS:
		return take_seeds(&r->boot.program, optarg);
	case OPTION_REHEARSE:
		r->boot.program.rehearsed = true;
		break;
	case 'q':
		r->boot.options.quiet = true;
		break;
	case OPTION_HELP:
		help();
		return EXIT_FINE;
	default:
		return machine_option(&r->boot.options, "record", c, optarg);
	}
	return -1;
}

/* What the command line lacks; NULL: nothing. */
static const char *lacks(const struct recording *r, bool has_program)
{
	if (!steps_record(&r->steps))
		return "-e EVENT is missing (or -p TRACER): what is to be recorded?";
	if (r->own_only && !has_program)
		return r->strace ? "--strace: of which PROGRAM?" : "-F: of which PROGRAM?";
	if (r->strace && !strcmp(r->boot.out_name, "-"))
		return "--strace reads the trace again: -o FILE";
	return r->children && !r->own_only ? "-c belongs to -F" : NULL;
}

int cmd_record(int argc, char **argv)
{
	struct recording r = {.look_us = BOOT_LOOK_NS / 1000};
	int c, status = -1;

	boot_begin(&r.boot);
	while (
	    status < 0 && (c = getopt_long(argc, argv, RECORD_LETTERS, record_options, NULL)) != -1)
		status = take_option(&r, c);
	if (status < 0 && lacks(&r, optind < argc)) {
		bad_usage("record", "%s", lacks(&r, optind < argc));
		status = EXIT_OWN;
	}
	if (status < 0)
		status = record(&r, argv + optind);
	steps_free(&r.steps);
	boot_end(&r.boot);
	return status;
}
