/*
 * The tracer's watchpoints (trace/host_watch.h) by debug registers (arch/watch.h). Contexts are
 * those of that header.
 */
/* hot: runs with each event */
#include "trace/host_watch.h"
#include "arch/arch.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"

struct host_watch {
	struct host_watch_form form;
	int number; /* of the debug register */
};

static struct host_watch *watches[ARCH_WATCHES]; /* [A] by number */

/* x86 watches writes, all accesses, or a port. */
static enum arch_watch_kind watch_kind(const struct host_watch_form *form)
{
	if (form->access == HOST_WATCH_PORT)
		return ARCH_WATCH_PORT;
	return form->access == HOST_WATCH_WRITE ? ARCH_WATCH_WRITE : ARCH_WATCH_ACCESS;
}

const char *host_watch_refused(const struct host_watch_form *form, u64 addr)
{
	if (form->access == HOST_WATCH_READ)
		return "This CPU does not watch reads alone";
	if (addr == HOST_WATCH_NOWHERE)
		return NULL;
	return arch_watch_refused(watch_kind(form), addr, form->len);
}

int host_watch_open(const struct host_watch_form *form, struct host_watch **out)
{
	if (host_watch_refused(form, HOST_WATCH_NOWHERE))
		return -EINVAL;
	struct host_watch *w = kzalloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->form = *form;
	w->number = arch_watch_take(watch_kind(form), form->len);
	if (w->number < 0) {
		int err = w->number;
		kfree(w);
		return err;
	}
	atomic_store_release(&watches[w->number], w);
	*out = w;
	return 0;
}

void host_watch_close(struct host_watch *w)
{
	arch_watch_give(w->number);
	atomic_store(&watches[w->number], NULL);
	kfree(w);
}

void host_watch_move(struct host_watch *w, u64 addr)
{
	arch_watch_move(w->number, addr);
}

void host_watch_sync(void)
{
	arch_watch_sync();
}

void kernel_watch_hit(unsigned n, u64 addr, u64 value, const struct regs *r)
{
	const struct host_watch *w = atomic_load_acquire(&watches[n]);

	if (w)
		w->form.fn(w->form.arg, r, arch_probe_origin(r->rip), addr, value);
}

void kernel_watch_missed(unsigned n)
{
	const struct host_watch *w = atomic_load_acquire(&watches[n]);

	if (w)
		w->form.missed(w->form.arg);
}
