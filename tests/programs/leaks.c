/*
 * Calls that fail half-way, and objects that come and go, thousands of times. The case that runs
 * this (tests/kernel/process/programs.c) sees whether all pages are given back.
 */
#include "tests/programs/thread.h"
#include "tests/programs/user_events.h"

#define CHILDREN    40
#define ROUNDS	    10
#define NXIO	    -6
#define BADLIB	    -80
#define NAMETOOLONG -36

enum { RDONLY = 0, WRONLY = 1, RDWR = 2, CREATE = 0100, NONBLOCK = 04000, FIFO = 010600 };
enum { NOREPLACE = 0x100000, THREAD_ID = 4, THREAD_CPUTIME = 3 };

static long open_file(const char *name, int flags, int mode)
{
	return syscall3(SYS_open, (long)name, flags, mode);
}

static void make_file(const char *name, const void *text, size_t len)
{
	long fd = open_file(name, WRONLY | CREATE, 0755);

	CHECK_EQ(syscall3(SYS_write, fd, (long)text, len), len);
	syscall1(SYS_close, fd);
}

/* A program whose interpreter is there but is none. */
static void make_dynamic(void)
{
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, phoff, shoff;
		uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
		struct {
			uint32_t type, flags;
			uint64_t offset, vaddr, paddr, filesz, memsz, align;
		} part[2];
		char interp[10];
	} f = {{0x7f, 'E', 'L', 'F', 2, 1, 1}, 2, 62, 1, 0x400000, 64, 0, 0, 64, 56, 2, 64, 0, 0,
	    {{3, 4, 176, 0x4000b0, 0x4000b0, 10, 10, 1},
		{1, 5, 0, 0x400000, 0x400000, 186, 186, PAGE}},
	    "leak_text"};

	make_file("leak_dynamic", &f, sizeof(f));
}

static void make_files(void)
{
	make_file("leak_text", "no program", 10);
	make_file("leak_script", "#!/none/such", 12);
	make_dynamic();
	syscall1(SYS_close, open_file("leak_empty", WRONLY | CREATE, 0644));
	syscall3(SYS_mknod, (long)"leak_fifo", FIFO, 0);
}

static void refused_files(void)
{
	static char *argv[] = {"a name", "an argument", NULL};
	struct abi_iovec vec[20];
	char byte[20], to[64];
	long fd;

	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_empty", 0, 0), ACCES);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_text", 0, 0), NOEXEC);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_script", (long)argv, 0), NOENT);
	CHECK_EQ(syscall3(SYS_execve, (long)"leak_dynamic", 0, 0), BADLIB);
	CHECK(syscall3(SYS_readlink, (long)"/proc/self/fd/0", (long)to, sizeof(to)) > 0);
	fd = open_file("leak_text", RDONLY, 0);
	for (int i = 0; i < 20; i++)
		vec[i] = (struct abi_iovec){(uint64_t)&byte[i], 1};
	CHECK_EQ(syscall3(SYS_readv, fd, (long)vec, 20), 10);
	syscall1(SYS_close, fd);
}

static void refused_memory(void)
{
	long text = open_file("leak_text", RDONLY, 0), empty = open_file("leak_empty", RDWR, 0);
	long page = map_pages(0, 1, P_READ, M_PRIVATE), at;

	CHECK_EQ(syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_SHARED, text, 0), ACCES);
	CHECK_EQ(syscall6(SYS_mmap, page, PAGE, P_READ, M_PRIVATE | NOREPLACE, text, 0), EXIST);
	at = syscall6(SYS_mmap, 0, PAGE, P_READ | P_WRITE, M_PRIVATE, empty, 0);
	CHECK_EQ(syscall3(SYS_read, text, at, 10), FAULT); /* there is no such page of the file */
	syscall2(SYS_munmap, at, PAGE);
	syscall2(SYS_munmap, page, PAGE);
	syscall1(SYS_close, text);
	syscall1(SYS_close, empty);
}

