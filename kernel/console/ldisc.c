/*
 * The line discipline: canonical editing, echo, signal characters, flow control, output mapping.
 * Pure; the caller's lock protects the struct. Follows termios(3) and the General Terminal
 * Interface of POSIX (chapter 11).
 *
 * Words: the *queue* holds what was typed. Readers take from head to commit. From commit to tail
 * lies the line that is still being edited; outside canonical mode it is always empty. An entry is
 * a byte, maybe with LITERAL (a delimiter that VLNEXT quoted), or END_OF_FILE.
 */
#include "kernel/console/ldisc.h"
#include "kernel/lib/string.h"
#include "kernel/task/signal_number.h"

#define END_OF_FILE 0x100 /* VEOF was typed here */
#define LITERAL	    0x200 /* quoted: ends no line */
#define TAB_WIDTH   8

static u16 ldisc_entry(const struct ldisc *l, u32 at)
{
	return l->queue[at % LDISC_QUEUE];
}

static bool has(const struct ldisc *l, u32 lflag)
{
	return l->mode.lflag & lflag;
}

/* Is c this control character? One that is 0 is switched off (_POSIX_VDISABLE). */
static bool is_cc(const struct ldisc *l, u8 c, unsigned which)
{
	return c && c == l->mode.cc[which];
}

static bool ldisc_is_extended_cc(const struct ldisc *l, u8 c, unsigned which)
{
	return has(l, TTY_IEXTEN) && is_cc(l, c, which);
}

static bool is_control(u8 c)
{
	return c < ' ' || c == 127;
}

/* Bytes after the first of a UTF-8 character take no column of their own. */
static bool is_continuation(const struct ldisc *l, u8 c)
{
	return (l->mode.iflag & TTY_IUTF8) && (c & 0xc0) == 0x80;
}

/* The column of the cursor after byte c. */
static u32 ldisc_column_after(const struct ldisc *l, u32 column, u8 c)
{
	if (c == '\b')
		return column ? column - 1 : 0;
	if (c == '\t')
		return (column | (TAB_WIDTH - 1)) + 1;
	if (c == '\r')
		return 0;
	return is_control(c) || is_continuation(l, c) ? column : column + 1;
}

/* The same for c as it is echoed. */
static u32 column_after_echo(const struct ldisc *l, u32 column, u8 c)
{
	if (is_control(c) && c != '\t' && has(l, TTY_ECHOCTL))
		return column + 2;
	return ldisc_column_after(l, column, c);
}

/* ---- echo ---- */

static void ldisc_show(struct ldisc *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		l->column = ldisc_column_after(l, l->column, s[i]);
	l->echo(l, s, n);
}

static void ldisc_show_newline(struct ldisc *l)
{
	bool map = (l->mode.oflag & (TTY_OPOST | TTY_ONLCR)) == (TTY_OPOST | TTY_ONLCR);

	if (map)
		ldisc_show(l, "\r\n", 2);
	else
		ldisc_show(l, "\n", 1);
}

static void ldisc_show_byte(struct ldisc *l, u8 c)
{
	char s[2] = {'^', c ^ 0x40};

	if (is_control(c) && c != '\t' && has(l, TTY_ECHOCTL))
		ldisc_show(l, s, 2);
	else
		ldisc_show(l, (const char *)&c, 1);
}

static void ldisc_echo_byte(struct ldisc *l, u8 c)
{
	if (c == '\n') {
		if (has(l, TTY_ECHO) || (has(l, TTY_ECHONL) && has(l, TTY_ICANON)))
			ldisc_show_newline(l);
	} else if (has(l, TTY_ECHO)) {
		ldisc_show_byte(l, c);
	}
}

/* A byte found no room. */
static void ldisc_lose_byte(struct ldisc *l)
{
	l->lost++;
	if (l->mode.iflag & TTY_IMAXBEL)
		l->echo(l, "\a", 1);
}

/* ---- the queue ---- */

static bool ldisc_put(struct ldisc *l, u16 e)
{
	/* One entry stays free for the newline that ends an overlong line. */
	u32 limit = e == '\n' || e == END_OF_FILE ? LDISC_QUEUE : LDISC_QUEUE - 1;

	if (!l->queue || l->tail - l->head >= limit)
		return false;
	l->queue[l->tail++ % LDISC_QUEUE] = e;
	return true;
}

static void commit(struct ldisc *l)
{
	l->commit = l->tail;
	l->readable = true;
}

void ldisc_flush(struct ldisc *l)
{
	l->head = l->commit = l->tail;
	l->quoted = false;
}

u32 ldisc_available(const struct ldisc *l)
{
	return l->commit - l->head;
}

/* ---- editing ---- */

/* The column of the cursor, were the line typed so far echoed from its origin on. */
static u32 ldisc_line_column(const struct ldisc *l)
{
	u32 column = l->origin;

	for (u32 at = l->commit; at != l->tail; at++)
		column = column_after_echo(l, column, ldisc_entry(l, at));
	return column;
}

