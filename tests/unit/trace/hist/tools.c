/* See tools.h. Task context. */
#include "tests/unit/trace/hist/tools.h"
#include "kernel/lib/string.h"
#include "trace/hist/hist.h"

void hist_begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("synthetic_events",
		      "ev int aa; u64 bb; s8 cc; char str[8]; char dyn[]; u64 ip"),
	    0);
	EXPECT_EQ(trace_append("synthetic_events", "oth int aa; u64 bb; char str[8]"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "out int r"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "lat u64 delta; int id"), 0);
	EXPECT_EQ(trace_append("synthetic_events", "names char s[8]; char d[]"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

void hist_end(void)
{
	EXPECT_EQ(trace_put(TRIGGER, ""), 0);
	EXPECT_EQ(trace_put(OTHER_TRIGGER, ""), 0);
	EXPECT_EQ(trace_put(TRIGGER, ""), 0); /* what needed oth's variables is gone now */
	EXPECT_EQ(trace_put(OTHER_TRIGGER, ""), 0);
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_put("synthetic_events", ""), 0);
	EXPECT_STR(trace_get("synthetic_events", NULL), "");
	EXPECT_EQ(trace_put("error_log", ""), 0);
	EXPECT(list_empty(&hists));
	trace_fresh();
}

void hist_hit(const char *line)
{
	EXPECT_EQ(trace_put(EV "/inject", line), 0);
}

void hist_hit_other(const char *line)
{
	EXPECT_EQ(trace_put("events/synthetic/oth/inject", line), 0);
}

const char *hist_entries_of(const char *path)
{
	static char text[8192];
	const char *all = trace_get(path, NULL), *start = strstr(all, "#\n\n");
	const char *stop = start ? strstr(start, "\n\nTotals:") : NULL;

	if (!stop)
		return all;
	start += 3;
	size_t n = stop > start ? (size_t)(stop - start + 1) : 0;
	n = MIN(n, sizeof(text) - 1);
	memcpy(text, start, n);
	text[n] = '\0';
	return text;
}

const char *hist_entries(void)
{
	return hist_entries_of(EV "/hist");
}

void hist_expect_totals(const char *path, unsigned hits, unsigned n, unsigned dropped)
{
	char wanted[80];
	const char *text = trace_get(path, NULL), *totals = strstr(text, "\nTotals:");

	fmt_snprintf(wanted, sizeof(wanted),
	    "\nTotals:\n    Hits: %u\n    Entries: %u\n    Dropped: %u\n", hits, n, dropped);
	EXPECT_STR(totals ? totals : "", wanted);
}
