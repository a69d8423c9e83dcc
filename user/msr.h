/* Shared by rdmsr and wrmsr. */
#pragma once

#include "user/command.h"

struct msr_call {
	uint64_t cpu, msr, value;
	bool all, write;
	const char *format; /* of a value that was read */
};

/*
 * A number, or a name of /proc/trapline/msr with or without what stands before its first '_'; false
 * after a message.
 */
bool msr_number(const char *s, uint64_t *out);
/* Does it on the CPU, or on each; the exit status, after messages. */
int msr_run(struct msr_call *c);
