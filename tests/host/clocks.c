/*
 * The clocks of trace_clock: what each makes of a moment of the machine's own clock and of the day.
 */
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/clock.h"

#define DAY 1700000000100000000ul

static u64 moment(void)
{
	return 1234567891999;
}

static void times(void)
{
	static const struct {
		const char *clock;
		u64 now;
	} rows[] = {{"local", 1234567891999}, {"global", 1234567891999}, {"perf", 1234567891999},
	    {"mono", 1234567891999}, {"mono_raw", 1234567891999}, {"boot", 1234567891999},
	    {"tai", DAY + 1234567891999}, {"uptime", 123456}, {"x86-tsc", 1234567891999}};

	trace_fresh();
	machine_clock(moment);
	machine_unix_ns(DAY);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(trace_put("trace_clock", rows[i].clock), 0);
		EXPECT_EQ(trace_clock_now(trace_global), rows[i].now);
	}
	machine_unix_ns(0);
	machine_clock(NULL);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"clocks.times", times},
    {NULL, NULL},
};
const struct ktap_suite suite_clocks = {cases};
