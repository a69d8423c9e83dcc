/*
 * trapline explore: runs a program under one schedule after another until a run fails, then reduces
 * that schedule to as few points as still make it fail. See explore.h.
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/trapline/explore/explore.h"
#include "tools/trapline/record/record.h"
#include "tools/trapline/machine/script.h"
#include "tools/trapline/lib/output.h"
#include "tools/trapline/trapline.h"

#define SEEDS_DEFAULT	 1000
#define LIMIT_DEFAULT_MS 2000
#define SCHEDULE_TEXT	 (SCHEDULE_POINTS * SCHEDULE_POINT_MAX + 64)

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

struct exploring {
	struct runs runs;
	const char *commands, *out_name, *after;
	uint64_t seeds, from;
	bool quiet, has_events, has_cpus, cold;
	char **word; /* the arguments of `record`; each is allocated */
	size_t words;
};

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int sig)
{
	interrupted = sig;
}

static void add_word(struct exploring *x, const char *word)
{
	x->word = xrealloc(x->word, (x->words + 2) * sizeof(*x->word));
	x->word[x->words++] = xstrndup(word, strlen(word));
	x->word[x->words] = NULL;
}

/* ---- schedules as texts ---- */

static void seed_text(const struct runs *r, char text[SCHEDULE_TEXT], uint64_t seed)
{
	snprintf(text, SCHEDULE_TEXT, "sched_seed=%llu sched_span=%s", (unsigned long long)seed,
	    r->span);
}

static void points_text(char text[SCHEDULE_TEXT], const struct schedule *s)
{
	int n = sprintf(text, "sched_points=");

	for (unsigned i = 0; i < s->count; i++) {
		if (i)
			text[n++] = ',';
		n += schedule_print(text + n, &s->point[i]);
	}
}

/* Without `size` points from the first on. */
static void without(struct schedule *to, const struct schedule *from, unsigned first, unsigned size)
{
	to->count = 0;
	for (unsigned i = 0; i < from->count; i++)
		if (i < first || i >= first + size)
			schedule_add(to, from->point[i]);
}

/*
 * What failed after others often fails alone a few instructions earlier or later, because the
 * kernel does not do exactly the same there. Way 1 is one tick earlier, 2 one later, then two,
 * four, eight and so on, up to 2048.
 */
#define MOVED_WAYS 24

static void move_longest(struct schedule *s, unsigned way)
{
	struct schedule_point *p = s->point;
	uint32_t by = 1u << (way - 1) / 2;

	for (unsigned i = 1; i < s->count; i++)
		if (s->point[i].amount > p->amount)
			p = &s->point[i];
	if (p->clock == SCHEDULE_U)
		p->step = way % 2 ? p->step - (by < p->step ? by : p->step)
				  : (p->step + by) % (SCHEDULE_STEPS + 1);
	else
		p->at = way % 2 ? p->at - (by < p->at ? by : p->at) : p->at + by;
}

/* The points of a seed, with the longest one moved. */
static void moved_seed(struct schedule *s, const struct runs *r, uint64_t seed, unsigned way)
{
	struct schedule_span span;
	struct schedule as_it_is;

	schedule_parse_span(&span, r->span);
	schedule_of_seed(&as_it_is, seed, &span);
	if (way && as_it_is.count)
		move_longest(&as_it_is, way);
	without(s, &as_it_is, 0, 0); /* in order again */
}

/* The words for a seed: it, or its points if one of them is moved. */
static void moved_text(const struct runs *r, char text[SCHEDULE_TEXT], uint64_t seed, unsigned way)
{
	struct schedule s;

	if (!way) {
		seed_text(r, text, seed);
		return;
	}
	moved_seed(&s, r, seed, way);
	points_text(text, &s);
}

/* ---- searching for a seed ---- */

#define SEEDS_A_MACHINE 100

struct found {
	bool any;
	uint64_t seed;
	unsigned moved; /* as in struct seeds */
	struct run_result result;
};

struct search {
	struct exploring *x;
	struct found *found;
	uint64_t next, end;  /* seeds that no machine has tried yet */
	struct seeds *again; /* seeds that a machine gave back untried or in doubt */
	size_t agains;
	uint64_t tried;
	unsigned doubtful; /* seeds that failed after others in one machine, but not alone */
};

