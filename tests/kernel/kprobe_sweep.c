/*
 * Probes everywhere: at every instruction of the text that may be probed, a batch at a time, while a workload runs whose results
 * must be those without probes; and every byte where no instruction begins, or none may be probed, must be refused. One part of
 * SLICES in a usual run, all of it with `sweep=all` on the command line (make sweep). Says how many places there are of each kind.
 */
#include "kernel/cmdline.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/random.h"
#include "kernel/sym.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/run_program.h"

#define SLICES	16
#define BATCH	512
#define REASONS 16

static struct kprobe probes[BATCH], *list[BATCH];
static unsigned n_probes;
static u64 hits, places, probed, inside, wrong, batches;

static struct {
	const char *why;
	u64 count;
} reasons[REASONS];

static int on_hit(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	atomic_add(&hits, 1);
	return 0;
}

/* ---- the workload --------------------------------------------------------------------------------------------------- */

static u64 mix(u64 sum, const void *data, size_t n)
{
	const u8 *p = data;

	while (n--)
		sum = (sum ^ *p++) * 0x100000001b3UL;
	return sum;
}

static u64 write_and_read(u64 sum)
{
	char text[128];
	struct file *f;
	u64 pos = 0;
	ssize n;

	if (vfs_open("/tmp/sweep", O_RDWR | O_CREAT | O_TRUNC, 0644, &f))
		return 0;
	n = snprintf(
	    text, sizeof(text), "%5d|%-8s|%08llx|%pS", -42, "sweep", 0xabcdefULL, (void *)vfs_open);
	sum = mix(sum, &n, sizeof(n));
	vfs_write(f, text, n);
	memset(text, 0, sizeof(text));
	n = vfs_pread(f, text, sizeof(text), pos);
	file_put(f);
	sum = mix(sum, text, sizeof(text));
	n = vfs_unlink("/tmp/sweep");
	return mix(sum, &n, sizeof(n));
}

static u64 use_memory(u64 sum)
{
	void *p[32];

	for (unsigned i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = kzalloc(16 << (i % 9));
		sum = mix(sum, p[i], p[i] ? 16 : 0);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
		kfree(p[i]);
	return sum;
}

/* Files, memory, a program with its system calls, faults and signals, sleeping: what it computes is always the same. */
static u64 workload(void)
{
	u64 sum = use_memory(write_and_read(0xcbf29ce484222325UL));
	int status = run_program("/bin/true", NULL), other = run_program("/bin/false", NULL);

	sum = mix(sum, &status, sizeof(status));
	sum = mix(sum, &other, sizeof(other));
	sleep_ns(1000000, NULL);
	return sum;
}

/* ---- the sweep -------------------------------------------------------------------------------------------------------- */

static void run_batch(u64 expected)
{
	if (!n_probes)
		return;
	EXPECT_EQ(enable_kprobes(list, n_probes), 0);
	if (workload() != expected && !wrong++)
		ktap_note("first wrong result with probes from %llx on",
		    (unsigned long long)(u64)probes[0].addr);
	unregister_kprobes(list, n_probes);
	probed += n_probes;
	n_probes = 0;
	batches++;
}

static void count_reason(const char *why)
{
	unsigned i = 0;

	while (i < REASONS - 1 && reasons[i].why && reasons[i].why != why)
		i++;
	reasons[i].why = why;
	reasons[i].count++;
}

static void try_place(u64 addr, u64 expected)
{
	struct kprobe *p = &probes[n_probes];
	int err;

	*p = (struct kprobe){
	    .addr = (void *)addr, .pre_handler = on_hit, .flags = KPROBE_FLAG_DISABLED};
	err = register_kprobe(p);
	places++;
	if (!err) {
		list[n_probes++] = p;
		if (n_probes == BATCH)
			run_batch(expected);
	} else if (err == -EILSEQ) {
		inside++;
	} else if (err == -EINVAL && p->why) {
		count_reason(p->why);
	} else {
		ktap_fail(__FILE__, __LINE__, "%llx: %d", (unsigned long long)addr, err);
	}
}

static void sweep(void)
{
	const char *all = cmdline_get("sweep");
	unsigned slice = random_u64() % SLICES;
	u64 start, size, last = 0, expected = workload(), text = 0;
	const char *name;

	EXPECT_EQ(workload(), expected);
	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++) {
		if (start == last || (!all && i % SLICES != slice))
			continue; /* another name of the same, or not our slice */
		last = start;
		for (u64 at = start; at < start + size; at++)
			try_place(at, expected);
		text += size;
	}
	run_batch(expected);
	EXPECT_EQ(workload(), expected);
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(places, text);
	EXPECT(probed > 1000);
	EXPECT(hits > 1000);
	ktap_note("%s, slice %u of %u: %llu bytes of text, %llu instructions probed in %llu "
		  "batches, %llu hits",
	    all ? "all" : "a part", slice, SLICES, (unsigned long long)places,
	    (unsigned long long)probed, (unsigned long long)batches, (unsigned long long)hits);
	ktap_note("refused: %8llu inside an instruction", (unsigned long long)inside);
	for (unsigned i = 0; i < REASONS && reasons[i].why; i++)
		ktap_note(
		    "refused: %8llu %s", (unsigned long long)reasons[i].count, reasons[i].why);
}

static const struct ktap_case cases[] = {
    {"sweep.every_instruction", sweep},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_sweep = {cases};
