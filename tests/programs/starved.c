/*
 * System calls without memory. Makes the call of each row with its first allocation failing, then
 * its second, until no allocation fails. Each time the call must return an error that means a lack
 * of memory, or succeed; and its effect must be possible to undo. At the end, the kernel has as
 * many objects as before. See tests/kernel/process/starved.c.
 */
#include "tests/programs/user_events.h"

#define HOME "/tmp/starved"
#define MOST 4000 /* allocations that one call may make */

enum {
	NOSPC = -28,
	FILETABLE = -23,
	NOBUFS = -105,
	NOLOCKS = -37,
	O_CREATE = 0100,
	O_NONBLOCK_ = 04000
};

struct row {
	const char *name;
	long (*call)(void); /* 0 or more: done; otherwise a negative error */
	void (*undo)(void);
	bool own_process; /* runs in a new child, because the call changes its process */
};

static long fd, fds[2], other_fd, moved_fd, epoll_fd, arming_fd, counting_fd;
static char *area;

/* ---- names and files ---- */

static long open_new(void)
{
	return fd = syscall3(SYS_open, (long)HOME "/new", L_RDWR | O_CREATE, 0600);
}

static void close_fd(void)
{
	syscall1(SYS_close, fd);
}

static void forget_new(void)
{
	close_fd();
	CHECK_EQ(syscall1(SYS_unlink, (long)HOME "/new"), 0);
}

static void unlink_new(void)
{
	CHECK_EQ(syscall1(SYS_unlink, (long)HOME "/new"), 0);
}

static long make_dir(void)
{
	return syscall2(SYS_mkdir, (long)HOME "/new", 0700);
}

static void remove_dir(void)
{
	CHECK_EQ(syscall1(SYS_rmdir, (long)HOME "/new"), 0);
}

static long make_symlink(void)
{
	return syscall2(SYS_symlink, (long)"somewhere", (long)HOME "/new");
}

static long make_link(void)
{
	return syscall2(SYS_link, (long)HOME "/old", (long)HOME "/new");
}

static long make_fifo(void)
{
	return syscall3(SYS_mknod, (long)HOME "/new", 010600, 0);
}

static long rename_old(void)
{
	return syscall2(SYS_rename, (long)HOME "/old", (long)HOME "/new");
}

static void rename_back(void)
{
	CHECK_EQ(syscall2(SYS_rename, (long)HOME "/new", (long)HOME "/old"), 0);
}

static long change_dir(void)
{
	return syscall1(SYS_chdir, (long)HOME);
}

static void change_back(void)
{
	CHECK_EQ(syscall1(SYS_chdir, (long)"/"), 0);
}

static long current_dir(void)
{
	static char name[256];

	return syscall2(SYS_getcwd, (long)name, sizeof(name));
}

/* Its path is found anew from its end. */
static long make_in_moved(void)
{
	return syscall3(SYS_mkdirat, moved_fd, (long)"new", 0700);
}

static void remove_in_moved(void)
{
	CHECK_EQ(syscall1(SYS_rmdir, (long)HOME "/moved/new"), 0);
}

/* write() may be short when memory runs out; counts as NOSPC. */
static long write_pages(void)
{
	static char data[5 * PAGE];
	long r = syscall4(SYS_pwrite64, other_fd, (long)data, sizeof(data), 0);

	return r == sizeof(data) ? 0 : r < 0 ? r : NOSPC;
}

static void empty_file(void)
{
	CHECK_EQ(syscall2(SYS_ftruncate, other_fd, 0), 0);
}

static long lock_file(void)
{
	struct abi_flock lock = {.l_type = 1 /* F_WRLCK */};

	return syscall3(SYS_fcntl, other_fd, 6 /* F_SETLK */, (long)&lock);
}

static void unlock_file(void)
{
	struct abi_flock lock = {.l_type = 2 /* F_UNLCK */};

	CHECK_EQ(syscall3(SYS_fcntl, other_fd, 6, (long)&lock), 0);
}

