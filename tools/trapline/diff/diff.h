/*
 * Shared by the files of `trapline diff`, which compares two traces. They write a body and count
 * the differences for the line above it.
 */
#pragma once

#include "tools/trapline/model/model.h"

/* A CPU's events. */
struct lane {
	struct record *record;
	uint32_t *token;
	size_t count;
};

struct side {
	const char *name;
	struct trace trace;
	struct model model;
	struct lane *cpu; /* the events to compare, by CPU */
	struct map token; /* event << 32 | pid: token + 1 */
};

struct diff {
	struct side side[2];
	bool ignore_time, ignore_values, brief;
	unsigned lines; /* at most, of each CPU's differences */
	char **only;	/* patterns of events; NULL: all of them */
	size_t onlys;
	FILE *body;
	FILE *summary;
	struct words events, tokens; /* "sched:sched_switch"; tokens append " by TASK" */
	uint32_t *event_of;	     /* a token's event */
};

/* Appends a part to the first line. */
void diff_found(struct diff *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool diff_any(const struct diff *d);

void diff_order(struct diff *d); /* also values and times of matched events */
void diff_counts(struct diff *d);
void diff_calls(struct diff *d); /* of functions */
void diff_latencies(struct diff *d);
void diff_lost(struct diff *d);
/* "12.3 us"; "1234" of a clock that has no unit. */
const char *diff_duration(char buf[32], const struct trace *t, uint64_t n);
