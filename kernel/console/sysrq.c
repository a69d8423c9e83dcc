/*
 * The actions of the sysrq keys. Irq context, or a task's: nothing here waits, except for the
 * messages of a crash. A handler prints a line on every console, whatever the log level, because
 * the user who pressed the key is watching.
 */
#include "kernel/console/sysrq.h"
#include "arch/arch.h"
#include "kernel/base/panic.h"
#include "kernel/base/printk.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/task.h"
#include "kernel/trace/tracing.h"

#define WINDOW_NS 5000000000UL /* between BREAK and the letter */

#define say(...) printk(LOG_EMERG, __VA_ARGS__)

static u64 enabled = 1; /* [A] /proc/sys/kernel/sysrq; the file sysrq-trigger asks nobody */

static void sysrq_reboot(void)
{
	trace_glue_end();
	machine_reboot();
}

static void sysrq_crash(void)
{
	panic("sysrq triggered crash");
}

static void sysrq_poweroff(void)
{
	trace_glue_end();
	machine_poweroff();
}

static void sysrq_memory(void)
{
	say("Mem-Info: %lu KiB in all, %lu KiB free", page_total() * (PAGE_SIZE / 1024),
	    page_free_count() * (PAGE_SIZE / 1024));
}

static void sysrq_registers(void)
{
	const struct regs *r = irq_regs();

	if (r)
		show_regs(r);
	else
		show_stack(NULL);
}

/*
 * As `ps` has them; the lock may be held by whom the interrupt came upon, and then there is no
 * list.
 */
static void sysrq_tasks(void)
{
	u64 flags = irq_save();
	struct task *t;

	if (!spin_trylock_raw(&task_lock)) {
		irq_restore(flags);
		say("the list of tasks is in use: try again");
		return;
	}
	list_for_each_entry (t, &task_list, all_node)
		say("task:%-15.15s state:%x pid:%d cpu:%u", t->comm, READ_ONCE(t->state), t->pid,
		    t->cpu);
	spin_unlock_raw(&task_lock);
	irq_restore(flags);
}

static void sysrq_dump(void)
{
	if (!trace_glue_dump())
		say("the tracer is busy: try again");
}

static void (*start_monitor)(void); /* NULL: pid 1 is not that far yet */

static void sysrq_monitor(void)
{
	if (start_monitor)
		start_monitor();
}

static const struct key {
	char key;
	const char *help, *what; /* what: said when it is pressed */
	void (*fn)(void);
} keys[] = {
    {'b', "reboot(b)", "Resetting", sysrq_reboot},
    {'c', "crash(c)", "Trigger a crash", sysrq_crash},
    {'m', "show-memory-usage(m)", "Show Memory", sysrq_memory},
    {'o', "poweroff(o)", "Power Off", sysrq_poweroff},
    {'p', "show-registers(p)", "Show Regs", sysrq_registers},
    {'t', "show-task-states(t)", "Show State", sysrq_tasks},
    {'x', "monitor(x)", "Monitor", sysrq_monitor},
    {'z', "dump-ftrace-buffer(z)", "Dump ftrace buffer", sysrq_dump},
};

static void help(void)
{
	char text[256];
	size_t n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		n += scnprintf(text + n, sizeof(text) - n, " %s", keys[i].help);
	say("sysrq: HELP : loglevel(0-9)%s", text);
}

static void sysrq_handle(u8 c)
{
	if (is_digit(c)) {
		say("sysrq: Changing Loglevel");
		printk_set_level(c - '0');
		say("sysrq: Loglevel set to %d", c - '0');
		return;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].key == c) {
			say("sysrq: %s", keys[i].what);
			keys[i].fn();
			return;
		}
	help();
}

void sysrq_set_monitor(void (*start)(void))
{
	start_monitor = start;
}

void sysrq_arm(u64 *armed)
{
	*armed = clock_ns();
}

bool sysrq_take(u64 *armed, u8 c)
{
	bool mine = *armed && clock_ns() - *armed < WINDOW_NS;

	*armed = 0;
	if (!mine)
		return false;
	if (READ_ONCE(enabled))
		sysrq_handle(c);
	else
		say("sysrq: This sysrq operation is disabled.");
	return true;
}

static int sysrq_store_trigger(char *line, size_t n, void *ctx __maybe_unused)
{
	if (n)
		sysrq_handle(line[0]);
	return 0;
}

static int sysrq_show_enabled(struct seq *s, void *ctx __maybe_unused)
{
	seq_printf(s, "%lu\n", enabled);
	return 0;
}

static int sysrq_store_enabled(char *line, size_t n __maybe_unused, void *ctx __maybe_unused)
{
	u64 v;
	int err = parse_u64(strstrip(line), 10, &v);

	if (!err)
		WRITE_ONCE(enabled, v);
	return err;
}

static int sysrq_show_nothing(struct seq *s __maybe_unused, void *ctx __maybe_unused)
{
	return -EIO;
}

void sysrq_files_init(void)
{
	proc_register("sysrq-trigger", sysrq_show_nothing, sysrq_store_trigger, NULL);
	proc_register("sys/kernel/sysrq", sysrq_show_enabled, sysrq_store_enabled, NULL);
}
