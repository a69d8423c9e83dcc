/*
 * Reading rings from outside. The words are those of trace/ring_buffer.c and docs/ring-buffer.md; ring_buffer_live.c does the same from
 * inside, and these steps are its steps, without the reader lock:
 *
 *   G1 read the ring's slot of the sub-buffer we want. Its lap says whether it is there.
 *   G2 how much of it is committed: all, if its account says that it is finished; as much as the account says, if the tail stands just
 *      there; else no more than we had. Copy what is new.
 *   G3 read the slot again, and the ring: the same, so the copy is whole. Else it was evicted, or the ring was changed.
 *
 * A reader in the machine takes sub-buffers out of the ring. The one it has is looked for at the ring's `page`; what it took before is
 * not there for us, and how much that was nobody says.
 *
 * WHAT IS LOST is counted as in ring_buffer_live.c: behind a gap, what was evicted by then less what we counted.
 *
 * Memory is not trusted: addresses may be anything, walks have an end.
 */
#include "tools/trapline/guest.h"

#include <stdlib.h>
#include <string.h>

#define LAP_BITS     28
#define LAP_MASK     ((1ULL << LAP_BITS) - 1)
#define INDEX_BITS   24
#define INDEX_MASK   ((1ULL << INDEX_BITS) - 1)
#define SLOT_PAGE    (~0ULL << 12)
#define FIRST_NUMBER (1ULL << INDEX_BITS) /* lap 1, index 0 */
#define TRIES	     100
#define FORMATS_MOST 100000
#define ARRAYS_MOST  10000
#define TEXT_MOST    4000

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static uint64_t physical(const struct guest *g, uint64_t address)
{
	if (address >= g->head.image_base)
		return address - g->head.image_base + g->head.image_offset;
	return address - g->head.direct_base;
}

bool guest_fetch(const struct guest *g, uint64_t address, void *to, size_t n)
{
	const uint8_t *from = memory_at(&g->memory, physical(g, address), n);

	if (!from)
		return false;
	memcpy(to, from, n);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

uint64_t guest_word(const struct guest *g, uint64_t address)
{
	const uint8_t *from = address % 8 ? NULL : memory_at(&g->memory, physical(g, address), 8);

	return from ? __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE) : 0;
}

bool guest_text(const struct guest *g, uint64_t address, char *buf, size_t size)
{
	size_t n = 0;

	for (; n < size - 1; n++) {
		const uint8_t *p = memory_at(&g->memory, physical(g, address + n), 1);
		if (!p)
			return false;
		buf[n] = *p;
		if (!*p)
			return true;
	}
	buf[n] = '\0';
	return true;
}

static bool is_head(const struct trace_export *e, uint64_t at)
{
	return !memcmp(e->magic, TRACE_EXPORT_MAGIC, sizeof(e->magic)) && e->self == at &&
	       e->version == TRACE_EXPORT_VERSION && e->size == sizeof(*e);
}

/* In a part of a segment that was written. */
static bool find_head_in(struct guest *g, const struct segment *s, uint64_t at, uint64_t end)
{
	at += -(s->physical + at) % PAGE_BYTES;
	for (; at < end && end - at >= sizeof(g->head); at += PAGE_BYTES) {
		if (memcmp(s->data + at, TRACE_EXPORT_MAGIC, sizeof(g->head.magic)))
			continue;
		memcpy(&g->head, s->data + at, sizeof(g->head));
		if (is_head(&g->head, s->physical + at))
			return true;
	}
	return false;
}

static bool find_head(struct guest *g)
{
	for (size_t i = 0; i < g->memory.segments; i++) {
		const struct segment *s = &g->memory.segment[i];
		uint64_t base = s->data - g->memory.file, at = base, end;

		while ((at = memory_written(&g->memory, at, &end)) < base + s->size) {
			if (end > base + s->size)
				end = base + s->size;
			if (find_head_in(g, s, at - base, end - base))
				return true;
			at = end > at ? end : base + s->size;
		}
	}
	return false;
}

