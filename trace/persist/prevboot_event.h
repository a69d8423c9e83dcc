/*
 * An event that another boot had, known by the text of its format. Task context; printing as
 * trace/output/print.h has it.
 */
#pragma once

#include "trace/event/event.h"

struct prevboot_event {
	struct trace_event_call call; /* id, name, class: prints field by field */
	struct trace_event_class class;
	struct trace_event_field *fields; /* ends with a NULL name */
	char *text;			  /* its format */
	char *names;			  /* of system, event and fields */
	u64 live;      /* handle of this boot's event of the same format; 0: there is none */
	u32 live_size; /* what its records have at least */
};

/* 0; -EINVAL: that is no format, or not of that id; -ENOMEM. */
int prevboot_event_make(struct prevboot_event *ev, u16 id, const char *system, const char *format);
void prevboot_event_free(struct prevboot_event *ev);
/* Looks for the event of this boot that prints the same. host_lock held. */
void prevboot_event_match(struct prevboot_event *ev, bool same_kernel);
/* What prints a record of that length. */
const struct trace_event_call *prevboot_event_call(const struct prevboot_event *ev, u32 len);
