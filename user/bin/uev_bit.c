/*
 * uev_bit [N]: user events the older way (Linux 5.18 to 6.3): what the user_events document
 * describes, step by step. Writes N events
 * (3) whenever somebody listens:
 *
 * # echo 1 > /sys/kernel/tracing/events/user_events/walk/enable ; uev_bit ; cat
 * /sys/kernel/tracing/trace
 *
 * Builds for Linux as it stands, with <linux/user_events.h> of its time in place of ours.
 */
#define USER_EVENTS_STATUS_BIT
#include "kernel/abi/user_events.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

/* The event's fields, without gaps between them. */
struct walk {
	uint32_t step;
	int32_t left;
} __attribute__((packed));
static const char definition[] = "walk u32 step; int left";

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct user_reg reg = {.size = sizeof(reg), .name_args = (uintptr_t)definition};
	int n = argc > 1 ? atoi(argv[1]) : 3, written = 0;

	/* 1. One file to register with and to write to. */
	int data = open(TRACING "user_events_data", O_RDWR);
	if (data < 0)
		return fail("user_events_data");
	/* 2. The page of bits. */
	int status = open(TRACING "user_events_status", O_RDONLY);
	if (status < 0)
		return fail("user_events_status");
	const volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
	if (page == MAP_FAILED)
		return fail("mmap");
	close(status);
	/* 3. The event: which bit it has, and the index that each write begins with. */
	if (ioctl(data, DIAG_IOCSREG, &reg))
		return fail("register");
	printf("walk: bit %u, index %u\n", (unsigned)reg.status_bit, (unsigned)reg.write_index);
	const volatile char *byte = page + reg.status_bit / 8;
	int mask = 1 << reg.status_bit % 8;
	/* 4. Write, if anybody listens. */
	for (int i = 0; i < n; i++) {
		if (!(*byte & mask))
			continue;
		struct walk walk = {i, n - 1 - i};
		struct iovec vec[] = {
		    {&reg.write_index, sizeof(reg.write_index)}, {&walk, sizeof(walk)}};
		if (writev(data, vec, 2) < 0)
			return fail("write");
		written++;
	}
	printf("%d of %d written\n", written, n);
	return 0;
}
