/*
 * Services of kernel/trace/host.c: the flags of a record in each context, memory that is kept for
 * programs, work on other CPUs, and who waits for the control lock.
 */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/timer.h"
#include "kernel/trace/tracing.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/host_cpus.h"
#include "trace/host_lock.h"
#include "trace/host_memory.h"
#include "trace/host_system.h"

#define PATIENCE_NS 60000000000UL /* ends a case that waits for what does not come */
#define DEEP	    20

/* ---- contexts ---- */

static void record(void)
{
	trace_unit_numbers(1, 2, 3, 4);
}

static u32 fired; /* [A] */

static void record_in_irq(struct timer *t)
{
	(void)t;
	record();
	atomic_store(&fired, 1);
}

static u32 nmis; /* [A] */

static bool record_in_nmi(struct regs *r)
{
	(void)r;
	if (!atomic_xchg(&nmis, 1))
		record();
	return true;
}

/* Expects that the only record of the trace has these flags, but for a wish to reschedule. */
static void expect_flags(char irqs, const char *context)
{
	const char *line = trace_nth(0);

	/* "[000] d.h1. ..." */
	EXPECT_EQ(line[6], irqs);
	EXPECT_EQ(line[8], context[0]);
	EXPECT_EQ(line[9], context[1]);
	EXPECT_STR(trace_nth(1), "");
	EXPECT_EQ(trace_put("trace", ""), 0);
}

static void contexts(void)
{
	struct timer timer;
	u64 flags;

	trace_fresh();
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	record();
	expect_flags('.', "..");
	flags = irq_save();
	record();
	irq_restore(flags);
	expect_flags('d', "..");
	for (unsigned depth = 1; depth <= DEEP; depth++) {
		char wanted[3] = {'.',
		    depth < 10	 ? '0' + depth
		    : depth < 16 ? 'a' + depth - 10
				 : 'f',
		    0};

		for (unsigned i = 0; i < depth; i++)
			preempt_disable();
		record();
		for (unsigned i = 0; i < depth; i++)
			preempt_enable();
		expect_flags('.', wanted);
	}
	fired = 0;
	timer_setup(&timer, record_in_irq);
	timer_start(&timer, clock_ns() + 100000);
	while (!atomic_load(&fired)) /* the timer may interrupt this */
		cpu_relax();
	timer_cancel(&timer);
	expect_flags('d', "h.");
	nmis = 0;
	EXPECT_EQ(nmi_handler_add(record_in_nmi), 0);
	nmi_send(cpu_id());
	while (!atomic_load(&nmis))
		cpu_relax();
	nmi_handler_remove(record_in_nmi);
	expect_flags('d', "Z.");
	trace_fresh();
}

/* ---- memory ---- */

static void memory_kept(void)
{
	u64 free = page_free_count() * PAGE_SIZE;

	EXPECT_EQ(host_memory_check("a test", 0), 0);
	EXPECT_EQ(host_memory_check("a test", free), -ENOMEM);
	EXPECT_EQ(host_memory_check("a test", free + PAGE_SIZE), -ENOMEM);
	EXPECT_EQ(host_memory_check("a test", 1UL << 63), -ENOMEM);
	EXPECT_EQ(host_memory_check("a test", -1UL), -ENOMEM);
}

/* ---- other CPUs ---- */

static void note_cpu(void *cpu)
{
	EXPECT(!irqs_enabled());
	*(unsigned *)cpu = cpu_id();
}

static void quiet_cpu(void)
{
	u64 allowed = current()->cpus_allowed;

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		unsigned ran_on = MAX_CPUS;

		host_on_quiet_cpu(cpu, note_cpu, &ran_on);
		EXPECT_EQ(ran_on, cpu);
		EXPECT(irqs_enabled());
		EXPECT_EQ(current()->cpus_allowed, allowed);
	}
}

static void groups(void)
{
	EXPECT_EQ(host_tgid(current()->pid), current()->tgid);
	EXPECT_EQ(host_tgid(current()->pid + 1), 0);
}

/* ---- the control lock ---- */

static u32 tries, done; /* [A] */

static bool third_time(void)
{
	if (atomic_add(&tries, 1) < 3)
		return false;
	atomic_store(&done, 1);
	return true;
}

/* While the lock is held, and until the function is content, it is tried again. */
static void soon(void)
{
	u64 end = clock_ns() + PATIENCE_NS;

	tries = done = 0;
	host_lock();
	host_lock_soon(third_time);
	sleep_ns(5000000, NULL);
	EXPECT_EQ(atomic_load(&tries), 0);
	host_unlock();
	while (!atomic_load(&done) && clock_ns() < end)
		sleep_ns(1000000, NULL);
	EXPECT_EQ(atomic_load(&tries), 3);
}

static void dumps(void)
{
	trace_fresh();
	EXPECT(trace_glue_dump());
	EXPECT(trace_glue_dump());
	host_lock();
	EXPECT(!trace_glue_dump());
	host_unlock();
	trace_fresh();
}

/* ---- files ---- */

/* The beginning of the file of that path below tracefs. */
static const char *beginning(const char *path)
{
	static char text[128];
	char whole[192];
	struct file *f;
	ssize n;

	fmt_snprintf(whole, sizeof(whole), "/sys/kernel/tracing/%s", path);
	if (file_open(whole, O_RDONLY, 0, &f))
		return "";
	n = kernel_read(f, text, sizeof(text) - 1);
	text[MAX(n, (ssize)0)] = '\0';
	file_put(f);
	return text;
}

/* Files of one name in hundreds of directories: each path leads to its own. */
static void same_names(void)
{
	char *list = kstrdup(trace_get("available_events", NULL)), *rest = list, *event;
	unsigned count = 0;

	while ((event = rest) && *event) {
		char path[160], wanted[96];
		char *end = strchr(event, '\n'), *name = strchr(event, ':');

		rest = end ? end + 1 : NULL;
		if (!end || !name || name > end)
			break;
		*end = *name++ = '\0';
		fmt_snprintf(path, sizeof(path), "events/%s/%s/format", event, name);
		size_t len = fmt_snprintf(wanted, sizeof(wanted), "name: %s\n", name);
		if (strncmp(beginning(path), wanted, len))
			ktap_fail(__FILE__, __LINE__, "%s: %s", path, beginning(path));
		count++;
	}
	kfree(list);
	EXPECT(count > 100);
}

static const struct ktap_case cases[] = {
    {"trace_services.contexts", contexts},
    {"trace_services.memory_kept", memory_kept},
    {"trace_services.quiet_cpu", quiet_cpu},
    {"trace_services.groups", groups},
    {"trace_services.soon", soon},
    {"trace_services.dumps", dumps},
    {"trace_services.same_names", same_names},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_services = {cases};
