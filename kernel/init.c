/*
 * Pid 1: unpacks the archives, then runs what the command line asks for, and reaps what others
 * leave behind. Task context.
 *
 *     ktest=PATTERN   the tests of this kernel whose names begin so, then out by the debug-exit
 *                     device
 *     bench=PATTERN   the same with measurements, beside the shell
 *     init=/path      that program or script first, and the shell when it is done
 *     init=monitor    the monitor first
 *     shell=plain     the shell without prompt, echo, editing and banner
 *     getty=ttyS1     a shell on that serial port, too; several words are several shells
 *
 * The shell is /bin/sh, a program. Each one leads a session on its terminal; when it ends, however
 * it ended, the terminal gets the next. Where there is none to be had, the console gets the
 * monitor.
 */
#include "kernel/init.h"
#include "arch/arch.h"
#include "boot/boot_info.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/console/tty.h"
#include "kernel/fs/cwd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/fs/unpack.h"
#include "kernel/fs/vfs.h"
#include "kernel/kprobe/kprobe.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"
#include "kernel/monitor_system.h"
#include "kernel/process/process.h"
#include "kernel/task/session.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"
#include "kernel/trace/tracing.h"

/* kernel/fs/archive.S */
extern const char archive_start[], archive_end[];

#pragma weak ktest_main /* these are not there but in the test kernel */
#pragma weak bench_start
#pragma weak races_files_init

#define SHELL	  "/bin/sh"
#define SEATS_MAX 8
#define PAUSE_NS  100000000UL /* between a shell that ended at once and the next */

/* A terminal, and who leads the session on it. */
struct seat {
	struct process_start start;
	char device[16];   /* "/dev/console" */
	const char *first; /* init=: runs before the shells; NULL: none, or it has run */
	int pid;	   /* of the leader; 0: none */
	u64 began_ns;
	int status;  /* $? of the shell that was there before; 0: none was */
	int trouble; /* -errno: why its program could not be started; logged once it has ended */
	/* -errno: why no shell is to be had; then the console has the monitor, others nobody */
	int without;
};

static struct seat seats[SEATS_MAX];
static unsigned seat_count;
static u64 shell_ns; /* when the first shell was started; 0: none was */

u64 init_shell_ns(void)
{
	return shell_ns;
}

static bool init_shell_is_plain(void)
{
	const char *mode = cmdline_get("shell");
	return mode && strcmp(mode, "plain") == 0;
}

static void init_unpack_archives(const struct boot_info *bi)
{
	if (cpio_unpack(archive_start, archive_end - archive_start))
		pr_err("the built-in archive is damaged");
	if (bi->initrd_size && cpio_unpack(phys_to_virt(bi->initrd_base), bi->initrd_size))
		pr_err("initrd: not a cpio archive of the newc kind, or cut off; what came before "
		       "stays");
}

/* ---- a session's first program, in its own task ---- */

/* What is left of another session does not read what is typed for the next. */
static int init_vacate(const struct seat *s)
{
	struct file *f;
	int e = file_open(s->device, O_RDWR | O_NOCTTY, 0, &f);

	if (e)
		return e;
	/* The console terminal has its shell, whatever the name by which it is asked for. */
	e = s != seats && tty_is_console(f) ? -EBUSY : tty_vacate(f);
	file_put(f);
	return e;
}

/* Leads a session on the seat's terminal, which has the modes of its beginning. */
static int init_lead_session(const struct seat *s, bool echo)
{
	struct file *f;
	int e = init_vacate(s);

	if (!e)
		e = process_open_terminal(s->device, O_NOCTTY);
	if (e)
		return e;
	session_create();
	f = files_get(current()->files, 0);
	e = tty_take(f, echo);
	file_put(f);
	return e;
}

/* `extra`: one more word of its environment, or NULL. */
static int init_become(const char *path, const char *const argv[], const char *extra)
{
	return process_become(path, argv,
	    (const char *const[]){
		"HOME=/", "PATH=/bin", "TERM=vt100", "ENV=/etc/profile", extra, NULL});
}

/* init=: a program, or commands for the shell. */
static int init_become_first(const char *path)
{
	int e = init_become(path, (const char *const[]){path, NULL}, NULL);

	return e == -ENOEXEC ? init_become(SHELL, (const char *const[]){"sh", path, NULL}, NULL)
			     : e;
}

/* The line before the prompt, for somebody who has never seen it. Log lines end before it. */
static void init_say_hint(void)
{
	static const char hint[] = "Type help for what can be done here, poweroff to leave.\n";
	struct file *f = files_get(current()->files, 1);

	kernel_write(f, hint, sizeof(hint) - 1);
	file_put(f);
}

/*
 * A shell that is to keep quiet must not take itself for interactive: it would with a terminal as
 * input and output. It finds its output closed to it, and /etc/profile opens it again. Such a shell
 * ends at the first error of a kind; who types commands at it is to find $? as if it were still
 * there.
 */
