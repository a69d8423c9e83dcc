/*
 * The records of function_graph nest: while tasks on all CPUs call functions of this file,
 * interrupts and NMIs come between any two instructions and call others. Afterwards the lines of
 * each task are read back: each closing line ends the call that was opened last, and is as deep.
 *
 * An NMI may come after a call's entry is recorded and before the call is on the shadow stack, or
 * after its exit is recorded and before it is off: then the NMI's calls are one less or more deep
 * than those around them. Nothing else may be.
 */
#include "kernel/fs/file.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "tests/kernel/threads.h"
#include "tests/unit/prng.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_clock.h"

#define ROUNDS 600 /* of all CPUs together: what they record fits into one CPU's buffer */
#define DEPTH  64
#define STACKS 256

static u64 seed;

/* ---- what is called ---- */

static u64 calls, in_nmis, in_irqs; /* [A] */

static void __noipa graph_nmi_inner(void)
{
	atomic_add(&in_nmis, 1);
}

static bool __noipa graph_nmi_outer(struct regs *r)
{
	(void)r;
	graph_nmi_inner();
	return true;
}

static void __noipa graph_irq_inner(void)
{
	atomic_add(&in_irqs, 1);
}

static void __noipa graph_irq_outer(struct irq_work *work)
{
	(void)work;
	graph_irq_inner();
}

static void __noipa graph_task_inner(u64 *random, struct irq_work *work)
{
	u64 r = prng_next(random);

	atomic_add(&calls, 1);
	if (r % 2 == 0)
		nmi_send(r / 2 % cpu_count());
	if (r % 3 == 0)
		irq_work_queue(work);
}

static void __noipa graph_task_outer(u64 *random, struct irq_work *work, unsigned depth)
{
	graph_task_inner(random, work);
	if (depth) {
		graph_task_outer(random, work, depth - 1);
		graph_task_inner(random, work);
	}
	barrier(); /* no jump in place of the last call */
}

static void graph_nesting_thread(void *cpu)
{
	struct irq_work work = {.fn = graph_irq_outer};
	u64 random = seed + (u64)cpu * 77;

	for (unsigned i = 0; i < ROUNDS / cpu_count(); i++)
		graph_task_outer(&random, &work, prng_next(&random) % 4);
	irq_work_sync(&work);
}

/* ---- what was recorded ---- */

/* The open calls of a task on a CPU. The tasks of this test do not migrate during a call. */
struct calls_of {
	s64 cpu, pid;
	u32 count;
	char names[DEPTH][20];
};

static struct calls_of stacks[STACKS];
static unsigned stack_count;

static struct calls_of *calls_of(s64 cpu, s64 pid)
{
	struct calls_of *c = stacks;

	while (c < stacks + stack_count && (c->cpu != cpu || c->pid != pid))
		c++;
	if (c == stacks + stack_count) {
		if (stack_count == STACKS)
			return NULL;
		stack_count++;
		*c = (struct calls_of){.cpu = cpu, .pid = pid};
	}
	return c;
}

static s64 number_at(const char *p)
{
	s64 n = 0;

	while (*p == ' ')
		p++;
	while (is_digit(*p))
		n = n * 10 + *p++ - '0';
	return n;
}

/* " 1)  name-12   |     function() {": false: the line is wrong. Others are passed over. */
static bool check_line(const char *line, u64 *checked)
{
	const char *bar = strstr(line, " | "), *dash = bar;
	char name[20];
	size_t len = 0;

	if (*line == '#' || !bar)
		return true;
	while (*dash != '-')
		dash--;
	const char *at = bar + strlen(" | ");
	while (at[len] == ' ')
		len++;
	u32 depth = len / 2;
	at += len;
	bool closes = str_has_prefix(at, "} /* ");
	at += closes ? strlen("} /* ") : 0;
	for (len = 0; at[len] == '_' || (at[len] >= 'a' && at[len] <= 'z'); len++)
		if (len == sizeof(name) - 1)
			return false;
	memcpy(name, at, len);
	name[len] = '\0';

	struct calls_of *c = calls_of(number_at(line), number_at(dash + 1));
	if (!c || c->count == DEPTH || (closes && !c->count))
		return false;
	if (closes && strcmp(c->names[--c->count], name))
		return false;
	u32 off = depth > c->count ? depth - c->count : c->count - depth;
	if (off > str_has_prefix(name, "graph_nmi_"))
		return false;
	++*checked;
	if (!closes && str_has_prefix(at + len, "() {"))
		memcpy(c->names[c->count++], name, len + 1);
	return closes || str_has_prefix(at + len, "()");
}

/* How many lines of `trace` were right before the first that is wrong, or the end. */
static u64 check_lines(void)
{
	static char buf[4096], line[256];
	u64 checked = 0;
	unsigned len = 0;
	struct file *f;
	ssize n;

	if (file_open("/sys/kernel/tracing/trace", O_RDONLY, 0, &f))
		return 0;
	while ((n = kernel_read(f, buf, sizeof(buf))) > 0)
		for (ssize i = 0; i < n; i++) {
			if (buf[i] != '\n' && len < sizeof(line) - 1) {
				line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			if (check_line(line, &checked))
				continue;
			ktap_fail(__FILE__, __LINE__, "line %lu: %s", checked, line);
			file_put(f);
			return checked;
		}
	file_put(f);
	return checked;
}

static void graph_nesting_nothing(void *unused)
{
	(void)unused;
}

static void put_options(const char *proc_and_tail, const char *duration)
{
	EXPECT_EQ(trace_put("options/funcgraph-proc", proc_and_tail), 0);
	EXPECT_EQ(trace_put("options/funcgraph-tail", proc_and_tail), 0);
	EXPECT_EQ(trace_put("options/funcgraph-duration", duration), 0);
}

static void under_interrupts(void)
{
	struct threads t = {0};

	trace_fresh();
	seed = host_clock() | 1;
	calls = in_nmis = in_irqs = stack_count = 0;
	EXPECT_EQ(trace_put("buffer_size_kb", "1000"), 0);
	put_options("1", "0");
	EXPECT_EQ(trace_put("set_ftrace_filter", "graph_task_* graph_nmi_* graph_irq_*"), 0);
	EXPECT_EQ(trace_put("current_tracer", "function_graph"), 0);
	EXPECT_EQ(nmi_handler_add(graph_nmi_outer), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, graph_nesting_thread, (void *)(u64)cpu, cpu);
	threads_join(&t);
	cpu_call_all(graph_nesting_nothing, NULL); /* NMIs that were sent have come */
	nmi_handler_remove(graph_nmi_outer);
	EXPECT_EQ(trace_put("tracing_on", "0"), 0);
	u64 checked = check_lines();
	ktap_note("seed %lu: %lu calls, %lu NMIs, %lu interrupts, %lu lines", seed, calls, in_nmis,
	    in_irqs, checked);
	for (unsigned i = 0; i < stack_count; i++)
		EXPECT_EQ(stacks[i].count, 0);
	EXPECT(in_nmis && in_irqs);
	EXPECT(checked >= calls + in_nmis + in_irqs);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	put_options("0", "1");
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"graph_nesting.under_interrupts", under_interrupts},
    {NULL, NULL},
};
const struct ktap_suite suite_graph_nesting = {cases};
