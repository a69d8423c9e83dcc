/*
 * Ring-3 programs: those of /test and /bin from the archive, and the glibc one when an -initrd
 * brought it.
 */
#include "kernel/abi/eventheader.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "tests/kernel/process/run_program.h"
#include "tests/kernel/threads.h"
#include "tests/unit/trace/tools.h"
#include "trace/event/array.h"
#include "trace/host_user.h"

static void files(void)
{
	EXPECT_EQ(run_program("/test/files", NULL), 0);
}

static void pipes(void)
{
	EXPECT_EQ(run_program("/test/pipes", NULL), 0);
}

static void clib(void)
{
	EXPECT_EQ(run_program("/test/clib", NULL), 0);
}

static void commands(void)
{
	struct vstat st;

	if (vfs_stat("/bin/sh", true, &st))
		ktap_skip("built without a shell");
	else
		EXPECT_EQ(run_program("/test/commands", NULL), 0);
}

static void entry(void)
{
	EXPECT_EQ(run_program("/test/entry", NULL), 0);
}

static void fpu(void)
{
	EXPECT_EQ(run_program("/test/fpu", NULL), 0);
}

static void sysdata(void)
{
	EXPECT_EQ(run_program("/test/sysdata", NULL), 0);
}

static void userstack(void)
{
	EXPECT_EQ(run_program("/test/userstack", NULL), 0);
}

static void splice(void)
{
	EXPECT_EQ(run_program("/test/splice", NULL), 0);
}

static void rawmap_once(void)
{
	EXPECT_EQ(run_program("/test/rawmap", NULL), 0);
	EXPECT_EQ(trace_global->mapped, 0);
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
		EXPECT_EQ(ring_buffer_map_pages(trace_global->buffer, cpu), 0);
}

static u64 pages_left_by(void (*fn)(void))
{
	fn();
	trace_fresh(); /* events that are gone are kept while a ring has records of them */
	return settled_free_pages();
}

static void return_at_once(void *unused)
{
	(void)unused;
}

/*
 * Pages of the table of process numbers: one per 512, until all have been used once. How many of
 * them the programs of a test use depends on how fast the machine is.
 */
static u64 pages_of_numbers(void)
{
	static u64 most;
	struct threads t = {0};

	thread_start(&t, return_at_once, NULL, -1);
	most = MAX(most, t.pid[0] / 512UL);
	threads_join(&t);
	return most;
}

/*
 * A run of fn leaves no pages behind. Caches and the table of event types may grow in one run or
 * another; a leak shows in every run.
 */
static bool gives_pages_back(void (*fn)(void))
{
	u64 before = pages_left_by(fn) + pages_of_numbers(), after;
	bool back = false;

	for (unsigned run = 0; run < 4 && !back; run++, before = after) {
		after = pages_left_by(fn) + pages_of_numbers();
		back = after + 3 >= before;
	}
	return back;
}

static void rawmap(void)
{
	EXPECT(gives_pages_back(rawmap_once));
}

static void eventheader(void)
{
	EXPECT_EQ(run_program("/test/eventheader", NULL), 0);
}

static void user_events(void)
{
	EXPECT_EQ(run_program("/test/uevents", NULL), 0);
}

static u32 changing; /* [A] */

static void change_user_events(void *unused)
{
	(void)unused;
	while (atomic_load(&changing)) {
		host_user_events_changed();
		sleep_ns(20000, NULL); /* else the first task that settles would never finish */
	}
}

/*
 * The same program while user events change without end. Each task that gives the control lock up
 * sets words, and so does a fork, which counts the events of its words.
 */
static void user_events_that_change(void)
{
	struct threads t = {0};

	atomic_store(&changing, 1);
	thread_start(&t, change_user_events, NULL, (int)cpu_count() - 1);
	EXPECT_EQ(run_program("/test/uevents", NULL), 0);
	atomic_store(&changing, 0);
	threads_join(&t);
}

static void user_events_addresses(void)
{
	trace_fresh();
	EXPECT_EQ(run_program("/test/uevaddr", NULL), 0);
}

/*
 * Two tasks with 100,000 calls each, in each of the two runs of these tests; more:
 * tests/tests.mk, hostile.
 */
static void hostile(void)
{
	EXPECT_EQ(run_program("/test/hostile", "100"), 0);
}

/* Of the kernel's own code and constants. */
static u64 kernel_sum(void)
{
	extern char __text_start[], __rodata_end[];
	u64 sum = 0;

	for (const u64 *p = (const u64 *)__text_start; p + 1 <= (const u64 *)__rodata_end; p++)
		sum = (sum << 1 | sum >> 63) ^ *p;
	return sum;
}

