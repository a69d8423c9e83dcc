/* The options of trapline explore: see options.h. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/explore/options.h"
#include "tools/trapline/machine/script.h"
#include "tools/trapline/record/record.h"
#include "tools/trapline/trapline.h"

#define SEEDS_DEFAULT	 1000
#define LIMIT_DEFAULT_MS 2000
#define NAME_LETTERS	 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static const char usage[] =
    "Usage: trapline explore [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "       trapline explore [OPTION]... -c COMMANDS\n"
    "\n"
    "Runs the program again and again, each time with another schedule: at a few moments, which a "
    "seed chooses, the kernel holds a task\n"
    "for a while, or wakes it on another CPU. Stops at the first run that fails, removes the "
    "points that the failure does not need,\n"
    "and prints how to repeat the run and where a good run differs.\n"
    "\n"
    "  --seeds N         at most N runs (1000);  --from N  begins with seed N (1)\n"
    "  --until COND      what is a failure; may be repeated (panic, hang, exit and ledger):\n"
    "                    panic         the kernel panics, or the machine ends\n"
    "                    hang          the program still runs after --limit\n"
    "                    exit          its exit status is not 0\n"
    "                    ledger        events are neither recorded nor counted as lost\n"
    "                    rv=NAME       the monitor NAME reports an error, and the kernel panics\n"
    "                    event=SYSTEM:EVENT  it was recorded; with * and ?; -e enables it, -f "
    "filters it\n"
    "  --limit SECS      of the machine's time (2)\n"
    "  --cold            a new machine for each run; else one machine tries a hundred seeds, and a "
    "seed that fails runs again alone\n"
    "  -j, --jobs N      machines at a time (one for each CPU)\n"
    "  -c, --commands TEXT  for the guest's shell, in place of a program\n"
    "  -o, --output FILE the trace of the run that failed (trace.dat)\n"
    "\n"
    "Other options are those of `trapline record`, which makes the runs (without -c; -e is "
    "sched:sched_switch and raw_syscalls by\n"
    "default. --smp is 1 by default: on one CPU a point is exactly between two instructions; "
    "several CPUs take turns. The program gets no input but --input.\n"
    "\n"
    "Exit status: 0 no run failed, 1 one did, 2 usage, 3 trouble, such as a program that fails "
    "without any point.\n";

enum { OPTION_COLD = OPTION_FREE_BEHIND_RECORD, OPTION_FROM, OPTION_UNTIL, OPTION_LIMIT };

/* The options so far. */
struct parse {
	struct exploring *x;
	size_t words; /* in x->runs.words; each is allocated */
	const char *commands, *after;
	bool has_events, has_cpus;
};

/* Adds an argument of `record`. */
static void add_word(struct parse *p, const char *word)
{
	struct runs *r = &p->x->runs;

	r->words = xrealloc(r->words, (p->words + 2) * sizeof(*r->words));
	r->words[p->words++] = xstrndup(word, strlen(word));
	r->words[p->words] = NULL;
}

/* Adds an option of `record` and its value to the arguments. */
static void add_option(struct parse *p, const char *option, const char *fmt, const char *name)
{
	struct bytes text = {.data = NULL};

	script_put(&text, fmt, name, name);
	bytes_put(&text, "", 1);
	add_word(p, option);
	add_word(p, (const char *)text.data);
	bytes_free(&text);
}

/* A monitor that makes the kernel panic, and its event. */
static void add_monitor(struct parse *p, const char *name)
{
	add_option(p, "--before",
	    "echo %s >> rv/enabled_monitors && echo panic > rv/monitors/%s/reactors", name);
	add_option(p, "-e", "rv:error_%s", name);
	p->x->runs.wanted |= 1 << RUN_MONITOR;
}

