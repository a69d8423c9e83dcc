/* See calltree.h. */
#include "tools/trapline/calltree.h"

#include <stdlib.h>

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

void calltree_free(struct calltree *t)
{
	free(t->node);
	map_clear(&t->at);
}
