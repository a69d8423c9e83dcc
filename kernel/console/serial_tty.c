/*
 * Serial ports as terminals. A port that is a console is one of the console terminal's; each other
 * port is a terminal of its own. Input comes in irq context. Writers of a port that is no console
 * are kept apart by its lock, of a console by the console lock.
 */
#include "arch/arch.h"
#include "drivers/console_option.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"
#include "kernel/console/serial.h"
#include "kernel/console/serial_port.h"
#include "kernel/console/sysrq.h"
#include "kernel/console/tty.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/irq.h"
#include "kernel/task/timer.h"

#define POLL_NS	    1000000UL
#define IRQ_WAIT_US 20000 /* an interrupt asked for comes at once, or never */

static struct timer poll_timer;
static bool polling;

/* ---- Input ---- */

/* Interrupts off. */
static void serial_receive(struct serial_port *p)
{
	int c;

	while ((c = uart_read(&p->uart)) >= 0) {
		if (c == UART_BREAK) {
			if (p->is_console)
				sysrq_arm(&p->sysrq_armed);
		} else if (!(p->is_console && sysrq_take(&p->sysrq_armed, c))) {
			tty_receive(p->is_console ? tty_console() : p->tty, c);
		}
	}
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
		if (p->present && p->polled)
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
	if (polling)
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
		if (!p->is_console && tty_lost(p->tty))
			seq_printf(s, " bo:%llu", (unsigned long long)tty_lost(p->tty));
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
		uart_drain(&p->uart);
		u64 flags = spin_lock_irqsave(&p->lock);
		serial_receive(p); /* what has come would be cleared away */
		uart_setup(&p->uart, &setting);
		uart_irq_enable(&p->uart, p->polled ? UART_IRQ_NONE : UART_IRQ_RECEIVED);
		spin_unlock_irqrestore(&p->lock, flags);
		return 0;
	}
	return -ENODEV;
}

/* A burst at a time: the lock is not held while the line is slow. */
static void serial_tty_write(struct console *c, const char *s, size_t n)
{
	struct serial_port *p = container_of(c, struct serial_port, console);

	while (n && uart_wait(&p->uart)) {
		u64 flags = spin_lock_irqsave(&p->lock);
		size_t sent = uart_send(&p->uart, s, n);

		spin_unlock_irqrestore(&p->lock, flags);
		s += sent;
		n -= sent;
	}
}

static void serial_tty_drain(struct console *c)
{
	uart_drain(&container_of(c, struct serial_port, console)->uart);
}

/* The port's terminal; false: no memory. */
static bool serial_make_tty(struct serial_port *p)
{
	if (p->is_console) {
		return !tty_register(tty_console(), p->name, &p->console);
	}
	p->console =
	    (struct console){.name = p->name, .write = serial_tty_write, .drain = serial_tty_drain};
	p->tty = tty_create(&p->console);
	return p->tty && !tty_register(p->tty, p->name, NULL);
}

void serial_start(void)
{
	for (struct serial_port *p = serial_ports; p < serial_ports + SERIAL_MAX; p++) {
		if (!p->present)
			continue;
		if (serial_make_tty(p))
			start_input(p);
		else
			pr_err("serial: cannot make /dev/%s", p->name);
	}
	proc_register("tty/driver/serial", serial_show_ports, serial_store_line, NULL);
}
