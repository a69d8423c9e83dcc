/*
 * trace/host_*.h for this kernel: where we are, memory, the control plane's lock, names. Contexts
 * are those of the headers. The rest of it: inline.h (what each event needs), host_wait.c (readers
 * that wait), host_worker.c, host_probe.c.
 */
/* hot: runs with each event */
#include "arch/arch.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/critical.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/base/sym.h"
#include "kernel/base/symtab.h"
#include "kernel/base/version.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/syscall.h"
#include "kernel/task/irq_work.h"
#include "kernel/task/sched.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/trace/enablers.h"
#include "kernel/trace/tracing.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"
#include "trace/host_cpus.h"
#include "trace/host_critical.h"
#include "trace/host_kept.h"
#include "trace/host_key.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/host_outside.h"
#include "trace/host_stack.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"
#include "trace/host_task.h"
#include "trace/host_types.h"
#include "trace/output/dump.h"
#include "trace/persist/kept.h"
#include "trace/trace.h"

/* ---- where we are ---- */

u64 trace_deep_word(u64 count)
{
	u64 depth = count & PREEMPT_MASK, flags = 0;

	if (count & NMI_MASK)
		flags |= TRACE_FLAG_NMI;
	if (count & HARDIRQ_MASK)
		flags |= TRACE_FLAG_HARDIRQ;
	if (count & SOFTIRQ_MASK)
		flags |= TRACE_FLAG_SOFTIRQ;
	if (count >> 32) /* need_resched */
		flags |= TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED;
	return MIN(depth, TRACE_DEPTH_MAX) << 24 | flags << 16;
}

unsigned host_cpu_count(void)
{
	return cpu_count();
}

static unsigned cpu_limit = MAX_CPUS; /* [I] from trace_glue_cpus_up() on */

unsigned host_cpu_limit(void)
{
	return cpu_limit;
}

