/*
 * Files that came over a serial line as text, sent by the guest's `send` (user/bin/send.c describes
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
	uint8_t *data;	    /* what did not come is zeros */
	uint64_t size;	    /* as far as anything came, or as it says */
	bool ended;	    /* the line with its size came */
	bool two;	    /* of what came twice it was not the same */
	struct range *have; /* what came: in order, apart from each other */
	size_t haves;
};

struct serial_files {
	struct serial_file *file;
	size_t count;
};

/* All files in a log, each once; blocks sent again fill what is missing. */
void serial_read(struct serial_files *files, const uint8_t *log, size_t size);
void serial_free(struct serial_files *files);
/* The first missing range at or behind `at`; false: there is none. */
bool serial_missing(const struct serial_file *f, uint64_t at, struct range *out);
