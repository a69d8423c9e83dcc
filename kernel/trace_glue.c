/*
 * trace/host.h for this kernel, and what the tracer needs of the boot sequence and of /proc. Contexts are those of host.h.
 */
#include "boot/boot_info.h"
#include "kernel/boot_events.h"
#include "kernel/cmdline.h"
#include "kernel/events.h"
#include "kernel/fs/vfs.h"
#include "kernel/init.h"
#include "kernel/irq.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/trace_glue.h"
#include "kernel/version.h"
#include "kernel/sym.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/mm.h"
#include "kernel/syscall.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/user_words.h"
#include "trace/comm.h"
#include "trace/dump.h"
#include "trace/event.h"
#include "trace/kept.h"
#include "trace/lastboot.h"
#include "trace/export.h"
#include "trace/pid_filter.h"
#include "trace/trace.h"
#include "trace/trace_array.h"
#include "trace/tracefs.h"
#include "trace/user_events.h"

#define STACK_FRAMES  64
#define WAKE_CHECK_NS 20000000UL /* how late a reader may see what no writer could tell it */

/* ---- where we are -------------------------------------------------------------------------------------------------- */

unsigned host_cpu_count(void)
{
	return cpu_count();
}

u64 host_clock(void)
{
	return cycles();
}

u64 host_clock_ns(u64 clock)
{
	return cycles_to_ns(clock);
}

u64 host_unix_ns(void)
{
	return clock_boot_unix_ns();
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

void *host_alloc(size_t size)
{
	return kzalloc(size);
}

void host_free(void *p)
{
	kfree(p);
}

void *host_page_alloc(void)
{
	u64 pa = page_alloc(0, true);

	return pa ? phys_to_virt(pa) : NULL;
}

void host_page_free(void *p)
{
	if (p)
		page_free(virt_to_phys(p), 0);
}

u64 host_pages_free(void)
{
	return page_free_count();
}

u64 host_page_phys(const void *p)
{
	return virt_to_phys(p);
}

int host_copy_kernel(void *dst, const void *src, size_t n)
{
	return copy_from_kernel_nofault(dst, src, n);
}

int host_copy_user(void *dst, u64 src, size_t n)
{
	return copy_from_user_nofault(dst, src, n);
}

/* ---- what another boot may read --------------------------------------------------------------------------------------- */

/* What a loader reads of it is the beginning of what the recorder writes. */
_Static_assert(!__builtin_strcmp(KEPT_MAGIC, BOOT_KEPT_MAGIC), "magic");
_Static_assert(offsetof(struct boot_kept, size) == offsetof(struct kept_header, size), "size");
_Static_assert(offsetof(struct boot_kept, base) == offsetof(struct kept_header, base), "base");

void *host_kept_memory(size_t *size)
{
	return mem_kept(size);
}

void host_clock_line(u64 *base, u64 *mult)
{
	clock_line(base, mult);
}

bool host_sym_nth(unsigned i, const char **name, u64 *start, u64 *size)
{
	return sym_nth(i, name, start, size);
}

void host_address_map(u64 *direct, u64 *image, u64 *offset)
{
	*direct = DIRECT_MAP_BASE;
	*image = KERNEL_IMAGE_BASE;
	*offset = kernel_image_offset;
}

/* ---- the control plane's lock, other CPUs ---------------------------------------------------------------------------- */

static struct mutex control_lock = MUTEX_INIT(control_lock);

void host_lock(void)
{
	mutex_lock(&control_lock);
}

static u32 user_events_changed; /* [A] */

void host_user_events_changed(void)
{
	atomic_store(&user_events_changed, 1);
}

/* Who holds its mm->lock cannot: whoever changed them will do it. */
static __noinline void settle_user_events(void)
{
	struct mm *mm = current()->mm;

	if (mm && mm->lock.owner == current())
		return;
	if (atomic_xchg(&user_events_changed, 0)) {
		user_words_update();
		user_events_settle();
	}
}

void host_unlock(void)
{
	mutex_unlock(&control_lock);
	if (unlikely(READ_ONCE(user_events_changed)))
		settle_user_events();
}

static void go_to(unsigned cpu)
{
	task_set_affinity(current(), 1UL << cpu);
	while (cpu_id() != cpu)
		sched_yield_current();
}

/*
 * Asked of each CPU by an interrupt: could that be a tracer section that it came upon? They run with preemption off, as the idle task
 * always does. The CPU that asks has no interrupt here, and is in none.
 */
static void note_section(void *arg)
{
	u32 count = this_cpu_read(preempt_count);
	u32 outside = HARDIRQ_UNIT + (current() == sched_idle_task(cpu_id()));

	if ((count & HARDIRQ_MASK) && count != outside)
		atomic_or((u64 *)arg, 1UL << cpu_id());
}

/* All CPUs at once; those that could be in a section are then visited: where this task has run since, they have left it. */
void host_synchronize(void)
{
	u64 before = current()->cpus_allowed, inside = 0;

	cpu_call_all(note_section, &inside);
	for (u64 left = inside; left; left &= left - 1)
		go_to(__builtin_ctzll(left));
	if (inside)
		task_set_affinity(current(), before);
}

/* Where a task runs, no section is open. */
void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	u64 before = current()->cpus_allowed, flags;

	go_to(cpu);
	flags = irq_save();
	fn(arg);
	irq_restore(flags);
	task_set_affinity(current(), before);
}

