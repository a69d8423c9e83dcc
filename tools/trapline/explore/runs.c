/* Runs of `trapline explore`: see runs.h. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/trapline/explore/runs.h"
#include "tools/trapline/machine/machine.h"
#include "tools/trapline/trapline.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trace/stats.h"

#define REPORT "/proc/trapline/explore"

static const char hung_words[] = "explore: not over after ", seed_words[] = "the last seed was ";

static volatile sig_atomic_t interrupted;

static void note_interrupt(int sig)
{
	interrupted = sig;
}

bool runs_interrupted(void)
{
	return interrupted;
}

static void watch_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction how = {.sa_handler = note_interrupt};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &how, NULL);
}

bool runs_begin(struct runs *r)
{
	const char *directory = getenv("TMPDIR");

	snprintf(r->directory, sizeof(r->directory), "%.200s/trapline-XXXXXX",
	    directory && *directory ? directory : "/tmp");
	if (!mkdtemp(r->directory)) {
		say_errno(r->directory);
		*r->directory = '\0';
		return false;
	}
	unfinished_add(r->directory);
	watch_signals();
	return true;
}

const char *runs_file(const struct runs *r, unsigned number, const char *suffix)
{
	static char name[320];

	snprintf(name, sizeof(name), "%s/%u.%s", r->directory, number, suffix);
	return name;
}

void runs_forget(const struct runs *r, unsigned number)
{
	unlink(runs_file(r, number, "dat"));
	unlink(runs_file(r, number, "out"));
	unlink(runs_file(r, number, "report"));
}

/* ---- one run ---- */

/* The schedule as words of the kernel's command line. */
static void command_words(const struct runs *r, char *text, size_t size, const char *schedule)
{
	snprintf(text, size, "%s%ssched_limit=%llu %s", r->append, *r->append ? " " : "",
	    (unsigned long long)r->limit_ms, schedule);
}

/*
 * A single seed is passed as a range of one (--seeds N..N), so that the kernel does the same before
 * it as in a machine that tries many. Advances *schedule past "sched_seed=N". False: `schedule`
 * names no seed, or the run has no rehearsal; it goes onto the command line unchanged.
 */
static bool take_seed(const struct runs *r, const char **schedule, char range[64])
{
	unsigned long long seed;
	int n = 0;

	if (!r->rehearse || sscanf(*schedule, "sched_seed=%llu %n", &seed, &n) != 1 || !n || !seed)
		return false;
	snprintf(range, 64, "%llu..%llu", seed, seed);
	*schedule += n;
	return true;
}

/* Runs in a child process, and becomes `record`. */
static void __attribute__((noreturn)) become(const struct runs *r, const char *schedule,
    const char *trace, const char *const more[2], const char *out)
{
	char append[4096], range[64],
	    *fixed[] = {"record", "-q", "--append", append, "-o", (char *)trace};
	size_t n = sizeof(fixed) / sizeof(*fixed), i = 0;
	bool seed = take_seed(r, &schedule, range);
	char **argv;

	command_words(r, append, sizeof(append), schedule);
	while (r->words[i])
		i++;
	argv = xmalloc((n + i + 6) * sizeof(*argv));
	memcpy(argv, fixed, sizeof(fixed));
	if (r->rehearse)
		argv[n++] = "--rehearse";
	if (seed) {
		argv[n++] = "--seeds";
		argv[n++] = range;
	}
	if (more) {
		argv[n++] = (char *)more[0];
		argv[n++] = (char *)more[1];
	}
	memcpy(argv + n, r->words, i * sizeof(*argv));
	if (out) {
		int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(EXIT_OWN);
	}
	optind = 0;
	i = cmd_record(n + i, argv);
	fflush(NULL);
	_exit(i);
}

/* `more`: an option of this run and its value, or NULL. */
static int start(const struct runs *r, const char *schedule, const char *trace,
    const char *const more[2], const char *out)
{
	int pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		unfinished_keep(); /* the child must not remove the parent's files */
		become(r, schedule, trace, more, out);
	}
	if (pid < 0)
		die(EXIT_TROUBLE, "fork: %s", strerror(errno));
	return pid;
}

static void start_job(
    struct runs *r, const char *schedule, const char *const more[2], struct job job)
{
	char trace[320];
	struct job *free_job = r->job;

