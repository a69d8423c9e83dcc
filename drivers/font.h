/*
 * Letters for the screen: 8 pixels wide, 16 high; a byte a line, the highest bit at the left.
 * ASCII, and a box for all else.
 */
#pragma once

#include "kernel/lib/types.h"

#define FONT_WIDTH  8
#define FONT_HEIGHT 16
#define FONT_FIRST  ' '
#define FONT_GLYPHS 96 /* ' ' to '~', then the box */

extern const u8 font[FONT_GLYPHS][FONT_HEIGHT];

static inline const u8 *font_glyph(u8 c)
{
	return font[c >= FONT_FIRST && c < FONT_FIRST + FONT_GLYPHS - 1 ? c - FONT_FIRST
									: FONT_GLYPHS - 1];
}
