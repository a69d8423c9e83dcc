/*
 * The system as the monitor sees it, twice: for a task, and after a panic.
 *
 * As a task it takes the consoles' input away from the terminal. The task that reads is `owner`;
 * the sysrq key makes a task that stands by the owner, unless the present one waits at its prompt:
 * that one may hang in a file of its own. After a panic nobody else runs: devices are looked at,
 * and commands that would wait are left (kernel/base/rescue.h).
 */
#include "kernel/monitor_system.h"
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/base/rescue.h"
#include "kernel/base/watchdog.h"
#include "kernel/console/keys.h"
#include "kernel/console/sysrq.h"
#include "kernel/console/tty.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/monitor/monitor.h"
#include "kernel/process/process.h"
#include "kernel/task/session.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/trace/tracing.h"

#define PAUSE_NS 20000000UL
#define LOOK_US	 100
#define TRACING	 "/sys/kernel/tracing"

static struct monitor first_monitor;
static struct task *owner;	/* [A] whose the keys are; NULL: nobody's */
static struct task *first_user; /* [A] who uses first_monitor */
static u32 at_prompt;		/* [A] the owner waits for a key */
/* The owner's: lines that were typed while a program had the terminal, and that it left there. */
static char unread[4096];
static size_t unread_at, unread_end;

static bool monitor_is_plain(void)
{
	const char *mode = cmdline_get("shell");

	return mode && !strcmp(mode, "plain");
}

/* ---- As a task ---- */

static int monitor_task_key(bool wait)
{
	int c;

	if (atomic_load(&owner) != current())
		return -1;
	if (unread_at < unread_end)
		return (u8)unread[unread_at++];
	if (!wait)
		return keys_next();
	tty_note_ready();
	atomic_store(&at_prompt, 1);
	c = keys_wait();
	atomic_store(&at_prompt, 0);
	return c;
}

/* Text for a terminal: each newline with a carriage return. */
static void monitor_write_text_lines(const char *s, size_t n)
{
	while (n) {
		const char *newline = memchr(s, '\n', n);
		size_t some = newline ? (size_t)(newline - s) : n;
		console_write(s, some);
		if (newline)
			console_write("\r\n", 2);
		some += newline != NULL;
		s += some;
		n -= some;
	}
}

static void monitor_task_pause(void)
{
	sleep_ns(PAUSE_NS, NULL);
}

static const char *monitor_task_attempt(void (*fn)(void *), void *arg)
{
	fn(arg);
	return NULL;
}

struct program {
	struct process_start start;
	char *const *argv;
	int error; /* [A] 1: not known yet */
};

/* In the new task: a session of its own, on the console if no other has it. */
static int monitor_become(struct process_start *start)
{
	static const char *const environment[] = {"HOME=/", "PATH=/bin", "TERM=vt100", NULL};
	struct program *p = container_of(start, struct program, start);
	const char *name = p->argv[0];
	char path[PATH_MAX / 8];
	int e;

	session_create();
	fmt_snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/bin/", name);
	e = process_open_terminal("/dev/console", 0);
	if (!e)
		e = process_become(path, (const char *const *)p->argv, environment);
	atomic_store(&p->error, e);
	return e;
}

/*
 * Whoever has the terminal next gets what was typed for it, in its order: these two run where keys
 * come in, on the boot CPU with interrupts off.
 */
static void monitor_pass_keys(void *ended)
{
	struct monitor *m = ended; /* NULL: it goes on later, with what it has taken itself */

	keys_release();
	while (m && m->ahead_head != m->ahead_tail)
		tty_receive(tty_console(), m->ahead[m->ahead_head++ % MONITOR_AHEAD]);
	while (unread_at < unread_end)
		tty_receive(tty_console(), unread[unread_at++]);
	for (u32 left = keys_waiting(); left; left--)
		tty_receive(tty_console(), keys_next());
}

static void monitor_take_keys(void *unused)
{
	(void)unused;
	keys_claim();
	unread_at = 0;
	unread_end = tty_take_typed(tty_console(), unread, sizeof(unread));
}

