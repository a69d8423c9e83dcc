/* Two traces explained: the parts that made one longer than the other. See print.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/explain/print.h"

/* Parts of both traces with the same text, which has tasks by name. */
struct change {
	uint32_t word;
	uint64_t time[2], at; /* at: the longest piece in B */
	uint64_t longest;
};

struct changes {
	struct words words;
	struct change *change;
};

static void add_side(struct changes *c, int side, const struct explanation *e)
{
	for (size_t i = 0; i < e->parts; i++) {
		const struct part *p = &e->part[i];
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (!out)
			die(EXIT_TROUBLE, "out of memory");
		explain_part(e, p, true, out);
		fclose(out);
		uint32_t before = c->words.count, word = words_add(&c->words, text, size);
		free(text);
		if (word == before) {
			c->change = xrealloc(c->change, (word + 1ul) * sizeof(*c->change));
			c->change[word] = (struct change){.word = word};
		}
		struct change *change = &c->change[word];
		change->time[side] += p->time;
		if (side && p->longest > change->longest) {
			change->longest = p->longest;
			change->at = p->at;
		}
	}
}

static int64_t more_of(const struct change *c)
{
	return c->time[1] - c->time[0];
}

static uint64_t size_of(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static int largest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	uint64_t n = size_of(more_of(x)), m = size_of(more_of(y));

	if (n != m)
		return n > m ? -1 : 1;
	return x->word < y->word ? -1 : x->word > y->word;
}

static const char *more_text(char buf[40], const struct trace *t, int64_t more)
{
	char text[32];

	snprintf(buf, 40, "%c%s", more < 0 ? '-' : '+', explain_exact(text, t, size_of(more)));
	return buf;
}

static void put_change(
    const struct explained *b, const struct changes *c, const struct change *change)
{
	char more[40], at[32];

	printf(
	    "%20s  %s", more_text(more, &b->trace, more_of(change)), c->words.word[change->word]);
	if (change->longest)
		printf(" (at %s)", explain_time(at, &b->trace, change->at));
	puts("");
}

/* The largest change in the direction in which the whole changed. */
static const struct change *main_change(const struct changes *c, int64_t all)
{
	uint32_t i = 0;

	while (i + 1 < c->words.count && (more_of(&c->change[i]) < 0) != (all < 0))
		i++;
	return &c->change[i];
}

static void put_changes(const struct explained *b, const struct changes *c, int64_t all)
{
	uint32_t changes = 0;
	int64_t rest = 0;
	char more[40];

	while (changes < c->words.count && more_of(&c->change[changes]))
		changes++;
	for (uint32_t i = 0; i < changes; i++) {
		if (i < PARTS_MOST)
			put_change(b, c, &c->change[i]);
		else
			rest += more_of(&c->change[i]);
	}
	if (changes > PARTS_MOST)
		printf("%20s  %u smaller parts\n", more_text(more, &b->trace, rest),
		    changes - PARTS_MOST);
	printf("%20s  the whole\n", more_text(more, &b->trace, all));
}

void explain_difference(const struct explained *a, const struct explained *b)
{
	const struct explanation *x = &a->explanation, *y = &b->explanation;
	uint64_t took_a = x->to - x->from, took_b = y->to - y->from;
	int64_t all = took_b - took_a;
	struct changes c = {.change = NULL};
	char text[3][32], more[32];

	add_side(&c, 0, x);
	add_side(&c, 1, y);
	qsort(c.change, c.words.count, sizeof(*c.change), largest_first);
	const struct change *most = main_change(&c, all);
	printf("%s takes %s %s than %s (%s, %s): %c%s %s\n\n", b->trace.file,
	    explain_short(text[0], &b->trace, size_of(all)), all < 0 ? "less" : "more",
	    a->trace.file, explain_short(text[1], &b->trace, took_b),
	    explain_short(text[2], &a->trace, took_a), more_of(most) < 0 ? '-' : '+',
	    explain_short(more, &b->trace, size_of(more_of(most))), c.words.word[most->word]);
	put_changes(b, &c, all);
	words_free(&c.words);
	free(c.change);
}
