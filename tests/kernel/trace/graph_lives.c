/*
 * The records of function_graph over the lives of tasks: all calls are traced while a program
 * becomes another, ends, is killed in a call that waits, or handles a signal. Afterwards the lines
 * of each task are read back. Its calls are its returns, the calls that it left otherwise, and
 * those that were open when it ended; the sums of both over all tasks are what the ledger counts.
 * The last case does the same under load: many programs on all CPUs, NMIs, a probe, all events on.
 * With `storm=long` on the command line it lasts a minute.
 *
 * The calls in an NMI may be a level off (graph_nesting.c): they are a life of their own for each
 * CPU, whose depths do not count.
 */
#include "kernel/base/cmdline.h"
#include "kernel/fs/file.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"

#define GRAPH	"instances/lives/"
#define DEPTH	64
#define TASKS	128
#define FLAGS	5 /* letters of latency-format */
#define MINUTE	60000000000UL
#define NAME	48
#define WATCHED 3 /* functions that a case asks for */

/* ---- a task's calls, from the lines of a trace ---- */

struct life {
	s64 pid;
	u64 calls, returns, left; /* left: otherwise than by a return */
	u64 watched[WATCHED], watched_returns[WATCHED];
	u32 count; /* open calls */
	char comm[16];
	char names[DEPTH][NAME];
};

static struct life lives[TASKS];
static unsigned life_count;
static const char *watched[WATCHED];

static s64 life_number(const char *p)
{
	s64 n = 0;

	while (is_digit(*p))
		n = n * 10 + *p++ - '0';
	return n;
}

static struct life *life_of(s64 pid, const char *comm, size_t len)
{
	struct life *l = lives;

	while (l < lives + life_count && l->pid != pid)
		l++;
	if (l == lives + TASKS)
		return NULL;
	if (l == lives + life_count) {
		life_count++;
		memset(l, 0, sizeof(*l));
		l->pid = pid;
	}
	len = MIN(len, sizeof(l->comm) - 1); /* the last one it has */
	memcpy(l->comm, comm, len);
	l->comm[len] = '\0';
	return l;
}

static void life_watch(u64 *counts, const char *name)
{
	for (unsigned i = 0; i < WATCHED; i++)
		counts[i] += watched[i] && !strcmp(watched[i], name);
}

/* A call that is entered at a depth has left those that were as deep or deeper. */
static bool life_enter(struct life *l, u32 depth, const char *name)
{
	if (depth > l->count || depth == DEPTH)
		return false;
	l->left += l->count - depth;
	l->calls++;
	life_watch(l->watched, name);
	strscpy(l->names[depth], name, NAME);
	l->count = depth + 1;
	return true;
}

static bool life_return(struct life *l, u32 depth, const char *name)
{
	if (depth >= l->count || strcmp(l->names[depth], name))
		return false;
	l->left += l->count - depth - 1;
	l->returns++;
	life_watch(l->watched_returns, name);
	l->count = depth;
	return true;
}

/*
 * " 1)   name-12   |  d..1. |    function() {", "function();", "} /" "* function *" "/": false: the
 * line is wrong. Others are passed over.
 */
static bool life_line(const char *line)
{
	const char *bar = strstr(line, " | "), *dash = bar, *comm;
	char name[NAME];
	size_t depth, len;

	if (*line == '#' || !bar)
		return true;
	while (*dash != '-')
		dash--;
	for (comm = strstr(line, ") ") + 2; *comm == ' ';)
		comm++;
	const char *at = bar + strlen(" |  "), *flags = at;
	at += FLAGS + strlen(" | ");
	depth = strspn(at, " ") / 2;
	at += strspn(at, " ");
	bool closes = str_has_prefix(at, "} /* ");
	at += closes ? strlen("} /* ") : 0;
	if (str_has_prefix(at, "=====") || str_has_prefix(at, "<====")) /* an interrupt */
		return true;
	len = strcspn(at, "( ");
	if (!len || len >= sizeof(name))
		return false;
	memcpy(name, at, len);
	name[len] = '\0';
	s64 pid = life_number(dash + 1), cpu = life_number(line + strspn(line, " "));
	bool nmi = flags[2] == 'Z' || flags[2] == 'z';
	if (nmi)
		pid = -1 - MAX_CPUS - cpu;
	else if (!pid) /* each CPU has an idle task */
		pid = -1 - cpu;
	struct life *l = life_of(pid, comm, dash - comm);
	if (l && nmi)
		depth = l->count - closes;
	if (!l || (closes ? !life_return(l, depth, name) : !life_enter(l, depth, name)))
		return false;
	return closes || str_has_prefix(at + len, "() {") ||
	       (str_has_prefix(at + len, "();") && life_return(l, depth, name));
}