/* Reads the whole file by repeated calls: SYS_read or SYS_getdents64. */
static long read_all_by(long call, const char *path)
{
	static char data[16384];
	long n, f = syscall3(SYS_open, (long)path, L_RDONLY, 0);

	if (f < 0)
		return f;
	while ((n = syscall3(call, f, (long)data, sizeof(data))) > 0)
		;
	syscall1(SYS_close, f);
	return n;
}

static void nothing(void)
{
}

#define READS(name, path)                                                                          \
	static long name(void)                                                                     \
	{                                                                                          \
		return read_all_by(SYS_read, path);                                                \
	}
READS(read_status, "/proc/self/status")
READS(read_maps, "/proc/self/maps")
READS(read_cmdline, "/proc/self/cmdline")
READS(read_meminfo, "/proc/meminfo")
READS(read_notrace, "/proc/trapline/notrace")
READS(read_trace, TRACING "trace")
READS(read_format, TRACING "events/sched/sched_switch/format")
READS(read_set_event, TRACING "set_event")
READS(read_functions, TRACING "set_ftrace_filter")
READS(read_saved, TRACING "saved_cmdlines")
READS(read_errors, TRACING "error_log")

static long list_fds(void)
{
	return read_all_by(SYS_getdents64, "/proc/self/fd");
}

static long list_processes(void)
{
	return read_all_by(SYS_getdents64, "/proc");
}

static long list_events(void)
{
	return read_all_by(SYS_getdents64, TRACING "events/sched");
}

/* ---- descriptors ---- */

static void close_both(void)
{
	syscall1(SYS_close, fds[0]);
	syscall1(SYS_close, fds[1]);
}

static long two_fds(int *pair, long r)
{
	fds[0] = pair[0];
	fds[1] = pair[1];
	return r;
}

static long make_pipe(void)
{
	int pair[2] = {-1, -1};

	return two_fds(pair, syscall2(SYS_pipe2, (long)pair, 0));
}

static long make_sockets(void)
{
	int pair[2] = {-1, -1};

	return two_fds(pair, syscall4(SYS_socketpair, ABI_AF_UNIX, 1, 0, (long)pair));
}

/* Both stay open: allocations fail in transfers through them. */
static int pipe_ends[2], socket_ends[2];

static long fill_pipe(void)
{
	static char data[3 * PAGE];
	long r = syscall3(SYS_write, pipe_ends[1], (long)data, sizeof(data));

	return r == sizeof(data) ? 0 : r < 0 ? r : NOSPC;
}

static void drain(int f)
{
	static char data[4 * PAGE];

	while (syscall3(SYS_read, f, (long)data, sizeof(data)) > 0)
		;
}

static void drain_pipe(void)
{
	drain(pipe_ends[0]);
}

/* Sends a message that carries a descriptor. */
static long send_rights(void)
{
	struct {
		struct abi_cmsghdr head;
		int fd, pad;
	} control = {{sizeof(control) - 4, ABI_SOL_SOCKET, ABI_SCM_RIGHTS}, (int)other_fd, 0};
	struct abi_iovec part = {(uintptr_t) "text", 4};
	struct abi_msghdr message = {.msg_iov = (uintptr_t)&part,
	    .msg_iovlen = 1,
	    .msg_control = (uintptr_t)&control,
	    .msg_controllen = sizeof(control) - 4};

	return syscall3(SYS_sendmsg, socket_ends[1], (long)&message, 0);
}

static void drain_socket(void)
{
	drain(socket_ends[0]);
}

/* All calls from socket() to accept(): an allocation may fail in each of them. */
static long connect_by_name(void)
{
	struct abi_sockaddr_un name = {ABI_AF_UNIX, HOME "/new"};
	long r;

	fds[0] = syscall3(SYS_socket, ABI_AF_UNIX, 1, 0);
	fds[1] = syscall3(SYS_socket, ABI_AF_UNIX, 1, 0);
	r = fds[0] < 0 ? fds[0] : fds[1] < 0 ? fds[1] : 0;
	if (!r)
		r = syscall3(SYS_bind, fds[0], (long)&name, sizeof(name));
	bool named = !r;
	if (!r)
		r = syscall2(SYS_listen, fds[0], 5);
	if (!r)
		r = syscall3(SYS_connect, fds[1], (long)&name, sizeof(name));
	if (!r) {
		long accepted = syscall3(SYS_accept, fds[0], 0, 0);
		r = accepted < 0 ? accepted : 0;
		if (accepted >= 0)
			syscall1(SYS_close, accepted);
	}
	close_both();
	if (named)
		unlink_new();
	return r;
}

