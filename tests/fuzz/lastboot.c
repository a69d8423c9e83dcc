/*
 * The memory that the flight recorder kept, damaged. Input: edits of a region that is whole, each {
 * u8 where, u8 length, u16 unit, u16 offset, bytes }. `where` % 8 says what the unit and the offset
 * count from; sums of what was edited are made right again, or a chance check would end everything
 * before what lies after it.
 *
 *   0  the header's first part, sealed     1 the rest of the header 2 a format, sealed 3 names of
 *                                          functions, sealed
 *   4  the struct of a ring                5 a sub-buffer 6 anywhere 7 the header's first part, not
 *                                          sealed
 */
#include <sanitizer/lsan_interface.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/ftrace.h"
#include "trace/event/parts.h"
#include "trace/host_lock.h"
#include "trace/persist/kept.h"
#include "trace/persist/lastboot.h"

#define SIZE	  KEPT_MIN_SIZE
#define PAGES	  (SIZE / PAGE_SIZE)
#define EDITS_MAX 64

static char *whole, *copy,
    /*
     * whole: as the recorder left it; copy: edited; given: the same, to see that nobody writes
     * there
     */
    *given;

/* Events of several kinds, some with a sub-buffer of their own, and a ring that has gone round. */
static void bring_up(void)
{
	char *region = aligned_alloc(PAGE_SIZE, SIZE);

	whole = aligned_alloc(PAGE_SIZE, SIZE);
	copy = aligned_alloc(PAGE_SIZE, SIZE);
	given = aligned_alloc(PAGE_SIZE, SIZE);
	memset(region, 0x5a, SIZE);
	trace_fresh();
	FUZZ_CHECK(!trace_put("buffer_size_kb", "20"));
	machine_kept(region, SIZE);
	host_lock();
	FUZZ_CHECK(kept_start(7));
	kept_update();
	kept_note_event(trace_event_by_id(TRACE_PRINT));
	kept_note_event(trace_event_by_id(TRACE_RAW_DATA));
	host_unlock();
	FUZZ_CHECK(!trace_put("snapshot", "1")); /* its rings are new ones: they lie there */
	FUZZ_CHECK(!trace_put("events/unit/unit_numbers/enable", "1"));
	FUZZ_CHECK(!trace_put("events/unit/unit_text/enable", "1"));
	for (unsigned i = 0; i < 200; i++) {
		trace_unit_numbers(i, i, i, i);
		if (i % 3 == 0)
			trace_unit_text("comm", "text of no fixed length", "x");
		if (i % 7 == 0)
			trace_put("trace_marker", "a mark");
	}
	memcpy(whole, region, SIZE);
	machine_kept(NULL, 0);
}

static struct kept_header *head(void)
{
	return (struct kept_header *)copy;
}

/* The n-th format, counted round; NULL: they are damaged so far that there is none. */
static struct kept_text *text_of(unsigned n)
{
	char *from = copy + ((struct kept_header *)whole)->texts_at, *at = from;
	char *end = from + ((struct kept_header *)whole)->texts_used;

	while (n--) {
		u32 size = ((struct kept_text *)at)->size;
		if (size < sizeof(struct kept_text) || size % 8 || size >= (size_t)(end - at))
			return (struct kept_text *)from;
		at += size;
	}
	return (struct kept_text *)at;
}

static void seal_text(struct kept_text *t)
{
	u64 room = copy + SIZE - (char *)t;

	if (t->size > sizeof(*t) && t->size <= room)
		t->sum = kept_sum(&t->size, t->size - sizeof(t->sum));
}

static void seal_symbols(void)
{
	const struct kept_header *h = (const void *)whole;

	head()->symbols_sum = kept_sum(copy + h->symbols_at, h->symbols_size);
}

static void seal_header(void)
{
	head()->sum = kept_sum(head(), offsetof(struct kept_header, sum));
}

