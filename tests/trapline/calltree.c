/*
 * Function calls: paired from records that a case makes, and added up by the way that led to them.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/model/pairing.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define LONG(name, at) "\tfield:unsigned long " name ";\toffset:" at ";\tsize:8;\tsigned:0;\n"
#define LEVEL(size)    "\tfield:int depth;\toffset:16;\tsize:" size ";\tsigned:1;\n"
#define ENTRY_ID       11
#define EXIT_ID	       10
#define IDLE	       0
#define RECORDS	       64

enum { OUTER = 0x1000, INNER = 0x2000, LEAF = 0x3000 };

#define ENTRY_FORMAT(size)                                                                         \
	"name: funcgraph_entry\nID: 11\nformat:\n" COMMON LONG("func", "8") LEVEL(size)
#define EXIT_FORMAT(size)                                                                          \
	"name: funcgraph_exit\nID: 10\nformat:\n" COMMON LONG("func", "8") LEVEL(size)             \
	    LONG("calltime", "24") LONG("rettime", "32")

struct told {
	uint16_t id, flags;
	int32_t pid;
	uint64_t func;
	int32_t depth, pad;
	uint64_t called, returned;
};

static struct trace trace;
static struct pairing pairing;
static struct calltree tree;
static struct told told[RECORDS];
static unsigned tells, cpu;
static struct pairing_interval last; /* that ended */
static unsigned unended[3];	     /* by reason */

static void count_unended(void *context, const struct pairing_interval *v, enum pairing_reason why)
{
	(void)context;
	assert_int_equal(v->kind, PAIRING_CALL);
	unended[why]++;
}

static int begin_with(const char *entry_format, const char *exit_format)
{
	static const char symbols[] = "1000 t outer\n2000 t inner\n3000 t leaf\n";

	trace = (struct trace){.file = "told", .cpus = 2, .in_ns = true};
	trace.by_id = xmalloc(65536 * sizeof(*trace.by_id));
	trace_add_format(&trace, "ftrace", entry_format, strlen(entry_format));
	trace_add_format(&trace, "ftrace", exit_format, strlen(exit_format));
	trace_index(&trace);
	trace_parse_symbols(&trace, symbols, sizeof(symbols) - 1);
	pairing_begin(&pairing, &trace);
	calltree_begin(&tree);
	pairing.calls = &tree;
	pairing.unpaired = count_unended;
	memset(unended, 0, sizeof(unended));
	tells = cpu = 0;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	return begin_with(ENTRY_FORMAT("4"), EXIT_FORMAT("4"));
}

static int over(void **state)
{
	(void)state;
	pairing_free(&pairing);
	calltree_free(&tree);
	trace_close(&trace);
	return 0;
}

static enum pairing_result tell(uint64_t time, struct told t)
{
	told[tells] = t;
	struct record r = {.cpu = cpu,
	    .time = time,
	    .event = trace.by_id[t.id],
	    .id = t.id,
	    .pid = t.pid,
	    .data = (const uint8_t *)&told[tells],
	    .size = sizeof(t)};
	tells++;
	assert_in_range(tells, 1, RECORDS);
	return pairing_record(&pairing, &r, &last);
}

static void enter(uint64_t time, int pid, int depth, uint64_t func)
{
	assert_int_equal(
	    tell(time, (struct told){.id = ENTRY_ID, .pid = pid, .depth = depth, .func = func}),
	    PAIRING_BEGINS);
}

/* The call took 2 less than the time between the records of its entry and its exit. */
static void leave(uint64_t time, int pid, int depth, uint64_t func, uint64_t took)
{
	assert_int_equal(tell(time, (struct told){.id = EXIT_ID,
					.pid = pid,
					.depth = depth,
					.func = func,
					.called = time - took,
					.returned = time}),
	    PAIRING_ENDS);
}

static void lose(uint64_t time)
{
	pairing_record(
	    &pairing, &(struct record){.is_gap = true, .lost = 1, .cpu = cpu, .time = time}, &last);
}

/* Finds the node of a way, which ends with NULL; fails if there is none. */
static const struct call_node *find(uint32_t caller, const char *const *way)
{
	const struct call_node *n =
	    &tree.node[map_find(&tree.at, (uint64_t)CALL_ROOT << 32 | caller)];

	for (; *way; way++) {
		uint32_t child = n->child;
		while (child && strcmp(pairing.call_words.word[tree.node[child].what], *way) != 0)
			child = tree.node[child].next;
		assert_int_not_equal(child, 0);
		n = &tree.node[child];
	}
	return n;
}
#define FIND(caller, ...) find(caller, (const char *const[]){__VA_ARGS__, NULL})

static void expect(const struct call_node *n, uint64_t calls, uint64_t total, uint64_t inside)
{
	assert_int_equal(n->calls, calls);
	assert_int_equal(n->total, total);
	assert_int_equal(n->inside, inside);
}