static long make_eventfd(void)
{
	return fd = syscall2(SYS_eventfd2, 3, 0);
}

static long make_timerfd(void)
{
	return fd = syscall2(SYS_timerfd_create, ABI_CLOCK_MONOTONIC, 0);
}

static long make_signalfd(void)
{
	uint64_t set = 1;

	return fd = syscall4(SYS_signalfd4, -1, (long)&set, 8, 0);
}

static long make_epoll(void)
{
	return fd = syscall1(SYS_epoll_create1, 0);
}

static long watch_pipe(void)
{
	struct abi_epoll_event e = {.events = 1};

	return syscall4(SYS_epoll_ctl, epoll_fd, 1 /* EPOLL_CTL_ADD */, pipe_ends[0], (long)&e);
}

static void ignore_pipe(void)
{
	CHECK_EQ(syscall4(SYS_epoll_ctl, epoll_fd, 2 /* EPOLL_CTL_DEL */, pipe_ends[0], 0), 0);
}

static long make_memfd(void)
{
	return fd = syscall2(SYS_memfd_create, (long)"starved", 0);
}

static long many_fds(void)
{
	return syscall2(SYS_dup2, 0, 900); /* its table grows */
}

static long poll_many(void)
{
	struct abi_pollfd p[64];

	for (unsigned i = 0; i < 64; i++)
		p[i] = (struct abi_pollfd){.fd = pipe_ends[0], .events = 1};
	return syscall3(SYS_poll, (long)p, 64, 0);
}

static long select_one(void)
{
	uint64_t set[16] = {1UL << pipe_ends[0]};
	struct abi_timeval none = {0, 0};

	return syscall6(SYS_select, 900, (long)set, 0, 0, (long)&none, 0);
}

static char large[6 * PAGE];

static long send_much(void)
{
	long r = syscall6(SYS_sendto, socket_ends[1], (long)large, sizeof(large), 0, 0, 0);

	return r == sizeof(large) ? 0 : r < 0 ? r : NOSPC;
}

/* Copies from full_fd, a file of many pages, into the empty one. */
static long full_fd;

static long read_much(void)
{
	return syscall4(SYS_pread64, full_fd, (long)large, sizeof(large), 0);
}

static long read_parts(void)
{
	static struct abi_iovec parts[100];

	for (unsigned i = 0; i < 100; i++)
		parts[i] = (struct abi_iovec){(uintptr_t)large + i, 1};
	syscall3(SYS_lseek, full_fd, 0, 0);
	return syscall3(SYS_readv, full_fd, (long)parts, 100);
}

static long copied(long r)
{
	return r == 3 * PAGE ? 0 : r < 0 ? r : NOSPC;
}

static long send_file(void)
{
	uint64_t from = 0;

	syscall3(SYS_lseek, other_fd, 0, 0);
	return copied(syscall4(SYS_sendfile64, other_fd, full_fd, (long)&from, 3 * PAGE));
}

static long copy_range(void)
{
	uint64_t from = 0, to = 0;

	return copied(
	    syscall6(SYS_copy_file_range, full_fd, (long)&from, other_fd, (long)&to, 3 * PAGE, 0));
}

static long splice_in(void)
{
	uint64_t from = 0;

	return copied(syscall6(SYS_splice, full_fd, (long)&from, pipe_ends[1], 0, 3 * PAGE, 0));
}

static long read_log(void)
{
	return syscall3(SYS_syslog, 3, (long)large, 1000);
}

static long read_link(void)
{
	return syscall3(SYS_readlink, (long)"/proc/self/exe", (long)large, 100);
}

