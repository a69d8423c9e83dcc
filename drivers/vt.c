/*
 * Contexts: vt.h. An escape sequence is ESC [ parameters final, or ESC and one character; what is
 * not known does nothing.
 */
#include "drivers/vt.h"

#include "kernel/lib/string.h"

enum { GROUND, ESCAPE, CSI, CHARSET };
enum { ESC = 27, TAB = 8, PARAM_MAX = 9999 };
enum { BRIGHT = 8 };

static struct vt_cell *at(struct vt *v, unsigned x, unsigned y)
{
	return &v->cell[y * v->columns + x];
}

static void vt_clear(struct vt *v, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		v->cell[i] = (struct vt_cell){' ', v->attr};
}

void vt_init(struct vt *v, unsigned columns, unsigned rows)
{
	memset(v, 0, sizeof(*v));
	v->columns = MIN(MAX(columns, 1u), (unsigned)VT_COLUMNS_MAX);
	v->rows = MIN(MAX(rows, 1u), (unsigned)VT_ROWS_MAX);
	v->attr = VT_USUAL;
	vt_clear(v, 0, v->columns * v->rows);
}

static void vt_line_feed(struct vt *v)
{
	unsigned last = v->rows - 1;

	if (v->y < last) {
		v->y++;
		return;
	}
	memmove(v->cell, v->cell + v->columns, last * v->columns * sizeof(v->cell[0]));
	vt_clear(v, last * v->columns, v->rows * v->columns);
}

static void vt_put(struct vt *v, u8 c)
{
	u8 attr = v->inverse ? (v->attr >> 4 | v->attr << 4) : v->attr;

	if (v->wrap) {
		v->x = 0;
		vt_line_feed(v);
	}
	*at(v, v->x, v->y) = (struct vt_cell){c, attr};
	v->wrap = v->x + 1 == v->columns;
	if (!v->wrap)
		v->x++;
}

/* A parameter, or what stands for one that is missing or 0. */
static unsigned param(const struct vt *v, unsigned i, unsigned otherwise)
{
	return i < v->params && v->param[i] ? v->param[i] : otherwise;
}

static void vt_move(struct vt *v, int x, int y)
{
	v->x = MIN(MAX(x, 0), v->columns - 1);
	v->y = MIN(MAX(y, 0), v->rows - 1);
	v->wrap = false;
}

/* ESC [ 0|1|2 J and K: from the cursor on, up to it, all of it; of the screen or the line. */
static void vt_erase(struct vt *v, unsigned from, unsigned to)
{
	unsigned here = v->y * v->columns + v->x, what = param(v, 0, 0);

	vt_clear(v, what == 0 ? here : from, what == 1 ? here + 1 : to);
}

static void insert_delete(struct vt *v, bool insert)
{
	unsigned n = MIN(param(v, 0, 1), (unsigned)(v->columns - v->x));
	unsigned rest = v->columns - v->x - n, end = (v->y + 1) * v->columns;
	struct vt_cell *here = at(v, v->x, v->y);

	if (insert) {
		memmove(here + n, here, rest * sizeof(*here));
		vt_clear(v, here - v->cell, here - v->cell + n);
	} else {
		memmove(here, here + n, rest * sizeof(*here));
		vt_clear(v, end - n, end);
	}
}

/* Select graphic rendition; ANSI's colours count blue as 4, red as 1. */
static void rendition(struct vt *v, unsigned p)
{
	if (p == 0) {
		v->attr = VT_USUAL;
		v->inverse = false;
	} else if (p == 1) {
		v->attr |= BRIGHT;
	} else if (p == 22) {
		v->attr &= ~BRIGHT;
	} else if (p == 7 || p == 27) {
		v->inverse = p == 7;
	} else if (p >= 30 && p <= 37) {
		v->attr = (v->attr & 0xf8) | (p - 30);
	} else if (p >= 40 && p <= 47) {
		v->attr = (v->attr & 0x0f) | (p - 40) << 4;
	} else if (p == 39) {
		v->attr = (v->attr & 0xf8) | (VT_USUAL & 7);
	} else if (p == 49) {
		v->attr &= 0x0f;
	} else if (p >= 90 && p <= 97) {
		v->attr = (v->attr & 0xf0) | BRIGHT | (p - 90);
	} else if (p >= 100 && p <= 107) {
		v->attr = (v->attr & 0x0f) | (BRIGHT | (p - 100)) << 4;
	}
}

