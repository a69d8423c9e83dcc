/*
 * The line discipline of a terminal: it processes each byte typed and each byte written, by
 * termios(3). Pure: it knows no task, device or lock. The caller serialises all calls for one
 * `struct ldisc` (the terminal's lock, interrupts off). Numbers and layouts are Linux's for x86-64.
 */
#pragma once

#include "kernel/lib/types.h"

#define LDISC_QUEUE 65536U /* entries; a power of two */

/*
 * c_iflag, c_oflag, c_lflag: the bits that have an effect here. Others are kept and shown as they
 * were set.
 */
enum {
	TTY_ISTRIP = 0x20,
	TTY_INLCR = 0x40,
	TTY_IGNCR = 0x80,
	TTY_ICRNL = 0x100,
	TTY_IXON = 0x400,
	TTY_IXANY = 0x800,
	TTY_IMAXBEL = 0x2000,
	TTY_IUTF8 = 0x4000,
};
enum {
	TTY_OPOST = 1,
	TTY_ONLCR = 4,
	TTY_OCRNL = 8,
	TTY_ONOCR = 0x10,
	TTY_ONLRET = 0x20,
	TTY_TAB3 = 0x1800,
};
enum {
	TTY_ISIG = 1,
	TTY_ICANON = 2,
	TTY_ECHO = 8,
	TTY_ECHOE = 0x10,
	TTY_ECHOK = 0x20,
	TTY_ECHONL = 0x40,
	TTY_NOFLSH = 0x80,
	TTY_TOSTOP = 0x100,
	TTY_ECHOCTL = 0x200,
	TTY_ECHOKE = 0x800,
	TTY_IEXTEN = 0x8000,
};
enum {
	TTY_VINTR,
	TTY_VQUIT,
	TTY_VERASE,
	TTY_VKILL,
	TTY_VEOF,
	TTY_VTIME,
	TTY_VMIN,
	TTY_VSTART = 8,
	TTY_VSTOP,
	TTY_VSUSP,
	TTY_VEOL,
	TTY_VREPRINT,
	TTY_VWERASE = 14,
	TTY_VLNEXT,
	TTY_VEOL2,
	TTY_NCC = 19,
};

/* struct termios as TCGETS and TCSETS exchange it. */
struct ldisc_mode {
	u32 iflag, oflag, cflag, lflag;
	u8 line;
	u8 cc[TTY_NCC];
};
_Static_assert(sizeof(struct ldisc_mode) == 36, "struct termios of the system call");

struct ldisc {
	struct ldisc_mode mode;
	u16 *queue;    /* LDISC_QUEUE entries: a byte, or a mark */
	u32 head;      /* next to read; free-running, like the two below */
	u32 commit;    /* end of what readers may take */
	u32 tail;      /* end of what was typed: the line being edited is commit..tail */
	u32 column;    /* of the cursor, as far as output shows */
	u32 origin;    /* the column in which the line being edited begins */
	bool quoted;   /* VLNEXT was typed: the next byte is taken literally */
	bool stopped;  /* VSTOP was typed: output waits */
	u64 lost;      /* bytes that found no room */
	bool readable; /* set by ldisc_input() when readers should look; the caller clears it */
	/* Shows what is echoed. Called inside ldisc_input(). */
	void (*echo)(struct ldisc *l, const char *s, size_t n);
};

/* What Linux sets for a serial console: cooked, echoing, Ctrl-C, Ctrl-Z and Ctrl-S at work. */
extern const struct ldisc_mode ldisc_first_mode;
/* Bytes as they are, both ways. */
extern const struct ldisc_mode ldisc_raw_mode;
void ldisc_init(struct ldisc *l, u16 *queue, void (*echo)(struct ldisc *, const char *, size_t));
/* One byte from the line. Returns the signal that it asks for (SIGINT, SIGQUIT, SIGTSTP), or 0. */
int ldisc_input(struct ldisc *l, u8 c);
/*
 * Bytes or end-of-file marks that a reader may take; in canonical mode those of finished lines
 * only.
 */
u32 ldisc_available(const struct ldisc *l);
/*
 * Takes up to n bytes; in canonical mode no further than the end of a line. 0 with something
 * available is an end of file.
 */
size_t ldisc_take(struct ldisc *l, char *buf, size_t n);
/*
 * Sets the modes; `flush` discards all input. Input that waits stays readable across a change
 * between canonical and raw mode.
 */
void ldisc_set_mode(struct ldisc *l, const struct ldisc_mode *mode, bool flush);
void ldisc_flush(struct ldisc *l);
/*
 * What a write of s[0..n) looks like on the line: puts it into out[0..size) and returns how many
 * bytes of s were used. *len: bytes in out. At least one byte of s is used when size is 8 or more.
 */
size_t ldisc_output(struct ldisc *l, const char *s, size_t n, char *out, size_t size, size_t *len);
