/*
 * Function calls compared: how often each function was called, and how long it took, by itself and
 * over all; and the ways on which the trees of calls part. Tasks of one name count as one.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/diff/diff.h"

#define WAY_MOST 200 /* letters of a way */

/* A function in A and in B. */
struct both {
	uint32_t word;
	struct call_sum side[2];
};

struct calls {
	struct diff *d;
	struct words words; /* of both sides: tasks, functions */
	struct both *function;
	struct calltree tree; /* of both sides; its counts are: */
	uint64_t (*count)[2];
	struct call_place {
		uint32_t node;
		int64_t more;
	} * place; /* where trees part */
	size_t places;
};

static uint64_t size_of(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static const struct model *model_of(const struct calls *c, int side)
{
	return &c->d->side[side].model;
}

/* The common word for a function, or a task, of one side. */
static uint32_t common_word(struct calls *c, int side, const struct call_walk *w)
{
	const struct model *m = model_of(c, side);
	uint32_t what = w->tree->node[w->node].what;
	const char *name = w->depth		? m->pairing.call_words.word[what]
			   : what & CALLER_IDLE ? "<idle>"
						: trace_comm(m->trace, (int32_t)what);

	return words_add(&c->words, name, strlen(name));
}

static void add_function_sums(struct calls *c, int side)
{
	const struct words *words = &model_of(c, side)->pairing.call_words;
	struct call_sum *sum = calltree_sums(&model_of(c, side)->calls, words->count);

	for (uint32_t i = 0; i < words->count; i++) {
		uint32_t before = c->words.count,
			 word = words_add(&c->words, words->word[i], strlen(words->word[i]));
		if (word == before) {
			c->function = xrealloc(c->function, (word + 1ul) * sizeof(*c->function));
			c->function[word] = (struct both){.word = word};
		}
		c->function[word].side[side] = sum[i];
	}
	free(sum);
}

/* ---- functions ---- */

static int64_t more_calls(const struct both *f)
{
	return f->side[1].calls - f->side[0].calls;
}

static int64_t more_own(const struct both *f)
{
	return f->side[1].self - f->side[0].self;
}

static int by_calls(const void *a, const void *b)
{
	uint64_t x = size_of(more_calls(a)), y = size_of(more_calls(b));

	return x > y   ? -1
	       : x < y ? 1
		       : (int)(((const struct both *)a)->word - ((const struct both *)b)->word);
}

static int by_own(const void *a, const void *b)
{
	uint64_t x = size_of(more_own(a)), y = size_of(more_own(b));

	return x > y   ? -1
	       : x < y ? 1
		       : (int)(((const struct both *)a)->word - ((const struct both *)b)->word);
}

static void put_left(const struct calls *c, uint32_t found)
{
	if (found > c->d->lines)
		fprintf(c->d->body, "  and %u more (-n N shows N of them)\n", found - c->d->lines);
}

/* Prints functions called more or less often, the largest difference first. */
static void put_calls(struct calls *c, uint32_t functions)
{
	uint32_t found = 0;

	qsort(c->function, functions, sizeof(*c->function), by_calls);
	while (found < functions && more_calls(&c->function[found]))
		found++;
	if (!found)
		return;
	fprintf(c->d->body, "\n%-48s %10s %10s %11s\n", "function calls", "A", "B", "B - A");
	for (uint32_t i = 0; i < found && i < c->d->lines; i++) {
		const struct both *f = &c->function[i];
		fprintf(c->d->body, "  %-46s %10llu %10llu %+11lld\n", c->words.word[f->word],
		    (unsigned long long)f->side[0].calls, (unsigned long long)f->side[1].calls,
		    (long long)more_calls(f));
	}
	put_left(c, found);
	diff_found(c->d, "calls of %u functions", found);
}

static void put_time(const struct calls *c, int64_t ns, const char *sign)
{
	char text[32], signed_text[40];

	snprintf(signed_text, sizeof(signed_text), "%s%s", sign,
	    diff_duration(text, &c->d->side[0].trace, size_of(ns)));
	fprintf(c->d->body, " %10s", signed_text);
}

/* Prints functions whose own time grew or shrank, the largest difference first. */
static void put_times(struct calls *c, uint32_t functions)
{
	uint32_t found = 0;

	qsort(c->function, functions, sizeof(*c->function), by_own);
	while (found < functions && more_own(&c->function[found]))
		found++;
	if (!found)
		return;
	fprintf(c->d->body, "\n%-32s %10s %10s %10s %10s %10s\n", "functions' own time", "A", "B",
	    "B - A", "in all A", "in all B");
	for (uint32_t i = 0; i < found && i < c->d->lines; i++) {
		const struct both *f = &c->function[i];
		fprintf(c->d->body, "  %-30s", c->words.word[f->word]);
		put_time(c, f->side[0].self, "");
		put_time(c, f->side[1].self, "");
		put_time(c, more_own(f), more_own(f) < 0 ? "-" : "+");
		put_time(c, f->side[0].total, "");
		put_time(c, f->side[1].total, "");
		fputs("\n", c->d->body);
	}
	put_left(c, found);
	diff_found(c->d, "own times of %u functions", found);
}

/* ---- ways ---- */

/* Adds the nodes of one side, with their counts, to the tree of both. */
static void add_side(struct calls *c, int side, uint32_t caller)
{
	const struct calltree *t = &model_of(c, side)->calls;
	uint32_t *way = NULL; /* nodes of both, by depth */
	struct call_walk w;

	call_walk_begin(&w, t, caller);
	for (unsigned room = 0; w.node; call_walk_next(&w, true)) {
		if (w.depth + 1 > room)
			way = xrealloc(way, (room = 2 * (w.depth + 1)) * sizeof(*way));
		uint32_t before = c->tree.nodes;
		uint32_t node = calltree_enter(
		    &c->tree, w.depth ? way[w.depth - 1] : CALL_ROOT, common_word(c, side, &w));
		way[w.depth] = node;
		if (node == CALL_FOLDED)
			continue;
		if (node == before && !(node & (node - 1)))
			c->count = xrealloc(c->count, node * 2ul * sizeof(*c->count));
		if (node == before)
			memset(c->count[node], 0, sizeof(*c->count));
		c->count[node][side] += t->node[w.node].calls;
	}
	free(way);
}

static int64_t more_at(const struct calls *c, uint32_t node)
{
	return c->count[node][1] - c->count[node][0];
}

static int by_more(const void *a, const void *b)
{
	const struct call_place *x = a, *y = b;

	if (size_of(x->more) != size_of(y->more))
		return size_of(x->more) > size_of(y->more) ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Prints a way, "sh > kernel_syscall > do_sys_open"; of a long one the end. */
static void put_way(const struct calls *c, uint32_t node)
{
	char text[WAY_MOST + 1];
	size_t at = WAY_MOST;

	text[at] = '\0';
	for (uint32_t i = node; i; i = c->tree.node[i].parent) {
		const char *name = c->words.word[c->tree.node[i].what],
			   *sep = i == node ? "" : " > ";
		size_t n = strlen(name), m = strlen(sep);
		if (at < n + m + 4) {
			memcpy(text + (at -= 4), "... ", 4);
			break;
		}
		memcpy(text + (at -= m), sep, m);
		memcpy(text + (at -= n), name, n);
	}
	fprintf(c->d->body, "    %s\n", text + at);
}

/*
 * Finds the places where the trees part: nodes called more or less often though their callers are
 * not. The calls below them differ for that reason.
 */
static void find_places(struct calls *c)
{
	for (uint32_t i = 1; i < c->tree.nodes; i++) {
		uint32_t parent = c->tree.node[i].parent;
		if (!more_at(c, i) || (parent != CALL_ROOT && more_at(c, parent)))
			continue;
		if (!(c->places & (c->places - 1)))
			c->place =
			    xrealloc(c->place, (c->places ? c->places * 2 : 1) * sizeof(*c->place));
		c->place[c->places++] = (struct call_place){i, more_at(c, i)};
	}
	if (c->places)
		qsort(c->place, c->places, sizeof(*c->place), by_more);
}

static void put_places(const struct calls *c)
{
	if (!c->places)
		return;
	fprintf(c->d->body, "\n%-48s %10s %10s %11s\n", "where the calls part", "A", "B", "B - A");
	for (size_t i = 0; i < c->places && i < c->d->lines; i++) {
		const struct call_place *p = &c->place[i];
		fprintf(c->d->body, "  %-46s %10llu %10llu %+11lld\n",
		    c->words.word[c->tree.node[p->node].what],
		    (unsigned long long)c->count[p->node][0],
		    (unsigned long long)c->count[p->node][1], (long long)p->more);
		put_way(c, p->node);
	}
	put_left(c, c->places);
}

static void diff_ways(struct calls *c)
{
	calltree_begin(&c->tree);
	c->count = xmalloc(sizeof(*c->count));
	for (int side = 0; side < 2; side++) {
		const struct calltree *t = &model_of(c, side)->calls;
		for (uint32_t i = t->node[CALL_ROOT].child; i; i = t->node[i].next)
			add_side(c, side, i);
	}
	find_places(c);
	put_places(c);
	calltree_free(&c->tree);
	free(c->count);
	free(c->place);
}

void diff_calls(struct diff *d)
{
	struct calls c = {.d = d};

	add_function_sums(&c, 0);
	add_function_sums(&c, 1);
	uint32_t functions = c.words.count;
	if (functions) {
		put_calls(&c, functions);
		diff_ways(&c);
		if (!d->ignore_time)
			put_times(&c, functions);
	}
	words_free(&c.words);
	free(c.function);
}
