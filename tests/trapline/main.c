/* Runs all groups. */
#include "tests/trapline/trapline_unit.h"

int main(void)
{
	return output_tests() ? 1 : 0;
}
