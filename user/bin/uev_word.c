/*
 * uev_word [N]: user events as since Linux 6.4: the kernel keeps a bit of a word of the program's
 * own. As uev_bit, but the event is gone when the program is, so it waits (up to 10 seconds) until
 * somebody listens:
 *
 * # uev_word & sleep 1 ; echo 1 > /sys/kernel/tracing/events/user_events/stroll/enable ; wait ; cat
 * /sys/kernel/tracing/trace
 */
#include "kernel/abi/user_events.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TRACING	 "/sys/kernel/tracing/"
#define PATIENCE 1000 /* times ... */
#define PAUSE_NS 10000000

static volatile uint32_t enabled; /* bit 0 is the kernel's */
static const char definition[] = "stroll u32 step; __rel_loc char[] where; s32 left";

/* Fields without gaps; the text of `where` lies after them. */
struct stroll {
	uint32_t step;
	uint32_t where;
	int32_t left;
} __attribute__((packed));

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void wait_for_listener(void)
{
	const struct timespec pause = {0, PAUSE_NS};

	for (int i = 0; i < PATIENCE && !enabled; i++)
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	struct user_reg reg = {.size = sizeof(reg),
	    .enable_bit = 0,
	    .enable_size = sizeof(enabled),
	    .enable_addr = (uintptr_t)&enabled,
	    .name_args = (uintptr_t)definition};
	struct user_unreg unreg = {
	    .size = sizeof(unreg), .disable_bit = 0, .disable_addr = (uintptr_t)&enabled};
	static char place[] = "on the way";
	int n = argc > 1 ? atoi(argv[1]) : 3, written = 0;

	int data = open(TRACING "user_events_data", O_RDWR);
	if (data < 0)
		return fail("user_events_data");
	if (ioctl(data, DIAG_IOCSREG, &reg))
		return fail("register");
	wait_for_listener();
	for (int i = 0; i < n; i++) {
		if (!enabled)
			continue;
		/* Counted from the end of the word `where`: after `left`. */
		struct stroll stroll = {i, DYN_LOC(sizeof(int32_t), sizeof(place)), n - 1 - i};
		struct iovec vec[] = {{&reg.write_index, sizeof(reg.write_index)},
		    {&stroll, sizeof(stroll)}, {place, sizeof(place)}};
		if (writev(data, vec, 3) < 0)
			return fail("write");
		written++;
	}
	if (ioctl(data, DIAG_IOCSUNREG, &unreg))
		return fail("unregister");
	printf("%d of %d written\n", written, n);
	return 0;
}
