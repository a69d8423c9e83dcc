/*
 * Lines of function_graph, of records made by hand: which returns share their call's line, what a
 * CPU's lines know of those before, records that are too short, numbers at the edges of columns.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/comm.h"
#include "trace/event/ftrace.h"
#include "trace/event/options.h"
#include "trace/event/tracer.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/output/graph.h"
#include "trace/output/output.h"
#include "trace/output/print.h"
#include "trace/output/reader.h"

static char text[4096];
static struct seq s;
static void *cpu; /* what the printer knows */
static struct trace_out out;

static void begin(u32 options)
{
	trace_fresh();
	seq_init(&s, text, sizeof(text) - 1);
	trace_out_init(&out, &s, trace_global->options);
	cpu = host_alloc(trace_graph_printer.cpu_size);
	trace_global->tracer_options = options;
}

static void end(void)
{
	trace_global->tracer_options = TRACE_TRACER_OPTIONS;
	host_free(cpu);
	trace_fresh();
}

static const char *shown(void)
{
	text[s.len] = '\0';
	s.len = 0;
	return text;
}

static struct rec_graph_entry entry(u64 func, s32 depth)
{
	return (struct rec_graph_entry){
	    .ent = {.type = TRACE_GRAPH_ENT, .pid = 77}, .func = func, .depth = depth};
}

static struct rec_graph_exit leaving(u64 func, s32 depth, u64 ns)
{
	return (struct rec_graph_exit){.ent = {.type = TRACE_GRAPH_RET, .pid = 77},
	    .func = func,
	    .depth = depth,
	    .rettime = ns};
}

/* A line of a record of so many bytes, and of the one that follows it. */
static enum trace_printed line(
    const void *rec, u32 len, const void *next, u32 next_len, void *known)
{
	const struct trace_line l = {.tr = trace_global, .ent = rec, .len = len, .ts = 1000};

	out.line = &l;
	return trace_graph_printer.line(&out, &l, known, next, next_len);
}

#define ENTRY(func, depth, next)                                                                   \
	({                                                                                         \
		struct rec_graph_entry e_ = entry(func, depth);                                    \
		line(&e_, sizeof(e_), next, (next) ? sizeof(struct rec_graph_exit) : 0, cpu);      \
	})
#define EXIT(func, depth, ns)                                                                      \
	({                                                                                         \
		struct rec_graph_exit x_ = leaving(func, depth, ns);                               \
		line(&x_, sizeof(x_), NULL, 0, cpu);                                               \
	})

/* The next record shares the line if it is the return of this call: its task's, its function's. */
static void leaves(void)
{
	struct rec_graph_exit ret = leaving(0x10, 0, 500);
	struct rec_graph_entry call = entry(0x10, 0);

	begin(0);
	EXPECT_EQ(line(&call, sizeof(call), &ret, sizeof(ret), cpu), TRACE_PRINTED_BOTH);
	EXPECT_STR(shown(), "sym_10();\n");
	EXPECT_EQ(line(&call, sizeof(call), &ret, sizeof(ret) - 1, cpu), TRACE_PRINTED);
	EXPECT_STR(shown(), "sym_10() {\n");
	ret.ent.pid++;
	EXPECT_EQ(line(&call, sizeof(call), &ret, sizeof(ret), cpu), TRACE_PRINTED);
	ret.ent.pid--;
	ret.func++;
	EXPECT_EQ(line(&call, sizeof(call), &ret, sizeof(ret), cpu), TRACE_PRINTED);
	ret.func--;
	ret.ent.type = TRACE_FN;
	EXPECT_EQ(line(&call, sizeof(call), &ret, sizeof(ret), cpu), TRACE_PRINTED);
	EXPECT_EQ(line(&call, sizeof(call), NULL, 0, cpu), TRACE_PRINTED);
	end();
}

/* A record without its last byte has no line. */
static void short_records(void)
{
	struct rec_graph_exit ret = leaving(0x10, 0, 500);
	struct rec_graph_retaddr_entry call = {.entry = entry(0x10, 0)};

	begin(TRACE_GRAPH_RETADDR);
	line(&call, sizeof(call.entry) - 1, NULL, 0, cpu);
	call.entry.ent.type = TRACE_GRAPH_RETADDR_ENT;
	line(&call, sizeof(call) - 1, NULL, 0, cpu);
	line(&ret, sizeof(ret) - 1, NULL, 0, cpu);
	EXPECT_STR(shown(), "");
	call.retaddr = 0x1000;
	line(&call, sizeof(call), NULL, 0, cpu);
	EXPECT_STR(shown(), "sym_10() { /* <-sym_1000+0x0/0x10 */\n");
	end();
}

