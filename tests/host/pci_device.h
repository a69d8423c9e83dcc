/* Functions on PCI for drivers under test: registers at the ports of configuration mechanism 1. */
#pragma once

#include "drivers/pci.h"
#include "tests/host/ports.h"

struct pci_fake {
	u8 bus, device, function;
	u8 config[PCI_CONFIG_SIZE];
	u32 fixed[PCI_BARS];	   /* of a base address register the bits that cannot be written */
	bool answered_while_asked; /* its memory or ports were on while a size was asked for */
};

/* Until pci_fake_end() these functions are there. */
void pci_fake_begin(struct pci_fake *functions, unsigned count);
/*
 * The machine of tests/host/pci.c, which was scanned, with the ports of one more device. Its last
 * function is an Intel LPC bridge.
 */
struct pci_fake *pci_machine_begin(const struct port_device *more);
void pci_fake_add_ports(const struct port_device *more);
void pci_fake_end(void);
void pci_fake_set(struct pci_fake *f, unsigned reg, unsigned bytes, u32 v);
u32 pci_fake_get(const struct pci_fake *f, unsigned reg, unsigned bytes);
/* A base address register: its low bits, and the size of what it leads to; 0: wired to `base`. */
void pci_fake_bar(struct pci_fake *f, unsigned i, u64 base, u64 size, bool wide);
