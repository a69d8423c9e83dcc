/*
 * Finding serial ports, and choosing consoles. Without console= a console is: the PC's first port
 * that is there, every port that the firmware names (SPCR, DBG2), every one on PCI. With it: those
 * named. Boot, task context.
 */
#include "kernel/console/serial.h"
#include "drivers/acpi/acpi.h"
#include "drivers/pci.h"
#include "kernel/base/printk.h"
#include "kernel/console/choice.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

#define NO_ISA_IRQ   SERIAL_NO_IRQ
#define QEMU_VENDOR  0x1b36 /* all ports of its cards with 2 and 4 lie in one window */
#define PORT_WINDOW  8	    /* bytes */
#define ISA_IRQ_LAST 15

struct serial_port serial_ports[SERIAL_MAX];
static bool same_place(const struct uart_place *a, const struct uart_place *b)
{
	return a->space == b->space && a->base == b->base;
}

/* What console= says of the port; NULL: nothing. */
static const struct console_option *serial_option_of(const struct serial_port *p)
{
	const struct console_option *o, *last = NULL;
	unsigned number = p - serial_ports;

	for (unsigned i = 0; (o = console_choice_nth(i)); i++)
		if (o->kind == CONSOLE_SERIAL
			? o->number == number
			: o->kind == CONSOLE_UART && same_place(&o->place, &p->uart.place))
			last = o;
	return last;
}

static void serial_port_write(struct console *c, const char *s, size_t n)
{
	uart_write(&container_of(c, struct serial_port, console)->uart, s, n);
}

static void serial_port_drain(struct console *c)
{
	uart_drain(&container_of(c, struct serial_port, console)->uart);
}

static void serial_become_console(struct serial_port *p)
{
	if (p->is_console)
		return;
	p->is_console = true;
	p->console = (struct console){
	    .name = p->name, .write = serial_port_write, .drain = serial_port_drain};
	console_add(&p->console);
}

/* A port that has answered. `wanted`: a console unless console= names others. */
static void serial_begin(
    struct serial_port *p, const char *found, const struct uart_line *line, bool wanted)
{
	const struct console_option *o = serial_option_of(p);

	fmt_snprintf(p->name, sizeof(p->name), "ttyS%u", (unsigned)(p - serial_ports));
	p->found = found;
	p->present = true;
	p->gsi = SERIAL_NO_IRQ;
	uart_setup(&p->uart, o ? &o->line : line);
	if (o || (wanted && !console_choice_nth(0)))
		serial_become_console(p);
}

void serial_init_early(void)
{
	static const struct {
		u16 port;
		u8 irq;
	} legacy[SERIAL_LEGACY] = {{0x3f8, 4}, {0x2f8, 3}, {0x3e8, 4}, {0x2e8, 3}};
	bool first = true;

	for (unsigned i = 0; i < SERIAL_LEGACY; i++) {
		struct serial_port *p = &serial_ports[i];
		struct uart_place place = {UART_PORTS, legacy[i].port, 0, 1};
		if (!uart_probe(&p->uart, &place, 0))
			continue;
		p->isa_irq = legacy[i].irq;
		serial_begin(p, "PC", &uart_line_usual, first);
		first = false;
	}
}

static struct serial_port *serial_find(const struct uart_place *place)
{
	for (unsigned i = 0; i < SERIAL_MAX; i++)
		if (serial_ports[i].present && same_place(&serial_ports[i].uart.place, place))
			return &serial_ports[i];
	return NULL;
}

/* The port at the place, which is made if it is new; NULL: none answers, or too many. */
static struct serial_port *serial_add(const char *found, const struct uart_place *place, u32 clock,
    unsigned isa_irq, const struct uart_line *line)
{
	struct serial_port *p = serial_find(place);

	if (p && p->isa_irq == SERIAL_NO_IRQ)
		p->isa_irq = isa_irq; /* another table knew of the port, but not this */
	if (p)
		return p;
	for (p = serial_ports + SERIAL_LEGACY; p->present; p++)
		if (p + 1 == serial_ports + SERIAL_MAX) {
			pr_warn("serial: there are more ports than %u", SERIAL_MAX);
			return NULL;
		}
	if (!uart_probe(&p->uart, place, clock)) {
		pr_warn("serial: none answers at %s 0x%llx, named by %s",
		    place->space == UART_PORTS ? "port" : "address",
		    (unsigned long long)place->base, found);
		return NULL;
	}
	p->isa_irq = isa_irq;
	serial_begin(p, found, line, true);
	return p;
}

void serial_init_mapped(void)
{
	const struct console_option *o;

	for (unsigned i = 0; (o = console_choice_nth(i)); i++)
		if (o->kind == CONSOLE_UART)
			serial_add("console=", &o->place, 0, NO_ISA_IRQ, &o->line);
}

/*
 * A port that the firmware uses is a console; what it says of the line counts, unless console= says
 * otherwise.
 */
static void take_acpi(const struct acpi_serial *s)
{
	struct uart_place place = {
	    s->ports ? UART_PORTS : UART_MEMORY, s->base, s->shift, s->width};
	struct uart_line line = uart_line_usual;
	struct serial_port *p;

	line.baud = s->baud;
	line.rtscts = s->rtscts;
	p = serial_find(&place);
	if (p && !serial_option_of(p) && line.baud) {
		uart_drain(&p->uart);
		uart_setup(&p->uart, &line);
	} else if (!p) {
		p = serial_add(s->table, &place, s->clock, s->isa_irq, &line);
	}
	if (p && p->isa_irq == SERIAL_NO_IRQ)
		p->gsi = s->gsi;
	if (p && !console_choice_nth(0))
		serial_become_console(p);
}

static void take_pci(const struct pci_function *f)
{
	const struct pci_bar *b = f->bar;
	struct uart_place place = {UART_PORTS, 0, 0, 1};
	u16 command = pci_read(f, PCI_COMMAND, 2);
	unsigned ports;

	while (b < f->bar + PCI_BARS && b->size < PORT_WINDOW)
		b++;
	if (b == f->bar + PCI_BARS || !b->base) {
		pr_warn("serial: PCI %02x:%02x.%u has no address: the firmware gave it none",
		    f->bus, f->device, f->function);
		return;
	}
	pci_write(f, PCI_COMMAND, 2, command | (b->ports ? PCI_COMMAND_PORTS : PCI_COMMAND_MEMORY));
	place.space = b->ports ? UART_PORTS : UART_MEMORY;
	ports = f->vendor == QEMU_VENDOR ? b->size / PORT_WINDOW : 1;
	for (unsigned i = 0; i < ports; i++) {
		place.base = b->base + i * PORT_WINDOW;
		serial_add("PCI", &place, 0,
		    f->irq_pin && f->irq_line && f->irq_line <= ISA_IRQ_LAST ? f->irq_line
									     : NO_ISA_IRQ,
		    &uart_line_usual);
	}
}

void serial_init_machine(void)
{
	const struct acpi_serial *s;
	const struct pci_function *f;

	for (unsigned i = 0; (s = acpi_serial_nth(i)); i++)
		take_acpi(s);
	for (unsigned i = 0; (f = pci_nth(i)); i++)
		if (f->class_code == PCI_CLASS_SERIAL)
			take_pci(f);
}
