/*
 * Terminals: input queues, files and modes. Input comes in irq context. A terminal's lock
 * (interrupts off) protects its line discipline and size, and is taken before task_lock. Job
 * control is kernel/task/session.c's.
 *
 * A file opened on a terminal remembers the terminal's count of hang-ups. After another hang-up it
 * is dead: it reads end of file and everything else is -EIO, so that what is left of one session
 * cannot disturb the next.
 */
#include "kernel/console/tty.h"
#include "arch/arch.h"
#include "drivers/console.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/console/keys.h"
#include "kernel/console/ldisc.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/session.h"
#include "kernel/task/signal.h"
#include "kernel/task/sync.h"
#include "kernel/task/task.h"
#include "kernel/task/timer.h"

/* ioctl() requests; asm-generic/ioctls.h names them. */
enum {
	TCGETS = 0x5401,
	TCSETS,
	TCSETSW,
	TCSETSF,
	TCSBRK = 0x5409,
	TCXONC,
	TCFLSH,
	TIOCSCTTY = 0x540e,
	TIOCGPGRP,
	TIOCSPGRP,
	TIOCOUTQ,
	TIOCGWINSZ = 0x5413,
	TIOCSWINSZ,
	TIOCNOTTY = 0x5422,
	TCSBRKP = 0x5425,
	TIOCGSID = 0x5429,
};
enum { TCIFLUSH, TCOFLUSH, TCIOFLUSH }; /* TCFLSH */
enum { TCOOFF, TCOON, TCIOFF, TCION };	/* TCXONC */
enum { TTY_POLLIN = 1, TTY_POLLOUT = 4, TTY_POLLERR = 8, TTY_POLLHUP = 16 };

#define WRITE_CHUNK  256	 /* bytes that go through the output mapping at a time */
#define NS_PER_VTIME 100000000UL /* VTIME counts tenths of a second */

struct winsize {
	u16 rows, columns, x, y;
};

struct tty {
	struct spinlock lock;
	struct ldisc line;   /* [lock] */
	struct winsize size; /* [lock] */
	struct ctty ctty;
	u32 hangups;	      /* [A] */
	struct console *port; /* NULL: it is the console terminal, shown on all consoles */
	bool plain;	      /* [I] notty=: a way for data, no terminal to programs */
	u32 writing;	      /* [A] a write is under way: another one waits for its end */
	struct wait_queue readers, writers;
};

/* A name in /dev; stays. tty is NULL for /dev/tty. */
struct tty_name {
	struct tty *tty;
	struct console *only;
};

struct tty_file {
	struct tty *tty;
	struct console *only;
	u32 hangups; /* of the terminal, when the file was opened */
};

static struct tty console = {
    .lock = SPINLOCK_INIT,
    .readers = WAIT_QUEUE_INIT(console.readers),
    .writers = WAIT_QUEUE_INIT(console.writers),
};

struct tty *tty_console(void)
{
	return &console;
}

static const struct tty_file *tty_file_of(const struct file *f)
{
	return f->priv;
}

static bool hung_up(const struct tty_file *tf)
{
	return READ_ONCE(tf->tty->hangups) != tf->hangups;
}

/*
 * Locks the file's terminal, unless that is hung up. Checked with the lock held: the next session
 * takes the terminal after the hang-up and with the lock, so a call that began before changes
 * nothing for it.
 */
static bool tty_lock(const struct tty_file *tf, u64 *flags)
{
	*flags = spin_lock_irqsave(&tf->tty->lock);
	if (!hung_up(tf))
		return true;
	spin_unlock_irqrestore(&tf->tty->lock, *flags);
	return false;
}

static void tty_hang_up(struct ctty *c)
{
	atomic_add(&container_of(c, struct tty, ctty)->hangups, 1);
}

static void tty_wake(struct ctty *c)
{
	struct tty *t = container_of(c, struct tty, ctty);

	wake_up(&t->readers);
	wake_up(&t->writers);
}

