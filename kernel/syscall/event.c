/* System calls on files that report events: epoll, eventfd, timerfd, signalfd. Task context. */
#include "arch/arch.h"
#include "kernel/fs/epoll.h"
#include "kernel/fs/eventfd.h"
#include "kernel/fs/file.h"
#include "kernel/fs/signalfd.h"
#include "kernel/fs/timerfd.h"
#include "kernel/syscall/poll.h"
#include "kernel/syscall/time.h"
#include "kernel/syscall/user.h"

/* ---- epoll ---- */

long __x64_sys_epoll_create(const struct regs *r)
{
	return (s32)r->rdi <= 0 ? -EINVAL : sys_install_new(epoll_create(), false);
}

long __x64_sys_epoll_create1(const struct regs *r)
{
	u32 flags = r->rdi;

	return flags & ~O_CLOEXEC ? -EINVAL : sys_install_new(epoll_create(), flags);
}

long __x64_sys_epoll_ctl(const struct regs *r)
{
	struct abi_epoll_event e = {0};
	struct file *ep, *f;
	long ret = -EBADF;

	if ((u32)r->rsi != EPOLL_DEL && copy_from_user(&e, r->r10, sizeof(e)))
		return -EFAULT;
	ep = sys_fd_get((u32)r->rdi);
	f = sys_fd_get((u32)r->rdx);
	if (ep && f)
		ret = epoll_control(ep, r->rsi, r->rdx, f, &(struct epoll_event){e.events, e.data});
	file_put(f);
	file_put(ep);
	return ret;
}

/* Events of one call, into memory of ring 3. */
struct sys_events {
	struct epoll_sink sink;
	u64 to;
};

static bool sys_put_event(struct epoll_sink *sink, unsigned n, const struct epoll_event *e)
{
	struct abi_epoll_event out = {e->events, e->data};
	u64 to = container_of(sink, struct sys_events, sink)->to;

	return !copy_to_user(to + n * sizeof(out), &out, sizeof(out));
}

static long sys_epoll_wait(u32 fd, u64 to, s32 max, u64 deadline)
{
	struct sys_events events = {{sys_put_event}, to};
	struct file *ep;
	long ret;

	if (max <= 0 || max > INT_MAX / (s32)sizeof(struct abi_epoll_event))
		return -EINVAL;
	if (to > USER_END - (u32)max * sizeof(struct abi_epoll_event))
		return -EFAULT;
	ep = sys_fd_get(fd);
	if (!ep)
		return -EBADF;
	ret = epoll_is(ep) ? epoll_wait(ep, &events.sink, max, deadline) : -EINVAL;
	file_put(ep);
	return ret;
}

static u64 sys_deadline_ms(s32 ms)
{
	return ms < 0 ? ~0UL : clock_ns() + ms * 1000000UL;
}

long __x64_sys_epoll_wait(const struct regs *r)
{
	return sys_epoll_wait(r->rdi, r->rsi, r->rdx, sys_deadline_ms(r->r10));
}

static long sys_epoll_masked(const struct regs *r, u64 deadline)
{
	long ret = sys_mask_begin(r->r8, r->r9);

	if (ret)
		return ret;
	ret = sys_epoll_wait(r->rdi, r->rsi, r->rdx, deadline);
	if (ret == -EINTR && r->r8) {
		sys_interrupted(ERESTARTNOHAND);
		sys_mask_end(r->r8, -ERESTARTNOHAND);
		return -EINTR;
	}
	return sys_mask_end(r->r8, ret);
}

long __x64_sys_epoll_pwait(const struct regs *r)
{
	return sys_epoll_masked(r, sys_deadline_ms(r->r10));
}

long __x64_sys_epoll_pwait2(const struct regs *r)
{
	u64 ns = 0;
	int err = r->r10 ? sys_get_timespec(r->r10, &ns) : 0;

	return err ? err : sys_epoll_masked(r, r->r10 ? clock_ns() + ns : ~0UL);
}

/* ---- eventfd ---- */

#define EFD_SEMAPHORE 1u

static long sys_eventfd(u32 count, u32 flags)
{
	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	return sys_install_new(
	    eventfd_create(count, flags & EFD_SEMAPHORE, flags & O_NONBLOCK), flags & O_CLOEXEC);
}

long __x64_sys_eventfd(const struct regs *r)
{
	return sys_eventfd(r->rdi, 0);
}

long __x64_sys_eventfd2(const struct regs *r)
{
	return sys_eventfd(r->rdi, r->rsi);
}

/* ---- timerfd ---- */

#define TFD_CANCEL_ON_SET 2u

long __x64_sys_timerfd_create(const struct regs *r)
{
	u32 clock = r->rdi, flags = r->rsi;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (clock != ABI_CLOCK_REALTIME && clock != ABI_CLOCK_MONOTONIC &&
	    clock != ABI_CLOCK_BOOTTIME)
		return -EINVAL;
	return sys_install_new(
	    timerfd_create(
		clock == ABI_CLOCK_REALTIME ? clock_boot_unix_ns() : 0, flags & O_NONBLOCK),
	    flags & O_CLOEXEC);
}

/* The timer of a descriptor, with a reference; NULL with *err. */
static struct file *sys_get_timer(u32 fd, long *err)
{
	struct file *f = sys_fd_get(fd);

	*err = !f ? -EBADF : timerfd_is(f) ? 0 : -EINVAL;
	if (*err)
		file_put(f);
	return *err ? NULL : f;
}

long __x64_sys_timerfd_settime(const struct regs *r)
{
	struct abi_itimerspec its;
	struct timer_setting set, old;
	struct file *f;
	long err;

	if (copy_from_user(&its, r->rdx, sizeof(its)))
		return -EFAULT;
	if (((u32)r->rsi & ~(ABI_TIMER_ABSTIME | TFD_CANCEL_ON_SET)) ||
	    sys_timespec_ns(&its.it_value, &set.value) ||
	    sys_timespec_ns(&its.it_interval, &set.interval))
		return -EINVAL;
	f = sys_get_timer(r->rdi, &err);
	if (!f)
		return err;
	timerfd_set(f, &set, r->rsi & ABI_TIMER_ABSTIME, &old);
	file_put(f);
	return r->r10 ? sys_put_setting(r->r10, &old) : 0;
}

long __x64_sys_timerfd_gettime(const struct regs *r)
{
	struct timer_setting now;
	long err;
	struct file *f = sys_get_timer(r->rdi, &err);

	if (!f)
		return err;
	timerfd_get(f, &now);
	file_put(f);
	return sys_put_setting(r->rsi, &now);
}

/* ---- signalfd ---- */

static long sys_signalfd(s32 fd, u64 mask, u64 size, u32 flags)
{
	struct file *f;
	u64 set;
	long ret = fd;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (size != sizeof(set))
		return -EINVAL;
	if (copy_from_user(&set, mask, sizeof(set)))
		return -EFAULT;
	if (fd == -1)
		return sys_install_new(signalfd_create(set, flags & O_NONBLOCK), flags & O_CLOEXEC);
	f = sys_fd_get((u32)fd);
	if (!f)
		return -EBADF;
	if (signalfd_is(f))
		signalfd_set(f, set);
	else
		ret = -EINVAL;
	file_put(f);
	return ret;
}

long __x64_sys_signalfd(const struct regs *r)
{
	return sys_signalfd(r->rdi, r->rsi, r->rdx, 0);
}

long __x64_sys_signalfd4(const struct regs *r)
{
	return sys_signalfd(r->rdi, r->rsi, r->rdx, r->r10);
}
