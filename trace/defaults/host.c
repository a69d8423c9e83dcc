/*
 * The services of a host that does not define them: a weak function for each service of
 * trace/host_*.h that the tracer can do without. A host that has the service defines the function,
 * and this one is not linked. Contexts are those of the headers.
 */
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "trace/defaults/weak.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"
#include "trace/host_cpus.h"
#include "trace/host_critical.h"
#include "trace/host_files.h"
#include "trace/host_function.h"
#include "trace/host_kept.h"
#include "trace/host_key.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/host_outside.h"
#include "trace/host_probe.h"
#include "trace/host_stack.h"
#include "trace/host_symbol.h"
#include "trace/host_system.h"
#include "trace/host_task.h"
#include "trace/host_types.h"
#include "trace/host_user.h"
#include "trace/host_wait.h"
#include "trace/host_watch.h"
#include "trace/host_noise.h"
#include "trace/host_worker.h"

#define PAGES_FREE 65536 /* no ring is refused for its size */

/* ---- the lock, the running task, time, memory ---- */

__weak void host_assert_locked(void)
{
}

__weak void host_lock_soon(bool (*fn)(void) __maybe_unused)
{
}

#ifndef TRACE_HOST_INLINE
__weak void host_current_comm(char comm[16])
{
	memset(comm, 0, 16);
}

__weak void host_context_probed(struct host_context *ctx, const void *regs __maybe_unused)
{
	host_context(ctx);
}
#endif

__weak u64 host_clock(void)
{
	return host_cycles();
}

__weak u64 host_unix_ns(void)
{
	return 0;
}

__weak void *host_block_alloc(unsigned order)
{
	return order ? NULL : host_page_alloc();
}

__weak void host_block_free(void *p, unsigned order __maybe_unused)
{
	host_page_free(p);
}

__weak u64 host_pages_free(void)
{
	return PAGES_FREE;
}

__weak int host_memory_check(const char *what __maybe_unused, u64 bytes __maybe_unused)
{
	return 0;
}

__weak u64 host_page_phys(const void *p __maybe_unused)
{
	return 0;
}

__weak int host_copy_kernel(
    void *dst __maybe_unused, const void *src __maybe_unused, size_t n __maybe_unused)
{
	return -EFAULT;
}

__weak int host_copy_user(void *dst __maybe_unused, u64 src __maybe_unused, size_t n __maybe_unused)
{
	return -EFAULT;
}

/* ---- CPUs, tasks and tracepoints ---- */

__weak unsigned host_cpu_limit(void)
{
	return MAX_CPUS;
}

__weak void host_on_each_cpu(void (*fn)(void *), void *arg)
{
	for (unsigned cpu = 0; cpu < host_cpu_count(); cpu++)
		host_on_cpu(cpu, fn, arg);
}

__weak struct host_waiters *host_waiters_alloc(void)
{
	return host_alloc(1); /* a thing that is there: nobody looks into it */
}

__weak void host_waiters_free(struct host_waiters *w)
{
	host_free(w);
}

__weak int host_wait(struct host_waiters *w __maybe_unused, bool (*cond)(void *), void *arg)
{
	return cond(arg) ? 0 : -EINTR;
}

__weak void host_wake(struct host_waiters *w __maybe_unused)
{
}

__weak struct host_worker *host_worker_start(const char *name __maybe_unused,
    int cpu __maybe_unused, u64 (*step)(void *) __maybe_unused, void *arg __maybe_unused)
{
	return NULL;
}

__weak struct host_worker *host_worker_start_timed(const char *name __maybe_unused,
    int cpu __maybe_unused, u64 (*step)(void *arg) __maybe_unused,
    void (*due)(void *arg) __maybe_unused, void *arg __maybe_unused)
{
	return NULL;
}

__weak void host_worker_realtime(u32 priority __maybe_unused)
{
}

__weak void host_sample_threshold(
    u64 start __maybe_unused, u64 ns __maybe_unused, u64 interference __maybe_unused)
{
}

__weak void host_nmi_noise(u64 start __maybe_unused, u64 ns __maybe_unused)
{
}

__weak void host_irq_noise(int vector __maybe_unused, const char *name __maybe_unused,
    u64 start __maybe_unused, u64 ns __maybe_unused)
{
}

