/*
 * Memory of the shell: arenas for what dies together (a parsed line, the words of one command) and growing text. Task
 * context; an arena or a buffer belongs to one task, except that a script (parse.h) is counted and then only read.
 */
#pragma once

#include "kernel/lib/types.h"

struct sh_chunk;

struct sh_arena {
	struct sh_chunk *top; /* newest chunk; NULL: nothing allocated yet */
};

struct sh_mark {
	struct sh_chunk *chunk;
	size_t used;
};

/* Aligned to 16; NULL when there is no memory. */
void *sh_alloc(struct sh_arena *a, size_t n);
void *sh_zalloc(struct sh_arena *a, size_t n);
char *sh_strndup(struct sh_arena *a, const char *s, size_t n);
char *sh_strdup(struct sh_arena *a, const char *s);
/* What is allocated after a mark is given back by release: a loop runs in constant memory. */
struct sh_mark sh_arena_mark(const struct sh_arena *a);
void sh_arena_release(struct sh_arena *a, struct sh_mark m);
void sh_arena_free(struct sh_arena *a);

/* Growing text. A buffer that found no memory keeps what it has and says `failed`. Zeroed is empty. */
struct sh_buf {
	char *s;
	size_t len, cap;
	bool failed;
};

void sh_buf_putc(struct sh_buf *b, char c);
void sh_buf_put(struct sh_buf *b, const char *s, size_t n);
void sh_buf_puts(struct sh_buf *b, const char *s);
void sh_buf_printf(struct sh_buf *b, const char *fmt, ...) __printf(2, 3);
const char *sh_buf_str(struct sh_buf *b); /* with a NUL; "" when nothing could be allocated */
void sh_buf_free(struct sh_buf *b);
