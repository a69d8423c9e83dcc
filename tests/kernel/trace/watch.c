/*
 * Watchpoints on the machine: every access is a hit or counted as missed, on all CPUs, in tasks,
 * interrupts and NMIs; what a hit says; what must not be watched; how hits go with single steps,
 * probes and I/O ports. With `storm=long` on the command line a million hits.
 */
#include "kernel/base/cmdline.h"
#include "kernel/kprobe/breakpoint.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq_work.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/file.h"
#include "trace/event/trigger.h"
#include "trace/host_lock.h"

#define RUNS	  2000
#define RUNS_LONG 250000
#define EVENTS	  "dynamic_events"
#define RFLAGS_TF 0x100UL
#define POST_PORT 0x80 /* takes any byte, and does nothing */

static u64 word, other, beside[2];
static u64 irq_writes, nmi_writes; /* [A] */

/* Plain stores: QEMU before 8.1 does not report atomic ones where each CPU is a thread. */
static void __noipa store(u64 *to, u64 value)
{
	WRITE_ONCE(*to, value);
}

static u64 __noipa load(const u64 *from)
{
	return READ_ONCE(*from);
}

static void define(
    const char *name, const char *kind, const void *at, unsigned len, const char *args)
{
	char line[160];

	fmt_snprintf(line, sizeof(line), "w:%s %s@0x%llx:%u %s", name, kind, (unsigned long long)at,
	    len, args);
	EXPECT_EQ(trace_append(EVENTS, line), 0);
}

static int enable(const char *name, const char *text)
{
	char path[64];

	fmt_snprintf(path, sizeof(path), "events/wprobes/%s/enable", name);
	return trace_put(path, text);
}

static void begin(
    const char *name, const char *kind, const void *at, unsigned len, const char *args)
{
	trace_fresh();
	define(name, kind, at, len, args);
	EXPECT_EQ(enable(name, "1"), 0);
}

static void end(void)
{
	host_lock();
	trace_triggers_clear(trace_global);
	host_unlock();
	EXPECT_EQ(trace_put("events/enable", "0"), 0);
	EXPECT_EQ(trace_put(EVENTS, ""), 0);
	EXPECT_EQ(trace_put("error_log", ""), 0);
}

static struct trace_event_count counts_of(const char *name)
{
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("wprobes", name));
	struct trace_event_count sum = {0};

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		sum.hit += file->counts[cpu].hit;
		sum.lost += file->counts[cpu].lost;
		sum.too_deep += file->counts[cpu].too_deep;
	}
	return sum;
}

/* ---- what a hit says ---- */

/* Expects an instruction of that function, and these arguments, in the n-th line of the trace. */
static void expect_line(unsigned n, const char *name, const char *function, const char *args)
{
	char start[96];
	const char *text = trace_nth_event(n);
	size_t len = fmt_snprintf(start, sizeof(start), "%s: (%s+0x", name, function);
	const char *after = strchr(text, ')');

	if (strncmp(text, start, len) || !after || strcmp(after + 1, args))
		ktap_fail(__FILE__, __LINE__, "%s%s: %s", start, args, text);
}

static void values(void)
{
	word = 7;
	begin("v", "w", &word, 8, "old=$old:u64 new=$value:u64 low=$value:s8 addr=$addr:u64");
	char args[96];
	store(&word, 0x1ff);
	load(&word);
	store(&word, 5);
	fmt_snprintf(
	    args, sizeof(args), " old=7 new=511 low=-1 addr=%llu", (unsigned long long)&word);
	expect_line(0, "v", "store", args);
	fmt_snprintf(
	    args, sizeof(args), " old=511 new=5 low=5 addr=%llu", (unsigned long long)&word);
	expect_line(1, "v", "store", args);
	EXPECT_EQ(counts_of("v").hit, 2);
	end();
}

static void reads(void)
{
	word = 3;
	begin("rw", "rw", &word, 8, "old=$old:u64 new=$value:u64");
	load(&word);
	store(&word, 4);
	load(&other);
	expect_line(0, "rw", "load", " old=3 new=3");
	expect_line(1, "rw", "store", " old=3 new=4");
	EXPECT_EQ(counts_of("rw").hit, 2);
	end();
}

/* An access beside the watched bytes is no hit; a wider one that takes one of them in is. */
static void lengths(void)
{
	for (unsigned len = 1; len <= 8; len *= 2) {
		begin("l", "w", beside, len, "v=$value:x64");
		for (unsigned at = 0; at < 16; at++)
			*((volatile u8 *)beside + at) = at + 1;
		EXPECT_EQ(counts_of("l").hit, len);
		store(beside, 0x1122334455667788);
		EXPECT_EQ(counts_of("l").hit, len + 1);
		char args[32];
		fmt_snprintf(args, sizeof(args), " v=0x%llx",
		    0x1122334455667788ULL & (~0ULL >> (64 - 8 * len)));
		expect_line(len, "l", "store", args);
		end();
	}
}

