/*
 * poll() and select(): which of several files are ready. Task context. Between two looks it sleeps
 * in the queues of all the files; a file that has none is asked again every POLL_STEP_NS.
 */
#include "kernel/syscall/poll.h"
#include "arch/arch.h"
#include "kernel/fs/file.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"
#include "kernel/task/sigset.h"
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

static void sys_poll_begin(struct poll *p)
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

static void sys_poll_end(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		file_put(p->file[i].f);
}

static int sys_poll_file(const struct abi_pollfd *p, struct file *f)
{
	unsigned wanted = (u16)p->events | ABI_POLLERR | ABI_POLLHUP, ready;

	if (p->fd < 0)
		return 0;
	if (!f)
		return ABI_POLLNVAL;
	ready = file_poll(f);
	return ready & wanted;
}

static long sys_poll_once(struct poll *p)
{
	long count = 0;

	for (unsigned i = 0; i < p->count; i++) {
		p->fd[i].revents = sys_poll_file(&p->fd[i], p->file[i].f);
		count += p->fd[i].revents != 0;
	}
	return count;
}

/* ---- waiting ---- */

static void sys_poll_enter(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		for (unsigned k = 0; k < 2 && p->file[i].queue[k]; k++)
			wait_prepare(p->file[i].queue[k], &p->file[i].entry[k], true);
}

static void sys_poll_leave(struct poll *p)
{
	for (unsigned i = 0; i < p->count; i++)
		for (unsigned k = 0; k < 2 && p->file[i].queue[k]; k++)
			wait_finish(p->file[i].queue[k], &p->file[i].entry[k]);
}

/*
 * Until something is ready (how many), somebody wakes us or it is time to look again (0), or a
 * signal (-EINTR). Whether a file is ready is looked at only when its queue has us: what it becomes
 * after that wakes us. A look that waits itself, for a mutex, makes us run on: there is one look
 * more than needed then.
 */
static long sys_poll_sleep(struct poll *p, u64 until)
{
	struct timer_wake alarm;
	long count;

	timer_wake_at(&alarm, until);
	atomic_store(&current()->state, TASK_INTERRUPTIBLE);
	sys_poll_enter(p);
	count = sys_poll_once(p);
	if (!count && signal_pending_current())
		count = -EINTR;
	else if (!count && !atomic_load(&alarm.due))
		schedule();
	atomic_store(&current()->state, TASK_RUNNING);
	sys_poll_leave(p);
	timer_wake_cancel(&alarm);
	return count;
}

static long sys_poll_until(struct poll *p)
{
	long count = sys_poll_once(p);
	u64 now;

	while (!count && (now = clock_ns()) < p->deadline) {
		count =
		    sys_poll_sleep(p, p->step ? MIN(p->deadline, now + POLL_STEP_NS) : p->deadline);
		if (!count)
			count = sys_poll_once(p);
	}
	if (!count && signal_pending_current())
		count = -EINTR; /* even if it is not to wait at all */
	return count == -EINTR ? sys_interrupted(ERESTARTNOHAND) : count;
}

/* Copies what is asked in, and what was found out. */
static long sys_poll_user(struct poll *p, u64 fds)
{
	size_t size = p->count * sizeof(*p->fd);
	long ret = copy_from_user(p->fd, fds, size);

	if (ret)
		return ret;
	sys_poll_begin(p);
	ret = sys_poll_until(p);
	sys_poll_end(p);
	return ret >= 0 && copy_to_user(fds, p->fd, size) ? -EFAULT : ret;
}

static long sys_poll(u64 fds, u32 count, u64 deadline)
{
	struct poll p = {.count = count, .deadline = deadline};
	long ret = -ENOMEM;

	if (p.count > FILES_MAX)
		return -EINVAL;
	p.fd = kmalloc(p.count * sizeof(*p.fd) + 1);
	p.file = kmalloc(p.count * sizeof(*p.file) + 1);
	if (p.fd && p.file)
		ret = sys_poll_user(&p, fds);
	kfree(p.file);
	kfree(p.fd);
	return ret;
}

/* Done again after a signal without a handler, it goes on to the same end. */
long __x64_sys_poll(const struct regs *r)
{
	struct signals *s = &current()->sig;
	u64 deadline = s->restart_ns;
	s32 ms = r->rdx;
	long ret;

	if (!deadline)
		deadline = ms < 0 ? ~0UL : clock_ns() + ms * 1000000UL;
	s->restart_ns = 0;
	ret = sys_poll(r->rdi, r->rsi, deadline);
	if (ret == -ERESTARTNOHAND)
		s->restart_ns = deadline;
	return ret;
}

/* ---- with a time of ring 3, and another signal mask meanwhile ---- */

/* A deadline by a timespec of ring 3, or none: 0, -EFAULT, -EINVAL. */
static int sys_get_deadline(u64 timeout, u64 *deadline)
{
	u64 ns;
	int err = timeout ? sys_get_timespec(timeout, &ns) : 0;

	*deadline = timeout && !err ? clock_ns() + ns : ~0UL;
	return err;
}

/* Writes the remaining time to ring 3; ignores a bad address, as Linux does. */
static void sys_put_time_left(u64 timeout, u64 deadline, u64 unit)
{
	u64 now = clock_ns(), left = deadline > now ? deadline - now : 0;
	struct abi_timespec ts = {left / NS_PER_SEC, left % NS_PER_SEC / unit};

	if (timeout)
		(void)copy_to_user(timeout, &ts, sizeof(ts));
}

int sys_mask_begin(u64 mask, u64 size)
{
	struct signals *s = &current()->sig;
	u64 set;

	if (!mask)
		return 0;
	if (size != sizeof(set))
		return -EINVAL;
	if (copy_from_user(&set, mask, sizeof(set)))
		return -EFAULT;
	s->saved_blocked = s->blocked;
	signal_set_blocked(set);
	return 0;
}

