/* Runs all groups. */
#include "tests/trapline/trapline_unit.h"

int main(void)
{
	int failed = output_tests();

	failed += archive_tests() + channel_tests() + machine_tests();
	failed += words_tests() + sequence_tests() + duration_tests() + survey_tests() +
		  columns_tests() + xml_tests() + dat_page_tests();
	return failed ? 1 : 0;
}
