/*
 * The shell's system on the host: kernel/fs/vfs.h over POSIX files, kernel/shell/sys.h over threads, kmalloc over malloc. A task is
 * a thread, so that what tasks share in the kernel is shared here too and the sanitizers see it. Signals are bits that
 * every wait looks at each 10 ms. All paths lie below one directory (posix_root). The big lock protects the list of tasks.
 */
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/sys.h"
#include "tests/host/shell/posix.h"

#include <sys/stat.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/host/shell/os.h"

struct host_task {
	struct host_task *next, *parent;
	pthread_t thread;
	int pid, pgid, status, sig;
	bool done;
	_Atomic u64 signals;
	char comm[16];
	char cwd[PATH_MAX];
	struct file *fd[10];
	int (*fn)(void *);
	void *arg;
	char *stack; /* an address near its beginning */
};

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct host_task first = {.pid = 1, .pgid = 1, .comm = "sh", .cwd = "/"};
static struct host_task *tasks = &first;
static int next_pid = 30;
static char root[PATH_MAX];
static atomic_long allocated, peak;
static atomic_ulong fail_in;
static const char *_Atomic watching;
static atomic_bool watch_news;
static __thread struct host_task *self;

static struct host_task *me(void)
{
	if (!self) {
		self = &first;
		first.stack = __builtin_frame_address(0);
	}
	return self;
}

/* ---- memory ---- */

long posix_allocated(void)
{
	return atomic_load(&allocated);
}

long posix_peak(void)
{
	return atomic_exchange(&peak, 0);
}

static void count_one(void)
{
	long now = atomic_fetch_add(&allocated, 1) + 1;

	if (now > atomic_load(&peak))
		atomic_store(&peak, now);
}

void mem_fail_nth(u64 n)
{
	atomic_store(&fail_in, n);
}

static bool fails(void)
{
	return atomic_load(&fail_in) && atomic_fetch_sub(&fail_in, 1) == 1;
}

void *kmalloc(size_t size)
{
	void *p = size > 4UL << 20 || fails() ? NULL : malloc(size ? size : 1);

	if (p)
		count_one();
	return p;
}

void *kzalloc(size_t size)
{
	void *p = kmalloc(size);

	return p ? memset(p, 0, size) : NULL;
}

void *krealloc(void *p, size_t size)
{
	if (!p)
		return kmalloc(size);
	return size > 4UL << 20 || fails() ? NULL : realloc(p, size);
}

void kfree(const void *p)
{
	if (p)
		atomic_fetch_sub(&allocated, 1);
	free((void *)p);
}

char *kstrndup(const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *p = kmalloc(n + 1);

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *kstrdup(const char *s)
{
	return kstrndup(s, strlen(s));
}

u64 page_total(void)
{
	return 16384;
}

u64 page_free_count(void)
{
	return 8192;
}

/* ---- files ---- */

void posix_root(const char *dir)
{
	snprintf(root, sizeof(root), "%s", dir);
}

static void root_remove(void)
{
	host_remove_tree(root);
}

void posix_root_make(void)
{
	static const char *const dirs[] = {"", "/bin", "/dev", "/tmp"};
	static const char *const links[][2] = {{"/bin/true", "/bin/true"},
	    {"/bin/sleep", "/bin/sleep"}, {"/dev/null", "/dev/null"}, {"/dev/zero", "/dev/zero"},
	    {"/dev/full", "/dev/full"}};
	char path[PATH_MAX + 16];

	snprintf(root, sizeof(root), "/tmp/shell-root-%d", getpid());
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		host_mkdir(path, 0755);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(path, sizeof(path), "%s%s", root, links[i][1]);
		host_symlink(links[i][0], path);
	}
	atexit(root_remove);
}

