/* Sub-buffers in Linux's format of today. See dat_page.h. */
#include "trace/export/dat_page.h"
#include "kernel/lib/string.h"

enum { /* type_len; up to DATA_WORDS it is the length of the data in words */
	DATA_LONG = 0,
	DATA_WORDS = 28,
	PADDING,
	TIME_EXTEND,
	TIME_STAMP,
};
#define DELTA_BITS 27
#define DELTA_MAX  ((1UL << DELTA_BITS) - 1)

const char dat_page_header_event[] = "# compressed entry header\n"
				     "\ttype_len    :    5 bits\n"
				     "\ttime_delta  :   27 bits\n"
				     "\tarray       :   32 bits\n"
				     "\n"
				     "\tpadding     : type == 29\n"
				     "\ttime_extend : type == 30\n"
				     "\ttime_stamp : type == 31\n"
				     "\tdata max type_len  == 28\n";

static void dat_put_word(struct dat_page *p, u32 word)
{
	memcpy(p->at, &word, sizeof(word));
	p->at += sizeof(word);
}

/* 59 bits of a time, or of a delta. */
static void put_time(struct dat_page *p, u32 type, u64 time)
{
	dat_put_word(p, type | (u32)(time & DELTA_MAX) << 5);
	dat_put_word(p, time >> DELTA_BITS);
}

static u64 time_size(u64 delta)
{
	return delta > DELTA_MAX ? 8 : 0;
}

/* `length` is a multiple of 4. */
static u64 data_size(u64 length)
{
	return length && length <= DATA_WORDS * 4 ? 4 + length : 8 + length;
}

static u64 room(const struct dat_page *p)
{
	return p->end - p->at;
}

void dat_page_begin(struct dat_page *p, struct ring_buffer_page *page, u32 size, u32 keep)
{
	*p = (struct dat_page){
	    .page = page, .at = page->data, .end = (u8 *)page + size, .keep = keep};
}

bool dat_page_put(struct dat_page *p, const void *data, u64 length, u64 time)
{
	if (!p->events)
		p->time = p->page->time_stamp = time;
	u64 delta = time - p->time;

	if (time_size(delta) + data_size(length) + (p->events ? p->keep : 0) > room(p))
		return false;
	if (delta > DELTA_MAX) {
		bool back = (s64)delta < 0;

		put_time(p, back ? TIME_STAMP : TIME_EXTEND, back ? time : delta);
		delta = 0;
	}
	if (data_size(length) == 4 + length) {
		dat_put_word(p, length / 4 | (u32)delta << 5);
	} else {
		dat_put_word(p, DATA_LONG | (u32)delta << 5);
		dat_put_word(p, length + 4); /* counts itself */
	}
	memcpy(p->at, data, length);
	p->at += length;
	p->time = time;
	p->events++;
	return true;
}

void dat_page_end(struct dat_page *p, u64 time, u64 lost)
{
	struct ring_buffer_page *page = p->page;

	if (!p->events)
		page->time_stamp = time;
	page->commit = p->at - page->data;
	if (lost)
		page->commit |= 1UL << 31;
	if (lost && lost != RB_LOST_UNKNOWN && room(p) >= sizeof(lost)) {
		page->commit |= RB_MISSED_STORED;
		memcpy(p->at, &lost, sizeof(lost));
		p->at += sizeof(lost);
	}
	memset(p->at, 0, room(p));
}

u32 dat_page_convert(
    const struct dat_convert *how, struct rb_page_iter *w, u64 lost, struct ring_buffer_page *out)
{
	struct rb_page_iter before = *w;
	struct dat_page p;

	/* A page of the source is one of the file: its events come first. */
	dat_page_begin(&p, out, how->size, 0);
	while (rb_page_iter_next(w)) {
		if ((s64)(w->stamp - how->until) > 0)
			continue;
		if (!dat_page_put(&p, w->data, w->length, how->time(how->arg, w->stamp))) {
			*w = before;
			break;
		}
		before = *w;
	}
	dat_page_end(&p, how->time(how->arg, before.stamp), lost);
	return p.events;
}
