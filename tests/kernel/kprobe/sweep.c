/*
 * Probes everywhere: at every instruction of the text that may be probed, a batch at a time, while
 * a workload runs whose results must be those without probes; and every byte where no instruction
 * begins, or none may be probed, must be refused. Once with breakpoints; once with every fifth
 * instruction at a time, so that they do not lie under each other's jumps, and jumps wherever there
 * can be one; and at the return of every function. Of the instructions one part of SLICES in a
 * usual run, all of them with `sweep=all` on the command line (make sweep). Says how many places
 * there are of each kind.
 */
#include "arch/x86_64/probe/insn.h"
#include "arch/x86_64/probe/probe.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/random.h"
#include "kernel/base/sym.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "tests/kernel/process/run_program.h"

#define SLICES	32
#define BATCH	512
#define REASONS 16
#define TRIES	100

static struct kprobe probes[BATCH], *list[BATCH];
static unsigned n_probes;
static u64 hits, places, probed, inside, wrong, batches, jumps;
static bool jumping;

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

/* ---- the workload ---- */

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

	if (file_open("/tmp/sweep", O_RDWR | O_CREAT | O_TRUNC, 0644, &f))
		return 0;
	n = fmt_snprintf(
	    text, sizeof(text), "%5d|%-8s|%08llx|%pS", -42, "sweep", 0xabcdefULL, (void *)vfs_open);
	sum = mix(sum, &n, sizeof(n));
	kernel_write(f, text, n);
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

/*
 * Files, memory, a program with its system calls, faults and signals, sleeping: what it computes is
 * always the same.
 */
static u64 workload(void)
{
	u64 sum = use_memory(write_and_read(0xcbf29ce484222325UL));
	int status = run_program("/bin/true", NULL), other = run_program("/bin/false", NULL);

	sum = mix(sum, &status, sizeof(status));
	sum = mix(sum, &other, sizeof(other));
	sleep_ns(1000000, NULL);
	return sum;
}

/* ---- the sweep ---- */

static void count_reason(const char *why)
{
	unsigned i = 0;

	while (i < REASONS - 1 && reasons[i].why && strcmp(reasons[i].why, why))
		i++;
	reasons[i].why = why;
	reasons[i].count++;
}

static void make_jumps(void)
{
	unsigned tries = 0;

	while (!kprobes_optimize() && tries++ < TRIES)
		sleep_ns(TICK_NS, NULL);
	for (unsigned i = 0; i < n_probes; i++)
		if (probes[i].site->jump)
			jumps++;
		else
			count_reason(probes[i].site->no_jump ? probes[i].site->no_jump : "?");
}

static void run_batch(u64 expected)
{
	if (!n_probes)
		return;
	EXPECT_EQ(enable_kprobes(list, n_probes), 0);
	if (jumping)
		make_jumps();
	if (workload() != expected && !wrong++)
		ktap_note("first wrong result with probes from %llx on",
		    (unsigned long long)(u64)probes[0].addr);
	unregister_kprobes(list, n_probes);
	probed += n_probes;
	n_probes = 0;
	batches++;
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

static u64 try_all(u64 start, u64 end, u64 expected)
{
	for (u64 at = start; at < end; at++)
		try_place(at, expected);
	return end - start;
}

/* Those instructions of which `pass` is the number in their function, divided by PASSES. */
#define PASSES ARCH_JUMP_LEN
static u64 try_some(u64 start, u64 end, unsigned pass, u64 expected)
{
	u8 code[INSN_MAX + 1];
	unsigned n = 0;
	struct insn i;

	for (u64 at = start; at < end && insn_decode(&i, code, probe_read_code(at, code));
	     at += i.len)
		if (n++ % PASSES == pass)
			try_place(at, expected);
	return 0;
}

/* One time through a slice, or all. */
static u64 go_through(unsigned slice, unsigned pass, u64 expected)
{
	const char *all = cmdline_get("sweep"), *name;
	u64 start, size, last = 0, text = 0;

	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++) {
		if (start == last || (!all && i % SLICES != slice))
			continue; /* another name of the same, or not our slice */
		last = start;
		text += jumping ? try_some(start, start + size, pass, expected)
				: try_all(start, start + size, expected);
	}
	run_batch(expected);
	return text;
}

