/*
 * No byte of a program is read twice: between two reads another task could have changed it. Probes
 * on all functions that read user memory note what the call of write(), writev() or ioctl() that is
 * under way has read, or the event of a system call before its handler runs; a range that meets an
 * earlier one is a second read. Handlers run with interrupts off on the caller's CPU, and a task's
 * row is its own while its call lasts.
 */
#include "arch/arch.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/ktap.h"
#include "kernel/task/task.h"
#include "tests/kernel/process/run_program.h"
#include "tests/unit/trace/tools.h"

#define CALLS  16  /* under way at once */
#define RANGES 128 /* reads of one call */

struct call {
	const struct task *task; /* [A] NULL: free */
	u32 count;
	struct {
		u64 from, to;
	} range[RANGES];
};

static struct call calls[CALLS];
static u64 reads, twice, crowded; /* [A] */

static struct call *call_of(const struct task *task)
{
	for (unsigned i = 0; i < CALLS; i++)
		if (atomic_load(&calls[i].task) == task)
			return &calls[i];
	return NULL;
}

static void call_begin(void)
{
	for (unsigned i = 0; i < CALLS; i++) {
		if (atomic_cas(&calls[i].task, NULL, current_task())) {
			calls[i].count = 0;
			return;
		}
	}
	atomic_add(&crowded, 1);
}

static void call_end(void)
{
	struct call *c = call_of(current_task());

	if (c)
		atomic_store(&c->task, NULL);
}

static void note_read(u64 from, u64 size)
{
	struct call *c = call_of(current_task());

	if (!c || !size)
		return;
	atomic_add(&reads, 1);
	for (u32 i = 0; i < c->count; i++)
		if (from < c->range[i].to && c->range[i].from < from + size)
			atomic_add(&twice, 1);
	if (c->count == RANGES) {
		atomic_add(&crowded, 1);
		return;
	}
	c->range[c->count].from = from;
	c->range[c->count++].to = from + size;
}

static int on_call(struct kretprobe_instance *ri __maybe_unused, struct regs *r __maybe_unused)
{
	call_begin();
	return 0;
}

static int on_call_end(struct kretprobe_instance *ri __maybe_unused, struct regs *r __maybe_unused)
{
	call_end();
	return 0;
}

/* (dst, src, size) */
static int on_copy(struct kprobe *p __maybe_unused, struct regs *r)
{
	note_read(r->rsi, r->rdx);
	return 0;
}

/* How much these read is known when they have: (dst, src, size). */
static int on_part(struct kretprobe_instance *ri, struct regs *r)
{
	((u64 *)ri->data)[0] = r->rsi;
	((u64 *)ri->data)[1] = r->rdx;
	return 0;
}

/* Returns what is left. */
static int on_left(struct kretprobe_instance *ri, struct regs *r)
{
	const u64 *args = ri->data;

	note_read(args[0], args[1] - MIN(r->rax, args[1]));
	return 0;
}

/* Returns the length, which has a NUL after it unless there was no room. */
static int on_string(struct kretprobe_instance *ri, struct regs *r)
{
	const u64 *args = ri->data;
	s64 length = r->rax;

	if (length >= 0)
		note_read(args[0], MIN((u64)length + 1, args[1]));
	return 0;
}

/*
 * All but get_user_u32(), where no probe may be: it reads the index of a writev() whose first piece
 * that is.
 */
static struct kprobe copies[] = {
    {.symbol_name = "copy_from_user", .pre_handler = on_copy},
    {.symbol_name = "copy_from_user_nofault", .pre_handler = on_copy},
};

static struct kretprobe follows[] = {
    {.kp.symbol_name = "__x64_sys_write", .entry_handler = on_call, .handler = on_call_end},
    {.kp.symbol_name = "__x64_sys_writev", .entry_handler = on_call, .handler = on_call_end},
    {.kp.symbol_name = "__x64_sys_ioctl", .entry_handler = on_call, .handler = on_call_end},
    {.kp.symbol_name = "trace_sys_data_record", .entry_handler = on_call, .handler = on_call_end},
    {.kp.symbol_name = "copy_from_user_left",
	.entry_handler = on_part,
	.handler = on_left,
	.data_size = 16},
    {.kp.symbol_name = "strncpy_from_user",
	.entry_handler = on_part,
	.handler = on_string,
	.data_size = 16},
};

static void watch(bool on)
{
	for (unsigned i = 0; i < ARRAY_SIZE(copies); i++) {
		if (on)
			EXPECT_EQ(register_kprobe(&copies[i]), 0);
		else
			unregister_kprobe(&copies[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(follows); i++) {
		if (on)
			EXPECT_EQ(register_kretprobe(&follows[i]), 0);
		else
			unregister_kretprobe(&follows[i]);
	}
	if (on)
		reads = twice = crowded = 0;
}

/* What the next case relies on: a second read is seen. */
static void seen_if_there(void)
{
	u32 words[2];

	watch(true);
	call_begin();
	(void)copy_from_user(words, 0x10000, 8);
	(void)copy_from_user_nofault(words, 0x10008, 4);
	EXPECT_EQ(twice, 0);
	(void)copy_from_user(words, 0x10004, 4);
	EXPECT_EQ(twice, 1);
	call_end();
	EXPECT_EQ(reads, 3);
	watch(false);
}

static void of_program(const char *program, u64 least)
{
	u64 missed = 0;

	trace_fresh(); /* other programs may have left it in any state */
	watch(true);
	EXPECT_EQ(run_program(program, NULL), 0);
	watch(false);
	for (unsigned i = 0; i < ARRAY_SIZE(copies); i++)
		missed += copies[i].nmissed;
	ktap_note("%lu reads", reads);
	EXPECT(reads > least);
	EXPECT_EQ(twice, 0);
	EXPECT_EQ(crowded, 0);
	EXPECT_EQ(missed, 0);
}

static void of_user_events(void)
{
	of_program("/test/uevents", 300);
}

/* The program has two instances keep its strings and buffers. */
static void of_system_calls(void)
{
	of_program("/test/sysdata", 20);
}

static const struct ktap_case cases[] = {
    {"user_reads.seen_if_there", seen_if_there},
    {"user_reads.of_user_events", of_user_events},
    {"user_reads.of_system_calls", of_system_calls},
    {NULL, NULL},
};
const struct ktap_suite suite_user_reads = {cases};
