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
	text[len] = '\0';
	return strstr(text, "<user stack trace>\n");
}

static const char *trace_of(void (*call)(void))
{
	put("trace", "");
	put("options/userstacktrace", "1");
	put("events/syscalls/sys_enter_getppid/enable", "1");
	call();
	put("events/syscalls/sys_enter_getppid/enable", "0");
	put("options/userstacktrace", "0");
	return recorded();
}

/* A system call below a frame whose caller's frame is said to be itself. */
static void __attribute__((noinline)) below_itself(void)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushq %%rbp\n\t"
			 "subq $16, %%rsp\n\t"
			 "movq %%rsp, %%rbp\n\t"
			 "movq %%rbp, (%%rsp)\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "movq %%rax, 8(%%rsp)\n\t"
			 "movl $110, %%eax\n\t"
			 "syscall\n"
			 "1:\taddq $16, %%rsp\n\t"
			 "popq %%rbp\n\t"
			 "leaq 128(%%rsp), %%rsp" ::
			     : "rax", "rcx", "r11", "memory");
}

/* A system call while the frame pointer leads below the stack pointer, where nothing is kept. */
static void __attribute__((noinline)) above_its_frame(void)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushq %%rbp\n\t"
			 "leaq -64(%%rsp), %%rbp\n\t"
			 "movq %%rsp, (%%rbp)\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "movq %%rax, 8(%%rbp)\n\t"
			 "movl $110, %%eax\n\t"
			 "syscall\n"
			 "1:\tpopq %%rbp\n\t"
			 "leaq 128(%%rsp), %%rsp" ::
			     : "rax", "rcx", "r11", "memory");
}

static unsigned lines_of(void (*call)(void))
{
	const char *at = trace_of(call);
	unsigned lines = 0;

	CHECK(at);
	for (at = at ? strchr(at, '\n') : NULL; at && !strncmp(at, "\n =>  <", 7); lines++)
		at = strchr(at + 1, '\n');
	return lines;
}

int main(void)
{
	const char *at;
	char line[64];

	at = trace_of(outer);
	CHECK(at);
	for (unsigned i = 0; at && i < 4; i++) {
		at = strchr(at, '\n') + 1;
		snprintf(line, sizeof(line), " =>  <%016lx>\n", (unsigned long)expected[i]);
		CHECK(strncmp(at, line, strlen(line)) == 0);
	}
	/* where no frame comes after it, a trace ends */
	CHECK(lines_of(below_itself) == 2);
	CHECK(lines_of(above_its_frame) == 1);
	return check_failures != 0;
}