static void end(void)
{
	pairing_end(&pairing);
	calltree_end(&tree);
}

static void ways(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 2000; at += 1000) {
		enter(at, 7, 0, OUTER);
		enter(at + 10, 7, 1, INNER);
		enter(at + 20, 7, 2, LEAF);
		leave(at + 30, 7, 2, LEAF, 8);
		leave(at + 100, 7, 1, INNER, 88);
		assert_int_equal(last.begin, at + 10);
		assert_int_equal(last.depth, 1);
		assert_string_equal(pairing_name(&pairing, PAIRING_CALL, last.word), "inner");
		enter(at + 110, 7, 1, LEAF);
		leave(at + 130, 7, 1, LEAF, 18);
		leave(at + 200, 7, 0, OUTER, 198);
	}
	end();
	expect(FIND(7, "outer"), 2, 396, 212);
	expect(FIND(7, "outer", "inner"), 2, 176, 16);
	expect(FIND(7, "outer", "inner", "leaf"), 2, 16, 0);
	expect(FIND(7, "outer", "leaf"), 2, 36, 0);
	expect(&tree.node[CALL_ROOT], 0, 396, 396);
}

/* Calls of tasks that take turns on a CPU, of one that migrates, and of both idle tasks. */
static void callers(void **state)
{
	(void)state;
	enter(0, 1, 0, OUTER);
	enter(10, 2, 0, LEAF);
	enter(15, IDLE, 0, LEAF);
	cpu = 1;
	enter(16, IDLE, 0, OUTER);
	leave(20, 1, 0, OUTER, 20);
	leave(25, IDLE, 0, OUTER, 9);
	leave(30, 2, 0, LEAF, 20);
	cpu = 0;
	leave(40, IDLE, 0, LEAF, 25);
	end();
	expect(FIND(1, "outer"), 1, 20, 0);
	expect(FIND(2, "leaf"), 1, 20, 0);
	expect(FIND(CALLER_IDLE, "leaf"), 1, 25, 0);
	expect(FIND(CALLER_IDLE | 1, "outer"), 1, 9, 0);
}

/*
 * An entry that is not deeper ends the calls that lack an exit; the calls inside them still count.
 */
static void exit_missing(void **state)
{
	(void)state;
	enter(0, 1, 0, OUTER);
	enter(10, 1, 1, LEAF);
	leave(20, 1, 1, LEAF, 10);
	enter(30, 1, 0, INNER);
	leave(40, 1, 0, INNER, 10);
	end();
	assert_int_equal(unended[PAIRING_MISSING], 1);
	expect(FIND(1, "outer"), 0, 10, 10);
	expect(FIND(1, "inner"), 1, 10, 0);
}

/* An exit alone is an interval as long as it says, and has no way that led to it. */
static void entry_missing(void **state)
{
	(void)state;
	leave(100, 1, 3, LEAF, 30);
	assert_int_equal(last.begin, 70);
	enter(110, 1, 2, INNER);
	leave(120, 1, 2, INNER, 10);
	leave(130, 1, 1, OUTER, 90);
	assert_int_equal(last.begin, 40);
	end();
	assert_int_equal(tree.headless, 2);
	expect(FIND(1, "inner"), 1, 10, 0);
	assert_int_equal(tree.node[FIND(1, "inner")->parent].parent, CALL_ROOT);
}

/* After a gap on any CPU, earlier records prove nothing, and no call counts twice. */
static void gap(void **state)
{
	(void)state;
	enter(0, 1, 0, OUTER);
	cpu = 1;
	lose(50);
	cpu = 0;
	leave(100, 1, 0, OUTER, 100);
	end();
	assert_int_equal(unended[PAIRING_GAP], 1);
	assert_int_equal(tree.headless, 1);
	expect(FIND(1, "outer"), 0, 0, 0);
}

/* Calls that have not returned at the end took until then. */
static void open_at_end(void **state)
{
	(void)state;
	enter(0, 1, 0, OUTER);
	enter(10, 1, 1, LEAF);
	enter(60, 2, 0, INNER);
	leave(100, 2, 0, INNER, 40);
	end();
	assert_int_equal(unended[PAIRING_OPEN], 2);
	expect(FIND(1, "outer"), 1, 100, 90);
	expect(FIND(1, "outer", "leaf"), 1, 90, 0);
}

static void part(void **state)
{
	(void)state;
	calltree_part(&tree, 50, 100);
	enter(0, 1, 0, OUTER);
	enter(10, 1, 1, LEAF);
	leave(40, 1, 1, LEAF, 30);
	enter(80, 1, 1, LEAF);
	leave(120, 1, 1, LEAF, 40);
	leave(130, 1, 0, OUTER, 130);
	end();
	expect(FIND(1, "outer"), 1, 50, 20);
	expect(FIND(1, "outer", "leaf"), 1, 20, 0);
}