static int monitor_run_task(char *const argv[])
{
	struct program p = {{monitor_become}, argv, 1};
	int status = 0, e;

	cpu_call(0, monitor_pass_keys, NULL);
	e = process_start(&p.start, "monitor-run");
	if (e > 0)
		e = task_wait(e, &status, 0);
	cpu_call(0, monitor_take_keys, NULL);
	if (e < 0)
		return e;
	if (atomic_load(&p.error))
		return p.error;
	return status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 255;
}

static struct monitor *monitor_take(void)
{
	if (atomic_cas(&first_user, NULL, current()))
		return &first_monitor;
	return kzalloc(sizeof(struct monitor));
}

static void monitor_give(struct monitor *m)
{
	if (m == &first_monitor)
		atomic_store(&first_user, NULL);
	else
		kfree(m);
}

static void monitor_say_line(const char *s)
{
	monitor_write_text_lines(s, strlen(s));
}

void monitor_session(const char *why)
{
	struct monitor_system system = {
	    .key = monitor_task_key,
	    .write = monitor_write_text_lines,
	    .pause = monitor_task_pause,
	    .attempt = monitor_task_attempt,
	    .run = monitor_run_task,
	    .kill = signal_kill,
	    .log = printk_read,
	    .pid = current()->pid,
	    .plain = monitor_is_plain(),
	};
	struct monitor *m = monitor_take();

	if (!m) {
		pr_err("no memory for a monitor");
		return;
	}
	keys_claim();
	atomic_store(&owner, current());
	vfs_chdir(TRACING);
	if (why) {
		monitor_say_line(why);
		monitor_say_line("\n");
	}
	if (!system.plain)
		monitor_say_line("This is the kernel's monitor; help lists what it can do.\n");
	monitor_run(m, &system);
	if (atomic_cas(&owner, current(), NULL))
		cpu_call(0, monitor_pass_keys, m);
	else
		keys_release();
	monitor_give(m);
}

/* ---- By a key ---- */

static u32 called; /* [A] the key was pressed */
static struct wait_queue standby = WAIT_QUEUE_INIT(standby);

static void monitor_standby(void *unused)
{
	(void)unused;
	for (;;) {
		wait_event(&standby, atomic_load(&called));
		atomic_store(&called, 0);
		/*
		 * Another stands by from now on, as this one may hang in what it is told to read.
		 */
		if (!kthread_run(monitor_standby, NULL, -1, "monitor"))
			pr_warn("no memory for another monitor: this is the last one");
		monitor_session(NULL);
		do_exit(0);
	}
}

/* Irq context, or a task's. */
static void monitor_call(void)
{
	if (rescue_active() || (atomic_load(&owner) && atomic_load(&at_prompt)))
		return;
	atomic_store(&called, 1);
	wake_up(&standby);
}

/* ---- After a panic ---- */

static int monitor_dead_key(bool wait)
{
	int c;

	for (;;) {
		keys_look();
		c = keys_next();
		if (c >= 0 || !wait)
			return c;
		delay_us(LOOK_US);
	}
}

static const struct monitor_system dead_system = {
    .key = monitor_dead_key,
    .write = monitor_write_text_lines,
    .attempt = rescue_try,
    .log = printk_read,
    .dead = true,
};

bool monitor_wanted_after_panic(void)
{
	const char *value = cmdline_get("panic");

	return value && !strcmp(value, "monitor");
}

static void __noreturn monitor_run_dead(void *last)
{
	struct monitor_system system = dead_system;

	system.plain = monitor_is_plain();
	system.pid = current() ? current()->pid : 0;
	monitor_say_line("The kernel is dead; its monitor can still read. help lists what it can "
			 "do, exit halts.\n");
	monitor_run(&first_monitor, &system);
	((void (*)(void))last)();
	machine_halt();
}

void monitor_after_panic(void (*last)(void))
{
	static char stack[KERNEL_STACK_SIZE]
	    __attribute__((aligned(16))); /* what is left of the other may be little */

	trace_glue_stop(); /* reading is not to be recorded over what led here */
	mem_use_reserve();
	rescue_begin();
	keys_claim();
	arch_run_on((u64)stack + sizeof(stack), monitor_run_dead, last);
}

void monitor_init(void)
{
	if (monitor_wanted_after_panic())
		mem_reserve();
	sysrq_set_monitor(monitor_call);
	if (!kthread_run(monitor_standby, NULL, -1, "monitor"))
		pr_err("no memory for the monitor");
}
