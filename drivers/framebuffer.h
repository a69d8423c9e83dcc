/*
 * The screen as a console: text in a framebuffer of 32 bits a pixel. Any context after
 * framebuffer_init(), which is task context; callers keep writers apart (console lock). Nothing is
 * read back from the screen: what it shows is kept beside it.
 */
#pragma once

#include "drivers/console.h"

struct framebuffer {
	u64 base;
	u32 width, height, pitch; /* pixels, pixels, bytes */
	bool red_first;		  /* red in the lowest byte; else blue */
};

/*
 * Clears the screen. NULL: it is too small for text, or cannot be mapped. There is one; a second
 * call changes to another.
 */
struct console *framebuffer_init(const struct framebuffer *fb);

/*
 * QEMU's and Bochs's VGA on PCI, set to 1024 x 768. False: there is none, or the firmware gave it
 * no address.
 */
bool bochs_vga_init(struct framebuffer *out);
