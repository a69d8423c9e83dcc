/*
 * Bochs's VBE extensions, which QEMU's standard VGA has too: a mode is a few numbers. Boot, task
 * context.
 */
#include "arch/arch.h"
#include "drivers/framebuffer.h"
#include "drivers/pci.h"

enum { VBE_INDEX = 0x1ce, VBE_DATA = 0x1cf };
enum { VBE_ID, VBE_WIDTH, VBE_HEIGHT, VBE_BITS, VBE_ENABLE, VBE_BANK, VBE_VIRTUAL_WIDTH };
enum { VBE_ENABLED = 1, VBE_LINEAR = 0x40 };
enum {
	ID_FIRST = 0xb0c2,
	ID_LAST = 0xb0cf
}; /* 32 bits a pixel and a linear framebuffer from 2 on */
enum { VGA_STATUS = 0x3da, VGA_ATTRIBUTE = 0x3c0, ATTRIBUTE_SHOW = 0x20 };
enum { VENDOR = 0x1234, DEVICE = 0x1111 };

#define WIDTH  1024
#define HEIGHT 768

static u16 vbe_read(u16 reg)
{
	port_out16(VBE_INDEX, reg);
	return port_in16(VBE_DATA);
}

static void vbe_write(u16 reg, u16 v)
{
	port_out16(VBE_INDEX, reg);
	port_out16(VBE_DATA, v);
}

static const struct pci_function *find_card(void)
{
	const struct pci_function *f;

	for (unsigned i = 0; (f = pci_nth(i)); i++)
		if (f->vendor == VENDOR && f->id == DEVICE && f->bar[0].base && !f->bar[0].ports)
			return f;
	return NULL;
}

bool bochs_vga_init(struct framebuffer *out)
{
	const struct pci_function *f = find_card();
	u16 id = f ? vbe_read(VBE_ID) : 0;

	if (id < ID_FIRST || id > ID_LAST || f->bar[0].size < WIDTH * HEIGHT * 4)
		return false;
	pci_write(f, PCI_COMMAND, 2,
	    pci_read(f, PCI_COMMAND, 2) | PCI_COMMAND_PORTS | PCI_COMMAND_MEMORY);
	vbe_write(VBE_ENABLE, 0);
	vbe_write(VBE_WIDTH, WIDTH);
	vbe_write(VBE_HEIGHT, HEIGHT);
	vbe_write(VBE_BITS, 32);
	vbe_write(VBE_ENABLE, VBE_ENABLED | VBE_LINEAR);
	port_in8(VGA_STATUS); /* the next byte is an index, and says that there is a picture */
	port_out8(VGA_ATTRIBUTE, ATTRIBUTE_SHOW);
	*out = (struct framebuffer){
	    .base = f->bar[0].base, .width = WIDTH, .height = HEIGHT, .pitch = WIDTH * 4};
	return vbe_read(VBE_WIDTH) == WIDTH;
}
