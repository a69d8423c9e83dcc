/*
 * Restores files that the guest's `send` sent over a serial line as text (user/bin/send.c describes
 * the form).
 */
#pragma once

#include "tools/trapline/lib/util.h"

struct range {
	uint64_t at, length;
};

struct serial_file {
	char *name;
	uint32_t name_crc;
	uint8_t *data;	    /* zeros where nothing arrived */
	uint64_t size;	    /* the end of the last range that arrived, or the reported size */
	bool ended;	    /* the line with its size arrived */
	bool two;	    /* two copies of a range differ */
	struct range *have; /* the ranges that arrived: in order, disjoint */
	size_t haves;
};

struct serial_files {
	struct serial_file *file;
	size_t count;
};

/* All files in a log, each once; blocks sent again fill what is missing. */
void serial_read(struct serial_files *files, const uint8_t *log, size_t size);
void serial_free(struct serial_files *files);
/* The first missing range at or after `at`; false: there is none. */
bool serial_missing(const struct serial_file *f, uint64_t at, struct range *out);
