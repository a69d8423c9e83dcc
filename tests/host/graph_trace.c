/*
 * The tracer function_graph over functions of ours: which calls are followed, their lines, and what
 * becomes of each return.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/host/function.h"
#include "tests/host/machine.h"
#include "tests/host/scripted_clock.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/ftrace.h"
#include "trace/event/tracer.h"
#include "trace/host_context.h"
#include "trace/function/priv.h"
#include "trace/host_memory.h"
#include "trace/output/graph.h"
#include "trace/output/output.h"
#include "trace/output/print.h"

enum { FIRST, SECOND, THIRD, FOURTH };

/* Lines without what differs from run to run, unless a case wants it. */
static void begin(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("options/funcgraph-duration", "0"), 0);
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
}

static void put_option(const char *name, bool on)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "options/%s", name);
	EXPECT_EQ(trace_put(path, on ? "1" : "0"), 0);
}

static void end(void)
{
	static const char *const off[] = {"funcgraph-retval", "funcgraph-retval-hex",
	    "funcgraph-tail", "funcgraph-overrun", "funcgraph-proc", "funcgraph-retaddr",
	    "funcgraph-abstime"};
	static const char *const on[] = {
	    "funcgraph-duration", "funcgraph-irqs", "funcgraph-cpu", "sleep-time"};

	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	EXPECT_EQ(trace_put("set_graph_function", ""), 0);
	EXPECT_EQ(trace_put("set_graph_notrace", ""), 0);
	EXPECT_EQ(trace_put("max_graph_depth", "0"), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(off); i++)
		put_option(off[i], false);
	for (unsigned i = 0; i < ARRAY_SIZE(on); i++)
		put_option(on[i], true);
	trace_fresh();
}

/* first { third { fourth } fourth } */
static void calls(void)
{
	u64 outer = 1, inner = 2;

	host_function_enter(FIRST, &outer);
	host_function_enter(THIRD, &inner);
	host_function_call(FOURTH, 3);
	host_function_return(&inner, 7);
	host_function_call(FOURTH, 4);
	host_function_return(&outer, (u32)-EINVAL);
}

/* What is behind the header. */
static const char *lines(void)
{
	const char *text = trace_get("trace", NULL);

	while (*text == '#') {
		text = strchr(text, '\n');
		text = text ? text + 1 : "";
	}
	return text;
}

static void lines_of_calls(void)
{
	begin();
	calls();
	EXPECT_STR(lines(), " 0) sym_1000() {\n"
			    " 0)   sym_1200() {\n"
			    " 0)     sym_1300();\n"
			    " 0)   }\n"
			    " 0)   sym_1300();\n"
			    " 0) }\n");
	put_option("funcgraph-cpu", false);
	put_option("funcgraph-tail", true);
	EXPECT(strstr(lines(), "\n  } /* sym_1200 */\n"));
	put_option("funcgraph-retval", true);
	EXPECT(strstr(lines(), "\n  } /* sym_1200 = 0x7 */\n"));
	EXPECT(strstr(lines(), "\n} /* sym_1000 = -22 */\n"));
	EXPECT(strstr(lines(), "\n  sym_1300(); /* = 0x0 */\n"));
	put_option("funcgraph-retval-hex", true);
	EXPECT(strstr(lines(), "\n} /* sym_1000 = 0xffffffea */\n"));
	put_option("funcgraph-overrun", true);
	EXPECT(strstr(lines(), "0xffffffea */\n (Overruns: 0)\n"));
	end();
}

