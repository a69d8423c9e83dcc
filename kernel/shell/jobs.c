/* Children of a shell: who runs, who has ended and how. Task context; the list belongs to the shell's task. */
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/exec.h"

#define FINISHED_MAX 100 /* jobs nobody waited for that are remembered */

static void remove(struct shell *sh, struct sh_job *j)
{
	struct sh_job **at = &sh->jobs;

	while (*at && *at != j)
		at = &(*at)->next;
	if (*at)
		*at = j->next;
	kfree(j);
}

/* Forgets the oldest of too many that have ended. */
static void forget_old(struct shell *sh)
{
	struct sh_job *oldest = NULL;
	int finished = 0;

	for (struct sh_job *j = sh->jobs; j; j = j->next) {
		if (j->status < 0)
			continue;
		oldest = oldest ? oldest : j;
		finished++;
	}
	if (finished > FINISHED_MAX)
		remove(sh, oldest);
}

struct sh_job *sh_job_add(struct shell *sh, int pid, const char *text, bool background)
{
	struct sh_job *j = kzalloc(sizeof(*j)), **at = &sh->jobs;
	int number = 1;

	if (!j)
		return NULL;
	forget_old(sh);
	for (; *at; at = &(*at)->next)
		if ((*at)->background)
			number = (*at)->number + 1;
	*j = (struct sh_job){.pid = pid, .number = number, .status = -1, .background = background};
	strscpy(j->text, text, sizeof(j->text));
	*at = j;
	return j;
}

static struct sh_job *find(struct shell *sh, int pid)
{
	struct sh_job *j = sh->jobs;

	while (j && j->pid != pid)
		j = j->next;
	return j;
}

/* What a fault or a kill did to a command in front. */
static void tell_signal(struct shell *sh, int sig)
{
	struct sh_buf b = {0};

	if (!sig || sig == 2 || sig == 13 || sh->subshell)
		return;
	sh_buf_printf(&b, "%s\n", os_signal_text(sig));
	if (b.len)
		sh_write_all(sh->fd[2], b.s, b.len);
	sh_buf_free(&b);
}

/* A child has ended. */
static void note(struct shell *sh, int pid, int status, int sig)
{
	struct sh_job *j = find(sh, pid);

	if (!j)
		return;
	j->status = status;
	j->signal = sig;
	if (!j->background)
		tell_signal(sh, sig);
}

void sh_jobs_tell(struct shell *sh)
{
	struct sh_job *j = sh->jobs, *next;
	struct sh_buf b = {0};

	for (; j; j = next) {
		next = j->next;
		if (j->status < 0 || !j->background)
			continue;
		sh_buf_printf(&b, "[%d] %s %s\n", j->number,
		    j->signal ? os_signal_text(j->signal) : "Done", j->text);
		remove(sh, j);
	}
	if (b.len)
		sh_write_all(sh->fd[2], b.s, b.len);
	sh_buf_free(&b);
}

void sh_jobs_poll(struct shell *sh)
{
	int pid, sig, status;

	while (sh->jobs && (status = os_wait(-1, false, &sig, &pid)) >= 0)
		note(sh, pid, status, sig);
}

/* Ctrl-C while waiting: the child has got it too; the shell remembers and goes on waiting for it to end. */
static void interrupted(struct shell *sh)
{
	os_clear_interrupt();
	sh->interrupted = true;
}

int sh_job_wait(struct shell *sh, int pid)
{
	struct sh_job *j = find(sh, pid);
	int sig, which, status;
	bool told = false;

	while (j && j->status < 0) {
		status = os_wait(-1, true, &sig, &which);
		if (status >= 0) {
			note(sh, which, status, sig);
			continue;
		}
		if (status != -EINTR)
			break;
		if (sh->subshell) { /* whoever killed this task means its children too */
			if (told)
				break;
			told = true;
			os_kill(pid, 15);
			break;
		}
		interrupted(sh);
	}
	status = j && j->status >= 0 ? j->status : 127;
	if (j)
		remove(sh, j);
	return status;
}

void sh_jobs_free(struct shell *sh)
{
	while (sh->jobs)
		remove(sh, sh->jobs);
}

