/*
 * The life of a machine. One loop waits for what its ports say, for signals and for times; nothing in it blocks but QEMU's end.
 *
 *   port 1, the console   what the kernel itself says, to the standard error
 *   ports 2 and 3         the program's output, to ours: a byte is taken when there is room for it, so that a slow reader slows the
 *                         program and nothing is lost
 *   port 4                what the script tells (script.h)
 *   the monitor           QMP: whether the machine was switched off or reset
 */
#include "tools/trapline/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	    4096 /* what a pipe that polls as writable has room for */
#define LINE_MOST   4096
#define END_WAIT_NS 5000000000ULL /* QEMU is asked to end; then it is told */

static const char panic_words[] = "Kernel panic - not syncing";

struct life;

struct line {
	char text[LINE_MOST];
	size_t n;
};

/* From the machine: passed on to a file of ours (`to`), or taken as lines. */
struct channel {
	int from, to; /* -1: closed; nobody */
	void (*take)(struct life *life, const char *line);
	struct line line;
	char data[CHUNK];
	size_t at, n;
};

enum { CONSOLE, OUT, ERR, CONTROL, MONITOR, CHANNELS };

struct life {
	struct machine *m;
	pid_t pid;
	struct channel channel[CHANNELS];
	uint64_t deadline, kill_at, next_look;
	bool asked; /* to end */
};

static volatile sig_atomic_t signalled;

