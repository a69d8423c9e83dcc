/* Arenas and growing text of the shell. Task context; no locking: each belongs to one task. */
#include "kernel/shell/arena.h"
#include "kernel/shell/sys.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

#define CHUNK_MIN 2048
#define TEXT_MAX  (4UL << 20) /* what kmalloc gives at most */

struct sh_chunk {
	struct sh_chunk *prev;
	size_t size, used; /* of data */
	u64 pad;
	char data[];
};

static struct sh_chunk *chunk_add(struct sh_arena *a, size_t n)
{
	size_t size = MAX(n, (size_t)CHUNK_MIN - sizeof(struct sh_chunk));
	struct sh_chunk *c = kmalloc(sizeof(*c) + size);

	if (!c)
		return NULL;
	*c = (struct sh_chunk){.prev = a->top, .size = size};
	a->top = c;
	return c;
}

void *sh_alloc(struct sh_arena *a, size_t n)
{
	struct sh_chunk *c = a->top;
	void *p;

	if (n > TEXT_MAX)
		return NULL;
	n = ALIGN_UP(n + !n, 16UL);
	if (!c || c->size - c->used < n)
		c = chunk_add(a, n);
	if (!c)
		return NULL;
	p = c->data + c->used;
	c->used += n;
	return p;
}

void *sh_zalloc(struct sh_arena *a, size_t n)
{
	void *p = sh_alloc(a, n);

	return p ? memset(p, 0, n) : NULL;
}

char *sh_strndup(struct sh_arena *a, const char *s, size_t n)
{
	char *p = sh_alloc(a, n + 1);

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *sh_strdup(struct sh_arena *a, const char *s)
{
	return sh_strndup(a, s, strlen(s));
}

struct sh_mark sh_arena_mark(const struct sh_arena *a)
{
	return (struct sh_mark){a->top, a->top ? a->top->used : 0};
}

void sh_arena_release(struct sh_arena *a, struct sh_mark m)
{
	while (a->top != m.chunk) {
		struct sh_chunk *c = a->top;

		a->top = c->prev;
		kfree(c);
	}
	if (a->top)
		a->top->used = m.used;
}

void sh_arena_free(struct sh_arena *a)
{
	sh_arena_release(a, (struct sh_mark){NULL, 0});
}

/* Room for n more bytes and a NUL. */
static bool buf_grow(struct sh_buf *b, size_t n)
{
	size_t want = b->len + n + 1, cap = b->cap ? b->cap : 64;
	char *s;

	if (want <= b->cap)
		return true;
	if (b->failed)
		return false;
	while (cap < want)
		cap *= 2;
	s = want <= TEXT_MAX ? krealloc(b->s, cap) : NULL;
	if (!s) {
		b->failed = true;
		os_out_of_memory();
		return false;
	}
	b->s = s;
	b->cap = cap;
	return true;
}

void sh_buf_put(struct sh_buf *b, const char *s, size_t n)
{
	if (!n || !buf_grow(b, n))
		return;
	memcpy(b->s + b->len, s, n);
	b->len += n;
}

void sh_buf_putc(struct sh_buf *b, char c)
{
	sh_buf_put(b, &c, 1);
}

void sh_buf_puts(struct sh_buf *b, const char *s)
{
	sh_buf_put(b, s, strlen(s));
}

void sh_buf_printf(struct sh_buf *b, const char *fmt, ...)
{
	char text[96]; /* most are short */
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < (int)sizeof(text)) {
		sh_buf_put(b, text, MAX(n, 0));
		return;
	}
	if (!buf_grow(b, n))
		return;
	va_start(ap, fmt);
	vsnprintf(b->s + b->len, n + 1, fmt, ap);
	va_end(ap);
	b->len += n;
}

const char *sh_buf_str(struct sh_buf *b)
{
	if (!b->s && !buf_grow(b, 0))
		return "";
	b->s[b->len] = 0;
	return b->s;
}

void sh_buf_free(struct sh_buf *b)
{
	kfree(b->s);
	*b = (struct sh_buf){0};
}
