/* Taking files out of a serial log. Nothing in the log is trusted: see serial.h. */
#include "tools/trapline/machine/serial.h"
#include "kernel/abi/crc32.h"
#include "tools/trapline/lib/base64.h"
#include "tools/trapline/lib/output.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_MAX 4096
#define SIZE_MOST (1ULL << 40)
#define GAP_MOST                                                                                   \
	(1ULL                                                                                      \
	    << 32) /* a block further away than that from what came is noise that happens to fit */

/* ---- what came ---- */

static void remember(struct serial_file *f, uint64_t at, uint64_t length)
{
	uint64_t end = at + length;
	size_t first = 0, last;

	while (first < f->haves && f->have[first].at + f->have[first].length < at)
		first++;
	for (last = first; last < f->haves && f->have[last].at <= end; last++) {
		uint64_t its_end = f->have[last].at + f->have[last].length;

		at = f->have[last].at < at ? f->have[last].at : at;
		end = its_end > end ? its_end : end;
	}
	if (last == first) {
		f->have = xrealloc(f->have, (f->haves + 1) * sizeof(*f->have));
		memmove(
		    f->have + first + 1, f->have + first, (f->haves - first) * sizeof(*f->have));
		f->haves++;
	} else {
		memmove(f->have + first + 1, f->have + last, (f->haves - last) * sizeof(*f->have));
		f->haves -= last - first - 1;
	}
	f->have[first] = (struct range){at, end - at};
}

bool serial_missing(const struct serial_file *f, uint64_t at, struct range *out)
{
	for (size_t i = 0; i < f->haves && at < f->size; i++) {
		const struct range *r = &f->have[i];

		if (r->at + r->length <= at)
			continue;
		if (r->at > at) {
			*out = (struct range){at, r->at - at};
			return true;
		}
		at = r->at + r->length;
	}
	*out = (struct range){at, f->size - at};
	return at < f->size;
}

static void grow(struct serial_file *f, uint64_t size)
{
	if (size <= f->size)
		return;
	f->data = xrealloc(f->data, size);
	memset(f->data + f->size, 0, size - f->size);
	f->size = size;
}

/* ---- lines ---- */

struct text {
	const char *at, *end;
};

static bool take_word(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n))
		return false;
	t->at += n;
	return true;
}

static bool take_hex(struct text *t, uint64_t *v)
{
	const char *start = t->at;

	for (*v = 0; t->at < t->end && t->at - start < 16; t->at++) {
		char c = *t->at;
		if (c >= '0' && c <= '9')
			*v = *v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			*v = *v << 4 | (c - 'a' + 10);
		else
			break;
	}
	return t->at > start;
}

static struct serial_file *find_file(struct serial_files *files, const char *name, size_t n)
{
	for (size_t i = 0; i < files->count; i++)
		if (strlen(files->file[i].name) == n && !memcmp(files->file[i].name, name, n))
			return &files->file[i];
	return NULL;
}

/*
 * =trapline-file CRC NAME: the file, which is made if it is new and there may be new ones; NULL: it
 * is no such line, or not whole.
 */
static struct serial_file *take_name(struct serial_files *files, struct text t, bool make)
{
	uint64_t crc;

	if (!take_word(&t, "trapline-file ") || !take_hex(&t, &crc) || !take_word(&t, " "))
		return NULL;
	size_t n = t.end - t.at;
	if (memchr(t.at, 0, n) || abi_crc32(0, t.at, n) != crc)
		return NULL;
	struct serial_file *f = find_file(files, t.at, n);
	if (f || !make)
		return f;
	files->file = xrealloc(files->file, (files->count + 1) * sizeof(*files->file));
	f = &files->file[files->count++];
	*f = (struct serial_file){.name = xstrndup(t.at, n), .name_crc = crc};
	return f;
}

/* Puts the bytes where they belong. */
static void put_block(struct serial_file *f, uint64_t at, const uint8_t *data, size_t n)
{
	struct range gap;

	grow(f, at + n);
	if (memcmp(f->data + at, data, n) && !(serial_missing(f, at, &gap) && gap.at < at + n))
		f->two = true;
	memcpy(f->data + at, data, n);
	remember(f, at, n);
}

struct block {
	uint64_t at, crc;
	size_t n;
	uint8_t data[BLOCK_MAX];
};

static bool is_of(const struct serial_file *f, const struct block *b)
{
	return abi_crc32(abi_crc32(f->name_crc, &b->at, sizeof(b->at)), b->data, b->n) == b->crc &&
	       b->at <= f->size + GAP_MOST;
}

/* OFFSET CRC DATA */
static bool parse_block(struct text t, struct block *b)
{
	ssize_t n;

	if (!take_hex(&t, &b->at) || !take_word(&t, " ") || !take_hex(&t, &b->crc) ||
	    !take_word(&t, " ") || t.end - t.at > BLOCK_MAX / 3 * 4)
		return false;
	n = base64_decode(b->data, t.at, t.end - t.at);
	b->n = n;
	return n > 0 && b->at <= SIZE_MOST - n;
}

/* The file that it is of: most likely the one of the last line. */
static struct serial_file *take_block(
    struct serial_files *files, struct serial_file *now, struct text t)
{
	struct block b;

	if (!parse_block(t, &b))
		return now;
	for (size_t i = 0; !(now && is_of(now, &b)); i++) {
		if (i == files->count)
			return now;
		if (is_of(&files->file[i], &b))
			now = &files->file[i];
	}
	put_block(now, b.at, b.data, b.n);
	return now;
}

/* trapline-end SIZE CRC */
static bool take_end(struct serial_files *files, struct text t)
{
	uint64_t size, crc;

	if (!take_word(&t, "trapline-end "))
		return false;
	if (!take_hex(&t, &size) || !take_word(&t, " ") || !take_hex(&t, &crc) || t.at != t.end)
		return true;
	for (size_t i = 0; i < files->count; i++) {
		struct serial_file *f = &files->file[i];
		if (abi_crc32(f->name_crc, &size, sizeof(size)) != crc || size > f->size + GAP_MOST)
			continue;
		f->ended = true;
		grow(f, size);
	}
	return true;
}

/*
 * A pass over all lines that may be of a file, starting after their '=': names first, for a block
 * may come before the first name that is whole.
 */
static void pass(struct serial_files *files, const uint8_t *log, size_t size, bool names)
{
	struct serial_file *now = NULL, *named;
	const char *p = (const char *)log, *end = p + size;

	while (p < end) {
		const char *stop = memchr(p, '\n', end - p), *next, *mark;

		next = stop ? stop + 1 : end;
		if (!stop)
			stop = end;
		while (stop > p && stop[-1] == '\r')
			stop--;
		mark = memchr(p, '=', stop - p);
		struct text t = {mark ? mark + 1 : stop, stop};
		if ((named = take_name(files, t, names)))
			now = named;
		else if (!names && !take_end(files, t))
			now = take_block(files, now, t);
		progress("reading", (p - (const char *)log) / 2 + (names ? 0 : size / 2), size);
		p = next;
	}
}

void serial_read(struct serial_files *files, const uint8_t *log, size_t size)
{
	*files = (struct serial_files){.file = NULL};
	pass(files, log, size, true);
	if (files->count)
		pass(files, log, size, false);
	progress("reading", size, size);
}

void serial_free(struct serial_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->file[i].name);
		free(files->file[i].data);
		free(files->file[i].have);
	}
	free(files->file);
	*files = (struct serial_files){.file = NULL};
}
