/* Ring-3 programs as children of a test: see run_program.h. */
#include "tests/kernel/process/run_program.h"
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/fs/files.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/process/exec.h"
#include "kernel/process/process.h"
#include "kernel/task/task.h"

struct program {
	const char *path, *arg;
};

/* The console as 0, 1 and 2. */
static int open_console(void)
{
	struct task *t = current();
	struct file *f;
	int e;

	if (!t->files)
		t->files = files_create();
	if (!t->files)
		return -ENOMEM;
	for (int fd = 0; fd < 3; fd++) {
		e = file_open("/dev/console", O_RDWR | O_NOCTTY, 0, &f);
		if (e)
			return e;
		e = files_install_at(t->files, fd, f, false);
		if (e < 0)
			return e;
	}
	return 0;
}

static void become(void *program)
{
	const struct program *p = program;
	struct exec_args a = {0};
	int e = open_console();

	if (!e)
		e = exec_args_add(&a, p->path, false);
	if (!e && p->arg)
		e = exec_args_add(&a, p->arg, false);
	if (!e)
		e = exec_args_add(&a, "PATH=/bin", true);
	if (!e)
		e = task_exec_args(p->path, &a);
	exec_args_free(&a);
	if (e)
		do_exit(126 << 8);
	irq_disable();
	arch_enter_user();
}

int run_program(const char *path, const char *arg)
{
	struct program p = {path, arg};
	struct task *t = kthread_fork(become, &p, "test");
	int pid = t ? t->pid : -EAGAIN, status, r;

	if (pid < 0)
		return pid;
	do {
		r = task_wait(-1, &status, 0);
	} while (r > 0 && r != pid);
	if (r < 0)
		return r;
	return status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 255;
}