/* The second one is not for us any more. */
static void note_signal(int sig)
{
	signalled = sig;
	unfinished_watch();
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- what it says --------------------------------------------------------------------------------------------------- */

/* The end of a line may be "\r\n", and the last line may have none. */
static void end_line(struct life *life, struct channel *c)
{
	while (c->line.n && c->line.text[c->line.n - 1] == '\r')
		c->line.n--;
	c->line.text[c->line.n] = '\0';
	c->take(life, c->line.text);
	c->line.n = 0;
}

static void take_lines(struct life *life, struct channel *c)
{
	for (; c->at < c->n; c->at++) {
		if (c->data[c->at] == '\n' || c->line.n == LINE_MOST - 1)
			end_line(life, c);
		if (c->data[c->at] != '\n')
			c->line.text[c->line.n++] = c->data[c->at];
	}
}

static void take_console(struct life *life, const char *line)
{
	life->m->panicked |= !!strstr(line, panic_words);
	fprintf(stderr, "%s\n", line);
}

static void take_monitor(struct life *life, const char *line)
{
	if (!strstr(line, "\"SHUTDOWN\"") || life->m->end != END_NOT_YET)
		return;
	if (strstr(line, "\"guest-shutdown\""))
		life->m->end = END_OFF;
	else if (strstr(line, "\"guest-reset\""))
		life->m->end = END_RESET;
}

void machine_told(struct machine *m, const char *line)
{
	if (m->failed_step >= 0) {
		bytes_put(&m->why, line, strlen(line));
		bytes_put(&m->why, "\n", 1);
	} else if (!strcmp(line, TOLD_READY)) {
		m->ready = true;
	} else if (!strncmp(line, TOLD_EXIT, strlen(TOLD_EXIT))) {
		m->status = atoi(line + strlen(TOLD_EXIT)) & 255;
	} else if (!strncmp(line, TOLD_WARN, strlen(TOLD_WARN))) {
		if (m->warned)
			m->warned(m, atoi(line + strlen(TOLD_WARN)));
	} else if (!strncmp(line, TOLD_FAIL, strlen(TOLD_FAIL))) {
		m->failed_step = atoi(line + strlen(TOLD_FAIL));
	}
}

static void take_control(struct life *life, const char *line)
{
	machine_told(life->m, line);
	if (life->m->status >= 0) /* it switches itself off */
		life->deadline = now_ns() + END_WAIT_NS;
}

/* ---- channels ------------------------------------------------------------------------------------------------------- */

static void receive(struct life *life, struct channel *c)
{
	ssize_t got = read(c->from, c->data, sizeof(c->data));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	c->at = 0;
	c->n = got > 0 ? got : 0;
	if (got <= 0) {
		close(c->from);
		c->from = -1;
		if (c->line.n)
			end_line(life, c);
	} else if (c->take) {
		take_lines(life, c);
	} else if (c->to < 0) {
		c->n = 0; /* nobody wants it any more */
	}
}

/* A reader that has gone is no error: `trapline run ... | head`. What comes from now on is thrown away. */
static void pass_on(struct life *life, struct channel *c)
{
	ssize_t put = write(c->to, c->data + c->at, c->n - c->at);

	if (put >= 0) {
		c->at += put;
	} else if (errno != EINTR && errno != EAGAIN) {
		if (errno != EPIPE) {
			say_errno(c->to == STDOUT_FILENO ? "standard output" : "standard error");
			life->m->output_failed = true;
		}
		c->to = -1;
		c->at = c->n;
	}
}

static bool has_more(const struct channel *c)
{
	return c->at < c->n;
}

static bool is_open(const struct life *life)
{
	for (size_t i = 0; i < CHANNELS; i++)
		if (life->channel[i].from >= 0 || has_more(&life->channel[i]))
			return true;
	return false;
}

static void wait_for_channels(struct life *life, uint64_t until)
{
	struct pollfd p[CHANNELS];
	uint64_t now = now_ns(), wait = until > now ? until - now : 0;
	struct timespec t = {wait / 1000000000, wait % 1000000000};
	sigset_t none;

	for (size_t i = 0; i < CHANNELS; i++) {
		struct channel *c = &life->channel[i];
		p[i] = has_more(c) ? (struct pollfd){c->to, POLLOUT, 0}
				   : (struct pollfd){c->from, POLLIN, 0};
	}
	sigemptyset(&none);
	int n = ppoll(p, CHANNELS, until == ~0ULL ? NULL : &t, &none);
	for (size_t i = 0; n > 0 && i < CHANNELS; i++) {
		if (!p[i].revents)
			continue;
		if (has_more(&life->channel[i]))
			pass_on(life, &life->channel[i]);
		else
			receive(life, &life->channel[i]);
	}
}

/* ---- its end -------------------------------------------------------------------------------------------------------- */

static void ask_to_end(struct life *life, enum machine_end why)
{
	static const char quit[] = "{\"execute\": \"quit\"}\n";

	if (life->asked)
		return;
	life->asked = true;
	life->deadline = ~0ULL;
	life->kill_at = now_ns() + END_WAIT_NS;
	if (life->m->end == END_NOT_YET)
		life->m->end = why;
	if (send(life->channel[MONITOR].from, quit, sizeof(quit) - 1, MSG_DONTWAIT) < 0)
		kill(life->pid, SIGTERM);
}

static void look(struct life *life)
{
	struct machine *m = life->m;

	if (m->look && m->ready)
		m->look(m);
	life->next_look = m->look ? now_ns() + m->look_ns : ~0ULL;
}

static uint64_t earliest(const struct life *life)
{
	uint64_t at = life->deadline;

	at = life->kill_at < at ? life->kill_at : at;
	return life->next_look < at ? life->next_look : at;
}

static void step(struct life *life)
{
	wait_for_channels(life, earliest(life));
	if (signalled) {
		life->m->signal = signalled;
		ask_to_end(life, END_SIGNAL);
	}
	if (now_ns() >= life->deadline)
		ask_to_end(life, END_TIMEOUT);
	if (now_ns() >= life->kill_at) {
		kill(life->pid, SIGKILL);
		life->kill_at = ~0ULL;
	}
	if (now_ns() >= life->next_look)
		look(life);
}

/* ---- its beginning -------------------------------------------------------------------------------------------------- */

/* Ends of pipes and of the monitor's socket that QEMU gets; the others are in the channels. */
struct ends {
	int out, err, control, console, monitor;
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

static bool open_monitor(struct life *life, struct ends *e)
{
	static const char hello[] = "{\"execute\": \"qmp_capabilities\"}\n";
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return false;
	life->channel[MONITOR].from = s[0];
	e->monitor = s[1];
	return write(s[0], hello, sizeof(hello) - 1) == sizeof(hello) - 1;
}

static bool open_ends(struct life *life, struct ends *e)
{
	struct channel *c = life->channel;

	if (!open_monitor(life, e))
		return false;
	return life->m->options->console ||
	       (make_pipe(&c[CONSOLE].from, &e->console) && make_pipe(&c[OUT].from, &e->out) &&
		   make_pipe(&c[ERR].from, &e->err) && make_pipe(&c[CONTROL].from, &e->control));
}

static void close_ends(const struct ends *e)
{
	const int all[] = {e->out, e->err, e->control, e->console, e->monitor};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] >= 0)
			close(all[i]);
}

