/*
 * Probes at the entry of a function that read only registers of arguments: its hook then saves no
 * others. Which probes and events are such, that each finds the same registers either way, and what
 * happens when a probe that wants all registers joins them, is switched, and goes.
 */
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/base/sym.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/timer.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"

#define RFLAGS_IF 0x200UL

u64 __noipa arguments_target(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g);
u64 __noipa arguments_target(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g;
}

u64 __noipa arguments_inner(u64 a);
u64 __noipa arguments_inner(u64 a)
{
	return a + 1;
}

#define RESULT (11 + 2 * 22 + 3 * 33 + 4 * 44 + 5 * 55 + 6 * 66 + 7 * 77)

static u64 __noipa arguments_call(void)
{
	return arguments_target(11, 22, 33, 44, 55, 66, 77);
}

/*
 * Calls the target with a value in each register; false: one that every function preserves is
 * another afterwards.
 */
static bool arguments_call_preserves(void)
{
	u64 rbx = 0xb, r12 = 0x12, r13 = 0x13, r14 = 0x14, r15 = 0x15, rax;
	register u64 r8 __asm__("r8") = 55, r9 __asm__("r9") = 66;
	u64 di = 11, si = 22, dx = 33, cx = 44;

	__asm__ volatile(
	    "xorl %%eax, %%eax; movl $0x10, %%r10d; movl $0x11, %%r11d\n\t"
	    "movl $0xb, %%ebx; movl $0x12, %%r12d; movl $0x13, %%r13d; movl $0x14, %%r14d\n\t"
	    "movl $0x15, %%r15d; pushq $77; call arguments_target; leaq 8(%%rsp), %%rsp\n\t"
	    "movq %%rbx, %1; movq %%r12, %2; movq %%r13, %3; movq %%r14, %4; movq %%r15, %5"
	    : "=&a"(rax), "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15), "+D"(di), "+S"(si),
	    "+d"(dx), "+c"(cx), "+r"(r8), "+r"(r9)
	    :
	    : "rbx", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
	return rax == RESULT && rbx == 0xb && r12 == 0x12 && r13 == 0x13 && r14 == 0x14 &&
	       r15 == 0x15;
}

/* What the hook of a function calls now. */
static u64 arguments_entry(const void *function)
{
	const char *name;
	u64 start, size;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++)
		if (start == (u64)function)
			return hook_state(i).entry;
	return 0;
}

#define EXPECT_ENTRY(to) EXPECT_EQ(arguments_entry(arguments_target), arch_hook_entry(to))

/* ---- probes ---- */

static struct regs found;
static u64 hits, all_hits, wrong;

static int on_arguments(struct kprobe *p, struct regs *r)
{
	(void)p;
	hits++;
	found.rdi = r->rdi;
	found.rsi = r->rsi;
	found.rdx = r->rdx;
	found.rcx = r->rcx;
	found.r8 = r->r8;
	found.r9 = r->r9;
	found.rflags = r->rflags;
	return 0;
}

/* Has all registers: the function's last argument lies above its return address. */
static int on_all(struct kprobe *p, struct regs *r)
{
	const u64 *sp = (const u64 *)r->rsp;

	all_hits++;
	if (r->rip != (u64)p->addr + 1 || sp[1] != 77 || r->rdi != 11 || r->r9 != 66 ||
	    !sym_find(sp[0], NULL, NULL))
		wrong++;
	return 0;
}

static void on_post(struct kprobe *p, struct regs *r, u64 flags)
{
	(void)p, (void)r, (void)flags;
	all_hits++;
}

static struct kprobe arguments_probe(void)
{
	return (struct kprobe){.symbol_name = "arguments_target",
	    .pre_handler = on_arguments,
	    .flags = KPROBE_FLAG_ARGUMENTS};
}

static struct kprobe all_probe(void)
{
	return (struct kprobe){.symbol_name = "arguments_target", .pre_handler = on_all};
}

static void expect_hits(u64 arguments, u64 all)
{
	hits = all_hits = wrong = 0;
	memset(&found, 0, sizeof(found));
	EXPECT(arguments_call_preserves());
	EXPECT_EQ(hits, arguments);
	EXPECT_EQ(all_hits, all);
	EXPECT_EQ(wrong, 0);
	if (!arguments)
		return;
	EXPECT_EQ(found.rdi, 11);
	EXPECT_EQ(found.rsi, 22);
	EXPECT_EQ(found.rdx, 33);
	EXPECT_EQ(found.rcx, 44);
	EXPECT_EQ(found.r8, 55);
	EXPECT_EQ(found.r9, 66);
	EXPECT(found.rflags & RFLAGS_IF);
}

