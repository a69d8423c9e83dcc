/* Steps of `trapline record` as a script. See record.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/record/record.h"

static const struct {
	const char *option, *failure;
	const char *file; /* where its text is written to; NULL: it is done otherwise */
	bool append;
} kinds[] = {
    [STEP_DEFINE] = {"--define", "the kernel does not take this definition", "dynamic_events",
	true},
    [STEP_TEXTS] = {"--strace", "is no size of a text", "syscall_user_buf_size", false},
    [STEP_BEFORE] = {"--before", "did not end with status 0", NULL, false},
    [STEP_CLOCK] = {"-C", "there is no such clock", "trace_clock", false},
    [STEP_SIZE] = {"-b", "cannot be the size of a buffer, in KB", "buffer_size_kb", false},
    [STEP_MASK] = {"-M", "is no mask of CPUs", "tracing_cpumask", false},
    [STEP_OPTION] = {"-O", "there is no such option", "trace_options", false},
    [STEP_TRACER] = {"-p", "there is no such tracer", "current_tracer", false},
    [STEP_EVENT] = {"-e", "there is no such event", NULL, false},
    [STEP_EVENT_OFF] = {"-v -e", "there is no such event", NULL, false},
    [STEP_FILTER] = {"-f", "does not fit its event", NULL, false},
    [STEP_TRIGGER] = {"-R", "does not fit its event", NULL, false},
};

void steps_add(struct steps *s, enum step_kind kind, const char *text, const char *event)
{
	s->step = xrealloc(s->step, (s->count + 1) * sizeof(*s->step));
	s->step[s->count++] = (struct step){kind, text, event};
}

void steps_free(struct steps *s)
{
	free(s->step);
	*s = (struct steps){.count = 0};
}

const char *steps_last_event(const struct steps *s)
{
	for (size_t i = s->count; i; i--)
		if (s->step[i - 1].kind == STEP_EVENT)
			return s->step[i - 1].text;
	return NULL;
}

bool steps_record(const struct steps *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->step[i].kind == STEP_EVENT || s->step[i].kind == STEP_TRACER)
			return true;
	return false;
}

bool steps_have(const struct steps *s, enum step_kind kind)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->step[i].kind == kind)
			return true;
	return false;
}

bool step_names_events(const struct step *s)
{
	return s->kind == STEP_EVENT || s->kind == STEP_EVENT_OFF;
}

const char *step_option(const struct step *s)
{
	return kinds[s->kind].option;
}

const char *step_failure(const struct step *s)
{
	return kinds[s->kind].failure;
}

const char *step_user_event(const char *word)
{
	static const char system[] = "user_events";
	size_t n = sizeof(system) - 1;

	if (strncmp(word, system, n) || (word[n] && word[n] != ':'))
		return NULL;
	return word[n] && word[n + 1] ? word + n + 1 : "*";
}

/* Systems in which there are events only when somebody makes some. */
static bool may_be_empty(const char *event)
{
	static const char *const systems[] = {"kprobes", "uprobes", "eprobes", "synthetic"};
	size_t n = strcspn(event, ":");

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (n == strlen(systems[i]) && !strncmp(event, systems[i], n))
			return !event[n] || !strcmp(event + n, ":") || !strcmp(event + n, ":*");
	return false;
}

/*
 * The files NAME of what an -e means, as the shell finds them: of SYSTEM:EVENT one, of SYSTEM:
 * `of_system`, of a NAME alone both that of a system and of an event with this name.
 */
static void put_files(struct bytes *b, const char *event, const char *name, const char *of_system)
{
	const char *colon = strchr(event, ':');
	size_t n = colon ? (size_t)(colon - event) : strlen(event);
	char *system = n ? xstrndup(event, n) : xstrndup("*", 1);

	if (colon && colon[1] && strcmp(colon + 1, "*"))
		script_put(b, "events/%s/%s/%s", system, colon + 1, name);
	else if (colon)
		script_put(b, "events/%s/%s", system, of_system);
	else
		script_put(b, "events/%s/%s events/*/%s/%s", system, of_system, system, name);
	free(system);
}