/* ---- the instance --------------------------------------------------------------------------------------------------- */

static bool find_array(struct guest *g, const char *instance)
{
	uint64_t array = g->head.array;
	char name[256];

	for (unsigned i = 0; i < ARRAYS_MOST && array; i++) {
		if (guest_text(g, array + g->head.array_name, name, sizeof(name)) &&
		    !strcmp(name, instance)) {
			g->array = array;
			return true;
		}
		uint64_t next = guest_word(g, array + g->head.array_next);
		array = next ? next - g->head.array_next : 0;
		if (array == g->head.array)
			break;
	}
	return false;
}

bool guest_is_in(const char *file)
{
	struct guest g = {.cpus = 0};
	bool found;

	if (!strcmp(file, "-") || !memory_open(&g.memory, file))
		return false;
	found = find_head(&g);
	memory_close(&g.memory);
	return found;
}

bool guest_open(
    struct guest *g, const char *file, const struct memory *memory, const char *instance)
{
	*g = (struct guest){.memory = *memory};
	bool found = find_head(g);

	if (found && !memory_is_core(memory) && g->head.ram_end <= 4ULL << 30 &&
	    g->head.ram_end > memory->size)
		g->memory.missing = g->head.ram_end - memory->size;
	if (g->memory.missing)
		say("%s: it breaks off at %llu: at least %llu bytes of the memory are missing",
		    file, (unsigned long long)memory->size, (unsigned long long)g->memory.missing);
	if (found && g->head.ram_end > 4ULL << 30)
		memory_split(&g->memory, g->head.ram_end - (4ULL << 30));
	if (!found) {
		say("%s: there are no rings of Trapline in it", file);
	} else if (!find_array(g, instance)) {
		say("%s: there is no instance '%s'", file, instance);
	} else {
		g->buffer = guest_word(g, g->array + g->head.array_buffer);
		guest_fetch(g, g->buffer + g->head.buffer_cpus, &g->cpus, sizeof(g->cpus));
		if (g->cpus && g->cpus <= CPUS_MOST) {
			g->cpu = xmalloc(g->cpus * sizeof(*g->cpu));
			return true;
		}
		say("%s: its rings cannot be read", file);
	}
	memory_close(&g->memory);
	return false;
}

void guest_close(struct guest *g)
{
	memory_close(&g->memory);
	free(g->cpu);
}

/* ---- formats and names ----------------------------------------------------------------------------------------------- */

static void add_format(struct guest *g, struct trace *t, uint64_t at, uint32_t size)
{
	const uint8_t *p =
	    memory_at(&g->memory, physical(g, at + sizeof(struct trace_export_format)), size);
	const uint8_t *nul = p && size < 1 << 20 ? memchr(p, 0, size) : NULL;

	if (nul)
		trace_add_format(t, (const char *)p, (const char *)nul + 1, p + size - nul - 1);
}

static uint64_t head_word(const struct guest *g, size_t offset)
{
	return guest_word(g, g->head.self - g->head.image_offset + g->head.image_base + offset);
}

/* False: it has no end. */
static bool walk_formats(struct guest *g, struct trace *t)
{
	struct trace_export_format f;
	uint64_t at = head_word(g, offsetof(struct trace_export, formats));

	for (unsigned i = 0; at && guest_fetch(g, at, &f, sizeof(f)); i++, at = f.next) {
		if (i == FORMATS_MOST)
			return false;
		add_format(g, t, at, f.size);
	}
	return true;
}

/* The list as it is at one moment, when nobody takes it apart; of a machine that died just then, as far as it goes. */
static void add_formats(struct guest *g, struct trace *t)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = head_word(g, offsetof(struct trace_export, change));

		trace_drop_formats(t);
		if (!walk_formats(g, t) ||
		    (before % 2 == 0 &&
			before == head_word(g, offsetof(struct trace_export, change))))
			break;
	}
	trace_index(t);
}

