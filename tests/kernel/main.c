/*
 * The guest's end of the tests: runs the suites and prints KTAP on the consoles. Task context, pid
 * 1; see kernel/init.c.
 */
#include "kernel/base/printk.h"
#include "kernel/init.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/task.h"
#include "tests/kernel/disturb.h"

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

#ifdef SANITIZE
#include "tests/kernel/sanitize/sanitize.h"

/* Nothing was found in the tests, and everything is that is planted now. */
static int sanitize_judge(void)
{
	unsigned before = sanitize_report();

	if (sanitize_finds_planted())
		return before != 0;
	sanitize_report();
	ktap_note("not these errors were planted");
	return 1;
}
#else
static void sanitize_begin(void)
{
}

static int sanitize_judge(void)
{
	return 0;
}
#endif

/* A case stays on the CPU it begins on, unless it says otherwise: many look at that CPU's data. */
static void stay_here(void)
{
	task_set_affinity(current(), 1UL << cpu_id());
}

int ktest_main(const char *pattern)
{
	sanitize_begin();
	disturb_begin();
	int failed = ktap_run(suites, pattern, console_write, stay_here);

	return sanitize_judge() || failed;
}
