/*
 * Terminals: devices in /dev whose input goes through a line discipline and which can control a
 * session. There is the console terminal (/dev/console, and /dev/ttySn and tty0 of the ports that
 * are consoles), shown on every console, and one for each other serial port. /dev/tty is the
 * controlling terminal of whoever opens it. tty_receive() is called in irq context; the
 * rest in task context.
 */
#pragma once

#include "kernel/lib/types.h"

struct console; /* drivers/console.h */
struct file;
struct tty;

void tty_init(void);
/* The console terminal. */
struct tty *tty_console(void);
/*
 * The terminal of a port that is no console; what is written to it goes to port->write and
 * port->drain alone, which keep writers apart themselves (any context). Its modes are raw until
 * somebody sets others. It takes input from its first open on. NULL: no memory.
 */
struct tty *tty_create(struct console *port);
/* Input bytes that found no room, or nobody. */
u64 tty_lost(const struct tty *t);
/* One byte that came in. */
void tty_receive(struct tty *t, char c);
/*
 * Makes /dev/NAME a way to the terminal; what is written there goes to the console `only` (NULL: to
 * all of the terminal's). By the boot word notty=NAME a port is no terminal to programs: ENOTTY for
 * each ioctl. 0 or -errno.
 */
int tty_register(struct tty *t, const char *name, struct console *only);
/*
 * Hangs up the terminal behind a file, this file and all others that are open on it. -ENOTTY: it is
 * no terminal.
 */
int tty_vacate(const struct file *f);
/*
 * Makes the terminal behind a file control the session that the current task leads, with the modes
 * and the size of its beginning; one in use elsewhere is taken away. -ENOTTY: it is no terminal.
 */
int tty_take(const struct file *f, bool echo);
/*
 * Takes the bytes typed that no program has read, with those of an unfinished line; returns how
 * many. Any context but NMI.
 */
size_t tty_take_typed(struct tty *t, char *buf, size_t size);
/* Does the file lead to the console terminal? */
bool tty_is_console(const struct file *f);
void tty_set_echo(bool on); /* of the console, in canonical mode */
/*
 * When the first reader waited for input of the console, ns since kernel entry: boot to prompt. 0:
 * not yet. Any context.
 */
u64 tty_ready_ns(void);
/* Somebody reads from the console, by whatever way. */
void tty_note_ready(void);
