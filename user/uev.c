/*
 * uev: a program of user events, driven one system call at a time from a shell. The first call leaves a process behind that holds the
 * files; each call gives it one request and prints what came of it. Exit status 0: all system calls succeeded, 1: one failed, 2: not a
 * request.
 *
 *   uev open H                    opens user_events_data as H to read and write
 *   uev openro H | openwr H       ... to read, to write
 *   uev close H
 *   uev reg H NAME 'DEFINITION'   DIAG_IOCSREG; what it gave is remembered as NAME
 *   uev regsize H SIZE 'DEF'      the same, user_reg.size is SIZE
 *   uev regtail H BYTE 'DEF'      the same with 8 bytes more, all BYTE
 *   uev regbig H N                the same, a definition of N bytes
 *   uev regbadptr H | regbadname H  the struct, the name at an address where nothing is
 *   uev del H NAME | delbadptr H  DIAG_IOCSDEL
 *   uev ioctl H NR                ioctl '*', NR
 *   uev write H NAME ITEM...      the index, then the items
 *   uev writev H NAME ITEM... [/ ITEM...]  the index and each group of items as a vector of its own
 *   uev writeidx H INDEX ITEM...  with an index of one's own
 *   uev rawwrite H ITEM...        the items alone
 *   uev pwrite H OFFSET NAME ITEM...
 *   uev writebad H NAME N         N bytes behind the index, which are not mapped
 *   uev read H N
 *   uev smap [LENGTH] | smaprw    maps user_events_status, a page; to be written, too
 *   uev sopen                     opens it
 *   uev bit NAME                  the event's bit there
 *   uev page N                    the first N bytes there
 *   uev pid                       of the process behind all this
 *
 * ITEM: u8:N s8:N u16:N ... s64:N, str:TEXT, strz:TEXT (with its NUL), zero:N, fill:N:BYTE, hex:0011aaff,
 *       dloc:OFFSET:LENGTH, rloc:OFFSET:LENGTH (the words of __data_loc and __rel_loc fields)
 *
 * The two talk through files in /tmp and a signal: the request (who asks, then the words), the answer (exit status, then the text).
 */
#define USER_EVENTS_STATUS_BIT
#include "kernel/abi/user_events.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TRACING	    "/sys/kernel/tracing/"
#define PID_FILE    "/tmp/.uev.pid"
#define LOCK_FILE   "/tmp/.uev.lock"
#define REQUEST	    "/tmp/.uev.request"
#define ANSWER	    "/tmp/.uev.answer"
#define NOWHERE	    16 /* an address where nothing is */
#define PAGE	    4096
#define WORDS_MAX   512
#define TEXT_MAX    65536
#define HANDLES	    64
#define NAMES	    4096
#define VECTORS	    16
#define REPLY_CHECK 5 /* seconds between two looks whether the other is still there */

enum { DONE, FAILED, NO_REQUEST };

/* ---- what is remembered between requests --------------------------------------------------------------------------------- */

static struct {
	char name[32];
	int fd;
} handles[HANDLES];
static struct {
	char name[64];
	uint32_t bit, index;
} names[NAMES];
static int handle_count, name_count;
static const unsigned char *status_page;

static char out[TEXT_MAX];
static size_t out_len;
static unsigned char data[2 * TEXT_MAX];

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	out_len += vsnprintf(out + out_len, sizeof(out) - out_len, fmt, ap);
	va_end(ap);
}

static int say_failed(const char *what)
{
	say("%s = -1 %s\n", what, errno_name(errno));
	return FAILED;
}

static int say_result(const char *what, long r)
{
	if (r < 0)
		return say_failed(what);
	say("%s = %ld\n", what, r);
	return DONE;
}

static int handle_find(const char *name)
{
	for (int i = 0; i < handle_count; i++)
		if (!strcmp(handles[i].name, name))
			return i;
	return -1;
}

static int name_find(const char *name)
{
	for (int i = 0; i < name_count; i++)
		if (!strcmp(names[i].name, name))
			return i;
	return -1;
}

/* ---- items ----------------------------------------------------------------------------------------------------------------- */

static uint64_t number(const char *s)
{
	return *s == '-' ? (uint64_t)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
}