	while (free_job->pid)
		free_job++;
	job.number = r->count++;
	snprintf(trace, sizeof(trace), "%s", runs_file(r, job.number, "dat"));
	job.pid = start(r, schedule, trace, more, runs_file(r, job.number, "out"));
	*free_job = job;
	r->busy++;
}

void runs_start(struct runs *r, const char *schedule, struct seeds seeds)
{
	start_job(r, schedule, NULL, (struct job){.seeds = seeds});
}

void runs_start_many(struct runs *r, struct seeds seeds)
{
	char schedule[SCHEDULE_SPAN_MAX + 16], range[64];

	snprintf(schedule, sizeof(schedule), "sched_span=%s", r->span);
	snprintf(range, sizeof(range), "%llu..%llu", (unsigned long long)seeds.first,
	    (unsigned long long)seeds.last);
	start_job(
	    r, schedule, (const char *const[]){"--seeds", range}, (struct job){.seeds = seeds});
}

static void drop(struct runs *r, struct job *job)
{
	kill(job->pid, SIGTERM);
	waitpid(job->pid, NULL, 0);
	job->pid = 0;
	runs_forget(r, job->number);
	r->busy--;
}

void runs_drop_beyond(struct runs *r, uint64_t seed)
{
	for (struct job *job = r->job; job < r->job + r->jobs; job++)
		if (job->pid && job->seeds.first > seed)
			drop(r, job);
}

void runs_end(struct runs *r)
{
	for (struct job *job = r->job; job < r->job + r->jobs; job++)
		if (job->pid)
			drop(r, job);
	for (unsigned i = 0; i < r->count; i++)
		runs_forget(r, i);
	if (*r->directory)
		rmdir(r->directory);
	unfinished_keep();
}

/* ---- the result of a run ---- */

/* Finds the first event of the trace that --until names. */
static bool find_event(const struct runs *r, struct trace *t, char *what, size_t size)
{
	struct record record;
	char name[512];

	while (trace_next(t, &record)) {
		if (record.is_gap || !record.event)
			continue;
		snprintf(name, sizeof(name), "%s:%s", record.event->system, record.event->name);
		for (size_t i = 0; i < r->event_count; i++) {
			if (fnmatch(r->events[i], name, 0))
				continue;
			snprintf(what, size, "recorded %s at %llu.%09llu", name,
			    (unsigned long long)(record.time / 1000000000),
			    (unsigned long long)(record.time % 1000000000));
			return true;
		}
	}
	return false;
}

/* Checks for the failures that only the trace shows. */
static void judge_trace(const struct runs *r, struct run_result *result)
{
	struct trace t;

	if (!r->event_count || !trace_open(&t, runs_file(r, result->number, "dat")))
		return;
	if (find_event(r, &t, result->what, sizeof(result->what)))
		result->end = RUN_EVENT;
	trace_close(&t);
}

/*
 * The first line that the run printed with `words` in it, from there on; NULL: there is none. The
 * caller frees it.
 */
static char *find_line(const struct runs *r, unsigned number, const char *words)
{
	char *line = NULL;
	struct in in;

	if (!in_open(&in, runs_file(r, number, "out")))
		return NULL;
	const char *at = in.size ? memmem(in.data, in.size, words, strlen(words)) : NULL;
	if (at) {
		size_t left = (const char *)in.data + in.size - at;
		const char *end = memchr(at, '\n', left);
		line = xstrndup(at, end ? (size_t)(end - at) : left);
	}
	in_close(&in);
	return line;
}