/* ---- memory and processes: each in a child of its own ---- */

static long map_some(void)
{
	long at = map_pages(0, 4, P_READ | P_WRITE, M_PRIVATE);

	return at < 0 && at > -4096 ? at : 0;
}

static long map_shared(void)
{
	long at = map_pages(0, 4, P_READ | P_WRITE, M_SHARED);

	if (at < 0 && at > -4096)
		return at;
	*(volatile char *)at = 1; /* may kill us */
	return 0;
}

static long map_file(void)
{
	long at = syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_PRIVATE, other_fd, 0);

	return at < 0 && at > -4096 ? at : 0;
}

static long protect_middle(void)
{
	return syscall3(SYS_mprotect, (long)area + 2 * PAGE, PAGE, P_READ);
}

static long unmap_middle(void)
{
	return syscall2(SYS_munmap, (long)area + 2 * PAGE, PAGE);
}

static long move_away(void)
{
	long at = syscall4(SYS_mremap, (long)area, 8 * PAGE, 4096 * PAGE, 1 /* MREMAP_MAYMOVE */);

	return at < 0 && at > -4096 ? at : 0;
}

static long grow_heap(void)
{
	long end = syscall1(SYS_brk, 0), wanted = end + 100 * PAGE;

	return syscall1(SYS_brk, wanted) == wanted ? 0 : NOMEM;
}

static long touch_pages(void)
{
	for (unsigned i = 0; i < 8; i++)
		area[i * PAGE] = 1; /* may kill us */
	return 0;
}

static long fork_once(void)
{
	long pid = syscall0(SYS_fork);

	if (!pid)
		exit_now(0);
	return pid < 0 ? pid : wait_for(pid) ? NOMEM /* the kernel killed it */ : 0;
}

static long exec_true(void)
{
	const char *args[] = {"true", "an argument", NULL};

	syscall1(SYS_close, 2); /* hides the loader's error message */
	return syscall3(SYS_execve, (long)"/bin/true", (long)args, 0);
}

static long make_timer(void)
{
	int id;

	return syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, 0, (long)&id);
}

/* The first queued signal needs no memory, the others do. */
static long queue_signals(void)
{
	struct abi_siginfo info = {.si_code = -1};
	uint64_t set = 1UL << (34 - 1);
	long r = 0;

	syscall4(SYS_rt_sigprocmask, 0, (long)&set, 0, 8);
	for (unsigned i = 0; i < 3 && !r; i++)
		r = syscall3(SYS_rt_sigqueueinfo, syscall0(SYS_getpid), 34, (long)&info);
	return r;
}

static long exec_long(void)
{
	const char *args[] = {"true", large, large + 1, large + 2, NULL};

	memset(large, 'x', sizeof(large) - 1);
	syscall1(SYS_close, 2);
	return syscall3(SYS_execve, (long)"/bin/true", (long)args, 0);
}

static long register_word(void)
{
	static volatile uint32_t word;
	long f = open_data(), index, gone;

	word = 0; /* gives the word a page of its own, or gets us killed */
	if (f < 0)
		return f;
	index = reg_word(f, "starved u32 a", &word, 4, 0, 0);
	if (index >=
	    0) { /* so the word is the event's; the allocation that fails may be this call's */
		gone = unreg(f, &word, 0);
		CHECK_EQ(gone == NOMEM ? unreg(f, &word, 0) : gone, 0);
	}
	return index;
}

/* ---- the tracer's files ---- */

static long write_mark(void)
{
	return put_text("trace_marker", 0, "a mark that is recorded");
}

#define PUTS(name, file, flags, text)                                                              \
	static long name(void)                                                                     \
	{                                                                                          \
		return put_text(file, flags, text);                                                \
	}
#define TAKES_BACK(name, file, flags, text)                                                        \
	static void name(void)                                                                     \
	{                                                                                          \
		CHECK_EQ(put_text(file, flags, text), 0);                                          \
	}
