/* Shared by the files that convert to Perfetto's protobuf. */
#pragma once

#include "tools/trapline/model/pairing.h"

enum { /* Trace and TracePacket */
	TRACE_PACKET = 1,
	PACKET_FTRACE_EVENTS = 1,
	PACKET_CHROME_EVENTS = 5,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_FTRACE_STATS = 34,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
};
#define SEQUENCE_STARTS 1 /* of the sequence's flags: a reader needs nothing before this packet */

void perfetto_packet(FILE *out, const struct bytes *data);

/*
 * Tracks: system calls in their tasks', marks and function calls in one each of each task,
 * interrupts in one of each CPU.
 * Perfetto itself makes slices of raw_syscalls, of irq_handler_*, and of marks in the way of
 * systrace: those are left to it.
 */
struct perfetto_tracks {
	struct trace *trace;
	FILE *out;
	struct pairing pairing;
	struct map described; /* by track */
};
void perfetto_tracks_begin(struct perfetto_tracks *p, struct trace *t, FILE *out);
void perfetto_tracks_record(struct perfetto_tracks *p, const struct record *r);
void perfetto_tracks_end(struct perfetto_tracks *p);