static void timers(void)
{
	int event[16] = {[2] = L_USR1, [3] = THREAD_ID, [4] = syscall0(SYS_gettid)}, id = -1;
	struct abi_timespec t;

	CHECK_EQ(syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, (long)event, (long)&id), 0);
	CHECK_EQ(syscall1(SYS_timer_delete, id), 0);
	CHECK_EQ(syscall3(SYS_timer_create, THREAD_CPUTIME, 0, (long)&id), 0);
	CHECK_EQ(syscall1(SYS_timer_delete, id), 0);
	/* The clock of a thread of another process is not to be had. */
	CHECK_EQ(syscall2(SYS_clock_gettime, ~syscall0(SYS_getppid) * 8 | 4 | 2, (long)&t), INVAL);
}

/* Payloads that the kernel copies to its memory: unreadable ones, and one that no record holds. */
static void refused_payloads(void)
{
	static uint32_t word, big[4096];
	long data = open_data(), bad = map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE);
	struct abi_iovec v[2] = {{(uint64_t)big, 4}, {bad, 1000}};
	long index = reg_word(data, "leaky u32 a", &word, 4, 0, 0);

	CHECK(index >= 0);
	CHECK_EQ(reg_word(data, "leaky u32 a", &word, 4, 0, 0), ADDRINUSE);
	CHECK_EQ(put_text("events/user_events/leaky/enable", 0, "1"), 0);
	syscall2(SYS_munmap, bad, PAGE);
	big[0] = index;
	for (int i = 0; i < 2 * ROUNDS; i++) {
		v[1].iov_len = 1000;
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), FAULT);
		v[1].iov_len = 3 * PAGE;
		CHECK_EQ(syscall3(SYS_writev, data, (long)v, 2), FAULT);
		CHECK_EQ(syscall3(SYS_write, data, (long)big, 2 * PAGE), 2 * PAGE);
	}
	CHECK_EQ(put_text("events/user_events/leaky/enable", 0, "0"), 0);
	CHECK_EQ(unreg(data, &word, 0), 0);
	syscall1(SYS_close, data);
}

/* ---- sockets ---- */

enum {
	STREAM = 1,
	DGRAM = 2,
	SEQPACKET = 5,
	ADDRINUSE_ = -98,
	ISCONN = -106,
	REFUSED = -111,
	TOOMANYREFS_ = -109
};
enum { PROTOTYPE = -91, NOSUCHPROCESS = -3, DONTWAIT = 0x40 };

static struct abi_sockaddr_un named = {ABI_AF_UNIX, "leak_name"};

static long socket_of(int type)
{
	return syscall3(SYS_socket, ABI_AF_UNIX, type, 0);
}

static long connect_to(long fd, const struct abi_sockaddr_un *name, size_t len)
{
	return syscall3(SYS_connect, fd, (long)name, len);
}

/* Two that meet, one that was accepted and one that never is; names that are taken. */
static void stream_sockets(int type)
{
	struct abi_sockaddr_un hidden = {ABI_AF_UNIX, "\0hidden"}, none = {ABI_AF_UNIX, "none"};
	long l = socket_of(type), c = socket_of(type), late = socket_of(type),
	     other = socket_of(type == STREAM ? SEQPACKET : STREAM), a;

	CHECK_EQ(syscall3(SYS_bind, l, (long)&named, sizeof(named)), 0);
	CHECK_EQ(syscall3(SYS_bind, l, (long)&none, sizeof(none)), INVAL);
	CHECK_EQ(syscall3(SYS_bind, c, (long)&named, sizeof(named)), ADDRINUSE_);
	CHECK_EQ(connect_to(c, &named, sizeof(named)), REFUSED);
	CHECK_EQ(connect_to(c, &none, sizeof(none)), NOENT);
	CHECK_EQ(syscall2(SYS_listen, l, 5), 0);
	CHECK_EQ(connect_to(other, &named, sizeof(named)), PROTOTYPE);
	CHECK_EQ(connect_to(l, &named, sizeof(named)), INVAL);
	CHECK_EQ(connect_to(c, &named, sizeof(named)), 0);
	CHECK_EQ(connect_to(c, &named, sizeof(named)), ISCONN);
	CHECK_EQ(connect_to(late, &named, sizeof(named)), 0);
	CHECK_EQ(syscall3(SYS_write, late, (long)"unread", 6), 6);
	a = syscall3(SYS_accept, l, 0, 0);
	CHECK(a >= 0);
	CHECK_EQ(syscall3(SYS_write, a, (long)"unread", 6), 6);
	CHECK_EQ(syscall3(SYS_bind, other, (long)&hidden, 10), 0);
	CHECK_EQ(syscall3(SYS_bind, late, (long)&hidden, 10), ADDRINUSE_);
	CHECK_EQ(syscall1(SYS_unlink, (long)named.path), 0);
	for (long fd = l; fd <= other; fd++)
		syscall1(SYS_close, fd);
	syscall1(SYS_close, a);
}

