/*
 * The event that LTTng-UST is measured with: two words, as rb.reserve_commit16 writes. Its macros
 * include this file repeatedly.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/native/lttng/events.h"

#if !defined(BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, two_words, LTTNG_UST_TP_ARGS(unsigned long, a, unsigned long, b),
    LTTNG_UST_TP_FIELDS(
	lttng_ust_field_integer(unsigned long, a, a) lttng_ust_field_integer(unsigned long, b, b)))

#endif

#include <lttng/tracepoint-event.h>
