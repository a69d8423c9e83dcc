/*
 * eh_sample [-n]: a walk through EventHeader events, as docs/eventheader.md tells it. It registers
 * two tracepoints, waits until somebody listens to one of them (-n: does not wait), writes a few
 * events and ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/eventheader.h"

#define REQUESTS 0x1 /* keywords: what the provider's events are about */
#define STORAGE	 0x2

/* 1. A provider, and a tracepoint for each level and keyword it uses. */
static struct eh_provider provider = EH_PROVIDER("Trapline_Sample", "");
static struct eh_tracepoint requests = EH_TRACEPOINT(&provider, EVENTHEADER_INFORMATION, REQUESTS);
static struct eh_tracepoint failures = EH_TRACEPOINT(&provider, EVENTHEADER_ERROR, STORAGE);

/* 2. Registered, they can be switched on: events/user_events/Trapline_Sample_L4K1/enable. */
static int start(struct eh_tracepoint *tp)
{
	char name[EVENTHEADER_NAME_MAX];
	int err = eh_register(tp);

	if (err) {
		fprintf(stderr, "eh_sample: cannot register: %s\n", strerror(err));
		return err;
	}
	eh_tracepoint_name(tp, name);
	printf("registered %s\n", name);
	fflush(stdout);
	return 0;
}

static void wait_for_listener(void)
{
	while (!eh_enabled(&requests) && !eh_enabled(&failures))
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* 3. Events. Each call site has a name and fields of its own; they share what switches them on. */
static void serve(const char *path, unsigned bytes)
{
	/* Those between start and stop with the same id belong together. */
	static const uint8_t activity[16] = {0x5a, [15] = 1};

	EH_WRITE_AS(&requests, "Begin",
	    EH_AS(.opcode = EVENTHEADER_ACTIVITY_START, .activity = activity),
	    EHF_STR("path", path));
	EH_WRITE_AS(&requests, "Served", EH_AS(.id = 7, .version = 1, .activity = activity),
	    EHF_U32("bytes", bytes), EHF_F64("seconds", 0.25), EHF_BOOL("cached", bytes < 1000));
	EH_WRITE_AS(
	    &requests, "End", EH_AS(.opcode = EVENTHEADER_ACTIVITY_STOP, .activity = activity));
}

/* Fields may be grouped, and be arrays. */
static void fail(void)
{
	static const uint16_t sectors[] = {17, 18, 4711};

	EH_WRITE(&failures, "ReadFailed", EHF_ERRNO("error", EIO), EHF_STRUCT("device", 2),
	    EHF_STR("name", "disk0"), EHF_X16("port", 0x1f0),
	    EHF_ARRAY("sectors", EH_VALUE16, EH_UNSIGNED, sectors, 3),
	    EHF_BINARY("status", "\x51\x40", 2));
}

int main(int argc, char **argv)
{
	if (start(&requests) || start(&failures))
		return 1;
	if (argc < 2 || strcmp(argv[1], "-n"))
		wait_for_listener();
	serve("/index.html", 4711);
	serve("/logo.png", 512);
	fail();
	eh_unregister(&requests);
	eh_unregister(&failures);
	return 0;
}