/* Datagrams: a target that changes, and one that is named in each call; some are never read. */
static void datagrams(void)
{
	struct abi_sockaddr_un second = {ABI_AF_UNIX, "leak_second"}, no = {ABI_AF_UNSPEC, ""};
	long a = socket_of(DGRAM), b = socket_of(DGRAM), c = socket_of(DGRAM);
	char text[10];

	CHECK_EQ(syscall3(SYS_bind, a, (long)&named, sizeof(named)), 0);
	CHECK_EQ(syscall3(SYS_bind, b, (long)&second, sizeof(second)), 0);
	CHECK_EQ(connect_to(c, &named, sizeof(named)), 0);
	CHECK_EQ(connect_to(c, &second, sizeof(second)), 0);
	CHECK_EQ(connect_to(c, &second, sizeof(second)), 0);
	CHECK_EQ(connect_to(c, &no, 2), 0);
	CHECK_EQ(connect_to(c, &named, sizeof(named)), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(syscall3(SYS_write, c, (long)"text", 4), 4);
		CHECK_EQ(
		    syscall6(SYS_sendto, c, (long)"text", 4, 0, (long)&second, sizeof(second)), 4);
	}
	CHECK_EQ(syscall3(SYS_read, a, (long)text, 10), 4);
	CHECK_EQ(connect_to(a, &second, sizeof(second)), 0);
	CHECK_EQ(syscall3(SYS_write, c, (long)"text", 4), PERM); /* it listens to another */
	CHECK_EQ(syscall1(SYS_unlink, (long)named.path), 0);
	CHECK_EQ(syscall1(SYS_unlink, (long)second.path), 0);
	syscall1(SYS_close, a);
	syscall1(SYS_close, b);
	syscall1(SYS_close, c);
}

/* Messages with vectors and files, credentials of a process that is there, and refused ones. */
static void messages(void)
{
	struct {
		struct abi_cmsghdr head;
		struct abi_ucred cred;
		int pad;
	} control = {{28, ABI_SOL_SOCKET, ABI_SCM_CREDENTIALS}, {0, 0, 0}, 0};
	struct abi_iovec v[20];
	struct abi_msghdr m = {.msg_iov = (uintptr_t)v,
	    .msg_iovlen = 20,
	    .msg_control = (uintptr_t)&control,
	    .msg_controllen = 28};
	char text[100] = "";
	int s[2];

	for (int i = 0; i < 20; i++)
		v[i] = (struct abi_iovec){(uintptr_t)text + i, 1};
	CHECK_EQ(syscall4(SYS_socketpair, ABI_AF_UNIX, STREAM, 0, (long)s), 0);
	control.cred.pid = syscall0(SYS_getppid);
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), 20);
	CHECK_EQ(syscall3(SYS_recvmsg, s[1], (long)&m, 0), 20);
	m.msg_controllen = 28;
	control = (typeof(control)){{28, ABI_SOL_SOCKET, ABI_SCM_CREDENTIALS}, {1 << 22, 0, 0}, 0};
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), NOSUCHPROCESS);
	control.head.type = 77;
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), INVAL);
	m.msg_control = 8;
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), FAULT);
	m.msg_controllen = 0;
	v[3].iov_base = 8;
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), FAULT);
	CHECK_EQ(syscall3(SYS_recvmsg, s[1], (long)&m, DONTWAIT), AGAIN);
	v[3].iov_len = -1;
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0), INVAL);
	CHECK_EQ(syscall3(SYS_recvmsg, s[1], (long)&m, 0), INVAL);
	syscall1(SYS_close, s[1]);
	v[3] = v[2];
	CHECK_EQ(syscall3(SYS_sendmsg, s[0], (long)&m, 0x4000), PIPEBROKEN);
	syscall1(SYS_close, s[0]);
}