static int take_until(struct parse *p, const char *text)
{
	static const struct {
		const char *word;
		enum run_end end;
	} ends[] = {
	    {"panic", RUN_PANIC}, {"hang", RUN_HANG}, {"exit", RUN_EXIT}, {"ledger", RUN_LEDGER}};
	struct runs *r = &p->x->runs;

	if (!strncmp(text, "rv=", 3) && text[3] && !text[3 + strspn(text + 3, NAME_LETTERS)]) {
		add_monitor(p, text + 3);
		return -1;
	}
	if (!strncmp(text, "event=", 6) && strchr(text, ':')) {
		r->events = xrealloc(r->events, (r->event_count + 1) * sizeof(*r->events));
		r->events[r->event_count++] = (char *)text + 6;
		r->wanted |= 1 << RUN_EVENT;
		return -1;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!strcmp(ends[i].word, text)) {
			r->wanted |= 1 << ends[i].end;
			return -1;
		}
	}
	return bad_usage("explore",
	    "--until %s: panic, hang, exit, ledger, rv=NAME or event=SYSTEM:EVENT", text);
}

/* Adds an option of `record`, which has the character or number c, to the arguments. */
static void pass_on(struct parse *p, int c, const char *arg)
{
	char letter[3] = {'-', (char)c, '\0'}, word[64];

	if (c < 128) {
		add_word(p, letter);
		if (arg)
			add_word(p, arg);
		return;
	}
	for (const struct option *o = record_options; o->name; o++) {
		if (o->val != c)
			continue;
		snprintf(word, sizeof(word), "--%s", o->name);
		add_word(p, word);
		if (arg)
			add_word(p, arg);
	}
}

static int take_number(const char *name, const char *text, uint64_t most, uint64_t *out)
{
	if (parse_number(text, most, out) && *out)
		return -1;
	return bad_usage(
	    "explore", "%s %s: a number from 1 to %llu", name, text, (unsigned long long)most);
}

static int take_limit(struct parse *p, const char *text)
{
	uint64_t ns;

	if (!parse_seconds(text, &ns) || ns < 1000000)
		return bad_usage("explore", "--limit %s: not a number of seconds", text);
	p->x->runs.limit_ms = ns / 1000000;
	return -1;
}

static int take_jobs(struct parse *p, const char *text)
{
	uint64_t number;
	int status = take_number(
	    "--jobs", text, sizeof(p->x->runs.job) / sizeof(p->x->runs.job[0]), &number);

	if (status < 0)
		p->x->runs.jobs = number;
	return status;
}

static int take_option(struct parse *p, int c)
{
	switch (c) {
	case OPTION_SEEDS:
		return take_number("--seeds", optarg, 1000000000, &p->x->range.count);
	case OPTION_FROM:
		return take_number("--from", optarg, 1000000000, &p->x->range.from);
	case OPTION_UNTIL:
		return take_until(p, optarg);
	case OPTION_LIMIT:
		return take_limit(p, optarg);
	case OPTION_COLD:
		p->x->range.alone = true;
		return -1;
	case 'j':
		return take_jobs(p, optarg);
	case 'c':
		p->commands = optarg;
		return -1;
	case 'o':
		p->x->out_name = optarg;
		return -1;
	case 'q':
		p->x->range.quiet = true;
		return -1;
	case OPTION_APPEND:
		p->x->runs.append = optarg;
		return -1;
	case OPTION_AFTER:
		p->after = optarg;
		return -1;
	case OPTION_REAL_TIME:
	case OPTION_ACCEL:
		return bad_usage("explore", "in real time no schedule can be chosen");
	case OPTION_GET:
	case OPTION_KEEP:
	case OPTION_STRACE:
	case OPTION_REHEARSE:
		return bad_usage(
		    "explore", "--get, --keep, --strace and --rehearse are for one run: record");
	case OPTION_ICOUNT:
		return -1;
	case '?':
	case ':':
	case OPTION_HELP:
	case OPTION_PROGRESS:
		return common_option("explore", c, usage);
	default:
		p->has_events |= c == 'e' || c == 'p';
		p->has_cpus |= c == OPTION_SMP;
		pass_on(p, c, optarg);
		return -1;
	}
}

