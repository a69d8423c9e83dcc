/*
 * Serial ports as devices, and their input. What comes in at a console goes to the console
 * terminal; at another port it is kept, as it is, for who reads /dev/ttySn. Input comes in irq
 * context; a port's queue is protected by its lock. Writers of a port that is no console are kept
 * apart by its mutex, of a console by the console lock.
 */
#include "arch/arch.h"
#include "drivers/console_option.h"
#include "kernel/base/cmdline.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/task/irq.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/printk.h"
#include "kernel/console/serial.h"
#include "kernel/console/serial_port.h"
#include "kernel/console/sysrq.h"
#include "kernel/task/timer.h"
#include "kernel/console/tty.h"

#define POLL_NS	    1000000UL
#define IRQ_WAIT_US 20000 /* an interrupt asked for comes at once, or never */
#define WRITE_CHUNK 256
#define POLLIN_BIT  1u
#define POLLOUT_BIT 4u

static struct timer poll_timer;
static bool polling;

/* ---- Input ---- */

static void keep(struct serial_port *p, u8 c)
{
	spin_lock(&p->lock);
	if (p->queue && p->tail - p->head < SERIAL_RX_QUEUE)
		p->queue[p->tail++ % SERIAL_RX_QUEUE] = c;
	else
		p->overruns++;
	spin_unlock(&p->lock);
}

/* Interrupts off. */
static void serial_receive(struct serial_port *p)
{
	bool any = false;
	int c;

	while ((c = uart_read(&p->uart)) >= 0) {
		any = true;
		if (c == UART_BREAK) {
			if (p->is_console)
				sysrq_arm(&p->sysrq_armed);
		} else if (!p->is_console) {
			keep(p, c);
		} else if (!sysrq_take(&p->sysrq_armed, c)) {
			tty_receive(tty_console(), c);
		}
	}
	if (any && !p->is_console)
		wake_up(&p->readers);
}

/*
 * One line may serve several ports, and tells by an edge when it begins to be held: it is looked at
 * until no port holds it.
 */
static bool serial_interrupt(void *arg)
{
	unsigned gsi = (u64)arg;
	bool mine = false, again;

	do {
		again = false;
		for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++) {
			if (!p->present || p->polled || p->gsi != gsi ||
			    !uart_irq_pending(&p->uart))
				continue;
			p->irqs++;
			serial_receive(p);
			mine = again = true;
		}
	} while (again);
	return mine;
}

static void serial_poll_timer(struct timer *t)
{
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++)
		if (p->present && p->polled && (p->is_console || p->queue))
			serial_receive(p);
	timer_start(t, clock_ns() + POLL_NS);
}

void serial_look(void)
{
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++)
		if (p->present && p->is_console)
			serial_receive(p);
}

static void serial_start_polling(struct serial_port *p)
{
	p->polled = true;
	if (polling || !(p->is_console || p->queue))
		return;
	polling = true;
	timer_setup(&poll_timer, serial_poll_timer);
	timer_start(&poll_timer, clock_ns() + POLL_NS);
}

/* Asks the port for an interrupt, which it has a reason for at once: the transmitter is empty. */
static bool irq_works(struct serial_port *p)
{
	if (p->isa_irq != SERIAL_NO_IRQ)
		p->gsi = irq_from_isa(p->isa_irq);
	if (p->gsi == SERIAL_NO_IRQ || cmdline_flag("irqpoll"))
		return false;
	if (irq_request(p->gsi, p->name, serial_interrupt, (void *)(u64)p->gsi))
		return false;
	uart_drain(&p->uart);
	uart_irq_enable(&p->uart, UART_IRQ_SENT);
	for (unsigned us = 0; us < IRQ_WAIT_US && !READ_ONCE(p->irqs); us += 10)
		delay_us(10);
	return READ_ONCE(p->irqs) && !irq_line(p->gsi)->off;
}

static void start_input(struct serial_port *p)
{
	if (irq_works(p)) {
		uart_irq_enable(&p->uart, UART_IRQ_RECEIVED);
		return;
	}
	uart_irq_enable(&p->uart, UART_IRQ_NONE);
	serial_start_polling(p);
}

/* ---- The devices of ports that are no consoles ---- */

static bool readable(struct serial_port *p)
{
	return READ_ONCE(p->head) != READ_ONCE(p->tail);
}

/*
 * The first open makes the queue: what came before it is lost, as on a terminal nobody has opened.
 */
