/*
 * Filters and pid lists when memory runs out: each allocation failed once; what is refused changes
 * nothing.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/filter/sample.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/event/pid_filter.h"
#include "trace/filter/file.h"
#include "trace/host_lock.h"

/*
 * Tries with the first, the second ... allocation failing, until none does; returns how many
 * failed.
 */
static unsigned fail_each(int (*try)(void), int last, void (*unchanged)(void))
{
	for (unsigned n = 1; n < 100; n++) {
		machine_fail_alloc(n);
		int err = try();
		machine_fail_alloc(0);
		if (err != -ENOMEM) {
			EXPECT_EQ(err, last);
			return n - 1;
		}
		unchanged();
	}
	EXPECT(!"it always fails");
	return 0;
}

static int create(void)
{
	struct trace_filter_error why;
	struct trace_filter *f = NULL;
	int err = trace_filter_create(
	    &filter_sample_call, "a == 1 && (name ~ \"x*\" || u8 & CPUS{0})", &f, &why);

	EXPECT(!!f == !err);
	trace_filter_free(f);
	return err;
}

static void nothing(void)
{
}

static void creating(void)
{
	EXPECT(fail_each(create, 0, nothing) >= 2);
}

#define FILE_PATH   "events/unit/unit_numbers/filter"
#define SYSTEM_PATH "events/unit/filter"

/* Below the file's own way through tracefs, which allocates as well: the line is ours. */
static int store_line(const char *text)
{
	char line[64];

	strscpy(line, text, sizeof(line));
	host_lock();
	int err = trace_filter_store(
	    trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers")), line);
	host_unlock();
	return err;
}

static int store(void)
{
	return store_line("b == 2 && c == 3");
}

static int store_bad(void)
{
	return store_line("nosuch == 2");
}

static int store_system(void)
{
	char line[64];

	strscpy(line, "common_pid == 5", sizeof(line));
	host_lock();
	int err = trace_filter_store_system(trace_global, trace_system_find("unit"), line);
	host_unlock();
	return err;
}

static int store_system_bad(void)
{
	char line[64];

	strscpy(line, "nosuch == 5", sizeof(line));
	host_lock();
	int err = trace_filter_store_system(trace_global, trace_system_find("unit"), line);
	host_unlock();
	return err;
}

static void old_filter_stays(void)
{
	EXPECT_STR(trace_get(FILE_PATH, NULL), "a == 1\n");
	EXPECT(str_has_prefix(trace_get(SYSTEM_PATH, NULL), "### global filter ###\n"));
}

static void storing(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put(FILE_PATH, "a == 1"), 0);
	EXPECT(fail_each(store, 0, old_filter_stays) >= 2);
	EXPECT_STR(trace_get(FILE_PATH, NULL), "b == 2 && c == 3\n");
	EXPECT_EQ(trace_put(FILE_PATH, "a == 1"), 0);
	EXPECT(fail_each(store_bad, -EINVAL, old_filter_stays) >= 3);
	EXPECT_EQ(trace_put(FILE_PATH, "a == 1"), 0);
	EXPECT(fail_each(store_system_bad, -EINVAL, old_filter_stays) >= 3);
	EXPECT_STR(trace_get(FILE_PATH, NULL), "a == 1\n");
	EXPECT_EQ(trace_put(SYSTEM_PATH, "0"), 0);
	EXPECT_EQ(trace_put(FILE_PATH, "a == 1"), 0);
	EXPECT(fail_each(store_system, 0, old_filter_stays) >= 3);
	EXPECT_STR(trace_get(FILE_PATH, NULL), "common_pid == 5\n");
	EXPECT_EQ(trace_put(SYSTEM_PATH, "0"), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static int store_pids(void)
{
	static const char text[] = "7 40000 8";

	host_lock();
	ssize taken = trace_pid_write(trace_global, TRACE_PIDS_EVENTS, false, text, strlen(text));
	host_unlock();
	return taken < 0 ? taken : 0;
}

static const char *pids_before;

static void old_list_stays(void)
{
	EXPECT_STR(trace_get("set_event_pid", NULL), pids_before);
}

static void pids(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("set_event_pid", ""), 0);
	pids_before = "";
	EXPECT(fail_each(store_pids, 0, old_list_stays) >= 2);
	EXPECT_EQ(trace_put("set_event_pid", "5 50000"), 0);
	pids_before = "5\n50000\n";
	EXPECT(fail_each(store_pids, 0, old_list_stays) >= 1);
	EXPECT_STR(trace_get("set_event_pid", NULL), "5\n7\n8\n40000\n50000\n");
	EXPECT_EQ(trace_put("set_event_pid", ""), 0);
}

static const struct ktap_case cases[] = {
    {"filter_alloc.creating", creating},
    {"filter_alloc.storing", storing},
    {"filter_alloc.pids", pids},
    {NULL, NULL},
};
const struct ktap_suite suite_filter_alloc = {cases};