/* `only`: of the console terminal's consoles; NULL: all. */
static void tty_show(struct tty *t, struct console *only, const char *s, size_t n)
{
	if (t->port)
		t->port->write(t->port, s, n);
	else
		console_write_to(only, s, n);
}

/* ---- input, in irq context ---- */

static void tty_echo(struct ldisc *l, const char *s, size_t n)
{
	tty_show(container_of(l, struct tty, line), NULL, s, n);
}

void tty_receive(struct tty *t, char c)
{
	bool was_stopped;
	int sig, pgid;
	u64 flags;

	if (t == &console && keys_take(c))
		return;
	flags = spin_lock_irqsave(&t->lock);
	was_stopped = t->line.stopped;
	sig = ldisc_input(&t->line, c);
	pgid = READ_ONCE(t->ctty.pgid);
	if (sig && pgid > 0)
		signal_send_group(pgid, sig);
	if (t->line.readable)
		wake_up(&t->readers);
	if (was_stopped && !t->line.stopped)
		wake_up(&t->writers);
	t->line.readable = false;
	spin_unlock_irqrestore(&t->lock, flags);
}

/* ---- reading ---- */

static bool tty_is_readable(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	bool any = ldisc_available(&t->line);

	spin_unlock_irqrestore(&t->lock, flags);
	return any;
}

static size_t take(const struct tty_file *tf, char *buf, size_t n)
{
	size_t got;
	u64 flags;

	if (!tty_lock(tf, &flags))
		return 0;
	got = ldisc_take(&tf->tty->line, buf, n);
	spin_unlock_irqrestore(&tf->tty->lock, flags);
	return got;
}

/* When somebody first waited for input: the machine is at its prompt. */
static u64 ready_ns;

void tty_note_ready(void)
{
	if (unlikely(!ready_ns))
		ready_ns = clock_ns();
}

u64 tty_ready_ns(void)
{
	return READ_ONCE(ready_ns);
}

/* How long one read() waits, by VMIN and VTIME; canonical mode waits for a line as for one byte. */
struct patience {
	struct timer timer;
	struct tty *tty;
	size_t min;   /* bytes to wait for */
	u64 ns;	      /* from the start, or (min > 0) from each byte on; 0: for ever */
	bool expired; /* [A] */
};

static void tty_timeout(struct timer *timer)
{
	struct patience *p = container_of(timer, struct patience, timer);

	WRITE_ONCE(p->expired, true);
	wake_up(&p->tty->readers);
}

static void patience_begin(struct patience *p, struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	const struct ldisc_mode *mode = &t->line.mode;
	bool canonical = mode->lflag & TTY_ICANON;

	*p = (struct patience){.tty = t, .min = 1};
	if (!canonical) {
		p->min = mode->cc[TTY_VMIN];
		p->ns = mode->cc[TTY_VTIME] * NS_PER_VTIME;
	}
	spin_unlock_irqrestore(&t->lock, flags);
	timer_setup(&p->timer, tty_timeout);
	if (p->ns && !p->min)
		timer_start(&p->timer, clock_ns() + p->ns);
}

/* Waits for more; 0, also when time is up or the terminal is hung up, or -EINTR. */
static int wait_for_input(const struct tty_file *tf, struct patience *p, size_t got)
{
	struct tty *t = tf->tty;

	if (!p->min && !p->ns)
		return 0;
	if (p->min && p->ns && got)
		timer_start(&p->timer, clock_ns() + p->ns);
	if (t == &console)
		tty_note_ready();
	return wait_event_interruptible(
	    &t->readers, tty_is_readable(t) || READ_ONCE(p->expired) || hung_up(tf));
}