static bool begins(const char *s, const char *with, const char **rest)
{
	size_t n = strlen(with);

	*rest = s + n;
	return !strncmp(s, with, n);
}

static int put_hex(unsigned char *to, const char *digits)
{
	int n = 0;

	for (; digits[2 * n] && digits[2 * n + 1]; n++) {
		char byte[3] = {digits[2 * n], digits[2 * n + 1], '\0'};

		to[n] = strtoul(byte, NULL, 16);
	}
	return n;
}

/* "N:M"; M is what stands behind the second colon. */
static uint64_t second(const char *s)
{
	const char *colon = strchr(s, ':');

	return colon ? number(colon + 1) : 0;
}

static int put_number(unsigned char *to, const char *item)
{
	const char *colon = strchr(item, ':');
	int size = atoi(item + 1) / 8;
	uint64_t v;

	if ((*item != 'u' && *item != 's') || !colon || size < 1 || size > 8)
		return -1;
	v = number(colon + 1);
	memcpy(to, &v, size);
	return size;
}

/* Bytes, or -1. */
static int put_item(unsigned char *to, const char *item)
{
	const char *rest;
	uint32_t word;

	if (begins(item, "str:", &rest) || begins(item, "strz:", &rest))
		return strlen(strcpy((char *)to, rest)) + (item[3] == 'z');
	if (begins(item, "zero:", &rest) || begins(item, "fill:", &rest)) {
		memset(to, *item == 'f' ? second(rest) : 0, number(rest));
		return number(rest);
	}
	if (begins(item, "hex:", &rest))
		return put_hex(to, rest);
	if (begins(item, "dloc:", &rest) || begins(item, "rloc:", &rest)) {
		word = DYN_LOC(number(rest) & 0xffff, second(rest));
		memcpy(to, &word, sizeof(word));
		return sizeof(word);
	}
	return put_number(to, item);
}

static int put_items(unsigned char *to, int n, char **items)
{
	int used = 0;

	for (int i = 0; i < n; i++) {
		int size = put_item(to + used, items[i]);

		if (size < 0)
			return -1;
		used += size;
	}
	return used;
}

/* ---- requests: words, how many there are behind the handle, the handle's file ------------------------------------------------ */

static int do_register(int fd, const char *name, struct user_reg *reg)
{
	int r = ioctl(fd, DIAG_IOCSREG, reg), i;

	if (r < 0)
		return say_failed("reg");
	say("reg = %d status_bit=%u write_index=%u\n", r, reg->status_bit, reg->write_index);
	i = name ? name_find(name) : NAMES;
	if (i < 0)
		i = name_count < NAMES ? name_count++ : NAMES;
	if (i < NAMES) {
		snprintf(names[i].name, sizeof(names[i].name), "%s", name);
		names[i].bit = reg->status_bit;
		names[i].index = reg->write_index;
	}
	return DONE;
}

/* A struct with as many zeros behind it as a size may ask for. */
static struct {
	struct user_reg reg;
	unsigned char tail[PAGE];
} longer;

static struct user_reg *new_reg(const char *definition)
{
	memset(&longer, 0, sizeof(longer));
	longer.reg.size = sizeof(longer.reg);
	longer.reg.name_args = (uintptr_t)definition;
	return &longer.reg;
}

static int req_reg(int fd, int n, char **words)
{
	(void)n;
	return do_register(fd, words[0], new_reg(words[1]));
}

static int req_regsize(int fd, int n, char **words)
{
	struct user_reg *reg = new_reg(words[1]);

	(void)n;
	reg->size = number(words[0]);
	return do_register(fd, NULL, reg);
}

static int req_regtail(int fd, int n, char **words)
{
	struct user_reg *reg = new_reg(words[1]);

	(void)n;
	reg->size += 8;
	memset(longer.tail, number(words[0]), 8);
	return do_register(fd, NULL, reg);
}

static int req_regbig(int fd, int n, char **words)
{
	static const char end[] = "u32 a";
	size_t size = number(words[0]), at = size - strlen(end);

	(void)n;
	if (size < 16 || size >= sizeof(data))
		return NO_REQUEST;
	memset(data, ' ', size);
	memcpy(data, "big", 3);
	memcpy(data + at, end, sizeof(end));
	return do_register(fd, NULL, new_reg((char *)data));
}

