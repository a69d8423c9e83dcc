/* The contents of a file in memory. Pure; see the header. The owner locks. */
#include "kernel/fs/ramdata.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define FAN_BITS 9
#define FAN	 (1u << FAN_BITS)

void ramdata_init(struct ramdata *d, const struct ramdata_mem *mem)
{
	*d = (struct ramdata){.mem = mem};
}

static u64 pages_below(unsigned height)
{
	return 1UL << (FAN_BITS * height);
}

static u8 *ramdata_find_page(const struct ramdata *d, u64 index)
{
	void *p = d->root;

	if (index >= pages_below(d->height))
		return NULL;
	for (unsigned h = d->height; h > 0 && p; h--)
		p = ((void **)p)[index >> (FAN_BITS * (h - 1)) & (FAN - 1)];
	return p;
}

/* The place of page `index` in the tree, which grows as needed; NULL: no memory. */
static void **find_slot(struct ramdata *d, u64 index)
{
	void **slot = &d->root;

	while (index >= pages_below(d->height)) {
		if (d->root) {
			void **top = d->mem->page(true);
			if (!top)
				return NULL;
			top[0] = d->root;
			d->root = top;
		}
		d->height++;
	}
	for (unsigned h = d->height; h > 0; h--) {
		if (!*slot)
			*slot = d->mem->page(true);
		if (!*slot)
			return NULL;
		slot = (void **)*slot + (index >> (FAN_BITS * (h - 1)) & (FAN - 1));
	}
	return slot;
}

/* How many bytes of page `index` the base shows. */
static size_t base_bytes(const struct ramdata *d, u64 index)
{
	u64 start = index * PAGE_SIZE;
	return start >= d->base_size ? 0 : MIN(d->base_size - start, PAGE_SIZE);
}

/* Page `index` for writing; `whole`: all of it will be written. */
static u8 *ramdata_writable_page(struct ramdata *d, u64 index, bool whole)
{
	void **slot = find_slot(d, index);

	if (slot && !*slot) {
		size_t shown = whole ? 0 : base_bytes(d, index);
		*slot = d->mem->page(!whole);
		if (*slot && shown)
			memcpy(*slot, d->base + index * PAGE_SIZE, shown);
	}
	return slot ? *slot : NULL;
}

/* Copies what page `index` shows in [off, off + n). */
static void read_page(const struct ramdata *d, u64 index, size_t off, u8 *buf, size_t n)
{
	const u8 *page = ramdata_find_page(d, index);
	size_t have = base_bytes(d, index);

	if (page) {
		memcpy(buf, page + off, n);
		return;
	}
	have = have > off ? MIN(have - off, n) : 0;
	if (have)
		memcpy(buf, d->base + index * PAGE_SIZE + off, have);
	memset(buf + have, 0, n - have);
}

ssize ramdata_read(const struct ramdata *d, void *buf, size_t n, u64 pos)
{
	size_t done = 0;

	if (pos >= d->size)
		return 0;
	n = MIN((u64)n, d->size - pos);
	while (done < n) {
		size_t off = (pos + done) % PAGE_SIZE;
		size_t part = MIN(n - done, PAGE_SIZE - off);
		read_page(d, (pos + done) / PAGE_SIZE, off, (u8 *)buf + done, part);
		done += part;
	}
	return n;
}

ssize ramdata_write(struct ramdata *d, const void *buf, size_t n, u64 pos)
{
	size_t done = 0;

	if (n && pos >= RAMDATA_MAX)
		return -EFBIG;
	n = MIN((u64)n, RAMDATA_MAX - pos);
	while (done < n) {
		size_t off = (pos + done) % PAGE_SIZE;
		size_t part = MIN(n - done, PAGE_SIZE - off);
		u8 *page = ramdata_writable_page(d, (pos + done) / PAGE_SIZE, part == PAGE_SIZE);
		if (!page)
			break;
		memcpy(page + off, (const u8 *)buf + done, part);
		done += part;
		d->size = MAX(d->size, pos + done);
	}
	return n && !done ? -ENOSPC : (ssize)done;
}

/* Frees (or clears) the pages from number `from` on in a subtree; true: nothing of it is left. */
static bool ramdata_cut_tree(struct ramdata *d, void *tree, unsigned height, u64 from)
{
	bool empty = from == 0 && !d->pinned;

	if (tree && height > 0) {
		void **slots = tree;
		u64 each = pages_below(height - 1);
		for (u64 i = from / each; i < FAN; i++) {
			u64 first = i * each;
			if (slots[i] && ramdata_cut_tree(d, slots[i], height - 1,
					    from > first ? from - first : 0))
				slots[i] = NULL;
		}
	}
	if (empty && tree)
		d->mem->release(tree);
	else if (d->pinned && tree && height == 0 && from == 0)
		memset(tree, 0, PAGE_SIZE);
	return empty;
}

int ramdata_truncate(struct ramdata *d, u64 size)
{
	u64 keep = (size + PAGE_SIZE - 1) / PAGE_SIZE;
	u8 *last;

	if (size > RAMDATA_MAX)
		return -EFBIG;
	if (size < d->size) {
		if (keep < pages_below(d->height) &&
		    ramdata_cut_tree(d, d->root, d->height, keep)) {
			d->root = NULL;
			d->height = 0;
		}
		last = size % PAGE_SIZE ? ramdata_find_page(d, size / PAGE_SIZE) : NULL;
		if (last)
			memset(last + size % PAGE_SIZE, 0, PAGE_SIZE - size % PAGE_SIZE);
		d->base_size = MIN(d->base_size, size);
	}
	d->size = size;
	return 0;
}

void *ramdata_page(struct ramdata *d, u64 index)
{
	return index < (d->size + PAGE_SIZE - 1) / PAGE_SIZE
		   ? ramdata_writable_page(d, index, false)
		   : NULL;
}

void *ramdata_pin(struct ramdata *d, u64 index)
{
	void *page = ramdata_page(d, index);

	d->pinned |= page != NULL;
	return page;
}

void ramdata_destroy(struct ramdata *d)
{
	d->pinned = false;
	d->size = RAMDATA_MAX; /* pages that were cut off while pinned lie after the size */
	ramdata_truncate(d, 0);
}

void ramdata_set_base(struct ramdata *d, const void *base, u64 size)
{
	ramdata_truncate(d, 0);
	d->base = base;
	d->base_size = d->size = size;
}