static long send_file(int to, int fd)
{
	struct {
		struct abi_cmsghdr head;
		int fd, pad;
	} control = {{20, ABI_SOL_SOCKET, ABI_SCM_RIGHTS}, fd, 0};
	struct abi_iovec v = {(uintptr_t) "x", 1};
	struct abi_msghdr m = {.msg_iov = (uintptr_t)&v,
	    .msg_iovlen = 1,
	    .msg_control = (uintptr_t)&control,
	    .msg_controllen = 20};

	return syscall3(SYS_sendmsg, to, (long)&m, 0);
}

/*
 * Sockets in unread messages lie in each other four deep at most. One that would lie in itself, or
 * in one that is in a message, is refused: nobody could free them.
 */
static void sockets_in_sockets(void)
{
	int s[6][2];

	for (int i = 0; i < 6; i++)
		CHECK_EQ(syscall4(SYS_socketpair, ABI_AF_UNIX, STREAM, 0, (long)s[i]), 0);
	CHECK_EQ(send_file(s[0][0], s[0][1]), TOOMANYREFS_);
	CHECK_EQ(send_file(s[0][0], s[0][0]), 1);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(send_file(s[i + 1][0], s[i][1]), 1);
	CHECK_EQ(send_file(s[4][0], s[3][1]), TOOMANYREFS_);
	CHECK_EQ(send_file(s[2][0], s[5][1]), TOOMANYREFS_);
	for (int i = 0; i < 12; i++)
		syscall1(SYS_close, s[i / 2][i % 2]);
}

static char big[100000];

/* Bytes that nobody reads count no longer than their socket: all of them are more than may wait. */
static void unread_bytes(void)
{
	int s[2];

	CHECK_EQ(syscall4(SYS_socketpair, ABI_AF_UNIX, SEQPACKET, 0, (long)s), 0);
	CHECK_EQ(syscall3(SYS_write, s[0], (long)big, sizeof(big)), sizeof(big));
	syscall1(SYS_close, s[0]);
	syscall1(SYS_close, s[1]);
}

/* Copies from file to file; a long write that fails in the middle, and one of many parts. */
static void copies(void)
{
	long text = open_file("leak_text", RDONLY, 0),
	     out = open_file("leak_copy", RDWR | CREATE, 0600);
	long from = 0, to = 8000;
	struct abi_iovec v[20];
	int p[2];

	CHECK_EQ(syscall2(SYS_pipe2, (long)p, 0), 0);
	for (int i = 0; i < 20; i++)
		v[i] = (struct abi_iovec){(uintptr_t)big, 300};
	CHECK_EQ(syscall3(SYS_writev, out, (long)v, 20), 6000);
	CHECK_EQ(syscall6(SYS_copy_file_range, out, (long)&from, out, (long)&to, 5000, 0), 5000);
	CHECK_EQ(syscall4(SYS_sendfile64, p[1], out, (long)&from, 5000), 5000);
	CHECK_EQ(syscall6(SYS_splice, p[0], 0, out, 0, 5000, 0), 5000);
	CHECK_EQ(syscall6(SYS_splice, text, 0, p[1], 0, 5000, 0), 10);
	v[10].iov_base = 8;
	CHECK_EQ(syscall3(SYS_writev, out, (long)v, 20), FAULT);
	v[19].iov_len = -1;
	CHECK_EQ(syscall3(SYS_writev, out, (long)v, 20), INVAL);
	CHECK_EQ(syscall6(SYS_splice, text, 0, 99, 0, 5, 0), BADF);
	syscall1(SYS_close, text);
	syscall1(SYS_close, out);
	syscall1(SYS_close, p[0]);
	syscall1(SYS_close, p[1]);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_copy"), 0);
}

/* poll() and select() of many files, which come back with them and with errors. */
static void polls(void)
{
	struct abi_pollfd many[100];
	uint64_t bits[16] = {1, [15] = 1};
	struct abi_timeval none = {0, 0};
	int p[2];

	CHECK_EQ(syscall2(SYS_pipe2, (long)p, 0), 0);
	for (int i = 0; i < 100; i++)
		many[i] = (struct abi_pollfd){p[1], 4, 0};
	CHECK_EQ(syscall3(SYS_poll, (long)many, 100, -1), 100);
	CHECK_EQ(syscall3(SYS_poll, 8, 100, 0), FAULT);
	CHECK_EQ(syscall6(SYS_select, 1024, (long)bits, 0, 0, (long)&none, 0), BADF);
	CHECK_EQ(syscall6(SYS_select, 1024, 8, 0, 0, (long)&none, 0), FAULT);
	syscall1(SYS_close, p[0]);
	syscall1(SYS_close, p[1]);
}

