/* The monitor's line editor: see line.h. */
#include "kernel/monitor/line.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

#define CTRL(c) ((c) - '@')
#define DEL	0x7f
#define ESC	0x1b

void line_begin(struct line *l)
{
	l->length = l->cursor = l->escape = 0;
	l->text[0] = '\0';
	l->shown = l->lines;
}

bool line_insert(struct line *l, const char *s, size_t n)
{
	if (n >= LINE_SIZE - l->length)
		return false;
	memmove(l->text + l->cursor + n, l->text + l->cursor, l->length - l->cursor + 1);
	memcpy(l->text + l->cursor, s, n);
	l->length += n;
	l->cursor += n;
	return true;
}

/* Takes text[from..to) out and leaves the cursor there. */
static void line_erase(struct line *l, unsigned from, unsigned to)
{
	memmove(l->text + from, l->text + to, l->length - to + 1);
	l->length -= to - from;
	l->cursor = from;
}

static unsigned line_word_start(const struct line *l)
{
	unsigned at = l->cursor;

	while (at && l->text[at - 1] == ' ')
		at--;
	while (at && l->text[at - 1] != ' ')
		at--;
	return at;
}

void line_remember(struct line *l)
{
	const char *last = l->past[(l->lines - 1) % LINE_HISTORY];

	if (!l->length || (l->lines && !strcmp(last, l->text)))
		return;
	memcpy(l->past[l->lines++ % LINE_HISTORY], l->text, l->length + 1);
}

/* Shows an older line (-1) or a newer one (1); after the newest comes an empty one. */
static void line_recall(struct line *l, int step)
{
	unsigned wanted = l->shown + step;

	if (wanted > l->lines || l->lines - wanted > MIN(l->lines, LINE_HISTORY))
		return;
	strscpy(l->text, wanted == l->lines ? "" : l->past[wanted % LINE_HISTORY], LINE_SIZE);
	l->length = l->cursor = strlen(l->text);
	l->shown = wanted;
}

static enum line_event line_control_key(struct line *l, u8 c)
{
	switch (c) {
	case '\r':
	case '\n':
		return LINE_ENTERED;
	case '\t':
		return LINE_TAB;
	case CTRL('A'):
		l->cursor = 0;
		break;
	case CTRL('B'):
		l->cursor -= l->cursor > 0;
		break;
	case CTRL('C'):
		return LINE_DROPPED;
	case CTRL('D'):
		return l->length ? LINE_NOTHING : LINE_ENDED;
	case CTRL('E'):
		l->cursor = l->length;
		break;
	case CTRL('F'):
		l->cursor += l->cursor < l->length;
		break;
	case CTRL('H'):
	case DEL:
		line_erase(l, l->cursor - (l->cursor > 0), l->cursor);
		break;
	case CTRL('K'):
		line_erase(l, l->cursor, l->length);
		break;
	case CTRL('N'):
		line_recall(l, 1);
		break;
	case CTRL('P'):
		line_recall(l, -1);
		break;
	case CTRL('U'):
		line_erase(l, 0, l->cursor);
		break;
	case CTRL('W'):
		line_erase(l, line_word_start(l), l->cursor);
		break;
	default:
		return LINE_NOTHING;
	}
	return LINE_EDITED;
}

/* The key that a terminal's ESC [ X or ESC O X stands for. */
static u8 line_arrow(u8 c)
{
	static const u8 keys[] = {['A'] = CTRL('P'),
	    ['B'] = CTRL('N'),
	    ['C'] = CTRL('F'),
	    ['D'] = CTRL('B'),
	    ['F'] = CTRL('E'),
	    ['H'] = CTRL('A')};

	return c < ARRAY_SIZE(keys) ? keys[c] : 0;
}

/* An escape sequence is ESC, '[' or 'O', digits and semicolons, and a letter or '~'. */
static enum line_event line_escape(struct line *l, u8 c)
{
	if (l->escape == 1) {
		l->escape = c == '[' || c == 'O' ? 2 : 0;
		return LINE_NOTHING;
	}
	if (is_digit(c) || c == ';')
		return LINE_NOTHING;
	l->escape = 0;
	return line_arrow(c) ? line_control_key(l, line_arrow(c)) : LINE_NOTHING;
}

enum line_event line_key(struct line *l, u8 c)
{
	char byte = c;

	if (c == ESC) {
		l->escape = 1;
		return LINE_NOTHING;
	}
	if (l->escape)
		return line_escape(l, c);
	if (c < ' ' || c == DEL)
		return line_control_key(l, c);
	if (!line_insert(l, &byte, 1))
		return LINE_NOTHING;
	return l->cursor == l->length ? LINE_APPENDED : LINE_EDITED;
}

size_t line_draw(const struct line *l, const char *prompt, char *out, size_t size)
{
	unsigned room = LINE_COLUMNS - strlen(prompt);
	unsigned from = l->cursor < room ? 0 : l->cursor - room + 1;
	unsigned n = MIN(room, l->length - from);
	size_t len = scnprintf(out, size, "\r%s%.*s\x1b[K", prompt, (int)n, l->text + from);

	if (l->cursor - from < n)
		len += scnprintf(out + len, size - len, "\x1b[%uD", n - (l->cursor - from));
	return len;
}