__weak void host_thread_noise(
    const void *task __maybe_unused, u64 start __maybe_unused, u64 ns __maybe_unused)
{
}

__weak void host_worker_stop(struct host_worker *w __maybe_unused)
{
}

__weak void host_worker_move(unsigned cpu __maybe_unused)
{
}

__weak u64 host_irqs_off(void)
{
	return 0;
}

__weak void host_irqs_restore(u64 flags __maybe_unused)
{
}

__weak bool host_smi_count(u64 *n __maybe_unused)
{
	return false;
}

__weak bool host_critical_watch(u32 which __maybe_unused)
{
	return false;
}

__weak bool host_wakeups_watch(bool on __maybe_unused)
{
	return false;
}

__weak void host_task_of(const void *task __maybe_unused, struct host_task *out)
{
	struct host_context ctx;

	host_context(&ctx);
	*out = (struct host_task){.pid = ctx.pid};
	host_current_comm(out->comm);
}

__weak void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		keys[i]->enabled = on[i];
}

__weak void host_user_events_changed(void)
{
}

__weak void host_directory_made(const char *name __maybe_unused, const char *parent __maybe_unused)
{
}

/* ---- probes ---- */

__weak int host_probe_create(
    const struct host_probe_place *place __maybe_unused, struct host_probe **out __maybe_unused)
{
	return -ENOENT;
}

__weak void host_probe_destroy(struct host_probe *p __maybe_unused)
{
}

__weak void host_probe_switch(struct host_probe *p __maybe_unused, bool on __maybe_unused)
{
}

__weak void host_probes_flush(void)
{
}

__weak u64 host_probe_missed(const struct host_probe *p __maybe_unused)
{
	return 0;
}

__weak const char *host_watch_refused(
    const struct host_watch_form *form __maybe_unused, u64 addr __maybe_unused)
{
	return "There are no watchpoints";
}

__weak int host_watch_open(
    const struct host_watch_form *form __maybe_unused, struct host_watch **out __maybe_unused)
{
	return -ENOSPC;
}

__weak void host_watch_close(struct host_watch *w __maybe_unused)
{
}

__weak void host_watch_move(struct host_watch *w __maybe_unused, u64 addr __maybe_unused)
{
}

__weak void host_watch_sync(void)
{
}

__weak bool host_path_member(char letter __maybe_unused, const char **structure __maybe_unused,
    const char **member __maybe_unused)
{
	return false;
}

__weak int host_symbol_check(const char *symbol __maybe_unused)
{
	return -ENOENT;
}

__weak int host_symbol_entry(const char *symbol __maybe_unused, u64 offset __maybe_unused)
{
	return -ENOENT;
}

__weak int host_reg_find(const char *name __maybe_unused)
{
	return -EINVAL;
}

__weak int host_arg_place(unsigned n __maybe_unused)
{
	return 0;
}

__weak bool host_reg_is_argument(u32 at __maybe_unused)
{
	return false;
}

__weak const char *host_stack_register(void)
{
	return "sp";
}

__weak const char *host_return_register(void)
{
	return "ax";
}

/* ---- memory that outlives the host, readers outside it ---- */

__weak void *host_kept_memory(size_t *size)
{
	*size = 0;
	return NULL;
}

__weak void host_clock_line(u64 *base, u64 *mult)
{
	*base = *mult = 0;
}

__weak void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *ram_end)
{
	*direct = *image = *offset = *ram_end = 0;
}

__weak void host_sym_place(u64 place[6])
{
	memset(place, 0, 6 * sizeof(*place));
}

/* ---- names ---- */

__weak int host_sym_print(char *buf, size_t size, u64 addr, bool offset __maybe_unused)
{
	return fmt_snprintf(buf, size, "0x%lx", addr);
}

__weak u64 host_sym_find(const char *name __maybe_unused, u64 *size __maybe_unused)
{
	return 0;
}

__weak const char *host_sym_of(
    u64 addr __maybe_unused, u64 *start __maybe_unused, u64 *size __maybe_unused)
{
	return NULL;
}

__weak bool host_sym_nth(unsigned i __maybe_unused, struct host_symbol *out __maybe_unused)
{
	return false;
}

__weak bool host_symbols(struct host_symbols *out __maybe_unused)
{
	return false;
}

__weak long host_sym_number(const char *name __maybe_unused)
{
	return -1;
}