/* FIFOs that are opened in vain, and in all ways that do not wait. */
static void fifos(void)
{
	long r, w;

	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	r = open_file("leak_fifo", RDONLY | NONBLOCK, 0);
	w = open_file("leak_fifo", WRONLY, 0);
	CHECK_EQ(syscall3(SYS_write, w, (long)"unread", 6), 6);
	syscall1(SYS_close, r);
	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	syscall1(SYS_close, w);
	CHECK_EQ(open_file("leak_fifo", WRONLY | NONBLOCK, 0), NXIO);
	r = open_file("leak_fifo", RDWR, 0);
	CHECK_EQ(syscall3(SYS_write, r, (long)"unread", 6), 6);
	syscall1(SYS_close, r);
}

/* Other processes that are looked at, sent nothing, or asked for what they do not have. */
static void other_processes(void)
{
	long parent = syscall0(SYS_getppid), own = syscall0(SYS_getpid);
	struct abi_siginfo info = {.si_code = -1};
	uint32_t attr[12] = {48, 99};
	struct abi_timespec t;

	CHECK_EQ(syscall2(SYS_kill, parent, 0), 0);
	CHECK_EQ(syscall2(SYS_kill, parent, 99), INVAL);
	CHECK_EQ(syscall2(SYS_tkill, parent, 0), 0);
	CHECK_EQ(syscall3(SYS_tgkill, own, parent, 0), NOSRCH);
	CHECK_EQ(syscall3(SYS_tgkill, own, parent, L_USR1), NOSRCH);
	CHECK_EQ(syscall3(SYS_rt_sigqueueinfo, parent, 0, (long)&info), 0);
	CHECK_EQ(syscall4(SYS_rt_tgsigqueueinfo, own, parent, L_USR1, (long)&info), NOSRCH);
	CHECK_EQ(syscall1(SYS_getsid, parent), syscall1(SYS_getsid, 0));
	CHECK(syscall1(SYS_getpgid, parent) > 0);
	CHECK_EQ(syscall1(SYS_sched_getscheduler, parent), 0);
	CHECK_EQ(syscall2(SYS_sched_getparam, parent, 8), FAULT);
	CHECK_EQ(syscall3(SYS_sched_setattr, parent, (long)attr, 0), INVAL);
	CHECK_EQ(syscall4(SYS_sched_getattr, parent, 8, 48, 0), FAULT);
	CHECK_EQ(syscall3(SYS_sched_getaffinity, parent, 8, 8), FAULT);
	CHECK_EQ(syscall2(SYS_getpriority, 0, parent), 20);
	CHECK_EQ(syscall2(SYS_sched_rr_get_interval, parent, 8), FAULT);
	CHECK_EQ(syscall4(SYS_prlimit64, parent, 99, 0, 0), INVAL);
	CHECK_EQ(syscall2(SYS_clock_gettime, ~parent * 8 | 4 | 2, (long)&t), INVAL);
	CHECK_EQ(syscall2(SYS_clock_gettime, ~parent * 8 | 2, 8), FAULT);
	CHECK_EQ(syscall2(SYS_clock_getres, ~parent * 8 | 2, (long)&t), 0);
}

