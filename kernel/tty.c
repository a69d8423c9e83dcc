/*
 * The console terminal. Input comes in irq context and lies in one queue of 64 Ki entries; in cooked mode what stands behind
 * `commit` is the line being typed. The lock protects all of struct tty, interrupts off. Output is not buffered here.
 * Cooked mode follows termios(3) with the usual control characters; numbers and layouts are Linux's.
 */
#include "kernel/tty.h"
#include "arch/arch.h"
#include "drivers/console.h"
#include "kernel/cmdline.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/printk.h"
#include "kernel/task/signal.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"

#define QUEUE_SIZE 65536U /* entries; a power of two */
#define END_MARK   256	  /* Ctrl-D: the read that meets it ends */

enum { ICRNL = 0x100, INLCR = 0x40, IGNCR = 0x80 }; /* c_iflag */
enum { OPOST = 1, ONLCR = 4 };			    /* c_oflag */
enum {
	ISIG = 1,
	ICANON = 2,
	ECHO = 8,
	ECHOE = 0x10,
	ECHOK = 0x20,
	ECHOCTL = 0x200,
	ECHOKE = 0x800,
	NOFLSH = 0x80,
	IEXTEN = 0x8000
};										  /* c_lflag */
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VEOL = 11, VWERASE = 14 }; /* c_cc */
enum {
	TCGETS = 0x5401,
	TCSETS,
	TCSETSW,
	TCSETSF,
	TCFLSH = 0x540b,
	TIOCGPGRP = 0x540f,
	TIOCSPGRP,
	TIOCGWINSZ = 0x5413,
	TIOCSWINSZ,
	FIONREAD = 0x541b
};

struct termios { /* as the system call has it */
	u32 iflag, oflag, cflag, lflag;
	u8 line;
	u8 cc[19];
};

struct winsize {
	u16 rows, columns, x, y;
};

struct tty {
	struct spinlock lock;
	u16 *queue;
	u32 head, commit,
	    tail; /* head: next to read; commit: end of the finished lines; free-running */
	struct termios mode;
	struct winsize size;
	bool raw; /* the shell's editor has it */
	int pgid; /* foreground */
	struct wait_queue readers;
};

static struct tty console = {
    .lock = SPINLOCK_INIT,
    .mode =
	{
	    .iflag = ICRNL,
	    .oflag = OPOST | ONLCR,
	    .cflag = 0xcbd, /* 38400 baud, 8 bits, CREAD, HUPCL: what Linux shows */
	    .lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	    .cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22},
	},
    .size = {24, 80, 0, 0},
    .readers = WAIT_QUEUE_INIT(console.readers),
};

/* ---- input, in irq context with the lock held ---- */

static void echo(struct tty *t, const char *s, size_t n)
{
	if (t->mode.lflag & ECHO)
		console_write(s, n);
}

/* How a character looks when echoed; its width on the screen. */
static size_t look(u16 c, char out[2])
{
	if (c == '\t' || (c >= ' ' && c != 127)) {
		out[0] = c;
		return 1;
	}
	out[0] = '^';
	out[1] = c ^ 0x40;
	return 2;
}

static void echo_char(struct tty *t, u16 c)
{
	char s[2];

	if (c == '\n')
		echo(t, "\r\n", 2);
	else
		echo(t, s, look(c, s));
}

static void put(struct tty *t, u16 c)
{
	if (t->queue && t->tail - t->head < QUEUE_SIZE)
		t->queue[t->tail++ % QUEUE_SIZE] = c;
}

static bool typed(const struct tty *t)
{
	return t->tail != t->commit;
}

static u16 last(const struct tty *t)
{
	return t->queue[(t->tail - 1) % QUEUE_SIZE];
}

static void erase_one(struct tty *t)
{
	char s[2];

	if (!typed(t))
		return;
	for (size_t n = look(last(t), s); n; n--)
		echo(t, "\b \b", 3);
	t->tail--;
}

static void erase_word(struct tty *t)
{
	while (typed(t) && is_space(last(t)))
		erase_one(t);
	while (typed(t) && !is_space(last(t)))
		erase_one(t);
}

static void commit(struct tty *t)
{
	t->commit = t->tail;
	wake_up(&t->readers);
}

