/*
 * Texts made of a machine's memory that nobody in it had made: symbols, and the ledger. Nothing is
 * trusted; walks have an end.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/trace/guest.h"

#define SYMBOLS_MOST 1000000
#define FILES_MOST   100000
#define NAME_MOST    256

static void put_text(struct bytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct bytes *b, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bytes_put(b, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
}

void guest_symbols(const struct guest *g, struct bytes *out)
{
	const uint64_t *place = g->head.symbols;
	uint32_t offset, name, global;
	char text[NAME_MOST];

	for (uint64_t i = 0; i < place[0] && i < SYMBOLS_MOST; i++) {
		if (!guest_fetch(g, place[2] + i * 4, &offset, sizeof(offset)) ||
		    !guest_fetch(g, place[3] + i * 4, &name, sizeof(name)) ||
		    !guest_fetch(g, place[5] + i / 32 * 4, &global, sizeof(global)) ||
		    !guest_text(g, place[4] + name, text, sizeof(text)))
			return;
		put_text(out, "%016llx %c %s\n", (unsigned long long)place[1] + offset,
		    global >> i % 32 & 1 ? 'T' : 't', text);
	}
}

/* ---- the ledger ---- */

static void add(struct trace_export_counts *to, const struct trace_export_counts *from)
{
#define TRACE_EXPORT_COUNT(name) to->name += from->name;
#include "kernel/abi/trace_export.def"
}

static uint64_t recorded(const struct trace_export_counts *c)
{
	return c->hit - c->lost - c->filtered - c->pid_filtered - c->soft_off - c->too_deep;
}

static void put_counts(struct bytes *out, const char *who, const struct trace_export_counts *c)
{
	put_text(out,
	    "%s: hits %llu = recorded %lld + filtered %llu + pid_filtered %llu + soft_off %llu + "
	    "too_deep %llu + refused %llu\n",
	    who, (unsigned long long)c->hit, (long long)recorded(c),
	    (unsigned long long)c->filtered, (unsigned long long)c->pid_filtered,
	    (unsigned long long)c->soft_off, (unsigned long long)c->too_deep,
	    (unsigned long long)c->lost);
}

/* The event of the file, with what it counted on each CPU, which is added to `cpu`. */
static void put_event(
    const struct guest *g, uint64_t file, struct trace_export_counts *cpu, struct bytes *events)
{
	uint64_t call = guest_word(g, file + g->head.file_call),
		 counts = guest_word(g, file + g->head.file_counts);
	struct trace_export_counts one, sum = {.hit = 0};
	char name[NAME_MOST], system[NAME_MOST], who[2 * NAME_MOST];

	if (!counts ||
	    !guest_text(g, guest_word(g, call + g->head.call_name), name, sizeof(name)) ||
	    !guest_text(g,
		guest_word(g, guest_word(g, call + g->head.call_class) + g->head.class_system),
		system, sizeof(system)))
		return;
	for (uint32_t i = 0; i < g->cpus; i++) {
		if (!guest_fetch(g, counts + (uint64_t)i * g->head.count_size, &one, sizeof(one)))
			return;
		add(&cpu[i], &one);
		add(&sum, &one);
	}
	snprintf(who, sizeof(who), "%s:%s", system, name);
	if (sum.hit)
		put_counts(events, who, &sum);
}

static void put_files(const struct guest *g, struct trace_export_counts *cpu, struct bytes *events)
{
	uint64_t head = g->array + g->head.array_files, node = guest_word(g, head);

	for (unsigned i = 0; i < FILES_MOST && node && node != head; i++) {
		put_event(g, node - g->head.file_node, cpu, events);
		node = guest_word(g, node);
	}
}

static void put_sum(const struct guest *g, const struct trace_export_counts *sum, struct bytes *out)
{
	uint64_t seen = 0, lost = 0;

	for (uint32_t i = 0; i < g->cpus; i++) {
		seen += g->cpu[i].seen;
		lost += g->cpu[i].lost_told;
	}
	put_counts(out, "all", sum);
	put_text(out,
	    "all: recorded %lld = seen %llu + overwritten %llu + snapshot, read, cleared or "
	    "discarded %lld\n",
	    (long long)recorded(sum), (unsigned long long)seen, (unsigned long long)lost,
	    (long long)(recorded(sum) - seen - lost));
}

void guest_ledger(const struct guest *g, struct bytes *out)
{
	struct trace_export_counts *cpu = xmalloc(g->cpus * sizeof(*cpu)), sum = {.hit = 0}, gone;
	struct bytes events = {.data = NULL};
	uint64_t ledger = guest_word(g, g->array + g->head.array_ledger);
	char who[24];

	put_text(out, "# what became of every hit, from the machine's memory\n");
	put_files(g, cpu, &events);
	for (uint32_t i = 0; i < g->cpus; i++) {
		if (ledger &&
		    guest_fetch(g, ledger + (uint64_t)i * g->head.ledger_size, &gone, sizeof(gone)))
			add(&cpu[i], &gone);
		add(&sum, &cpu[i]);
		snprintf(who, sizeof(who), "cpu%u", i);
		put_counts(out, who, &cpu[i]);
	}
	put_sum(g, &sum, out);
	bytes_put(out, events.data, events.size);
	bytes_free(&events);
	free(cpu);
}
