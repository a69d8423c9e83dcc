/*
 * From the codes of a PC keyboard (set 1, as the controller translates them) to the bytes a
 * terminal sends: ASCII, and for other keys the sequences of a VT100 or Linux's console. US layout.
 * Pure; one keyboard's codes in order.
 */
#pragma once

#include "kernel/lib/types.h"

#define KEYMAP_BYTES 8 /* at most, of one key */

struct keymap {
	bool shift_left, shift_right, control_left, control_right, alt, caps;
	bool sysrq;    /* Alt and SysRq are held: letters come alone */
	bool extended; /* 0xe0 came before */
	u8 skip;       /* so many codes more belong to a key that says nothing */
};

/*
 * The bytes of the key that this code completes: how many, 0 for none. A key that is let go sends
 * none.
 */
size_t keymap_feed(struct keymap *k, u8 code, char out[KEYMAP_BYTES]);
