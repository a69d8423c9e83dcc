/*
 * The guest's end of the tests: runs the suites and prints KTAP on the consoles. Task context, pid
 * 1; see kernel/init.c.
 */
#include "kernel/base/printk.h"
#include "kernel/init.h"
#include "kernel/lib/ktap.h"

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

int ktest_main(const char *pattern)
{
	return ktap_run(suites, pattern, console_write);
}
