/*
 * The steps by which `trapline record` sets up the guest's tracefs. Pure, except for the command
 * line options.
 */
#pragma once

#include <getopt.h>

#include "tools/trapline/machine/machine.h"

/* The options of record.c, also for commands that pass them on. */
#define RECORD_LETTERS "+e:vf:R:iFcC:b:M:O:Tp:s:o:qh"
enum {
	OPTION_DEFINE = OPTION_FREE_BEHIND_MACHINE,
	OPTION_BEFORE,
	OPTION_AFTER,
	OPTION_STRACE,
	OPTION_SEEDS,
	OPTION_REHEARSE,
	OPTION_FREE_BEHIND_RECORD
};
extern const struct option record_options[];

enum step_kind {
	STEP_DEFINE,
	STEP_TEXTS,
	STEP_BEFORE,
	STEP_CLOCK,
	STEP_SIZE,
	STEP_MASK,
	STEP_OPTION,
	STEP_TRACER,
	STEP_EVENT,
	STEP_EVENT_OFF,
	STEP_FILTER,
	STEP_TRIGGER
};

struct step {
	enum step_kind kind;
	const char *text;
	const char *event; /* STEP_FILTER, STEP_TRIGGER: whose; NULL */
};

struct steps {
	struct step *step;
	size_t count;
	bool missing_is_fine;
};

void steps_add(struct steps *s, enum step_kind kind, const char *text, const char *event);
void steps_free(struct steps *s);
/* The last event that an -e enables; NULL: there is none. */
const char *steps_last_event(const struct steps *s);
/* True if the steps record anything. */
bool steps_record(const struct steps *s);
bool steps_have(const struct steps *s, enum step_kind kind);
/*
 * Writes the script of the steps, for a shell in tracefs: probes and settings first, then events in
 * order. The script reports REPORT_WARN and REPORT_FAIL, followed by the list of events if the step
 * names events, else by the error_log. `p`: where output goes.
 */
void steps_script(struct bytes *b, const struct steps *s, const struct program *p);
bool step_names_events(const struct step *s);
/* The next word of an -e, which the caller frees; NULL: there is none. */
char *step_word(const char **text);
/*
 * The name or pattern of a word that means user events, which are enabled when a program registers
 * them; NULL: it means others.
 */
const char *step_user_event(const char *word);
const char *step_option(const struct step *s);
/* The message for a failed step. */
const char *step_failure(const struct step *s);
