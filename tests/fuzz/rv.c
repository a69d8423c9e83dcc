/*
 * Definitions of monitors. Input: a text for rv/define, of which what precedes a 0x01 is one write.
 * What is refused says why, inside of the text. Monitors that come of it run while events hit them;
 * their list, typed in again, makes the same monitors. In the end all of them can be removed.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_lock.h"
#include "trace/rv/rv.h"

FUZZ_KEEPS_RINGS

#define DEFINE	   "rv/define"
#define WRITES_MAX 8

static void start(void)
{
	static bool started;

	if (!started)
		trace_fresh();
	started = true;
}

static void hit(void)
{
	for (int i = 0; i < 3; i++) {
		trace_unit_numbers(1, 2 + i, 3, 4);
		trace_unit_text("comm", i ? "text" : "other", "more");
	}
}

/* All of them are on, hit, shown. */
static void use(void)
{
	struct rv_monitor *m;

	FUZZ_CHECK(!trace_put("events/enable", "1"));
	host_lock();
	list_for_each_entry (m, &rv_monitors, node) {
		FUZZ_CHECK(m->scope != RV_TASK || m->bindings);
		FUZZ_CHECK(!rv_set_reactor(m, "panic"));
		FUZZ_CHECK(!rv_enable(m));
	}
	host_unlock();
	hit();
	trace_get("trace", NULL);
	trace_get("rv/enabled_monitors", NULL);
	machine_said();
	host_lock();
	rv_disable_all();
	host_unlock();
	FUZZ_CHECK(!trace_put("events/enable", "0"));
	FUZZ_CHECK(!trace_put("trace", ""));
}

/* The list is no longer than one write may be, or it is typed in by hand. */
static void type_again(void)
{
	static char before[65536];

	snprintf(before, sizeof(before), "%s", trace_get(DEFINE, NULL));
	if (!*before || strlen(before) > RV_TEXT_MAX)
		return;
	FUZZ_CHECK(!trace_put(DEFINE, before));
	FUZZ_CHECK(!strcmp(before, trace_get(DEFINE, NULL)));
}

static void write_text(const char *text)
{
	FUZZ_CHECK(!trace_put("error_log", ""));
	int err = trace_append(DEFINE, text);

	FUZZ_CHECK(err <= 0 && err > -4096);
	if (err && strlen(text) <= RV_TEXT_MAX)
		FUZZ_CHECK(strstr(trace_get("error_log", NULL), "rv: error: "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	unsigned writes = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	start();
	for (char *one; writes++ < WRITES_MAX && (one = strsep(&rest, "\x01"));)
		if (*one)
			write_text(one);
	use();
	type_again();
	use();
	FUZZ_CHECK(!trace_put(DEFINE, ""));
	FUZZ_CHECK(list_empty(&rv_monitors));
	free(text);
	return 0;
}
