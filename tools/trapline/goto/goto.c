/*
 * trapline goto: the machine of a trace, run again to the moment when it writes a certain event,
 * and stopped there. seek.h says how.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/goto/goto.h"
#include "tools/trapline/trapline.h"

static const char usage[] =
    "Usage: trapline goto [OPTION]... [TRACE.DAT] EVENT\n"
    "       trapline goto [OPTION]... [TRACE.DAT] --match REGEX [--nth N]\n"
    "\n"
    "Runs the machine that recorded TRACE.DAT (trace.dat) again, and stops it when it has reserved "
    "room for an event's record, before\n"
    "it writes the record. Prints the event, the registers, and the call stack, and waits for "
    "commands (`help` lists them): go to the\n"
    "next event or the one before, by instructions forwards and backwards, to the last write to an "
    "address; print values by type.\n"
    "\n"
    "EVENT is its number in the file, from 1 (its line in `trapline report`); CPU:N, the Nth event "
    "of that CPU; or a time with a\n"
    "point, such as 1.25: the first event at or after it.\n"
    "\n"
    "  -m, --match REGEX  the event whose line in `trapline report` matches this POSIX extended "
    "expression\n"
    "  -n, --nth N        the Nth of those (1)\n"
    "      --batch        print and exit; with status 1 if the machine then writes another record "
    "than the trace has\n"
    "      --gdb          leave the machine to gdb, and write a script for it to TRACE.DAT.gdb "
    "here; until gdb or Ctrl-C ends it\n"
    "      --vscode       the same, with a launch file for Visual Studio Code, "
    ".vscode/launch.json\n"
    "      --port PORT    gdb's port (1234)\n"
    "      --kernel FILE  the kernel, if it has moved; it must be the same\n"
    "\n"
    "It refuses what `trapline replay` refuses.\n"
    "Exit status: 0 fine, 1 the machine did not do what it did when it was recorded, 2 usage, 3 "
    "trouble.\n";

enum {
	OPTION_KERNEL_FILE = OPTION_FIRST_FREE,
	OPTION_BATCH,
	OPTION_GDB,
	OPTION_VSCODE,
	OPTION_PORT
};

static void read_events(struct visit *v)
{
	struct record r;
	size_t room = 0;

	while (trace_next(&v->trace, &r)) {
		if (r.is_gap)
			continue;
		if (v->events == room)
			v->event =
			    xrealloc(v->event, (room = room ? room * 2 : 1024) * sizeof(*v->event));
		v->event[v->events++] = r;
	}
}

/* Between events: the last one that any CPU had reserved. */
static void find_last_event(struct visit *v)
{
	size_t n = COUNT_UP_TO(v->event, v->events, time, v->seek.plan->last);

	v->has_event = v->seek.plan->last && n;
	v->at = v->has_event ? n - 1 : 0;
}

static void arrived(struct seek *s)
{
	struct visit *v = s->context;

	v->cpu = s->cpu;
	v->count = s->plan->begun;
	if (!gdb_registers(&s->gdb, v->cpu, v->r)) {
		say("the registers cannot be read");
		v->status = EXIT_TROUBLE;
		return;
	}
	if (!v->on_event)
		find_last_event(v);
	if (v->batch || !v->greeted)
		goto_show(v);
	else
		goto_show_short(v);
	v->greeted = true;
	fflush(stdout);
	if (v->serves)
		s->machine->enough = !goto_serve(v);
	else if (!v->batch)
		goto_prompt(v);
	else if (!goto_check(v))
		v->status = EXIT_DAMAGED;
}

/* ---- moves ---- */

static const enum plan_kind finds[] = {[MOVE_COUNT] = PLAN_FIND_COUNT,
    [MOVE_CALL] = PLAN_FIND_CALL,
    [MOVE_WRITE] = PLAN_FIND_WRITE,
    [MOVE_WRITER] = PLAN_FIND_WRITER};

static const char *const not_found[] = {[MOVE_COUNT] = "the machine ends before that",
    [MOVE_CALL] = "it is not executed any more",
    [MOVE_WRITE] = "nothing writes there any more",
    [MOVE_WRITER] = "nothing has written there since the machine began"};

/* False: there is no such place. */
static bool find(struct visit *v, const struct move *m)
{
	v->seek.plan->address = m->n;
	v->seek.plan->bytes = m->bytes;
	if (seek_find(&v->seek, finds[m->kind], m->kind == MOVE_COUNT ? m->n : m->from, &v->place))
		return true;
	say("%s", not_found[m->kind]);
	return false;
}

/* To an event by its index, or to v->place. */
static bool go(struct visit *v, bool to_event, size_t index)
{
	v->on_event = to_event;
	v->has_event = true;
	if (!to_event)
		return seek_place(&v->seek, &v->place);
	v->at = index;
	v->on_write = false;
	return seek_record(&v->seek, v->event[index].cpu, v->event[index].time);
}