static int req_regbadptr(int fd, int n, char **words)
{
	(void)n, (void)words;
	return say_result("reg", ioctl(fd, DIAG_IOCSREG, (void *)NOWHERE));
}

static int req_regbadname(int fd, int n, char **words)
{
	(void)n, (void)words;
	return do_register(fd, NULL, new_reg((char *)NOWHERE));
}

static int req_del(int fd, int n, char **words)
{
	(void)n;
	return say_result("del", ioctl(fd, DIAG_IOCSDEL, words[0]));
}

static int req_delbadptr(int fd, int n, char **words)
{
	(void)n, (void)words;
	return say_result("del", ioctl(fd, DIAG_IOCSDEL, (void *)NOWHERE));
}

static int req_ioctl(int fd, int n, char **words)
{
	(void)n;
	return say_result("ioctl", ioctl(fd, '*' << 8 | (number(words[0]) & 0xff), 0));
}

static int req_read(int fd, int n, char **words)
{
	(void)n;
	return say_result("read", read(fd, data, number(words[0])));
}

static int write_items(int fd, uint32_t index, int n, char **items)
{
	int size = put_items(data + sizeof(index), n, items);

	memcpy(data, &index, sizeof(index));
	return size < 0 ? NO_REQUEST : say_result("write", write(fd, data, size + sizeof(index)));
}

static int req_write(int fd, int n, char **words)
{
	int i = name_find(words[0]);

	return i < 0 ? NO_REQUEST : write_items(fd, names[i].index, n - 1, words + 1);
}

static int req_writeidx(int fd, int n, char **words)
{
	return write_items(fd, number(words[0]), n - 1, words + 1);
}

static int req_rawwrite(int fd, int n, char **words)
{
	int size = put_items(data, n, words);

	return size < 0 ? NO_REQUEST : say_result("write", write(fd, data, size));
}

static int req_pwrite(int fd, int n, char **words)
{
	int i = name_find(words[1]), size = put_items(data + 4, n - 2, words + 2);

	if (i < 0 || size < 0)
		return NO_REQUEST;
	memcpy(data, &names[i].index, 4);
	return say_result("pwrite", pwrite(fd, data, size + 4, number(words[0])));
}

/* The index at the end of a page behind which there is none. */
static int req_writebad(int fd, int n, char **words)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i = name_find(words[0]), r;

	(void)n;
	if (i < 0 || p == MAP_FAILED)
		return NO_REQUEST;
	munmap(p + PAGE, PAGE);
	memcpy(p + PAGE - 4, &names[i].index, 4);
	r = say_result("write", write(fd, p + PAGE - 4, 4 + number(words[1])));
	munmap(p, PAGE);
	return r;
}

static int req_writev(int fd, int n, char **words)
{
	struct iovec vec[VECTORS];
	int i = name_find(words[0]), count = 1, from = 1, used = 4;

	if (i < 0)
		return NO_REQUEST;
	memcpy(data, &names[i].index, 4);
	vec[0] = (struct iovec){data, 4};
	for (int w = 1; w <= n && count < VECTORS; w++) {
		if (w < n && strcmp(words[w], "/"))
			continue;
		int size = put_items(data + used, w - from, words + from);
		if (size < 0)
			return NO_REQUEST;
		vec[count++] = (struct iovec){data + used, size};
		used += size;
		from = w + 1;
	}
	return say_result("writev", writev(fd, vec, count));
}

static int req_close(int fd, int n, char **words)
{
	int i = handle_find(words[-1]);

	(void)n;
	handles[i].fd = -1;
	return say_result("close", close(fd));
}

/* ---- requests without a handle ------------------------------------------------------------------------------------------------ */

static int open_handle(const char *name, int flags)
{
	int i = handle_find(name), fd = open(TRACING "user_events_data", flags);

	if (fd < 0)
		return say_failed("open");
	if (i < 0) {
		if (handle_count == HANDLES)
			return NO_REQUEST;
		i = handle_count++;
	}
	snprintf(handles[i].name, sizeof(handles[i].name), "%s", name);
	handles[i].fd = fd;
	say("open = ok\n");
	return DONE;
}

