/* What `trapline record` asks of the guest's tracefs, step by step. Pure. */
#pragma once

#include "tools/trapline/script.h"

enum step_kind {
	STEP_DEFINE,
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
/* Their script, for a shell in tracefs: probes and settings first, then events in their order. Tells TOLD_WARN and TOLD_FAIL. */
void steps_script(struct bytes *b, const struct steps *s);
const char *step_option(const struct step *s);
/* What it means when it fails. */
const char *step_failure(const struct step *s);
