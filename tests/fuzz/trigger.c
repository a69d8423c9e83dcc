/*
 * Trigger files. Input: lines as they are written to one, in turn to that of an event of numbers
 * and one of texts; both events are hit after each line. What is refused must change nothing; in
 * the end all is taken away, and nothing may be left of it.
 */
#include <sanitizer/lsan_interface.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/host_lock.h"
#include "trace/trigger/trigger.h"

#define LINES_MAX 24 /* of one input: more say nothing new */
#define LIST_MAX  65536

static struct trace_event_file *files[2];

static void bring_up(void)
{
	if (files[0])
		return;
	/* the tracer stays; a ring's links carry marks that the leak check does not know */
	__lsan_disable();
	trace_fresh();
	FUZZ_CHECK(!trace_put("snapshot", "1"));
	__lsan_enable();
	files[0] = trace_event_file_of(trace_global, trace_event_find("unit", "unit_numbers"));
	files[1] = trace_event_file_of(trace_global, trace_event_find("unit", "unit_text"));
}

static void list(const struct trace_event_file *file, char *text)
{
	struct seq s;

	seq_init(&s, text, LIST_MAX - 1);
	trace_triggers_show(&s, file);
	text[s.len] = '\0';
}

static void write_line(struct trace_event_file *file, const char *line, size_t n)
{
	static char before[LIST_MAX], after[LIST_MAX];
	char *copy = calloc(1, n + 1);
	u32 users = file->soft_users;

	memcpy(copy, line, n);
	list(file, before);
	int err = trace_trigger_store(file, copy);
	FUZZ_CHECK(err <= 0 && err > -4096);
	if (err) {
		list(file, after);
		FUZZ_CHECK(!strcmp(before, after));
		FUZZ_CHECK(file->soft_users == users);
	}
	free(copy);
}

static void fire(void)
{
	trace_unit_numbers(1, 2, 3, 4);
	trace_unit_text("comm", "text", "more");
}

static void check_nothing_left(void)
{
	struct trace_event_file *file;

	list_for_each_entry (file, &trace_global->files, node) {
		FUZZ_CHECK(!file->triggers);
		FUZZ_CHECK(!file->soft_users);
		FUZZ_CHECK(!(file->way & (TRACE_WAY_TRIGGER | TRACE_WAY_LOOKS)));
	}
	FUZZ_CHECK(!trace_global->snapshot_users);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	bring_up();
	host_lock();
	for (unsigned i = 0; at < end && i < LINES_MAX; i++) {
		const char *stop = memchr(at, '\n', end - at);
		size_t n = (stop ? stop : end) - at;
		write_line(files[i % 2], at, n);
		fire();
		at += n + 1;
	}
	trace_triggers_clear(trace_global);
	check_nothing_left();
	host_unlock();
	trace_put("set_event", "");
	trace_put("tracing_on", "1");
	return 0;
}
