/* The cost of system calls, alone and with their events on, and of writing to trace_marker. */
#include "tests/programs/bench.h"

static int marker;

static inline void getpid_once(void)
{
	call3(39, 0, 0, 0);
}

static inline void marker_once(void)
{
	call3(1, marker, (long)"fifteen letters\n", 16);
}

int main(void)
{
	unsigned long base = median(nothing);

	report("sys.getpid", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_enter_getppid/enable", "1");
	report("sys.getpid.other_on", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_enter_getppid/enable", "0");
	put(TRACING "events/syscalls/sys_enter_getpid/enable", "1");
	report("sys.getpid.enter_on", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_exit_getpid/enable", "1");
	report("sys.getpid.enter_exit_on", median(getpid_once), base);
	put(TRACING "events/syscalls/sys_enter_getpid/enable", "0");
	put(TRACING "events/syscalls/sys_exit_getpid/enable", "0");
	marker = open(TRACING "trace_marker", O_WRONLY);
	must(marker >= 0, "trace_marker");
	report("marker.write16", median(marker_once), base);
	return 0;
}
