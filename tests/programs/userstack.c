/*
 * options/userstacktrace as a program finds it: a system call below three functions whose frames it
 * knows, and the addresses in `trace` compared with those.
 */
#include "tests/programs/check.h"
#include "tests/programs/raw.h"

#include <fcntl.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

static uint64_t expected[4]; /* innermost first */

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

static void __attribute__((noinline)) inner(void)
{
	long nr = 110; /* getppid */

	expected[1] = (uint64_t)__builtin_return_address(0);
	__asm__ volatile("syscall\n1:\tleaq 1b(%%rip), %%rcx\n\tmovq %%rcx, %1"
			 : "+a"(nr), "=m"(expected[0])::"rcx", "r11", "memory");
}

static void __attribute__((noinline)) middle(void)
{
	expected[2] = (uint64_t)__builtin_return_address(0);
	inner();
	__asm__ volatile("");
}

static void __attribute__((noinline)) outer(void)
{
	expected[3] = (uint64_t)__builtin_return_address(0);
	middle();
	__asm__ volatile("");
}

/* The text of the first user stack trace; NULL: there is none. */
static const char *recorded(void)
{
	static char text[16384];
	int fd = open(TRACING "trace", O_RDONLY);
	size_t len = 0;
	ssize_t n;

	CHECK(fd >= 0);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	return strstr(text, "<user stack trace>\n");
}

int main(void)
{
	const char *at;
	char line[64];

	put("options/userstacktrace", "1");
	put("events/syscalls/sys_enter_getppid/enable", "1");
	outer();
	put("events/syscalls/sys_enter_getppid/enable", "0");
	put("options/userstacktrace", "0");
	at = recorded();
	CHECK(at);
	for (unsigned i = 0; at && i < 4; i++) {
		at = strchr(at, '\n') + 1;
		snprintf(line, sizeof(line), " =>  <%016lx>\n", (unsigned long)expected[i]);
		CHECK(strncmp(at, line, strlen(line)) == 0);
	}
	return check_failures != 0;
}