/* Where each call returns to, as Linux 6.13 shows it; the option says what is recorded. */
static void lines_with_return_addresses(void)
{
	u64 outer = host_function_address(FIRST) + 5, inner = host_function_address(SECOND);

	begin();
	put_option("funcgraph-retaddr", true);
	host_function_enter(FIRST, &outer);
	host_function_enter(THIRD, &inner);
	host_function_call(FOURTH, 0x12345);
	host_function_return(&inner, 7);
	put_option("funcgraph-retaddr", false);
	host_function_call(FOURTH, 4);
	host_function_return(&outer, (u32)-EINVAL);
	put_option("funcgraph-retaddr", true);
	EXPECT_STR(lines(), " 0) sym_1000() { /* <-sym_1005+0x0/0x10 */\n"
			    " 0)   sym_1200() { /* <-sym_1100+0x0/0x10 */\n"
			    " 0)     sym_1300(); /* <-sym_12345+0x0/0x10 */\n"
			    " 0)   }\n"
			    " 0)   sym_1300();\n"
			    " 0) }\n");
	put_option("funcgraph-retval", true);
	EXPECT(strstr(lines(), "sym_1300(); /* <-sym_12345+0x0/0x10 ret=0x0 */\n"));
	EXPECT(strstr(lines(), " 0)   } /* sym_1200 ret=0x7 */\n"));
	EXPECT(strstr(lines(), " 0)   sym_1300(); /* ret=0x0 */\n"));
	EXPECT(strstr(lines(), " 0) } /* sym_1000 ret=-22 */\n"));
	put_option("funcgraph-retaddr", false);
	EXPECT(strstr(lines(), " 0)     sym_1300(); /* = 0x0 */\n"));
	EXPECT(strstr(trace_get("trace_ledger", NULL),
	    " + under way 0 + left otherwise 0 + ended with their task 0 "));
	end();
}

static struct tracefs_file *open_file(const char *path)
{
	struct tracefs_node node;
	struct tracefs_file *f = NULL;

	EXPECT_EQ(trace_walk(path, &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	return f;
}

static char text[65536];

/* All there is from *at on, in pieces of that size; the end, or what the last read returned. */
static ssize read_pieces(struct tracefs_file *f, u64 *at, size_t piece)
{
	ssize n;

	while ((n = tracefs_read(f, text + *at, MIN(sizeof(text) - 1 - *at, piece), at)) > 0)
		;
	text[*at] = '\0';
	return n;
}

/* The same lines, and in pieces: a line that did not fit is made anew. */
static void lines_of_a_pipe(void)
{
	u64 at = 0;

	begin();
	calls();
	EXPECT_EQ(trace_put("trace_marker", "a mark"), 0);
	struct tracefs_file *f = open_file("trace_pipe");
	EXPECT_EQ(read_pieces(f, &at, 30), -EAGAIN);
	tracefs_release(f);
	EXPECT_STR(text, " 0) sym_1000() {\n"
			 " 0)   sym_1200() {\n"
			 " 0)     sym_1300();\n"
			 " 0)   }\n"
			 " 0)   sym_1300();\n"
			 " 0) }\n"
			 " 0) /* a mark */\n");
	end();
}

/*
 * A line for which a read has no room comes whole with the next one, with what it has in front of
 * it, and be it the last.
 */
static void lines_without_room(void)
{
	char mark[300];

	begin();
	memset(mark, 'm', sizeof(mark) - 1);
	mark[sizeof(mark) - 1] = '\0';
	for (unsigned n = 20; n < 40; n++) {
		static char wanted[16384];
		u64 at = 0;

		EXPECT_EQ(trace_put("trace", ""), 0);
		for (unsigned i = 0; i < n; i++) {
			machine_pid(100 + i % 2);
			host_function_call(FIRST, 3);
		}
		machine_pid(-1);
		EXPECT_EQ(trace_put("trace_marker", mark), 0);
		strscpy(wanted, lines(), sizeof(wanted));
		struct tracefs_file *f = open_file("trace_pipe");
		EXPECT_EQ(read_pieces(f, &at, PAGE_SIZE), -EAGAIN);
		tracefs_release(f);
		EXPECT_STR(text, wanted);
	}
	end();
}

static u64 now;

static u64 clock_of_calls(void)
{
	return now;
}

/* Calls whose number is the microsecond of their entry, and their value: 1000 of the clock's. */
static void numbered_calls(unsigned n)
{
	const u64 step = 1000UL * 10000000;

	while (n-- > 0) {
		u64 slot = 1;

		now += step;
		host_function_enter(FIRST, &slot);
		host_function_return(&slot, now / step);
	}
}

/* A line with an entry and a return is of one call. */
static void expect_own_returns(void)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		char wanted[64];
		unsigned us = 0;
		const char *point = strchr(line, '.'), *value = strstr(line, "/* = 0x");

		if (!value || value - line > (ssize)strcspn(line, "\n") || !strstr(line, "();"))
			continue;
		for (unsigned i = 1; i <= 6; i++)
			us = 10 * us + (point[i] - '0');
		fmt_snprintf(wanted, sizeof(wanted), "/* = 0x%x */", us);
		if (strncmp(value, wanted, strlen(wanted)) != 0) {
			ktap_note("not %s: %.60s", wanted, line);
			EXPECT(!"the call's own return");
			return;
		}
	}
}