/*
 * Threads that change the memory which the calls of others read. Some of their pointers lead to a
 * page of the kernel, which must stay as it is. `rounds=N` on the command line: as many thousands
 * of calls from each of six threads (1).
 */
static void sharing(void)
{
	enum { PATTERN = 0x5a };
	u64 sum = kernel_sum(), pa = page_alloc(0, false);
	u8 *page = phys_to_virt(pa);
	char arg[40];

	memset(page, PATTERN, PAGE_SIZE);
	fmt_snprintf(arg, sizeof(arg), "%lu@%lx", cmdline_u64("rounds", 1), (u64)page);
	EXPECT_EQ(run_program("/test/sharing", arg), 0);
	EXPECT_EQ(kernel_sum(), sum);
	for (unsigned i = 0; i < PAGE_SIZE; i++)
		if (page[i] != PATTERN) {
			ktap_fail(__FILE__, __LINE__, "byte %u is %02x", i, page[i]);
			break;
		}
	page_free(pa, 0);
}

/* Programs that are killed in the middle of anything; more: tests/tests.mk, deaths. */
static void deaths_once(void)
{
	EXPECT_EQ(run_program("/test/deaths", "25"), 0);
}

static void deaths(void)
{
	EXPECT(gives_pages_back(deaths_once));
}

/* A call that fails half-way gives all back. */
static void leaks_once(void)
{
	EXPECT_EQ(run_program("/test/leaks", NULL), 0);
}

static void leaks(void)
{
	EXPECT(gives_pages_back(leaks_once));
}

static void samples(void)
{
	EXPECT_EQ(run_program("/bin/true", NULL), 0);
	EXPECT_EQ(run_program("/bin/false", NULL), 1);
	EXPECT_EQ(run_program("/bin/hello", NULL), 0);
	EXPECT_EQ(run_program("/bin/mkdir", NULL), 1); /* nothing to make */
}

static void from_initrd(const char *path)
{
	struct vstat st;

	if (vfs_stat(path, true, &st))
		ktap_skip("no -initrd with it");
	else
		EXPECT_EQ(run_program(path, NULL), 0);
}

static void glibc(void)
{
	from_initrd("/initrd/glibc");
}

static void dynamic(void)
{
	from_initrd("/initrd/dynamic");
}

static void glibc_uev_bit(void)
{
	from_initrd("/initrd/uev_bit");
}

static void glibc_uev_word(void)
{
	from_initrd("/initrd/uev_word");
}

/*
 * The sample of EventHeader events, built for Linux: what it writes to a tracepoint that is there
 * and switched on before it.
 */
static void glibc_eventheader(void)
{
	struct vstat st;

	if (vfs_stat("/initrd/eh_sample", true, &st)) {
		ktap_skip("no -initrd with it");
		return;
	}
	trace_fresh();
	EXPECT_EQ(trace_append("dynamic_events", "u:Trapline_Sample_L4K1 " EVENTHEADER_FIELDS), 0);
	EXPECT_EQ(trace_put("events/user_events/Trapline_Sample_L4K1/enable", "1"), 0);
	EXPECT_EQ(run_program("/initrd/eh_sample", "-n"), 0);
	EXPECT(strstr(trace_nth_event(4), ": Trapline_Sample:Served [level=4 keyword=0x1 id=7 "));
	EXPECT(strstr(trace_nth_event(4), "] bytes=512 seconds=0.25 cached=true"));
	EXPECT_EQ(trace_put("events/user_events/Trapline_Sample_L4K1/enable", "0"), 0);
	EXPECT_EQ(trace_append("dynamic_events", "!u:Trapline_Sample_L4K1"), 0);
	trace_fresh();
}

static const struct ktap_case cases[] = {
    {"ring3.files", files},
    {"ring3.pipes", pipes},
    {"ring3.clib", clib},
    {"ring3.commands", commands},
    {"ring3.entry", entry},
    {"ring3.fpu", fpu},
    {"ring3.userstack", userstack},
    {"ring3.sysdata", sysdata},
    {"ring3.splice", splice},
    {"ring3.rawmap", rawmap},
    {"ring3.eventheader", eventheader},
    {"ring3.user_events", user_events},
    {"ring3.user_events_that_change", user_events_that_change},
    {"ring3.user_events_addresses", user_events_addresses},
    {"ring3.hostile", hostile},
    {"ring3.sharing", sharing},
    {"ring3.deaths", deaths},
    {"ring3.leaks", leaks},
    {"ring3.samples", samples},
    {"ring3.glibc", glibc},
    {"ring3.dynamic", dynamic},
    {"ring3.glibc_uev_bit", glibc_uev_bit},
    {"ring3.glibc_uev_word", glibc_uev_word},
    {"ring3.glibc_eventheader", glibc_eventheader},
    {NULL, NULL},
};
const struct ktap_suite suite_programs = {cases};
