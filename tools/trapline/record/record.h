/*
 * What `trapline record` asks of the guest's tracefs, step by step. Pure, but for the options of
 * its command line.
 */
#pragma once

#include <getopt.h>

#include "tools/trapline/machine/machine.h"

/* Its command line, for who passes it on: record.c. */
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
/* Of the last -e that switches on; NULL: there is none. */
const char *steps_last_event(const struct steps *s);
/* Will anything be recorded? */
bool steps_record(const struct steps *s);
bool steps_have(const struct steps *s, enum step_kind kind);
/*
 * Their script, for a shell in tracefs: probes and settings first, then events in their order.
 * Tells TOLD_WARN and TOLD_FAIL, with the list of events behind that if the step names events, else
 * the error_log. `p`: where output goes.
 */
void steps_script(struct bytes *b, const struct steps *s, const struct program *p);
bool step_names_events(const struct step *s);
/* The next word of an -e; NULL: there is none. To be freed. */
char *step_word(const char **text);
/*
 * Is it a user event, or all of them: one that is switched on when a program registers it? NULL:
 * no; else the name or pattern of it.
 */
const char *step_user_event(const char *word);
const char *step_option(const struct step *s);
/* What it means when it fails. */
const char *step_failure(const struct step *s);
