/*
 * The tracer's part in the life of the kernel: its options on the command line and in
 * /proc/sys/kernel, its start, and its actions when the kernel warns or dies. Boot and files: task
 * context, one at a time; the others as tracing.h says. The numbers below are single words that a
 * reader takes as they are.
 */
#include "kernel/trace/tracing.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/events.h"
#include "kernel/base/panic.h"
#include "kernel/base/watchdog.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/task/interrupt.h"
#include "kernel/task/irq.h"
#include "kernel/trace/boot_events.h"
#include "kernel/trace/enablers.h"
#include "trace/event/array.h"
#include "trace/event/comm.h"
#include "trace/event/event.h"
#include "trace/event/pid_filter.h"
#include "trace/export/export.h"
#include "trace/function/function.h"
#include "trace/host_lock.h"
#include "trace/host_outside.h"
#include "trace/output/dump.h"
#include "trace/output/log.h"
#include "trace/output/print.h"
#include "trace/output/printk.h"
#include "trace/persist/kept.h"
#include "trace/persist/lastboot.h"
#include "trace/trace.h"
#include "trace/tracer/hwlat.h"
#include "trace/tracer/noise.h"
#include "trace/types/types.h"

extern struct trace_key switch_sched_switch, switch_sched_waking, switch_sched_wakeup,
    switch_sched_wakeup_new, switch_sched_process_fork, switch_sched_process_free,
    switch_task_rename;

/*
 * Those whose call sites save names, and those whose call sites tell the pid lists
 * (kernel/trace/events_probe.c).
 */
static struct trace_key *const comm_keys[] = {
    &switch_sched_switch, &switch_sched_wakeup, &switch_sched_wakeup_new, &switch_task_rename};
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

static void trace_glue_nmi(bool enter)
{
	trace_hwlat_nmi(enter);
	trace_noise_nmi(enter);
}

static u64 ram_end;

static void find_ram_end(const struct boot_info *bi)
{
	for (u32 i = 0; i < bi->range_count; i++)
		if (bi->ranges[i].type == BOOT_MEM_USABLE)
			ram_end = MAX(ram_end, bi->ranges[i].base + bi->ranges[i].size);
}

void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *end)
{
	*direct = DIRECT_MAP_BASE;
	*image = KERNEL_IMAGE_BASE;
	*offset = kernel_image_offset;
	*end = ram_end;
}

void trace_glue_init(const struct boot_info *bi)
{
	const struct trace_early *early = boot_events_of(bi);

	find_ram_end(bi);
	read_params();
	fmt_set_pointer_hook(trace_pointer_text);
	events_register();
	events_syscall_register();
	trace_comm_set_keys(comm_keys, ARRAY_SIZE(comm_keys));
	trace_pid_set_keys(pid_keys, ARRAY_SIZE(pid_keys));
	if (trace_init(early))
		panic("no memory for the tracer");
	for (unsigned i = 0; irq_ipi_reason(i); i++)
		trace_printk_string(irq_ipi_reason(i));
	nmi_observer_set(trace_glue_nmi);
	user_enablers_init();
	host_lock();
	trace_set_printk(tracepoint_printk);
	host_unlock();
}

void trace_glue_panic(void)
{
	kept_note_end(KEPT_PANIC);
	trace_dump_last(dump_on_oops);
}

void trace_glue_stop(void)
{
	tracing_off();
}

void trace_glue_end(void)
{
	kept_note_end(KEPT_ORDERLY);
}

void trace_glue_warning(void)
{
	if (traceoff_on_warning)
		tracing_off();
}

/* ---- /proc/sys/kernel ---- */

static int trace_sysctl_show_number(struct seq *s, void *ctx)
{
	seq_printf(s, "%lu\n", *(u64 *)ctx);
	return 0;
}

static int trace_sysctl_store_number(char *line, size_t n, void *ctx)
{
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	(void)n;
	if (!err)
		WRITE_ONCE(*(u64 *)ctx, v);
	return err;
}

/* Only when booted with tp_printk: without it the number stays 0, as on Linux. */
static int trace_sysctl_store_printk(char *line, size_t n, void *ctx)
{
	int err = trace_sysctl_store_number(line, n, ctx);

	if (!cmdline_flag("tp_printk"))
		tracepoint_printk = 0;
	host_lock();
	if (!err)
		trace_set_printk(tracepoint_printk);
	host_unlock();
	return err;
}

static u64 stack_tracer_enabled;

static int trace_sysctl_store_stack(char *line, size_t n, void *ctx)
{
	u64 before = stack_tracer_enabled;
	int err = trace_sysctl_store_number(line, n, ctx);

	host_lock();
	if (!err)
		err = trace_stack_switch(stack_tracer_enabled);
	host_unlock();
	if (err)
		stack_tracer_enabled = before;
	return err;
}

static int trace_sysctl_show_lastboot(struct seq *s, void *ctx)
{
	(void)ctx;
	host_lock();
	trace_lastboot_show(s);
	kept_show(s);
	host_unlock();
	if (watchdog_fired())
		seq_puts(s, "the machine's watchdog timer has reset it\n");
	return 0;
}

/* /sys/kernel/btf/vmlinux */
static int trace_show_btf(struct seq *s, void *ctx)
{
	(void)ctx;
	types_show_btf(s);
	return 0;
}

/* tp_printk_stop_on_boot: only the boot's events are printed. */
static void stop_printk(void)
{
	if (!cmdline_flag("tp_printk_stop_on_boot"))
		return;
	tracepoint_printk = 0;
	host_lock();
	trace_set_printk(false);
	host_unlock();
}

/* stacktrace, and stacktrace_filter=, which trace_apply_params() has read. */
static void start_stack_tracer(void)
{
	if (!cmdline_flag("stacktrace") && !cmdline_get("stacktrace_filter"))
		return;
	host_lock();
	if (!trace_stack_switch(true))
		stack_tracer_enabled = 1;
	host_unlock();
}

void trace_files_init(void)
{
	host_lock();
	if (dump_on_oops)
		trace_dump_past(trace_lastboot_silent());
	host_unlock();
	trace_export_init(); /* now the clock is known, and all CPUs are */
	trace_apply_params();
	start_stack_tracer();
	proc_register("trapline/lastboot", trace_sysctl_show_lastboot, NULL, NULL);
	proc_register("sys/kernel/ftrace_dump_on_oops", trace_sysctl_show_number,
	    trace_sysctl_store_number, &dump_on_oops);
	proc_register("sys/kernel/traceoff_on_warning", trace_sysctl_show_number,
	    trace_sysctl_store_number, &traceoff_on_warning);
	proc_register("sys/kernel/tracepoint_printk", trace_sysctl_show_number,
	    trace_sysctl_store_printk, &tracepoint_printk);
	proc_register("sys/kernel/stack_tracer_enabled", trace_sysctl_show_number,
	    trace_sysctl_store_stack, &stack_tracer_enabled);
	proc_register("trapline/btf", trace_show_btf, NULL, NULL);
	vfs_mkdir("/sys/kernel/btf", 0755);
	vfs_symlink("/proc/trapline/btf", "/sys/kernel/btf/vmlinux");
	stop_printk();
}
