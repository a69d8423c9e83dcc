/*
 * Reading a region that another run left: its header must agree with its sum; each text, and the
 * names of functions, with theirs; tables that change while the kernel runs are taken entry by
 * entry, and each entry is checked. Pure.
 */
#include "trace/persist/kept_read.h"
#include "kernel/lib/string.h"
#include "trace/ring/recover.h"

#define PIDS 32768

/* FNV-1a over words, then bytes: damage is by chance, nobody forges it to gain anything. */
u64 kept_sum(const void *data, size_t n)
{
	const u8 *at = data;
	u64 h = 0xcbf29ce484222325, word;

	for (; n >= 8; n -= 8, at += 8) {
		__builtin_memcpy(&word, at, 8);
		h = (h ^ word) * 0x100000001b3;
		h ^= h >> 32;
	}
	while (n--)
		h = (h ^ *at++) * 0x100000001b3;
	return h;
}

static bool inside(const struct kept_header *h, u64 at, u64 size)
{
	return at <= h->size && size <= h->size - at;
}

const char *kept_refuse(const struct kept_header *h, size_t size)
{
	if (memcmp(h->magic, KEPT_MAGIC, 8))
		return "the memory holds something else, as after power-on";
	if (h->version != KEPT_VERSION || h->header_size != sizeof(*h) ||
	    h->ring_version != rb_recover_version())
		return "another version of the kernel wrote it";
	if (h->sum != kept_sum(h, offsetof(struct kept_header, sum)))
		return "its header is damaged";
	if (h->size > size || !inside(h, h->symbols_at, h->symbols_size) ||
	    !inside(h, h->texts_at, h->texts_size) ||
	    !inside(h, (u64)h->pool_at * PAGE_SIZE, PAGE_SIZE) || h->base % PAGE_SIZE ||
	    h->symbols_at % 8 || h->texts_at % 8)
		return "its header does not fit the memory";
	return NULL;
}

const struct kept_text *kept_next_text(const struct kept_header *h, u32 *at)
{
	u32 used = MIN(h->texts_used, h->texts_size);
	const struct kept_text *t = (const void *)((const char *)h + h->texts_at + *at);

	if (*at % 8 || used - *at < sizeof(*t) || *at > used)
		return NULL;
	if (t->size <= sizeof(*t) || t->size % 8 || t->size > used - *at ||
	    t->sum != kept_sum(&t->size, t->size - sizeof(t->sum)) ||
	    t->format_at >= t->size - sizeof(*t) || ((const char *)t)[t->size - 1] ||
	    !t->format_at || t->system[t->format_at - 1])
		return NULL;
	*at += t->size;
	return t;
}

static const char *kept_symbol_names(const struct kept_symbols *s)
{
	return (const char *)&s->tables[KEPT_SYMBOL_WORDS(s->count)];
}

const char *kept_symbol_name(const struct kept_symbols *s, u32 i)
{
	return kept_symbol_names(s) + s->tables[s->count + i];
}

char kept_symbol_type(const struct kept_symbols *s, u32 i)
{
	return s->tables[2 * (u64)s->count + i / 32] >> i % 32 & 1 ? 'T' : 't';
}

u64 kept_symbol_start(const struct kept_symbols *s, u32 i)
{
	return s->start + s->tables[i];
}

/* The tables and the names fill what there is, all names lie there, and the last one ends. */
static bool names_are_sound(const struct kept_symbols *s, u64 size)
{
	u64 head = sizeof(*s) + KEPT_SYMBOL_WORDS(s->count) * sizeof(u32);

	if (head > size || s->names_size > size - head || !s->names_size ||
	    kept_symbol_names(s)[s->names_size - 1])
		return false;
	for (u32 i = 0; i < s->count; i++)
		if (s->tables[s->count + i] >= s->names_size)
			return false;
	return true;
}

const struct kept_symbols *kept_symbols(const struct kept_header *h)
{
	const struct kept_symbols *s = (const void *)((const char *)h + h->symbols_at);

	if (h->symbols_size < sizeof(*s) || h->symbols_sum != kept_sum(s, h->symbols_size))
		return NULL;
	return names_are_sound(s, h->symbols_size) ? s : NULL;
}

const struct trace_comm_slot *kept_comms(const struct kept_header *h, u32 *count)
{
	u64 at = (u64)h->comms_page * PAGE_SIZE;

	*count = h->comms_size / sizeof(struct trace_comm_slot);
	if (!at || !inside(h, at, h->comms_size) || *count > PIDS)
		return NULL;
	return (const void *)((const char *)h + at);
}

bool kept_is_comm(const struct trace_comm_slot *slot)
{
	return slot->pid > 0 && slot->pid < PIDS && !slot->comm[15];
}

u32 kept_ring_page(const struct kept_header *h, unsigned i, u32 *cpu)
{
	const struct kept_ring *r = &h->rings[i];

	*cpu = r->cpu;
	return r->page < h->pool_at || r->page >= h->size / PAGE_SIZE || r->cpu >= MAX_CPUS
		   ? 0
		   : r->page;
}