static void add_texts(struct guest *g, struct bytes *out)
{
	char text[TEXT_MOST], line[32];

	for (uint64_t i = 0; i < g->head.text_count && i < FORMATS_MOST; i++) {
		uint64_t address = guest_word(g, g->head.texts + i * 8);
		if (!address || !guest_text(g, address, text, sizeof(text)))
			continue;
		int n = snprintf(line, sizeof(line), "0x%llx : \"", (unsigned long long)address);
		bytes_put(out, line, n);
		for (const char *p = text; *p; p++) {
			const char *escaped = *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : NULL;
			if (escaped)
				bytes_put(out, escaped, 2);
			else if (*p == '"' || *p == '\\')
				bytes_put(out, (char[]){'\\', *p}, 2);
			else
				bytes_put(out, p, 1);
		}
		bytes_put(out, "\"\n", 2);
	}
}

static void add_comms(struct guest *g, struct bytes *out)
{
	uint64_t table = guest_word(g, g->head.comms);
	uint32_t count = 0;
	struct {
		char comm[16];
		int32_t pid;
	} slot;
	char line[64];

	guest_fetch(g, g->head.comm_count, &count, sizeof(count));
	for (uint32_t i = 0; table && i < count && i < FORMATS_MOST; i++) {
		const uint8_t *p = memory_at(
		    &g->memory, physical(g, table + (uint64_t)i * g->head.comm_size), sizeof(slot));
		if (!p)
			return;
		memcpy(&slot, p, sizeof(slot));
		if (slot.pid > 0)
			bytes_put(out, line,
			    snprintf(line, sizeof(line), "%d %.15s\n", slot.pid, slot.comm));
	}
}

void guest_names(struct guest *g, struct trace *t)
{
	struct bytes text = {.data = NULL};

	add_comms(g, &text);
	trace_parse_comms(t, (const char *)text.data, text.size);
	bytes_free(&text);
}

void guest_describe(struct guest *g, struct trace *t, const char *name)
{
	struct bytes text = {.data = NULL};
	uint64_t clock = guest_word(g, g->array + g->head.array_clock);
	char clock_name[64] = "local", line[80];

	*t = (struct trace){.file = name, .records = RECORDS_OWN, .cpus = g->cpus};
	t->by_id = xmalloc(65536 * sizeof(*t->by_id));
	t->uname = xstrndup(g->head.release, sizeof(g->head.release));
	t->stats = xstrndup("", 0);
	t->cpu = xmalloc(g->cpus * sizeof(*t->cpu));
	add_formats(g, t);
	add_texts(g, &text);
	trace_parse_printk(t, (const char *)text.data, text.size);
	bytes_free(&text);
	guest_names(g, t);
	guest_text(g, guest_word(g, clock), clock_name, sizeof(clock_name));
	trace_set_clock(t, line, snprintf(line, sizeof(line), "[%s]", clock_name));
	if (guest_word(g, clock + g->head.clock_to_ns)) {
		t->clock_base = g->head.clock_base;
		t->clock_mult = g->head.clock_mult;
		if (!strcmp(clock_name, "tai"))
			t->clock_add = g->head.unix_ns;
	}
}

/* ---- a ring -------------------------------------------------------------------------------------------------------- */

static uint64_t ring_word(const struct guest *g, const struct guest_cpu *c, uint32_t offset)
{
	return guest_word(g, c->ring + offset);
}

static uint64_t lap_of(uint64_t number)
{
	return number >> INDEX_BITS & LAP_MASK;
}

/* Sub-buffers from one number on to another. */
static int64_t distance(uint64_t count, uint64_t from, uint64_t to)
{
	int64_t laps = (int64_t)((lap_of(to) - lap_of(from)) << (64 - LAP_BITS)) >> (64 - LAP_BITS);

	return laps * (int64_t)count + (int64_t)(to & INDEX_MASK) - (int64_t)(from & INDEX_MASK);
}

