/*
 * trapline explore: runs a program under one schedule after another until a run fails, then reduces
 * that schedule to as few points as still make it fail.
 *
 *   options  the command line               points  the schedules that are tried
 *   runs     machines, one for each run     search  seeds in turn, until one fails
 *   shrink   fewer points                   compare  the bad run beside a good one
 */
#include <stdio.h>
#include <string.h>

#include "tools/trapline/explore/compare.h"
#include "tools/trapline/explore/options.h"
#include "tools/trapline/explore/shrink.h"
#include "tools/trapline/trapline.h"

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

	candidate_text(text, &f->candidate, r->span);
	printf(
	    "Seed %llu: the program %s\n", (unsigned long long)f->candidate.seed, f->result.what);
	print_command(x, text);
	fflush(stdout);
	shrink(r, &s, f);
	if (runs_interrupted())
		return EXIT_TROUBLE;
	if (s.is_list) {
		candidate_points(&all, &f->candidate, r->span);
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
	explore_compare(x->out_name, s.has_good ? good : NULL);
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
	if (runs_interrupted())
		return false;
	if (result.end == RUN_TROUBLE) {
		say_trouble(r, &result);
		return false;
	}
	runs_forget(r, result.number);
	if (result.end == RUN_GOOD)
		return true;
	if (!x->range.quiet)
		say("the second time in a machine the program %s: each run has its own (--cold)",
		    result.what);
	memcpy(r->span, span, sizeof(span));
	r->rehearse = false;
	x->range.alone = true;
	return true;
}

static int explore(struct exploring *x)
{
	struct runs *r = &x->runs;
	struct run_result first;
	struct found found;

	runs_first(r, &first);
	if (runs_interrupted())
		return EXIT_TROUBLE;
	if (first.end == RUN_TROUBLE) {
		say_trouble(r, &first);
		return EXIT_TROUBLE;
	}
	if (first.end != RUN_GOOD) {
		say("without any preemption, too, the program %s", first.what);
		return EXIT_TROUBLE;
	}
	if (!x->range.alone && !rehearse(x))
		return EXIT_TROUBLE;
	if (!search_seeds(r, &x->range, &found))
		return EXIT_TROUBLE;
	if (!found.any) {
		printf("None of %llu schedules fails\n", (unsigned long long)x->range.count);
		return EXIT_FINE;
	}
	if (found.result.end == RUN_TROUBLE) {
		say_trouble(r, &found.result);
		return EXIT_TROUBLE;
	}
	return report(x, &found);
}

static int run(struct exploring *x)
{
	int status = EXIT_TROUBLE;

	if (runs_begin(&x->runs))
		status = explore(x);
	runs_end(&x->runs);
	return status;
}

int cmd_explore(int argc, char **argv)
{
	struct exploring x;
	int status = explore_options(&x, argc, argv);

	if (status < 0)
		status = run(&x);
	explore_options_free(&x);
	return status;
}