/*
 * A return names its function if that is not the one that is open at its depth, which is so for
 * depths below 50, once each. Without what is known of the CPU nothing is named.
 */
static void what_is_open(void)
{
	struct rec_graph_exit ret = leaving(0x10, 0, 0), leaf = leaving(0x30, 49, 0);

	begin(0);
	ENTRY(0x10, 0, NULL);
	ENTRY(0x20, 1, NULL);
	EXIT(0x20, 1, 0);
	EXIT(0x20, 1, 0);
	EXIT(0x11, 0, 0);
	EXPECT_STR(shown(), "sym_10() {\n  sym_20() {\n  }\n  } /* sym_20 */\n} /* sym_11 */\n");
	/* A call in one line is not open any more. */
	s.len = 0;
	ENTRY(0x30, 49, NULL);
	s.len = 0;
	ENTRY(0x30, 49, &leaf);
	s.len = 0;
	EXIT(0x30, 49, 0);
	EXPECT(strstr(shown(), "} /* sym_30 */\n"));
	/* Nobody knows what is open deeper, or above the first. */
	ENTRY(0x40, 50, NULL);
	EXIT(0x41, 50, 0);
	EXPECT(!strstr(shown(), "sym_41"));
	EXIT(0x42, -1, 0);
	EXPECT_STR(shown(), "}\n");
	ENTRY(0x43, INT32_MIN, NULL);
	EXPECT_STR(shown(), "sym_43() {\n");
	line(&ret, sizeof(ret), NULL, 0, NULL);
	EXPECT_STR(shown(), "}\n");
	/* Whether interrupts are hidden is known of the CPU, too. */
	struct rec_graph_entry call = entry(0x10, 0);
	line(&call, sizeof(call), NULL, 0, NULL);
	EXPECT_STR(shown(), "sym_10() {\n");
	end();
}

/* Other events are comments, indented as what is called next would be. */
static void comments(void)
{
	struct {
		struct trace_entry ent;
		u64 ip;
		char buf[8];
	} __packed mark = {.ent = {.type = TRACE_PRINT, .pid = 77}, .buf = "x\n\n"};
	struct rec_graph_exit leaf = leaving(0x30, 2, 0);

	begin(TRACE_GRAPH_IRQS);
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT_STR(shown(), "/* x\n */\n");
	ENTRY(0x10, 0, NULL);
	s.len = 0;
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT_STR(shown(), "/* x\n */\n");
	ENTRY(0x10, 1, NULL);
	s.len = 0;
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT_STR(shown(), "    /* x\n */\n");
	ENTRY(0x30, 2, &leaf);
	s.len = 0;
	line(&mark, sizeof(mark), NULL, 0, cpu); /* the call in one line is over */
	EXPECT_STR(shown(), "    /* x\n */\n");
	EXIT(0x10, 1, 0);
	s.len = 0;
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT_STR(shown(), "/* x\n */\n");
	/* In a seq without room there is no last byte to take away. */
	seq_init(&s, text, 2);
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT_EQ(s.len, 2);
	seq_init(&s, text, 5);
	line(&mark, sizeof(mark), NULL, 0, cpu);
	EXPECT(!memcmp(text, "/* x\n", 5));
	end();
}

static void durations(void)
{
	static const struct {
		u64 ns;
		const char *shown;
	} rows[] = {
	    {99999999, "* 99999.99 us |  }\n"},
	    {999999999, "@ 999999.9 us |  }\n"},
	    {1000000000, "@ 1000000 us  |  }\n"},
	    {10000000000, "$ 10000000 us |  }\n"},
	    {1001, "  1.001 us    |  }\n"},
	    {10001, "+ 10.001 us   |  }\n"},
	};

	begin(TRACE_GRAPH_DURATION | TRACE_GRAPH_OVERHEAD);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		ENTRY(0x10, 0, NULL);
		s.len = 0;
		EXIT(0x10, 0, rows[i].ns);
		EXPECT_STR(shown(), rows[i].shown);
	}
	trace_global->tracer_options = TRACE_GRAPH_DURATION;
	ENTRY(0x10, 0, NULL);
	s.len = 0;
	EXIT(0x10, 0, 99999999);
	EXPECT_STR(shown(), "  99999.99 us |  }\n");
	end();
}

