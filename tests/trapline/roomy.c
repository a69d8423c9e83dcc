/* Arrays that grow with a trace: what is in them stays, and large ones are not in memory alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/lib/roomy.h"

#define MANY (16ul << 20) /* numbers of 8 bytes */

static unsigned long anonymous_kilobytes(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long n = 0;
	char line[128];

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "RssAnon: %lu", &n);
	fclose(status);
	return n;
}

/* Two at once; the first is let go while the second goes on. */
static void grow(void **state)
{
	unsigned long before = anonymous_kilobytes(), *a = NULL, *b = NULL;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		a = roomy_more(a, i, sizeof(*a));
		a[i] = i;
		if (i % 4)
			continue;
		b = roomy_more(b, i / 4, sizeof(*b));
		b[i / 4] = ~i;
	}
	assert_true(anonymous_kilobytes() < before + 32 * 1024);
	for (size_t i = 0; i < MANY; i += 4093)
		assert_int_equal(a[i], i);
	roomy_free(a);
	for (size_t i = 0; i < MANY / 4; i += 4093)
		assert_int_equal(b[i], ~(4 * i));
	roomy_free(b);
	roomy_free(NULL);
}

/* Without a place for a file they lie in memory, and are whole. */
static void nowhere(void **state)
{
	unsigned *a = NULL;

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	for (unsigned i = 0; i < MANY / 8; i++) {
		a = roomy_more(a, i, sizeof(*a));
		a[i] = i;
	}
	unsetenv("TMPDIR");
	for (unsigned i = 0; i < MANY / 8; i += 4093)
		assert_int_equal(a[i], i);
	roomy_free(a);
}

int roomy_tests(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(grow), cmocka_unit_test(nowhere)};

	return unit_group("roomy", tests, COUNT_OF(tests), NULL, NULL);
}