/* A file whose names come and go, which is changed by its descriptor, and calls that refuse it. */
static void names(void)
{
	long fd = open_file("leak_new", RDWR | CREATE, 0600);

	CHECK_EQ(syscall2(SYS_fchmod, fd, 0640), 0);
	CHECK_EQ(syscall3(SYS_fchown, fd, 1, 1), 0);
	CHECK_EQ(syscall2(SYS_ftruncate, fd, 100), 0);
	CHECK_EQ(syscall2(SYS_link, (long)"leak_new", (long)"leak_link"), 0);
	CHECK_EQ(syscall2(SYS_link, (long)"leak_new", (long)"leak_link"), EXIST);
	CHECK_EQ(syscall2(SYS_link, (long)"leak_new", (long)"leak_text/x"), NOTDIR);
	CHECK_EQ(syscall2(SYS_symlink, (long)"leak_new", (long)"leak_sym"), 0);
	CHECK_EQ(syscall2(SYS_chmod, (long)"leak_sym", 0600), 0);
	CHECK_EQ(syscall2(SYS_truncate, (long)"leak_sym", -1), INVAL);
	CHECK_EQ(syscall2(SYS_access, (long)"leak_sym", 4), 0);
	CHECK_EQ(syscall2(SYS_rename, (long)"leak_link", (long)"leak_new/x"), NOTDIR);
	CHECK_EQ(syscall2(SYS_rename, (long)"leak_link", (long)"leak_other"), 0);
	CHECK_EQ(syscall2(SYS_mkdir, (long)"leak_other", 0700), EXIST);
	CHECK_EQ(syscall1(SYS_rmdir, (long)"leak_other"), NOTDIR);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_sym"), 0);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_new"), 0);
	CHECK_EQ(syscall2(SYS_fchmod, fd, 0600), 0); /* of the other name's file */
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_other"), 0);
	syscall1(SYS_close, fd);
}

/* Names too long for the caller's stack that end in nothing, or not at all. */
static void unreadable_names(void)
{
	long pages = map_pages(0, 3, P_READ | P_WRITE, M_PRIVATE);
	char *text = (char *)pages;

	for (unsigned i = 0; i < 2 * PAGE; i++)
		text[i] = "n/"[i % 2];
	syscall2(SYS_munmap, pages + 2 * PAGE, PAGE);
	CHECK_EQ(open_file(text + 2 * PAGE - 1000, RDONLY, 0), FAULT);
	CHECK_EQ(syscall1(SYS_unlink, pages + 2 * PAGE - 1), FAULT);
	CHECK_EQ(open_file(text, RDONLY, 0), NAMETOOLONG);
	CHECK_EQ(syscall2(SYS_rename, (long)"leak_text", (long)text), NAMETOOLONG);
	CHECK_EQ(syscall2(SYS_rename, (long)"leak_text", pages + 2 * PAGE - 1000), FAULT);
	syscall2(SYS_munmap, pages, 2 * PAGE);
}

/* A plain file made by mknod(), by each way to its place. */
static void plain_nodes(void)
{
	enum { PLAIN = 0100600 };

	CHECK_EQ(syscall3(SYS_mknod, (long)"leak_node", PLAIN, 0), 0);
	CHECK_EQ(syscall3(SYS_mknod, (long)"leak_node", PLAIN, 0), EXIST);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_node"), 0);
	CHECK_EQ(syscall4(SYS_mknodat, ABI_AT_FDCWD, (long)"leak_node", 0600, 0), 0);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_node"), 0);
	CHECK_EQ(syscall3(SYS_mknod, (long)"leak_text/x", PLAIN, 0), NOTDIR);
}

/* Files of /proc about the processes that there are, this one among them. */
static void looks_at_proc(void)
{
	static const char *const names[] = {
	    "/proc/self/status", "/proc/self/stat", "/proc/self/maps", "/proc/self/cmdline"};
	char entries[1000];
	long dir = open_file("/proc", RDONLY, 0), threads = open_file("/proc/self/task", RDONLY, 0);

	while (syscall3(SYS_getdents64, dir, (long)entries, sizeof(entries)) > 0)
		;
	while (syscall3(SYS_getdents64, threads, (long)entries, sizeof(entries)) > 0)
		;
	for (int i = 0; i < 4; i++) {
		long fd = open_file(names[i], RDONLY, 0);

		CHECK(syscall3(SYS_read, fd, (long)entries, sizeof(entries)) > 0);
		syscall1(SYS_close, fd);
	}
	CHECK_EQ(syscall2(SYS_access, (long)"/proc/self/task/1", 0), NOENT);
	syscall1(SYS_close, dir);
	syscall1(SYS_close, threads);
}

