/*
 * The console terminal: bytes from serial ports and keyboard to readers. Cooked mode (echo, erase, kill, Ctrl-C -> SIGINT
 * to the foreground group, Ctrl-D end of file) for programs; raw mode for the shell's line editor. Is /dev/console, /dev/tty,
 * and /dev/ttySn of the ports that are consoles. tty_input() is called in irq context; the rest in task context.
 */
#pragma once

#include "kernel/lib/types.h"

struct console; /* drivers/console.h */
struct file;

void tty_init(void);
/* Another name of the console terminal in /dev; what is written there goes to that console `only` (NULL: to all). */
int tty_register(const char *name, struct console *only);
void tty_input(char c);
/* One raw byte, waiting; -EINTR. Only the shell's editor uses it. */
int tty_getc(void);
/* The shell's own mode, above what programs set: every byte as it comes, no echo, no signals. */
void tty_set_raw(bool raw);
void tty_set_echo(bool on);	   /* in cooked mode */
void tty_set_foreground(int pgid); /* who gets SIGINT */
bool tty_is(const struct file *f);
/* When the first reader waited for input, ns since kernel entry: boot to prompt. 0: not yet. Any context. */
u64 tty_ready_ns(void);