/* One read of a terminal that the caller may read from. */
static ssize read_input(struct file *f, struct patience *p, char *buf, size_t n)
{
	const struct tty_file *tf = tty_file_of(f);
	size_t got = 0;
	int e;

	do {
		if (!tty_is_readable(tf->tty)) {
			if ((f->flags & O_NONBLOCK) && (p->min || p->ns))
				return got ? (ssize)got : -EAGAIN;
			e = wait_for_input(tf, p, got);
			if (e)
				return got ? (ssize)got : e;
			if (!tty_is_readable(tf->tty))
				break;
		}
		e = take(tf, buf + got, n - got);
		got += e;
	} while (e && got < n && got < p->min);
	return got;
}

static ssize tty_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	const struct tty_file *tf = tty_file_of(f);
	struct patience p;
	ssize got;
	int e;

	(void)pos;
	if (hung_up(tf))
		return 0;
	e = session_check(&tf->tty->ctty, SIGTTIN);
	if (e || !n)
		return e;
	patience_begin(&p, tf->tty);
	got = read_input(f, &p, buf, n);
	timer_cancel(&p.timer);
	return got;
}

/* ---- writing ---- */

static bool output_stopped(struct tty *t)
{
	return READ_ONCE(t->line.stopped);
}

/* Waits while Ctrl-S holds the output. */
static int wait_for_output(const struct file *f)
{
	const struct tty_file *tf = tty_file_of(f);

	if (!output_stopped(tf->tty))
		return 0;
	if (f->flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible(&tf->tty->writers, !output_stopped(tf->tty) || hung_up(tf));
}

static bool stops_background_writers(struct tty *t)
{
	return READ_ONCE(t->line.mode.lflag) & TTY_TOSTOP;
}

static size_t tty_write_chunk(const struct tty_file *tf, const char *s, size_t n)
{
	char out[WRITE_CHUNK];
	size_t len, used;
	u64 flags = spin_lock_irqsave(&tf->tty->lock);

	used = ldisc_output(&tf->tty->line, s, n, out, sizeof(out), &len);
	spin_unlock_irqrestore(&tf->tty->lock, flags);
	tty_show(tf->tty, tf->only, out, len);
	return used;
}

/*
 * Keeps other writers out, so that one write() comes out in one piece, as on Linux. 0: the caller
 * ends with tty_end_write(). Else an error: without O_NONBLOCK a signal or a hang-up.
 */
static int tty_begin_write(const struct file *f)
{
	const struct tty_file *tf = tty_file_of(f);
	u32 *writing = &tf->tty->writing;
	int e = 0;

	while (!e && !atomic_cas(writing, 0, 1)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		e = wait_event_interruptible(
		    &tf->tty->writers, hung_up(tf) || !atomic_load(writing));
		if (!e && hung_up(tf))
			e = -EIO;
	}
	return e;
}

static void tty_end_write(struct tty *t)
{
	atomic_store(&t->writing, 0);
	wake_up(&t->writers);
}

static ssize tty_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	const struct tty_file *tf = tty_file_of(f);
	size_t done = 0;
	int e = 0;

	(void)pos;
	if (stops_background_writers(tf->tty))
		e = session_check(&tf->tty->ctty, SIGTTOU);
	if (!e)
		e = tty_begin_write(f);
	if (e)
		return e;
	while (!e && done < n && !(done && signal_pending_current())) {
		e = wait_for_output(f);
		if (!e && hung_up(tf))
			e = -EIO;
		if (!e)
			done += tty_write_chunk(tf, (const char *)buf + done, n - done);
	}
	tty_end_write(tf->tty);
	if (tf->tty->port)
		tf->tty->port->drain(tf->tty->port);
	return done ? (ssize)done : e;
}

static unsigned tty_poll(struct file *f)
{
	const struct tty_file *tf = tty_file_of(f);

	if (hung_up(tf))
		return TTY_POLLIN | TTY_POLLOUT | TTY_POLLERR | TTY_POLLHUP;
	return (tty_is_readable(tf->tty) ? TTY_POLLIN : 0) |
	       (output_stopped(tf->tty) ? 0 : TTY_POLLOUT);
}

