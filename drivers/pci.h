/*
 * The devices on PCI, found by configuration mechanism 1 (PCI Local Bus 3.0, 3.2.2.3.2). pci_scan()
 * runs once, at boot; the list is constant afterwards. Reading and writing: any context but NMI, a
 * lock inside.
 */
#pragma once

#include "kernel/lib/types.h"

#define PCI_MAX_FUNCTIONS 128
#define PCI_BARS	  6
#define PCI_CONFIG_SIZE	  256

enum { PCI_COMMAND = 4, PCI_COMMAND_PORTS = 1, PCI_COMMAND_MEMORY = 2, PCI_COMMAND_MASTER = 4 };
enum {
	PCI_CLASS_SERIAL = 0x0700,
	PCI_CLASS_DISPLAY = 0x0300,
	PCI_CLASS_HOST_BRIDGE = 0x0600,
	PCI_CLASS_BRIDGE = 0x06, /* of any subclass */
};

struct pci_bar {
	u64 base, size; /* size 0: there is none */
	bool ports, wide, prefetch;
};

struct pci_function {
	u8 bus, device, function;
	u8 header; /* 0: a device, 1: a bridge, 2: CardBus */
	u16 vendor, id, subsystem_vendor, subsystem;
	u16 class_code; /* class << 8 | subclass */
	u8 interface, revision;
	u8 irq_line,
	    /* line: what the firmware says, 255 or 0: nothing; pin 0: none, 1..4: INTA..INTD */
	    irq_pin;
	u8 secondary; /* bridges: the bus behind */
	struct pci_bar bar[PCI_BARS];
};

/*
 * Looks at every bus that bus 0 leads to. No PCI: finds nothing. Returns how many were left out for
 * want of room.
 */
unsigned pci_scan(void);
const struct pci_function *pci_nth(unsigned i); /* sorted by bus, device, function; NULL: no more */

/* A register of 1, 2 or 4 bytes, aligned to its size. */
u32 pci_read(const struct pci_function *f, unsigned reg, unsigned size);
void pci_write(const struct pci_function *f, unsigned reg, unsigned size, u32 v);