/* Values that are errors, of 32 and of 64 bits. */
static void errors(void)
{
	static const struct {
		u64 value;
		const char *shown;
	} rows[] = {{-4095UL, "-4095"}, {-4096UL, "0xfffffffffffff000"}, {0xfffff001, "-4095"},
	    {0xfffff000, "0xfffff000"}, {0x1ffffffffUL, "0x1ffffffff"}, {-1UL, "-1"}, {0, "0x0"}};

	begin(TRACE_GRAPH_RETVAL);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rec_graph_exit ret = leaving(0x10, 0, 0);
		char wanted[64];

		ret.retval = rows[i].value;
		fmt_snprintf(wanted, sizeof(wanted), "} /* sym_10 = %s */\n", rows[i].shown);
		line(&ret, sizeof(ret), NULL, 0, cpu);
		EXPECT_STR(shown(), wanted);
	}
	end();
}

/* Names have no offset here, whatever the options are; what comes after has. */
static void names(void)
{
	struct rec_graph_retaddr_entry call = {.entry = entry(0x10, 0), .retaddr = 0x20};

	begin(TRACE_GRAPH_RETADDR);
	call.entry.ent.type = TRACE_GRAPH_RETADDR_ENT;
	out.options |= TRACE_OPT_SYM_ADDR;
	line(&call, sizeof(call), NULL, 0, cpu);
	EXPECT_STR(shown(), "sym_10() { /* <-sym_20+0x0/0x10 <0000000000000020> */\n");
	EXPECT(!(out.options & TRACE_OPT_SYM_OFFSET));
	EXPECT(out.options & TRACE_OPT_SYM_ADDR);
	end();
}

/* "comm-pid" has 14 columns: an odd blank is on its right, and seven bytes are of the name. */
static void tasks(void)
{
	struct rec_graph_entry call = entry(0x10, 0);

	begin(TRACE_GRAPH_PROC);
	call.ent.pid = 77777; /* has no name */
	line(&call, sizeof(call), NULL, 0, cpu);
	EXPECT_STR(shown(), " <...>-77777   | sym_10() {\n");
	host_lock();
	EXPECT_EQ(trace_comm_prepare(), 0);
	trace_comm_users(1, 0);
	trace_comm_switch_in(30021, 30021, "ninechars\0\0\0\0\0\0");
	trace_comm_users(-1, 0);
	host_unlock();
	call.ent.pid = 30021;
	line(&call, sizeof(call), NULL, 0, cpu);
	EXPECT(strstr(shown(), "\nninecha-30021  | sym_10() {\n"));
	end();
}

/* The lines over the columns, in the latency format, with and without that of tasks. */
static void latency_headers(void)
{
	struct trace_reader r;
	struct seq head;

	begin(TRACE_GRAPH_CPU | TRACE_GRAPH_DURATION);
	EXPECT_EQ(trace_put("trace_marker", "x"), 0);
	EXPECT_EQ(trace_put("options/latency-format", "1"), 0);
	EXPECT_EQ(trace_reader_init(&r, trace_global, trace_global->buffer, -1), 0);
	for (unsigned proc = 0; proc < 2; proc++) {
		trace_global->tracer_options |= proc ? TRACE_GRAPH_PROC : 0;
		seq_init(&head, text, sizeof(text) - 1);
		trace_graph_printer.header(&head, &r);
		text[head.len] = '\0';
		/* The bars lead down to the column of flags. */
		EXPECT(
		    strstr(text, proc ? "\n#                     ||| /    " : "\n#    ||| /    "));
	}
	trace_reader_free(&r);
	end();
}

static const struct ktap_case cases[] = {
    {"graph_lines.leaves", leaves},
    {"graph_lines.short_records", short_records},
    {"graph_lines.what_is_open", what_is_open},
    {"graph_lines.comments", comments},
    {"graph_lines.durations", durations},
    {"graph_lines.errors", errors},
    {"graph_lines.names", names},
    {"graph_lines.tasks", tasks},
    {"graph_lines.latency_headers", latency_headers},
    {NULL, NULL},
};
const struct ktap_suite suite_graph_lines = {cases};
