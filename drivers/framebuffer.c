/* Contexts: framebuffer.h. */
#include "drivers/framebuffer.h"

#include "arch/arch.h"
#include "drivers/font.h"
#include "drivers/vt.h"
#include "kernel/lib/string.h"

#define WIDE	   2048 /* pixels: from here on each is drawn 2 x 2 */
#define ROWS_LEAST 4
#define NOT_SHOWN  0xff /* as an attribute: none has it */

static struct framebuffer fb;
static volatile u32 *pixels;
static unsigned scale;
static struct vt vt;
static struct vt_cell shown[VT_ROWS_MAX * VT_COLUMNS_MAX];
static unsigned cursor_shown; /* index of the cell */

static u32 framebuffer_colour(unsigned n)
{
	unsigned full = n & 8 ? 0xff : 0xaa, least = n & 8 ? 0x55 : 0;
	u32 red = n & 1 ? full : least, green = n & 2 ? full : least, blue = n & 4 ? full : least;

	return fb.red_first ? red | green << 8 | blue << 16 : blue | green << 8 | red << 16;
}

static void draw(unsigned cell, bool cursor)
{
	struct vt_cell c = vt.cell[cell];
	u32 front = framebuffer_colour(c.attr & 15), back = framebuffer_colour(c.attr >> 4);
	const u8 *glyph = font_glyph(c.c);
	unsigned x = cell % vt.columns * FONT_WIDTH * scale;
	unsigned y = cell / vt.columns * FONT_HEIGHT * scale;

	for (unsigned dy = 0; dy < FONT_HEIGHT * scale; dy++) {
		volatile u32 *p = pixels + (y + dy) * (fb.pitch / 4) + x;
		u8 line = glyph[dy / scale];
		if (cursor && dy / scale >= FONT_HEIGHT - 2)
			line = 0xff;
		for (unsigned dx = 0; dx < FONT_WIDTH * scale; dx++)
			p[dx] = line >> (FONT_WIDTH - 1 - dx / scale) & 1 ? front : back;
	}
}

/* Brings the screen to what the terminal holds. */
static void show(void)
{
	unsigned cursor = vt.y * vt.columns + vt.x;

	shown[cursor_shown].attr = NOT_SHOWN;
	shown[cursor].attr = NOT_SHOWN;
	cursor_shown = cursor;
	for (unsigned i = 0; i < (unsigned)vt.columns * vt.rows; i++) {
		if (!memcmp(&shown[i], &vt.cell[i], sizeof(shown[i])))
			continue;
		shown[i] = vt.cell[i];
		draw(i, i == cursor);
	}
}

static void framebuffer_write(struct console *c, const char *s, size_t n)
{
	(void)c;
	vt_write(&vt, s, n);
	show();
}

struct console *framebuffer_init(const struct framebuffer *from)
{
	static struct console console = {.name = "tty0", .write = framebuffer_write};
	u64 size = (u64)from->pitch * from->height;
	void *memory;

	if (from->width < 80 * FONT_WIDTH || from->height < ROWS_LEAST * FONT_HEIGHT ||
	    from->pitch / 4 < from->width || from->pitch % 4)
		return NULL;
	memory = screen_map(from->base, size);
	if (!memory)
		return NULL;
	fb = *from;
	pixels = memory;
	scale = fb.width >= WIDE ? 2 : 1;
	vt_init(&vt, fb.width / (FONT_WIDTH * scale), fb.height / (FONT_HEIGHT * scale));
	for (u64 i = 0; i < size / 4; i++)
		pixels[i] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		shown[i] = (struct vt_cell){' ', VT_USUAL}; /* which is black */
	cursor_shown = 0;
	return &console;
}
