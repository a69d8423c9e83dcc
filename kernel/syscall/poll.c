/*
 * poll(): which of several files are ready. Task context. Between two looks it sleeps in the queues
 * of all the files; a file that has none is asked again every POLL_STEP_NS.
 */
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"
#include "kernel/task/sync.h"
#include "kernel/task/timer.h"

#define POLL_STEP_NS 2000000UL

/* One file of a call. */
struct polled {
	struct file *f;		     /* counted; NULL: none, or none that is open */
	struct wait_queue *queue[2]; /* NULL: no more */
	struct wait_entry entry[2];
};

struct poll {
	struct abi_pollfd *fd;
	struct polled *file;
	unsigned count;
	bool step; /* a file has no queue */
	u64 deadline;
};

static void poll_begin(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++) {
		struct polled *x = &p->file[i];

		*x = (struct polled){.f = p->fd[i].fd < 0 ? NULL : sys_fd_get(p->fd[i].fd)};
		if (!x->f || !x->f->ops || !x->f->ops->poll)
			continue; /* it is ready at once, or counts for nothing */
		if (x->f->ops->poll_queues)
			x->f->ops->poll_queues(x->f, x->queue);
		else
			p->step = true;
	}
}

static void poll_end(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		file_put(p->file[i].f);
}

static int poll_file(const struct abi_pollfd *p, struct file *f)
{
	unsigned wanted = (u16)p->events | ABI_POLLERR | ABI_POLLHUP, ready;

	if (p->fd < 0)
		return 0;
	if (!f)
		return ABI_POLLNVAL;
	ready = f->ops && f->ops->poll ? f->ops->poll(f) : ABI_POLLIN | ABI_POLLOUT;
	return ready & wanted;
}

static long sys_poll_once(struct poll *p)
{
	long count = 0;

	for (unsigned i = 0; i < p->count; i++) {
		p->fd[i].revents = poll_file(&p->fd[i], p->file[i].f);
		count += p->fd[i].revents != 0;
	}
	return count;
}

/* ---- waiting ---- */

static void poll_enter(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		for (unsigned k = 0; k < 2 && p->file[i].queue[k]; k++)
			wait_prepare(p->file[i].queue[k], &p->file[i].entry[k], true);
}

static void poll_leave(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		for (unsigned k = 0; k < 2 && p->file[i].queue[k]; k++)
			wait_finish(p->file[i].queue[k], &p->file[i].entry[k]);
}

struct poll_alarm {
	struct timer timer;
	struct task *task;
	bool due; /* [A] */
};

static void sys_poll_expired(struct timer *timer)
{
	struct poll_alarm *a = container_of(timer, struct poll_alarm, timer);
	struct task *task = a->task; /* the other goes on once it sees `due` */

	atomic_store(&a->due, true);
	wake_up_process(task);
}

/*
 * Until something is ready (how many), somebody wakes us or it is time to look again (0), or a
 * signal (-EINTR). Whether a file is ready is looked at only when its queue has us: what it becomes
 * after that wakes us. A look that waits itself, for a mutex, makes us run on: there is one look
 * more than needed then.
 */
static long poll_sleep(struct poll *p, u64 until)
{
	struct poll_alarm a = {.task = current()};
	long count;

	timer_setup(&a.timer, sys_poll_expired);
	if (until != ~0UL)
		timer_start(&a.timer, until);
	atomic_store(&current()->state, TASK_INTERRUPTIBLE);
	poll_enter(p);
	count = sys_poll_once(p);
	if (!count && signal_pending_current())
		count = -EINTR;
	else if (!count && !atomic_load(&a.due))
		schedule();
	atomic_store(&current()->state, TASK_RUNNING);
	poll_leave(p);
	timer_cancel(&a.timer);
	return count;
}

static long poll_until(struct poll *p)
{
	long count = sys_poll_once(p);
	u64 now;

	while (!count && (now = clock_ns()) < p->deadline) {
		count = poll_sleep(p, p->step ? MIN(p->deadline, now + POLL_STEP_NS) : p->deadline);
		if (!count)
			count = sys_poll_once(p);
	}
	return count == -EINTR ? sys_interrupted(ERESTARTNOHAND) : count;
}

/* Copies what is asked in, and what was found out. */
static long poll_user(struct poll *p, u64 fds)
{
	size_t size = p->count * sizeof(*p->fd);
	long ret = copy_from_user(p->fd, fds, size);

	if (ret)
		return ret;
	poll_begin(p);
	ret = poll_until(p);
	poll_end(p);
	return ret >= 0 && copy_to_user(fds, p->fd, size) ? -EFAULT : ret;
}

long __x64_sys_poll(const struct regs *r)
{
	s32 ms = r->rdx;
	struct poll p = {.count = r->rsi};
	long ret = -ENOMEM;

	p.deadline = ms < 0 ? ~0UL : clock_ns() + ms * 1000000UL;
	if (p.count > FILES_MAX)
		return -EINVAL;
	p.fd = kmalloc(p.count * sizeof(*p.fd) + 1);
	p.file = kmalloc(p.count * sizeof(*p.file) + 1);
	if (p.fd && p.file)
		ret = poll_user(&p, r->rdi);
	kfree(p.file);
	kfree(p.fd);
	return ret;
}