PUTS(define_probe, "kprobe_events", 0, "p:starved vfs_read file=$arg1 count=%dx")
TAKES_BACK(forget_probe, "kprobe_events", 0, "-:starved")
PUTS(define_synthetic, "synthetic_events", 0, "starved u64 a; char[16] b")
TAKES_BACK(forget_synthetic, "synthetic_events", 0, "!starved")
PUTS(set_filter, "events/sched/sched_switch/filter", 0, "prev_pid == 1 && next_comm ~ \"x*\"")
TAKES_BACK(no_filter, "events/sched/sched_switch/filter", 0, "0")
PUTS(set_trigger, "events/sched/sched_switch/trigger", 0, "traceoff if prev_pid == 70000")
TAKES_BACK(no_trigger, "events/sched/sched_switch/trigger", 0, "!traceoff")
PUTS(set_pids, "set_event_pid", L_TRUNC, "70000 70001 70002")
TAKES_BACK(no_pids, "set_event_pid", L_TRUNC, "\n")
PUTS(set_functions, "set_ftrace_filter", L_TRUNC, "vfs_*")
TAKES_BACK(no_functions, "set_ftrace_filter", L_TRUNC, "\n")

static long make_instance(void)
{
	return syscall2(SYS_mkdir, (long)TRACING "instances/starved", 0700);
}

static void remove_instance(void)
{
	CHECK_EQ(syscall1(SYS_rmdir, (long)TRACING "instances/starved"), 0);
}

static long open_pipe_of_events(void)
{
	return fd = open_tracing("trace_pipe", L_RDONLY);
}

static long open_raw(void)
{
	return fd = open_tracing("per_cpu/cpu0/trace_pipe_raw", L_RDONLY);
}

static long register_event(void)
{
	struct user_reg_bit bit;
	long r;

	fd = open_data();
	if (fd < 0)
		return fd;
	r = reg_bit(fd, "starved u32 a", &bit);
	close_fd();
	return r;
}

static void forget_event(void)
{
	long f = open_data();

	CHECK(f >= 0);
	CHECK_EQ(del(f, "starved"), 0);
	syscall1(SYS_close, f);
}

