/*
 * Unit tests of what trapline does on the host: a group per file, run by main.c under sanitizers.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Runs those of a group's n tests that are chosen on the command line: how many failed. */
int unit_group(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction begin,
    CMFixtureFunction end);

int elf_tests(void);
int ktypes_tests(void);
int print_tests(void);
int gdb_tests(void);
int stack_tests(void);
int visit_tests(void);
int runs_tests(void);
int archive_tests(void);
int channel_tests(void);
int machine_tests(void);
int origin_tests(void);
int points_tests(void);
int output_tests(void);
int base64_tests(void);
int suggest_tests(void);
int words_tests(void);
int roomy_tests(void);
int sequence_tests(void);
int duration_tests(void);
int model_tests(void);
int mark_tests(void);
int plot_tests(void);
int ledger_tests(void);
int columns_tests(void);
int calltree_tests(void);
int explain_tests(void);
int explain_command_tests(void);
int memory_tests(void);
int records_tests(void);
int names_tests(void);
int xml_tests(void);
int dat_page_tests(void);
int strace_tests(void);
int forms_tests(void);
int page_tests(void);
int dat_tests(void);
int diff_tests(void);
int diff_calls_tests(void);
int plot_page_tests(void);