/* Where an edit goes, and how many bytes are left there. */
static char *place(unsigned where, unsigned unit, unsigned offset, size_t *room)
{
	const struct kept_header *h = (const void *)whole;
	size_t first = offsetof(struct kept_header, sum), at;

	switch (where) {
	case 0:
	case 7:
		at = offset % first;
		*room = first - at;
		return copy + at;
	case 1:
		at = first + offset % (sizeof(*h) - first);
		*room = sizeof(*h) - at;
		return copy + at;
	case 2: {
		struct kept_text *t = text_of(unit % 8);
		*room = 64;
		return (char *)&t->size + offset % 1024;
	}
	case 3:
		at = offset % h->symbols_size;
		*room = h->symbols_size - at;
		return copy + h->symbols_at + at;
	case 4:
		at = (u64)h->rings[unit % HOST_CPUS].page * PAGE_SIZE + offset % 512;
		*room = 64;
		return copy + at;
	case 5:
		at = (u64)(h->pool_at + unit % (PAGES - h->pool_at)) * PAGE_SIZE +
		     offset % PAGE_SIZE;
		*room = SIZE - at;
		return copy + at;
	default:
		at = (unit * 65536UL + offset) % SIZE;
		*room = SIZE - at;
		return copy + at;
	}
}

static void edit(const u8 *data, size_t size)
{
	for (unsigned i = 0; i < EDITS_MAX && size > 6; i++) {
		u16 unit, offset;
		size_t room, n = MIN((size_t)(data[1] % 32 + 1), size - 6);
		unsigned where = data[0] % 8;

		memcpy(&unit, data + 2, 2);
		memcpy(&offset, data + 4, 2);
		char *at = place(where, unit, offset, &room);
		memcpy(at, data + 6, MIN(n, room));
		if (where == 0)
			seal_header();
		else if (where == 2)
			seal_text(text_of(unit % 8));
		else if (where == 3)
			seal_symbols(), seal_header();
		data += 6 + n;
		size -= 6 + n;
	}
}

/* The events of all CPUs that are up, by the report's lines "cpu0: 45 events in ...". */
static unsigned long reported(const char *report)
{
	unsigned long sum = 0, events;
	unsigned cpu;

	for (const char *at = report; (at = strstr(at, "\ncpu")); at++)
		if (sscanf(at, "\ncpu%u: %lu events", &cpu, &events) == 2 && cpu < HOST_CPUS)
			sum += events;
	return sum;
}

static unsigned long shown(const char *text)
{
	static const char word[] = "entries-in-buffer/entries-written: ";
	const char *at = strstr(text, word);

	return at ? strtoul(at + sizeof(word) - 1, NULL, 10) : 0;
}

/*
 * What is shown as entries is what was reported as found, and all of it can be read in every way.
 */
static void read_all(struct trace_array *tr, const char *report)
{
	char name[128];
	struct trace_prevboot_text t;
	const char *text = trace_get("instances/lastboot/trace", NULL);

	FUZZ_CHECK(shown(text) == reported(report));
	for (u32 i = 0; trace_prevboot_nth(tr->past, i, &t); i++)
		FUZZ_CHECK(strlen(t.name) < sizeof(t.name) && t.format && t.system);
	for (u64 addr = 0xf00; addr < 0x1400; addr += 0x7f)
		trace_prevboot_sym_print(tr->past, name, sizeof(name), addr, true);
	trace_get("instances/lastboot/per_cpu/cpu0/trace_pipe", NULL);
	trace_get("instances/lastboot/trace_pipe", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char report[8192];
	struct tracefs_node dir;
	struct seq s;

	if (!whole) {
		/* the tracer stays; a ring's links carry marks that the leak check does not know */
		__lsan_disable();
		bring_up();
		__lsan_enable();
	}
	memcpy(copy, whole, SIZE);
	edit(data, size);
	memcpy(given, copy, SIZE);
	machine_kept(copy, SIZE);
	host_lock();
	trace_lastboot_find();
	trace_lastboot_offer();
	seq_init(&s, report, sizeof(report) - 1);
	trace_lastboot_show(&s);
	report[s.len] = '\0';
	host_unlock();
	machine_kept(NULL, 0);
	FUZZ_CHECK(!memcmp(given, copy, SIZE));
	struct trace_array *tr = trace_array_find("lastboot");
	FUZZ_CHECK(!tr == !!strstr(report, "nothing survived: "));
	if (tr) {
		read_all(tr, report);
		FUZZ_CHECK(!trace_walk("instances", &dir) && !tracefs_rmdir(&dir, "lastboot"));
	}
	return 0;
}
