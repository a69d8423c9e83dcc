/*
 * A CPU's trace buffer in a program's memory: mmap() of per_cpu/cpuN/trace_pipe_raw, read-only and
 * shared. Layout and numbers are Linux's (since 6.10).
 *
 * The first page of the file is struct trace_buffer_meta. Sub-buffer number ID stands at
 * meta_page_size + ID * subbuf_size. ioctl(fd, TRACE_MMAP_IOCTL_GET_READER) gives the program the
 * next sub-buffer with events, and reader.id is its number: its header and its events then stay as
 * they are until the call after the next one. If there is nothing new, reader.id stays the same.
 * What all other sub-buffers show means nothing: they are being written.
 *
 * Without O_NONBLOCK the call waits until the buffer is filled to buffer_percent.
 */
#pragma once

#include <stdint.h>

struct trace_buffer_meta {
	uint32_t meta_page_size;
	uint32_t meta_struct_len; /* of this structure */

	uint32_t subbuf_size;
	uint32_t nr_subbufs; /* all that are mapped */

	struct {
		uint64_t lost_events; /* right before the events of this sub-buffer */
		uint32_t id;
		uint32_t read; /* bytes of it that count as read */
	} reader;

	uint64_t flags; /* 0 */

	uint64_t entries; /* ever recorded: unread, overwritten, read */
	uint64_t overrun; /* overwritten */
	uint64_t read;

	uint64_t reserved1, reserved2;
};

#define TRACE_MMAP_IOCTL_GET_READER 0x5220 /* _IO('R', 0x20) */