static void tty_poll_queues(struct file *f, struct wait_queue *queue[2])
{
	queue[0] = &tty_file_of(f)->tty->readers;
	queue[1] = &tty_file_of(f)->tty->writers;
}

/* ---- modes ---- */

static struct ldisc_mode tty_get_mode(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct ldisc_mode mode = t->line.mode;

	spin_unlock_irqrestore(&t->lock, flags);
	return mode;
}

void tty_set_echo(bool on)
{
	u64 flags = spin_lock_irqsave(&console.lock);
	struct ldisc_mode mode = console.line.mode;

	mode.lflag = on ? mode.lflag | TTY_ECHO : mode.lflag & ~TTY_ECHO;
	ldisc_set_mode(&console.line, &mode, false);
	spin_unlock_irqrestore(&console.lock, flags);
}

static const struct file_ops tty_ops;

/* Whoever had the terminal may have left it in any state. */
static void tty_reset(struct tty *t, bool echo)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct ldisc_mode mode = ldisc_first_mode;

	if (!echo)
		mode.lflag &= ~TTY_ECHO;
	t->line.stopped = t->line.quoted = false;
	ldisc_set_mode(&t->line, &mode, false);
	t->size = (struct winsize){0};
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up(&t->writers);
}

bool tty_is_console(const struct file *f)
{
	return f->ops == &tty_ops && tty_file_of(f)->tty == &console;
}

int tty_vacate(const struct file *f)
{
	if (f->ops != &tty_ops)
		return -ENOTTY;
	session_hang_up(&tty_file_of(f)->tty->ctty);
	return 0;
}

int tty_take(const struct file *f, bool echo)
{
	struct tty *t;

	if (f->ops != &tty_ops)
		return -ENOTTY;
	t = tty_file_of(f)->tty;
	tty_reset(t, echo);
	return session_acquire(&t->ctty, true);
}

size_t tty_take_typed(struct tty *t, char *buf, size_t size)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct ldisc_mode mode = t->line.mode;
	size_t n = 0;

	ldisc_set_mode(&t->line, &ldisc_raw_mode, false);
	while (n < size && ldisc_available(&t->line))
		n += ldisc_take(&t->line, buf + n, size - n);
	ldisc_set_mode(&t->line, &mode, false);
	spin_unlock_irqrestore(&t->lock, flags);
	return n;
}

/* ---- ioctl ---- */

static long tty_ioctl_set_mode(const struct tty_file *tf, u64 arg, bool flush)
{
	struct tty *t = tf->tty;
	struct ldisc_mode mode;
	u64 flags;

	if (copy_from_user(&mode, arg, sizeof(mode)))
		return -EFAULT;
	if (!tty_lock(tf, &flags))
		return -EIO;
	ldisc_set_mode(&t->line, &mode, flush);
	t->line.readable = false;
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up(&t->readers);
	wake_up(&t->writers);
	return 0;
}

static long tty_ioctl_get_mode(struct tty *t, u64 arg)
{
	struct ldisc_mode mode = tty_get_mode(t);

	return copy_to_user(arg, &mode, sizeof(mode));
}

static long tty_ioctl_flush(const struct tty_file *tf, u64 which)
{
	u64 flags;

	if (which > TCIOFLUSH)
		return -EINVAL;
	if (!tty_lock(tf, &flags))
		return -EIO;
	if (which != TCOFLUSH)
		ldisc_flush(&tf->tty->line);
	spin_unlock_irqrestore(&tf->tty->lock, flags);
	return 0;
}

static long tty_ioctl_flow(const struct tty_file *tf, u64 action)
{
	struct tty *t = tf->tty;
	u64 flags;

	if (action > TCION)
		return -EINVAL;
	if (action > TCOON)
		return 0; /* nobody on the other side would stop sending */
	if (!tty_lock(tf, &flags))
		return -EIO;
	t->line.stopped = action == TCOOFF;
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up(&t->writers);
	return 0;
}

