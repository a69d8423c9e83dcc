/*
 * Line editing on a VT100 terminal of 80 columns (or $COLUMNS): a line longer than that is scrolled sideways. Task context; one
 * editor belongs to the console's shell.
 */
#include "kernel/shell/editor.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/complete.h"
#include "kernel/shell/history.h"

#define CTRL(c) ((c)&31)

/* Keys that come as several bytes. */
enum {
	KEY_UP = 256,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_DELETE,
	KEY_WORD_LEFT,
	KEY_WORD_RIGHT,
	KEY_WORD_DELETE,
	KEY_NONE
};

struct sh_editor {
	struct shell *sh;
	struct sh_history history;
	char line[SH_LINE_MAX + 1];
	size_t len, at;
	size_t from;	 /* first byte shown */
	size_t overflow; /* characters there was no room for */
	int hist_at;	 /* the line of the history being edited; count: the new one */
	char *new_line;	 /* the new one while an old one is shown */
	char *killed;	 /* for ^Y */
	char prompt[128];
	struct sh_buf out;
};

struct sh_editor *sh_editor_new(struct shell *sh)
{
	struct sh_editor *e = kzalloc(sizeof(*e));

	if (e) {
		e->sh = sh;
		sh->history = &e->history;
	}
	return e;
}

void sh_editor_free(struct sh_editor *e)
{
	e->sh->history = NULL;
	sh_history_free(&e->history);
	kfree(e->new_line);
	kfree(e->killed);
	sh_buf_free(&e->out);
	kfree(e);
}

static void flush(struct sh_editor *e)
{
	if (e->out.len && e->sh->fd[1])
		sh_write_all(e->sh->fd[1], e->out.s, e->out.len);
	e->out.len = 0;
}

static bool continues(char c)
{
	return (c & 0xc0) == 0x80; /* inside a UTF-8 character */
}

static size_t columns(const char *s, size_t n)
{
	size_t c = 0;

	for (size_t i = 0; i < n; i++)
		c += !continues(s[i]);
	return c;
}

static size_t before(const struct sh_editor *e, size_t at)
{
	while (at && continues(e->line[--at]))
		;
	return at;
}

static size_t after(const struct sh_editor *e, size_t at)
{
	while (at < e->len && continues(e->line[++at]))
		;
	return at;
}

static size_t word_before(const struct sh_editor *e)
{
	size_t at = e->at;

	while (at && is_space(e->line[at - 1]))
		at--;
	while (at && !is_space(e->line[at - 1]))
		at--;
	return at;
}

static size_t word_after(const struct sh_editor *e)
{
	size_t at = e->at;

	while (at < e->len && is_space(e->line[at]))
		at++;
	while (at < e->len && !is_space(e->line[at]))
		at++;
	return at;
}

static size_t screen_width(struct sh_editor *e)
{
	const char *s = sh_var_get(&e->sh->vars, "COLUMNS");
	u64 n;

	return s && !parse_u64(s, 10, &n) && n >= 20 && n <= 500 ? n : 80;
}

/* $PS1 or $PS2 with $PWD and the like expanded. */
static void make_prompt(struct sh_editor *e, bool more)
{
	const char *raw = sh_var_get(&e->sh->vars, more ? "PS2" : "PS1");
	int status = e->sh->status;
	char *text = raw ? sh_expand_heredoc(e->sh, raw) : NULL;

	e->sh->status = status;
	e->sh->aborted = false;
	strscpy(e->prompt, text ? text : more ? "> " : "# ", sizeof(e->prompt));
	sh_arena_free(&e->sh->tmp);
}

/* Draws the line anew, the cursor in its place, scrolled so that the cursor is seen. */
static void refresh(struct sh_editor *e)
{
	size_t prompt = columns(e->prompt, strlen(e->prompt)), width = screen_width(e), room, end,
	       back;

	room = width > prompt + 10 ? width - prompt - 1 : 10;
	if (e->from > e->at)
		e->from = e->at;
	while (columns(e->line + e->from, e->at - e->from) > room)
		e->from = after(e, e->from);
	for (end = e->from; end < e->len && columns(e->line + e->from, end - e->from) < room;)
		end = after(e, end);
	sh_buf_printf(&e->out, "\r%s", e->prompt);
	sh_buf_put(&e->out, e->line + e->from, end - e->from);
	sh_buf_puts(&e->out, "\033[K");
	back = columns(e->line + e->at, end - e->at);
	if (back)
		sh_buf_printf(&e->out, "\033[%zuD", back);
	flush(e);
}

static void bell(struct sh_editor *e)
{
	sh_buf_putc(&e->out, '\a');
	flush(e);
}

static void insert(struct sh_editor *e, const char *s, size_t n)
{
	if (e->len + n > SH_LINE_MAX) {
		e->overflow += n;
		return;
	}
	memmove(e->line + e->at + n, e->line + e->at, e->len - e->at);
	memcpy(e->line + e->at, s, n);
	e->len += n;
	e->at += n;
}

