/* Tokens of the shell's language. Pure but for the arena words are copied to. */
#pragma once

#include "kernel/shell/arena.h"
#include "kernel/shell/ast.h"

enum sh_token {
	SH_T_END,
	SH_T_NEWLINE,
	SH_T_WORD,
	SH_T_SEMI,
	SH_T_DSEMI,
	SH_T_AMP,
	SH_T_AND,
	SH_T_PIPE,
	SH_T_OR,
	SH_T_OPEN,
	SH_T_CLOSE,
	SH_T_REDIR, /* kind and fd in the lexer; SH_HEREDOC with `strip` for <<- */
};

struct sh_pending; /* here-documents whose text follows the line */

struct sh_lexer {
	const char *p; /* next character; the text ends with a NUL */
	struct sh_arena *arena;
	enum sh_token token;
	const char *start; /* of the token, for messages */
	char *word;	   /* SH_T_WORD: as written, quotes and all */
	enum sh_redir_kind kind;
	int fd;
	bool strip;
	bool more; /* the text ends inside something */
	bool no_memory;
	struct sh_pending *pending;
};

void sh_lex_init(struct sh_lexer *lx, const char *text, struct sh_arena *arena);
void sh_lex_next(struct sh_lexer *lx); /* sets token; on `more` or `no_memory` it is SH_T_END */
/* The text of `r` (its word being the delimiter) follows the present line. */
void sh_lex_heredoc(struct sh_lexer *lx, struct sh_redir *r, bool strip);
const char *sh_token_text(const struct sh_lexer *lx); /* for "unexpected ..." */