/* Removes . .. and double slashes from an absolute path, in place. */
static void clean(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		char *end;
		size_t n;

		while (*in == '/')
			in++;
		end = strchr(in, '/');
		n = end ? (size_t)(end - in) : strlen(in);
		if (n == 2 && in[0] == '.' && in[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (n && !(n == 1 && *in == '.')) {
			*out++ = '/';
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = 0;
}

int vfs_absolute(const char *path, char *out)
{
	if (snprintf(out, PATH_MAX, "%s/%s", *path == '/' ? "" : me()->cwd, path) >= PATH_MAX)
		return -ENAMETOOLONG;
	clean(out);
	return 0;
}

/* The host's path of `path`. The buffer is the thread's own; `second`: another one. */
static const char *real_path(const char *path, bool second)
{
	static __thread char real[2][2 * PATH_MAX];
	char absolute[PATH_MAX];

	if (!*path || vfs_absolute(path, absolute))
		return ""; /* ENOENT */
	snprintf(real[second], sizeof(real[second]), "%s%s", root, absolute);
	return real[second];
}

static const struct file_ops
    posix_ops; /* marks the files made here: cases make others of their own */

static struct file *file_of(int fd, u32 flags, const char *path)
{
	struct file *f = calloc(1, sizeof(*f)); /* not counted among what may fail */

	count_one();
	f->refs = 1;
	f->ops = &posix_ops;
	f->flags = flags;
	f->priv = (void *)(long)fd;
	f->path = path ? strdup(path) : NULL;
	return f;
}

static int fd_of(const struct file *f)
{
	return (int)(long)f->priv;
}

struct file *posix_file(int fd)
{
	return file_of(fd, O_RDWR, NULL);
}

int vfs_open(const char *path, u32 flags, u32 mode, struct file **out)
{
	int fd = host_open(real_path(path, false), flags, mode);

	if (fd < 0)
		return fd;
	*out = file_of(fd, flags, path);
	return 0;
}

struct file *file_get(struct file *f)
{
	__atomic_add_fetch(&f->refs, 1, __ATOMIC_SEQ_CST);
	return f;
}

void file_put(struct file *f)
{
	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_SEQ_CST) || f->ops != &posix_ops)
		return;
	host_close(fd_of(f));
	free(f->path);
	kfree(f);
}

ssize vfs_read(struct file *f, void *buf, size_t n)
{
	while (!host_ready(fd_of(f), false, 10))
		if (os_interrupted())
			return -EINTR;
	return host_read(fd_of(f), buf, n);
}

ssize vfs_write(struct file *f, const void *buf, size_t n)
{
	while (!host_ready(fd_of(f), true, 10))
		if (os_interrupted())
			return -EINTR;
	return host_write(fd_of(f), buf, n);
}

ssize vfs_pread(struct file *f, void *buf, size_t n, u64 pos)
{
	return host_pread(fd_of(f), buf, n, pos);
}

ssize vfs_pwrite(struct file *f, const void *buf, size_t n, u64 pos)
{
	return host_pwrite(fd_of(f), buf, n, pos);
}

s64 vfs_seek(struct file *f, s64 off, int whence)
{
	return host_seek(fd_of(f), off, whence);
}

int vfs_stat(const char *path, bool follow, struct vstat *st)
{
	struct host_stat h;
	int e = host_stat(real_path(path, false), follow, &h);

	*st = (struct vstat){.ino = h.ino,
	    .size = h.size,
	    .mtime_ns = h.mtime_ns,
	    .rdev = h.rdev,
	    .mode = h.mode,
	    .nlink = h.nlink,
	    .uid = h.uid,
	    .gid = h.gid,
	    .dev = h.dev};
	return e;
}

int vfs_mkdir(const char *path, u32 mode)
{
	return host_mkdir(real_path(path, false), mode);
}

int vfs_rmdir(const char *path)
{
	return host_rmdir(real_path(path, false));
}

int vfs_unlink(const char *path)
{
	return host_unlink(real_path(path, false));
}

int vfs_rename(const char *from, const char *to)
{
	return host_rename(real_path(from, false), real_path(to, true));
}

int vfs_symlink(const char *target, const char *path)
{
	return host_symlink(target, real_path(path, false));
}

long vfs_readlink(const char *path, char *buf, size_t size)
{
	return host_readlink(real_path(path, false), buf, size);
}

int vfs_readdir(struct file *dir, u64 pos, struct dirent *out)
{
	return host_readdir(fd_of(dir), pos, out->name, &out->ino, &out->mode);
}

int vfs_chdir(const char *path)
{
	char absolute[PATH_MAX];
	struct vstat st;
	int e = vfs_stat(path, true, &st);

	if (!e && (st.mode & S_IFMT) != S_IFDIR)
		e = -ENOTDIR;
	if (!e)
		e = vfs_absolute(path, absolute);
	if (!e)
		snprintf(me()->cwd, PATH_MAX, "%s", absolute);
	return e;
}

int vfs_access(const char *path, u32 mask)
{
	return host_access(real_path(path, false), mask);
}

int pipe_create(struct file **rd, struct file **wr, u32 flags)
{
	int fd[2], e = host_pipe(fd);

	if (e)
		return e;
	*rd = file_of(fd[0], O_RDONLY | flags, NULL);
	*wr = file_of(fd[1], O_WRONLY | flags, NULL);
	return 0;
}

/* ---- tasks ---- */

int os_self(void)
{
	return me()->pid;
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
	t->parent = me();
	strncpy(t->comm, name, 15);
	memcpy(t->cwd, me()->cwd, sizeof(t->cwd));
	for (int i = 0; i < 3; i++)
		t->fd[i] = io[i] ? file_get(io[i]) : NULL;
	pthread_mutex_lock(&big);
	t->pid = next_pid++;
	t->pgid = group ? t->pid : me()->pgid;
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
	struct file *old = me()->fd[fd];

	me()->fd[fd] = f ? file_get(f) : NULL;
	if (old)
		file_put(old);
	return 0;
}

int os_exec(
    const char *path, char *const argv[], char *const envp[], void (*release)(void *), void *arg)
{
	struct host_task *t = me();
	int fds[10], pid, status;
	char cwd[2 * PATH_MAX];

	for (int i = 0; i < 10; i++)
		fds[i] = t->fd[i] ? fd_of(t->fd[i]) : -1;
	snprintf(cwd, sizeof(cwd), "%s%s", root, t->cwd);
	pid = host_spawn(real_path(path, false), argv, envp, cwd, fds);
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

		if (t->parent != me() || (pid != -1 && t->pid != pid))
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
		if (pid > 0 ? t->pid != pid : pid == 0 ? t->pgid != me()->pgid : t->pgid != -pid)
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
	return atomic_load(&me()->signals) != 0;
}

void os_clear_interrupt(void)
{
	atomic_store(&me()->signals, 0);
}

void os_set_comm(const char *name)
{
	strncpy(me()->comm, name, 15);
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
	return me()->fd[fd];
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
	long used = me()->stack - (char *)__builtin_frame_address(0);

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
	return host_isatty(fd_of(f));
}
