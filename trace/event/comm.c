/*
 * saved_cmdlines and saved_tgids. Slots are reused in a circle; a map leads from pid to slot.
 *
 * comms.busy is a try-lock, taken by an atomic exchange. A writer that finds it taken gives up: the
 * next switch of that task tries again. Readers and renames retry for a while. So no context waits
 * for another. Sizes and pointers change under host_lock and busy.
 */
#include "trace/event/comm.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "trace/event/comm_slot.h"
#include "trace/event/enable.h"
#include "trace/event/parts.h"
#include "trace/host_context.h"
#include "trace/host_memory.h"
#include "trace/host_system.h"

#define PIDS	     32768
#define DEFAULT_SIZE 4096
#define MAX_SIZE     PIDS
#define NO_SLOT	     0xffff
#define TRIES	     10000

static struct {
	u32 busy;
	u32 name_users, tgid_users; /* host_lock; read without it */
	u32 size, next;
	struct trace_comm_slot *slots;
	u16 *slot_of; /* by pid */
	s32 *tgid_of; /* by pid */
	struct trace_key *const *keys;
	unsigned key_count;
} comms = {.size = DEFAULT_SIZE};

/*
 * Names change only while a buffer records: when a trace is read does not change what it shows.
 * `seen` is `changes` as it was at the CPU's last switch.
 */
static u32 recording;	   /* [A] buffers that are on */
static u32 changes;	   /* [A] of it */
static u32 seen[MAX_CPUS]; /* each written on its CPU */

static unsigned slots_pages(u32 n)
{
	return (n * sizeof(struct trace_comm_slot) + PAGE_SIZE - 1) / PAGE_SIZE;
}

static struct trace_comm_slot *trace_comm_alloc_slots(u32 n)
{
	struct trace_comm_slot *slots = kept_alloc(slots_pages(n));

	if (!slots && !host_memory_check("names of tasks", n * sizeof(*slots)))
		slots = host_alloc(n * sizeof(*slots));
	return slots;
}

static void trace_comm_free_slots(struct trace_comm_slot *slots, u32 n)
{
	if (!slots || !kept_free(slots, slots_pages(n)))
		host_free(slots);
}

static bool trace_comm_try_lock(u32 tries)
{
	while (atomic_xchg(&comms.busy, 1))
		if (--tries == 0)
			return false;
	return true;
}

static void trace_comm_unlock(void)
{
	atomic_store_release(&comms.busy, 0);
}

void trace_comm_set_keys(struct trace_key *const *keys, unsigned count)
{
	comms.keys = keys;
	comms.key_count = MIN(count, (unsigned)TRACE_KEYS_AT_ONCE);
}

int trace_comm_prepare(void)
{
	if (comms.slots)
		return 0;
	struct trace_comm_slot *slots = trace_comm_alloc_slots(comms.size);
	u16 *slot_of = host_alloc(PIDS * sizeof(*slot_of));
	s32 *tgid_of = host_alloc(PIDS * sizeof(*tgid_of));
	if (!slots || !slot_of || !tgid_of) {
		trace_comm_free_slots(slots, comms.size);
		host_free(slot_of);
		host_free(tgid_of);
		return -ENOMEM;
	}
	memset(slot_of, 0xff, PIDS * sizeof(*slot_of));
	comms.slot_of = slot_of;
	comms.tgid_of = tgid_of;
	comms.slots = slots;
	kept_note_comms(slots, comms.size * sizeof(*slots));
	return 0;
}

void trace_comm_exit(void)
{
	trace_comm_free_slots(comms.slots, comms.size);
	host_free(comms.slot_of);
	host_free(comms.tgid_of);
	comms.slots = NULL;
	comms.slot_of = NULL;
	comms.tgid_of = NULL;
	recording = 0;
}

void trace_comm_users(int names, int tgids)
{
	bool before = comms.name_users || comms.tgid_users;

	WRITE_ONCE(comms.name_users, comms.name_users + names);
	WRITE_ONCE(comms.tgid_users, comms.tgid_users + tgids);
	bool now = comms.name_users || comms.tgid_users;
	if (before != now)
		trace_keys_use(comms.keys, comms.key_count, now ? 1 : -1);
}

/* The slot of the pid, or the one whose turn it is. */
static struct trace_comm_slot *take_slot(s32 pid)
{
	u16 at = comms.slot_of[pid];

	if (at == NO_SLOT) {
		at = comms.next;
		comms.next = at + 1u < comms.size ? at + 1 : 0;
		if (comms.slots[at].pid)
			comms.slot_of[comms.slots[at].pid] = NO_SLOT;
		comms.slot_of[pid] = at;
		comms.slots[at].pid = pid;
	}
	return &comms.slots[at];
}

