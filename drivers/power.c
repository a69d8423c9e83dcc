/*
 * The end of the machine: each way is tried in turn, best first, and the CPU halts when none works.
 * Any context, interrupts off from here on. (ACPI 6.4, 4.8.3.2, 4.8.3.6, 4.8.3.7, 16.1.6.)
 */
#include "drivers/power.h"

#include "arch/arch.h"
#include "drivers/console.h"

enum {
	PM1_SCI_ENABLED = 1,
	PM1_SLEEP_ENABLE = 1 << 13,
	PM1_TYPE_SHIFT = 10,
	PM1_TYPE_MASK = 7 << 10
};
enum { SLEEP_ENABLE = 1 << 5, SLEEP_TYPE_SHIFT = 2 };
enum { RESET_CONTROL = 0xcf9, RESET_COLD = 2, RESET_NOW = 4 };
enum { KEYBOARD_STATUS = 0x64, KEYBOARD_COMMAND = 0x64, KEYBOARD_BUSY = 2, KEYBOARD_RESET = 0xfe };
enum { QEMU_DEBUG_EXIT = 0xf4, EMULATOR_PM1 = 0x604, BOCHS_SHUTDOWN = 0x8900 };

#define SETTLE_US 20000 /* a chipset may take its time */

static const struct acpi_fadt *fadt;
static volatile u8 *reset_memory, *sleep_memory; /* registers that are not ports */

static volatile u8 *map_register(const struct acpi_address *a)
{
	return a->address && a->space == ACPI_SPACE_MEMORY ? device_map(a->address, 1) : NULL;
}

void power_init(const struct acpi_fadt *f)
{
	fadt = f;
	if (!f)
		return;
	reset_memory = map_register(&f->reset);
	sleep_memory = map_register(&f->sleep_control);
}

static void write_register(const struct acpi_address *a, volatile u8 *memory, u8 v)
{
	if (memory)
		*memory = v;
	else if (a->address && a->space == ACPI_SPACE_PORTS)
		port_out8(a->address, v);
}

static void set_sleep(u16 port, u8 type)
{
	if (port)
		port_out16(port,
		    (port_in16(port) & ~PM1_TYPE_MASK) | type << PM1_TYPE_SHIFT | PM1_SLEEP_ENABLE);
}

/* The firmware owns the PM1 registers until ACPI is enabled. */
static void enable_acpi(void)
{
	if (!fadt->smi_command || port_in16(fadt->pm1a_control) & PM1_SCI_ENABLED)
		return;
	port_out8(fadt->smi_command, fadt->acpi_enable);
	for (unsigned i = 0; i < 1000 && !(port_in16(fadt->pm1a_control) & PM1_SCI_ENABLED); i++)
		delay_us(10);
}

static void acpi_off(void)
{
	if (!fadt || !fadt->s5_known)
		return;
	if (fadt->hardware_reduced) {
		write_register(&fadt->sleep_control, sleep_memory,
		    fadt->s5_type_a << SLEEP_TYPE_SHIFT | SLEEP_ENABLE);
	} else if (fadt->pm1a_control) {
		enable_acpi();
		set_sleep(fadt->pm1a_control, fadt->s5_type_a);
		set_sleep(fadt->pm1b_control, fadt->s5_type_b);
	} else {
		return;
	}
	delay_us(SETTLE_US);
}

static void emulator_off(void)
{
	port_out16(EMULATOR_PM1, PM1_SLEEP_ENABLE);
	for (const char *s = "Shutdown"; *s; s++)
		port_out8(BOCHS_SHUTDOWN, *s);
}

void machine_poweroff(void)
{
	static const char words[] = "It is now safe to switch this machine off.\r\n";
	irq_disable();
	consoles_drain();
	acpi_off();
	emulator_off();
	consoles_write(words, sizeof(words) - 1);
	machine_halt();
}

void machine_exit(u8 code)
{
	irq_disable();
	consoles_drain();
	port_out8(QEMU_DEBUG_EXIT, code);
	machine_poweroff();
}

static void keyboard_reset(void)
{
	for (unsigned i = 0; i < 1000 && port_in8(KEYBOARD_STATUS) & KEYBOARD_BUSY; i++)
		delay_us(10);
	port_out8(KEYBOARD_COMMAND, KEYBOARD_RESET);
	delay_us(SETTLE_US);
}

/* Breakpoint without an interrupt table: the CPU shuts down, which resets every PC. */
void machine_triple_fault(void)
{
	static const struct {
		u16 limit;
		u64 base;
	} __packed none = {0, 0};
	__asm__ volatile("lidt %0; int3" ::"m"(none));
}

void machine_reboot(void)
{
	irq_disable();
	arch_write_back();
	consoles_drain();
	if (fadt && fadt->reset.address) {
		write_register(&fadt->reset, reset_memory, fadt->reset_value);
		delay_us(SETTLE_US);
	}
	port_out8(RESET_CONTROL, RESET_COLD);
	port_out8(RESET_CONTROL, RESET_COLD | RESET_NOW);
	delay_us(SETTLE_US);
	keyboard_reset();
	machine_triple_fault();
	machine_halt();
}
