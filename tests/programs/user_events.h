/* For ring-3 tests of user events: the calls of user_events_data, raw. */
#pragma once

#include "kernel/abi/user_events.h"
#include "tests/programs/tracing.h"

#define ADDRINUSE (-98)
#define BUSY	  (-16)

static inline long open_data(void)
{
	return open_tracing("user_events_data", L_RDWR);
}

static inline long reg_bit(long fd, const char *text, struct user_reg_bit *out)
{
	struct user_reg_bit r = {.size = sizeof(r), .name_args = (uintptr_t)text};
	long ret = syscall3(SYS_ioctl, fd, DIAG_IOCSREG, (long)&r);

	if (out)
		*out = r;
	return ret;
}

/* The index, or a negative error. */
static inline long reg_word(
    long fd, const char *text, volatile void *word, int size, int bit, int flags)
{
	struct user_reg_word r = {
	    sizeof(r), bit, size, flags, (uintptr_t)word, (uintptr_t)text, 77};
	long ret = syscall3(SYS_ioctl, fd, DIAG_IOCSREG, (long)&r);

	return ret ? ret : (long)r.write_index;
}

static inline long unreg(long fd, volatile void *word, int bit)
{
	struct user_unreg r = {sizeof(r), bit, 0, 0, (uintptr_t)word};

	return syscall3(SYS_ioctl, fd, DIAG_IOCSUNREG, (long)&r);
}

static inline long del(long fd, const char *name)
{
	return syscall3(SYS_ioctl, fd, DIAG_IOCSDEL, (long)name);
}
