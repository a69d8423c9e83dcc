/*
 * A machine seen from outside through its memory: its bytes by virtual address, where it says where
 * its rings are, formats and names. What reads the rings is guest_ring.c.
 *
 * Memory is not trusted: addresses may be anything, walks have an end.
 */
#include "tools/trapline/trace/guest.h"

#include <stdlib.h>
#include <string.h>

#define TRIES	     100
#define FORMATS_MOST 100000
#define ARRAYS_MOST  10000
#define TEXT_MOST    4000

/* ---- memory ---- */

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

/* ---- the instance ---- */

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

/* ---- formats and names ---- */

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

/*
 * The list as it is at one moment, when nobody takes it apart; of a machine that died just then, as
 * far as it goes.
 */
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

	*t = (struct trace){
	    .file = name, .records = RECORDS_OWN, .page_size = PAGE_BYTES, .cpus = g->cpus};
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
