/*
 * The console terminal: bytes from the serial port (and keyboard) to readers. Cooked mode (echo, erase, kill, Ctrl-C -> SIGINT
 * to the foreground group, Ctrl-D end of file) for programs; raw mode for the shell's line editor. Is /dev/console, /dev/tty,
 * /dev/ttyS0. tty_input() is called in irq context; the rest in task context.
 */
#pragma once

#include "kernel/lib/types.h"

struct file;

void tty_init(void);
void tty_input(char c);
/* One raw byte, waiting; -EINTR. Only the shell's editor uses it. */
int tty_getc(void);
/* The shell's own mode, above what programs set: every byte as it comes, no echo, no signals. */
void tty_set_raw(bool raw);
void tty_set_echo(bool on);	   /* in cooked mode */
void tty_set_foreground(int pgid); /* who gets SIGINT */
void tty_write(const char *s, size_t n);
bool tty_is(const struct file *f);
/* When the first reader waited for input, ns since kernel entry: boot to prompt. 0: not yet. Any context. */
u64 tty_ready_ns(void);
