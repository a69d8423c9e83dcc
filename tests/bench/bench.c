/*
 * Runs the measurements named on the command line (bench=all or a prefix) and prints a row each.
 * Task context.
 */
#include "kernel/base/cmdline.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/init.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/process/process.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/console/tty.h"
#include "tests/bench/bench.h"
#include "tests/kernel/process/run_program.h"

static void out(const char *fmt, ...) __printf(1, 2);
static void out(const char *fmt, ...)
{
	char line[160];
	va_list ap;

	va_start(ap, fmt);
	int n = fmt_vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	console_write(line, MIN((size_t)n, sizeof(line) - 1));
}

/* The TSC goes by the host's clock ("hosttime" says so), not by instructions. */
static bool by_clock;

BENCH_ROUND(empty_round, )

u64 bench_empty(unsigned n)
{
	return empty_round(n);
}

void bench_value(const char *name, u64 tenths, const char *unit)
{
	out("bench %s %llu.%llu %s\n", name, (unsigned long long)tenths / 10,
	    (unsigned long long)tenths % 10, unit);
}

u64 bench_median(bench_round round, unsigned n)
{
	u64 v[BENCH_ROUNDS_NS];
	unsigned rounds = by_clock ? BENCH_ROUNDS_NS : BENCH_ROUNDS;

	round(n / 10 + 1); /* once unmeasured: translated, and the pages it writes are there */
	for (unsigned i = 0; i < rounds; i++) {
		u64 flags = irq_save();
		u64 t = round(n);
		irq_restore(flags);
		unsigned j = i;
		for (; j > 0 && v[j - 1] > t; j--)
			v[j] = v[j - 1];
		v[j] = t;
	}
	return v[rounds / 2];
}

void bench_report(const char *name, bench_round round, bench_round baseline, unsigned n)
{
	u64 t, base;

	if (by_clock)
		n /= 5;
	t = bench_median(round, n);
	base = baseline ? bench_median(baseline, n) : 0;
	t = t > base ? t - base : 0;
	if (by_clock)
		bench_value(name, t * 10000000 / clock_info()->tsc_khz / n, "ns");
	else
		bench_value(name, t * 10 / n, "insn");
}

void bench_write(const char *file, const char *text)
{
	char path[128];
	struct file *f;

	fmt_snprintf(path, sizeof(path), "/sys/kernel/tracing/%s", file);
	if (file_open(path, O_WRONLY | O_TRUNC, 0, &f))
		panic("bench: cannot open %s", path);
	if (kernel_write(f, text, strlen(text)) < 0)
		panic("bench: %s refuses %s", path, text);
	file_put(f);
}

static void run_table(const struct bench *table, const char *pattern)
{
	for (; table->name; table++)
		if (!strcmp(pattern, "all") || str_has_prefix(table->name, pattern))
			table->run(table->name);
}

static void calibrate(void)
{
	/*
	 * If this is not a whole small number of instructions, the scale is wrong and nothing below
	 * means anything.
	 */
	bench_report("cal.loop", empty_round, NULL, BENCH_N);
}

/* The ring-3 half: programs that print rows of their own, all of which begin alike. */
static const struct {
	const char *rows, *program;
} programs[] = {
    {"sys.", "/test/bench_sys"},
    {"ue.", "/test/bench_uev"},
    {"file.", "/test/bench_files"},
    {"eh.", "/test/bench_eh"},
    {"proc.", "/test/bench_proc"},
};

static void run_ring3(const char *pattern)
{
	for (unsigned i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(pattern, "all") || str_has_prefix(programs[i].rows, pattern))
			if (run_program(programs[i].program, NULL))
				panic("bench: %s failed", programs[i].program);
}

static void bench_main(void *arg)
{
	const char *pattern = arg;

	while (!tty_ready_ns())
		sleep_ns(1000000, NULL);
	bench_value("boot.to_shell", init_shell_ns() * 10, "insn");
	bench_value("boot.shell_to_prompt", (tty_ready_ns() - init_shell_ns()) * 10, "insn");
	bench_value("boot.to_prompt", tty_ready_ns() * 10, "insn");
	by_clock = cmdline_flag("hosttime");
	bench_events_register();
	calibrate();
	run_table(bench_trace, pattern);
	run_table(bench_trigger, pattern);
	run_table(bench_kinds, pattern);
	run_table(bench_ring, pattern);
	run_table(bench_task, pattern);
	run_table(bench_mem, pattern);
	run_table(bench_probe, pattern);
	run_table(bench_function, pattern);
	run_table(bench_latency, pattern);
	run_table(bench_hist, pattern);
	run_table(bench_files, pattern);
	run_ring3(pattern);
	run_table(bench_growth, pattern); /* what it makes so many of is in the others' way */
	machine_exit(0);
}

/* On CPU 0: the rings that are filled and emptied are its. */
void bench_start(const char *pattern)
{
	if (!kthread_run(bench_main, (void *)pattern, 0, "bench"))
		panic("bench: no thread to run on");
}
