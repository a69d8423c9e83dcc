/* Contexts: screen.h. */
#include "kernel/console/screen.h"
#include "boot/boot_info.h"
#include "drivers/framebuffer.h"
#include "kernel/base/printk.h"
#include "kernel/console/choice.h"

static bool screen_is_wanted(void)
{
	const struct console_option *o;

	for (unsigned i = 0; (o = console_choice_nth(i)); i++)
		if (o->kind == CONSOLE_SCREEN)
			return true;
	return !console_choice_nth(0);
}

static bool started; /* there is a screen, used or not */

static void screen_start(const struct framebuffer *fb)
{
	struct console *c = framebuffer_init(fb);

	started = true;
	if (c)
		console_add(c);
	else
		pr_warn("screen: %u x %u at 0x%llx cannot be used", fb->width, fb->height,
		    (unsigned long long)fb->base);
}

void screen_init(const struct boot_info *bi)
{
	const struct boot_framebuffer *b = &bi->framebuffer;
	struct framebuffer fb = {.base = b->base,
	    .width = b->width,
	    .height = b->height,
	    .pitch = b->pitch,
	    .red_first = b->format == BOOT_FB_RGBX};

	if (screen_is_wanted() && (b->format == BOOT_FB_BGRX || b->format == BOOT_FB_RGBX))
		screen_start(&fb);
}

void screen_init_machine(void)
{
	struct framebuffer fb;

	if (!started && screen_is_wanted() && bochs_vga_init(&fb))
		screen_start(&fb);
}
