/*
 * The shell's system on the host: kernel/shell/sys.h over threads, and the terminal (kernel/fs/vfs.h is posix_files.c, kmalloc
 * posix_memory.c). A task is a thread, so that what tasks share in the kernel is shared here too and the sanitizers see it. Signals are bits that
 * every wait looks at each 10 ms. All paths lie below one directory (posix_root). The big lock protects the list of tasks.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/sys.h"
#include "tests/host/shell/posix.h"

#include <sys/stat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/shell/os.h"
#include "tests/host/shell/posix_priv.h"

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct host_task first = {.pid = 1, .pgid = 1, .comm = "sh", .cwd = "/"};
static struct host_task *tasks = &first;
static int next_pid = 30;
static const char *_Atomic watching;
static atomic_bool watch_news;
static __thread struct host_task *self;

struct host_task *posix_me(void)
{
	if (!self) {
		self = &first;
		first.stack = __builtin_frame_address(0);
	}
	return self;
}

/* ---- tasks ---- */

int os_self(void)
{
	return posix_me()->pid;
}

static void task_end(struct host_task *t, int status, int sig)
{
	for (int i = 0; i < 10; i++)
		if (t->fd[i])
			file_put(t->fd[i]);
	pthread_mutex_lock(&big);
	t->sig = t->signals ? __builtin_ctzl(t->signals) + 1 : sig;
	t->status = t->sig ? 128 + t->sig : status;
	t->done = true;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&big);
}

static void *task_main(void *arg)
{
	struct host_task *t = arg;
	int status;

	self = t;
	t->stack = __builtin_frame_address(0);
	status = t->fn(t->arg);
	task_end(t, status, 0);
	return NULL;
}

int os_fork(int (*fn)(void *), void *arg, const char *name, struct file *const io[3], bool group)
{
	struct host_task *t = calloc(1, sizeof(*t));
	pthread_attr_t attr;

	t->fn = fn;
	t->arg = arg;
	t->parent = posix_me();
	strncpy(t->comm, name, 15);
	memcpy(t->cwd, posix_me()->cwd, sizeof(t->cwd));
	for (int i = 0; i < 3; i++)
		t->fd[i] = io[i] ? file_get(io[i]) : NULL;
	pthread_mutex_lock(&big);
	t->pid = next_pid++;
	t->pgid = group ? t->pid : posix_me()->pgid;
	t->next = tasks;
	tasks = t;
	pthread_mutex_unlock(&big);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 20);
	pthread_create(&t->thread, &attr, task_main, t);
	pthread_attr_destroy(&attr);
	return t->pid;
}

int os_set_fd(int fd, struct file *f)
{
	struct file *old = posix_me()->fd[fd];

	posix_me()->fd[fd] = f ? file_get(f) : NULL;
	if (old)
		file_put(old);
	return 0;
}

int os_exec(
    const char *path, char *const argv[], char *const envp[], void (*release)(void *), void *arg)
{
	struct host_task *t = posix_me();
	int fds[10], pid, status;

	for (int i = 0; i < 10; i++)
		fds[i] = t->fd[i] ? posix_fd(t->fd[i]) : -1;
	pid = host_spawn(posix_path(path, false), argv, envp, posix_path(t->cwd, true), fds);
	if (pid < 0)
		return pid;
	strncpy(t->comm, argv[0], 15);
	if (release)
		release(arg);
	while ((status = host_reap(pid)) < 0) {
		u64 signals = atomic_load(&t->signals);

		if (signals)
			host_kill(pid, __builtin_ctzl(signals) + 1);
		os_sleep(2000000);
	}
	task_end(t, status, status > 128 ? status - 128 : 0);
	pthread_exit(NULL);
}

/* A finished child of the caller, taken off the list; NULL: none (yet). */
static struct host_task *reap(int pid, bool *any)
{
	*any = false;
	for (struct host_task **at = &tasks; *at; at = &(*at)->next) {
		struct host_task *t = *at;

		if (t->parent != posix_me() || (pid != -1 && t->pid != pid))
			continue;
		*any = true;
		if (!t->done)
			continue;
		*at = t->next;
		return t;
	}
	return NULL;
}

int os_wait(int pid, bool block, int *sig, int *which)
{
	struct host_task *t;
	struct timespec until;
	bool any;
	int status;

	pthread_mutex_lock(&big);
	while (!(t = reap(pid, &any)) && any && block && !os_interrupted()) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 10000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&ended, &big, &until);
	}
	for (struct host_task *k = tasks; t && k; k = k->next)
		if (k->parent == t)
			k->parent = &first;
	pthread_mutex_unlock(&big);
	if (!t)
		return !any ? -ECHILD : block ? -EINTR : -EAGAIN;
	pthread_join(t->thread, NULL);
	status = t->status;
	*which = t->pid;
	*sig = t->sig;
	free(t);
	return status;
}