static void judge(const struct runs *r, struct run_result *result, int wait_status)
{
	char *line;
	enum run_end end = RUN_GOOD;

	line = find_line(r, result->number, seed_words);
	result->seed = line ? strtoull(line + strlen(seed_words), NULL, 10) : 0;
	free(line);
	result->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_OWN;
	*result->what = '\0';
	if (result->status == EXIT_OWN) {
		end = RUN_TROUBLE;
	} else if ((line = find_line(r, result->number, hung_words))) {
		end = RUN_HANG;
		snprintf(result->what, sizeof(result->what), "hangs: not over after %s",
		    line + strlen(hung_words));
		free(line);
	} else if (result->status == EXIT_TIMEOUT) {
		end = RUN_HANG;
		strcpy(result->what, "hangs: it was ended from outside (--timeout)");
	} else if (result->status == EXIT_DIED) {
		end = RUN_PANIC;
		line = find_line(r, result->number, "Kernel panic - ");
		if (line && r->wanted & 1 << RUN_MONITOR && strstr(line, " rv: monitor "))
			end = RUN_MONITOR;
		snprintf(result->what, sizeof(result->what), "%s",
		    line ? line : "ended the machine before its end");
		free(line);
	} else if (result->status) {
		end = RUN_EXIT;
		snprintf(
		    result->what, sizeof(result->what), "ended with status %d", result->status);
	}
	if (end == RUN_GOOD && (line = find_line(r, result->number, RUNS_UNBALANCED))) {
		end = RUN_LEDGER;
		snprintf(result->what, sizeof(result->what), "left a ledger that is %s", line);
		free(line);
	}
	result->end = end == RUN_TROUBLE || r->wanted & 1 << end ? end : RUN_GOOD;
	if (result->end == RUN_GOOD)
		judge_trace(r, result);
}

struct job runs_wait(struct runs *r, struct run_result *result)
{
	int status, pid = waitpid(-1, &status, 0);

	if (pid < 0 && errno != EINTR)
		die(EXIT_TROUBLE, "wait: %s", strerror(errno));
	for (struct job *job = r->job; pid > 0 && job < r->job + r->jobs; job++) {
		struct job ended = *job;

		if (job->pid != pid)
			continue;
		job->pid = 0;
		r->busy--;
		result->number = ended.number;
		judge(r, result, status);
		return ended;
	}
	return (struct job){.pid = 0};
}

bool runs_take_span(struct runs *r, const char *file)
{
	static const char head[] = "span ";
	const size_t head_size = sizeof(head) - 1;
	struct schedule_span span;
	struct in in;

	if (!in_open(&in, file))
		return false;
	const char *line = (const char *)in.data, *end = memchr(line, '\n', in.size);
	bool found = end && (size_t)(end - line) > head_size && !memcmp(line, head, head_size);
	if (found)
		snprintf(r->span, sizeof(r->span), "%.*s", (int)(end - line - head_size),
		    line + head_size);
	in_close(&in);
	return found && !schedule_parse_span(&span, r->span);
}

void runs_first(struct runs *r, struct run_result *result)
{
	char trace[320], out[320], get[400], report[320];
	int status;

	result->number = r->count++;
	snprintf(trace, sizeof(trace), "%s", runs_file(r, result->number, "dat"));
	snprintf(out, sizeof(out), "%s", runs_file(r, result->number, "out"));
	snprintf(report, sizeof(report), "%s", runs_file(r, result->number, "report"));
	snprintf(get, sizeof(get), REPORT ":%s", report);
	waitpid(
	    start(r, "sched_seed=0", trace, (const char *const[]){"--get", get}, out), &status, 0);
	judge(r, result, status);
	if (result->end == RUN_GOOD && !runs_take_span(r, report))
		result->end = RUN_TROUBLE;
}

/* ---- the run that is kept ---- */

static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		printf(" %s", word);
		return;
	}
	printf(" '");
	for (; *word; word++)
		printf(*word == '\'' ? "'\\''" : "%c", *word);
	printf("'");
}

void runs_print_command(const struct runs *r, const char *schedule, const char *out_name)
{
	char append[4096], range[64];
	bool seed = take_seed(r, &schedule, range);

	command_words(r, append, sizeof(append), schedule);
	printf("trapline record --append");
	print_word(append);
	printf(" -o");
	print_word(out_name);
	if (r->rehearse)
		printf(" --rehearse");
	if (seed)
		printf(" --seeds %s", range);
	for (char **word = r->words; *word; word++)
		print_word(*word);
	printf("\n");
}

bool runs_keep(struct runs *r, const char *schedule, const char *out_name)
{
	unsigned number = r->count++;
	int status;

	waitpid(start(r, schedule, out_name, NULL, runs_file(r, number, "out")), &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) != EXIT_OWN)
		return true;
	say("%s could not be recorded again", out_name);
	return false;
}