/* Moves until nothing more is wanted. A move that leads nowhere leaves us where we were. */
static void travel(struct visit *v, size_t index)
{
	bool fine = go(v, true, index);

	while (fine && v->move.kind != MOVE_QUIT) {
		struct move m = v->move;
		bool was_on_event = v->on_event;
		struct plan_place was = v->place;

		if (m.kind == MOVE_EVENT) {
			fine = go(v, true, m.n);
		} else if (find(v, &m)) {
			v->on_write = m.kind == MOVE_WRITE || m.kind == MOVE_WRITER;
			v->by_machine = v->place.by_machine;
			fine = go(v, false, 0);
		} else {
			v->place = was;
			fine = go(v, was_on_event, v->at);
		}
	}
	if (!fine)
		v->status = EXIT_DAMAGED;
}

struct choice {
	const char *file, *event, *match, *kernel;
	uint64_t nth, port;
	bool batch, gdb, vscode;
};

static void visit(struct visit *v, const struct choice *c)
{
	size_t index;

	if (!v->origin.has_clock) {
		say("%s: it does not say its clock: record it again", v->trace.file);
	} else {
		read_events(v);
		if ((!c->gdb || goto_port_is_free(c->port)) &&
		    (!c->vscode || goto_write_launch(v)) &&
		    goto_choose(v, c->event, c->match, c->nth, &index) &&
		    seek_open(&v->seek, &v->origin)) {
			v->seek.arrived = arrived;
			v->seek.context = v;
			elf_open(&v->kernel, v->origin.boot.options.kernel);
			ktypes_open(&v->types, &v->kernel);
			v->status = EXIT_FINE;
			travel(v, index);
			goto_close_files(v);
			elf_close(&v->kernel);
			seek_close(&v->seek);
		}
		free(v->event);
	}
}

static int run(const struct choice *c)
{
	struct visit *v = xmalloc(sizeof(*v));
	int status;

	v->batch = c->batch;
	v->serves = c->gdb;
	v->port = c->port;
	v->move.kind = MOVE_QUIT;
	v->status = EXIT_TROUBLE;
	if (!trace_open(&v->trace, c->file)) {
		free(v);
		return EXIT_TROUBLE;
	}
	if (origin_open(&v->origin, &v->trace, c->kernel))
		visit(v, c);
	origin_close(&v->origin);
	trace_close(&v->trace);
	status = v->status;
	free(v);
	return status;
}

int cmd_goto(int argc, char **argv)
{
	static const struct option options[] = {{"match", required_argument, NULL, 'm'},
	    {"nth", required_argument, NULL, 'n'}, {"batch", no_argument, NULL, OPTION_BATCH},
	    {"gdb", no_argument, NULL, OPTION_GDB}, {"vscode", no_argument, NULL, OPTION_VSCODE},
	    {"port", required_argument, NULL, OPTION_PORT},
	    {"kernel", required_argument, NULL, OPTION_KERNEL_FILE}, COMMON_OPTIONS, {0}};
	struct choice c = {.file = "trace.dat", .nth = 1, .port = 1234};
	int option, status, words;

	while ((option = getopt_long(argc, argv, "m:n:h", options, NULL)) != -1) {
		if (option == 'm') {
			c.match = optarg;
		} else if (option == 'n') {
			if (!parse_number(optarg, ~0ULL, &c.nth) || !c.nth)
				return bad_usage("goto", "--nth %s: 1 or more", optarg);
		} else if (option == OPTION_BATCH) {
			c.batch = true;
		} else if (option == OPTION_GDB || option == OPTION_VSCODE) {
			c.gdb = true;
			c.vscode |= option == OPTION_VSCODE;
		} else if (option == OPTION_PORT) {
			if (!parse_number(optarg, 65535, &c.port) || !c.port)
				return bad_usage("goto", "--port %s: 1 to 65535", optarg);
		} else if (option == OPTION_KERNEL_FILE) {
			c.kernel = optarg;
		} else {
			status = common_option("goto", option, usage);
			if (status >= 0)
				return status;
		}
	}
	words = argc - optind;
	if (words > (c.match ? 1 : 2))
		return bad_usage("goto", "one TRACE.DAT and one EVENT at a time");
	if (!c.match && !words)
		return bad_usage("goto", "to which EVENT?");
	if (c.batch && c.gdb)
		return bad_usage("goto", "--batch or --gdb, not both");
	if (!c.match)
		c.event = argv[argc - 1];
	if (words == (c.match ? 1 : 2))
		c.file = argv[optind];
	return run(&c);
}
