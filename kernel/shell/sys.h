/*
 * What the shell needs of its system besides files: tasks and the terminal. Implemented by kernel/shell_sys.c over the
 * scheduler, and by tests/host/shell/posix.c over threads. Task context.
 */
#pragma once

#include "kernel/fs/vfs.h"

struct shell_stat { /* for ps */
	int pid, ppid;
	char state;
	char comm[16];
	u64 run_ns;
};

int os_self(void); /* pid of the running task */
/* Runs fn(arg) in a new task with the caller's cwd and the given files as 0, 1, 2 (counted by the callee; NULL: closed); new
 * process group when `group`. fn's return value is its exit status. Returns the pid or negative errno. */
int os_fork(int (*fn)(void *), void *arg, const char *name, struct file *const io[3], bool group);
/* In a task made by os_fork: `f` (or nothing) is descriptor fd, 0..9, from now on; counted by the callee. */
int os_set_fd(int fd, struct file *f);
/* In a task made by os_fork: becomes the ring-3 program; returns only on error. envp and argv end with NULL. release(arg) is
 * called once path, argv and envp are needed no more and nothing can fail. */
int os_exec(
    const char *path, char *const argv[], char *const envp[], void (*release)(void *), void *arg);
/* Exit status as $? shows it (128 + signal); the signal in *sig. pid -1: any. -ECHILD, -EINTR; `block` false: -EAGAIN. */
int os_wait(int pid, bool block, int *sig, int *which);
int os_kill(int pid, int sig);
const char *os_signal_text(int sig); /* "Terminated" */
int os_sleep(u64 ns);		     /* -EINTR */
bool os_interrupted(void);	     /* a signal waits: give up soon */
void os_clear_interrupt(void);	     /* the prompt's own task: forget it */
void os_set_comm(const char *name);
int os_set_affinity(int pid, u64 cpus); /* pid 0: the caller */
u64 os_affinity(int pid);
int os_ps(int after_pid, struct shell_stat *out); /* next pid above; 1 or 0 */
struct file *os_stdio(int fd);			  /* borrowed: the running task's 0, 1, 2 */
u64 os_clock_ns(void);				  /* since boot */
u64 os_unix_ns(void);				  /* since 1970 */
size_t os_stack_left(void);			  /* bytes of the running task's stack */
void os_out_of_memory(void); /* a command needs more than it can have; may not return */
u32 os_umask(u32 mask);	     /* of the running task; what it was */
void os_power(bool reboot);
size_t os_log(
    u64 *pos, char *buf, size_t n); /* the kernel's log from *pos on, for dmesg; 0 at the end */

/* The terminal. */
int os_getc(void); /* raw byte, -EINTR; -EIO at the end */
void os_tty_raw(bool raw);
void os_tty_echo(bool on);    /* in cooked mode; off in the plain shell */
void os_tty_foreground(void); /* the caller's process group gets Ctrl-C */
bool os_is_tty(struct file *f);
