/*
 * The rest of trace/host_*.h for tests on the host: memory, locks, waiting, names. Any thread of
 * the test machine.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <x86intrin.h>

#include "tests/host/machine.h"
#include "trace/host_clock.h"
#include "trace/host_context.h"
#include "trace/host_copy.h"
#include "trace/host_critical.h"
#include "trace/host_files.h"
#include "trace/host_kept.h"
#include "trace/host_key.h"
#include "trace/host_lock.h"
#include "trace/host_log.h"
#include "trace/host_memory.h"
#include "trace/host_outside.h"
#include "trace/host_stack.h"
#include "trace/host_symbol.h"
#include "trace/host_types.h"
#include "trace/host_system.h"
#include "trace/host_task.h"
#include "trace/host_user.h"
#include "trace/host_wait.h"
#include "trace/host_worker.h"

#define PARAMS	   16
#define PAGES_FREE 65536 /* as if there were 256 MiB */

static struct {
	const char *name, *value;
} params[PARAMS];
static unsigned param_count;
static atomic_uint fail_in;
static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_locked; /* by this thread */

struct host_waiters {
	atomic_uint wakes; /* counts them */
};

static u64 (*_Atomic own_clock)(void);
static u64 smi_counts[HOST_CPUS];
static bool has_smis;

void machine_clock(u64 (*clock)(void))
{
	atomic_store(&own_clock, clock);
}

u64 host_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

void host_relax(void)
{
	__builtin_ia32_pause();
}

u64 host_clock(void)
{
	u64 (*clock)(void) = atomic_load(&own_clock);

	return clock ? clock() : __rdtsc();
}

void machine_smis(bool there, unsigned more)
{
	has_smis = there;
	smi_counts[host_cpu()] += more;
}

static u32 watched_sections;
static bool watched_wakeups, cannot_watch;

void machine_cannot_watch(bool cannot)
{
	cannot_watch = cannot;
}

bool machine_watches(void)
{
	return watched_sections || watched_wakeups;
}

/* A case calls trace_critical_begin() and trace_critical_end() itself. */
bool host_critical_watch(u32 which)
{
	watched_sections = cannot_watch ? 0 : which;
	return !cannot_watch;
}

/* A case calls trace_wakeup_woken() and trace_wakeup_switched() itself. */
bool host_wakeups_watch(bool on)
{
	watched_wakeups = on && !cannot_watch;
	return !cannot_watch;
}

static const struct host_task *known_tasks;
static unsigned known_count;

void machine_tasks(const struct host_task *tasks, unsigned n)
{
	known_tasks = tasks;
	known_count = n;
}

void host_task_of(const void *task, struct host_task *out)
{
	struct host_context ctx;

	for (unsigned i = 0; i < known_count; i++)
		if (task == &known_tasks[i]) {
			*out = known_tasks[i];
			return;
		}
	host_context(&ctx);
	*out = (struct host_task){.pid = ctx.pid};
	host_current_comm(out->comm);
}

bool host_smi_count(u64 *n)
{
	if (has_smis)
		*n = smi_counts[host_cpu()];
	return has_smis;
}

static u64 ns_per_cycle = 1;

void machine_clock_rate(u64 ns)
{
	ns_per_cycle = ns;
}

u64 host_clock_ns(u64 clock)
{
	return clock * ns_per_cycle;
}

void host_clock_line(u64 *base, u64 *mult)
{
	*base = 0;
	*mult = (u64)ns_per_cycle << 32;
}

static void *kept;
static size_t kept_size;

void machine_kept(void *memory, size_t size)
{
	kept = memory;
	kept_size = size;
}

void *host_kept_memory(size_t *size)
{
	*size = kept_size;
	return kept;
}

bool host_sym_nth(unsigned i, struct host_symbol *out)
{
	static const char *const names[] = {"first_function", "second_function", "third_function"};

	if (i >= sizeof(names) / sizeof(names[0]))
		return false;
	*out = (struct host_symbol){names[i], 0x1000 + 0x100 * (u64)i, 0x100, i == 1 ? 't' : 'T'};
	return true;
}

