/*
 * The life of a machine. One loop waits for what its ports say, for signals and for times; nothing
 * in it blocks but QEMU's end.
 *
 *   port 1, the console   what the kernel itself says, to the standard error; into it go our
 *                         standard input and signals (feed.h)
 *   ports 2 and 3         the program's output, to ours: a byte is taken when there is room for it,
 *                         so that a slow reader slows the program and nothing is lost
 *   port 4                what the script tells (script.h)
 *   the monitor           QMP: whether the machine was switched off or reset
 */
#include "tools/trapline/machine/machine.h"
#include "tools/trapline/machine/channel.h"
#include "tools/trapline/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define END_WAIT_NS 5000000000ULL /* QEMU is asked to end, and killed after this */

static const char panic_words[] = "Kernel panic - not syncing";

/* In the order in which they are served: the script's reports before the kernel's messages. */
enum { CONTROL, CONSOLE, OUT, ERR, MONITOR, CHANNELS };

struct life {
	struct machine *m;
	pid_t pid;
	struct channel channel[CHANNELS];
	uint64_t deadline, kill_at, next_look;
	bool asked;	   /* to end */
	bool interrupted;  /* Ctrl-C went to the program */
	struct bytes held; /* lines of the kernel's, until the program's line is whole */
};

static volatile sig_atomic_t signalled;

static void note_signal(int sig)
{
	signalled = sig;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- what it says ---- */

/* What it says while it is switched off, such as that it now may be, nobody has asked for. */
static void take_console(void *context, const char *line)
{
	struct life *life = context;
	struct machine *m = life->m;

	m->panicked |= !!strstr(line, panic_words);
	if (m->status >= 0 && !m->panicked && !m->options->verbose)
		return;
	bytes_put(&life->held, line, strlen(line));
	bytes_put(&life->held, "\n", 1);
}

/* Has the program begun a line where the kernel's lines and our messages go? */
static bool is_in_line(const struct life *life)
{
	return life->channel[ERR].in_line || (life->m->one_output && life->channel[OUT].in_line);
}

static void put_held(struct life *life)
{
	fwrite(life->held.data, 1, life->held.size, stderr);
	life->held.size = 0;
}

static void ask_to_end(struct life *life, enum machine_end why);

/* QEMU's greeting: {"QMP": {"version": {"qemu": {"micro": 22, ...}, "package": "..."}, ...}} */
static void take_version(struct life *life, const char *line)
{
	static const char *const parts[] = {"\"major\": ", "\"minor\": ", "\"micro\": "};
	const char *package = strstr(line, "\"package\": \"");
	struct machine *m = life->m;
	int number[3];

	for (size_t i = 0; i < 3; i++) {
		const char *at = strstr(line, parts[i]);
		if (!at)
			return;
		number[i] = atoi(at + strlen(parts[i]));
	}
	package = package ? package + strlen("\"package\": \"") : "";
	snprintf(m->qemu_version, sizeof(m->qemu_version), "%d.%d.%d (%.*s)", number[0], number[1],
	    number[2], (int)strcspn(package, "\""), package);
	if (m->wanted_qemu && strcmp(m->wanted_qemu, m->qemu_version))
		ask_to_end(life, END_OTHER);
}

void machine_order(const struct machine *m, const char *order)
{
	if (send(m->monitor, order, strlen(order), MSG_NOSIGNAL) < 0)
		say_errno("QEMU's monitor");
}

/* Whoever asked for this machine has seen what there was to see. */
static void end_if_enough(struct life *life)
{
	if (life->m->enough)
		ask_to_end(life, END_SIGNAL);
}

static void take_monitor(void *context, const char *line)
{
	struct life *life = context;

	if (!*life->m->qemu_version)
		take_version(life, line);
	if (life->m->stopped && strstr(line, "\"event\": \"STOP\""))
		life->m->stopped(life->m);
	end_if_enough(life);
	if (!strstr(line, "\"SHUTDOWN\"") || life->m->end != END_NOT_YET)
		return;
	if (strstr(line, "\"guest-shutdown\""))
		life->m->end = END_OFF;
	else if (strstr(line, "\"guest-reset\""))
		life->m->end = END_RESET;
}

static void take_control(void *context, const char *line)
{
	struct life *life = context;

	struct machine *m = life->m;

	machine_report(m, line);
	if (m->fetching)
		channel_take_bytes(&life->channel[CONTROL], &m->fetching->data, m->fetching->size);
	m->fetching = NULL;
	/* It switches itself off; if it is deterministic, however long that takes on this host. */
	if (m->status >= 0 && !m->options->icount)
		life->deadline = now_ns() + END_WAIT_NS;
}

/* ---- channels ---- */

static bool is_open(const struct life *life)
{
	for (size_t i = 0; i < CHANNELS; i++)
		if (channel_lives(&life->channel[i]))
			return true;
	return false;
}

static void wait_for_channels(struct life *life, uint64_t until)
{
	struct pollfd p[CHANNELS + 2];
	uint64_t now = now_ns(), wait = until > now ? until - now : 0;
	struct timespec t = {wait / 1000000000, wait % 1000000000};
	sigset_t none;

	for (size_t i = 0; i < CHANNELS; i++)
		p[i] = channel_waits(&life->channel[i]);
	p[CHANNELS] = feed_waits(&life->m->feed);
	p[CHANNELS + 1] = (struct pollfd){.fd = life->m->ear, .events = POLLIN};
	sigemptyset(&none);
	int n = ppoll(p, CHANNELS + 2, until == ~0ULL ? NULL : &t, &none);
	for (size_t i = 0; n > 0 && i < CHANNELS; i++)
		if (p[i].revents)
			channel_serve(&life->channel[i]);
	if (n > 0 && p[CHANNELS].revents)
		feed_serve(&life->m->feed);
	if (n > 0 && p[CHANNELS + 1].revents) {
		life->m->heard(life->m);
		end_if_enough(life);
	}
	if (!is_in_line(life))
		put_held(life);
}

/* ---- its end ---- */

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

/* The program's to answer. False: there is none, or it was asked before. */
static bool pass_interrupt(struct life *life)
{
	struct machine *m = life->m;

	if (life->interrupted || !m->ready || m->status >= 0 || m->feed.to < 0)
		return false;
	life->interrupted = true;
	return feed_order(&m->feed, SIGINT);
}

static void take_signal(struct life *life)
{
	int sig = signalled;

	signalled = 0;
	if (sig == SIGINT && pass_interrupt(life))
		return;
	unfinished_watch(); /* the next one is not for us any more */
	life->m->signal = sig;
	ask_to_end(life, END_SIGNAL);
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
	if (signalled)
		take_signal(life);
	if (now_ns() >= life->deadline)
		ask_to_end(life, END_TIMEOUT);
	if (now_ns() >= life->kill_at) {
		kill(life->pid, SIGKILL);
		life->kill_at = ~0ULL;
	}
	if (now_ns() >= life->next_look)
		look(life);
}

/* ---- all of it ---- */

/* *pipe: what SIGPIPE did; a reader that goes meanwhile ends nothing. */
static void watch_signals(sigset_t *before, struct sigaction *pipe)
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
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, pipe);
	sigprocmask(SIG_BLOCK, &blocked, before);
}