static int req_open(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_RDWR);
}

static int req_openro(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_RDONLY);
}

static int req_openwr(int fd, int n, char **words)
{
	(void)fd, (void)n;
	return open_handle(words[0], O_WRONLY);
}

static int map_status(size_t len, int prot)
{
	int fd = open(TRACING "user_events_status", O_RDWR);
	void *p;

	if (fd < 0)
		return say_failed("sopen");
	p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return say_failed("mmap");
	status_page = p;
	say("mmap = ok\n");
	return DONE;
}

static int req_smap(int fd, int n, char **words)
{
	(void)fd;
	return map_status(n ? number(words[0]) : PAGE, PROT_READ);
}

static int req_smaprw(int fd, int n, char **words)
{
	(void)fd;
	return map_status(n ? number(words[0]) : PAGE, PROT_READ | PROT_WRITE);
}

static int req_sopen(int fd, int n, char **words)
{
	(void)fd, (void)n, (void)words;
	if (open(TRACING "user_events_status", O_RDWR) < 0)
		return say_failed("sopen");
	say("sopen = ok\n");
	return DONE;
}

static int req_bit(int fd, int n, char **words)
{
	int i = name_find(words[0]);

	(void)fd, (void)n;
	if (i < 0 || !status_page)
		return NO_REQUEST;
	say("bit %u = %d\n", (unsigned)names[i].bit,
	    status_page[names[i].bit / 8] >> names[i].bit % 8 & 1);
	return DONE;
}

static int req_page(int fd, int n, char **words)
{
	int count = number(words[0]);

	(void)fd, (void)n;
	for (int i = 0; i < count && status_page; i++)
		say("%02x%c", status_page[i], i == count - 1 ? '\n' : ' ');
	return DONE;
}

static int req_pid(int fd, int n, char **words)
{
	(void)fd, (void)n, (void)words;
	say("%d\n", (int)getpid());
	return DONE;
}

static const struct {
	const char *name;
	bool handle;
	int least, most; /* words behind the handle */
	int (*fn)(int fd, int n, char **words);
} requests[] = {
    {"open", false, 1, 1, req_open},
    {"openro", false, 1, 1, req_openro},
    {"openwr", false, 1, 1, req_openwr},
    {"close", true, 0, 0, req_close},
    {"reg", true, 2, 2, req_reg},
    {"regsize", true, 2, 2, req_regsize},
    {"regtail", true, 2, 2, req_regtail},
    {"regbig", true, 1, 1, req_regbig},
    {"regbadptr", true, 0, 0, req_regbadptr},
    {"regbadname", true, 0, 0, req_regbadname},
    {"del", true, 1, 1, req_del},
    {"delbadptr", true, 0, 0, req_delbadptr},
    {"ioctl", true, 1, 1, req_ioctl},
    {"write", true, 1, WORDS_MAX, req_write},
    {"writev", true, 1, WORDS_MAX, req_writev},
    {"writeidx", true, 1, WORDS_MAX, req_writeidx},
    {"rawwrite", true, 0, WORDS_MAX, req_rawwrite},
    {"pwrite", true, 2, WORDS_MAX, req_pwrite},
    {"writebad", true, 2, 2, req_writebad},
    {"read", true, 1, 1, req_read},
    {"smap", false, 0, 1, req_smap},
    {"smaprw", false, 0, 1, req_smaprw},
    {"sopen", false, 0, 0, req_sopen},
    {"bit", false, 1, 1, req_bit},
    {"page", false, 1, 1, req_page},
    {"pid", false, 0, 0, req_pid},
};

/* The file of a handle, or -1. */
static int handle_fd(const char *name)
{
	int i = handle_find(name);

	return i < 0 ? -1 : handles[i].fd;
}

static int answer(int n, char **words)
{
	int fd = n > 1 ? handle_fd(words[1]) : -1;

	for (size_t i = 0; n && i < sizeof(requests) / sizeof(*requests); i++) {
		int skip = 1 + requests[i].handle;

		if (strcmp(requests[i].name, words[0]))
			continue;
		if (n - skip < requests[i].least || n - skip > requests[i].most)
			break;
		if (requests[i].handle && fd < 0)
			break;
		return requests[i].fn(fd, n - skip, words + skip);
	}
	say(fd < 0 ? "uev: no such handle or request\n" : "uev: bad request\n");
	return NO_REQUEST;
}

