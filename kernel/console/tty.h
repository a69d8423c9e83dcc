/*
 * Terminals: devices in /dev whose input goes through a line discipline and which can control a
 * session. There is the console terminal (/dev/console, and /dev/ttySn and tty0 of the ports that
 * are consoles), shown on every console. /dev/tty is the controlling terminal of whoever opens it.
 * tty_receive() is called in irq context; the rest in task context.
 */
#pragma once

#include "kernel/lib/types.h"

struct console; /* drivers/console.h */
struct file;
struct tty;

void tty_init(void);
/* The console terminal. */
struct tty *tty_console(void);
/* One byte that came in. */
void tty_receive(struct tty *t, char c);
/*
 * Makes /dev/NAME a way to the terminal; what is written there goes to the console `only` (NULL: to
 * all of the terminal's). 0 or -errno.
 */
int tty_register(struct tty *t, const char *name, struct console *only);
/*
 * Makes the terminal behind a file control the session that the current task leads, with the modes
 * and the size of its beginning; one in use elsewhere is taken away. -ENOTTY: it is no terminal.
 */
int tty_take(const struct file *f, bool echo);
void tty_set_echo(bool on); /* of the console, in canonical mode */
/*
 * When the first reader waited for input of the console, ns since kernel entry: boot to prompt. 0:
 * not yet. Any context.
 */
u64 tty_ready_ns(void);
/* Somebody reads from the console, by whatever way. */
void tty_note_ready(void);
