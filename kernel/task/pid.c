/*
 * Process ids. The table grows by chunks that are never freed, so that task_next() can look for the
 * next task without the lock; everything else holds pid_lock (interrupts off; no lock is taken
 * inside).
 */
#include "kernel/task/pid.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

#define CHUNK	     128
#define PID_WRAPS_TO 300 /* as Linux: the low numbers stay those of the first tasks */

struct pid_entry {
	struct task *task; /* [pid_lock]; NULL: free */
};

static struct spinlock pid_lock = SPINLOCK_INIT;
static struct pid_entry *chunks[PID_MAX / CHUNK]; /* set once each */
static int last_pid = 1;			  /* [pid_lock] 1 is asked for by name */

static struct pid_entry *pid_entry_of(int pid)
{
	if (pid <= 0 || pid >= PID_MAX)
		return NULL;
	struct pid_entry *chunk = atomic_load_acquire(&chunks[pid / CHUNK]);
	return chunk ? &chunk[pid % CHUNK] : NULL;
}

/* The same, with a chunk made if there is none. */
static struct pid_entry *entry_make(int pid)
{
	struct pid_entry *e = pid_entry_of(pid);
	if (e)
		return e;
	struct pid_entry *chunk = kzalloc(CHUNK * sizeof(*chunk));
	if (!chunk)
		return NULL;
	atomic_store_release(&chunks[pid / CHUNK], chunk);
	return &chunk[pid % CHUNK];
}

static int next_pid(int pid)
{
	return pid + 1 < PID_MAX ? pid + 1 : PID_WRAPS_TO;
}

/* The lock is held. */
static int find_free(int want, struct pid_entry **e)
{
	int pid = want ? want : next_pid(last_pid);

	for (int tries = 0; tries < PID_MAX; tries++, pid = next_pid(pid)) {
		*e = entry_make(pid);
		if (!*e)
			return 0;
		if (!(*e)->task)
			return pid;
		if (want)
			return 0;
	}
	return 0;
}

int pid_attach(struct task *t, int want)
{
	struct pid_entry *e;

	u64 flags = spin_lock_irqsave(&pid_lock);
	int pid = find_free(want, &e);
	if (pid) {
		t->pid = pid;
		WRITE_ONCE(e->task, t);
		if (!want)
			last_pid = pid;
	}
	spin_unlock_irqrestore(&pid_lock, flags);
	return pid;
}

void pid_exchange(struct task *a, struct task *b)
{
	u64 flags = spin_lock_irqsave(&pid_lock);
	int pid = a->pid;

	a->pid = b->pid;
	b->pid = pid;
	WRITE_ONCE(pid_entry_of(a->pid)->task, a);
	WRITE_ONCE(pid_entry_of(b->pid)->task, b);
	this_cpu_write(pid_common, current()->pid_common);
	spin_unlock_irqrestore(&pid_lock, flags);
}

void pid_detach(struct task *t)
{
	u64 flags = spin_lock_irqsave(&pid_lock);
	WRITE_ONCE(pid_entry_of(t->pid)->task, NULL);
	spin_unlock_irqrestore(&pid_lock, flags);
}

/*
 * The lock is held: the memory is there, but a task that was waited for, or whose references have
 * run out, is not to be had any more.
 */
static bool get_unless_gone(struct task *t)
{
	u32 refs = atomic_load(&t->refs);

	while (refs && !atomic_cas(&t->refs, refs, refs + 1))
		refs = atomic_load(&t->refs);
	return refs != 0;
}

struct task *task_find(int pid)
{
	struct pid_entry *e = pid_entry_of(pid);

	if (!e)
		return NULL;
	u64 flags = spin_lock_irqsave(&pid_lock);
	struct task *t = e->task;
	if (t && (READ_ONCE(t->reaped) || !get_unless_gone(t)))
		t = NULL;
	spin_unlock_irqrestore(&pid_lock, flags);
	return t;
}

struct task *task_next(struct task *prev)
{
	struct task *t = NULL;
	int pid = prev ? prev->pid + 1 : 1;

	while (!t && pid < PID_MAX) {
		struct pid_entry *e = pid_entry_of(pid);
		if (!e)
			pid = (pid / CHUNK + 1) * CHUNK;
		else if (!READ_ONCE(e->task) || !(t = task_find(pid)))
			pid++;
	}
	if (prev)
		task_put(prev);
	return t;
}
