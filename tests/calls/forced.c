/* Signals that a program brings on itself: neither a mask nor SIG_IGN keeps them away. */
#include "tests/calls/calls.h"

static void touch_nothing(void)
{
	*(volatile char *)BAD = 1;
}

static void undefined(void)
{
	__asm__ volatile("ud2");
}

static void divide(void)
{
	__asm__ volatile("xorl %%ecx, %%ecx; divl %%ecx" ::: "eax", "ecx", "edx");
}

static void privileged(void)
{
	__asm__ volatile("hlt");
}

static const struct {
	const char *name;
	int sig;
	void (*run)(void);
} faults[] = {{"a bad address", SIGSEGV, touch_nothing},
    {"an undefined instruction", SIGILL, undefined}, {"a division by 0", SIGFPE, divide},
    {"a privileged instruction", SIGSEGV, privileged}};

static void handler(int sig)
{
	say("the handler got %d", sig);
	_exit(0);
}

static void (*const handlers[])(int) = {SIG_DFL, SIG_IGN, handler};

/* A signal that cannot wait ends the process where it is blocked, whatever its handler. */
static void test_kept_away(bool block)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		for (int k = 0; k < 3; k++) {
			pid_t pid = fork();
			int status;
			sigset_t set;

			if (!pid) {
				sigemptyset(&set);
				sigaddset(&set, faults[i].sig);
				signal(faults[i].sig, handlers[k]);
				sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
				faults[i].run();
			}
			waitpid(pid, &status, 0);
			say("%s, %d: %#x", faults[i].name, k, status & 0x7f);
		}
}

static void test_blocked(void)
{
	test_kept_away(true);
}

static void test_ignored(void)
{
	test_kept_away(false);
}

/* Without room for a frame on its stack a program ends, if SIGSEGV has no stack of its own. */
static void overflow(int sig)
{
	__asm__ volatile("movq $4096, %%rsp; ud2" ::"r"(sig) : "memory");
}

static void test_no_room(void)
{
	static const int handled[][2] = {{SIGILL, 0}, {SIGILL, SIGSEGV}, {SIGSEGV, SIGILL}};

	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			signal(handled[i][0], handler);
			if (handled[i][1])
				signal(handled[i][1], handler);
			overflow(0);
		}
		waitpid(pid, &status, 0);
		say("%#x", status & 0x7f);
	}
}

const struct call_case forced_cases[] = {
    {"forced_blocked", test_blocked},
    {"forced_ignored", test_ignored},
    {"forced_no_room", test_no_room},
    {NULL, NULL},
};
