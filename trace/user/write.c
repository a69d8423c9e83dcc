/*
 * Records of user events, the ways that are not short (write.h): several instances, filters,
 * triggers, a full ring; checks of the payload. Task context between host_enter() and
 * host_preempt_enable(); no lock, no allocation.
 */
/* hot: runs with each event */
#include "trace/user/write.h"
#include "trace/host_context.h"

/*
 * The data must end inside the record, and text with a NUL. As on Linux that is the byte before the
 * data's end even if there is no data: mostly of the field before it, or of the common fields,
 * which are filled in for it.
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

bool user_event_checks_pass(
    const struct user_event *ev, const struct host_context *ctx, void *rec, size_t size)
{
	*(trace_word_t *)rec = ctx->common | ev->call.id;
	for (u32 i = 0; i < ev->n_checks; i++)
		if (!check_passes(&ev->checks[i], rec, size))
			return false;
	return true;
}

void user_event_record_long(
    const struct user_event *ev, const void *rec, u32 size, const struct host_context *ctx)
{
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	struct trace_slot slot;

	for (; file; file = READ_ONCE(file->next_live)) {
		void *to = trace_begin(&slot, file, ctx, ev->call.id, size);
		if (to) {
			user_event_fill(to, rec, size);
			trace_commit(&slot, file, ctx);
		}
	}
}

/* Each ring is asked all the same, so that it counts why not. */
void user_event_write_huge(struct user_event *ev)
{
	struct host_context ctx;
	struct trace_slot slot;

	host_enter(&ctx);
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	for (; file; file = READ_ONCE(file->next_live)) {
		local_inc(&file->counts[ctx.cpu].hit);
		trace_reserve(&slot, file, &ctx, ev->call.id, RB_MAX_DATA + 1);
	}
	host_preempt_enable();
}
