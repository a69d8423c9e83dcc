/* Scan codes: "IBM PC/AT keyboard", set 1; bit 7: let go. Contexts: keymap.h. */
#include "drivers/keymap.h"

#include "kernel/lib/string.h"

enum { EXTENDED = 0xe0, PAUSE = 0xe1, RELEASED = 0x80, ACK = 0xfa, RESEND = 0xfe, ERROR = 0xff };
enum {
	KEY_CONTROL = 0x1d,
	KEY_SHIFT_LEFT = 0x2a,
	KEY_SHIFT_RIGHT = 0x36,
	KEY_ALT = 0x38,
	KEY_CAPS = 0x3a,
	KEY_KEYPAD = 0x47,
	KEY_KEYPAD_END = 0x53,
	KEY_F1 = 0x3b,
	KEY_F10 = 0x44,
	KEY_F11 = 0x57,
	KEY_F12 = 0x58,
	KEY_SYSRQ = 0x54, /* Print Screen while Alt is held */
};
enum { PAUSE_CODES = 5 }; /* after 0xe1 */

/* By code: 0 to 0x39, plain and with shift. */
static const char plain[] = "\0\033"
			    "1234567890-=\177\tqwertyuiop[]\r\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
static const char shifted[] = "\0\033"
			      "!@#$%^&*()_+\177\tQWERTYUIOP{}\r\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ";

/* The keypad without Num Lock, and the keys that came after it, with 0xe0 before: 0x47 on. */
static const char *const keypad[] = {"\033[1~", "\033[A", "\033[5~", "-", "\033[D", "", "\033[C",
    "+", "\033[4~", "\033[B", "\033[6~", "\033[2~", "\033[3~"};

static const char *const function_keys[] = {"\033[[A", "\033[[B", "\033[[C", "\033[[D", "\033[[E",
    "\033[17~", "\033[18~", "\033[19~", "\033[20~", "\033[21~", "\033[23~", "\033[24~"};

static size_t say(char *out, const char *s)
{
	size_t n = strlen(s);

	memcpy(out, s, n);
	return n;
}

/* True: the code is of a key that only changes what others mean. */
static bool modifier(struct keymap *k, u8 code, bool pressed, bool extended)
{
	switch (code) {
	case KEY_SHIFT_LEFT:
		k->shift_left =
		    pressed && !extended; /* extended ones are made up by the keyboard */
		return true;
	case KEY_SHIFT_RIGHT:
		k->shift_right = pressed && !extended;
		return true;
	case KEY_CONTROL:
		*(extended ? &k->control_right : &k->control_left) = pressed;
		return true;
	case KEY_ALT:
		k->alt = pressed;
		k->sysrq &= pressed;
		return true;
	case KEY_SYSRQ:
		k->sysrq = pressed;
		return true;
	case KEY_CAPS:
		k->caps ^= pressed;
		return true;
	}
	return false;
}

static bool letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* A key with a character of its own. */
static size_t character(const struct keymap *k, u8 code, char *out)
{
	bool shift = k->shift_left || k->shift_right;
	char c = plain[code];
	size_t n = 0;

	if (!c)
		return 0;
	if (letter(c) ? shift != k->caps : shift)
		c = shifted[code];
	if (k->control_left || k->control_right) {
		if (c == ' ' || c == '2')
			c = 0;
		else if (c == '/' || c == '?')
			c = '_' & 31;
		else if (c >= '@' && c <= '~')
			c &= 31;
	}
	if (k->alt && !k->sysrq)
		out[n++] = '\033';
	out[n++] = c;
	return n;
}

size_t keymap_feed(struct keymap *k, u8 code, char out[KEYMAP_BYTES])
{
	bool extended = k->extended, pressed = !(code & RELEASED);

	if (k->skip) {
		k->skip--;
		return 0;
	}
	if (code == PAUSE)
		k->skip = PAUSE_CODES;
	if (code == EXTENDED)
		k->extended = true;
	if (code == PAUSE || code == EXTENDED || code == ACK || code == RESEND || code == ERROR)
		return 0;
	k->extended = false;
	code &= ~RELEASED;
	if (modifier(k, code, pressed, extended) || !pressed)
		return 0;
	if (code >= KEY_KEYPAD && code <= KEY_KEYPAD_END)
		return say(out, keypad[code - KEY_KEYPAD]);
	if (extended && code != 0x1c &&
	    code != 0x35) /* Enter and / of the keypad; no other has one */
		return 0;
	if (code >= KEY_F1 && code <= KEY_F10)
		return say(out, function_keys[code - KEY_F1]);
	if (code == KEY_F11 || code == KEY_F12)
		return say(out, function_keys[code - KEY_F11 + 10]);
	return code < sizeof(plain) - 1 ? character(k, code, out) : 0;
}