long sys_mask_end(u64 mask, long ret)
{
	struct signals *s = &current()->sig;

	if (mask && ret == -ERESTARTNOHAND)
		s->restore_blocked = true; /* after the handler */
	else if (mask)
		signal_set_blocked(s->saved_blocked);
	return ret;
}

long __x64_sys_ppoll(const struct regs *r)
{
	u64 deadline;
	long ret = sys_get_deadline(r->rdx, &deadline);

	if (!ret)
		ret = sys_mask_begin(r->r10, r->r8);
	if (ret)
		return ret;
	ret = sys_poll(r->rdi, r->rsi, deadline);
	sys_put_time_left(r->rdx, deadline, 1);
	return sys_mask_end(r->r10, ret);
}

/* ---- select ---- */

/* A bit for each descriptor, in words of 64: for reading, for writing, for what is urgent. */
struct select_sets {
	u64 word[3][FILES_MAX / 64];
};

static const u16 select_asks[3] = {
    ABI_POLLIN | ABI_POLLRDNORM, ABI_POLLOUT | ABI_POLLWRNORM, ABI_POLLPRI};
static const u16 select_means[3] = {ABI_POLLIN | ABI_POLLRDNORM | ABI_POLLHUP | ABI_POLLERR,
    ABI_POLLOUT | ABI_POLLWRNORM | ABI_POLLERR, ABI_POLLPRI};

/* The descriptors asked for, as poll() has them; how many. */
static unsigned sys_select_list(const struct select_sets *s, unsigned n, struct abi_pollfd *fd)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		u16 events = 0;

		for (unsigned k = 0; k < 3; k++)
			if (s->word[k][i / 64] >> i % 64 & 1)
				events |= select_asks[k];
		if (events)
			fd[count++] = (struct abi_pollfd){.fd = i, .events = events};
	}
	return count;
}

/* What was found out, as bits; how many there are. */
static long sys_select_result(struct select_sets *s, const struct poll *p)
{
	long bits = 0;

	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < p->count; i++) {
		const struct abi_pollfd *fd = &p->fd[i];

		for (unsigned k = 0; k < 3; k++) {
			if (!(fd->events & select_asks[k]) || !(fd->revents & select_means[k]))
				continue;
			s->word[k][fd->fd / 64] |= 1UL << fd->fd % 64;
			bits++;
		}
	}
	return bits;
}

static long sys_select_wait(struct select_sets *s, struct poll *p)
{
	long ret = 0;

	sys_poll_begin(p);
	for (unsigned i = 0; i < p->count; i++)
		if (!p->file[i].f)
			ret = -EBADF;
	if (!ret)
		ret = sys_poll_until(p);
	sys_poll_end(p);
	return ret < 0 ? ret : sys_select_result(s, p);
}

static long sys_select_copy(const u64 user[3], struct select_sets *s, size_t bytes, bool to_user)
{
	int err = 0;

	for (unsigned k = 0; k < 3 && !err; k++)
		if (user[k])
			err = to_user ? copy_to_user(user[k], s->word[k], bytes)
				      : copy_from_user(s->word[k], user[k], bytes);
	return err;
}

static long sys_select(const struct regs *r, u64 deadline)
{
	const u64 user[3] = {r->rsi, r->rdx, r->r10};
	unsigned n = MIN((u32)r->rdi, (u32)FILES_MAX);
	size_t bytes = (n + 63) / 64 * 8;
	struct select_sets *s;
	struct poll p = {.deadline = deadline};
	long ret = -ENOMEM;

	if ((s32)r->rdi < 0)
		return -EINVAL;
	s = kzalloc(sizeof(*s));
	p.fd = kmalloc(n * sizeof(*p.fd) + 1);
	p.file = kmalloc(n * sizeof(*p.file) + 1);
	if (s && p.fd && p.file)
		ret = sys_select_copy(user, s, bytes, false);
	if (!ret) {
		p.count = sys_select_list(s, n, p.fd);
		ret = sys_select_wait(s, &p);
	}
	if (ret >= 0 && sys_select_copy(user, s, bytes, true))
		ret = -EFAULT;
	kfree(p.file);
	kfree(p.fd);
	kfree(s);
	return ret;
}

long __x64_sys_select(const struct regs *r)
{
	struct abi_timeval tv;
	u64 deadline = ~0UL;
	long ret;

	if (r->r8 && copy_from_user(&tv, r->r8, sizeof(tv)))
		return -EFAULT;
	if (r->r8 && (tv.tv_sec < 0 || tv.tv_usec < 0))
		return -EINVAL;
	if (r->r8)
		deadline = clock_ns() + MIN((u64)tv.tv_sec, 1UL << 32) * NS_PER_SEC +
			   MIN((u64)tv.tv_usec, 1UL << 50) * 1000;
	ret = sys_select(r, deadline);
	sys_put_time_left(r->r8, deadline, 1000);
	return ret;
}

long __x64_sys_pselect6(const struct regs *r)
{
	struct {
		u64 mask, size;
	} sig = {0};
	u64 deadline;
	long ret = 0;

	if (r->r9 && copy_from_user(&sig, r->r9, sizeof(sig)))
		return -EFAULT;
	ret = sys_get_deadline(r->r8, &deadline);
	if (!ret)
		ret = sys_mask_begin(sig.mask, sig.size);
	if (ret)
		return ret;
	ret = sys_select(r, deadline);
	sys_put_time_left(r->r8, deadline, 1);
	return sys_mask_end(sig.mask, ret);
}
