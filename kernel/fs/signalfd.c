/*
 * signalfd: see signalfd.h. Task context. The file keeps only a set of signals: a read takes those
 * of the set that are pending for the reading thread or its process. The readers of all signalfds
 * wait on one queue, signal_queued. signal_send_info() wakes it, and each reader looks again.
 */
#include "kernel/fs/signalfd.h"
#include "kernel/abi/linux.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/file.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sigset.h"
#include "kernel/task/task.h"

struct signalfd {
	u64 set; /* [A] */
};

static u64 signalfd_ready(struct signalfd *s)
{
	const struct task *t = current();

	return (atomic_load(&t->sig.pending.set) | atomic_load(&t->group->pending.set)) &
	       atomic_load(&s->set);
}

static void signalfd_fill(struct abi_signalfd_siginfo *to, const struct taken_signal *s)
{
	struct abi_siginfo i;

	signal_fill_info(&i, s);
	*to = (struct abi_signalfd_siginfo){.ssi_signo = s->sig, .ssi_code = s->info.code};
	if (s->info.code == SI_TIMER) {
		to->ssi_tid = i.si_pid;
		to->ssi_overrun = i.si_overrun;
	} else {
		to->ssi_pid = i.si_pid;
		to->ssi_uid = i.si_uid;
	}
	if (s->info.code < 0) {
		to->ssi_int = i.si_value;
		to->ssi_ptr = i.si_value;
	} else {
		to->ssi_status = i.si_status;
	}
}

/* Takes up to `room` signals; returns how many there were. */
static size_t signalfd_take(struct signalfd *s, struct abi_signalfd_siginfo *to, size_t room)
{
	struct taken_signal taken;
	size_t got = 0;

	while (got < room && signal_take_now(atomic_load(&s->set), &taken))
		signalfd_fill(&to[got++], &taken);
	return got;
}

static ssize signalfd_read(struct file *f, void *buf, size_t n, u64 *pos __maybe_unused)
{
	struct signalfd *s = f->priv;
	size_t room = n / sizeof(struct abi_signalfd_siginfo), got;
	int r;

	if (!room)
		return -EINVAL;
	while (!(got = signalfd_take(s, buf, room))) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		r = wait_event_interruptible(&signal_queued, signalfd_ready(s));
		if (r)
			return r;
	}
	return got * sizeof(struct abi_signalfd_siginfo);
}

static unsigned signalfd_poll(struct file *f)
{
	return signalfd_ready(f->priv) ? 1 : 0;
}

static void signalfd_queues(struct file *f __maybe_unused, struct wait_queue *queue[2])
{
	queue[0] = &signal_queued;
}

static void signalfd_release(struct file *f)
{
	kfree(f->priv);
}

static const struct file_ops signalfd_ops = {
    .name = "[signalfd]",
    .read = signalfd_read,
    .poll = signalfd_poll,
    .seek = dev_null_seek,
    .poll_queues = signalfd_queues,
    .release = signalfd_release,
};

struct file *signalfd_create(u64 set, u32 flags)
{
	struct signalfd *s = kzalloc(sizeof(*s));
	struct file *f = s ? file_new(&signalfd_ops, O_RDWR | flags, s) : NULL;

	if (f)
		signalfd_set(f, set);
	else
		kfree(s);
	return f;
}

bool signalfd_is(const struct file *f)
{
	return f->ops == &signalfd_ops;
}

void signalfd_set(struct file *f, u64 set)
{
	struct signalfd *s = f->priv;

	atomic_store(&s->set, set & ~SIGS_UNBLOCKABLE);
	wake_up(&signal_queued);
}
