/*
 * Recursive descent over the tokens, by the grammar of POSIX XCU 2.10. Pure but for memory. `depth` bounds the recursion: the
 * kernel's stacks are small.
 */
#include "kernel/shell/parse.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/shell/lex.h"
#include "kernel/shell/scan.h"

struct parser {
	struct sh_lexer lx;
	struct sh_arena *arena;
	int depth;
	bool failed; /* message is set, or the lexer wants more or has no memory */
	char *message;
};

static struct sh_node *parse_list(struct parser *p, bool one_line);

static void next(struct parser *p)
{
	sh_lex_next(&p->lx);
	if (p->lx.more || p->lx.no_memory)
		p->failed = true;
}

/* Only the first complaint counts. */
static void *fail(struct parser *p, const char *what)
{
	if (!p->failed)
		snprintf(p->message, 128, "%s", what);
	p->failed = true;
	return NULL;
}

static void *unexpected(struct parser *p)
{
	if (!p->failed && p->lx.token == SH_T_END)
		p->lx.more = true; /* inside a compound command: another line may complete it */
	else if (!p->failed)
		snprintf(p->message, 128, "syntax error: unexpected %s%.64s%s",
		    p->lx.token == SH_T_WORD || p->lx.token > SH_T_WORD ? "\"" : "",
		    sh_token_text(&p->lx), p->lx.token >= SH_T_WORD ? "\"" : "");
	p->failed = true;
	return NULL;
}

static void *get(struct parser *p, size_t n)
{
	void *m = sh_zalloc(p->arena, n);

	return m ? m : fail(p, "out of memory");
}

static struct sh_node *node(struct parser *p, enum sh_node_kind kind)
{
	struct sh_node *n = get(p, sizeof(*n));

	if (n)
		n->kind = kind;
	return n;
}

static bool at_word(struct parser *p, const char *text)
{
	return p->lx.token == SH_T_WORD && !strcmp(p->lx.word, text);
}

static bool accept_word(struct parser *p, const char *text)
{
	if (!at_word(p, text))
		return false;
	next(p);
	return true;
}

static void expect_word(struct parser *p, const char *text)
{
	if (!p->failed && !accept_word(p, text))
		unexpected(p);
}

static void skip_newlines(struct parser *p)
{
	while (p->lx.token == SH_T_NEWLINE)
		next(p);
}

/* Words that end a list when they stand where a command would. */
static bool at_list_end(struct parser *p)
{
	static const char *const ends[] = {"then", "else", "elif", "fi", "do", "done", "esac", "}"};

	if (p->lx.token == SH_T_END || p->lx.token == SH_T_CLOSE || p->lx.token == SH_T_DSEMI)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (at_word(p, ends[i]))
			return true;
	return false;
}

static struct sh_word *take_word(struct parser *p)
{
	struct sh_word *w = get(p, sizeof(*w));

	if (w)
		w->text = p->lx.word;
	next(p);
	return w;
}

/* Appends the redirection at the current token; false: there is none. */
static bool parse_redir(struct parser *p, struct sh_redir **list)
{
	struct sh_redir *r;
	bool strip = p->lx.strip;

	if (p->failed || p->lx.token != SH_T_REDIR)
		return false;
	r = get(p, sizeof(*r));
	if (!r)
		return false;
	r->kind = p->lx.kind;
	r->fd = p->lx.fd;
	next(p);
	if (p->lx.token != SH_T_WORD) {
		unexpected(p);
		return false;
	}
	r->word = p->lx.word;
	if (r->kind == SH_HEREDOC)
		sh_lex_heredoc(&p->lx, r, strip);
	next(p);
	while (*list)
		list = &(*list)->next;
	*list = r;
	return true;
}

static bool is_assignment(const char *word)
{
	size_t n = sh_name_len(word);

	return n && word[n] == '=';
}

static struct sh_node *parse_command(struct parser *p);

static struct sh_node *parse_function(struct parser *p, struct sh_node *n)
{
	size_t len = sh_name_len(n->words->text);

	next(p);
	if (p->failed || p->lx.token != SH_T_CLOSE || !len || n->words->text[len])
		return unexpected(p);
	next(p);
	skip_newlines(p);
	n->kind = SH_FUNCTION;
	n->name = n->words->text;
	n->words = NULL;
	n->kid = parse_command(p);
	return n;
}

static struct sh_node *parse_simple(struct parser *p)
{
	struct sh_node *n = node(p, SH_SIMPLE);
	struct sh_word **assign, **word;

