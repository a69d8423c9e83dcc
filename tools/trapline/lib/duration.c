/* See duration.h. */
#include "tools/trapline/lib/duration.h"

const char *duration_text(char buf[32], uint64_t ns, const char *micro)
{
	const char *const units[] = {"ns", micro, "ms", "s"};
	double v = ns;
	unsigned unit = 0;

	for (; unit < 3 && v >= 999.5; unit++)
		v /= 1000;
	int digits = unit == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	snprintf(buf, 32, "%.*f %s%s", digits, v, units[unit], unit == 1 ? "s" : "");
	return buf;
}

uint64_t tick_step(uint64_t range, unsigned most)
{
	uint64_t wanted = range / most + (range % most != 0), ten = 1;

	while (wanted / 5 + (wanted % 5 != 0) > ten)
		ten *= 10;
	return wanted <= ten ? ten : wanted <= 2 * ten ? 2 * ten : 5 * ten;
}

/* 1, 1.58, 2.51, 3.98, 6.31: as whole numbers below 100, so that no bar is empty. */
uint64_t bar_begin(unsigned bar)
{
	static const uint64_t first[] = {100, 158, 251, 398, 631};
	uint64_t v = first[bar ? (bar - 1) % 5 : 0];

	if (!bar)
		return 0;
	for (unsigned tens = (bar - 1) / 5; tens > 2; tens--)
		v = v > UINT64_MAX / 10 ? UINT64_MAX : v * 10;
	return (bar - 1) / 5 == 0 ? (v + 99) / 100 : (bar - 1) / 5 == 1 ? (v + 9) / 10 : v;
}

unsigned bar_of(uint64_t n)
{
	unsigned bar = 0;

	if (n)
		bar = 1;
	for (uint64_t rest = n; rest >= 10; rest /= 10)
		bar += 5;
	while (bar + 1 < BARS && bar_begin(bar + 1) <= n)
		bar++;
	return bar;
}
