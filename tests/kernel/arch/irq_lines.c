/*
 * Lines of devices: which handlers are called, and how a line that nobody answers is treated.
 * Interrupts are played by calling the dispatcher.
 */
#include "arch/arch.h"
#include "drivers/acpi/acpi.h"
#include "kernel/base/panic.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "kernel/task/irq.h"
#include "tests/unit/trace/tools.h"
#include "trace/trace.h"

#define NO_LINE 1000u
#define QUIET	21u /* no device of the machines these tests run on */
#define TIMES	10000u
#define WAIT_NS 5000000000UL

static u32 asked; /* [irq] */
static bool answer;

static bool handler(void *arg)
{
	(void)arg;
	asked++;
	return answer;
}

/* As the processor would: interrupts off, counted as one. */
static void interrupt(unsigned times)
{
	u64 flags = irq_save();

	preempt_count_add(HARDIRQ_UNIT);
	for (unsigned i = 0; i < times; i++)
		kernel_irq(QUIET);
	preempt_count_sub(HARDIRQ_UNIT);
	irq_restore(flags);
}

static void no_such_line(void)
{
	EXPECT(irq_request(NO_LINE, "test", handler, NULL) < 0);
	EXPECT(!irq_line(NO_LINE));
}

struct edge {
	volatile u8 *registers;
	unsigned first, end; /* the I/O APIC's lines */
	int last, beyond;    /* what asking for the line at the end said, and for the next */
};

/* On CPU 0: how many lines there are (82093AA data sheet, 3.2.2), and whether each can be had. */
static void look_at_edge(void *arg)
{
	enum { SELECT = 0, WINDOW = 0x10, VERSION = 1 };
	struct edge *e = arg;

	*(volatile u32 *)(e->registers + SELECT) = VERSION;
	e->end = e->first + (*(volatile u32 *)(e->registers + WINDOW) >> 16 & 0xff) + 1;
	e->beyond = arch_irq_route(e->end);
	if (e->end > IRQ_LINES || irq_line(e->end - 1)->first)
		return; /* a device has it */
	e->last = arch_irq_route(e->end - 1);
	arch_irq_mask(e->end - 1);
}

/* The last line of an I/O APIC can be had; the one after it leads nowhere. */
static void first_beyond(void)
{
	const struct acpi_madt *m = acpi_madt();
	struct edge e = {.first = m->ioapic[0].gsi_base};

	if (m->ioapic_count != 1) {
		ktap_skip("not one I/O APIC");
		return;
	}
	e.registers = device_map(m->ioapic[0].base, 32);
	cpu_call(0, look_at_edge, &e);
	EXPECT_EQ(e.last, 0);
	EXPECT_EQ(e.beyond, -ENODEV);
	EXPECT(irq_request(e.end, "test", handler, NULL) < 0);
}

static void nobody_cares(void)
{
	const struct irq_line *line = irq_line(QUIET);
	u64 end;
	u32 seen;

	if (irq_request(QUIET, "test", handler, NULL))
		return; /* a machine without so many lines */
	EXPECT_STR(irq_action_name(line, 0), "test");
	answer = false;
	interrupt(TIMES - 1);
	EXPECT(!line->off);
	EXPECT_EQ(asked, TIMES - 1);
	answer = true;
	interrupt(1); /* somebody did: it is counted anew */
	answer = false;
	interrupt(TIMES - 1);
	EXPECT(!line->off);
	interrupt(1);
	EXPECT(line->off);
	seen = READ_ONCE(asked);
	for (end = clock_ns() + WAIT_NS; READ_ONCE(asked) < seen + 3 && clock_ns() < end;)
		cpu_relax();
	EXPECT(READ_ONCE(asked) >= seen + 3); /* from now on by the clock */
}

static bool careless(void *arg)
{
	(void)arg;
	irq_enable();
	return true;
}

static void put_number(const char *text)
{
	struct file *f;

	EXPECT_EQ(file_open("/proc/sys/kernel/traceoff_on_warning", O_WRONLY, 0, &f), 0);
	EXPECT_EQ(kernel_write(f, text, strlen(text)), (ssize)strlen(text));
	file_put(f);
}

/*
 * Whoever traces wants to know what led to it: with traceoff_on_warning, nothing is recorded from
 * the warning on.
 */
static void careless_handler(void)
{
	u64 flags;

	if (irq_request(QUIET + 1, "careless", careless, NULL))
		return; /* a machine without so many lines */
	trace_fresh();
	put_number("1");
	flags = irq_save();
	preempt_count_add(HARDIRQ_UNIT);
	EXPECT(!WARN_ON_ONCE(false));
	EXPECT(tracing_is_on());
	kernel_irq(QUIET + 1);
	EXPECT(!irqs_enabled()); /* it was put right */
	preempt_count_sub(HARDIRQ_UNIT);
	irq_restore(flags);
	EXPECT(!tracing_is_on());
	tracing_on();
	put_number("0");
}

static const struct ktap_case cases[] = {
    {"irq_lines.no_such_line", no_such_line},
    {"irq_lines.first_beyond", first_beyond},
    {"irq_lines.nobody_cares", nobody_cares},
    {"irq_lines.careless_handler", careless_handler},
    {NULL, NULL},
};
extern const struct ktap_suite suite_irq_lines;
const struct ktap_suite suite_irq_lines = {cases};
