/* Unit tests of what trapline does on the host: a group per file, run by main.c under sanitizers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int archive_tests(void);
int channel_tests(void);
int machine_tests(void);
int output_tests(void);
int words_tests(void);
int sequence_tests(void);
int duration_tests(void);
int survey_tests(void);
int columns_tests(void);
int xml_tests(void);
int dat_page_tests(void);
