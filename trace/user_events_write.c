/*
 * Records of user events: what a program wrote, checked and put into each ring that wants it. Task context; no lock, no allocation.
 *
 * The payload has been copied from the program before anything here looks at it, so it cannot change any more; and nothing is reserved
 * before it is found good, so that a bad one leaves no trace.
 */
#include "kernel/lib/errno.h"
#include "trace/record.h"
#include "trace/user_events.h"

int user_events_find(struct user_events_file *f, s32 index, size_t size, struct user_event **out)
{
	if (unlikely(index < 0))
		return -EINVAL;
	struct user_event *ev = user_events_at(f, index);
	if (unlikely(!ev))
		return -ENOENT;
	if (unlikely(size < ev->min_size))
		return -EINVAL;
	if (unlikely(!READ_ONCE(ev->call.live)))
		return -EBADF;
	*out = ev;
	return 0;
}

/*
 * The data must end inside the record, and text with a NUL. As on Linux that is the byte before the data's end even if there is no
 * data: mostly of the field before it, or of the common fields, which are filled in for it.
 */
static bool check_passes(const struct user_event_check *c, const u8 *rec, size_t size)
{
	u32 loc;

	memcpy(&loc, rec + c->offset, sizeof(loc));
	size_t end = (loc & 0xffff) + (loc >> 16);
	if (c->relative)
		end += c->offset + sizeof(loc);
	return end <= size && (!c->text || !end || !rec[end - 1]);
}

static bool checks_pass(
    const struct user_event *ev, const struct host_context *ctx, void *rec, size_t size)
{
	*(trace_word_t *)rec = ctx->common | ev->call.id;
	for (u32 i = 0; i < ev->n_checks; i++)
		if (!check_passes(&ev->checks[i], rec, size))
			return false;
	return true;
}

static inline __attribute__((always_inline)) void put_payload(void *to, const void *rec, u32 size)
{
	memcpy((u8 *)to + sizeof(struct trace_entry), (const u8 *)rec + sizeof(struct trace_entry),
	    size - sizeof(struct trace_entry));
}

static __noinline void record_long(
    const struct user_event *ev, const void *rec, u32 size, const struct host_context *ctx)
{
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	struct trace_slot slot;

	for (; file; file = READ_ONCE(file->next_live)) {
		void *to = trace_begin(&slot, file, ctx, ev->call.id, size);
		if (to) {
			put_payload(to, rec, size);
			trace_commit(&slot, file, ctx);
		}
	}
}

int user_event_write(struct user_event *ev, void *rec, size_t size)
{
	struct host_context ctx;
	struct trace_slot slot;

	host_enter(&ctx);
	if (unlikely(ev->n_checks && !checks_pass(ev, &ctx, rec, size))) {
		host_exit();
		return -EFAULT;
	}
	void *to = trace_begin_short(&slot, READ_ONCE(ev->call.live), &ctx, ev->call.id, size);
	if (likely(to)) {
		put_payload(to, rec, size);
		trace_commit_short(&slot, &ctx);
	} else {
		record_long(ev, rec, size, &ctx);
	}
	host_exit();
	return 0;
}

void user_event_write_huge(struct user_event *ev)
{
	struct host_context ctx;

	host_enter(&ctx);
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	for (; file; file = READ_ONCE(file->next_live)) {
		local_inc(&file->counts[ctx.cpu].hit);
		local_inc(&file->counts[ctx.cpu].lost);
	}
	host_exit();
}
