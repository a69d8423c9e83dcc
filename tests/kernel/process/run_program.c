/* Runs a ring-3 program as the shell would: see run_program.h. */
#include "tests/kernel/process/run_program.h"
#include "kernel/fs/files.h"
#include "kernel/shell/sys.h"
#include "kernel/task/task.h"

struct program {
	const char *path, *arg;
};

static int become(void *program)
{
	const struct program *p = program;
	char *argv[] = {(char *)p->path, (char *)p->arg, NULL};
	char *envp[] = {"PATH=/bin", NULL};

	os_exec(p->path, argv, envp, NULL, NULL);
	return 126;
}

int run_program(const char *path, const char *arg)
{
	struct program p = {path, arg};
	struct file *io[3];
	int pid, status, sig, who;

	for (int fd = 0; fd < 3; fd++)
		io[fd] = files_get(current()->files, fd);
	pid = os_fork(become, &p, "test", io, true);
	for (int fd = 0; fd < 3; fd++)
		file_put(io[fd]);
	if (pid < 0)
		return pid;
	do {
		status = os_wait(pid, true, &sig, &who);
	} while (status >= 0 && who != pid);
	return status;
}
