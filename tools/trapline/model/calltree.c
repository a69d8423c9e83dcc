/* See calltree.h. */
#include "tools/trapline/model/calltree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_node(struct calltree *t, uint32_t parent, uint32_t what)
{
	if (!(t->nodes & (t->nodes - 1)))
		t->node = xrealloc(t->node, (t->nodes ? t->nodes * 2ul : 1) * sizeof(*t->node));
	t->node[t->nodes] = (struct call_node){.parent = parent, .what = what};
	return t->nodes++;
}

void calltree_begin(struct calltree *t)
{
	*t = (struct calltree){.most = CALLS_MOST, .to = UINT64_MAX};
	add_node(t, CALL_ROOT, 0);
}

void calltree_part(struct calltree *t, uint64_t from, uint64_t to)
{
	t->from = from;
	t->to = to;
}

static uint32_t node_of(struct calltree *t, uint32_t parent, uint32_t what)
{
	uint64_t key = (uint64_t)parent << 32 | what;
	uint32_t node = parent == CALL_FOLDED ? CALL_FOLDED : map_find(&t->at, key);

	if (node)
		return node;
	if (t->nodes >= t->most)
		return CALL_FOLDED;
	node = add_node(t, parent, what);
	*map_at(&t->at, key) = node;
	t->node[node].next = t->node[parent].child;
	t->node[parent].child = node;
	return node;
}

uint32_t calltree_caller(struct calltree *t, uint32_t caller)
{
	return node_of(t, CALL_ROOT, caller);
}

uint32_t calltree_enter(struct calltree *t, uint32_t parent, uint32_t function)
{
	return node_of(t, parent, function);
}

void calltree_leave(struct calltree *t, uint32_t node, uint64_t begin, uint64_t end, uint64_t took)
{
	uint64_t first = begin > t->from ? begin : t->from, last = end < t->to ? end : t->to;

	if (last < first)
		return;
	if (node == CALL_FOLDED) {
		t->folded++;
		return;
	}
	t->node[node].calls++;
	t->node[node].total += took < last - first ? took : last - first;
}

void calltree_end(struct calltree *t)
{
	for (uint32_t i = t->nodes - 1; i > CALL_ROOT;
	     i--) { /* children come after their parents */
		struct call_node *n = &t->node[i];
		if (n->total < n->inside)
			n->total = n->inside;
		t->node[n->parent].inside += n->total;
	}
	t->node[CALL_ROOT].total = t->node[CALL_ROOT].inside;
}

/* ---- order ---- */

struct sibling {
	uint32_t node, what;
	uint64_t total;
	const char *name; /* NULL: of a caller */
};

static int in_order(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;

	if (x->name)
		return strcmp(x->name, y->name);
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static void sort_children(
    struct calltree *t, uint32_t parent, const struct words *names, struct sibling *sibling)
{
	size_t n = 0;

	for (uint32_t i = t->node[parent].child; i; i = t->node[i].next) {
		const struct call_node *child = &t->node[i];
		sibling[n++] = (struct sibling){
		    i, child->what, child->total, parent ? names->word[child->what] : NULL};
	}
	qsort(sibling, n, sizeof(*sibling), in_order);
	uint32_t *link = &t->node[parent].child;
	for (size_t i = 0; i < n; i++) {
		*link = sibling[i].node;
		link = &t->node[sibling[i].node].next;
	}
	*link = 0;
}

void calltree_sort(struct calltree *t, const struct words *names)
{
	struct sibling *sibling = xmalloc(t->nodes * sizeof(*sibling));

	for (uint32_t i = 0; i < t->nodes; i++)
		sort_children(t, i, names, sibling);
	free(sibling);
}

void call_walk_begin(struct call_walk *w, const struct calltree *t, uint32_t top)
{
	*w = (struct call_walk){.tree = t, .top = top, .node = top};
}

void call_walk_next(struct call_walk *w, bool inside)
{
	const struct call_node *node = w->tree->node;

	if (inside && node[w->node].child) {
		w->node = node[w->node].child;
		w->depth++;
		return;
	}
	while (w->node != w->top && !node[w->node].next) {
		w->node = node[w->node].parent;
		w->depth--;
	}
	w->node = w->node == w->top ? CALL_ROOT : node[w->node].next;
}

/* ---- sums ---- */

static void add_sums(
    const struct calltree *t, uint32_t caller, struct call_sum *sum, uint32_t *open)
{
	uint32_t *way = NULL; /* functions from the caller down; *open: how often each is on it */
	unsigned depth = 1;
	struct call_walk w;

	call_walk_begin(&w, t, caller);
	for (call_walk_next(&w, true); w.node; call_walk_next(&w, true)) {
		const struct call_node *n = &t->node[w.node];
		for (; depth > w.depth; depth--)
			open[way[depth - 1]]--;
		if (!(depth & (depth - 1)))
			way = xrealloc(way, depth * 2ul * sizeof(*way));
		way[depth++] = n->what;
		if (!open[n->what]++)
			sum[n->what].total += n->total;
		sum[n->what].calls += n->calls;
		sum[n->what].self += n->total - n->inside;
	}
	for (; depth > 1; depth--)
		open[way[depth - 1]]--;
	free(way);
}

struct call_sum *calltree_sums(const struct calltree *t, uint32_t words)
{
	struct call_sum *sum = xmalloc((words + 1ul) * sizeof(*sum));
	uint32_t *open = xmalloc((words + 1ul) * sizeof(*open));

	for (uint32_t i = t->node[CALL_ROOT].child; i; i = t->node[i].next)
		add_sums(t, i, sum, open);
	free(open);
	return sum;
}

void calltree_free(struct calltree *t)
{
	free(t->node);
	map_clear(&t->at);
}