/* Reads the whole trace: false at a line that is wrong. */
static bool lives_read(void)
{
	static char buf[4096], line[256];
	bool right = true;
	unsigned len = 0;
	struct file *f;
	ssize n;

	life_count = 0;
	if (file_open("/sys/kernel/tracing/" GRAPH "trace", O_RDONLY, 0, &f))
		return false;
	while (right && (n = kernel_read(f, buf, sizeof(buf))) > 0)
		for (ssize i = 0; right && i < n; i++) {
			if (buf[i] != '\n' && len < sizeof(line) - 1) {
				line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			right = life_line(line);
			if (!right)
				ktap_note("%s", line);
		}
	file_put(f);
	return right;
}

/* ---- what the ledger says ---- */

static u64 ledger_number(const char *before)
{
	const char *calls = strstr(trace_get(GRAPH "trace_ledger", NULL), "# calls: "),
		   *at = calls ? strstr(calls, before) : NULL;

	EXPECT(at != NULL);
	return at ? (u64)life_number(at + strlen(before)) : 0;
}

static bool lives_ended(s64 pid)
{
	struct task *t = pid < 0 ? NULL : task_find(pid);

	if (t)
		task_put(t);
	return !t && pid >= 0;
}

static u64 open_calls(bool ended)
{
	u64 n = 0;

	for (unsigned i = 0; i < life_count; i++)
		if (lives_ended(lives[i].pid) == ended)
			n += lives[i].count;
	return n;
}

static u64 left_calls(void)
{
	u64 n = 0;

	for (unsigned i = 0; i < life_count; i++)
		n += lives[i].left;
	return n;
}

/* ---- a program's life ---- */

static void lives_option(const char *name, const char *value)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), GRAPH "options/%s", name);
	EXPECT_EQ(trace_put(path, value), 0);
}

/* What an ended task kept goes with its last reference, which may be a moment later. */
static void lives_settle(u64 expected)
{
	for (unsigned i = 0; i < 100 && ledger_number("ended with their task ") < expected; i++)
		sleep_ns(TICK_NS, NULL);
}

static void lives_trace_begin(void)
{
	EXPECT_EQ(trace_make_instance("lives"), 0);
	EXPECT_EQ(trace_put(GRAPH "buffer_size_kb", "6000"), 0);
	lives_option("funcgraph-proc", "1");
	lives_option("funcgraph-tail", "1");
	lives_option("funcgraph-duration", "0");
	lives_option("latency-format", "1");
	EXPECT_EQ(trace_put(GRAPH "current_tracer", "function_graph"), 0);
}

static void lives_trace(const char *role)
{
	lives_trace_begin();
	EXPECT_EQ(run_program("/test/graphed", role), 0);
	sleep_ns(2 * TICK_NS, NULL);
	EXPECT_EQ(trace_put(GRAPH "tracing_on", "0"), 0);
}

/* The balance of each task, and that of all. */
static void lives_expect_balance(void)
{
	u64 calls = 0;

	EXPECT(lives_read());
	for (unsigned i = 0; i < life_count; i++) {
		const struct life *l = &lives[i];
		calls += l->calls;
		EXPECT_EQ(l->calls, l->returns + l->left + l->count);
	}
	lives_settle(open_calls(true));
	EXPECT_EQ(ledger_number("ended with their task "), open_calls(true));
	EXPECT_EQ(ledger_number("left otherwise "), left_calls());
	EXPECT_EQ(ledger_number("followed "), calls);
	EXPECT_EQ(ledger_number("not followed "), 0);
	EXPECT(ledger_number("under way ") <= open_calls(false));
	EXPECT(strstr(trace_get(GRAPH "trace_ledger", NULL), "\nbalanced\n") != NULL);
}

static void lives_end(void)
{
	EXPECT_EQ(trace_put(GRAPH "current_tracer", "nop"), 0);
	EXPECT_EQ(trace_drop_instance("lives"), 0);
}

static void expect_watched(unsigned i, u64 calls, u64 returns)
{
	u64 c = 0, r = 0;

	for (const struct life *l = lives; l < lives + life_count; l++) {
		c += l->watched[i];
		r += l->watched_returns[i];
	}
	EXPECT_EQ(c, calls);
	EXPECT_EQ(r, returns);
}

static void lives_of(const char *role, const char *a, const char *b, const char *c)
{
	trace_fresh();
	watched[0] = a;
	watched[1] = b;
	watched[2] = c;
	lives_trace(role);
	lives_expect_balance();
}

