/* The host's side of the shell's system, for tests: where paths lie, what stands for the console, what is still allocated. */
#pragma once

#include <stdbool.h>

struct file;

void posix_root(const char *dir); /* "/" of the shell */
void posix_root_make(void);	  /* a new, small one under /tmp, removed at exit */
void posix_stdio(void);		  /* the host's 0, 1, 2 are the console */
void posix_stdio_end(void);
struct file *posix_file(int fd); /* closed with it */
void posix_type(const char *keys,
    size_t n); /* what the terminal reads next; then its end. NULL: the host's input again */
void posix_interrupt(void); /* Ctrl-C; only from a thread of the test */
void posix_watch(
    const char *what); /* Ctrl-C, again and again, if this goes on for long; NULL: it has ended */
long posix_peak(void); /* most of posix_allocated() since the last call */
long posix_allocated(void); /* blocks of kmalloc not freed */