/* INTR and QUIT. */
static bool signal_char(struct tty *t, u8 c)
{
	int sig = c == t->mode.cc[VINTR] ? SIGINT : c == t->mode.cc[VQUIT] ? SIGQUIT : 0;

	if (!(t->mode.lflag & ISIG) || !sig || !c)
		return false;
	if (!(t->mode.lflag & NOFLSH))
		t->head = t->commit = t->tail;
	echo_char(t, c);
	if (t->pgid > 0)
		signal_send_group(t->pgid, sig);
	return true;
}

static void cooked_char(struct tty *t, u8 c)
{
	const u8 *cc = t->mode.cc;

	if (c == cc[VERASE] || c == '\b') {
		erase_one(t);
	} else if (c == cc[VKILL]) {
		while (typed(t))
			erase_one(t);
	} else if (c == cc[VWERASE]) {
		erase_word(t);
	} else if (c == cc[VEOF]) {
		put(t, END_MARK);
		commit(t);
	} else {
		put(t, c);
		echo_char(t, c);
		if (c == '\n' || (c && c == cc[VEOL]))
			commit(t);
	}
}

static void input(struct tty *t, u8 c)
{
	if (t->raw) {
		put(t, c);
		commit(t);
		return;
	}
	if (c == '\r' && (t->mode.iflag & IGNCR))
		return;
	if (c == '\r' && (t->mode.iflag & ICRNL))
		c = '\n';
	else if (c == '\n' && (t->mode.iflag & INLCR))
		c = '\r';
	if (signal_char(t, c))
		return;
	if (t->mode.lflag & ICANON) {
		cooked_char(t, c);
		return;
	}
	put(t, c);
	echo_char(t, c);
	commit(t);
}

void tty_input(char c)
{
	u64 flags = spin_lock_irqsave(&console.lock);

	input(&console, c);
	spin_unlock_irqrestore(&console.lock, flags);
}

/* ---- reading ---- */

static bool readable(struct tty *t)
{
	return READ_ONCE(t->head) != READ_ONCE(t->commit);
}

/* Up to n bytes; in cooked mode not beyond the end of a line. */
static size_t take(struct tty *t, char *buf, size_t n)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	bool canonical = t->mode.lflag & ICANON;
	size_t got = 0;

	while (got < n && t->head != t->commit) {
		u16 c = t->queue[t->head++ % QUEUE_SIZE];

		if (c == END_MARK)
			break;
		buf[got++] = c;
		if (c == '\n' && canonical)
			break;
	}
	/* A mark right behind a full line's bytes belongs to this read. */
	if (got && got == n && t->head != t->commit && t->queue[t->head % QUEUE_SIZE] == END_MARK &&
	    buf[got - 1] != '\n')
		t->head++;
	spin_unlock_irqrestore(&t->lock, flags);
	return got;
}

/* When somebody first waited for input: the machine is at its prompt. */
static u64 ready_ns;

static void note_ready(void)
{
	if (unlikely(!ready_ns))
		ready_ns = clock_ns();
}

u64 tty_ready_ns(void)
{
	return READ_ONCE(ready_ns);
}

static ssize tty_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	struct tty *t = &console;
	int e;

	(void)pos;
	if (!n)
		return 0;
	if (!readable(t)) {
		bool canonical = t->mode.lflag & ICANON;

		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		if (!canonical && !t->mode.cc[VMIN])
			return 0;
		note_ready();
		e = wait_event_interruptible(&t->readers, readable(t));
		if (e)
			return e;
	}
	return take(t, buf, n);
}

int tty_getc(void)
{
	char c;
	int e;

	note_ready();
	do {
		e = wait_event_interruptible(&console.readers, readable(&console));
		if (e)
			return e;
	} while (!take(&console, &c, 1));
	return (u8)c;
}

/* ---- output ---- */

/* To one console, or (NULL) to all. */
static void write_to(struct console *only, const char *s, size_t n)
{
	bool map = (console.mode.oflag & (OPOST | ONLCR)) == (OPOST | ONLCR);

	while (n) {
		const char *nl = map ? memchr(s, '\n', n) : NULL;
		size_t part = nl ? (size_t)(nl - s) : n;

		if (part)
			console_write_to(only, s, part);
		if (nl) {
			console_write_to(only, "\r\n", 2);
			part++;
		}
		s += part;
		n -= part;
	}
}

static ssize tty_file_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	(void)pos;
	write_to(f->priv, buf, n);
	return n;
}

/* ---- modes ---- */

