/* Runs all groups. Argument: run only tests whose names, GROUP.TEST, begin with it. */
#include "tests/trapline/trapline_unit.h"

#include <stdio.h>
#include <string.h>

static const char *only = "";
static size_t run; /* tests */

int unit_group(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction begin,
    CMFixtureFunction end)
{
	struct CMUnitTest chosen[n];
	char full[128];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(full, sizeof(full), "%s.%s", name, tests[i].name);
		if (strncmp(full, only, strlen(only)) == 0)
			chosen[count++] = tests[i];
	}
	run += count;
	return count ? _cmocka_run_group_tests(name, chosen, count, begin, end) : 0;
}

int main(int argc, char **argv)
{
	int failed;

	if (argc > 1)
		only = argv[1];
	failed = output_tests();
	failed += elf_tests() + ktypes_tests() + print_tests() + gdb_tests() + stack_tests() +
		  visit_tests() + runs_tests();
	failed +=
	    archive_tests() + channel_tests() + machine_tests() + suggest_tests() + base64_tests();
	failed += words_tests() + roomy_tests() + sequence_tests() + duration_tests() +
		  model_tests() + mark_tests() + plot_tests() + ledger_tests() + columns_tests() +
		  xml_tests() + dat_page_tests() + calltree_tests() + explain_tests() +
		  explain_command_tests() + memory_tests() + records_tests() + names_tests() +
		  strace_tests() + origin_tests() + points_tests() + forms_tests() + page_tests() +
		  dat_tests() + diff_tests() + diff_calls_tests() + plot_page_tests();
	if (!run)
		fprintf(stderr, "no test has a name that begins with %s\n", only);
	return failed || !run;
}