static const struct row rows[] = {
    {"open a new file", open_new, forget_new, false},
    {"mkdir", make_dir, remove_dir, false},
    {"symlink", make_symlink, unlink_new, false},
    {"link", make_link, unlink_new, false},
    {"mknod", make_fifo, unlink_new, false},
    {"rename", rename_old, rename_back, false},
    {"chdir", change_dir, change_back, false},
    {"getcwd", current_dir, nothing, false},
    {"mkdirat in a moved directory", make_in_moved, remove_in_moved, false},
    {"write to a file", write_pages, empty_file, false},
    {"fcntl F_SETLK", lock_file, unlock_file, false},
    {"/proc/self/status", read_status, nothing, false},
    {"/proc/self/maps", read_maps, nothing, false},
    {"/proc/self/cmdline", read_cmdline, nothing, false},
    {"/proc/meminfo", read_meminfo, nothing, false},
    {"/proc/trapline/notrace", read_notrace, nothing, false},
    {"trace", read_trace, nothing, false},
    {"format", read_format, nothing, false},
    {"set_event", read_set_event, nothing, false},
    {"set_ftrace_filter", read_functions, nothing, false},
    {"saved_cmdlines", read_saved, nothing, false},
    {"error_log", read_errors, nothing, false},
    {"list of descriptors", list_fds, nothing, false},
    {"list of processes", list_processes, nothing, false},
    {"list of events", list_events, nothing, false},
    {"pipe", make_pipe, close_both, false},
    {"write to a pipe", fill_pipe, drain_pipe, false},
    {"socketpair", make_sockets, close_both, false},
    {"sendmsg with a descriptor", send_rights, drain_socket, false},
    {"bind, listen, connect, accept", connect_by_name, nothing, false},
    {"eventfd", make_eventfd, close_fd, false},
    {"timerfd", make_timerfd, close_fd, false},
    {"signalfd", make_signalfd, close_fd, false},
    {"epoll", make_epoll, close_fd, false},
    {"epoll_ctl", watch_pipe, ignore_pipe, false},
    {"memfd", make_memfd, close_fd, false},
    {"poll", poll_many, nothing, false},
    {"select", select_one, nothing, false},
    {"sendto", send_much, drain_socket, false},
    {"pread", read_much, nothing, false},
    {"readv", read_parts, nothing, false},
    {"sendfile", send_file, empty_file, false},
    {"copy_file_range", copy_range, empty_file, false},
    {"splice", splice_in, drain_pipe, false},
    {"syslog", read_log, nothing, false},
    {"readlink", read_link, nothing, false},
    {"dup2 to a high number", many_fds, nothing, true},
    {"mmap", map_some, nothing, true},
    {"mmap of shared memory", map_shared, nothing, true},
    {"mmap of a file", map_file, nothing, true},
    {"mprotect of a part", protect_middle, nothing, true},
    {"munmap of a part", unmap_middle, nothing, true},
    {"mremap", move_away, nothing, true},
    {"brk", grow_heap, nothing, true},
    {"first touch of pages", touch_pages, nothing, true},
    {"fork", fork_once, nothing, true},
    {"execve", exec_true, nothing, true},
    {"execve with long arguments", exec_long, nothing, true},
    {"timer_create", make_timer, nothing, true},
    {"rt_sigqueueinfo", queue_signals, nothing, true},
    {"a user event's word", register_word, nothing, true},
    {"kprobe_events", define_probe, forget_probe, false},
    {"synthetic_events", define_synthetic, forget_synthetic, false},
    {"filter", set_filter, no_filter, false},
    {"trigger", set_trigger, no_trigger, false},
    {"set_event_pid", set_pids, no_pids, false},
    {"set_ftrace_filter", set_functions, no_functions, false},
    {"mkdir instances/", make_instance, remove_instance, false},
    {"trace_marker", write_mark, nothing, false},
    {"trace_pipe", open_pipe_of_events, close_fd, false},
    {"trace_pipe_raw", open_raw, close_fd, false},
    {"user event", register_event, forget_event, false},
};

static void let_fail(unsigned nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	CHECK_EQ(syscall4(SYS_pwrite64, arming_fd, (long)text, n, 0), n);
}

/*
 * Whether the armed allocation has failed. If not, disarms it; the write that does so may be the
 * one that fails, which does not count.
 */
static bool has_failed(void)
{
	char text[32];
	long n = syscall4(SYS_pwrite64, arming_fd, (long)"0", 1, 0);

	if (n == NOMEM)
		return false;
	n = syscall4(SYS_pread64, arming_fd, (long)text, sizeof(text), 0);
	return n == 2 && text[0] == '0';
}

static bool means_no_memory(long r)
{
	return r == NOMEM || r == AGAIN || r == NOSPC || r == FILETABLE || r == NOBUFS ||
	       r == NOLOCKS;
}

static void judge(const struct row *row, unsigned nth, long r)
{
	if (r < 0 && !means_no_memory(r)) {
		printf(
		    "# %s: allocation %u failed, and the call returned %ld\n", row->name, nth, r);
		fflush(stdout);
		check_failures++;
	}
}

/* Makes the call with its nth allocation failing. False: it makes fewer allocations. */
static bool make_call(const struct row *row, unsigned nth)
{
	let_fail(nth);
	long r = row->call();
	bool failed = has_failed();

	judge(row, nth, r);
	if (r >= 0)
		row->undo();
	else if (!failed) {
		printf("# %s: %ld without a failure\n", row->name, r);
		check_failures++;
	}
	return failed;
}

/* The same in a child, which the kernel may kill for want of memory. */
static bool make_call_in_child(const struct row *row, unsigned nth)
{
	long pid = syscall0(SYS_fork);

	if (!pid) {
		check_failures = 0;
		let_fail(nth);
		long r = row->call();
		judge(row, nth, r);
		exit_now(check_failures ? 2 : r < 0);
	}
	int status = wait_for(pid);
	bool failed = has_failed();
	check_failures += status == 2 << 8;
	if (status && !failed) {
		printf("# %s: status %#x without a failure\n", row->name, status);
		check_failures++;
	}
	return failed;
}