/* What is written into which files of one event. */
static void put_one(struct bytes *b, const struct step *s, const char *event)
{
	bool filter = s->kind == STEP_FILTER, trigger = s->kind == STEP_TRIGGER;
	bool off = s->kind == STEP_EVENT_OFF || *event == '!';
	struct bytes files = {.data = NULL};

	event += *event == '!';
	if (!*event) {
		script_text(b, "false");
		return;
	}
	put_files(&files, strcmp(event, "all") ? event : "*:*",
	    filter    ? "filter"
	    : trigger ? "trigger"
		      : "enable",
	    filter    ? "filter"
	    : trigger ? "*/trigger"
		      : "enable");
	bytes_put(&files, "", 1);
	const char *user = filter || trigger ? NULL : step_user_event(event);
	if (user) /* those that there are already, too; there need be none */
		script_put(b, "echo %q%q >> user_events_enable && ", off ? "!" : "", user);
	script_put(b, "%s %q %q 2> /dev/null", user ? "any" : "each", (const char *)files.data,
	    filter || trigger ? s->text
	    : off	      ? "0"
			      : "1");
	bytes_free(&files);
}

char *step_word(const char **text)
{
	*text += strspn(*text, " \t\n");
	size_t n = strcspn(*text, " \t\n");
	char *word = n ? xstrndup(*text, n) : NULL;

	*text += n;
	return word;
}

/* An -e may name several, as a line for set_event may. */
static void put_each(struct bytes *b, const struct step *s)
{
	bool of_event = s->kind == STEP_FILTER || s->kind == STEP_TRIGGER;
	const char *p = of_event ? s->event : s->text, *between = "";
	char *event;

	while ((event = step_word(&p))) {
		script_text(b, between);
		put_one(b, s, event);
		free(event);
		between = " && ";
	}
	if (!*between)
		script_text(b, "false");
}

static void put_command(struct bytes *b, const struct step *s, const struct program *p)
{
	if (s->kind == STEP_BEFORE)
		script_sh(b, p, s->text);
	else if (kinds[s->kind].file)
		script_put(b, "printf '%s' %q %s %s 2> /dev/null", "%s\\n", s->text,
		    kinds[s->kind].append ? ">>" : ">", kinds[s->kind].file);
	else
		put_each(b, s);
}

static void put_step(struct bytes *b, const struct steps *steps, size_t i, const struct program *p)
{
	const struct step *s = &steps->step[i];
	bool fine = s->kind == STEP_EVENT && (steps->missing_is_fine || may_be_empty(s->text));

	put_command(b, s, p);
	script_put(b, " || %s %d %s\n", fine ? "warn" : "fail", (int)i,
	    step_names_events(s) ? "available_events" : "error_log");
}

static const char functions[] =
    "warn() { echo \"" REPORT_WARN "$1\" >&3; }\n"
    "fail() { echo \"" REPORT_FAIL "$1\" >&3; cat \"/sys/kernel/tracing/$2\" >&3; poweroff -f; }\n"
    /* writes $2 into each file of the patterns in $1 */
    "each() { some=; for f in $1; do [ -e \"$f\" ] || continue; some=1\n"
    "printf '%s\\n' \"$2\" >> \"$f\" || return 1; done; [ \"$some\" ]; }\n"
    "any() { each \"$1\" \"$2\" || :; }\n";

void steps_script(struct bytes *b, const struct steps *s, const struct program *p)
{
	script_text(b, functions);
	script_text(b, "echo 0 > tracing_on\n");
	for (size_t i = 0; i < s->count; i++)
		if (s->step[i].kind < STEP_EVENT)
			put_step(b, s, i, p);
	for (size_t i = 0; i < s->count; i++)
		if (s->step[i].kind >= STEP_EVENT)
			put_step(b, s, i, p);
}