/* Takes the last character off the line, all bytes of it, and off the screen. */
static void ldisc_erase_character(struct ldisc *l)
{
	u32 before = ldisc_line_column(l);
	u32 after;

	while (l->tail - l->commit > 1 && is_continuation(l, ldisc_entry(l, l->tail - 1)))
		l->tail--;
	l->tail--;
	if (!has(l, TTY_ECHO))
		return;
	if (!has(l, TTY_ECHOE)) {
		ldisc_show_byte(l, l->mode.cc[TTY_VERASE]);
		return;
	}
	after = ldisc_line_column(l);
	for (bool tab = (u8)ldisc_entry(l, l->tail) == '\t'; before > after; before--)
		ldisc_show(l, tab ? "\b" : "\b \b", tab ? 1 : 3);
}

static bool line_is_empty(const struct ldisc *l)
{
	return l->tail == l->commit;
}

static void erase_word(struct ldisc *l)
{
	while (!line_is_empty(l) && is_space((u8)ldisc_entry(l, l->tail - 1)))
		ldisc_erase_character(l);
	while (!line_is_empty(l) && !is_space((u8)ldisc_entry(l, l->tail - 1)))
		ldisc_erase_character(l);
}

static void kill_line(struct ldisc *l)
{
	if (has(l, TTY_ECHO) && !(has(l, TTY_ECHOE) && has(l, TTY_ECHOKE))) {
		l->tail = l->commit;
		ldisc_show_byte(l, l->mode.cc[TTY_VKILL]);
		if (has(l, TTY_ECHOK))
			ldisc_show_newline(l);
		return;
	}
	while (!line_is_empty(l))
		ldisc_erase_character(l);
}

static void reprint_line(struct ldisc *l)
{
	ldisc_show_byte(l, l->mode.cc[TTY_VREPRINT]);
	ldisc_show_newline(l);
	l->origin = l->column;
	for (u32 at = l->commit; at != l->tail; at++)
		ldisc_echo_byte(l, ldisc_entry(l, at));
}

static void ldisc_type_byte(struct ldisc *l, u8 c, u16 flags)
{
	if (line_is_empty(l))
		l->origin = l->column;
	if (ldisc_put(l, c | flags))
		ldisc_echo_byte(l, c);
	else
		ldisc_lose_byte(l);
}

static void end_line(struct ldisc *l, u8 c)
{
	if (ldisc_put(l, c))
		ldisc_echo_byte(l, c);
	else
		ldisc_lose_byte(l);
	commit(l);
}

static bool edit(struct ldisc *l, u8 c)
{
	if (is_cc(l, c, TTY_VERASE)) {
		if (!line_is_empty(l))
			ldisc_erase_character(l);
	} else if (is_cc(l, c, TTY_VKILL)) {
		kill_line(l);
	} else if (ldisc_is_extended_cc(l, c, TTY_VWERASE)) {
		erase_word(l);
	} else if (ldisc_is_extended_cc(l, c, TTY_VREPRINT) && has(l, TTY_ECHO)) {
		reprint_line(l);
	} else if (ldisc_is_extended_cc(l, c, TTY_VLNEXT)) {
		l->quoted = true;
		if (has(l, TTY_ECHO) && has(l, TTY_ECHOCTL))
			l->echo(l, "^\b", 2);
	} else {
		return false;
	}
	return true;
}

static void canonical_byte(struct ldisc *l, u8 c)
{
	if (edit(l, c))
		return;
	if (is_cc(l, c, TTY_VEOF)) {
		ldisc_put(l, END_OF_FILE);
		commit(l);
	} else if (c == '\n' || is_cc(l, c, TTY_VEOL) || ldisc_is_extended_cc(l, c, TTY_VEOL2)) {
		end_line(l, c);
	} else {
		ldisc_type_byte(l, c, 0);
	}
}

static void raw_byte(struct ldisc *l, u8 c)
{
	ldisc_type_byte(l, c, 0);
	commit(l);
}

/* ---- one byte of input ---- */

static int signal_of(const struct ldisc *l, u8 c)
{
	if (!has(l, TTY_ISIG))
		return 0;
	if (is_cc(l, c, TTY_VINTR))
		return SIGINT;
	if (is_cc(l, c, TTY_VQUIT))
		return SIGQUIT;
	return is_cc(l, c, TTY_VSUSP) ? SIGTSTP : 0;
}

/* VSTOP and VSTART; under IXANY any byte restarts output. True: the byte is used up. */
static bool flow_control(struct ldisc *l, u8 c)
{
	if (!(l->mode.iflag & TTY_IXON))
		return false;
	if (is_cc(l, c, TTY_VSTOP) || is_cc(l, c, TTY_VSTART)) {
		l->stopped = is_cc(l, c, TTY_VSTOP);
		return true;
	}
	if (l->mode.iflag & TTY_IXANY)
		l->stopped = false;
	return false;
}