bool host_symbols(struct host_symbols *out)
{
	static const u32 offset[] = {0, 0x100, 0x200}, name_at[] = {0, 15, 31}, global = 5;

	*out = (struct host_symbols){.start = 0x1000,
	    .end = 0x1300,
	    .count = 3,
	    .names_size = 46,
	    .offset = offset,
	    .name_at = name_at,
	    .global = &global,
	    .names = "first_function\0second_function\0third_function"};
	return true;
}

const void *host_types(size_t *size)
{
	*size = 0;
	return NULL;
}

static u64 unix_ns;

void machine_unix_ns(u64 ns)
{
	unix_ns = ns;
}

u64 host_unix_ns(void)
{
	return unix_ns;
}

/* ---- Memory ---- */

void machine_fail_alloc(unsigned nth)
{
	atomic_store(&fail_in, nth);
}

bool machine_fails_in(void)
{
	return atomic_load(&fail_in);
}

static bool fails(void)
{
	unsigned left = atomic_load(&fail_in);

	if (!left)
		return false;
	atomic_store(&fail_in, left - 1);
	return left == 1;
}

static _Atomic long blocks;

long machine_blocks(void)
{
	return atomic_load(&blocks);
}

static void *counted(void *block)
{
	if (block)
		atomic_fetch_add(&blocks, 1);
	return block;
}

void *host_alloc(size_t size)
{
	return counted(fails() ? NULL : calloc(1, size));
}

void host_free(void *p)
{
	if (p)
		atomic_fetch_sub(&blocks, 1);
	free(p);
}

static void *next_block;

void machine_next_block(void *block)
{
	next_block = block;
}

void *host_block_alloc(unsigned order)
{
	size_t size = PAGE_SIZE << order;
	void *block = fails() ? NULL : next_block ? next_block : aligned_alloc(size, size);

	next_block = NULL;
	return block ? memset(counted(block), 0, size) : NULL;
}

void host_block_free(void *p, unsigned order __maybe_unused)
{
	host_free(p);
}

void *host_page_alloc(void)
{
	return host_block_alloc(0);
}

void host_sym_place(u64 place[6])
{
	memset(place, 0, 6 * sizeof(*place));
}

void host_address_map(u64 *direct, u64 *image, u64 *offset, u64 *ram_end)
{
	*direct = *image = *ram_end = *offset = 0;
}

static u64 pages_free = PAGES_FREE;

void machine_pages_free(u64 pages)
{
	pages_free = pages;
}

u64 host_pages_free(void)
{
	return pages_free;
}

void host_page_free(void *p)
{
	host_free(p);
}

/* Fails in its turn as an allocation does. */
int host_memory_check(const char *what __maybe_unused, u64 bytes __maybe_unused)
{
	return fails() ? -ENOMEM : 0;
}

u64 host_page_phys(const void *p)
{
	(void)p;
	return 0;
}

/* Ring 3's memory, if a test says so; else all memory is ring 3's and the kernel's. */
static u64 user_memory, user_size;
static void (*before_copy)(void);

void machine_user_memory(const void *at, u64 size)
{
	user_memory = (u64)at;
	user_size = size;
}

void machine_before_copy(void (*fn)(void))
{
	before_copy = fn;
}

