/* See stats.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/stats.h"

const char *stats_ledger(const struct trace *t)
{
	const char *p = strstr(t->stats, "Ledger:\n");

	return p ? p + strlen("Ledger:\n") : NULL;
}

uint64_t stats_number(const struct trace *t, unsigned cpu, const char *name)
{
	char head[32], field[64];

	snprintf(head, sizeof(head), "CPU: %u\n", cpu);
	snprintf(field, sizeof(field), "\n%s: ", name);
	const char *p = strstr(t->stats, head), *next = p ? strstr(p + 1, "CPU: ") : NULL;
	const char *found = p ? strstr(p, field) : NULL;
	if (!found || (next && found > next))
		return 0;
	return strtoull(found + strlen(field), NULL, 10);
}