static uint64_t plus(uint64_t count, uint64_t number, int64_t n)
{
	int64_t index = (int64_t)(number & INDEX_MASK) + n, laps = index / (int64_t)count;

	index -= laps * (int64_t)count;
	if (index < 0) {
		index += count;
		laps--;
	}
	return ((lap_of(number) + laps) & LAP_MASK) << INDEX_BITS | index;
}

static uint64_t ring_of(const struct guest *g, unsigned cpu)
{
	return guest_word(g, guest_word(g, g->array + g->head.array_buffer) + g->head.buffer_lanes +
				 (uint64_t)cpu * g->head.lane_size + g->head.lane_ring);
}

/* Where to begin: the reader's sub-buffer, if it ever had one; whether it is still there is seen then. */
static void begin(struct guest *g, struct guest_cpu *c, uint64_t ring, uint64_t count)
{
	bool again = c->begun;

	c->ring = ring;
	c->begun = true;
	c->number = ring_word(g, c, g->head.ring_next);
	if (c->number != FIRST_NUMBER)
		c->number = plus(count, c->number, -1);
	c->offset = 0;
	c->counted = 0;
	c->next_seq = ring_word(g, c, g->head.ring_next_seq);
	c->gap = true;
	c->lost_unknown |= again;
}

/* To the oldest there can be, at least one on. */
static void skip(struct guest *g, struct guest_cpu *c, uint64_t count)
{
	uint64_t tail = ring_word(g, c, g->head.ring_number);
	int64_t ahead = distance(count, c->number, tail);

	c->gap = true;
	c->offset = 0;
	c->number =
	    plus(count, c->number, ahead >= (int64_t)count ? ahead - (int64_t)(count - 1) : 1);
}

/* What was evicted before the sub-buffer that we have found, when as many sub-buffers were counted as are gone. */
static uint64_t evicted_before(struct guest *g, struct guest_cpu *c, uint64_t count)
{
	uint64_t gone = ring_word(g, c, g->head.ring_skipped) +
			distance(count, ring_word(g, c, g->head.ring_next), c->number);

	for (unsigned i = 0; i < TRIES; i++)
		if ((int64_t)(ring_word(g, c, g->head.ring_evicted_pages) - gone) >= 0)
			break;
	return ring_word(g, c, g->head.ring_evicted_events);
}

struct found {
	uint64_t page;	  /* virtual address */
	uint64_t watched; /* the word that says that it is there, ... */
	uint64_t value;	  /* ... and what it said */
	bool reader;
};

/* G1. False: it is not there. */
static bool find_page(struct guest *g, struct guest_cpu *c, uint64_t count, struct found *f)
{
	uint64_t slots = ring_word(g, c, g->head.ring_slots);

	f->watched = slots + (c->number & INDEX_MASK) * 8;
	f->value = guest_word(g, f->watched);
	f->page = (uint64_t)((int64_t)f->value >> 16) & SLOT_PAGE;
	f->reader = false;
	if ((f->value & LAP_MASK) == lap_of(c->number) && slots)
		return true;
	f->watched = c->ring + g->head.ring_page;
	f->value = f->page = guest_word(g, f->watched);
	f->reader = true;
	return f->page && plus(count, c->number, 1) == ring_word(g, c, g->head.ring_next) &&
	       guest_word(g, f->page + 8) >> 36 == lap_of(c->number);
}

enum look { LOOK_MORE, LOOK_END, LOOK_AGAIN };

/* Events and the last time of what was copied, which begins behind a record at `time`. */
static void count_records(struct guest_cpu *c, uint8_t *page, uint32_t bytes, bool evictable)
{
	struct page_walk w;
	uint64_t commit = bytes;

	memcpy(page, &c->time, 8);
	memcpy(page + 8, &commit, 8);
	page_begin(&w, RECORDS_OWN, page);
	while (page_next(&w)) {
		c->seen++;
		c->counted += evictable;
	}
	c->time = w.time;
}

