/* See seek.h. */
#include "tools/trapline/goto/seek.h"
#include "tools/trapline/machine/loaded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 3 /* of a run in which the stop came too late */

/* ---- what QEMU is given ---- */

static void close_pair(int ends[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
}

void seek_close(struct seek *s)
{
	close_pair(s->channel);
	close_pair(s->gdb_ends);
	if (s->plan)
		munmap(s->plan, sizeof(*s->plan));
	if (s->plan_fd >= 0)
		close(s->plan_fd);
	if (s->spy.err >= 0)
		close(s->spy.err);
	if (s->spy.plugin >= 0)
		close(s->spy.plugin);
}

bool seek_open(struct seek *s, struct origin *o)
{
	*s = (struct seek){.origin = o,
	    .plan_fd = -1,
	    .channel = {-1, -1},
	    .gdb_ends = {-1, -1},
	    .spy = {.plugin = loaded_open(LOADED_STOP_PLUGIN), .err = -1}};
	if (s->spy.plugin < 0) {
		seek_close(s);
		return false;
	}
	s->plan_fd = memfd_create("plan", MFD_CLOEXEC);
	s->spy.err = memfd_create("messages", MFD_CLOEXEC);
	if (s->plan_fd >= 0 && s->spy.err >= 0 && !ftruncate(s->plan_fd, sizeof(*s->plan)))
		s->plan =
		    mmap(NULL, sizeof(*s->plan), PROT_READ | PROT_WRITE, MAP_SHARED, s->plan_fd, 0);
	if (s->plan && s->plan != MAP_FAILED)
		return true;
	say_errno("memory for the plugin");
	s->plan = NULL;
	seek_close(s);
	return false;
}

/* What QEMU said goes to a file; it is of use if QEMU ended by itself. */
static void say_qemu(struct seek *s)
{
	char text[2000];
	ssize_t n = pread(s->spy.err, text, sizeof(text), 0);

	if (s->origin->boot.machine.end == END_QEMU && n > 0)
		fwrite(text, 1, n, stderr);
}

static bool make_ends(struct seek *s)
{
	close_pair(s->channel);
	close_pair(s->gdb_ends);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->channel) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->gdb_ends)) {
		say_errno("sockets");
		return false;
	}
	if (ftruncate(s->spy.err, 0))
		say_errno("QEMU's messages");
	s->spy.plan = s->plan_fd;
	s->spy.channel = s->channel[1];
	s->spy.gdb = s->gdb_ends[1];
	return true;
}

/* ---- a run ---- */

/* The plugin holds the machine, or has found its place. */
static void heard(struct machine *m)
{
	struct seek *s = m->context;
	char what;

	if (read(s->channel[0], &what, 1) != 1) {
		m->ear = -1;
		return;
	}
	if (what == PLAN_FOUND) {
		m->enough = true;
		return;
	}
	machine_order(m, "{\"execute\": \"stop\"}\n");
	what = PLAN_GO;
	if (write(s->channel[0], &what, 1) != 1)
		say_errno("the plugin");
}

/*
 * To the instruction, from the block that it is in. If an interrupt comes in between, the first
 * step takes it.
 */
static bool step_to_place(struct seek *s)
{
	const struct plan_place *to = &s->to;
	uint64_t r[GDB_REGISTERS];

	if (s->plan->begun != to->block || !gdb_registers(&s->gdb, s->cpu, r))
		return false;
	for (uint64_t at = to->block; at < to->at; at++) {
		bool interrupt = at == to->block && r[GDB_RIP] != to->block_pc;
		if (!gdb_step(&s->gdb, s->cpu, interrupt))
			return false;
	}
	return s->plan->begun == to->at && gdb_registers(&s->gdb, s->cpu, r) &&
	       (to->at == to->block || !to->pc || r[GDB_RIP] == to->pc);
}

static void stopped(struct machine *m)
{
	struct seek *s = m->context;

	m->enough = true;
	m->stopped = NULL;
	s->machine = m;
	if (s->plan->overrun) {
		s->again = true;
		return;
	}
	machine_order(m, "{\"execute\": \"human-monitor-command\", \"arguments\": "
			 "{\"command-line\": \"gdbserver chardev:goto\"}}\n");
	if (!gdb_begin(&s->gdb, s->gdb_ends[0])) {
		s->wrong = "QEMU's gdbstub does not answer";
	} else if (s->plan->kind == PLAN_BLOCK && !step_to_place(s)) {
		s->wrong = "this run took another way";
	} else {
		s->did_arrive = true;
		s->arrived(s);
	}
}

static void prepare(struct machine *m)
{
	struct seek *s = m->context;

	m->ear = s->channel[0];
	m->heard = heard;
	m->stopped = stopped;
}

/* False, said: the machine could not be run. */
static bool run_once(struct seek *s)
{
	struct boot *b = &s->origin->boot;
	struct plan *p = s->plan;

	p->is_found = false;
	p->begun = p->block = p->overrun = p->last = 0;
	p->clock_base = s->origin->clock[0];
	p->clock_mult = s->origin->clock[1];
	p->clock_add = s->origin->clock[2];
	s->again = s->did_arrive = false;
	s->wrong = NULL;
	if (!make_ends(s))
		return false;
	b->options.spy = &s->spy;
	bool ran = boot_watched(b, s->origin->qemu, prepare, s);
	b->options.spy = NULL;
	say_qemu(s);
	return ran;
}

static bool run(struct seek *s)
{
	for (unsigned i = 0; i < TRIES; i++) {
		if (!run_once(s))
			return false;
		if (!s->again)
			return true;
	}
	s->wrong = "QEMU did not stop in time";
	return true;
}

static bool run_to(struct seek *s)
{
	if (!run(s))
		return false;
	if (!s->did_arrive)
		say("the machine did not come to that place%s%s", s->wrong ? ": " : "",
		    s->wrong ? s->wrong : "");
	return s->did_arrive;
}

bool seek_record(struct seek *s, unsigned cpu, uint64_t time)
{
	struct plan *p = s->plan;

	p->kind = PLAN_RECORD;
	p->cpu = s->cpu = cpu;
	p->time = time;
	return run_to(s);
}

bool seek_place(struct seek *s, const struct plan_place *to)
{
	s->plan->kind = PLAN_BLOCK;
	s->plan->count = to->before;
	s->to = *to;
	s->cpu = to->cpu;
	return run_to(s);
}

bool seek_find(struct seek *s, enum plan_kind kind, uint64_t count, struct plan_place *found)
{
	s->plan->kind = kind;
	s->plan->count = count;
	if (!run(s) || !s->plan->is_found)
		return false;
	*found = s->plan->found;
	return true;
}