static void remove_range(struct sh_editor *e, size_t from, size_t to, bool keep)
{
	if (from == to)
		return;
	if (keep) {
		kfree(e->killed);
		e->killed = kstrndup(e->line + from, to - from);
	}
	memmove(e->line + from, e->line + to, e->len - to);
	e->len -= to - from;
	e->at = from;
}

static void set_line(struct sh_editor *e, const char *s)
{
	e->len = e->at = e->from = e->overflow = 0;
	insert(e, s, MIN(strlen(s), (size_t)SH_LINE_MAX));
}

static void show_history(struct sh_editor *e, int to)
{
	if (to < 0 || to > e->history.count || to == e->hist_at) {
		bell(e);
		return;
	}
	if (e->hist_at == e->history.count) {
		kfree(e->new_line);
		e->new_line = kstrndup(e->line, e->len);
	}
	e->hist_at = to;
	set_line(e, to < e->history.count ? e->history.line[to] : e->new_line ? e->new_line : "");
	refresh(e);
}

/* Candidates in columns below the line. */
static void show_candidates(struct sh_editor *e, const struct sh_words *w)
{
	size_t width = 1, per_row, i = 0;

	for (int k = 0; k < w->n; k++)
		width = MAX(width, strlen(w->v[k]) + 2);
	per_row = MAX(screen_width(e) / width, 1UL);
	sh_buf_putc(&e->out, '\n');
	for (int k = 0; k < w->n; k++) {
		sh_buf_puts(&e->out, w->v[k]);
		if (++i % per_row && k + 1 < w->n)
			for (size_t pad = strlen(w->v[k]); pad < width; pad++)
				sh_buf_putc(&e->out, ' ');
		else
			sh_buf_putc(&e->out, '\n');
	}
	flush(e);
}

static void complete(struct sh_editor *e)
{
	struct sh_completion c;
	size_t n;

	e->line[e->len] = 0;
	sh_complete(e->sh, e->line, e->at, &c);
	n = c.text ? strlen(c.text) : 0;
	if (c.text && (n != e->at - c.start || memcmp(c.text, e->line + c.start, n))) {
		remove_range(e, c.start, e->at, false);
		insert(e, c.text, n);
	} else if (c.found.n > 1) {
		show_candidates(e, &c.found);
	} else {
		bell(e);
	}
	sh_arena_free(&e->sh->tmp);
	refresh(e);
}

/* The rest of an escape sequence, after ESC. */
static int read_escape(void)
{
	static const struct {
		char final;
		int key;
	} finals[] = {{'A', KEY_UP}, {'B', KEY_DOWN}, {'C', KEY_RIGHT}, {'D', KEY_LEFT},
	    {'H', KEY_HOME}, {'F', KEY_END}};
	static const int tildes[] = {
	    [1] = KEY_HOME, [3] = KEY_DELETE, [4] = KEY_END, [7] = KEY_HOME, [8] = KEY_END};
	int c = os_getc(), number = 0, modifier = 0;

	if (c == 'b' || c == 'f' || c == 'd')
		return c == 'b' ? KEY_WORD_LEFT : c == 'f' ? KEY_WORD_RIGHT : KEY_WORD_DELETE;
	if (c != '[' && c != 'O')
		return c < 0 ? c : KEY_NONE;
	while ((c = os_getc()) == ';' || is_digit(c)) {
		if (c == ';') {
			modifier = number;
			number = 0;
		} else if (number < 100) {
			number = number * 10 + c - '0';
		}
	}
	if (c == '~')
		return number < (int)ARRAY_SIZE(tildes) && tildes[number] ? tildes[number]
									  : KEY_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(finals); i++) {
		if (finals[i].final != c)
			continue;
		if (modifier && number >= 3 && (c == 'C' || c == 'D'))
			return c == 'C' ? KEY_WORD_RIGHT : KEY_WORD_LEFT;
		return finals[i].key;
	}
	return c < 0 ? c : KEY_NONE;
}

static int read_key(void)
{
	int c = os_getc();

	return c == 27 ? read_escape() : c;
}

/* ^R: each key narrows the search; any other key takes the line found and is returned. */
static int search(struct sh_editor *e)
{
	char what[64] = "";
	size_t n = 0;
	int at = e->history.count, key, found;

	for (;;) {
		sh_buf_printf(&e->out, "\r(search) %s: ", what);
		sh_buf_put(&e->out, e->line, MIN(e->len, (size_t)60));
		sh_buf_puts(&e->out, "\033[K");
		flush(e);
		key = read_key();
		if (key == CTRL('r')) {
			found = sh_history_find(&e->history, at, what);
		} else if ((key == 127 || key == '\b') && n) {
			what[--n] = 0;
			found = sh_history_find(&e->history, e->history.count, what);
		} else if (key >= ' ' && key < 127 && n + 1 < sizeof(what)) {
			what[n++] = key;
			what[n] = 0;
			found = sh_history_find(&e->history, MIN(at + 1, e->history.count), what);
		} else {
			break;
		}
		if (found >= 0) {
			at = found;
			set_line(e, e->history.line[at]);
		} else {
			bell(e);
		}
	}
	refresh(e);
	return key;
}

