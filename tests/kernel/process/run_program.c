/* Ring-3 programs as children of a test: see run_program.h. */
#include "tests/kernel/process/run_program.h"
#include "kernel/fs/vfs.h"
#include "kernel/process/process.h"
#include "kernel/task/task.h"

struct program {
	struct process_start start;
	const char *path, *arg;
};

static int become(struct process_start *start)
{
	const struct program *p = container_of(start, struct program, start);
	int e = process_open_terminal("/dev/console", O_NOCTTY);

	if (e)
		return e;
	return process_become(p->path, (const char *const[]){p->path, p->arg, NULL},
	    (const char *const[]){"PATH=/bin", NULL});
}

int run_program(const char *path, const char *arg)
{
	struct program p = {{become}, path, arg};
	int pid = process_start(&p.start, "test"), status, r;

	if (pid < 0)
		return pid;
	do {
		r = task_wait(-1, &status, 0);
	} while (r > 0 && r != pid);
	if (r < 0)
		return r;
	return status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 255;
}