static int make_queue(struct serial_port *p)
{
	u8 *queue = p->queue ? NULL : kmalloc(SERIAL_RX_QUEUE);
	u64 flags;

	if (p->queue)
		return 0;
	if (!queue)
		return -ENOMEM;
	flags = spin_lock_irqsave(&p->lock);
	if (!p->queue) {
		p->queue = queue;
		queue = NULL;
	}
	spin_unlock_irqrestore(&p->lock, flags);
	kfree(queue);
	if (p->polled)
		serial_start_polling(p);
	return 0;
}

static int serial_open(struct file *f, u32 flags)
{
	(void)flags;
	return make_queue(f->priv);
}

static ssize serial_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	struct serial_port *p = f->priv;
	u8 *out = buf;
	size_t got = 0;
	u64 flags;
	int e;

	(void)pos;
	if (!n)
		return 0;
	if (!readable(p) && f->flags & O_NONBLOCK)
		return -EAGAIN;
	e = wait_event_interruptible(&p->readers, readable(p));
	if (e)
		return e;
	flags = spin_lock_irqsave(&p->lock);
	while (got < n && p->head != p->tail)
		out[got++] = p->queue[p->head++ % SERIAL_RX_QUEUE];
	spin_unlock_irqrestore(&p->lock, flags);
	return got;
}

static ssize serial_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	struct serial_port *p = f->priv;
	size_t done = 0;

	(void)pos;
	mutex_lock(&p->writing);
	while (done < n && !(done && signal_pending_current())) {
		size_t some = MIN(n - done, (size_t)WRITE_CHUNK);
		uart_write(&p->uart, (const char *)buf + done, some);
		done += some;
	}
	uart_drain(&p->uart); /* what a machine that is switched off next has not sent is lost */
	mutex_unlock(&p->writing);
	return done;
}

static unsigned serial_poll(struct file *f)
{
	return POLLOUT_BIT | (readable(f->priv) ? POLLIN_BIT : 0);
}

static void serial_poll_queues(struct file *f, struct wait_queue *queue[2])
{
	struct serial_port *p = f->priv;

	queue[0] = &p->readers;
}

static const struct file_ops serial_ops = {
    .open = serial_open,
    .read = serial_read,
    .write = serial_write,
    .poll = serial_poll,
    .poll_queues = serial_poll_queues,
};

/* ---- /proc/tty/driver/serial ---- */

static int serial_show_ports(struct seq *s, void *unused)
{
	(void)unused;
	seq_puts(s, "serinfo:1.0 driver revision:\n");
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++) {
		const struct uart *u = &p->uart;
		if (!p->present)
			continue;
		seq_printf(s, "%u: uart:%s %s:%08llX irq:%u tx:%llu rx:%llu",
		    (unsigned)(p - serial_ports), u->burst > 1 ? "16550A" : "16450",
		    u->place.space == UART_PORTS ? "port" : "mmio",
		    (unsigned long long)u->place.base, p->polled ? 0 : p->gsi,
		    (unsigned long long)u->sent, (unsigned long long)u->received);
		if (u->errors)
			seq_printf(s, " fe:%llu", (unsigned long long)u->errors);
		if (p->overruns)
			seq_printf(s, " bo:%llu", (unsigned long long)p->overruns);
		if (u->line.baud)
			seq_printf(s, " baud:%u%c%u%s", u->line.baud, u->line.parity, u->line.bits,
			    u->line.rtscts ? "r" : "");
		seq_printf(s, " found:%s%s\n", p->found, p->is_console ? " console" : "");
	}
	return 0;
}

/* "ttyS1 57600n8": another line setting. */
static int serial_store_line(char *line, size_t n, void *unused)
{
	char *rest = line, *name = strsep(&rest, " ");
	struct uart_line setting;

	(void)n, (void)unused;
	if (!rest || !uart_line_parse(rest, &setting))
		return -EINVAL;
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++) {
		if (!p->present || strcmp(p->name, name))
			continue;
		mutex_lock(&p->writing);
		uart_drain(&p->uart);
		u64 flags = irq_save();
		serial_receive(p); /* what has come would be cleared away */
		uart_setup(&p->uart, &setting);
		uart_irq_enable(&p->uart, p->polled ? UART_IRQ_NONE : UART_IRQ_RECEIVED);
		irq_restore(flags);
		mutex_unlock(&p->writing);
		return 0;
	}
	return -ENODEV;
}

void serial_start(void)
{
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++) {
		int e;
		if (!p->present)
			continue;
		start_input(p);
		e = p->is_console ? tty_register(tty_console(), p->name, &p->console)
				  : dev_register(p->name, 0600, &serial_ops, p);
		if (e)
			pr_err("serial: cannot make /dev/%s", p->name);
	}
	proc_register("tty/driver/serial", serial_show_ports, serial_store_line, NULL);
}
