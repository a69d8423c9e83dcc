/*
 * Function calls summed up by call path: a node for each function called from its parent, below a
 * node for each caller (a task or a CPU's idle task). Memory grows with the number of paths, not of
 * calls, up to a limit. Pure.
 */
#pragma once

#include "tools/trapline/lib/words.h"

#define CALLER_IDLE (1u << 31) /* and the CPU: of idle tasks, which share a pid */

#define CALL_ROOT   0	       /* the callers' parent */
#define CALL_FOLDED UINT32_MAX /* a call that has no node: counted as time of its caller's own */
#define CALLS_MOST  (1u << 19) /* nodes */

struct call_node {
	uint32_t parent, child, next; /* first child, next one of the same parent; 0: none */
	uint32_t what;		      /* the caller's number; the function's word */
	uint64_t calls;		      /* calls that ended, or were still open at the end */
	uint64_t total;		      /* time of these, or of those inside, if that is more */
	uint64_t inside; /* of it, in functions that it called: known after calltree_end() */
};

struct calltree {
	struct call_node *node;
	uint32_t nodes, most; /* most: CALLS_MOST, but for tests */
	struct map at;	      /* parent << 32 | what: node */
	uint64_t from, to;    /* the wanted part of time: calls outside are not counted */
	uint64_t folded;      /* calls without a node */
	uint64_t headless;    /* calls whose entry is missing, so their path is not known */
};

void calltree_begin(struct calltree *t);
void calltree_part(struct calltree *t, uint64_t from, uint64_t to);
uint32_t calltree_caller(struct calltree *t, uint32_t caller);
/* The node of a function that the node `parent` calls. */
uint32_t calltree_enter(struct calltree *t, uint32_t parent, uint32_t function);
/* Ends a call. `took` may be less than end - begin: it can leave out sleep. */
void calltree_leave(struct calltree *t, uint32_t node, uint64_t begin, uint64_t end, uint64_t took);
/* After the last call: sums up `inside`, and makes children fit into their parents. */
void calltree_end(struct calltree *t);
/* After that: sorts callers by time, the longest first, and the functions of a node by name. */
void calltree_sort(struct calltree *t, const struct words *names);
void calltree_free(struct calltree *t);

/* Walks over a node and all nodes below it, each before its children. */
struct call_walk {
	const struct calltree *tree;
	uint32_t top, node; /* node: where it is; CALL_ROOT: at the end */
	unsigned depth;	    /* below the top, which is 0 */
};
void call_walk_begin(struct call_walk *w, const struct calltree *t, uint32_t top);
void call_walk_next(struct call_walk *w, bool inside); /* inside: to its children */

/* A function's sums over all ways to it. A recursive call is part of the outermost one. */
struct call_sum {
	uint64_t calls, total, self;
};
/* Returns an array indexed by the functions' words, `words` of them. The caller frees it. */
struct call_sum *calltree_sums(const struct calltree *t, uint32_t words);