static long tty_ioctl_get_size(struct tty *t, u64 arg)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct winsize size = t->size;

	spin_unlock_irqrestore(&t->lock, flags);
	return copy_to_user(arg, &size, sizeof(size));
}

static long tty_ioctl_set_size(const struct tty_file *tf, u64 arg)
{
	struct tty *t = tf->tty;
	struct winsize size;
	bool changed;
	u64 flags;

	if (copy_from_user(&size, arg, sizeof(size)))
		return -EFAULT;
	if (!tty_lock(tf, &flags))
		return -EIO;
	changed = memcmp(&size, &t->size, sizeof(size)) != 0;
	t->size = size;
	spin_unlock_irqrestore(&t->lock, flags);
	if (changed)
		signal_send_group(READ_ONCE(t->ctty.pgid), SIGWINCH);
	return 0;
}

/* In canonical mode the rest of the first line counts alone. */
static long tty_ioctl_available(struct tty *t, u64 arg)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	s32 n = ldisc_available(&t->line);

	spin_unlock_irqrestore(&t->lock, flags);
	return copy_to_user(arg, &n, sizeof(n));
}

static long put_int(u64 arg, s32 value)
{
	return copy_to_user(arg, &value, sizeof(value));
}

static long tty_ioctl_set_foreground(struct tty *t, u64 arg)
{
	s32 pgid;

	if (copy_from_user(&pgid, arg, sizeof(pgid)))
		return -EFAULT;
	return pgid < 0 ? -EINVAL : session_set_foreground(&t->ctty, pgid);
}

/* Requests about sessions. */
static long session_ioctl(struct tty *t, u64 cmd, u64 arg)
{
	switch (cmd) {
	case TIOCSCTTY:
		return session_acquire(&t->ctty, arg == 1);
	case TIOCNOTTY:
		return session_release(&t->ctty);
	case TIOCGPGRP:
		return session_terminal() == &t->ctty ? put_int(arg, READ_ONCE(t->ctty.pgid))
						      : -ENOTTY;
	case TIOCGSID:
		return session_terminal() == &t->ctty ? put_int(arg, READ_ONCE(t->ctty.sid))
						      : -ENOTTY;
	case TIOCSPGRP:
		return tty_ioctl_set_foreground(t, arg);
	default:
		return -ENOTTY;
	}
}

/* Requests that change the terminal; a background group is stopped first. */
static bool changes_terminal(u64 cmd)
{
	switch (cmd) {
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSBRK:
	case TCSBRKP:
	case TCXONC:
	case TCFLSH:
	case TIOCSPGRP:
		return true;
	default:
		return false;
	}
}

static long tty_ioctl(struct file *f, u64 cmd, u64 arg)
{
	const struct tty_file *tf = tty_file_of(f);
	struct tty *t = tf->tty;
	long e;

	if (hung_up(tf))
		return -EIO;
	if (t->plain)
		return -ENOTTY;
	e = changes_terminal(cmd) ? session_check(&t->ctty, SIGTTOU) : 0;
	if (e) /* as on Linux */
		return e == -EIO && cmd == TIOCSPGRP ? -ENOTTY : e;
	switch (cmd) {
	case TCGETS:
		return tty_ioctl_get_mode(t, arg);
	case TCSETS:
	case TCSETSW:
		return tty_ioctl_set_mode(tf, arg, false);
	case TCSETSF:
		return tty_ioctl_set_mode(tf, arg, true);
	case TCSBRK: /* output is not buffered: it is out */
	case TCSBRKP:
		return 0;
	case TCXONC:
		return tty_ioctl_flow(tf, arg);
	case TCFLSH:
		return tty_ioctl_flush(tf, arg);
	case TIOCOUTQ:
		return put_int(arg, 0);
	case TIOCGWINSZ:
		return tty_ioctl_get_size(t, arg);
	case TIOCSWINSZ:
		return tty_ioctl_set_size(tf, arg);
	case FIONREAD:
		return tty_ioctl_available(t, arg);
	default:
		return session_ioctl(t, cmd, arg);
	}
}