/* Timers whose making fails late, and that their process leaves; files of each kind, armed. */
static void events(void)
{
	int none[16] = {[2] = L_USR1, [3] = THREAD_ID, [4] = syscall0(SYS_getppid)},
	    own[16] = {[2] = L_USR1, [3] = THREAD_ID, [4] = syscall0(SYS_gettid)}, id;
	struct abi_itimerspec far = {{1000, 0}, {1000, 0}};
	struct abi_epoll_event e = {.events = 1};
	uint64_t set = 1;
	long fd, ep = syscall1(SYS_epoll_create1, 0), inner = syscall1(SYS_epoll_create1, 0);

	CHECK_EQ(syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, (long)none, (long)&id), INVAL);
	CHECK_EQ(syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, (long)own, 8), FAULT);
	CHECK_EQ(syscall3(SYS_timer_create, 99, (long)own, (long)&id), INVAL);
	CHECK_EQ(syscall3(SYS_timer_create, ABI_CLOCK_MONOTONIC, (long)own, (long)&id), 0);
	CHECK_EQ(syscall4(SYS_timer_settime, id, 0, (long)&far, 0), 0);
	fd = syscall2(SYS_timerfd_create, ABI_CLOCK_MONOTONIC, 0);
	CHECK_EQ(syscall4(SYS_timerfd_settime, fd, 0, (long)&far, 0), 0);
	CHECK_EQ(syscall4(SYS_epoll_ctl, ep, 1, fd, (long)&e), 0);
	CHECK_EQ(syscall4(SYS_epoll_ctl, ep, 1, inner, (long)&e), 0);
	fd = syscall2(SYS_eventfd2, 0, 0);
	CHECK_EQ(syscall4(SYS_epoll_ctl, inner, 1, fd, (long)&e), 0);
	syscall1(SYS_close, fd);
	fd = syscall4(SYS_signalfd4, -1, (long)&set, 8, 0);
	CHECK_EQ(syscall4(SYS_epoll_ctl, inner, 1, fd, (long)&e), 0);
	syscall1(SYS_close, inner);
	syscall1(SYS_close, fd);
	syscall1(SYS_close, ep);
}

/* The text of a link is its own memory. */
static void links(void)
{
	static char text[2000];

	for (unsigned i = 0; i < sizeof(text) - 1; i++)
		text[i] = 'l';
	CHECK_EQ(syscall2(SYS_symlink, (long)text, (long)"leak_link"), 0);
	CHECK_EQ(syscall2(SYS_symlink, (long)text, (long)"leak_link"), -17);
	CHECK_EQ(syscall1(SYS_unlink, (long)"leak_link"), 0);
}

/* ---- all of them ---- */

static void child(void)
{
	refused_payloads();
	for (int i = 0; i < ROUNDS; i++) {
		refused_files();
		refused_memory();
		timers();
		stream_sockets(STREAM);
		stream_sockets(SEQPACKET);
		datagrams();
		messages();
		sockets_in_sockets();
		unread_bytes();
		copies();
		polls();
		fifos();
		other_processes();
		names();
		unreadable_names();
		plain_nodes();
		looks_at_proc();
		events();
		links();
	}
}

/* The clocks are those of a process that ends, too. */
static void parent(void)
{
	CHECK_EQ(in_child(child), 0);
}

static void become_true(void *arg)
{
	static char *argv[] = {"true", NULL};

	(void)arg;
	syscall3(SYS_execve, (long)"/bin/true", (long)argv, 0);
}

/* A thread that becomes another program takes the place of its process's first. */
static void new_leader(void)
{
	static struct thread t;

	thread_begin(&t, become_true, NULL);
	for (;;)
		sleep_ms(1000);
}

/* A process that shares another's handlers has its own once it becomes another program. */
static void leave_handlers(void)
{
	void **top = (void **)(map_pages(0, 1, P_READ | P_WRITE, M_PRIVATE) + PAGE - 64);
	long pid;

	top[0] = (void *)become_true;
	pid = clone_raw(C_VM | C_SIGHAND | L_CHLD, top, NULL, NULL, 0);
	CHECK_EQ(wait_for(pid), 0);
}

int main(void)
{
	make_files();
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(parent), 0);
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(new_leader), 0);
	for (int i = 0; i < CHILDREN && !check_failures; i++)
		CHECK_EQ(in_child(leave_handlers), 0);
	syscall1(SYS_unlink, (long)"leak_text");
	syscall1(SYS_unlink, (long)"leak_empty");
	syscall1(SYS_unlink, (long)"leak_fifo");
	syscall1(SYS_unlink, (long)"leak_script");
	syscall1(SYS_unlink, (long)"leak_dynamic");
	return check_failures != 0;
}
