/* The part of a trace.dat file before its sub-buffers. Task context under host_lock. */
#pragma once

#include "trace/event/array.h"
#include "trace/export/dat_pages.h"

struct dat_source {
	struct trace_array *tr;
	struct ring_buffer *buffer; /* NULL: there is none, so nothing is in it */
	u32 page_size;		    /* of the file's pages */
	const u64 *pages;	    /* of the file, by CPU */
};

/* Makes it whole, up to the first sub-buffer. False: no memory. */
bool dat_header_make(struct dat_text *t, const struct dat_source *src);