/*
 * Whether a machine can try one seed after another. It cannot if only the trace shows a failure:
 * the trace does not show which seed's run had the event.
 */
static bool is_fast(const struct exploring *x)
{
	return !x->cold && !x->runs.event_count;
}

static bool take_seeds(struct search *s, struct seeds *seeds)
{
	if (s->agains) {
		*seeds = s->again[--s->agains];
		return true;
	}
	if (s->next == s->end || s->found->any)
		return false;
	bool fast = is_fast(s->x);
	uint64_t n = fast ? SEEDS_A_MACHINE : 1, left = s->end - s->next;
	*seeds = (struct seeds){s->next, s->next + (n < left ? n : left) - 1, !fast, !fast, 0};
	s->next = seeds->last + 1;
	return true;
}

static void give_back(struct search *s, struct seeds seeds)
{
	s->again = xrealloc(s->again, (s->agains + 1) * sizeof(*s->again));
	s->again[s->agains++] = seeds;
}

static void start_seeds(struct search *s, struct seeds seeds)
{
	char text[SCHEDULE_TEXT];

	if (!seeds.alone) {
		runs_start_many(&s->x->runs, seeds);
		return;
	}
	moved_text(&s->x->runs, text, seeds.first, seeds.moved);
	runs_start(&s->x->runs, text, seeds);
}

/* Keeps the lowest seed that failed, whichever machine finishes first. */
static void take_found(
    struct search *s, uint64_t seed, unsigned moved, const struct run_result *result)
{
	struct runs *r = &s->x->runs;
	size_t kept = 0;

	if (s->found->any)
		runs_forget(r, s->found->result.number);
	*s->found = (struct found){true, seed, moved, *result};
	runs_drop_beyond(r, seed);
	for (size_t i = 0; i < s->agains; i++)
		if (s->again[i].first < seed)
			s->again[kept++] = s->again[i];
	s->agains = kept;
}

/* The result of a seed that had a machine of its own. */
static void take_one(struct search *s, const struct seeds *seeds, const struct run_result *result)
{
	struct seeds again = *seeds;

	s->tried += !seeds->moved;
	if (result->end != RUN_GOOD) {
		take_found(s, seeds->first, seeds->moved, result);
		return;
	}
	runs_forget(&s->x->runs, result->number);
	if (!seeds->moved && seeds->first < seeds->last)
		give_back(s, (struct seeds){seeds->first + 1, seeds->last, seeds->all_alone,
				 seeds->all_alone, 0});
	if (seeds->all_alone)
		return;
	s->doubtful += again.moved++ == MOVED_WAYS;
	if (again.moved <= MOVED_WAYS)
		give_back(s, again);
}

/*
 * The result of a machine that tried many seeds. The seed at which it stopped is to be tried alone;
 * those after it are still untried.
 */