/* The commands that the guest runs when the program has ended: --after, and the ledger's check. */
static void add_after(struct parse *p)
{
	static const char look[] = "grep '^" RUNS_UNBALANCED "' /sys/kernel/tracing/trace_ledger";
	bool wants = p->x->runs.wanted & 1 << RUN_LEDGER;
	char *text;

	if (!p->after && !wants)
		return;
	if (asprintf(&text, "%s%s%s", p->after ? p->after : "", p->after && wants ? "\n" : "",
		wants ? look : "") < 0)
		die(EXIT_TROUBLE, "out of memory");
	add_word(p, "--after");
	add_word(p, text);
	free(text);
}

/* The arguments after the options. False: there is nothing to run, which was reported. */
static bool add_program(struct parse *p, char **argv)
{
	static const char *const fixed[] = {"-e", "explore", "--icount"}, *const events[] = {"-e",
									      "sched:sched_switch",
									      "-e", "raw_syscalls"};
	char *text;

	if (!p->commands == !*argv) {
		bad_usage("explore", p->commands ? "-c or a PROGRAM, not both" : "which PROGRAM?");
		return false;
	}
	for (size_t i = 0; !p->has_events && i < sizeof(events) / sizeof(events[0]); i++)
		add_word(p, events[i]);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		add_word(p, fixed[i]);
	add_after(p);
	if (!p->has_cpus) {
		add_word(p, "--smp");
		add_word(p, "1");
	}
	add_word(p, "--");
	for (; *argv; argv++)
		add_word(p, *argv);
	if (!p->commands)
		return true;
	if (asprintf(&text, "cd /sys/kernel/tracing\n%s", p->commands) < 0)
		die(EXIT_TROUBLE, "out of memory");
	add_word(p, "sh");
	add_word(p, "-lc");
	add_word(p, text);
	free(text);
	return true;
}

/* The options of `record`, and those of `explore` alone. */
static struct option *make_options(void)
{
	static const struct option own[] = {{"seeds", required_argument, NULL, OPTION_SEEDS},
	    {"from", required_argument, NULL, OPTION_FROM},
	    {"until", required_argument, NULL, OPTION_UNTIL},
	    {"limit", required_argument, NULL, OPTION_LIMIT},
	    {"cold", no_argument, NULL, OPTION_COLD}, {"jobs", required_argument, NULL, 'j'},
	    {"commands", required_argument, NULL, 'c'}};
	size_t n = 0;
	struct option *all;

	while (record_options[n].name)
		n++;
	all = xmalloc((n + 1) * sizeof(*all) + sizeof(own));
	memcpy(all, own, sizeof(own));
	memcpy(all + sizeof(own) / sizeof(own[0]), record_options, (n + 1) * sizeof(*all));
	return all;
}

int explore_options(struct exploring *x, int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct option *options = make_options();
	struct parse p = {.x = x};
	int c, status = -1;

	*x = (struct exploring){.out_name = "trace.dat",
	    .range = {.from = 1, .count = SEEDS_DEFAULT},
	    .runs = {.append = "",
		.limit_ms = LIMIT_DEFAULT_MS,
		.jobs = cpus < 1    ? 1
			: cpus > 64 ? 64
				    : cpus}};
	while (status < 0 && (c = getopt_long(argc, argv,
				  "+e:vf:R:iFc:C:b:M:O:Tp:s:o:qhj:", options, NULL)) != -1)
		status = take_option(&p, c);
	if (!x->runs.wanted)
		x->runs.wanted = 1 << RUN_PANIC | 1 << RUN_HANG | 1 << RUN_EXIT | 1 << RUN_LEDGER;
	/* The trace shows an event, but not which of a machine's seeds caused it. */
	x->range.alone |= x->runs.event_count > 0;
	free(options);
	if (status < 0 && !add_program(&p, argv + optind))
		status = EXIT_USAGE;
	return status;
}

void explore_options_free(struct exploring *x)
{
	for (char **word = x->runs.words; word && *word; word++)
		free(*word);
	free(x->runs.words);
	free(x->runs.events);
}
