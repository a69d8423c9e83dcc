/* Cuts shell text into tokens. Pure but for the arena. Follows the token rules of POSIX XCU 2.3. */
#include "kernel/shell/lex.h"
#include "kernel/lib/string.h"
#include "kernel/shell/scan.h"

struct sh_pending {
	struct sh_pending *next;
	struct sh_redir *redir;
	bool strip;
};

void sh_lex_init(struct sh_lexer *lx, const char *text, struct sh_arena *arena)
{
	*lx = (struct sh_lexer){.p = text, .arena = arena};
}

static void lex_more(struct sh_lexer *lx)
{
	lx->more = true;
	lx->token = SH_T_END;
	lx->p += strlen(lx->p);
}

/* Blanks, joined lines and comments. */
static void skip_blanks(struct sh_lexer *lx)
{
	for (;;) {
		lx->p += strspn(lx->p, " \t\r");
		if (lx->p[0] == '\\' && lx->p[1] == '\n') {
			lx->p += 2;
			if (!*lx->p)
				lex_more(lx);
		} else if (*lx->p == '#') {
			lx->p += strcspn(lx->p, "\n");
		} else {
			return;
		}
	}
}

static bool ends_word(char c)
{
	return !c || strchr(" \t\r\n;&|<>()", c) != NULL;
}

/* A copy of [s, e) without the line joints that stand outside single quotes. */
static char *copy_joined(struct sh_lexer *lx, const char *s, const char *e)
{
	char *out = sh_alloc(lx->arena, e - s + 1), *o = out;

	if (!out)
		return NULL;
	while (s < e) {
		if (s[0] == '\\' && s[1] == '\n') {
			s += 2;
		} else if (*s == '\\' && s + 1 < e) {
			*o++ = *s++;
			*o++ = *s++;
		} else if (*s == '\'') {
			const char *q = sh_skip_squote(s);

			q = q && q <= e ? q : s + 1;
			memcpy(o, s, q - s);
			o += q - s;
			s = q;
		} else {
			*o++ = *s++;
		}
	}
	*o = 0;
	return out;
}

static void lex_word(struct sh_lexer *lx)
{
	const char *p = lx->p;

	while (!ends_word(*p)) {
		p = sh_skip_piece(p, 0);
		if (!p) {
			lex_more(lx);
			return;
		}
	}
	if (!*p && p[-1] == '\n' && p[-2] == '\\') {
		lex_more(lx);
		return;
	}
	lx->token = SH_T_WORD;
	lx->word = copy_joined(lx, lx->p, p);
	lx->p = p;
	if (!lx->word) {
		lx->no_memory = true;
		lx->token = SH_T_END;
	}
}

/* One line of a here-document at *p, moved behind it; its length without the newline, -1 at the end of the text. */
static ssize heredoc_line(const char **p, bool strip, const char **line)
{
	size_t n;

	if (!**p)
		return -1;
	if (strip)
		*p += strspn(*p, "\t");
	*line = *p;
	n = strcspn(*p, "\n");
	*p += n + ((*p)[n] == '\n');
	return n;
}

/* Reads the text of one here-document; false: its end has not come yet. */
static bool read_heredoc(struct sh_lexer *lx, struct sh_pending *d)
{
	const char *end = d->redir->word, *line;
	struct sh_buf text = {0};
	ssize n;

	for (;;) {
		n = heredoc_line(&lx->p, d->strip, &line);
		if (n < 0)
			break;
		if ((size_t)n == strlen(end) && !memcmp(line, end, n))
			break;
		sh_buf_put(&text, line, n);
		sh_buf_putc(&text, '\n');
	}
	if (n >= 0)
		d->redir->word = sh_strndup(lx->arena, text.len ? text.s : "", text.len);
	lx->no_memory |= text.failed || !d->redir->word;
	sh_buf_free(&text);
	return n >= 0;
}

void sh_lex_heredoc(struct sh_lexer *lx, struct sh_redir *r, bool strip)
{
	struct sh_pending *d = sh_zalloc(lx->arena, sizeof(*d)), **at = &lx->pending;
	char *o = r->word;

	if (!d) {
		lx->no_memory = true;
		return;
	}
	for (const char *s = r->word; *s; s++) { /* the delimiter without its quotes */
		if (strchr("'\"\\", *s))
			r->quoted = true;
		else
			*o++ = *s;
	}
	*o = 0;
	d->redir = r;
	d->strip = strip;
	while (*at)
		at = &(*at)->next;
	*at = d;
}

static void lex_newline(struct sh_lexer *lx)
{
	lx->p++;
	lx->token = SH_T_NEWLINE;
	while (lx->pending && !lx->no_memory) {
		if (!read_heredoc(lx, lx->pending)) {
			lex_more(lx);
			return;
		}
		lx->pending = lx->pending->next;
	}
}

static const struct {
	const char *text;
	enum sh_token token;
	enum sh_redir_kind kind;
	int fd;
} operators[] = {
    /* Longest first. */
    {"<<-", SH_T_REDIR, SH_HEREDOC, 0},
    {"<<", SH_T_REDIR, SH_HEREDOC, 0},
    {"<&", SH_T_REDIR, SH_DUP, 0},
    {"<>", SH_T_REDIR, SH_RDWR, 0},
    {">>", SH_T_REDIR, SH_APPEND, 1},
    {">&", SH_T_REDIR, SH_DUP, 1},
    {">|", SH_T_REDIR, SH_OUT, 1},
    {"<", SH_T_REDIR, SH_IN, 0},
    {">", SH_T_REDIR, SH_OUT, 1},
    {";;", SH_T_DSEMI, 0, 0},
    {";", SH_T_SEMI, 0, 0},
    {"&&", SH_T_AND, 0, 0},
    {"&", SH_T_AMP, 0, 0},
    {"||", SH_T_OR, 0, 0},
    {"|", SH_T_PIPE, 0, 0},
    {"(", SH_T_OPEN, 0, 0},
    {")", SH_T_CLOSE, 0, 0},
};

static bool lex_operator(struct sh_lexer *lx)
{
	int fd = -1;

	if (is_digit(lx->p[0]) && (lx->p[1] == '<' || lx->p[1] == '>')) {
		fd = lx->p[0] - '0';
		lx->p++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (!str_has_prefix(lx->p, operators[i].text))
			continue;
		lx->token = operators[i].token;
		lx->kind = operators[i].kind;
		lx->fd = fd < 0 ? operators[i].fd : fd;
		lx->strip = i == 0;
		lx->p += strlen(operators[i].text);
		return true;
	}
	return false;
}

void sh_lex_next(struct sh_lexer *lx)
{
	skip_blanks(lx);
	lx->start = lx->p;
	lx->token = SH_T_END;
	if (!*lx->p) {
		if (lx->pending)
			lex_more(lx);
		return;
	}
	if (*lx->p == '\n')
		lex_newline(lx);
	else if (!lex_operator(lx))
		lex_word(lx);
}

const char *sh_token_text(const struct sh_lexer *lx)
{
	switch (lx->token) {
	case SH_T_END:
		return "end of file";
	case SH_T_NEWLINE:
		return "newline";
	case SH_T_WORD:
		return lx->word;
	case SH_T_REDIR:
		return "redirection";
	default:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].token == lx->token)
			return operators[i].text;
	return "word";
}
