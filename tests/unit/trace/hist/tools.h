/*
 * Shared by the cases of histograms: synthetic events that are injected, so that every number is
 * known, and what `hist` shows.
 */
#pragma once

#include "tests/unit/trace/tools.h"

#define EV	      "events/synthetic/ev"
#define TRIGGER	      EV "/trigger"
#define OTHER_TRIGGER "events/synthetic/oth/trigger"
#define NONE	      "# Available triggers:\n"

/* Makes the events ev, oth, out, lat and names, and an empty error_log. */
void hist_begin(void);
/* Takes everything away again; it must be possible. */
void hist_end(void);
/* An event of ev, or of oth, with these fields. */
void hist_hit(const char *line);
void hist_hit_other(const char *line);
/*
 * The lines of a hist file between the blank ones: entries and what belongs to them. Until the next
 * call.
 */
const char *hist_entries_of(const char *path);
/* Of ev. */
const char *hist_entries(void);
void hist_expect_totals(const char *path, unsigned hits, unsigned n, unsigned dropped);
