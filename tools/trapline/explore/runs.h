/*
 * The runs of trapline explore. A *run* is a machine that a process of `record` boots, with a
 * schedule on the kernel's command line (kernel/task/explore.h). Its output and its trace are files
 * in a directory that is removed at the end.
 */
#pragma once

#include "kernel/lib/schedule.h"
#include "tools/trapline/trace/trace.h"

/* How a line of trace_ledger begins if an equation does not hold. */
#define RUNS_UNBALANCED "not balanced: "

/* How a run ended; RUN_TROUBLE: it is not known. */
enum run_end {
	RUN_GOOD,
	RUN_PANIC,
	RUN_MONITOR,
	RUN_HANG,
	RUN_EXIT,
	RUN_EVENT,
	RUN_LEDGER,
	RUN_TROUBLE
};

struct run_result {
	unsigned number; /* of the run: its files */
	enum run_end end;
	int status;
	uint64_t seed;	/* the last one that ran; 0: not reported */
	char what[640]; /* "ended with status 1" */
};

/* What a machine tries: one schedule, with the number `first`, or seeds in order. */
struct seeds {
	uint64_t first, last;
	bool alone;	/* this machine tries only the first; others try the rest */
	bool all_alone; /* each seed gets a machine of its own */
	unsigned moved; /* of the first seed: struct candidate */
};

struct job {
	int pid; /* 0: none */
	unsigned number;
	struct seeds seeds;
};

struct runs {
	char directory[256];
	char **words;	    /* of `record`, from its options to its program; ended by NULL */
	const char *append; /* the user's words for the kernel */
	uint64_t limit_ms;
	unsigned wanted; /* bits of enum run_end that end the search */
	char **events;	 /* patterns SYSTEM:EVENT that end the search */
	size_t event_count;
	unsigned count; /* of the runs started so far */
	struct job job[64];
	unsigned jobs, busy;
	bool rehearse;		      /* each machine first runs the program once without points */
	char span[SCHEDULE_SPAN_MAX]; /* how far the clocks go; set by runs_first() */
};

/*
 * Makes the directory of the runs' files, and from then on notes signals that end the process.
 * False: it cannot, which was reported.
 */
bool runs_begin(struct runs *r);
/* Ends the runs that are under way, and removes all files. */
void runs_end(struct runs *r);
/* True after SIGHUP, SIGINT or SIGTERM: the caller starts no other run and returns. */
bool runs_interrupted(void);
/* True if another run can start now. */
static inline bool runs_have_room(const struct runs *r)
{
	return r->busy < r->jobs;
}
/* Starts a machine for one schedule. */
void runs_start(struct runs *r, const char *schedule, struct seeds seeds);
/* Starts a machine for all of the seeds, until one fails. */
void runs_start_many(struct runs *r, struct seeds seeds);
/* Waits until a run has ended; the pid is 0 if a signal came first. */
struct job runs_wait(struct runs *r, struct run_result *result);
/* Ends the runs that begin with a later seed. */
void runs_drop_beyond(struct runs *r, uint64_t seed);
/* Reads "span U,K,C,W,L,STEPS,..." from the kernel's report. False: it is not there. */
bool runs_take_span(struct runs *r, const char *file);
/* Runs without points; also finds how far the clocks go. */
void runs_first(struct runs *r, struct run_result *result);
/* The path of a run's file: "dat" (its trace), "out" (its output); valid until the next call. */
const char *runs_file(const struct runs *r, unsigned number, const char *suffix);
/* Removes the files of a run. */
void runs_forget(const struct runs *r, unsigned number);
/* The command line that repeats a run, as a shell takes it. */
void runs_print_command(const struct runs *r, const char *schedule, const char *out_name);
/* Runs that command; the trace is `out_name`. False: it failed, which was reported. */
bool runs_keep(struct runs *r, const char *schedule, const char *out_name);
