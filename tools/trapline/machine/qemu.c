/* Starts QEMU, with a pipe from each of its ports and a socket to its monitor. See machine.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/trapline/machine/loaded.h"
#include "tools/trapline/machine/machine.h"

/*
 * Ends of pipes and of the monitor's socket that QEMU gets; ours are in the struct qemu. And the
 * library that makes it deterministic.
 */
struct ends {
	int console, input, out, err, control, monitor, turns;
};

static bool make_pipe(int *ours, int *theirs)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return false;
	*ours = p[0];
	*theirs = p[1];
	return true;
}

static bool open_monitor(struct qemu *q, struct ends *e)
{
	static const char hello[] = "{\"execute\": \"qmp_capabilities\"}\n";
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return false;
	q->monitor = s[0];
	e->monitor = s[1];
	return write(s[0], hello, sizeof(hello) - 1) == sizeof(hello) - 1;
}

/* We write, and never wait: QEMU takes no more than the guest reads. */
static bool make_input(int *ours, int *theirs)
{
	return make_pipe(theirs, ours) && !fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static bool open_ports(struct qemu *q, struct ends *e, bool sealed)
{
	return make_pipe(&q->console, &e->console) && make_pipe(&q->out, &e->out) &&
	       make_pipe(&q->err, &e->err) && make_pipe(&q->control, &e->control) &&
	       (sealed || make_input(&q->input, &e->input));
}

static bool open_ends(struct qemu *q, struct ends *e, const struct machine_options *o)
{
	return open_monitor(q, e) && (o->console || open_ports(q, e, o->sealed));
}

static void close_ends(const struct ends *e)
{
	const int all[] = {e->out, e->err, e->control, e->console, e->monitor, e->input, e->turns};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] >= 0)
			close(all[i]);
}

static void inherit(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* Before the libraries that the user has preloaded, if any. */
static void preload(int library)
{
	const char *others = getenv("LD_PRELOAD");
	char text[8192];
	int n = snprintf(text, sizeof(text), LOADED_PATH "%s%s", library,
	    others && *others ? ":" : "", others ? others : "");

	if (n >= (int)sizeof(text) || setenv("LD_PRELOAD", text, 1))
		_exit(126);
}

/* In the child. It ends with us; Ctrl-C is for us alone, unless it has the terminal. */
static void become_qemu(const struct machine_files *files, const struct ends *e,
    const struct machine_spy *spy, char *const *command, int report)
{
	sigset_t none;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (e->console >= 0) {
		setpgid(0, 0);
		dup2(e->input >= 0 ? e->input : open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(e->console, STDOUT_FILENO);
	}
	inherit(files->memory);
	inherit(files->archive);
	inherit(files->out);
	inherit(files->err);
	inherit(files->control);
	inherit(files->monitor);
	if (spy) {
		inherit(spy->plugin);
		inherit(spy->plan);
		inherit(spy->channel);
		inherit(spy->gdb);
		dup2(spy->err, STDERR_FILENO);
	}
	inherit(e->turns);
	if (e->turns >= 0)
		preload(e->turns);
	execvp(command[0], command);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void say_no_qemu(const char *qemu, int error)
{
	if (error == ENOENT)
		say("%s is not found: install QEMU (Debian: qemu-system-x86), or name it: "
		    "QEMU=PATH",
		    qemu);
	else
		say("%s: %s", qemu, strerror(error));
}

/* False, said. What exec has to say comes through a pipe that it closes when all is well. */
static bool spawn(struct qemu *q, const struct machine_files *files, const struct ends *e,
    const struct machine_spy *spy, char **command)
{
	int report[2], error;

	if (pipe2(report, O_CLOEXEC)) {
		say_errno(command[0]);
		return false;
	}
	fflush(NULL);
	q->pid = fork();
	if (!q->pid)
		become_qemu(files, e, spy, command, report[1]);
	if (q->pid < 0)
		say_errno(command[0]);
	close(report[1]);
	bool failed = read(report[0], &error, sizeof(error)) == sizeof(error);
	close(report[0]);
	if (failed)
		say_no_qemu(command[0], error);
	return q->pid > 0 && !failed;
}

bool qemu_start(struct qemu *q, const struct machine_options *o, int memory, int archive)
{
	struct ends e = {-1, -1, -1, -1, -1, -1, -1};
	bool started = false;

	*q = (struct qemu){-1, -1, -1, -1, -1, -1, -1};
	if (o->icount && (e.turns = loaded_open(LOADED_TURNS)) < 0)
		return false;
	if (open_ends(q, &e, o)) {
		const struct machine_files files = {
		    memory, archive, e.out, e.err, e.control, e.monitor};
		char **command = machine_command(o, &files);

		started = spawn(q, &files, &e, o->spy, command);
		for (char **word = command; *word; word++)
			free(*word);
		free(command);
	} else {
		say_errno("QEMU's pipes");
	}
	close_ends(&e);
	return started;
}
