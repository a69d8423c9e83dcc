/*
 * syscall_user_buf_size as a program finds it: strings and buffers at the limit, at the end of what
 * can be read, and nowhere; in pages that the call is the first to touch; and in two instances that
 * ask for different lengths.
 */
#include "tests/programs/tracing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static const char *get(const char *file)
{
	static char text[65536];
	char path[128];
	size_t len = 0;
	ssize_t n;

	snprintf(path, sizeof(path), TRACING "%s", file);
	int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	close(fd);
	return text;
}

static void expect(const char *file, const char *line)
{
	const char *text = get(file);

	if (!strstr(text, line))
		printf("# %s: no line \"%s\" in\n%s\n", file, line, text);
	CHECK(strstr(text, line));
}

/* access() of `path`, after which `trace` has a line of it with `data`. */
static void look_at(const char *path, const char *data)
{
	char line[256];

	put("trace", "\n");
	access(path, 0);
	snprintf(line, sizeof(line), "sys_access(filename: 0x%lx %s, mode: 0)", (unsigned long)path,
	    data);
	expect("trace", line);
}

static void write_at(int fd, const void *buf, unsigned long n, const char *data)
{
	char line[256];

	put("trace", "\n");
	if (write(fd, buf, n) < 0)
		CHECK(n);
	snprintf(line, sizeof(line),
	    n < 10 ? "sys_write(fd: %d, buf: 0x%lx %s, count: %lu)"
		   : "sys_write(fd: %d, buf: 0x%lx %s, count: 0x%lx)",
	    fd, (unsigned long)buf, data, n);
	expect("trace", line);
}

/*
 * In all lines of `trace`: interrupts are on, and preemption is not off. Another task may wait for
 * the CPU.
 */
static void expect_plain_flags(void)
{
	const char *line = get("trace");

	for (; (line = strstr(line, "] ")); line++)
		if (strncmp(line, "] .....", 7) && strncmp(line, "] .N...", 7))
			printf("# %.40s\n", line), check_failures++;
}

/* All six arguments, and a result of 64 bits. */
static void expect_mmap(void)
{
	char line[80];

	put("trace", "\n");
	long at = syscall6(SYS_mmap, 0x612300000000, PAGE, P_READ, M_PRIVATE | M_ANON, -1, 0x7000);
	CHECK(at >> 32);
	expect("trace", "sys_mmap(addr: 612300000000, len: 1000, prot: 1, flags: 22, fd: "
			"ffffffffffffffff, off: 7000)");
	snprintf(line, sizeof(line), "sys_mmap -> 0x%lx\n", at);
	expect("trace", line);
	syscall2(SYS_munmap, at, PAGE);
	expect_plain_flags();
}

/* Calls as they are recorded without data; recorded at once, and from an image, as filters need. */
static void numbers(void)
{
	put("events/syscalls/sys_enter_mmap/enable", "1");
	put("events/syscalls/sys_exit_mmap/enable", "1");
	expect_mmap();
	put("events/syscalls/sys_enter_mmap/filter", "off == 0x7000");
	put("events/syscalls/sys_exit_mmap/filter", "ret != 5");
	expect_mmap();
	put("events/syscalls/sys_enter_mmap/filter", "0");
	put("events/syscalls/sys_exit_mmap/filter", "0");
	put("events/syscalls/enable", "0");
}

static void strings(char *end)
{
	strcpy(end - 9, "12345678");
	look_at(end - 9, "\"12345678\"");
	look_at(end - 8, "\"2345678\"");
	memcpy(end - 9, "123456789", 9);
	look_at(end - 9, "\"12345678...\""); /* its end is nowhere, but beyond what is read */
	look_at(end - 8, "\"\"");	     /* it would be read, and cannot be */
	look_at(end, "\"\"");
	look_at((char *)0x10, "\"\"");
	look_at((char *)-8UL, "\"\"");
	memcpy(end - 9, "a\001\xff\t\nz\0", 7);
	look_at(end - 9, "\"a....z\"");
	look_at("", "\"\"");
}

