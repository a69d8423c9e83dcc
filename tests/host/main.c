/*
 * Runs the cases of tests/unit/ and tests/host/ on the host, each as one test of cmocka. Argument:
 * run only cases whose names begin with it. What a case says about a failure is shown; ktap's other
 * lines are for the guest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/lib/ktap.h"
#include "tests/host/machine.h"
#include "trace/event/array.h"
#include "trace/trace.h"

#define SUITE(name) extern const struct ktap_suite suite_##name;
#include "tests/unit/list.def"
#include "tests/host/list.def"
#undef SUITE

static const struct ktap_suite *const suites[] = {
#define SUITE(name) &suite_##name,
#include "tests/unit/list.def"
#include "tests/host/list.def"
#undef SUITE
};

static void show_notes(const char *text, size_t n)
{
	if (n && text[0] == '#' && !(n > 8 && memcmp(text, "# Totals", 8) == 0))
		fwrite(text, 1, n, stderr);
}

/* Instances that get copies of what is written to `trace_marker`. */
static unsigned instances_with_copies(void)
{
	const struct trace_array *tr;
	unsigned n = 0;

	list_for_each_entry (tr, &trace_arrays, node)
		n += tr != trace_global && (tr->options & TRACE_OPT_COPY_MARKER);
	return n;
}

static void run_one(void **state)
{
	const struct ktap_case one[] = {*(const struct ktap_case *)*state, {NULL, NULL}};
	const struct ktap_suite suite = {one};
	const struct ktap_suite *const list[] = {&suite, NULL};

	machine_param(NULL, NULL);
	machine_fail_alloc(0);
	machine_pid(-1);
	machine_cpus(0);
	machine_handlers(NULL, NULL);
	assert_int_equal(ktap_run(list, NULL, show_notes, NULL), 0);
	assert_int_equal(trace_marker_copies, instances_with_copies());
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	struct CMUnitTest *tests = NULL;
	size_t count = 0;
	int failed;

	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		for (const struct ktap_case *c = suites[i]->cases; c->name; c++) {
			if (strncmp(c->name, only, strlen(only)) != 0)
				continue;
			tests = realloc(tests, (count + 1) * sizeof(*tests));
			tests[count++] =
			    (struct CMUnitTest){c->name, run_one, NULL, NULL, (void *)c};
		}
	}
	machine_start();
	failed = _cmocka_run_group_tests("host", tests, count, NULL, NULL);
	trace_exit();
	machine_stop();
	free(tests);
	return failed != 0 || count == 0;
}
