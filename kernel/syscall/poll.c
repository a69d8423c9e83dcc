/* poll(): which of several files are ready. Task context. */
#include "arch/arch.h"
#include "kernel/mem/mem.h"
#include "kernel/syscall/user.h"
#include "kernel/task/timer.h"

#define POLL_STEP_NS 2000000UL /* files do not wake pollers: they are asked again and again */

static int poll_file(const struct abi_pollfd *p)
{
	unsigned wanted = (u16)p->events | ABI_POLLERR | ABI_POLLHUP, ready;
	struct file *f;

	if (p->fd < 0)
		return 0;
	f = fd_get(p->fd);
	if (!f)
		return ABI_POLLNVAL;
	ready = f->ops && f->ops->poll ? f->ops->poll(f) : ABI_POLLIN | ABI_POLLOUT;
	file_put(f);
	return ready & wanted;
}

static long poll_once(struct abi_pollfd *p, unsigned n)
{
	long count = 0;

	for (unsigned i = 0; i < n; i++) {
		p[i].revents = poll_file(&p[i]);
		count += p[i].revents != 0;
	}
	return count;
}

static long poll_until(struct abi_pollfd *p, unsigned n, u64 deadline)
{
	for (;;) {
		long count = poll_once(p, n);
		u64 now = clock_ns();

		if (count || now >= deadline)
			return count;
		if (sleep_ns(MIN(POLL_STEP_NS, deadline - now), NULL))
			return interrupted(ERESTARTNOHAND);
	}
}

long __x64_sys_poll(const struct regs *r)
{
	s32 ms = r->rdx;
	u32 n = r->rsi;
	u64 deadline = ms < 0 ? ~0UL : clock_ns() + ms * 1000000UL;
	size_t size = n * sizeof(struct abi_pollfd);
	struct abi_pollfd *p;
	long ret;

	if (n > FILES_MAX)
		return -EINVAL;
	p = kmalloc(size + 1);
	if (!p)
		return -ENOMEM;
	ret = copy_from_user(p, r->rdi, size);
	if (!ret)
		ret = poll_until(p, n, deadline);
	if (ret >= 0 && copy_to_user(r->rdi, p, size))
		ret = -EFAULT;
	kfree(p);
	return ret;
}
