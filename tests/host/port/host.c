/*
 * A port of the tracer's core, as small as can be: trace/host.h for a program of one thread, without interrupts, tasks, symbols and
 * probes. docs/porting.md goes with it. What a kernel must do better is said at each place.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "trace/host.h"
#include "trace/trace.h"

/* ---- where we are: a kernel has these five inline, see TRACE_HOST_INLINE --------------------------------------------------- */

void host_hold(void)
{
	/* a kernel: no preemption from here on */
}

void host_exit(void)
{
}

unsigned long host_cpu(void)
{
	return 0;
}

void host_context(struct host_context *ctx)
{
	ctx->common = 0; /* a kernel: interrupts off? which level? */
	ctx->pid = 1;
	ctx->cpu = 0;
}

void host_current_comm(char comm[16])
{
	strncpy(comm, "demo", 16);
}

unsigned host_cpu_count(void)
{
	return 1;
}

/* ---- time: a kernel measures its TSC ---------------------------------------------------------------------------------------- */

u64 host_clock(void)
{
	return __rdtsc();
}

u64 host_clock_ns(u64 clock)
{
	return clock;
}

void host_clock_line(u64 *base, u64 *mult)
{
	*base = 0;
	*mult = 1UL << 32;
}

u64 host_unix_ns(void)
{
	return 0;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

void *host_alloc(size_t size)
{
	return calloc(1, size);
}

void host_free(void *p)
{
	free(p);
}

void *host_page_alloc(void)
{
	void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);

	return page ? memset(page, 0, PAGE_SIZE) : NULL;
}

void host_page_free(void *p)
{
	free(p);
}

u64 host_pages_free(void)
{
	return 65536;
}

u64 host_page_phys(const void *p)
{
	(void)p;
	return 0; /* nobody maps a buffer here */
}

/* A kernel copies so that a bad address is an error: probes and filters follow pointers that may lead anywhere. */
int host_copy_kernel(void *dst, const void *src, size_t n)
{
	(void)dst;
	(void)src;
	(void)n;
	return -EFAULT;
}

int host_copy_user(void *dst, u64 src, size_t n)
{
	(void)src;
	return host_copy_kernel(dst, NULL, n);
}

/* ---- the control plane's lock, other CPUs, waiting: with one thread there is nothing to wait for ------------------------------ */

void host_lock(void)
{
}

void host_unlock(void)
{
}

void host_synchronize(void)
{
}

void host_on_each_cpu(void (*fn)(void *), void *arg)
{
	fn(arg);
}

void host_on_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	(void)cpu;
	fn(arg);
}

void host_on_quiet_cpu(unsigned cpu, void (*fn)(void *), void *arg)
{
	host_on_cpu(cpu, fn, arg);
}

u64 host_irqs_off(void)
{
	return 0;
}

void host_irqs_restore(u64 flags)
{
	(void)flags;
}

struct host_waiters {
	char unused;
};

struct host_waiters *host_waiters_alloc(void)
{
	return calloc(1, sizeof(struct host_waiters));
}

void host_waiters_free(struct host_waiters *w)
{
	free(w);
}

int host_wait(struct host_waiters *w, bool (*cond)(void *), void *arg)
{
	(void)w;
	return cond(arg) ? 0 : -EINTR;
}

void host_wake(struct host_waiters *w)
{
	(void)w;
}

/* ---- tracepoints: a flag that their call sites test; a kernel patches its text ------------------------------------------------- */

void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		keys[i]->enabled = on[i];
}

/* ---- what this host does not have: each says so, and the file that wants it gets an error -------------------------------------- */

struct host_worker *host_worker_start(const char *name, int cpu, u64 (*step)(void *), void *arg)
{
	(void)name;
	(void)cpu;
	(void)step;
	(void)arg;
	return NULL; /* current_tracer hwlat: ENOMEM */
}

void host_worker_stop(struct host_worker *w)
{
	(void)w;
}

void host_worker_move(unsigned cpu)
{
	(void)cpu;
}

bool host_smi_count(u64 *n)
{
	(void)n;
	return false;
}

void host_user_events_changed(void)
{
	user_events_settle(); /* a kernel: when host_unlock() gives up the lock */
}

int host_probe_create(const struct host_probe_place *place, struct host_probe **out)
{
	(void)place;
	(void)out;
	return -ENOENT;
}

void host_probe_destroy(struct host_probe *p)
{
	(void)p;
}

void host_probe_switch(struct host_probe *p, bool on)
{
	(void)p;
	(void)on;
}

void host_probes_flush(void)
{
}

u64 host_probe_missed(const struct host_probe *p)
{
	(void)p;
	return 0;
}

void host_context_probed(struct host_context *ctx, const void *regs)
{
	(void)regs;
	host_context(ctx);
}

int host_reg_find(const char *name)
{
	(void)name;
	return -EINVAL;
}

int host_arg_place(unsigned n)
{
	(void)n;
	return 0;
}

const char *host_stack_register(void)
{
	return "sp";
}

const char *host_return_register(void)
{
	return "ax";
}

int host_symbol_check(const char *symbol)
{
	(void)symbol;
	return -ENOENT;
}

unsigned host_stack(u64 *out, unsigned max)
{
	(void)out;
	(void)max;
	return 0;
}

unsigned host_user_stack(u64 *out, unsigned max)
{
	return host_stack(out, max);
}

void *host_kept_memory(size_t *size)
{
	*size = 0;
	return NULL;
}

void host_sym_place(u64 place[5])
{
	memset(place, 0, 5 * sizeof(*place));
}

void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *ram_end)
{
	*direct = *image = *ram_end = *offset = 0;
}

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

s32 host_tgid(s32 pid)
{
	return pid;
}

int host_sym_print(char *buf, size_t size, u64 addr, bool offset)
{
	(void)offset;
	return snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

u64 host_sym_find(const char *name, u64 *size)
{
	(void)name;
	(void)size;
	return 0;
}

const char *host_sym_of(u64 addr, u64 *start, u64 *size)
{
	(void)addr;
	(void)start;
	(void)size;
	return NULL;
}

bool host_sym_nth(unsigned i, const char **name, u64 *start, u64 *size)
{
	(void)i;
	(void)name;
	(void)start;
	(void)size;
	return false;
}

const char *host_syscall_name(u64 nr)
{
	(void)nr;
	return NULL;
}

const char *host_release(void)
{
	return "6.1.0";
}

const char *host_preemption(void)
{
	return "none";
}

const char *host_uname(void)
{
	return "Demo demo 6.1.0 x86_64";
}

const char *host_param(const char *name, unsigned nth)
{
	(void)name;
	(void)nth;
	return NULL; /* a kernel: its command line */
}

static void line(const char *fmt, va_list ap)
{
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void host_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(fmt, ap);
	va_end(ap);
}

void host_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(fmt, ap);
	va_end(ap);
}