/* Between an entry and the next record, a return and another entry may have been lost. */
static void leaves_and_losses(void)
{
	static const char *const files[] = {"trace_pipe", "trace"};

	machine_clock(clock_of_calls);
	begin();
	put_option("funcgraph-retval", true);
	put_option("funcgraph-abstime", true);
	EXPECT_EQ(trace_put("trace_clock", "uptime"), 0); /* one that is read so */
	EXPECT_EQ(trace_put("buffer_size_kb", "12"), 0);
	for (unsigned i = 0; i < 2 * 30; i++) {
		u64 at = 0;

		now = 0;
		EXPECT_EQ(trace_put("trace", ""), 0);
		struct tracefs_file *f = open_file(files[i % 2]);
		for (unsigned pad = 0; pad < i / 2 % 10; pad++)
			EXPECT_EQ(trace_put("trace_marker_raw", "12345678"), 0);
		numbered_calls(100);
		EXPECT(tracefs_read(f, text, 40, &at) > 0);
		numbered_calls(300 + i);
		EXPECT_EQ(read_pieces(f, &at, PAGE_SIZE), i % 2 ? 0 : -EAGAIN);
		EXPECT(strstr(text, "LOST"));
		expect_own_returns();
		tracefs_release(f);
	}
	end();
	machine_clock(NULL);
}

/* Without memory for a copy of a record larger than most, its line is cut. */
static void long_line_without_memory(void)
{
	static char mark[4096 + 1];

	begin();
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "16"), 0);
	memset(mark, 'm', sizeof(mark) - 1);
	EXPECT_EQ(trace_put("trace_marker", mark), 0);
	for (unsigned nth = 1; nth < 12; nth++) {
		struct tracefs_file *f = open_file("trace");
		u64 at = 0;
		machine_fail_alloc(nth);
		ssize n = read_pieces(f, &at, PAGE_SIZE);
		bool failed = !machine_fails_in();
		machine_fail_alloc(0);
		EXPECT(n == 0 || n == -ENOMEM);
		EXPECT(n || strstr(text, "/* mmmmmmm"));
		EXPECT(n || failed || strstr(text, mark));
		tracefs_release(f);
	}
	EXPECT_EQ(trace_put("buffer_subbuf_size_kb", "4"), 0);
	end();
}

/* Between the lines of two tasks of a CPU is a line of both, each in the middle of its column. */
static void lines_of_tasks(void)
{
	static const s32 pids[] = {40, 40, 123456, 7};
	struct rec_graph_entry rec = {
	    .ent.type = TRACE_GRAPH_ENT, .func = host_function_address(FIRST)};
	const struct trace_line line = {.tr = trace_global, .ent = &rec.ent, .len = sizeof(rec)};
	void *cpu = host_alloc(trace_graph_printer.cpu_size);
	char text[1024];
	struct trace_out out;
	struct seq s;

	begin();
	seq_init(&s, text, sizeof(text));
	trace_out_init(&out, &s, trace_global->options);
	for (unsigned i = 0; i < ARRAY_SIZE(pids); i++) {
		rec.ent.pid = pids[i];
		EXPECT_EQ(trace_graph_printer.line(&out, &line, cpu, NULL, 0), TRACE_PRINTED);
	}
	text[s.len] = '\0';
	EXPECT_STR(text, " 0) sym_1000() {\n"
			 " 0) sym_1000() {\n"
			 " ------------------------------------------\n"
			 " 0)    <...>-40    =>  <...>-123456 \n"
			 " ------------------------------------------\n"
			 "\n"
			 " 0) sym_1000() {\n"
			 " ------------------------------------------\n"
			 " 0)  <...>-123456  =>    <...>-7    \n"
			 " ------------------------------------------\n"
			 "\n"
			 " 0) sym_1000() {\n");
	host_free(cpu);
	end();
}

