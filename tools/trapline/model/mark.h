/*
 * Parses the text of a mark: a moment, or the begin or the end of a named interval. Programs write
 * one of these:
 *
 *     B|PID|NAME and E|PID          as Android's systrace, and what Perfetto reads out of
 *                                   trace_marker
 *     begin NAME and end NAME       also start and stop, as the first word or the last, in any
 *                                   case: "frame 7: start", "frame_end"
 *     NameStart and NameStop        also Begin and End: names of events
 *
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum mark_phase { MARK_INSTANT, MARK_BEGIN, MARK_END };

struct mark_parts {
	enum mark_phase phase;
	const char *name; /* part of the text: begin and end have it in common */
	size_t length;
	bool innermost; /* ends what the task began last, whatever its name */
};

void mark_parse(struct mark_parts *m, const char *text, size_t n);
