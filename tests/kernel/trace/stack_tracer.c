/*
 * The stack tracer beside the truth: a function knows how deep it was called, and its caller how
 * large its own frame is.
 */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/trace/tools.h"
#include "trace/function/function.h"
#include "trace/host_lock.h"

#define FRAME 3000

static u64 seen; /* from the return address of the hook on, as target() found it */

static __noinline void stack_test_target(volatile char *p)
{
	seen = this_cpu_read(kernel_rsp) - (u64)__builtin_frame_address(0);
	*p = 1;
}

static __noinline void stack_test_deep(void)
{
	volatile char frame[FRAME];

	stack_test_target(frame);
	stack_test_target(frame + FRAME - 1);
}

static void stack_test_switch(bool on)
{
	host_lock();
	EXPECT_EQ(trace_stack_switch(on), 0);
	host_unlock();
}

/* Depth, size and name of an entry of the file: 0 if there is none. */
static u64 stack_test_entry(unsigned n, const char *function)
{
	char head[16];
	u64 depth = 0;

	fmt_snprintf(head, sizeof(head), "\n%3u) ", n);
	const char *at = strstr(trace_get("stack_trace", NULL), head);
	if (!at)
		return 0;
	at += strlen(head);
	while (*at == ' ')
		at++;
	while (is_digit(*at))
		depth = depth * 10 + *at++ - '0';
	const char *name = strstr(at, function);
	return name && name < strchr(at, '\n') ? depth : 0;
}

static void deepest(void)
{
	char number[24];

	EXPECT_EQ(trace_put("stack_trace_filter", "stack_test_target"), 0);
	trace_stack_set_max(0);
	stack_test_switch(true);
	stack_test_deep();
	stack_test_switch(false);
	fmt_snprintf(number, sizeof(number), "%lu\n", seen);
	EXPECT_STR(trace_get("stack_max_size", NULL), number);
	EXPECT_EQ(stack_test_entry(0, "stack_test_target+0x"), seen);
	EXPECT_EQ(stack_test_entry(1, "stack_test_deep+0x"), seen - 8);
	u64 caller = stack_test_entry(2, "deepest+0x");
	EXPECT(caller && caller + FRAME < seen && seen < caller + FRAME + 200);
}

/* What is less deep than the maximum changes nothing, and nothing does while it is off. */
static void less_deep(void)
{
	stack_test_deep();
	trace_stack_set_max(seen);
	stack_test_switch(true);
	stack_test_deep();
	EXPECT_EQ(trace_stack_max(), seen);
	trace_stack_set_max(seen - 1);
	stack_test_deep();
	EXPECT_EQ(trace_stack_max(), seen);
	stack_test_switch(false);
	trace_stack_set_max(0);
	stack_test_deep();
	EXPECT_EQ(trace_stack_max(), 0);
	EXPECT_EQ(trace_put("stack_trace_filter", ""), 0);
}

/* All functions, with all that the unwinder calls. */
static void of_all_functions(void)
{
	stack_test_switch(true);
	stack_test_deep();
	EXPECT_EQ(trace_make_instance("deep"), 0);
	EXPECT_EQ(trace_drop_instance("deep"), 0);
	stack_test_switch(false);
	EXPECT(trace_stack_max() >= seen);
	EXPECT(strstr(trace_get("stack_trace", NULL), "\n  0) "));
	trace_stack_set_max(0);
}

static const struct ktap_case cases[] = {
    {"stack_tracer.deepest", deepest},
    {"stack_tracer.less_deep", less_deep},
    {"stack_tracer.of_all_functions", of_all_functions},
    {NULL, NULL},
};
const struct ktap_suite suite_stack_tracer = {cases};