/* Ctrl-C typed ahead, while bytes went through as they came, counts from the moment signals do. */
static void late_signal(struct tty *t)
{
	for (u32 i = t->tail; i != t->head; i--) {
		u16 c = t->queue[(i - 1) % QUEUE_SIZE];

		if (c != t->mode.cc[VINTR] || !(t->mode.lflag & ISIG))
			continue;
		t->head = i;
		echo_char(t, c);
		if (t->pgid > 0)
			signal_send_group(t->pgid, SIGINT);
		return;
	}
}

void tty_set_raw(bool raw)
{
	u64 flags = spin_lock_irqsave(&console.lock);

	if (raw)
		commit(&console); /* what has been typed ahead of the prompt */
	else if (console.raw)
		late_signal(&console);
	console.raw = raw;
	spin_unlock_irqrestore(&console.lock, flags);
}

void tty_set_echo(bool on)
{
	u64 flags = spin_lock_irqsave(&console.lock);

	console.mode.lflag = on ? console.mode.lflag | ECHO : console.mode.lflag & ~ECHO;
	spin_unlock_irqrestore(&console.lock, flags);
}

void tty_set_foreground(int pgid)
{
	WRITE_ONCE(console.pgid, pgid);
}

static long set_termios(struct tty *t, u64 arg, bool flush)
{
	struct termios mode;
	u64 flags;

	if (copy_from_user(&mode, arg, sizeof(mode)))
		return -EFAULT;
	flags = spin_lock_irqsave(&t->lock);
	t->mode = mode;
	if (flush)
		t->head = t->commit = t->tail;
	else if (!(mode.lflag & ICANON))
		commit(t);
	spin_unlock_irqrestore(&t->lock, flags);
	return 0;
}

static long get_termios(struct tty *t, u64 arg)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct termios mode = t->mode;

	spin_unlock_irqrestore(&t->lock, flags);
	return copy_to_user(arg, &mode, sizeof(mode));
}

static long flush_queue(struct tty *t, u64 which)
{
	u64 flags;

	if (which > 2)
		return -EINVAL;
	flags = spin_lock_irqsave(&t->lock);
	if (which != 1)
		t->head = t->commit = t->tail;
	spin_unlock_irqrestore(&t->lock, flags);
	return 0;
}

static long set_group(struct tty *t, u64 arg)
{
	s32 pgid;

	if (copy_from_user(&pgid, arg, sizeof(pgid)))
		return -EFAULT;
	if (pgid <= 0)
		return -EINVAL;
	WRITE_ONCE(t->pgid, pgid);
	return 0;
}

static long tty_ioctl(struct file *f, u64 cmd, u64 arg)
{
	struct tty *t = &console;
	s32 n;

	(void)f;
	switch (cmd) {
	case TCGETS:
		return get_termios(t, arg);
	case TCSETS:
	case TCSETSW:
		return set_termios(t, arg, false);
	case TCSETSF:
		return set_termios(t, arg, true);
	case TCFLSH:
		return flush_queue(t, arg);
	case TIOCGPGRP:
		n = READ_ONCE(t->pgid);
		return copy_to_user(arg, &n, sizeof(n));
	case TIOCSPGRP:
		return set_group(t, arg);
	case TIOCGWINSZ:
		return copy_to_user(arg, &t->size, sizeof(t->size));
	case TIOCSWINSZ:
		return copy_from_user(&t->size, arg, sizeof(t->size));
	case FIONREAD:
		n = READ_ONCE(t->commit) - READ_ONCE(t->head);
		return copy_to_user(arg, &n, sizeof(n));
	default:
		return -ENOTTY;
	}
}

static unsigned tty_poll(struct file *f)
{
	(void)f;
	return 4 | readable(&console); /* POLLOUT, POLLIN */
}

static const struct file_ops tty_ops = {
    .read = tty_read,
    .write = tty_file_write,
    .ioctl = tty_ioctl,
    .poll = tty_poll,
};

bool tty_is(const struct file *f)
{
	return f->ops == &tty_ops;
}

int tty_register(const char *name, struct console *only)
{
	return dev_register(name, 0600, &tty_ops, only);
}

void tty_init(void)
{
	static const char *const names[] = {"console", "tty"};

	console.queue = kmalloc(QUEUE_SIZE * sizeof(*console.queue));
	if (!console.queue)
		pr_err("tty: no memory for input");
	if (cmdline_get("shell") && !strcmp(cmdline_get("shell"), "plain"))
		tty_set_echo(false); /* also what is typed before the shell runs */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (tty_register(names[i], NULL))
			pr_err("tty: cannot make /dev/%s", names[i]);
}