/* ---- files ---- */

static bool may_control(const struct tty *t, const struct file *f, u32 flags)
{
	return t && !(flags & O_NOCTTY) && (f->flags & O_ACCMODE) != O_WRONLY;
}

/*
 * The first open makes the queue: what came before it is lost, as on a terminal nobody has opened.
 */
static int tty_make_queue(struct tty *t)
{
	u16 *queue = t->line.queue ? NULL : kmalloc(LDISC_QUEUE * sizeof(*queue));
	u64 flags = spin_lock_irqsave(&t->lock);

	if (!t->line.queue) {
		t->line.queue = queue;
		queue = NULL;
	}
	spin_unlock_irqrestore(&t->lock, flags);
	kfree(queue);
	return t->line.queue ? 0 : -ENOMEM;
}

static int tty_open(struct file *f, u32 flags)
{
	const struct tty_name *name = f->priv;
	struct ctty *c = name->tty ? &name->tty->ctty : session_terminal();
	struct tty_file *tf;

	if (!c)
		return -ENXIO;
	tf = kmalloc(sizeof(*tf));
	if (!tf || tty_make_queue(container_of(c, struct tty, ctty))) {
		kfree(tf);
		return -ENOMEM;
	}
	tf->tty = container_of(c, struct tty, ctty);
	tf->only = name->only;
	tf->hangups = READ_ONCE(tf->tty->hangups);
	f->priv = tf;
	if (may_control(name->tty, f, flags))
		session_acquire(
		    c, false); /* a leader without a terminal gets this one, if it is free */
	return 0;
}

static void tty_release(struct file *f)
{
	kfree(f->priv);
}

static const struct file_ops tty_ops = {
    .open = tty_open,
    .release = tty_release,
    .read = tty_read,
    .write = tty_write,
    .ioctl = tty_ioctl,
    .poll = tty_poll,
    .poll_queues = tty_poll_queues,
};

static bool is_notty(const char *name)
{
	const char *word;

	for (unsigned i = 0; (word = cmdline_nth("notty", i)); i++)
		if (!strcmp(word, name))
			return true;
	return false;
}

int tty_register(struct tty *t, const char *name, struct console *only)
{
	struct tty_name *n = kmalloc(sizeof(*n));
	int e;

	if (!n)
		return -ENOMEM;
	if (t && t->port)
		t->plain = is_notty(name);
	*n = (struct tty_name){t, only};
	e = dev_register(name, 0600, &tty_ops, n);
	if (e)
		kfree(n);
	return e;
}

static void tty_setup(struct tty *t)
{
	ldisc_init(&t->line, NULL, tty_echo);
	t->ctty.hang_up = tty_hang_up;
	t->ctty.wake = tty_wake;
	session_add_terminal(&t->ctty);
}

struct tty *tty_create(struct console *port)
{
	struct tty *t = kzalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->port = port;
	wait_queue_init(&t->readers);
	wait_queue_init(&t->writers);
	tty_setup(t);
	t->line.mode = ldisc_raw_mode;
	return t;
}

u64 tty_lost(const struct tty *t)
{
	return READ_ONCE(t->line.lost);
}

void tty_init(void)
{
	tty_setup(&console);
	if (tty_make_queue(&console))
		pr_err("tty: no memory for input");
	if (cmdline_get("shell") && !strcmp(cmdline_get("shell"), "plain"))
		tty_set_echo(false); /* also what is typed before the shell runs */
	if (tty_register(&console, "console", NULL) || tty_register(NULL, "tty", NULL))
		pr_err("tty: cannot make /dev/console and /dev/tty");
}
