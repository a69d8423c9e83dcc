/*
 * What the shell asks of its system (kernel/shell/sys.h), over the scheduler, the processes and the console terminal. Task context;
 * tasks made here are kernel threads that inherit the caller's directory and process group, and may become programs.
 */
#include "arch/arch.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/files.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/printk.h"
#include "kernel/process/process.h"
#include "kernel/shell/sys.h"
#include "kernel/process/exec.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/trace/tracing.h"
#include "kernel/console/tty.h"

struct start {
	int (*fn)(void *);
	void *arg;
	struct file *io[3]; /* counted */
	bool group;
};

int os_self(void)
{
	return current()->pid;
}

/* A signal that would have killed a program kills this task too: so its parent sees it. */
static int wait_status(int status)
{
	u64 pending = atomic_load(&current()->sig.pending) & ~current()->sig.blocked;
	static const u64 harmless = 1UL << (SIGCHLD - 1) | 1UL << (SIGCONT - 1) |
				    1UL << (SIGSTOP - 1) | 1UL << (SIGTSTP - 1) |
				    1UL << (SIGTTIN - 1) | 1UL << (SIGTTOU - 1);

	pending &= ~harmless;
	return pending ? __builtin_ctzl(pending) + 1 : (status & 255) << 8;
}

/* Done by parent and child, so that it is true for both before they go on. */
static void own_group(struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	t->pgid = t->pid;
	spin_unlock_irqrestore(&task_lock, flags);
}

static void os_start_task(void *arg)
{
	struct start s = *(struct start *)arg;

	kfree(arg);
	if (s.group)
		own_group(current());
	for (int fd = 0; fd < 3; fd++) {
		os_set_fd(fd, s.io[fd]);
		if (s.io[fd])
			file_put(s.io[fd]);
	}
	do_exit(wait_status(s.fn(s.arg)));
}

int os_fork(int (*fn)(void *), void *arg, const char *name, struct file *const io[3], bool group)
{
	struct start *s = kmalloc(sizeof(*s));
	struct task *t;

	if (!s)
		return -ENOMEM;
	*s = (struct start){.fn = fn, .arg = arg, .group = group};
	for (int fd = 0; fd < 3; fd++)
		s->io[fd] = io[fd] ? file_get(io[fd]) : NULL;
	t = kthread_fork(os_start_task, s, name);
	if (t) { /* not reaped before the caller waits: it stays */
		if (group)
			own_group(t);
		return t->pid;
	}
	for (int fd = 0; fd < 3; fd++)
		if (s->io[fd])
			file_put(s->io[fd]);
	kfree(s);
	return -EAGAIN;
}

int os_set_fd(int fd, struct file *f)
{
	struct task *t = current();
	int r;

	if (!t->files)
		t->files = files_create();
	if (!t->files)
		return -ENOMEM;
	if (!f) {
		files_close(t->files, fd);
		return 0;
	}
	r = files_install_at(t->files, fd, file_get(f), false);
	return r < 0 ? r : 0;
}

int os_exec(
    const char *path, char *const argv[], char *const envp[], void (*release)(void *), void *arg)
{
	struct exec_args a = {0};
	int e = 0;

	for (int i = 0; argv[i] && !e; i++)
		e = exec_args_add(&a, argv[i], false);
	for (int i = 0; envp[i] && !e; i++)
		e = exec_args_add(&a, envp[i], true);
	if (!e)
		e = task_exec_args(path, &a);
	exec_args_free(&a);
	if (e)
		return e;
	if (release)
		release(arg);
	irq_disable();
	arch_enter_user();
}

int os_wait(int pid, bool block, int *sig, int *which)
{
	int status = 0, r = task_wait(pid, &status, block ? 0 : 1);

	*sig = status & 0x7f;
	*which = r;
	if (r <= 0)
		return r ? r : -EAGAIN;
	return *sig ? 128 + *sig : status >> 8 & 255;
}

int os_kill(int pid, int sig)
{
	return signal_kill(pid, sig);
}

const char *os_signal_text(int sig)
{
	return signal_text(sig);
}

int os_sleep(u64 ns)
{
	return sleep_ns(ns, NULL);
}

bool os_interrupted(void)
{
	return signal_pending_current();
}

void os_clear_interrupt(void)
{
	signal_clear_current();
}

void os_set_comm(const char *name)
{
	task_set_comm(current(), name);
}

int os_set_affinity(int pid, u64 cpus)
{
	struct task *t = task_find(pid ? pid : current()->pid);
	int e;

	if (!t)
		return -ESRCH;
	e = task_set_affinity(t, cpus);
	task_put(t);
	return e;
}

u64 os_affinity(int pid)
{
	struct task *t = task_find(pid ? pid : current()->pid);
	u64 cpus;

	if (!t)
		return 0;
	cpus = READ_ONCE(t->cpus_allowed);
	task_put(t);
	return cpu_count() < 64 ? cpus & ((1UL << cpu_count()) - 1) : cpus;
}

static char state_letter(u32 state)
{
	static const struct {
		u32 bit;
		char letter;
	} letters[] = {{TASK_ZOMBIE, 'Z'}, {TASK_DEAD, 'X'}, {TASK_STOPPED, 'T'}, {TASK_IDLE, 'I'},
	    {TASK_UNINTERRUPTIBLE, 'D'}, {TASK_INTERRUPTIBLE, 'S'}};

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if ((state & letters[i].bit) == letters[i].bit)
			return letters[i].letter;
	return 'R';
}

static void fill_stat(struct shell_stat *out, struct task *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	*out = (struct shell_stat){
	    .pid = t->pid,
	    .ppid = t->parent ? t->parent->pid : 0,
	    .state = state_letter(READ_ONCE(t->state)),
	    .run_ns = t->run_total_ns,
	};
	spin_unlock_irqrestore(&task_lock, flags);
	memcpy(out->comm, t->comm, sizeof(out->comm));
	out->comm[sizeof(out->comm) - 1] = 0;
}

int os_ps(int after_pid, struct shell_stat *out)
{
	struct task *t = task_next(NULL);

	while (t && t->pid <= after_pid)
		t = task_next(t);
	if (!t)
		return 0;
	fill_stat(out, t);
	task_put(t);
	return 1;
}

struct file *os_stdio(int fd)
{
	struct file *f = current()->files ? files_get(current()->files, fd) : NULL;

	if (f)
		file_put(f); /* the table goes on counting it */
	return f;
}

u64 os_clock_ns(void)
{
	return clock_ns();
}

u64 os_unix_ns(void)
{
	return clock_boot_unix_ns() + clock_ns();
}

size_t os_stack_left(void)
{
	return (u64)__builtin_frame_address(0) - (current()->arch.stack_top - KERNEL_STACK_SIZE);
}

void os_out_of_memory(void)
{
	mem_exhausted();
}

u32 os_umask(u32 mask)
{
	u32 old = current()->umask;

	current()->umask = mask;
	return old;
}

void os_power(bool reboot)
{
	trace_glue_end();
	if (reboot)
		machine_reboot();
	machine_poweroff();
}

size_t os_log(u64 *pos, char *buf, size_t n)
{
	return printk_read(pos, buf, n);
}

int os_getc(void)
{
	return tty_getc();
}

void os_tty_raw(bool raw)
{
	tty_set_raw(raw);
}

void os_tty_echo(bool on)
{
	tty_set_echo(on);
}

void os_tty_foreground(void)
{
	tty_set_foreground(current()->pgid);
}

bool os_is_tty(struct file *f)
{
	return tty_is(f);
}
