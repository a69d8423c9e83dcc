/* Looking at one event of the ring buffer. Pure; any context; the caller owns the memory the event
 * lies in. */
/* hot: runs with each event */
#include "trace/ring/priv.h"

u32 rb_event_length_slow(const struct ring_buffer_event *ev)
{
	switch (ev->type) {
	case RINGBUF_TYPE_TIME_EXTENT:
		return 8;
	case RINGBUF_TYPE_TIME_STAMP:
		return 12;
	default: /* a discarded event; the padding at a sub-buffer's end has no length to tell */
		return ev->time_delta ? 4u + ev->array[0] : 0;
	}
}

u64 ring_buffer_time_delta(const struct ring_buffer_event *ev)
{
	if (ev->type == RINGBUF_TYPE_TIME_EXTENT)
		return ev->time_delta | (u64)ev->array[0] << 27;
	if (ev->type == RINGBUF_TYPE_PADDING && ev->len)
		return 0;
	return ev->time_delta;
}

u64 rb_event_step(const struct ring_buffer_event *ev, u64 *stamp, bool *data)
{
	*data = ev->type == RINGBUF_TYPE_DATA;
	if (ev->type == RINGBUF_TYPE_TIME_STAMP)
		*stamp = ev->array[0] | (u64)ev->array[1] << 32;
	else
		*stamp += ring_buffer_time_delta(ev);
	return ring_buffer_event_length(ev);
}

bool rb_page_iter_next_slow(struct rb_page_iter *w)
{
	while (w->at < w->end) {
		struct ring_buffer_event *ev = (void *)w->at;
		bool data;

		w->at += rb_event_step(ev, &w->stamp, &data);
		if (data) {
			w->data = ring_buffer_event_data(ev);
			w->length = ring_buffer_data_length(ev);
			return true;
		}
	}
	return false;
}