	if (!n)
		return NULL;
	assign = &n->assigns;
	word = &n->words;
	while (!p->failed) {
		if (parse_redir(p, &n->redirs))
			continue;
		if (p->lx.token == SH_T_OPEN && n->words && !n->words->next && !n->assigns &&
		    !n->redirs)
			return parse_function(p, n);
		if (p->lx.token != SH_T_WORD)
			break;
		if (!n->words && is_assignment(p->lx.word)) {
			*assign = take_word(p);
			assign = *assign ? &(*assign)->next : assign;
		} else {
			*word = take_word(p);
			word = *word ? &(*word)->next : word;
		}
	}
	if (!n->words && !n->assigns && !n->redirs)
		return unexpected(p);
	return n;
}

/* After `if`. */
static struct sh_node *parse_if(struct parser *p)
{
	struct sh_node *first = node(p, SH_IF), *n = first;

	while (n) {
		n->cond = parse_list(p, false);
		expect_word(p, "then");
		n->kid = p->failed ? NULL : parse_list(p, false);
		if (p->failed || !accept_word(p, "elif"))
			break;
		n->other = node(p, SH_IF);
		n = n->other;
	}
	if (!p->failed && n && accept_word(p, "else"))
		n->other = parse_list(p, false);
	expect_word(p, "fi");
	return first;
}

static struct sh_node *parse_body(struct parser *p, struct sh_node *n)
{
	expect_word(p, "do");
	n->kid = p->failed ? NULL : parse_list(p, false);
	expect_word(p, "done");
	return n;
}

static struct sh_node *parse_loop(struct parser *p, enum sh_node_kind kind)
{
	struct sh_node *n = node(p, kind);

	if (!n)
		return NULL;
	n->cond = parse_list(p, false);
	return parse_body(p, n);
}

static struct sh_node *parse_for(struct parser *p)
{
	struct sh_node *n = node(p, SH_FOR);
	struct sh_word **word;
	size_t len;

	if (!n || p->lx.token != SH_T_WORD)
		return unexpected(p);
	len = sh_name_len(p->lx.word);
	if (!len || p->lx.word[len])
		return fail(p, "syntax error: bad for loop variable");
	n->name = p->lx.word;
	next(p);
	skip_newlines(p);
	if (!p->failed && accept_word(p, "in")) {
		n->has_words = true;
		for (word = &n->words; !p->failed && p->lx.token == SH_T_WORD;
		     word = *word ? &(*word)->next : word)
			*word = take_word(p);
	}
	if (!p->failed && p->lx.token == SH_T_SEMI)
		next(p);
	skip_newlines(p);
	return parse_body(p, n);
}

static struct sh_case *parse_case_item(struct parser *p)
{
	struct sh_case *c = get(p, sizeof(*c));
	struct sh_word **word;

	if (!c)
		return NULL;
	if (p->lx.token == SH_T_OPEN)
		next(p);
	for (word = &c->patterns;;) {
		if (p->failed || p->lx.token != SH_T_WORD)
			return unexpected(p);
		*word = take_word(p);
		if (p->failed || p->lx.token != SH_T_PIPE)
			break;
		word = &(*word)->next;
		next(p);
	}
	if (p->failed || p->lx.token != SH_T_CLOSE)
		return unexpected(p);
	next(p);
	skip_newlines(p);
	if (!p->failed && !at_list_end(p))
		c->body = parse_list(p, false);
	if (!p->failed && p->lx.token == SH_T_DSEMI)
		next(p);
	else if (!p->failed && !at_word(p, "esac"))
		return unexpected(p);
	skip_newlines(p);
	return c;
}

static struct sh_node *parse_case(struct parser *p)
{
	struct sh_node *n = node(p, SH_CASE);
	struct sh_case **item;

	if (!n || p->lx.token != SH_T_WORD)
		return unexpected(p);
	n->name = p->lx.word;
	next(p);
	skip_newlines(p);
	expect_word(p, "in");
	skip_newlines(p);
	for (item = &n->cases; !p->failed && !at_word(p, "esac");
	     item = *item ? &(*item)->next : item)
		*item = parse_case_item(p);
	expect_word(p, "esac");
	return n;
}

/* ( list ) and { list; } */
static struct sh_node *parse_group(struct parser *p, enum sh_node_kind kind)
{
	struct sh_node *n = node(p, kind);

	if (!n)
		return NULL;
	n->kid = parse_list(p, false);
	if (kind == SH_GROUP)
		expect_word(p, "}");
	else if (!p->failed && p->lx.token == SH_T_CLOSE)
		next(p);
	else
		unexpected(p);
	return n;
}

static struct sh_node *parse_compound(struct parser *p)
{
	if (p->lx.token == SH_T_OPEN) {
		next(p);
		return parse_group(p, SH_SUBSHELL);
	}
	if (accept_word(p, "{"))
		return parse_group(p, SH_GROUP);
	if (accept_word(p, "if"))
		return parse_if(p);
	if (accept_word(p, "while"))
		return parse_loop(p, SH_WHILE);
	if (accept_word(p, "until"))
		return parse_loop(p, SH_UNTIL);
	if (accept_word(p, "for"))
		return parse_for(p);
	if (accept_word(p, "case"))
		return parse_case(p);
	return NULL;
}

