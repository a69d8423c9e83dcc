/* See lastboot_tools.h. One case at a time. */
#include "tests/host/lastboot_tools.h"

#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/comm.h"
#include "trace/event/ftrace.h"
#include "trace/event/parts.h"
#include "trace/host_lock.h"
#include "trace/persist/lastboot.h"

#include <stdlib.h>

char *lb_region, *lb_copy;

char *lb_keep_text(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(malloc(n), text, n);
}

void lb_begin(void)
{
	lb_region = aligned_alloc(PAGE_SIZE, LB_SIZE);
	lb_copy = aligned_alloc(PAGE_SIZE, LB_SIZE);
	memset(lb_region, 0x5a, LB_SIZE);
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "20"), 0);
	machine_kept(lb_region, LB_SIZE);
	host_lock();
	EXPECT(kept_start(7));
	kept_update();
	kept_note_event(trace_event_by_id(TRACE_PRINT));
	kept_note_event(trace_event_by_id(TRACE_STACK));
	kept_note_event(trace_event_by_id(TRACE_RAW_DATA));
	host_unlock();
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_text/enable", "1"), 0);
	/*
	 * The table of names moves into the region. Switching a buffer off saves the current task's
	 * name: now, so that the region has one name from the start.
	 */
	EXPECT_EQ(trace_put("saved_cmdlines_size", "4096"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	EXPECT_EQ(trace_put("tracing_on", "1"), 0);
}

/* What this boot is told at its start; the instance is there if anything is. */
u64 lb_find(const void *mem, size_t size)
{
	machine_kept((void *)mem, size);
	host_lock();
	u64 generation = trace_lastboot_find();
	trace_lastboot_offer();
	host_unlock();
	machine_kept(lb_region, LB_SIZE);
	return generation;
}

u64 lb_reset(void)
{
	memcpy(lb_copy, lb_region, LB_SIZE);
	return lb_find(lb_copy, LB_SIZE);
}

const char *lb_report(void)
{
	static char text[4096];
	struct seq s;

	seq_init(&s, text, sizeof(text) - 1);
	trace_lastboot_show(&s);
	text[s.len] = '\0';
	return text;
}

bool lb_is_there(void)
{
	struct tracefs_node node;

	return trace_walk("instances/lastboot", &node) == 0;
}

void lb_forget(void)
{
	trace_drop_instance("lastboot");
}

void lb_end(void)
{
	lb_forget();
	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_put("snapshot", "1"), 0); /* exchanges them again */
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	host_lock();
	trace_comm_exit(); /* its table may lie there; it forgets which buffers are on */
	kept_stop();
	host_unlock();
	machine_kept(NULL, 0);
	free(lb_region);
	free(lb_copy);
	trace_fresh();
}

void lb_hit(unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		trace_unit_numbers(i, i, i, i);
		if (i % 3 == 0)
			trace_unit_text("comm", "text of no fixed length", "x");
		if (i % 7 == 0)
			EXPECT_EQ(trace_put("trace_marker_raw", "mark it"), 0);
	}
}

struct kept_header *lb_header(void)
{
	return (struct kept_header *)lb_copy;
}

void lb_seal(void)
{
	lb_header()->sum = kept_sum(lb_header(), offsetof(struct kept_header, sum));
}

int lb_consume(unsigned n)
{
	u64 ts, lost;

	while (n-- && ring_buffer_consume(trace_global->buffer, 0, &ts, &lost))
		;
	return 0;
}