static void inherit(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* In the child. It ends with us; Ctrl-C is for us alone, unless it has the terminal. */
static void become_qemu(const struct machine *m, const struct ends *e, char **command, int report)
{
	sigset_t none;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!m->options->console) {
		setpgid(0, 0);
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(e->console, STDOUT_FILENO);
	}
	inherit(m->files.memory);
	inherit(m->files.archive);
	inherit(e->out);
	inherit(e->err);
	inherit(e->control);
	inherit(e->monitor);
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

static bool spawn(struct life *life, const struct ends *e)
{
	struct machine *m = life->m;
	char **command;
	int report[2], error;

	m->files.out = e->out;
	m->files.err = e->err;
	m->files.control = e->control;
	m->files.monitor = e->monitor;
	if (pipe2(report, O_CLOEXEC))
		return false;
	command = machine_command(m->options, &m->files);
	fflush(NULL);
	life->pid = fork();
	if (!life->pid)
		become_qemu(m, e, command, report[1]);
	close(report[1]);
	bool failed = read(report[0], &error, sizeof(error)) == sizeof(error);
	close(report[0]);
	if (failed)
		say_no_qemu(command[0], error);
	for (char **word = command; *word; word++)
		free(*word);
	free(command);
	return life->pid > 0 && !failed;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

static void watch_signals(sigset_t *before)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction how = {.sa_handler = note_signal}, old;
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&blocked, signals[i]);
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &how, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &blocked, before);
}

static void live(struct life *life)
{
	struct ends e = {-1, -1, -1, -1, -1};
	bool started = open_ends(life, &e) && spawn(life, &e);
	int status;

	close_ends(&e);
	if (!started)
		life->m->end = END_NO_QEMU;
	while (started && is_open(life))
		step(life);
	if (life->pid > 0)
		waitpid(life->pid, &status, 0);
	if (life->m->end == END_NOT_YET)
		life->m->end = END_QEMU;
	if (started && life->m->look && life->m->ready)
		life->m->look(life->m);
}

void machine_run(struct machine *m)
{
	struct life life = {.m = m, .kill_at = ~0ULL, .next_look = m->look ? 0 : ~0ULL};
	struct termios terminal;
	bool is_terminal = m->options->console && !tcgetattr(STDIN_FILENO, &terminal);
	sigset_t before;

	for (size_t i = 0; i < CHANNELS; i++)
		life.channel[i].from = life.channel[i].to = -1;
	life.channel[OUT].to = m->out;
	life.channel[ERR].to = STDERR_FILENO;
	life.channel[CONSOLE].take = take_console;
	life.channel[CONTROL].take = take_control;
	life.channel[MONITOR].take = take_monitor;
	life.deadline = m->options->timeout ? now_ns() + m->options->timeout : ~0ULL;
	watch_signals(&before);
	live(&life);
	unfinished_watch();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
}

/* Memory that is a file without a name, or one that is to be kept. */
static bool make_memory(struct machine *m, const struct machine_options *o)
{
	m->files.memory = o->keep ? open(o->keep, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
				  : memfd_create("trapline", MFD_CLOEXEC);
	if (m->files.memory < 0 || ftruncate(m->files.memory, o->memory)) {
		say_errno(o->keep ? o->keep : "the machine's memory");
		return false;
	}
	snprintf(m->memory_path, sizeof(m->memory_path), "/proc/self/fd/%d", m->files.memory);
	return true;
}

static bool make_archive(struct machine *m, const struct bytes *archive)
{
	size_t done = 0;
	ssize_t put = 1;

	m->files.archive = memfd_create("archive", MFD_CLOEXEC);
	while (m->files.archive >= 0 && done < archive->size && put > 0) {
		put = write(m->files.archive, archive->data + done, archive->size - done);
		done += put > 0 ? put : 0;
	}
	if (m->files.archive < 0 || put <= 0)
		say_errno("the machine's archive");
	return m->files.archive >= 0 && put > 0;
}

bool machine_make(struct machine *m, const struct machine_options *o, struct bytes *archive)
{
	*m = (struct machine){.options = o, .status = -1, .failed_step = -1, .out = STDOUT_FILENO};
	m->files = (struct machine_files){-1, -1, -1, -1, -1, -1};
	return make_memory(m, o) && make_archive(m, archive);
}

void machine_free(struct machine *m)
{
	if (m->files.memory >= 0)
		close(m->files.memory);
	if (m->files.archive >= 0)
		close(m->files.archive);
	bytes_free(&m->why);
}

int machine_status(const struct machine *m)
{
	if (m->output_failed || m->failed_step >= 0 || m->end == END_NO_QEMU)
		return EXIT_OWN;
	if (m->status >= 0)
		return m->status;
	if (m->end == END_QEMU) {
		say("QEMU ended by itself");
		return EXIT_OWN;
	}
	if (m->end == END_SIGNAL)
		return EXIT_SIGNAL + m->signal;
	if (m->end == END_TIMEOUT) {
		say("the machine was ended after %.9g s", m->options->timeout / 1e9);
		return EXIT_TIMEOUT;
	}
	if (m->end == END_OFF && m->may_switch_off)
		return EXIT_FINE;
	say("%s", m->panicked	      ? "the guest's kernel panicked"
		  : m->end == END_OFF ? "the machine was switched off before its program ended"
				      : "the machine was reset before its program ended");
	return EXIT_DIED;
}
