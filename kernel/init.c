/*
 * Pid 1: unpacks the archives, then runs what the command line asks for, and reaps what others leave behind. Task context.
 *
 *     ktest=PATTERN   the tests of this kernel whose names begin so, then out by the debug-exit device
 *     bench=PATTERN   the same with measurements, beside the shell
 *     init=/path      that program or script first, and the shell when it is done
 *     init=monitor    the monitor first
 *     shell=plain     the shell without prompt, echo, editing and colours
 */
#include "kernel/init.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/files.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/monitor_system.h"
#include "kernel/base/printk.h"
#include "kernel/process/process.h"
#include "kernel/shell/shell.h"
#include "kernel/shell/sys.h"
#include "kernel/task/session.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/console/tty.h"

/* kernel/fs/archive.S */
extern const char archive_start[], archive_end[];

#pragma weak ktest_main /* these are not there but in the test kernel */
#pragma weak bench_start

static bool init_shell_is_plain(void)
{
	const char *mode = cmdline_get("shell");
	return mode && strcmp(mode, "plain") == 0;
}

static void unpack_archives(const struct boot_info *bi)
{
	if (cpio_unpack(archive_start, archive_end - archive_start))
		pr_err("the built-in archive is damaged");
	if (bi->initrd_size && cpio_unpack(phys_to_virt(bi->initrd_base), bi->initrd_size))
		pr_err("initrd: not a cpio archive of the newc kind, or cut off; what came before "
		       "stays");
}

/* The console as 0, 1 and 2. Without one there are no files: a write gets EBADF. */
static void init_open_console(void)
{
	struct task *t = current();
	struct file *f;

	if (!t->files)
		t->files = files_create();
	if (!t->files || file_open("/dev/console", O_RDWR | O_NOCTTY, 0, &f))
		return;
	for (int fd = 0; fd < 3; fd++)
		files_install_at(t->files, fd, file_get(f), false);
	file_put(f);
}

/*
 * Makes the current task, a child of pid 1, the leader of a session on the console. The files it inherited may be of a session that has
 * lost the console: it gets its own.
 */
static void lead_session(void)
{
	session_create();
	tty_control_console();
	init_open_console();
}

static void run_tests(const char *pattern)
{
	int failed = 1;

	if (ktest_main)
		failed = ktest_main(pattern);
	else
		pr_err("ktest: this kernel has no tests in it");
	machine_exit(failed ? 1 : 0);
}

static int init_exec_first(void *path)
{
	char *argv[] = {path, NULL};
	char *envp[] = {"HOME=/", "PATH=/bin", "TERM=linux", NULL};
	int r;

	lead_session();
	r = os_exec(path, argv, envp, NULL, NULL);
	if (r == -ENOEXEC)
		return shell_script(path);
	pr_err("init: %s: %s", (char *)path, errno_text(-r));
	return r == -ENOENT ? 127 : 126;
}

/* Runs init=/path and says how it ended. */
static void run_first(const char *path)
{
	struct file *f = files_get(current()->files, 0);
	struct file *io[3] = {f, f, f};
	int pid = os_fork(init_exec_first, (void *)path, "init-program", io, false);
	int sig = 0, who = 0, status;

	file_put(f);
	if (pid < 0) {
		pr_err("init: %s: %s", path, errno_text(-pid));
		return;
	}
	do {
		status = os_wait(-1, true, &sig, &who);
	} while (status >= 0 && who != pid);
	pr_info("init: %s ended with status %d", path, status);
}

/* The line before the prompt, for somebody who has never seen it. Log lines end before it. */
static void say_hint(void)
{
	static const char hint[] = "Type help for what can be done here, poweroff to leave.\n";

	kernel_write(os_stdio(1), hint, sizeof(hint) - 1);
}

static void init_shell_task(void *unused)
{
	(void)unused;
	lead_session();
	if (!init_shell_is_plain())
		say_hint();
	do_exit(shell_main(init_shell_is_plain()) << 8);
}

/* Keeps a shell on the console and takes in orphans, for ever. */
static void __noreturn keep_shell(void)
{
	for (;;) {
		struct task *t = kthread_fork(init_shell_task, NULL, "sh");
		int pid = t ? t->pid : -1, gone;

		if (!t) {
			pr_err("init: no memory for a shell");
			sleep_ns(1000000000, NULL);
			continue;
		}
		do {
			gone = task_wait(-1, NULL, 0);
		} while (gone != pid && gone != -ECHILD);
	}
}

void init_main(void *boot_info)
{
	const char *tests = cmdline_get("ktest"), *first = cmdline_get("init"),
		   *bench = cmdline_get("bench");

	init_task = current();
	kprobe_optimizer_init();
	unpack_archives(boot_info);
	init_open_console();
	vfs_chdir(init_shell_is_plain() ? "/sys/kernel/tracing" : "/");
	monitor_init();
	if (tests)
		run_tests(tests);
	if (bench && bench_start)
		bench_start(bench);
	if (first && !strcmp(first, "monitor"))
		monitor_session(NULL);
	else if (first && *first)
		run_first(first);
	keep_shell();
}
