/* Lists on the command line whose words are as long as there is room for, and longer. */
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/trace.h"

#define ROOM 512 /* of a word, with its end */

static char list[2 * ROOM];

static void apply(const char *name)
{
	trace_fresh();
	machine_param(name, list);
	trace_apply_params();
	machine_param(NULL, NULL);
}

/* A word that is too long is left out; those after it count. */
static void long_words(void)
{
	for (unsigned n = ROOM - 2; n <= ROOM + 1; n++) {
		memset(list, 'x', n);
		strscpy(list + n, ",unit:unit_numbers", sizeof(list) - n);
		apply("trace_event");
		EXPECT_STR(trace_get("events/unit/unit_numbers/enable", NULL), "1\n");
	}
	trace_fresh();
}

/* A probe's line that is too long is cut; those after it count, and all are on. */
static void long_probes(void)
{
	for (unsigned n = ROOM - 2; n <= ROOM + 1; n++) {
		memset(list, ' ', n);
		memcpy(list, "p:first,do_mkdirat", 18);
		strscpy(list + n, ";p:second,do_mkdirat,a=%ax", sizeof(list) - n);
		apply("kprobe_event");
		EXPECT_STR(trace_get("kprobe_events", NULL),
		    "p:kprobes/first do_mkdirat\np:kprobes/second do_mkdirat a=%ax\n");
		EXPECT_STR(trace_get("events/kprobes/enable", NULL), "1\n");
		EXPECT_EQ(trace_put("events/kprobes/enable", "0"), 0);
		EXPECT_EQ(trace_put("kprobe_events", ""), 0);
	}
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"boot_params.long_words", long_words},
    {"boot_params.long_probes", long_probes},
    {NULL, NULL},
};
const struct ktap_suite suite_boot_params = {cases};