void host_on_each_cpu(void (*fn)(void *), void *arg)
{
	cpu_call_all(fn, arg);
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	cpu_call(cpu, fn, arg);
}

/* ---- readers that wait ----------------------------------------------------------------------------------------------- */

/*
 * Who records an event may hold any lock of the scheduler's, or be an NMI. From an interrupt the wake-up is left to irq_work, which
 * runs when interrupts are on again. From a task that has interrupts or preemption off nobody is woken: it may be the scheduler with
 * an event about the very task that would be woken, and each look at it would make the next. Such events are found by the waiter's
 * alarm.
 *
 * `armed`: somebody is about to sleep, or sleeps, and nobody has woken it since. It is set before the last look at the condition and
 * taken, by an exchange, after the condition was made true; so one of the two sees the other.
 */
struct host_waiters {
	struct wait_queue wq;
	struct irq_work work;
	u32 armed; /* [A] */
};

u64 trace_glue_late_wakes;

/* A waiter's alarm, on its stack. */
struct wake_check {
	struct timer timer;
	struct host_waiters *w;
	bool due;
};

static void wake_from_irq(struct irq_work *work)
{
	wake_up(&container_of(work, struct host_waiters, work)->wq);
}

struct host_waiters *host_waiters_alloc(void)
{
	struct host_waiters *w = kzalloc(sizeof(*w));

	if (!w)
		return NULL;
	wait_queue_init(&w->wq);
	w->work.fn = wake_from_irq;
	return w;
}

void host_waiters_free(struct host_waiters *w)
{
	irq_work_sync(&w->work);
	kfree(w);
}

static void check_is_due(struct timer *t)
{
	struct wake_check *c = container_of(t, struct wake_check, timer);

	WRITE_ONCE(c->due, true);
	wake_up(&c->w->wq);
}

static bool arm_and_look(struct host_waiters *w, bool (*cond)(void *), void *arg)
{
	atomic_xchg(&w->armed, 1);
	return cond(arg);
}

/* Sleeps until woken, but looks by itself now and then. */
int host_wait(struct host_waiters *w, bool (*cond)(void *), void *arg)
{
	struct wake_check check = {.w = w};
	int err = 0;

	timer_setup(&check.timer, check_is_due);
	while (!err && !cond(arg)) {
		check.due = false;
		timer_start(&check.timer, clock_ns() + WAKE_CHECK_NS);
		err = wait_event_interruptible(
		    &w->wq, READ_ONCE(check.due) || arm_and_look(w, cond, arg));
		timer_cancel(&check.timer);
		if (check.due && READ_ONCE(w->armed) && cond(arg))
			atomic_add(&trace_glue_late_wakes, 1);
	}
	return err;
}

void host_wake(struct host_waiters *w)
{
	u32 count = this_cpu_read(preempt_count);
	bool interrupt = count & ~PREEMPT_MASK;

	if (!interrupt && (!irqs_enabled() || (count & PREEMPT_MASK) > 1))
		return;
	if (!atomic_xchg(&w->armed, 0))
		return;
	if (interrupt)
		irq_work_queue(&w->work);
	else
		wake_up(&w->wq);
}

/* ---- tracepoints ------------------------------------------------------------------------------------------------------ */

_Static_assert(offsetof(struct host_key, enabled) == offsetof(struct static_key, enabled),
    "host_key is static_key");