/* ---- the two processes ---------------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t called;

static void on_call(int sig)
{
	called |= sig == SIGUSR1;
}

/* Bytes, NUL-terminated; -1. */
static long read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	long n, used = 0;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	buf[used] = '\0';
	return used;
}

static void write_file(
    const char *path, const char *head, size_t head_len, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool bad = fd < 0;

	bad = bad || write(fd, head, head_len) != (ssize_t)head_len;
	bad = bad || (n && write(fd, text, n) != (ssize_t)n);
	if (bad) {
		fprintf(stderr, "uev: %s: %s\n", path, errno_text(errno));
		exit(NO_REQUEST);
	}
	close(fd);
}

static void serve_one(void)
{
	static char text[TEXT_MAX];
	char *words[WORDS_MAX + 1], status;
	long size = read_file(REQUEST, text, sizeof(text));
	int n = 0, client = atoi(text);

	if (size < 0)
		return;
	for (char *p = text + strlen(text) + 1; p < text + size && n < WORDS_MAX;
	     p += strlen(p) + 1)
		words[n++] = p;
	words[n] = NULL;
	out_len = 0;
	status = answer(n, words);
	write_file(ANSWER, &status, 1, out, out_len);
	kill(client, SIGUSR1);
}

static void serve(int client)
{
	int null = open("/dev/null", O_RDWR);
	char text[16];
	sigset_t none;

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	write_file(PID_FILE, text, snprintf(text, sizeof(text), "%d", (int)getpid()), NULL, 0);
	kill(client, SIGUSR1);
	sigemptyset(&none);
	for (;;) {
		while (!called)
			sigsuspend(&none);
		called = 0;
		serve_one();
	}
}

/* Until SIGUSR1 comes; false: the other is gone. */
static bool wait_for(int pid)
{
	sigset_t none;

	sigemptyset(&none);
	while (!called) {
		alarm(REPLY_CHECK);
		sigsuspend(&none);
		if (!called && kill(pid, 0))
			return false;
	}
	alarm(0);
	called = 0;
	return true;
}

static int server(void)
{
	char text[16];
	int pid = read_file(PID_FILE, text, sizeof(text)) > 0 ? atoi(text) : 0, self = getpid();

	if (pid > 0 && !kill(pid, 0))
		return pid;
	pid = fork();
	if (pid == 0)
		serve(self); /* does not return */
	return pid > 0 && wait_for(pid) ? pid : -1;
}

static int ask(int n, char **words)
{
	static char text[TEXT_MAX];
	size_t len = 0;
	char self[16];
	int pid = server();

	for (int i = 0; i < n && len + strlen(words[i]) < sizeof(text) - 1; i++)
		len += strlen(strcpy(text + len, words[i])) + 1;
	write_file(REQUEST, self, snprintf(self, sizeof(self), "%d", (int)getpid()) + 1, text, len);
	if (pid < 0 || kill(pid, SIGUSR1) || !wait_for(pid)) {
		fprintf(stderr, "uev: the process that holds the files is gone\n");
		return NO_REQUEST;
	}
	long size = read_file(ANSWER, text, sizeof(text));
	if (size < 1)
		return NO_REQUEST;
	fwrite(text + 1, 1, size - 1, stdout);
	return text[0];
}

static void end_turn(void)
{
	unlink(LOCK_FILE);
}

/* One at a time: the file that says so is there while somebody asks. */
static void take_turn(void)
{
	const struct timespec pause = {0, 1000000};
	int fd;

	while ((fd = open(LOCK_FILE, O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0)
		nanosleep(&pause, NULL);
	close(fd);
	atexit(end_turn);
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_call};
	sigset_t calls;

	sigemptyset(&calls);
	sigaddset(&calls, SIGUSR1);
	sigaddset(&calls, SIGALRM);
	sigprocmask(SIG_BLOCK, &calls, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	take_turn();
	return ask(argc - 1, argv + 1);
}
