/*
 * A terminal without a screen: bytes go in, a grid of cells is what should be seen. Takes what the
 * shell's line editor and usual programs send of ANSI X3.64 (VT100). Pure; callers keep writers
 * apart.
 */
#pragma once

#include "kernel/lib/types.h"

#define VT_COLUMNS_MAX 256
#define VT_ROWS_MAX    128
#define VT_PARAMS      8

struct vt_cell {
	u8 c;	 /* a byte of ASCII; VT_UNKNOWN: a character there is no letter for */
	u8 attr; /* colours: low half the letter's, high half the ground's; 8 is bright */
};
#define VT_UNKNOWN 0x7f
#define VT_USUAL   0x07 /* light grey on black */

struct vt {
	u16 columns, rows;
	u16 x, y;
	bool wrap; /* the last column is filled: the next character goes to the next line */
	u8 attr;   /* of what is written next */
	bool inverse;
	u16 saved_x, saved_y;
	u8 state;     /* of an escape sequence */
	bool private; /* it has a '?' */
	u16 param[VT_PARAMS];
	u8 params;
	struct vt_cell cell[VT_ROWS_MAX * VT_COLUMNS_MAX]; /* [row * columns + column] */
};

/* Larger sizes are cut. */
void vt_init(struct vt *v, unsigned columns, unsigned rows);
void vt_write(struct vt *v, const char *s, size_t n);
