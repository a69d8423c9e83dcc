/* Names and texts of signals (glibc's strsignal, as shells show them). Pure: any context. */
#include "kernel/task/signal.h"

struct row {
	const char *name, *text;
};

static const struct row rows[32] = {
    [SIGHUP] = {"HUP", "Hangup"},
    [SIGINT] = {"INT", "Interrupt"},
    [SIGQUIT] = {"QUIT", "Quit"},
    [SIGILL] = {"ILL", "Illegal instruction"},
    [SIGTRAP] = {"TRAP", "Trace/breakpoint trap"},
    [SIGABRT] = {"ABRT", "Aborted"},
    [SIGBUS] = {"BUS", "Bus error"},
    [SIGFPE] = {"FPE", "Floating point exception"},
    [SIGKILL] = {"KILL", "Killed"},
    [SIGUSR1] = {"USR1", "User defined signal 1"},
    [SIGSEGV] = {"SEGV", "Segmentation fault"},
    [SIGUSR2] = {"USR2", "User defined signal 2"},
    [SIGPIPE] = {"PIPE", "Broken pipe"},
    [SIGALRM] = {"ALRM", "Alarm clock"},
    [SIGTERM] = {"TERM", "Terminated"},
    [16] = {"STKFLT", "Stack fault"},
    [SIGCHLD] = {"CHLD", "Child exited"},
    [SIGCONT] = {"CONT", "Continued"},
    [SIGSTOP] = {"STOP", "Stopped (signal)"},
    [SIGTSTP] = {"TSTP", "Stopped"},
    [SIGTTIN] = {"TTIN", "Stopped (tty input)"},
    [SIGTTOU] = {"TTOU", "Stopped (tty output)"},
    [23] = {"URG", "Urgent I/O condition"},
    [24] = {"XCPU", "CPU time limit exceeded"},
    [25] = {"XFSZ", "File size limit exceeded"},
    [26] = {"VTALRM", "Virtual timer expired"},
    [27] = {"PROF", "Profiling timer expired"},
    [28] = {"WINCH", "Window changed"},
    [29] = {"IO", "I/O possible"},
    [30] = {"PWR", "Power failure"},
    [31] = {"SYS", "Bad system call"},
};

const char *signal_text(int sig)
{
	if (sig > 31 && sig <= SIG_COUNT)
		return "Real-time signal";
	return sig > 0 && sig < 32 ? rows[sig].text : "Unknown signal";
}

const char *signal_name(int sig)
{
	if (sig > 31 && sig <= SIG_COUNT)
		return "RT";
	return sig > 0 && sig < 32 ? rows[sig].name : "?";
}
