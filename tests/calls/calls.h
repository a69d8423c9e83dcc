/*
 * Cases of system calls that run on Linux and on Trapline: what they print has to be the same. A
 * case prints results, errors and what files hold, nothing that a machine decides: no pid, no time,
 * no address.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct call_case {
	const char *name;
	void (*run)(void);
};

/* "CASE: CALL = RESULT", the result being a number or the name of the error. */
#define R(call) say_result(#call, (errno = 0, (long)(call)))
/* The same of what is true or false. */
#define T(what) say("%s: %s", #what, (what) ? "yes" : "no")

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Returns the result. */
long say_result(const char *call, long result);
/* Runs it in a child and says how that ended. */
void in_child(void (*run)(void));
/* A set of two signals; 0: none. */
sigset_t set_of(int a, int b);
/* Returns when the process waits for something, or has ended. */
void wait_until_asleep(pid_t pid);
/* A child that has stopped itself; once continued, it reads a byte and ends with this status. */
pid_t stopped_child(int in, int status);
/* Returns when the process, or its first thread, is a zombie. */
void wait_until_zombie(pid_t pid);
/* A pointer to nothing. */
#define BAD ((void *)bad_pointer)
extern char *volatile bad_pointer;

/* The case that runs. */
extern const char *case_name;
/* What the program does when a case has run it by execve() (exec.c). */
int exec_after(const char *timer);

extern const struct call_case basic_cases[], child_cases[], clock_cases[], control_cases[],
    event_cases[], exec_cases[], fifo_cases[], file_cases[], forced_cases[], interrupt_cases[],
    job_cases[], lock_cases[], mapping_cases[], memory_cases[], path_cases[], process_cases[],
    proc_cases[], refs_cases[], signal_cases[], socket_cases[], splice_cases[], taker_cases[],
    thread_cases[], timer_cases[], trap_cases[], wakes_cases[];
