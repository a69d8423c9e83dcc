/*
 * LTTng-UST beside our ring buffer: its event with two words. tests/drive/bench-native builds this
 * where LTTng-UST is installed, and runs it in a recording session of LTTng's. Prints one row.
 */
#define _GNU_SOURCE
#include "tests/native/whole_event.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/native/lttng/events.h"

static inline void record_event(unsigned long a, unsigned long b)
{
	lttng_ust_tracepoint(bench, two_words, a, b);
}

int main(void)
{
	if (!lttng_ust_tracepoint_enabled(bench, two_words)) {
		fprintf(stderr, "the session does not record\n");
		return 1;
	}
	measure_event("lttng_ust.2u64");
	return 0;
}