static void ports(void)
{
	static const u8 text[] = "watch";

	begin("io", "io", (void *)POST_PORT, 1, "v=$value:u64");
	port_out8(POST_PORT, 0x41);
	port_write8(POST_PORT, text, 5);
	port_out8(POST_PORT + 1, 0x42);
	port_in8(POST_PORT);
	expect_line(0, "io", "ports", " v=65");
	expect_line(1, "io", "ports", " v=119");
	expect_line(5, "io", "ports", " v=104");
	EXPECT_EQ(counts_of("io").hit, 7);
	end();
}

/* A byte from memory, and one to memory. */
static void strings_of_ports(void)
{
	u8 byte = 0x5a, got = 0, *from = &byte, *to = &got;
	char args[16];

	begin("io", "io", (void *)POST_PORT, 1, "v=$value:u64");
	__asm__ volatile("outsb" : "+S"(from) : "d"(POST_PORT), "D"(0), "a"(0) : "memory");
	__asm__ volatile("insb" : "+D"(to) : "d"(POST_PORT), "S"(0), "a"(0) : "memory");
	expect_line(0, "io", "strings_of_ports", " v=90");
	fmt_snprintf(args, sizeof(args), " v=%u", got);
	EXPECT(got != 0);
	expect_line(1, "io", "strings_of_ports", args);
	end();
}

/* The record has the context of a trap; the interrupted code has its own again. */
static void context(void)
{
	begin("c", "w", &word, 8, "");
	u32 count = this_cpu_read(preempt_count);
	store(&word, 1);
	EXPECT(!irq_regs());
	EXPECT_EQ(this_cpu_read(preempt_count), count);
	const char *flags = strstr(trace_nth(0), "] ");
	EXPECT(flags && flags[4] == 'Z'); /* an NMI in a hard interrupt, as Linux counts it */
	end();
}

/* ---- every access counts ---- */

static u64 irq_runs(void)
{
	return cmdline_get("storm") ? RUNS_LONG : RUNS;
}

static bool in_nmi(struct regs *r __maybe_unused)
{
	store(&word, 1);
	atomic_add(&nmi_writes, 1);
	return true;
}

static void in_irq(struct irq_work *unused __maybe_unused)
{
	store(&word, 2);
	atomic_add(&irq_writes, 1);
}

static void storm_thread(void *arg __maybe_unused)
{
	struct irq_work work = {.fn = in_irq};

	for (u64 i = 0; i < irq_runs(); i++) {
		store(&word, i);
		if (i % 16 == 0)
			irq_work_queue(&work);
		if (i % 64 == 0)
			nmi_send(i / 64 % cpu_count());
	}
	irq_work_sync(&work);
}

/* A second watchpoint is on without hits; a third one moves, because it is switched off and on. */
static void storm(void)
{
	struct threads t = {0};

	irq_writes = nmi_writes = 0;
	begin("s", "w", &word, 8, "v=$value o=$old");
	EXPECT_EQ(nmi_handler_add(in_nmi), 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, storm_thread, NULL, cpu);
	define("toggled", "rw", &other, 8, "");
	for (unsigned i = 0; i < 20; i++)
		EXPECT_EQ(enable("toggled", i % 2 ? "0" : "1"), 0);
	threads_join(&t);
	nmi_handler_remove(in_nmi);
	struct trace_event_count sum = counts_of("s");
	u64 writes = irq_runs() * cpu_count() + irq_writes + nmi_writes;
	EXPECT_EQ(sum.hit, writes);
	EXPECT_EQ(sum.lost, 0);
	EXPECT(nmi_writes > 0);
	ktap_note("%llu writes, %llu in interrupts, %llu in NMIs; %llu missed in NMIs within a hit",
	    (unsigned long long)writes, (unsigned long long)irq_writes,
	    (unsigned long long)nmi_writes, (unsigned long long)sum.too_deep);
	EXPECT(sum.too_deep <= nmi_writes);
	end();
}

/* ---- what recording itself touches ---- */

