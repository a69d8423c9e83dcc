/*
 * The cases of the ring buffer alone, in a program that is quick to build in other ways than
 * host-test is: under ThreadSanitizer, and as a kernel has it. One line a case. Argument: run only
 * cases whose names begin with it.
 */
#include <stdio.h>
#include <string.h>

#include "kernel/lib/ktap.h"
#include "tests/host/machine.h"
#include "trace/host_user.h"

#define SUITE(name) extern const struct ktap_suite suite_##name;
#include "tests/host/ring/list.def"
#undef SUITE

static const struct ktap_suite *const suites[] = {
#define SUITE(name) &suite_##name,
#include "tests/host/ring/list.def"
#undef SUITE
};

static void show_notes(const char *text, size_t n)
{
	if (n && text[0] == '#' && !(n > 8 && memcmp(text, "# Totals", 8) == 0))
		fwrite(text, 1, n, stdout);
}

/* host_unlock() calls it; here there are no events. */
void user_events_settle(void)
{
}

/* 0: it passed. */
static int run_one(const struct ktap_case *c)
{
	const struct ktap_case one[] = {*c, {NULL, NULL}};
	const struct ktap_suite suite = {one};
	const struct ktap_suite *const list[] = {&suite, NULL};
	int failed;

	machine_fail_alloc(0);
	machine_handlers(NULL, NULL);
	failed = ktap_run(list, NULL, show_notes, NULL);
	printf("%s - %s\n", failed ? "not ok" : "ok", c->name);
	fflush(stdout);
	return failed;
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	int failed = 0, run = 0;

	machine_start();
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
		for (const struct ktap_case *c = suites[i]->cases; c->name; c++) {
			if (strncmp(c->name, only, strlen(only)) != 0)
				continue;
			failed += run_one(c);
			run++;
		}
	}
	machine_stop();
	return failed || !run;
}