static void take_many(struct search *s, const struct seeds *seeds, struct run_result *result)
{
	bool any = result->end == RUN_LEDGER; /* any of the seeds may have caused it */
	uint64_t from = any ? seeds->first : result->seed;

	if (result->end == RUN_TROUBLE || from < seeds->first || from > seeds->last) {
		result->end = RUN_TROUBLE;
		take_found(s, seeds->first, 0, result);
		return;
	}
	runs_forget(&s->x->runs, result->number);
	s->tried += from - seeds->first;
	if (result->end == RUN_GOOD && !result->status)
		s->tried++;
	else
		give_back(s, (struct seeds){from, seeds->last, true, any, 0});
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* False: a signal ended the search. */
static bool look_for(struct exploring *x, struct found *f)
{
	struct search s = {.x = x, .found = f, .next = x->from, .end = x->from + x->seeds};
	struct runs *r = &x->runs;
	struct run_result result;
	struct seeds seeds;
	double began = now();

	while (!interrupted) {
		while (runs_have_room(r) && take_seeds(&s, &seeds))
			start_seeds(&s, seeds);
		if (!r->busy)
			break;
		struct job job = runs_wait(r, &result);
		if (!job.pid)
			continue;
		if (job.seeds.alone)
			take_one(&s, &job.seeds, &result);
		else
			take_many(&s, &job.seeds, &result);
		progress("schedules", s.tried, 0);
	}
	free(s.again);
	if (interrupted)
		return false;
	if (!x->quiet)
		say("%llu schedules, %.1f a second", (unsigned long long)s.tried,
		    s.tried / (now() - began));
	if (s.doubtful && !x->quiet)
		say("%u failed after others, but not alone", s.doubtful);
	return true;
}

/* ---- as few points as possible ---- */

struct shrunk {
	struct schedule schedule;
	bool is_list; /* `schedule` fails; false: only the seed does, not its points as a list */
	unsigned bad, good; /* numbers of runs; `good` has one point less */
	bool has_good;
	unsigned tried;
	struct run_result result;
};

/* Runs that are tried together: the first bad one and the first good one are kept. */
struct round {
	bool any_bad, any_good;
	uint64_t bad, good; /* which part was left out */
	struct run_result bad_run, good_run;
};

static void take_round(
    struct runs *r, struct round *round, uint64_t part, const struct run_result *result, bool bad)
{
	bool *any = bad ? &round->any_bad : &round->any_good;
	uint64_t *which = bad ? &round->bad : &round->good;
	struct run_result *run = bad ? &round->bad_run : &round->good_run;

	if (*any && *which < part) {
		runs_forget(r, result->number);
		return;
	}
	if (*any)
		runs_forget(r, run->number);
	*any = true;
	*which = part;
	*run = *result;
}

/* The schedules of a round: make() builds number n. False: there are no more. */
struct variant {
	bool (*make)(struct schedule *to, const struct schedule *from, unsigned n, unsigned size);
	unsigned size;
};

/* The schedule without its nth part of `size` points. */
static bool leave_out(struct schedule *to, const struct schedule *from, unsigned n, unsigned size)
{
	if (n * size >= from->count)
		return false;
	without(to, from, n * size, size);
	return true;
}

/*
 * One point alone, a little earlier or later: without the delays of the others, the same place is
 * reached at another time. Each is tried where it is before any is moved; points that hold longest
 * come first.
 */
static bool move_one(struct schedule *to, const struct schedule *from, unsigned n, unsigned most)
{
	unsigned which = n % from->count, by = n / from->count;
	bool used[SCHEDULE_POINTS] = {false};
	unsigned longest = 0;

	if (by > 2 * most)
		return false;
	for (unsigned i = 0; i <= which; i++) {
		longest = 0;
		while (used[longest])
			longest++;
		for (unsigned j = longest; j < from->count; j++)
			if (!used[j] && from->point[j].amount > from->point[longest].amount)
				longest = j;
		used[longest] = true;
	}
	struct schedule_point p = from->point[longest];
	int64_t at = (int64_t)p.at + (by & 1 ? -1 : 1) * (int64_t)((by + 1) / 2);
	to->count = 0;
	p.at = at > 0 ? (uint64_t)at : 0;
	schedule_add(to, p);
	return true;
}

/* Runs each of the variants, until one is bad. */
static void try_variants(
    struct exploring *x, struct shrunk *s, struct variant v, struct round *round)
{
	struct runs *r = &x->runs;
	unsigned next = 0;
	struct run_result result;
	char text[SCHEDULE_TEXT];
	struct schedule less;

	while (!interrupted) {
		while (!round->any_bad && runs_have_room(r) &&
		       v.make(&less, &s->schedule, next, v.size)) {
			points_text(text, &less);
			runs_start(r, text, (struct seeds){.first = next});
			next++;
		}
		if (!r->busy)
			break;
		struct job job = runs_wait(r, &result);
		if (!job.pid)
			continue;
		s->tried++;
		if (result.end == s->result.end || result.end == RUN_GOOD)
			take_round(r, round, job.seeds.first, &result, result.end != RUN_GOOD);
		else
			runs_forget(r, result.number);
	}
}

/* One round; false: none of its variants is bad. The first bad one is the schedule from now on. */
static bool take_variant(struct exploring *x, struct shrunk *s, struct variant v)
{
	struct runs *r = &x->runs;
	struct round round = {.any_bad = false};
	struct schedule less;

	try_variants(x, s, v, &round);
	if (round.any_good) {
		if (s->has_good)
			runs_forget(r, s->good);
		s->has_good = true;
		s->good = round.good_run.number;
	}
	if (!round.any_bad)
		return false;
	runs_forget(r, s->bad);
	s->bad = round.bad_run.number;
	s->result = round.bad_run;
	v.make(&less, &s->schedule, (unsigned)round.bad, v.size);
	s->schedule = less;
	return true;
}

#define MANY  4	 /* points; most races need fewer */
#define MOVES 16 /* ticks of its clock by which a point alone is moved */

/* Leaves out parts of the schedule as long as the rest fails. */
static void drop_parts(struct exploring *x, struct shrunk *s)
{
	for (unsigned size = (s->schedule.count + 1) / 2; size;
	     size = size > 1 ? (size + 1) / 2 : 0)
		while (!interrupted && s->schedule.count &&
		       take_variant(x, s, (struct variant){leave_out, size}))
			;
	if (s->schedule.count >= MANY && !interrupted &&
	    take_variant(x, s, (struct variant){move_one, MOVES}))
		take_variant(x, s, (struct variant){leave_out, 1}); /* the nearest good run */
}

static void shrink(struct exploring *x, struct shrunk *s, const struct found *f)
{
	struct runs *r = &x->runs;
	char text[SCHEDULE_TEXT];

	*s = (struct shrunk){.bad = f->result.number, .result = f->result};
	moved_seed(&s->schedule, r, f->seed, f->moved);
	points_text(text, &s->schedule);
	runs_start(r, text, (struct seeds){.first = 0});
	while (!interrupted && !runs_wait(r, &s->result).pid)
		;
	if (interrupted)
		return;
	s->tried = 1;
	s->is_list = s->result.end == f->result.end;
	if (!s->is_list) {
		runs_forget(r, s->result.number);
		s->result = f->result;
		return;
	}
	runs_forget(r, s->bad);
	s->bad = s->result.number;
	drop_parts(x, s);
}

/* ---- the report ---- */

static void print_command(struct exploring *x, const char *schedule)
{
	printf("  ");
	runs_print_command(&x->runs, schedule, x->out_name);
}

static int report(struct exploring *x, const struct found *f)
{
	struct runs *r = &x->runs;
	char text[SCHEDULE_TEXT];
	struct schedule all;
	struct shrunk s;

	moved_text(r, text, f->seed, f->moved);
	printf("Seed %llu: the program %s\n", (unsigned long long)f->seed, f->result.what);
	print_command(x, text);
	fflush(stdout);
	shrink(x, &s, f);
	if (interrupted)
		return EXIT_TROUBLE;
	if (s.is_list) {
		moved_seed(&all, r, f->seed, f->moved);
		points_text(text, &s.schedule);
		printf("Of %u points %u %s needed (%u runs): the program %s\n", all.count,
		    s.schedule.count, s.schedule.count == 1 ? "is" : "are", s.tried, s.result.what);
		print_command(x, text);
	} else {
		puts("Its points, written as a list, make another run: it stays as it is");
	}
	fflush(stdout);
	if (!runs_keep(r, text, x->out_name))
		return EXIT_TROUBLE;
	char good[320];
	snprintf(good, sizeof(good), "%s", runs_file(r, s.good, "dat"));
	explore_tell(x->out_name, s.has_good ? good : NULL);
	return EXIT_DAMAGED;
}

static void say_trouble(const struct runs *r, const struct run_result *result)
{
	struct in in;

	say("the run could not be made:");
	if (in_open(&in, runs_file(r, result->number, "out"))) {
		fwrite(in.data, 1, in.size, stderr);
		in_close(&in);
	}
}

/*
 * Makes every run begin with a rehearsal, and measures again how far the clocks go. If the program
 * fails in its second run, each run gets a machine of its own. False: trouble, which was reported.
 */
static bool rehearse(struct exploring *x)
{
	struct runs *r = &x->runs;
	struct run_result result;
	char span[sizeof(r->span)];

	memcpy(span, r->span, sizeof(span));
	r->rehearse = true;
	runs_first(r, &result);
	if (interrupted)
		return false;
	if (result.end == RUN_TROUBLE) {
		say_trouble(r, &result);
		return false;
	}
	runs_forget(r, result.number);
	if (result.end == RUN_GOOD)
		return true;
	if (!x->quiet)
		say("the second time in a machine the program %s: each run has its own (--cold)",
		    result.what);
	memcpy(r->span, span, sizeof(span));
	r->rehearse = false;
	x->cold = true;
	return true;
}

static int explore(struct exploring *x)
{
	struct runs *r = &x->runs;
	struct run_result first;
	struct found found = {.any = false};

	runs_first(r, &first);
	if (interrupted)
		return EXIT_TROUBLE;
	if (first.end == RUN_TROUBLE) {
		say_trouble(r, &first);
		return EXIT_TROUBLE;
	}
	if (first.end != RUN_GOOD) {
		say("without any preemption, too, the program %s", first.what);
		return EXIT_TROUBLE;
	}
	if (is_fast(x) && !rehearse(x))
		return EXIT_TROUBLE;
	if (!look_for(x, &found))
		return EXIT_TROUBLE;
	if (!found.any) {
		printf("None of %llu schedules fails\n", (unsigned long long)x->seeds);
		return EXIT_FINE;
	}
	if (found.result.end == RUN_TROUBLE) {
		say_trouble(r, &found.result);
		return EXIT_TROUBLE;
	}
	return report(x, &found);
}

/* ---- the command line ---- */

/* Adds an option of `record` and its value to the arguments. */
static void add_option(struct exploring *x, const char *option, const char *fmt, const char *name)
{
	struct bytes text = {.data = NULL};

	script_put(&text, fmt, name, name);
	bytes_put(&text, "", 1);
	add_word(x, option);
	add_word(x, (const char *)text.data);
	bytes_free(&text);
}

/* A monitor that makes the kernel panic, and its event. */
static void add_monitor(struct exploring *x, const char *name)
{
	add_option(x, "--before",
	    "echo %s >> rv/enabled_monitors && echo panic > rv/monitors/%s/reactors", name);
	add_option(x, "-e", "rv:error_%s", name);
	x->runs.wanted |= 1 << RUN_MONITOR;
}

static int take_until(struct exploring *x, const char *text)
{
	static const struct {
		const char *word;
		enum run_end end;
	} ends[] = {
	    {"panic", RUN_PANIC}, {"hang", RUN_HANG}, {"exit", RUN_EXIT}, {"ledger", RUN_LEDGER}};
	struct runs *r = &x->runs;

	if (!strncmp(text, "rv=", 3) && text[3] && !text[3 + strspn(text + 3, NAME_LETTERS)]) {
		add_monitor(x, text + 3);
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
static void pass_on(struct exploring *x, int c, const char *arg)
{
	char letter[3] = {'-', (char)c, '\0'}, word[64];

	if (c < 128) {
		add_word(x, letter);
		if (arg)
			add_word(x, arg);
		return;
	}
	for (const struct option *o = record_options; o->name; o++) {
		if (o->val != c)
			continue;
		snprintf(word, sizeof(word), "--%s", o->name);
		add_word(x, word);
		if (arg)
			add_word(x, arg);
	}
}

static int take_number(const char *name, const char *text, uint64_t most, uint64_t *out)
{
	if (parse_number(text, most, out) && *out)
		return -1;
	return bad_usage(
	    "explore", "%s %s: a number from 1 to %llu", name, text, (unsigned long long)most);
}

static int take_limit(struct exploring *x, const char *text)
{
	uint64_t ns;

	if (!parse_seconds(text, &ns) || ns < 1000000)
		return bad_usage("explore", "--limit %s: not a number of seconds", text);
	x->runs.limit_ms = ns / 1000000;
	return -1;
}

static int take_jobs(struct exploring *x, const char *text)
{
	uint64_t number;
	int status =
	    take_number("--jobs", text, sizeof(x->runs.job) / sizeof(x->runs.job[0]), &number);

	if (status < 0)
		x->runs.jobs = number;
	return status;
}

static int take_option(struct exploring *x, int c)
{
	switch (c) {
	case OPTION_SEEDS:
		return take_number("--seeds", optarg, 1000000000, &x->seeds);
	case OPTION_FROM:
		return take_number("--from", optarg, 1000000000, &x->from);
	case OPTION_UNTIL:
		return take_until(x, optarg);
	case OPTION_LIMIT:
		return take_limit(x, optarg);
	case OPTION_COLD:
		x->cold = true;
		return -1;
	case 'j':
		return take_jobs(x, optarg);
	case 'c':
		x->commands = optarg;
		return -1;
	case 'o':
		x->out_name = optarg;
		return -1;
	case 'q':
		x->quiet = true;
		return -1;
	case OPTION_APPEND:
		x->runs.append = optarg;
		return -1;
	case OPTION_AFTER:
		x->after = optarg;
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
		x->has_events |= c == 'e' || c == 'p';
		x->has_cpus |= c == OPTION_SMP;
		pass_on(x, c, optarg);
		return -1;
	}
}

/* The commands that the guest runs when the program has ended: --after, and the ledger's check. */
static void add_after(struct exploring *x)
{
	static const char look[] = "grep '^" RUNS_UNBALANCED "' /sys/kernel/tracing/trace_ledger";
	bool wants = x->runs.wanted & 1 << RUN_LEDGER;
	char *text;

	if (!x->after && !wants)
		return;
	if (asprintf(&text, "%s%s%s", x->after ? x->after : "", x->after && wants ? "\n" : "",
		wants ? look : "") < 0)
		die(EXIT_TROUBLE, "out of memory");
	add_word(x, "--after");
	add_word(x, text);
	free(text);
}

/* The arguments after the options. False: there is nothing to run, which was reported. */
static bool add_program(struct exploring *x, char **argv)
{
	static const char *const fixed[] = {"-e", "explore", "--icount"}, *const events[] = {"-e",
									      "sched:sched_switch",
									      "-e", "raw_syscalls"};
	char *text;

	if (!x->commands == !*argv) {
		bad_usage("explore", x->commands ? "-c or a PROGRAM, not both" : "which PROGRAM?");
		return false;
	}
	for (size_t i = 0; !x->has_events && i < sizeof(events) / sizeof(events[0]); i++)
		add_word(x, events[i]);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		add_word(x, fixed[i]);
	add_after(x);
	if (!x->has_cpus) {
		add_word(x, "--smp");
		add_word(x, "1");
	}
	add_word(x, "--");
	for (; *argv; argv++)
		add_word(x, *argv);
	if (!x->commands)
		return true;
	if (asprintf(&text, "cd /sys/kernel/tracing\n%s", x->commands) < 0)
		die(EXIT_TROUBLE, "out of memory");
	add_word(x, "sh");
	add_word(x, "-lc");
	add_word(x, text);
	free(text);
	return true;
}

static void watch_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction how = {.sa_handler = note_interrupt};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &how, NULL);
}

static int run(struct exploring *x)
{
	int status = EXIT_TROUBLE;

	x->runs.words = x->word;
	if (runs_begin(&x->runs)) {
		watch_signals();
		status = explore(x);
	}
	runs_end(&x->runs);
	return status;
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

int cmd_explore(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct exploring x = {.out_name = "trace.dat",
	    .seeds = SEEDS_DEFAULT,
	    .from = 1,
	    .runs = {.append = "",
		.limit_ms = LIMIT_DEFAULT_MS,
		.jobs = cpus < 1    ? 1
			: cpus > 64 ? 64
				    : cpus}};
	struct option *options = make_options();
	int c, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv,
				  "+e:vf:R:iFc:C:b:M:O:Tp:s:o:qhj:", options, NULL)) != -1)
		status = take_option(&x, c);
	if (!x.runs.wanted)
		x.runs.wanted = 1 << RUN_PANIC | 1 << RUN_HANG | 1 << RUN_EXIT | 1 << RUN_LEDGER;
	if (status < 0)
		status = add_program(&x, argv + optind) ? run(&x) : EXIT_USAGE;
	for (size_t i = 0; i < x.words; i++)
		free(x.word[i]);
	free(x.word);
	free(x.runs.events);
	free(options);
	return status;
}
