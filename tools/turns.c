/*
 * A library that is loaded into QEMU before its own (LD_PRELOAD), for deterministic machines:
 * QEMU's two threads take turns. With -icount the guest's clock counts instructions, but the host's
 * pace still reaches the guest in two ways, which this library closes:
 *
 *   - The main thread moves the clock on to the next timer when all CPUs sleep, and looks whether
 *     they do whenever it wakes up. It may find the last one on its way to sleep, whose
 *     instructions are not counted yet: then the timer comes too late, by as many.
 *   - A serial port whose reader is slow stays busy until the host says otherwise.
 *
 * Words. Both threads hold the *great lock* while they touch devices. The *CPUs* are one thread. A
 * *pass* is what the main thread does between two waits for input.
 *
 *   T1 The main thread begins a pass only while the CPUs wait for work, or when they ask for one.
 *   T2 The CPUs have work as soon as somebody wakes them, not only when they notice.
 *   T3 Busy CPUs ask for a pass after they have called the main thread, and each MEETING times that
 *      they have let go of the great lock; they wait until it has ended. Orders from outside come
 *      through then. What they execute decides when that is, so it is at the same place in each
 *      run.
 *   T4 What the CPUs write is written before they go on; the guest's clock stands meanwhile.
 *
 * turns_free() ends all of this, for a machine that is to be stopped (tools/stop_plugin.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define MEETING	 256
#define FILES	 256	       /* that the main thread may wait for */
#define WAIT_ABI "GLIBC_2.3.2" /* there is an older form of conditions, too */

EXPORT int ppoll(
    struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *signals);
EXPORT int pthread_mutex_lock(pthread_mutex_t *lock);
EXPORT int pthread_mutex_unlock(pthread_mutex_t *lock);
EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);
EXPORT int pthread_cond_signal(pthread_cond_t *cond);
EXPORT int pthread_cond_broadcast(pthread_cond_t *cond);
EXPORT ssize_t write(int fd, const void *data, size_t size);
EXPORT ssize_t writev(int fd, const struct iovec *parts, int count);
EXPORT void turns_free(void);

/* The functions of the C library that ours stand in front of. */
static struct {
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*lock)(pthread_mutex_t *);
	int (*unlock)(pthread_mutex_t *);
	int (*wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*wake)(pthread_cond_t *);
	int (*wake_all)(pthread_cond_t *);
	ssize_t (*write)(int, const void *, size_t);
	ssize_t (*writev)(int, const struct iovec *, int);
} real;

/*
 * A thread, but the main one, that has waited for a condition; `lock` and `next` are set once.
 * Which of them are the CPUs shows when the main thread first waits for input: the one that waited
 * with the lock that the main thread has just let go of, which is the great one.
 */
struct waiter {
	pthread_mutex_t *lock;
	pthread_cond_t *cond; /* where it waited last */
	bool busy;	      /* it does not wait */
	/* Its own: */
	unsigned unlocks; /* how often it let go of `lock` */
	bool has_called;  /* the main thread, since the last meeting */
	struct waiter *next;
};

static _Thread_local struct waiter *me;
static _Thread_local bool is_main;

/* The main thread's own. */
static pthread_mutex_t *let_go; /* the last lock that it let go of */
static bool has_great_lock;

static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns_changed = PTHREAD_COND_INITIALIZER;
/* Under turns_lock. */
static struct waiter *waiters, *cpus;
static bool wanted;	/* the CPUs wait for a pass ... */
static bool answering;	/* ... and this one is it */
static bool main_waits; /* in a pass, for a condition: until then the CPUs go on as they like */
static bool is_free;

static int bell; /* wakes the main thread */

static void *find(const char *name, const char *version)
{
	void *at = version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);

	if (!at)
		abort();
	return at;
}

static void find_real(void)
{
	is_main = true;
	*(void **)&real.ppoll = find("ppoll", NULL);
	*(void **)&real.lock = find("pthread_mutex_lock", NULL);
	*(void **)&real.unlock = find("pthread_mutex_unlock", NULL);
	*(void **)&real.wait = find("pthread_cond_wait", WAIT_ABI);
	*(void **)&real.wake = find("pthread_cond_signal", WAIT_ABI);
	*(void **)&real.wake_all = find("pthread_cond_broadcast", WAIT_ABI);
	*(void **)&real.write = find("write", NULL);
	*(void **)&real.writev = find("writev", NULL);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell < 0)
		abort();
}

/* Other libraries begin before this one, in the main thread. */
static inline void need_real(void)
{
	if (!real.writev)
		find_real();
}

static void turns_begin(void)
{
	real.lock(&turns_lock);
}

static void turns_end(void)
{
	real.wake_all(&turns_changed);
	real.unlock(&turns_lock);
}