/* A hit of `first` makes the kernel write the count of its hits. */
static void within_a_hit(void)
{
	begin("first", "w", &word, 8, "");
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("wprobes", "first"));
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		char name[8];
		fmt_snprintf(name, sizeof(name), "c%u", cpu);
		define(name, "w", &file->counts[cpu].hit, 8, "");
		if (cpu < 3)
			EXPECT_EQ(enable(name, "1"), 0);
	}
	for (unsigned i = 0; i < 10; i++)
		store(&word, i);
	u64 missed = 0;
	for (unsigned cpu = 0; cpu < MIN(cpu_count(), 3u); cpu++) {
		char name[8];
		fmt_snprintf(name, sizeof(name), "c%u", cpu);
		missed += counts_of(name).too_deep;
		EXPECT_EQ(counts_of(name).hit, counts_of(name).too_deep);
	}
	if (cpu_count() <= 3)
		EXPECT_EQ(missed, 10);
	EXPECT_EQ(counts_of("first").hit, 10);
	end();
}

/* An event that watches its own count: each hit would be the cause of the next. */
static void own_count(void)
{
	begin("own", "rw", &word, 8, "");
	EXPECT_EQ(enable("own", "0"), 0);
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("wprobes", "own"));
	struct trace_event_count *count = &file->counts[cpu_id()];
	define("its", "rw", &count->hit, 8, "");
	EXPECT_EQ(enable("its", "1"), 0);
	EXPECT_EQ(enable("own", "1"), 0);
	store(&word, 1);
	EXPECT_EQ(counts_of("own").hit, 1);
	EXPECT(counts_of("its").hit > 1);
	EXPECT(counts_of("its").too_deep > 0);
	EXPECT(counts_of("its").too_deep < counts_of("its").hit);
	end();
}

/* ---- moved by triggers ---- */

static void trigger(const char *line, int err)
{
	EXPECT_EQ(trace_append("events/kprobes/call/trigger", line), err);
}

static void __noipa called(u64 *at, u64 what)
{
	store(at, what);
}

/* The probe is at the entry: what called() stores is seen. */
static void moved(void)
{
	u64 a = 0, b = 0;

	trace_fresh();
	EXPECT_EQ(trace_append(EVENTS, "p:call called p=%di what=%si"), 0);
	EXPECT_EQ(trace_append(EVENTS, "w:m w@-1:8 a=$addr:u64 old=$old:u64 v=$value:u64"), 0);
	trigger("set_wprobe:m:p if what == 1", 0);
	trigger("clear_wprobe:m:p:1 if what == 2", 0);
	EXPECT_STR(trace_get("events/wprobes/m/enable", NULL), "0*\n");
	called(&a, 0);
	called((u64 *)((char *)&a + 4), 1); /* no place for 8 bytes */
	EXPECT_EQ(counts_of("m").hit, 0);
	a = 6;
	called(&a, 1);
	EXPECT_STR(trace_get("events/wprobes/m/enable", NULL), "1*\n");
	called(&b, 1); /* it has a place */
	called(&b, 2); /* another than that */
	store(&a, 3);
	called(&a, 2);
	EXPECT_STR(trace_get("events/wprobes/m/enable", NULL), "0*\n");
	store(&a, 4);
	called(&b, 1);
	called(&b, 2); /* the one time is gone */
	EXPECT_EQ(counts_of("m").hit, 4);
	char args[64];
	fmt_snprintf(args, sizeof(args), " a=%llu old=6 v=1", (unsigned long long)&a);
	expect_line(0, "m", "store", args);
	fmt_snprintf(args, sizeof(args), " a=%llu old=1 v=3", (unsigned long long)&a);
	expect_line(1, "m", "store", args);
	fmt_snprintf(args, sizeof(args), " a=%llu old=2 v=1", (unsigned long long)&b);
	expect_line(2, "m", "store", args);
	end();
}

static u64 places[4];
static u64 moves; /* [A] */

static void move_thread(void *arg)
{
	for (u64 i = 0; i < 300; i++) {
		called(&places[((u64)arg + i) % 4], 1 + i % 2);
		atomic_add(&moves, 1);
	}
}

/* All CPUs move one watchpoint at once. After all have cleared it, no CPU watches anything. */
static void moved_on_all(void)
{
	struct threads t = {0};

	trace_fresh();
	moves = 0;
	EXPECT_EQ(trace_append(EVENTS, "p:call called p=%di what=%si"), 0);
	EXPECT_EQ(trace_append(EVENTS, "w:m w@-1:8"), 0);
	trigger("set_wprobe:m:p if what == 1", 0);
	trigger("clear_wprobe:m if what == 2", 0);
	for (u64 cpu = 0; cpu < cpu_count(); cpu++)
		thread_start(&t, move_thread, (void *)cpu, cpu);
	threads_join(&t);
	called(&other, 2);
	EXPECT_STR(trace_get("events/wprobes/m/enable", NULL), "0*\n");
	arch_watch_sync();
	u64 hits = counts_of("m").hit;
	EXPECT(hits > 0);
	for (unsigned i = 0; i < 4; i++)
		store(&places[i], i);
	EXPECT_EQ(counts_of("m").hit, hits);
	called(&places[1], 1);
	EXPECT_EQ(counts_of("m").hit, hits + 1);
	ktap_note("%llu calls, %llu hits", (unsigned long long)moves, (unsigned long long)hits);
	end();
}