void trace_glue_cpus_up(void)
{
	cpu_limit = cpu_count();
	trace_cpus_up();
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

/* ---- memory ---- */

void *host_alloc(size_t size)
{
	return kzalloc(size);
}

void host_free(void *p)
{
	kfree(p);
}

void *host_block_alloc(unsigned order)
{
	u64 pa = page_alloc(order, true);

	return pa ? phys_to_virt(pa) : NULL;
}

void host_block_free(void *p, unsigned order)
{
	if (p)
		page_free(virt_to_phys(p), order);
}

void *host_page_alloc(void)
{
	return host_block_alloc(0);
}

void host_page_free(void *p)
{
	host_block_free(p, 0);
}

u64 host_pages_free(void)
{
	return page_free_count();
}

/*
 * A shell and one program more, with their page tables, stacks and files, take some 600 KiB. Above
 * what the kernel keeps from programs; a small machine keeps less, so that there is an instance.
 */
#define MEMORY_RESERVE (1UL << 20)
#define MEMORY_PART    16 /* of the machine's */

static u64 memory_reserve(void)
{
	return MIN(page_total() * PAGE_SIZE / MEMORY_PART, MEMORY_RESERVE);
}

#define SAY_AGAIN_NS 1000000000UL

static u64 memory_said_ns; /* [A] time of the last line in the log */

int host_memory_check(const char *what, u64 bytes)
{
	u64 free = page_free_count() * PAGE_SIZE, keep = mem_low_bytes() + memory_reserve();
	u64 now = clock_ns(), said = atomic_load(&memory_said_ns);

	if (bytes <= free && free - bytes >= keep)
		return 0;
	if ((!said || now - said > SAY_AGAIN_NS) && atomic_cas(&memory_said_ns, said, now))
		pr_warn(
		    "tracing: no memory for %s: %lu KiB are free, %lu KiB are kept for programs",
		    what, (unsigned long)(free >> 10), (unsigned long)(keep >> 10));
	return -ENOMEM;
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

/* ---- what another boot may read ---- */

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
	*base = clock_scale.base;
	*mult = clock_scale.ns_per_cycle;
}

bool host_sym_nth(unsigned i, struct host_symbol *out)
{
	out->type = sym_type(i);
	return sym_nth(i, &out->name, &out->start, &out->size);
}

bool host_symbols(struct host_symbols *out)
{
	const struct sym_table *t = sym_functions();

	*out = (struct host_symbols){.start = t->text_start,
	    .end = t->text_end,
	    .count = t->count,
	    .names_size = (const char *)t->by_name - t->names,
	    .offset = t->offset,
	    .name_at = t->name_at,
	    .global = t->global,
	    .names = t->names};
	return t->count;
}

void host_sym_place(u64 place[6])
{
	sym_place(place);
}

/* ---- the control plane's lock, other CPUs ---- */

static struct mutex control_lock = MUTEX_INIT(control_lock);

void host_lock(void)
{
	mutex_lock(&control_lock);
}

void host_assert_locked(void)
{
	BUG_ON(atomic_load(&control_lock.owner) != current());
}

/* Without what host_unlock() does: it may be an interrupt. */
bool trace_glue_dump(void)
{
	if (!mutex_trylock(&control_lock))
		return false;
	bool done = trace_dump_now();
	mutex_unlock(&control_lock);
	return done;
}

#define SOON_NS 1000000UL /* until the next try */

static void host_soon_work(struct irq_work *work);
static void host_soon_timer(struct timer *t);

/* Who waits for the lock without waiting. */
static struct {
	struct irq_work work;
	struct timer timer;
	bool (*fn)(void); /* [A] */
} soon = {.work.fn = host_soon_work, .timer.fn = host_soon_timer};

static void host_try_soon(void)
{
	bool done = false;

	if (mutex_trylock(&control_lock)) {
		done = atomic_load(&soon.fn)();
		mutex_unlock(&control_lock);
	}
	if (!done)
		timer_start(&soon.timer, clock_ns() + SOON_NS);
}

static void host_soon_work(struct irq_work *work __maybe_unused)
{
	host_try_soon();
}

static void host_soon_timer(struct timer *t __maybe_unused)
{
	host_try_soon();
}

void host_lock_soon(bool (*fn)(void))
{
	atomic_store(&soon.fn, fn);
	irq_work_queue(&soon.work);
}

void host_unlock(void)
{
	mutex_unlock(&control_lock);
	if (unlikely(READ_ONCE(user_enablers_due)))
		user_enablers_settle();
}

static void go_to(unsigned cpu)
{
	task_set_affinity(current(), 1UL << cpu);
	while (cpu_id() != cpu)
		sched_yield_current();
}

/*
 * Asked of each CPU by an interrupt: could that be a tracer section that it came upon? They run
 * with preemption off, as the idle task always does. The CPU that asks has no interrupt here, and
 * is in none.
 */
static void host_note_section(void *arg)
{
	u32 count = this_cpu_read(preempt_count);
	u32 outside = HARDIRQ_UNIT + (current() == sched_idle_task(cpu_id()));

	if ((count & HARDIRQ_MASK) && count != outside)
		atomic_or((u64 *)arg, 1UL << cpu_id());
}

/*
 * All CPUs at once; those that could be in a section are then visited: where this task has run
 * since, they have left it.
 */
void host_synchronize(void)
{
	u64 before = current()->cpus_allowed, inside = 0;

	cpu_call_all(host_note_section, &inside);
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

/* ---- what tasks and CPUs do ---- */

bool host_critical_watch(u32 which)
{
	critical_watch(which);
	return true;
}

void host_task_of(const void *task, struct host_task *out)
{
	const struct task *t = task ? task : current();

	*out = (struct host_task){
	    .pid = t->pid,
	    .nice = t->how.nice,
	    .policy = t->how.policy,
	    .rt_priority = t->how.rt_priority,
	};
	memcpy(out->comm, t->comm, sizeof(out->comm));
}

static struct host_sched host_sched_of(const struct task *t, u32 state)
{
	return (struct host_sched){
	    .task = t,
	    .pid = t->pid,
	    .cpu = t->cpu,
	    .prio = t->prio,
	    .state = state ? 32 - __builtin_clz(state) : 0,
	};
}

static void host_task_woken(const struct task *t)
{
	struct host_sched woken = host_sched_of(t, t->state), curr = host_sched_of(current(), 0);

	trace_wakeup_woken(&woken, &curr);
}

static void host_task_switched(const struct task *from, const struct task *to, u32 state)
{
	struct host_sched prev = host_sched_of(from, state), next = host_sched_of(to, 0);

	trace_wakeup_switched(&prev, &next);
}

bool host_wakeups_watch(bool on)
{
	static const struct sched_observer observer = {host_task_woken, host_task_switched};

	sched_observe(on ? &observer : NULL);
	return true;
}

/* ---- tracepoints ---- */

_Static_assert(offsetof(struct host_key, enabled) == offsetof(struct static_key, enabled),
    "host_key is static_key");

void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n)
{
	static_key_set_many((struct static_key *const *)keys, on, n);
	critical_events_changed();
}

/* ---- names ---- */

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
		addr = sym_data_address(name);
	if (size)
		*size = length;
	return addr;
}

long host_sym_number(const char *name)
{
	u64 addr = sym_address(name, NULL);

	return addr ? sym_index(addr) : -1;
}

/* linker.ld: after all that has a place of its own. */
extern const u8 __types_start[], __types_end[];

const void *host_types(size_t *size)
{
	*size = __types_end - __types_start;
	return *size ? __types_start : NULL;
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
	return nth == HOST_PARAM_LAST ? cmdline_get(name) : cmdline_nth(name, nth);
}

static void host_log_line(int level, const char *fmt, va_list ap)
{
	char text[512];

	fmt_vsnprintf(text, sizeof(text), fmt, ap);
	printk(level, "%s", text);
}

void host_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	host_log_line(LOG_WARNING, fmt, ap);
	va_end(ap);
}

void host_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	host_log_line(LOG_EMERG, fmt, ap);
	va_end(ap);
}

void host_panic(const char *text)
{
	panic("%s", text);
}

unsigned host_stack(u64 *out, unsigned max)
{
	return stack_trace_traced(out, max);
}

/* Each call of a function asks, and none of its own may. */
__trace_text u64 host_stack_used(const void *at)
{
	u64 used = this_cpu_read(kernel_rsp) - (u64)at;

	return used <= KERNEL_STACK_SIZE ? used : 0;
}

unsigned host_user_stack(u64 *out, unsigned max)
{
	return stack_trace_user(out, max);
}
