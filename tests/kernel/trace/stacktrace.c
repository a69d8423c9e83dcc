/*
 * The stacks that options/stacktrace records, name by name, in each context an event may come from.
 * An event of the tests is recorded at the end of a chain of functions that the compiler may not
 * merge; then the trace is read as a user reads it.
 */
#include "kernel/kprobe/breakpoint.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"

static volatile bool seen;

static void __noinline traced_function(void)
{
	trace_unit_numbers(-1, 2, -3, 4);
	barrier();
}

static void __noinline traced_caller(void)
{
	traced_function();
	seen = true;
}

static void begin(const char *event)
{
	trace_fresh();
	seen = false;
	EXPECT_EQ(trace_put("options/stacktrace", "1"), 0);
	EXPECT_EQ(trace_put("set_event", event), 0);
	EXPECT_EQ(trace_put("trace", ""), 0);
}

/* The first trace there is begins with these frames, and ends so if `whole`. */
static void expect_frames(const char *const *names, bool whole)
{
	const char *at;

	EXPECT_EQ(trace_put("set_event", ""), 0);
	EXPECT_EQ(trace_put("options/stacktrace", "0"), 0);
	at = strstr(trace_get("trace", NULL), "<stack trace>\n");
	EXPECT(at != NULL);
	at = at ? at + strlen("<stack trace>\n") : "";
	for (; *names; names++) {
		size_t n = strcspn(at, "\n"), len = strlen(*names);
		if (n != len + 4 || memcmp(at, " => ", 4) != 0 || memcmp(at + 4, *names, len) != 0)
			ktap_fail(
			    __FILE__, __LINE__, "expected %s, found \"%.*s\"", *names, (int)n, at);
		at += n + (at[n] == '\n');
	}
	if (whole)
		EXPECT(!str_has_prefix(at, " => "));
}

#define EXPECT_BEGIN(...) expect_frames((const char *const[]){__VA_ARGS__, NULL}, false)
#define EXPECT_WHOLE(...) expect_frames((const char *const[]){__VA_ARGS__, NULL}, true)

static void __noinline thread_function(void *unused)
{
	(void)unused;
	traced_caller();
	barrier();
}

static void kernel_thread(void)
{
	struct threads t = {0};

	begin("unit:unit_numbers");
	thread_start(&t, thread_function, NULL, -1);
	threads_join(&t);
	EXPECT_WHOLE(
	    "traced_function", "traced_caller", "thread_function", "task_first_run", "task_begin");
}

static void __noinline in_irq(struct irq_work *unused)
{
	(void)unused;
	traced_caller();
	barrier();
}

static void __noinline wait_for_it(void)
{
	while (!seen)
		cpu_relax();
}

static void __noinline wait_outer(void)
{
	wait_for_it();
	barrier();
}

static void interrupt(void)
{
	static struct irq_work work = {.fn = in_irq};

	begin("unit:unit_numbers");
	irq_disable();
	irq_work_queue(&work);
	irq_enable();
	wait_outer();
	EXPECT_BEGIN("traced_function", "traced_caller", "in_irq", "irq_work_run", "kernel_ipi",
	    "interrupt_call", "interrupt_dispatch", "trap_irq", "irq_common");
}

static bool in_nmi(struct regs *r)
{
	(void)r;
	traced_caller();
	barrier();
	return true;
}

static void __noinline send_nmi(void)
{
	nmi_send(cpu_id());
	wait_for_it();
}

static void nmi(void)
{
	begin("unit:unit_numbers");
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	preempt_disable();
	send_nmi();
	preempt_enable();
	nmi_handler_remove(in_nmi);
	EXPECT_BEGIN("traced_function", "traced_caller", "in_nmi", "kernel_nmi", "nmi_dispatch",
	    "trap_nmi", "trap_nmi_entry");
}

static bool on_int3(struct regs *r)
{
	(void)r;
	traced_caller();
	barrier();
	return true;
}

static void __noinline has_int3(void)
{
	__asm__ volatile("int3");
	barrier();
}

static void __noinline calls_int3(void)
{
	has_int3();
	barrier();
}

static void breakpoint(void)
{
	begin("unit:unit_numbers");
	EXPECT_EQ(int3_handler_add(on_int3), 0);
	calls_int3();
	int3_handler_remove(on_int3);
	EXPECT_BEGIN("traced_function", "traced_caller", "on_int3", "kernel_int3", "do_int3",
	    "exc_int3", "entry_breakpoint", "has_int3", "calls_int3", "breakpoint");
}

/*
 * The generated recorders, and the hand-written ones of system calls, have different depths;
 * neither is to be seen.
 */
static void system_call(void)
{
	begin("syscalls:sys_enter_getppid");
	EXPECT_EQ(run_program("/test/userstack", NULL), 0);
	EXPECT_WHOLE("kernel_syscall", "syscall_entry");
	begin("syscalls:sys_exit_getppid");
	EXPECT_EQ(run_program("/test/userstack", NULL), 0);
	EXPECT_WHOLE("kernel_syscall", "syscall_entry");
	begin("raw_syscalls:sys_enter");
	EXPECT_EQ(run_program("/bin/true", NULL), 0);
	EXPECT_WHOLE("kernel_syscall", "syscall_entry");
}

static const struct ktap_case cases[] = {
    {"stacktrace.kernel_thread", kernel_thread},
    {"stacktrace.interrupt", interrupt},
    {"stacktrace.nmi", nmi},
    {"stacktrace.breakpoint", breakpoint},
    {"stacktrace.system_call", system_call},
    {NULL, NULL},
};
const struct ktap_suite suite_stacktrace = {cases};
