/* What the parser makes of a line and the evaluator walks. Words keep their quotes: expansion takes them off. */
#pragma once

#include "kernel/lib/types.h"

struct sh_word {
	struct sh_word *next;
	char *text;
};

enum sh_redir_kind { SH_IN, SH_OUT, SH_APPEND, SH_RDWR, SH_DUP, SH_HEREDOC };

struct sh_redir {
	struct sh_redir *next;
	enum sh_redir_kind kind;
	int fd;
	char *word;  /* file name, descriptor or "-", or the text of a here-document */
	bool quoted; /* here-document: its delimiter was quoted, nothing is expanded */
};

enum sh_node_kind {
	SH_SIMPLE,   /* assigns words */
	SH_LIST,     /* kids in order; `background` of each counts */
	SH_ANDOR,    /* kids; `joint` of each is how it hangs on the one before */
	SH_PIPE,     /* kids */
	SH_NOT,	     /* kid */
	SH_SUBSHELL, /* kid */
	SH_GROUP,    /* kid */
	SH_IF,	     /* cond, kid, other */
	SH_WHILE,    /* cond, kid */
	SH_UNTIL,
	SH_FOR,	     /* name, words (has_words), kid */
	SH_CASE,     /* name is the word; cases */
	SH_FUNCTION, /* name, kid */
};

enum sh_joint { SH_FIRST, SH_AND, SH_OR };

struct sh_case {
	struct sh_case *next;
	struct sh_word *patterns;
	struct sh_node *body; /* NULL: empty */
};

struct sh_node {
	enum sh_node_kind kind;
	enum sh_joint joint;
	bool background, has_words;
	struct sh_node *next; /* in the parent's kids */
	struct sh_node *kid, *cond, *other;
	struct sh_word *assigns, *words;
	struct sh_redir *redirs;
	struct sh_case *cases;
	char *name;
};