static void trace_comm_save(s32 pid, s32 tgid, const char *comm, u32 tries)
{
	u32 names = READ_ONCE(comms.name_users), tgids = READ_ONCE(comms.tgid_users);

	if (pid <= 0 || pid >= PIDS || !(names | tgids) || !trace_comm_try_lock(tries))
		return;
	if (tgids)
		comms.tgid_of[pid] = tgid;
	if (names)
		memcpy(take_slot(pid)->comm, comm, 16);
	trace_comm_unlock();
}

void trace_comm_switch_out(s32 pid, s32 tgid, const char *comm)
{
	/* The task also ran when a buffer was switched on or off. */
	if (atomic_load(&recording) || seen[host_cpu()] != atomic_load(&changes))
		trace_comm_save(pid, tgid, comm, 1);
}

void trace_comm_switch_in(s32 pid, s32 tgid, const char *comm)
{
	seen[host_cpu()] = atomic_load(&changes);
	if (atomic_load(&recording))
		trace_comm_save(pid, tgid, comm, 1);
}

void trace_comm_wakeup(s32 pid, s32 tgid, const char *comm)
{
	if (atomic_load(&recording))
		trace_comm_save(pid, tgid, comm, 1);
}

void trace_comm_rename(s32 pid, s32 tgid, const char comm[16])
{
	if (atomic_load(&recording))
		trace_comm_save(pid, tgid, comm, TRIES);
}

void trace_comm_recording(bool on)
{
	struct host_context ctx;
	char comm[16];

	atomic_add(&changes, 1);
	atomic_add(&recording, on ? 1 : -1);
	if (on)
		return;
	/* Its last switch may have been before the buffer was on, and its next may never come. */
	host_enter(&ctx);
	host_current_comm(comm);
	trace_comm_save(ctx.pid, host_tgid(ctx.pid), comm, 1);
	host_preempt_enable();
}

void trace_comm_find(s32 pid, char comm[16])
{
	static const char unknown[3][16] = {"<...>", "<idle>", "<XXX>"};
	u16 slot = NO_SLOT;

	if (pid > 0 && pid < PIDS && comms.slots && trace_comm_try_lock(TRIES)) {
		slot = comms.slot_of[pid];
		if (slot != NO_SLOT)
			__builtin_memcpy(comm, comms.slots[slot].comm, 16);
		trace_comm_unlock();
	}
	if (slot == NO_SLOT)
		__builtin_memcpy(comm, unknown[pid == 0 ? 1 : pid < 0 ? 2 : 0], 16);
	comm[15] = '\0';
}

s32 trace_tgid_find(s32 pid)
{
	return pid > 0 && pid < PIDS && comms.tgid_of ? READ_ONCE(comms.tgid_of[pid]) : 0;
}

void trace_comm_show(struct seq *s)
{
	for (u32 i = 0; comms.slots && i < comms.size; i++) {
		s32 pid = READ_ONCE(comms.slots[i].pid);
		char comm[16];
		if (!pid)
			continue;
		trace_comm_find(pid, comm);
		seq_printf(s, "%d %s\n", pid, comm);
	}
}

void trace_tgid_show(struct seq *s)
{
	for (s32 pid = 1; comms.tgid_of && pid < PIDS; pid++)
		if (trace_tgid_find(pid))
			seq_printf(s, "%d %d\n", pid, trace_tgid_find(pid));
}

void trace_comm_place(u64 *table, u64 *count, u32 *size)
{
	*table = (u64)&comms.slots;
	*count = (u64)&comms.size;
	*size = sizeof(struct trace_comm_slot);
}

u32 trace_comm_size(void)
{
	return comms.size;
}

/* The names kept so far are forgotten, as Linux does. */
int trace_comm_resize(u64 n)
{
	if (n == 0 || n > MAX_SIZE)
		return -EINVAL;
	struct trace_comm_slot *slots = comms.slots ? trace_comm_alloc_slots(n) : NULL,
			       *old = comms.slots;
	if (old && !slots)
		return -ENOMEM;
	u32 old_size = comms.size;
	while (!trace_comm_try_lock(TRIES))
		;
	comms.slots = slots;
	comms.size = n;
	comms.next = 0;
	if (slots)
		memset(comms.slot_of, 0xff, PIDS * sizeof(*comms.slot_of));
	trace_comm_unlock();
	kept_note_comms(slots, n * sizeof(*slots));
	trace_comm_free_slots(old, old_size);
	return 0;
}