void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n)
{
	static_key_set_many((struct static_key *const *)keys, on, n);
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

int host_comm(s32 pid, char comm[16])
{
	return task_comm_of(pid, comm);
}

s32 host_tgid(s32 pid)
{
	return current()->pid == pid ? current()->tgid : 0;
}

int host_sym_print(char *buf, size_t size, u64 addr, bool offset)
{
	return sym_print(buf, size, addr, offset);
}

u64 host_sym_find(const char *name, u64 *size)
{
	u64 addr = sym_address(name, NULL), start, length = 0;

	if (addr)
		sym_find(addr, &start, &length);
	else
		addr = sym_data_address(name, NULL);
	if (size)
		*size = length;
	return addr;
}

bool host_symbol_nth(unsigned n, const char **name, u64 *start)
{
	u64 size;

	return sym_nth(n, name, start, &size);
}

const char *host_sym_of(u64 addr, u64 *start, u64 *size)
{
	return sym_find(addr, start, size);
}

const char *host_syscall_name(u64 nr)
{
	return nr < SYSCALL_MAX ? syscall_name(nr) : NULL;
}

const char *host_release(void)
{
	return ABI_RELEASE;
}

const char *host_preemption(void)
{
	return "preempt";
}

const char *host_uname(void)
{
	return KERNEL_NAME " trapline " ABI_RELEASE " x86_64";
}

const char *host_param(const char *name, unsigned nth)
{
	return cmdline_nth(name, nth);
}

void host_log(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pr_warn("%s", text);
}

void host_say(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printk(LOG_EMERG, "%s", text);
}

extern const char __trace_text_start[], __trace_text_end[]; /* linker.ld */

extern const char __noprobe_start[], __noprobe_end[];

/* What records, or leads from a probe to it: no probe is in either, and no tracepoint in the latter. */
static bool records(u64 addr)
{
	return addr - (u64)__trace_text_start < (u64)(__trace_text_end - __trace_text_start) ||
	       addr - (u64)__noprobe_start < (u64)(__noprobe_end - __noprobe_start);
}

unsigned host_stack(u64 *out, unsigned max)
{
	u64 frames[STACK_FRAMES];
	unsigned n = stack_trace(NULL, frames, STACK_FRAMES), own = 0;

	while (own < n && records(frames[own]))
		own++;
	n = MIN(n - own, max);
	memcpy(out, frames + own, n * sizeof(*out));
	return n;
}

unsigned host_user_stack(u64 *out, unsigned max)
{
	return stack_trace_user(out, max);
}

/* ---- at boot ------------------------------------------------------------------------------------------------------------ */

extern struct trace_key switch_sched_switch, switch_sched_waking, switch_sched_wakeup,
    switch_sched_wakeup_new, switch_sched_process_fork, switch_sched_process_free;

/* Those whose call sites tell the pid lists (kernel/events_probe.c). */
static struct trace_key *const pid_keys[] = {&switch_sched_switch, &switch_sched_waking,
    &switch_sched_wakeup, &switch_sched_wakeup_new, &switch_sched_process_fork,
    &switch_sched_process_free};

static u64 dump_on_oops; /* TRACE_DUMP_* */
static u64 traceoff_on_warning;
static u64 tracepoint_printk;

static void read_params(void)
{
	const char *dump = cmdline_get("ftrace_dump_on_oops");

	if (dump && (!*dump || !strcmp(dump, "1")))
		dump_on_oops = TRACE_DUMP_ALL;
	else if (dump && (!strcmp(dump, "orig_cpu") || !strcmp(dump, "2")))
		dump_on_oops = TRACE_DUMP_ORIG;
	traceoff_on_warning = cmdline_flag("traceoff_on_warning");
	tracepoint_printk = cmdline_flag("tp_printk");
}

void trace_glue_init(const struct boot_info *bi)
{
	const struct trace_early *early = boot_events_of(bi);

	read_params();
	fmt_set_pointer_hook(trace_pointer_text);
	events_register();
	events_syscall_register();
	trace_comm_set_key(&switch_sched_switch);
	trace_pid_set_keys(pid_keys, ARRAY_SIZE(pid_keys));
	if (trace_init(early))
		panic("no memory for the tracer");
	irq_events_init();
	trace_set_printk(tracepoint_printk);
}

void trace_glue_panic(void)
{
	trace_dump_last(dump_on_oops);
}

bool trace_glue_dump(void)
{
	if (!mutex_trylock(&control_lock))
		return false;
	bool done = trace_dump_now();
	mutex_unlock(&control_lock);
	return done;
}

void trace_glue_warning(void)
{
	if (traceoff_on_warning)
		tracing_off();
}

/* ---- /proc/sys/kernel ---------------------------------------------------------------------------------------------------- */

static int show_number(struct seq *s, void *ctx)
{
	seq_printf(s, "%lu\n", *(u64 *)ctx);
	return 0;
}

static int store_number(char *line, size_t n, void *ctx)
{
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	(void)n;
	if (!err)
		WRITE_ONCE(*(u64 *)ctx, v);
	return err;
}

/* Only when booted with tp_printk: without it the number stays 0, as on Linux. */
static int store_printk(char *line, size_t n, void *ctx)
{
	int err = store_number(line, n, ctx);

	if (!cmdline_flag("tp_printk"))
		tracepoint_printk = 0;
	host_lock();
	if (!err)
		trace_set_printk(tracepoint_printk);
	host_unlock();
	return err;
}

static int show_lastboot(struct seq *s, void *ctx)
{
	(void)ctx;
	host_lock();
	trace_lastboot_show(s);
	kept_show(s);
	host_unlock();
	return 0;
}

void trace_files_init(void)
{
	trace_export_init(); /* now the clock is known, and all CPUs are */
	tfs_init();
	proc_register("trapline/lastboot", show_lastboot, NULL, NULL);
	proc_register("sys/kernel/ftrace_dump_on_oops", show_number, store_number, &dump_on_oops);
	proc_register(
	    "sys/kernel/traceoff_on_warning", show_number, store_number, &traceoff_on_warning);
	proc_register(
	    "sys/kernel/tracepoint_printk", show_number, store_printk, &tracepoint_printk);
}
