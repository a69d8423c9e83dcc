/*
 * How many there are of each event and of each task, how long things took, what was lost: the parts
 * of `trapline diff` that are tables.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/diff/diff.h"

/* In A and in B. */
struct pair {
	uint64_t n[2];
};

static struct pair *count_tokens(const struct diff *d)
{
	struct pair *count = xmalloc(d->tokens.count * sizeof(*count));

	for (int side = 0; side < 2; side++)
		for (unsigned cpu = 0; cpu < d->side[side].trace.cpus; cpu++) {
			const struct lane *lane = &d->side[side].cpu[cpu];
			for (size_t i = 0; i < lane->count; i++)
				count[lane->token[i]].n[side]++;
		}
	return count;
}

static void put_pair(FILE *out, const char *before, const char *name, const struct pair *p)
{
	fprintf(out, "%s%-*s %10llu %10llu %+11lld\n", before, 48 - (int)strlen(before), name,
	    (unsigned long long)p->n[0], (unsigned long long)p->n[1],
	    (long long)(p->n[1] - p->n[0]));
}

/* An event, and its tasks. */
static void put_event(
    struct diff *d, uint32_t event, const struct pair *all, const struct pair *by_task)
{
	size_t length = strlen(d->events.word[event]) + strlen(" ");

	put_pair(d->body, "  ", d->events.word[event], all);
	for (uint32_t i = 0; i < d->tokens.count; i++)
		if (d->event_of[i] == event && by_task[i].n[0] != by_task[i].n[1])
			put_pair(d->body, "    ", d->tokens.word[i] + length, &by_task[i]);
}

/* An event as often in both may yet be so by other tasks. */
void diff_counts(struct diff *d)
{
	struct pair *by_task = count_tokens(d), *event = xmalloc(d->events.count * sizeof(*event));
	bool *differs = xmalloc(d->events.count);
	unsigned found = 0;

	for (uint32_t i = 0; i < d->tokens.count; i++) {
		event[d->event_of[i]].n[0] += by_task[i].n[0];
		event[d->event_of[i]].n[1] += by_task[i].n[1];
		differs[d->event_of[i]] |= by_task[i].n[0] != by_task[i].n[1];
	}
	for (uint32_t i = 0; i < d->events.count; i++) {
		if (!differs[i])
			continue;
		if (!found++)
			fprintf(d->body, "\n%-48s %10s %10s %11s\n", "counts", "A", "B", "B - A");
		put_event(d, i, &event[i], by_task);
	}
	if (found)
		diff_found(d, "counts of %u of %u events", found, d->events.count);
	free(by_task);
	free(event);
	free(differs);
}

/* ---- latencies ---- */

static const unsigned percents[] = {50, 90, 100};

static bool same_durations(const struct durations *a, const struct durations *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < 3 && a->count; i++)
		if (durations_at(a, percents[i]) != durations_at(b, percents[i]))
			return false;
	return true;
}

static void put_durations(struct diff *d, const char *name, const struct durations *durations)
{
	char text[32];

	for (int side = 0; side < 2; side++) {
		const struct durations *of = &durations[side];
		fprintf(d->body, "  %-30.30s %c %10zu", side ? "" : name, "AB"[side], of -> count);
		for (size_t i = 0; i < 3 && of->count; i++)
			fprintf(d->body, " %10s",
			    diff_duration(
				text, &d->side[side].trace, durations_at(of, percents[i])));
		fputs("\n", d->body);
	}
}

/* Of a kind, or a name of it, by the number that each trace has for it. True: they differ. */
static bool put_latency(
    struct diff *d, const char *name, enum interval_kind kind, const uint32_t word[2], bool first)
{
	struct durations durations[2];
	bool differ = false;

	for (int side = 0; side < 2; side++)
		model_durations(&d->side[side].model, kind, word[side], &durations[side]);
	if (!same_durations(&durations[0], &durations[1])) {
		if (first)
			fprintf(d->body, "\n%-32s   %10s %10s %10s %10s\n", "latencies", "number",
			    "median", "90 %", "most");
		put_durations(d, name, durations);
		differ = true;
	}
	free(durations[0].value);
	free(durations[1].value);
	return differ;
}

/* Every name of A, and those that only B has. */
static unsigned put_names(struct diff *d, enum interval_kind kind, unsigned found)
{
	struct words *a = &d->side[0].model.pairing.words, *b = &d->side[1].model.pairing.words;
	uint32_t b_count = b->count;

	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t word[] = {i, words_add(b, a->word[i], strlen(a->word[i]))};
		found += put_latency(d, a->word[i], kind, word, !found);
	}
	for (uint32_t i = 0; i < b_count; i++) {
		uint32_t a_count = a->count,
			 word[] = {words_add(a, b->word[i], strlen(b->word[i])), i};
		if (a->count > a_count)
			found += put_latency(d, b->word[i], kind, word, !found);
	}
	return found;
}

void diff_latencies(struct diff *d)
{
	static const char *const names[] = {
	    "wakeup until it runs", "interrupts", "system calls", "marked by programs"};
	static const uint32_t any[] = {WORD_ANY, WORD_ANY};
	unsigned found = 0;

	for (enum interval_kind kind = 0; kind < INTERVAL_KINDS; kind++) {
		found += put_latency(d, names[kind], kind, any, !found);
		if (kind == INTERVAL_IRQ || kind == INTERVAL_SYSCALL)
			found = put_names(d, kind, found);
	}
	if (found)
		diff_found(d, "%u latencies", found);
}

/* ---- losses ---- */

static void put_lost(FILE *out, uint64_t n, bool unknown)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)n, unknown ? "+?" : "");
	fprintf(out, " %10s", text);
}

void diff_lost(struct diff *d)
{
	unsigned found = 0;

	for (unsigned cpu = 0; cpu < d->side[0].trace.cpus || cpu < d->side[1].trace.cpus; cpu++) {
		uint64_t lost[2] = {0, 0};
		bool unknown[2] = {false, false};

		for (int side = 0; side < 2; side++)
			if (cpu < d->side[side].trace.cpus)
				lost[side] = model_lost(&d->side[side].model, cpu, &unknown[side]);
		if (lost[0] == lost[1] && unknown[0] == unknown[1])
			continue;
		if (!found++)
			fprintf(d->body, "\n%-48s %10s %10s\n", "lost events", "A", "B");
		fprintf(d->body, "  CPU %-42u", cpu);
		put_lost(d->body, lost[0], unknown[0]);
		put_lost(d->body, lost[1], unknown[1]);
		fputs("\n", d->body);
	}
	if (found)
		diff_found(d, "lost events on %u CPUs", found);
}