static void buffers(char *end)
{
	int fd = open("/dev/null", O_WRONLY);

	memcpy(end - 8, "ab\0\1", 4);
	write_at(fd, end - 8, 4, "(61:62:00:01) \"ab..\"");
	write_at(fd, end - 6, 2, "(00:01)");
	memcpy(end - 8, "12345678", 8);
	write_at(fd, end - 8, 8, "(31:32:33:34:35:36:37:38) \"12345678\"");
	write_at(fd, end - 8, 12, "(31:32:33:34:35:36:37:38, ...) \"12345678\"...");
	write_at(fd, end - 4, 5, "(, ...)");
	write_at(fd, end, 1, "(, ...)");
	write_at(fd, end, 0, "()");
	close(fd);
}

/* Both names of a call that takes two. */
static void two_strings(void)
{
	static const char from[] = "/no/one", to[] = "/no/two";
	char line[160];

	put("events/syscalls/sys_enter_rename/enable", "1");
	CHECK(rename(from, to) < 0);
	snprintf(line, sizeof(line), "(oldname: 0x%lx \"%s\", newname: 0x%lx \"%s\")",
	    (unsigned long)from, from, (unsigned long)to, to);
	expect("trace", line);
}

/* The bytes that fill a record to whole words are zeros, not those of the call before. */
static void padding(char *end)
{
	int fd = open("/dev/null", O_WRONLY);

	for (int n = 1; n < 8; n++) {
		put("trace", "\n");
		memset(end - 8, 0xee, 8);
		CHECK_EQ(write(fd, end - 8, 8), 8);
		memset(end - 8, '`' + n, n);
		CHECK_EQ(write(fd, end - 8, n), n);
		CHECK(has_padded('`' + n, n));
	}
	close(fd);
}

/* Nobody has touched the page: the event may be the first. */
static void first_touch(void)
{
	static const char text[] = "/first/touch";
	int fd = open("/tmp/sysdata", O_RDWR | O_CREAT, 0600);

	CHECK(write(fd, text, sizeof(text)) == sizeof(text));
	char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(page != MAP_FAILED);
	look_at(page, "\"/first/t...\"");
	close(fd);
	unlink("/tmp/sysdata");
}

static void instances(void)
{
	const char *path = "/some/path";
	char line[128];

	CHECK_EQ(mkdir(TRACING "instances/sysdata", 0700), 0);
	put("instances/sysdata/syscall_user_buf_size", "3");
	put("instances/sysdata/events/syscalls/sys_enter_access/enable", "1");
	look_at(path, "\"/some/pa...\"");
	snprintf(line, sizeof(line), "sys_access(filename: 0x%lx \"/so...\", mode: 0)",
	    (unsigned long)path);
	expect("instances/sysdata/trace", line);
	put("instances/sysdata/syscall_user_buf_size", "0");
	access(path, 0);
	snprintf(line, sizeof(line), "sys_access(filename: %lx, mode: 0)", (unsigned long)path);
	expect("instances/sysdata/trace", line);
	/* A record that was made without data has none, whatever is asked for later. */
	put("instances/sysdata/syscall_user_buf_size", "3");
	snprintf(line, sizeof(line), "sys_access(filename: 0x%lx, mode: 0)", (unsigned long)path);
	expect("instances/sysdata/trace", line);
	put("instances/sysdata/events/enable", "0");
	CHECK_EQ(rmdir(TRACING "instances/sysdata"), 0);
}

int main(void)
{
	char *pages =
	    mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_EQ(munmap(pages + PAGE, PAGE), 0);
	numbers();
	put("syscall_user_buf_size", "8");
	put("events/syscalls/sys_enter_access/enable", "1");
	put("events/syscalls/sys_enter_write/enable", "1");
	strings(pages + PAGE);
	buffers(pages + PAGE);
	two_strings();
	padding(pages + PAGE);
	first_touch();
	instances();
	put("events/syscalls/enable", "0");
	put("syscall_user_buf_size", "0");
	put("trace", "\n");
	return check_failures != 0;
}