/* Where there are too many ways, a call is time of its caller's own, and memory stays as it is. */
static void folded(void **state)
{
	(void)state;
	tree.most = 3; /* the root, the task, one function */
	enter(0, 1, 0, OUTER);
	for (uint64_t i = 0; i < 5; i++) {
		enter(10 * i + 1, 1, 1, INNER);
		enter(10 * i + 2, 1, 2, LEAF);
		leave(10 * i + 3, 1, 2, LEAF, 1);
		leave(10 * i + 4, 1, 1, INNER, 3);
	}
	leave(100, 1, 0, OUTER, 100);
	end();
	assert_int_equal(tree.folded, 10);
	assert_int_equal(tree.nodes, 3);
	assert_int_equal(tree.at.used, 2);
	expect(FIND(1, "outer"), 1, 100, 0);
}

/* Recursion is a way of its own, however deep. */
static void deep(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		enter(i, 1, i, LEAF);
	for (int i = 30; i-- > 0;)
		leave(100 - i, 1, i, LEAF, 100 - 2 * i);
	end();
	assert_int_equal(tree.nodes, 2 + 30);
	assert_int_equal(unended[PAIRING_MISSING] + unended[PAIRING_OPEN], 0);
	expect(FIND(1, "leaf", "leaf", "leaf"), 1, 96, 94);
}

/* The longest caller first, functions by name; each node before those below it. */
static void order(void **state)
{
	static const struct {
		unsigned caller, depth;
		const char *name;
	} want[] = {
	    {2, 1, "outer"}, {1, 1, "inner"}, {1, 2, "outer"}, {1, 1, "leaf"}, {1, 1, "outer"}};
	struct call_walk w;
	size_t n = 0;

	(void)state;
	enter(0, 1, 0, OUTER);
	leave(10, 1, 0, OUTER, 10);
	enter(20, 1, 0, LEAF);
	leave(25, 1, 0, LEAF, 5);
	enter(40, 1, 0, INNER);
	enter(41, 1, 1, OUTER);
	leave(49, 1, 1, OUTER, 8);
	leave(50, 1, 0, INNER, 10);
	enter(60, 2, 0, OUTER);
	leave(100, 2, 0, OUTER, 40);
	end();
	calltree_sort(&tree, &pairing.call_words);
	for (uint32_t i = tree.node[CALL_ROOT].child; i; i = tree.node[i].next) {
		call_walk_begin(&w, &tree, i);
		for (call_walk_next(&w, true); w.node; call_walk_next(&w, true), n++) {
			assert_in_range(n, 0, COUNT_OF(want) - 1);
			assert_int_equal(tree.node[i].what, want[n].caller);
			assert_int_equal(w.depth, want[n].depth);
			assert_string_equal(
			    pairing.call_words.word[tree.node[w.node].what], want[n].name);
		}
	}
	assert_int_equal(n, COUNT_OF(want));
}

/* A function's time in all has that of its calls of itself once; its own has it as well. */
static void sums(void **state)
{
	struct call_sum *sum;

	(void)state;
	enter(0, 1, 0, OUTER);
	enter(10, 1, 1, INNER);
	enter(20, 1, 2, OUTER);
	leave(30, 1, 2, OUTER, 10);
	leave(60, 1, 1, INNER, 50);
	leave(100, 1, 0, OUTER, 100);
	enter(110, 2, 0, INNER);
	leave(115, 2, 0, INNER, 5);
	end();
	sum = calltree_sums(&tree, pairing.call_words.count);
	assert_memory_equal(&sum[0], &((struct call_sum){2, 100, 60}), sizeof(*sum));
	assert_memory_equal(&sum[1], &((struct call_sum){2, 55, 45}), sizeof(*sum));
	free(sum);
}

/* A damaged format may have levels that no number follows. */
static void highest_level(void **state)
{
	over(state);
	begin_with(ENTRY_FORMAT("8"), EXIT_FORMAT("8"));
	tell(0, (struct told){.id = ENTRY_ID, .pid = 1, .depth = -1, .pad = INT32_MAX});
	assert_int_equal(
	    tell(9, (struct told){.id = EXIT_ID, .pid = 1, .depth = -1, .pad = INT32_MAX}),
	    PAIRING_ENDS);
	end();
}

int calltree_tests(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)
	const struct CMUnitTest tests[] = {TEST(ways), TEST(callers), TEST(exit_missing),
	    TEST(entry_missing), TEST(gap), TEST(open_at_end), TEST(part), TEST(folded), TEST(deep),
	    TEST(order), TEST(sums), TEST(highest_level)};

	return unit_group("calltree", tests, COUNT_OF(tests), NULL, NULL);
}