struct count {
	long objects, free_pages;
};

static struct count count(void)
{
	struct count c = {0, 0};
	char text[64];
	long n = syscall4(SYS_pread64, counting_fd, (long)text, sizeof(text) - 1, 0);

	CHECK(n > 0);
	text[n > 0 ? n : 0] = '\0';
	sscanf(text, "%ld %ld", &c.objects, &c.free_pages);
	return c;
}

/* Lets each allocation of the call fail in turn; returns how many it makes. */
static unsigned starve(const struct row *row)
{
	unsigned nth = 1;

	while (nth < MOST && (row->own_process ? make_call_in_child : make_call)(row, nth))
		nth++;
	return nth - 1;
}

/* With memory: the call must succeed. Afterwards this program has all pages that it needs. */
static void make_call_with_memory(const struct row *row)
{
	long r = row->call();

	if (r >= 0)
		return row->undo();
	printf("# %s: %ld\n", row->name, r);
	check_failures++;
}

/*
 * Objects that are left over after each of several rounds are leaked. Those left after only one may
 * be cached for the next time, or held by another task of the kernel.
 */
static void try_row(const struct row *row)
{
	struct count before, after;
	unsigned sites = 0;

	if (!row->own_process)
		make_call_with_memory(row);
	starve(row);
	after = count();
	for (unsigned round = 0; round < 4; round++) {
		before = after;
		sites = starve(row);
		after = count();
		if (after.objects <= before.objects && after.free_pages + 8 >= before.free_pages)
			break;
	}
	if (!sites || sites == MOST - 1 || after.objects > before.objects ||
	    after.free_pages + 8 < before.free_pages) {
		printf("# %s: %u allocations; %ld objects more, %ld pages less\n", row->name, sites,
		    after.objects - before.objects, before.free_pages - after.free_pages);
		check_failures++;
	}
}

static void prepare(void)
{
	arming_fd = syscall3(SYS_open, (long)"/proc/trapline/alloc_fail", L_RDWR, 0);
	counting_fd = syscall3(SYS_open, (long)"/proc/trapline/alloc_count", L_RDONLY, 0);
	CHECK(arming_fd >= 0 && counting_fd >= 0);
	CHECK_EQ(syscall2(SYS_mkdir, (long)HOME, 0700), 0);
	other_fd = syscall3(SYS_open, (long)HOME "/old", L_RDWR | O_CREATE, 0600);
	CHECK(other_fd >= 0);
	CHECK_EQ(syscall2(SYS_mkdir, (long)HOME "/dir", 0700), 0);
	moved_fd = syscall3(SYS_open, (long)HOME "/dir", L_RDONLY, 0);
	CHECK_EQ(syscall2(SYS_rename, (long)HOME "/dir", (long)HOME "/moved"), 0);
	CHECK_EQ(syscall2(SYS_pipe2, (long)pipe_ends, O_NONBLOCK_), 0);
	CHECK_EQ(syscall4(SYS_socketpair, ABI_AF_UNIX, 1 | O_NONBLOCK_, 0, (long)socket_ends), 0);
	epoll_fd = syscall1(SYS_epoll_create1, 0);
	full_fd = syscall2(SYS_memfd_create, (long)"full", 0);
	CHECK_EQ(syscall3(SYS_write, full_fd, (long)large, sizeof(large)), sizeof(large));
	area = (char *)map_pages(0, 8, P_READ | P_WRITE, M_PRIVATE);
	has_failed();
	fflush(stdout);
}

int main(void)
{
	prepare();
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++)
		try_row(row);
	syscall1(SYS_close, other_fd);
	syscall1(SYS_close, moved_fd);
	CHECK_EQ(syscall1(SYS_rmdir, (long)HOME "/moved"), 0);
	CHECK_EQ(syscall1(SYS_unlink, (long)HOME "/old"), 0);
	CHECK_EQ(syscall1(SYS_rmdir, (long)HOME), 0);
	return check_failures != 0;
}