static void which_are_followed(void)
{
	static const struct {
		const char *file, *text, *lines;
	} rows[] = {
	    {"max_graph_depth", "1", " 0) sym_1000();\n"},
	    {"max_graph_depth", "2",
		" 0) sym_1000() {\n 0)   sym_1200();\n 0)   sym_1300();\n 0) }\n"},
	    {"set_graph_function", "third_function",
		" 0) sym_1200() {\n 0)   sym_1300();\n 0) }\n"},
	    {"set_graph_function", "fourth_one", " 0) sym_1300();\n 0) sym_1300();\n"},
	    {"set_graph_function", "third_function fourth_one",
		" 0) sym_1200() {\n 0)   sym_1300();\n 0) }\n 0) sym_1300();\n"},
	    {"set_graph_notrace", "third*", " 0) sym_1000() {\n 0)   sym_1300();\n 0) }\n"},
	    {"set_graph_notrace", "first_function", ""},
	    {"set_ftrace_filter", "fourth_one", " 0) sym_1300();\n 0) sym_1300();\n"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		EXPECT_EQ(trace_put(rows[i].file, rows[i].text), 0);
		calls();
		EXPECT_STR(lines(), rows[i].lines);
		EXPECT(strstr(trace_get("trace_ledger", NULL), " under way 0 "));
		end();
	}
}

static void which_are_followed_by_two_lists(void)
{
	static const struct {
		const char *wanted, *silent, *depth, *lines;
	} rows[] = {
	    {"first_function", "", "1", " 0) sym_1000();\n"},
	    {"first_function", "", "2",
		" 0) sym_1000() {\n 0)   sym_1200();\n 0)   sym_1300();\n 0) }\n"},
	    {"", "fourth_one", "1", " 0) sym_1000();\n"},
	    {"third_function", "fourth_one", "0", " 0) sym_1200();\n"},
	    {"fourth_one", "third_function", "0", " 0) sym_1300();\n"},
	    {"third_function", "first_function", "0", ""},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		EXPECT_EQ(trace_put("set_graph_function", rows[i].wanted), 0);
		EXPECT_EQ(trace_put("set_graph_notrace", rows[i].silent), 0);
		EXPECT_EQ(trace_put("max_graph_depth", rows[i].depth), 0);
		calls();
		EXPECT_STR(lines(), rows[i].lines);
		end();
	}
}

/* An interrupt's functions are marked, or hidden with all that they call. */
static void interrupts(void)
{
	u64 outer = 1, irq = 2;

	begin();
	host_function_enter(FIRST, &outer);
	host_function_enter(HOST_FUNCTION_OF_IRQ, &irq);
	host_function_call(FOURTH, 3);
	host_function_return(&irq, 0);
	host_function_return(&outer, 0);
	EXPECT_STR(lines(), " 0) sym_1000() {\n"
			    " 0) ==========>\n"
			    " 0)   sym_1400() {\n"
			    " 0)     sym_1300();\n"
			    " 0)   }\n"
			    " 0) <==========\n"
			    " 0) }\n");
	put_option("funcgraph-irqs", false);
	EXPECT_STR(lines(), " 0) sym_1000() {\n 0) }\n");
	end();
}

/* Unless set_graph_function names a function that is called there: that one and what it calls. */
static void wanted_in_interrupts(void)
{
	static const struct {
		const char *wanted, *lines;
	} rows[] = {
	    {"", " 0) sym_1000();\n"},
	    {"first_function", " 0) sym_1000();\n"},
	    {"third_function", " 0) sym_1200() {\n 0)   sym_1300();\n 0) }\n"},
	    {"fourth_one", " 0) sym_1300();\n"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 outer = 1, irq = 2;

		begin();
		put_option("funcgraph-irqs", false);
		EXPECT_EQ(trace_put("set_graph_function", rows[i].wanted), 0);
		host_function_enter(FIRST, &outer);
		machine_flags(TRACE_FLAG_HARDIRQ);
		host_function_enter(THIRD, &irq);
		host_function_call(FOURTH, 3);
		host_function_return(&irq, 0);
		machine_flags(0);
		host_function_return(&outer, 0);
		EXPECT_STR(lines(), rows[i].lines);
		end();
	}
}

/* What a call was entered with is its own: calls inside it have what is asked by then. */
static void marks_of_a_call(void)
{
	u64 outer = 1, inner = 2;

	begin();
	put_option("funcgraph-duration", true);
	EXPECT_EQ(trace_put("tracing_thresh", "1"), 0);
	host_function_enter(FIRST, &outer);
	EXPECT_EQ(trace_put("tracing_thresh", "0"), 0);
	host_function_call(FOURTH, 3);
	host_function_return(&outer, 0);
	EXPECT(strstr(lines(), " |    sym_1300();\n"));
	EXPECT_EQ(trace_put("trace", ""), 0);
	put_option("sleep-time", false);
	host_function_enter(FIRST, &outer);
	put_option("sleep-time", true);
	host_function_enter(THIRD, &inner);
	host_task_runs(5000000000);
	host_function_return(&inner, 0);
	host_function_return(&outer, 0);
	EXPECT(strstr(lines(), " 0) $ 5000000 us  |  }\n"));
	EXPECT(!strstr(lines(), "$ 5000000 us  |    sym_1200();\n"));
	end();
}

/* What a function of set_graph_notrace calls is not looked at: neither a hit nor followed. */
static void calls_of_silent_ones(void)
{
	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("set_graph_notrace", "third_function"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function_graph"), 0);
	calls();
	const char *ledger = trace_get("instances/other/trace_ledger", NULL);
	EXPECT(strstr(ledger, "ftrace:funcgraph_entry: hits 3 = recorded 2 + filtered 1 + "));
	EXPECT(strstr(ledger, "ftrace:funcgraph_exit: hits 3 = recorded 2 + filtered 1 + "));
	EXPECT(strstr(ledger, "# calls: followed 3 = returned 3 "));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

/* The lists of function_graph know no numbers, and give up only what is in them. */
static void what_is_refused(void)
{
	static const char *const rows[] = {"1", "nosuch", "!first_function", "second_function"};

	trace_fresh();
	EXPECT_EQ(trace_put("set_graph_function", "third_function"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT_EQ(trace_append("set_graph_function", rows[i]), -EINVAL);
	EXPECT_STR(trace_get("set_graph_function", NULL), "third_function\n");
	EXPECT_EQ(trace_append("set_graph_function", "!third_function"), 0);
	EXPECT_STR(trace_get("set_graph_function", NULL), "#### all functions enabled ####\n");
	EXPECT_STR(trace_get("set_graph_notrace", NULL), "#### no functions disabled ####\n");
	EXPECT_EQ(trace_put("max_graph_depth", "-1"), -EINVAL);
	end();
}

/* The time a call takes is that in which its task has a CPU, if that is wanted. */
static void times(void)
{
	u64 slot = 1, inner = 2;

	begin();
	put_option("funcgraph-duration", true);
	put_option("sleep-time", false);
	host_function_enter(FIRST, &slot);
	host_task_runs(12345678);
	host_function_enter(THIRD, &inner);
	host_task_runs(999);
	host_function_return(&inner, 0);
	host_function_return(&slot, 0);
	EXPECT_STR(lines(), " 0)               |  sym_1000() {\n"
			    " 0)   0.999 us    |    sym_1200();\n"
			    " 0) * 12346.67 us |  }\n");
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(trace_put("tracing_thresh", "1"), 0);
	host_function_enter(FIRST, &slot);
	host_task_runs(1000000);
	host_function_enter(THIRD, &inner);
	host_task_runs(999);
	host_function_return(&inner, 0);
	host_function_enter(THIRD, &inner);
	host_task_runs(1000);
	host_function_return(&inner, 0);
	host_function_return(&slot, 0);
	EXPECT_STR(lines(), " 0)   1.000 us    |    } /* sym_1200 */\n"
			    " 0) # 1001.999 us |  } /* sym_1000 */\n");
	end();
}

/* In an instance, whose ledger is new: calls under way, cut off, and refused returns. */
static void each_call_is_counted(void)
{
	u64 slot = 1;

	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function_graph"), 0);
	host_function_call(FIRST, 0x42);
	host_function_enter(FIRST, &slot);
	EXPECT(strstr(trace_get("instances/other/trace_ledger", NULL),
	    "# calls: followed 2 = returned 1 + under way 1 + left otherwise 0 + ended with their "
	    "task 0 + cut off 0; not followed 0\n"));
	EXPECT_EQ(trace_put("instances/other/tracing_on", "0"), 0);
	host_function_return(&slot, 0);
	host_function_call(FIRST, 0x42);
	EXPECT_EQ(trace_put("instances/other/tracing_on", "1"), 0);
	host_function_enter(FIRST, &slot);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "nop"), 0);
	host_function_return(&slot, 0);
	const char *ledger = trace_get("instances/other/trace_ledger", NULL);
	EXPECT(strstr(ledger,
	    "ftrace:funcgraph_entry: hits 4 = recorded 3 + filtered 0 + pid_filtered 0 + "
	    "soft_off 0 + too_deep 0 + refused 1\n"));
	EXPECT(strstr(ledger,
	    "ftrace:funcgraph_exit: hits 2 = recorded 1 + filtered 0 + pid_filtered 0 + "
	    "soft_off 0 + too_deep 0 + refused 1\n"));
	EXPECT(strstr(ledger, "# calls: followed 3 = returned 2 + under way 0 + left otherwise 0 + "
			      "ended with their task 0 + cut off 1; not followed 0\n"));
	EXPECT(strstr(ledger, "\nbalanced\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

/* Calls that the host missed, or saw end otherwise, stay counted when the tracer goes. */
static void counted_by_the_host(void)
{
	u64 slots[4] = {1, 1, 1, 1};

	trace_fresh();
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function_graph"), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(slots); i++)
		host_function_enter(FIRST, &slots[i]);
	struct host_hook *hook = &trace_array_find("other")->functions->hook;
	hook->missed = hook->left = hook->ended = 1;
	EXPECT(strstr(trace_get("instances/other/trace_ledger", NULL),
	    "# calls: followed 3 = returned 0 + under way 1 + left otherwise 1 + ended with their "
	    "task 1 + cut off 0; not followed 1\n"));
	EXPECT_EQ(trace_put("instances/other/current_tracer", "nop"), 0);
	for (unsigned i = ARRAY_SIZE(slots); i--;)
		host_function_return(&slots[i], 0);
	EXPECT(strstr(trace_get("instances/other/trace_ledger", NULL),
	    "# calls: followed 3 = returned 0 + under way 0 + left otherwise 1 + ended with their "
	    "task 1 + cut off 1; not followed 1\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

static void call_third(void)
{
	host_function_call(THIRD, 0x42);
}

/* A call that begins while another one's entry is recorded is too deep, and is not followed. */
static void calls_in_a_recording(void)
{
	trace_fresh();
	memset(&script, 0, sizeof(script));
	machine_clock(clock_of_script);
	EXPECT_EQ(trace_make_instance("other"), 0);
	EXPECT_EQ(trace_put("instances/other/trace_clock", "uptime"), 0);
	EXPECT_EQ(trace_put("instances/other/current_tracer", "function_graph"), 0);
	script.at = script.reads + 1;
	script.meanwhile = call_third;
	host_function_call(FIRST, 0x42);
	host_function_call(THIRD, 0x42);
	machine_clock(NULL);
	const char *ledger = trace_get("instances/other/trace_ledger", NULL);
	EXPECT(strstr(ledger,
	    "ftrace:funcgraph_entry: hits 3 = recorded 2 + filtered 0 + pid_filtered 0 + "
	    "soft_off 0 + too_deep 1 + refused 0\n"));
	EXPECT(strstr(ledger, "# calls: followed 2 = returned 2 + under way 0 + "));
	EXPECT(strstr(ledger, "\nbalanced\n"));
	EXPECT_EQ(trace_drop_instance("other"), 0);
	end();
}

static const struct ktap_case cases[] = {
    {"graph.lines_of_calls", lines_of_calls},
    {"graph.lines_with_return_addresses", lines_with_return_addresses},
    {"graph.lines_of_a_pipe", lines_of_a_pipe},
    {"graph.lines_without_room", lines_without_room},
    {"graph.leaves_and_losses", leaves_and_losses},
    {"graph.long_line_without_memory", long_line_without_memory},
    {"graph.lines_of_tasks", lines_of_tasks},
    {"graph.which_are_followed", which_are_followed},
    {"graph.which_are_followed_by_two_lists", which_are_followed_by_two_lists},
    {"graph.interrupts", interrupts},
    {"graph.wanted_in_interrupts", wanted_in_interrupts},
    {"graph.marks_of_a_call", marks_of_a_call},
    {"graph.calls_of_silent_ones", calls_of_silent_ones},
    {"graph.what_is_refused", what_is_refused},
    {"graph.times", times},
    {"graph.each_call_is_counted", each_call_is_counted},
    {"graph.counted_by_the_host", counted_by_the_host},
    {"graph.calls_in_a_recording", calls_in_a_recording},
    {NULL, NULL},
};
const struct ktap_suite suite_graph_trace = {cases};
