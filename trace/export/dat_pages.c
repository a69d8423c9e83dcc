/* See dat_pages.h. */
#include "trace/export/dat_pages.h"
#include "kernel/lib/string.h"
#include "trace/host_memory.h"

#define FIRST_ROOM 64

static bool grow(struct dat_pages *list)
{
	u64 room = list->room ? list->room * 2 : FIRST_ROOM;
	void **page = host_alloc(room * sizeof(*page));

	if (!page)
		return false;
	if (list->count)
		memcpy(page, list->page, list->count * sizeof(*page));
	host_free(list->page);
	list->page = page;
	list->room = room;
	return true;
}

void *dat_pages_add(struct dat_pages *list)
{
	if (list->count == list->room && !grow(list))
		return NULL;
	void *page = host_block_alloc(list->order);
	if (page)
		list->page[list->count++] = page;
	return page;
}

void dat_pages_drop(struct dat_pages *list, u64 i)
{
	host_block_free(list->page[i], list->order);
	list->page[i] = NULL;
}

void dat_pages_free(struct dat_pages *list)
{
	for (u64 i = 0; i < list->count; i++)
		host_block_free(list->page[i], list->order);
	host_free(list->page);
	*list = (struct dat_pages){.page = NULL};
}

/* ---- text ---- */

/* From `at` on, to the end of its page at most: how many of n bytes that is. */
static size_t piece(u64 at, size_t n)
{
	return MIN(n, PAGE_SIZE - at % PAGE_SIZE);
}

static u8 *place(const struct dat_text *t, u64 at)
{
	return (u8 *)t->pages.page[at / PAGE_SIZE] + at % PAGE_SIZE;
}

static void dat_text_put(struct dat_sink *to, const void *data, size_t n)
{
	struct dat_text *t = container_of(to, struct dat_text, to);
	const u8 *from = data;

	while (n && !t->failed) {
		size_t part = piece(to->len, n);

		if (to->len == t->pages.count * PAGE_SIZE && !dat_pages_add(&t->pages)) {
			t->failed = true;
			return;
		}
		memcpy(place(t, to->len), from, part);
		to->len += part;
		from += part;
		n -= part;
	}
}

static void dat_text_patch(struct dat_sink *to, u64 at, const void *data, size_t n)
{
	const struct dat_text *t = container_of(to, struct dat_text, to);
	const u8 *from = data;

	while (n && at + n <= to->len) {
		size_t part = piece(at, n);

		memcpy(place(t, at), from, part);
		at += part;
		from += part;
		n -= part;
	}
}

void dat_text_init(struct dat_text *t)
{
	*t = (struct dat_text){.to = {.put = dat_text_put, .patch = dat_text_patch}};
}

size_t dat_text_read(const struct dat_text *t, u64 at, void *buf, size_t n)
{
	size_t done = 0;

	n = at < t->to.len ? MIN(n, t->to.len - at) : 0;
	while (done < n) {
		size_t part = piece(at, n - done);

		memcpy((u8 *)buf + done, place(t, at), part);
		at += part;
		done += part;
	}
	return done;
}

void dat_text_free(struct dat_text *t)
{
	dat_pages_free(&t->pages);
	dat_text_init(t);
}