/* We stand behind a gap. `evicted`: events, before what was found. */
static void count_gap(struct guest *g, struct guest_cpu *c, uint64_t evicted)
{
	c->gap = false;
	if (c->next_seq != ring_word(g, c, g->head.ring_next_seq))
		c->lost_unknown = true;
	else
		c->lost += evicted - c->counted;
	c->counted = evicted;
}

/* G2 and G3, and on to the next sub-buffer when this one is finished. */
static enum look copy_new(
    struct guest *g, struct guest_cpu *c, uint64_t count, const struct found *f, uint8_t *page)
{
	uint64_t account = guest_word(g, f->page + 8), bytes = account & 0xfff,
		 padding = account >> 24 & 0xfff;
	bool finished = bytes == PAGE_ROOM;
	uint64_t tail = ring_word(g, c, g->head.ring_tail), evicted = 0, first = c->offset;

	if (account >> 36 !=
	    lap_of(c->number)) /* the writer is about to enter it, or it was given away */
		return f->reader ? LOOK_AGAIN : LOOK_END;
	uint64_t end = bytes - padding;
	if (!finished && (tail << 16 >> 16) != ((f->page + PAGE_HEADER + bytes) << 16 >> 16))
		end = first;
	if (end > PAGE_ROOM || end < first)
		return LOOK_AGAIN;
	uint64_t time = guest_word(g, f->page);
	if (end > first &&
	    !guest_fetch(g, f->page + PAGE_HEADER + first, page + PAGE_HEADER, end - first))
		return LOOK_AGAIN;
	if (c->gap && !f->reader)
		evicted = evicted_before(g, c, count);
	if (guest_word(g, f->watched) != f->value ||
	    ring_word(g, c, g->head.ring_count) != count) /* G3 */
		return LOOK_AGAIN;
	if (c->gap && !f->reader)
		count_gap(g, c, evicted);
	if (!first)
		c->time = time;
	if (end > first)
		count_records(c, page, end - first, !f->reader);
	c->offset = end;
	if (finished) {
		c->number = plus(count, c->number, 1);
		c->offset = 0;
	}
	return end > first ? LOOK_MORE : finished ? LOOK_AGAIN : LOOK_END;
}

static enum look look(struct guest *g, unsigned cpu, uint8_t *page)
{
	struct guest_cpu *c = &g->cpu[cpu];
	uint64_t ring = ring_of(g, cpu);
	struct found f;

	if (!ring)
		return LOOK_END;
	uint64_t count = guest_word(g, ring + g->head.ring_count);
	if (count < 2 || count > INDEX_MASK)
		return LOOK_END;
	if (!c->begun || c->ring != ring)
		begin(g, c, ring, count);
	if (distance(count, c->number, ring_word(g, c, g->head.ring_number)) < 0)
		return LOOK_END;
	if (find_page(g, c, count, &f))
		return copy_new(g, c, count, &f, page);
	if (distance(count, c->number, ring_word(g, c, g->head.ring_next)) > 0 && c->seen)
		c->lost_unknown = true; /* a reader took it */
	skip(g, c, count);
	return LOOK_AGAIN;
}

bool guest_next(
    struct guest *g, unsigned cpu, uint8_t page[PAGE_BYTES], uint64_t *lost, bool *unknown)
{
	struct guest_cpu *c = &g->cpu[cpu];
	enum look result = LOOK_AGAIN;

	memset(page, 0, PAGE_BYTES);
	for (unsigned i = 0; i < TRIES && result == LOOK_AGAIN; i++)
		result = look(g, cpu, page);
	if (result != LOOK_MORE)
		return false;
	*lost = c->lost;
	c->lost_told += c->lost;
	*unknown = c->lost_unknown;
	c->lost = 0;
	c->lost_unknown = false;
	return true;
}
