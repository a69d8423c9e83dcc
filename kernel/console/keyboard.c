/*
 * Codes come in irq context, from the interrupt or from the timer, never from both. `irqpoll` on
 * the command line: the timer.
 */
#include "kernel/console/keyboard.h"
#include "arch/arch.h"
#include "drivers/i8042.h"
#include "drivers/keymap.h"
#include "kernel/base/cmdline.h"
#include "kernel/console/sysrq.h"
#include "kernel/console/tty.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/seq.h"
#include "kernel/task/irq.h"
#include "kernel/task/timer.h"

#define POLL_NS	    10000000UL /* nobody types faster */
#define IRQ_WAIT_US 20000
#define PROBE_CODE  0xfa /* "yes": no key */

static struct keymap keymap;
static struct timer poll_timer;
static u64 irqs, keys; /* [irq] */
static bool polled, present;

static bool keyboard_take_codes(void)
{
	char bytes[KEYMAP_BYTES];
	bool any = false;
	int code;

	while ((code = i8042_read()) >= 0) {
		size_t n = keymap_feed(&keymap, code, bytes);
		if (keymap.sysrq && n) {
			u64 armed;
			sysrq_arm(&armed);
			sysrq_take(&armed, bytes[0]);
			n = 0;
		}
		for (size_t i = 0; i < n; i++)
			tty_receive(tty_console(), bytes[i]);
		keys += n > 0;
		any = true;
	}
	return any;
}

static bool keyboard_interrupt(void *unused)
{
	(void)unused;
	irqs++;
	return keyboard_take_codes();
}

static void keyboard_poll(struct timer *t)
{
	keyboard_take_codes();
	timer_start(t, clock_ns() + POLL_NS);
}

void keyboard_look(void)
{
	if (present)
		keyboard_take_codes();
}

static bool irq_works(void)
{
	unsigned irq = irq_from_isa(I8042_ISA_IRQ);

	if (cmdline_flag("irqpoll") || irq_request(irq, "i8042", keyboard_interrupt, NULL))
		return false;
	i8042_irq_enable(true);
	i8042_echo(PROBE_CODE);
	for (unsigned us = 0; us < IRQ_WAIT_US && !READ_ONCE(irqs); us += 10)
		delay_us(10);
	return READ_ONCE(irqs) && !irq_line(irq)->off;
}

static int keyboard_show(struct seq *s, void *unused)
{
	(void)unused;
	seq_printf(s, "input: %s\nkeys: %llu\n", polled ? "polled" : "interrupt",
	    (unsigned long long)keys);
	return 0;
}

void keyboard_init(void)
{
	if (!i8042_init())
		return;
	present = true;
	if (!irq_works()) {
		i8042_irq_enable(false);
		polled = true;
		timer_setup(&poll_timer, keyboard_poll);
		timer_start(&poll_timer, clock_ns() + POLL_NS);
	}
	proc_register("trapline/keyboard", keyboard_show, NULL, NULL);
}