__weak const void *host_types(size_t *size)
{
	*size = 0;
	return NULL;
}

__weak unsigned host_stack(u64 *out __maybe_unused, unsigned max __maybe_unused)
{
	return 0;
}

__weak u64 host_stack_used(const void *at __maybe_unused)
{
	return 0;
}

__weak unsigned host_user_stack(u64 *out __maybe_unused, unsigned max __maybe_unused)
{
	return 0;
}

__weak s32 host_tgid(s32 pid __maybe_unused)
{
	return 0;
}

__weak const char *host_syscall_name(u64 nr __maybe_unused)
{
	return NULL;
}

__weak const char *host_release(void)
{
	return "6.1.0";
}

__weak const char *host_preemption(void)
{
	return "none";
}

__weak const char *host_uname(void)
{
	return "Unknown unknown 6.1.0 x86_64";
}

__weak const char *host_param(const char *name __maybe_unused, unsigned nth __maybe_unused)
{
	return NULL;
}

__weak void host_log(const char *fmt __maybe_unused, ...)
{
}

__weak void host_say(const char *fmt __maybe_unused, ...)
{
}

__weak void host_panic(const char *text)
{
	host_say("%s", text);
}

/* ---- functions ---- */

__weak unsigned host_function_count(void)
{
	return 0;
}

__weak const char *host_function(unsigned i __maybe_unused, u64 *addr __maybe_unused)
{
	return NULL;
}

__weak int host_hook_add(struct host_hook *hook __maybe_unused)
{
	return -EBUSY;
}

__weak void host_hook_set(
    struct host_hook *hook __maybe_unused, const u64 *functions __maybe_unused)
{
}

__weak void host_hook_remove(struct host_hook *hook __maybe_unused)
{
}

__weak void host_hook_ask(struct host_hook *hook __maybe_unused, bool ask __maybe_unused)
{
}

__weak void host_hook_skip(const struct host_hook *hook __maybe_unused, bool skip __maybe_unused)
{
}

#ifndef TRACE_HOST_INLINE_CALL
__weak const struct host_call *host_call_outer(
    const struct host_hook *hook __maybe_unused, const u64 *slot __maybe_unused)
{
	return NULL;
}

__weak bool host_call_follow(struct host_hook *hook __maybe_unused, u64 *slot __maybe_unused,
    const struct host_call *call __maybe_unused)
{
	return false;
}

__weak u64 host_call_returns_to(const u64 *slot)
{
	return *slot;
}

__weak bool host_calls_top(const u64 *slot __maybe_unused, struct host_calls *at __maybe_unused)
{
	return false;
}

__weak const struct host_call *host_call_under(
    const struct host_hook *hook, struct host_calls at __maybe_unused)
{
	return host_call_outer(hook, NULL);
}

__weak u64 host_call_next_level(const struct host_hook *hook, struct host_calls at)
{
	const struct host_call *outer = host_call_under(hook, at);

	return outer ? outer->level + 1 : 0;
}

__weak struct host_call *host_call_begin(struct host_hook *hook __maybe_unused,
    struct host_calls at __maybe_unused, u64 *slot __maybe_unused)
{
	return NULL;
}

__weak void host_call_begun(struct host_call *call __maybe_unused, u64 *slot __maybe_unused)
{
}

__weak void host_call_drop(struct host_call *call __maybe_unused)
{
}

__weak u64 host_entered_ip(const u64 *slot __maybe_unused)
{
	return 0;
}

__weak u64 host_entered_flags(const u64 *slot __maybe_unused)
{
	return 0;
}

__weak u64 host_cycles_ns(u64 cycles)
{
	return cycles;
}

__weak void host_context_in(struct host_context *ctx, u64 flags __maybe_unused)
{
	host_context(ctx);
}
#endif

__weak struct host_call *host_call_around(
    const struct host_hook *hook __maybe_unused, const struct host_call *call __maybe_unused)
{
	return NULL;
}

__weak u64 host_call_ns(u64 clock)
{
	return host_clock_ns(clock);
}

__weak u64 host_task_ran(void)
{
	return host_clock_ns(host_clock());
}

__weak bool host_function_of_irq(u64 addr __maybe_unused)
{
	return false;
}

__weak void host_function_state(unsigned i __maybe_unused, struct host_function_state *out)
{
	*out = (struct host_function_state){0};
}
