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
#include "kernel/fs/files.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/monitor/monitor.h"
#include "kernel/process/exec.h"
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

/* In the new task: a session of its own, on the console if no other has it. */
static int monitor_become(char *const argv[])
{
	static const char *const environment[] = {"HOME=/", "PATH=/bin", "TERM=vt100"};
	char path[PATH_MAX / 8];
	struct exec_args a = {0};
	struct file *f;
	int e = 0;

	session_create();
	current()->files = files_create();
	if (!current()->files || file_open("/dev/console", O_RDWR, 0, &f))
		return -ENOMEM;
	for (int fd = 0; fd < 3; fd++)
		files_install_at(current()->files, fd, file_get(f), false);
	file_put(f);
	for (int i = 0; argv[i] && !e; i++)
		e = exec_args_add(&a, argv[i], false);
	for (size_t i = 0; i < ARRAY_SIZE(environment) && !e; i++)
		e = exec_args_add(&a, environment[i], true);
	fmt_snprintf(path, sizeof(path), "%s%s", strchr(argv[0], '/') ? "" : "/bin/", argv[0]);
	if (!e)
		e = task_exec_args(path, &a);
	exec_args_free(&a);
	return e;
}

struct program {
	char *const *argv;
	int error; /* [A] 1: not known yet */
};

/* The arguments are the monitor's, which waits. */
static void monitor_start_program(void *arg)
{
	struct program *p = arg;
	int e = monitor_become(p->argv);

	atomic_store(&p->error, e);
	if (e)
		do_exit(127 << 8);
	irq_disable();
	arch_enter_user();
}

static void monitor_take_unread(void)
{
	struct file *f;
	ssize n;

	unread_at = unread_end = 0;
	if (file_open("/dev/console", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &f))
		return;
	while ((n = kernel_read(f, unread + unread_end, sizeof(unread) - unread_end)) > 0)
		unread_end += n;
	file_put(f);
}

/* Whoever has the terminal next gets what was typed for it. */
static void monitor_give_unread(struct monitor *m)
{
	int c;

	while (m->ahead_head != m->ahead_tail)
		tty_receive(tty_console(), m->ahead[m->ahead_head++ % MONITOR_AHEAD]);
	while ((c = keys_next()) >= 0)
		tty_receive(tty_console(), c);
}

static int monitor_run_task(char *const argv[])
{
	struct program p = {argv, 1};
	struct task *t;
	int status = 0, e;

	keys_release();
	t = kthread_fork(monitor_start_program, &p, "monitor-run");
	e = t ? task_wait(t->pid, &status, 0) : -ENOMEM;
	keys_claim();
	monitor_take_unread();
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
	keys_release();
	if (atomic_cas(&owner, current(), NULL))
		monitor_give_unread(m);
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