/* Really may not be there: the system copies, and says so. */
static int copy(void *dst, u64 src, size_t n)
{
	struct iovec to = {dst, n}, from = {(void *)src, n};

	if (before_copy)
		before_copy();
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

static bool is_users(u64 at)
{
	return at - user_memory < user_size;
}

int host_copy_kernel(void *dst, const void *src, size_t n)
{
	return is_users((u64)src) ? -EFAULT : copy(dst, (u64)src, n);
}

int host_copy_user(void *dst, u64 src, size_t n)
{
	return user_size && !is_users(src) ? -EFAULT : copy(dst, src, n);
}

/* ---- Locks and waiting ---- */

void host_lock(void)
{
	pthread_mutex_lock(&big_lock);
	is_locked = true;
}

void host_assert_locked(void)
{
	if (!is_locked)
		abort();
}

static char directory[64];

/* Nothing shows directories here. */
void host_directory_made(const char *name, const char *parent)
{
	snprintf(directory, sizeof(directory), "%s/%s", parent, name);
}

const char *machine_directory(void)
{
	static char last[sizeof(directory)];

	memcpy(last, directory, sizeof(last));
	directory[0] = '\0';
	return last;
}

/* A host without interrupts: there and then, or not at all. */
void host_lock_soon(bool (*fn)(void))
{
	if (!pthread_mutex_trylock(&big_lock)) {
		is_locked = true;
		fn();
		is_locked = false;
		pthread_mutex_unlock(&big_lock);
	}
}

static atomic_bool user_events_changed;

void host_user_events_changed(void)
{
	atomic_store(&user_events_changed, true);
}

void host_unlock(void)
{
	host_assert_locked();
	is_locked = false;
	pthread_mutex_unlock(&big_lock);
	if (atomic_exchange(&user_events_changed, false))
		user_events_settle();
}

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
	for (;;) {
		unsigned seen = atomic_load(&w->wakes); /* before the look */

		if (cond(arg))
			return 0;
		syscall(SYS_futex, &w->wakes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
}

/* No lock: an interrupt, here a signal's handler, may come in the middle of another wake-up. */
void host_wake(struct host_waiters *w)
{
	int saved = errno;

	atomic_fetch_add(&w->wakes, 1);
	syscall(SYS_futex, &w->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

void host_keys_set(struct host_key *const *keys, const u8 *on, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		keys[i]->enabled = on[i];
}

/* ---- Names ---- */

s32 host_tgid(s32 pid)
{
	return pid;
}

void host_current_comm(char comm[16])
{
	snprintf(comm, 16, "task-%lu", 1 + host_cpu());
}

int host_sym_print(char *buf, size_t size, u64 addr, bool offset)
{
	return offset ? snprintf(buf, size, "sym_%llx+0x0/0x10", (unsigned long long)addr)
		      : snprintf(buf, size, "sym_%llx", (unsigned long long)addr);
}

u64 host_sym_find(const char *name, u64 *size)
{
	struct host_symbol sym;

	for (unsigned i = 0; host_sym_nth(i, &sym); i++)
		if (!strcmp(sym.name, name)) {
			if (size)
				*size = sym.size;
			return sym.start;
		}
	return 0;
}

const char *host_sym_of(u64 addr, u64 *start, u64 *size)
{
	(void)addr;
	(void)start;
	(void)size;
	return NULL;
}

const char *host_syscall_name(u64 nr)
{
	return nr == 0 ? "read" : nr == 39 ? "getpid" : NULL;
}

const char *host_release(void)
{
	return "6.1.0";
}

const char *host_uname(void)
{
	return "Trapline host 6.1.0 x86_64";
}

const char *host_preemption(void)
{
	return "preempt";
}

void machine_param(const char *name, const char *value)
{
	if (!name)
		param_count = 0;
	else if (param_count < PARAMS)
		params[param_count++] = (typeof(params[0])){name, value};
}

const char *host_param(const char *name, unsigned nth)
{
	const char *last = NULL;

	for (unsigned i = 0; i < param_count; i++) {
		if (strcmp(params[i].name, name))
			continue;
		if (nth != HOST_PARAM_LAST && nth-- == 0)
			return params[i].value;
		last = params[i].value;
	}
	return nth == HOST_PARAM_LAST ? last : NULL;
}

void host_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# log: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

static char said[8192];
static size_t said_len;

const char *machine_said(void)
{
	said[said_len] = '\0';
	said_len = 0;
	return said;
}

void host_say(const char *fmt, ...)
{
	size_t room = sizeof(said) - said_len;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(said + said_len, room, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n + 1 < room) {
		said_len += n;
		said[said_len++] = '\n';
	}
}

/* Returns, so that a test can look at what led here. */
void host_panic(const char *text)
{
	host_say("panic: %s", text);
}

static const u64 *stack_frames;
static unsigned stack_depth;

void machine_stack(const u64 *frames, unsigned n)
{
	stack_frames = frames;
	stack_depth = n;
}

unsigned host_stack(u64 *out, unsigned max)
{
	unsigned n = stack_depth < max ? stack_depth : max;

	if (n)
		memcpy(out, stack_frames, n * sizeof(*out));
	return n;
}

/* Nobody knows where a thread's stack ends. */
u64 host_stack_used(const void *at)
{
	(void)at;
	return 0;
}

unsigned host_user_stack(u64 *out, unsigned max)
{
	(void)out;
	(void)max;
	return 0;
}