static void ring_bell(void)
{
	uint64_t one = 1;

	if (real.write(bell, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

void turns_free(void)
{
	turns_begin();
	is_free = true;
	turns_end();
	ring_bell();
}

/* ---- the main thread ---- */

static void find_cpus(void)
{
	for (struct waiter *w = waiters; w && !cpus; w = w->next)
		if (w->lock == let_go)
			cpus = w;
}

static void end_pass(void)
{
	turns_begin();
	find_cpus();
	if (answering)
		answering = wanted = false;
	turns_end();
}

/* True: it had to wait. */
static bool begin_pass(void)
{
	bool waited = false;

	turns_begin();
	while (cpus && cpus->busy && !wanted && !is_free) {
		waited = true;
		real.wait(&turns_changed, &turns_lock);
	}
	answering = wanted;
	turns_end();
	return waited;
}

/* The bell is one more file that is waited for. */
static int poll_with_bell(
    struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *signals)
{
	struct pollfd all[FILES + 1];
	uint64_t rung;
	int n;

	memcpy(all, files, count * sizeof(*files));
	all[count] = (struct pollfd){.fd = bell, .events = POLLIN};
	n = real.ppoll(all, count + 1, timeout, signals);
	if (n < 0)
		return n;
	memcpy(files, all, count * sizeof(*files));
	if (!all[count].revents)
		return n;
	if (read(bell, &rung, sizeof(rung)) < 0 && errno != EAGAIN)
		abort();
	return n - 1;
}

int ppoll(
    struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *signals)
{
	static const struct timespec at_once;
	int n;

	need_real();
	if (!is_main || has_great_lock || count > FILES)
		return real.ppoll(files, count, timeout, signals);
	end_pass();
	n = poll_with_bell(files, count, timeout, signals);
	if (begin_pass())
		n = poll_with_bell(files, count, &at_once, signals);
	return n;
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	int err;

	need_real();
	err = real.lock(lock);
	if (is_main && cpus && lock == cpus->lock)
		has_great_lock = true;
	return err;
}

/* ---- the CPUs ---- */

static void meet(void)
{
	me->has_called = false;
	turns_begin();
	while (!cpus && !is_free)
		real.wait(&turns_changed, &turns_lock);
	wanted = cpus == me;
	if (wanted)
		ring_bell();
	real.wake_all(&turns_changed);
	while (wanted && !main_waits && !is_free)
		real.wait(&turns_changed, &turns_lock);
	wanted = false;
	turns_end();
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	int err;

	need_real();
	if (is_main) {
		let_go = lock;
		if (cpus && lock == cpus->lock)
			has_great_lock = false;
	}
	err = real.unlock(lock);
	if (me && me->lock == lock && (++me->unlocks % MEETING == 0 || me->has_called))
		meet();
	return err;
}

/* The thread is about to wait with that lock. */
static void begin_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	turns_begin();
	if (!me && (me = calloc(1, sizeof(*me)))) { /* it stays: a few threads have one */
		me->lock = lock;
		me->next = waiters;
		waiters = me;
	}
	if (me && me->lock == lock) {
		me->cond = cond;
		me->busy = me->has_called = false;
	}
	turns_end();
}

static void end_wait(pthread_mutex_t *lock)
{
	turns_begin();
	if (me && me->lock == lock)
		me->busy = true;
	turns_end();
}

static void wait_main(bool waits)
{
	turns_begin();
	main_waits = waits;
	turns_end();
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	int err;

	need_real();
	if (is_main)
		wait_main(true);
	else
		begin_wait(cond, lock);
	err = real.wait(cond, lock);
	if (is_main)
		wait_main(false);
	else
		end_wait(lock);
	return err;
}

static void woken(const pthread_cond_t *cond)
{
	turns_begin();
	for (struct waiter *w = waiters; w; w = w->next)
		w->busy |= w->cond == cond;
	turns_end();
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	need_real();
	woken(cond);
	return real.wake(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	need_real();
	woken(cond);
	return real.wake_all(cond);
}

/* ---- what is written ---- */

/* The CPUs found no room: is there some now? */
static bool wait_for_room(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (errno != EAGAIN || !me)
		return false;
	return real.ppoll(&p, 1, NULL, NULL) >= 0 || errno == EINTR;
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t n;

	need_real();
	do
		n = real.write(fd, data, size);
	while (n < 0 && wait_for_room(fd));
	if (me && size == sizeof(uint64_t)) /* an eventfd's; a port's writes are of single bytes */
		me->has_called = true;
	return n;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	ssize_t n;

	need_real();
	do
		n = real.writev(fd, parts, count);
	while (n < 0 && wait_for_room(fd));
	return n;
}