static void report(unsigned slice)
{
	bool all = cmdline_get("sweep");

	ktap_note("%s, slice %u of %u: %llu bytes of text, %llu instructions probed in %llu "
		  "batches, %llu hits",
	    all ? "all" : "a part", slice, SLICES, (unsigned long long)places,
	    (unsigned long long)probed, (unsigned long long)batches, (unsigned long long)hits);
	ktap_note("refused: %8llu inside an instruction", (unsigned long long)inside);
	for (unsigned i = 0; i < REASONS && reasons[i].why; i++)
		ktap_note(
		    "refused: %8llu %s", (unsigned long long)reasons[i].count, reasons[i].why);
}

static void begin(bool with_jumps)
{
	hits = places = probed = inside = wrong = batches = jumps = 0;
	memset(reasons, 0, sizeof(reasons));
	jumping = with_jumps;
	kprobes_optimization(with_jumps);
}

static void sweep(void)
{
	unsigned slice = random_u64() % SLICES;
	u64 expected = workload();

	begin(false);
	EXPECT_EQ(workload(), expected);
	EXPECT_EQ(go_through(slice, 0, expected), places);
	EXPECT_EQ(workload(), expected);
	EXPECT_EQ(wrong, 0);
	EXPECT(probed > 1000);
	EXPECT(hits > 100);
	report(slice);
	kprobes_optimization(true);
}

static void sweep_jumps(void)
{
	unsigned slice = random_u64() % SLICES;
	u64 expected = workload();

	begin(true);
	for (unsigned pass = 0; pass < PASSES; pass++)
		go_through(slice, pass, expected);
	EXPECT_EQ(workload(), expected);
	EXPECT_EQ(wrong, 0);
	EXPECT(jumps > 500);
	EXPECT(hits > 100);
	report(slice);
	ktap_note("jumps:   %8llu", (unsigned long long)jumps);
}

/* ---- returns ---- */

static struct kretprobe return_probes[BATCH], *return_list[BATCH];

static int on_return(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri;
	(void)r;
	atomic_add(&hits, 1);
	return 0;
}

static void run_returns(u64 expected)
{
	for (unsigned i = 0; jumping && i < TRIES && !kprobes_optimize(); i++)
		sleep_ns(TICK_NS, NULL);
	if (workload() != expected && !wrong++)
		ktap_note("first wrong result with return probes from %llx on",
		    (unsigned long long)(u64)return_probes[0].kp.addr);
	unregister_kretprobes(return_list, n_probes);
	probed += n_probes;
	n_probes = 0;
}

/* At every function that may be probed, those that tasks are switched in among them. */
static void sweep_returns_with(bool with_jumps)
{
	u64 expected = workload(), start, size, last = 0;
	const char *name;

	begin(with_jumps);
	for (unsigned i = 0; sym_nth(i, &name, &start, &size); i++) {
		struct kretprobe *rp = &return_probes[n_probes];

		if (start == last || arch_probe_refused(start))
			continue;
		last = start;
		*rp = (struct kretprobe){.kp.addr = (void *)start, .handler = on_return};
		if (register_kretprobe(rp))
			continue; /* its first instruction may not be probed */
		return_list[n_probes++] = rp;
		if (n_probes == BATCH)
			run_returns(expected);
	}
	run_returns(expected);
	EXPECT_EQ(wrong, 0);
	EXPECT(probed > 1000);
	EXPECT(hits > 100);
	ktap_note("%s: %llu return probes, %llu returns", with_jumps ? "jumps" : "breakpoints",
	    (unsigned long long)probed, (unsigned long long)hits);
}

static void sweep_returns(void)
{
	sweep_returns_with(false);
	sweep_returns_with(true);
}

static const struct ktap_case cases[] = {
    {"sweep.every_instruction", sweep},
    {"sweep.every_jump", sweep_jumps},
    {"sweep.every_return", sweep_returns},
    {NULL, NULL},
};
const struct ktap_suite suite_kprobe_sweep = {cases};
