/* Probes: what a hit costs, with nothing to do. The target is called in the empty loop, too. */
#include "kernel/kprobe.h"
#include "kernel/panic.h"
#include "tests/bench/bench.h"

/* An instruction that is emulated at its beginning, one that runs in a copy behind it. */
u64 bench_probe_target(u64 a);
__asm__(".pushsection .text\n.globl bench_probe_target\n.type bench_probe_target, "
	"@function\n.balign 16\nbench_probe_target:\n\t"
	"pushq %rbp\n\tleaq 1(%rdi), %rax\n\tpopq %rbp\n\tret\n.size bench_probe_target, . - "
	"bench_probe_target\n.popsection");

BENCH_ROUND(target_round, bench_probe_target(a))

static int nothing(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	return 0;
}

static int nothing_returned(struct kretprobe_instance *ri, struct regs *r)
{
	(void)ri;
	(void)r;
	return 0;
}

static void run_at(const char *name, u64 offset)
{
	struct kprobe p = {
	    .symbol_name = "bench_probe_target", .offset = offset, .pre_handler = nothing};

	if (register_kprobe(&p))
		panic("bench: no probe");
	bench_report(name, target_round, bench_empty, BENCH_N);
	unregister_kprobe(&p);
}

static void run_emulated(const char *name)
{
	run_at(name, 0);
}

static void run_copied(const char *name)
{
	run_at(name, 1);
}

static void run_return(const char *name)
{
	struct kretprobe rp = {.kp.symbol_name = "bench_probe_target", .handler = nothing_returned};

	if (register_kretprobe(&rp))
		panic("bench: no probe");
	bench_report(name, target_round, bench_empty, BENCH_N);
	unregister_kretprobe(&rp);
}

const struct bench bench_probe[] = {
    {"kp.noop.int3_emulated", run_emulated},
    {"kp.noop.int3_boost", run_copied},
    {"krp.noop.int3", run_return},
    {NULL, NULL},
};