/* The mapping of carriage return and newline; -1: the byte is ignored. */
static int map_input(const struct ldisc *l, u8 c)
{
	u32 iflag = l->mode.iflag;

	if (iflag & TTY_ISTRIP)
		c &= 0x7f;
	if (c == '\r')
		return iflag & TTY_IGNCR ? -1 : iflag & TTY_ICRNL ? '\n' : c;
	return c == '\n' && (iflag & TTY_INLCR) ? '\r' : c;
}

static void quoted_byte(struct ldisc *l, u8 c)
{
	l->quoted = false;
	ldisc_type_byte(l, c, LITERAL);
	if (!has(l, TTY_ICANON))
		commit(l);
}

int ldisc_input(struct ldisc *l, u8 c)
{
	int mapped, sig;

	if (l->quoted) {
		quoted_byte(l, c);
		return 0;
	}
	mapped = map_input(l, c);
	if (mapped < 0 || flow_control(l, mapped))
		return 0;
	sig = signal_of(l, mapped);
	if (sig) {
		l->stopped = false;
		if (!has(l, TTY_NOFLSH))
			ldisc_flush(l);
		ldisc_echo_byte(l, mapped);
		return sig;
	}
	if (has(l, TTY_ICANON))
		canonical_byte(l, mapped);
	else
		raw_byte(l, mapped);
	return 0;
}

/* ---- readers ---- */

static bool ends_line(const struct ldisc *l, u16 e)
{
	return e == '\n' || (e < END_OF_FILE &&
				(is_cc(l, e, TTY_VEOL) || ldisc_is_extended_cc(l, e, TTY_VEOL2)));
}

size_t ldisc_take(struct ldisc *l, char *buf, size_t n)
{
	bool canonical = has(l, TTY_ICANON), ended = false;
	size_t got = 0;

	while (got < n && l->head != l->commit && !ended) {
		u16 e = ldisc_entry(l, l->head++);

		ended = e == END_OF_FILE;
		if (ended)
			break;
		buf[got++] = e;
		ended = canonical && ends_line(l, e);
	}
	/*
	 * An end-of-file mark that follows a full buffer belongs to this read: the next one must
	 * not return 0.
	 */
	if (got && got == n && !ended && l->head != l->commit &&
	    ldisc_entry(l, l->head) == END_OF_FILE)
		l->head++;
	return got;
}

void ldisc_set_mode(struct ldisc *l, const struct ldisc_mode *mode, bool flush)
{
	bool was_canonical = has(l, TTY_ICANON);

	l->mode = *mode;
	if (flush)
		ldisc_flush(l);
	if (was_canonical && !has(l, TTY_ICANON) && !line_is_empty(l))
		commit(l);
	if (!(l->mode.iflag & TTY_IXON))
		l->stopped = false;
}

/* ---- writers ---- */

/* The form of one byte of output; at most 8 bytes. */
static size_t output_byte(struct ldisc *l, u8 c, char *out)
{
	u32 oflag = l->mode.oflag;
	size_t n = 0;

	if (c == '\t' && (oflag & TTY_TAB3) == TTY_TAB3) {
		do {
			out[n++] = ' ';
			l->column++;
		} while (l->column % TAB_WIDTH);
		return n;
	}
	if (c == '\r' && (oflag & TTY_ONOCR) && !l->column)
		return 0;
	if (c == '\r' && (oflag & TTY_OCRNL))
		c = '\n';
	else if (c == '\n' && (oflag & TTY_ONLCR))
		out[n++] = '\r';
	if (c == '\n' && (oflag & (TTY_ONLCR | TTY_ONLRET)))
		l->column = 0;
	else
		l->column = ldisc_column_after(l, l->column, c);
	out[n++] = c;
	return n;
}

size_t ldisc_output(struct ldisc *l, const char *s, size_t n, char *out, size_t size, size_t *len)
{
	size_t used = 0;

	*len = 0;
	while (used < n && size - *len >= TAB_WIDTH) {
		u8 c = s[used++];

		if (l->mode.oflag & TTY_OPOST) {
			*len += output_byte(l, c, out + *len);
		} else {
			l->column = ldisc_column_after(l, l->column, c);
			out[(*len)++] = c;
		}
	}
	return used;
}

const struct ldisc_mode ldisc_first_mode = {
    .iflag = TTY_ICRNL | TTY_IXON,
    .oflag = TTY_OPOST | TTY_ONLCR,
    .cflag = 0xcbd, /* 38400 baud, 8 bits, CREAD, HUPCL */
    .lflag = TTY_ISIG | TTY_ICANON | TTY_ECHO | TTY_ECHOE | TTY_ECHOK | TTY_ECHOCTL | TTY_ECHOKE |
	     TTY_IEXTEN,
    .cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22},
};

const struct ldisc_mode ldisc_raw_mode = {
    .cflag = 0xcbd,
    .cc = {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22},
};

void ldisc_init(struct ldisc *l, u16 *queue, void (*echo)(struct ldisc *, const char *, size_t))
{
	*l = (struct ldisc){.mode = ldisc_first_mode, .queue = queue, .echo = echo};
}
