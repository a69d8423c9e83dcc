/*
 * Triggers when memory runs out: every allocation on the way of a line fails once, and then nothing
 * has changed.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/ring/ring.h"
#include "trace/trigger/trigger.h"

static const char *const lines[] = {
    "traceoff",
    "traceon:5 if a == 1 && (b > 2 || c != 3)",
    "stacktrace:1",
    "snapshot",
    "snapshot:1 if a == 1",
    "enable_event:unit:unit_text",
    "disable_event:unit:unit_text:3 if d > 7",
    "!traceoff", /* takes no memory, and cannot fail */
    "!enable_event:unit:unit_text",
};

static struct trace_event_file *file_of(struct trace_array *tr, const char *name)
{
	return trace_event_file_of(tr, trace_event_find("unit", name));
}

static void nothing_changed(struct trace_array *tr, struct trace_event_file *file)
{
	EXPECT(!file->triggers);
	EXPECT_EQ(file->soft_users, 0);
	EXPECT_EQ(file->way & (TRACE_WAY_TRIGGER | TRACE_WAY_LOOKS | TRACE_WAY_SOFT_OFF), 0);
	EXPECT_EQ(file_of(tr, "unit_text")->soft_users, 0);
	EXPECT_EQ(tr->snapshot_users, 0);
	EXPECT_EQ(key_unit_numbers.enabled, 0);
}

/* With the n-th allocation failing, in an instance that has nothing yet. False: it takes fewer. */
static bool fail_nth(const char *line, unsigned n)
{
	char text[80];

	strscpy(text, line, sizeof(text));
	host_lock();
	struct trace_array *tr = trace_array_create("alloc", 4 * RB_PAGE_DATA);
	struct trace_event_file *file = file_of(tr, "unit_numbers");
	machine_fail_alloc(n);
	int err = trace_trigger_store(file, text);
	machine_fail_alloc(0);
	EXPECT(err == 0 || err == -ENOMEM);
	if (err)
		nothing_changed(tr, file);
	EXPECT_EQ(trace_array_destroy(tr), 0);
	host_unlock();
	return err;
}

static void no_memory(void)
{
	trace_fresh();
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		unsigned n = 1;
		while (fail_nth(lines[i], n))
			n++;
		EXPECT_EQ(n > 1, lines[i][0] != '!');
	}
}

static const struct ktap_case cases[] = {
    {"trigger_alloc.no_memory", no_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_trigger_alloc = {cases};
