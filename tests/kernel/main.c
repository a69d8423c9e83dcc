/*
 * The guest's end of the tests: runs the suites and prints KTAP on the consoles. Task context, pid
 * 1; see kernel/init.c.
 */
#include "kernel/base/printk.h"
#include "kernel/init.h"
#include "kernel/lib/ktap.h"
#include "tests/kernel/ubsan.h"

#define SUITE(name) extern const struct ktap_suite suite_##name;
#include "tests/unit/list.def"
#include "tests/kernel/list.def"
#undef SUITE

static const struct ktap_suite *const suites[] = {
#define SUITE(name) &suite_##name,
#include "tests/unit/list.def"
#include "tests/kernel/list.def"
#undef SUITE
    NULL,
};

#ifdef UBSAN
static volatile unsigned too_far = 32;

/* The checks are alive: this is the one place that there must be. */
static int ubsan_judge(void)
{
	unsigned before = ubsan_report();
	volatile int shifted = 1 << too_far;

	(void)shifted;
	return before || ubsan_count() != 1;
}
#else
static int ubsan_judge(void)
{
	return 0;
}
#endif

int ktest_main(const char *pattern)
{
	int failed = ktap_run(suites, pattern, console_write);

	return ubsan_judge() || failed;
}
