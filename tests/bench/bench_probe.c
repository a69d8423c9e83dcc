/* Probes: the cost of a hit whose handler does nothing. */
#include "kernel/base/panic.h"
#include "kernel/kprobe/kprobe.h"
#include "tests/bench/bench.h"

/* An instruction that is emulated at its beginning, one that runs in a copy after it. */
u64 bench_probe_target(u64 a);
__asm__(".pushsection .text.asm, \"ax\"\n.globl bench_probe_target\n.type bench_probe_target, "
	"@function\n.balign 16\nbench_probe_target:\n\t"
	"pushq %rbp\n\tleaq 1(%rdi), %rax\n\tpopq %rbp\n\tret\n.size bench_probe_target, . - "
	"bench_probe_target\n.popsection");

BENCH_ROUND(target_round, bench_probe_target(a))

/* The same without a probe: as Linux's figures are, all are less the call of the target. */
u64 bench_probe_other(u64 a);
__asm__(".pushsection .text.asm, \"ax\"\n.globl bench_probe_other\n.type bench_probe_other, "
	"@function\n.balign "
	"16\nbench_probe_other:\n\t"
	"pushq %rbp\n\tleaq 1(%rdi), %rax\n\tpopq %rbp\n\tret\n.size bench_probe_other, . - "
	"bench_probe_other\n.popsection");

BENCH_ROUND(target_alone, bench_probe_other(a))

/* One that is known by its types. */
struct bench_probe_thing {
	u64 number;
	struct bench_probe_thing *next;
};
u64 bench_probe_typed(const struct bench_probe_thing *thing, u64 count);
u64 __noipa bench_probe_typed(const struct bench_probe_thing *thing, u64 count)
{
	return thing->number + count;
}

static const struct bench_probe_thing things[2] = {{1, NULL}, {2, (void *)things}};

BENCH_ROUND(typed_round, bench_probe_typed(&things[1], a))
BENCH_ROUND(typed_alone, bench_probe_other(a))

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

static bool optimized; /* are the probes to be jumps when they are measured? */

static void measure(const char *name)
{
	const u8 *code = (const u8 *)bench_probe_target;

	kprobes_optimization(optimized);
	if (optimized && (!kprobes_optimize() || (code[0] != 0xe9 && code[1] != 0xe9)))
		panic("bench: no jump");
	bench_report(name, target_round, target_alone, BENCH_N);
}

static void run_at(const char *name, u64 offset)
{
	struct kprobe p = {
	    .symbol_name = "bench_probe_target", .offset = offset, .pre_handler = nothing};

	if (register_kprobe(&p))
		panic("bench: no probe");
	measure(name);
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
	measure(name);
	unregister_kretprobe(&rp);
}

static void measure_typed(const char *name)
{
	bench_report(name, typed_round, typed_alone, BENCH_N);
}

/* Events of probes at the same place, defined as a user does. */
static void run_event_by(
    const char *name, const char *definition, const char *filter, void (*by)(const char *name))
{
	bench_write("kprobe_events", definition);
	bench_write("events/kprobes/bench/filter", filter);
	bench_write("events/kprobes/bench/enable", "1");
	by(name);
	bench_write("events/kprobes/bench/enable", "0");
	bench_write("kprobe_events", "\n");
}

static void run_event(const char *name, const char *definition, const char *filter)
{
	run_event_by(name, definition, filter, measure);
}

/* The same values by registers and offsets, and by names. */
static void run_by_offsets(const char *name)
{
	run_event_by(
	    name, "p:bench bench_probe_typed c=%si:u64 n=+0(+8(%di)):u64", "0", measure_typed);
}

static void run_by_names(const char *name)
{
	run_event_by(
	    name, "p:bench bench_probe_typed c=count n=thing->next->number", "0", measure_typed);
}

static void run_two_regs(const char *name)
{
	run_event(name, "p:bench bench_probe_target+1 %di %si", "0");
}

static void run_filter_false(const char *name)
{
	run_event(name, "p:bench bench_probe_target+1 %di %si", "arg1 == 123456");
}

static void run_retval(const char *name)
{
	run_event(name, "r:bench bench_probe_target $retval", "0");
}

static void run_jump(const char *name)
{
	optimized = true;
	run_at(name, 1);
	optimized = false;
}

static void run_jump_two_regs(const char *name)
{
	optimized = true;
	run_two_regs(name);
	optimized = false;
}

static void run_jump_retval(const char *name)
{
	optimized = true;
	run_retval(name);
	optimized = false;
}

static u64 bench_op(const char *file, const char *text)
{
	u64 start = cycles();

	bench_write(file, text);
	return (cycles() - start) * 10;
}

static void run_define(const char *name)
{
	bench_value(name, bench_op("kprobe_events", "p:bench bench_probe_target+1"), "insn");
	bench_value("op.kprobe_enable", bench_op("events/kprobes/bench/enable", "1"), "insn");
	bench_value("op.kprobe_disable", bench_op("events/kprobes/bench/enable", "0"), "insn");
	bench_value("op.kprobe_delete", bench_op("kprobe_events", "\n"), "insn");
}

static void run_define_names(const char *name)
{
	/* The first hook makes tables, and the first name has the section of types checked. */
	bench_write("kprobe_events", "p:bench vfs_read file");
	bench_write("kprobe_events", "\n");
	bench_value(name, bench_op("kprobe_events", "p:bench vfs_read file count"), "insn");
	bench_write("kprobe_events", "\n");
	bench_value("op.kprobe_define_chain",
	    bench_op("kprobe_events", "p:bench vfs_read n=file->vnode->parent->size"), "insn");
	bench_write("kprobe_events", "\n");
}

const struct bench bench_probe[] = {
    {"kp.noop.int3_emulated", run_emulated},
    {"kp.noop.int3_boost", run_copied},
    {"krp.noop.int3", run_return},
    {"kpe.int3.2regs", run_two_regs},
    {"kpe.int3.2regs.filter_false", run_filter_false},
    {"kre.int3.retval", run_retval},
    {"kp.noop.jump_opt", run_jump},
    {"kpe.jump_opt.2regs", run_jump_two_regs},
    {"kre.jump_opt.retval", run_jump_retval},
    {"kpe.hook.offsets", run_by_offsets},
    {"kpe.hook.names", run_by_names},
    {"op.kprobe_define", run_define},
    {"op.kprobe_define_names", run_define_names},
    {NULL, NULL},
};