static int init_become_shell(int status)
{
	char last[16];
	struct file *f;
	int e;

	if (!shell_ns)
		shell_ns = clock_ns();
	vfs_chdir("/sys/kernel/tracing");
	if (!init_shell_is_plain()) {
		init_say_hint();
		return init_become(SHELL, (const char *const[]){"sh", NULL}, NULL);
	}
	fmt_snprintf(last, sizeof(last), "STATUS=%d", status);
	e = file_open("/dev/null", O_WRONLY, 0, &f);
	if (e)
		return e;
	e = files_install_at(current()->files, 1, f, false);
	return e < 0 ? e : init_become(SHELL, (const char *const[]){"sh", "-l", NULL}, last);
}

static void __noreturn init_run_monitor(int why)
{
	char line[64];

	fmt_snprintf(line, sizeof(line), "No " SHELL " here: %s.", errno_text(-why));
	monitor_session(line);
	do_exit(0);
	__builtin_trap();
}

static int init_seat_become(struct process_start *start)
{
	struct seat *s = container_of(start, struct seat, start);
	int e;

	if (s->without)
		init_run_monitor(s->without);
	e = init_lead_session(s, !init_shell_is_plain());
	if (!e)
		e = s->first ? init_become_first(s->first) : init_become_shell(s->status);
	s->trouble = e;
	return e;
}

/* ---- pid 1 itself ---- */

static void init_run_tests(const char *pattern)
{
	int failed = 1;

	if (ktest_main)
		failed = ktest_main(pattern);
	else
		pr_err("ktest: this kernel has no tests in it");
	machine_exit(failed ? 1 : 0);
}

static void init_seat_start(struct seat *s)
{
	int pid;

	s->start.become = init_seat_become;
	s->began_ns = clock_ns();
	pid = process_start(&s->start, "sh");
	s->pid = pid > 0 ? pid : 0;
}

static void init_seat_add(const char *device, const char *first)
{
	struct seat *s = &seats[seat_count];

	if (seat_count == SEATS_MAX) {
		pr_warn("getty=%s: %u terminals have a shell already", device, SEATS_MAX);
		return;
	}
	fmt_snprintf(s->device, sizeof(s->device), "/dev/%s", device);
	for (const struct seat *other = seats; other < s; other++)
		if (!strcmp(other->device, s->device))
			return;
	s->first = first;
	seat_count++;
}

static void init_add_seats(const char *first)
{
	const char *port;

	init_seat_add("console", first && *first ? first : NULL);
	for (unsigned i = 0; (port = cmdline_nth("getty", i)); i++)
		init_seat_add(port, NULL);
}

static void init_seat_ended(struct seat *s, int status)
{
	int sig = status & 0x7f;

	s->pid = 0;
	s->status = sig ? 128 + sig : status >> 8 & 255;
	if (s->trouble)
		pr_err("init: %s on %s: %s", s->first ? s->first : SHELL, s->device,
		    errno_text(-s->trouble));
	if (s->first)
		pr_info(
		    "init: %s ended with status %d", s->first, sig ? 128 + sig : status >> 8 & 255);
	else if (s->trouble)
		s->without = s->trouble;
	else if (clock_ns() - s->began_ns < PAUSE_NS)
		sleep_ns(PAUSE_NS, NULL);
	s->first = NULL;
	s->trouble = 0;
}

static bool init_is_wanted(const struct seat *s)
{
	return !s->pid && (!s->without || s == seats);
}

/* The signals that busybox's halt, poweroff and reboot send, unless they act themselves (-f). */
static void init_obey(void)
{
	u64 asked = signal_take_init();

	if (!asked)
		return;
	machine_walls_check("at the end");
	trace_glue_end();
	if (asked & INIT_REBOOT)
		machine_reboot();
	if (asked & INIT_POWEROFF)
		machine_poweroff();
	machine_halt();
}

/* Keeps a shell on each terminal and takes in orphans, for ever. */
static void __noreturn init_keep_shells(void)
{
	for (;;) {
		int status, gone;

		for (struct seat *s = seats; s < seats + seat_count; s++)
			if (init_is_wanted(s))
				init_seat_start(s);
		gone = task_wait(-1, &status, 0);
		init_obey();
		for (struct seat *s = seats; s < seats + seat_count; s++)
			if (s->pid && s->pid == gone)
				init_seat_ended(s, status);
		if (gone == -ECHILD) /* no memory for a single task */
			sleep_ns(PAUSE_NS, NULL);
	}
}

void init_main(void *boot_info)
{
	const char *tests = cmdline_get("ktest"), *first = cmdline_get("init"),
		   *bench = cmdline_get("bench");

	init_task = current();
	kprobe_optimizer_init();
	init_unpack_archives(boot_info);
	process_open_terminal("/dev/console", O_NOCTTY);
	monitor_init();
	if (tests)
		init_run_tests(tests);
	if (bench && bench_start)
		bench_start(bench);
	if (cmdline_get("races") && races_files_init)
		races_files_init();
	if (first && !strcmp(first, "monitor")) {
		monitor_session(NULL);
		first = NULL;
	}
	init_add_seats(first);
	init_keep_shells();
}