static void move(struct sh_editor *e, size_t to)
{
	e->at = to;
	refresh(e);
}

static void erase(struct sh_editor *e, size_t from, size_t to, bool keep)
{
	remove_range(e, from, to, keep);
	refresh(e);
}

/* ^T: the two characters around the cursor change places. */
static void transpose(struct sh_editor *e)
{
	size_t at = e->at == e->len && e->at ? e->at - 1 : e->at;

	if (at) {
		char c = e->line[at];

		e->line[at] = e->line[at - 1];
		e->line[at - 1] = c;
		e->at = at + 1;
	}
	refresh(e);
}

static void put_key(struct sh_editor *e, int key)
{
	char c = key;
	bool simple =
	    e->at == e->len && !e->from &&
	    columns(e->prompt, strlen(e->prompt)) + columns(e->line, e->len) + 2 < screen_width(e);

	insert(e, &c, 1);
	if (e->overflow) {
		bell(e);
	} else if (simple) {
		sh_buf_putc(&e->out, c);
		flush(e);
	} else {
		refresh(e);
	}
}

static void editing_key(struct sh_editor *e, int key)
{
	switch (key) {
	case KEY_LEFT:
	case CTRL('b'):
		return move(e, before(e, e->at));
	case KEY_RIGHT:
	case CTRL('f'):
		return move(e, after(e, e->at));
	case KEY_HOME:
	case CTRL('a'):
		return move(e, 0);
	case KEY_END:
	case CTRL('e'):
		return move(e, e->len);
	case KEY_WORD_LEFT:
		return move(e, word_before(e));
	case KEY_WORD_RIGHT:
		return move(e, word_after(e));
	case 127:
	case CTRL('h'):
		return erase(e, before(e, e->at), e->at, false);
	case KEY_DELETE:
	case CTRL('d'):
		return erase(e, e->at, after(e, e->at), false);
	case CTRL('k'):
		return erase(e, e->at, e->len, true);
	case CTRL('u'):
		e->overflow = 0;
		return erase(e, 0, e->at, true);
	case CTRL('w'):
		return erase(e, word_before(e), e->at, true);
	case KEY_WORD_DELETE:
		return erase(e, e->at, word_after(e), true);
	case CTRL('y'):
		if (e->killed)
			insert(e, e->killed, strlen(e->killed));
		return refresh(e);
	case CTRL('t'):
		return transpose(e);
	case CTRL('l'):
		sh_buf_puts(&e->out, "\033[H\033[2J");
		return refresh(e);
	case KEY_UP:
	case CTRL('p'):
		return show_history(e, e->hist_at - 1);
	case KEY_DOWN:
	case CTRL('n'):
		return show_history(e, e->hist_at + 1);
	case '\t':
		return complete(e);
	default:
		if (key >= ' ' && key < 256)
			put_key(e, key);
	}
}

static enum sh_line accept(struct sh_editor *e, struct sh_buf *text)
{
	sh_buf_putc(&e->out, '\n');
	flush(e);
	e->line[e->len] = 0;
	if (e->overflow) {
		sh_error(e->sh, "line too long (%zu characters, at most %d)", e->len + e->overflow,
		    SH_LINE_MAX);
		return SH_LINE_REFUSED;
	}
	if (!sh_is_text(e->line, e->len)) {
		sh_error(e->sh, "line is not text");
		return SH_LINE_REFUSED;
	}
	sh_history_add(&e->history, e->line);
	sh_buf_put(text, e->line, e->len);
	sh_buf_putc(text, '\n');
	return SH_LINE;
}

static enum sh_line dropped(struct sh_editor *e)
{
	sh_buf_puts(&e->out, "^C\n");
	flush(e);
	return SH_LINE_DROPPED;
}

enum sh_line sh_editor_line(struct sh_editor *e, struct sh_buf *text, bool more)
{
	int key;

	e->len = e->at = e->from = e->overflow = 0;
	e->hist_at = e->history.count;
	make_prompt(e, more);
	sh_buf_puts(&e->out, e->prompt);
	flush(e);
	for (;;) {
		key = read_key();
		if (key == CTRL('r'))
			key = search(e);
		if (key == -EINTR || key == CTRL('c'))
			return dropped(e);
		if (key == '\r' || key == '\n')
			return accept(e, text);
		if (key < 0)
			return SH_LINE_END;
		if (key == CTRL('d') && !e->len) {
			sh_buf_puts(&e->out, "\n");
			flush(e);
			return more ? SH_LINE_DROPPED : SH_LINE_END;
		}
		editing_key(e, key);
	}
}
