/*
 * The tracer under load on the host: an event fires on three CPUs, in tasks, interrupts and NMIs,
 * while the first one does everything that may be done to the buffers meanwhile. Then every hit
 * must be accounted for, and every line read must be whole. And: each allocation of what can run
 * out of memory fails once.
 */
#include <stdatomic.h>
#include <x86intrin.h>

#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "tests/host/machine.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/snapshot.h"
#include "trace/host_context.h"

#define STEPS 300
#define PAUSE 300 /* turns between two hits, so that others get in */

static atomic_bool firing;
static atomic_ulong fired, taken;
static u64 seed;

static u32 random_below(u32 n)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (seed >> 33) % n;
}

static void fire(void)
{
	u32 n = atomic_fetch_add(&fired, 1) & 0x7fffffff;

	trace_unit_numbers(0, 0, (s32)n, ~(u64)n);
}

static void firing_task(void *unused)
{
	(void)unused;
	while (atomic_load(&firing)) {
		fire();
		for (volatile unsigned i = 0; i < PAUSE; i++)
			;
	}
}

/* Snapshots, too, are taken from anywhere. */
static void interrupt(void)
{
	struct host_context ctx;

	fire();
	host_enter(&ctx);
	if (trace_snapshot_take(trace_global, &ctx))
		atomic_fetch_add(&taken, 1);
	host_preempt_enable();
	fire();
}

static void begin(void)
{
	trace_fresh();
	seed = __rdtsc();
	ktap_note("seed %lu", seed);
	EXPECT_EQ(trace_put("buffer_size_kb", "40"), 0);
	EXPECT_EQ(trace_put("events/unit/unit_numbers/enable", "1"), 0);
	machine_handlers(interrupt, interrupt);
	atomic_store(&fired, 0);
	atomic_store(&taken, 0);
	atomic_store(&firing, true);
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_run(cpu, firing_task, NULL);
}

static void disturb(void)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned cpu = 1 + random_below(HOST_CPUS - 1);

		if (random_below(2))
			machine_irq(cpu);
		else
			machine_nmi(cpu);
	}
}

static void end(void)
{
	atomic_store(&firing, false);
	for (unsigned cpu = 1; cpu < HOST_CPUS; cpu++)
		machine_join(cpu);
	machine_handlers(NULL, NULL);
}

/* "... c=N d=~N": what one writer wrote. */
static void check_lines(const char *text)
{
	for (const char *at = text; (at = strstr(at, ": unit_numbers: "));) {
		const char *c = strstr(at, " c="), *d = strstr(at, " d="), *end;
		if (!c || !d || !strchr(d, '\n'))
			return;
		EXPECT_EQ(~parse_digits(c + 3, &end, 10), parse_digits(d + 3, &end, 10));
		at = d;
	}
}

static void read_pipe(void)
{
	static char text[4097];
	struct tracefs_node node;
	struct tracefs_file *f;
	u64 pos = 0;
	ssize n;

	EXPECT_EQ(trace_walk("trace_pipe", &node), 0);
	EXPECT_EQ(tracefs_open(&node, TRACEFS_READ | TRACEFS_NONBLOCK, &f), 0);
	n = tracefs_read(f, text, 4096, &pos);
	tracefs_release(f);
	text[n > 0 ? n : 0] = '\0';
	check_lines(text);
}