static void sequence(struct vt *v, char final)
{
	unsigned n = param(v, 0, 1), line = v->y * v->columns;

	if (v->private)
		return;
	switch (final) {
	case 'A':
		vt_move(v, v->x, v->y - (int)n);
		break;
	case 'B':
		vt_move(v, v->x, v->y + n);
		break;
	case 'C':
		vt_move(v, v->x + n, v->y);
		break;
	case 'D':
		vt_move(v, v->x - (int)n, v->y);
		break;
	case 'G':
		vt_move(v, n - 1, v->y);
		break;
	case 'd':
		vt_move(v, v->x, n - 1);
		break;
	case 'H':
	case 'f':
		vt_move(v, param(v, 1, 1) - 1, n - 1);
		break;
	case 'J':
		vt_erase(v, 0, v->rows * v->columns);
		break;
	case 'K':
		vt_erase(v, line, line + v->columns);
		break;
	case '@':
	case 'P':
		insert_delete(v, final == '@');
		break;
	case 'X':
		vt_clear(v, line + v->x, line + MIN(v->x + n, (unsigned)v->columns));
		break;
	case 'm':
		for (unsigned i = 0; i < MAX((unsigned)v->params, 1u); i++)
			rendition(v, param(v, i, 0));
		break;
	case 's':
		v->saved_x = v->x;
		v->saved_y = v->y;
		break;
	case 'u':
		vt_move(v, v->saved_x, v->saved_y);
		break;
	}
}

static void control(struct vt *v, u8 c)
{
	switch (c) {
	case '\r':
		v->x = 0;
		v->wrap = false;
		break;
	case '\n':
	case '\v':
	case '\f':
		vt_line_feed(v);
		v->wrap = false;
		break;
	case '\b':
		v->x -= v->x && !v->wrap;
		v->wrap = false;
		break;
	case '\t':
		vt_move(v, ALIGN_DOWN(v->x, TAB) + TAB, v->y);
		break;
	case ESC:
		v->state = ESCAPE;
		break;
	}
}

static void escape(struct vt *v, u8 c)
{
	v->state = GROUND;
	switch (c) {
	case '[':
		v->state = CSI;
		v->private = false;
		v->params = 0;
		memset(v->param, 0, sizeof(v->param));
		break;
	case '(':
	case ')':
		v->state = CHARSET;
		break;
	case 'c':
		vt_init(v, v->columns, v->rows);
		break;
	case '7':
		v->saved_x = v->x;
		v->saved_y = v->y;
		break;
	case '8':
		vt_move(v, v->saved_x, v->saved_y);
		break;
	case 'D':
		vt_line_feed(v);
		break;
	}
}

static void csi(struct vt *v, u8 c)
{
	if (c == '?') {
		v->private = true;
	} else if (is_digit(c)) {
		u16 *p = &v->param[v->params ? v->params - 1 : 0];
		v->params = MAX(v->params, (u8)1);
		*p = MIN(*p * 10 + (c - '0'), PARAM_MAX);
	} else if (c == ';') {
		v->params = MIN(MAX(v->params, (u8)1) + 1, VT_PARAMS);
		v->param[v->params - 1] = 0;
	} else if (c >= '@' && c <= '~') {
		v->state = GROUND;
		sequence(v, c);
	}
}

void vt_write(struct vt *v, const char *s, size_t n)
{
	for (; n; n--, s++) {
		u8 c = *s;
		if (c < ' ')
			control(v, c);
		else if (v->state == ESCAPE)
			escape(v, c);
		else if (v->state == CSI)
			csi(v, c);
		else if (v->state == CHARSET)
			v->state = GROUND;
		else if (c < 0x7f)
			vt_put(v, c);
		else if (c >= 0xc0)
			vt_put(v,
			    /* the first byte of a character in UTF-8; the others add nothing */
			    VT_UNKNOWN);
	}
}
