/*
 * User events when memory runs out: each allocation failed once; what is refused has changed
 * nothing.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/user/user.h"

#define NO_END 100

static void fail_registering(void)
{
	struct user_events_file *file;
	struct user_event *ev;
	unsigned failed = 0;
	long r = -ENOMEM;

	file = user_events_open(NULL);
	for (unsigned n = 1; n < NO_END && r; n++) {
		machine_fail_alloc(n);
		r = user_events_register(
		    file, "mem u32 a; __data_loc char[] s", USER_EVENT_REG_MULTI_FORMAT, &ev);
		machine_fail_alloc(0);
		if (r) {
			EXPECT_EQ(r, -ENOMEM);
			EXPECT_STR(trace_get("dynamic_events", NULL), "");
			EXPECT_STR(trace_get("user_events_status", NULL),
			    "\nActive: 0\nBusy: 0\nMax: 32768\n");
			failed++;
		}
	}
	EXPECT(!r && failed >= 4); /* the table of indexes, the event, its file, its system */
	EXPECT(str_has_prefix(trace_get("dynamic_events", NULL), "u:mem."));
	EXPECT_EQ(trace_put("set_event", ""), 0);
	host_lock();
	user_events_release(file);
	host_unlock();
	EXPECT_STR(trace_get("dynamic_events", NULL), "");
}

/* The event may be one that is to be on from its beginning: then that fails, too. */
static void registering(void)
{
	trace_fresh();
	fail_registering();
	EXPECT_EQ(trace_put("user_events_enable", "mem"), 0);
	fail_registering();
	EXPECT_EQ(trace_put("user_events_enable", ""), 0);
	trace_fresh();
}

static void opening(void)
{
	machine_fail_alloc(1);
	EXPECT(!user_events_open(NULL));
	machine_fail_alloc(0);
}

static const struct ktap_case cases[] = {
    {"user_alloc.registering", registering},
    {"user_alloc.opening", opening},
    {NULL, NULL},
};
const struct ktap_suite suite_user_alloc = {cases};