/* Says what the ledger says, if it is not balanced. */
static void check_ledger(void)
{
	const char *text = trace_get("trace_ledger", NULL);

	if (strstr(text, "\nbalanced\n"))
		return;
	EXPECT(!"balanced");
	while (*text) {
		size_t n = strcspn(text, "\n");
		ktap_note("%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void step(void)
{
	struct host_context ctx;

	switch (random_below(12)) {
	case 0:
		EXPECT_EQ(trace_put("trace", ""), 0);
		break;
	case 1:
		EXPECT_EQ(trace_put("buffer_size_kb", random_below(2) ? "8" : "40"), 0);
		break;
	case 2:
		EXPECT_EQ(trace_put("snapshot", "0"), 0);
		break;
	case 3:
		EXPECT_EQ(trace_put("snapshot", "1"), 0);
		break;
	case 4:
		EXPECT_EQ(trace_put("per_cpu/cpu1/snapshot", "2"), 0);
		break;
	case 5:
		read_pipe();
		break;
	case 6:
		check_lines(trace_get("trace", NULL));
		break;
	case 7:
		check_lines(trace_get("snapshot", NULL));
		break;
	case 8:
		EXPECT_EQ(trace_put("options/overwrite", random_below(2) ? "0" : "1"), 0);
		break;
	case 9:
		EXPECT_EQ(trace_put("tracing_on", random_below(2) ? "0" : "1"), 0);
		break;
	case 10:
		EXPECT_EQ(trace_put("per_cpu/cpu2/trace", ""), 0);
		break;
	default:
		host_enter(&ctx);
		trace_snapshot_take(trace_global, &ctx);
		host_preempt_enable();
	}
}

static s64 hits(void)
{
	const char *at = strstr(trace_get("trace_ledger", NULL), "\nunit:unit_numbers: hits "),
		   *end;

	return at ? (s64)parse_digits(at + strlen("\nunit:unit_numbers: hits "), &end, 10) : 0;
}

static void buffers(void)
{
	s64 before;

	trace_fresh();
	before = hits();
	begin();
	/* On a busy host interrupts find no snapshot for a while: go on until one was taken. */
	for (unsigned i = 0; i < STEPS || (!atomic_load(&taken) && i < 100 * STEPS); i++) {
		disturb();
		step();
		if (i % 10 == 0)
			check_ledger();
	}
	end();
	check_ledger();
	EXPECT_EQ(hits() - before, atomic_load(&fired));
	EXPECT(atomic_load(&taken) > 0);
	ktap_note("%lu hits, %lu snapshots taken in interrupts, %lu missed in all",
	    atomic_load(&fired), atomic_load(&taken), trace_global->snapshot_missed);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	trace_fresh();
}

/* Made, switched on, read and removed while it is hit everywhere. */
static void instances(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++) {
		EXPECT_EQ(trace_make_instance("i"), 0);
		EXPECT_EQ(trace_make_instance("j"), 0);
		EXPECT_EQ(trace_put("instances/i/events/unit/enable", "1"), 0);
		EXPECT_EQ(trace_put("instances/j/events/enable", "1"), 0);
		disturb();
		EXPECT_EQ(trace_put("instances/j/events/unit/unit_numbers/enable", "0"), 0);
		EXPECT_EQ(trace_put("instances/j/events/unit/unit_numbers/enable", "1"), 0);
		if (i % 10 == 0) {
			check_lines(trace_get("instances/j/trace", NULL));
			EXPECT(strstr(trace_get("instances/i/trace_ledger", NULL), "\nbalanced\n"));
		}
		EXPECT_EQ(trace_drop_instance(i % 2 ? "i" : "j"), 0);
		disturb();
		EXPECT_EQ(trace_drop_instance(i % 2 ? "j" : "i"), 0);
	}
	end();
	check_ledger();
	trace_fresh();
}

/* What needs memory; and its undoing. */
static int make_it(void)
{
	return trace_make_instance("i");
}

static int drop_it(void)
{
	return trace_drop_instance("i");
}

static int take_snapshot(void)
{
	return trace_put("snapshot", "1");
}

static int free_snapshot(void)
{
	return trace_put("snapshot", "0");
}

static int enlarge(void)
{
	return trace_put("buffer_size_kb", "80");
}

static int shrink(void)
{
	return trace_put("buffer_size_kb", "40");
}

static int read_file(const char *path)
{
	int err;

	trace_get(path, &err);
	return err;
}

static int read_trace(void)
{
	return read_file("trace");
}

static int read_ledger(void)
{
	return read_file("trace_ledger");
}

static int nothing(void)
{
	return 0;
}

/*
 * The first hundred allocations one by one, of those after (sub-buffers, mostly) some. Each time
 * nothing has happened.
 */
static void each_fails(const char *what, int (*fn)(void), int (*undo)(void))
{
	unsigned n = 0;
	int err;

	do {
		n += n < 100 ? 1 : 37;
		machine_fail_alloc(n);
		err = fn();
		machine_fail_alloc(0);
		if (err && err != -ENOMEM)
			ktap_note("%s, allocation %u", what, n);
		EXPECT(!err || err == -ENOMEM);
		check_ledger();
	} while (err == -ENOMEM);
	EXPECT(n > 1);
	EXPECT_EQ(undo(), 0);
	EXPECT_EQ(fn(), 0);
	EXPECT_EQ(undo(), 0);
}

static void no_memory(void)
{
	trace_fresh();
	EXPECT_EQ(trace_put("buffer_size_kb", "40"), 0);
	each_fails("mkdir", make_it, drop_it);
	each_fails("snapshot", take_snapshot, free_snapshot);
	each_fails("trace", read_trace, nothing);
	each_fails("trace_ledger", read_ledger, nothing);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	machine_fail_alloc(5);
	EXPECT_EQ(enlarge(), -ENOMEM);
	machine_fail_alloc(0);
	EXPECT_STR(trace_get("buffer_size_kb", NULL), "43\n");
	EXPECT_EQ(ring_buffer_size(trace_global->snapshot, 0), 11 * RB_PAGE_DATA);
	each_fails("buffer_size_kb", enlarge, shrink);
	EXPECT_EQ(trace_put("snapshot", "1"), 0);
	EXPECT_EQ(trace_put("snapshot", "0"), 0);
	EXPECT_EQ(trace_make_instance("i"), 0);
	each_fails("rmdir", drop_it, make_it);
	EXPECT_EQ(trace_drop_instance("i"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"trace_stress.buffers", buffers},
    {"trace_stress.instances", instances},
    {"trace_stress.no_memory", no_memory},
    {NULL, NULL},
};
const struct ktap_suite suite_trace_stress = {cases};