#define EXECVE	  "__x64_sys_execve"
#define EXIT	  "__x64_sys_exit_group"
#define DO_EXIT	  "do_exit"
#define READ	  "__x64_sys_read"
#define SIGRETURN "__x64_sys_rt_sigreturn"

/* Each execve() returns, into another program; what ends the last one does not. */
static void lives_exec(void)
{
	lives_of("exec", EXECVE, EXIT, DO_EXIT);
	expect_watched(0, 3, 3);
	expect_watched(1, 1, 0);
	expect_watched(2, 1, 0);
	lives_end();
	lives_of("refused", EXECVE, EXIT, NULL);
	expect_watched(0, 1, 1);
	expect_watched(1, 1, 0);
	lives_end();
}

static void lives_exit(void)
{
	lives_of("exit", "__x64_sys_exit", DO_EXIT, NULL);
	expect_watched(0, 1, 0);
	expect_watched(1, 1, 0);
	lives_end();
}

/* The call that waits returns first; what never returns is the end of its task. */
static void lives_killed(void)
{
	lives_of("killed", READ, EXIT, DO_EXIT);
	expect_watched(0, 1, 1);
	expect_watched(1, 1, 0);
	expect_watched(2, 2, 0);
	lives_end();
}

static void lives_group(void)
{
	lives_of("group", READ, EXIT, DO_EXIT);
	expect_watched(0, 1, 1);
	expect_watched(1, 1, 0);
	expect_watched(2, 2, 0);
	lives_end();
}

static void lives_fault(void)
{
	lives_of("fault", DO_EXIT, EXIT, NULL);
	expect_watched(0, 2, 0);
	expect_watched(1, 1, 0);
	lives_end();
}

/* Into the handler and out of it. */
static void lives_handler(void)
{
	lives_of("handler", READ, SIGRETURN, DO_EXIT);
	expect_watched(0, 1, 1);
	expect_watched(1, 1, 1);
	expect_watched(2, 1, 0);
	lives_end();
}

/* ---- under load ---- */

static u64 load_ran, load_probed; /* [A] */

static void __noipa graph_lives_target(void)
{
	atomic_add(&load_ran, 1);
}

static int on_load_target(struct kprobe *p, struct regs *r)
{
	(void)p, (void)r;
	atomic_add(&load_probed, 1);
	return 0;
}

static bool on_load_nmi(struct regs *r)
{
	(void)r;
	graph_lives_target();
	return true;
}

static void graph_lives_load(void *cpu)
{
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(run_program("/bin/true", NULL), 0);
		for (unsigned k = 0; k < 20; k++) {
			nmi_send(((u64)cpu + k) % cpu_count());
			graph_lives_target();
		}
		sleep_ns(20000, NULL);
	}
}

static void lives_under_load_once(void)
{
	struct threads t = {0};

	lives_trace_begin();
	EXPECT_EQ(trace_put("set_event", "*:*"), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, graph_lives_load, (void *)(u64)cpu, cpu);
	threads_join(&t);
	EXPECT_EQ(trace_put(GRAPH "tracing_on", "0"), 0);
	EXPECT_EQ(trace_put("set_event", ""), 0);
	lives_expect_balance();
	lives_end();
}

static void lives_under_load(void)
{
	struct kprobe p = {.addr = (void *)graph_lives_target, .pre_handler = on_load_target};
	u64 end = clock_ns() + (cmdline_get("storm") ? MINUTE : 0), calls = 0, rounds = 0;

	trace_fresh();
	load_ran = load_probed = 0;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(nmi_handler_add(on_load_nmi), 0);
	do {
		lives_under_load_once();
		rounds++;
		for (unsigned i = 0; i < life_count; i++)
			calls += lives[i].calls;
	} while (clock_ns() < end);
	nmi_handler_remove(on_load_nmi);
	EXPECT_EQ(load_probed + p.nmissed, load_ran);
	unregister_kprobe(&p);
	ktap_note(
	    "%lu rounds, %lu calls, %u tasks and CPUs in the last", rounds, calls, life_count);
}

static const struct ktap_case cases[] = {
    {"graph_lives.exec", lives_exec},
    {"graph_lives.exit", lives_exit},
    {"graph_lives.killed_in_a_call", lives_killed},
    {"graph_lives.thread_in_a_call", lives_group},
    {"graph_lives.fault", lives_fault},
    {"graph_lives.signal_handler", lives_handler},
    {"graph_lives.under_load", lives_under_load},
    {NULL, NULL},
};
const struct ktap_suite suite_graph_lives = {cases};
