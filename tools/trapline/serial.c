/* Taking files out of a serial log. Nothing in the log is trusted: see serial.h. */
#include "tools/trapline/serial.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/lib/base64.h"
#include "kernel/lib/crc32.h"

#define BLOCK_MAX 4096
#define SIZE_MOST (1ULL << 40)
#define GAP_MOST                                                                                   \
	(1ULL                                                                                      \
	    << 32) /* a block further away than that from what came is noise that happens to fit */

/* ---- what came ----------------------------------------------------------------------------------------------------- */

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

/* ---- lines --------------------------------------------------------------------------------------------------------- */

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

static struct serial_file *begin_file(struct serial_files *files, const char *name, size_t n)
{
	for (size_t i = 0; i < files->count; i++)
		if (strlen(files->file[i].name) == n && !memcmp(files->file[i].name, name, n))
			return &files->file[i];
	files->file = xrealloc(files->file, (files->count + 1) * sizeof(*files->file));
	struct serial_file *f = &files->file[files->count++];
	*f = (struct serial_file){.name = xstrndup(name, n)};
	return f;
}

/* =OFFSET CRC DATA: true if it is one, and whole. */
static bool take_block(struct serial_file *f, struct text t)
{
	uint8_t data[BLOCK_MAX];
	uint64_t at, crc;
	ssize_t n;

	if (!take_hex(&t, &at) || !take_word(&t, " ") || !take_hex(&t, &crc) || !take_word(&t, " "))
		return false;
	if (t.end - t.at > BLOCK_MAX / 3 * 4)
		return false;
	n = base64_decode(data, t.at, t.end - t.at);
	if (n <= 0 || at > f->size + GAP_MOST || at + n > SIZE_MOST)
		return false;
	if (crc32_add(crc32_add(0, &at, sizeof(at)), data, n) != crc)
		return false;
	grow(f, at + n);
	memcpy(f->data + at, data, n);
	remember(f, at, n);
	return true;
}

/* Behind the '='. */
static struct serial_file *take_line(
    struct serial_files *files, struct serial_file *now, struct text t)
{
	uint64_t size;

	if (take_word(&t, "trapline-file "))
		return begin_file(files, t.at, t.end - t.at);
	if (!now)
		return NULL;
	if (take_word(&t, "trapline-end ")) {
		if (take_hex(&t, &size) && t.at == t.end && size <= now->size + GAP_MOST) {
			now->ended = true;
			grow(now, size);
		}
		return now;
	}
	if (!take_block(now, t))
		now->bad++;
	return now;
}

void serial_read(struct serial_files *files, const uint8_t *log, size_t size)
{
	struct serial_file *now = NULL;
	const char *p = (const char *)log, *end = p + size;

	*files = (struct serial_files){.file = NULL};
	while (p < end) {
		const char *stop = memchr(p, '\n', end - p), *next, *mark;

		next = stop ? stop + 1 : end;
		if (!stop)
			stop = end;
		while (stop > p && stop[-1] == '\r')
			stop--;
		mark = memchr(p, '=', stop - p);
		if (mark && (mark == p || now || stop - mark > 10))
			now = take_line(files, now, (struct text){mark + 1, stop});
		progress("reading", p - (const char *)log, size);
		p = next;
	}
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
