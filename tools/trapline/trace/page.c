/* Records of a sub-buffer. See page.h. */
#include "tools/trapline/trace/page.h"

#include <string.h>

#define MISSED_EVENTS (1UL << 31)
#define MISSED_STORED (1UL << 30)
#define LOST_UNKNOWN  (1UL << 29) /* with a number in the upper half */
#define DELTA_BITS    27

enum linux_type { LINUX_LONG, LINUX_PADDING = 29, LINUX_EXTEND, LINUX_STAMP };
enum own_type { OWN_PADDING, OWN_EXTENT, OWN_STAMP, OWN_DATA };

static uint64_t load(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

static bool ends(struct page_walk *w, const char *why)
{
	w->wrong = why;
	w->at = w->end;
	return false;
}

static void lost_before(struct page_walk *w, uint64_t commit)
{
	uint64_t number = commit >> 32;

	if (!(commit & MISSED_EVENTS))
		return;
	if (w->records == RECORDS_OWN && number && number != 0xffffffff) {
		w->lost = number - 1;
		w->lost_unknown = commit & LOST_UNKNOWN;
		return;
	}
	if (commit & MISSED_STORED && w->end + 8 <= w->room)
		w->lost = load(w->data + w->end, 8);
	else
		w->lost_unknown = true;
}

bool page_size_ok(uint64_t size)
{
	return size >= PAGE_BYTES && size <= PAGE_MOST && !(size & (size - 1));
}

void page_begin(struct page_walk *w, enum records records, const uint8_t *page, uint32_t size)
{
	uint64_t commit = load(page + 8, 8);

	*w = (struct page_walk){.records = records,
	    .data = page + PAGE_HEADER,
	    .time = load(page, 8),
	    .room = size - PAGE_HEADER};
	if ((commit & PAGE_USED) > w->room) {
		ends(w, "it says that it holds more than a page");
		return;
	}
	w->end = commit & PAGE_USED;
	lost_before(w, commit);
}

/* The next word, if it is there. */
static bool take_word(struct page_walk *w, uint32_t *v)
{
	if (w->end - w->at < 4)
		return ends(w, "it breaks off within a record");
	*v = load(w->data + w->at, 4);
	w->at += 4;
	return true;
}

static bool take_data(struct page_walk *w, uint64_t length)
{
	if (length > w->end - w->at)
		return ends(w, "a record is longer than what is left");
	w->record = w->data + w->at;
	w->length = length;
	w->at += length;
	return true;
}

static bool skip(struct page_walk *w, uint64_t length)
{
	if (length > w->end - w->at)
		return ends(w, "padding is longer than what is left");
	w->at += length;
	return true;
}

/* Both: false at the end or when something is wrong; *data: was it a record of data? */
static bool step_linux(struct page_walk *w, uint32_t word, bool *data)
{
	uint32_t type = word & 31, array;
	uint64_t delta = word >> 5;

	if (type == LINUX_PADDING) {
		if (!delta) {
			w->at = w->end;
			return true;
		}
		w->time += delta;
		return take_word(w, &array) &&
		       (array >= 4 ? skip(w, array - 4) : ends(w, "padding without a length"));
	}
	if (type >= LINUX_EXTEND) {
		if (!take_word(w, &array))
			return false;
		delta |= (uint64_t)array << DELTA_BITS;
		if (type == LINUX_STAMP)
			w->time = (w->time & 0x1fUL << 59) | delta;
		else
			w->time += delta;
		return true;
	}
	w->time += delta;
	*data = true;
	if (type != LINUX_LONG)
		return take_data(w, type * 4);
	if (!take_word(w, &array))
		return false;
	if (array < 4)
		return ends(w, "a record without a length");
	return take_data(w, ((uint64_t)array - 4 + 3) & ~3UL);
}

static bool step_own(struct page_walk *w, uint32_t word, bool *data)
{
	uint32_t length = word >> 2 & 7, low, high;
	uint64_t delta = word >> 5;

	switch (word & 3) {
	case OWN_PADDING:
		if (!delta) {
			w->at = w->end;
			return true;
		}
		w->time += delta;
		return take_word(w, &low) &&
		       (low >= 4 ? skip(w, low - 4) : ends(w, "padding without a length"));
	case OWN_EXTENT:
		w->time += delta;
		if (!take_word(w, &low))
			return false;
		w->time += (uint64_t)low << DELTA_BITS;
		return true;
	case OWN_STAMP:
		if (!take_word(w, &low) || !take_word(w, &high))
			return false;
		w->time = low | (uint64_t)high << 32;
		return true;
	default:
		w->time += delta;
		*data = true;
		if (length)
			return take_data(w, length * 4);
		return take_word(w, &low) && take_data(w, ((uint64_t)low + 3) & ~3UL);
	}
}

void page_lost(uint8_t *page, uint64_t lost, bool unknown)
{
	uint64_t commit = load(page + 8, 8) & PAGE_USED;

	commit |= MISSED_EVENTS | (unknown ? LOST_UNKNOWN : 0) |
		  (lost < 0xfffffffd ? lost + 1 : 0xfffffffe) << 32;
	memcpy(page + 8, &commit, 8);
}

bool page_next(struct page_walk *w)
{
	bool data = false;
	uint32_t word;

	while (!data && w->at < w->end) {
		if (!take_word(w, &word))
			return false;
		if (!(w->records == RECORDS_LINUX ? step_linux : step_own)(w, word, &data))
			return false;
	}
	return data;
}