/* A watchpoint on the count of its own hits. */
static void itself(void)
{
	trace_fresh();
	EXPECT_EQ(trace_append(EVENTS, "p:call called p=%di what=%si"), 0);
	EXPECT_EQ(trace_append(EVENTS, "w:m rw@-1:8"), 0);
	trigger("set_wprobe:m:p", 0);
	const struct trace_event_file *file =
	    trace_event_file_of(trace_global, trace_event_find("wprobes", "m"));
	u64 flags = irq_save();
	u64 *hit = &file->counts[cpu_id()].hit;
	called(hit, 0);
	irq_restore(flags);
	/* the write, and the recording's writes to the count: one by the trap, one by the gate */
	EXPECT(counts_of("m").hit > 1);
	EXPECT(counts_of("m").too_deep > 0);
	end();
}

static void refused(void)
{
	const void *at[] = {cpu_local_of(0), cpu_local_of(cpu_count() - 1)->arch,
	    (void *)(cpu_local_of(0)->kernel_rsp - 64)};

	trace_fresh();
	for (unsigned i = 0; i < 2; i++) {
		define("no", "rw", at[i], 8, "");
		EXPECT_EQ(enable("no", "1"), -EINVAL);
		EXPECT(
		    strstr(trace_get("error_log", NULL), "The debug trap itself needs this word"));
		end();
	}
}

/* ---- beside other traps ---- */

static u32 steps;

static bool on_step(struct regs *r)
{
	if (!(r->error & 1 << 14))
		return false;
	steps++;
	return true;
}

/*
 * Single-steps before the access and after it, not over it: QEMU makes two traps of that step, and
 * the second overwrites the frame of the first.
 */
static void single_step(void)
{
	begin("step", "w", &word, 8, "");
	EXPECT_EQ(debug_handler_add(on_step), 0);
	steps = 0;
	u64 flags = irq_save();
	for (unsigned i = 0; i < 2; i++) {
		__asm__ volatile("pushfq; orq %0, (%%rsp); popfq; nop; nop\n\t"
				 "pushfq; andq %1, (%%rsp); popfq" ::"i"(RFLAGS_TF),
				 "i"((int)~RFLAGS_TF)
				 : "memory", "cc");
		store(&word, i);
	}
	irq_restore(flags);
	debug_handler_remove(on_step);
	EXPECT_EQ(steps, 2 * 5);
	EXPECT_EQ(counts_of("step").hit, 2);
	end();
}

static int on_probe(struct kprobe *p __maybe_unused, struct regs *r __maybe_unused)
{
	return 0;
}

/*
 * A probed instruction runs as a copy elsewhere, or after a jump. The hit still names the probed
 * function.
 */
static void probed(void)
{
	unsigned len;
	u64 at = (u64)store;

	while (arch_probe_insn(at, &len) &&
	       !(*(u8 *)at == 0x48 && *(u8 *)(at + 1) == 0x89 && *(u8 *)(at + 2) == 0x37))
		at += len;
	struct kprobe p = {.addr = (void *)at, .pre_handler = on_probe};
	EXPECT_EQ(register_kprobe(&p), 0);
	begin("p", "w", &word, 8, "v=$value:u64");
	store(&word, 1);
	kprobes_optimize();
	store(&word, 2);
	unregister_kprobe(&p);
	store(&word, 3);
	for (unsigned i = 0; i < 3; i++) {
		char args[16];
		fmt_snprintf(args, sizeof(args), " v=%u", i + 1);
		expect_line(i, "p", "store", args);
	}
	end();
}

static const struct ktap_case cases[] = {
    {"watch_hits.values", values},
    {"watch_hits.reads", reads},
    {"watch_hits.lengths", lengths},
    {"watch_hits.ports", ports},
    {"watch_hits.strings_of_ports", strings_of_ports},
    {"watch_hits.context", context},
    {"watch_hits.storm", storm},
    {"watch_hits.within_a_hit", within_a_hit},
    {"watch_hits.own_count", own_count},
    {"watch_hits.moved", moved},
    {"watch_hits.moved_on_all", moved_on_all},
    {"watch_hits.itself", itself},
    {"watch_hits.refused", refused},
    {"watch_hits.single_step", single_step},
    {"watch_hits.probed", probed},
    {NULL, NULL},
};
const struct ktap_suite suite_watch_hits = {cases};