/* Waits for one job in the foreground of `wait`: Ctrl-C ends the waiting, not the job. tell: which signal ended it, if one did. */
static int wait_one(struct sh_io *io, int pid, bool tell)
{
	struct shell *sh = io->sh;
	struct sh_job *j = find(sh, pid);
	int sig, which, status;

	if (!j)
		return 127;
	while (j->status < 0) {
		status = os_wait(-1, true, &sig, &which);
		if (status >= 0)
			note(sh, which, status, sig);
		else if (status == -EINTR)
			return 130;
		else
			break;
	}
	status = j->status >= 0 ? j->status : 127;
	if (tell && j->background)
		tell_signal(sh, j->signal);
	remove(sh, j);
	return status;
}

static int job_pid(struct sh_io *io, const char *s, int *pid)
{
	struct sh_job *j;
	u64 n;

	if (parse_u64(s + (*s == '%'), 10, &n) || n > INT_MAX)
		return sh_fail(io, "bad job or pid '%s'", s);
	*pid = n;
	if (*s != '%')
		return 0;
	for (j = io->sh->jobs; j; j = j->next) {
		if (j->background && j->number == (int)n) {
			*pid = j->pid;
			return 0;
		}
	}
	return sh_fail(io, "no such job: %s", s);
}

int sh_cmd_wait(struct sh_io *io, int argc, char **argv)
{
	int status = 0, pid;

	for (int i = 1; i < argc; i++) {
		if (job_pid(io, argv[i], &pid))
			return 2;
		status = wait_one(io, pid, true);
	}
	if (argc > 1)
		return status;
	while (io->sh->jobs) {
		status = wait_one(io, io->sh->jobs->pid, false);
		if (status == 130 && os_interrupted())
			return status;
	}
	return 0;
}

int sh_cmd_jobs(struct sh_io *io, int argc, char **argv)
{
	(void)argc, (void)argv;
	sh_jobs_poll(io->sh);
	for (struct sh_job *j = io->sh->jobs; j; j = j->next)
		if (j->background)
			sh_printf(io, "[%d] %d %s %s\n", j->number, j->pid,
			    j->status < 0 ? "Running" : "Done   ", j->text);
	return 0;
}

int sh_cmd_fg(struct sh_io *io, int argc, char **argv)
{
	struct sh_job *j = io->sh->jobs;
	int pid;

	if (argc > 1) {
		if (job_pid(io, argv[1], &pid))
			return 1;
	} else {
		while (j && j->next)
			j = j->next;
		if (!j)
			return sh_fail(io, "no job");
		pid = j->pid;
	}
	return sh_job_wait(io->sh, pid);
}

int sh_cmd_kill(struct sh_io *io, int argc, char **argv)
{
	static const char *const names[] = {"EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT",
	    "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD",
	    "CONT", "STOP"};
	int at = 1, pid, bad = 0, e;
	u64 sig = 15;

	if (!strcmp(argv[1], "-l")) {
		for (size_t i = 1; i < ARRAY_SIZE(names); i++)
			sh_printf(io, "%zu) %s\n", i, names[i]);
		return 0;
	}
	if (argv[1][0] == '-' && argc > 2) {
		const char *s = argv[at++] + 1;

		if (!strcmp(s, "s"))
			s = argv[at++];
		if (parse_u64(s, 10, &sig)) {
			s += str_has_prefix(s, "SIG") ? 3 : 0;
			for (sig = 0; sig < ARRAY_SIZE(names) && strcmp(names[sig], s); sig++)
				;
		}
		if (sig >= 64 || (sig >= ARRAY_SIZE(names) && parse_u64(s, 10, &sig)))
			return sh_fail(io, "bad signal name '%s'", s);
	}
	for (; at < argc; at++) {
		bool group = argv[at][0] == '-';

		if (job_pid(io, argv[at] + group, &pid)) {
			bad = 1;
			continue;
		}
		e = os_kill(group ? -pid : pid, sig);
		if (e)
			bad = sh_fail(io, "can't kill pid %d: %s", pid, sh_strerror(e));
	}
	return bad;
}