int os_kill(int pid, int sig)
{
	int e = -ESRCH;

	pthread_mutex_lock(&big);
	for (struct host_task *t = tasks; t; t = t->next) {
		if (pid > 0    ? t->pid != pid
		    : pid == 0 ? t->pgid != posix_me()->pgid
			       : t->pgid != -pid)
			continue;
		e = 0;
		if (sig && !t->done)
			t->signals |= 1UL << (sig - 1);
	}
	pthread_mutex_unlock(&big);
	return e;
}

void posix_interrupt(void)
{
	pthread_mutex_lock(&big);
	for (struct host_task *t = tasks; t; t = t->next)
		if (!t->done)
			t->signals |= 1UL << 1;
	pthread_mutex_unlock(&big);
}

/* One second of quiet, then SIGINT each 100 ms, at the end SIGKILL for everybody but the first task. */
static void *watch(void *unused)
{
	static const struct timespec step = {0, 20000000};

	(void)unused;
	for (int i = 0;; i++) {
		nanosleep(&step, NULL);
		if (!atomic_load(&watching) || atomic_exchange(&watch_news, false))
			i = 0;
		if (i > 50 && i % 5 == 0)
			posix_interrupt();
		if (i > 500) {
			fprintf(stderr, "# does not end: %s\n", atomic_load(&watching));
			abort();
		}
	}
	return NULL;
}

void posix_watch(const char *what)
{
	static pthread_t thread;

	if (!thread)
		pthread_create(&thread, NULL, watch, NULL);
	atomic_store(&watching, what);
	atomic_store(&watch_news, true);
}

const char *os_signal_text(int sig)
{
	return sig == 15   ? "Terminated"
	       : sig == 9  ? "Killed"
	       : sig == 11 ? "Segmentation fault"
			   : "Signal";
}

int os_sleep(u64 ns)
{
	u64 end = os_clock_ns() + ns;

	while (os_clock_ns() < end) {
		struct timespec t = {0, 1000000};

		if (os_interrupted())
			return -EINTR;
		nanosleep(&t, NULL);
	}
	return 0;
}

bool os_interrupted(void)
{
	return atomic_load(&posix_me()->signals) != 0;
}

void os_clear_interrupt(void)
{
	atomic_store(&posix_me()->signals, 0);
}

void os_set_comm(const char *name)
{
	strncpy(posix_me()->comm, name, 15);
}

int os_set_affinity(int pid, u64 cpus)
{
	(void)pid;
	return cpus & 3 ? 0 : -EINVAL;
}

u64 os_affinity(int pid)
{
	(void)pid;
	return 3;
}

int os_ps(int after_pid, struct shell_stat *out)
{
	struct host_task *best = NULL;

	pthread_mutex_lock(&big);
	for (struct host_task *t = tasks; t; t = t->next)
		if (t->pid > after_pid && (!best || t->pid < best->pid))
			best = t;
	if (best) {
		*out = (struct shell_stat){
		    .pid = best->pid, .ppid = best->parent ? best->parent->pid : 0, .state = 'R'};
		memcpy(out->comm, best->comm, 16);
	}
	pthread_mutex_unlock(&big);
	return best != NULL;
}

void posix_stdio(void)
{
	for (int i = 0; i < 3; i++)
		first.fd[i] = posix_file(i);
}

void posix_stdio_end(void)
{
	for (int i = 0; i < 3; i++) {
		kfree(first.fd[i]);
		first.fd[i] = NULL;
	}
}

struct file *os_stdio(int fd)
{
	return posix_me()->fd[fd];
}

u64 os_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

u64 os_unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

/* Frames are several times the kernel's under the sanitizers: its 16 KiB are 128 here. */
size_t os_stack_left(void)
{
	long used = posix_me()->stack - (char *)__builtin_frame_address(0);

	return used < 128 << 10 ? ((128 << 10) - MAX(used, 0L)) / 8 : 0;
}

void os_out_of_memory(void)
{
}

u32 os_umask(u32 mask)
{
	return umask(mask);
}

void os_power(bool reboot)
{
	exit(reboot);
}

size_t os_log(u64 *pos, char *buf, size_t n)
{
	static const char log[] = "[    0.000000] host\n";
	size_t left = *pos < sizeof(log) - 1 ? sizeof(log) - 1 - *pos : 0;

	left = left < n ? left : n;
	memcpy(buf, log + *pos, left);
	*pos += left;
	return left;
}

/* ---- terminal ---- */

static const char *typed;
static size_t typed_left;

void posix_type(const char *keys, size_t n)
{
	typed = keys;
	typed_left = n;
}

int os_getc(void)
{
	unsigned char c;
	long n;

	if (typed)
		return typed_left ? typed_left--, (unsigned char)*typed++ : -EIO;
	while (!host_ready(0, false, 10))
		if (os_interrupted())
			return -EINTR;
	n = host_read(0, &c, 1);
	return n == 1 ? c : -EIO;
}

void os_tty_raw(bool raw)
{
	host_tty_raw(raw);
}

void os_tty_echo(bool on)
{
	(void)on;
}

void os_tty_foreground(void)
{
}

bool os_is_tty(struct file *f)
{
	return host_isatty(posix_fd(f));
}
