/* Names of signals. Pure: any context. */
#include "kernel/task/signal.h"

static const char *const names[32] = {
    [SIGHUP] = "HUP",
    [SIGINT] = "INT",
    [SIGQUIT] = "QUIT",
    [SIGILL] = "ILL",
    [SIGTRAP] = "TRAP",
    [SIGABRT] = "ABRT",
    [SIGBUS] = "BUS",
    [SIGFPE] = "FPE",
    [SIGKILL] = "KILL",
    [SIGUSR1] = "USR1",
    [SIGSEGV] = "SEGV",
    [SIGUSR2] = "USR2",
    [SIGPIPE] = "PIPE",
    [SIGALRM] = "ALRM",
    [SIGTERM] = "TERM",
    [16] = "STKFLT",
    [SIGCHLD] = "CHLD",
    [SIGCONT] = "CONT",
    [SIGSTOP] = "STOP",
    [SIGTSTP] = "TSTP",
    [SIGTTIN] = "TTIN",
    [SIGTTOU] = "TTOU",
    [23] = "URG",
    [24] = "XCPU",
    [25] = "XFSZ",
    [26] = "VTALRM",
    [27] = "PROF",
    [28] = "WINCH",
    [29] = "IO",
    [30] = "PWR",
    [31] = "SYS",
};

const char *signal_name(int sig)
{
	if (sig > 31 && sig <= SIG_COUNT)
		return "RT";
	return sig > 0 && sig < 32 ? names[sig] : "?";
}