static void live(struct life *life)
{
	struct qemu q;
	bool started = qemu_start(&q, life->m->options, life->m->memory, life->m->archive);
	int status;

	life->pid = q.pid;
	life->channel[CONSOLE].from = q.console;
	life->channel[OUT].from = q.out;
	life->channel[ERR].from = q.err;
	life->channel[CONTROL].from = q.control;
	life->channel[MONITOR].from = life->m->monitor = q.monitor;
	life->m->feed.to = q.input;
	if (!started)
		life->m->end = END_NO_QEMU;
	while (started && is_open(life))
		step(life);
	if (life->pid > 0)
		waitpid(life->pid, &status, 0);
	feed_end(&life->m->feed);
	if (life->m->end == END_NOT_YET)
		life->m->end = END_QEMU;
	if (started && life->m->look && life->m->ready)
		life->m->look(life->m);
}

void machine_play(struct machine *m)
{
	struct life life = {.m = m, .kill_at = ~0ULL, .next_look = m->look ? 0 : ~0ULL};
	struct termios terminal;
	bool is_terminal = m->options->console && !tcgetattr(STDIN_FILENO, &terminal);
	struct sigaction pipe;
	sigset_t before;

	for (size_t i = 0; i < CHANNELS; i++)
		life.channel[i] = (struct channel){.from = -1, .to = -1, .context = &life};
	life.channel[OUT].to = m->out;
	life.channel[ERR].to = m->err;
	life.channel[CONSOLE].take = take_console;
	life.channel[CONTROL].take = take_control;
	life.channel[MONITOR].take = take_monitor;
	life.deadline = m->options->timeout ? now_ns() + m->options->timeout : ~0ULL;
	watch_signals(&before, &pipe);
	live(&life);
	if (is_in_line(&life))
		fputc('\n', stderr);
	put_held(&life);
	bytes_free(&life.held);
	m->output_failed = life.channel[OUT].failed || life.channel[ERR].failed;
	unfinished_watch();
	sigaction(SIGPIPE, &pipe, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (is_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
}

/* A new file in the place of one that is there: whoever reads that goes on to do so. */
static int create_kept(const char *name)
{
	struct stat st;

	if (!stat(name, &st) && S_ISREG(st.st_mode))
		unlink(name);
	return open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* Memory that is a file without a name, or one that is to be kept. */
static bool make_memory(struct machine *m, const struct machine_options *o)
{
	m->memory = o->keep ? create_kept(o->keep) : memfd_create("trapline", MFD_CLOEXEC);
	if (m->memory < 0 || ftruncate(m->memory, o->memory)) {
		say_errno(o->keep ? o->keep : "the machine's memory");
		return false;
	}
	snprintf(m->memory_path, sizeof(m->memory_path), "/proc/self/fd/%d", m->memory);
	return true;
}

static bool make_archive(struct machine *m, const struct bytes *archive)
{
	size_t done = 0;
	ssize_t put = 1;

	m->archive = memfd_create("archive", MFD_CLOEXEC);
	while (m->archive >= 0 && done < archive->size && put > 0) {
		put = write(m->archive, archive->data + done, archive->size - done);
		done += put > 0 ? put : 0;
	}
	if (m->archive < 0 || put <= 0)
		say_errno("the machine's archive");
	return m->archive >= 0 && put > 0;
}

bool machine_make(struct machine *m, const struct machine_options *o, struct bytes *archive)
{
	*m = (struct machine){.options = o,
	    .status = -1,
	    .failed_step = -1,
	    .out = STDOUT_FILENO,
	    .err = STDERR_FILENO,
	    .feed = {.from = o->feed ? STDIN_FILENO : -1, .to = -1},
	    .fetched = xmalloc(o->get_count * sizeof(*m->fetched)),
	    .monitor = -1,
	    .ear = -1,
	    .memory = -1,
	    .archive = -1};
	return make_memory(m, o) && make_archive(m, archive);
}

void machine_free(struct machine *m)
{
	if (m->memory >= 0)
		close(m->memory);
	if (m->archive >= 0)
		close(m->archive);
	bytes_free(&m->why);
	for (size_t i = 0; i < m->options->get_count; i++)
		bytes_free(&m->fetched[i].data);
	free(m->fetched);
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
