/*
 * The origin of a trace: kernel, command line, archive, machine and QEMU. `record` and `run` store
 * it in trace.dat as an option that other programs skip; `replay` builds the same machine from it.
 *
 * It is a text of lines "WORD VALUE", in which a line feed in a value is %0A and a percent sign
 * %25. After a line "data" come so many bytes and a line feed.
 */
#pragma once

#include "tools/trapline/record/boot.h"
#include "tools/trapline/lib/sha256.h"

/* Writes the origin of b's machine, which has ended. */
void origin_put(struct bytes *out, const struct boot *b);

/* A machine that `replay` runs again. */
struct origin {
	struct boot boot; /* its archive, once origin_archive() has made it, and its options */
	char *qemu;	  /* the version */
	char *unlike;	  /* why another run would differ; NULL: it would not */
	char *cut;	  /* what ended the machine from outside; NULL: it ended by itself */
	char *instance;
	bool follow; /* its rings were read while it ran */
	bool has_clock;
	uint64_t clock[3]; /* clock_base, clock_mult and clock_add of struct trace */
	char *kernel_path, *initrd_path;
	char kernel_sum[SHA256_TEXT], initrd_sum[SHA256_TEXT], archive_sum[SHA256_TEXT];
	char *kept[64]; /* texts that the options point at */
	size_t kept_count;
};

/*
 * False, after a message: the trace has no origin, or some of its files no longer exist. `kernel`:
 * a file to take in place of the recorded one, or NULL.
 */
bool origin_open(struct origin *o, const struct trace *t, const char *kernel);
void origin_close(struct origin *o);