static struct sh_node *parse_command(struct parser *p)
{
	struct sh_node *n;

	if (++p->depth > SH_NEST_MAX)
		return fail(p, "too deeply nested");
	n = p->failed ? NULL : parse_compound(p);
	if (n)
		while (parse_redir(p, &n->redirs))
			;
	else if (!p->failed)
		n = at_list_end(p) ? unexpected(p) : parse_simple(p);
	p->depth--;
	return n;
}

static struct sh_node *parse_pipeline(struct parser *p)
{
	struct sh_node *first, *pipe = NULL, **at;
	bool negate = false;

	while (!p->failed && accept_word(p, "!"))
		negate = !negate;
	first = parse_command(p);
	if (first && !p->failed && p->lx.token == SH_T_PIPE) {
		pipe = node(p, SH_PIPE);
		if (!pipe)
			return NULL;
		pipe->kid = first;
		for (at = &first->next; !p->failed && p->lx.token == SH_T_PIPE;
		     at = *at ? &(*at)->next : at) {
			next(p);
			skip_newlines(p);
			*at = p->failed ? NULL : parse_command(p);
		}
		first = pipe;
	}
	if (negate && first) {
		struct sh_node *n = node(p, SH_NOT);

		if (n)
			n->kid = first;
		return n;
	}
	return first;
}

static struct sh_node *parse_andor(struct parser *p)
{
	struct sh_node *first = parse_pipeline(p), *all, **at;

	if (!first || p->failed || (p->lx.token != SH_T_AND && p->lx.token != SH_T_OR))
		return first;
	all = node(p, SH_ANDOR);
	if (!all)
		return NULL;
	all->kid = first;
	at = &first->next;
	while (!p->failed && (p->lx.token == SH_T_AND || p->lx.token == SH_T_OR)) {
		enum sh_joint joint = p->lx.token == SH_T_AND ? SH_AND : SH_OR;

		next(p);
		skip_newlines(p);
		*at = p->failed ? NULL : parse_pipeline(p);
		if (!*at)
			return NULL;
		(*at)->joint = joint;
		at = &(*at)->next;
	}
	return all;
}

/* Commands up to a word or token that ends them; one_line: up to the newline, which is taken. NULL only on failure. */
static struct sh_node *parse_list(struct parser *p, bool one_line)
{
	struct sh_node *list = node(p, SH_LIST), **at;

	if (!list)
		return NULL;
	at = &list->kid;
	for (;;) {
		if (!one_line)
			skip_newlines(p);
		if (p->failed || at_list_end(p) || p->lx.token == SH_T_NEWLINE)
			break;
		*at = parse_andor(p);
		if (!*at || p->failed)
			return NULL;
		if (p->lx.token == SH_T_AMP)
			(*at)->background = true;
		at = &(*at)->next;
		if (p->lx.token == SH_T_AMP || p->lx.token == SH_T_SEMI)
			next(p);
		else if (p->lx.token != SH_T_NEWLINE)
			break;
	}
	if (!p->failed && !one_line && !list->kid)
		return unexpected(p);
	return list;
}

static void parse_top(struct parser *p, struct sh_script *s)
{
	next(p);
	skip_newlines(p);
	if (p->failed || p->lx.token == SH_T_END)
		return;
	s->root = parse_list(p, true);
	if (!p->failed && p->lx.token != SH_T_NEWLINE && p->lx.token != SH_T_END)
		unexpected(p);
}

enum sh_parse_result sh_parse(
    const char *text, struct sh_script **script, size_t *used, char message[128])
{
	struct sh_script *s = kzalloc(sizeof(*s));
	struct parser p = {.message = message};

	*script = NULL;
	strscpy(message, "out of memory", 128);
	if (!s)
		return SH_PARSE_ERROR;
	s->refs = 1;
	p.arena = &s->arena;
	sh_lex_init(&p.lx, text, p.arena);
	parse_top(&p, s);
	if (p.failed) {
		sh_script_put(s);
		return p.lx.more && !p.lx.no_memory ? SH_PARSE_MORE : SH_PARSE_ERROR;
	}
	*used = p.lx.p - text;
	*script = s;
	return SH_PARSE_OK;
}

struct sh_script *sh_script_get(struct sh_script *s)
{
	atomic_add(&s->refs, 1);
	return s;
}

void sh_script_put(struct sh_script *s)
{
	if (!s || atomic_sub(&s->refs, 1))
		return;
	sh_arena_free(&s->arena);
	kfree(s);
}