static void registers(void)
{
	struct kprobe p = arguments_probe();

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(1, 0);
	u64 flags = irq_save();
	arguments_call();
	irq_restore(flags);
	EXPECT_EQ(hits, 2);
	EXPECT(!(found.rflags & RFLAGS_IF));
	EXPECT_EQ(disable_kprobe(&p), 0);
	EXPECT_ENTRY(ARCH_HOOK_OFF);
	expect_hits(0, 0);
	EXPECT_EQ(enable_kprobe(&p), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	kprobes_switch(false);
	EXPECT_ENTRY(ARCH_HOOK_OFF);
	kprobes_switch(true);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(1, 0);
	EXPECT_EQ(p.nmissed, 0);
	unregister_kprobe(&p);
	EXPECT_ENTRY(ARCH_HOOK_OFF);
}

static void with_all_registers(void)
{
	struct kprobe p = arguments_probe(), q = arguments_probe(), all = all_probe();

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(register_kprobe(&all), 0);
	EXPECT_ENTRY(ARCH_HOOK_PROBE);
	expect_hits(1, 1);
	EXPECT_EQ(disable_kprobe(&all), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(1, 0);
	EXPECT_EQ(register_kprobe(&q), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(2, 0);
	EXPECT_EQ(enable_kprobe(&all), 0);
	EXPECT_ENTRY(ARCH_HOOK_PROBE);
	expect_hits(2, 1);
	EXPECT_EQ(disable_kprobe(&p), 0);
	expect_hits(1, 1);
	unregister_kprobe(&all);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(1, 0);
	unregister_kprobe(&q);
	EXPECT_ENTRY(ARCH_HOOK_OFF);
	unregister_kprobe(&p);
}

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri;
	all_hits += r->rax == RESULT;
	return 0;
}

/* Those who want more, or what comes after, than the arguments. */
static void beside_others(void)
{
	struct kprobe p = arguments_probe(), post = arguments_probe();
	struct kretprobe rp = {.kp.symbol_name = "arguments_target", .handler = on_return};

	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(register_kretprobe(&rp), 0);
	EXPECT_ENTRY(ARCH_HOOK_PROBE);
	expect_hits(1, 1);
	unregister_kretprobe(&rp);
	post.post_handler = on_post;
	EXPECT_EQ(register_kprobe(&post), 0);
	EXPECT_ENTRY(ARCH_HOOK_PROBE);
	expect_hits(2, 1);
	unregister_kprobe(&post);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	trace_fresh();
	EXPECT_EQ(trace_put("set_ftrace_filter", "arguments_target"), 0);
	EXPECT_EQ(trace_put("current_tracer", "function"), 0);
	EXPECT_ENTRY(ARCH_HOOK_MANY);
	expect_hits(1, 0);
	EXPECT_EQ(trace_put("current_tracer", "nop"), 0);
	EXPECT_EQ(trace_put("set_ftrace_filter", ""), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	expect_hits(1, 0);
	unregister_kprobe(&p);
}

static int on_outer(struct kprobe *p, struct regs *r)
{
	(void)p;
	hits++;
	arguments_inner(r->rdi);
	arguments_inner(r->rsi);
	return 0;
}

/* Each hit inside a handler is missed, the second as well; after the handler none is. */
static void inside_a_handler(void)
{
	struct kprobe p = arguments_probe(), inner = {.symbol_name = "arguments_inner",
						 .pre_handler = on_arguments,
						 .flags = KPROBE_FLAG_ARGUMENTS};

	p.pre_handler = on_outer;
	EXPECT_EQ(register_kprobe(&p), 0);
	EXPECT_EQ(register_kprobe(&inner), 0);
	hits = 0;
	arguments_call();
	EXPECT_EQ(hits, 1);
	EXPECT_EQ(inner.nmissed, 2);
	arguments_inner(1);
	EXPECT_EQ(hits, 2);
	EXPECT_EQ(inner.nmissed, 2);
	EXPECT(!this_cpu_read(probing));
	unregister_kprobe(&inner);
	unregister_kprobe(&p);
}

/* ---- events ---- */

static const struct {
	const char *args;
	bool only_arguments;
} kinds[] = {
    {"", true},
    {"%di", true},
    {"%di %si", true},
    {"%di %si %dx %cx %r8 %r9", true},
    {"$arg1 $arg2 $arg3", true},
    {"$arg1 $arg2 $arg3 $arg4 $arg5 $arg6", true},
    {"a=%di:u8 b=%si:x16 c=%dx:s32 d=%cx:b4@2/8", true},
    {"%r9:symbol %di:char", true},
    {"\\7 %di \\\"text\"", true},
    {"$comm %si", true},
    {"+0(%di):x8", true}, /* cannot be read: 0 */
    {"$arg7", false},
    {"%di $arg7", false},
    {"%ax:x8 %di", false},
    {"%di %r10:x8", false},
    {"%r11:x8", false},
    {"%bx", false},
    {"%bp", false},
    {"%r12 %si", false},
    {"%r15", false},
    {"%sp", false},
    {"%ip", false},
    {"%cs", false},
    {"%flags:x8", false},
    {"$stack", false},
    {"$stack1", false},
    {"+8($stack)", false},
    {"+8(%sp):u32", false},
};

/* The event's line; its text stays until the next call. */
static const char *arguments_event_line(char line[256])
{
	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT(arguments_call_preserves());
	fmt_snprintf(line, 256, "%s", trace_nth_event(0));
	EXPECT(strlen(line) > 5);
	return line;
}

static void each_kind(const char *form, const char *enable)
{
	char cmd[256], line[256], line_with_all[256];
	struct kprobe all = all_probe();

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool by_name = strchr(kinds[i].args, '%') && *form == 'f';
		if (by_name)
			continue; /* such lines have no registers */
		fmt_snprintf(cmd, sizeof(cmd), "%s %s", form, kinds[i].args);
		ktap_note("%s", cmd);
		EXPECT_EQ(trace_put("dynamic_events", cmd), 0);
		EXPECT_EQ(trace_put(enable, "1"), 0);
		EXPECT_ENTRY(kinds[i].only_arguments ? ARCH_HOOK_ARGUMENTS : ARCH_HOOK_PROBE);
		arguments_event_line(line);
		EXPECT_EQ(register_kprobe(&all), 0);
		EXPECT_ENTRY(ARCH_HOOK_PROBE);
		EXPECT_STR(arguments_event_line(line_with_all), line);
		unregister_kprobe(&all);
		EXPECT_EQ(trace_put(enable, "0"), 0);
		EXPECT_ENTRY(ARCH_HOOK_OFF);
		EXPECT_EQ(trace_put("dynamic_events", ""), 0);
	}
}

static void events(void)
{
	trace_fresh();
	each_kind("p:arguments_ev arguments_target", "events/kprobes/arguments_ev/enable");
	each_kind("f:arguments_ev arguments_target", "events/fprobes/arguments_ev/enable");
}

/* Arguments beyond the sixth lie on the stack, above the return address. */
static void on_the_stack(void)
{
	char line[256];

	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", "p:x arguments_target a=$arg6:u64 b=$arg7:u64"), 0);
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "1"), 0);
	EXPECT(strstr(arguments_event_line(line), " a=66 b=77"));
	EXPECT_EQ(trace_put("events/kprobes/x/enable", "0"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

#define EVENT "events/kprobes/arguments_ev/"

/* How many lines the event has after a call. */
static unsigned arguments_lines(void)
{
	unsigned n = 0;

	EXPECT_EQ(trace_put("trace", ""), 0);
	EXPECT_EQ(arguments_call(), RESULT);
	while (*trace_nth(n))
		n++;
	return n;
}

/* An event that is on gets a filter, a trigger, a list of pids, another event beside it. */
static void changes_while_on(void)
{
	char pid[16];

	trace_fresh();
	fmt_snprintf(pid, sizeof(pid), "%d", current()->pid);
	EXPECT_EQ(trace_put("kprobe_events", "p:arguments_ev arguments_target a=%di b=%r9"), 0);
	EXPECT_EQ(trace_put(EVENT "enable", "1"), 0);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT(strstr(trace_nth_event(0), "a=0xb b=0x42") != NULL);
	EXPECT_EQ(trace_put(EVENT "filter", "a == 11 && b == 67"), 0);
	EXPECT_EQ(arguments_lines(), 0);
	EXPECT_EQ(trace_put(EVENT "filter", "a == 11 && b == 66"), 0);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT_EQ(trace_put(EVENT "filter", "0"), 0);
	EXPECT_EQ(trace_put("set_event_pid", "999999"), 0);
	EXPECT_EQ(arguments_lines(), 0);
	EXPECT_EQ(trace_put("set_event_pid", pid), 0);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT_EQ(trace_put("set_event_pid", ""), 0);
	EXPECT_EQ(trace_put(EVENT "trigger", "hist:keys=a:vals=b if b == 66"), 0);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT(strstr(trace_get(EVENT "hist", NULL), "a:         11 } hitcount:          1  b:") !=
	       NULL);
	EXPECT_EQ(trace_put(EVENT "trigger", "!hist:keys=a:vals=b if b == 66"), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	EXPECT_EQ(trace_append("kprobe_events", "p:arguments_all arguments_target s=$stack1"), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	EXPECT_EQ(trace_put("events/kprobes/arguments_all/enable", "1"), 0);
	EXPECT_ENTRY(ARCH_HOOK_PROBE);
	EXPECT_EQ(arguments_lines(), 2);
	EXPECT_EQ(trace_put("events/kprobes/arguments_all/enable", "0"), 0);
	EXPECT_ENTRY(ARCH_HOOK_ARGUMENTS);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT_EQ(trace_append("kprobe_events", "-:arguments_all"), 0);
	EXPECT_EQ(arguments_lines(), 1);
	EXPECT_EQ(trace_put(EVENT "enable", "0"), 0);
	EXPECT_EQ(arguments_lines(), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

/* The stack of an event: from the function to its callers, however it came to the handler. */
static void stacks(void)
{
	static char first[1024];
	struct kprobe all = all_probe();

	trace_fresh();
	EXPECT_EQ(trace_put("kprobe_events", "p:arguments_ev arguments_target %di"), 0);
	EXPECT_EQ(trace_put("options/stacktrace", "1"), 0);
	EXPECT_EQ(trace_put("options/sym-offset", "1"), 0);
	EXPECT_EQ(trace_put(EVENT "enable", "1"), 0);
	for (unsigned i = 0; i < 2; i++) {
		EXPECT_EQ(trace_put("trace", ""), 0);
		EXPECT_EQ(arguments_call(), RESULT);
		const char *at = strstr(trace_get("trace", NULL), " => ");
		EXPECT(at != NULL);
		EXPECT(str_has_prefix(at ? at : "", " => arguments_target+0x1/0x"));
		EXPECT(strstr(at ? at : "", "\n => arguments_call+0x") != NULL);
		EXPECT(strstr(at ? at : "", "\n => stacks+0x") != NULL);
		if (i)
			EXPECT_EQ(strlen(at ? at : ""), strlen(first));
		strscpy(first, at ? at : "", sizeof(first));
		if (!i)
			EXPECT_EQ(register_kprobe(&all), 0);
	}
	unregister_kprobe(&all);
	EXPECT_EQ(trace_put(EVENT "enable", "0"), 0);
	EXPECT_EQ(trace_put("options/sym-offset", "0"), 0);
	EXPECT_EQ(trace_put("options/stacktrace", "0"), 0);
	EXPECT_EQ(trace_put("kprobe_events", ""), 0);
}

/* ---- changes under calls on other CPUs ---- */

static u64 counted, called; /* [A] */
static bool stop;	    /* [A] */

static int on_counted(struct kprobe *p, struct regs *r)
{
	(void)p;
	atomic_add(&counted, r->rdi == 11 && r->r9 == 66);
	return 0;
}

static int on_all_elsewhere(struct kprobe *p, struct regs *r)
{
	const u64 *sp = (const u64 *)r->rsp;

	if (r->rip != (u64)p->addr + 1 || sp[1] != 77 || !sym_find(sp[0], NULL, NULL))
		atomic_add(&wrong, 1);
	atomic_add(&all_hits, 1);
	return 0;
}

static void arguments_caller(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		if (arguments_call() != RESULT)
			atomic_add(&wrong, 1);
		atomic_add(&called, 1);
		cpu_relax(); /* the emulator may run another CPU */
	}
}

static void under_calls(void)
{
	struct kprobe p = arguments_probe(), all = all_probe();
	struct threads t = {0};

	p.pre_handler = on_counted;
	all.pre_handler = on_all_elsewhere;
	counted = called = all_hits = wrong = 0;
	stop = false;
	EXPECT_EQ(register_kprobe(&p), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, arguments_caller, NULL, cpu);
	for (unsigned i = 0; i < 50 || !atomic_load(&all_hits); i++) {
		EXPECT_EQ(register_kprobe(&all), 0);
		sleep_ns(20000, NULL);
		EXPECT_EQ(disable_kprobe(&all), 0);
		sleep_ns(20000, NULL);
		EXPECT_EQ(enable_kprobe(&all), 0);
		unregister_kprobe(&all);
	}
	atomic_store(&stop, true);
	threads_join(&t);
	EXPECT_EQ(counted + p.nmissed, called);
	EXPECT_EQ(wrong, 0);
	unregister_kprobe(&p);
	ktap_note("%lu calls, %lu with all registers", called, all_hits);
}

static const struct ktap_case cases[] = {
    {"hook_arguments.registers", registers},
    {"hook_arguments.with_all_registers", with_all_registers},
    {"hook_arguments.beside_others", beside_others},
    {"hook_arguments.inside_a_handler", inside_a_handler},
    {"hook_arguments.events", events},
    {"hook_arguments.on_the_stack", on_the_stack},
    {"hook_arguments.changes_while_on", changes_while_on},
    {"hook_arguments.stacks", stacks},
    {"hook_arguments.under_calls", under_calls},
    {NULL, NULL},
};
const struct ktap_suite suite_hook_arguments = {cases};
